"""Measures as functions of many tallies, and how any measure is computed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_vector_form
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Measure
from streamgauge.records import NumberTallies, NumberTally, Schema, Tallies, Tally, join_tallies
from streamgauge.tasks import Classification

__all__ = [
    "Column",
    "OverTallies",
    "TallyMeasure",
    "as_number",
    "compute_values",
    "describe_error",
    "divide",
    "format_option",
    "over_tallies",
]

Column = NDArray[np.float64]


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
    describes: bool = False
    """Whether it describes rows or a baseline, so that no value is better than another."""

    task: str = Classification.name
    """The name of the task whose tallies it measures."""

    @abstractmethod
    def values(self, tallies: Any) -> Column:  # noqa: ANN401
        """Return the values for many tallies; division by 0 is allowed and gives NaN or an infinity."""

    def __call__(self, tally: Tally | NumberTally) -> float:
        """Return the value for one tally."""
        return float(self.over(join_tallies([[tally]]))[0])  # type: ignore[arg-type]

    def over(self, tallies: Any) -> Column:  # noqa: ANN401
        """Return the values for many tallies, float64 [tallies]."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.values(tallies)

    def bind(self, schema: Schema) -> Self:  # noqa: ARG002
        """Return the measure for the targets of a schema."""
        return self

    @property
    def needs_votes(self) -> bool:
        """Whether it is computed from votes."""
        if self.task != Classification.name:
            return False
        return not {"squared_weight", "majority_all_hits"}.issuperset(self.statistics)


class TallyMeasure(OverTallies):
    """A measure made from a function of many tallies; see `over_tallies`.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> accuracy
    accuracy
    """

    def __init__(self, function: Callable[[Any], Column], name: str, options: dict[str, Any]) -> None:
        self.name = name
        self._function = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        for option, value in options.items():
            setattr(self, option, value)

    def values(self, tallies: Any) -> Column:  # noqa: ANN401
        """Return the values for many tallies."""
        return self._function(tallies)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self._function.__name__


def over_tallies(
    *,
    greater_is_better: bool = True,
    statistics: tuple[str, ...] = (),
    unit: str = "rate",
    describes: bool = False,
    task: str = Classification.name,
) -> Callable[[Callable[[Any], Column]], TallyMeasure]:
    """Make a measure from a function of many tallies, with the name of the function.

    Examples
    --------
    >>> @over_tallies(greater_is_better=False)
    ... def abstention(tallies: Tallies) -> NDArray[np.float64]:
    ...     return tallies.abstained.sum(axis=-1) / tallies.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """
    options: dict[str, Any] = {"greater_is_better": greater_is_better, "statistics": statistics, "unit": unit}
    options |= {"describes": describes, "task": task}
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


def format_option(value: float) -> str:
    """Return an option as it stands in the name of a measure, from which it can be read again.

    Examples
    --------
    >>> format_option(2.0), format_option(0.05), format_option(1 / 3)
    ('2', '0.05', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def as_number(value: object) -> float:
    """Return the value of a function as a float; raise if it is no number.

    Examples
    --------
    >>> as_number(np.float32(0.5))
    0.5
    >>> as_number(None)
    Traceback (most recent call last):
    ...
    TypeError: it returned None, which is not a number
    """
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        shown = (
            f"an array of shape {array.shape}" if array.ndim else "a text" if isinstance(value, str) else repr(value)
        )
        msg = f"it returned {shown}, which is not a number"
        raise TypeError(msg)
    return float(array)


def describe_error(error: Exception) -> str:
    """Return the type and the text of an error in one line.

    Examples
    --------
    >>> describe_error(KeyError("up"))
    "KeyError: 'up'"
    """
    return f"{type(error).__name__}: {' '.join(str(error).split()).rstrip('.')}"


def compute_values(measure: Measure, tallies: Sequence[Any], reading_rows: Sequence[int] = ()) -> Column:
    """Return the values for tallies, computed at once if the measure can; an error names the measure and the reading.

    Examples
    --------
    >>> from streamgauge.measures import accuracy
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> compute_values(accuracy, [tally]).tolist()
    [1.0]
    >>> from streamgauge.measures import measure
    >>> compute_values(measure(lambda tally: [][0]), [tally], [10])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the measure <lambda> failed after row 10: IndexError: list index out of range
    """
    measure_all = find_vector_form(measure)
    where = ""
    try:
        if measure_all is not None and isinstance(tallies, Tallies | NumberTallies):
            return measure_all(tallies)  # type: ignore[arg-type]
        values = np.empty(len(tallies))
        for index, tally in enumerate(tallies):
            where = f" after row {reading_rows[index % len(reading_rows)]:,}" if reading_rows else ""
            values[index] = as_number(measure(tally))
    except StreamgaugeError:
        raise
    except Exception as error:
        msg = f"the measure {measure.name} failed{where}: {describe_error(error)}"
        raise StreamgaugeError(msg) from error
    return values
