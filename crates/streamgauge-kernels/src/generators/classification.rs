//! Clusters at the corners of a cube, as in scikit-learn's `make_classification` (Guyon, "Design of experiments for the
//! NIPS 2003 variable selection benchmark", 2003).

use super::picker::Picker;
use super::{Bernoulli, Generator, Source, gaussian};
use crate::KernelError;
use crate::dispatch;
use crate::error::check_option;
use crate::randomness::{Draws, Purpose};

/// Rows in a block.
const BLOCK: usize = 16;

/// The options of [`Classification`].
#[derive(Debug, Clone, PartialEq)]
pub struct ClassificationOptions {
    /// The concept, which determines the clusters.
    pub concept: u64,
    /// The number of attributes: informative ones, then redundant ones, then irrelevant ones.
    pub n_attributes: usize,
    /// The number of informative attributes.
    pub n_informative: usize,
    /// The number of attributes that are random sums of the informative ones.
    pub n_redundant: usize,
    /// The number of clusters of a class.
    pub n_clusters: usize,
    /// Half the side of the cube.
    pub separation: f64,
    /// The share of each class; they add up to 1.
    pub shares: Vec<f64>,
    /// The probability that a label is replaced by another.
    pub noise: f64,
}

/// Gaussian clusters at different corners of a cube, each with its own random covariance.
#[derive(Debug, Clone)]
pub struct Classification {
    options: ClassificationOptions,
    /// The corner of each cluster.
    corners: Vec<f64>,
    /// Per cluster, the square matrix that Gaussian numbers are multiplied by.
    shapes: Vec<f64>,
    /// The matrix that turns informative values into redundant ones.
    sums: Vec<f64>,
    picker: Picker,
    noise: Bernoulli,
    classes: Draws,
    clusters: Draws,
    numbers: Draws,
    flips: Draws,
}

impl Classification {
    /// Creates clusters and rows from a seed; the classes of rows do not depend on the concept.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(options: ClassificationOptions, source: impl Into<Source>) -> Result<Self, KernelError> {
        check_options(&options)?;
        let source = source.into();
        let part = |purpose| Draws::new(source.seed, Purpose::named(purpose), options.concept);
        let (k, n) = (options.n_informative, options.shares.len() * options.n_clusters);
        let draw_centred = |draws: Draws, n: usize| (0..n as u64).map(|i| 2.0 * draws.uniform(i) - 1.0).collect();
        let corners = draw_corners(part("classification corners"), n, k);
        Ok(Self {
            corners: corners.into_iter().map(|up| if up { options.separation } else { -options.separation }).collect(),
            shapes: draw_centred(part("classification shapes"), n * k * k),
            sums: draw_centred(part("classification sums"), k * options.n_redundant),
            picker: Picker::new(&options.shares),
            noise: Bernoulli::new(options.noise),
            classes: source.rows("classification classes"),
            clusters: source.rows("classification clusters"),
            numbers: source.rows("classification numbers"),
            flips: source.rows("classification noise"),
            options,
        })
    }

    #[inline(always)]
    fn fill_block(&self, start: u64, numbers: &mut [f64], x: &mut [f64], y: &mut [i32]) {
        let ClassificationOptions { n_attributes: d, n_informative: k, n_redundant, n_clusters, .. } = self.options;
        let n_drawn = d - n_redundant;
        let numbers = &mut numbers[..y.len() * n_drawn];
        gaussian::fill_many(self.numbers, start.wrapping_mul(n_drawn as u64), numbers);
        for (i, ((values, numbers), label)) in
            x.chunks_exact_mut(d).zip(numbers.chunks_exact(n_drawn)).zip(y).enumerate()
        {
            let row = start.wrapping_add(i as u64);
            let class = self.picker.pick(self.classes.at(row));
            let cluster = class * n_clusters + self.clusters.below(row, n_clusters as u64) as usize;
            let (informative, rest) = values.split_at_mut(k);
            let (redundant, others) = rest.split_at_mut(n_redundant);
            informative.copy_from_slice(&self.corners[cluster * k..(cluster + 1) * k]);
            add_product(&numbers[..k], &self.shapes[cluster * k * k..(cluster + 1) * k * k], informative);
            redundant.fill(0.0);
            add_product(informative, &self.sums, redundant);
            others.copy_from_slice(&numbers[k..]);
            *label = self.draw_label(row, class);
        }
    }

    /// Returns the class, or with the probability of noise another one.
    #[inline(always)]
    fn draw_label(&self, row: u64, class: usize) -> i32 {
        let n_classes = self.options.shares.len();
        let flips = self.flips.within(row);
        if n_classes > 1 && self.noise.happens(flips.at(0)) {
            return ((class + 1 + flips.below(1, n_classes as u64 - 1) as usize) % n_classes) as i32;
        }
        class as i32
    }
}

/// Adds a row vector times a matrix.
#[inline(always)]
fn add_product(vector: &[f64], matrix: &[f64], sum: &mut [f64]) {
    let n = sum.len();
    for (i, &factor) in vector.iter().enumerate() {
        for (value, &entry) in sum.iter_mut().zip(&matrix[i * n..(i + 1) * n]) {
            *value = factor.mul_add(entry, *value);
        }
    }
}

/// Draws `n` different corners of a cube of `k` dimensions.
fn draw_corners(draws: Draws, n: usize, k: usize) -> Vec<bool> {
    let mut corners: Vec<Vec<bool>> = Vec::with_capacity(n);
    let mut position = 0_u64;
    while corners.len() < n {
        let corner: Vec<bool> = (0..k as u64).map(|j| draws.at(position.wrapping_add(j)) >> 63 == 1).collect();
        if !corners.contains(&corner) {
            corners.push(corner);
        }
        position = position.wrapping_add(k as u64);
    }
    corners.concat()
}

fn check_options(options: &ClassificationOptions) -> Result<(), KernelError> {
    let ClassificationOptions { n_attributes, n_informative, n_redundant, n_clusters, shares, .. } = options;
    check_option("n_informative", n_informative, *n_informative > 0, "there must be at least one")?;
    let fit = n_informative + n_redundant <= *n_attributes;
    check_option("n_attributes", n_attributes, fit, "it must be at least n_informative + n_redundant")?;
    check_option("n_clusters", n_clusters, *n_clusters > 0, "there must be at least one")?;
    let n_corners = u32::try_from(*n_informative).ok().and_then(|k| 1_usize.checked_shl(k)).unwrap_or(usize::MAX);
    let n = n_clusters.saturating_mul(shares.len());
    check_option(
        "n_clusters",
        n_clusters,
        n <= n_corners,
        "the cube of the informative attributes has too few corners",
    )?;
    check_option("shares", "[]", !shares.is_empty(), "there must be one per class")
}

impl Generator for Classification {
    fn n_attributes(&self) -> usize {
        self.options.n_attributes
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let d = self.options.n_attributes;
        let mut numbers = vec![0.0; BLOCK * (d - self.options.n_redundant)];
        dispatch::run(
            #[inline(always)]
            || {
                for (i, (x, y)) in x.chunks_mut(BLOCK * d).zip(y.chunks_mut(BLOCK)).enumerate() {
                    self.fill_block(start.wrapping_add((i * BLOCK) as u64), &mut numbers, x, y);
                }
            },
        );
    }
}
