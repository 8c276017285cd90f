//! The errors of a node of an adaptive tree.

use crate::adaptive_window::{AdaptiveWindow, Settings};

/// The number of errors between two checks of a window.
pub(super) const CLOCK: u16 = 32;

/// A window of ADWIN over the errors of a node. Errors wait in a word until the window is checked, since it cannot
/// shrink before.
#[derive(Debug, Clone)]
pub(super) struct ErrorMonitor {
    /// The outcomes of the rows since the last check: 1 is an error, the lowest bit is the first row.
    waiting: u32,
    n_waiting: u16,
    /// The number of rows that may wait.
    n_until_check: u16,
    window: Option<Box<AdaptiveWindow>>,
}

impl Default for ErrorMonitor {
    fn default() -> Self {
        Self { waiting: 0, n_waiting: 0, n_until_check: CLOCK, window: None }
    }
}

/// The rows in the window of a monitor, and the errors among them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub n_rows: f64,
    pub n_errors: f64,
}

impl Count {
    /// Returns the share of errors; 0 without rows.
    pub fn rate(self) -> f64 {
        if self.n_rows > 0.0 { self.n_errors / self.n_rows } else { 0.0 }
    }
}

impl ErrorMonitor {
    /// Creates a monitor that continues with a window.
    pub fn resume(window: AdaptiveWindow) -> Self {
        Self { n_until_check: window.until_check() as u16, window: Some(Box::new(window)), ..Self::default() }
    }

    /// Adds whether a prediction was wrong; returns whether the window must be checked.
    #[inline(always)]
    pub fn add(&mut self, is_error: bool) -> bool {
        self.waiting |= u32::from(is_error) << (self.n_waiting % CLOCK);
        self.n_waiting += 1;
        self.n_waiting == self.n_until_check
    }

    /// Checks the window, with all errors that have waited; returns whether the share of errors has risen.
    #[cold]
    #[inline(never)]
    pub fn check(&mut self, settings: Settings) -> bool {
        let last = f64::from(u8::from(self.waiting >> ((self.n_waiting - 1) % CLOCK) & 1 == 1));
        let Count { n_rows, n_errors } = self.count();
        let before = Count { n_rows: n_rows - 1.0, n_errors: n_errors - last };
        let Some(mut window) = self.window.take().or_else(|| AdaptiveWindow::binary(settings).ok().map(Box::new))
        else {
            return false;
        };
        let n_changes = self.append_waiting(&mut window);
        *self = Self { window: Some(window), ..Self::default() };
        n_changes > 0 && self.count().rate() >= before.rate()
    }

    /// Returns the rows in the window, with those that wait.
    pub fn count(&self) -> Count {
        let (n_rows, n_errors) =
            self.window.as_ref().map_or((0.0, 0.0), |window| (window.width() as f64, window.total()));
        Count { n_rows: n_rows + f64::from(self.n_waiting), n_errors: n_errors + f64::from(self.waiting.count_ones()) }
    }

    /// Returns a window with all errors; `None` without rows.
    pub fn to_window(&self, settings: Settings) -> Option<AdaptiveWindow> {
        let mut window = match &self.window {
            Some(window) => AdaptiveWindow::clone(window),
            None if self.n_waiting > 0 => AdaptiveWindow::binary(settings).ok()?,
            None => return None,
        };
        self.append_waiting(&mut window);
        Some(window)
    }

    /// Appends the errors that wait to a window; returns how often it shrank.
    fn append_waiting(&self, window: &mut AdaptiveWindow) -> usize {
        let errors: [f64; CLOCK as usize] = std::array::from_fn(|i| f64::from(u8::from(self.waiting >> i & 1 == 1)));
        // In parts, so that the window allocates few buckets.
        errors[..usize::from(self.n_waiting)].chunks(8).map(|errors| window.extend_binary(errors, &mut ())).sum()
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.window.as_ref().map_or(0, |window| window.n_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn errors_that_wait_count_as_if_each_were_added_alone() {
        let settings = Settings::new(0.002);
        let draws = Draws::new(1, Purpose::named("errors"), 0);
        let (mut monitor, mut n_rises) = (ErrorMonitor::default(), 0);
        let mut window = AdaptiveWindow::binary(settings).unwrap();
        for row in 0..5_000 {
            let is_error = draws.uniform(row) < if row / 1_000 % 2 == 0 { 0.1 } else { 0.5 };
            let before = window.mean();
            let changed = window.extend_binary(&[f64::from(u8::from(is_error))], &mut ()) > 0;
            let has_risen = monitor.add(is_error) && monitor.check(settings);
            assert_eq!(has_risen, changed && window.mean() >= before, "row {row}");
            n_rises += u32::from(has_risen);
            let Count { n_rows, n_errors } = monitor.count();
            assert_eq!((n_rows, n_errors), (window.width() as f64, window.total()));
            if row % 77 == 0 {
                let (mut own, mut expected) = (crate::codec::Writer::new("w", 1), crate::codec::Writer::new("w", 1));
                monitor.to_window(settings).unwrap().write(&mut own);
                window.write(&mut expected);
                assert_eq!(own.finish(), expected.finish());
                monitor = ErrorMonitor::resume(monitor.to_window(settings).unwrap());
            }
        }
        assert!(n_rises > 1);
    }
}
