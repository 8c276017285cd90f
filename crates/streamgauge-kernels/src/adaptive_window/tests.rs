//! Invariants of an adaptive window.

use super::*;
use crate::randomness::{Draws, Purpose};

const SETTINGS: Settings = Settings::new(0.002);

/// An observer that counts buckets.
#[derive(Default)]
struct Counter {
    n_buckets: Vec<usize>,
}

impl BucketObserver for Counter {
    fn on_merge(&mut self, level: usize, n_pairs: usize) {
        self.n_buckets.resize(self.n_buckets.len().max(level + 2), 0);
        if level > 0 {
            self.n_buckets[level] -= 2 * n_pairs;
        }
        self.n_buckets[level + 1] += n_pairs;
    }

    fn on_drop(&mut self, level: usize) {
        if level > 0 {
            self.n_buckets[level] -= 1;
        }
    }
}

fn values(n: usize) -> Vec<f64> {
    let draws = Draws::new(3, Purpose::named("values"), 0);
    (0..n).map(|row| draws.uniform(row as u64) + if row < n / 2 { 0.0 } else { 0.5 }).collect()
}

#[test]
fn many_values_at_once_equal_one_by_one() {
    let values = values(5_000);
    let (mut whole, mut single) = (AdaptiveWindow::new(SETTINGS).unwrap(), AdaptiveWindow::new(SETTINGS).unwrap());
    let n_changes = whole.extend(values.iter().copied(), &mut ());
    let one_by_one: usize = values.iter().map(|&value| single.extend([value].into_iter(), &mut ())).sum();
    assert!(n_changes > 0 && n_changes == one_by_one);
    assert_eq!(whole.total().to_bits(), single.total().to_bits());
    assert!(whole.n_buckets().eq(single.n_buckets()));
    assert!(whole.width() < 2_600);
}

#[test]
fn an_observer_keeps_in_step_with_the_buckets() {
    let (mut window, mut counter) = (AdaptiveWindow::new(SETTINGS).unwrap(), Counter::default());
    for value in values(5_000) {
        window.extend([value].into_iter(), &mut counter);
        let above_0 = counter.n_buckets.iter().copied().skip(1).filter(|&n| n > 0);
        assert!(window.n_buckets().skip(1).eq(above_0));
    }
}

#[test]
fn the_sums_are_those_of_the_newest_values() {
    let values = values(5_000);
    let mut window = AdaptiveWindow::new(SETTINGS).unwrap();
    window.extend(values.iter().copied(), &mut ());
    let held = &values[5_000 - window.width() as usize..];
    let total: f64 = held.iter().sum();
    let mean = total / held.len() as f64;
    let variance: f64 = held.iter().map(|value| (value - mean).powi(2)).sum();
    assert!((window.total() - total).abs() < 1e-9 && (window.variance - variance).abs() < 1e-9);
}

#[test]
fn options_outside_their_range_are_refused() {
    for settings in [
        Settings { delta: 0.0, ..SETTINGS },
        Settings { delta: 1.0, ..SETTINGS },
        Settings { clock: 0, ..SETTINGS },
        Settings { max_buckets: 0, ..SETTINGS },
        Settings { min_window_length: 0, ..SETTINGS },
    ] {
        assert!(matches!(AdaptiveWindow::new(settings), Err(KernelError::Option { .. })));
    }
}

#[test]
fn a_window_that_merges_late_is_the_same() {
    for clock in [1, 7, 32, 100] {
        let settings = Settings { clock, ..SETTINGS };
        let (mut eager, mut late) = (AdaptiveWindow::new(settings).unwrap(), AdaptiveWindow::new(settings).unwrap());
        let state = |window: &AdaptiveWindow| {
            let mut writer = Writer::new("window", 1);
            window.write(&mut writer);
            writer.finish()
        };
        for value in values(3_000) {
            let n_changes = eager.extend([value].into_iter(), &mut ());
            assert_eq!(late.push(value), n_changes > 0);
            assert_eq!(state(&eager), state(&late));
        }
        late.clear();
        assert_eq!(state(&late), state(&AdaptiveWindow::new(settings).unwrap()));
    }
}
