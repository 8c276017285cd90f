"""Analyses of pairs of learners during a run: by counts of correct predictions, or by tallies of blocks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.protocols import Measure
from streamgauge.records import (
    BlockTallies,
    Differences,
    Outcome,
    PairSums,
    Verdict,
)
from streamgauge.significance.confidence_sequences import (
    MIN_LIVE_ROWS,
    bernstein_log_e,
    bernstein_radius,
    block_radius,
    two_way_radius,
)
from streamgauge.significance.row_tests import compute_variance_parts
from streamgauge.significance.two_way import (
    are_dependent,
    find_rare_classes,
    measure_all_without_blocks,
)

__all__ = [
    "OUTCOMES",
    "Analysis",
    "AnalysisHistory",
    "BlockAnalysis",
    "InterimAnalysis",
    "analyse_measures",
    "compute_variance",
    "decide",
    "decide_pairs",
]

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

    @property
    def notes(self) -> tuple[str, ...]:
        """Why pairs cannot be decided: for counts there is no such reason."""
        return ()

    def decide(self, alpha: float, rope: float) -> NDArray[np.int64]:
        """Return the outcome of each pair by its confidence sequence, as an index into `OUTCOMES`."""
        return decide_pairs(self, alpha=alpha, rope=rope)

    def compute_bounds(self, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bounds of the intervals, float64 [pairs] each."""
        return _compute_bounds(self, alpha)


BLOCK_SEQUENCE = "block_sequence"
"""The name of the confidence sequence of any measure, from tallies of blocks of rows."""

MIN_LIVE_BLOCKS = 20
"""Live verdicts from blocks need at least this number of them."""

MIN_LIVE_CLASS_ROWS = 200
"""They need at least this number of rows of each class that the measure looks at."""

BLOCK_DELAYS = 10
"""With late labels a block has at least this number of times the rows of the longest delay."""


@dataclass(frozen=True)
class BlockAnalysis:
    """One measure of pairs of learners at the end of a block of rows, with the variances of its difference.

    Parameters
    ----------
    n_rows, n_blocks
        The number of rows, and of blocks.
    first_row
        The rows of the first such analysis that had an interval; None if there was none.
    fold_differences
        The difference of each pair in each fold, float64 [pairs, folds]; NaN where a learner's value is undefined.
    variance
        The variance of the mean difference, with the luck of rows, seeds and folds, float64 [pairs]; NaN where it is
        undefined.
    crossed
        Whether all folds scored the same rows.
    notes
        Why a pair cannot be decided; empty if it can.

    Examples
    --------
    >>> analysis = BlockAnalysis(1000, 32, 200, np.array([[0.1, 0.2]]), np.array([1e-4]), True, ("",))
    >>> analysis.test, analysis.differences.round(2).tolist()
    ('block_sequence', [0.15])
    """

    n_rows: int
    n_blocks: int
    first_row: int | None
    fold_differences: NDArray[np.float64]
    variance: NDArray[np.float64]
    crossed: bool
    notes: tuple[str, ...]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold_differences.shape[1])

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.fold_differences)

    @property
    def min_scored(self) -> int:
        """Rows scored by each fold, at least one."""
        return self.n_rows

    @property
    def test(self) -> str:
        """The anytime-valid test for these folds."""
        return BLOCK_SEQUENCE if self.crossed else "group_sequential"

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """The mean difference of each pair over the folds, float64 [pairs]."""
        return _mean(self.fold_differences, axis=1)[:, 0]

    def compute_bounds(self, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and upper bounds of the intervals, float64 [pairs] each; infinite without an interval."""
        if self.first_row is None:
            infinite = np.full(self.n_pairs, np.inf)
            return -infinite, infinite
        radius = block_radius(
            self.variance,
            n_rows=self.n_rows,
            first_row=self.first_row,
            n_blocks=self.n_blocks,
            n_folds=self.n_folds,
            alpha=alpha,
        )
        middle = self.differences
        low, high = middle - radius, middle + radius
        known = np.isfinite(high)
        return (low, high) if known.all() else (np.where(known, low, -np.inf), np.where(known, high, np.inf))

    def decide(self, alpha: float, rope: float) -> NDArray[np.int64]:
        """Return the outcome of each pair, as an index into `OUTCOMES`, if greater values are better."""
        return _decide_intervals(*self.compute_bounds(alpha), rope)


def analyse_measures(
    blocks: BlockTallies,
    measures: Sequence[Measure],
    pairs: Sequence[tuple[int, int]],
    classes: Sequence[str] = (),
    *,
    crossed: bool = True,
    first_rows: Sequence[int | None] | None = None,
    values: NDArray[np.float64] | None = None,
) -> list[BlockAnalysis]:
    """Return the analyses of several measures of pairs of learners; what measures share is computed once.

    Parameters
    ----------
    blocks
        The tallies of blocks of all learners.
    measures
        The measures.
    pairs
        The indices of the learners of each pair.
    classes
        The names of the classes.
    crossed
        Whether all folds scored the same rows.
    first_rows
        The rows of the first analysis of each measure that had an interval, None where this is the first.
    values
        What `measure_all_without_blocks` returns, if it is known.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=2000), [sg.NaiveBayes(), sg.MajorityClass()], scheme=sg.Bootstrap(5))
    >>> measures = [sg.measures.measure("kappa"), sg.measures.measure("mcc")]
    >>> [analysis.first_row for analysis in analyse_measures(results.blocks, measures, [(0, 1)])]
    [2000, 2000]
    """
    n_rows = int(blocks.rows[-1])
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    first_rows = [None] * len(measures) if first_rows is None else first_rows
    obstacles = _find_obstacles(blocks, measures, classes, crossed=crossed, first_rows=first_rows)
    values = measure_all_without_blocks(blocks, measures) if values is None else values
    differences = values[:, first] - values[:, second]
    wholes = differences[..., 0].copy()
    variances = np.full(wholes.shape[:2], np.nan)
    usable = [index for index, obstacle in enumerate(obstacles) if crossed and not obstacle]
    if usable:
        variance = compute_variance(differences[usable].reshape(-1, *differences.shape[2:]))
        variances[usable] = variance.reshape(len(usable), -1)
    undefined: NDArray[np.bool_] = ~np.isfinite(wholes.sum(axis=2))
    partly: NDArray[np.bool_] = ~np.isfinite(variances) if crossed else np.zeros_like(variances, dtype=np.bool_)
    analyses = []
    for index, (measure, obstacle, first_row) in enumerate(zip(measures, obstacles, first_rows, strict=True)):
        notes = [
            obstacle
            or (
                f"{measure.name} is undefined" if no_value else f"{measure.name} needs more rows" if no_variance else ""
            )
            for no_value, no_variance in zip(undefined[index].tolist(), partly[index].tolist(), strict=True)
        ]
        analysis = BlockAnalysis(
            n_rows=n_rows,
            n_blocks=blocks.n_blocks,
            first_row=n_rows if first_row is None and not obstacle else first_row,
            fold_differences=wholes[index],
            variance=variances[index],
            crossed=crossed,
            notes=tuple(notes),
        )
        analyses.append(analysis)
    return analyses


def _find_obstacles(
    blocks: BlockTallies,
    measures: Sequence[Measure],
    classes: Sequence[str],
    *,
    crossed: bool,
    first_rows: Sequence[int | None],
) -> list[str]:
    """Return for each measure why there can be no interval yet; empty if there can, for ever where there was one."""
    n_rows = int(blocks.rows[-1])
    if crossed and (blocks.n_blocks < MIN_LIVE_BLOCKS or n_rows < MIN_LIVE_ROWS):
        least = max(MIN_LIVE_BLOCKS * int(np.diff(blocks.rows, prepend=0).max()), MIN_LIVE_ROWS)
        return [f"{n_rows:,} rows so far, about {least:,} are needed"] * len(measures)
    obstacles = [""] * len(measures)
    untested = [index for index, first_row in enumerate(first_rows) if first_row is None]
    chosen = [measures[index] for index in untested]
    rare_classes = find_rare_classes(chosen, blocks, MIN_LIVE_CLASS_ROWS, pooled=not crossed) if chosen else []
    for index, rare in zip(untested, rare_classes, strict=True):
        if rare is not None:
            name = classes[rare[0]] if classes else str(rare[0])
            obstacles[index] = f"{rare[1]} rows of class {name} so far, {MIN_LIVE_CLASS_ROWS} are needed"
    return obstacles


def compute_variance(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variances of mean differences, [pairs].

    `differences` are [pairs, folds, 1 + blocks]: over all rows, and without each block.

    Examples
    --------
    >>> compute_variance(np.array([[[0.5, 0.4, 0.5, 0.6]]])).round(4).tolist()
    [0.0133]
    """
    whole, without = differences[:, :, 0], differences[:, :, 1:]
    k, b = without.shape[1:]
    pseudo = b * _mean(whole, axis=1) - (b - 1) * _mean(without, axis=1)[:, 0]
    rest = pseudo - _mean(pseudo, axis=1)
    by_rows: NDArray[np.float64] = (rest * rest).sum(axis=1) / (b - 1) / b
    dependent = are_dependent(pseudo)
    if dependent.any():
        by_rows = np.where(dependent, np.maximum(by_rows, _join(pseudo)), by_rows)
    if k == 1:
        return by_rows
    of_folds, of_blocks = whole - _mean(whole, axis=1), without - _mean(without, axis=2)
    by_folds = (of_folds * of_folds).sum(axis=1) / (k - 1) / k
    both = (b - 1) / b * (of_blocks * of_blocks).sum(axis=(1, 2)) / k**2
    variance: NDArray[np.float64] = np.maximum(np.maximum(by_rows + by_folds - both, by_rows), by_folds)
    return variance


def _mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Return means that keep their axis, with less overhead than NumPy's."""
    means: NDArray[np.float64] = values.sum(axis=axis, keepdims=True) / values.shape[axis]
    return means


def _join(pseudo: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variances of mean differences by blocks joined in pairs."""
    b = pseudo.shape[1] // 2
    joined = pseudo[:, : 2 * b].reshape(len(pseudo), b, 2).mean(axis=2)
    variance: NDArray[np.float64] = joined.var(axis=1, ddof=1) / b
    return variance


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


def decide_pairs(analysis: InterimAnalysis, *, alpha: float, rope: float) -> NDArray[np.int64]:
    """Return the outcome of each pair by its confidence sequence, as indices into `OUTCOMES`.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)]))
    >>> decide_pairs(InterimAnalysis.from_counter(counter), alpha=0.05, rope=0.01)
    array([1])
    """
    if analysis.test == "empirical_bernstein":
        return _decide_by_e_values(analysis, alpha, rope)
    return _decide_intervals(*_compute_bounds(analysis, alpha), rope)


def _compute_bounds(analysis: InterimAnalysis, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper bounds of the intervals, float64 [pairs] each."""
    one_fold = analysis.n_folds == 1
    if analysis.min_scored < (1 if one_fold else 2):
        bounds = np.ones(analysis.n_pairs)
        return -bounds, bounds
    if one_fold:
        middle = analysis.differences
        radius = bernstein_radius((analysis.only_first + analysis.only_second).sum(axis=1), alpha) / analysis.min_scored
    else:
        middle, radius = two_way_radius(analysis.parts, analysis.n_rows, analysis.n_blocks, analysis.n_folds, alpha)
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


Analysis = InterimAnalysis | BlockAnalysis
"""An interim analysis of pairs of learners: from counts of correct predictions, or from tallies of blocks of rows."""

MAX_ANALYSES = 256
"""A history drops every second analysis when it has more."""


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

    def __init__(self, analyses: Sequence[tuple[int, "Analysis"]] = (), n_looks: int = 0) -> None:
        self.analyses = [*analyses]
        """The analyses in the history, with their rows."""
        self.n_looks = n_looks
        """How many analyses were made."""
        self._stride = 1 << ((max(n_looks, 1) - 1) // MAX_ANALYSES).bit_length()

    def append(self, row: int, analysis: "Analysis") -> None:
        """Append the analysis after `row` rows, if its turn has come."""
        self.n_looks += 1
        if self.n_looks > MAX_ANALYSES * self._stride:
            self._stride *= 2
            self.analyses = self.analyses[1::2]
        if self.n_looks % self._stride == 0:
            self.analyses.append((row, analysis))

    def differences(
        self,
        judge: Callable[["Analysis"], Sequence[Verdict]],
        last: tuple[int, "Analysis"],
        failed: frozenset[str],
    ) -> Differences | None:
        """Return the history of the differences and their intervals, without pairs of failed learners.

        `judge` returns the verdicts of an analysis; `last` is the last analysis, in the history or not.
        """
        analyses = [*self.analyses]
        if last[0] not in {row for row, _ in analyses}:
            analyses.append(last)
        judged = {id(own): judge(own) for own in {id(own): own for _, own in analyses}.values()}
        verdicts = [[v for v in judged[id(own)] if not {v.first, v.second} & failed] for _, own in analyses]
        if not verdicts[0]:
            return None
        values = np.array([[(v.difference, *(v.interval or (np.nan, np.nan))) for v in row] for row in verdicts])
        values[np.isnan(values)] = np.nan  # whose sign, and so the bytes of files, may differ after a resume
        return Differences(
            rows=np.array([row for row, _ in analyses], dtype=np.int64),
            pairs=tuple((verdict.first, verdict.second) for verdict in verdicts[0]),
            values=values,
            alpha=verdicts[0][0].alpha,
            test=verdicts[0][0].test,
            measures=tuple(verdict.measure for verdict in verdicts[0]),
        )
