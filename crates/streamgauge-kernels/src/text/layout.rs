//! What the columns of a file are.

use super::{Dialect, Names};
use crate::KernelError;
use crate::error::check_option;

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is an attribute of the rows.
    Attribute,
    /// It is the class.
    Class,
    /// It is the weight of the row.
    Weight,
    /// It is left out.
    Dropped,
}

/// A column of a file.
#[derive(Debug, Clone)]
pub struct Column {
    /// What it is called.
    pub name: String,
    /// The names of its nominal values; none where it is numeric.
    pub names: Option<Names>,
    /// What becomes of it.
    pub role: Role,
    /// Whether values may be missing.
    pub missing: bool,
}

impl Column {
    /// What it is and what it is called, for a message.
    #[must_use]
    pub fn describe(&self) -> String {
        let word = match self.role {
            Role::Attribute | Role::Dropped => "attribute",
            Role::Class => "class",
            Role::Weight => "weight",
        };
        format!("{word} '{}'", self.name)
    }
}

/// The columns of a file and how they are written.
#[derive(Debug, Clone)]
pub struct Layout {
    /// How values are written.
    pub dialect: Dialect,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
}

impl Layout {
    /// A layout that rows can be read by.
    ///
    /// # Errors
    /// [`KernelError::Option`] where there is no column.
    pub fn new(dialect: Dialect, columns: Vec<Column>) -> Result<Self, KernelError> {
        check_option("columns", "none", !columns.is_empty(), "there must be at least one")?;
        Ok(Self { dialect, columns })
    }
}
