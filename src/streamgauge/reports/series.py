"""Readings and counts arranged for display: a series is one measure with one forgetting, for all learners and folds."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Final, LabelCounts, RunData, select_best

__all__ = ["Series", "choose_moments", "compute_class_balance", "find_series", "list_series", "name_label_counts"]

MAX_STEPS = 200
"""The number of steps that a class balance is shown in."""


@dataclass(frozen=True)
class Series:
    """One measure with one forgetting.

    Parameters
    ----------
    measure, forgetting
        Their names, as in the readings.
    rows
        The rows at which any cell was read, ascending, int64 [n].
    values
        Per learner the value of each fold at each row, float64 [k, n]; NaN where there is none.
    lower_is_better
        Whether the least value is the best.
    unit
        The unit of the measure; a rate is shown in percent.

    Examples
    --------
    >>> values = {"tree": np.array([[0.5, 0.75], [0.5, 0.25]]), "bayes": np.array([[0.5, 0.25], [0.5, 0.5]])}
    >>> series = Series("accuracy", "Landmark()", np.array([10, 20]), values)
    >>> series.finals["tree"].mean, series.best
    (0.5, frozenset({'tree'}))
    """

    measure: str
    forgetting: str
    rows: NDArray[np.int64]
    values: dict[str, NDArray[np.float64]]
    lower_is_better: bool = False
    unit: str = "rate"

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return max(len(values) for values in self.values.values())

    @cached_property
    def finals(self) -> dict[str, Final]:
        """The final value of each learner."""
        return {learner: Final(values[:, -1]) for learner, values in self.values.items()}

    @cached_property
    def best(self) -> frozenset[str]:
        """The learners with the best mean at the last row; empty if there is only one learner."""
        return select_best(self.finals, greater_is_better=not self.lower_is_better)


def list_series(results: RunData) -> tuple[Series, ...]:
    """Return all series of a run, grouped by forgetting.

    Examples
    --------
    >>> from streamgauge.records import Reading
    >>> readings = [Reading(row, "tree", 0, "accuracy", "Landmark()", row / 100) for row in (10, 20)]
    >>> list_series(RunData.from_readings(readings, n_rows=20))[0].values["tree"].tolist()
    [[0.1, 0.2]]
    """
    if not results.values.size:
        return ()
    return tuple(
        find_series(results, measure, forgetting) for forgetting in results.forgettings for measure in results.measures
    )


def find_series(results: RunData, measure: str | None = None, forgetting: str | None = None) -> Series:
    """Return the series of a measure and a forgetting, by default the first of each.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> find_series(evaluate(SEA(n_rows=10), NoChange())).measure
    'accuracy'
    """
    if not results.values.size:
        msg = "the results contain no readings"
        raise StreamgaugeError(msg)
    measure = results.measures[0] if measure is None else measure
    forgetting = results.forgettings[0] if forgetting is None else forgetting
    return Series(
        measure=measure,
        forgetting=forgetting,
        rows=results.rows,
        values={learner: results.curve(learner, measure, forgetting).T for learner in results.learners},
        lower_is_better=not results.greater_is_better(measure),
        unit=results.unit(measure),
    )


def compute_class_balance(counts: LabelCounts, limit: int = MAX_STEPS) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the share of each class in up to `limit` segments of the run: their last rows, and float64 [n, classes].

    The segments cover all rows. The shares of a segment without known classes are 0.

    Examples
    --------
    >>> zeros = np.zeros(2, dtype=np.int64)
    >>> counts = LabelCounts(np.array([10, 20]), ("a", "b"), np.array([[5, 5], [5, 15]]), zeros, zeros, zeros)
    >>> compute_class_balance(counts)[1].tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    moments = choose_moments(len(counts.rows), limit)
    per_segment = np.diff(counts.by_class[moments], axis=0, prepend=0)
    shares: NDArray[np.float64] = per_segment / np.maximum(per_segment.sum(axis=1, keepdims=True), 1)
    return counts.rows[moments], shares


def name_label_counts(counts: LabelCounts) -> dict[str, NDArray[np.int64]]:
    """Return the counts of labels along the run by their titles.

    Examples
    --------
    >>> zeros = np.zeros(2, dtype=np.int64)
    >>> counts = LabelCounts(np.array([10, 20]), ("a", "b"), np.array([[5, 5], [5, 15]]), zeros, zeros, zeros)
    >>> list(name_label_counts(counts))
    ['arrived', 'pending', 'hidden', 'unknown']
    """
    return {
        "arrived": counts.n_revealed,
        "pending": counts.n_owed,
        "hidden": counts.n_hidden,
        "unknown": counts.n_unknown,
    }


def choose_moments(n: int, limit: int) -> NDArray[np.int64]:
    """Return up to `limit` evenly spaced indices below n, including the last.

    Examples
    --------
    >>> choose_moments(10, 4).tolist(), choose_moments(2, 4).tolist()
    ([2, 4, 7, 9], [0, 1])
    """
    return np.unique(np.ceil(np.arange(1, limit + 1) * n / limit).astype(np.int64)) - 1 if n > limit else np.arange(n)
