"""How sure an error rate is: half the width of a confidence interval, from bounds that assume no distribution.

Both bounds are those of Gama, Sebastião and Rodrigues, "Issues in evaluation of stream learning algorithms", 2009,
section 3.2: the mean loss lies within so much of the true one with probability ``1 - delta``. They hold for one moment
and independent rows. Where rows fade or have weights, ``n`` is ``(sum of weights)^2 / (sum of squared weights)``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import require_between
from streamgauge.measures.functions import OverTallies, ratio
from streamgauge.records import Tallies

__all__ = ["Chernoff", "Hoeffding"]

Column = NDArray[np.float64]


@dataclass(frozen=True)
class _Bound(OverTallies):
    """Half the width of an interval about the error, which holds it except with probability `delta`."""

    delta: float = 0.05

    def __post_init__(self) -> None:
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)

    @property
    def name(self) -> str:
        """What it is called."""
        name = type(self).__name__.lower()
        return name if self.delta == 0.05 else f"{name}({self.delta:g})"

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return False

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """What it needs of a tally."""
        return ("squared_weight",)


@dataclass(frozen=True)
class Hoeffding(_Bound):
    """Hoeffding bound of the error, and so of the accuracy: ``sqrt(ln(2 / delta) / (2 n))``.

    NaN where the tally holds no weight.

    Parameters
    ----------
    delta
        The probability that the true error lies further away, in (0, 1).

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100, squared_weight=100.0)
    >>> round(Hoeffding(0.05)(tally), 4)
    0.1358
    """

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        half: Column = np.sqrt(np.log(2.0 / self.delta) / (2.0 * effective_rows(tallies)))
        return half


@dataclass(frozen=True)
class Chernoff(_Bound):
    """Chernoff bound of the error, and so of the accuracy: ``sqrt(3 M ln(2 / delta) / n)`` with M the error.

    Narrower than Hoeffding's where the error is below one sixth.

    NaN where the tally holds no weight.

    Parameters
    ----------
    delta
        The probability that the true error lies further away, in (0, 1).

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[80.0, 0.0], [5.0, 15.0]]), np.zeros(2), 70.0, 50.0, 100, squared_weight=100.0)
    >>> round(Chernoff(0.05)(tally), 4)
    0.0744
    """

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        mean = ratio(tallies.misses, tallies.total)
        half: Column = np.sqrt(3.0 * mean * np.log(2.0 / self.delta) / effective_rows(tallies))
        return half


def effective_rows(tallies: Tallies) -> Column:
    """Give how many equal rows would tell as much; NaN where there is no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> faded = Tally(np.diag([1.0, 0.5]), np.zeros(2), 1.0, 1.0, 2, squared_weight=1.25)
    >>> effective_rows(Tallies.stacked([faded])).tolist()
    [1.8]
    """
    return ratio(tallies.total * tallies.total, tallies.column("squared_weight"))
