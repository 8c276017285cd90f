//! Votes in bins at the ends of blocks of rows: in common bins, and how well they rank the rows.

use crate::KernelError;
use crate::error::{check_length, option_error};

/// Votes for one class: how often the bins were halved in number, the bins in use in ascending order, and the weights
/// in each, one or more rows of them.
#[derive(Debug, Clone, Copy)]
pub struct VoteBins<'a> {
    /// How often neighbouring bins were joined.
    pub level: u32,
    /// The bins in use, ascending.
    pub index: &'a [i64],
    /// The weights, [rows, bins].
    pub weights: &'a [f64],
}

/// Returns the weights of several parts in the bins `index` of a level, [rows, parts, bins]; their own bins are those or
/// finer.
///
/// # Errors
/// Returns an error if a part has coarser bins or other bins, or another number of rows.
pub fn align_votes(parts: &[VoteBins<'_>], n_rows: usize, level: u32, index: &[i64]) -> Result<Vec<f64>, KernelError> {
    let n_bins = index.len();
    let mut aligned = vec![0.0; parts.len() * n_rows * n_bins];
    let mut positions = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let n_used = part.index.len();
        check_length("weights", part.weights.len(), n_rows * n_used)?;
        find_positions(part, level, index, &mut positions)?;
        for (row, weights) in part.weights.chunks_exact(n_used.max(1)).enumerate() {
            let start = (row * parts.len() + number) * n_bins;
            let bins = &mut aligned[start..start + n_bins];
            for (&position, &weight) in positions.iter().zip(weights) {
                bins[position] += weight;
            }
        }
    }
    Ok(aligned)
}

/// Finds the position in `index` of each bin of a part; both ascend.
fn find_positions(
    part: &VoteBins<'_>,
    level: u32,
    index: &[i64],
    positions: &mut Vec<usize>,
) -> Result<(), KernelError> {
    let shift = level.checked_sub(part.level).filter(|&shift| shift < i64::BITS);
    let shift = shift.ok_or_else(|| option_error("level", level, "bins cannot be made finer"))?;
    positions.clear();
    let mut position = 0;
    for &bin in part.index {
        let wanted = bin >> shift;
        while index.get(position).is_some_and(|&known| known < wanted) {
            position += 1;
        }
        if index.get(position) != Some(&wanted) {
            return Err(option_error("index", bin, "this bin is not among the common ones"));
        }
        positions.push(position);
    }
    Ok(())
}

/// Returns the area under the ROC curve and the average precision of each row of bins.
///
/// `of_class` and `of_others` hold the weights of the rows of a class and of all others by votes for the class, bins in
/// ascending order, [rows, bins]. An area is NaN if there are rows of one kind only.
///
/// # Errors
/// Returns an error if the two differ in length.
pub fn rank_votes(of_class: &[f64], of_others: &[f64], n_bins: usize) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
    check_length("of_others", of_others.len(), of_class.len())?;
    let width = n_bins.max(1);
    Ok(of_class.chunks_exact(width).zip(of_others.chunks_exact(width)).map(|(row, others)| rank(row, others)).unzip())
}

fn rank(of_class: &[f64], of_others: &[f64]) -> (f64, f64) {
    let (mut above, mut others_above) = (0.0, 0.0);
    let (mut not_above, mut precise) = (0.0, 0.0);
    for (&weight, &others) in of_class.iter().zip(of_others).rev() {
        above += weight;
        others_above += others;
        not_above += weight * (others_above - others / 2.0);
        precise += weight * (above / (above + others_above).max(f64::MIN_POSITIVE));
    }
    let roc = 1.0 - not_above / above / others_above;
    (roc, if others_above > 0.0 { precise / above } else { f64::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_joined_as_often_as_they_were_halved_less() {
        let fine = VoteBins { level: 0, index: &[4, 5, 9], weights: &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0] };
        let coarse = VoteBins { level: 1, index: &[2], weights: &[5.0, 50.0] };
        let empty = VoteBins { level: 0, index: &[], weights: &[] };
        let aligned = align_votes(&[fine, coarse, empty], 2, 1, &[2, 3, 4]).unwrap();
        let expected =
            [[3.0, 0.0, 3.0], [5.0, 0.0, 0.0], [0.0; 3], [30.0, 0.0, 30.0], [50.0, 0.0, 0.0], [0.0; 3]].concat();
        assert_eq!(aligned, expected);
    }

    #[test]
    fn bins_that_do_not_fit_are_refused() {
        let part = VoteBins { level: 1, index: &[2, 7], weights: &[1.0, 1.0] };
        assert!(align_votes(&[part], 1, 0, &[2, 7]).unwrap_err().to_string().contains("finer"));
        assert!(align_votes(&[part], 1, 1, &[2, 6]).unwrap_err().to_string().contains("bin"));
        assert!(align_votes(&[part], 2, 1, &[2, 7]).unwrap_err().to_string().contains("weights"));
        assert!(align_votes(&[part], 1, 65, &[2, 7]).is_err());
        assert!(align_votes(&[], 1, 0, &[]).unwrap().is_empty());
    }

    #[test]
    fn areas_are_those_of_pairs_of_rows() {
        // Votes 0, 1, 2: one positive at 1 and two at 2; two negatives at 0 and one at 1.
        let (roc, precision) = rank_votes(&[0.0, 1.0, 2.0], &[2.0, 1.0, 0.0], 3).unwrap();
        assert!((roc[0] - (8.0 + 0.5) / 9.0).abs() < 1e-15);
        assert!((precision[0] - (2.0 * 1.0 + 0.75) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn areas_need_rows_of_both_kinds() {
        let (roc, precision) = rank_votes(&[0.0, 0.0, 1.0, 2.0], &[1.0, 2.0, 0.0, 0.0], 2).unwrap();
        assert!(roc.iter().chain(&precision).all(|area| area.is_nan()));
        assert!(rank_votes(&[1.0], &[], 1).is_err());
    }
}
