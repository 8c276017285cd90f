//! Fast lookup of the codes of nominal values and classes.

use super::bytes::load_word;

/// Distinct names, coded in order of insertion.
#[derive(Debug, Clone, Default)]
pub struct Names {
    texts: Vec<String>,
    /// A power of two of slots, at most half of them full.
    slots: Vec<Slot>,
    /// The code of each name; empty if they are coded in order of insertion.
    codes: Vec<u32>,
}

/// A slot: the first eight bytes of a name (or a hash of a longer one), its length, and its code plus 1 (0: free).
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: u64,
    length: u32,
    code: u32,
}

impl Names {
    /// Creates names with codes of their own, so that several names may share one.
    #[must_use]
    pub fn with_codes(names: impl IntoIterator<Item = (String, u32)>) -> Self {
        let mut all = Self::default();
        for (name, code) in names {
            if all.add(&name) as usize == all.codes.len() {
                all.codes.push(code);
            }
        }
        all
    }

    /// Returns the names, in the order of insertion.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.texts
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the code of the name in a line from `start` to `end`.
    #[inline(always)]
    #[must_use]
    pub fn find_in(&self, line: &[u8], start: usize, end: usize) -> Option<u32> {
        let length = end - start;
        let key = if length <= 8 { short_key(line, start, length) } else { long_key(&line[start..end]) };
        let index = self.find_key(key, &line[start..end])?;
        Some(if self.codes.is_empty() { index } else { self.codes[index as usize] })
    }

    /// Returns the code of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.find_in(name.as_bytes(), 0, name.len())
    }

    /// Returns the code of a name; adds it if it is new.
    pub fn add(&mut self, name: &str) -> u32 {
        let key = if name.len() <= 8 { short_key(name.as_bytes(), 0, name.len()) } else { long_key(name.as_bytes()) };
        if let Some(index) = self.find_key(key, name.as_bytes()) {
            return index;
        }
        let code = self.texts.len() as u32;
        self.texts.push(name.to_owned());
        if 2 * self.texts.len() > self.slots.len() {
            self.grow();
        } else {
            self.insert(code);
        }
        code
    }

    #[inline(always)]
    fn find_key(&self, key: u64, name: &[u8]) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut position = hash_to_slot(key, name.len()) & mask;
        loop {
            let slot = self.slots[position];
            if slot.code == 0 {
                return None;
            }
            let code = slot.code - 1;
            if slot.key == key
                && slot.length as usize == name.len()
                && (name.len() <= 8 || self.texts[code as usize].as_bytes() == name)
            {
                return Some(code);
            }
            position = (position + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![Slot::default(); (4 * self.texts.len()).next_power_of_two()];
        for code in 0..self.texts.len() as u32 {
            self.insert(code);
        }
    }

    fn insert(&mut self, code: u32) {
        let name = self.texts[code as usize].as_bytes();
        let key = if name.len() <= 8 { short_key(name, 0, name.len()) } else { long_key(name) };
        let mask = self.slots.len() - 1;
        let mut position = hash_to_slot(key, name.len()) & mask;
        while self.slots[position].code != 0 {
            position = (position + 1) & mask;
        }
        self.slots[position] = Slot { key, length: name.len() as u32, code: code + 1 };
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut all = Self::default();
        for name in names {
            all.add(name.as_ref());
        }
        all
    }
}

const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn short_key(line: &[u8], start: usize, length: usize) -> u64 {
    let bits = 8 * (8 - length) as u32;
    load_word(line, start).checked_shl(bits).unwrap_or(0)
}

fn long_key(name: &[u8]) -> u64 {
    (0..name.len())
        .step_by(8)
        .fold(0, |key: u64, position| (key.rotate_left(23) ^ load_word(name, position)).wrapping_mul(HASH_MULTIPLIER))
}

#[inline(always)]
fn hash_to_slot(key: u64, length: usize) -> usize {
    ((key ^ length as u64).wrapping_mul(HASH_MULTIPLIER) >> 32) as usize
}

/// Returns the code and the end of the plain known name that starts at `position`.
#[inline(always)]
pub fn scan_name(names: &Names, line: &[u8], position: usize, delimiter: u8) -> Option<(u32, usize)> {
    let end = find_plain_end(line, position, delimiter)?;
    names.find_in(line, position, end).map(|code| (code, end))
}

/// Returns the end of the field that starts at `position`; none if it is empty, quoted or has blanks around it.
#[inline(always)]
pub fn find_plain_end(line: &[u8], position: usize, delimiter: u8) -> Option<usize> {
    let first = *line.get(position)?;
    if first <= b' ' || first == b'"' || first == b'\'' {
        return None;
    }
    let rest = &line[position..];
    let end = position + rest.iter().position(|&byte| byte == delimiter).unwrap_or(rest.len());
    if end == position || line[end - 1] <= b' ' {
        return None;
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_by_its_code() {
        let texts: Vec<String> = (0..3000).map(|i| "x".repeat(i % 20) + &i.to_string()).collect();
        let names: Names = texts.iter().collect();
        assert_eq!(names.as_slice(), texts);
        for (code, text) in texts.iter().enumerate() {
            assert_eq!(names.find(text), Some(code as u32));
            assert_eq!(names.find(&format!("{text} ")), None);
        }
    }

    #[test]
    fn names_may_share_a_code() {
        let names = Names::with_codes([("1.0".to_owned(), 1), ("0".to_owned(), 0), ("1".to_owned(), 1)]);
        assert_eq!(
            (names.find("1"), names.find("1.0"), names.find("0"), names.find("2")),
            (Some(1), Some(1), Some(0), None)
        );
    }

    #[test]
    fn a_zero_byte_is_not_the_end_of_a_name() {
        let names: Names = ["a", "", "longer than eight"].into_iter().collect();
        assert_eq!(
            (names.find("a\0"), names.find("\0"), names.find("a"), names.find("")),
            (None, None, Some(0), Some(1))
        );
        assert_eq!(names.find_in(b"1,a,longer than eight,", 4, 21), Some(2));
        assert_eq!(Names::default().find("a"), None);
    }
}
