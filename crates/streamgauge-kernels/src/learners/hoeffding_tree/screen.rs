//! Split screening: most attempts to split fail, and single precision is enough to know it.

use super::split::{MIN_BRANCH_SHARE, N_THRESHOLDS};
use crate::learners::bayes::{Columns, Models};
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::vector_math::{normal_cdf_f32, x_ln_x, x_ln_x_f32};

/// Thresholds are written in whole vectors; the next attribute overwrites the excess.
const WRITE_WIDTH: usize = 16;
/// The greatest error of a merit in single precision.
const MAX_ERROR: f64 = 1e-4;
/// This many standard deviations from the mean, the density of a class is 0.
const FAR: f32 = 100.0;
/// A merit below all others.
const NO_MERIT: f32 = -1e30;
/// With more classes the errors of single precision could add up to more than [`MAX_ERROR`].
const MAX_CLASSES: usize = 100;

/// The thresholds of all numeric attributes in one column, and their merits.
#[derive(Debug, Clone, Default)]
pub(super) struct SplitScreener {
    /// Standard deviations from the mean of the class; plus or minus [`FAR`] where the threshold is outside the range
    /// of the class.
    z: Vec<f32>,
    /// The share of the weight at or below the threshold.
    left: Vec<f32>,
    merit: Vec<f32>,
    /// Per column, whether its best split may be the best or, where that matters, the second best.
    contenders: Vec<bool>,
}

/// The result of a screening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitScreen {
    /// The best split does not lead the second best by more than the bound.
    NoSplit,
    /// The best split leads by more than the bound, or there is no bound; it is by a contender.
    Splits,
    /// The best split may lead by more than the bound; the best two splits are by contenders.
    MaySplit,
    /// Single precision cannot decide.
    Unknown,
}

impl SplitScreener {
    /// Screens whether the best split of a leaf leads the second best by `bound` (in nats); with `None` only the best
    /// one matters. `find_nominal` returns the two greatest merits of the nominal attributes, minus infinity if there
    /// are none.
    ///
    /// Only for leaves without missing values.
    #[inline(always)]
    pub fn screen<const V: usize>(
        &mut self,
        models: &Models<V>,
        model: usize,
        n_classes: usize,
        bound: Option<f64>,
        find_nominal: impl Fn() -> [f64; 2],
    ) -> SplitScreen {
        let d = models.n_numeric(model);
        let total: f64 = (0..n_classes).map(|class| models.column(model, class, 0).weight).sum();
        if n_classes > MAX_CLASSES {
            return SplitScreen::Unknown;
        }
        // No split gains more than the entropy of the leaf.
        let entropy = |class| -x_ln_x(models.column(model, class, 0).weight / total);
        if bound.is_some_and(|bound| (0..n_classes).map(entropy).sum::<f64>() + MAX_ERROR < bound) {
            return SplitScreen::NoSplit;
        }
        if d == 0 {
            return SplitScreen::Unknown;
        }
        self.reset(d);
        for class in 0..n_classes {
            let weight = models.column(model, class, 0).weight;
            if weight > 0.0 {
                if !self.set_thresholds(models, model, n_classes, class) {
                    return SplitScreen::Unknown;
                }
                self.add_class((weight / total) as f32);
            }
        }
        let best_two = if self.compute_merits() { self.find_best_two(d, find_nominal()) } else { None };
        let Some((first, second)) = best_two else { return SplitScreen::Unknown };
        let lead = f64::from(first - second);
        if bound.is_some_and(|bound| lead + MAX_ERROR < bound) {
            return SplitScreen::NoSplit;
        }
        let leads = bound.is_none_or(|bound| lead - MAX_ERROR > bound);
        // Each merit may be off by the error.
        self.mark_contenders(d, if leads { first } else { second } - 3.0 * MAX_ERROR as f32);
        if leads { SplitScreen::Splits } else { SplitScreen::MaySplit }
    }

    /// Returns whether a column is a contender of the last screening.
    #[inline(always)]
    pub fn is_contender(&self, column: usize) -> bool {
        self.contenders[column]
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        let Self { z, left, merit, contenders } = self;
        let numbers = [z, left, merit].map(|column| column.capacity() * size_of::<f32>());
        numbers.iter().sum::<usize>() + contenders.capacity()
    }

    /// Returns the heap size in bytes after a screening of `d` attributes.
    pub fn bytes_for(d: usize) -> usize {
        3 * Self::length(d) * size_of::<f32>() + d
    }

    /// Returns the number of thresholds of `d` attributes, padded.
    fn length(d: usize) -> usize {
        (d * N_THRESHOLDS).next_multiple_of(WRITE_WIDTH) + WRITE_WIDTH
    }

    /// Prepares the columns for `d` attributes.
    fn reset(&mut self, d: usize) {
        for column in [&mut self.z, &mut self.left, &mut self.merit] {
            column.resize(Self::length(d), 0.0);
        }
        self.left.fill(0.0);
        self.merit.fill(0.0);
    }

    /// Writes the thresholds of all attributes relative to one class; returns false if that needs double precision.
    #[inline(always)]
    fn set_thresholds<const V: usize>(
        &mut self,
        models: &Models<V>,
        model: usize,
        n_classes: usize,
        class: usize,
    ) -> bool {
        let (d, mut certain) = (models.n_numeric(model), true);
        for vector in 0..d.div_ceil(LANES) {
            let (mut min, mut max) = (F64x4::splat(f64::INFINITY), F64x4::splat(f64::NEG_INFINITY));
            for class in 0..n_classes {
                let stats = models.columns(model, class, vector);
                (min, max) = (min.min(stats.min), max.max(stats.max));
            }
            let columns = vector * LANES..d.min((vector + 1) * LANES);
            let grid = ThresholdGrid::new(models.columns(model, class, vector), min, max);
            for (i, column) in columns.enumerate() {
                certain &= grid.certain[i];
                self.write_thresholds(column, grid.first.0[i], grid.width.0[i], grid.low.0[i], grid.high.0[i]);
            }
        }
        certain
    }

    /// Writes the thresholds of a column relative to a class. `first` is one step before the first threshold and
    /// `width` the step, in standard deviations from the mean; `low` and `high` are the extremes of the class, in
    /// steps.
    #[inline(always)]
    fn write_thresholds(&mut self, column: usize, first: f64, width: f64, low: f64, high: f64) {
        let (first, width, low, high) = (first as f32, width as f32, low as f32, high as f32);
        let z = &mut self.z[column * N_THRESHOLDS..column * N_THRESHOLDS + WRITE_WIDTH];
        for (i, z) in z.iter_mut().enumerate() {
            let k = (i + 1) as f32;
            let inside = width.mul_add(k, first);
            let below_all = if k >= high { FAR } else { inside };
            *z = if k < low { -FAR } else { below_all };
        }
    }

    /// Adds a class with the given share of the weight to all thresholds.
    #[inline(always)]
    fn add_class(&mut self, share: f32) {
        let Self { z, left, merit, .. } = self;
        // Without what was written beyond the last threshold, rounded up to whole vectors.
        let n = z.len() - WRITE_WIDTH;
        for ((&z, left), merit) in z[..n].iter().zip(&mut left[..n]).zip(&mut merit[..n]) {
            let below = share * normal_cdf_f32(z);
            *left += below;
            *merit += x_ln_x_f32(below) + x_ln_x_f32(share - below);
        }
    }

    /// Turns the sums into merits; returns false if a share is too close to the least one to decide.
    #[inline(always)]
    fn compute_merits(&mut self) -> bool {
        let least = MIN_BRANCH_SHARE as f32;
        let mut certain = true;
        let n = self.left.len() - WRITE_WIDTH;
        for (&left, merit) in self.left[..n].iter().zip(&mut self.merit[..n]) {
            let right = 1.0 - left;
            let smaller = if left < right { left } else { right };
            certain &= (smaller - least).abs() > 1e-5;
            let gain = *merit - x_ln_x_f32(left) - x_ln_x_f32(right);
            *merit = if smaller > least { gain } else { NO_MERIT };
        }
        certain
    }

    /// Returns the merits of the two best attributes, which include the two best nominal ones; `None` if there are not
    /// two.
    #[inline(always)]
    fn find_best_two(&self, d: usize, nominal: [f64; 2]) -> Option<(f32, f32)> {
        let [mut first, mut second] = nominal.map(|merit| merit as f32);
        for merits in &self.merit.as_chunks::<N_THRESHOLDS>().0[..d] {
            let best = find_greatest(merits);
            second = second.max(best.min(first));
            first = first.max(best);
        }
        (second > NO_MERIT).then_some((first, second))
    }

    /// Marks the columns with a merit of at least `least`.
    #[inline(always)]
    fn mark_contenders(&mut self, d: usize, least: f32) {
        self.contenders.clear();
        for merits in &self.merit.as_chunks::<N_THRESHOLDS>().0[..d] {
            self.contenders.push(find_greatest(merits) >= least);
        }
    }
}

/// The thresholds of four columns relative to a class, from the extremes over all classes.
struct ThresholdGrid {
    /// One step before the first threshold, and the step, in standard deviations from the mean of the class.
    first: F64x4,
    width: F64x4,
    /// The extremes of the class, in steps from the least value.
    low: F64x4,
    high: F64x4,
    /// Whether single precision decides on which side of each threshold the extremes are.
    certain: [bool; LANES],
}

impl ThresholdGrid {
    #[inline(always)]
    fn new(stats: Columns, min: F64x4, max: F64x4) -> Self {
        let Columns { weight, mean, squares, min: least, max: greatest } = stats;
        let range = max - min;
        let (step, steps) = (
            range.map(|range| range * (1.0 / (N_THRESHOLDS + 1) as f64)),
            range.map(|range| (N_THRESHOLDS + 1) as f64 / range),
        );
        // A class with a single value is on one side of a threshold, whatever its variance.
        let precision = squares.map(|squares| {
            let precision = ((weight - 1.0) / squares).sqrt();
            if (weight > 1.0) & (squares > 0.0) { precision } else { 0.0 }
        });
        let (low, high) = ((least - min) * steps, (greatest - min) * steps);
        // A plain loop: a closure that is not inlined would be compiled without vector instructions.
        let mut certain = [false; LANES];
        for (i, certain) in certain.iter_mut().enumerate() {
            let spread = (weight > 1.0) & (squares.0[i] > 0.0);
            *certain = (step.0[i] > 0.0)
                & (spread | (least.0[i] == greatest.0[i]))
                & !is_at_threshold(low.0[i])
                & !is_at_threshold(high.0[i]);
        }
        Self { first: (min - mean) * precision, width: step * precision, low, high, certain }
    }
}

/// Returns the greatest merit.
#[inline(always)]
fn find_greatest(merits: &[f32; N_THRESHOLDS]) -> f32 {
    merits.iter().fold(NO_MERIT, |best, &merit| best.max(merit))
}

/// Returns whether a number of steps is too close to a threshold for single precision to decide on which side it is.
#[inline(always)]
fn is_at_threshold(steps: f64) -> bool {
    let whole = steps.round_ties_even();
    ((steps - whole).abs() < 1e-5) & (whole > 0.0) & (whole <= N_THRESHOLDS as f64)
}
