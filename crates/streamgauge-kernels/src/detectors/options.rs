//! Checks of options that detectors share, and serialisation of options and plain numbers.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

/// The direction of changes of the mean that are signalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Only a rise.
    Up,
    /// Only a fall.
    Down,
    /// Both.
    Both,
}

impl Direction {
    /// Returns whether rises are signalled.
    #[inline(always)]
    #[must_use]
    pub fn is_up(self) -> bool {
        self != Self::Down
    }

    /// Returns whether falls are signalled.
    #[inline(always)]
    #[must_use]
    pub fn is_down(self) -> bool {
        self != Self::Up
    }

    /// Returns the number it is saved as.
    pub(super) fn code(self) -> f64 {
        f64::from(self as u8)
    }
}

/// Checks that an option is a finite number of at least 0.
pub(super) fn check_not_negative(option: &'static str, found: f64) -> Result<(), KernelError> {
    check_option(option, found, found.is_finite() && found >= 0.0, "it must be a finite number of 0 or more")
}

/// Checks that an option is in (0, 1).
pub(super) fn check_open_unit(option: &'static str, found: f64) -> Result<(), KernelError> {
    check_option(option, found, found > 0.0 && found < 1.0, "it must be a number in (0, 1)")
}

/// Checks that an option is in (0, 1].
pub(super) fn check_share(option: &'static str, found: f64) -> Result<(), KernelError> {
    check_option(option, found, found > 0.0 && found <= 1.0, "it must be a number in (0, 1]")
}

/// Checks that an option counts at least one.
pub(super) fn check_positive(option: &'static str, found: u64) -> Result<(), KernelError> {
    check_option(option, found, found > 0, "it must be at least 1")
}

/// Appends options and the numbers of a state.
pub(super) fn write_numbers(writer: &mut Writer, options: &[f64], numbers: &[f64]) {
    writer.f64s(options);
    writer.f64s(numbers);
}

/// Reads the numbers of a state saved with the same options.
pub(super) fn read_numbers<const N: usize>(reader: &mut Reader<'_>, options: &[f64]) -> Result<[f64; N], KernelError> {
    if reader.f64s()? != options {
        return Err(reader.error("it has other options"));
    }
    let mut numbers = [0.0; N];
    reader.f64s_into(&mut numbers)?;
    Ok(numbers)
}
