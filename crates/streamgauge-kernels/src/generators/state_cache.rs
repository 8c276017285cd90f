//! A cache of states of a process that can only be advanced, so that any position is reached quickly.

use std::collections::VecDeque;

/// The initial number of rows between two checkpoints.
const INITIAL_SPACING: u64 = 65_536;
/// The maximum number of checkpoints; beyond it every other one is dropped and the spacing doubles.
const MAX_CHECKPOINTS: usize = 4_096;
/// The number of sequential readers that can resume where they stopped.
const MAX_RECENT: usize = 32;

/// The state of a process before a row.
pub trait ProcessState: Clone {
    /// Returns the row that the state precedes.
    fn row(&self) -> u64;
}

/// The states before the rows 0, s, 2 s and so on up to the furthest reader, and those where readers stopped last.
#[derive(Debug, Clone)]
pub struct StateCache<S> {
    checkpoints: Vec<S>,
    spacing: u64,
    recent: VecDeque<S>,
}

impl<S: ProcessState> StateCache<S> {
    /// Creates a cache with the state before row 0.
    pub fn new(first: S) -> Self {
        Self { checkpoints: vec![first], spacing: INITIAL_SPACING, recent: VecDeque::new() }
    }

    /// Returns the latest known state that is not after a row.
    pub fn nearest_before(&self, row: u64) -> S {
        let index = usize::try_from(row / self.spacing).unwrap_or(usize::MAX).min(self.checkpoints.len() - 1);
        let recent = self.recent.iter().filter(|state| state.row() <= row);
        recent.fold(&self.checkpoints[index], |best, state| if state.row() > best.row() { state } else { best }).clone()
    }

    /// Returns the row of the next checkpoint, which a reader that passes it should add ([`Self::add_checkpoint`]).
    pub fn next_checkpoint_row(&self) -> u64 {
        self.checkpoints.len() as u64 * self.spacing
    }

    /// Adds a state as the next checkpoint, unless another reader has done so.
    pub fn add_checkpoint(&mut self, state: &S) {
        if state.row() != self.next_checkpoint_row() {
            return;
        }
        self.checkpoints.push(state.clone());
        if self.checkpoints.len() > MAX_CHECKPOINTS {
            self.checkpoints = self.checkpoints.iter().step_by(2).cloned().collect();
            self.spacing *= 2;
        }
    }

    /// Stores the state where a reader stopped.
    pub fn remember(&mut self, state: S) {
        if self.recent.iter().any(|known| known.row() == state.row()) {
            return;
        }
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Row(u64);

    impl ProcessState for Row {
        fn row(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn the_nearest_state_is_returned_and_memory_is_bounded() {
        let mut cache = StateCache::new(Row(0));
        for _ in 0..3 * MAX_CHECKPOINTS {
            cache.add_checkpoint(&Row(cache.next_checkpoint_row()));
            cache.add_checkpoint(&Row(cache.next_checkpoint_row() + 1));
            assert!(cache.checkpoints.len() <= MAX_CHECKPOINTS);
        }
        let spacing = cache.spacing;
        assert!(cache.checkpoints.iter().enumerate().all(|(i, state)| state.row() == i as u64 * spacing));
        assert_eq!(cache.nearest_before(spacing - 1), Row(0));
        assert_eq!(cache.nearest_before(5 * spacing), Row(5 * spacing));
        for row in 0..100 {
            cache.remember(Row(5 * spacing + row));
        }
        assert_eq!(cache.nearest_before(5 * spacing + 99), Row(5 * spacing + 99));
        assert_eq!(cache.nearest_before(5 * spacing + 10), Row(5 * spacing));
        assert_eq!(cache.recent.len(), MAX_RECENT);
    }
}
