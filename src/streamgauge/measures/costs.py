"""Costs and utilities by a matrix, and accuracy on a given scale."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Self

import numpy as np

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.measures.functions import Column, OverTallies, divide, format_option
from streamgauge.records import Schema, Tallies

__all__ = ["Cost", "MinMaxAccuracy", "Utility"]

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class _MatrixMeasure(OverTallies):
    """The mean of an amount per row that a matrix defines."""

    matrix: Matrix | Mapping[str, float]
    abstained: float
    called: str

    def __post_init__(self) -> None:
        if isinstance(self.matrix, Mapping):
            for pair, amount in self.matrix.items():
                if not (isinstance(pair, str) and pair.count("->") == 1 and _is_finite(amount)):
                    msg = f"matrix = {self.matrix!r}: write 'TRUE->PREDICTED': NUMBER for each pair of classes"
                    raise StreamgaugeError(msg)
            return
        try:
            table = np.array(self.matrix, dtype=np.float64)
        except (ValueError, TypeError):  # such as rows of different lengths
            table = np.empty(0)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
            msg = f"matrix = {self.matrix!r}: it must have one row per class, with one finite number per class"
            raise StreamgaugeError(msg)

    def bind(self, schema: Schema) -> Self:
        """Return the measure with its matrix for the classes of a schema."""
        if isinstance(self.matrix, Mapping):
            table = np.zeros((schema.n_classes, schema.n_classes))
            for pair, amount in self.matrix.items():
                names = [name.strip() for name in pair.split("->")]
                for name in names:
                    if name not in schema.classes:
                        raise unknown_name(kind="class", name=name, known=schema.classes)
                table[schema.classes.index(names[0]), schema.classes.index(names[1])] = amount
            return replace(self, matrix=tuple(map(tuple, table.tolist())))
        self._check_size(schema.n_classes)
        return self

    def _check_size(self, n_classes: int) -> None:
        if len(self.matrix) != n_classes:
            msg = f"the matrix of {self.name} has {len(self.matrix)} classes, but the stream has {n_classes}"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return self.called

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The unit of the values."""
        return "per row"

    @property
    def span(self) -> float:
        """The difference of the greatest and the least amount of a row."""
        table = list(self.matrix.values()) if isinstance(self.matrix, Mapping) else np.ravel(self.matrix).tolist()
        return float(max(table, default=1.0) - min([*table, 0.0] if isinstance(self.matrix, Mapping) else table))

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        if isinstance(self.matrix, Mapping):
            msg = f"{self.name} does not know the codes of its classes: use it in an evaluation, or pass a matrix"
            raise StreamgaugeError(msg)
        self._check_size(tallies.n_classes)
        table = np.array(self.matrix, dtype=np.float64)
        amount = np.einsum("sij,ij->s", tallies.confusion, table) + self.abstained * tallies.abstained.sum(axis=-1)
        return np.where(tallies.total > 0.0, amount / tallies.total, np.nan)


@dataclass(frozen=True)
class Cost(_MatrixMeasure):
    """Mean cost per row.

    NaN if the tally has no weight.

    Parameters
    ----------
    matrix
        The cost of each prediction: one row per true class, with one number per predicted class. Or pairs of class
        names with their cost, ``{"up->down": 5}`` for rows of class up that are predicted as down; a pair that is
        left out counts 0.
    abstained
        The cost of an abstention.
    called
        The name of the measure.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> Cost(((0, 1), (10, 0)))(tally)
    0.8
    """

    matrix: Matrix | Mapping[str, float] = ((0.0, 1.0), (1.0, 0.0))
    abstained: float = 1.0
    called: str = "cost"

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return False


@dataclass(frozen=True)
class Utility(_MatrixMeasure):
    """Mean utility per row.

    NaN if the tally has no weight.

    Parameters
    ----------
    matrix
        The utility of each prediction: one row per true class, with one number per predicted class. Or pairs of class
        names with their utility, ``{"up->down": 5}`` for rows of class up that are predicted as down; a pair that is
        left out counts 0.
    abstained
        The utility of an abstention.
    called
        The name of the measure.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> Utility(((1, 0), (-2, 1)))(tally)
    0.55
    """

    matrix: Matrix | Mapping[str, float] = ((1.0, 0.0), (0.0, 1.0))
    abstained: float = 0.0
    called: str = "utility"


@dataclass(frozen=True)
class MinMaxAccuracy(OverTallies):
    """Accuracy rescaled so that the least and greatest attainable accuracies of the stream are 0 and 1.

    ``(p0 - low) / (high - low)``, as Bifet et al. (2015) propose for streams on which no learner comes near 1.

    NaN if the tally has no weight.

    Parameters
    ----------
    low, high
        The accuracies that become 0 and 1, such as those of the majority class and of the Bayes classifier.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)
    >>> round(MinMaxAccuracy(low=0.5, high=0.86)(tally), 4)
    0.4167
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not (_is_finite(self.low) and _is_finite(self.high) and self.low < self.high):
            msg = f"low = {self.low!r}, high = {self.high!r}: they must be numbers, and low must be below high"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return f"min_max_accuracy({format_option(self.low)}, {format_option(self.high)})"

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        return (divide(tallies.hits, tallies.total) - self.low) / (self.high - self.low)


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
