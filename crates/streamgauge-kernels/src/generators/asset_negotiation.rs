//! Negotiations about an asset (Enembreck, Avila, Scalabrin and Barthes, "Learning drifting negotiations", Applied
//! Artificial Intelligence 21, 2007; MOA's `AssetNegotiationGenerator`).

use super::{Bernoulli, Generator, Source};
use crate::KernelError;
use crate::error::check_option;
use crate::randomness::{Draws, unit};

const N_ATTRIBUTES: usize = 5;
/// The numbers of colours, prices, payments, amounts and delays.
const N_VALUES: [usize; N_ATTRIBUTES] = [8, 8, 9, 8, 5];

/// A required value of an attribute: attribute and code.
type Condition = (usize, usize);

/// Per concept, the alternative sets of conditions that interest the buyer.
const CONCEPTS: [&[&[Condition]]; 5] = [
    &[&[(1, 2), (3, 3)], &[(0, 3), (1, 0), (4, 3)]],
    &[&[(1, 3), (3, 4), (4, 3)]],
    &[&[(1, 0), (2, 0), (3, 3)], &[(0, 4), (1, 1), (2, 1)]],
    &[&[(0, 0), (2, 3), (4, 0)], &[(0, 7), (1, 3), (4, 0)]],
    &[&[(0, 1), (2, 2), (3, 1), (4, 2)], &[(0, 2), (3, 1), (4, 2)]],
];

/// Nominal attributes; class 0 (interested) and class 1 (not interested) are equally likely, and the values are
/// uniform among those of the class.
#[derive(Debug, Clone)]
pub struct AssetNegotiation {
    interesting: Vec<[u8; N_ATTRIBUTES]>,
    other: Vec<[u8; N_ATTRIBUTES]>,
    noise: Bernoulli,
    picks: Draws,
    flips: Draws,
}

impl AssetNegotiation {
    /// Creates one of five concepts, counted from 1, with labels flipped with probability `noise`.
    ///
    /// # Errors
    /// Returns [`KernelError::Option`] if an option is outside its range.
    pub fn new(concept: usize, noise: f64, source: impl Into<Source>) -> Result<Self, KernelError> {
        check_option("concept", concept, (1..=5).contains(&concept), "it must be from 1 to 5")?;
        let source = source.into();
        let (interesting, other) = list_combinations()
            .partition(|values| CONCEPTS[concept - 1].iter().any(|set| set.iter().all(|&(j, v)| values[j] == v as u8)));
        Ok(Self {
            interesting,
            other,
            noise: Bernoulli::new(noise),
            picks: source.rows("negotiation attributes"),
            flips: source.rows("negotiation noise"),
        })
    }
}

/// Lists all combinations of values.
fn list_combinations() -> impl Iterator<Item = [u8; N_ATTRIBUTES]> {
    (0..N_VALUES.iter().product::<usize>()).map(|i| {
        let mut rest = i;
        N_VALUES.map(|n| {
            let value = rest % n;
            rest /= n;
            value as u8
        })
    })
}

impl Generator for AssetNegotiation {
    fn n_attributes(&self) -> usize {
        N_ATTRIBUTES
    }

    fn fill(&self, start: u64, x: &mut [f64], y: &mut [i32]) {
        let (rows, _) = x.as_chunks_mut::<N_ATTRIBUTES>();
        for (i, (values, label)) in rows.iter_mut().zip(y).enumerate() {
            let row = start.wrapping_add(i as u64);
            let bits = self.picks.at(row);
            // The first bit is the class; the others choose among its combinations.
            let class = bits >> 63;
            let table = if class == 0 { &self.interesting } else { &self.other };
            let pick = (unit(bits << 1) * table.len() as f64) as usize;
            for (value, &code) in values.iter_mut().zip(&table[pick]) {
                *value = f64::from(code);
            }
            *label = i32::from((class == 1) ^ self.noise.happens(self.flips.at(row)));
        }
    }
}
