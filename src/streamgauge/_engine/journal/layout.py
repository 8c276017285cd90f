"""The layout of a journal record: the same numbers at every reading, so that a record is found by its position."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.meter import FIGURES
from streamgauge._format.downsample import Buckets
from streamgauge.errors import unknown_name
from streamgauge.records.manifest import RunManifest
from streamgauge.significance.pair_watch import list_pairs

__all__ = ["FIGURES", "Layout", "summarise_folds"]

Columns = NDArray[np.float64]

MAX_COMPARED = 360
"""The most differences in a record, pairs times measures: the number of pairs grows with the square of the learners."""


def summarise_folds(values: Columns, axis: int) -> tuple[Columns, Columns, Columns]:
    """Return the mean, the minimum and the maximum over the folds with a value; NaN if there are none.

    Examples
    --------
    >>> [float(column) for column in summarise_folds(np.array([0.5, 0.75, np.nan]), axis=0)]
    [0.625, 0.5, 0.75]
    """
    finite = np.where(np.isfinite(values), values, np.nan)
    with warnings.catch_warnings():
        # NaN is right if no fold has a value; NumPy warns all the same.
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(finite, axis=axis), np.nanmin(finite, axis=axis), np.nanmax(finite, axis=axis)


@dataclass(frozen=True)
class Layout:
    """The position of each number in a record, float64 [width].

    First the row and when it was written (seconds since 1970); then the time of the row, if rows may carry times; then
    the mean over the folds of every measure and, with several folds, the minimum and the maximum; then the cost of each
    learner, if it is measured; then the difference of each pair of learners in each compared measure, and the ends of
    its interval.

    Parameters
    ----------
    learners, forgettings, measures
        The names along the axes.
    n_folds
        The number of folds.
    with_costs
        Whether costs are measured.
    with_times
        Whether rows may carry times.
    compared
        The measures in which the pairs are compared.

    Examples
    --------
    >>> layout = Layout(("tree", "bayes"), ("Landmark()",), ("accuracy",), n_folds=2, with_costs=False)
    >>> values = np.array([[[[[0.5]], [[0.75]]], [[[0.25]], [[0.25]]]]])
    >>> records = layout.pack(np.array([100]), 1.5e9, values, None, {("tree", "bayes", "accuracy"): (0.375, 0.25, 0.5)})
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
    with_times: bool = False
    compared: tuple[str, ...] = ("accuracy",)

    @classmethod
    def from_facts(cls, run: RunManifest, facts: Mapping[str, Any]) -> "Layout":
        """Build the layout of a run from `facts`."""
        return cls(
            learners=run.learners,
            forgettings=run.forgettings,
            measures=run.measures,
            n_folds=int(facts["n_folds"]),
            with_costs=bool(facts["with_costs"]),
            with_times=bool(facts["with_times"]),
            compared=tuple(map(str, facts["compared"])),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What the manifest of the run does not say, as JSON values."""
        flags = {"n_folds": self.n_folds, "with_costs": self.with_costs, "with_times": self.with_times}
        return {**flags, "compared": list(self.compared)}

    @cached_property
    def pairs(self) -> tuple[tuple[str, str, str], ...]:
        """Each pair of learners with each compared measure; none if there are too many."""
        pairs = tuple((*pair, name) for pair in list_pairs(self.learners) for name in self.compared)
        return pairs if len(pairs) <= MAX_COMPARED else ()

    @property
    def _grid(self) -> tuple[int, int, int]:
        return len(self.learners), len(self.forgettings), len(self.measures)

    @cached_property
    def _parts(self) -> dict[str, slice]:
        n = math.prod(self._grid)
        bands = {"low": n, "high": n} if self.n_folds > 1 else {}
        costs = len(self.learners) * len(FIGURES) if self.with_costs else 0
        times = int(self.with_times)
        pairs = 3 * len(self.pairs)
        widths = {"row": 1, "written": 1, "time": times, "mean": n, **bands, "costs": costs, "pairs": pairs}
        stops = np.cumsum(list(widths.values()))
        return {part: slice(stop - width, stop) for (part, width), stop in zip(widths.items(), stops, strict=True)}

    @property
    def width(self) -> int:
        """The number of values in a record."""
        return int(self._parts["pairs"].stop)

    def pack(
        self,
        rows: NDArray[np.int64],
        written: float,
        values: Columns,
        costs: Columns | None,
        pairs: Mapping[tuple[str, str, str], Sequence[float] | Columns],
        times: Columns | None = None,
    ) -> Columns:
        """Return the records of some readings; those of a pair are the last ones, at least the very last."""
        records = np.full((len(rows), self.width), np.nan)
        parts = {part: records[:, columns] for part, columns in self._parts.items()}
        parts["row"][:, 0], parts["written"][:, 0] = rows, written
        if self.with_times and times is not None:
            parts["time"][:, 0] = times
        mean, low, high = (column.reshape(len(rows), -1) for column in summarise_folds(values, axis=2))
        parts["mean"][:] = mean
        if self.n_folds > 1:
            parts["low"][:], parts["high"][:] = low, high
        if self.with_costs and costs is not None:
            parts["costs"][:] = costs.mean(axis=2).reshape(len(rows), -1)
        for index, names in enumerate(self.pairs):
            if names in pairs and len(rows):
                known = np.atleast_2d(pairs[names])
                parts["pairs"][-len(known) :, 3 * index : 3 * index + 3] = known
        return records

    def rows(self, records: Columns) -> NDArray[np.int64]:
        """Return the row of each record."""
        return records[:, 0].astype(np.int64)

    def times(self, records: Columns) -> Columns | None:
        """Return the time of the row of each record; NaN if unknown; None if rows carry no times."""
        return self._part(records, "time")[:, 0] if self.with_times else None

    def curve(self, records: Columns, measure: str, forgetting: str) -> tuple[Columns, Columns, Columns]:
        """Return the mean, the lowest and the highest fold of every learner, float64 [n, learners] each."""
        forgettings, measures = self.forgettings, self.measures
        index = (_find_index("forgetting", forgetting, forgettings), _find_index("measure", measure, measures))
        mean = self._reshape(records, "mean")[:, :, *index]
        if self.n_folds == 1:
            return mean, mean, mean
        return mean, self._reshape(records, "low")[:, :, *index], self._reshape(records, "high")[:, :, *index]

    def cost(self, records: Columns, figure: str) -> Columns:
        """Return a cost figure of every learner, the mean over folds, float64 [n, learners]; NaN if unknown."""
        index = _find_index("figure", figure, FIGURES)
        if not self.with_costs:
            return np.full((len(records), len(self.learners)), np.nan)
        return self._part(records, "costs").reshape(len(records), len(self.learners), len(FIGURES))[:, :, index]

    def pair(self, records: Columns, first: str, second: str, measure: str = "") -> Columns:
        """Return the difference of two learners and the ends of its interval, float64 [n, 3]; NaN if unknown.

        `measure` is the first one that is compared, unless it is named.
        """
        measure = measure or self.compared[0]
        if (second, first, measure) in self.pairs:
            return -self.pair(records, second, first, measure)[:, [0, 2, 1]]
        if (first, second, measure) not in self.pairs:
            return np.full((len(records), 3), np.nan)
        start = 3 * self.pairs.index((first, second, measure))
        return self._part(records, "pairs")[:, start : start + 3]

    def thin(self, records: Columns, limit: int) -> Columns:
        """Keep at most `limit` records: no extreme of a curve is lost or moved by more than a bucket of rows."""
        buckets = Buckets.from_rows(self.rows(records), limit)
        thinned = buckets.take_points(records).copy()
        for part in ("mean", "costs"):
            thinned[:, self._parts[part]] = buckets.take_extremes(self._part(records, part))
        if self.n_folds > 1:
            thinned[:, self._parts["low"]] = buckets.take_minima(self._part(records, "low"))
            thinned[:, self._parts["high"]] = buckets.take_maxima(self._part(records, "high"))
        thinned[:, self._parts["pairs"]] = buckets.take_latest(self._part(records, "pairs"))
        return thinned

    def _part(self, records: Columns, part: str) -> Columns:
        return records[:, self._parts[part]]

    def _reshape(self, records: Columns, part: str) -> Columns:
        return self._part(records, part).reshape(len(records), *self._grid)


def _find_index(kind: str, name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise unknown_name(kind, name, names)
    return names.index(name)
