//! Saving and loading of models: what was counted is saved, what follows from it is worked out again.

use super::gaussian::Panel;
use super::{Models, Subspaces, nominal};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::learners::ABSTAINED;
use crate::learners::f64x4::F64x4;
use crate::learners::vector_math::ln_of_weight;

impl<const V: usize> Models<V> {
    /// Write all models.
    pub fn save(&self, writer: &mut Writer) {
        writer.u64(self.sites.len() as u64);
        writer.u64(u64::from(!self.known_weights.is_empty()));
        for site in &self.sites {
            for number in [site.weight, site.since, site.majority_hits, site.bayes_hits] {
                writer.f64(number);
            }
            writer.u64(site.majority as u64);
            writer.u64(u64::from(site.fresh));
        }
        for panel in self.panels.iter().step_by(self.n_panels) {
            writer.f64(panel.class.weight);
            writer.f64(panel.class.observed);
            writer.u64(u64::from(panel.class.has_missing));
        }
        let panels = self.panels.iter().flat_map(Panel::saved_vectors);
        for &number in panels.chain(self.known_weights.as_flattened()).flat_map(|vector| &vector.0) {
            writer.f64(number);
        }
        writer.f64s(&self.counts);
        self.ignored.iter().for_each(|&bits| writer.u64(bits));
        if let Some(subspaces) = &self.subspaces {
            subspaces.save(writer);
        }
    }

    /// Read models into a store that holds none.
    ///
    /// # Errors
    /// [`KernelError::Saved`] where the bytes are damaged or of another schema.
    pub fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), KernelError> {
        let n_sites = reader.usize()?;
        let with_known = reader.u64()? != 0;
        if n_sites == 0 || n_sites > reader.n_left() / self.least_bytes() {
            return Err(reader.error("it has another number of models than it says"));
        }
        self.set_capacity(n_sites);
        for _ in 0..n_sites {
            self.push(&vec![0.0; self.n_classes], ABSTAINED);
        }
        for site in &mut self.sites {
            for number in [&mut site.weight, &mut site.since, &mut site.majority_hits, &mut site.bayes_hits] {
                *number = reader.f64()?;
            }
            let majority = reader.u64()? as i32;
            if !(ABSTAINED..self.n_classes as i32).contains(&majority) {
                return Err(reader.error("a majority is not a class"));
            }
            (site.majority, site.fresh) = (majority, reader.u64()? != 0);
        }
        for panel in self.panels.iter_mut().step_by(self.n_panels) {
            let class = &mut panel.class;
            (class.weight, class.observed, class.has_missing) = (reader.f64()?, reader.f64()?, reader.u64()? != 0);
            if class.has_missing && !with_known {
                return Err(reader.error("a class has gaps without weights"));
            }
        }
        if with_known {
            self.known_weights = vec![[F64x4::ZERO; V]; self.panels.len()];
        }
        let panels = self.panels.iter_mut().flat_map(Panel::saved_vectors_mut);
        for number in panels.chain(self.known_weights.as_flattened_mut()).flat_map(|vector| &mut vector.0) {
            *number = reader.f64()?;
        }
        reader.f64s_into(&mut self.counts)?;
        for site in 0..n_sites {
            let most = usize::try_from(self.sites[site].majority).ok().and_then(|class| self.weights(site).nth(class));
            self.sites[site].most = most.unwrap_or(0.0);
        }
        for bits in &mut self.ignored {
            *bits = reader.u64()?;
        }
        if let Some(subspaces) = &mut self.subspaces {
            subspaces.load(reader, self.layout.n_attributes())?;
            for site in 0..n_sites {
                self.sites[site].n_numeric = self.count_numeric(site) as u32;
            }
        }
        self.refresh_all();
        Ok(())
    }

    /// No fewer bytes than a model takes when saved.
    fn least_bytes(&self) -> usize {
        48 + self.n_classes * (24 + 8 * self.layout.n_counts + self.n_panels * 4 * V * size_of::<F64x4>())
    }

    /// Work out all that follows from what was counted, as it was worked out while learning.
    fn refresh_all(&mut self) {
        for site in 0..self.sites.len() {
            for label in 0..self.n_classes {
                let range = self.count_range(site, label);
                nominal::refresh(&self.layout.nominal, &self.counts[range.clone()], &mut self.logs[range]);
                let fresh = self.sites[site].fresh;
                let first = self.panel_range(site, label).start;
                let class = &mut self.panels[first].class;
                if class.observed > 0.0 {
                    self.refresh(site, label);
                } else if fresh && class.weight > 0.0 {
                    class.log_base = ln_of_weight(class.weight);
                } else {
                    class.log_base = f64::NEG_INFINITY;
                }
            }
        }
    }

    /// The bytes it holds on the heap.
    pub fn n_bytes(&self) -> usize {
        fn bytes<T>(column: &Vec<T>) -> usize {
            column.capacity() * size_of::<T>()
        }
        self.layout.n_bytes()
            + bytes(&self.sites)
            + bytes(&self.panels)
            + bytes(&self.known_weights)
            + bytes(&self.counts)
            + bytes(&self.logs)
            + bytes(&self.ignored)
            + self.subspaces.as_ref().map_or(0, Subspaces::n_bytes)
    }
}
