"""Interim analyses of all pairs of learners: their counts after some rows, the intervals and the outcomes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.records import Differences, Outcome, PairSums, Verdict
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS
from streamgauge.significance.confidence_sequences import bernstein_log_e, bernstein_radius, two_way_radius
from streamgauge.significance.row_tests import combine_variances, compute_variance_parts

__all__ = [
    "NULLS",
    "OUTCOMES",
    "AnalysisHistory",
    "InterimAnalysis",
    "compute_intervals",
    "decide",
    "decide_pairs",
]

NULLS = {"two_way_sequence": ALGORITHMS, "empirical_bernstein": MODELS, "group_sequential": SEEDS}
"""The anytime-valid tests and their null hypotheses."""

MAX_ANALYSES = 256
"""A history drops every second analysis when it has more."""

OUTCOMES: tuple[Outcome, ...] = ("undecided", "first", "second", "equivalent")


@dataclass(frozen=True)
class InterimAnalysis:
    """The counts of pairs of learners after some rows; all pairs have the same folds.

    Parameters
    ----------
    n_rows
        Rows scored by at least one fold.
    n_scored
        Rows scored per fold, int64 [k].
    only_first, only_second
        Rows that only the first, and only the second, of a pair got right, int64 [pairs, k].
    n_blocks
        Number of blocks of rows.
    parts
        The mean difference and the parts of its variance, float64 [pairs, 5]; empty if folds scored different rows.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.ones((2, 3, 10), dtype=np.bool_))
    >>> analysis = InterimAnalysis.from_counter(counter)
    >>> analysis.test, analysis.n_pairs, analysis.fold_differences.tolist()
    ('two_way_sequence', 1, [[0.0, 0.0, 0.0]])
    """

    n_rows: int
    n_scored: NDArray[np.int64]
    only_first: NDArray[np.int64]
    only_second: NDArray[np.int64]
    n_blocks: int
    parts: NDArray[np.float64]

    @classmethod
    def from_counter(cls, counter: _native.PairCounter) -> "InterimAnalysis":
        """Return the counts of all pairs of a counter."""
        n_rows, n_scored, first, second, n_blocks, parts = counter.look()
        shape = (-1, len(n_scored))
        return cls(
            n_rows=n_rows,
            n_scored=n_scored,
            only_first=first.reshape(shape),
            only_second=second.reshape(shape),
            n_blocks=n_blocks,
            parts=parts.reshape(-1, 5),
        )

    @classmethod
    def from_sums(cls, pairs: Sequence[PairSums]) -> "InterimAnalysis":
        """Return the counts of pairs of one run after the same rows."""
        run = pairs[0]
        if any((pair.n_scored.tolist(), pair.n_rows) != (run.n_scored.tolist(), run.n_rows) for pair in pairs):
            msg = "pairs of one analysis must come from the same run, after the same rows"
            raise StreamgaugeError(msg)
        with_rows = run.crossed and run.n_folds > 1 and run.n_rows
        parts = [compute_variance_parts(pair) for pair in pairs] if with_rows else []
        return cls(
            n_rows=int(run.n_rows),
            n_scored=run.n_scored,
            only_first=np.stack([pair.only_first for pair in pairs]),
            only_second=np.stack([pair.only_second for pair in pairs]),
            n_blocks=len(run.block_sums),
            parts=np.array(parts).reshape(-1, 5),
        )

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.only_first)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.n_scored)

    @cached_property
    def min_scored(self) -> int:
        """Rows scored by the fold that scored the fewest."""
        return int(min(self.n_scored.tolist()))

    @cached_property
    def test(self) -> str:
        """The anytime-valid test for these folds: over folds and rows if all folds scored the same rows."""
        if self.n_folds == 1:
            return "empirical_bernstein"
        return "two_way_sequence" if self.min_scored == self.n_rows else "group_sequential"

    @property
    def totals(self) -> NDArray[np.int64]:
        """The rows that only the first got right minus those of the second, over all folds; int64 [pairs]."""
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
    """Return the outcome for an interval of the difference; differences up to `rope` are ignored.

    Examples
    --------
    >>> decide((0.024, 0.036)), decide((-0.0005, 0.0035)), decide((-0.001, 0.011))
    ('first', 'equivalent', 'undecided')
    """
    require_between("rope", rope, 0.0, 1.0, open_low=False)
    low, high = (np.array(end) for end in interval)
    return OUTCOMES[int(_decide_intervals(low, high, rope))]


def _decide_intervals(low: NDArray[np.float64], high: NDArray[np.float64], rope: float) -> NDArray[np.int64]:
    """Return the outcomes for intervals, as indices into `OUTCOMES`."""
    equivalent = np.where((low > -rope) & (high < rope), 3, 0)
    return np.where(low > rope, 1, np.where(high < -rope, 2, equivalent))


def decide_pairs(analysis: InterimAnalysis, *, alpha: float, rope: float, horizon: float) -> NDArray[np.int64]:
    """Return the outcome of each pair by its confidence sequence, as indices into `OUTCOMES`.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)]))
    >>> decide_pairs(InterimAnalysis.from_counter(counter), alpha=0.05, rope=0.01, horizon=2000)
    array([1])
    """
    if analysis.test == "empirical_bernstein":
        return _decide_by_e_values(analysis, alpha, rope)
    return _decide_intervals(*_compute_bounds(analysis, alpha, horizon), rope)


def compute_intervals(analysis: InterimAnalysis, *, alpha: float, horizon: float) -> list[tuple[float, float]]:
    """Return the interval of the confidence sequence of each pair.

    Examples
    --------
    >>> compute_intervals(InterimAnalysis.from_counter(_native.PairCounter(2, 3)), alpha=0.05, horizon=2000)
    [(-1.0, 1.0)]
    """
    low, high = _compute_bounds(analysis, alpha, horizon)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _compute_bounds(
    analysis: InterimAnalysis, alpha: float, horizon: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper bounds of the intervals, float64 [pairs] each."""
    one_fold = analysis.n_folds == 1
    if analysis.min_scored < (1 if one_fold else 2):
        bounds = np.ones(analysis.n_pairs)
        return -bounds, bounds
    if one_fold:
        middle = analysis.differences
        radius = bernstein_radius((analysis.only_first + analysis.only_second).sum(axis=1), alpha) / analysis.min_scored
    else:
        middle = analysis.parts[:, 0]
        spread, _ = combine_variances(analysis.parts, analysis.n_blocks)
        radius = two_way_radius(analysis.n_rows, analysis.n_folds, spread, alpha, horizon)
    return np.maximum(middle - radius, -1.0), np.minimum(middle + radius, 1.0)


def _decide_by_e_values(analysis: InterimAnalysis, alpha: float, rope: float) -> NDArray[np.int64]:
    """Return the outcomes that the intervals of one fold imply, without the search for their bounds."""
    totals, slack = analysis.totals, rope * analysis.min_scored
    squares = np.maximum((analysis.only_first + analysis.only_second).sum(axis=1), 1)
    threshold = math.log(2 / alpha)
    first, second, equivalent = bernstein_log_e(
        np.stack([totals - slack, -totals - slack, slack - np.abs(totals)]), np.broadcast_to(squares, (3, len(squares)))
    )
    return np.where(
        first > threshold, 1, np.where(second > threshold, 2, np.where((equivalent > threshold) & (slack > 0.0), 3, 0))
    )


class AnalysisHistory:
    """A history of evenly spaced interim analyses, between half of `MAX_ANALYSES` and all of it.

    Examples
    --------
    >>> analysis = InterimAnalysis(1, np.array([1]), np.array([[1]]), np.array([[0]]), 0, np.empty((0, 5)))
    >>> history = AnalysisHistory()
    >>> for row in range(1, 1001):
    ...     history.append(row, analysis)
    >>> [row for row, _ in history.analyses][:3], len(history.analyses)
    ([4, 8, 12], 250)
    """

    def __init__(self) -> None:
        self.analyses: list[tuple[int, InterimAnalysis]] = []
        """The analyses in the history, with their rows."""
        self.n_looks = 0
        """How many analyses were made."""

    @property
    def _stride(self) -> int:
        return 1 << ((max(self.n_looks, 1) - 1) // MAX_ANALYSES).bit_length()

    def append(self, row: int, analysis: InterimAnalysis) -> None:
        """Append the analysis after `row` rows, if its turn has come."""
        before = self._stride
        self.n_looks += 1
        if self._stride > before:
            self.analyses = self.analyses[1::2]
        if self.n_looks % self._stride == 0:
            self.analyses.append((row, analysis))

    def differences(
        self,
        judge: Callable[[InterimAnalysis], Sequence[Verdict]],
        last: tuple[int, InterimAnalysis],
        failed: frozenset[str],
    ) -> Differences | None:
        """Return the history of the differences and their intervals, without pairs of failed learners.

        `judge` returns the verdicts of an analysis; `last` is the last analysis, in the history or not.
        """
        analyses = [*self.analyses]
        if last[0] not in {row for row, _ in analyses}:
            analyses.append(last)
        verdicts = [[v for v in judge(analysis) if not {v.first, v.second} & failed] for _, analysis in analyses]
        if not verdicts[0]:
            return None
        values = [[(v.difference, *(v.interval or (np.nan, np.nan))) for v in row] for row in verdicts]
        return Differences(
            rows=np.array([row for row, _ in analyses], dtype=np.int64),
            pairs=tuple((verdict.first, verdict.second) for verdict in verdicts[0]),
            values=np.array(values),
            alpha=verdicts[0][0].alpha,
            test=verdicts[0][0].test,
        )
