//! The k nearest neighbours among the last rows.

use super::{ABSTAINED, Learner, Schema, Step, find_winner};
use crate::KernelError;
use crate::codec::{Reader, Writer};
use crate::dispatch;
use distance::Query;
use window::Window;

mod distance;
mod window;

const NAME: &str = "KNearestNeighbours";

/// Votes with the weights of the `k` nearest rows of a sliding window, and of all that are as near as the last of them.
#[derive(Debug, Clone)]
pub struct NearestNeighbours {
    schema: Schema,
    k: usize,
    window: Window,
}

impl NearestNeighbours {
    /// Creates an untrained learner with a window of `width` rows.
    ///
    /// # Errors
    /// [`KernelError::Option`] if `width` is 0, which would divide by 0.
    pub fn new(schema: Schema, k: usize, width: usize) -> Result<Self, KernelError> {
        if width == 0 {
            let expected = "it must be a whole number of at least 1";
            return Err(KernelError::Option { option: "window", found: width.to_string(), expected });
        }
        let window = Window::new(&schema, width);
        Ok(Self { schema, k, window })
    }

    /// Votes for a row; all votes are 0 if the window is empty.
    #[inline(always)]
    fn vote_with(&self, x: &[f64], votes: &mut [f64], query: &mut Query) {
        votes.fill(0.0);
        if self.window.len() == 0 {
            return;
        }
        let mut total = 0.0;
        for row in query.find_nearest(&self.window, x, self.k) {
            votes[self.window.labels[row] as usize] += self.window.weights[row];
            total += self.window.weights[row];
        }
        for vote in votes {
            *vote /= total;
        }
    }
}

impl Learner for NearestNeighbours {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn vote(&self, x: &[f64], votes: &mut [f64]) {
        self.predict(x, votes);
    }

    fn predict(&self, x: &[f64], votes: &mut [f64]) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let mut query = Query::default();
        dispatch::run(
            #[inline(always)]
            || {
                for (i, votes) in votes.chunks_exact_mut(n_classes).enumerate() {
                    self.vote_with(&x[i * d..(i + 1) * d], votes, &mut query);
                }
            },
        );
    }

    fn learn(&mut self, x: &[f64], label: usize, weight: f64) {
        self.window.push(x, label, weight);
    }

    fn interleave(&mut self, step: &Step<'_>, predictions: &mut [i32], mut votes: Option<&mut [f64]>) {
        let (d, n_classes) = (self.schema.n_attributes(), self.schema.n_classes);
        let (mut query, mut row_votes) = (Query::default(), vec![0.0; n_classes]);
        dispatch::run(
            #[inline(always)]
            || {
                for (i, prediction) in predictions.iter_mut().enumerate() {
                    let x = &step.x[i * d..(i + 1) * d];
                    *prediction = ABSTAINED;
                    if step.tests(i) {
                        self.vote_with(x, &mut row_votes, &mut query);
                        *prediction = find_winner(&row_votes);
                        if let Some(votes) = &mut votes {
                            votes[i * n_classes..(i + 1) * n_classes].copy_from_slice(&row_votes);
                        }
                    }
                    let weight = step.weight(i);
                    if weight > 0.0 {
                        self.window.push(x, step.y[i] as usize, weight);
                    }
                }
            },
        );
    }

    fn facts(&self) -> Vec<(&'static str, u64)> {
        vec![("n_rows", self.window.len() as u64)]
    }

    fn n_bytes(&self) -> usize {
        size_of::<Self>() + 4 * self.schema.n_values.capacity() + self.window.n_bytes()
    }

    fn save(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME, 1);
        self.window.save(&mut writer);
        writer.finish()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        let mut reader = Reader::new(NAME, 1, bytes)?;
        let mut window = Window::new(&self.schema, self.window.width());
        window.load(&mut reader, self.schema.n_classes)?;
        reader.finish()?;
        self.window = window;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::{Draws, Purpose};

    /// Returns the votes by definition, without any optimisation.
    fn expected(rows: &[(Vec<f64>, usize, f64)], n_values: &[u32], k: usize, x: &[f64], n_classes: usize) -> Vec<f64> {
        let column = |a: usize| rows.iter().map(move |row| row.0[a]).filter(|value| !value.is_nan());
        let norm = |a: usize, value: f64| {
            let (low, high) = (column(a).fold(f64::INFINITY, f64::min), column(a).fold(f64::NEG_INFINITY, f64::max));
            if high > low { (value - low) / (high - low) } else { 0.0 }
        };
        let difference = |a: usize, v: f64, w: f64| match (n_values[a] > 0, v.is_nan(), w.is_nan()) {
            (true, _, _) => f64::from(u8::from(v != w)),
            (false, true, true) => 1.0,
            (false, false, false) => norm(a, v) - norm(a, w),
            (false, v_missing, _) => {
                let position = norm(a, if v_missing { w } else { v });
                position.max(1.0 - position)
            }
        };
        let distance = |row: &[f64]| (0..x.len()).map(|a| difference(a, x[a], row[a]).powi(2)).sum::<f64>();
        let distances: Vec<f64> = rows.iter().map(|row| distance(&row.0)).collect();
        let mut sorted = distances.clone();
        sorted.sort_by(f64::total_cmp);
        let mut votes = vec![0.0; n_classes];
        for (row, _) in rows.iter().zip(&distances).filter(|(_, d)| **d <= sorted[k.min(rows.len()) - 1] * (1.0 + 1e-9))
        {
            votes[row.1] += row.2;
        }
        let total: f64 = votes.iter().sum();
        votes.iter().map(|vote| vote / total).collect()
    }

    #[test]
    fn the_nearest_rows_vote() {
        let draws = Draws::new(3, Purpose::named("neighbours"), 0);
        for (n_values, missing, far) in
            [(vec![0, 0, 0], 0.0, 1.0), (vec![0, 4, 0, 2], 0.15, 1.0), (vec![3, 2], 0.1, 1.0), (vec![0, 0], 0.0, 1e4)]
        {
            let schema = Schema { n_values: n_values.clone(), n_classes: 3 };
            let mut learner = NearestNeighbours::new(schema, 5, 50).unwrap();
            let mut rows: Vec<(Vec<f64>, usize, f64)> = vec![];
            for row in 0..300_u64 {
                let value = |a: usize| {
                    let u = draws.uniform(row * 8 + a as u64);
                    match n_values[a] {
                        _ if draws.uniform(1_000_000 + row * 8 + a as u64) < missing => f64::NAN,
                        // Some rows are far outside the window.
                        0 if row % 50 == 49 => 1e6 + 10.0 * far * u,
                        0 => 1e6 + 10.0 * u * u,
                        n => (u * f64::from(n)).floor(),
                    }
                };
                let x: Vec<f64> = (0..n_values.len()).map(value).collect();
                let mut votes = vec![0.0; 3];
                learner.vote(&x, &mut votes);
                if row > 0 {
                    let expected = expected(&rows, &n_values, 5, &x, 3);
                    assert!(votes.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{votes:?} {expected:?}");
                }
                let label = (row % 3) as usize;
                learner.learn(&x, label, 1.0 + (row % 2) as f64);
                rows.push((x, label, 1.0 + (row % 2) as f64));
                if rows.len() > 50 {
                    rows.remove(0);
                }
            }
        }
    }
}
