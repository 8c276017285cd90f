"""Readings arranged for showing: a panel is one measure under one forgetting, for all learners and folds."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Final, RunData, best_of

__all__ = ["Panel", "panel_of", "panels"]


@dataclass(frozen=True)
class Panel:
    """One measure under one forgetting.

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
        In what it is told; a rate is shown in percent.

    Examples
    --------
    >>> values = {"tree": np.array([[0.5, 0.75], [0.5, 0.25]]), "bayes": np.array([[0.5, 0.25], [0.5, 0.5]])}
    >>> panel = Panel("accuracy", "Landmark()", np.array([10, 20]), values)
    >>> panel.finals["tree"].mean, panel.best
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
        """How many folds there are."""
        return max(len(values) for values in self.values.values())

    @cached_property
    def finals(self) -> dict[str, Final]:
        """Per learner where it stands at the last row."""
        return {learner: Final(values[:, -1]) for learner, values in self.values.items()}

    @cached_property
    def best(self) -> frozenset[str]:
        """The learners with the best mean at the last row; none where there is no choice."""
        return best_of(self.finals, greater_is_better=not self.lower_is_better)


def panels(results: RunData) -> tuple[Panel, ...]:
    """Arrange the readings of an evaluation, the measures of one forgetting side by side.

    Examples
    --------
    >>> from streamgauge.records import Reading
    >>> readings = [Reading(row, "tree", 0, "accuracy", "Landmark()", row / 100) for row in (10, 20)]
    >>> panels(Results.from_readings(readings, n_rows=20))[0].values["tree"].tolist()
    [[0.1, 0.2]]
    """
    if not results.values.size:
        return ()
    return tuple(
        panel_of(results, measure, forgetting) for forgetting in results.forgettings for measure in results.measures
    )


def panel_of(results: RunData, measure: str | None = None, forgetting: str | None = None) -> Panel:
    """Give the panel of one measure under one forgetting, of the first where none is named.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> panel_of(evaluate(SEA(n_rows=10), NoChange())).measure
    'accuracy'
    """
    if not results.values.size:
        msg = "there are no readings to show"
        raise StreamgaugeError(msg)
    measure = results.measures[0] if measure is None else measure
    forgetting = results.forgettings[0] if forgetting is None else forgetting
    values = {learner: results.curve(learner, measure, forgetting).T for learner in results.learners}
    lower_is_better = not results.greater_is_better(measure)
    return Panel(measure, forgetting, results.rows, values, lower_is_better, results.unit(measure))
