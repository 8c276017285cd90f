"""What a measure is made of: a function of many tallies, of one tally, or of labels and predictions."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Measure
from streamgauge.records import ABSTAINED, Tallies, Tally

__all__ = ["FromLabels", "OverTallies", "TallyMeasure", "as_measure", "from_function", "over_tallies", "ratio"]

Column = NDArray[np.float64]

MOST_ROWS = 1_000_000
"""As how many rows a tally is put at most for a function that takes no weights."""

FEWEST_ROWS = 10_000
"""As how many rows a tally of weights that are not whole is put for a function that takes no weights."""


class OverTallies(ABC):
    """A measure with a method `values` that measures many tallies at once; called with one it gives a float.

    Examples
    --------
    >>> class Width(OverTallies):
    ...     name, unit = "width", "rows"
    ...     def values(self, tallies: Tallies) -> NDArray[np.float64]:
    ...         return tallies.width.astype(float)
    >>> Width()(Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2))
    2.0
    """

    greater_is_better: bool = True
    statistics: tuple[str, ...] = ()
    unit: str = "rate"

    @abstractmethod
    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies; division by 0 is allowed and gives NaN or an infinity."""

    def __call__(self, tally: Tally) -> float:
        """Measure one tally."""
        return float(self.over(Tallies.stacked([tally]))[0])

    def over(self, tallies: Tallies) -> Column:
        """Give the values of many tallies, [s]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.values(tallies)

    @property
    def needs_votes(self) -> bool:
        """Whether it is made of votes."""
        return any(statistic != "squared_weight" for statistic in self.statistics)


class TallyMeasure(OverTallies):
    """A measure made of a function of many tallies; see `over_tallies`.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> accuracy
    accuracy
    """

    def __init__(self, function: Callable[[Tallies], Column], name: str, options: dict[str, Any]) -> None:
        self.name = name
        self._values = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        for option, value in options.items():
            setattr(self, option, value)

    def values(self, tallies: Tallies) -> Column:
        """Measure many tallies."""
        return self._values(tallies)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self._values.__name__


def over_tallies(
    *, greater_is_better: bool = True, statistics: tuple[str, ...] = (), unit: str = "rate"
) -> Callable[[Callable[[Tallies], Column]], TallyMeasure]:
    """Make a measure of a function of many tallies, under the name of the function.

    Examples
    --------
    >>> @over_tallies(greater_is_better=False)
    ... def abstention(tallies: Tallies) -> NDArray[np.float64]:
    ...     return tallies.abstained.sum(axis=-1) / tallies.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """
    options = {"greater_is_better": greater_is_better, "statistics": statistics, "unit": unit}
    return lambda function: TallyMeasure(function, function.__name__, options)


def ratio(part: Column, whole: Column) -> Column:
    """Give the shares of wholes, NaN where a whole and so its part is 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return part / whole


def as_measure(*, greater_is_better: bool, name: str | None = None) -> Callable[[Callable[..., float]], Measure]:
    """Make a measure of a function of one tally, or of labels and predictions: it says which way is better.

    A function of a tally stays what it is, with its docstring. Without a name it goes by its own.

    Examples
    --------
    >>> @as_measure(greater_is_better=False)
    ... def abstention(tally: Tally) -> float:
    ...     return float(tally.abstained.sum()) / tally.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """

    def decorate(function: Callable[..., float]) -> Measure:
        called = name or function.__name__
        if len(_needed(function)) > 1:
            return FromLabels(function, called, greater_is_better=greater_is_better)
        vars(function).update(name=called, greater_is_better=greater_is_better)
        return cast("Measure", function)

    return decorate


def from_function(function: Callable[..., float]) -> Measure:
    """Make a measure of a plain function, of which a greater value is taken to be better.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> from_function(accuracy_score)(Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2))
    1.0
    """
    n_needed = len(_needed(function))
    called = getattr(function, "__name__", type(function).__name__)
    if n_needed not in (1, 2):
        msg = f"{called} cannot be a measure: it must be a function of a tally, or of y_true and y_pred"
        raise StreamgaugeError(msg)
    if n_needed == 1:
        return _FromTally(function, called)
    return FromLabels(function, called, greater_is_better=True)


def _needed(function: Callable[..., float]) -> list[str]:
    """Name the arguments without which a function cannot be called."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        msg = f"{function!r} cannot be a measure: nobody can tell which arguments it takes"
        raise StreamgaugeError(msg) from None
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]


class _FromTally:
    """A plain function of a tally as a measure, without touching the function."""

    greater_is_better = True

    def __init__(self, function: Callable[[Tally], float], name: str) -> None:
        self._function, self.name = function, name
        self.__doc__ = function.__doc__

    def __call__(self, tally: Tally) -> float:
        return float(self._function(tally))


class FromLabels:
    """A function ``f(y_true, y_pred)`` as a measure, under any forgetting.

    A function that takes ``sample_weight`` is called with the pairs of classes that occur and their weights. One that
    does not is called with as many rows as the tally has; where its weights are not whole, with 10,000 rows in the
    same proportions, and never with more than 1,000,000: a rate is then right to the fourth, or sixth, digit. Classes
    are codes, and an abstention is -1. The function must not depend on the order of the rows. NaN where the tally
    holds no weight.

    Examples
    --------
    >>> from sklearn.metrics import hamming_loss
    >>> loss = FromLabels(hamming_loss, "hamming_loss", greater_is_better=False)
    >>> round(loss(Tally(np.array([[4.0, 3.0], [0.5, 2.5]]), np.zeros(2), 0.0, 0.0, 10)), 4)
    0.35
    """

    def __init__(self, function: Callable[..., float], name: str, *, greater_is_better: bool) -> None:
        self._function, self.name, self.greater_is_better = function, name, greater_is_better
        parameters = inspect.signature(function).parameters.values()
        self._weighted = any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    def __call__(self, tally: Tally) -> float:
        """Measure one tally."""
        if tally.total == 0.0:
            return float("nan")
        table = np.column_stack([tally.abstained, tally.confusion])
        y_true, column = np.nonzero(table)
        y_pred, weight = column + ABSTAINED, table[y_true, column]
        if self._weighted:
            return float(self._function(y_true, y_pred, sample_weight=weight))
        times = _whole(weight)
        return float(self._function(np.repeat(y_true, times), np.repeat(y_pred, times)))


def _whole(weight: Column) -> NDArray[np.int64]:
    """Give whole numbers in the proportions of weights, by largest remainder; the weights themselves where they can."""
    total = weight.sum()
    is_whole = bool((weight == np.floor(weight)).all())
    if is_whole and total <= MOST_ROWS:
        return weight.astype(np.int64)
    exact = weight / total * (MOST_ROWS if is_whole else FEWEST_ROWS)
    times: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    n_short = round(exact.sum()) - int(times.sum())
    times[np.argsort(times - exact, kind="stable")[:n_short]] += 1
    return times


def compute_values(measure: Measure, tallies: Sequence[Tally]) -> Column:
    """Measure tallies, all at once where the measure can.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> compute_values(accuracy, [Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)]).tolist()
    [1.0]
    """
    over = getattr(measure, "over", None)
    if over is not None and isinstance(tallies, Tallies):
        values: Column = over(tallies)
        return values
    return np.array([measure(tally) for tally in tallies], dtype=np.float64)
