//! KSWIN: the newest values against a sample of those before, by the Kolmogorov-Smirnov test.

use std::collections::VecDeque;

use super::options::{check_open_unit, check_positive, read_numbers, write_numbers};
use super::{Detector, Signal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;
use crate::randomness::{Draws, Purpose};

/// The smallest difference of the distributions that can be a drift, at any significance.
const LEAST_DIFFERENCE: f64 = 0.1;

/// The options of [`Kswin`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KswinOptions {
    /// The significance of a drift per test.
    pub delta: f64,
    /// The number of values in the window.
    pub width: usize,
    /// The number of newest values; as many are drawn from the rest.
    pub n_newest: usize,
    /// The seed of the sample.
    pub seed: u64,
}

/// A detector that compares the distribution of the newest values with that of a sample of the earlier values in a
/// sliding window.
///
/// Raab, Heusinger and Schleif, "Reactive soft prototype computing for concept drift streams", 2020. A new sample is
/// drawn, without replacement, after every value. After a drift only the newest values are kept.
#[derive(Debug, Clone)]
pub struct Kswin {
    options: KswinOptions,
    /// The smallest difference of the counts that is a drift.
    critical: usize,
    draws: Draws,
    /// The number of values so far.
    n: u64,
    window: VecDeque<f64>,
    sample: Vec<f64>,
    newest: Vec<f64>,
    order: Vec<u32>,
}

impl Kswin {
    /// Creates a detector that has seen no value.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: KswinOptions) -> Result<Self, KernelError> {
        let KswinOptions { delta, width, n_newest, seed } = options;
        check_open_unit("delta", delta)?;
        check_positive("n_newest", n_newest as u64)?;
        check_option("width", width, width >= 2 * n_newest, "it must be at least twice n_newest")?;
        let draws = Draws::new(seed, Purpose::named("kswin sample"), 0);
        let critical = critical_difference(n_newest, delta);
        let (window, sample, newest, order) = (VecDeque::new(), vec![], vec![], vec![]);
        Ok(Self { options, critical, draws, n: 0, window, sample, newest, order })
    }

    fn saved_options(&self) -> [f64; 4] {
        let KswinOptions { delta, width, n_newest, seed } = self.options;
        [delta, width as f64, n_newest as f64, f64::from_bits(seed)]
    }

    /// Draws a sample of the values that are not the newest, and sort both.
    fn draw_sample(&mut self) {
        let KswinOptions { width, n_newest, .. } = self.options;
        let n_older = width - n_newest;
        let draws = self.draws.within(self.n);
        self.order.clear();
        self.order.extend(0..n_older as u32);
        self.sample.clear();
        for i in 0..n_newest {
            let pick = i + draws.below(i as u64, (n_older - i) as u64) as usize;
            self.order.swap(i, pick);
            self.sample.push(self.window[self.order[i] as usize]);
        }
        self.newest.clear();
        self.newest.extend(self.window.range(n_older..));
        self.sample.sort_unstable_by(f64::total_cmp);
        self.newest.sort_unstable_by(f64::total_cmp);
    }
}

impl Detector for Kswin {
    fn name(&self) -> &'static str {
        "Kswin detector"
    }

    fn update(&mut self, value: f64) -> Signal {
        let KswinOptions { width, n_newest, .. } = self.options;
        // Adding 0 turns -0 into 0, which `total_cmp` would sort apart.
        self.window.push_back(value + 0.0);
        self.n += 1;
        if self.window.len() < width {
            return Signal::Stable;
        }
        self.draw_sample();
        let difference = greatest_difference(&self.sample, &self.newest);
        if difference >= self.critical {
            self.window.drain(..width - n_newest);
            return Signal::Drift;
        }
        self.window.pop_front();
        Signal::Stable
    }

    fn reset(&mut self) {
        self.window.clear();
        self.n = 0;
    }

    fn n_bytes(&self) -> usize {
        let floats = self.window.capacity() + self.sample.capacity() + self.newest.capacity();
        size_of::<Self>() + 8 * floats + 4 * self.order.capacity()
    }

    fn write(&self, writer: &mut Writer) {
        write_numbers(writer, &self.saved_options(), &[]);
        writer.u64(self.n);
        let values: Vec<f64> = self.window.iter().copied().collect();
        writer.f64s(&values);
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let [] = read_numbers(reader, &self.saved_options())?;
        let (n, values) = (reader.u64()?, reader.f64s()?);
        if values.len() >= self.options.width || !values.iter().all(|value| value.is_finite()) {
            return Err(reader.error("it has a wrong number of values"));
        }
        (self.n, self.window) = (n, values.into());
        Ok(())
    }
}

/// Returns the greatest difference of the cumulative counts of two sorted columns of the same length.
fn greatest_difference(first: &[f64], second: &[f64]) -> usize {
    let (mut i, mut j, mut greatest) = (0, 0, 0);
    while i < first.len() && j < second.len() {
        let point = first[i].min(second[j]);
        while i < first.len() && first[i] == point {
            i += 1;
        }
        while j < second.len() && second[j] == point {
            j += 1;
        }
        greatest = greatest.max(i.abs_diff(j));
    }
    greatest
}

/// Returns the smallest difference of counts whose exact significance, for two samples of `n` values, is at most
/// `delta`.
fn critical_difference(n: usize, delta: f64) -> usize {
    let is_drift = |&h: &usize| significance(n, h) <= delta && h as f64 / n as f64 > LEAST_DIFFERENCE;
    (1..=n).find(is_drift).unwrap_or(usize::MAX)
}

/// Returns the probability that the cumulative counts of two samples of `n` values from one continuous distribution
/// differ by `h` or more: twice the alternating sum of the binomials (2n over n - kh), divided by (2n over n).
fn significance(n: usize, h: usize) -> f64 {
    let (mut ratio, mut sum, mut sign) = (1.0, 0.0, 1.0);
    for i in 0..n {
        ratio *= (n - i) as f64 / (n + i + 1) as f64;
        if (i + 1) % h == 0 {
            sum += sign * ratio;
            sign = -sign;
        }
    }
    (2.0 * sum).min(1.0)
}
