//! Naive Bayes models, many in one place: one for the whole stream, or one per leaf of a tree.
//!
//! A model compares the logarithms of `weight of the class * product of the densities of the values`, so that nothing
//! underflows. No logarithm or exponential is taken per attribute: what does not depend on the row is kept ready per
//! class and refreshed when the class learns.

use super::f64x4::{F64x4, LANES};
use super::rows::{Layout, MAX_VECTORS, Slot, columns_in_panel};
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
pub(super) use deferred::{DeferredRows, find_likelier};
use gaussian::{Class, ClassPanel};
pub(super) use gaussian::{Column, Columns};
pub(super) use staged_block::StagedBlock;
pub(super) use subspaces::{Subspaces, sample};
pub(super) use vote::vote_by_weights;
pub(super) use vote::{RULED_OUT, normalise_likelihoods, relative_likelihood};

/// What a model knows beside its classes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct ModelSummary {
    /// The weight of all classes.
    pub weight: f64,
    /// The weight learnt since the last attempt to split, which trees count.
    pub since: f64,
    /// The weight of the learnt rows that the majority class got right, which adaptive leaves count.
    pub majority_hits: f64,
    /// The weight of the learnt rows that naive Bayes got right, which adaptive leaves count.
    pub bayes_hits: f64,
    /// The class of the greatest weight, the first of equals; of the parent's where there is no weight yet.
    pub majority: i32,
    /// The weight of that class; 0 where there is none yet.
    max_weight: f64,
    /// How many numeric columns it has.
    n_numeric: u32,
    /// Whether it has observed no row, and knows only the weights it was made with.
    pub fresh: bool,
}

impl ModelSummary {
    fn new(weight: f64, majority: i32, max_weight: f64, n_numeric: usize) -> Self {
        let n_numeric = n_numeric as u32;
        Self { weight, since: 0.0, majority_hits: 0.0, bayes_hits: 0.0, majority, max_weight, n_numeric, fresh: true }
    }

    /// Count the weight of a row, after which its class has the weight `class_weight`; without a branch, which would be
    /// guessed wrong.
    #[inline(always)]
    fn count(&mut self, label: usize, class_weight: f64, weight: f64) {
        self.weight += weight;
        // Weights are not negative, so that their bits are in the same order; an earlier class wins a tie.
        let (class_weight, max_weight) = (class_weight.to_bits(), self.max_weight.to_bits());
        let leads = class_weight + u64::from((label as i32) < self.majority) > max_weight;
        self.majority = if leads { label as i32 } else { self.majority };
        self.max_weight = f64::from_bits(class_weight.max(max_weight));
    }

    /// Take over which of two classes leads, after rows that were learnt, from their weights.
    #[inline(always)]
    fn set_majority(&mut self, [first, second]: [f64; 2]) {
        (self.majority, self.max_weight) = if second > first { (1, second) } else { (0, first) };
    }
}

/// Naive Bayes models of one schema. `V` is the number of lanes in a panel of numeric columns.
#[derive(Debug, Clone)]
pub(super) struct Models<const V: usize> {
    layout: Layout,
    n_classes: usize,
    n_panels: usize,
    /// Whether the least and greatest values are kept, which only splits ask for.
    keeps_ranges: bool,
    /// Which attributes each model looks at; all of them where there is none.
    subspaces: Option<Subspaces>,
    summaries: Vec<ModelSummary>,
    /// Per model and class its panels, all that prediction and learning touch side by side.
    panels: Vec<ClassPanel<V>>,
    /// The weights of the values of each column, for classes with gaps; empty until a value is missing.
    known_weights: Vec<[F64x4; V]>,
    counts: Vec<f64>,
    logs: Vec<f64>,
    /// Per model a bit for each attribute that a tree no longer looks at there; empty where all are looked at.
    ignored: Vec<u64>,
    /// How many words of bits a model has.
    n_words: usize,
}

impl<const V: usize> Models<V> {
    /// No models yet. With subspaces each model looks at some of the attributes only.
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
            logs: vec![],
            ignored: vec![],
            n_words: 0,
        }
    }

    /// Where each attribute stands.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        self.summaries.len()
    }

    /// The attributes that a model looks at; `None` where it looks at all of them.
    #[inline(always)]
    pub fn subspace(&self, model: usize) -> Option<&[u32]> {
        self.subspaces.as_ref().map(|subspaces| subspaces.attributes(model))
    }

    /// The attributes that a model looks at, in order, and where their statistics stand.
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

    /// How many numeric columns a model has.
    #[inline(always)]
    pub fn n_numeric(&self, model: usize) -> usize {
        self.summaries[model].n_numeric as usize
    }

    /// The number of panels, known to the compiler where a row is short.
    #[inline(always)]
    fn n_panels(&self) -> usize {
        if V < MAX_VECTORS { 1 } else { self.n_panels }
    }

    /// Where the panels of a class stand.
    #[inline(always)]
    fn panel_range(&self, model: usize, class: usize) -> std::ops::Range<usize> {
        let n = self.n_panels();
        let start = (model * self.n_classes + class) * n;
        start..start + n
    }

    /// Where the counts of a class stand.
    #[inline(always)]
    fn count_range(&self, model: usize, class: usize) -> std::ops::Range<usize> {
        let n = self.layout.n_counts;
        let start = (model * self.n_classes + class) * n;
        start..start + n
    }

    /// The panels of all classes of a model.
    #[inline(always)]
    fn panels(&self, model: usize) -> &[ClassPanel<V>] {
        let n = self.n_classes * self.n_panels();
        &self.panels[model * n..(model + 1) * n]
    }

    /// The weight of each class of a model.
    pub fn weights(&self, model: usize) -> impl Iterator<Item = f64> {
        self.panels(model).iter().step_by(self.n_panels()).map(|panel| panel.class.weight)
    }

    /// What a model knows beside its classes.
    #[inline(always)]
    pub fn summary(&self, model: usize) -> &ModelSummary {
        &self.summaries[model]
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn summary_mut(&mut self, model: usize) -> &mut ModelSummary {
        &mut self.summaries[model]
    }

    /// What is known of a numeric column of a class.
    #[inline(always)]
    pub fn column(&self, model: usize, class: usize, column: usize) -> Column {
        let first = self.panel_range(model, class).start;
        let Class { observed, has_missing, .. } = self.panels[first].class;
        let (panel, i) = (first + column / (LANES * V), column % (LANES * V));
        let weight = if has_missing { self.known_weights[panel][i / LANES].0[i % LANES] } else { observed };
        self.panels[panel].column(i, weight)
    }

    /// What is known of the four numeric columns of a lane of a class without gaps.
    #[inline(always)]
    pub fn columns(&self, model: usize, class: usize, vector: usize) -> Columns {
        let panels = &self.panels[self.panel_range(model, class)];
        panels[vector / V].columns(vector % V, panels[0].class.observed)
    }

    /// Whether a model has observed no row.
    #[inline(always)]
    pub fn is_fresh(&self, model: usize) -> bool {
        self.summaries[model].fresh
    }

    /// Whether a value was missing in a row that a model has observed.
    pub fn has_missing(&self, model: usize) -> bool {
        self.panels(model).iter().any(|panel| panel.class.has_missing)
    }

    /// The counts of the nominal values of a class.
    #[inline(always)]
    pub fn counts(&self, model: usize, class: usize) -> &[f64] {
        &self.counts[self.count_range(model, class)]
    }

    /// Add a model that has observed nothing, with the weights of its classes and, where they are all 0, a majority.
    pub fn push(&mut self, weights: &[f64], majority: i32) {
        let model = self.summaries.len();
        let n = (model + 1) * self.n_classes;
        grow_column(&mut self.summaries, model + 1, ModelSummary::new(0.0, ABSTAINED, 0.0, 0));
        grow_column(&mut self.panels, n * self.n_panels, ClassPanel::new(Class::new(0.0), 0));
        if !self.known_weights.is_empty() {
            grow_column(&mut self.known_weights, n * self.n_panels, [F64x4::ZERO; V]);
        }
        grow_column(&mut self.counts, n * self.layout.n_counts, 0.0);
        grow_column(&mut self.logs, n * self.layout.n_counts, 0.0);
        grow_column(&mut self.ignored, (model + 1) * self.n_words, 0);
        self.reset(model, weights, majority);
    }

    /// Make a model forget all but the given weights of its classes, and draw it a new subspace.
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
            let range = self.count_range(model, class);
            nominal::clear(&self.layout.nominal, &mut self.counts[range.clone()], &mut self.logs[range]);
        }
        self.summaries[model] = ModelSummary::new(total, heaviest, most, n_numeric);
        self.ignored[model * self.n_words..(model + 1) * self.n_words].fill(0);
    }

    fn count_numeric(&self, model: usize) -> usize {
        self.slots(model).filter(|(_, slot)| matches!(slot, Slot::Numeric(_))).count()
    }
}
