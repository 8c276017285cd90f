//! How a model learns a row.

use super::{Models, nominal};
use crate::dispatch;
use crate::learners::lanes::Lane;
use crate::learners::rows::{MAX_LANES, Row};
use crate::learners::vector_math::{HALF_LN_2PI, ln, ln_of_weight, ln_pair};

/// Products outside of this range have lost bits, or soon would.
const SAFE: std::ops::Range<f64> = 1e-280..1e280;

impl<const L: usize> Models<L> {
    /// Learn a row.
    #[inline(always)]
    pub fn observe(&mut self, site: usize, row: Row<'_, L>, label: usize, weight: f64) {
        let at = site * self.n_classes + label;
        let class = &mut self.classes[at];
        class.weight += weight;
        class.observed += weight;
        let (mine, observed, gaps) = (class.weight, class.observed, class.gaps);
        let header = &mut self.sites[site];
        header.weight += weight;
        if header.majority != label as i32 {
            let most = if header.majority < 0 { 0.0 } else { self.classes[at - label + header.majority as usize].weight };
            if mine > most || (mine == most && (label as i32) < header.majority) {
                header.majority = label as i32;
            }
        }
        if header.fresh {
            header.fresh = false;
            self.rule_out_unobserved(site);
        }
        if row.gaps || gaps {
            return self.observe_known(site, row, label, weight);
        }
        let range = self.panel_range(site, label);
        for (panel, x) in self.panels[range].iter_mut().zip(row.panels) {
            panel.observe(x, weight, observed);
        }
        if !row.codes.is_empty() {
            let range = self.count_range(site, label);
            let (counts, logs) = (&mut self.counts[range.clone()], &mut self.logs[range]);
            nominal::observe(&self.layout.nominal, row.codes, weight, counts, logs);
        }
        self.refresh(site, label);
    }

    /// Once a row was observed, classes that were not have likelihood 0.
    #[cold]
    #[inline(never)]
    fn rule_out_unobserved(&mut self, site: usize) {
        for class in &mut self.classes[site * self.n_classes..(site + 1) * self.n_classes] {
            if class.observed == 0.0 {
                class.log_base = f64::NEG_INFINITY;
            }
        }
    }

    /// Make ready what prediction needs of a class without gaps: one division per panel, one pair of logarithms.
    #[inline(always)]
    pub(super) fn refresh(&mut self, site: usize, label: usize) {
        let range = self.panel_range(site, label);
        let class = &mut self.classes[site * self.n_classes + label];
        let (spread, n) = (class.observed - 1.0, self.layout.numeric.len() as f64);
        if spread > 0.0 {
            // The weight is squared because the root of the product is wanted.
            let (mut product, mut log, mut safe) = (class.weight * class.weight, 0.0, true);
            let last = range.end - 1;
            for at in range {
                product *= self.panels[at].refresh(spread);
                safe &= SAFE.contains(&product);
                if L == MAX_LANES && at < last {
                    log += ln(product);
                    product = 1.0;
                }
            }
            if safe {
                let [of_product, of_spread] = ln_pair([product, spread]);
                class.log_base = 0.5 * (of_product + log + n * of_spread) - n * HALF_LN_2PI;
                return;
            }
        }
        self.refresh_known(site, label);
    }

    /// Make ready what prediction needs of a class, whatever its variances and gaps.
    #[cold]
    #[inline(never)]
    pub(super) fn refresh_known(&mut self, site: usize, label: usize) {
        dispatch::run(
            #[inline(always)]
            || {
                let range = self.panel_range(site, label);
                let class = &mut self.classes[site * self.n_classes + label];
                let mut log = ln_of_weight(class.weight);
                let observed = [Lane::splat(class.observed); L];
                for (i, at) in range.enumerate() {
                    let known = if class.gaps { &self.known[at] } else { &observed };
                    log += self.panels[at].refresh_known(self.layout.n_columns::<L>(i), known);
                }
                class.log_base = log;
            },
        );
    }

    /// Learn a row with gaps, or of a class with gaps; the weights have been added.
    #[cold]
    #[inline(never)]
    fn observe_known(&mut self, site: usize, row: Row<'_, L>, label: usize, weight: f64) {
        if self.known.is_empty() {
            self.known = vec![[Lane::ZERO; L]; self.panels.len()];
        }
        dispatch::run(
            #[inline(always)]
            || {
                let range = self.panel_range(site, label);
                let class = &mut self.classes[site * self.n_classes + label];
                if !class.gaps {
                    class.gaps = true;
                    self.known[range.clone()].fill([Lane::splat(class.observed - weight); L]);
                }
                for (at, x) in range.zip(row.panels) {
                    self.panels[at].observe_known(x, weight, &mut self.known[at]);
                }
                let range = self.count_range(site, label);
                let (counts, logs) = (&mut self.counts[range.clone()], &mut self.logs[range]);
                nominal::observe(&self.layout.nominal, row.codes, weight, counts, logs);
            },
        );
        self.refresh_known(site, label);
    }
}
