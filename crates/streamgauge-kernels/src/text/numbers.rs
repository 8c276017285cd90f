//! Numbers from text, correctly rounded.
//!
//! Digits are read eight at a time. Up to 15 of them are rounded by one division (Clinger 1990); up to 19, and powers
//! from 10^-27 to 10^55, by the product with a 128-bit power of five (Lemire 2021, whose proof needs no fallback in
//! that range); the standard library does the rest. The number of digits selects the path, not their value, because it
//! is similar in all rows of a file and causes no mispredicted branch.

use super::bytes::{load_word, match_word};
use super::quote_excerpt;

/// Powers of ten that are exact as floats.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
const SHIFTS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const MIN_POWER: i64 = -27;
const MAX_POWER: i64 = 55;
const N_POWERS: usize = (MAX_POWER - MIN_POWER + 1) as usize;

/// Per power of ten, the first 128 bits of the power of five: truncated if it is whole, else rounded up.
const POWERS_OF_FIVE: [u128; N_POWERS] = powers_of_five();

const fn powers_of_five() -> [u128; N_POWERS] {
    let mut table = [0; N_POWERS];
    let mut i = 0;
    while i < N_POWERS {
        let power = i as i64 + MIN_POWER;
        table[i] = if power < 0 { invert_power(5_u64.pow(-power as u32)) } else { normalise_power(power as u32) };
        i += 1;
    }
    table
}

const fn normalise_power(power: u32) -> u128 {
    let five = 5_u128.pow(power);
    five << five.leading_zeros()
}

/// Returns 2^(z + 127) / divisor, rounded up, where 2^z is the power of two that the divisor does not exceed.
const fn invert_power(divisor: u64) -> u128 {
    let bits = 64 - divisor.leading_zeros() + 127;
    let (mut quotient, mut remainder, mut bit) = (0_u128, 1_u64, 0);
    while bit < bits {
        remainder <<= 1;
        quotient <<= 1;
        if remainder >= divisor {
            remainder -= divisor;
            quotient |= 1;
        }
        bit += 1;
    }
    quotient + 1
}

/// Returns whether there is exactly one digit at `position`.
#[inline(always)]
fn is_one_digit(line: &[u8], position: usize) -> bool {
    line.get(position).is_some_and(u8::is_ascii_digit) && !line.get(position + 1).is_some_and(u8::is_ascii_digit)
}

/// Returns how many of the next eight bytes are digits, and the digits as numbers, the first in the lowest byte.
#[inline(always)]
fn scan_digits(line: &[u8], position: usize) -> (usize, u64) {
    let digits = load_word(line, position) ^ 0x3030_3030_3030_3030;
    // The high bit of a byte that is not a digit; carries only spoil bytes after the first of them.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    ((others.trailing_zeros() / 8) as usize, digits)
}

/// The digits read so far.
#[derive(Default)]
struct Digits {
    mantissa: u64,
    count: usize,
}

impl Digits {
    /// Reads digits from `position` on; returns the position of the first other byte.
    ///
    /// The position of the next word does not wait for the count of this one: the branch is predicted well, a sum has
    /// latency.
    #[inline(always)]
    fn read(&mut self, line: &[u8], mut position: usize) -> usize {
        let start = position;
        loop {
            let (n, digits) = scan_digits(line, position);
            if n < 8 {
                // Without a branch, because it would be mispredicted.
                let value = if n == 0 { 0 } else { combine_digits(digits << (64 - 8 * n)) };
                self.mantissa = self.mantissa.wrapping_mul(SHIFTS[n]).wrapping_add(value);
                self.count += position + n - start;
                return position + n;
            }
            self.mantissa = self.mantissa.wrapping_mul(100_000_000).wrapping_add(combine_digits(digits));
            position += 8;
        }
    }

    /// Reads the digits before the point, of which there is usually one.
    #[inline(always)]
    fn read_whole(&mut self, line: &[u8], position: usize) -> usize {
        if is_one_digit(line, position) {
            self.mantissa = u64::from(line[position] - b'0');
            self.count = 1;
            return position + 1;
        }
        self.read(line, position)
    }
}

/// Combines eight digits into a number, the first in the lowest byte.
#[inline(always)]
fn combine_digits(digits: u64) -> u64 {
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let second = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    first.wrapping_add(second) >> 32
}

/// Returns the finite number that starts at `position`, and its end, if there is one.
///
/// A number consists of digits with an optional sign, point and exponent. `nan` and `inf` are not numbers.
#[inline(always)]
pub fn scan_number(line: &[u8], position: usize) -> Option<(f64, usize)> {
    let first = *line.get(position)?;
    let negative = first == b'-';
    let start = position + usize::from(negative || first == b'+');
    let mut digits = Digits::default();
    let mut end = digits.read_whole(line, start);
    let mut power = 0;
    if line.get(end) == Some(&b'.') {
        let point = end + 1;
        end = digits.read(line, point);
        power = -((end - point) as i64);
    }
    if digits.count == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = line.get(end) {
        let (exponent, after) = read_exponent(line, end + 1)?;
        power += exponent;
        end = after;
    }
    let magnitude = match digits.count {
        0..=15 if (-22..=0).contains(&power) => Some(digits.mantissa as f64 / EXACT[-power as usize]),
        0..=19 => scale(digits.mantissa, power),
        count if count - leading_zeros(&line[start..end]) <= 19 => scale(digits.mantissa, power),
        _ => None,
    };
    let value = match magnitude {
        Some(value) if negative => -value,
        Some(value) => value,
        None => std::str::from_utf8(&line[position..end]).ok()?.parse().ok()?,
    };
    value.is_finite().then_some((value, end))
}

/// Returns the finite number from `start` to `end`, if it is one.
#[inline(always)]
pub fn read_number(line: &[u8], start: usize, end: usize) -> Option<f64> {
    if let Some(value) = read_short(line, start, end) {
        return Some(value);
    }
    scan_number(line, start).filter(|&(_, stop)| stop == end).map(|(value, _)| value)
}

/// Returns the number from `start` to `end` if it is one to eight digits and perhaps a point, after an optional minus.
///
/// How many digits there are and where the point is, which differs between rows, decides no branch.
#[inline(always)]
fn read_short(line: &[u8], start: usize, end: usize) -> Option<f64> {
    let negative = line.get(start) == Some(&b'-');
    let start = start + usize::from(negative);
    let length = end - start;
    if !(1..=8).contains(&length) {
        return None;
    }
    // The last character is in the highest byte.
    let unused = 64 - 8 * length;
    let text = load_word(line, start) << unused;
    let points = match_word(text, b'.');
    let magnitude = if points == 0 {
        combine_if_digits(text ^ (0x3030_3030_3030_3030 << unused))?
    } else {
        // The characters before the last point move up by one.
        let point = 1 << 63 >> points.leading_zeros() >> 7;
        let (before, after) = (text & (point - 1), text & !(point << 8).wrapping_sub(1));
        let digits = (before << 8 | after) ^ (0x3030_3030_3030_3030_u64.checked_shl(unused as u32 + 8)?);
        combine_if_digits(digits)? / EXACT[points.leading_zeros() as usize / 8]
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// Combines eight digits into a number, if they are digits.
#[inline(always)]
fn combine_if_digits(digits: u64) -> Option<f64> {
    let is_digits = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080 == 0;
    is_digits.then(|| combine_digits(digits) as f64)
}

/// Reads the exponent that starts at `position`; returns it and its end.
fn read_exponent(line: &[u8], position: usize) -> Option<(i64, usize)> {
    let negative = line.get(position) == Some(&b'-');
    let mut end = position + usize::from(negative || line.get(position) == Some(&b'+'));
    let first = end;
    let mut exponent = 0_i64;
    while let Some(digit) = line.get(end).filter(|byte| byte.is_ascii_digit()) {
        exponent = (exponent * 10 + i64::from(digit - b'0')).min(1_000_000);
        end += 1;
    }
    (end > first).then_some((if negative { -exponent } else { exponent }, end))
}

/// Counts the leading zeros of a number.
#[cold]
fn leading_zeros(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b'0' || byte == b'.').filter(|&&byte| byte == b'0').count()
}

/// Returns mantissa * 10^power, if there is a fast path.
#[inline(always)]
fn scale(mantissa: u64, power: i64) -> Option<f64> {
    if mantissa == 0 {
        return Some(0.0);
    }
    (MIN_POWER..=MAX_POWER).contains(&power).then(|| multiply_by_power(mantissa, power))
}

/// Returns the end of the number that starts at `position`, if there is one. Faster than [`scan_number`].
#[inline(always)]
fn find_number_end(line: &[u8], position: usize) -> Option<usize> {
    let first = *line.get(position)?;
    let start = position + usize::from(first == b'-' || first == b'+');
    let whole_end = if is_one_digit(line, start) { start + 1 } else { find_digits_end(line, start) };
    let (mut end, mut count) = (whole_end, whole_end - start);
    if line.get(end) == Some(&b'.') {
        end = find_digits_end(line, whole_end + 1);
        count += end - whole_end - 1;
    }
    // Only an exponent or hundreds of digits can make a number overflow.
    if count > 300 || matches!(line.get(end), Some(b'e' | b'E')) {
        return scan_number(line, position).map(|(_, end)| end);
    }
    (count > 0).then_some(end)
}

/// Returns whether the bytes from `start` to `end` are a finite number.
#[inline(always)]
pub fn is_number(line: &[u8], start: usize, end: usize) -> bool {
    read_short(line, start, end).is_some() || find_number_end(line, start) == Some(end)
}

#[inline(always)]
fn find_digits_end(line: &[u8], mut position: usize) -> usize {
    loop {
        let (n, _) = scan_digits(line, position);
        if n < 8 {
            return position + n;
        }
        position += 8;
    }
}

/// Returns mantissa * 10^power by the product with a 128-bit power of five; the mantissa is not 0.
#[inline(always)]
fn multiply_by_power(mantissa: u64, power: i64) -> f64 {
    let zeros = mantissa.leading_zeros();
    let mantissa = u128::from(mantissa << zeros);
    let five = POWERS_OF_FIVE[(power - MIN_POWER) as usize];
    let mut bits = mantissa * (five >> 64);
    if (bits >> 64) as u64 & 0x1ff == 0x1ff {
        bits += (mantissa * (five & u128::from(u64::MAX))) >> 64;
    }
    let (high, low) = ((bits >> 64) as u64, bits as u64);
    let upper = (high >> 63) as u32;
    let mut rounded = high >> (upper + 9);
    let mut exponent = ((217_706 * power) >> 16) + 63 + i64::from(upper) - i64::from(zeros) + 1023;
    // Exactly half way between two floats: round to even.
    if low <= 1 && (-4..=23).contains(&power) && rounded & 3 == 1 && rounded << (upper + 9) == high {
        rounded &= !1;
    }
    rounded = (rounded + (rounded & 1)) >> 1;
    if rounded >= 1 << 53 {
        rounded = 1 << 52;
        exponent += 1;
    }
    f64::from_bits(rounded & !(1 << 52) | (exponent as u64) << 52)
}

/// Parses a whole text as a number.
///
/// # Errors
/// Returns the reason.
pub fn parse_number(text: &str) -> Result<f64, String> {
    match scan_number(text.as_bytes(), 0) {
        Some((value, end)) if end == text.len() => Ok(value),
        _ => Err(format!(
            "{} is not a {}",
            quote_excerpt(text),
            if is_not_finite(text) {
                "finite number"
            } else if has_decimal_comma(text) {
                "number (decimals need a point)"
            } else {
                "number"
            }
        )),
    }
}

/// Returns whether a text is a number whose decimals follow a comma.
fn has_decimal_comma(text: &str) -> bool {
    text.contains(',') && !text.contains('.') && parse_number(&text.replacen(',', ".", 1)).is_ok()
}

/// Returns whether a text is NaN, infinite or too large.
fn is_not_finite(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|value| !value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    fn assert_same_as_standard(text: &str) {
        let expected: f64 = text.parse().unwrap();
        let value = parse_number(text).unwrap();
        assert_eq!(value.to_bits(), expected.to_bits(), "{text}: {value:e} against {expected:e}");
    }

    #[test]
    fn numbers_are_rounded_as_the_standard_library_rounds_them() {
        for text in [
            "0",
            "-0",
            "0.0",
            "+1",
            "1.",
            ".5",
            "-.5e1",
            "1e22",
            "1e23",
            "9007199254740993",
            "0.1",
            "123456789012345678",
            "9999999999999999999",
            "18446744073709551616",
            "1e-400",
            "4.9e-324",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "00000000000000000000000001.5",
            "0.00000000000000000000000000000012345",
            "8.5e15",
            "4503599627370496.5",
            "4503599627370497.5",
            "9007199254740992.5",
            "1e+05",
            "1E-5",
            "123456789.123456789e-27",
        ] {
            assert_same_as_standard(text);
        }
    }

    #[test]
    fn random_numbers_of_every_length_and_power_are_rounded_right() {
        let draws = Draws::new(3, Purpose::named("numbers"), 0);
        for row in 0..400_000 {
            let draw = draws.at(row);
            let mantissa = draws.within(row).at(0) >> (draw % 64);
            assert_same_as_standard(&format!("{mantissa}e{}", (draw >> 32) as i64 % 90 - 35));
            assert_same_as_standard(&format!("{}", draws.uniform(row)));
            // Half way between two floats, and next to it.
            let half = (1_u64 << 53) + 2 * (mantissa >> 12) + 1;
            assert_same_as_standard(&format!("{half}e{}", draw % 24));
            assert_same_as_standard(&format!("{}.5", mantissa >> 11));
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in [
            "", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.2.3", "1,234,5", " 1", "1 ", "0x10", "1_000", "1d5", "--1",
            "١",
        ] {
            assert_eq!(parse_number(text), Err(format!("{} is not a number", quote_excerpt(text))));
        }
        assert_eq!(parse_number("1,5"), Err("'1,5' is not a number (decimals need a point)".into()));
        for text in ["nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e400"] {
            assert_eq!(parse_number(text), Err(format!("'{text}' is not a finite number")));
        }
    }

    #[test]
    fn a_number_ends_where_it_ends() {
        assert_eq!(scan_number(b"12,3.5,x", 0), Some((12.0, 2)));
        assert_eq!(scan_number(b"12,3.5,x", 3), Some((3.5, 6)));
        assert_eq!(scan_number(b"12,3.5,x", 7), None);
        assert_eq!(scan_number(b"12", 2), None);
    }

    #[test]
    fn the_end_of_a_number_is_where_its_value_ends() {
        let huge = "9".repeat(400);
        for text in
            ["12,", "-1.5e3,", "1e999", ".5.", ".", "-", "", "1e", "x", "+7", "00000000001.00000000000,", huge.as_str()]
        {
            assert_eq!(
                find_number_end(text.as_bytes(), 0),
                scan_number(text.as_bytes(), 0).map(|(_, end)| end),
                "{text}"
            );
        }
    }
}
