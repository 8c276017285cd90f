//! Selection sampling: exact counts, in one pass, every subset equally likely.

use crate::KernelError;
use crate::error::check_length;
use crate::randomness::{Draws, Purpose};

const ROWS: Purpose = Purpose::named("sample rows");
const LABELS: Purpose = Purpose::named("sample labels");

/// The set to which a row is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Assignment {
    /// Excluded.
    Excluded = 0,
    /// The training set.
    Training = 1,
    /// The test set, with its label.
    Labelled = 2,
    /// The test set, with its label hidden.
    Unlabelled = 3,
}

/// One class, or several that are sampled as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The number of rows.
    pub rows: u64,
    /// The number of rows for the training set.
    pub training: u64,
    /// The number of rows for the test set.
    pub test: u64,
}

/// Knuth's Algorithm S for three sets: each remaining row of a group is equally likely to be one of those still needed.
/// Draws are addressed by row, so that any split into chunks selects the same rows.
#[derive(Debug, Clone)]
pub struct Selection {
    initial: Vec<Group>,
    remaining: Vec<Group>,
    test: u64,
    labelled: u64,
    rows: Draws,
    labels: Draws,
    row: u64,
}

impl Selection {
    /// Creates a selection of the given numbers of rows of each group; `labelled` of all test rows keep their label.
    #[must_use]
    pub fn new(groups: &[Group], labelled: u64, seed: u64) -> Self {
        let test = groups.iter().map(|group| group.test).sum();
        Self {
            initial: groups.to_vec(),
            remaining: groups.to_vec(),
            test,
            labelled,
            rows: Draws::new(seed, ROWS, 0),
            labels: Draws::new(seed, LABELS, 0),
            row: 0,
        }
    }

    /// Returns the assignment of the next row, which belongs to a group or (without a label) to none.
    ///
    /// # Errors
    /// Returns [`KernelError::Counted`] if a group has more rows than were counted.
    #[inline]
    pub fn next(&mut self, group: Option<usize>) -> Result<Assignment, KernelError> {
        let row = self.row;
        self.row += 1;
        let Some(group) = group else { return Ok(Assignment::Excluded) };
        let Some(remaining) = self.remaining.get_mut(group) else {
            return Err(KernelError::Shape { what: "groups", found: group + 1, expected: self.initial.len() });
        };
        if remaining.rows == 0 {
            return Err(self.count_error(group, self.initial[group].rows + 1));
        }
        let rank = self.rows.below(row, remaining.rows);
        remaining.rows -= 1;
        if rank < remaining.training {
            remaining.training -= 1;
            return Ok(Assignment::Training);
        }
        if rank - remaining.training >= remaining.test {
            return Ok(Assignment::Excluded);
        }
        remaining.test -= 1;
        let keeps_label = self.labels.below(row, self.test) < self.labelled;
        self.test -= 1;
        self.labelled -= u64::from(keeps_label);
        Ok(if keeps_label { Assignment::Labelled } else { Assignment::Unlabelled })
    }

    /// Writes the assignments of the next rows, given their groups; negative for a row without a group.
    ///
    /// # Errors
    /// Returns [`KernelError::Counted`] if a group has more rows than were counted.
    pub fn update(&mut self, groups: &[i32], assignments: &mut [u8]) -> Result<(), KernelError> {
        check_length("assignments", assignments.len(), groups.len())?;
        for (assignment, &group) in assignments.iter_mut().zip(groups) {
            *assignment = self.next(usize::try_from(group).ok())? as u8;
        }
        Ok(())
    }

    /// Returns the number of rows so far.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Checks that every row that was counted was seen.
    ///
    /// # Errors
    /// Returns [`KernelError::Counted`] if one was not.
    pub fn finish(&self) -> Result<(), KernelError> {
        match self.remaining.iter().position(|remaining| remaining.rows > 0) {
            Some(group) => Err(self.count_error(group, self.initial[group].rows - self.remaining[group].rows)),
            None => Ok(()),
        }
    }

    fn count_error(&self, group: usize, found: u64) -> KernelError {
        KernelError::Counted { group: format!("class group {group}"), found, expected: self.initial[group].rows }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn assign(groups: &[Group], labelled: u64, seed: u64, rows: &[i32]) -> Vec<u8> {
        let mut selection = Selection::new(groups, labelled, seed);
        let mut assignments = vec![0; rows.len()];
        selection.update(rows, &mut assignments).unwrap();
        selection.finish().unwrap();
        assignments
    }

    #[test]
    fn the_counts_are_exactly_those_requested() {
        let groups = [Group { rows: 40, training: 7, test: 20 }, Group { rows: 60, training: 0, test: 60 }];
        let rows: Vec<i32> = (0..100).map(|i| i32::from(i % 5 >= 2)).collect();
        for seed in 0..50 {
            let assignments = assign(&groups, 13, seed, &rows);
            let count = |group: i32, wanted: &[u8]| {
                (0..100).filter(|&i| rows[i] == group && wanted.contains(&assignments[i])).count()
            };
            assert_eq!((count(0, &[1]), count(0, &[2, 3]), count(1, &[1]), count(1, &[2, 3])), (7, 20, 0, 60));
            assert_eq!(count(0, &[2]) + count(1, &[2]), 13);
        }
    }

    #[test]
    fn every_selection_is_equally_likely() {
        // Of 5 rows of one class, 1 for training and 2 for the test, one of these labelled: 5 * 6 * 2 = 60 outcomes.
        let groups = [Group { rows: 5, training: 1, test: 2 }];
        let mut counts: HashMap<Vec<u8>, f64> = HashMap::new();
        let n = 60_000;
        for seed in 0..n {
            *counts.entry(assign(&groups, 1, seed, &[0; 5])).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 60);
        let expected = n as f64 / 60.0;
        let chi_square: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
        assert!(chi_square < 98.3, "{chi_square}"); // the 0.999 quantile of 59 degrees of freedom
    }

    #[test]
    fn a_changed_input_is_noticed() {
        let mut selection = Selection::new(&[Group { rows: 2, training: 1, test: 1 }], 1, 1);
        selection.next(Some(0)).unwrap();
        assert!(matches!(selection.finish(), Err(KernelError::Counted { found: 1, expected: 2, .. })));
        selection.next(Some(0)).unwrap();
        assert!(matches!(selection.next(Some(0)), Err(KernelError::Counted { found: 3, expected: 2, .. })));
        assert!(selection.next(Some(1)).is_err());
    }
}
