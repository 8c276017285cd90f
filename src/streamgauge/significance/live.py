"""Live verdicts: which of two learners is better, or that they are equivalent, and since which row."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Differences, EarlierVerdict, Outcome, PairSums, Verdict
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.comparison import MODELS, SEEDS, THIS_STREAM
from streamgauge.significance.confidence_sequences import bernstein_log_e, bernstein_radius, two_way_radius
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.row_tests import combine_variances, compute_variance_parts

__all__ = [
    "NULLS",
    "OUTCOMES",
    "AnalysisHistory",
    "InterimAnalysis",
    "LiveTest",
    "Monitor",
    "PairWatch",
    "compute_intervals",
    "decide",
    "decide_pairs",
]

NULLS = {"two_way_sequence": THIS_STREAM, "empirical_bernstein": MODELS, "group_sequential": SEEDS}
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


DEFAULT_HORIZON = 20_000

Pair = tuple[str, str]

State = tuple[Outcome, int | None, EarlierVerdict | None]
"""The outcome of a pair, the row at which it was reached, and the last one that no longer holds."""

UNDECIDED: State = ("undecided", None, None)


@dataclass(frozen=True)
class LiveTest:
    """How learners are compared during a run, at every reading.

    Parameters
    ----------
    alpha
        The probability that a verdict is ever wrong: over all pairs if they share it, else per pair.
    rope
        The region of practical equivalence: differences of the accuracy up to this are ignored.
    horizon
        The expected number of rows; None for that of the run, or 20,000 if unknown. It decides where the intervals are
        narrowest, not whether they are valid.
    shared
        Whether all pairs share alpha in equal parts. Then all intervals hold simultaneously, at all rows.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = [sg.NaiveBayes(), sg.MajorityClass()]
    >>> results = sg.evaluate(
    ...     sg.SEA(n_rows=5000), learners, scheme=sg.Bootstrap(10), live_test=LiveTest(rope=0.05), every=1000
    ... )
    >>> print(results.verdicts[0])
    NaiveBayes is better than MajorityClass, known since row 1,000
    """

    alpha: float = 0.05
    rope: float = 0.01
    horizon: int | None = None
    shared: bool = True

    def __post_init__(self) -> None:
        require_between("alpha", self.alpha, 0.0, 1.0, open_high=True)
        require_between("rope", self.rope, 0.0, 1.0, open_low=False)
        if self.horizon is not None:
            require_at_least("horizon", self.horizon, 1)


class Monitor:
    """Anytime-valid verdicts on pairs of learners; any number of looks is allowed.

    If the folds scored the same rows, the two-way confidence sequence is used; with one fold, the empirical Bernstein
    sequence; with folds of different rows, the group-sequential sign-flip test, which has no rope and whose looks
    should be planned.

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

    Examples
    --------
    >>> counter = _native.PairCounter(2, 3)
    >>> counter.update(np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)]))
    >>> monitor = Monitor(LiveTest(horizon=2000))
    >>> (verdict,) = monitor.look([PairSums("tree", "bayes", *counter.sums(0, 1))], 2000)
    >>> verdict.outcome, verdict.row
    ('first', 2000)
    """

    def __init__(self, live_test: LiveTest = LiveTest(), *, n_looks: int | None = None) -> None:
        self.live_test, self.n_looks = live_test, n_looks
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
    def pair_alpha(self) -> float:
        """The part of alpha for each pair."""
        return self.live_test.alpha / (max(self.n_pairs, 1) if self.live_test.shared else 1)

    def update(
        self, names: Sequence[Pair], analysis: InterimAnalysis, row: int, silent: frozenset[Pair] = frozenset()
    ) -> None:
        """Decide each pair by an analysis after `row` rows, but `silent` ones, in which one has not predicted yet."""
        self.n_pairs = self.n_pairs or len(names)
        if analysis.min_scored < 1:
            return
        held = np.array([OUTCOMES.index(self._states.get(pair, UNDECIDED)[0]) for pair in names])
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
        for index in np.flatnonzero(codes != held).tolist():
            outcome, since, earlier = self._states.get(names[index], UNDECIDED)
            if since is not None:
                earlier = EarlierVerdict(outcome, since, row)
            code = int(codes[index])
            self._states[names[index]] = (OUTCOMES[code], row if code else None, earlier)

    def verdicts(self, names: Sequence[Pair], analysis: InterimAnalysis) -> tuple[Verdict, ...]:
        """Return the verdict on each pair, with its difference and interval in an analysis."""
        test = analysis.test
        intervals: Sequence[tuple[float, float] | None] = [None] * analysis.n_pairs
        if test != "group_sequential":
            intervals = compute_intervals(analysis, alpha=self.pair_alpha, horizon=self._horizon)
        verdicts = []
        for pair, difference, interval in zip(names, analysis.differences.tolist(), intervals, strict=True):
            outcome, row, earlier = self._states.get(pair, UNDECIDED)
            verdict = Verdict(
                first=pair[0],
                second=pair[1],
                outcome=outcome,
                row=row,
                difference=difference,
                interval=interval,
                rope=self.live_test.rope,
                alpha=self.live_test.alpha,
                n_claims=self.n_pairs if self.live_test.shared else 1,
                null=NULLS[test],
                test=test,
                earlier=earlier,
            )
            verdicts.append(verdict)
        return tuple(verdicts)

    @property
    def _horizon(self) -> int:
        return self.live_test.horizon or DEFAULT_HORIZON

    def _decide_by_intervals(self, analysis: InterimAnalysis, held: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the outcomes by the current intervals, as indices into `OUTCOMES`; `held` are those before."""
        decide_now = partial(decide_pairs, analysis, alpha=self.pair_alpha, horizon=self._horizon)
        codes = decide_now(rope=self.live_test.rope)
        lapsing = (codes == 0) & ((held == 1) | (held == 2))
        if lapsing.any():
            return np.where(lapsing & (decide_now(rope=0.0) == held), held, codes)
        return codes

    def _decide_by_flips(self, pair: Pair, differences: NDArray[np.float64]) -> int:
        """Return the outcome of a pair by its folds, as an index into `OUTCOMES`."""
        if self.pair_alpha * 2.0 ** (len(differences) - 1) < 1.0:
            return 0  # too few folds ever to decide
        if pair not in self._flips:
            self._flips[pair] = self._build_flips(len(differences))
        test = self._flips[pair]
        if not (test.claimed or test.look(differences)) or not test.supports(differences):
            return 0
        return 1 if differences.sum() > 0 else 2

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


class PairWatch:
    """Counts of every pair of learners of a run, analysed at every reading.

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

    Examples
    --------
    >>> watch = PairWatch(["tree", "bayes"], 3, LiveTest(horizon=2000))
    >>> right = np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)])
    >>> watch.update(right, None, [1000, 2000], [1000, 2000])
    >>> print(watch.verdicts()[0])
    tree is better than bayes, known since row 1,000
    """

    def __init__(
        self, names: Sequence[str], n_folds: int, live_test: LiveTest | None, n_looks: int | None = None
    ) -> None:
        self._names = list(combinations(names, 2))
        self._indices = list(combinations(range(len(names)), 2))
        self._shape = (len(names), n_folds)
        self._counter = _native.PairCounter(*self._shape)
        self._monitor = None if live_test is None or len(names) < 2 else Monitor(live_test, n_looks=n_looks)
        self._last: InterimAnalysis | None = None
        self._history, self._row = AnalysisHistory(), 0
        self.predicted_from: NDArray[np.int64] = np.zeros(len(names), dtype=np.int64)
        """The row after which each learner had a scored prediction, no abstention, in every fold; set by the run."""

    def update(
        self,
        correct: NDArray[np.bool_],
        scored: NDArray[np.bool_] | None,
        cuts: Sequence[int],
        reading_rows: Sequence[int],
    ) -> None:
        """Count the predictions of a step, and analyse the pairs after each reading row.

        `correct` [learners, folds, n] marks the predictions that were right, `scored` [folds, n] those that count
        (None: all). `cuts` are the positions of the reading rows in the step.
        """
        start = 0
        for cut, row in zip(cuts, reading_rows, strict=True) if self._monitor is not None else ():
            self._counter.update(correct, scored, start, cut)
            self.analyse(row)
            start = cut
        self._counter.update(correct, scored, start)

    def analyse(self, row: int) -> None:
        """Analyse the counts after `row` rows."""
        if self._monitor is not None:
            self._last = InterimAnalysis.from_counter(self._counter)
            spoken = self.predicted_from < row
            silent = frozenset(
                pair for pair, both in zip(self._names, self._indices, strict=True) if not spoken[list(both)].all()
            )
            self._monitor.update(self._names, self._last, row, silent)
            self._history.append(row, self._last)
            self._row = row

    def verdicts(self, failed: frozenset[str] = frozenset()) -> tuple[Verdict, ...]:
        """Return the verdicts of the last analysis, without pairs of failed learners."""
        if self._monitor is None or self._last is None:
            return ()
        verdicts = self._monitor.verdicts(self._names, self._last)
        return tuple(verdict for verdict in verdicts if not {verdict.first, verdict.second} & failed)

    def differences(self, failed: frozenset[str] = frozenset()) -> Differences | None:
        """Return the history of the differences, without pairs of failed learners."""
        if self._monitor is None or self._last is None:
            return None
        judge = partial(self._monitor.verdicts, self._names)
        return self._history.differences(judge, (self._row, self._last), failed)

    def sums(self, failed: frozenset[str] = frozenset()) -> tuple[PairSums, ...]:
        """Return the sums of all pairs, without those of failed learners."""
        return tuple(
            PairSums(first, second, *self._counter.sums(*indices))
            for (first, second), indices in zip(self._names, self._indices, strict=True)
            if not {first, second} & failed
        )

    def save(self) -> bytes:
        """Return the serialised state."""
        parts = [self._counter.save(), *([] if self._monitor is None else [self._monitor.save()])]
        looks = [[row, _to_json(analysis)] for row, analysis in self._history.analyses]
        facts = {
            "names": self._names,
            "seen": None if self._last is None else _to_json(self._last),
            "row": self._row,
            "predicted_from": self.predicted_from.tolist(),
            "course": [self._history.n_looks, looks],
        }
        return pack("PairWatch", facts, parts)

    def load(self, state: bytes) -> None:
        """Restore the saved state of a watch over the same learners; a damaged state raises and changes nothing."""
        facts, parts = unpack("PairWatch", state)
        if [tuple(pair) for pair in facts["names"]] != self._names or len(parts) != 1 + (self._monitor is not None):
            msg = "the saved state is that of other learners, or of another live test"
            raise StreamgaugeError(msg)
        counter = _native.PairCounter(*self._shape)
        try:
            counter.load(parts[0])
        except ValueError as error:
            raise StreamgaugeError(str(error)) from error
        if self._monitor is not None:
            self._monitor.load(parts[1])
        self._counter, self._row = counter, facts["row"]
        self.predicted_from = np.array(facts["predicted_from"], dtype=np.int64)
        self._last = None if facts["seen"] is None else _from_json(facts["seen"])
        n_looks, looks = facts["course"]
        self._history = AnalysisHistory()
        self._history.n_looks = n_looks
        self._history.analyses = [(row, _from_json(values)) for row, values in looks]


def _to_json(analysis: InterimAnalysis) -> list[Any]:
    """Return an analysis as JSON values, which keep every bit of the numbers."""
    columns = [analysis.n_scored, analysis.only_first, analysis.only_second, analysis.parts]
    return [analysis.n_rows, analysis.n_blocks, *(column.tolist() for column in columns)]


def _from_json(values: list[Any]) -> InterimAnalysis:
    n_rows, n_blocks, n_scored, only_first, only_second, parts = values
    return InterimAnalysis(
        n_rows=n_rows,
        n_scored=np.array(n_scored, dtype=np.int64),
        only_first=np.array(only_first, dtype=np.int64).reshape(-1, len(n_scored)),
        only_second=np.array(only_second, dtype=np.int64).reshape(-1, len(n_scored)),
        n_blocks=n_blocks,
        parts=np.array(parts).reshape(-1, 5),
    )
