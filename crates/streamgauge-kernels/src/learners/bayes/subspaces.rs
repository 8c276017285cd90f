//! Random subspaces: each model uses a subset of the attributes, drawn when it is created.

use super::capacity::{retain_blocks, set_capacity};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::randomness::{Draws, Purpose};

const SUBSPACE: Purpose = Purpose::named("subspace");

/// The attributes that each model uses.
#[derive(Debug, Clone)]
pub(in crate::learners) struct Subspaces {
    size: usize,
    seed: u64,
    /// The number of subspaces drawn so far: the address of the next one.
    n_drawn: u64,
    /// Per model, its attributes in order.
    attributes: Vec<u32>,
}

impl Subspaces {
    /// Creates subspaces of `size` attributes, at most all; the same seed draws the same ones.
    pub fn new(size: usize, seed: u64) -> Self {
        Self { size, seed, n_drawn: 0, attributes: vec![] }
    }

    /// Returns the number of attributes of each.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the attributes of a model.
    #[inline(always)]
    pub fn attributes(&self, model: usize) -> &[u32] {
        &self.attributes[model * self.size..(model + 1) * self.size]
    }

    /// Draws the attributes of a model, out of `n_attributes`: all subspaces are equally likely.
    pub fn draw(&mut self, model: usize, n_attributes: usize) {
        let end = (model + 1) * self.size;
        if self.attributes.len() < end {
            self.attributes.resize(end, 0);
        }
        let draws = Draws::new(self.seed, SUBSPACE, 0).within(self.n_drawn);
        self.n_drawn += 1;
        sample(draws, n_attributes, &mut self.attributes[end - self.size..end]);
    }

    /// Sets the capacity to `n_models` models, or to the length if that is greater.
    pub fn set_capacity(&mut self, n_models: usize) {
        set_capacity(&mut self.attributes, n_models * self.size);
    }

    /// Keeps only the marked models, in their order.
    pub fn retain(&mut self, kept: &[bool]) {
        retain_blocks(&mut self.attributes, kept, self.size);
    }

    /// Writes all subspaces.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.seed);
        writer.u64(self.n_drawn);
        writer.u64s(self.attributes.iter().map(|&attribute| u64::from(attribute)));
    }

    /// Reads as many subspaces as there are models.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged or of another schema.
    pub fn load(&mut self, reader: &mut Reader<'_>, n_attributes: usize) -> Result<(), KernelError> {
        (self.seed, self.n_drawn) = (reader.u64()?, reader.u64()?);
        let attributes = reader.u64s()?;
        let ascends = |subspace: &[u64]| subspace.is_sorted_by(|a, b| a < b);
        let fits = attributes.iter().all(|&attribute| attribute < n_attributes as u64);
        if attributes.len() != self.attributes.len() || !fits || !attributes.chunks(self.size.max(1)).all(ascends) {
            return Err(reader.error("a subspace has attributes that the schema lacks"));
        }
        self.attributes = attributes.into_iter().map(|attribute| attribute as u32).collect();
        Ok(())
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.attributes.capacity() * size_of::<u32>()
    }
}

/// Draws distinct integers below `n`, in order: each with the probability that all remaining draws require.
pub(in crate::learners) fn sample(draws: Draws, n: usize, chosen: &mut [u32]) {
    let mut taken = 0;
    for i in 0..n {
        let wanted = chosen.len() - taken;
        if wanted == 0 {
            break;
        }
        if draws.below(i as u64, (n - i) as u64) < wanted as u64 {
            chosen[taken] = i as u32;
            taken += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subspace_is_as_likely_as_any_other() {
        let (mut subspaces, mut counts) = (Subspaces::new(2, 7), [[0; 5]; 5]);
        for model in 0..10_000 {
            subspaces.draw(model, 5);
            let [a, b] = [0, 1].map(|i| subspaces.attributes(model)[i] as usize);
            counts[a][b] += 1;
        }
        for (a, counts) in counts.iter().enumerate() {
            for (b, count) in counts.iter().enumerate() {
                // 1,000 expected of each of the ten pairs, with a standard deviation of 30.
                assert!(if a < b { (850..1150).contains(count) } else { *count == 0 }, "{a} {b}: {count}");
            }
        }
    }

    #[test]
    fn a_reset_model_gets_another_subspace() {
        let mut subspaces = Subspaces::new(5, 1);
        let drawn: Vec<Vec<u32>> = (0..20)
            .map(|_| {
                subspaces.draw(0, 100);
                subspaces.attributes(0).to_vec()
            })
            .collect();
        assert!(drawn.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(subspaces.n_bytes(), 4 * 5);
        subspaces.draw(1, 100);
        let other = subspaces.attributes(1).to_vec();
        subspaces.draw(0, 100);
        assert_eq!(subspaces.attributes(1), other);
    }
}
