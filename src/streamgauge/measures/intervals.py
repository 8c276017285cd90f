"""Half-widths of distribution-free confidence intervals of an error rate.

Both bounds are those of Gama, Sebastião and Rodrigues, "Issues in evaluation of stream learning algorithms", 2009,
section 3.2: the mean loss is within the bound of the true one with probability ``1 - delta``. They hold for a single
reading and independent rows. If rows fade or have weights, ``n`` is ``(sum of weights)^2 / (sum of squared weights)``.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from streamgauge.errors import require_between
from streamgauge.measures.functions import Column, OverTallies, divide, format_option
from streamgauge.records import Tallies

__all__ = ["Chernoff", "Hoeffding"]


@dataclass(frozen=True)
class _Bound(OverTallies):
    """The half-width of an interval that contains the true error except with probability `delta`."""

    delta: float = 0.05

    def __post_init__(self) -> None:
        require_between("delta", self.delta, 0.0, 1.0, open_high=True)

    @property
    def name(self) -> str:
        """The name in results and tables."""
        name, options = type(self).__name__.lower(), self._list_options()
        return f"{name}({', '.join(options)})" if options else name

    def _list_options(self) -> list[str]:
        """Return the options in the name: those that differ from their defaults."""
        return [format_option(self.delta)] if self.delta != 0.05 else []

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        """Whether a greater value is better."""
        return False

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """The statistics that it needs beyond counts."""
        return ("squared_weight",)


@dataclass(frozen=True)
class Hoeffding(_Bound):
    """Hoeffding bound of a mean loss: ``R sqrt(ln(2 / delta) / (2 n))`` where R is the range of the loss.

    With the default range of 1 it is that of the error, and thus of the accuracy.

    NaN if the tally has no weight.

    Parameters
    ----------
    delta
        The probability that the true mean is outside the interval, in (0, 1).
    range
        The greatest loss of a row minus the least, above 0; such as the range of the matrix of a `Cost`.
    published
        Whether to compute ``sqrt(R ln(2 / delta) / (2 n))``, as Gama et al. print it: the same for a range of 1, but
        too narrow to hold for a greater one.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100, squared_weight=100.0)
    >>> round(Hoeffding(0.05)(tally), 4), round(Hoeffding(0.05, range=10)(tally), 4)
    (0.1358, 1.3581)
    """

    range: float = 1.0
    published: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("range", self.range, 0.0, inf, open_high=True)

    def _list_options(self) -> list[str]:
        own = [f"range={format_option(self.range)}"] if self.range != 1.0 else []
        own += ["published=True"] if self.published else []
        return super()._list_options() + own

    @property
    def unit(self) -> str:  # type: ignore[override]
        """The unit of the values: that of the loss."""
        return "rate" if self.range == 1.0 else "per row"

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        squared_range = self.range if self.published else self.range * self.range
        half_width: Column = np.sqrt(squared_range * np.log(2.0 / self.delta) / (2.0 * count_effective_rows(tallies)))
        return half_width


@dataclass(frozen=True)
class Chernoff(_Bound):
    """Chernoff bound of the error, and thus of the accuracy: ``sqrt(3 M ln(2 / delta) / n)`` where M is the error.

    It is narrower than Hoeffding's if the error is below one sixth.

    NaN if the tally has no weight.

    Parameters
    ----------
    delta
        The probability that the true error is outside the interval, in (0, 1).

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[80.0, 0.0], [5.0, 15.0]]), np.zeros(2), 70.0, 50.0, 100, squared_weight=100.0)
    >>> round(Chernoff(0.05)(tally), 4)
    0.0744
    """

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        error = divide(tallies.misses, tallies.total)
        half_width: Column = np.sqrt(3.0 * error * np.log(2.0 / self.delta) / count_effective_rows(tallies))
        return half_width


def count_effective_rows(tallies: Tallies) -> Column:
    """Return the effective numbers of rows, ``(sum of weights)^2 / (sum of squared weights)``; NaN without weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> faded = Tally(np.diag([1.0, 0.5]), np.zeros(2), 1.0, 1.0, 2, squared_weight=1.25)
    >>> count_effective_rows(Tallies.stack([faded])).tolist()
    [1.8]
    """
    return divide(tallies.total * tallies.total, tallies.column("squared_weight"))
