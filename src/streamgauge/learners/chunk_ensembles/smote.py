"""Rare rows made more: SMOTE (Chawla et al. 2002)."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import Chunk, Column
from streamgauge.randomness import below, uniform

__all__ = ["oversampled"]

N_NEIGHBOURS = 5


def oversampled(chunk: Chunk, rare: int, nominal: NDArray[np.bool_], seed: int) -> Chunk:
    """Add rows of the rarer class until there are as many as of the others.

    A new row lies somewhere between a rare row and one of its five nearest rare neighbours; a nominal value is that of
    the nearer of the two, and a value missing in the rare row stays missing. Its weight is that of the rare row.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> chunk = Chunk(0, x, np.array([0, 0, 0, 1, 1], dtype=np.int32), np.ones(5))
    >>> more = oversampled(chunk, rare=1, nominal=np.array([False]), seed=1)
    >>> more.y.tolist(), bool(10 <= more.x[5, 0] <= 11)
    ([0, 0, 0, 1, 1, 1], True)
    """
    few = np.flatnonzero(chunk.y == rare)
    n_new = len(chunk) - 2 * len(few)
    if n_new <= 0 or not len(few):
        return chunk
    base = below(seed, "base of smote", chunk.number, 0, n_new, len(few))
    which, along = (uniform(seed, purpose, chunk.number, 0, n_new) for purpose in ("neighbour of smote", "smote"))
    near = _neighbours(chunk.x[few], nominal)
    other = near[base, (which * near.shape[1]).astype(np.intp)] if near.shape[1] else base
    first, second = chunk.x[few[base]], chunk.x[few[other]]
    between = first + along[:, np.newaxis] * (second - first)
    chosen = np.where(along[:, np.newaxis] < 0.5, first, second)
    new = np.where(nominal, chosen, between)
    new = np.where(np.isnan(new) | np.isnan(first), first, new)
    return Chunk(
        chunk.number,
        np.concatenate([chunk.x, new]),
        np.concatenate([chunk.y, np.full(n_new, rare, dtype=np.int32)]),
        np.concatenate([chunk.weight, chunk.weight[few[base]]]),
    )


def _neighbours(x: Column, nominal: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give the nearest other rows of each row, the nearest first; missing values make no difference."""
    off = np.nan_to_num(x[:, np.newaxis, :] - x[np.newaxis, :, :])
    off = np.where(nominal, off != 0, off)
    distance = np.sum(off**2, axis=2)
    np.fill_diagonal(distance, np.inf)
    n_near = min(N_NEIGHBOURS, len(x) - 1)
    return np.argsort(distance, axis=1, kind="stable")[:, :n_near]
