"""Verdicts while a run goes on: which of two learners is better, or that they are as good as equal, and since when."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from streamgauge.errors import require_between
from streamgauge.records import PairSums
from streamgauge.significance.comparison import ALGORITHMS, MODELS, SEEDS
from streamgauge.significance.group_sequential import GroupSequentialSignFlip
from streamgauge.significance.sequences import empirical_bernstein, two_way_sequence

__all__ = ["Monitor", "Verdict", "decide"]

Outcome = Literal["first", "second", "equivalent", "undecided"]


@dataclass(frozen=True)
class Verdict:
    """What can be said of two learners so far.

    Parameters
    ----------
    first, second
        Names of the learners.
    outcome
        ``first`` or ``second`` for the better one, ``equivalent`` within the rope, or ``undecided``.
    row
        After how many rows this was first known; None while undecided.
    difference
        The difference of the accuracies now.
    interval
        Where the true difference lies, now; None where the test gives no interval.
    rope
        Differences up to this do not matter.
    alpha
        The chance that a verdict is ever wrong.
    null
        What the difference speaks of: `ALGORITHMS`, `MODELS` or `SEEDS`.
    test
        ``two_way_sequence``, ``empirical_bernstein`` or ``group_sequential``.

    Examples
    --------
    >>> print(Verdict("tree", "bayes", "first", 4000, 0.031, (0.012, 0.05), 0.01, 0.05, ALGORITHMS, "two_way_sequence"))
    tree is better than bayes, known since row 4,000
    """

    first: str
    second: str
    outcome: Outcome
    row: int | None
    difference: float
    interval: tuple[float, float] | None
    rope: float
    alpha: float
    null: str
    test: str

    def __str__(self) -> str:
        if self.row is None:
            return f"{self.first} and {self.second}: undecided yet"
        since = f"known since row {self.row:,}"
        if self.outcome == "equivalent":
            return f"{self.first} and {self.second} are equivalent within {self.rope:g}, {since}"
        better, worse = (self.first, self.second) if self.outcome == "first" else (self.second, self.first)
        return f"{better} is better than {worse}, {since}"


def decide(interval: tuple[float, float], *, rope: float = 0.01) -> Outcome:
    """Say what an interval of the difference tells, where differences up to `rope` do not matter.

    Examples
    --------
    >>> decide((0.024, 0.036)), decide((-0.0005, 0.0035)), decide((-0.001, 0.011))
    ('first', 'equivalent', 'undecided')
    """
    require_between("rope", rope, 0.0, 1.0, open_low=False)
    low, high = interval
    if low > rope:
        return "first"
    if high < -rope:
        return "second"
    return "equivalent" if -rope < low and high < rope else "undecided"


class Monitor:
    """Says of each pair of learners, at every look, which is better by now; look as often as you like.

    Where the folds scored the same rows, it goes by the two-way confidence sequence; with one fold, by that of
    empirical Bernstein; with folds of different rows, by the group-sequential sign-flip test, which knows no rope, and
    whose looks should be planned. The first verdict on a pair stays.

    Each pair has its own alpha.

    Parameters
    ----------
    alpha
        The chance that the verdict on a pair is ever wrong.
    rope
        Differences of the accuracy up to this do not matter.
    horizon
        About how many rows there will be.

    Examples
    --------
    >>> import streamgauge as sg
    >>> evaluation = sg.Evaluation(
    ...     sg.SEA(n_rows=6000), {"tree": sg.HoeffdingTree(), "majority": sg.MajorityClass()}, scheme=sg.Bootstrap(10)
    ... )
    >>> monitor = Monitor(horizon=6000)
    >>> for progress in evaluation.advance():
    ...     (verdict,) = monitor.look(evaluation.results([progress]).pairs, progress.n_rows)
    >>> verdict.outcome, verdict.test
    ('first', 'two_way_sequence')
    """

    def __init__(self, *, alpha: float = 0.05, rope: float = 0.01, horizon: int = 20_000) -> None:
        require_between("alpha", alpha, 0.0, 1.0, open_high=True)
        require_between("rope", rope, 0.0, 1.0, open_low=False)
        self.alpha, self.rope, self.horizon = alpha, rope, horizon
        self._reached: dict[tuple[str, str], Verdict] = {}
        self._flips: dict[tuple[str, str], GroupSequentialSignFlip] = {}

    def look(self, pairs: Iterable[PairSums], row: int) -> tuple[Verdict, ...]:
        """Look at the sums of each pair after so many rows; give a verdict on each."""
        return tuple(self._look(pair, row) for pair in pairs)

    def _look(self, pair: PairSums, row: int) -> Verdict:
        now, names = self._now(pair), (pair.first, pair.second)
        reached = self._reached.get(names)
        if reached is not None:
            return replace(now, outcome=reached.outcome, row=reached.row)
        if now.outcome == "undecided":
            return now
        self._reached[names] = replace(now, row=row)
        return self._reached[names]

    def _now(self, pair: PairSums) -> Verdict:
        interval: tuple[float, float] | None = (-1.0, 1.0)
        n_least = int(pair.n_scored.min())
        total = int((pair.only_first - pair.only_second).sum())
        test, null = "two_way_sequence", ALGORITHMS
        if pair.n_folds == 1:
            test, null = "empirical_bernstein", MODELS
            if n_least:
                discordant = int((pair.only_first + pair.only_second).sum())
                interval = empirical_bernstein(total, discordant, n_least, alpha=self.alpha)
        elif pair.crossed:
            if n_least > 1:
                interval = two_way_sequence(pair, alpha=self.alpha, horizon=self.horizon)
        else:
            test, null, interval = "group_sequential", SEEDS, None
        if interval is not None:
            outcome = decide(interval, rope=self.rope)
        else:
            outcome = self._flipped(pair) if n_least else "undecided"
        difference = total / max(int(pair.n_scored.sum()), 1)
        facts = (self.rope, self.alpha, null, test)
        return Verdict(pair.first, pair.second, outcome, None, difference, interval, *facts)

    def _flipped(self, pair: PairSums) -> Outcome:
        differences = pair.fold_differences
        names = (pair.first, pair.second)
        if self.alpha * 2.0 ** (pair.n_folds - 1) < 1.0:  # so few folds can never tell
            return "undecided"
        if names not in self._flips:
            self._flips[names] = GroupSequentialSignFlip(pair.n_folds, alpha=self.alpha)
        if not self._flips[names].look(differences):
            return "undecided"
        return "first" if differences.sum() > 0 else "second"
