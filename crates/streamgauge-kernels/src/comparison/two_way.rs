//! The variance of a mean difference over folds and rows, from whole numbers.

/// The mean of `d[i, t]` over folds and rows, and the components of its variance.
///
/// A component is 0 only if nothing varies: numbers stay whole until the last division.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoWay {
    /// The mean difference.
    pub difference: f64,
    /// The variance of the mean due to folds.
    pub folds: f64,
    /// The variance of the mean due to rows, assuming independent rows.
    pub rows: f64,
    /// The variance of the mean due to single differences, which the variances of folds and rows both contain.
    pub both: f64,
    /// The variance of the mean due to rows, computed over blocks; NaN for fewer than two blocks.
    pub blocked: f64,
}

/// Computes the components of the variance.
///
/// `sums` holds the sum of `d` per fold, at least two; `discordant` is the number of `d` that are not 0; `squares` is
/// the sum over rows of the squared sum of `d` over folds; `blocks` holds the scored cells and the sum of `d` per block
/// of rows. Every fold scored all `n_rows` rows, at least one.
#[must_use]
pub fn two_way(n_rows: u64, sums: &[i64], discordant: u64, squares: u64, blocks: &[(u64, i64)]) -> TwoWay {
    let (n, k) = (i128::from(n_rows), sums.len() as i128);
    let cells = n * k;
    let total: i128 = sums.iter().map(|&sum| i128::from(sum)).sum();
    let squared_sums: i128 = sums.iter().map(|&sum| i128::from(sum).pow(2)).sum();
    let (rows, folds) = (n as f64, k as f64);
    TwoWay {
        difference: total as f64 / cells as f64,
        folds: (k * squared_sums - total * total) as f64 / (folds * folds * (folds - 1.0) * rows * rows),
        rows: (n * i128::from(squares) - total * total) as f64 / (rows.powi(3) * folds * folds),
        both: (cells * i128::from(discordant) - total * total) as f64 / (cells as f64).powi(3),
        blocked: block_variance(cells, total, blocks),
    }
}

fn block_variance(cells: i128, total: i128, blocks: &[(u64, i64)]) -> f64 {
    if blocks.len() < 2 {
        return f64::NAN;
    }
    let deviation = |&(scored, sum): &(u64, i64)| (i128::from(sum) * cells - i128::from(scored) * total) as f64;
    let squared: f64 = blocks.iter().map(|block| deviation(block).powi(2)).sum();
    let n_blocks = blocks.len() as f64;
    n_blocks * squared / ((n_blocks - 1.0) * (cells as f64).powi(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_has_its_parts() {
        // Rows of d: 1010 0110 00-10 1111 0000 -100-1 1101 0001
        let parts = two_way(8, &[2, 3, 2, 2], 15, 39, &[]);
        assert!((parts.difference - 0.281_25).abs() < 1e-15);
        assert!((parts.folds - 0.000_976_562_5).abs() < 1e-15);
        assert!((parts.rows - 0.028_198_242_187_5).abs() < 1e-15);
        assert!((parts.both - 0.012_176_513_671_875).abs() < 1e-15);
        assert!(parts.blocked.is_nan());
    }

    #[test]
    fn what_does_not_vary_has_no_variance_however_many_rows() {
        let n = 1_000_000_000_000_u64;
        let sums = [n as i64; 3];
        let blocks = [(3 * n / 4, 3 * n as i64 / 4); 4];
        let parts = two_way(n, &sums, 3 * n, 9 * n, &blocks);
        let expected = TwoWay { difference: 1.0, folds: 0.0, rows: 0.0, both: 0.0, blocked: 0.0 };
        assert_eq!(parts, expected);
        assert!(two_way(n, &[n as i64, n as i64, n as i64 - 1], 3 * n - 1, 9 * n - 5, &blocks).folds > 0.0);
    }
}
