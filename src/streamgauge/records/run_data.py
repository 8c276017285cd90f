"""The data of a run: readings, pairs, costs, alarms, verdicts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.times import format_moment, increases, shows_dates
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records.blocks import BlockTallies
from streamgauge.records.history import Confusions, Differences, LabelCounts
from streamgauge.records.readings import (
    Alarm,
    Failure,
    Feedback,
    LabelEstimate,
    ModelVerdict,
    PairSums,
    Reading,
    Resources,
    Verdict,
    name_row,
)
from streamgauge.records.rows import Drift

__all__ = [
    "Final",
    "RunData",
    "find_common_times",
    "list_readings",
    "name_dated_row",
    "select_best",
]


@dataclass(frozen=True)
class Final:
    """The value of a measure for one learner at the last reading, fold by fold.

    Parameters
    ----------
    folds
        The value of each fold, float64 [k]; NaN if it is undefined.

    Examples
    --------
    >>> final = Final(np.array([0.5, 0.7, np.nan]))
    >>> round(final.mean, 4), round(final.deviation, 4), final.n_defined
    (0.6, 0.1414, 2)
    """

    folds: NDArray[np.float64]

    @cached_property
    def _defined(self) -> NDArray[np.float64]:
        return self.folds[np.isfinite(self.folds)]

    @property
    def n_defined(self) -> int:
        """How many folds have a value."""
        return len(self._defined)

    @property
    def mean(self) -> float:
        """The mean over the folds with a value; NaN if there are none."""
        return float(self._defined.mean()) if self.n_defined else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation over the folds with a value; NaN if there are fewer than two."""
        return float(self._defined.std(ddof=1)) if self.n_defined > 1 else float("nan")


@dataclass(frozen=True)
class RunData:
    """The data of a run: a value for every reading, learner, fold, forgetting and measure.

    Parameters
    ----------
    rows
        The reading rows: after how many rows of the stream each reading was taken, int64 [s], ascending.
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
        What was run: stream, learners, scheme, seed, versions and more.
    feedback
        What happened to the labels; None if the data come from elsewhere.
    resources
        What each learner cost; None if it was not measured.
    failures
        The learners that failed while others continued; they are in no pair.
    alarms
        The alarms of detectors on the errors, in the order of the rows.
    verdicts
        What is known of each pair of learners at the end, in each compared measure, and since which row.
    model_verdicts
        What is known of each learner and requirement at the end, and since which row.
    label_estimates
        What the labels of a random share of the rows say about each learner; empty if all labels arrive.
    labels
        Classes and labels along the run; None if the data come from elsewhere.
    confusions
        Confusion matrices along the run; None if they were not kept.
    differences
        The differences of all pairs along the run; None without a live test.
    blocks
        The tallies of blocks of rows, from which any measure is tested; None if there is one learner.
    times
        The time of the last row before each reading, in seconds since 1970 (UTC), float64 [s]; None if the rows carry
        no times.
    own_measures
        The measures of the run by name, while it is in memory; they are not saved.

    Examples
    --------
    >>> values = np.array([[[[[0.75]], [[0.85]]]]])
    >>> results = RunData(np.array([100]), values, ("tree",), ("Landmark()",), ("accuracy",), (), 100, complete=True)
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
    verdicts: tuple[Verdict, ...] = ()
    model_verdicts: tuple[ModelVerdict, ...] = ()
    label_estimates: tuple[LabelEstimate, ...] = ()
    labels: LabelCounts | None = None
    confusions: Confusions | None = None
    differences: Differences | None = None
    blocks: BlockTallies | None = None
    times: NDArray[np.float64] | None = None
    own_measures: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "own_measures": {}}  # functions of users cannot always be pickled

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.values.shape[2])

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes; None if the data do not hold them."""
        record = self.labels or self.confusions
        return None if record is None else record.classes

    @property
    def has_time_axis(self) -> bool:
        """Whether curves can be drawn over time: the rows carry times, which increase along the run."""
        return self.times is not None and increases(self.times)

    def find_times(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return the times at which numbers of rows were done, float64: exact at readings, interpolated between them.

        Rows before the first reading get its time.

        Examples
        --------
        >>> from streamgauge import NoChange, evaluate
        >>> from streamgauge.streams import ArrayStream
        >>> stream = ArrayStream(np.zeros((4, 1)), [0, 1, 0, 1], time=[10.0, 20.0, 40.0, 80.0])
        >>> results = evaluate(stream, NoChange(), every=2)
        >>> results.times.tolist(), results.find_times([2, 3, 4]).tolist()
        ([20.0, 80.0], [20.0, 50.0, 80.0])
        """
        if self.times is None:
            msg = "the rows of this run carry no times: name the column of times with time= (--time)"
            raise StreamgaugeError(msg)
        return np.interp(np.asarray(rows, dtype=np.float64), self.rows, self.times)

    def name_row(self, row: int) -> str:
        """Return the name of a row in a sentence, with its date (UTC) where rows have one.

        Examples
        --------
        >>> from streamgauge import NoChange, evaluate
        >>> from streamgauge.streams import ArrayStream
        >>> stream = ArrayStream(np.zeros((4, 1)), [0, 1, 0, 1], time=1.7e9 + 86_400 * np.arange(4))
        >>> evaluate(stream, NoChange(), every=2).name_row(4)
        'row 4 (2023-11-17 22:13)'
        """
        return name_row(row) if self.times is None else name_dated_row(row, self.rows, self.times)

    @property
    def readings(self) -> Iterator[Reading]:
        """Every reading, in the order of the rows."""
        return list_readings(self.rows, self.values, self.learners, self.forgettings, self.measures)

    @classmethod
    def from_readings(
        cls,
        readings: Iterable[Reading],
        pairs: tuple[PairSums, ...] = (),
        *,
        n_rows: int,
        complete: bool = True,
        description: dict[str, object] | None = None,
    ) -> Self:
        """Arrange readings from elsewhere; a missing value is NaN."""
        known = list(readings)
        rows = np.unique(np.array([reading.row for reading in known], dtype=np.int64))
        names = learners, forgettings, measures = (
            tuple(dict.fromkeys(reading.learner for reading in known)),
            tuple(dict.fromkeys(reading.forgetting for reading in known)),
            tuple(dict.fromkeys(reading.measure for reading in known)),
        )
        n_folds = max((reading.fold + 1 for reading in known), default=1)
        values = np.full((len(rows), len(learners), n_folds, len(forgettings), len(measures)), np.nan)
        for r in known:
            index = (learners.index(r.learner), r.fold, forgettings.index(r.forgetting), measures.index(r.measure))
            values[np.searchsorted(rows, r.row), *index] = r.value
        return cls(rows, values, *names, pairs, n_rows, complete, description or {})

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The true drifts of the stream in the rows read, if the stream knows them."""
        known = self.description.get("drifts", ())
        return tuple(Drift(**drift) for drift in known) if isinstance(known, list) else ()

    def select(self, learners: str | Sequence[str]) -> Self:
        """Return the data of one learner or of several, with what is known of pairs of them.

        Examples
        --------
        >>> from streamgauge import SEA, evaluate
        >>> results = evaluate(SEA(n_rows=100), ["NoChange", "MajorityClass", "NaiveBayes"])
        >>> results.select("NaiveBayes").learners, len(results.select(["NaiveBayes", "NoChange"]).pairs)
        (('NaiveBayes',), 1)
        """
        names = tuple(dict.fromkeys([learners] if isinstance(learners, str) else learners))
        indices = [_find_index("learner", name, self.learners) for name in names]
        described = self.description.get("learners")
        chosen = {name: described[name] for name in names if name in described} if isinstance(described, dict) else {}

        def keeps(*of_record: str) -> bool:
            return set(names).issuperset(of_record)

        return replace(
            self,
            values=self.values[:, indices],
            learners=names,
            pairs=tuple(pair for pair in self.pairs if keeps(pair.first, pair.second)),
            description={**self.description, "learners": chosen} if chosen else self.description,
            resources=None if self.resources is None else self.resources.select(indices),
            failures=tuple(failure for failure in self.failures if keeps(failure.learner)),
            alarms=tuple(alarm for alarm in self.alarms if keeps(alarm.learner)),
            verdicts=tuple(verdict for verdict in self.verdicts if keeps(verdict.first, verdict.second)),
            model_verdicts=tuple(verdict for verdict in self.model_verdicts if keeps(verdict.learner)),
            label_estimates=tuple(estimate for estimate in self.label_estimates if keeps(estimate.learner)),
            confusions=None
            if self.confusions is None
            else replace(self.confusions, weights=self.confusions.weights[:, indices]),
            differences=None if self.differences is None else self.differences.select(names),
            blocks=None if self.blocks is None else self.blocks.select_learners(indices),
        )

    def greater_is_better(self, measure: str) -> bool:
        """Return whether a greater value of a measure is better; True if the description does not say."""
        return bool(self._facts(measure).get("greater_is_better", True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user must know about the run, such as columns that were left out; a sentence each."""
        notes = self.description.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list | tuple) else ()

    def unit(self, measure: str) -> str:
        """Return the unit of a measure; a rate if the description does not say."""
        return str(self._facts(measure).get("unit", "rate"))

    def _facts(self, measure: str) -> dict[str, object]:
        measures = self.description.get("measures")
        facts = measures.get(measure) if isinstance(measures, dict) else None
        return facts if isinstance(facts, dict) else {}

    def spread(self, learner: str, measure: str, forgetting: str | None = None) -> NDArray[np.float64]:
        """Return the standard deviation over the folds at each reading, float64 [s]; NaN for fewer than two values.

        Examples
        --------
        >>> values = np.array([[[[[0.75]], [[0.85]]]]])
        >>> names = (("tree",), ("Landmark()",), ("accuracy",))
        >>> results = RunData(np.array([100]), values, *names, (), 100, complete=True)
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
        """Return the ends of the confidence intervals of the error, the accuracy or a mean loss, each [s, folds].

        The bound, such as ``hoeffding`` or ``chernoff``, must be among the measures. Ends of the error and the accuracy
        are clipped to [0, 1]. A mean cost or utility needs a Hoeffding bound with the range of its values, such as
        ``hoeffding(range=10)``.

        Examples
        --------
        >>> values = np.array([[[[[0.25, 0.5]]]]])
        >>> names = (("tree",), ("Landmark()",), ("error", "hoeffding"))
        >>> low, high = RunData(np.array([8]), values, *names, (), 8, complete=True).interval("tree")
        >>> low.tolist(), high.tolist()
        ([[0.0]], [[0.75]])
        """
        is_rate = measure in ("error", "accuracy")
        has_range = bound.startswith("hoeffding(") and "range=" in bound and self.unit(measure) == "per row"
        if not is_rate and not has_range:
            known = "of the error, the accuracy and, with hoeffding(range=R), of a cost"
            msg = f"the bounds are those {known}, not of {measure}"
            raise StreamgaugeError(msg)
        middle, half = (self.curve(learner, name, forgetting) for name in (measure, bound))
        low, high = (0.0, 1.0) if is_rate else (-np.inf, np.inf)
        return np.clip(middle - half, low, high), np.clip(middle + half, low, high)

    def final(self, learner: str, measure: str, forgetting: str | None = None) -> Final:
        """Return the values of a learner at the last reading; under the first forgetting by default.

        Examples
        --------
        >>> values = np.array([[[[[0.75]], [[0.85]]]]])
        >>> names = (("tree",), ("Landmark()",), ("accuracy",))
        >>> round(RunData(np.array([100]), values, *names, (), 100, complete=True).final("tree", "accuracy").mean, 4)
        0.8
        """
        curve = self.curve(learner, measure, forgetting)
        return Final(curve[-1] if len(curve) else np.full(self.n_folds, np.nan))

    def best(self, measure: str, forgetting: str | None = None) -> frozenset[str]:
        """Return the learners with the best mean at the last reading; empty for fewer than two learners.

        Examples
        --------
        >>> names = (("tree", "bayes"), ("Landmark()",), ("accuracy",))
        >>> results = RunData(np.array([9]), np.array([0.5, 0.75]).reshape(1, 2, 1, 1, 1), *names, (), 9, complete=True)
        >>> results.best("accuracy")
        frozenset({'bayes'})
        """
        finals = {learner: self.final(learner, measure, forgetting) for learner in self.learners}
        return select_best(finals, greater_is_better=self.greater_is_better(measure))

    def count_undefined(self, learner: str, measure: str, forgetting: str | None = None) -> int:
        """Count the readings, over rows and folds, at which a measure is undefined."""
        return int(np.isnan(self.curve(learner, measure, forgetting)).sum())

    def curve(self, learner: str, measure: str, forgetting: str | None = None) -> NDArray[np.float64]:
        """Return the readings of one learner, float64 [s, folds]; under the first forgetting by default."""
        forgetting = self.forgettings[0] if forgetting is None else forgetting
        return self.values[
            :,
            _find_index("learner", learner, self.learners),
            :,
            _find_index("forgetting", forgetting, self.forgettings),
            _find_index("measure", measure, self.measures),
        ]


def name_dated_row(row: int, rows: ArrayLike, times: NDArray[np.float64]) -> str:
    """Return the name of a row with its date, if the times of some rows are dates that increase.

    Examples
    --------
    >>> name_dated_row(10, [0, 20], np.array([1.7e9, 1.7e9 + 86_400 * 40]))
    'row 10 (2023-12-04)'
    >>> name_dated_row(10, [0, 20], np.array([0.0, 9.0]))
    'row 10'
    """
    if not (increases(times) and shows_dates(times)):
        return name_row(row)
    moment = format_moment(
        float(np.interp(row, np.asarray(rows, dtype=np.float64), times)), float(times[-1] - times[0])
    )
    return f"{name_row(row)} ({moment})"


def find_common_times(columns: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    """Return the times of the same readings in several runs, if all of them agree; else None.

    Examples
    --------
    >>> same = np.array([1.5, 2.5])
    >>> find_common_times([same, same.copy()]).tolist(), find_common_times([same, None])
    ([1.5, 2.5], None)
    """
    first = columns[0]
    agree = first is not None and all(other is not None and np.array_equal(first, other) for other in columns)
    return first if agree else None


def select_best(finals: Mapping[str, Final], *, greater_is_better: bool) -> frozenset[str]:
    """Return the learners with the best mean; empty for fewer than two learners.

    Examples
    --------
    >>> select_best({"tree": Final(np.array([0.5])), "bayes": Final(np.array([0.25]))}, greater_is_better=True)
    frozenset({'tree'})
    """
    means = {learner: final.mean for learner, final in finals.items() if final.n_defined}
    if len(means) < 2:
        return frozenset()
    best = max(means.values()) if greater_is_better else min(means.values())
    return frozenset(learner for learner, mean in means.items() if mean == best)


def list_readings(
    rows: NDArray[np.int64],
    values: NDArray[np.float64],
    learners: tuple[str, ...],
    forgettings: tuple[str, ...],
    measures: tuple[str, ...],
) -> Iterator[Reading]:
    """Yield the values of a grid [s, learners, folds, forgettings, measures] one by one.

    Examples
    --------
    >>> grid = np.full((1, 1, 1, 1, 1), 0.5)
    >>> next(list_readings(np.array([10]), grid, ("tree",), ("Landmark()",), ("accuracy",)))
    Reading(row=10, learner='tree', fold=0, measure='accuracy', forgetting='Landmark()', value=0.5)
    """
    for (s, m, k, f, q), value in np.ndenumerate(values):
        yield Reading(int(rows[s]), learners[m], k, measures[q], forgettings[f], float(value))


def _find_index(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise unknown_name(kind, name, names)
    return names.index(name)
