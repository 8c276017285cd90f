//! Saving and loading of models: statistics are saved, derived values are computed again.

use super::gaussian::ClassPanel;
use super::{Models, Subspaces};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::ABSTAINED;
use crate::learners::f64x4::{F64x4, LANES};
use crate::learners::vector_math::ln_of_weight;

impl<const V: usize> Models<V> {
    /// Writes all models.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.summaries.len() as u64);
        writer.u64(u64::from(!self.known_weights.is_empty()));
        for summary in &self.summaries {
            for number in [summary.weight, summary.since, summary.majority_hits, summary.bayes_hits] {
                writer.f64(number);
            }
            writer.u64(summary.majority as u64);
            writer.u64(u64::from(summary.fresh));
        }
        for panel in self.panels.iter().step_by(self.n_panels) {
            writer.f64(panel.class.weight);
            writer.f64(panel.class.observed);
            writer.u64(u64::from(panel.class.has_missing));
        }
        let panels = self.panels.iter().flat_map(ClassPanel::saved_vectors);
        for &number in panels.chain(self.known_weights.as_flattened()).flat_map(|vector| &vector.0) {
            writer.f64(number);
        }
        writer.f64s(&self.unpadded_counts());
        self.ignored.iter().for_each(|&bits| writer.u64(bits));
        if let Some(subspaces) = &self.subspaces {
            subspaces.save(writer);
        }
    }

    /// Reads models into an empty store.
    ///
    /// # Errors
    /// [`KernelError::Saved`] if the bytes are damaged or of another schema.
    pub fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let n_models = reader.usize()?;
        let with_known = reader.u64()? != 0;
        if n_models == 0 || n_models > reader.n_left() / self.least_bytes() {
            return Err(reader.error("the number of models does not match its size"));
        }
        self.set_capacity(n_models);
        for _ in 0..n_models {
            self.push(&vec![0.0; self.n_classes], ABSTAINED);
        }
        for summary in &mut self.summaries {
            for number in [&mut summary.weight, &mut summary.since, &mut summary.majority_hits, &mut summary.bayes_hits]
            {
                *number = reader.f64()?;
            }
            let majority = reader.u64()? as i32;
            if !(ABSTAINED..self.n_classes as i32).contains(&majority) {
                return Err(reader.error("a majority is not a class"));
            }
            (summary.majority, summary.fresh) = (majority, reader.u64()? != 0);
        }
        for panel in self.panels.iter_mut().step_by(self.n_panels) {
            let class = &mut panel.class;
            (class.weight, class.observed, class.has_missing) = (reader.f64()?, reader.f64()?, reader.u64()? != 0);
            if class.has_missing && !with_known {
                return Err(reader.error("a class with missing values lacks the weights of its columns"));
            }
        }
        if with_known {
            self.known_weights = vec![[F64x4::ZERO; V]; self.panels.len()];
        }
        let panels = self.panels.iter_mut().flat_map(ClassPanel::saved_vectors_mut);
        for number in panels.chain(self.known_weights.as_flattened_mut()).flat_map(|vector| &mut vector.0) {
            *number = reader.f64()?;
        }
        let mut counts = self.unpadded_counts();
        reader.f64s_into(&mut counts)?;
        self.set_counts(&counts);
        for model in 0..n_models {
            let most =
                usize::try_from(self.summaries[model].majority).ok().and_then(|class| self.weights(model).nth(class));
            self.summaries[model].max_weight = most.unwrap_or(0.0);
        }
        for bits in &mut self.ignored {
            *bits = reader.u64()?;
        }
        if let Some(subspaces) = &mut self.subspaces {
            subspaces.load(reader, self.layout.n_attributes())?;
            for model in 0..n_models {
                self.summaries[model].n_numeric = self.count_numeric(model) as u32;
            }
        }
        self.refresh_all();
        Ok(())
    }

    /// Returns a lower bound of the size of a saved model in bytes.
    fn least_bytes(&self) -> usize {
        48 + self.n_classes * (24 + 8 * self.layout.n_counts + self.n_panels * 4 * V * size_of::<F64x4>())
    }

    /// Computes all derived values, with the same bits as during learning.
    fn refresh_all(&mut self) {
        for model in 0..self.summaries.len() {
            for label in 0..self.n_classes {
                let fresh = self.summaries[model].fresh;
                let first = self.panel_range(model, label).start;
                let class = &mut self.panels[first].class;
                if class.observed > 0.0 {
                    self.refresh(model, label);
                } else if fresh && class.weight > 0.0 {
                    class.log_base = ln_of_weight(class.weight);
                } else {
                    class.log_base = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// Returns the counts of all models without the padding.
    fn unpadded_counts(&self) -> Vec<f64> {
        let rows = self.counts.chunks_exact(self.n_classes.div_ceil(LANES));
        rows.flat_map(|row| row.iter().flat_map(|counts| counts.0).take(self.n_classes)).collect()
    }

    /// Sets the counts of all models.
    fn set_counts(&mut self, counts: &[f64]) {
        let rows = self.counts.chunks_exact_mut(self.n_classes.div_ceil(LANES));
        for (row, counts) in rows.zip(counts.chunks_exact(self.n_classes)) {
            for (to, &count) in row.iter_mut().flat_map(|counts| &mut counts.0).zip(counts) {
                *to = count;
            }
        }
    }

    /// Returns the heap size in bytes.
    pub fn n_bytes(&self) -> usize {
        fn bytes<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        self.layout.n_bytes()
            + bytes(&self.summaries)
            + bytes(&self.panels)
            + bytes(&self.known_weights)
            + bytes(&self.counts)
            + bytes(&self.ignored)
            + self.subspaces.as_ref().map_or(0, Subspaces::n_bytes)
    }
}
