//! Naive Bayes models, many in one place: one for the whole stream, or one per leaf of a tree.
//!
//! A model compares the logarithms of `weight of the class * product of the densities of the values`, so that nothing
//! underflows. No logarithm or exponential is taken per attribute: what does not depend on the row is kept ready per
//! class and refreshed when the class learns.

use super::lanes::{Lane, WIDTH};
use super::rows::{Layout, MAX_LANES};
use super::vector_math::ln_of_weight;
use super::{ABSTAINED, Schema};

mod gaussian;
mod nominal;
mod observe;
mod save;
mod vote;

pub(super) use gaussian::Column;
use gaussian::Panel;

/// What a model knows beside its classes.
#[derive(Debug, Clone, Copy)]
struct Site {
    /// The weight of all classes.
    weight: f64,
    /// The class of the greatest weight, the first of equals; of the parent's where there is no weight yet.
    majority: i32,
    /// Whether it has observed no row, and knows only the weights it was made with.
    fresh: bool,
}

/// What a model knows of a class beside its attributes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
struct Class {
    /// Its weight, that which the model was made with included.
    weight: f64,
    /// The weight of the rows it has observed.
    observed: f64,
    /// The part of its log-likelihood that does not depend on the row, nominal attributes apart.
    log_base: f64,
    /// Whether a value was missing in a row it has observed: the weights of its columns then differ.
    gaps: bool,
}

/// Naive Bayes models of one schema. `L` is the number of lanes in a panel of numeric columns.
#[derive(Debug, Clone)]
pub(super) struct Models<const L: usize> {
    layout: Layout,
    n_classes: usize,
    n_panels: usize,
    sites: Vec<Site>,
    classes: Vec<Class>,
    panels: Vec<Panel<L>>,
    /// The weights of the values of each column, for classes with gaps; empty until a value is missing.
    known: Vec<[Lane; L]>,
    counts: Vec<f64>,
    logs: Vec<f64>,
}

impl<const L: usize> Models<L> {
    /// No models yet.
    pub fn new(schema: &Schema) -> Self {
        let layout = Layout::new(schema);
        Self {
            n_classes: schema.n_classes,
            n_panels: layout.n_panels::<L>(),
            layout,
            sites: vec![],
            classes: vec![],
            panels: vec![],
            known: vec![],
            counts: vec![],
            logs: vec![],
        }
    }

    /// Where each attribute stands.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// The number of panels, known to the compiler where a row is short.
    #[inline(always)]
    fn n_panels(&self) -> usize {
        if L < MAX_LANES { 1 } else { self.n_panels }
    }

    #[inline(always)]
    fn class(&self, site: usize, class: usize) -> &Class {
        &self.classes[site * self.n_classes + class]
    }

    /// Where the panels of a class stand.
    #[inline(always)]
    fn panel_range(&self, site: usize, class: usize) -> std::ops::Range<usize> {
        let n = self.n_panels();
        let start = (site * self.n_classes + class) * n;
        start..start + n
    }

    /// Where the counts of a class stand.
    #[inline(always)]
    fn count_range(&self, site: usize, class: usize) -> std::ops::Range<usize> {
        let n = self.layout.n_counts;
        let start = (site * self.n_classes + class) * n;
        start..start + n
    }

    /// The weight of each class of a model.
    pub fn weights(&self, site: usize) -> impl Iterator<Item = f64> {
        self.classes[site * self.n_classes..(site + 1) * self.n_classes].iter().map(|class| class.weight)
    }

    /// The weight of all classes of a model.
    #[inline(always)]
    pub fn weight(&self, site: usize) -> f64 {
        self.sites[site].weight
    }

    /// The class of the greatest weight, the first of equals.
    #[inline(always)]
    pub fn majority(&self, site: usize) -> i32 {
        self.sites[site].majority
    }

    /// What is known of a numeric column of a class.
    #[inline(always)]
    pub fn column(&self, site: usize, class: usize, column: usize) -> Column {
        let header = self.class(site, class);
        let (panel, i) = (column / (WIDTH * L), column % (WIDTH * L));
        let at = self.panel_range(site, class).start + panel;
        let weight = if header.gaps { self.known[at][i / WIDTH].0[i % WIDTH] } else { header.observed };
        self.panels[at].column(i, weight)
    }

    /// The counts of the nominal values of a class.
    #[inline(always)]
    pub fn counts(&self, site: usize, class: usize) -> &[f64] {
        &self.counts[self.count_range(site, class)]
    }

    /// Whether a class has gaps.
    #[inline(always)]
    pub fn has_gaps(&self, site: usize) -> bool {
        self.classes[site * self.n_classes..(site + 1) * self.n_classes].iter().any(|class| class.gaps)
    }

    /// The weight of the rows of a class that a model has observed.
    #[inline(always)]
    pub fn observed(&self, site: usize, class: usize) -> f64 {
        self.class(site, class).observed
    }

    /// Add a model that has observed nothing, with the weights of its classes and, where they are all 0, a majority.
    pub fn push(&mut self, weights: &[f64], majority: i32) {
        let site = self.sites.len();
        self.resize(site + 1);
        self.reset(site, weights, majority);
    }

    fn resize(&mut self, n_sites: usize) {
        let n = n_sites * self.n_classes;
        let class = Class { weight: 0.0, observed: 0.0, log_base: f64::NEG_INFINITY, gaps: false };
        grow(&mut self.sites, n_sites, Site { weight: 0.0, majority: ABSTAINED, fresh: true });
        grow(&mut self.classes, n, class);
        grow(&mut self.panels, n * self.n_panels, Panel::new(0));
        if !self.known.is_empty() {
            grow(&mut self.known, n * self.n_panels, [Lane::ZERO; L]);
        }
        grow(&mut self.counts, n * self.layout.n_counts, 0.0);
        grow(&mut self.logs, n * self.layout.n_counts, 0.0);
    }

    /// Make a model forget all but the given weights of its classes.
    pub fn reset(&mut self, site: usize, weights: &[f64], majority: i32) {
        let (mut total, mut heaviest, mut most) = (0.0, majority, 0.0);
        for (class, &weight) in weights.iter().enumerate() {
            total += weight;
            if weight > most {
                (heaviest, most) = (class as i32, weight);
            }
            let log_base = if weight > 0.0 { ln_of_weight(weight) } else { f64::NEG_INFINITY };
            self.classes[site * self.n_classes + class] = Class { weight, observed: 0.0, log_base, gaps: false };
            for (i, at) in self.panel_range(site, class).enumerate() {
                self.panels[at] = Panel::new(self.layout.n_columns::<L>(i));
            }
            let range = self.count_range(site, class);
            nominal::clear(&self.layout.nominal, &mut self.counts[range.clone()], &mut self.logs[range]);
        }
        self.sites[site] = Site { weight: total, majority: heaviest, fresh: true };
    }
}

/// Make a column longer, with little to spare: models live long and are added seldom.
fn grow<T: Clone>(column: &mut Vec<T>, length: usize, value: T) {
    if length > column.capacity() {
        column.reserve_exact(length - column.len() + length / 8);
    }
    column.resize(length, value);
}
