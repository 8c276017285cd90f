"""Figures of measures along a stream."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import describe_forgetting, make_printable
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.plots.figure import Figure, get_line_style, new_figure, style_axes
from streamgauge.records import RunData
from streamgauge.reports.curves import Curve, downsample_curves, summarise_series
from streamgauge.reports.series import find_series
from streamgauge.reports.unlabelled_spans import find_unlabelled_spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAX_POINTS", "curves", "difference", "draw_marks", "select_learners"]

MAX_POINTS = 2_000
"""The limit of points per curve: more than a page has columns."""

Band = Literal["folds", "deviation", "interval", "none"]


def curves(
    results: RunData,
    measure: str | None = None,
    forgetting: str | None = None,
    *,
    learners: Sequence[str] | None = None,
    band: Band = "folds",
    size: tuple[float, float] = (7.0, 4.0),
) -> Figure:
    """Draw a measure along the stream: means over folds, with bands, true drifts, alarms and hidden labels.

    Long curves are downsampled without losing extremes. Grey lines and shades are true drifts, triangles at the bottom
    alarms of detectors (pale for warnings), hatched shades rows whose labels are hidden from the learners.

    Parameters
    ----------
    results
        The results of an evaluation.
    measure, forgetting
        The readings to show; by default the first.
    learners
        The learners to show; by default all.
    band
        The bands: from the lowest to the highest of the ``folds``, one standard ``deviation`` of the folds around their
        mean, the ``interval`` of the error or accuracy by a bound among the measures, or ``none``.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), [NaiveBayes(), MajorityClass()])
    >>> [text.get_text() for text in curves(results).drawn.legends[0].get_texts()]
    ['NaiveBayes', 'MajorityClass']
    """
    series = find_series(results, measure, forgetting)
    shown = select_learners(results, learners)
    if band == "interval":
        full_curves = _compute_intervals(results, series.measure, series.forgetting)
    elif band == "deviation":
        full_curves = {name: _compute_deviations(series.values[name]) for name in shown}
    else:
        full_curves = summarise_series(series)
    rows, shown_curves = downsample_curves(series.rows, full_curves, MAX_POINTS)
    scale = 100.0 if series.unit == RATE else 1.0
    with new_figure(size) as figure:
        axes = figure.add_subplot()
        draw_marks(axes, results, shown)
        for name in shown:
            style, curve = get_line_style(results.learners.index(name)), shown_curves[name]
            if band != "none" and (series.n_folds > 1 or band == "interval"):
                axes.fill_between(rows, scale * curve.low, scale * curve.high, color=style["color"], alpha=0.15, lw=0)
            marker = "." if len(rows) == 1 else None
            axes.plot(rows, scale * curve.mean, label=make_printable(name), marker=marker, **style)
        style_axes(axes, results.n_rows)
        axes.set_ylabel(label_measure(series.measure, series.unit))
        axes.set_title(f"{series.measure} {describe_forgetting(series.forgetting)}")
        figure.legend(loc="outside lower center", ncols=min(len(shown), 3), handlelength=3)
    return Figure(figure)


def difference(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    *,
    size: tuple[float, float] = (7.0, 3.6),
) -> Figure:
    """Draw the difference between two learners along the stream, with its confidence sequence.

    The band covers the true difference simultaneously at all rows. Once it excludes zero, or the region of practical
    equivalence (grey), the verdict is final.

    Parameters
    ----------
    results
        The results of an evaluation.
    first, second
        Names of the learners; may be omitted if there are just two.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> difference(results).drawn.axes[0].get_title("left")
    'bayes minus majority'
    """
    differences = results.differences
    if differences is None:
        msg = "this run has no live comparison of learners: evaluate two or more in one run"
        raise StreamgaugeError(msg)
    if first is None or second is None:
        if len(differences.pairs) > 1:
            msg = f"the difference needs two learners: choose two of {', '.join(results.learners)}"
            raise StreamgaugeError(msg)
        first, second = differences.pairs[0]
    middle, low, high = 100.0 * differences.between(first, second).T
    verdict = next((v for v in results.verdicts if {v.first, v.second} == {first, second}), None)
    with new_figure(size) as figure:
        axes = figure.add_subplot()
        draw_marks(axes, results, ())
        if verdict is not None and verdict.rope > 0:
            axes.axhspan(-100 * verdict.rope, 100 * verdict.rope, color="#eceff2", lw=0, zorder=0)
        axes.axhline(0.0, color="#1b2430", lw=0.8, ls="--")
        style = get_line_style(0)
        axes.fill_between(differences.rows, low, high, color=style["color"], alpha=0.15, lw=0)
        axes.plot(differences.rows, middle, **style)
        axes.set_ylim(*_compute_limits(middle, low, high))
        if verdict is not None and verdict.row is not None:
            axes.axvline(verdict.row, color=COLOURS[1], lw=1)
            axes.annotate(
                make_printable(str(verdict)), (verdict.row, 0.97), (4, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", color=COLOURS[1], va="top", fontsize=8,
            )  # fmt: skip
        style_axes(axes, results.n_rows)
        axes.set_ylabel("accuracy, percentage points")
        axes.set_title(f"{make_printable(first)} minus {make_printable(second)}")
    return Figure(figure)


def _compute_limits(
    middle: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the limits of a chart of differences, without the first intervals, which are very wide."""
    later = slice(len(middle) // 10, None)
    shown = np.concatenate(([0.0], middle, low[later], high[later]))
    least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
    margin = 0.08 * (most - least or 1.0)
    return least - margin, most + margin


def select_learners(results: RunData, learners: Sequence[str] | None) -> list[str]:
    """Return the names of the learners to show, all by default; raise if one is unknown.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> select_learners(evaluate(SEA(n_rows=10), NoChange()), None)
    ['NoChange']
    """
    for name in learners or ():
        if name not in results.learners:
            raise unknown_name(kind="learner", name=name, known=results.learners)
    return list(learners or results.learners)


def draw_marks(axes: "Axes", results: RunData, learners: Sequence[str]) -> None:
    """Draw the true drifts, the alarms and the hidden labels of a run on axes over its rows.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Sudden
    >>> from streamgauge import NoChange, evaluate
    >>> results = evaluate(Sudden(SEA(1), SEA(3), position=500), NoChange(), n_rows=1000)
    >>> with new_figure((4, 3)) as drawn:
    ...     draw_marks(drawn.add_subplot(), results, results.learners)
    >>> len(drawn.axes[0].lines)
    1
    """
    for start, stop, whole in find_unlabelled_spans(results):
        axes.axvspan(start, stop, facecolor="#eef0f3" if whole else "#f7f8fa", edgecolor="#d5dae0", hatch="//", lw=0)
    for drift in results.drifts:
        axes.axvline(drift.position, color="#8a95a3", lw=0.8)
        if drift.width:
            axes.axvspan(drift.position, drift.stop, color="#8a95a3", alpha=0.18, lw=0)
    for index, name in enumerate(results.learners):
        for kind, alpha in (("drift", 1.0), ("warning", 0.3)):
            rows = [alarm.row for alarm in results.alarms if (alarm.learner, alarm.kind) == (name, kind)]
            if rows and name in learners:
                _, distinct = np.unique(np.array(rows) // max(1, results.n_rows // MAX_POINTS), return_index=True)
                bottom = axes.get_xaxis_transform()
                colour = COLOURS[index % len(COLOURS)]
                axes.plot(np.array(rows)[distinct], np.full(len(distinct), 0.012), "^", color=colour, ms=5, alpha=alpha,
                          mew=0, transform=bottom, zorder=3)  # fmt: skip


def _compute_deviations(values: NDArray[np.float64]) -> Curve:
    """Return the mean of folds [k, n], minus and plus their standard deviation."""
    defined = np.isfinite(values)
    n = defined.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=0) / n
        squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
        deviation = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
    return Curve(mean, mean - deviation, mean + deviation)


def _compute_intervals(results: RunData, measure: str, forgetting: str) -> dict[str, Curve]:
    """Return per learner the mean over folds of a measure and of the bounds of its intervals."""
    bound = next((name for name in ("chernoff", "hoeffding") if name in results.measures), None)
    if bound is None:
        msg = "there are no intervals to draw: add the measure 'hoeffding' or 'chernoff' to the evaluation"
        raise StreamgaugeError(msg)
    intervals = {}
    for learner in results.learners:
        low, high = results.interval(learner, measure, bound, forgetting)
        mean = results.curve(learner, measure, forgetting).mean(axis=1)
        intervals[learner] = Curve(mean, low.mean(axis=1), high.mean(axis=1))
    return intervals
