"""Measures of numeric targets: errors in the unit of the target, relative to baselines, and shares of variation.

All are computed from weighted sums, so that they exist under every forgetting. A learner that abstains counts as if it
had predicted the mean of the targets that its fold has learnt (`prediction_share` shows how often it answered). What a
fold tests before it has learnt a target is not scored.
"""

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.measures.functions import Column, OverTallies, divide, format_option, over_tallies
from streamgauge.records import NumberTallies, Schema
from streamgauge.tasks import Regression

__all__ = [
    "AdjustedR2",
    "Huber",
    "Pinball",
    "adjusted_r2",
    "bias",
    "mae",
    "mape",
    "mse",
    "prediction_share",
    "r2",
    "rae",
    "rae_no_change",
    "rmse",
    "rrse",
    "rrse_no_change",
]

TARGET = "units"
"""The unit of an error: that of the target, which the stream does not say."""

_error = partial(over_tallies, greater_is_better=False, task=Regression.name)


@_error(statistics=("absolute_error",), unit=TARGET)
def mae(tallies: NumberTallies) -> Column:
    """Mean absolute error.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> mae(NumberTally(4.0, {"absolute_error": 6.0}, 4))
    1.5
    """
    return divide(tallies.column("absolute_error"), tallies.total)


@_error(statistics=("squared_error",), unit=f"{TARGET}²")
def mse(tallies: NumberTallies) -> Column:
    """Mean squared error.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> mse(NumberTally(4.0, {"squared_error": 10.0}, 4))
    2.5
    """
    return divide(tallies.column("squared_error"), tallies.total)


@_error(statistics=("squared_error",), unit=TARGET)
def rmse(tallies: NumberTallies) -> Column:
    """Root of the mean squared error: an error in the unit of the target in which large errors weigh more.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> rmse(NumberTally(4.0, {"squared_error": 16.0}, 4))
    2.0
    """
    return np.sqrt(divide(tallies.column("squared_error"), tallies.total))


@over_tallies(statistics=("error",), unit=TARGET, describes=True, task=Regression.name)
def bias(tallies: NumberTallies) -> Column:
    """Mean error, prediction minus target: above 0 if predictions are too large on average.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> bias(NumberTally(4.0, {"error": -2.0}, 4))
    -0.5
    """
    return divide(tallies.column("error"), tallies.total)


@_error(statistics=("percentage_error",))
def mape(tallies: NumberTallies) -> Column:
    """Mean absolute percentage error: the mean of ``|error| / |target|``, a rate that can be above 1.

    It is of use only for targets that are far from 0: one target of 0 makes it enormous (the error is divided by
    2.2e-16, as in scikit-learn), and it favours predictions that are too small, since these can be off by 100 % at
    most. `rae` has neither fault.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> mape(NumberTally(4.0, {"percentage_error": 0.8}, 4))
    0.2
    """
    return divide(tallies.column("percentage_error"), tallies.total)


@over_tallies(statistics=("squared_error", "target", "squared_target"), unit="", task=Regression.name)
def r2(tallies: NumberTallies) -> Column:
    """Coefficient of determination: 1 minus the squared errors over the variation of the targets round their mean.

    The mean is that of the rows which the tally covers, so it is known only afterwards: `rrse` compares with a mean
    that a learner could have predicted. NaN if all targets are the same.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> r2(NumberTally(4.0, {"squared_error": 2.0, "target": 4.0, "squared_target": 12.0}, 4))
    0.75
    """
    variation = tallies.target_variation
    return np.where(variation > 0.0, 1.0 - tallies.column("squared_error") / variation, np.nan)


class AdjustedR2(OverTallies):
    """`r2`, lowered by what as many attributes would explain by chance: ``1 - (1 - r2) (n - 1) / (n - p - 1)``.

    n is the weight of the rows that the tally covers, p the number of attributes. NaN if n is not above p + 1.

    Parameters
    ----------
    n_attributes
        The number of attributes; None for those of the stream.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> AdjustedR2(1)(NumberTally(4.0, {"squared_error": 2.0, "target": 4.0, "squared_target": 12.0}, 4))
    0.625
    """

    name = "adjusted_r2"
    statistics = ("squared_error", "target", "squared_target")
    unit = ""
    task = Regression.name

    def __init__(self, n_attributes: int | None = None) -> None:
        self.n_attributes = n_attributes

    def values(self, tallies: NumberTallies) -> Column:
        """Return the values for many tallies."""
        if self.n_attributes is None:
            msg = "adjusted_r2 needs the number of attributes: AdjustedR2(n_attributes=...)"
            raise StreamgaugeError(msg)
        free = tallies.total - self.n_attributes - 1.0
        return np.where(free > 0.0, 1.0 - (1.0 - r2.values(tallies)) * (tallies.total - 1.0) / free, np.nan)

    def bind(self, schema: Schema) -> Self:
        """Return the measure for the attributes of a schema."""
        bound = copy(self)
        bound.n_attributes = schema.n_attributes if self.n_attributes is None else self.n_attributes
        return bound

    def __repr__(self) -> str:
        return "AdjustedR2()" if self.n_attributes is None else f"AdjustedR2({self.n_attributes})"


adjusted_r2 = AdjustedR2()


@_error(statistics=("absolute_error", "mean_absolute_error"), unit="")
def rae(tallies: NumberTallies) -> Column:
    """Relative absolute error: the absolute errors over those of the mean of the targets learnt so far.

    1 for a learner that is as far off as the mean, 0 for a perfect one. The mean is that of all targets which the fold
    had learnt before each row: what `MeanTarget` predicts, whose `rae` is exactly 1.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> rae(NumberTally(4.0, {"absolute_error": 6.0, "mean_absolute_error": 12.0}, 4))
    0.5
    """
    return divide(tallies.column("absolute_error"), tallies.column("mean_absolute_error"))


@_error(statistics=("squared_error", "mean_squared_error"), unit="")
def rrse(tallies: NumberTallies) -> Column:
    """Root relative squared error: as `rae`, by the root of the squared errors over those of the mean so far.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> rrse(NumberTally(4.0, {"squared_error": 1.0, "mean_squared_error": 4.0}, 4))
    0.5
    """
    return np.sqrt(divide(tallies.column("squared_error"), tallies.column("mean_squared_error")))


@_error(statistics=("absolute_error", "no_change_absolute_error"), unit="")
def rae_no_change(tallies: NumberTallies) -> Column:
    """As `rae`, relative to the target that the fold learnt last: below 1 for a learner that beats no change.

    With targets that depend on the one before, such as prices, the mean is easy to beat and this is not. (In
    forecasting it is called MASE.)

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> rae_no_change(NumberTally(4.0, {"absolute_error": 6.0, "no_change_absolute_error": 4.0}, 4))
    1.5
    """
    return divide(tallies.column("absolute_error"), tallies.column("no_change_absolute_error"))


@_error(statistics=("squared_error", "no_change_squared_error"), unit="")
def rrse_no_change(tallies: NumberTallies) -> Column:
    """As `rrse`, relative to the target that the fold learnt last.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> rrse_no_change(NumberTally(4.0, {"squared_error": 4.0, "no_change_squared_error": 1.0}, 4))
    2.0
    """
    return np.sqrt(divide(tallies.column("squared_error"), tallies.column("no_change_squared_error")))


@over_tallies(statistics=("abstained",), task=Regression.name)
def prediction_share(tallies: NumberTallies) -> Column:
    """Share of the rows for which the learner made a prediction, rather than abstaining.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> prediction_share(NumberTally(4.0, {"abstained": 1.0}, 4))
    0.75
    """
    return 1.0 - divide(tallies.column("abstained"), tallies.total)


@dataclass(frozen=True)
class Pinball(OverTallies):
    """Mean pinball loss, for predictions of a quantile: ``q`` per unit too low, ``1 - q`` per unit too high.

    For the median it is half the `mae`.

    NaN if the tally has no weight.

    Parameters
    ----------
    quantile
        The quantile that is predicted, in (0, 1).

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> Pinball(0.9).name, Pinball(0.9)(NumberTally(4.0, {"pinball(0.9)": 2.0}, 4))
    ('pinball(0.9)', 0.5)
    """

    quantile: float = 0.5

    greater_is_better = False
    task = Regression.name

    def __post_init__(self) -> None:
        require_between("quantile", self.quantile, 0.0, 1.0, open_high=True)

    @property
    def name(self) -> str:
        """The name in results."""
        return f"pinball({format_option(self.quantile)})"

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """The sum that it needs."""
        return (self.name,)

    unit = TARGET

    def values(self, tallies: NumberTallies) -> Column:
        """Return the values for many tallies."""
        return divide(tallies.column(self.name), tallies.total)


@dataclass(frozen=True)
class Huber(OverTallies):
    """Mean Huber loss: half the squared error up to `delta`, and from there on a line, so that outliers weigh less.

    NaN if the tally has no weight.

    Parameters
    ----------
    delta
        The absolute error from which on it grows by a line, above 0, in the unit of the target.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> Huber(2.0).name, Huber(2.0)(NumberTally(4.0, {"huber(2)": 2.0}, 4))
    ('huber(2)', 0.5)
    """

    delta: float = 1.0

    greater_is_better = False
    task = Regression.name

    def __post_init__(self) -> None:
        require_between("delta", self.delta, 0.0, float("inf"), open_high=True)

    @property
    def name(self) -> str:
        """The name in results."""
        return f"huber({format_option(self.delta)})"

    @property
    def statistics(self) -> tuple[str, ...]:  # type: ignore[override]
        """The sum that it needs."""
        return (self.name,)

    unit = f"{TARGET}²"

    def values(self, tallies: NumberTallies) -> Column:
        """Return the values for many tallies."""
        return divide(tallies.column(self.name), tallies.total)


__test__ = {
    m.name: m.__doc__
    for m in (mae, mse, rmse, bias, mape, r2, rae, rrse, rae_no_change, rrse_no_change, prediction_share)
}
