"""Live verdicts: which of two learners is better, or that they are equivalent, and since which row."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import combinations, repeat
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._format.numbers import RATE
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures import OverTallies, accuracy, default_margin, describe_measure, list_statistics
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import Measure
from streamgauge.records import (
    BlockLayout,
    BlockTallies,
    Differences,
    EarlierVerdict,
    Outcome,
    PairSums,
    Schema,
    Verdict,
)
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.comparison import MODELS, SEEDS, THIS_STREAM
from streamgauge.significance.confidence_sequences import (
    MIN_LIVE_ROWS,
    bernstein_log_e,
    bernstein_radius,
    block_radius,
    boundary_factor,
    two_way_radius,
)
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.row_tests import compute_variance_parts
from streamgauge.significance.sample_size import rows_until
from streamgauge.significance.two_way import (
    are_dependent,
    check_testable,
    find_rare_classes,
    measure_all_without_blocks,
    measure_looks_without_blocks,
)

__all__ = [
    "NULLS",
    "OUTCOMES",
    "AnalysisHistory",
    "BlockAnalysis",
    "BlockSource",
    "InterimAnalysis",
    "LiveBlocks",
    "LiveTest",
    "Monitor",
    "PairWatch",
    "analyse_measures",
    "decide",
    "decide_pairs",
]

NULLS = {
    "two_way_sequence": THIS_STREAM,
    "block_sequence": THIS_STREAM,
    "empirical_bernstein": MODELS,
    "group_sequential": SEEDS,
}
"""The anytime-valid tests and their null hypotheses."""

MAX_ANALYSES = 256
"""A history drops every second analysis when it has more."""

OUTCOMES: tuple[Outcome, ...] = ("undecided", "first", "second", "equivalent")

CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}

REVERSED = np.array([0, 2, 1, 3])
"""The outcomes if smaller values are better."""


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
        values = [[(v.difference, *(v.interval or (np.nan, np.nan))) for v in row] for row in verdicts]
        return Differences(
            rows=np.array([row for row, _ in analyses], dtype=np.int64),
            pairs=tuple((verdict.first, verdict.second) for verdict in verdicts[0]),
            values=np.array(values),
            alpha=verdicts[0][0].alpha,
            test=verdicts[0][0].test,
            measures=tuple(verdict.measure for verdict in verdicts[0]),
        )


Analysis = InterimAnalysis | BlockAnalysis
"""An interim analysis of pairs of learners: from counts of correct predictions, or from tallies of blocks of rows."""

Pair = tuple[str, str]

State = tuple[Outcome, int | None, EarlierVerdict | None]
"""The outcome of a pair, the row at which it was reached, and the last one that no longer holds."""

UNDECIDED: State = ("undecided", None, None)


@dataclass(frozen=True)
class LiveTest:
    """How learners are compared during a run, at every reading.

    Parameters
    ----------
    measure
        What to compare, one or several: names of measures, or measures. None for the accuracy if it is measured, else
        the first measure of the run that can be tested.
    alpha
        The probability that a verdict is ever wrong: over all pairs and measures if they share it, else for each.
    rope
        The margin, or region of practical equivalence: differences up to this are ignored, in the unit of the measure.
        One for all measures, or a dictionary by name; None for the default of each measure.
    shared
        Whether all pairs and measures share alpha in equal parts. Then all intervals hold simultaneously, at all rows.
    exact
        Whether to use an exact sequence, which holds at any number of rows, from the first one on: for the accuracy in
        one fold, if every label comes with its row; else a run is refused. It needs up to twice the rows of the
        asymptotic sequence from blocks of rows, which starts at 200 rows and tolerates rows that depend on each other.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = [sg.NaiveBayes(), sg.MajorityClass()]
    >>> live_test = LiveTest(measure=("accuracy", "kappa"), rope={"kappa": 0.05})
    >>> results = sg.evaluate(sg.SEA(n_rows=5000), learners, scheme=sg.Bootstrap(10), live_test=live_test, every=1000)
    >>> for verdict in results.verdicts:
    ...     print(verdict)
    NaiveBayes is better than MajorityClass in accuracy, known since row 1,000
    NaiveBayes is better than MajorityClass in kappa, known since row 1,000
    """

    measure: object = None
    alpha: float = 0.05
    rope: float | Mapping[str, float] | None = None
    shared: bool = True
    exact: bool = False

    def __post_init__(self) -> None:
        if self.measure is not None:
            wanted = tuple(self.measure) if isinstance(self.measure, list | tuple) else (self.measure,)
            object.__setattr__(self, "measure", tuple(map(_name_measure, wanted)))
        require_between("alpha", self.alpha, 0.0, 1.0, open_high=True)
        ropes = self.rope.values() if isinstance(self.rope, Mapping) else [self.rope]
        for rope in ropes:
            if rope is not None:
                require_between("rope", rope, 0.0, math.inf, open_low=False, open_high=True)

    def find_measures(self, measured: Sequence[Measure], schema: Schema, layout: BlockLayout) -> tuple[Measure, ...]:
        """Return the measures to compare in a run with some measures; raise if one cannot be tested.

        By default it is the accuracy if it is measured, else the first measure that can be tested, else the accuracy.
        """
        if self.measure is None:
            testable = (own for own in measured if own is not accuracy and _is_testable(own, layout))
            return (accuracy,) if any(own is accuracy for own in measured) else (next(testable, accuracy),)
        own = {known.name: known for known in measured}
        found = [
            own[one] if isinstance(one, str) and one in own else _bind(find_measure(one), schema)
            for one in cast("tuple[Any, ...]", self.measure)
        ]
        if not found or len({known.name for known in found}) < len(found):
            msg = f"live_test: measure = {self.measure!r} must name different measures, at least one"
            raise StreamgaugeError(msg)
        return tuple(found)

    def check(self, measures: Sequence[Measure], layout: BlockLayout, n_folds: int, *, labels_wait: bool) -> None:
        """Raise if some measures cannot be compared as asked for in a run."""
        self._check_ropes(measures)
        for measure in measures:
            check_testable(measure, layout)
            if self.exact and not (n_folds == 1 and self.uses_counts(measure, n_folds, labels_wait=labels_wait)):
                reason = (
                    "labels can be late or missing"
                    if labels_wait
                    else f"there are {n_folds} folds"
                    if n_folds > 1
                    else f"{measure.name} has none"
                )
                msg = (
                    "live_test: exact=True needs the accuracy, one fold, and labels that come with their rows;"
                    f" {reason}: use exact=False"
                )
                raise StreamgaugeError(msg)

    def find_rope(self, measure: Measure) -> float:
        """Return the margin of a measure."""
        rope = self.rope.get(measure.name) if isinstance(self.rope, Mapping) else self.rope
        return default_margin(measure) if rope is None else float(rope)

    def _check_ropes(self, measures: Sequence[Measure]) -> None:
        """Raise if there is a margin of a measure that is not compared, or one beyond any difference of rates."""
        names = [measure.name for measure in measures]
        for name in self.rope if isinstance(self.rope, Mapping) else ():
            if name not in names:
                raise unknown_name(kind="live measure", name=name, known=names)
        for measure in measures:
            if describe_measure(measure)["unit"] == RATE:
                require_between("rope", self.find_rope(measure), 0.0, 1.0, open_low=False)

    def uses_counts(self, measure: Measure, n_folds: int, *, labels_wait: bool) -> bool:
        """Return whether a measure is compared by counts of correct predictions, not by tallies of blocks."""
        return measure is accuracy and not labels_wait and (n_folds > 1 or self.exact)


def _name_measure(wanted: object) -> object:
    """Return the text that names a measure, if there is one, so that a saved run can be repeated."""
    text = wanted if isinstance(wanted, str) else to_text(wanted)
    try:
        find_measure(text)
    except StreamgaugeError:
        return wanted
    return text


def _bind(measure: Measure, schema: Schema) -> Measure:
    return measure.bind(schema) if isinstance(measure, OverTallies) else measure


def _is_testable(measure: Measure, layout: BlockLayout) -> bool:
    try:
        check_testable(measure, layout)
    except StreamgaugeError:
        return False
    return True


class Monitor:
    """Anytime-valid verdicts on pairs of learners in one measure; any number of looks is allowed.

    If the folds scored the same rows, the two-way confidence sequence is used; with one fold, the empirical Bernstein
    sequence; with folds of different rows, the group-sequential sign-flip test, which has no rope and whose looks
    should be planned. Measures other than the accuracy have a confidence sequence from blocks of rows.

    A verdict is what holds now. It is reached when the interval excludes the margin (or lies within it, for
    equivalence), and lasts as long as the current interval supports it: "better" until the interval includes 0,
    "equivalent" until it leaves the margin, the claim of a sign-flip test until these differences alone would not
    support it. All intervals hold at all rows with probability ``1 - alpha``, hence so do all verdicts. There is none
    before both learners have made a prediction: an abstaining learner is not equivalent to anything.

    Parameters
    ----------
    live_test
        The level, the rope, and whether the pairs share the level.
    n_looks
        The number of looks if known; only the group-sequential test uses it.
    measure
        The measure.
    n_measures
        The number of measures that share the level.

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)]))
    >>> monitor = Monitor()
    >>> (verdict,) = monitor.look([PairSums("tree", "bayes", *counter.sums(0, 1))], 2000)
    >>> verdict.outcome, verdict.row
    ('first', 2000)
    """

    def __init__(
        self,
        live_test: LiveTest = LiveTest(),
        *,
        n_looks: int | None = None,
        measure: Measure = accuracy,
        n_measures: int = 1,
    ) -> None:
        self.live_test, self.n_looks, self.measure, self.n_measures = live_test, n_looks, measure, n_measures
        self.rope = live_test.find_rope(measure)
        """The margin in the unit of the measure."""
        facts = describe_measure(measure)
        self._unit, self._greater_is_better = str(facts["unit"]), bool(facts["greater_is_better"])
        self.n_pairs = 0
        """Number of pairs at the first look."""
        self._states: dict[Pair, State] = {}
        self._flips: dict[Pair, GroupSequentialSignFlip] = {}

    def look(self, pairs: Sequence[PairSums], row: int) -> tuple[Verdict, ...]:
        """Analyse the sums of each pair after `row` rows and return a verdict on each."""
        if not pairs:
            return ()
        names, analysis = [(pair.first, pair.second) for pair in pairs], InterimAnalysis.from_sums(pairs)
        self.update(names, analysis, row)
        return self.verdicts(names, analysis)

    @property
    def n_claims(self) -> int:
        """The number of claims that share alpha: pairs times measures."""
        return max(self.n_pairs, 1) * self.n_measures if self.live_test.shared else 1

    @property
    def pair_alpha(self) -> float:
        """The part of alpha for each claim."""
        return self.live_test.alpha / self.n_claims

    def update(
        self, names: Sequence[Pair], analysis: Analysis, row: int, silent: frozenset[Pair] = frozenset()
    ) -> list[int]:
        """Decide each pair by an analysis after `row` rows; return the indices of those whose outcome has changed.

        In `silent` pairs one learner has not predicted yet.
        """
        self.n_pairs = self.n_pairs or len(names)
        if analysis.min_scored < 1:
            return []
        held = np.array([CODES[self._states[pair][0]] if pair in self._states else 0 for pair in names])
        if analysis.test == "group_sequential":
            codes = np.array(
                [
                    0 if pair in silent else self._decide_by_flips(pair, differences)
                    for pair, differences in zip(names, analysis.fold_differences, strict=True)
                ]
            )
        else:
            codes = self._decide_by_intervals(analysis, held)
            codes = np.where([pair in silent for pair in names], 0, codes) if silent else codes
        changed: list[int] = np.flatnonzero(codes != held).tolist()
        for index in changed:
            outcome, since, earlier = self._states.get(names[index], UNDECIDED)
            if since is not None:
                earlier = EarlierVerdict(outcome, since, row)
            code = int(codes[index])
            self._states[names[index]] = (OUTCOMES[code], row if code else None, earlier)
        return changed

    def verdicts(self, names: Sequence[Pair], analysis: Analysis) -> tuple[Verdict, ...]:
        """Return the verdict on each pair, with its difference and interval in an analysis."""
        test = analysis.test
        intervals: Sequence[tuple[float, float] | None] = [None] * analysis.n_pairs
        notes = analysis.notes or ("",) * len(names)
        if test == "group_sequential" and not self._can_flip(analysis.n_folds):
            notes = (f"{analysis.n_folds} folds can decide nothing with {self.n_claims} claims: use more folds",) * len(
                names
            )
        if test != "group_sequential":
            low, high = (end.tolist() for end in analysis.compute_bounds(self.pair_alpha))
            intervals = [ends if math.isfinite(ends[0]) else None for ends in zip(low, high, strict=True)]
        verdicts = []
        for pair, difference, interval, note in zip(
            names, analysis.differences.tolist(), intervals, notes, strict=True
        ):
            outcome, row, earlier = self._states.get(pair, UNDECIDED)
            verdict = Verdict(
                first=pair[0],
                second=pair[1],
                outcome=outcome,
                row=row,
                difference=difference,
                interval=interval,
                rope=self.rope,
                alpha=self.live_test.alpha,
                n_claims=self.n_claims,
                null=MODELS if analysis.n_folds == 1 else NULLS[test],
                test=test,
                earlier=earlier,
                measure=self.measure.name,
                unit=self._unit,
                greater_is_better=self._greater_is_better,
                note=note,
            )
            verdicts.append(verdict)
        return tuple(verdicts)

    def _decide_by_intervals(self, analysis: Analysis, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the outcomes by the current intervals, as indices into `OUTCOMES`; `held` are those before."""

        def decide_now(rope: float) -> NDArray[np.int64]:
            codes = analysis.decide(self.pair_alpha, rope)
            return codes if self._greater_is_better else REVERSED[codes]

        codes = decide_now(self.rope)
        lapsing = (codes == 0) & ((held == 1) | (held == 2))
        if lapsing.any():
            return np.where(lapsing & (decide_now(0.0) == held), held, codes)
        return codes

    def _decide_by_flips(self, pair: Pair, differences: NDArray[np.float64]) -> int:
        """Return the outcome of a pair by its folds, as an index into `OUTCOMES`."""
        if not self._can_flip(len(differences)) or not np.isfinite(differences).all():
            return 0  # too few folds ever to decide, or a value is undefined
        if pair not in self._flips:
            self._flips[pair] = self._build_flips(len(differences))
        test = self._flips[pair]
        if not (test.claimed or test.look(differences)) or not test.supports(differences):
            return 0
        return 1 if (differences.sum() > 0) == self._greater_is_better else 2

    def _can_flip(self, n_folds: int) -> bool:
        """Return whether a sign-flip test over this number of folds can ever decide."""
        return self.pair_alpha * 2.0 ** (n_folds - 1) >= 1.0

    def _build_flips(self, n_folds: int) -> GroupSequentialSignFlip:
        spending = open_ended if self.n_looks is None else until(self.n_looks)
        return GroupSequentialSignFlip(n_folds, alpha=self.pair_alpha, spending=spending)

    def save(self) -> bytes:
        """Return the serialised state."""
        facts = {
            "n_pairs": self.n_pairs,
            "reached": [
                [*pair, outcome, row, None if earlier is None else [earlier.outcome, earlier.since, earlier.until]]
                for pair, (outcome, row, earlier) in self._states.items()
            ],
            "flips": [[*pair, test.n_folds, test.n_looks] for pair, test in self._flips.items()],
        }
        return pack("Monitor", facts, [test.rejected for test in self._flips.values()])

    def load(self, state: bytes) -> None:
        """Restore the saved state of a monitor of the same test; damaged bytes raise and change nothing."""
        facts, rejected = unpack("Monitor", state)
        before, self.n_pairs = self.n_pairs, facts["n_pairs"]  # which the part of alpha for each pair depends on
        try:
            flips = {}
            for (first, second, n_folds, n_looks), bits in zip(facts["flips"], rejected, strict=True):
                flips[first, second] = test = self._build_flips(n_folds)
                test.restore(n_looks, bits)
        except StreamgaugeError:
            self.n_pairs = before
            raise
        self._flips = flips
        self._states = {
            (first, second): (outcome, row, None if earlier is None else EarlierVerdict(*earlier))
            for first, second, outcome, row, earlier in facts["reached"]
        }


class BlockSource(Protocol):
    """Where the tallies of blocks of rows come from during a run."""

    def find_end(self, row: int) -> int:
        """Return the last end of a block up to a row; 0 if there is none."""
        ...

    def build(self, row: int | None = None, *, min_length: int = 1) -> BlockTallies | None:
        """Return the tallies of the blocks up to a row, of at least some rows; None if there are none."""
        ...


@dataclass(frozen=True)
class LiveBlocks:
    """What live verdicts on any measure are computed from.

    Parameters
    ----------
    source
        Where the tallies of blocks come from; None if no measure needs them.
    measures
        The measures to compare.
    classes
        The names of the classes.
    crossed
        Whether all folds score the same rows.
    labels_wait
        Whether labels can arrive later than their rows, or never.
    n_rows
        The number of rows if it is known; the last look is there.

    Examples
    --------
    >>> LiveBlocks().measures
    (accuracy,)
    """

    source: BlockSource | None = None
    measures: tuple[Measure, ...] = (accuracy,)
    classes: tuple[str, ...] = ()
    crossed: bool = True
    labels_wait: bool = False
    n_rows: int | None = None


COUNTS_ONLY = LiveBlocks()
"""The accuracy by counts of correct predictions."""


class _MeasureWatch:
    """The verdicts on all pairs in one measure, and their history."""

    def __init__(self, monitor: Monitor, *, by_counts: bool) -> None:
        self.monitor, self.by_counts = monitor, by_counts
        self.last: Analysis | None = None
        self.history = AnalysisHistory()

    def save(self) -> tuple[dict[str, Any], bytes]:
        looks = [[row, _to_json(analysis)] for row, analysis in self.history.analyses]
        seen = None if self.last is None else _to_json(self.last)
        return {"seen": seen, "n_looks": self.history.n_looks, "looks": looks}, self.monitor.save()

    def load(self, facts: dict[str, Any], state: bytes) -> None:
        self.monitor.load(state)
        self.last = None if facts["seen"] is None else _from_json(facts["seen"])
        self.history = AnalysisHistory([(row, _from_json(values)) for row, values in facts["looks"]], facts["n_looks"])


class PairWatch:
    """Counts of every pair of learners of a run, analysed at every reading, in one measure or several.

    Parameters
    ----------
    names
        Names of the learners.
    n_folds
        Number of folds.
    live_test
        How to compare; None to count only.
    n_looks
        The number of readings, if known.
    live_blocks
        The measures, and the tallies of blocks that those need which are not functions of the counts.

    Examples
    --------
    >>> watch = PairWatch(["tree", "bayes"], 3, LiveTest())
    >>> right = np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)])
    >>> watch.update(right, None, [1000, 2000], [1000, 2000])
    >>> print(watch.verdicts()[0])
    tree is better than bayes in accuracy, known since row 1,000
    """

    def __init__(
        self,
        names: Sequence[str],
        n_folds: int,
        live_test: LiveTest | None,
        n_looks: int | None = None,
        live_blocks: LiveBlocks = COUNTS_ONLY,
    ) -> None:
        self._names = list(combinations(names, 2))
        self._indices = list(combinations(range(len(names)), 2))
        self._shape, self._live_blocks = (len(names), n_folds), live_blocks
        self._counter = _native.PairCounter(*self._shape)
        self._watches: list[_MeasureWatch] = []
        if live_test is not None and len(names) > 1:
            measures, waits = live_blocks.measures, live_blocks.labels_wait
            self._watches = [
                _MeasureWatch(
                    Monitor(live_test, n_looks=n_looks, measure=measure, n_measures=len(measures)),
                    by_counts=live_blocks.source is None or live_test.uses_counts(measure, n_folds, labels_wait=waits),
                )
                for measure in measures
            ]
        self._reads_counts = any(watch.by_counts for watch in self._watches)
        self._row = 0
        self._changes: list[Verdict] = []
        self.predicted_from: NDArray[np.int64] = np.zeros(len(names), dtype=np.int64)
        """The row after which each learner had a scored prediction, no abstention, in every fold; set by the run."""

    def update(
        self,
        correct: NDArray[np.bool_],
        scored: NDArray[np.bool_] | None,
        cuts: Sequence[int],
        reading_rows: Sequence[int],
        longest_delays: Sequence[int] = (),
    ) -> None:
        """Count the predictions of a step, and analyse the pairs after each reading row.

        `correct` [learners, folds, n] marks the predictions that were right, `scored` [folds, n] those that count
        (None: all). `cuts` are the positions of the reading rows in the step, `longest_delays` the most rows that a
        label took to arrive until each of them.
        """
        start = 0
        of_blocks = self._analyse_blocks(reading_rows, longest_delays or [0] * len(cuts))
        for cut, row, analyses in zip(cuts, reading_rows, of_blocks, strict=True) if self._watches else ():
            if self._reads_counts:
                self._counter.update(correct, scored, start, cut)
                start = cut
            self._judge(row, analyses)
        self._counter.update(correct, scored, start)

    def analyse(self, row: int, longest_delay: int = 0) -> None:
        """Analyse the counts and the blocks after the last row of a run, whether or not it is a reading row."""
        if self._watches:
            (analyses,) = self._analyse_blocks([row], [longest_delay], final=True)
            self._judge(row, analyses)

    def _judge(self, row: int, of_blocks: Sequence[BlockAnalysis]) -> None:
        """Decide all pairs after `row` rows, by the counts and by the analyses of blocks, if there are any."""
        self._row = row
        counts = InterimAnalysis.from_counter(self._counter) if self._reads_counts else None
        if counts is None and not of_blocks:
            return
        silent, left = self._list_silent(row), iter(of_blocks)
        for watch in self._watches:
            analysis = counts if watch.by_counts else next(left, None)
            if analysis is not None:
                watch.last = analysis
                changed = watch.monitor.update(self._names, analysis, row, silent)
                if changed:
                    verdicts = watch.monitor.verdicts(self._names, analysis)
                    self._changes += [_add_rows_left(verdicts[index], analysis.n_rows) for index in changed]
        seen = [(watch.history, watch.last) for watch in self._watches if watch.last is not None]
        if len(seen) == len(self._watches):  # counts come before the first block: all histories have the same rows
            for history, last in seen:
                history.append(row, last)

    def _list_silent(self, row: int) -> frozenset[Pair]:
        """Return the pairs of which one learner has not predicted yet."""
        spoken = (self.predicted_from < row).tolist()
        if all(spoken):
            return frozenset()
        pairs = zip(self._names, self._indices, strict=True)
        return frozenset(pair for pair, (first, second) in pairs if not (spoken[first] and spoken[second]))

    def _analyse_blocks(
        self, rows: Sequence[int], longest_delays: Sequence[int], *, final: bool = False
    ) -> Iterator[list[BlockAnalysis]]:
        """Yield for each reading the analyses of the measures that need blocks, none if they are not due.

        The looks of a batch are measured together, but for votes, whose bins need memory.
        """
        watches, facts = [watch for watch in self._watches if not watch.by_counts], self._live_blocks
        if not watches or facts.source is None:
            yield from ([] for _ in rows)
            return
        measures = [watch.monitor.measure for watch in watches]
        lasts = [watch.last for watch in watches]
        first_rows = [last.first_row if isinstance(last, BlockAnalysis) else None for last in lasts]
        looks: Iterable[BlockTallies | None] = self._build_due(
            facts.source, rows, longest_delays, lasts[0], final=final
        )
        measured: Iterator[NDArray[np.float64] | None] = repeat(None)
        if "ranks" not in list_statistics(measures):
            looks = list(looks)
            measured = iter(measure_looks_without_blocks([look for look in looks if look is not None], measures))
        for look in looks:
            analyses = []
            if look is not None:
                analyses = analyse_measures(
                    look,
                    measures,
                    self._indices,
                    facts.classes,
                    crossed=facts.crossed,
                    first_rows=first_rows,
                    values=next(measured),
                )
                first_rows = [analysis.first_row for analysis in analyses]
            yield analyses

    def _build_due(
        self,
        source: BlockSource,
        rows: Sequence[int],
        longest_delays: Sequence[int],
        last: Analysis | None,
        *,
        final: bool,
    ) -> Iterator[BlockTallies | None]:
        """Yield for each reading the tallies of blocks if they are to be analysed; None if not."""
        before = 0 if last is None else last.n_rows
        for row, longest_delay in zip(rows, longest_delays, strict=True):
            end, blocks = source.find_end(row), None
            is_due = end == row and 10 * end >= 11 * before  # as `list_looks` has it
            if end > before and (is_due or final or end == self._live_blocks.n_rows):
                blocks = source.build(row, min_length=BLOCK_DELAYS * longest_delay)
                before = before if blocks is None else int(blocks.rows[-1])
            yield blocks

    def take_changes(self) -> list[Verdict]:
        """Return the verdicts as they were reached, or no longer held, since the last call."""
        changes, self._changes = self._changes, []
        return changes

    def verdicts(self, failed: frozenset[str] = frozenset()) -> tuple[Verdict, ...]:
        """Return the verdicts of the last analysis, without pairs of failed learners, by pair and measure."""
        by_measure = [
            [_add_rows_left(verdict, watch.last.n_rows) for verdict in watch.monitor.verdicts(self._names, watch.last)]
            for watch in self._watches
            if watch.last is not None
        ]
        return tuple(
            verdict
            for of_pair in zip(*by_measure, strict=True)
            for verdict in of_pair
            if not {verdict.first, verdict.second} & failed
        )

    def differences(self, failed: frozenset[str] = frozenset()) -> Differences | None:
        """Return the history of the differences, without pairs of failed learners, by measure and pair."""
        parts = []
        for watch in self._watches:
            if watch.last is not None:
                judge = partial(watch.monitor.verdicts, self._names)
                parts.append(watch.history.differences(judge, (self._row, watch.last), failed))
        known = [part for part in parts if part is not None]
        return Differences.join(known) if known else None

    def sums(self, failed: frozenset[str] = frozenset()) -> tuple[PairSums, ...]:
        """Return the sums of all pairs, without those of failed learners."""
        return tuple(
            PairSums(first, second, *self._counter.sums(*indices))
            for (first, second), indices in zip(self._names, self._indices, strict=True)
            if not {first, second} & failed
        )

    def save(self) -> bytes:
        """Return the serialised state."""
        saved = [watch.save() for watch in self._watches]
        facts = {
            "names": self._names,
            "row": self._row,
            "predicted_from": self.predicted_from.tolist(),
            "measures": [watch.monitor.measure.name for watch in self._watches],
            "watches": [facts for facts, _ in saved],
        }
        return pack("PairWatch", facts, [self._counter.save(), *(state for _, state in saved)])

    def load(self, state: bytes) -> None:
        """Restore the saved state of a watch over the same learners; a damaged state raises and changes nothing."""
        facts, parts = unpack("PairWatch", state)
        measures = [watch.monitor.measure.name for watch in self._watches]
        if [tuple(pair) for pair in facts["names"]] != self._names or facts["measures"] != measures:
            msg = "the saved state is that of other learners, or of another live test"
            raise StreamgaugeError(msg)
        counter = _native.PairCounter(*self._shape)
        try:
            counter.load(parts[0])
        except ValueError as error:
            raise StreamgaugeError(str(error)) from error
        for watch, saved, monitor in zip(self._watches, facts["watches"], parts[1:], strict=True):
            watch.load(saved, monitor)
        self._counter, self._row = counter, facts["row"]
        self.predicted_from = np.array(facts["predicted_from"], dtype=np.int64)


def _add_rows_left(verdict: Verdict, n_rows: int) -> Verdict:
    """Return a verdict with about how many more rows it needs, if it is undecided and has an interval."""
    if verdict.row is not None or verdict.interval is None or n_rows < MIN_LIVE_ROWS:
        return verdict
    claim_alpha = verdict.alpha / verdict.n_claims
    scale = (verdict.interval[1] - verdict.interval[0]) / 2 * math.sqrt(n_rows)
    scale /= boundary_factor(n_rows, MIN_LIVE_ROWS, alpha=claim_alpha)

    def compute_radius(n: int) -> float:
        return scale * boundary_factor(n, MIN_LIVE_ROWS, alpha=claim_alpha) / math.sqrt(n)

    until = rows_until(verdict.difference, verdict.rope, compute_radius, n_rows)
    return verdict if until is None else replace(verdict, rows_left=until - n_rows)


def _to_json(analysis: Analysis) -> list[Any]:
    """Return an analysis as JSON values, which keep every bit of the numbers."""
    values = [getattr(analysis, field.name) for field in fields(analysis)]
    columns = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return [isinstance(analysis, BlockAnalysis), *columns]


def _from_json(values: list[Any]) -> Analysis:
    from_blocks, *columns = values
    if from_blocks:
        n_rows, n_blocks, first_row, differences, variance, crossed, notes = columns
        differences, variance = (np.array(column, dtype=np.float64) for column in (differences, variance))
        return BlockAnalysis(n_rows, n_blocks, first_row, differences, variance, crossed, tuple(notes))
    n_rows, n_scored, only_first, only_second, n_blocks, parts = columns
    return InterimAnalysis(
        n_rows=n_rows,
        n_scored=np.array(n_scored, dtype=np.int64),
        only_first=np.array(only_first, dtype=np.int64).reshape(-1, len(n_scored)),
        only_second=np.array(only_second, dtype=np.int64).reshape(-1, len(n_scored)),
        n_blocks=n_blocks,
        parts=np.array(parts).reshape(-1, 5),
    )
