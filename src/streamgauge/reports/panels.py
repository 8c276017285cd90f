"""Readings arranged for showing: a panel is one measure under one forgetting, for all learners and folds."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Reading, Results

__all__ = ["Final", "Panel", "panels"]

Cell = tuple[list[int], list[float]]
"""The rows and values of one learner in one fold."""


@dataclass(frozen=True)
class Final:
    """Where one learner stands at the last row.

    Parameters
    ----------
    folds
        The value of each fold, float64 [k]; NaN where it is undefined.

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
        """The mean over the folds that have a value; NaN where none has."""
        return float(self._defined.mean()) if self.n_defined else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation over the folds that have a value; NaN where fewer than two have."""
        return float(self._defined.std(ddof=1)) if self.n_defined > 1 else float("nan")


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
        means = {learner: final.mean for learner, final in self.finals.items() if final.n_defined}
        if len(means) < 2:
            return frozenset()
        best = min(means.values()) if self.lower_is_better else max(means.values())
        return frozenset(learner for learner, mean in means.items() if mean == best)


def panels(results: Results) -> tuple[Panel, ...]:
    """Arrange the readings of an evaluation, the measures of one forgetting side by side.

    A measure of which less is better is so if the description lists its name under ``"lower_is_better"``.

    Examples
    --------
    >>> readings = tuple(Reading(row, "tree", 0, "accuracy", "Landmark()", row / 100) for row in (10, 20))
    >>> panels(Results(readings, (), 20, complete=True))[0].values["tree"].tolist()
    [[0.1, 0.2]]
    """
    cells = _by_cell(results.readings)
    forgettings = list(dict.fromkeys(forgetting for _, forgetting in cells))
    named = results.description.get("lower_is_better", ())
    lower = named if isinstance(named, list | tuple) else ()
    return tuple(
        _panel(measure, forgetting, of_learners, lower_is_better=measure in lower)
        for wanted in forgettings
        for (measure, forgetting), of_learners in cells.items()
        if forgetting == wanted
    )


def _by_cell(readings: Iterable[Reading]) -> dict[tuple[str, str], dict[str, dict[int, Cell]]]:
    """Group readings by measure and forgetting, then learner, then fold."""
    cells: dict[tuple[str, str], dict[str, dict[int, Cell]]] = {}
    for reading in readings:
        of_learners = cells.setdefault((reading.measure, reading.forgetting), {})
        rows, values = of_learners.setdefault(reading.learner, {}).setdefault(reading.fold, ([], []))
        rows.append(reading.row)
        values.append(reading.value)
    return cells


def _panel(measure: str, forgetting: str, of_learners: dict[str, dict[int, Cell]], *, lower_is_better: bool) -> Panel:
    """Align the cells of a panel on the rows at which any of them was read."""
    rows = np.unique(np.concatenate([rows for folds in of_learners.values() for rows, _ in folds.values()]))
    n_folds = 1 + max(fold for folds in of_learners.values() for fold in folds)
    values = {learner: np.full((n_folds, len(rows)), np.nan) for learner in of_learners}
    for learner, folds in of_learners.items():
        for fold, (at, read) in folds.items():
            values[learner][fold, np.searchsorted(rows, at)] = read
    return Panel(measure, forgetting, rows.astype(np.int64), values, lower_is_better)
