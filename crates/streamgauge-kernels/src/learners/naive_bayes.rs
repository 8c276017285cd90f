//! Naive Bayes over the whole stream.

use super::bayes::{Models, StagedBlock};
use super::rows::{BLOCK, Layout, Rows};
use super::{ABSTAINED, Block, Learner, Schema, Step, learn_by_interleaving};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;

const NAME: &str = "NaiveBayes";

/// Blocks of fewer rows are processed row by row.
const FEW_ROWS: usize = 8;

/// Naive Bayes: the class with the greatest weight times likelihood, where attributes are independent in each class.
///
/// Numeric attributes are normal in each class (variance with the divisor `weight - 1`), nominal ones have Laplace's
/// probabilities `(count + 1) / (total + n_values)`; missing values are left out. A numeric attribute that was constant
/// in a class rules out every other value. If all classes are ruled out, their weights decide.
///
/// Votes are posterior probabilities; all are 0 before the first row was learnt. `V` is the number of vectors in a
/// row's panel (see `rows.rs`); [`naive_bayes`] chooses it.
#[derive(Debug, Clone)]
pub struct NaiveBayes<const V: usize> {
    schema: Schema,
    models: Models<V>,
    rows: Rows<V>,
}

/// Builds an untrained naive Bayes learner.
#[must_use]
pub fn naive_bayes(schema: Schema) -> Box<dyn Learner> {
    with_vectors!(Layout::n_vectors(&schema, usize::MAX), V => Box::new(NaiveBayes::<V>::new(schema)))
}

impl<const V: usize> NaiveBayes<V> {
    fn new(schema: Schema) -> Self {
        let mut models = Models::new(&schema, false, None);
        models.push(&vec![0.0; schema.n_classes], ABSTAINED);
        let rows = Rows::new(models.layout(), BLOCK);
        Self { schema, models, rows }
    }

    #[inline(always)]
    fn interleave_block(
        &mut self,
        block: &Block<'_>,
        staged: &mut Option<StagedBlock<V>>,
        predictions: &mut [i32],
        votes: Option<&mut [f64]>,
    ) {
        let n_classes = self.schema.n_classes;
        let mut votes = votes.map(|votes| votes.chunks_exact_mut(n_classes));
        if votes.is_none()
            && predictions.len() >= FEW_ROWS
            && self.models.has_two_class_path()
            && self.models.interleave_staged(staged.get_or_insert_with(StagedBlock::new), block, predictions)
        {
            return;
        }
        self.rows.fill(self.models.layout(), block.x, predictions.len());
        for (i, prediction) in predictions.iter_mut().enumerate() {
            let row = self.rows.row(i);
            let tested = block.tests[i % BLOCK];
            *prediction = if tested { self.models.find_likeliest(0, row) } else { ABSTAINED };
            if let Some(votes) = votes.as_mut().and_then(Iterator::next) {
                if tested {
                    self.models.vote(0, row, votes);
                } else {
                    votes.fill(0.0);
                }
            }
            let weight = block.weights[i % BLOCK];
            if weight > 0.0 {
                self.models.observe::<true>(0, row, block.labels[i] as usize, weight);
            }
        }
    }

    /// Votes for each tested row, learns it, and predicts it again if it has a label.
    #[inline(always)]
    fn recheck_block(&mut self, block: &Block<'_>, rechecked: &mut [i32], votes: &mut [f64]) {
        self.rows.fill(self.models.layout(), block.x, rechecked.len());
        for (i, (rechecked, votes)) in
            rechecked.iter_mut().zip(votes.chunks_exact_mut(self.schema.n_classes)).enumerate()
        {
            let (row, label, weight) = (self.rows.row(i), block.labels[i], block.weights[i % BLOCK]);
            if block.tests[i % BLOCK] {
                self.models.vote(0, row, votes);
            } else {
                votes.fill(0.0);
            }
            if weight > 0.0 {
                self.models.observe::<true>(0, row, label as usize, weight);
            }
            *rechecked = if label >= 0 { self.models.find_likeliest(0, row) } else { ABSTAINED };
        }
    }
}

impl<const V: usize> Learner for NaiveBayes<V> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let d = self.schema.n_attributes();
        let mut rows = Rows::<V>::new(self.models.layout(), 1);
        for (i, votes) in votes.chunks_exact_mut(self.schema.n_classes).enumerate() {
            let x = &x[i * d..(i + 1) * d];
            rows.fill(self.models.layout(), x, 1);
            self.models.vote(0, rows.row(0), votes);
        }
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        learn_by_interleaving(self, x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        dispatch::run(
            #[inline(always)]
            || {
                let mut staged = None;
                let votes = votes.as_deref_mut();
                for (block, predictions, votes) in step.blocks(d, n_classes, predictions, votes) {
                    self.interleave_block(&block, &mut staged, predictions, votes);
                }
            },
        );
    }

    fn recheck(&mut self, step: &Step<'_>, votes: &mut [f64], rechecked: &mut [i32]) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        dispatch::run(
            #[inline(always)]
            || {
                for (block, rechecked, votes) in step.blocks(d, n_classes, rechecked, Some(&mut *votes)) {
                    self.recheck_block(&block, rechecked, votes.unwrap_or_default());
                }
            },
        );
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.schema.n_values.capacity() + self.models.n_bytes() + self.rows.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.models.save(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut models = Models::new(&self.schema, false, None);
        models.load(&mut reader)?;
        if models.len() != 1 {
            return Err(reader.error("it has more than one model"));
        }
        reader.finish()?;
        self.models = models;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    /// Returns rows of two classes; some values are constant, missing or infinite, some rows far away, unlabelled or of
    /// weight 0.
    fn rows(d: usize, n: usize) -> (Vec<f64>, Vec<i32>, Vec<f64>) {
        let draws = Draws::new(5, Purpose::named("staged"), d as u64);
        let (mut x, mut y, mut weight) = (vec![], vec![], vec![]);
        for row in 0..n as u64 {
            let row_draws = draws.within(row);
            let (class, is_far) = (row_draws.below(0, 3) / 2, row_draws.below(3, 40) == 0);
            x.extend((0..d as u64).map(|a| match row_draws.below(100 + a, 2_000) {
                // Both classes are ruled out.
                _ if is_far => 1e130,
                0 => f64::NAN,
                1 => f64::INFINITY,
                _ if a == 3 => 0.25,
                _ => class as f64 + 3.0 * row_draws.uniform(200 + a),
            }));
            y.push(if is_far || row_draws.below(1, 9) == 0 { -1 } else { class as i32 });
            weight.push(row_draws.below(2, 4) as f64);
        }
        (x, y, weight)
    }

    #[test]
    fn staged_blocks_equal_row_by_row_bit_for_bit() {
        for d in [1, 2, 3, 4, 5, 8, 13, 16, 17] {
            let schema = Schema { n_values: vec![0; d], n_classes: 2 };
            let (x, y, weight) = rows(d, 3_000);
            let test: Vec<bool> = (0..y.len()).map(|row| row % 5 > 0).collect();
            for (test, weight) in [(None, None), (Some(&test[..]), Some(&weight[..]))] {
                let step = Step { x: &x, y: &y, test, weight };
                let (mut staged, mut plain) = (naive_bayes(schema.clone()), naive_bayes(schema.clone()));
                let mut predictions = vec![0; y.len()];
                // Steps end within blocks, so that their last states count too.
                for (i, predictions) in predictions.chunks_mut(75).enumerate() {
                    let rows = 75 * i..75 * i + predictions.len();
                    staged.interleave(&step.slice(rows, d), predictions, None);
                }
                for (row, &prediction) in predictions.iter().enumerate() {
                    let mut alone = [0];
                    plain.interleave(&step.slice(row..row + 1, d), &mut alone, None);
                    assert_eq!(prediction, alone[0], "row {row} of {d} numbers");
                }
                assert_eq!(staged.save(), plain.save());
            }
        }
    }
}
