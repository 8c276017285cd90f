//! States of a process that can only be stepped forwards, kept so that any position is soon reached.

use std::collections::VecDeque;

/// Rows between two rungs at first.
const FIRST_SPACING: u64 = 65_536;
/// At this many rungs every other one is dropped and the spacing doubles, so that memory stays bounded.
const MOST_RUNGS: usize = 4_096;
/// How many readers that go forwards batch by batch can go on where they stopped.
const MOST_RECENT: usize = 32;

/// A process that is known by its state before each row.
pub trait State: Clone {
    /// The row that the state precedes.
    fn row(&self) -> u64;
}

/// The states before the rows 0, s, 2 s and so on as far as anyone has been, and those where readers stopped last.
#[derive(Debug, Clone)]
pub struct Ladder<S> {
    rungs: Vec<S>,
    spacing: u64,
    recent: VecDeque<S>,
}

impl<S: State> Ladder<S> {
    /// A ladder with the state before row 0.
    pub fn new(first: S) -> Self {
        Self { rungs: vec![first], spacing: FIRST_SPACING, recent: VecDeque::new() }
    }

    /// The nearest known state that does not lie after a row.
    pub fn before(&self, row: u64) -> S {
        let rung = usize::try_from(row / self.spacing).unwrap_or(usize::MAX).min(self.rungs.len() - 1);
        let recent = self.recent.iter().filter(|state| state.row() <= row);
        recent.fold(&self.rungs[rung], |best, state| if state.row() > best.row() { state } else { best }).clone()
    }

    /// The row whose state is the next rung, which a reader that passes it should [`add`](Self::add).
    pub fn next_rung(&self) -> u64 {
        self.rungs.len() as u64 * self.spacing
    }

    /// Keep a state as the next rung, unless another reader has done so.
    pub fn add(&mut self, state: &S) {
        if state.row() != self.next_rung() {
            return;
        }
        self.rungs.push(state.clone());
        if self.rungs.len() > MOST_RUNGS {
            self.rungs = self.rungs.iter().step_by(2).cloned().collect();
            self.spacing *= 2;
        }
    }

    /// Keep the state where a reader stopped.
    pub fn stop(&mut self, state: S) {
        if self.recent.iter().any(|known| known.row() == state.row()) {
            return;
        }
        if self.recent.len() == MOST_RECENT {
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

    impl State for Row {
        fn row(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn the_nearest_state_is_found_and_memory_is_bounded() {
        let mut ladder = Ladder::new(Row(0));
        for _ in 0..3 * MOST_RUNGS {
            ladder.add(&Row(ladder.next_rung()));
            ladder.add(&Row(ladder.next_rung() + 1));
            assert!(ladder.rungs.len() <= MOST_RUNGS);
        }
        let spacing = ladder.spacing;
        assert!(ladder.rungs.iter().enumerate().all(|(i, state)| state.row() == i as u64 * spacing));
        assert_eq!(ladder.before(spacing - 1), Row(0));
        assert_eq!(ladder.before(5 * spacing), Row(5 * spacing));
        for row in 0..100 {
            ladder.stop(Row(5 * spacing + row));
        }
        assert_eq!(ladder.before(5 * spacing + 99), Row(5 * spacing + 99));
        assert_eq!(ladder.before(5 * spacing + 10), Row(5 * spacing));
        assert_eq!(ladder.recent.len(), MOST_RECENT);
    }
}
