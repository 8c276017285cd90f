"""Verdicts while a run goes on: which of two learners is better, or that they are as good as equal, and since when."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Differences, Outcome, PairSums, Verdict
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.history import LookCourse
from streamgauge.significance.interim_analysis import NULLS, OUTCOMES, InterimAnalysis, intervals_at, outcomes_at

__all__ = ["LiveTest", "Monitor", "PairWatch"]

USUAL_HORIZON = 20_000

UNDECIDED: tuple[Outcome, None] = ("undecided", None)

Pair = tuple[str, str]


@dataclass(frozen=True)
class LiveTest:
    """How learners are compared while a run goes on, at every reading.

    Parameters
    ----------
    alpha
        The chance that a verdict is ever wrong: any of them where the pairs share it, else that on a pair.
    rope
        Differences of the accuracy up to this do not matter.
    horizon
        About how many rows there will be; None for those of the run, or 20,000 where nobody knows. It decides where
        the intervals are narrowest, never whether they hold.
    shared
        Whether all pairs share alpha, each having an equal part of it. Then all intervals hold at once, at all rows.

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
    """Says of each pair of learners, at every look, which is better by now; look as often as you like.

    Where the folds scored the same rows, it goes by the two-way confidence sequence; with one fold, by that of
    empirical Bernstein; with folds of different rows, by the group-sequential sign-flip test, which knows no rope, and
    whose looks should be planned. The first verdict on a pair stays.

    Parameters
    ----------
    live_test
        The level, the rope, and whether the pairs share the level.
    n_looks
        How many looks there will be, where that is known; only the group-sequential test asks.

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
        """How many pairs there were at the first look."""
        self._reached: dict[Pair, tuple[Outcome, int]] = {}
        self._flips: dict[Pair, GroupSequentialSignFlip] = {}

    def look(self, pairs: Sequence[PairSums], row: int) -> tuple[Verdict, ...]:
        """Look at the sums of each pair after so many rows; give a verdict on each."""
        if not pairs:
            return ()
        names, look = [(pair.first, pair.second) for pair in pairs], InterimAnalysis.of(pairs)
        self.judge(names, look, row)
        return self.tell(names, look)

    @property
    def alpha_of_pair(self) -> float:
        """The part of alpha that a pair has."""
        return self.live_test.alpha / (max(self.n_pairs, 1) if self.live_test.shared else 1)

    def judge(self, names: Sequence[Pair], look: InterimAnalysis, row: int) -> None:
        """Take in what a look after so many rows tells of the pairs."""
        self.n_pairs = self.n_pairs or len(names)
        if look.n_least < 1 or len(self._reached) == self.n_pairs:
            return
        if look.test == "group_sequential":
            codes = np.array([self._flipped(*of_pair) for of_pair in zip(names, look.fold_differences, strict=True)])
        else:
            codes = outcomes_at(look, alpha=self.alpha_of_pair, rope=self.live_test.rope, horizon=self._horizon)
        for place in np.flatnonzero(codes).tolist():
            self._reached.setdefault(names[place], (OUTCOMES[codes[place]], row))

    def tell(self, names: Sequence[Pair], look: InterimAnalysis) -> tuple[Verdict, ...]:
        """Give the verdict on each pair, with its difference and interval at a look."""
        test = look.test
        intervals: Sequence[tuple[float, float] | None] = [None] * look.n_pairs
        if test != "group_sequential":
            intervals = intervals_at(look, alpha=self.alpha_of_pair, horizon=self._horizon)
        verdicts = []
        for pair, difference, interval in zip(names, look.differences.tolist(), intervals, strict=True):
            outcome, row = self._reached.get(pair, UNDECIDED)
            told = Verdict(
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
            verdicts.append(told)
        return tuple(verdicts)

    @property
    def _horizon(self) -> int:
        return self.live_test.horizon or USUAL_HORIZON

    def _flipped(self, pair: Pair, differences: NDArray[np.float64]) -> int:
        """Look at the folds of a pair; a place in `OUTCOMES`."""
        if pair in self._reached or self.alpha_of_pair * 2.0 ** (len(differences) - 1) < 1.0:
            return 0  # known already, or so few folds can never tell
        if pair not in self._flips:
            self._flips[pair] = self._new_flips(len(differences))
        if not self._flips[pair].look(differences):
            return 0
        return 1 if differences.sum() > 0 else 2

    def _new_flips(self, n_folds: int) -> GroupSequentialSignFlip:
        spending = open_ended if self.n_looks is None else until(self.n_looks)
        return GroupSequentialSignFlip(n_folds, alpha=self.alpha_of_pair, spending=spending)

    def save(self) -> bytes:
        """All of its state."""
        facts = {
            "n_pairs": self.n_pairs,
            "reached": [[*pair, *reached] for pair, reached in self._reached.items()],
            "flips": [[*pair, test.n_folds, test.n_looks] for pair, test in self._flips.items()],
        }
        return pack("Monitor", facts, [test.rejected for test in self._flips.values()])

    def load(self, state: bytes) -> None:
        """Take over the saved state of a monitor of the same test; it stays as it was where the bytes are damaged."""
        facts, rejected = unpack("Monitor", state)
        before, self.n_pairs = self.n_pairs, facts["n_pairs"]  # a pair's part of alpha depends on it
        try:
            flips = {}
            for (first, second, n_folds, n_looks), bits in zip(facts["flips"], rejected, strict=True):
                flips[first, second] = test = self._new_flips(n_folds)
                test.restore(n_looks, bits)
        except StreamgaugeError:
            self.n_pairs = before
            raise
        self._flips = flips
        self._reached = {(first, second): (outcome, row) for first, second, outcome, row in facts["reached"]}


class PairWatch:
    """Counts what the comparison of every two learners of a run needs, and looks at it at every reading.

    Parameters
    ----------
    names
        Those of the learners.
    n_folds
        How many folds there are.
    live_test
        How to compare; None to count only.
    n_looks
        How many looks there will be, where that is known.

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
        self._places = list(combinations(range(len(names)), 2))
        self._shape = (len(names), n_folds)
        self._counter = _native.PairCounter(*self._shape)
        self._monitor = None if live_test is None or len(names) < 2 else Monitor(live_test, n_looks=n_looks)
        self._seen: InterimAnalysis | None = None
        self._course, self._row = LookCourse(), 0

    def update(
        self,
        correct: NDArray[np.bool_],
        scored: NDArray[np.bool_] | None,
        cuts: Sequence[int],
        reading_rows: Sequence[int],
    ) -> None:
        """Count what a step brought, and look at each stop.

        `correct` [learners, folds, n] says which predictions were right, `scored` [folds, n] which count (None: all),
        `cuts` before which place of the step each stop is.
        """
        start = 0
        for cut, stop in zip(cuts, reading_rows, strict=True) if self._monitor is not None else ():
            self._counter.update(correct, scored, start, cut)
            self.look(stop)
            start = cut
        self._counter.update(correct, scored, start)

    def look(self, row: int) -> None:
        """Look at what was counted, after so many rows."""
        if self._monitor is not None:
            self._seen = InterimAnalysis.at(self._counter)
            self._monitor.judge(self._names, self._seen, row)
            self._course.keep(row, self._seen)
            self._row = row

    def verdicts(self, failed: frozenset[str] = frozenset()) -> tuple[Verdict, ...]:
        """Give the verdicts as of the last look, but for pairs with a learner that has failed."""
        if self._monitor is None or self._seen is None:
            return ()
        told = self._monitor.tell(self._names, self._seen)
        return tuple(verdict for verdict in told if not {verdict.first, verdict.second} & failed)

    def differences(self, failed: frozenset[str] = frozenset()) -> Differences | None:
        """Give the course of the differences, but for pairs with a learner that has failed."""
        monitor, names = self._monitor, self._names
        if monitor is None or self._seen is None:
            return None
        return self._course.differences(lambda look: monitor.tell(names, look), (self._row, self._seen), failed)

    def sums(self, failed: frozenset[str] = frozenset()) -> tuple[PairSums, ...]:
        """Give the sums of all pairs, but for those with a learner that has failed."""
        return tuple(
            PairSums(first, second, *self._counter.sums(*places))
            for (first, second), places in zip(self._names, self._places, strict=True)
            if not {first, second} & failed
        )

    def save(self) -> bytes:
        """All of its state."""
        parts = [self._counter.save(), *([] if self._monitor is None else [self._monitor.save()])]
        return pack(
            "PairWatch",
            {"names": self._names, "seen": _told(self._seen), "row": self._row, "course": self._kept()},
            parts,
        )

    def load(self, state: bytes) -> None:
        """Take over the saved state of a watch over the same learners; it stays as it was where that is damaged."""
        facts, parts = unpack("PairWatch", state)
        if [tuple(pair) for pair in facts["names"]] != self._names or len(parts) != 1 + (self._monitor is not None):
            msg = "this state is of other learners, or of another live test"
            raise StreamgaugeError(msg)
        counter = _native.PairCounter(*self._shape)
        try:
            counter.load(parts[0])
        except ValueError as error:
            raise StreamgaugeError(str(error)) from error
        if self._monitor is not None:
            self._monitor.load(parts[1])
        self._counter, self._seen, self._row = counter, _read(facts["seen"]), facts["row"]
        n_looks, looks = facts["course"]
        self._course = LookCourse()
        self._course.n_looks = n_looks
        self._course.kept = [(row, look) for row, told in looks if (look := _read(told)) is not None]

    def _kept(self) -> list[Any]:
        """Put the looks that are kept into what JSON can tell."""
        return [self._course.n_looks, [[row, _told(look)] for row, look in self._course.kept]]


def _told(look: InterimAnalysis | None) -> list[Any] | None:
    """Put a look into what JSON can tell; numbers keep every bit."""
    if look is None:
        return None
    columns = [look.n_scored, look.only_first, look.only_second, look.parts]
    return [look.n_rows, look.n_blocks, *(column.tolist() for column in columns)]


def _read(told: list[Any] | None) -> InterimAnalysis | None:
    if told is None:
        return None
    n_rows, n_blocks, n_scored, *only, parts = told
    counts = [np.array(column, dtype=np.int64).reshape(-1, len(n_scored)) for column in only]
    scored = np.array(n_scored, dtype=np.int64)
    return InterimAnalysis(n_rows, scored, counts[0], counts[1], n_blocks, np.array(parts).reshape(-1, 5))
