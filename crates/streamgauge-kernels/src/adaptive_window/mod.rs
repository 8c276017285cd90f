//! ADWIN: a window of values that drops its oldest part when that differs from the rest.
//!
//! Bifet and Gavaldà, "Learning from time-changing data with adaptive windowing", 2007 (ADWIN2, with the variance
//! bound). The window is an exponential histogram: level i holds a few buckets of 2^i values each. The formulas
//! are those of River's implementation, and so are the widths.

use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::error::check_option;

mod bound;

use bound::Bound;

/// The options of an adaptive window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The significance of a difference that makes the window drop its oldest part.
    pub delta: f64,
    /// The number of values between two checks of the window.
    pub clock: u64,
    /// The number of buckets of each size before two are merged.
    pub max_buckets: usize,
    /// The minimum number of values in each part of a split.
    pub min_window_length: u64,
    /// The width up to which the window is not checked.
    pub grace_period: u64,
}

impl Settings {
    /// Creates the default options of MOA and River with the given significance.
    #[must_use]
    pub const fn new(delta: f64) -> Self {
        Self { delta, clock: 32, max_buckets: 5, min_window_length: 5, grace_period: 10 }
    }

    /// Checks every option.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] for the first that is outside its range.
    pub fn check(&self) -> Result<(), KernelError> {
        check_option("delta", self.delta, self.delta > 0.0 && self.delta < 1.0, "it must be a number in (0, 1)")?;
        let counts = [
            ("clock", self.clock),
            ("max_buckets", self.max_buckets as u64),
            ("min_window_length", self.min_window_length),
        ];
        for (option, found) in counts {
            check_option(option, found, found > 0, "it must be at least 1")?;
        }
        Ok(())
    }
}

/// An observer of the buckets of an adaptive window, which keeps data per bucket in step with them.
pub trait BucketObserver {
    /// Called when the `n_pairs` oldest pairs of buckets of a level have become the newest buckets of the next level.
    fn on_merge(&mut self, level: usize, n_pairs: usize);

    /// Called when the oldest bucket of the highest level has been dropped.
    fn on_drop(&mut self, level: usize);
}

/// Ignores the buckets.
impl BucketObserver for () {
    fn on_merge(&mut self, _level: usize, _n_pairs: usize) {}
    fn on_drop(&mut self, _level: usize) {}
}

/// The number of single values that may wait to be merged.
const MAX_PENDING: usize = 32;

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    total: f64,
    /// The sum of the squared differences from the mean.
    variance: f64,
}

/// A window of values that drops its oldest part when that differs from the rest.
#[derive(Debug, Clone)]
pub struct AdaptiveWindow {
    settings: Settings,
    /// The buckets of each size, the oldest first.
    levels: Vec<Vec<Bucket>>,
    width: f64,
    total: f64,
    /// The sum of the squared differences from the mean.
    variance: f64,
    /// The number of values since the last check.
    tick: u64,
    /// Whether all values are 0 or 1: then the variance follows from the total, which saves divisions.
    binary: bool,
}

impl AdaptiveWindow {
    /// Creates an empty window.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(settings: Settings) -> Result<Self, KernelError> {
        settings.check()?;
        Ok(Self { settings, levels: vec![vec![]], width: 0.0, total: 0.0, variance: 0.0, tick: 0, binary: false })
    }

    /// Creates an empty window for values that are all 0 or 1.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn binary(settings: Settings) -> Result<Self, KernelError> {
        Ok(Self { binary: true, ..Self::new(settings)? })
    }

    /// Returns the number of values in the window.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width as u64
    }

    /// Returns the sum of the values in the window.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns the mean of the values in the window; 0 if there are none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.width > 0.0 { self.total / self.width } else { 0.0 }
    }

    /// Returns the number of values until the next check; nothing can be dropped before it.
    #[must_use]
    pub fn until_check(&self) -> usize {
        (self.settings.clock - self.tick) as usize
    }

    /// Returns the memory it uses in bytes, on the heap and off it.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let buckets: usize = self.levels.iter().map(|level| level.capacity() * size_of::<Bucket>()).sum();
        size_of::<Self>() + self.levels.capacity() * size_of::<Vec<Bucket>>() + buckets
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.levels.truncate(1);
        self.levels[0].clear();
        (self.width, self.total, self.variance, self.tick) = (0.0, 0.0, 0.0, 0);
    }

    /// Adds a value; returns whether the window then dropped its oldest part.
    ///
    /// Without an observer, buckets may wait to be merged until there are many or the window is checked.
    #[inline]
    pub fn push(&mut self, value: f64) -> bool {
        self.append([value].into_iter());
        self.tick += 1;
        let due = self.tick == self.settings.clock;
        if due || self.levels[0].len() >= self.settings.max_buckets + MAX_PENDING {
            return self.merge_and_check(due);
        }
        false
    }

    /// Merges the buckets, and checks the window if a check is due.
    #[inline(never)]
    fn merge_and_check(&mut self, due: bool) -> bool {
        self.merge(&mut ());
        if !due {
            return false;
        }
        self.tick = 0;
        self.width > self.settings.grace_period as f64 && self.shrink(&mut ())
    }

    /// Adds values in order; returns how often the window dropped its oldest part.
    ///
    /// The result equals that of adding each alone, but buckets are merged only before a check, level by level.
    #[inline(always)]
    pub fn extend(
        &mut self,
        mut values: impl ExactSizeIterator<Item = f64>,
        observer: &mut impl BucketObserver,
    ) -> usize {
        let mut n_changes = 0;
        while values.len() > 0 {
            let n = values.len().min((self.settings.clock - self.tick) as usize);
            self.append(values.by_ref().take(n));
            n_changes += self.advance(n, observer);
        }
        n_changes
    }

    /// Like [`AdaptiveWindow::extend`], for a window of zeros and ones: adds many values at once.
    #[inline(always)]
    pub fn extend_binary(&mut self, mut values: &[f64], observer: &mut impl BucketObserver) -> usize {
        let mut n_changes = 0;
        while !values.is_empty() {
            let (batch, rest) = values.split_at(values.len().min((self.settings.clock - self.tick) as usize));
            self.levels[0].extend(batch.iter().map(|&total| Bucket { total, variance: 0.0 }));
            self.width += batch.len() as f64;
            self.total += batch.iter().filter(|&&value| value != 0.0).count() as f64;
            self.variance = self.binary_variance();
            n_changes += self.advance(batch.len(), observer);
            values = rest;
        }
        n_changes
    }

    /// Merges buckets after `n` more values, and checks the window if a check is due; returns how often it shrank.
    #[inline(always)]
    fn advance(&mut self, n: usize, observer: &mut impl BucketObserver) -> usize {
        self.merge(observer);
        self.tick += n as u64;
        if self.tick < self.settings.clock {
            return 0;
        }
        self.tick = 0;
        let past_grace = self.width > self.settings.grace_period as f64;
        usize::from(past_grace && self.shrink(observer))
    }

    /// Returns the sum of the squared differences from the mean, if all values are 0 or 1.
    fn binary_variance(&self) -> f64 {
        self.total - self.total * (self.total / self.width)
    }

    #[inline(always)]
    fn append(&mut self, values: impl Iterator<Item = f64>) {
        let (mut width, mut total, mut variance) = (self.width, self.total, self.variance);
        self.levels[0].extend(values.map(|value| {
            if width > 0.0 {
                let difference = value - total / width;
                variance += width * difference * difference / (width + 1.0);
            }
            width += 1.0;
            total += value;
            Bucket { total: value, variance: 0.0 }
        }));
        (self.width, self.total, self.variance) = (width, total, variance);
    }

    /// Merges the oldest buckets of every level that has too many, in pairs, from level 0 on.
    #[inline(always)]
    fn merge(&mut self, observer: &mut impl BucketObserver) {
        let mut level = 0;
        while self.levels[level].len() > self.settings.max_buckets {
            if level + 1 == self.levels.len() {
                self.levels.push(vec![]);
            }
            let n_pairs = (self.levels[level].len() - self.settings.max_buckets).div_ceil(2);
            let (lower, upper) = self.levels.split_at_mut(level + 1);
            let (buckets, size) = (&mut lower[level], bucket_size(level));
            let pairs = buckets[..2 * n_pairs].chunks_exact(2);
            if self.binary {
                upper[0].extend(pairs.map(|pair| Bucket { total: pair[0].total + pair[1].total, variance: 0.0 }));
            } else {
                upper[0].extend(pairs.map(|pair| pair[0].merge_with(pair[1], size)));
            }
            buckets.drain(..2 * n_pairs);
            observer.on_merge(level, n_pairs);
            level += 1;
        }
    }

    /// Drops the oldest bucket as long as some split of the window shows a difference.
    #[inline(never)]
    fn shrink(&mut self, observer: &mut impl BucketObserver) -> bool {
        let mut has_dropped = false;
        while self.has_change() {
            self.drop_oldest(observer);
            has_dropped = true;
        }
        has_dropped
    }

    /// Returns whether the means of the two parts of some split of the window differ.
    fn has_change(&self) -> bool {
        if self.variance < 0.0 {
            // A variance rounded below 0: the values are almost equal, and the bound would be NaN.
            return false;
        }
        let bound = Bound::new(&self.settings, self.width, self.total, self.variance / self.width);
        let (mut n, mut total) = (0.0, 0.0);
        for (level, buckets) in self.levels.iter().enumerate().rev() {
            let size = bucket_size(level);
            for bucket in buckets {
                n += size;
                total += bucket.total;
                if bound.may_be_exceeded(n, total) && bound.is_exceeded(n, total) {
                    return true;
                }
            }
        }
        false
    }

    fn drop_oldest(&mut self, observer: &mut impl BucketObserver) {
        let level = self.levels.len() - 1;
        let n = bucket_size(level);
        let Bucket { total, variance } = self.levels[level].remove(0);
        self.width -= n;
        self.total -= total;
        if self.binary {
            self.variance = self.binary_variance();
        } else {
            let difference = total / n - self.total / self.width;
            self.variance -= variance + n * self.width * difference * difference / (n + self.width);
        }
        while self.levels.len() > 1 && self.levels.last().is_some_and(Vec::is_empty) {
            self.levels.pop();
        }
        observer.on_drop(level);
    }

    /// Appends its state.
    pub fn write(&self, writer: &mut Writer) {
        if self.levels[0].len() > self.settings.max_buckets {
            let mut merged = self.clone();
            merged.merge(&mut ());
            return merged.write(writer);
        }
        let Settings { delta, clock, max_buckets, min_window_length, grace_period } = self.settings;
        writer.f64(delta);
        writer.u64s([clock, max_buckets as u64, min_window_length, grace_period].into_iter());
        writer.f64s(&[self.width, self.total, self.variance]);
        writer.u64(self.tick);
        writer.u64(self.levels.len() as u64);
        for level in &self.levels {
            let numbers: Vec<f64> = level.iter().flat_map(|b| [b.total, b.variance]).collect();
            writer.f64s(&numbers);
        }
    }

    /// Reads the state of a window with the same options.
    ///
    /// # Errors
    /// Returns [`KernelError::Saved`] if the bytes are damaged or from a window with other options.
    pub fn read(&self, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let Settings { delta, clock, max_buckets, min_window_length, grace_period } = self.settings;
        let options = [clock, max_buckets as u64, min_window_length, grace_period];
        if reader.f64()? != delta || reader.u64s()? != options {
            return Err(reader.error("it has other options"));
        }
        let mut sums = [0.0; 3];
        reader.f64s_into(&mut sums)?;
        let (tick, n_levels) = (reader.u64()?, reader.usize()?);
        if !(1..=u64::BITS as usize).contains(&n_levels) {
            return Err(reader.error("it has an impossible number of levels"));
        }
        let levels = (0..n_levels).map(|_| read_level(self.settings, reader)).collect::<Result<Vec<_>, _>>()?;
        let width: f64 = levels.iter().enumerate().map(|(i, l)| bucket_size(i) * l.len() as f64).sum();
        let ends_empty = levels.len() > 1 && levels.last().is_some_and(Vec::is_empty);
        if width != sums[0] || tick >= clock || ends_empty {
            return Err(reader.error("its width does not match its buckets"));
        }
        let (total, variance) = (sums[1], sums[2]);
        Ok(Self { settings: self.settings, levels, width, total, variance, tick, binary: self.binary })
    }

    /// Returns the number of buckets of each level.
    #[must_use]
    pub fn n_buckets(&self) -> impl ExactSizeIterator<Item = usize> {
        self.levels.iter().map(Vec::len)
    }
}

impl Bucket {
    /// Merges two buckets of the same size.
    #[inline(always)]
    fn merge_with(self, other: Self, size: f64) -> Self {
        let difference = self.total / size - other.total / size;
        let between = size * 0.5 * difference * difference;
        Self { total: self.total + other.total, variance: self.variance + other.variance + between }
    }
}

fn read_level(settings: Settings, reader: &mut Reader<'_>) -> Result<Vec<Bucket>, KernelError> {
    let numbers = reader.f64s()?;
    if numbers.len() % 2 != 0 || numbers.len() / 2 > settings.max_buckets {
        return Err(reader.error("a level has a wrong number of buckets"));
    }
    Ok(numbers.chunks_exact(2).map(|pair| Bucket { total: pair[0], variance: pair[1] }).collect())
}

#[inline(always)]
fn bucket_size(level: usize) -> f64 {
    (1_u64 << level) as f64
}

#[cfg(test)]
mod tests;
