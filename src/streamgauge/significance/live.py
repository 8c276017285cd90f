"""Live verdicts: which of two learners is better, or that they are equivalent, and since which row."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures import OverTallies, accuracy, default_margin, describe_measure
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import Measure
from streamgauge.records import (
    BlockLayout,
    EarlierVerdict,
    Outcome,
    PairSums,
    Schema,
    Verdict,
)
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.comparison import MODELS, SEEDS, THIS_STREAM
from streamgauge.significance.group_sequential import GroupSequentialSignFlip, open_ended, until
from streamgauge.significance.interim_analyses import (
    OUTCOMES,
    Analysis,
    InterimAnalysis,
)
from streamgauge.significance.two_way import (
    check_testable,
)

__all__ = ["NULLS", "LiveTest", "Monitor", "Pair"]

NULLS = {
    "two_way_sequence": THIS_STREAM,
    "block_sequence": THIS_STREAM,
    "empirical_bernstein": MODELS,
    "group_sequential": SEEDS,
}
"""The anytime-valid tests and their null hypotheses."""

CODES = {outcome: code for code, outcome in enumerate(OUTCOMES)}

REVERSED = np.array([0, 2, 1, 3])
"""The outcomes if smaller values are better."""

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
            fallback = (accuracy,) if schema.classes else ()
            first = (accuracy,) if any(own is accuracy for own in measured) else tuple(islice(testable, 1))
            return first or fallback
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
    >>> from streamgauge import _native
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
