"""The sums of a pair of learners, from their differences."""

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.records import PairSums

__all__ = ["TABLE_1", "TWO_WAY_EXAMPLE", "sums_of", "without_blocks"]

TABLE_1 = [0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]

TWO_WAY_EXAMPLE = np.array(
    [[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, -1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [-1, 0, 0, -1], [1, 1, 0, 1], [0, 0, 0, 1]]
).T


def sums_of(d: NDArray[np.int_]) -> PairSums:
    """Count differences [k, n] of -1, 0 and 1 in which the folds scored all rows."""
    counter = _native.PairCounter(2, len(d))
    counter.update(np.ascontiguousarray(np.stack([d > 0, d < 0])))
    return PairSums("tree", "bayes", *counter.sums(0, 1))


def without_blocks(pair: PairSums) -> PairSums:
    return PairSums(
        "a", "b", pair.n_rows, pair.n_scored, pair.only_first, pair.only_second, pair.sum_squared_means, True
    )
