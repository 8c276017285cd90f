"""Sequences of labels and predictions."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Codes", "sequence"]

Codes = NDArray[np.int32]


def sequence(n_classes: int, *, abstaining: bool, n_rows: int = 500, seed: int = 5) -> tuple[Codes, Codes]:
    """Draw labels in runs, of unequal classes, and predictions that are right more often than not."""
    rng = np.random.default_rng(seed)
    y_true = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.full(n_classes, 2.0)))
    for row in np.flatnonzero(rng.random(n_rows) < 0.5)[1:]:
        y_true[row] = y_true[row - 1]
    y_true[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    guesses = rng.integers(-1 if abstaining else 0, n_classes, n_rows)
    y_pred = np.where(rng.random(n_rows) < 0.7, y_true, guesses)
    return y_true.astype(np.int32), y_pred.astype(np.int32)
