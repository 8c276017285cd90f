"""Costs and utilities by a matrix, and accuracy on a given scale."""

from dataclasses import dataclass

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.measures.functions import Column, OverTallies, divide
from streamgauge.records import Tallies

__all__ = ["Cost", "MinMaxAccuracy", "Utility"]

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class _MatrixMeasure(OverTallies):
    """The mean of an amount per row that a matrix defines."""

    matrix: Matrix
    abstained: float
    called: str

    def __post_init__(self) -> None:
        table = np.array(self.matrix, dtype=np.float64) if len(set(map(len, self.matrix))) == 1 else np.empty(0)
        if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
            msg = f"matrix = {self.matrix!r}: it must have one row per class, with one finite number per class"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return self.called

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The unit of the values."""
        return "per row"

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        table = np.array(self.matrix, dtype=np.float64)
        if table.shape != tallies.confusion.shape[1:]:
            msg = f"the matrix of {self.name} has {len(table)} classes, but the stream has {tallies.n_classes}"
            raise StreamgaugeError(msg)
        amount = np.einsum("sij,ij->s", tallies.confusion, table) + self.abstained * tallies.abstained.sum(axis=-1)
        return np.where(tallies.total > 0.0, amount / tallies.total, np.nan)


@dataclass(frozen=True)
class Cost(_MatrixMeasure):
    """Mean cost per row.

    NaN if the tally has no weight.

    Parameters
    ----------
    matrix
        The cost of each prediction: one row per true class, with one number per predicted class.
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

    matrix: Matrix = ((0.0, 1.0), (1.0, 0.0))
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
        The utility of each prediction: one row per true class, with one number per predicted class.
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

    matrix: Matrix = ((1.0, 0.0), (0.0, 1.0))
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
        if not self.low < self.high:
            msg = f"low = {self.low!r}, high = {self.high!r}: low must be below high"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """The name in results and tables."""
        return f"min_max_accuracy({self.low:g}, {self.high:g})"

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        return (divide(tallies.hits, tallies.total) - self.low) / (self.high - self.low)
