//! Fast lookup of the codes of nominal values and classes.

use super::Dialect;
use super::bytes::load_word;

/// Distinct names, coded in order of insertion.
#[derive(Debug, Clone, Default)]
pub struct Names {
    texts: Vec<String>,
    /// The code of each name; empty if they are coded in order of insertion.
    codes: Vec<u32>,
    /// A power of two of slots, at most a quarter of them full.
    slots: Vec<Slot>,
    /// The factor of the hash, chosen so that few names have the same slot.
    multiplier: u64,
    /// Whether a name is too long for a short key, so that all keys are long ones.
    is_long: bool,
}

/// A slot: the key of a name, its code, and its position plus 1 (0: free).
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    key: Key,
    code: u32,
    index: u32,
}

/// What a name is found by.
///
/// A short key is the bytes and the length of a name in one word. A long key has the first and the last eight bytes,
/// which is all of a name of up to sixteen bytes, and the length.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Key {
    first: u64,
    last: u64,
    length: u32,
}

/// The longest name with a short key.
const MAX_SHORT_BYTES: usize = 7;
/// The longest name that a long key says all about.
const MAX_LONG_BYTES: usize = 16;
/// The largest number of names for which a table without collisions is searched.
const MAX_SEARCHED: usize = 256;
const MAX_TRIALS: u64 = 64;
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Key {
    /// Creates the key of a name in a line of at most seven bytes.
    #[inline(always)]
    fn short(line: &[u8], start: usize, length: usize) -> Self {
        let bytes = load_word(line, start) & ((1 << (8 * length)) - 1);
        Self { first: bytes | (length as u64) << 56, ..Self::default() }
    }

    /// Creates the long key of a name in a line, without branches that depend on its length.
    #[inline(always)]
    fn long(line: &[u8], start: usize, length: usize) -> Self {
        let mask = if length < 8 { (1 << (8 * length)) - 1 } else { u64::MAX };
        Self {
            first: load_word(line, start) & mask,
            last: load_word(line, start + length.max(8) - 8) & mask,
            length: length as u32,
        }
    }

    /// Returns the slot to look at first, among a power of two of them.
    #[inline(always)]
    fn hash(&self, multiplier: u64, n_slots: usize) -> usize {
        let mixed = (self.first ^ u64::from(self.length)).wrapping_add(self.last.rotate_left(31));
        (mixed.wrapping_mul(multiplier) >> 40) as usize & (n_slots - 1)
    }
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
        if !all.texts.is_empty() {
            all.rebuild();
        }
        all
    }

    /// Returns the names that an unquoted field with their text always means, with their codes.
    #[must_use]
    pub fn keep_plain(&self, dialect: &Dialect) -> Self {
        let code = |index| self.codes.get(index).copied().unwrap_or(index as u32);
        let coded = self.texts.iter().enumerate().map(|(index, name)| (name.clone(), code(index)));
        Self::with_codes(coded.filter(|(name, _)| is_plain(name, dialect)))
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
        if self.slots.is_empty() || (!self.is_long && length > MAX_SHORT_BYTES) {
            return None;
        }
        let (key, is_whole) = if self.is_long {
            (Key::long(line, start, length), length <= MAX_LONG_BYTES)
        } else {
            (Key::short(line, start, length), true)
        };
        let position = key.hash(self.multiplier, self.slots.len());
        let slot = &self.slots[position];
        if slot.key == key && is_whole && slot.index != 0 {
            return Some(slot.code);
        }
        self.probe(position, &key, &line[start..end]).map(|slot| slot.code)
    }

    /// Returns the code of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.find_in(name.as_bytes(), 0, name.len())
    }

    /// Returns the position of a name; adds it if it is new.
    pub fn add(&mut self, name: &str) -> u32 {
        let is_longer = !self.is_long && name.len() > MAX_SHORT_BYTES;
        let key = self.key_of(name);
        if !is_longer && !self.slots.is_empty() {
            let position = key.hash(self.multiplier, self.slots.len());
            if let Some(slot) = self.probe(position, &key, name.as_bytes()) {
                return slot.index - 1;
            }
        }
        let index = self.texts.len() as u32;
        self.texts.push(name.to_owned());
        self.is_long |= is_longer;
        let is_full = 4 * self.texts.len() > self.slots.len();
        if is_longer || is_full || (!self.insert(key, index) && self.texts.len() <= MAX_SEARCHED) {
            self.rebuild();
        }
        index
    }

    fn key_of(&self, name: &str) -> Key {
        if self.is_long || name.len() > MAX_SHORT_BYTES {
            Key::long(name.as_bytes(), 0, name.len())
        } else {
            Key::short(name.as_bytes(), 0, name.len())
        }
    }

    /// Returns the slot of a name, from a position on.
    #[inline(never)]
    fn probe(&self, mut position: usize, key: &Key, name: &[u8]) -> Option<&Slot> {
        loop {
            let slot = &self.slots[position];
            if slot.index == 0 {
                return None;
            }
            if slot.key == *key
                && (name.len() <= MAX_LONG_BYTES || self.texts[slot.index as usize - 1].as_bytes() == name)
            {
                return Some(slot);
            }
            position = (position + 1) & (self.slots.len() - 1);
        }
    }

    /// Builds the slots; of few names such that no two have the same one, if a trial finds how.
    fn rebuild(&mut self) {
        let n = self.texts.len();
        let n_slots = (8 * n).next_power_of_two();
        let n_trials = if n <= MAX_SEARCHED { MAX_TRIALS } else { 1 };
        for trial in 0..n_trials {
            self.multiplier = HASH_MULTIPLIER.wrapping_mul(2 * trial + 1);
            self.slots = vec![Slot::default(); n_slots];
            // All are inserted, since the slots of the last trial stay.
            let n_alone = (0..n).filter(|&index| self.insert(self.key_of(&self.texts[index]), index as u32)).count();
            if n_alone == n {
                return;
            }
        }
    }

    /// Inserts a name; returns whether the first slot was free.
    fn insert(&mut self, key: Key, index: u32) -> bool {
        let first = key.hash(self.multiplier, self.slots.len());
        let mut position = first;
        while self.slots[position].index != 0 {
            position = (position + 1) & (self.slots.len() - 1);
        }
        let code = self.codes.get(index as usize).copied().unwrap_or(index);
        self.slots[position] = Slot { key, code, index: index + 1 };
        position == first
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

/// Returns whether a field with this text, unquoted, means this name: it is neither missing, nor blank, nor a quote.
#[must_use]
pub fn is_plain(name: &str, dialect: &Dialect) -> bool {
    is_plain_field(name.as_bytes(), dialect) && !dialect.missing().iter().any(|text| text == name)
}

/// Returns whether a field has neither a quote at its start nor blanks around it, and is not empty.
#[inline(always)]
pub fn is_plain_field(text: &[u8], dialect: &Dialect) -> bool {
    match (text.first(), text.last()) {
        (Some(&first), Some(&last)) => first > b' ' && last > b' ' && !dialect.is_quote(first),
        _ => false,
    }
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
    fn names_that_agree_at_both_ends_are_distinguished() {
        let texts: Vec<String> = (0..300).map(|i| format!("the same {i:05} start and end")).collect();
        let names: Names = texts.iter().collect();
        let line = texts.concat();
        for code in 0..300 {
            assert_eq!(names.find_in(line.as_bytes(), 28 * code, 28 * (code + 1)), Some(code as u32));
        }
        assert_eq!(names.find("the same 00300 start and end"), None);
    }

    #[test]
    fn a_plain_name_is_what_the_field_of_its_text_means() {
        let names: Names = ["a", "", "?", " b", "c ", "'d'", "\"e\"", "f g", "it's", "a,b"].into_iter().collect();
        let arff = Dialect::arff(b',', vec![]).unwrap();
        let csv = Dialect::new(b',', vec!["f g".into()]).unwrap();
        let plain = |dialect| names.keep_plain(dialect).as_slice().to_vec();
        assert_eq!(plain(&arff), ["a", "f g", "it's", "a,b"]);
        assert_eq!(plain(&csv), ["a", "?", "'d'", "it's", "a,b"]);
        assert_eq!(names.keep_plain(&arff).find("it's"), Some(8));
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
