//! Naive Bayes models in one store: one for the whole stream, or one per leaf of a tree.
//!
//! A model compares the logarithms of `weight of the class * product of the densities of the values`, so that nothing
//! underflows. No logarithm or exponential is taken per attribute: what does not depend on the row is stored per class
//! and refreshed when the class learns.

use super::f64x4::{F64x4, LANES};
use super::rows::{Layout, MAX_VECTORS, NominalTable, Slot, columns_in_panel};
use super::{ABSTAINED, Schema};

mod capacity;
mod deferred;
mod gaussian;
mod nominal;
mod observe;
mod save;
mod staged_block;
mod subspaces;
mod vote;

pub(super) use capacity::{grow_column, grown_capacity, retain_blocks, set_capacity};
pub(super) use deferred::{DeferredRows, find_likelier, observe_statistics};
use gaussian::{Class, ClassPanel};
pub(super) use gaussian::{Column, Columns};
pub(super) use staged_block::StagedBlock;
pub(super) use subspaces::{Subspaces, sample};
pub(super) use vote::vote_by_weights;
pub(super) use vote::{RULED_OUT, normalise_likelihoods, normalise_weights, relative_likelihood, sum_votes};

/// The statistics of a model, apart from its classes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct ModelSummary {
    /// The weight of all classes.
    pub weight: f64,
    /// The weight learnt since the last attempt to split; set by trees.
    pub since: f64,
    /// The weight of the learnt rows that the majority class predicted correctly; set by adaptive leaves.
    pub majority_hits: f64,
    /// The weight of the learnt rows that naive Bayes predicted correctly; set by adaptive leaves.
    pub bayes_hits: f64,
    /// The class with the greatest weight, the first of equals; that of the parent while all weights are 0.
    pub majority: i32,
    /// The weight of that class; 0 while all weights are 0.
    max_weight: f64,
    /// The number of numeric columns.
    n_numeric: u32,
    /// Whether it has observed no row, and has only its initial weights.
    pub fresh: bool,
}

impl ModelSummary {
    fn new(weight: f64, majority: i32, max_weight: f64, n_numeric: usize) -> Self {
        let n_numeric = n_numeric as u32;
        Self { weight, since: 0.0, majority_hits: 0.0, bayes_hits: 0.0, majority, max_weight, n_numeric, fresh: true }
    }

    /// Adds the weight of a row, after which its class has the weight `class_weight`; without a branch, which would be
    /// mispredicted.
    #[inline(always)]
    fn count(&mut self, label: usize, class_weight: f64, weight: f64) {
        self.weight += weight;
        // Weights are not negative, so that their bits have the same order; an earlier class wins a tie.
        let (class_weight, max_weight) = (class_weight.to_bits(), self.max_weight.to_bits());
        let leads = class_weight + u64::from((label as i32) < self.majority) > max_weight;
        self.majority = if leads { label as i32 } else { self.majority };
        self.max_weight = f64::from_bits(class_weight.max(max_weight));
    }

    /// Sets the majority from the weights of two classes.
    #[inline(always)]
    fn set_majority(&mut self, [first, second]: [f64; 2]) {
        (self.majority, self.max_weight) = if second > first { (1, second) } else { (0, first) };
    }
}

/// Naive Bayes models of one schema. `V` is the number of vectors in a panel of numeric columns.
#[derive(Debug, Clone)]
pub(super) struct Models<const V: usize> {
    layout: Layout,
    n_classes: usize,
    n_panels: usize,
    /// Whether the least and greatest values are kept, which only splits need.
    keeps_ranges: bool,
    /// The attributes that each model uses; all of them if there is none.
    subspaces: Option<Subspaces>,
    summaries: Vec<ModelSummary>,
    /// Per model and class, its panels: what predicting and learning touch lies together.
    panels: Vec<ClassPanel<V>>,
    /// The weights of the values of each column, for classes with missing values; empty until a value is missing.
    known_weights: Vec<[F64x4; V]>,
    /// Per model and nominal value, the weight of each class, in vectors of classes.
    counts: Vec<F64x4>,
    /// Per model, a bit for each attribute that its splits ignore; empty if none can be ignored.
    ignored: Vec<u64>,
    /// The number of such words per model.
    n_words: usize,
}

impl<const V: usize> Models<V> {
    /// Creates an empty store. With subspaces each model uses a subset of the attributes.
    pub fn new(schema: &Schema, keeps_ranges: bool, subspaces: Option<Subspaces>) -> Self {
        let layout = Layout::in_subspace(schema, subspaces.as_ref().map_or(usize::MAX, Subspaces::size));
        Self {
            n_classes: schema.n_classes,
            n_panels: layout.n_panels::<V>(),
            layout,
            keeps_ranges,
            subspaces,
            summaries: vec![],
            panels: vec![],
            known_weights: vec![],
            counts: vec![],
            ignored: vec![],
            n_words: 0,
        }
    }

    /// Returns the layout of rows.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of models.
    pub fn len(&self) -> usize {
        self.summaries.len()
    }

    /// Returns the attributes that a model uses; `None` if it uses all of them.
    #[inline(always)]
    pub fn subspace(&self, model: usize) -> Option<&[u32]> {
        self.subspaces.as_ref().map(|subspaces| subspaces.attributes(model))
    }

    /// Returns the attributes that a model uses, in order, and the slots of their statistics.
    #[inline(always)]
    pub fn slots(&self, model: usize) -> impl Iterator<Item = (usize, Slot)> {
        let subspace = self.subspace(model);
        let mut n_numeric = 0;
        (0..subspace.map_or(self.layout.slots.len(), <[u32]>::len)).map(move |i| {
            let attribute = subspace.map_or(i, |attributes| attributes[i] as usize);
            let slot = self.layout.slots[attribute];
            let Slot::Numeric(_) = slot else { return (attribute, slot) };
            n_numeric += 1;
            (attribute, Slot::Numeric(n_numeric - 1))
        })
    }

    /// Returns the number of numeric columns of a model.
    #[inline(always)]
    pub fn n_numeric(&self, model: usize) -> usize {
        self.summaries[model].n_numeric as usize
    }

    /// Returns the number of panels per class, known to the compiler if rows are short.
    #[inline(always)]
    fn n_panels(&self) -> usize {
        if V < MAX_VECTORS { 1 } else { self.n_panels }
    }

    /// Returns the range of the panels of a class.
    #[inline(always)]
    fn panel_range(&self, model: usize, class: usize) -> std::ops::Range<usize> {
        let n = self.n_panels();
        let start = (model * self.n_classes + class) * n;
        start..start + n
    }

    /// Returns the range of the counts of a model.
    #[inline(always)]
    fn count_range(&self, model: usize) -> std::ops::Range<usize> {
        let n = self.layout.n_counts * self.n_classes.div_ceil(LANES);
        model * n..(model + 1) * n
    }

    /// Returns the panels of all classes of a model.
    #[inline(always)]
    fn panels(&self, model: usize) -> &[ClassPanel<V>] {
        let n = self.n_classes * self.n_panels();
        &self.panels[model * n..(model + 1) * n]
    }

    /// Returns the weight of each class of a model.
    pub fn weights(&self, model: usize) -> impl Iterator<Item = f64> {
        self.panels(model).iter().step_by(self.n_panels()).map(|panel| panel.class.weight)
    }

    /// Returns the class with the greatest weight, the first of equals; the majority in the summary if all weights are 0.
    pub fn find_majority(&self, model: usize) -> i32 {
        let (mut majority, mut most) = (self.summaries[model].majority, 0.0);
        for (class, weight) in (0..).zip(self.weights(model)) {
            if weight > most {
                (majority, most) = (class, weight);
            }
        }
        majority
    }

    /// Returns the summary of a model.
    #[inline(always)]
    pub fn summary(&self, model: usize) -> &ModelSummary {
        &self.summaries[model]
    }

    /// Returns the summary of a model for writing.
    #[inline(always)]
    pub fn summary_mut(&mut self, model: usize) -> &mut ModelSummary {
        &mut self.summaries[model]
    }

    /// Returns the statistics of a numeric column of a class.
    #[inline(always)]
    pub fn column(&self, model: usize, class: usize, column: usize) -> Column {
        let first = self.panel_range(model, class).start;
        let Class { observed, has_missing, .. } = self.panels[first].class;
        let (panel, i) = (first + column / (LANES * V), column % (LANES * V));
        let weight = if has_missing { self.known_weights[panel][i / LANES].0[i % LANES] } else { observed };
        self.panels[panel].column(i, weight)
    }

    /// Returns the statistics of the four numeric columns of a vector of a class without missing values.
    #[inline(always)]
    pub fn columns(&self, model: usize, class: usize, vector: usize) -> Columns {
        let panels = &self.panels[self.panel_range(model, class)];
        panels[vector / V].columns(vector % V, panels[0].class.observed)
    }

    /// Returns whether a model has observed no row.
    #[inline(always)]
    pub fn is_fresh(&self, model: usize) -> bool {
        self.summaries[model].fresh
    }

    /// Returns whether a value was missing in a row that a model has observed.
    pub fn has_missing(&self, model: usize) -> bool {
        self.panels(model).iter().any(|panel| panel.class.has_missing)
    }

    /// Returns the weights of the classes with each value of a nominal attribute, one value after the other, in vectors
    /// of classes.
    #[inline(always)]
    pub fn counts(&self, model: usize, table: NominalTable) -> &[F64x4] {
        let (start, range, n) = (self.count_range(model).start, table.range(), self.n_classes.div_ceil(LANES));
        &self.counts[start + range.start * n..start + range.end * n]
    }

    /// Returns the weight of a class with a value of a nominal attribute.
    #[inline(always)]
    pub fn value_weight(&self, model: usize, table: NominalTable, value: usize, class: usize) -> f64 {
        let index = value * self.n_classes.div_ceil(LANES) + class / LANES;
        self.counts(model, table)[index].0[class % LANES]
    }

    /// Returns the weight of a class in which a nominal attribute is known.
    #[inline(always)]
    pub fn known_weight(&self, model: usize, class: usize, table: NominalTable) -> f64 {
        let Class { observed, has_missing, .. } = self.panels[self.panel_range(model, class).start].class;
        if has_missing { self.sum_counts(model, class, table) } else { observed }
    }

    /// Returns the sum of the weights of a class with each value of a nominal attribute.
    #[cold]
    #[inline(never)]
    fn sum_counts(&self, model: usize, class: usize, table: NominalTable) -> f64 {
        (0..table.n_values).map(|value| self.value_weight(model, table, value, class)).sum()
    }

    /// Returns the tables of the nominal attributes that a model uses.
    fn tables(&self, model: usize) -> impl Iterator<Item = NominalTable> {
        self.slots(model).filter_map(|(_, slot)| match slot {
            Slot::Nominal(table) => Some(self.layout.nominal[table]),
            Slot::Numeric(_) => None,
        })
    }

    /// Adds a model without observed rows, with initial weights of its classes and a majority in case they are all 0.
    pub fn push(&mut self, weights: &[f64], majority: i32) {
        let model = self.summaries.len();
        let n = (model + 1) * self.n_classes;
        grow_column(&mut self.summaries, model + 1, ModelSummary::new(0.0, ABSTAINED, 0.0, 0));
        grow_column(&mut self.panels, n * self.n_panels, ClassPanel::new(Class::new(0.0), 0));
        if !self.known_weights.is_empty() {
            grow_column(&mut self.known_weights, n * self.n_panels, [F64x4::ZERO; V]);
        }
        let n_counts = self.count_range(model).end;
        grow_column(&mut self.counts, n_counts, F64x4::ZERO);
        grow_column(&mut self.ignored, (model + 1) * self.n_words, 0);
        self.reset(model, weights, majority);
    }

    /// Resets a model to the given weights of its classes, and draws a new subspace.
    pub fn reset(&mut self, model: usize, weights: &[f64], majority: i32) {
        if let Some(subspaces) = &mut self.subspaces {
            subspaces.draw(model, self.layout.n_attributes());
        }
        let n_numeric = self.count_numeric(model);
        let (mut total, mut heaviest, mut most) = (0.0, majority, 0.0);
        for (class, &weight) in weights.iter().enumerate() {
            total += weight;
            if weight > most {
                (heaviest, most) = (class as i32, weight);
            }
            for (i, panel) in self.panel_range(model, class).enumerate() {
                self.panels[panel] = ClassPanel::new(Class::new(weight), columns_in_panel::<V>(n_numeric, i));
            }
        }
        let counts = self.count_range(model);
        self.counts[counts].fill(F64x4::ZERO);
        self.summaries[model] = ModelSummary::new(total, heaviest, most, n_numeric);
        self.ignored[model * self.n_words..(model + 1) * self.n_words].fill(0);
    }

    fn count_numeric(&self, model: usize) -> usize {
        self.slots(model).filter(|(_, slot)| matches!(slot, Slot::Numeric(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    #[test]
    fn the_majority_is_the_first_class_with_the_greatest_weight() {
        let draws = Draws::new(1, Purpose::named("majority"), 0);
        for n_classes in [2, 5] {
            let (mut summary, mut weights) = (ModelSummary::new(0.0, ABSTAINED, 0.0, 0), vec![0.0; n_classes]);
            for row in 0..1_000 {
                let (label, weight) = (draws.below(2 * row, n_classes as u64) as usize, draws.below(2 * row + 1, 3));
                weights[label] += 1.0 + weight as f64;
                summary.count(label, weights[label], 1.0 + weight as f64);
                let greatest = weights.iter().copied().fold(0.0, f64::max);
                let first = weights.iter().position(|&weight| weight == greatest).map(|class| class as i32);
                assert_eq!((Some(summary.majority), summary.max_weight), (first, greatest));
                if n_classes == 2 {
                    let mut set = summary;
                    set.set_majority([weights[0], weights[1]]);
                    assert_eq!((set.majority, set.max_weight), (summary.majority, summary.max_weight));
                }
            }
        }
    }
}
