//! ADWIN as a detector.

use super::{Detector, Direction, Signal};
use crate::KernelError;
use crate::adaptive_window::{AdaptiveWindow, Settings};
use crate::codec::{Reader, Writer};

/// A detector that signals a drift when its adaptive window drops its oldest part.
///
/// The window keeps the rest after a drift. If rises and falls are both signalled, compare [`Adwin::estimate`] before
/// and after to tell them apart.
#[derive(Debug, Clone)]
pub struct Adwin {
    direction: Direction,
    window: AdaptiveWindow,
}

impl Adwin {
    /// Creates a detector of the given significance that checks after every 32 values, as in MOA and River.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if `delta` is outside (0, 1).
    pub fn new(delta: f64) -> Result<Self, KernelError> {
        Self::with_settings(Settings::new(delta), Direction::Both)
    }

    /// Creates a detector with the given options. The window shrinks at every change, in any direction.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn with_settings(settings: Settings, direction: Direction) -> Result<Self, KernelError> {
        Ok(Self { direction, window: AdaptiveWindow::new(settings)? })
    }

    /// Returns the mean of the values in the window; 0 if there are none.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        let width = self.window.width();
        if width == 0 { 0.0 } else { self.window.total() / width as f64 }
    }

    /// Returns the number of values in the window.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.window.width()
    }

    /// Returns the sum of the values in the window.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.window.total()
    }
}

impl Detector for Adwin {
    fn name(&self) -> &'static str {
        "Adwin detector"
    }

    #[inline]
    fn update(&mut self, value: f64) -> Signal {
        let (width, total) = (self.window.width(), self.window.total());
        if !self.window.push(value) {
            return Signal::Stable;
        }
        let before = (total + value) / (width + 1) as f64;
        let signalled = match self.direction {
            Direction::Up => self.estimate() > before,
            Direction::Down => self.estimate() < before,
            Direction::Both => true,
        };
        if signalled { Signal::Drift } else { Signal::Stable }
    }

    fn reset(&mut self) {
        self.window.clear();
    }

    fn n_bytes(&self) -> usize {
        self.window.n_bytes()
    }

    fn write(&self, writer: &mut Writer) {
        writer.f64(self.direction.code());
        self.window.write(writer);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        if reader.f64()? != self.direction.code() {
            return Err(reader.error("it has other options"));
        }
        self.window = self.window.read(reader)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_found_and_the_estimate_follows() {
        let mut adwin = Adwin::new(0.002).unwrap();
        let mut values = (0..2_000).map(|i| f64::from(u8::from(i % if i < 1_000 { 10 } else { 2 } == 0)));
        let first = values.by_ref().position(|value| adwin.update(value) == Signal::Drift);
        assert!(first.is_some_and(|row| (1_000..1_200).contains(&row)));
        for value in values {
            adwin.update(value);
        }
        assert!((adwin.estimate() - 0.5).abs() < 0.05 && adwin.width() < 1_100);
        let mut copy = Adwin::new(0.002).unwrap();
        copy.load(&adwin.save()).unwrap();
        assert_eq!(copy.save(), adwin.save());
        assert!(Adwin::new(0.01).unwrap().load(&adwin.save()).is_err());
    }
}
