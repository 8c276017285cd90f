"""Oversampling of a rare class with synthetic rows: SMOTE (Chawla et al. 2002)."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.learners.chunk_ensembles.members import Chunk, Column
from streamgauge.randomness import below, uniform

__all__ = ["oversample"]

N_NEIGHBOURS = 5


def oversample(chunk: Chunk, rare: int, nominal: NDArray[np.bool_], seed: int) -> Chunk:
    """Return a chunk with synthetic rows of the rarer class, until both classes have the same number of rows.

    A synthetic row lies between a rare row and one of its five nearest rare neighbours. A nominal value is that of the
    nearer of the two; a value missing in the rare row stays missing. The weight is that of the rare row.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> chunk = Chunk(0, x, np.array([0, 0, 0, 1, 1], dtype=np.int32), np.ones(5))
    >>> balanced = oversample(chunk, rare=1, nominal=np.array([False]), seed=1)
    >>> balanced.y.tolist(), bool(10 <= balanced.x[5, 0] <= 11)
    ([0, 0, 0, 1, 1, 1], True)
    """
    rare_rows = np.flatnonzero(chunk.y == rare)
    n_new = len(chunk) - 2 * len(rare_rows)
    if n_new <= 0 or not len(rare_rows):
        return chunk
    base = below(seed, "base of smote", chunk.number, 0, n_new, len(rare_rows))
    which, along = (uniform(seed, purpose, chunk.number, 0, n_new) for purpose in ("neighbour of smote", "smote"))
    neighbours = _find_neighbours(chunk.x[rare_rows], nominal)
    n_near = neighbours.shape[1]
    other = neighbours[base, (which * n_near).astype(np.intp)] if n_near else base
    first, second = chunk.x[rare_rows[base]], chunk.x[rare_rows[other]]
    between = first + along[:, np.newaxis] * (second - first)
    nearer = np.where(along[:, np.newaxis] < 0.5, first, second)
    new = np.where(nominal, nearer, between)
    new = np.where(np.isnan(new) | np.isnan(first), first, new)
    return Chunk(
        chunk.number,
        np.concatenate([chunk.x, new]),
        np.concatenate([chunk.y, np.full(n_new, rare, dtype=np.int32)]),
        np.concatenate([chunk.weight, chunk.weight[rare_rows[base]]]),
    )


def _find_neighbours(x: Column, nominal: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of the nearest other rows of each row, nearest first; missing values count as equal."""
    distance = np.zeros((len(x), len(x)))
    for column, is_nominal in zip(np.ascontiguousarray(x.T), nominal.tolist(), strict=True):
        difference = column[:, np.newaxis] - column
        if is_nominal:
            distance += np.nan_to_num(difference) != 0
        else:
            difference *= difference
            distance += np.nan_to_num(difference, copy=False) if np.isnan(column).any() else difference
    np.fill_diagonal(distance, np.inf)
    n_near = min(N_NEIGHBOURS, len(x) - 1)
    return np.argsort(distance, axis=1, kind="stable")[:, :n_near]
