//! Loads of eight bytes within a line, and searches in it.

use memchr::memchr;

/// Returns the eight bytes from `position` on as a little-endian word; bytes past the end are 0.
#[inline(always)]
pub fn load_word(line: &[u8], position: usize) -> u64 {
    match line.get(position..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => load_last_word(line, position),
    }
}

/// Loads the last bytes of a line, fewer than eight.
#[inline(never)]
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

/// The number of bytes that are searched at once for the end of a field.
const WINDOW: usize = 32;

/// Returns the position of the first delimiter from `start` on, at most `length`, the length of the line.
///
/// The bytes ahead include those after the line, as far as they are known. The only branches that depend on where the
/// end is are those for a field of one byte, so that the next one need not wait for a search, and for a distant end.
#[inline(always)]
pub fn find_end(ahead: &[u8], length: usize, start: usize, delimiter: u8) -> usize {
    let window = ahead.get(start..).and_then(<[u8]>::first_chunk::<WINDOW>);
    if let Some([first, second, ..]) = window
        && *second == delimiter
        && *first != delimiter
        && start + 1 < length
    {
        return start + 1;
    }
    match window.map_or(0, |window| match_bytes(window, delimiter)) {
        0 => find_far_end(ahead, length, start, delimiter),
        found => length.min(start + found.trailing_zeros() as usize),
    }
}

#[cold]
fn find_far_end(ahead: &[u8], length: usize, start: usize, delimiter: u8) -> usize {
    ahead.get(start..length).and_then(|rest| memchr(delimiter, rest)).map_or(length, |within| start + within)
}

/// Returns the positions of a byte, one bit each.
#[inline(always)]
fn match_bytes(bytes: &[u8; WINDOW], wanted: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse2) = pulp::core_arch::x86::Sse2::try_new() {
        let wanted = sse2._mm_set1_epi8(wanted as i8);
        let (parts, _) = bytes.as_chunks::<16>();
        return parts.iter().rev().fold(0, |bits, &part| {
            let matches = sse2._mm_cmpeq_epi8(pulp::cast(part), wanted);
            bits << 16 | u32::from(sse2._mm_movemask_epi8(matches) as u16)
        });
    }
    match_words(bytes, wanted)
}

/// Returns the positions of a byte without vector instructions, one bit each.
#[inline(always)]
fn match_words(bytes: &[u8; WINDOW], wanted: u8) -> u32 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().rev().fold(0, |bits, word| {
        // The product moves the lowest bit of every byte into the highest byte.
        let matches = match_word(u64::from_le_bytes(*word), wanted) >> 7;
        bits << 8 | (matches.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    })
}

/// Returns the high bit of every byte of a word that equals a byte.
#[inline(always)]
pub fn match_word(word: u64, wanted: u8) -> u64 {
    const NOT_HIGH: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let others = word ^ u64::from_le_bytes([wanted; 8]);
    !(((others & NOT_HIGH) + NOT_HIGH) | others | NOT_HIGH)
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

    #[test]
    fn the_end_of_a_field_is_the_first_delimiter_or_the_end_of_the_line() {
        for gap in 1..70 {
            let text: Vec<u8> = (0..300).map(|i| if i % gap == gap - 1 { b',' } else { i as u8 | 128 }).collect();
            for (length, start) in (0..=300).flat_map(|length| [0, length / 2, length].map(|start| (length, start))) {
                let within = text[start..length].iter().position(|&byte| byte == b',');
                let expected = within.map_or(length, |within| start + within);
                assert_eq!(find_end(&text, length, start, b','), expected, "{gap} {length} {start}");
                assert_eq!(find_end(&text[..length], length, start, b','), expected, "{gap} {length} {start}");
            }
        }
    }

    #[test]
    fn vector_instructions_find_the_same_bytes() {
        let bytes: Vec<u8> = (0..=255).cycle().take(700).collect();
        for window in bytes.array_windows::<WINDOW>() {
            for wanted in [0, 1, b',', 127, 128, 129, 255] {
                let expected = (0..WINDOW).filter(|&i| window[i] == wanted).fold(0, |bits, i| bits | 1 << i);
                assert_eq!((match_bytes(window, wanted), match_words(window, wanted)), (expected, expected));
            }
        }
    }
}
