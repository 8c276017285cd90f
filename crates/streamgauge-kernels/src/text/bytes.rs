//! Loads of eight bytes within a line.

/// Returns the eight bytes from `position` on as a little-endian word; bytes past the end are 0.
#[inline(always)]
pub fn load_word(line: &[u8], position: usize) -> u64 {
    match line.get(position..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last_word(line, position),
    }
}

/// Loads the last bytes of a line, fewer than eight.
#[inline(always)]
fn load_last_word(line: &[u8], position: usize) -> u64 {
    match line.last_chunk::<8>() {
        Some(bytes) => {
            let past = (position + 8 - line.len()).min(8) as u32;
            u64::from_le_bytes(*bytes).checked_shr(8 * past).unwrap_or(0)
        }
        None => line.iter().skip(position).rev().fold(0, |word, &byte| (word << 8) | u64::from(byte)),
    }
}

/// Finds the first occurrence of a byte.
#[inline(always)]
pub fn find_byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    const BLOCK: usize = 32;
    let mut blocks = bytes.chunks_exact(BLOCK);
    let mut before = 0;
    for block in blocks.by_ref() {
        // Without an early exit, the comparison of a block becomes a few vector instructions.
        if block.iter().fold(0, |any, &byte| any | u8::from(byte == wanted)) != 0 {
            break;
        }
        before += BLOCK;
    }
    bytes[before..].iter().position(|&byte| byte == wanted).map(|within| before + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_past_the_end_is_filled_with_zeros() {
        let line = b"0123456789";
        assert_eq!(load_word(line, 0), u64::from_le_bytes(*b"01234567"));
        assert_eq!(load_word(line, 5), u64::from_le_bytes(*b"56789\0\0\0"));
        assert_eq!((load_word(line, 10), load_word(line, 99)), (0, 0));
        assert_eq!(load_word(b"012", 1), u64::from_le_bytes(*b"12\0\0\0\0\0\0"));
        assert_eq!(load_word(b"", 0), 0);
    }

    #[test]
    fn a_byte_is_found_wherever_it_is() {
        for length in 0..100 {
            let mut bytes = vec![b'a'; length];
            assert_eq!(find_byte(&bytes, b'\n'), None);
            for position in (0..length).rev() {
                bytes[position] = b'\n';
                assert_eq!(find_byte(&bytes, b'\n'), Some(position));
            }
        }
    }
}
