"""What travels along the line: frozen records of NumPy columns.

Rates are in [0, 1]; classes and nominal values are codes from 0; rows are counted from 0.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.tallies import STATISTICS, Tallies, Tally, over_classes

__all__ = [
    "ABSTAINED",
    "DRIFT",
    "DRIFT_KINDS",
    "NEVER",
    "STABLE",
    "STATISTICS",
    "UNLABELLED",
    "WARNING",
    "Alarm",
    "Arrivals",
    "Attribute",
    "Batch",
    "Drift",
    "Failure",
    "Feedback",
    "PairSums",
    "Reading",
    "Resources",
    "Results",
    "Schema",
    "Step",
    "Tallies",
    "Tally",
    "Trace",
    "over_classes",
    "readings_of",
]

UNLABELLED = -1
"""The label of a row whose class is not known."""

ABSTAINED = -1
"""The prediction of a learner that has nothing to say; it is always an error."""

STABLE, WARNING, DRIFT = 0, 1, 2
"""What a detector says after a value."""

NEVER = 1 << 60
"""The row at which a label arrives that never does."""

DRIFT_KINDS = ("sudden", "gradual", "incremental")
"""How a new concept comes."""


@dataclass(frozen=True)
class Attribute:
    """One column of a row.

    Parameters
    ----------
    name
        What it is called.
    values
        The names of its nominal values, whose positions are their codes; None where it is numeric.
    missing
        Whether values may be missing (NaN).

    Examples
    --------
    >>> Attribute("day", values=("monday", "tuesday")).is_nominal
    True
    """

    name: str
    values: tuple[str, ...] | None = None
    missing: bool = False

    @property
    def is_nominal(self) -> bool:
        """Whether it has named values rather than numbers."""
        return self.values is not None


@dataclass(frozen=True)
class Schema:
    """What the rows of a stream look like.

    Examples
    --------
    >>> schema = Schema((Attribute("price"), Attribute("day", ("mo", "tu"))), classes=("up", "down"))
    >>> schema.n_attributes, schema.n_classes, schema.n_values.tolist()
    (2, 2, [0, 2])
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        for kind, names in (("attribute", [a.name for a in self.attributes]), ("class", list(self.classes))):
            repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
            if repeated:
                msg = f"two of the schema have the same {kind} name: {sorted(repeated)[0]!r}"
                raise StreamgaugeError(msg)
        if not self.classes:
            msg = "the schema has no classes"
            raise StreamgaugeError(msg)

    @property
    def n_attributes(self) -> int:
        """How many attributes a row has."""
        return len(self.attributes)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @cached_property
    def n_values(self) -> NDArray[np.uint32]:
        """Per attribute the number of its nominal values, 0 where it is numeric."""
        return np.array([len(a.values or ()) for a in self.attributes], dtype=np.uint32)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Per attribute whether its values may be missing."""
        return np.array([a.missing for a in self.attributes], dtype=np.bool_)

    def check(self, batch: "Batch") -> None:
        """Raise unless every value, label and weight of a batch is what the schema allows."""
        if batch.x.shape[1] != self.n_attributes:
            msg = f"rows have {batch.x.shape[1]} values where the schema has {self.n_attributes} attributes"
            raise StreamgaugeError(msg)
        try:
            _native.check_batch(self.n_values, self.missing, self.n_classes, batch.x, batch.y, batch.weight)
        except ValueError as error:
            msg = f"in the batch that starts at row {batch.start}: {error}"
            raise StreamgaugeError(msg) from None


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a stream.

    Parameters
    ----------
    start
        The position of the first row in the stream.
    x
        Values, float64 [n, d], C-contiguous; a nominal value is its code, a missing one NaN.
    y
        Class codes, int32 [n]; `UNLABELLED` where the class is not known.
    weight
        Instance weights, which learners and measures both heed; None means 1 for all.
    time
        When each row arrived, in seconds; None where rows carry no time.

    Examples
    --------
    >>> len(Batch(0, np.zeros((3, 2)), np.zeros(3, dtype=np.int32)))
    3
    """

    start: int
    x: NDArray[np.float64]
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.y.shape != (len(self.x),):
            msg = f"a batch needs x of shape [n, d] and y of shape [n], not {self.x.shape} and {self.y.shape}"
            raise StreamgaugeError(msg)

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, order=True)
class Drift:
    """A true change of concept in a stream.

    Parameters
    ----------
    position
        The first row that may come from the new concept.
    width
        How many rows the change takes: from row ``position + width`` on there is only the new concept.
    kind
        How it comes: ``sudden`` (at once, width 0), ``gradual`` (rows of both concepts mix) or ``incremental`` (the
        concept itself moves).

    Examples
    --------
    >>> Drift(5000, 1000, "gradual").stop
    6000
    """

    position: int
    width: int = 0
    kind: str = "sudden"

    def __post_init__(self) -> None:
        require_at_least("position", self.position, 0)
        require_at_least("width", self.width, 0)
        if self.kind not in DRIFT_KINDS:
            error = unknown_name("kind of drift", self.kind, DRIFT_KINDS)
            raise error

    @property
    def stop(self) -> int:
        """The first row from which on there is only the new concept."""
        return self.position + self.width


@dataclass(frozen=True)
class Arrivals:
    """When the labels of the rows of a batch arrive, where that is not at once; the later of the two where both are.

    Parameters
    ----------
    row
        The row of the stream after whose test the label is there, int64 [n]; `NEVER` where it never comes.
    time
        When it is there, in seconds, float64 [n]; infinite where it never comes. A row of the stream that comes at that
        time or later comes after it.

    Examples
    --------
    >>> Arrivals(row=np.array([5, NEVER])).time is None
    True
    """

    row: NDArray[np.int64] | None = None
    time: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Step:
    """What to do with each row of a batch in one fold, one after the other.

    A row may stand in it twice: tested when it comes, and learnt when its label does.

    Parameters
    ----------
    batch
        The rows.
    test
        Which rows the learner predicts, before it may learn them; None means all.
    weight
        With which weight it learns each row, 0 for not at all; None means 1 for all.
    revealed
        Which labels it may see; None means all. A row whose label it may not see is, where its weight is above 0, a row
        without a label for learners that can use those.
    row
        Which row of the stream each is, int64 [n]; None where they are consecutive.
    now
        The row of the stream that came last when it is done, int64 [n], ascending; None where that is the row itself.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 2)), np.array([0, 1, 1], dtype=np.int32))
    >>> step = Step(batch, revealed=np.array([True, False, True]))
    >>> step.labels.tolist(), step.rows.tolist(), step.part(1, 3).labels.tolist()
    ([0, -1, 1], [0, 1, 2], [-1, 1])
    """

    batch: Batch
    test: NDArray[np.bool_] | None = None
    weight: NDArray[np.float64] | None = None
    revealed: NDArray[np.bool_] | None = None
    row: NDArray[np.int64] | None = None
    now: NDArray[np.int64] | None = None

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels that may be learnt; `UNLABELLED` where one is hidden."""
        if self.revealed is None:
            return self.batch.y
        return np.where(self.revealed, self.batch.y, np.int32(UNLABELLED))

    @cached_property
    def learning_weight(self) -> NDArray[np.float64] | None:
        """The weight of each row in learning: that of the fold times that of the instance."""
        if self.weight is None or self.batch.weight is None:
            return self.batch.weight if self.weight is None else self.weight
        return self.weight * self.batch.weight

    @cached_property
    def scored(self) -> NDArray[np.intp] | None:
        """The positions in the batch of the rows that are tested and whose class is known; None means all."""
        if self.test is None and self.batch.y.min(initial=0) > UNLABELLED:
            return None
        known = self.batch.y != UNLABELLED
        if self.test is not None:
            known &= self.test
        return None if known.all() else np.flatnonzero(known)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Which row of the stream each is."""
        return np.arange(self.batch.start, self.batch.start + len(self.batch)) if self.row is None else self.row

    @property
    def times(self) -> NDArray[np.int64]:
        """The row of the stream that came last when each is done."""
        return self.rows if self.now is None else self.now

    def part(self, start: int, stop: int) -> "Step":
        """Give some consecutive rows of it."""
        rows, batch = slice(start, stop), self.batch
        weight = None if batch.weight is None else batch.weight[rows]
        time = None if batch.time is None else batch.time[rows]
        return Step(
            Batch(batch.start + start, batch.x[rows], batch.y[rows], weight, time),
            None if self.test is None else self.test[rows],
            None if self.weight is None else self.weight[rows],
            None if self.revealed is None else self.revealed[rows],
            None if self.row is None else self.row[rows],
            None if self.now is None else self.now[rows],
        )


@dataclass(frozen=True)
class Trace:
    """The scored predictions of one learner in one fold, in the order of the rows.

    Parameters
    ----------
    row
        Position of each row in the stream, int64 [n].
    y_true, y_pred
        Class codes, int32 [n]; `y_pred` may be `ABSTAINED`.
    majority_hit, no_change_hit
        Whether the majority class so far, and the class seen last, would have been right; bool [n]. Both baselines
        learn what the fold learns, and predict before they see the label.
    weight
        Instance weights; None means 1 for all.
    votes
        Votes for the classes, float64 [n, c], where a measure wants them.
    time
        When each row arrived, in seconds, where rows carry a time.

    Examples
    --------
    >>> hit = np.array([False, True])
    >>> Trace(np.arange(2), np.array([0, 1]), np.array([0, 0]), hit, hit).correct.tolist()
    [True, False]
    """

    row: NDArray[np.int64]
    y_true: NDArray[np.int32]
    y_pred: NDArray[np.int32]
    majority_hit: NDArray[np.bool_]
    no_change_hit: NDArray[np.bool_]
    weight: NDArray[np.float64] | None = None
    votes: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.row)

    def part(self, start: int, stop: int) -> "Trace":
        """Give some consecutive rows of it."""
        columns: list[Any] = [getattr(self, column.name) for column in fields(self)]
        return Trace(*(None if column is None else column[start:stop] for column in columns))  # type: ignore[arg-type]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which predictions were right."""
        return np.equal(self.y_true, self.y_pred)


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
    """What is known of the difference of two learners, in memory that does not grow with the stream.

    With ``d[i, t]`` = [first right in fold i on row t] - [second right]:

    Parameters
    ----------
    first, second
        Names of the learners.
    n_rows
        Rows that at least one fold scored.
    n_scored
        Rows scored per fold, int64 [k].
    only_first, only_second
        Rows per fold that only the first, and only the second, got right; int64 [k].
    sum_squared_means
        Sum over rows of the squared mean over the folds that scored the row.
    crossed
        Whether every fold scored every row that any scored, as the two-way test needs.
    block_scored
        Scored rows, summed over folds, in each of up to 64 blocks of consecutive rows; int64. Together with
        `block_sums` they show whether neighbouring rows go together; may be left out.
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
        """How many folds there are."""
        return len(self.n_scored)

    @property
    def fold_differences(self) -> NDArray[np.float64]:
        """The difference of the accuracies in each fold."""
        return (self.only_first - self.only_second) / np.maximum(self.n_scored, 1)


@dataclass(frozen=True)
class Feedback:
    """What became of the labels in a run.

    Parameters
    ----------
    n_revealed
        Rows whose label came, so that they could be learnt.
    n_owed
        Rows whose label was still to come at the end.
    n_hidden
        Rows whose label exists but never comes.
    n_unknown
        Rows whose label nobody knows: they are neither learnt nor scored.
    n_scored
        Predictions scored per fold, int64 [k].

    Examples
    --------
    >>> Feedback(900, 100, 0, 0, np.array([1000])).n_owed
    100
    """

    n_revealed: int
    n_owed: int
    n_hidden: int
    n_unknown: int
    n_scored: NDArray[np.int64]


@dataclass(frozen=True)
class Resources:
    """What each learner cost in each fold, for itself alone: reading, scoring and other learners are not charged.

    Parameters
    ----------
    rows
        After how many rows of the stream each figure was taken, int64 [s], ascending; the last are the totals.
    cpu_seconds, wall_seconds
        Time taken since the start, float64 [s, learners, folds].
    predict_share
        The share of that time that went into predicting; the rest went into learning. From a sample of rows.
    n_bytes
        The memory of the model then, int64 [s, learners, folds].
    ram_hours
        Gigabytes (2^30) of the model times hours of CPU since the start, float64 [s, learners, folds].
    n_predicted, n_learnt
        Rows predicted and learnt, int64 [learners, folds].
    latency
        Seconds that a row takes, float64 [learners, folds, 2, percentiles]: predicting it, then learning it.
    percentiles
        Which percentiles `latency` gives.
    n_timed
        Rows of the sample that was timed one by one, int64 [learners, folds].
    n_late
        Predictions that came after the time budget, each an error, int64 [learners, folds].
    peak_rss
        The most memory that the whole process ever held, in bytes; None where the system does not tell.
    cpu_clock
        "process" where CPU time is that of all threads of a learner, "thread" where it is that of the calling one.

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

    @property
    def predict_seconds(self) -> NDArray[np.float64]:
        """CPU seconds that went into predicting, float64 [s, learners, folds]."""
        return self.cpu_seconds * self.predict_share

    @property
    def learn_seconds(self) -> NDArray[np.float64]:
        """CPU seconds that went into learning, float64 [s, learners, folds]."""
        return self.cpu_seconds * (1.0 - self.predict_share)

    @property
    def rows_per_second(self) -> NDArray[np.float64]:
        """Rows of the stream that a learner keeps up with, by its wall time, float64 [learners, folds]."""
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


@dataclass(frozen=True)
class Results:
    """All that an evaluation found: a value for every stop, learner, fold, forgetting and measure.

    Parameters
    ----------
    rows
        The stops: after how many rows of the stream each reading was taken, int64 [s], ascending.
    values
        The readings, float64 [s, learners, folds, forgettings, measures].
    learners, forgettings, measures
        The names along the axes.
    pairs
        The sums of each pair of learners, for tests.
    n_rows
        Rows read from the stream.
    complete
        Whether the stream, or the asked number of rows, was read to the end. False: cut short.
    description
        What was run: stream, learners, scheme, seed, versions and so on.
    feedback
        What became of the labels; None where the results come from elsewhere.
    resources
        What each learner cost; None where it was not measured.
    failures
        The learners that failed, where others went on; they are in no pair.
    alarms
        What detectors said of the errors, in the order of the rows.

    Examples
    --------
    >>> values = np.array([[[[[0.75]], [[0.85]]]]])
    >>> results = Results(np.array([100]), values, ("tree",), ("Landmark()",), ("accuracy",), (), 100, complete=True)
    >>> results.curve("tree", "accuracy").tolist()
    [[0.75, 0.85]]
    >>> [reading.value for reading in results.readings]
    [0.75, 0.85]
    """

    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    learners: tuple[str, ...]
    forgettings: tuple[str, ...]
    measures: tuple[str, ...]
    pairs: tuple[PairSums, ...]
    n_rows: int
    complete: bool
    description: dict[str, object] = field(default_factory=dict)
    feedback: Feedback | None = None
    resources: Resources | None = None
    failures: tuple[Failure, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.values.shape[2])

    @property
    def readings(self) -> Iterator[Reading]:
        """Every reading, in the order of the rows."""
        return readings_of(self.rows, self.values, self.learners, self.forgettings, self.measures)

    @classmethod
    def from_readings(
        cls,
        readings: Iterable[Reading],
        pairs: tuple[PairSums, ...] = (),
        *,
        n_rows: int,
        complete: bool = True,
        description: dict[str, object] | None = None,
    ) -> "Results":
        """Arrange readings that come from elsewhere; a value that is missing is NaN."""
        found = list(readings)
        rows = np.unique(np.array([reading.row for reading in found], dtype=np.int64))
        names = learners, forgettings, measures = (
            tuple(dict.fromkeys(reading.learner for reading in found)),
            tuple(dict.fromkeys(reading.forgetting for reading in found)),
            tuple(dict.fromkeys(reading.measure for reading in found)),
        )
        n_folds = max((reading.fold + 1 for reading in found), default=1)
        values = np.full((len(rows), len(learners), n_folds, len(forgettings), len(measures)), np.nan)
        for r in found:
            place = (learners.index(r.learner), r.fold, forgettings.index(r.forgetting), measures.index(r.measure))
            values[np.searchsorted(rows, r.row), *place] = r.value
        return cls(rows, values, *names, pairs, n_rows, complete, description or {})

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The true drifts of the stream in the rows read, as its maker knows them."""
        known = self.description.get("drifts", ())
        return tuple(Drift(**drift) for drift in known) if isinstance(known, list) else ()

    def greater_is_better(self, measure: str) -> bool:
        """Say whether a greater value of a measure is better; it is, where the description does not tell."""
        return bool(self._facts(measure).get("greater_is_better", True))

    def unit(self, measure: str) -> str:
        """Say in what a measure is told; it is a rate, where the description does not tell."""
        return str(self._facts(measure).get("unit", "rate"))

    def _facts(self, measure: str) -> dict[str, object]:
        measures = self.description.get("measures")
        facts = measures.get(measure) if isinstance(measures, dict) else None
        return facts if isinstance(facts, dict) else {}

    def spread(self, learner: str, measure: str, forgetting: str | None = None) -> NDArray[np.float64]:
        """Give the standard deviation over the folds at each stop, float64 [s]; NaN where fewer than two have a value.

        Examples
        --------
        >>> values = np.array([[[[[0.75]], [[0.85]]]]])
        >>> names = (("tree",), ("Landmark()",), ("accuracy",))
        >>> results = Results(np.array([100]), values, *names, (), 100, complete=True)
        >>> results.spread("tree", "accuracy").round(4).tolist()
        [0.0707]
        """
        curve = self.curve(learner, measure, forgetting)
        defined = ~np.isnan(curve)
        n = defined.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(defined, curve, 0.0).sum(axis=1) / n
            squares = np.where(defined, (curve - mean[:, None]) ** 2, 0.0).sum(axis=1)
            return np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)

    def interval(
        self, learner: str, measure: str = "error", bound: str = "hoeffding", forgetting: str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the ends of the confidence intervals of the error or the accuracy, each float64 [s, folds].

        The bound, ``hoeffding`` or ``chernoff``, must be among the measures. Ends are kept in [0, 1].

        Examples
        --------
        >>> values = np.array([[[[[0.25, 0.5]]]]])
        >>> names = (("tree",), ("Landmark()",), ("error", "hoeffding"))
        >>> low, high = Results(np.array([8]), values, *names, (), 8, complete=True).interval("tree")
        >>> low.tolist(), high.tolist()
        ([[0.0]], [[0.75]])
        """
        if measure not in ("error", "accuracy"):
            msg = f"the bounds are those of the error and the accuracy, not of {measure}"
            raise StreamgaugeError(msg)
        middle, half = (self.curve(learner, name, forgetting) for name in (measure, bound))
        return np.clip(middle - half, 0.0, 1.0), np.clip(middle + half, 0.0, 1.0)

    def n_undefined(self, learner: str, measure: str, forgetting: str | None = None) -> int:
        """Count the readings, over stops and folds, at which a measure is not defined."""
        return int(np.isnan(self.curve(learner, measure, forgetting)).sum())

    def curve(self, learner: str, measure: str, forgetting: str | None = None) -> NDArray[np.float64]:
        """Give the readings of one learner, float64 [s, folds]; the first forgetting where none is named."""
        forgetting = self.forgettings[0] if forgetting is None else forgetting
        return self.values[
            :,
            _place("learner", learner, self.learners),
            :,
            _place("forgetting", forgetting, self.forgettings),
            _place("measure", measure, self.measures),
        ]


def readings_of(
    rows: NDArray[np.int64],
    values: NDArray[np.float64],
    learners: tuple[str, ...],
    forgettings: tuple[str, ...],
    measures: tuple[str, ...],
) -> Iterator[Reading]:
    """Give the values of a grid [s, learners, folds, forgettings, measures] one by one.

    Examples
    --------
    >>> grid = np.full((1, 1, 1, 1, 1), 0.5)
    >>> next(readings_of(np.array([10]), grid, ("tree",), ("Landmark()",), ("accuracy",)))
    Reading(row=10, learner='tree', fold=0, measure='accuracy', forgetting='Landmark()', value=0.5)
    """
    for (s, m, k, f, q), value in np.ndenumerate(values):
        yield Reading(int(rows[s]), learners[m], k, measures[q], forgettings[f], float(value))


def _place(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise unknown_name(kind, name, names)
    return names.index(name)
