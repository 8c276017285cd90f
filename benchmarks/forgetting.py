"""CPU time per row of each forgetting, and how many times River's ADWIN takes for the same losses.

Run with ``python benchmarks/forgetting.py``. One thread, columns of 16,384 rows already in memory, a tally at the end
of each; the best of several runs.
"""

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from river import drift

from streamgauge.forgetting import Adwin, Fading, Landmark, Window
from streamgauge.protocols import Forgetting
from streamgauge.records import Trace

untyped_adwin: Any = drift.ADWIN

SIZE = 16_384
N_BATCHES = 30
N_ROWS = SIZE * N_BATCHES


def sample(n_classes: int, *, weighted: bool) -> list[Trace]:
    """Make columns of a learner that errs on 15% of the rows."""
    rng = np.random.default_rng(n_classes)
    batches = []
    for start in range(0, N_ROWS, SIZE):
        y = rng.integers(0, n_classes, SIZE).astype(np.int32)
        guess = rng.integers(0, n_classes, SIZE).astype(np.int32)
        y_pred = np.where(rng.random(SIZE) < 0.15, guess, y)
        hits = (rng.random(SIZE) < 0.5, rng.random(SIZE) < 0.5)
        weight = rng.random(SIZE) if weighted else None
        batches.append(Trace(np.arange(start, start + SIZE), y, y_pred, *hits, weight))
    return batches


def best_of(run: Callable[[], None], repeats: int) -> float:
    """Give the least CPU time of several runs, in nanoseconds per row."""
    times = []
    for _ in range(repeats):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times) / N_ROWS * 1e9


def run_ours(forgetting: Forgetting, batches: list[Trace], n_classes: int) -> Callable[[], None]:
    """Make a run of a forgetting over all columns."""

    def run() -> None:
        state = forgetting.build(n_classes)
        for trace in batches:
            state.update(trace, [int(trace.row[-1]) + 1])

    return run


def run_river(losses: list[int]) -> Callable[[], None]:
    """Make a run of River's ADWIN over all losses."""

    def run() -> None:
        detector = untyped_adwin()
        for loss in losses:
            detector.update(loss)

    return run


def main() -> None:
    """Print nanoseconds per row."""
    losses = np.concatenate([~trace.correct for trace in sample(2, weighted=False)]).astype(int).tolist()
    river = best_of(run_river(losses), 3)
    print(f"River's ADWIN, called for every row: {river:.0f} ns per row")
    print(f"{'classes':>7}  {'forgetting':<22}{'ns per row':>10}{'weighted':>10}  River / ours")
    for n_classes in (2, 10, 100):
        plain, weighted = (sample(n_classes, weighted=weighted) for weighted in (False, True))
        for forgetting in (Landmark(), Window(1000), Fading(0.999), Adwin()):
            ours, with_weights = (best_of(run_ours(forgetting, b, n_classes), 7) for b in (plain, weighted))
            ratio = f"{river / ours:.0f}x" if isinstance(forgetting, Adwin) else ""
            name = repr(forgetting).split("(delta")[0]
            print(f"{n_classes:>7}  {name:<22}{ours:>10.1f}{with_weights:>10.1f}  {ratio}")


if __name__ == "__main__":
    main()
