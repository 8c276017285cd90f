"""The kinds of measures: functions of many tallies, of one tally, or of labels and predictions."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_vector_form, name_callable
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Measure
from streamgauge.records import ABSTAINED, Schema, Tallies, Tally

__all__ = [
    "Column",
    "LabelMeasure",
    "OverTallies",
    "TallyMeasure",
    "as_measure",
    "compute_values",
    "divide",
    "from_function",
    "over_tallies",
]

Column = NDArray[np.float64]

MOST_ROWS = 1_000_000
"""The maximum number of rows with which a tally is passed to a function without weights."""

FEWEST_ROWS = 10_000
"""The number of rows with which a tally of fractional weights is passed to a function without weights."""


class OverTallies(ABC):
    """A measure with a method `values` that measures many tallies at once; called with one tally it returns a float.

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
        """Return the values for many tallies; division by 0 is allowed and gives NaN or an infinity."""

    def __call__(self, tally: Tally) -> float:
        """Return the value for one tally."""
        return float(self.over(Tallies.stack([tally]))[0])

    def over(self, tallies: Tallies) -> Column:
        """Return the values for many tallies, float64 [tallies]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.values(tallies)

    def bind(self, schema: Schema) -> Self:  # noqa: ARG002
        """Return the measure for the classes of a schema."""
        return self

    @property
    def needs_votes(self) -> bool:
        """Whether it is computed from votes."""
        return any(statistic != "squared_weight" for statistic in self.statistics)


class TallyMeasure(OverTallies):
    """A measure made from a function of many tallies; see `over_tallies`.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> accuracy
    accuracy
    """

    def __init__(self, function: Callable[[Tallies], Column], name: str, options: dict[str, Any]) -> None:
        self.name = name
        self._function = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        for option, value in options.items():
            setattr(self, option, value)

    def values(self, tallies: Tallies) -> Column:
        """Return the values for many tallies."""
        return self._function(tallies)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self._function.__name__


def over_tallies(
    *, greater_is_better: bool = True, statistics: tuple[str, ...] = (), unit: str = "rate"
) -> Callable[[Callable[[Tallies], Column]], TallyMeasure]:
    """Make a measure from a function of many tallies, with the name of the function.

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


def divide(part: Column, whole: Column) -> Column:
    """Return the ratios of parts to wholes; NaN if a whole, and thus its part, is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return part / whole


def as_measure(*, greater_is_better: bool, name: str | None = None) -> Callable[[Callable[..., float]], Measure]:
    """Make a measure from a function of one tally, or of labels and predictions.

    A function of a tally keeps its identity and its docstring. The default name is that of the function.

    Examples
    --------
    >>> @as_measure(greater_is_better=False)
    ... def abstention(tally: Tally) -> float:
    ...     return float(tally.abstained.sum()) / tally.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """

    def decorate(function: Callable[..., float]) -> Measure:
        measure_name = name or function.__name__
        if len(_list_required(function)) > 1:
            return LabelMeasure(function, measure_name, greater_is_better=greater_is_better)
        vars(function).update(name=measure_name, greater_is_better=greater_is_better)
        return cast("Measure", function)

    return decorate


def from_function(function: Callable[..., float]) -> Measure:
    """Make a measure from a plain function, assuming that greater values are better.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> from_function(accuracy_score)(Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2))
    1.0
    """
    n_required = len(_list_required(function))
    name = name_callable(function)
    if n_required not in (1, 2):
        msg = f"{name} cannot be a measure: it must be a function of a tally, or of y_true and y_pred"
        raise StreamgaugeError(msg)
    return _FunctionMeasure(function, name) if n_required == 1 else LabelMeasure(function, name, greater_is_better=True)


def _list_required(function: Callable[..., float]) -> list[str]:
    """Return the names of the arguments without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        msg = f"{function!r} cannot be a measure: its arguments are unknown; wrap it in a Python function"
        raise StreamgaugeError(msg) from None
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]


class _FunctionMeasure:
    """A measure made from a plain function of a tally, which is not modified."""

    greater_is_better = True

    def __init__(self, function: Callable[[Tally], float], name: str) -> None:
        self._function, self.name = function, name
        self.__doc__ = function.__doc__

    def __call__(self, tally: Tally) -> float:
        return float(self._function(tally))


class LabelMeasure:
    """A measure made from a function ``f(y_true, y_pred)``, for any forgetting.

    A function that takes ``sample_weight`` gets the pairs of classes that occur and their weights. Any other function
    gets the same number of rows as the tally; if the weights are fractional, 10,000 rows in the same proportions, and
    never more than 1,000,000: a rate is then right to four or six digits. Classes are codes, and an abstention is -1.
    The function must not depend on the order of the rows. NaN if the tally has no weight.

    Examples
    --------
    >>> from sklearn.metrics import hamming_loss
    >>> loss = LabelMeasure(hamming_loss, "hamming_loss", greater_is_better=False)
    >>> round(loss(Tally(np.array([[4.0, 3.0], [0.5, 2.5]]), np.zeros(2), 0.0, 0.0, 10)), 4)
    0.35
    """

    def __init__(self, function: Callable[..., float], name: str, *, greater_is_better: bool) -> None:
        self._function, self.name, self.greater_is_better = function, name, greater_is_better
        parameters = inspect.signature(function).parameters.values()
        self._is_weighted = any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    def __call__(self, tally: Tally) -> float:
        """Return the value for one tally."""
        if tally.total == 0.0:
            return float("nan")
        table = np.column_stack([tally.abstained, tally.confusion])
        y_true, column = np.nonzero(table)
        y_pred, weight = column + ABSTAINED, table[y_true, column]
        if self._is_weighted:
            return float(self._function(y_true, y_pred, sample_weight=weight))
        counts = _round_weights(weight)
        return float(self._function(np.repeat(y_true, counts), np.repeat(y_pred, counts)))


def _round_weights(weight: Column) -> NDArray[np.int64]:
    """Return whole numbers in the proportions of weights, by largest remainder; whole weights stay as they are."""
    total = weight.sum()
    is_whole = bool((weight == np.floor(weight)).all())
    if is_whole and total <= MOST_ROWS:
        return weight.astype(np.int64)
    exact = weight / total * (MOST_ROWS if is_whole else FEWEST_ROWS)
    counts: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    n_missing = round(exact.sum()) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:n_missing]] += 1
    return counts


def compute_values(measure: Measure, tallies: Sequence[Tally]) -> Column:
    """Return the values for tallies, computed at once if the measure can.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> compute_values(accuracy, [Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)]).tolist()
    [1.0]
    """
    measure_all = find_vector_form(measure)
    if measure_all is not None and isinstance(tallies, Tallies):
        return measure_all(tallies)
    return np.array([measure(tally) for tally in tallies], dtype=np.float64)
