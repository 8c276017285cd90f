//! The counts of the nominal values of one class, with Laplace smoothing.
//!
//! The probability of a value is `(count + 1) / (total + n_values)`. The logarithms of both terms are stored.

use crate::learners::rows::{MISSING, NominalTable};
use crate::learners::vector_math::ln;

/// Resets the counts to 0, and their logarithms.
pub(super) fn clear(nominal: &[NominalTable], counts: &mut [f64], logs: &mut [f64]) {
    counts.fill(0.0);
    logs.fill(0.0);
    for table in nominal {
        logs[table.total()] = ln(table.n_values as f64);
    }
}

/// Computes the logarithms of the counts.
pub(super) fn refresh(nominal: &[NominalTable], counts: &[f64], logs: &mut [f64]) {
    for table in nominal {
        for i in table.start..table.total() {
            logs[i] = ln(counts[i] + 1.0);
        }
        logs[table.total()] = ln(counts[table.total()] + table.n_values as f64);
    }
}

/// Counts a row's values.
#[inline(always)]
pub(super) fn observe(nominal: &[NominalTable], codes: &[u32], weight: f64, counts: &mut [f64], logs: &mut [f64]) {
    for (table, &code) in nominal.iter().zip(codes) {
        if code == MISSING {
            continue;
        }
        let (value, total) = (code as usize, table.total());
        counts[value] += weight;
        counts[total] += weight;
        logs[value] = ln(counts[value] + 1.0);
        logs[total] = ln(counts[total] + table.n_values as f64);
    }
}

/// Returns the log probability of a row's values, without missing ones.
#[inline(always)]
pub(super) fn log_probability(nominal: &[NominalTable], codes: &[u32], logs: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (table, &code) in nominal.iter().zip(codes) {
        if code != MISSING {
            sum += logs[code as usize] - logs[table.total()];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_smoothed_and_missing_values_left_out() {
        let nominal = [
            NominalTable { attribute: 0, n_values: 3, start: 0 },
            NominalTable { attribute: 1, n_values: 2, start: 4 },
        ];
        let (mut counts, mut logs) = ([0.0; 7], [0.0; 7]);
        clear(&nominal, &mut counts, &mut logs);
        for codes in [[0, 4], [0, MISSING], [2, 5]] {
            observe(&nominal, &codes, 2.0, &mut counts, &mut logs);
        }
        let probability = |codes: [u32; 2]| log_probability(&nominal, &codes, &logs).exp();
        assert!((probability([0, 4]) - 5.0 / 9.0 * 3.0 / 6.0).abs() < 1e-15);
        assert!((probability([1, MISSING]) - 1.0 / 9.0).abs() < 1e-15);
        assert_eq!(probability([MISSING, MISSING]), 1.0);
        let mut refreshed = [0.0; 7];
        refresh(&nominal, &counts, &mut refreshed);
        assert_eq!(refreshed, logs);
    }
}
