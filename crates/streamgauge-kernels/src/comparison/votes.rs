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
