//! Votes in bins at the ends of blocks of rows: in common bins, and how well they rank the rows.

use crate::KernelError;
use crate::bins::span;
use crate::error::{check_length, option_error};

/// Votes for one class: the bins in use, none of which covers another, and the weights in each, one or more rows of them.
#[derive(Debug, Clone, Copy)]
pub struct VoteBins<'a> {
    /// The bins in use, ascending: see [`crate::bins`].
    pub bins: &'a [i64],
    /// The weights, [rows, bins].
    pub weights: &'a [f64],
}

/// Returns bins that all parts have in common, each the widest that covers one of a part, and the weights of the parts in
/// them, [rows, parts, bins].
///
/// # Errors
/// Returns an error if the bins of a part are not in order, or it has another number of rows.
pub fn align_votes(parts: &[VoteBins<'_>], n_rows: usize) -> Result<(Vec<i64>, Vec<f64>), KernelError> {
    for part in parts {
        check_length("weights", part.weights.len(), n_rows * part.bins.len())?;
        if !part.bins.is_sorted_by(|first, second| first < second) {
            return Err(option_error("bins", part.bins.len(), "the bins of votes are not in order"));
        }
    }
    // The last part has about all bins of those before if they are those of more and more rows.
    let mut common = parts.last().map_or_else(Vec::new, |part| part.bins.to_vec());
    let mut spans: Vec<(i64, i64)> = common.iter().map(|&bin| span(bin)).collect();
    for part in parts {
        if !are_covered(part.bins, &spans) {
            common = join(&common, part.bins);
            spans = common.iter().map(|&bin| span(bin)).collect();
        }
    }
    let n_bins = common.len();
    let mut aligned = vec![0.0; parts.len() * n_rows * n_bins];
    let mut positions = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        find_positions(part.bins, &spans, &mut positions);
        for (row, weights) in part.weights.chunks_exact(part.bins.len().max(1)).enumerate() {
            let start = (row * parts.len() + number) * n_bins;
            let sums = &mut aligned[start..start + n_bins];
            for (&position, &weight) in positions.iter().zip(weights) {
                sums[position] += weight;
            }
        }
    }
    Ok((common, aligned))
}

/// Differences of cumulative weights below this share of them are rounding errors, and may be negative.
const ROUNDING: f64 = 1e-12;

/// Returns bins as [`align_votes`] does, and by how much the weights of each part exceed those of the one before,
/// [rows, parts, bins]: the votes of blocks from cumulative ones.
///
/// # Errors
/// As [`align_votes`].
pub fn split_votes(parts: &[VoteBins<'_>], n_rows: usize) -> Result<(Vec<i64>, Vec<f64>), KernelError> {
    let (common, mut votes) = align_votes(parts, n_rows)?;
    let n_bins = common.len();
    for row in votes.chunks_exact_mut((parts.len() * n_bins).max(1)) {
        for end in (1..parts.len()).rev() {
            let (before, rest) = row[(end - 1) * n_bins..].split_at_mut(n_bins);
            for (weight, &earlier) in rest[..n_bins].iter_mut().zip(&*before) {
                let added = *weight - earlier;
                *weight = if added < ROUNDING * *weight { 0.0 } else { added };
            }
        }
    }
    Ok((common, votes))
}

/// Returns whether each of some bins is covered by a span; both are in order.
fn are_covered(bins: &[i64], mut spans: &[(i64, i64)]) -> bool {
    bins.iter().all(|&bin| {
        let (first, last) = span(bin);
        while let [(_, end), rest @ ..] = spans
            && *end < last
        {
            spans = rest;
        }
        spans.first().is_some_and(|&(start, _)| start <= first)
    })
}

/// Finds the positions of the spans that cover bins; both are in order.
fn find_positions(bins: &[i64], spans: &[(i64, i64)], positions: &mut Vec<usize>) {
    let mut position = 0;
    positions.clear();
    positions.extend(bins.iter().map(|&bin| {
        position += spans[position..].iter().take_while(|(_, end)| *end < bin).count();
        position
    }));
}

/// Returns the widest bins of two lists, both in order.
fn join<'a>(mut first: &'a [i64], mut second: &'a [i64]) -> Vec<i64> {
    let mut widest = Vec::with_capacity(first.len().max(second.len()));
    while let ([bin, later @ ..], [other, others @ ..]) = (first, second) {
        let ((start, end), (other_start, other_end)) = (span(*bin), span(*other));
        if end < other_start {
            widest.push(*bin);
            first = later;
        } else if other_start < start || end < other_end {
            // The bin of the other list is in front, or the wider one: the two lists change places.
            (first, second) = (second, first);
        } else {
            second = others;
        }
    }
    widest.extend_from_slice(first);
    widest.extend_from_slice(second);
    widest
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

/// Returns the areas of [`rank_votes`] of all rows of bins together, and then without each of them.
///
/// # Errors
/// As [`rank_votes`].
pub fn rank_without_each(
    of_class: &[f64],
    of_others: &[f64],
    n_bins: usize,
) -> Result<(Vec<f64>, Vec<f64>), KernelError> {
    let (of_class, of_others) = (leave_out(of_class, n_bins), leave_out(of_others, n_bins));
    rank_votes(&of_class, &of_others, n_bins)
}

/// Returns the sum of all rows, and then the sum without each of them.
fn leave_out(rows: &[f64], n_columns: usize) -> Vec<f64> {
    let width = n_columns.max(1);
    let mut left = Vec::with_capacity(rows.len() + width);
    left.resize(n_columns, 0.0);
    for row in rows.chunks_exact(width) {
        left.iter_mut().zip(row).for_each(|(sum, &weight)| *sum += weight);
    }
    for row in rows.chunks_exact(width) {
        left.extend_from_slice(row);
        let (whole, of_row) = left.split_at_mut(n_columns);
        let end = of_row.len();
        of_row[end - n_columns..].iter_mut().zip(&*whole).for_each(|(weight, &sum)| *weight = sum - *weight);
    }
    left
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
    use crate::bins::bin;

    #[test]
    fn weights_are_added_up_in_the_widest_bins() {
        let fine = [bin(4, 0), bin(5, 0), bin(9, 0)];
        let fine = VoteBins { bins: &fine, weights: &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0] };
        let mixed = [bin(2, 1), bin(3, 1), bin(40, 0)];
        let mixed = VoteBins { bins: &mixed, weights: &[5.0, 1.0, 7.0, 50.0, 10.0, 70.0] };
        let empty = VoteBins { bins: &[], weights: &[] };
        for parts in [[fine, mixed, empty], [mixed, fine, empty], [mixed, empty, fine], [empty, fine, mixed]] {
            let (bins, aligned) = align_votes(&parts, 2).unwrap();
            assert_eq!(bins, [bin(2, 1), bin(3, 1), bin(9, 0), bin(40, 0)]);
            let of_part = |part: &VoteBins<'_>| match part.bins.len() {
                0 => [[0.0; 4]; 2],
                _ if part.bins == fine.bins => [[3.0, 0.0, 3.0, 0.0], [30.0, 0.0, 30.0, 0.0]],
                _ => [[5.0, 1.0, 0.0, 7.0], [50.0, 10.0, 0.0, 70.0]],
            };
            let expected: Vec<f64> =
                (0..2).flat_map(|row| parts.iter().flat_map(move |part| of_part(part)[row])).collect();
            assert_eq!(aligned, expected);
        }
        assert!(align_votes(&[], 1).unwrap().0.is_empty());
    }

    #[test]
    fn cumulative_votes_are_split_into_those_of_blocks() {
        let bins = [bin(1, 0), bin(2, 0), bin(3, 0)];
        let first = VoteBins { bins: &bins[1..], weights: &[0.1, 2.0, 1.0, 0.0] };
        let second = VoteBins { bins: &bins, weights: &[1.0, 0.1 - 1e-17, 5.0, 2.0, 1.5, 4.0] };
        let (common, votes) = split_votes(&[first, second], 2).unwrap();
        assert_eq!(common, bins);
        assert_eq!(votes, [0.0, 0.1, 2.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 2.0, 0.5, 4.0]);
        assert!(split_votes(&[], 2).unwrap().1.is_empty());
    }

    #[test]
    fn areas_without_each_row_of_bins_are_those_of_the_others() {
        let of_class = [3.0, 1.0, 2.0, 0.0, 4.0, 1.0, 2.0, 2.0, 5.0];
        let of_others = [5.0, 2.0, 1.0, 3.0, 1.0, 0.0, 4.0, 4.0, 1.0];
        let add = |rows: &[f64], chosen: &[usize]| -> Vec<f64> {
            (0..3).map(|column| chosen.iter().map(|row| rows[3 * row + column]).sum()).collect()
        };
        let (roc, precision) = rank_without_each(&of_class, &of_others, 3).unwrap();
        for (found, chosen) in [vec![0, 1, 2], vec![1, 2], vec![0, 2], vec![0, 1]].iter().enumerate() {
            let expected = rank_votes(&add(&of_class, chosen), &add(&of_others, chosen), 3).unwrap();
            assert_eq!((roc[found], precision[found]), (expected.0[0], expected.1[0]));
        }
        assert!(rank_without_each(&[1.0], &[], 1).is_err());
    }

    #[test]
    fn bins_out_of_order_are_refused() {
        let weights = [1.0, 1.0];
        for bins in [[bin(5, 0), bin(4, 0)], [bin(4, 0), bin(4, 0)]] {
            assert!(align_votes(&[VoteBins { bins: &bins, weights: &weights }], 1).is_err(), "{bins:?}");
        }
        let part = VoteBins { bins: &[bin(4, 0)], weights: &weights };
        assert!(align_votes(&[part], 1).unwrap_err().to_string().contains("weights"));
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
