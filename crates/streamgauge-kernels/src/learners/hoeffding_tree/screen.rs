//! A cheap look at the splits of a leaf: most attempts end with "not yet", and single precision is enough to know it.

use super::split::{MIN_BRANCH_SHARE, N_THRESHOLDS};
use crate::learners::bayes::{Columns, Models};
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::vector_math::{normal_cdf_f32, x_ln_x, x_ln_x_f32};

/// Thresholds are written in whole vectors; the next attribute overwrites the excess.
const WRITE_WIDTH: usize = 16;
/// No merit in single precision is further than this from the exact one.
const MAX_ERROR: f64 = 1e-4;
/// So many standard deviations from the mean there is nothing left of a class.
const FAR: f32 = 100.0;
/// A merit below all others.
const NO_MERIT: f32 = -1e30;
/// With more classes the errors of single precision could add up to more than the margin.
const MAX_CLASSES: usize = 100;

/// The thresholds of all numeric attributes in one column, and what is worked out for each.
#[derive(Debug, Clone, Default)]
pub(super) struct SplitScreener {
    /// Standard deviations from the mean of the class; [`FAR`] all of them where the threshold is outside its range.
    z: Vec<f32>,
    /// The share of the weight at or below the threshold.
    left: Vec<f32>,
    merit: Vec<f32>,
    /// Per column, whether its best split may be the one that is asked for.
    contenders: Vec<bool>,
}

/// What a look at the splits of a leaf tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitScreen {
    /// The best split certainly does not lead the second by enough.
    NoSplit,
    /// The best split certainly leads by enough, or it need not; it is one of a column that leads.
    Splits,
    /// It may lead by enough; the best two splits are those of columns that lead.
    MaySplit,
    /// Nothing for certain.
    Unknown,
}

impl SplitScreener {
    /// Look whether the best split of a leaf leads the second by `bound` (in nats); `None` asks for the best alone.
    ///
    /// Only for leaves whose attributes are all numeric and have no gaps.
    #[inline(always)]
    pub fn screen<const V: usize>(
        &mut self,
        models: &Models<V>,
        model: usize,
        n_classes: usize,
        bound: Option<f64>,
    ) -> SplitScreen {
        let d = models.n_numeric(model);
        let total: f64 = (0..n_classes).map(|class| models.column(model, class, 0).weight).sum();
        if n_classes > MAX_CLASSES || d < 2 {
            return SplitScreen::Unknown;
        }
        // No split gains more than all the entropy there is.
        let entropy = |class| -x_ln_x(models.column(model, class, 0).weight / total);
        if bound.is_some_and(|bound| (0..n_classes).map(entropy).sum::<f64>() + MAX_ERROR < bound) {
            return SplitScreen::NoSplit;
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
        let best_two = if self.compute_merits() { self.find_best_two(d) } else { None };
        let Some((first, second)) = best_two else { return SplitScreen::Unknown };
        let lead = f64::from(first - second);
        if bound.is_some_and(|bound| lead + MAX_ERROR < bound) {
            return SplitScreen::NoSplit;
        }
        let leads = bound.is_none_or(|bound| lead - MAX_ERROR > bound);
        // Each merit may be off by the margin.
        self.mark_contenders(d, if leads { first } else { second } - 3.0 * MAX_ERROR as f32);
        if leads { SplitScreen::Splits } else { SplitScreen::MaySplit }
    }

    /// Whether the best split of a column may be the one that was asked for.
    #[inline(always)]
    pub fn is_contender(&self, column: usize) -> bool {
        self.contenders[column]
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        let Self { z, left, merit, contenders } = self;
        let numbers = [z, left, merit].map(|column| column.capacity() * size_of::<f32>());
        numbers.iter().sum::<usize>() + contenders.capacity()
    }

    /// The bytes it holds on the heap once it has looked at `d` attributes.
    pub fn bytes_for(d: usize) -> usize {
        3 * Self::length(d) * size_of::<f32>() + d
    }

    /// How many thresholds `d` attributes take.
    fn length(d: usize) -> usize {
        (d * N_THRESHOLDS).next_multiple_of(WRITE_WIDTH) + WRITE_WIDTH
    }

    /// Make room for `d` attributes.
    fn reset(&mut self, d: usize) {
        for column in [&mut self.z, &mut self.left, &mut self.merit] {
            column.resize(Self::length(d), 0.0);
        }
        self.left.fill(0.0);
        self.merit.fill(0.0);
    }

    /// Place the thresholds of all attributes as one class sees them; false where that needs double precision.
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

    /// Write what a class sees of the thresholds of a column: the first one less a step and the steps, in standard
    /// deviations from the mean, and the extremes of the class, in steps.
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

    /// Add a class of the given share to all thresholds.
    #[inline(always)]
    fn add_class(&mut self, share: f32) {
        let Self { z, left, merit, .. } = self;
        // What was written beyond the last threshold is left out, down to whole vectors.
        let n = z.len() - WRITE_WIDTH;
        for ((&z, left), merit) in z[..n].iter().zip(&mut left[..n]).zip(&mut merit[..n]) {
            let below = share * normal_cdf_f32(z);
            *left += below;
            *merit += x_ln_x_f32(below) + x_ln_x_f32(share - below);
        }
    }

    /// Turn the sums into merits; false where a share is too near to the least one to tell.
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

    /// The best merits of the two best columns; `None` where there are not two.
    #[inline(always)]
    fn find_best_two(&self, d: usize) -> Option<(f32, f32)> {
        let (mut first, mut second) = (NO_MERIT, NO_MERIT);
        for merits in &self.merit.as_chunks::<N_THRESHOLDS>().0[..d] {
            let best = find_greatest(merits);
            second = second.max(best.min(first));
            first = first.max(best);
        }
        (second > NO_MERIT).then_some((first, second))
    }

    /// Find the columns that have at least some merit.
    #[inline(always)]
    fn mark_contenders(&mut self, d: usize, least: f32) {
        self.contenders.clear();
        for merits in &self.merit.as_chunks::<N_THRESHOLDS>().0[..d] {
            self.contenders.push(find_greatest(merits) >= least);
        }
    }
}

/// Where the thresholds of four columns lie for a class, whose values are least and greatest as given over all classes.
struct ThresholdGrid {
    /// The place before the first threshold, and the distance of two, in standard deviations from the mean of the class.
    first: F64x4,
    width: F64x4,
    /// The extremes of the class, in steps from the least value.
    low: F64x4,
    high: F64x4,
    /// Whether single precision can tell on which side of each threshold the extremes are.
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
        // A class of a single value is above a threshold or not, whatever its variance.
        let precision = squares.map(|squares| {
            let precision = ((weight - 1.0) / squares).sqrt();
            if (weight > 1.0) & (squares > 0.0) { precision } else { 0.0 }
        });
        let (low, high) = ((least - min) * steps, (greatest - min) * steps);
        // A plain loop: what a closure leaves in a function of its own is compiled for no vectors.
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

/// The greatest of some merits.
#[inline(always)]
fn find_greatest(merits: &[f32; N_THRESHOLDS]) -> f32 {
    merits.iter().fold(NO_MERIT, |best, &merit| best.max(merit))
}

/// Whether a number of steps is too near to a threshold for single precision to tell on which side of it it is.
#[inline(always)]
fn is_at_threshold(steps: f64) -> bool {
    let whole = steps.round_ties_even();
    ((steps - whole).abs() < 1e-5) & (whole > 0.0) & (whole <= N_THRESHOLDS as f64)
}
