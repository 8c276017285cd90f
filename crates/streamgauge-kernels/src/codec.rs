//! Serialisation of states: a name, a version, little-endian numbers in a fixed order, and a checksum.

use crate::KernelError;

/// A writer of states.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// A reader of saved states that checks every length.
#[derive(Debug)]
pub struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
}

impl Writer {
    /// Starts a saved state of the given kind and version.
    #[must_use]
    pub fn new(what: &str, version: u32) -> Self {
        let mut writer = Self::default();
        writer.text(what);
        writer.u64(u64::from(version));
        writer
    }

    /// Appends a number.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a number.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Appends a column of numbers with its length.
    pub fn f64s(&mut self, values: &[f64]) {
        self.u64(values.len() as u64);
        for &value in values {
            self.f64(value);
        }
    }

    /// Appends a column of numbers with its length.
    pub fn u64s(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        self.u64(values.len() as u64);
        for value in values {
            self.u64(value);
        }
    }

    /// Appends the saved state of a part, with its length.
    pub fn part(&mut self, state: &[u8]) {
        self.u64(state.len() as u64);
        self.bytes.extend_from_slice(state);
    }

    /// Appends a text with its length.
    pub fn text(&mut self, text: &str) {
        self.u64(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Appends the checksum and returns the bytes.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let checksum = checksum(&self.bytes);
        self.u64(checksum);
        self.bytes
    }
}

impl<'a> Reader<'a> {
    /// Opens a saved state and check that it is of the given kind and version.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if it is not.
    pub fn new(what: &'static str, version: u32, bytes: &'a [u8]) -> Result<Self, KernelError> {
        let mut reader = Self { what, bytes };
        let Some((state, end)) = bytes.split_last_chunk::<8>() else {
            return Err(reader.error("it is truncated"));
        };
        reader.bytes = state;
        let damaged = checksum(state) != u64::from_le_bytes(*end);
        let length = reader.length(1)?;
        if reader.take(length)? != what.as_bytes() {
            return Err(reader.error("it is another kind of state"));
        }
        if reader.u64()? != u64::from(version) {
            return Err(reader.error("it was saved by another version"));
        }
        if damaged {
            return Err(reader.error("it is damaged"));
        }
        Ok(reader)
    }

    /// Returns an error about this state.
    #[must_use]
    pub fn error(&self, reason: &'static str) -> KernelError {
        KernelError::Saved { what: self.what, reason }
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], KernelError> {
        if n > self.bytes.len() {
            return Err(self.error("it is truncated"));
        }
        let (head, rest) = self.bytes.split_at(n);
        self.bytes = rest;
        Ok(head)
    }

    /// Reads a length whose items take at least `item` bytes each, so that damaged bytes cannot allocate all memory.
    fn length(&mut self, item: usize) -> Result<usize, KernelError> {
        let length = self.u64()?;
        match usize::try_from(length) {
            Ok(length) if length <= self.bytes.len() / item => Ok(length),
            _ => Err(self.error("it is truncated")),
        }
    }

    /// Returns the number of bytes left.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.bytes.len()
    }

    /// Reads a number.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end.
    pub fn u64(&mut self) -> Result<u64, KernelError> {
        let mut value = [0; 8];
        value.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(value))
    }

    /// Reads a count or an index.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end or the number does not fit.
    pub fn usize(&mut self) -> Result<usize, KernelError> {
        usize::try_from(self.u64()?).map_err(|_| self.error("a count is too large"))
    }

    /// Reads a number.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end.
    pub fn f64(&mut self) -> Result<f64, KernelError> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Reads a column of numbers of any length.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end.
    pub fn f64s(&mut self) -> Result<Vec<f64>, KernelError> {
        let length = self.length(8)?;
        (0..length).map(|_| self.f64()).collect()
    }

    /// Reads a column of numbers of known length.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the length differs or the bytes end.
    pub fn f64s_into(&mut self, values: &mut [f64]) -> Result<(), KernelError> {
        if self.length(8)? != values.len() {
            return Err(self.error("a column has another length"));
        }
        for value in values {
            *value = self.f64()?;
        }
        Ok(())
    }

    /// Reads a column of numbers of any length.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end.
    pub fn u64s(&mut self) -> Result<Vec<u64>, KernelError> {
        let length = self.length(8)?;
        (0..length).map(|_| self.u64()).collect()
    }

    /// Reads the saved state of a part.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes end.
    pub fn part(&mut self) -> Result<&'a [u8], KernelError> {
        let length = self.length(1)?;
        self.take(length)
    }

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if something is.
    pub fn finish(self) -> Result<(), KernelError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.error("there are extra bytes at its end")) }
    }
}

/// Returns the 64-bit FNV-1a hash, eight bytes at a time.
fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    for word in words.chain(rest.iter().map(|&byte| u64::from(byte))) {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        // A multiplication only moves bits up; the shift moves them down.
        hash ^= hash >> 29;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_damage_is_noticed() {
        let mut writer = Writer::new("thing", 2);
        writer.u64(7);
        writer.f64s(&[1.5, f64::NEG_INFINITY]);
        let bytes = writer.finish();
        let mut reader = Reader::new("thing", 2, &bytes).unwrap();
        assert_eq!(reader.u64().unwrap(), 7);
        assert_eq!(reader.f64s().unwrap(), [1.5, f64::NEG_INFINITY]);
        reader.finish().unwrap();
        assert!(Reader::new("other", 2, &bytes).is_err());
        assert!(Reader::new("thing", 3, &bytes).is_err());
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1;
            assert!(Reader::new("thing", 2, &damaged).is_err());
        }
        for end in 0..bytes.len() {
            let cut = Reader::new("thing", 2, &bytes[..end]).and_then(|mut reader| {
                reader.u64()?;
                reader.f64s()
            });
            assert!(cut.is_err());
        }
    }
}
