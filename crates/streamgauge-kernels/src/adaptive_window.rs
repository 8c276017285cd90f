//! ADWIN: a window of values that drops its oldest part when that differs from the rest.
//!
//! Bifet and Gavaldà, "Learning from time-changing data with adaptive windowing", 2007 (ADWIN2, with the variance
//! bound). The window is an exponential histogram: level i holds a few buckets of 2^i values each. The arithmetic,
//! order included, is that of River's and MOA's implementations, so the widths are the same.

use crate::KernelError;
use crate::codec::{Reader, Writer};

/// The options of an adaptive window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The significance of a difference that makes the window drop its oldest part.
    pub delta: f64,
    /// After how many values each the window is checked.
    pub clock: u64,
    /// How many buckets of each size are kept before two are merged.
    pub max_buckets: usize,
    /// How many values each part of a split must have.
    pub min_window_length: u64,
    /// Up to how many values the window is not checked.
    pub grace_period: u64,
}

impl Settings {
    /// Check every option.
    ///
    /// # Errors
    /// [`KernelError::Option`] with the first that is outside its range.
    pub fn check(&self) -> Result<(), KernelError> {
        let fault = |option, found: String, expected| Err(KernelError::Option { option, found, expected });
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return fault("delta", self.delta.to_string(), "it must be a number in (0, 1)");
        }
        let least_1 = [
            ("clock", self.clock),
            ("max_buckets", self.max_buckets as u64),
            ("min_window_length", self.min_window_length),
        ];
        for (option, found) in least_1 {
            if found == 0 {
                return fault(option, found.to_string(), "it must be at least 1");
            }
        }
        Ok(())
    }
}

/// Keeps what belongs to the buckets of an adaptive window in step with them.
pub trait Follower {
    /// The two oldest buckets of a level have become the newest of the next level.
    fn merged(&mut self, level: usize);

    /// The oldest bucket of a level, the highest there is, has been dropped.
    fn dropped(&mut self, level: usize);
}

/// Nothing belongs to the buckets.
impl Follower for () {
    fn merged(&mut self, _level: usize) {}
    fn dropped(&mut self, _level: usize) {}
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    total: f64,
    /// The sum of the squared differences from the mean.
    variance: f64,
}

/// The buckets of one size, the oldest first.
#[derive(Debug, Clone)]
struct Level {
    buckets: Vec<Bucket>,
}

/// A window of values that drops its oldest part when that differs from the rest.
#[derive(Debug, Clone)]
pub struct AdaptiveWindow {
    settings: Settings,
    levels: Vec<Level>,
    width: f64,
    total: f64,
    /// The sum of the squared differences from the mean.
    variance: f64,
    /// How many values have come since the last check.
    tick: u64,
}

impl AdaptiveWindow {
    /// An empty window.
    ///
    /// # Errors
    /// [`KernelError::Option`] where an option is outside its range.
    pub fn new(settings: Settings) -> Result<Self, KernelError> {
        settings.check()?;
        let levels = vec![Level::new(settings)];
        Ok(Self { settings, levels, width: 0.0, total: 0.0, variance: 0.0, tick: 0 })
    }

    /// How many values the window holds.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width as u64
    }

    /// The sum of the values in the window.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The bytes it holds, on the heap and off it.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let held: usize = self.levels.iter().map(|level| level.buckets.capacity() * size_of::<Bucket>()).sum();
        size_of::<Self>() + self.levels.capacity() * size_of::<Level>() + held
    }

    /// Take in a value; returns whether the window then dropped some of its past.
    #[inline(always)]
    pub fn add(&mut self, value: f64, follower: &mut impl Follower) -> bool {
        if self.width > 0.0 {
            let difference = value - self.total / self.width;
            self.variance += self.width * difference * difference / (self.width + 1.0);
        }
        self.width += 1.0;
        self.total += value;
        self.levels[0].buckets.push(Bucket { total: value, variance: 0.0 });
        if self.levels[0].buckets.len() > self.settings.max_buckets {
            self.merge(follower);
        }
        self.tick += 1;
        if self.tick < self.settings.clock {
            return false;
        }
        self.tick = 0;
        self.width > self.settings.grace_period as f64 && self.shrink(follower)
    }

    /// Merge the two oldest buckets of every level that has too many, from level 0 on.
    fn merge(&mut self, follower: &mut impl Follower) {
        let mut level = 0;
        while self.levels[level].buckets.len() > self.settings.max_buckets {
            if level + 1 == self.levels.len() {
                self.levels.push(Level::new(self.settings));
            }
            let merged = self.levels[level].merge_oldest(size_of_bucket(level));
            self.levels[level + 1].buckets.push(merged);
            follower.merged(level);
            level += 1;
        }
    }

    /// Drop the oldest bucket as long as some split of the window shows a difference.
    #[inline(never)]
    fn shrink(&mut self, follower: &mut impl Follower) -> bool {
        let mut dropped = false;
        while self.differs() {
            self.drop_oldest(follower);
            dropped = true;
        }
        dropped
    }

    /// Whether the means of the two parts of some split of the window differ.
    fn differs(&self) -> bool {
        let bound = Bound::new(self);
        if bound.variance < 0.0 {
            // Rounding has left less than nothing: the values are all but equal, and the bound is not a number.
            return false;
        }
        let (mut older, mut newer) = (Part::default(), Part { n: self.width, total: self.total });
        for (level, Level { buckets }) in self.levels.iter().enumerate().rev() {
            let size = size_of_bucket(level);
            // The newest value alone is no part to compare.
            let n_splits = if level == 0 { buckets.len().saturating_sub(1) } else { buckets.len() };
            for bucket in &buckets[..n_splits] {
                older = Part { n: older.n + size, total: older.total + bucket.total };
                newer = Part { n: newer.n - size, total: newer.total - bucket.total };
                if bound.may_be_passed(older, newer) && bound.is_passed(older, newer) {
                    return true;
                }
            }
        }
        false
    }

    fn drop_oldest(&mut self, follower: &mut impl Follower) {
        let level = self.levels.len() - 1;
        let n = size_of_bucket(level);
        let Bucket { total, variance } = self.levels[level].buckets.remove(0);
        self.width -= n;
        self.total -= total;
        let difference = total / n - self.total / self.width;
        self.variance -= variance + n * self.width * difference * difference / (n + self.width);
        while self.levels.len() > 1 && self.levels.last().is_some_and(|last| last.buckets.is_empty()) {
            self.levels.pop();
        }
        follower.dropped(level);
    }

    /// Append its state.
    pub fn write(&self, writer: &mut Writer) {
        let Settings { delta, clock, max_buckets, min_window_length, grace_period } = self.settings;
        writer.f64(delta);
        writer.u64s([clock, max_buckets as u64, min_window_length, grace_period].into_iter());
        writer.f64s(&[self.width, self.total, self.variance]);
        writer.u64(self.tick);
        writer.u64(self.levels.len() as u64);
        for level in &self.levels {
            let numbers: Vec<f64> = level.buckets.iter().flat_map(|b| [b.total, b.variance]).collect();
            writer.f64s(&numbers);
        }
    }

    /// Read the state of a window built alike.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or from a window built otherwise.
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
        let levels = (0..n_levels).map(|_| Level::read(self.settings, reader)).collect::<Result<Vec<_>, _>>()?;
        let width: f64 = levels.iter().enumerate().map(|(i, l)| size_of_bucket(i) * l.buckets.len() as f64).sum();
        if width != sums[0] || tick >= clock {
            return Err(reader.error("its width is not that of its buckets"));
        }
        Ok(Self { settings: self.settings, levels, width, total: sums[1], variance: sums[2], tick })
    }

    /// How many buckets each level has.
    pub fn n_buckets(&self) -> impl ExactSizeIterator<Item = usize> {
        self.levels.iter().map(|level| level.buckets.len())
    }
}

impl Level {
    fn new(settings: Settings) -> Self {
        Self { buckets: Vec::with_capacity(settings.max_buckets.min(64) + 1) }
    }

    #[inline(always)]
    fn merge_oldest(&mut self, size: f64) -> Bucket {
        let (first, second) = (self.buckets[0], self.buckets[1]);
        self.buckets.drain(..2);
        let difference = first.total / size - second.total / size;
        let between = size * 0.5 * difference * difference;
        Bucket { total: first.total + second.total, variance: first.variance + second.variance + between }
    }

    fn read(settings: Settings, reader: &mut Reader<'_>) -> Result<Self, KernelError> {
        let numbers = reader.f64s()?;
        if numbers.len() % 2 != 0 || numbers.len() / 2 > settings.max_buckets {
            return Err(reader.error("a level has a wrong number of buckets"));
        }
        let mut level = Self::new(settings);
        level.buckets.extend(numbers.chunks_exact(2).map(|pair| Bucket { total: pair[0], variance: pair[1] }));
        Ok(level)
    }
}

#[inline(always)]
fn size_of_bucket(level: usize) -> f64 {
    (1_u64 << level) as f64
}

/// One of the two parts of a split window.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    n: f64,
    total: f64,
}

/// How far the means of two parts of a window may lie apart.
struct Bound {
    min_length: f64,
    /// The variance of the values.
    variance: f64,
    /// ln(2 ln(width) / delta).
    confidence: f64,
}

impl Bound {
    fn new(window: &AdaptiveWindow) -> Self {
        Self {
            min_length: window.settings.min_window_length as f64,
            variance: window.variance / window.width,
            confidence: (2.0 * window.width.ln() / window.settings.delta).ln(),
        }
    }

    /// False where the bound is surely not passed: what nearly every split is, found without a division.
    ///
    /// The bound is at least the square root of `2 m variance confidence` with `m = 1/a + 1/b`, so both sides may be
    /// squared and multiplied out; the margins are far above the rounding of either form.
    #[inline(always)]
    fn may_be_passed(&self, older: Part, newer: Part) -> bool {
        let (a, b) = (older.n - self.min_length + 1.0, newer.n - self.min_length + 1.0);
        let (left, right) = (older.total * newer.n, newer.total * older.n);
        let apart = (left - right).abs() + 1e-14 * (left.abs() + right.abs());
        let counts = older.n * newer.n;
        let least = (2.0 - 1e-9) * self.variance * self.confidence * (a + b) * (counts * counts);
        let harmless = apart * apart * (a * b) <= least && least < f64::INFINITY;
        !harmless
    }

    #[inline(never)]
    fn is_passed(&self, older: Part, newer: Part) -> bool {
        if older.n < self.min_length || newer.n < self.min_length {
            return false;
        }
        let apart = older.total / older.n - newer.total / newer.n;
        let m = 1.0 / (older.n - self.min_length + 1.0) + 1.0 / (newer.n - self.min_length + 1.0);
        let bound = (2.0 * m * self.variance * self.confidence).sqrt() + 2.0 / 3.0 * self.confidence * m;
        apart.abs() > bound
    }
}
