"""What counting for comparisons costs: ns of CPU per pair, fold and row, and per row in all."""

from time import process_time_ns

import numpy as np

from streamgauge import _native

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


def main() -> None:
    """Print the table."""
    print(f"instruction set: {_native.instruction_set()}")
    print(f"{'learners':>8} {'folds':>6} {'scored':>9} {'ns/pair/fold/row':>17} {'ns/row':>8}")
    for n_learners, n_folds in ((2, 10), (3, 10), (10, 10), (10, 30)):
        for masked in (False, True):
            per_row = cost(n_learners, n_folds, masked=masked)
            per_cell = per_row / (n_learners * (n_learners - 1) / 2 * n_folds)
            scored = "37 %" if masked else "all"
            print(f"{n_learners:>8} {n_folds:>6} {scored:>9} {per_cell:>17.4f} {per_row:>8.2f}")


if __name__ == "__main__":
    main()
