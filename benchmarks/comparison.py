"""Cost of comparisons: ns of CPU per pair, fold and row for counting, and the share of live verdicts in a run."""

import numpy as np

import streamgauge as sg
from benchmarks.turns import run_in_turns, time_best
from streamgauge import _native
from streamgauge.significance import LiveTest, PairWatch
from streamgauge.streams import in_memory

N_ROWS = 16_384
REPEATS = 30


def time_update(n_learners: int, n_folds: int, *, masked: bool) -> float:
    """Return the ns of CPU per row of one update, best of several."""
    random = np.random.default_rng(1)
    correct = random.random((n_learners, n_folds, N_ROWS)) < 0.8
    scored = random.random((n_folds, N_ROWS)) < 0.37 if masked else None
    counter = _native.PairCounter(n_learners, n_folds)

    def update() -> None:
        for _ in range(5):
            counter.update(correct, scored)

    return time_best(update, REPEATS) / 5 / N_ROWS * 1e9


def time_live_test(n_learners: int, n_folds: int, n_rows: int) -> tuple[float, float]:
    """Time a run of cheap learners with 200 readings, and its live test alone; seconds of CPU, best of three."""
    stream = in_memory(sg.SEA(), n_rows)
    learners = {f"{number}": sg.HoeffdingTree(grace_period=50 + number) for number in range(n_learners)}
    reading_rows = list(range(n_rows // 200, n_rows + 1, n_rows // 200))
    correct = np.random.default_rng(1).random((n_learners, n_folds, n_rows)) < 0.8

    def evaluate() -> None:
        sg.evaluate(stream, learners, scheme=sg.Bootstrap(n_folds), live_test=None, backend=sg.Threads(1))

    def judge() -> None:
        watch = PairWatch(list(learners), n_folds, LiveTest())
        watch.update(correct, None, reading_rows, reading_rows)
        watch.verdicts()

    best = run_in_turns({"run": evaluate, "live": judge}, 3)
    return best["run"].seconds, best["live"].seconds


def main() -> None:
    """Print the tables."""
    print(f"instruction set: {_native.instruction_set()}")
    print(f"{'learners':>8} {'folds':>6} {'scored':>9} {'ns/pair/fold/row':>17} {'ns/row':>8}")
    for n_learners, n_folds in ((2, 10), (3, 10), (10, 10), (10, 30)):
        for masked in (False, True):
            per_row = time_update(n_learners, n_folds, masked=masked)
            per_cell = per_row / (n_learners * (n_learners - 1) / 2 * n_folds)
            scored = "37 %" if masked else "all"
            print(f"{n_learners:>8} {n_folds:>6} {scored:>9} {per_cell:>17.4f} {per_row:>8.2f}")
    print("\nlive verdicts at 200 readings, next to a run of Hoeffding trees that only counts pairs")
    print(f"{'learners':>8} {'folds':>6} {'rows':>8} {'run, s':>8} {'live test, s':>18} {'share':>7}")
    for n_learners, n_folds, n_rows in ((2, 10, 100_000), (10, 10, 20_000), (10, 10, 100_000)):
        run, live = time_live_test(n_learners, n_folds, n_rows)
        print(f"{n_learners:>8} {n_folds:>6} {n_rows:>8,} {run:>8.2f} {live:>18.3f} {live / run:>6.1%}")


if __name__ == "__main__":
    main()
