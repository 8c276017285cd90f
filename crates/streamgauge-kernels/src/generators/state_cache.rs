//! States of a process that can only be stepped forwards, kept so that any position is soon reached.

use std::collections::VecDeque;

/// Rows between two rungs at first.
const INITIAL_SPACING: u64 = 65_536;
/// At this many rungs every other one is dropped and the spacing doubles, so that memory stays bounded.
const MAX_CHECKPOINTS: usize = 4_096;
/// How many readers that go forwards batch by batch can go on where they stopped.
const MAX_RECENT: usize = 32;

/// A process that is known by its state before each row.
pub trait ProcessState: Clone {
    /// The row that the state precedes.
    fn row(&self) -> u64;
}

/// The states before the rows 0, s, 2 s and so on as far as anyone has been, and those where readers stopped last.
#[derive(Debug, Clone)]
pub struct StateCache<S> {
    checkpoints: Vec<S>,
    spacing: u64,
    recent: VecDeque<S>,
}

impl<S: ProcessState> StateCache<S> {
    /// A ladder with the state before row 0.
    pub fn new(first: S) -> Self {
        Self { checkpoints: vec![first], spacing: INITIAL_SPACING, recent: VecDeque::new() }
    }

    /// The nearest known state that does not lie after a row.
    pub fn nearest_before(&self, row: u64) -> S {
        let index = usize::try_from(row / self.spacing).unwrap_or(usize::MAX).min(self.checkpoints.len() - 1);
        let recent = self.recent.iter().filter(|state| state.row() <= row);
        recent.fold(&self.checkpoints[index], |best, state| if state.row() > best.row() { state } else { best }).clone()
    }

    /// The row whose state is the next rung, which a reader that passes it should [`add_checkpoint`](Self::add).
    pub fn next_checkpoint_row(&self) -> u64 {
        self.checkpoints.len() as u64 * self.spacing
    }

    /// Keep a state as the next rung, unless another reader has done so.
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

    /// Keep the state where a reader stopped.
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
