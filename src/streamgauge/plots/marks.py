"""What figures along a stream have in common: true drifts, alarms and hidden labels, and the legend."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from streamgauge._format.palette import COLOURS
from streamgauge._optional import library
from streamgauge.errors import unknown_name
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import get_scale
from streamgauge.records import Drift, RunData
from streamgauge.reports.unlabelled_spans import find_unlabelled_spans

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

__all__ = ["CHARACTER", "MAX_POINTS", "NEUTRAL_COLOUR", "add_legend", "draw_drifts", "draw_marks", "select_learners"]

MAX_POINTS = 2_000
"""The limit of points per curve: more than a page has columns."""

CHARACTER = 0.076
"""The width of a character in inches, about."""

DRIFT_COLOUR = "#8a95a3"

NEUTRAL_COLOUR = "#1b2430"
"""The colour of what belongs to no single learner."""


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


def draw_marks(
    axes: "Axes", axis: Axis, results: RunData, learners: Sequence[str], colours: Mapping[str, str] | None = None
) -> "dict[str, Artist]":
    """Draw the true drifts, the alarms of learners and the hidden labels of a run; return entries for the legend.

    Alarms have the colour of their learner in `colours`, by default that of its position among the learners. On an axis
    of times, the times of marks between two readings are interpolated.

    Examples
    --------
    >>> from streamgauge.plots.figure import new_figure
    >>> from streamgauge.streams import SEA, Sudden
    >>> from streamgauge import NoChange, evaluate
    >>> results = evaluate(Sudden(SEA(1), SEA(3), position=500), NoChange(), n_rows=1000)
    >>> with new_figure((4, 3)) as drawn:
    ...     list(draw_marks(drawn.add_subplot(), Axis(1000), results, results.learners))
    ['true drift']
    """
    legend: dict[str, Artist] = {}
    lines, patches = library("matplotlib.lines", "plots"), library("matplotlib.patches", "plots")
    for start, stop, whole in find_unlabelled_spans(results):
        style: dict[str, Any] = {
            "facecolor": "#eef0f3" if whole else "#f7f8fa",
            "edgecolor": "#d5dae0",
            "hatch": "//",
            "lw": 0,
        }
        axes.axvspan(*axis.place([start, stop]), **style)
        legend["labels hidden" if whole else "labels partly hidden"] = patches.Patch(**style)
    legend |= draw_drifts(axes, axis, results.drifts)
    if colours is None:
        colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(results.learners)}
    bottom = axes.get_xaxis_transform()
    for kind, label, alpha in (("drift", "alarm", 1.0), ("warning", "warning", 0.3)):
        for name in learners:
            own = (alarm for alarm in results.alarms if (alarm.learner, alarm.kind) == (name, kind))
            rows = np.array(sorted(alarm.row for alarm in own), dtype=np.int64)
            if not len(rows):
                continue
            _, distinct = np.unique(rows // max(1, results.n_rows // MAX_POINTS), return_index=True)
            mark: dict[str, Any] = {"marker": "^", "ls": "", "ms": 5, "alpha": alpha, "mew": 0}
            colour = colours.get(name, NEUTRAL_COLOUR)
            places, heights = axis.place(rows[distinct]), np.full(len(distinct), 0.012)
            axes.plot(places, heights, color=colour, transform=bottom, zorder=3, **mark)
            legend[label] = lines.Line2D([], [], color=NEUTRAL_COLOUR, **mark)
    return legend


def draw_drifts(axes: "Axes", axis: Axis, drifts: Sequence[Drift]) -> "dict[str, Artist]":
    """Draw true drifts; return entries for the legend.

    Examples
    --------
    >>> from streamgauge.plots.figure import new_figure
    >>> with new_figure((4, 3)) as drawn:
    ...     list(draw_drifts(drawn.add_subplot(), Axis(1000), [Drift(500), Drift(800, width=100, kind="gradual")]))
    ['true drift', 'gradual drift']
    """
    legend: dict[str, Artist] = {}
    lines, patches = library("matplotlib.lines", "plots"), library("matplotlib.patches", "plots")
    for drift in drifts:
        legend["true drift"] = lines.Line2D([], [], color=DRIFT_COLOUR, lw=0.8)
        axes.axvline(float(axis.place(drift.position)), color=DRIFT_COLOUR, lw=0.8)
    for drift in drifts:
        if drift.width:
            axes.axvspan(*axis.place([drift.position, drift.stop]), color=DRIFT_COLOUR, alpha=0.18, lw=0)
            legend[f"{drift.kind} drift"] = patches.Patch(color=DRIFT_COLOUR, alpha=0.18, lw=0)
    return legend


def add_legend(figure: "Drawn", entries: "Mapping[str, Artist]") -> int:
    """Add a legend below the figure, with as many columns as its longest entry leaves room for; return its lines.

    Examples
    --------
    >>> from streamgauge.plots.figure import new_figure
    >>> with new_figure((4, 3)) as drawn:
    ...     add_legend(drawn, {"tree": drawn.add_subplot().plot([0, 1])[0]})
    1
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['tree']
    """
    if not entries:
        return 0
    width = figure.get_figwidth() / get_scale()
    labels = ["\n".join(wrap(label, int((width - 0.6) / CHARACTER))) for label in entries]
    longest = max(len(line) for label in labels for line in label.splitlines())
    columns = max(1, min(len(labels), int(width / (0.6 + CHARACTER * longest))))
    n_lines = -(-len(labels) // columns)
    columns = -(-len(labels) // n_lines)  # the same number of lines, evenly filled
    figure.legend(list(entries.values()), labels, loc="outside lower center", ncols=columns, handlelength=2.6)
    return n_lines + max(label.count("\n") for label in labels)
