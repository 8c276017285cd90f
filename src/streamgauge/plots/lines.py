"""Figures of measures along a stream."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import make_printable
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.plots.figure import Figure, blank, line_style, tidy
from streamgauge.records import RunData
from streamgauge.reports.curves import Curve, curves_of, thinned
from streamgauge.reports.series import panel_of
from streamgauge.reports.unlabelled_spans import hidden_spans

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curves", "difference", "mark", "shown_learners"]

MOST_POINTS = 2_000
"""How many points a curve is drawn with: more than a page has columns."""

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

    Long curves are thinned so that every extreme stays. Grey lines and shades are true drifts, triangles at the foot
    alarms of detectors (pale where they only warn), hatched shades rows whose labels are hidden from the learners.

    Parameters
    ----------
    results
        What an evaluation found.
    measure, forgetting
        Which readings; by default the first.
    learners
        Whose; by default everyone's.
    band
        What the bands are: from the lowest to the highest of the ``folds``, one standard ``deviation`` of the folds
        about their mean, the ``interval`` of the error or accuracy that a bound among the measures gives, or ``none``.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), [NaiveBayes(), MajorityClass()])
    >>> [text.get_text() for text in curves(results).drawn.legends[0].get_texts()]
    ['NaiveBayes', 'MajorityClass']
    """
    panel = panel_of(results, measure, forgetting)
    shown = shown_learners(results, learners)
    drawn_curves = curves_of(panel) if band != "interval" else _intervals(results, panel.measure, panel.forgetting)
    if band == "deviation":
        drawn_curves = {name: _deviations(panel.values[name]) for name in shown}
    rows, thin = thinned(panel.rows, drawn_curves, MOST_POINTS)
    scale = 100.0 if panel.unit == RATE else 1.0
    with blank(size) as figure:
        axes = figure.add_subplot()
        mark(axes, results, shown)
        for name in shown:
            style, curve = line_style(results.learners.index(name)), thin[name]
            if band != "none" and (panel.n_folds > 1 or band == "interval"):
                axes.fill_between(rows, scale * curve.low, scale * curve.high, color=style["color"], alpha=0.15, lw=0)
            marker = "." if len(rows) == 1 else None
            axes.plot(rows, scale * curve.mean, label=make_printable(name), marker=marker, **style)
        tidy(axes, results.n_rows)
        axes.set_ylabel(label_measure(panel.measure, panel.unit))
        axes.set_title(f"{panel.measure} over {panel.forgetting}")
        figure.legend(loc="outside lower center", ncols=min(len(shown), 3), handlelength=3)
    return Figure(figure)


def difference(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    *,
    size: tuple[float, float] = (7.0, 3.6),
) -> Figure:
    """Draw the difference of two learners along the stream, with its confidence sequence.

    The band holds the true difference at all rows at once, so one may look at any time: once it is clear of zero, or of
    differences that do not matter (grey), the verdict stands.

    Parameters
    ----------
    results
        What an evaluation found.
    first, second
        Names of the learners; may be left out where there are just two.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> difference(results).drawn.axes[0].get_title("left")
    'bayes minus majority'
    """
    kept = results.differences
    if kept is None:
        msg = "this run did not look at pairs of learners while it went on: evaluate two or more at once"
        raise StreamgaugeError(msg)
    if first is None or second is None:
        if len(kept.pairs) > 1:
            msg = f"there are {', '.join(results.learners)}: name two of them"
            raise StreamgaugeError(msg)
        first, second = kept.pairs[0]
    middle, low, high = 100.0 * kept.of(first, second).T
    verdict = next((v for v in results.verdicts if {v.first, v.second} == {first, second}), None)
    with blank(size) as figure:
        axes = figure.add_subplot()
        mark(axes, results, ())
        if verdict is not None and verdict.rope > 0:
            axes.axhspan(-100 * verdict.rope, 100 * verdict.rope, color="#eceff2", lw=0, zorder=0)
        axes.axhline(0.0, color="#1b2430", lw=0.8, ls="--")
        style = line_style(0)
        axes.fill_between(kept.rows, low, high, color=style["color"], alpha=0.15, lw=0)
        axes.plot(kept.rows, middle, **style)
        axes.set_ylim(*_reach(middle, low, high))
        if verdict is not None and verdict.row is not None:
            axes.axvline(verdict.row, color=COLOURS[1], lw=1)
            axes.annotate(
                make_printable(str(verdict)), (verdict.row, 0.97), (4, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", color=COLOURS[1], va="top", fontsize=8,
            )  # fmt: skip
        tidy(axes, results.n_rows)
        axes.set_ylabel("accuracy, % points")
        axes.set_title(f"{make_printable(first)} minus {make_printable(second)}")
    return Figure(figure)


def _reach(middle: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[float, float]:
    """Give the limits of a chart of differences: the first intervals are so wide that they would hide all else."""
    later = slice(len(middle) // 10, None)
    shown = np.concatenate(([0.0], middle, low[later], high[later]))
    least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
    margin = 0.08 * (most - least or 1.0)
    return least - margin, most + margin


def shown_learners(results: RunData, learners: Sequence[str] | None) -> list[str]:
    """Give the names of the learners to show, all by default.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> shown_learners(evaluate(SEA(n_rows=10), NoChange()), None)
    ['NoChange']
    """
    for name in learners or ():
        if name not in results.learners:
            raise unknown_name(kind="learner", name=name, known=results.learners)
    return list(learners or results.learners)


def mark(axes: "Axes", results: RunData, learners: Sequence[str]) -> None:
    """Mark the true drifts, the alarms and the hidden labels of a run on axes over its rows.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Sudden
    >>> from streamgauge import NoChange, evaluate
    >>> results = evaluate(Sudden(SEA(1), SEA(3), position=500), NoChange(), n_rows=1000)
    >>> with blank((4, 3)) as drawn:
    ...     mark(drawn.add_subplot(), results, results.learners)
    >>> len(drawn.axes[0].lines)
    1
    """
    for start, stop, whole in hidden_spans(results):
        axes.axvspan(start, stop, facecolor="#eef0f3" if whole else "#f7f8fa", edgecolor="#d5dae0", hatch="//", lw=0)
    for drift in results.drifts:
        axes.axvline(drift.position, color="#8a95a3", lw=0.8)
        if drift.width:
            axes.axvspan(drift.position, drift.stop, color="#8a95a3", alpha=0.18, lw=0)
    for at, name in enumerate(results.learners):
        for kind, alpha in (("drift", 1.0), ("warning", 0.3)):
            rows = [alarm.row for alarm in results.alarms if (alarm.learner, alarm.kind) == (name, kind)]
            if rows and name in learners:
                places = np.unique(np.array(rows) // max(1, results.n_rows // MOST_POINTS), return_index=True)[1]
                foot = axes.get_xaxis_transform()
                colour = COLOURS[at % len(COLOURS)]
                axes.plot(np.array(rows)[places], np.full(len(places), 0.012), "^", color=colour, ms=5, alpha=alpha,
                          mew=0, transform=foot, zorder=3)  # fmt: skip


def _deviations(values: NDArray[np.float64]) -> Curve:
    """Give the mean of folds [k, n], less and plus their standard deviation."""
    defined = np.isfinite(values)
    n = defined.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=0) / n
        squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
        deviation = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
    return Curve(mean, mean - deviation, mean + deviation)


def _intervals(results: RunData, measure: str, forgetting: str) -> dict[str, Curve]:
    """Give per learner the mean over folds of a measure and of the ends of its intervals."""
    bound = next((name for name in ("chernoff", "hoeffding") if name in results.measures), None)
    if bound is None:
        msg = "there are no intervals to draw: evaluate with the measure 'hoeffding' or 'chernoff', too"
        raise StreamgaugeError(msg)
    found = {}
    for learner in results.learners:
        low, high = results.interval(learner, measure, bound, forgetting)
        mean = results.curve(learner, measure, forgetting).mean(axis=1)
        found[learner] = Curve(mean, low.mean(axis=1), high.mean(axis=1))
    return found
