"""The sums of a pair of learners, from their differences."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from streamgauge import _native
from streamgauge.records import PairSums
from streamgauge.significance import LeftOut
from streamgauge.significance.row_tests import estimate_two_way

__all__ = ["TABLE_1", "TWO_WAY_EXAMPLE", "TwoWay", "leave_out", "sums_of", "t_of_sums", "without_blocks"]

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


class TwoWay(NamedTuple):
    """A t-test of the mean difference over folds x rows, with k - 1 degrees of freedom."""

    difference: float
    statistic: float
    p_value: float
    interval: tuple[float, float]
    warnings: tuple[str, ...]


def t_of_sums(pair: PairSums) -> TwoWay:
    """Test the difference of the accuracies by the sums that live verdicts use."""
    difference, variance, warnings = estimate_two_way(pair)
    error, freedom = math.sqrt(variance), pair.n_folds - 1
    t = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    reach = float(stats.t.ppf(0.975, freedom)) * error
    return TwoWay(
        difference, t, float(2 * stats.t.sf(abs(t), freedom)), (difference - reach, difference + reach), warnings
    )


def leave_out(d: NDArray[np.int_], n_blocks: int) -> LeftOut:
    """Return the means of differences [k, n], whole and without blocks, as those to a learner that is always 0."""
    blocks = np.array_split(np.arange(d.shape[1]), n_blocks)
    without = np.stack([np.delete(d, block, axis=1).mean(axis=1) for block in blocks], axis=1)
    whole = d.mean(axis=1)
    return LeftOut(np.stack([whole, 0.0 * whole]), np.stack([without, 0.0 * without]))
