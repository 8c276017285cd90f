"""What a run produces: predictions, readings, alarms, verdicts, costs and failures."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, format_margin, format_value
from streamgauge.records.columns import protect, protect_fields

__all__ = [
    "Alarm",
    "EarlierVerdict",
    "Failure",
    "Feedback",
    "LabelEstimate",
    "ModelOutcome",
    "ModelVerdict",
    "Outcome",
    "PairSums",
    "Reading",
    "Resources",
    "Trace",
    "Verdict",
]

Outcome = Literal["first", "second", "equivalent", "undecided"]
"""What is known of two learners: which one is better, that they are equivalent, or nothing yet."""

ModelOutcome = Literal["kept", "broken", "undecided"]
"""What is known of one learner and a requirement: that it keeps it, that it breaks it, or nothing yet."""


class _Numbers:
    """Row numbers, which may be set as a range; it is expanded when it is first read."""

    def __get__(self, trace: "Trace | None", _: object = None) -> NDArray[np.int64]:
        if trace is None:
            msg = "row"
            raise AttributeError(msg)
        row = trace.__dict__["_row"]
        if isinstance(row, range):
            row = trace.__dict__["_row"] = protect(np.arange(row.start, row.stop))
        return row  # type: ignore[no-any-return]

    def __set__(self, trace: "Trace", row: NDArray[np.int64] | range) -> None:
        trace.__dict__["_row"] = protect(row)


@dataclass(frozen=True)
class Trace:
    """The scored predictions of one learner in one fold, in their order. All columns are read-only.

    Parameters
    ----------
    row
        The latest row of the stream when each prediction was scored, int64 [n]; the row itself unless it was tested
        or scored later.
    y_true, y_pred
        Class codes, int32 [n]; `y_pred` may be `ABSTAINED`. With a numeric target numbers, float64 [n]; `y_pred` may be
        NaN.
    majority_hit, no_change_hit
        Whether the majority class, and the previous class, would have been correct; bool [n]. Both baselines learn what
        the fold learns, and predict before they see the label. The majority is that of the labels that the forgetting
        remembers where a forgetting gets the trace, and of all labels elsewhere. With a numeric target, what the
        baselines predict, float64 [n]: the mean of all targets that the fold has learnt, and the previous target.
    weight
        Instance weights; None means 1 for all.
    votes
        Votes for the classes, float64 [n, c], if a measure needs them.
    time
        When each row arrived, in seconds, if rows have a time.
    majority_all_hit
        Whether the majority class of all labels would have been correct; None if that is `majority_hit`.

    Examples
    --------
    >>> hit = np.array([False, True])
    >>> Trace(np.arange(2), np.array([0, 1]), np.array([0, 0]), hit, hit).correct.tolist()
    [True, False]
    """

    row: NDArray[np.int64]
    y_true: Any
    y_pred: Any
    majority_hit: NDArray[Any]
    no_change_hit: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    votes: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None
    majority_all_hit: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        protect_fields(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        protect_fields(self)

    def __len__(self) -> int:
        return len(self.y_true)

    def count_before(self, reading_rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count its rows before each of some positions in the stream."""
        row = self.__dict__["_row"]
        if isinstance(row, range):
            return np.clip(reading_rows - row.start, 0, len(row))
        return np.searchsorted(row, reading_rows, side="left").astype(np.int64)

    def with_majority(self, hit: NDArray[np.bool_]) -> "Trace":
        """Return it with the hits of another majority class; those of all labels are kept beside them."""
        trace = copy(self)  # leaves a range of rows as it is
        of_all = self.majority_hit if self.majority_all_hit is None else self.majority_all_hit
        vars(trace).update(majority_hit=protect(hit), majority_all_hit=of_all)
        return trace

    def part(self, start: int, stop: int) -> "Trace":
        """Return some consecutive rows of it."""
        columns: list[Any] = [getattr(self, column.name) for column in fields(self)]
        return Trace(*(None if column is None else column[start:stop] for column in columns))  # type: ignore[arg-type]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which predictions were correct."""
        correct: NDArray[np.bool_] = np.equal(self.y_true, self.y_pred)
        return correct


Trace.row = _Numbers()  # type: ignore[assignment]


@dataclass(frozen=True)
class Reading:
    """The value of one measure for one learner in one fold, after `row` rows of the stream.

    Examples
    --------
    >>> Reading(1000, "tree", 0, "accuracy", "Landmark()", 0.75).value
    0.75
    """

    row: int
    learner: str
    fold: int
    measure: str
    forgetting: str
    value: float


@dataclass(frozen=True, order=True)
class Alarm:
    """A detector's word that the errors of one learner in one fold have changed.

    Parameters
    ----------
    row
        The row whose error it was said after.
    learner, fold, detector
        Whose errors, and who said it.
    kind
        ``drift``, or ``warning`` where a row of warnings begins.

    Examples
    --------
    >>> Alarm(1200, "tree", 0, "DDM(warning=2.0)").kind
    'drift'
    """

    row: int
    learner: str
    fold: int
    detector: str
    kind: str = "drift"


@dataclass(frozen=True)
class PairSums:
    """Sums over the difference of two learners, in memory that does not grow with the stream.

    With ``d[i, t]`` = [first correct in fold i on row t] - [second correct]:

    Parameters
    ----------
    first, second
        Names of the learners.
    n_rows
        Rows that at least one fold scored.
    n_scored
        Rows scored per fold, int64 [k].
    only_first, only_second
        Rows per fold that only the first, and only the second, predicted correctly; int64 [k].
    sum_squared_means
        Sum over rows of the squared mean over the folds that scored the row.
    crossed
        Whether every fold scored the same rows, as the two-way test needs.
    block_scored
        Scored rows, summed over folds, in each of up to 64 blocks of consecutive rows; int64. Together with
        `block_sums` they show autocorrelation; may be left out.
    block_sums
        Sum of ``d`` over folds and rows in each block, int64.

    Examples
    --------
    >>> ones = np.array([10, 12])
    >>> PairSums("a", "b", 100, np.array([100, 100]), ones, ones - 2, 1.5, True).fold_differences.tolist()
    [0.02, 0.02]
    """

    first: str
    second: str
    n_rows: int
    n_scored: NDArray[np.int64]
    only_first: NDArray[np.int64]
    only_second: NDArray[np.int64]
    sum_squared_means: float
    crossed: bool
    block_scored: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    block_sums: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.n_scored)

    @property
    def fold_differences(self) -> NDArray[np.float64]:
        """The difference of the accuracies in each fold."""
        return (self.only_first - self.only_second) / np.maximum(self.n_scored, 1)


def name_row(row: int) -> str:
    """Return the name of a row in a sentence.

    Examples
    --------
    >>> name_row(4000)
    'row 4,000'
    """
    return f"row {row:,}"


@dataclass(frozen=True)
class EarlierVerdict:
    """A verdict that was once reached and no longer holds.

    Parameters
    ----------
    outcome
        ``first``, ``second`` or ``equivalent``; of one learner ``kept`` or ``broken``.
    since
        The row at which it was reached.
    until
        The row of the first reading at which it no longer held.

    Examples
    --------
    >>> EarlierVerdict("equivalent", 4000, 9000).until
    9000
    """

    outcome: Outcome | ModelOutcome
    since: int
    until: int


@dataclass(frozen=True)
class Verdict:
    """What is known of two learners now in one measure, valid at any number of interim analyses.

    A verdict is about the rows so far, and it lasts as long as the current interval supports it. One that no longer
    holds is `earlier`; the pair is then undecided, unless another verdict has taken its place.

    Parameters
    ----------
    first, second
        Names of the learners.
    outcome
        What holds now: ``first`` or ``second`` for the better one, ``equivalent`` within the margin, or ``undecided``.
    row
        The row at which it was reached; None while undecided.
    difference
        The current difference of the measure, first minus second; NaN while it is undefined.
    interval
        The current interval of the true difference; None if the test has none, or none yet.
    rope
        The margin in the unit of the measure: differences up to this do not matter.
    alpha
        The probability that any verdict of the run is ever wrong.
    n_claims
        The number of claims that share this alpha: pairs times measures.
    null
        What the difference is about, in words: algorithms, trained models, or typical seeds.
    test
        ``two_way_sequence``, ``block_sequence``, ``empirical_bernstein`` or ``group_sequential``.
    earlier
        The last verdict that no longer holds; None if there was none.
    measure, unit, greater_is_better
        What was compared, its unit, and whether a greater value is better.
    note
        Why there is no verdict yet, or what to keep in mind; empty if nothing.
    rows_left
        About how many more rows a verdict needs, if the difference stays as it is; None if unknown or decided.

    Examples
    --------
    >>> facts = (0.031, (0.012, 0.05), 0.01, 0.05, 1, "equal on average", "two_way_sequence")
    >>> known = Verdict("tree", "bayes", "first", 4000, *facts)
    >>> print(known)
    tree is better than bayes in accuracy, known since row 4,000
    >>> known.better
    'tree'
    >>> print(Verdict("tree", "bayes", "undecided", None, *facts, EarlierVerdict("second", 4000, 9000)))
    tree and bayes: undecided now in accuracy; bayes was known to be better from row 4,000 to row 9,000, no longer so
    """

    first: str
    second: str
    outcome: Outcome
    row: int | None
    difference: float
    interval: tuple[float, float] | None
    rope: float
    alpha: float
    n_claims: int
    null: str
    test: str
    earlier: EarlierVerdict | None = None
    measure: str = "accuracy"
    unit: str = RATE
    greater_is_better: bool = True
    note: str = ""
    rows_left: int | None = None

    @property
    def better(self) -> str | None:
        """The name of the better learner; None if it is not known now."""
        return {"first": self.first, "second": self.second}.get(self.outcome)

    def __str__(self) -> str:
        return self.describe()

    def describe(self, name: Callable[[int], str] = name_row) -> str:
        """Return what holds in a sentence; `name` returns the name of a row, such as one with its date."""
        both, what = f"{self.first} and {self.second}", f"in {self.measure}"
        past = self._describe_past(name)
        if self.row is None:
            if past:
                return f"{both}: undecided now {what}; {past}"
            return f"{both}: undecided yet {what}" + (f" ({self.note})" if self.note else "")
        since = f"known since {name(self.row)}" + (f"; {past}" if past else "")
        if self.outcome == "equivalent":
            return f"{both} are equivalent {what} within {format_margin(self.rope, self.unit)}, {since}"
        worse = self.second if self.outcome == "first" else self.first
        return f"{self.better} is better than {worse} {what}, {since}"

    def _describe_past(self, name: Callable[[int], str]) -> str:
        """Return the earlier verdict as a clause, without any claim why it no longer holds."""
        if self.earlier is None:
            return ""
        rows = f"from {name(self.earlier.since)} to {name(self.earlier.until)}"
        if self.earlier.outcome == self.outcome:
            return f"before that, known {rows}"
        better = {"first": self.first, "second": self.second}.get(self.earlier.outcome)
        what = "they were known to be equivalent" if better is None else f"{better} was known to be better"
        return f"{what} {rows}, no longer so"


@dataclass(frozen=True)
class ModelVerdict:
    """What is known now of one learner and a requirement, such as a budget for its error.

    Like a `Verdict` it is valid at any number of interim analyses and lasts as long as the current interval supports
    it.

    Parameters
    ----------
    learner
        The name of the learner.
    requirement
        The requirement as it was written, such as ``error<0.05``.
    outcome
        What holds now: ``kept``, ``broken`` or ``undecided``.
    row
        The row at which it was reached; None while undecided.
    since
        The first of the rows that `value` and `interval` are about: 0 for all rows so far.
    value
        The measure over these rows; NaN while it is undefined.
    interval
        The interval of its true value; None if there is none yet.
    limit
        The value that the measure must not cross.
    alpha, n_claims
        The probability that any verdict on single learners is ever wrong, and the number of claims that share it.
    test
        ``empirical_bernstein``, ``block_sequence`` or ``prediction_powered``.
    measure, unit, greater_is_better
        What is measured, its unit, and whether a greater value is better.
    earlier
        The last verdict that no longer holds; None if there was none.
    note
        Why there is no verdict yet, or what to keep in mind; empty if nothing.

    Examples
    --------
    >>> facts = (0.081, (0.062, 0.1), 0.05, 0.05, 1, "empirical_bernstein", "error", "rate", False)
    >>> print(ModelVerdict("tree", "error<0.05", "broken", 9000, 8000, *facts))
    tree breaks error<0.05: its error since row 8,000 is 8.10%, at least 6.20%; known since row 9,000
    """

    learner: str
    requirement: str
    outcome: ModelOutcome
    row: int | None
    since: int
    value: float
    interval: tuple[float, float] | None
    limit: float
    alpha: float
    n_claims: int
    test: str
    measure: str
    unit: str = RATE
    greater_is_better: bool = True
    earlier: EarlierVerdict | None = None
    note: str = ""

    def __str__(self) -> str:
        return self.describe()

    def describe(self, name: Callable[[int], str] = name_row) -> str:
        """Return what holds in a sentence; `name` returns the name of a row, such as one with its date."""
        what = f"its {self.measure}" + (f" since {name(self.since)}" if self.since else "")
        value = self._format(self.value)
        if self.row is None or self.interval is None:
            text = f"{self.learner} and {self.requirement}: undecided {'yet' if self.earlier is None else 'now'}"
            text += f"; {what} is {value}" if np.isfinite(self.value) else ""
            text += f" ({self.note})" if self.note else ""
        else:
            at_least = (self.outcome == "kept") == self.greater_is_better
            bound = f"{'at least' if at_least else 'at most'} {self._format(self.interval[0 if at_least else 1])}"
            known = f"known since {name(self.row)}"
            if self.since > self.row:
                text = f"{self.learner} {self._claim}, {known}; {what} is {value}, {bound}"
            else:
                text = f"{self.learner} {self._claim}: {what} is {value}, {bound}; {known}"
        if self.earlier is None:
            return text
        verb = "kept" if self.earlier.outcome == "kept" else "broken"
        return f"{text}; before, it was {verb} from {name(self.earlier.since)} to {name(self.earlier.until)}"

    @property
    def _claim(self) -> str:
        """What holds of the requirement, as a verb with its object."""
        kept = self.outcome == "kept"
        baseline = {"beats majority": "the majority class", "beats no change": "no change"}.get(self.requirement)
        if baseline is not None:
            return f"beats {baseline}" if kept else f"does not beat {baseline}"
        return f"{'keeps' if kept else 'breaks'} {self.requirement}"

    def _format(self, value: float) -> str:
        return format_value(value, self.unit) + ("%" if self.unit == RATE else f" {self.unit}".rstrip())


@dataclass(frozen=True)
class LabelEstimate:
    """What the labels of a random share of the rows say about the mean loss of one learner over all rows.

    Parameters
    ----------
    learner, measure
        Whose loss it is, and which: ``error`` or ``brier``.
    n_rows, n_labelled, n_errors
        The rows; those of them whose label arrived; and the wrong predictions among the latter.
    labelled, labelled_interval
        The estimate from the labelled rows alone, and its interval; None if there is none.
    powered, powered_interval
        The estimate that also uses the confidence of the model in the rows without labels, and its interval, which is
        valid whatever the confidence is worth.
    tuning
        How far the confidence is trusted: 0 for not at all, 1 for fully.
    unlabelled
        What the confidence alone says, without any label. It assumes that the model's confidences are calibrated on
        these rows; it is an estimate and no verdict.
    truth
        The loss over all rows, which the evaluation knows and no estimate uses; None if it is unknown.
    width_ratio
        The width of the powered interval divided by that of the labelled rows alone; NaN if they are of another kind.
    best_ratio
        The least ratio that any confidence could have reached, for the error; NaN for other losses.
    alpha
        The probability with which each interval is wrong.
    n_folds
        The number of folds, over which numbers are means.
    note
        Why there is no interval, or what kind it is; empty for the usual one.

    Examples
    --------
    >>> sizes, alone, powered = (20_000, 1000, 217), (0.217, (0.192, 0.242)), (0.217, (0.196, 0.238))
    >>> estimate = LabelEstimate("tree", "error", *sizes, *alone, *powered, 1.0, 0.21, 0.212, 0.83, 0.8)
    >>> print(estimate)
    tree: error 21.70% [19.60, 23.80] over 20,000 rows, from 1,000 labels (5.0%) and the confidence in the other rows; \
from the labelled rows alone 21.70% [19.20, 24.20]. The interval is 0.83 times as wide, at best 0.80. The truth, \
21.20%, lies inside.
    >>> print(estimate.without_labels)
    tree: by its confidence alone, without any label, its error would be 21.00%, 0.20 points below the truth. That \
assumes that the model's confidences are calibrated on these rows.
    """

    learner: str
    measure: str
    n_rows: int
    n_labelled: int
    n_errors: int
    labelled: float
    labelled_interval: tuple[float, float] | None
    powered: float
    powered_interval: tuple[float, float] | None
    tuning: float
    unlabelled: float
    truth: float | None
    width_ratio: float = float("nan")
    best_ratio: float = float("nan")
    alpha: float = 0.05
    n_folds: int = 1
    note: str = ""

    @property
    def is_covered(self) -> bool | None:
        """Whether the truth lies in the powered interval; None if one of the two is missing."""
        if self.truth is None or self.powered_interval is None:
            return None
        return self.powered_interval[0] <= self.truth <= self.powered_interval[1]

    @property
    def offset(self) -> float | None:
        """By how much the estimate without labels is above the truth; None if that is unknown."""
        return None if self.truth is None else self.unlabelled - self.truth

    def __str__(self) -> str:
        if not self.n_labelled:
            why = self.note or "no label has arrived"
            text = f"{self.learner}: no estimate of its {self.measure} over {self.n_rows:,} rows from labels: {why}."
            return text if self.truth is None else f"{text} The truth is {format_value(self.truth, RATE)}%."
        share = f"{self.n_labelled:,} labels ({100 * self.n_labelled / self.n_rows:.1f}%)"
        folds = f", mean of {self.n_folds} folds" if self.n_folds > 1 else ""
        value = _format_estimate(self.powered, self.powered_interval)
        text = f"{self.learner}: {self.measure} {value} over {self.n_rows:,} rows{folds}, from {share}"
        text += " and the confidence in the other rows; from the labelled rows alone "
        text += f"{_format_estimate(self.labelled, self.labelled_interval)}."
        text += f" {self.note[0].upper()}{self.note[1:]}." if self.note else ""
        if np.isfinite(self.width_ratio):
            best = f", at best {self.best_ratio:.2f}" if np.isfinite(self.best_ratio) else ""
            text += f" The interval is {self.width_ratio:.2f} times as wide{best}."
        if self.truth is None:
            return text
        inside = {True: ", lies inside", False: ", lies outside", None: ""}[self.is_covered]
        truth = f"{format_value(self.truth, RATE)}%"
        return f"{text} The truth, {truth}{inside}." if inside else f"{text} The truth is {truth}."

    @property
    def without_labels(self) -> str:
        """The estimate without labels, what it assumes, and how far it is off, in words."""
        text = f"{self.learner}: by its confidence alone, without any label, its {self.measure} would be "
        text += f"{format_value(self.unlabelled, RATE)}%"
        if self.offset is not None:
            side = "above" if self.offset >= 0.0 else "below"
            text += f", {format_value(abs(self.offset), RATE)} points {side} the truth"
        return f"{text}. That assumes that the model's confidences are calibrated on these rows."


def _format_estimate(value: float, interval: tuple[float, float] | None) -> str:
    text = f"{format_value(value, RATE)}%"
    return text if interval is None else f"{text} [{', '.join(format_value(end, RATE) for end in interval)}]"


@dataclass(frozen=True)
class Feedback:
    """What happened to the labels in a run.

    Parameters
    ----------
    n_revealed
        Rows whose label arrived.
    n_owed
        Rows whose label was still due at the end.
    n_hidden
        Rows whose label exists but never arrives.
    n_unknown
        Rows whose label is unknown: they are neither learnt nor scored.
    n_scored
        Predictions scored per fold, int64 [k].
    n_left_out
        Rows that were not scored because they were tested before the first late label could be learnt.
    longest_delay
        The greatest number of rows between a row and the arrival of its label.

    Examples
    --------
    >>> Feedback(900, 100, 0, 0, np.array([1000])).sentence
    'Labels: 900 arrived, 100 were still due at the end. Predictions scored: 1,000 in each fold.'
    >>> Feedback(900, 100, 0, 0, np.array([900]), n_left_out=100).sentence[-67:]
    'Left out: 100 rows that were tested before a label could be learnt.'
    """

    n_revealed: int
    n_owed: int
    n_hidden: int
    n_unknown: int
    n_scored: NDArray[np.int64]
    n_left_out: int = 0
    longest_delay: int = 0

    @property
    def sentence(self) -> str:
        """What happened to the labels, in words; empty if all of them arrived."""
        if not (self.n_owed or self.n_hidden or self.n_unknown or self.n_left_out):
            return ""
        phrases = [
            f"{self.n_revealed:,} arrived",
            *([f"{self.n_owed:,} {'was' if self.n_owed == 1 else 'were'} still due at the end"] if self.n_owed else []),
            *([f"{self.n_hidden:,} never arrive{'s' if self.n_hidden == 1 else ''}"] if self.n_hidden else []),
            *([f"{self.n_unknown:,} {'is' if self.n_unknown == 1 else 'are'} unknown"] if self.n_unknown else []),
        ]
        sentence = f"Labels: {', '.join(phrases)}. Predictions scored: {self.n_scored.mean():,.0f} in each fold."
        if not self.n_left_out:
            return sentence
        rows = "1 row that was" if self.n_left_out == 1 else f"{self.n_left_out:,} rows that were"
        remedy = "" if self.n_revealed else " No label arrived: set a shorter delay, or evaluate more rows."
        return f"{sentence} Left out: {rows} tested before a label could be learnt.{remedy}"


@dataclass(frozen=True)
class Resources:
    """What each learner cost in each fold: reading, scoring and other learners are not charged.

    Parameters
    ----------
    rows
        The reading rows of the figures, int64 [s], ascending; the last are the totals.
    cpu_seconds, wall_seconds
        Time taken since the start, float64 [s, learners, folds].
    predict_share
        The share of that time spent on predicting; the rest was spent on learning. From a sample of rows.
    n_bytes
        The memory of the model, int64 [s, learners, folds].
    ram_hours
        Gigabytes (2^30) of the model times hours of CPU since the start, float64 [s, learners, folds].
    n_predicted, n_learnt
        Rows predicted and learnt, int64 [learners, folds].
    latency
        Seconds per row, float64 [learners, folds, 2, percentiles]: predicting it, then learning it.
    percentiles
        The percentiles of `latency`.
    n_timed
        Rows of the sample that was timed one by one, int64 [learners, folds].
    n_late
        Predictions that exceeded the time budget, each an error, int64 [learners, folds].
    peak_rss
        The peak memory of the whole process in bytes; None if the system does not provide it.
    cpu_clock
        "process" if CPU time includes all threads of a learner, "thread" if only the calling one.

    Examples
    --------
    >>> one, count = np.ones((1, 1, 1)), np.ones((1, 1), dtype=np.int64)
    >>> latency = np.zeros((1, 1, 2, 1))
    >>> counts = (count, count, latency, (50.0,), count, 0 * count)
    >>> cost = Resources(np.array([9]), 2 * one, one, one / 4, one, one, *counts)
    >>> cost.predict_seconds.item(), cost.learn_seconds.item(), cost.rows_per_second.item()
    (0.5, 1.5, 9.0)
    """

    rows: NDArray[np.int64]
    cpu_seconds: NDArray[np.float64]
    wall_seconds: NDArray[np.float64]
    predict_share: NDArray[np.float64]
    n_bytes: NDArray[np.int64]
    ram_hours: NDArray[np.float64]
    n_predicted: NDArray[np.int64]
    n_learnt: NDArray[np.int64]
    latency: NDArray[np.float64]
    percentiles: tuple[float, ...]
    n_timed: NDArray[np.int64]
    n_late: NDArray[np.int64]
    peak_rss: int | None = None
    cpu_clock: str = "thread"

    def select(self, indices: Sequence[int]) -> "Resources":
        """Return the figures of some learners."""
        along_rows = ("cpu_seconds", "wall_seconds", "predict_share", "n_bytes", "ram_hours")
        once = ("n_predicted", "n_learnt", "latency", "n_timed", "n_late")
        chosen = {name: getattr(self, name)[:, indices] for name in along_rows}
        return replace(self, **chosen, **{name: getattr(self, name)[indices] for name in once})

    @property
    def predict_seconds(self) -> NDArray[np.float64]:
        """CPU seconds spent on predicting, float64 [s, learners, folds]."""
        return self.cpu_seconds * self.predict_share

    @property
    def learn_seconds(self) -> NDArray[np.float64]:
        """CPU seconds spent on learning, float64 [s, learners, folds]."""
        return self.cpu_seconds * (1.0 - self.predict_share)

    @property
    def rows_per_second(self) -> NDArray[np.float64]:
        """Rows of the stream per second of a learner's wall time, float64 [learners, folds]."""
        speed: NDArray[np.float64] = self.rows[-1] / np.maximum(self.wall_seconds[-1], 1e-9)
        return speed


@dataclass(frozen=True)
class Failure:
    """A learner that failed in a fold, at a row of the stream; its readings from there on are NaN.

    Examples
    --------
    >>> print(Failure("mine", 2, 1500, "ValueError: too hot"))
    learner 'mine' failed in fold 2 at row 1500: ValueError: too hot
    """

    learner: str
    fold: int
    row: int
    error: str

    def __str__(self) -> str:
        return f"learner {self.learner!r} failed in fold {self.fold} at row {self.row}: {self.error}"
