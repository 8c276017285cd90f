//! A learner over a subset of the attributes, or all of them.

use std::borrow::Cow;

use super::AdaptiveForestOptions;
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::bayes::sample;
use crate::learners::{Factory, Learner, Schema, Step};
use crate::randomness::{Draws, Purpose};

/// The purposes of the draws of seeds and of subspaces.
const LEARNER: Purpose = Purpose::named("renewed learner");
const SUBSPACE: Purpose = Purpose::named("member subspace");

/// Builds models.
pub(super) struct ModelBuilder<'a> {
    pub schema: &'a Schema,
    pub options: &'a AdaptiveForestOptions,
    pub factory: &'a dyn Factory,
    pub seed: u64,
}

/// A learner over a subset of the attributes, or all of them.
pub(super) struct Model {
    pub learner: Box<dyn Learner>,
    /// Its attributes, in order; `None` for all.
    pub attributes: Option<Vec<u32>>,
}

impl ModelBuilder<'_> {
    /// Builds the `n`th model of a member.
    pub fn build(&self, member: usize, n: u64) -> Result<Model, KernelError> {
        self.build_with(member, n, self.draw_subspace(member, n))
    }

    /// Does the same with the given attributes.
    pub fn build_with(&self, member: usize, n: u64, attributes: Option<Vec<u32>>) -> Result<Model, KernelError> {
        let seed = Draws::new(self.seed, LEARNER, member as u64).at(n);
        let learner = match &attributes {
            Some(attributes) => self.factory.build(&select_attributes(self.schema, attributes), seed)?,
            None => self.factory.build(self.schema, seed)?,
        };
        Ok(Model { learner, attributes })
    }

    /// Draws the attributes of a model; `None` for all.
    pub fn draw_subspace(&self, member: usize, n: u64) -> Option<Vec<u32>> {
        let n_attributes = self.schema.n_attributes();
        let size = self.options.member_subspace.filter(|&size| size < n_attributes)?;
        let mut attributes = vec![0; size];
        sample(Draws::new(self.seed, SUBSPACE, member as u64).within(n), n_attributes, &mut attributes);
        Some(attributes)
    }

    /// Reads a model.
    pub fn load(&self, reader: &mut Reader<'_>) -> Result<Model, KernelError> {
        let attributes = match reader.u64()? {
            0 => None,
            _ => Some(self.load_attributes(reader)?),
        };
        let mut model = self.build_with(0, 0, attributes)?;
        model.learner.load(reader.part()?)?;
        Ok(model)
    }

    fn load_attributes(&self, reader: &mut Reader<'_>) -> Result<Vec<u32>, KernelError> {
        let attributes = reader.u64s()?;
        let fits = attributes.last().is_some_and(|&last| last < self.schema.n_attributes() as u64);
        if !fits || !attributes.is_sorted_by(|a, b| a < b) {
            return Err(reader.error("a member has attributes that the schema lacks"));
        }
        Ok(attributes.into_iter().map(|attribute| attribute as u32).collect())
    }
}

/// Returns the schema of a subset of the attributes.
fn select_attributes(schema: &Schema, attributes: &[u32]) -> Schema {
    let n_values = attributes.iter().map(|&attribute| schema.n_values[attribute as usize]).collect();
    Schema { n_values, n_classes: schema.n_classes }
}

impl Model {
    /// Returns its attributes of rows of `d` attributes.
    pub fn view<'a>(&self, x: &'a [f64], d: usize) -> Cow<'a, [f64]> {
        match &self.attributes {
            None => Cow::Borrowed(x),
            Some(attributes) => {
                let rows = x.chunks_exact(d);
                Cow::Owned(rows.flat_map(|row| attributes.iter().map(|&attribute| row[attribute as usize])).collect())
            }
        }
    }

    /// Returns the number of its attributes.
    pub fn width(&self) -> usize {
        self.learner.schema().n_attributes()
    }

    /// Learns rows of its own attributes.
    pub fn learn(&mut self, x: &[f64], y: &[i32], weight: &[f64], untested: &[bool], predictions: &mut [i32]) {
        let step = Step { x, y, test: Some(untested), weight: Some(weight) };
        self.learner.interleave(&step, predictions, None);
    }

    /// Writes the state.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(u64::from(self.attributes.is_some()));
        if let Some(attributes) = &self.attributes {
            writer.u64s(attributes.iter().map(|&attribute| u64::from(attribute)));
        }
        writer.part(&self.learner.save());
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.learner.n_bytes() + self.attributes.as_ref().map_or(0, |attributes| 4 * attributes.capacity())
    }
}
