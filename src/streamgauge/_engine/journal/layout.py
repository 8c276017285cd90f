"""What a record of the journal holds: the same numbers after every stop, so that a record is found by its place."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.meter import FIGURES
from streamgauge._format.downsample import Buckets
from streamgauge.errors import unknown_name

__all__ = ["FIGURES", "Layout", "over_folds"]

Columns = NDArray[np.float64]

MOST_COMPARED = 16
"""How many learners may be compared pair by pair in the journal: their number grows with the square."""


def over_folds(values: Columns, axis: int) -> tuple[Columns, Columns, Columns]:
    """Give the mean, the least and the greatest over the folds that have a value; NaN where none has.

    Examples
    --------
    >>> [float(column) for column in over_folds(np.array([0.5, 0.75, np.nan]), axis=0)]
    [0.625, 0.5, 0.75]
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings():
        # Where no fold has a value there is a gap, which NaN says well; NumPy warns of it all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(finite, axis=axis), np.nanmin(finite, axis=axis), np.nanmax(finite, axis=axis)


@dataclass(frozen=True)
class Layout:
    """Where in a record, float64 [width], each number stands.

    First the row and the moment (seconds since 1970); then the mean over the folds of every measure, and where there
    are folds the least and the greatest; then what each learner cost, where that is measured; then the difference of
    each pair of learners and the ends of its interval.

    Parameters
    ----------
    learners, forgettings, measures
        The names along the axes.
    n_folds
        How many folds there are.
    with_costs
        Whether costs are measured.

    Examples
    --------
    >>> layout = Layout(("tree", "bayes"), ("Landmark()",), ("accuracy",), n_folds=2, with_costs=False)
    >>> values = np.array([[[[[0.5]], [[0.75]]], [[[0.25]], [[0.25]]]]])
    >>> records = layout.packed(np.array([100]), 1.5e9, values, None, {("tree", "bayes"): (0.375, 0.25, 0.5)})
    >>> [column.tolist() for column in layout.curve(records, "accuracy", "Landmark()")]
    [[[0.625, 0.25]], [[0.5, 0.25]], [[0.75, 0.25]]]
    >>> layout.pair(records, "tree", "bayes").tolist()
    [[0.375, 0.25, 0.5]]
    """

    learners: tuple[str, ...]
    forgettings: tuple[str, ...]
    measures: tuple[str, ...]
    n_folds: int
    with_costs: bool

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> "Layout":
        """Read what `facts` wrote."""
        learners, forgettings, measures = (
            tuple(map(str, about[axis])) for axis in ("learners", "forgettings", "measures")
        )
        return cls(learners, forgettings, measures, int(about["n_folds"]), bool(about["with_costs"]))

    @property
    def facts(self) -> dict[str, Any]:
        """Itself in plain words, for a file."""
        names = {axis: list(getattr(self, axis)) for axis in ("learners", "forgettings", "measures")}
        return {**names, "n_folds": self.n_folds, "with_costs": self.with_costs}

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of learners; none where they are too many."""
        return tuple(combinations(self.learners, 2)) if len(self.learners) <= MOST_COMPARED else ()

    @property
    def _grid(self) -> tuple[int, int, int]:
        return len(self.learners), len(self.forgettings), len(self.measures)

    @cached_property
    def _parts(self) -> dict[str, slice]:
        n = math.prod(self._grid)
        bands = {"low": n, "high": n} if self.n_folds > 1 else {}
        costs = len(self.learners) * len(FIGURES) if self.with_costs else 0
        widths = {"row": 1, "time": 1, "mean": n, **bands, "costs": costs, "pairs": 3 * len(self.pairs)}
        reading_rows = np.cumsum(list(widths.values()))
        return {
            part: slice(stop - width, stop) for (part, width), stop in zip(widths.items(), reading_rows, strict=True)
        }

    @property
    def width(self) -> int:
        """How many numbers a record holds."""
        return int(self._parts["pairs"].stop)

    def packed(
        self,
        rows: NDArray[np.int64],
        time: float,
        values: Columns,
        costs: Columns | None,
        pairs: Mapping[tuple[str, str], Sequence[float]],
    ) -> Columns:
        """Make the records of some stops; what is said of pairs is known only at the last of them."""
        records = np.full((len(rows), self.width), np.nan)
        put = {part: records[:, place] for part, place in self._parts.items()}
        put["row"][:, 0], put["time"][:, 0] = rows, time
        mean, low, high = (column.reshape(len(rows), -1) for column in over_folds(values, axis=2))
        put["mean"][:] = mean
        if self.n_folds > 1:
            put["low"][:], put["high"][:] = low, high
        if self.with_costs and costs is not None:
            put["costs"][:] = costs.mean(axis=2).reshape(len(rows), -1)
        for place, names in enumerate(self.pairs):
            if names in pairs and len(rows):
                put["pairs"][-1, 3 * place : 3 * place + 3] = pairs[names]
        return records

    def rows(self, records: Columns) -> NDArray[np.int64]:
        """Give the row of each record."""
        return records[:, 0].astype(np.int64)

    def times(self, records: Columns) -> Columns:
        """Give the moment of each record, in seconds since 1970."""
        return records[:, 1]

    def curve(self, records: Columns, measure: str, forgetting: str) -> tuple[Columns, Columns, Columns]:
        """Give the mean, the lowest and the highest fold of every learner, float64 [n, learners] each."""
        places = (_place("forgetting", forgetting, self.forgettings), _place("measure", measure, self.measures))
        mean = self._of_grid(records, "mean")[:, :, *places]
        if self.n_folds == 1:
            return mean, mean, mean
        return mean, self._of_grid(records, "low")[:, :, *places], self._of_grid(records, "high")[:, :, *places]

    def cost(self, records: Columns, figure: str) -> Columns:
        """Give a figure of the cost of every learner, the mean over folds, float64 [n, learners]; NaN if unknown."""
        place = _place("figure", figure, FIGURES)
        if not self.with_costs:
            return np.full((len(records), len(self.learners)), np.nan)
        return self._part(records, "costs").reshape(len(records), len(self.learners), len(FIGURES))[:, :, place]

    def pair(self, records: Columns, first: str, second: str) -> Columns:
        """Give the difference of two learners and the ends of its interval, float64 [n, 3]; NaN where unknown."""
        if (first, second) not in self.pairs:
            return np.full((len(records), 3), np.nan)
        place = 3 * self.pairs.index((first, second))
        return self._part(records, "pairs")[:, place : place + 3]

    def thinned(self, records: Columns, limit: int) -> Columns:
        """Keep at most so many records: no extreme of a curve is lost, none moves by more than a bucket of rows."""
        buckets = Buckets.from_rows(self.rows(records), limit)
        thin = buckets.take_points(records).copy()
        for part in ("mean", "costs"):
            thin[:, self._parts[part]] = buckets.take_extremes(self._part(records, part))
        if self.n_folds > 1:
            thin[:, self._parts["low"]] = buckets.take_minima(self._part(records, "low"))
            thin[:, self._parts["high"]] = buckets.take_maxima(self._part(records, "high"))
        thin[:, self._parts["pairs"]] = buckets.take_latest(self._part(records, "pairs"))
        return thin

    def _part(self, records: Columns, part: str) -> Columns:
        return records[:, self._parts[part]]

    def _of_grid(self, records: Columns, part: str) -> Columns:
        return self._part(records, part).reshape(len(records), *self._grid)


def _place(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise unknown_name(kind, name, names)
    return names.index(name)
