//! Generators: streams whose rows are computed, not stored.
//!
//! A row is addressed by its position in the stream: any start and any number of rows give the same bits, because every
//! random number is a [`Draws`] value of that position. The state of a drifting concept is a closed form of the
//! position ([`RandomRbf`], [`Sea`]) or comes from a cache of states ([`Hyperplane`]).

use crate::dispatch;
use crate::randomness::{Draws, LANES, Purpose, unit, unit_in_lane};

mod agrawal;
mod asset_negotiation;
mod classification;
mod gaussian;
mod hyperplane;
mod led;
mod mixed;
mod picker;
mod poker_hand;
mod random_rbf;
mod random_tree;
mod sea;
mod sine;
mod stagger;
mod state_cache;
mod waveform;

pub use agrawal::Agrawal;
pub use asset_negotiation::AssetNegotiation;
pub use classification::{Classification, ClassificationOptions};
pub use hyperplane::{Hyperplane, HyperplaneOptions};
pub use led::Led;
pub use mixed::Mixed;
pub use poker_hand::PokerHand;
pub use random_rbf::{RandomRbf, RandomRbfOptions};
pub use random_tree::{RandomTree, RandomTreeOptions};
pub use sea::Sea;
pub use sine::Sine;
pub use stagger::Stagger;
pub use waveform::Waveform;

/// A stream whose rows are computed from their positions.
pub trait Generator: Send + Sync {
    /// Returns the number of attributes of a row.
    fn n_attributes(&self) -> usize;

    /// Writes the `y.len()` rows from position `start` on; `x` has `n_attributes` values for each.
    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]);

    /// Returns the values and labels of `n` rows from position `start` on.
    fn rows(&self, start: u64, n: usize) -> (Vec<f64>, Vec<i32>) {
        let (mut x, mut y) = (vec![0.0; n * self.n_attributes()], vec![0; n]);
        self.fill(start, &mut x, &mut y);
        (x, y)
    }
}

/// A generator that fills its rows block by block, so that their intermediate columns stay in the first cache.
trait BlockGenerator: Send + Sync {
    /// The number of rows in a block.
    const BLOCK: usize;

    /// Returns the number of attributes of a row.
    fn n_attributes(&self) -> usize;

    /// Fills up to [`Self::BLOCK`] rows from position `start` on; must be `#[inline(always)]` to be dispatched.
    fn fill_block(&self, start: u64, x: &mut [f64], y: &mut [i32]);
}

impl<T: BlockGenerator> Generator for T {
    fn n_attributes(&self) -> usize {
        BlockGenerator::n_attributes(self)
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let d = BlockGenerator::n_attributes(self);
        dispatch::run(
            #[inline(always)]
            || {
                for (i, (x, y)) in x.chunks_mut(T::BLOCK * d).zip(y.chunks_mut(T::BLOCK)).enumerate() {
                    self.fill_block(start.wrapping_add((i * T::BLOCK) as u64), x, y);
                }
            },
        );
    }
}

/// The seeds of a generator.
///
/// The seed determines the concept and its motion; seed and sample determine the rows. Two samples of one seed are
/// different rows of the same concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// The seed of the concept.
    pub seed: u64,
    /// The sample of the concept.
    pub sample: u64,
}

impl From<u64> for Source {
    fn from(seed: u64) -> Self {
        Self { seed, sample: 0 }
    }
}

impl Source {
    /// Returns the draws for a part of the concept.
    const fn concept(self, purpose: &str) -> Draws {
        Draws::new(self.seed, Purpose::named(purpose), 0)
    }

    /// Returns the draws for a part of the rows.
    const fn rows(self, purpose: &str) -> Draws {
        Draws::new(self.seed, Purpose::named(purpose), self.sample)
    }
}

/// A random event of a given probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bernoulli(u64);

impl Bernoulli {
    /// Creates the event that a uniform number in [0, 1) is below `probability`.
    fn new(probability: f64) -> Self {
        Self((probability * 9_007_199_254_740_992.0).ceil() as u64)
    }

    /// Returns 1 if it happens for 64 random bits, else 0, without a branch.
    #[inline(always)]
    const fn indicator(self, bits: u64) -> f64 {
        let happens = (bits >> 11).wrapping_sub(self.0) >> 63;
        f64::from_bits(0_u64.wrapping_sub(happens) & 1.0_f64.to_bits())
    }

    /// Returns whether it happens for 64 random bits.
    #[inline(always)]
    const fn happens(self, bits: u64) -> bool {
        (bits >> 11) < self.0
    }
}

/// Writes a number computed from each of the draws from position `first` on.
///
/// `vector` and `scalar` must compute the same number from the same bits; the first runs in vector registers.
#[inline(always)]
fn fill_from(draws: Draws, first: u64, values: &mut [f64], vector: impl Fn(u64) -> f64, scalar: impl Fn(u64) -> f64) {
    let mut position = first;
    let (blocks, rest) = values.as_chunks_mut::<LANES>();
    for block in blocks {
        let bits = draws.lanes(position);
        for lane in 0..LANES {
            block[lane] = vector(bits[lane]);
        }
        position = position.wrapping_add(LANES as u64);
    }
    for (i, value) in rest.iter_mut().enumerate() {
        *value = scalar(draws.at(position.wrapping_add(i as u64)));
    }
}

/// Writes uniform numbers in [low, low + width).
#[inline(always)]
fn fill_uniform(draws: Draws, first: u64, low: f64, width: f64, values: &mut [f64]) {
    fill_from(
        draws,
        first,
        values,
        #[inline(always)]
        |bits| low + width * unit_in_lane(bits),
        #[inline(always)]
        |bits| low + width * unit(bits),
    );
}

/// Returns the sum of `a * (b - centre)`, in four lanes and a rest on every instruction set.
#[inline(always)]
fn centred_product(a: &[f64], b: &[f64], centre: f64) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0_f64; 4];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] = a[lane].mul_add(b[lane] - centre, sums[lane]);
        }
    }
    // Adding the rest to the lanes would become a masked store that stalls the next load.
    let mut rest = 0.0_f64;
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        rest = a.mul_add(b - centre, rest);
    }
    ((sums[0] + sums[2]) + (sums[1] + sums[3])) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KernelError;

    fn examples() -> Vec<(&'static str, Box<dyn Generator>)> {
        let hyperplane = HyperplaneOptions { n_drifting: 3, magnitude: 0.01, ..HyperplaneOptions::default() };
        let steady = HyperplaneOptions { n_attributes: 1, n_drifting: 0, ..HyperplaneOptions::default() };
        let rbf = RandomRbfOptions { speed: 0.001, n_classes: 3, ..RandomRbfOptions::default() };
        let narrow = RandomRbfOptions { n_attributes: 1, n_centroids: 1, n_drifting: 0, ..rbf };
        vec![
            ("SEA", Box::new(Sea::new(&[8.0, 9.0], 100, 0.1, 1).unwrap())),
            ("hyperplane", Box::new(Hyperplane::new(hyperplane, 2).unwrap())),
            ("steady hyperplane", Box::new(Hyperplane::new(steady, 2).unwrap())),
            ("RBF", Box::new(RandomRbf::new(rbf, 3).unwrap())),
            ("narrow RBF", Box::new(RandomRbf::new(narrow, 3).unwrap())),
            ("LED", Box::new(Led::new(3, 0.1, 4).unwrap())),
            ("waveform", Box::new(Waveform::new(false, 5))),
            ("waveform with noise", Box::new(Waveform::new(true, 5))),
            ("Agrawal", Box::new(Agrawal::new(5, 0.05, 6))),
            ("STAGGER", Box::new(Stagger::new(2, 7))),
            ("sine", Box::new(Sine::new(3, 1, 8))),
            ("mixed", Box::new(Mixed::new(1, 9))),
            ("random tree", Box::new(RandomTree::new(RandomTreeOptions::default(), 10).unwrap())),
            ("asset negotiation", Box::new(AssetNegotiation::new(1, 0.05, 11).unwrap())),
            ("poker hand", Box::new(PokerHand::new(12))),
            ("classification", Box::new(Classification::new(classification(), 13).unwrap())),
        ]
    }

    fn classification() -> ClassificationOptions {
        ClassificationOptions {
            concept: 1,
            n_attributes: 7,
            n_informative: 3,
            n_redundant: 2,
            n_clusters: 2,
            separation: 1.0,
            shares: vec![0.5, 0.3, 0.2],
            noise: 0.1,
        }
    }

    fn bits(rows: &(Vec<f64>, Vec<i32>)) -> (Vec<u64>, &[i32]) {
        (rows.0.iter().map(|value| value.to_bits()).collect(), &rows.1)
    }

    #[test]
    fn any_start_and_any_size_give_the_same_rows() {
        for (name, generator) in examples() {
            let (d, n) = (generator.n_attributes(), 1_000);
            let whole = generator.rows(0, n);
            for size in [1, 7, 64, 999] {
                let starts = (0..n).step_by(size);
                let parts: Vec<_> = starts.map(|i| generator.rows(i as u64, size.min(n - i))).collect();
                let x: Vec<f64> = parts.iter().flat_map(|part| part.0.clone()).collect();
                let y: Vec<i32> = parts.iter().flat_map(|part| part.1.clone()).collect();
                assert_eq!(bits(&whole), bits(&(x, y)), "{name}, {size} at a time");
            }
            let later = generator.rows(700, 100);
            assert_eq!(bits(&later), bits(&(whole.0[700 * d..800 * d].to_vec(), whole.1[700..800].to_vec())), "{name}");
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_rows() {
        let before = dispatch::selected_path();
        for (name, generator) in examples() {
            let mut first = None;
            for path in dispatch::available_paths() {
                assert!(dispatch::select(path));
                let rows = generator.rows(12_345, 500);
                let first = first.get_or_insert_with(|| rows.clone());
                assert_eq!(bits(first), bits(&rows), "{name} on {path:?}");
            }
        }
        assert!(dispatch::select(before));
    }

    #[test]
    fn the_last_rows_that_can_be_addressed_do_not_overflow() {
        for (name, generator) in examples().into_iter().filter(|(name, _)| *name != "hyperplane") {
            let (x, y) = generator.rows(u64::MAX - 2, 2);
            assert!(x.iter().all(|value| value.is_finite()) && y.iter().all(|&label| label >= 0), "{name}");
        }
    }

    #[test]
    fn samples_of_one_seed_are_other_rows_of_the_same_concept() {
        let tree = |sample| RandomTree::new(RandomTreeOptions::default(), Source { seed: 1, sample }).unwrap();
        let (first, second) = (tree(0), tree(1));
        let (x, y) = second.rows(0, 100);
        assert_ne!(first.rows(0, 100).0, x);
        let labels: Vec<i32> = x.chunks_exact(10).map(|values| first.classify(values)).collect();
        assert_eq!(labels, y);
    }

    #[test]
    fn options_without_rows_to_compute_are_refused_by_name() {
        assert!(matches!(Sea::new(&[], 0, 0.1, 1), Err(KernelError::Option { option: "thresholds", .. })));
        let many = HyperplaneOptions { n_drifting: 11, ..HyperplaneOptions::default() };
        assert!(matches!(Hyperplane::new(many, 1), Err(KernelError::Option { option: "n_drifting", .. })));
        let none = RandomRbfOptions { n_centroids: 0, ..RandomRbfOptions::default() };
        assert!(matches!(RandomRbf::new(none, 1), Err(KernelError::Option { option: "n_centroids", .. })));
        let deep = RandomTreeOptions { max_depth: 100, ..RandomTreeOptions::default() };
        assert!(matches!(RandomTree::new(deep, 1), Err(KernelError::Option { option: "max_depth", .. })));
        let many = ClassificationOptions { n_clusters: 3, ..classification() };
        assert!(matches!(Classification::new(many, 1), Err(KernelError::Option { option: "n_clusters", .. })));
    }
}
