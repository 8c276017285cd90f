"""What predictions cost or bring, by a matrix of the user's, and accuracy on a scale of the user's."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.measures.functions import OverTallies, ratio
from streamgauge.records import Tallies

__all__ = ["Cost", "MinMaxAccuracy", "Utility"]

Column = NDArray[np.float64]
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class _Amount(OverTallies):
    """What measures of a mean amount per row have in common."""

    matrix: Matrix
    abstained: float
    called: str

    def __post_init__(self) -> None:
        _check_matrix(self.matrix)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.called

    @property
    def unit(self) -> str:  # type: ignore[override]
        """In what it is told."""
        return "per row"

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        return _mean_amount(self.matrix, self.abstained, tallies)


@dataclass(frozen=True)
class Cost(_Amount):
    """Mean cost of a row.

    NaN where the tally holds no weight.

    Parameters
    ----------
    matrix
        What it costs to predict a class (inner) where another is true (outer), a row for each true class.
    abstained
        What it costs to predict nothing.
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
class Utility(_Amount):
    """Mean utility of a row.

    NaN where the tally holds no weight.

    Parameters
    ----------
    matrix
        What it brings to predict a class (inner) where another is true (outer), a row for each true class.
    abstained
        What it brings to predict nothing.
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
    """Accuracy on the scale from the least to the greatest that can be had on the stream: 0 to 1.

    ``(p0 - low) / (high - low)``, as Bifet et al. (2015) propose for streams on which no learner comes near 1.

    NaN where the tally holds no weight.

    Parameters
    ----------
    low, high
        The accuracies that are to be 0 and 1, such as that of the majority class and of the Bayes classifier.

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
            msg = f"low = {self.low!r}, high = {self.high!r}: the least accuracy must be below the greatest"
            raise StreamgaugeError(msg)

    @property
    def name(self) -> str:
        """What it is called."""
        return f"min_max_accuracy({self.low:g}, {self.high:g})"

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        return (ratio(tallies.hits, tallies.total) - self.low) / (self.high - self.low)


def _check_matrix(matrix: Matrix) -> None:
    table = np.array(matrix, dtype=np.float64) if len({len(row) for row in matrix}) == 1 else np.empty(0)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.isfinite(table).all():
        msg = f"matrix = {matrix!r}: it must have a row of finite numbers for each class, one for each class"
        raise StreamgaugeError(msg)


def _mean_amount(matrix: Matrix, abstained: float, tallies: Tallies) -> Column:
    table = np.array(matrix, dtype=np.float64)
    if table.shape != tallies.confusion.shape[1:]:
        msg = f"a matrix of {len(table)} classes cannot be used where there are {tallies.n_classes}"
        raise StreamgaugeError(msg)
    amount = np.einsum("sij,ij->s", tallies.confusion, table) + abstained * tallies.abstained.sum(axis=-1)
    return np.where(tallies.total > 0.0, amount / tallies.total, np.nan)
