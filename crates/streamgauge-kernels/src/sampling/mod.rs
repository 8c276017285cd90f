//! Sampling of training and test sets: which rows, and the text of those selected.

mod counting;
mod selection;
mod text;

pub use counting::Counting;
pub use selection::{Fate, Group, Selection};
pub use text::{Chosen, Sampling};

/// Append a whole number.
fn push_decimal(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written() {
        for number in [0, 9, 10, 1234, u64::MAX] {
            let mut text = Vec::new();
            push_decimal(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
        }
    }
}
