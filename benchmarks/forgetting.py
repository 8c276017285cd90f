"""Cost of counting: CPU time per row of each forgetting and of all count measures, next to River's and MOA's ADWIN.

Run with ``python -m benchmarks forgetting``. One thread, columns already in memory; the best of several runs. River and
MOA run in the same minutes, so ratios are valid on a busy machine where nanoseconds are not. MOA needs a JDK.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import drift

from benchmarks.turns import time_best
from peers import moa
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.measures import COUNT_MEASURES, MEASURES, build_state, measure_tallies
from streamgauge.protocols import Forgetting
from streamgauge.records import Trace
from streamgauge.tasks import Classification

untyped_adwin: Any = drift.ADWIN

SIZE = 65_536
N_BATCHES = 15
N_ROWS = SIZE * N_BATCHES
N_READINGS = 1_000
FOUR: tuple[Forgetting, ...] = (Landmark(), Window(1000), Fading(0.999), AdwinWindow())


def make_traces(n_classes: int, *, weighted: bool) -> list[Trace]:
    """Return traces of a learner that errs on 15% of the rows."""
    rng = np.random.default_rng(n_classes)
    batches = []
    for start in range(0, N_ROWS, SIZE):
        y = rng.integers(0, n_classes, SIZE, dtype=np.int32)
        guess = rng.integers(0, n_classes, SIZE, dtype=np.int32)
        y_pred = np.where(rng.random(SIZE) < 0.15, guess, y)
        hits = (rng.random(SIZE) < 0.5, rng.random(SIZE) < 0.5)
        weight = rng.random(SIZE) if weighted else None
        votes = rng.random((SIZE, n_classes))
        votes[np.arange(SIZE), y_pred] += 1.0
        row = np.arange(start, start + SIZE)
        batches.append(Trace(row, y, y_pred, *hits, weight, votes, row / 1000.0))
    return batches


def time_row(run: Callable[[], None], repeats: int) -> float:
    """Return the fewest nanoseconds of CPU per row of several runs."""
    return time_best(run, repeats) / N_ROWS * 1e9


def build_run(forgetting: Forgetting, batches: list[Trace], n_classes: int) -> Callable[[], None]:
    """Return a run of a forgetting over all traces, with a tally at the end of each."""

    def run() -> None:
        state = forgetting.build(n_classes)
        for trace in batches:
            state.update(trace, [int(trace.row[-1]) + 1])

    return run


def build_measure_run(batches: list[Trace], n_classes: int, n_cells: int, names: list[str]) -> Callable[[], None]:
    """Return a run of measures at all readings under four forgettings, as in an evaluation."""
    measures = [MEASURES[name] for name in names]
    every = N_ROWS // N_READINGS

    def run() -> None:
        states = [
            build_state(forgetting, Classification(tuple(map(str, range(n_classes)))), measures)
            for _ in range(n_cells)
            for forgetting in FOUR
        ]
        for trace in batches:
            first, last = int(trace.row[0]), int(trace.row[-1]) + 1
            reading_rows = range((first // every + 1) * every, last + 1, every)
            measure_tallies(measures, [state.update(trace, reading_rows) for state in states])

    return run


def build_river_run(losses: list[int]) -> Callable[[], None]:
    """Return a run of River's ADWIN over all losses."""

    def run() -> None:
        detector = untyped_adwin()
        for loss in losses:
            detector.update(loss)

    return run


def compare_adwin(batches: list[Trace]) -> None:
    """Print the time of ADWIN here, in River and in MOA."""
    losses = np.concatenate([~trace.correct for trace in batches])
    ours = time_row(build_run(AdwinWindow(), batches, 2), 9)
    river = time_row(build_river_run(losses.astype(int).tolist()), 3)
    print(f"ADWIN per value: ours, with a whole tally in each bucket, {ours:.1f} ns; River's {river:.0f} ns", end="")
    print(f" ({river / ours:.0f}x)", end="")
    reason = moa.explain_missing_jdk()
    if reason:
        print(f"; no MOA: {reason}")
        return
    theirs = 1e9 * moa.time_adwin(losses, repeats=9)
    print(f"; MOA's, warm, {theirs:.0f} ns ({theirs / ours:.0f}x)")


def main() -> None:
    """Print nanoseconds per row."""
    batches = {n: (make_traces(n, weighted=False), make_traces(n, weighted=True)) for n in (2, 10)}
    compare_adwin(batches[2][0])
    print(f"\n{'classes':>7}  {'forgetting':<22}{'ns per row':>10}{'weighted':>10}")
    for n_classes, (plain, weighted) in batches.items():
        for forgetting in (*FOUR, Tumbling(1000), TimeWindow(1.0)):
            ours, with_weights = (time_row(build_run(forgetting, b, n_classes), 7) for b in (plain, weighted))
            name = repr(forgetting).split("(delta")[0]
            print(f"{n_classes:>7}  {name:<22}{ours:>10.1f}{with_weights:>10.1f}")
    counts = list(COUNT_MEASURES)
    print(f"\n{len(counts)} count measures at {N_READINGS} readings under four forgettings, ns per row and cell:")
    for n_cells in (1, 10):
        ours = time_row(build_measure_run(batches[2][0], 2, n_cells, counts), 5) / n_cells
        print(f"  {n_cells:>2} cells: {ours:.1f}")
    votes = ["accuracy", "log_loss", "brier", "expected_calibration_error"]
    print(f"accuracy and losses of votes: {time_row(build_measure_run(batches[2][0], 2, 1, votes), 3):.1f}")
    areas = ["roc_auc_ovr_macro", "pr_auc_ovr_macro"]
    print(f"areas under curves: {time_row(build_measure_run(batches[2][0], 2, 1, areas), 2):.1f}")


if __name__ == "__main__":
    main()
