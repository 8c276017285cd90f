//! Sampling of training and test sets: the selection of rows, and their text.

mod counting;
mod selection;
mod text;

pub use counting::Counting;
pub use selection::{Assignment, Group, Selection};
pub use text::{SampledRows, Sampling};

/// A counter in decimal digits: faster than formatting each number.
#[derive(Debug, Clone)]
struct DecimalCounter {
    text: [u8; 20],
    start: usize,
}

impl Default for DecimalCounter {
    fn default() -> Self {
        Self { text: [b'0'; 20], start: 19 }
    }
}

impl DecimalCounter {
    fn digits(&self) -> &[u8] {
        &self.text[self.start..]
    }

    #[inline(always)]
    fn increment(&mut self) {
        for position in (0..self.text.len()).rev() {
            if self.text[position] < b'9' {
                self.text[position] += 1;
                self.start = self.start.min(position);
                return;
            }
            self.text[position] = b'0';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_counts() {
        let mut decimal = DecimalCounter::default();
        for number in 0..10_500 {
            assert_eq!(decimal.digits(), number.to_string().as_bytes());
            decimal.increment();
        }
    }
}
