//! Detectors of change in a column of values, such as the errors of a learner.
//!
//! A detector takes in one value at a time in bounded memory and tells after each whether the stream has changed. A
//! column is taken in as if its values came one by one, so that the signals do not depend on how it is cut.

use crate::KernelError;
use crate::codec::{Reader, Writer};

mod adwin;

pub use adwin::Adwin;

/// What a detector says after a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Signal {
    /// Nothing has changed.
    #[default]
    Stable = 0,
    /// Something may be changing.
    Warning = 1,
    /// The stream has changed.
    Drift = 2,
}

/// Tells from values, one after the other, when their distribution has changed.
pub trait Detector: Send {
    /// The name its saved state begins with.
    fn name(&self) -> &'static str;

    /// Take in a finite value; what it shows.
    fn update(&mut self, value: f64) -> Signal;

    /// Forget everything but the options.
    fn reset(&mut self);

    /// The bytes it holds, on the heap and off it.
    fn n_bytes(&self) -> usize;

    /// Append its state to that of something larger.
    fn write(&self, writer: &mut Writer);

    /// Read the state of a detector built alike; on an error it is as it was.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from a detector built otherwise.
    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError>;

    /// Take in finite values, in order; what each shows.
    fn update_all(&mut self, values: &[f64], signals: &mut [Signal]) {
        for (&value, signal) in values.iter().zip(signals) {
            *signal = self.update(value);
        }
    }

    /// Its state as bytes.
    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.name(), 1);
        self.write(&mut writer);
        writer.finish()
    }

    /// Take over the state of a detector built alike; on an error it is as it was.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from a detector built otherwise.
    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(self.name(), 1, bytes)?;
        self.read(&mut reader)?;
        reader.finish()
    }
}
