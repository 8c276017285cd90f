"""The x axis of figures along a stream: rows, or the times that the rows carry."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.text import make_printable
from streamgauge._format.times import shows_dates
from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import RunData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Axis", "X", "choose_x", "shorten_number"]

X = Literal["row", "time"]
"""What the x axis of a figure shows."""


@dataclass(frozen=True)
class Axis:
    """An x axis over the rows of a stream, or over their times.

    Parameters
    ----------
    n_rows
        The number of rows.
    rows, times
        Numbers of rows, ascending, and when they were done, in seconds since 1970; no times for an axis of rows.

    Examples
    --------
    >>> axis = Axis(100, np.array([50, 100]), np.array([2.0, 4.0]))
    >>> axis.place([50, 75]).tolist(), Axis(100).place([50, 75]).tolist()
    ([2.0, 3.0], [50, 75])
    """

    n_rows: int
    rows: NDArray[np.int64] | None = None
    times: NDArray[np.float64] | None = None

    @classmethod
    def of_run(cls, run: RunData, x: X) -> "Axis":
        """Return the axis of a run."""
        return cls(run.n_rows, run.rows, run.times) if x == "time" else cls(run.n_rows)

    @property
    def _has_dates(self) -> bool:
        return self.times is not None and shows_dates(self.times)

    def place(self, rows: ArrayLike) -> NDArray[Any]:
        """Return the positions of rows on the axis; their times are interpolated between those that are known."""
        if self.rows is None or self.times is None:
            return np.asarray(rows)
        return self._to_positions(np.interp(np.asarray(rows, dtype=np.float64), self.rows, self.times))

    def _to_positions(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return times as Matplotlib counts them: dates in days, other times in seconds."""
        if not self._has_dates:
            return times
        dates = np.rint(times * 1e6).astype("datetime64[us]")
        days: NDArray[np.float64] = library("matplotlib.dates", "plots").date2num(dates)
        return days

    def style(self, axes: "Axes") -> None:
        """Set the grid, the limits, the ticks and the label of axes.

        Examples
        --------
        >>> from streamgauge.plots.figure import new_figure
        >>> with new_figure((4, 3)) as drawn:
        ...     Axis(1000).style(drawn.add_subplot())
        >>> drawn.axes[0].get_xlabel()
        'rows'
        """
        axes.grid(visible=True)
        if self.times is None:
            axes.set_xlim(0, max(self.n_rows, 1))
        else:
            axes.set_xlim(*self._to_positions(self.times[[0, -1]]))
        if self._has_dates:
            dates = library("matplotlib.dates", "plots")
            locator = dates.AutoDateLocator(tz="UTC", minticks=3, maxticks=7)
            axes.xaxis.set_major_locator(locator)
            axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz="UTC"))
        else:
            axes.xaxis.set_major_formatter(library("matplotlib.ticker", "plots").FuncFormatter(shorten_number))
        axes.set_xlabel("rows" if self.times is None else "time (UTC)" if self._has_dates else "time (s)")


def choose_x(x: X | None, runs: Sequence[RunData]) -> X:
    """Return what the x axis of a figure of runs shows: times by default, where all runs carry them and they increase.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=100), NoChange())
    >>> choose_x(None, [results])
    'row'
    >>> choose_x("time", [results])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: x='time': the rows of SEA(n_rows=100) carry no times; name their column with \
time= (--time) in the evaluation, or draw over rows with x='row' (--x row)
    """
    if x is None:
        return "time" if all(run.has_time_axis for run in runs) else "row"
    if x not in get_args(X):
        raise unknown_name(kind="x axis", name=x, known=get_args(X))
    unfit = next((run for run in runs if not run.has_time_axis), None)
    if x == "row" or unfit is None:
        return x
    stream = unfit.description.get("stream")
    name = make_printable(str(stream.get("name") if isinstance(stream, dict) else "this run"))
    if unfit.times is None:
        reason = f"the rows of {name} carry no times; name their column with time= (--time) in the evaluation, or draw"
    else:
        reason = f"the times of {name} do not increase from reading to reading; draw"
    msg = f"x='time': {reason} over rows with x='row' (--x row)"
    raise StreamgaugeError(msg)


def shorten_number(number: float, _: int = 0) -> str:
    """Return a number for an axis, with a letter for thousands, millions and billions.

    Examples
    --------
    >>> shorten_number(2_500_000), shorten_number(0.5)
    ('2.5M', '0.5')
    """
    for scale, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= scale:
            return f"{number / scale:g}{letter}"
    return f"{number:g}"
