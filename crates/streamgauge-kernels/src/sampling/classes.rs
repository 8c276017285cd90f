//! The classes of a text, found by the bytes of their names.

use std::collections::HashMap;

use crate::KernelError;
use crate::rows::excerpt;

/// Up to so many classes are found by comparing with each: quicker than hashing.
const FEW: usize = 16;

/// A class column with more values than this is none.
const MOST: usize = 10_000;

/// Names of classes and their codes.
#[derive(Debug, Clone)]
pub struct Classes {
    names: Vec<Vec<u8>>,
    codes: HashMap<Vec<u8>, usize>,
    declared: bool,
}

impl Classes {
    /// The classes that a header declares.
    #[must_use]
    pub fn declared(names: Vec<Vec<u8>>) -> Self {
        let codes = names.iter().cloned().enumerate().map(|(code, name)| (name, code)).collect();
        Self { names, codes, declared: true }
    }

    /// Classes that become known as they appear.
    #[must_use]
    pub fn discovered() -> Self {
        Self { names: Vec::new(), codes: HashMap::new(), declared: false }
    }

    /// The names, in the order of their codes.
    #[must_use]
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// The code of a name; None for a row without a label.
    ///
    /// # Errors
    /// [`KernelError::Line`] for a name that is not declared.
    #[inline]
    pub fn code(&mut self, line: u64, name: &[u8]) -> Result<Option<usize>, KernelError> {
        let known = if self.names.len() <= FEW {
            self.names.iter().position(|known| known == name)
        } else {
            self.codes.get(name).copied()
        };
        if known.is_some() { Ok(known) } else { self.unknown(line, name) }
    }

    fn unknown(&mut self, line: u64, name: &[u8]) -> Result<Option<usize>, KernelError> {
        if name == b"?" || name.is_empty() {
            return Ok(None);
        }
        let why = if self.declared {
            let known: Vec<_> = self.names.iter().take(10).map(|name| String::from_utf8_lossy(name)).collect();
            format!("class {} is not declared; there are {}", excerpt(name), known.join(", "))
        } else if self.names.len() == MOST {
            format!("more than {MOST} classes; is this the class column? {}", excerpt(name))
        } else {
            let code = self.names.len();
            self.names.push(name.to_vec());
            self.codes.insert(name.to_vec(), code);
            return Ok(Some(code));
        };
        Err(KernelError::Line { line, why })
    }
}
