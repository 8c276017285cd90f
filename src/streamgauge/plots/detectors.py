"""Figures of drift detectors at work: their statistic beside its threshold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.downsample import Buckets
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import join_words, make_printable, to_text
from streamgauge._optional import library
from streamgauge.drift import as_detector, trace_statistic
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import Figure, get_line_style, new_figure
from streamgauge.plots.marks import MAX_POINTS, NEUTRAL_COLOUR, add_legend, draw_drifts
from streamgauge.records import Drift

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["detector_statistic"]


def detector_statistic(
    values: ArrayLike,
    detectors: object = "PageHinkley",
    *,
    rows: ArrayLike | None = None,
    times: ArrayLike | None = None,
    drifts: Sequence[Drift | int] = (),
    width: int | None = None,
    label: str = "error",
    size: tuple[float, float] | None = None,
) -> Figure:
    """Draw the values that detectors watch, and below them the statistic of each detector beside its threshold.

    A detector signals a drift, marked by a triangle, where its statistic exceeds the threshold, and starts again.

    Parameters
    ----------
    values
        The values, such as the errors (0 or 1) of a learner, which `streamgauge.results.read_errors` reads from saved
        predictions, or the column of a stream or file, which `streamgauge.drift.read_values` reads.
    detectors
        A detector or its name, or a list of them: PageHinkley, Cusum, DDM, EWMAChart, or OfMean of one of these.
    rows
        The row of the stream of each value; by default they are counted from 0.
    times
        The time of each value in seconds since 1970, ascending, to draw over time; by default over rows.
    drifts
        The true drifts, or their first rows.
    width
        The mean of this many values is drawn at the top; by default a fiftieth of them.
    label
        What the values are, for the title.
    size
        Width and height in inches; by default 7 inches wide, and as high as the detectors need.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009, Figure 8.

    Examples
    --------
    >>> from streamgauge.drift import PageHinkley
    >>> errors = [0.0] * 500 + [1.0] * 40
    >>> figure = detector_statistic(errors, PageHinkley(threshold=10), drifts=[500])
    >>> [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    ['statistic', 'threshold', 'alarm', 'true drift']
    """
    column = np.asarray(values, dtype=np.float64)
    positions = np.arange(len(column)) if rows is None else np.asarray(rows, dtype=np.int64)
    known_times = None if times is None else np.asarray(times, dtype=np.float64)
    shapes = [part.shape for part in (column, positions, known_times) if part is not None]
    if column.ndim != 1 or not len(column) or len(set(shapes)) > 1:
        listed = join_words([str(shape) for shape in shapes])
        msg = f"values, rows and times must be columns of one length, not of shapes {listed}"
        raise StreamgaugeError(msg)
    width = min(max(1, len(column) // 50) if width is None else width, len(column))
    require_at_least("width", width, 1)
    specs = [as_detector(detector) for detector in (detectors if isinstance(detectors, list | tuple) else [detectors])]
    known = [drift if isinstance(drift, Drift) else Drift(drift) for drift in drifts]
    axis = Axis(int(positions[-1]) + 1, positions, known_times)
    legend: dict[str, Artist] = {}
    with new_figure(size or (7.0, 2.0 + 1.6 * len(specs))) as drawn:
        first, *others = drawn.subplots(1 + len(specs), sharex=True)
        means = _compute_means(column, width)
        buckets = Buckets.from_count(len(means), MAX_POINTS)
        shown = buckets.take_extremes(means[:, None])[:, 0]
        first.plot(axis.place(positions[width - 1 :][buckets.indices]), shown, color=NEUTRAL_COLOUR, lw=1)
        first.set_ylabel("mean")
        first.set_title(f"{make_printable(label)}, mean of the last {width:,} values", fontsize=9)
        marks = draw_drifts(first, axis, known)
        for axes, spec in zip(others, specs, strict=True):
            draw_drifts(axes, axis, known)
            trace = trace_statistic(column, spec)
            legend |= _draw_trace(axes, axis.place(positions), trace.statistic, trace.threshold)
            axes.set_title(make_printable(to_text(spec)), fontsize=9)
        for axes in (first, *others):
            axis.style(axes)
            if axes is not others[-1]:
                axes.set_xlabel("")
        add_legend(drawn, legend | marks)
    return Figure(drawn)


def _draw_trace(
    axes: "Axes", places: NDArray[Any], statistic: NDArray[np.float64], threshold: NDArray[np.float64]
) -> "dict[str, Artist]":
    """Draw a statistic, its threshold and the alarms; return the entries of the legend."""
    buckets = Buckets.from_count(len(places), MAX_POINTS)
    lines = buckets.take_extremes(np.column_stack([statistic, threshold]))
    legend: dict[str, Artist] = {}
    (legend["statistic"],) = axes.plot(places[buckets.indices], lines[:, 0], **get_line_style(0) | {"linewidth": 1})
    style: dict[str, Any] = {"color": COLOURS[1], "ls": "--", "lw": 1.2}
    (legend["threshold"],) = axes.plot(places[buckets.indices], lines[:, 1], **style)
    alarms = places[statistic > threshold]
    if len(alarms):
        mark: dict[str, Any] = {"marker": "^", "ls": "", "ms": 5, "mew": 0, "color": NEUTRAL_COLOUR}
        axes.plot(alarms, np.full(len(alarms), 0.03), transform=axes.get_xaxis_transform(), zorder=3, **mark)
        legend["alarm"] = library("matplotlib.lines", "plots").Line2D([], [], **mark)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("statistic")
    return legend


def _compute_means(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the mean of each `width` consecutive values."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means: NDArray[np.float64] = (sums[width:] - sums[:-width]) / width
    return means
