"""What comparisons cost: ns of CPU to count per pair, fold and row, and the share of a run that live verdicts take."""

from time import process_time_ns

import numpy as np

import streamgauge as sg
from streamgauge import _native
from streamgauge.significance import LiveTest, PairWatch
from streamgauge.streams import in_memory

N_ROWS = 16_384
REPEATS = 30


def cost(n_learners: int, n_folds: int, *, masked: bool) -> float:
    """Time one update; ns of CPU per row, best of several."""
    random = np.random.default_rng(1)
    correct = random.random((n_learners, n_folds, N_ROWS)) < 0.8
    scored = random.random((n_folds, N_ROWS)) < 0.37 if masked else None
    counter = _native.PairCounter(n_learners, n_folds)
    best = float("inf")
    for _ in range(REPEATS):
        before = process_time_ns()
        for _ in range(5):
            counter.update(correct, scored)
        best = min(best, (process_time_ns() - before) / 5 / N_ROWS)
    return best


def live_share(n_learners: int, n_folds: int, n_rows: int) -> tuple[float, float]:
    """Time a run of cheap learners with 200 readings, and counting and looking alone; seconds of CPU, best of three."""
    stream = in_memory(sg.SEA(), n_rows)
    learners = {f"{place}": sg.HoeffdingTree(grace_period=50 + place) for place in range(n_learners)}
    reading_rows = list(range(n_rows // 200, n_rows + 1, n_rows // 200))
    right = np.random.default_rng(1).random((n_learners, n_folds, n_rows)) < 0.8
    whole, alone = float("inf"), float("inf")
    for _ in range(3):
        before = process_time_ns()
        sg.evaluate(stream, learners, scheme=sg.Bootstrap(n_folds), live_test=None, backend=sg.Threads(1))
        between = process_time_ns()
        watch = PairWatch(list(learners), n_folds, LiveTest())
        watch.update(right, None, reading_rows, reading_rows)
        watch.verdicts()
        whole = min(whole, (between - before) / 1e9)
        alone = min(alone, (process_time_ns() - between) / 1e9)
    return whole, alone


def main() -> None:
    """Print the tables."""
    print(f"instruction set: {_native.instruction_set()}")
    print(f"{'learners':>8} {'folds':>6} {'scored':>9} {'ns/pair/fold/row':>17} {'ns/row':>8}")
    for n_learners, n_folds in ((2, 10), (3, 10), (10, 10), (10, 30)):
        for masked in (False, True):
            per_row = cost(n_learners, n_folds, masked=masked)
            per_cell = per_row / (n_learners * (n_learners - 1) / 2 * n_folds)
            scored = "37 %" if masked else "all"
            print(f"{n_learners:>8} {n_folds:>6} {scored:>9} {per_cell:>17.4f} {per_row:>8.2f}")
    print("\nlive verdicts at 200 readings, beside a run of Hoeffding trees that only counts pairs")
    print(f"{'learners':>8} {'folds':>6} {'rows':>8} {'run, s':>8} {'count and look, s':>18} {'share':>7}")
    for n_learners, n_folds, n_rows in ((2, 10, 100_000), (10, 10, 20_000), (10, 10, 100_000)):
        whole, alone = live_share(n_learners, n_folds, n_rows)
        print(f"{n_learners:>8} {n_folds:>6} {n_rows:>8,} {whole:>8.2f} {alone:>18.3f} {alone / whole:>6.1%}")


if __name__ == "__main__":
    main()
