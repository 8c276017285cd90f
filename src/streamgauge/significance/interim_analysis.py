"""One look at all pairs of learners at once: what is known of them, and what it tells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.records import Outcome, PairSums
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS
from streamgauge.significance.confidence_sequences import bernstein_log_e, bernstein_reach, two_way_radius
from streamgauge.significance.row_tests import two_way_spread

__all__ = ["OUTCOMES", "InterimAnalysis", "decide", "intervals_at", "outcomes_at"]

NULLS = {"two_way_sequence": ALGORITHMS, "empirical_bernstein": MODELS, "group_sequential": SEEDS}
"""The tests that may be looked at any time, and what each speaks of."""

OUTCOMES: tuple[Outcome, ...] = ("undecided", "first", "second", "equivalent")


@dataclass(frozen=True)
class InterimAnalysis:
    """What is known of some pairs of learners after so many rows; the pairs have the folds in common.

    Parameters
    ----------
    n_rows
        Rows that at least one fold scored.
    n_scored
        Rows scored per fold, int64 [k].
    only_first, only_second
        Rows that only the first, and only the second, of a pair got right, int64 [pairs, k].
    n_blocks
        How many blocks of rows there are.
    parts
        Each mean difference and the parts of its variance, float64 [pairs, 5]; none where folds scored different rows.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.ones((2, 3, 10), dtype=np.bool_))
    >>> look = InterimAnalysis.at(counter)
    >>> look.test, look.n_pairs, look.fold_differences.tolist()
    ('two_way_sequence', 1, [[0.0, 0.0, 0.0]])
    """

    n_rows: int
    n_scored: NDArray[np.int64]
    only_first: NDArray[np.int64]
    only_second: NDArray[np.int64]
    n_blocks: int
    parts: NDArray[np.float64]

    @classmethod
    def at(cls, counter: _native.PairCounter) -> "InterimAnalysis":
        """Look at all pairs of a counter."""
        n_rows, n_scored, first, second, n_blocks, parts = counter.look()
        shape = (-1, len(n_scored))
        return cls(n_rows, n_scored, first.reshape(shape), second.reshape(shape), n_blocks, parts.reshape(-1, 5))

    @classmethod
    def of(cls, pairs: Sequence[PairSums]) -> "InterimAnalysis":
        """Look at pairs that were counted together."""
        one = pairs[0]
        if any((pair.n_scored.tolist(), pair.n_rows) != (one.n_scored.tolist(), one.n_rows) for pair in pairs):
            msg = "pairs that are looked at together must be of one run, after the same rows"
            raise StreamgaugeError(msg)
        first, second = (np.stack([getattr(p, column) for p in pairs]) for column in ("only_first", "only_second"))
        parts: list[tuple[float, ...]] = []
        if one.crossed and one.n_folds > 1 and one.n_rows:
            parts = [
                _native.two_way(
                    int(pair.n_rows),
                    a - b,
                    int((a + b).sum()),
                    round(pair.sum_squared_means * pair.n_folds**2),
                    pair.block_scored,
                    pair.block_sums,
                )
                for pair, a, b in zip(pairs, first, second, strict=True)
            ]
        n_blocks = len(one.block_sums)
        return cls(int(one.n_rows), one.n_scored, first, second, n_blocks, np.array(parts).reshape(-1, 5))

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return len(self.only_first)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.n_scored)

    @cached_property
    def n_least(self) -> int:
        """The rows of the fold that scored the fewest."""
        return int(min(self.n_scored.tolist()))

    @cached_property
    def test(self) -> str:
        """The test that fits: where the folds scored the same rows, by folds and rows."""
        if self.n_folds == 1:
            return "empirical_bernstein"
        return "two_way_sequence" if self.n_least == self.n_rows else "group_sequential"

    @property
    def totals(self) -> NDArray[np.int64]:
        """The rows that only the first got right less those of the second, over all folds; int64 [pairs]."""
        total: NDArray[np.int64] = (self.only_first - self.only_second).sum(axis=1)
        return total

    @property
    def differences(self) -> NDArray[np.float64]:
        """The differences of the accuracies, float64 [pairs]."""
        return self.totals / max(int(self.n_scored.sum()), 1)

    @property
    def fold_differences(self) -> NDArray[np.float64]:
        """The differences of the accuracies in each fold, float64 [pairs, k]."""
        return (self.only_first - self.only_second) / np.maximum(self.n_scored, 1)


def decide(interval: tuple[float, float], *, rope: float = 0.01) -> Outcome:
    """Say what an interval of the difference tells, where differences up to `rope` do not matter.

    Examples
    --------
    >>> decide((0.024, 0.036)), decide((-0.0005, 0.0035)), decide((-0.001, 0.011))
    ('first', 'equivalent', 'undecided')
    """
    require_between("rope", rope, 0.0, 1.0, open_low=False)
    low, high = (np.array(end) for end in interval)
    return OUTCOMES[int(_decided(low, high, rope))]


def _decided(low: NDArray[np.float64], high: NDArray[np.float64], rope: float) -> NDArray[np.int64]:
    """Say what intervals tell, as places in `OUTCOMES`."""
    equivalent = np.where((low > -rope) & (high < rope), 3, 0)
    return np.where(low > rope, 1, np.where(high < -rope, 2, equivalent))


def outcomes_at(look: InterimAnalysis, *, alpha: float, rope: float, horizon: float) -> NDArray[np.int64]:
    """Say what a look tells of each pair, by its confidence sequence, as places in `OUTCOMES`.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)]))
    >>> outcomes_at(InterimAnalysis.at(counter), alpha=0.05, rope=0.01, horizon=2000)
    array([1])
    """
    if look.test == "empirical_bernstein":
        return _by_evidence(look, alpha, rope)
    return _decided(*_ends(look, alpha, horizon), rope)


def intervals_at(look: InterimAnalysis, *, alpha: float, horizon: float) -> list[tuple[float, float]]:
    """Give the interval of the confidence sequence of each pair.

    Examples
    --------
    >>> intervals_at(InterimAnalysis.at(_native.PairCounter(2, 3)), alpha=0.05, horizon=2000)
    [(-1.0, 1.0)]
    """
    low, high = _ends(look, alpha, horizon)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _ends(look: InterimAnalysis, alpha: float, horizon: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the ends of the intervals, float64 [pairs] each."""
    one_fold = look.n_folds == 1
    if look.n_least < (1 if one_fold else 2):
        ends = np.ones(look.n_pairs)
        return -ends, ends
    if one_fold:
        middle = look.differences
        radius = bernstein_reach((look.only_first + look.only_second).sum(axis=1), alpha) / look.n_least
    else:
        middle = look.parts[:, 0]
        spread, _ = two_way_spread(look.parts, look.n_blocks)
        radius = two_way_radius(look.n_rows, look.n_folds, spread, alpha, horizon)
    return np.maximum(middle - radius, -1.0), np.minimum(middle + radius, 1.0)


def _by_evidence(look: InterimAnalysis, alpha: float, rope: float) -> NDArray[np.int64]:
    """Decide as the intervals of one fold would, without the search for their ends."""
    totals, slack = look.totals, rope * look.n_least
    squares = np.maximum((look.only_first + look.only_second).sum(axis=1), 1)
    enough = math.log(2 / alpha)
    first, second, equivalent = bernstein_log_e(
        np.stack([totals - slack, -totals - slack, slack - np.abs(totals)]), np.broadcast_to(squares, (3, len(squares)))
    )
    return np.where(
        first > enough, 1, np.where(second > enough, 2, np.where((equivalent > enough) & (slack > 0.0), 3, 0))
    )
