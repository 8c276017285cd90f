"""Live verdicts: which of two learners is better, or that they are equivalent, and since which row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Differences, Outcome, PairSums, Verdict
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.interim_analysis import (
    NULLS,
    OUTCOMES,
    AnalysisHistory,
    InterimAnalysis,
    compute_intervals,
    decide_pairs,
)

__all__ = ["LiveTest", "Monitor", "PairWatch"]

DEFAULT_HORIZON = 20_000

UNDECIDED: tuple[Outcome, None] = ("undecided", None)

Pair = tuple[str, str]


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
    should be planned. The first verdict on a pair is final.

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
        self._decided: dict[Pair, tuple[Outcome, int]] = {}
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

    def update(self, names: Sequence[Pair], analysis: InterimAnalysis, row: int) -> None:
        """Decide the pairs that an analysis after `row` rows can decide."""
        self.n_pairs = self.n_pairs or len(names)
        if analysis.min_scored < 1 or len(self._decided) == self.n_pairs:
            return
        if analysis.test == "group_sequential":
            codes = np.array(
                [
                    self._decide_by_flips(pair, differences)
                    for pair, differences in zip(names, analysis.fold_differences, strict=True)
                ]
            )
        else:
            codes = decide_pairs(analysis, alpha=self.pair_alpha, rope=self.live_test.rope, horizon=self._horizon)
        for index in np.flatnonzero(codes).tolist():
            self._decided.setdefault(names[index], (OUTCOMES[codes[index]], row))

    def verdicts(self, names: Sequence[Pair], analysis: InterimAnalysis) -> tuple[Verdict, ...]:
        """Return the verdict on each pair, with its difference and interval in an analysis."""
        test = analysis.test
        intervals: Sequence[tuple[float, float] | None] = [None] * analysis.n_pairs
        if test != "group_sequential":
            intervals = compute_intervals(analysis, alpha=self.pair_alpha, horizon=self._horizon)
        verdicts = []
        for pair, difference, interval in zip(names, analysis.differences.tolist(), intervals, strict=True):
            outcome, row = self._decided.get(pair, UNDECIDED)
            verdict = Verdict(
                first=pair[0],
                second=pair[1],
                outcome=outcome,
                row=row,
                difference=difference,
                interval=interval,
                rope=self.live_test.rope,
                alpha=self.live_test.alpha,
                n_pairs=self.n_pairs if self.live_test.shared else 1,
                null=NULLS[test],
                test=test,
            )
            verdicts.append(verdict)
        return tuple(verdicts)

    @property
    def _horizon(self) -> int:
        return self.live_test.horizon or DEFAULT_HORIZON

    def _decide_by_flips(self, pair: Pair, differences: NDArray[np.float64]) -> int:
        """Return the outcome of a pair by its folds, as an index into `OUTCOMES`."""
        if pair in self._decided or self.pair_alpha * 2.0 ** (len(differences) - 1) < 1.0:
            return 0  # already decided, or too few folds ever to decide
        if pair not in self._flips:
            self._flips[pair] = self._build_flips(len(differences))
        if not self._flips[pair].look(differences):
            return 0
        return 1 if differences.sum() > 0 else 2

    def _build_flips(self, n_folds: int) -> GroupSequentialSignFlip:
        spending = open_ended if self.n_looks is None else until(self.n_looks)
        return GroupSequentialSignFlip(n_folds, alpha=self.pair_alpha, spending=spending)

    def save(self) -> bytes:
        """Return the serialised state."""
        facts = {
            "n_pairs": self.n_pairs,
            "reached": [[*pair, *decision] for pair, decision in self._decided.items()],
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
        self._decided = {(first, second): (outcome, row) for first, second, outcome, row in facts["reached"]}


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
            self._monitor.update(self._names, self._last, row)
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
