"""What a run kept along its way, arranged for showing."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import LabelCounts

__all__ = ["balance_of", "moments_of"]

MOST_STEPS = 200
"""How many steps a balance is shown in."""


def balance_of(counts: LabelCounts, limit: int = MOST_STEPS) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the share of each class in up to `limit` stretches of the run: the row each ends at, float64 [n, c].

    A stretch counts all its rows, so nothing is left out; where no class of it is known, its shares are 0.

    Examples
    --------
    >>> zeros = np.zeros(2, dtype=np.int64)
    >>> counts = LabelCounts(np.array([10, 20]), ("a", "b"), np.array([[5, 5], [5, 15]]), zeros, zeros, zeros)
    >>> balance_of(counts)[1].tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    kept = moments_of(len(counts.rows), limit)
    between = np.diff(counts.by_class[kept], axis=0, prepend=0)
    shares: NDArray[np.float64] = between / np.maximum(between.sum(axis=1, keepdims=True), 1)
    return counts.rows[kept], shares


def moments_of(n: int, limit: int) -> NDArray[np.int64]:
    """Choose up to `limit` of n stops, evenly spaced, the last among them.

    Examples
    --------
    >>> moments_of(10, 4).tolist(), moments_of(2, 4).tolist()
    ([2, 4, 7, 9], [0, 1])
    """
    return np.unique(np.ceil(np.arange(1, limit + 1) * n / limit).astype(np.int64)) - 1 if n > limit else np.arange(n)
