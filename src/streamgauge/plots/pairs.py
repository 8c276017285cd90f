"""Figures of two learners along a stream: their difference, and the Q statistic."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, to_difference_unit
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import describe_forgetting, join_words, make_printable
from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError
from streamgauge.plots.axis import Axis, X, choose_x
from streamgauge.plots.figure import Figure, get_line_style, new_figure
from streamgauge.plots.marks import MAX_POINTS, add_legend, draw_marks
from streamgauge.plots.pooling import list_forgettings, pool_runs
from streamgauge.records import Differences, RunData
from streamgauge.reports.curves import downsample_curves, summarise_folds
from streamgauge.reports.q_statistic import compute_q_curve
from streamgauge.reports.verdicts import format_short_margin
from streamgauge.significance.verdict_terms import find_question

if TYPE_CHECKING:
    from matplotlib.artist import Artist

__all__ = ["difference", "q_statistic"]

MARGIN: dict[str, Any] = {"color": COLOURS[4], "alpha": 0.18, "lw": 0}
"""The style of the region of practical equivalence."""


def difference(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    measure: str | None = None,
    *,
    x: X | None = None,
    size: tuple[float, float] = (7.0, 3.6),
) -> Figure:
    """Draw the difference between two learners along the stream, with its confidence sequence.

    The learner with the greater value at the end comes first, so that the curve ends above zero. The band covers the
    true difference simultaneously at all rows: where it excludes the margin (amber), or lies within it, there is a
    verdict on the rows up to there.

    Parameters
    ----------
    results
        The results of an evaluation.
    first, second
        Names of the learners, in any order; may be omitted if there are just two.
    measure
        One of the measures that the live test compared; by default the first.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, where they carry them and these
        increase along the run: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"majority": MajorityClass(), "bayes": NaiveBayes()})
    >>> difference(results).drawn.axes[0].get_title("left")
    'bayes minus majority'
    """
    differences = results.differences
    if differences is None:
        msg = "this run has no live comparison of learners: evaluate two or more in one run"
        raise StreamgaugeError(msg)
    measure = _choose_measure(differences, measure)
    first, second = _choose_pair(differences, first, second, measure)
    found = (v for v in results.verdicts if {v.first, v.second} == {first, second} and v.measure == measure)
    verdict = next(found, None)
    unit = results.unit(measure) if verdict is None else verdict.unit
    is_better = results.greater_is_better(measure) if verdict is None else verdict.greater_is_better
    scale = 100.0 if unit == RATE else 1.0
    middle, low, high = scale * differences.between(first, second, measure).T
    axis = Axis.of_run(results, choose_x(x, [results]))
    places = axis.place(differences.rows)
    with new_figure(size) as figure:
        axes = figure.add_subplot()
        legend = draw_marks(axes, axis, results, ())
        if verdict is not None and verdict.rope > 0 and verdict.test != "group_sequential":
            axes.axhspan(-scale * verdict.rope, scale * verdict.rope, **MARGIN)
            label = f"margin of ±{format_short_margin(verdict)}"
            legend[label] = library("matplotlib.patches", "plots").Patch(**MARGIN)
        axes.axhline(0.0, color="#1b2430", lw=0.8, ls="--")
        style = get_line_style(0)
        axes.fill_between(places, low, high, color=style["color"], alpha=0.15, lw=0)
        axes.plot(places, middle, **style)
        if np.isfinite(low).any():
            question = "" if verdict is None else find_question(verdict)
            label = f"{100 * (1 - differences.alpha):g}% at all rows{question and f', {question}'}"
            legend[label] = library("matplotlib.patches", "plots").Patch(color=style["color"], alpha=0.15, lw=0)
        axes.set_ylim(*_compute_limits(middle, low, high))
        axis.style(axes)
        if verdict is not None and verdict.row is not None:
            known_since = float(axis.place(verdict.row))
            axes.axvline(known_since, color=COLOURS[1], lw=1)
            text = "\n".join(
                wrap(make_printable(replace(verdict, earlier=None).describe(results.name_row)), int(10 * size[0]))
            )
            left = known_since > sum(axes.get_xlim()) / 2  # towards the middle, where there is room
            axes.annotate(
                text, (known_since, 0.97), (-4 if left else 4, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", color=COLOURS[1], va="top", ha="right" if left else "left", fontsize=8,
            )  # fmt: skip
        less = "" if is_better else " (less is better)"
        axes.set_ylabel(", ".join(filter(None, (make_printable(measure), to_difference_unit(unit)))) + less)
        axes.set_title(f"{make_printable(first)} minus {make_printable(second)}")
        add_legend(figure, legend)
    return Figure(figure)


def _choose_measure(differences: Differences, measure: str | None) -> str:
    """Return the measure, or the first one that was compared."""
    compared = list(dict.fromkeys(column[2] for column in differences.columns))
    if measure is not None and measure not in compared:
        msg = f"this run has no live comparison in {measure}, only in {join_words(compared)}: name it in the live test"
        raise StreamgaugeError(msg)
    return measure or compared[0]


def _choose_pair(differences: Differences, first: str | None, second: str | None, measure: str) -> tuple[str, str]:
    """Return the two learners, the one with the greater value at the end first."""
    if first is None or second is None:
        if len(set(differences.pairs)) > 1:
            learners = dict.fromkeys(name for pair in differences.pairs for name in pair)
            msg = f"the difference needs two learners: choose two of {', '.join(learners)}"
            raise StreamgaugeError(msg)
        first, second = differences.pairs[0]
    is_below = (differences.between(first, second, measure)[-1:, 0] < 0).any()
    return (second, first) if is_below else (first, second)


def q_statistic(
    results: RunData | Sequence[RunData],
    first: str | None = None,
    second: str | None = None,
    measure: str | None = None,
    forgettings: object = None,
    *,
    x: X | None = None,
    size: tuple[float, float] = (7.0, 3.6),
) -> Figure:
    """Draw the Q statistic of two learners along the stream: the logarithm of the ratio of their losses.

    Below 0 the first learner is better. It is a picture of the strength of a difference, not a test. Bands go from the
    lowest to the highest fold.

    Parameters
    ----------
    results
        The results of an evaluation, or of several with different seeds.
    first, second
        Names of the learners; may be omitted if there are just two.
    measure
        The loss: error, log_loss, brier, a cost, or accuracy for the error; see `compute_q_curve`.
    forgettings
        One or several of those that were read, each a line, as objects or text; by default the first.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, where they carry them and these
        increase along the run: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> q_statistic(results).drawn.get_suptitle()
    'Q statistic of bayes and majority by error'
    """
    pooled = pool_runs(results)
    if len(pooled.runs) > 1:
        msg = f"the Q statistic takes one stream, not {len(pooled.runs)}: {'; '.join(pooled.runs)}"
        raise StreamgaugeError(msg)
    (run,) = pooled.runs.values()
    names = list_forgettings(forgettings) or run.forgettings[:1]
    lines = [compute_q_curve(run, first, second, measure, name) for name in names]
    learners = [make_printable(name) for name in (lines[0].first, lines[0].second)]
    loss = "error" if lines[0].measure == "accuracy" else lines[0].measure
    axis = Axis.of_run(run, choose_x(x, [run]))
    with new_figure(size) as figure:
        axes = figure.add_subplot()
        marks = draw_marks(axes, axis, run, ())
        axes.axhline(0.0, color="#1b2430", lw=0.8, ls="--")
        legend: dict[str, Artist] = {}
        for index, line in enumerate(lines):
            style = get_line_style(index)
            summaries = {"folds": summarise_folds(line.folds.T), "all": summarise_folds(line.values[None])}
            rows, shown = downsample_curves(line.rows, summaries, MAX_POINTS)
            places = axis.place(rows)
            if run.n_folds > 1:
                axes.fill_between(
                    places, shown["folds"].low, shown["folds"].high, color=style["color"], alpha=0.15, lw=0
                )
            label = make_printable(describe_forgetting(line.forgetting))
            (legend[label],) = axes.plot(places, shown["all"].mean, label=label, **style)
        axis.style(axes)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -0.05 * (high - low)), max(high, 0.05 * (high - low)))  # 0 is always inside
        axes.set_ylabel(f"log of the ratio of the {make_printable(loss)}")
        title = f"Q statistic of {learners[0]} and {learners[1]} by {make_printable(loss)}"
        sides = f"below 0 {learners[0]} is better, above 0 {learners[1]}"
        figure.suptitle("\n".join(wrap(title, int(11 * size[0]))), x=0.01, ha="left", fontsize=10, fontweight="bold")
        axes.set_title("\n".join(wrap(sides, int(12 * size[0]))), fontsize=8.5, fontweight="normal")
        add_legend(figure, legend | marks)
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
