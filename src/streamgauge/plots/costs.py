"""Figures of the cost of learners."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import make_printable
from streamgauge.plots.axis import Axis, X, choose_x
from streamgauge.plots.figure import Figure, get_line_style, new_figure
from streamgauge.plots.marks import MAX_POINTS, select_learners
from streamgauge.records import RunData
from streamgauge.reports.curves import downsample_curves, summarise_folds
from streamgauge.reports.pareto import COSTS, find_pareto_points, require_resources, select_cost

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["pareto", "resources"]

CostName = Literal["ram_hours", "cpu_seconds", "n_bytes"]

MARKERS = "osD^vPX"

MARK_SIZE = 10.0
"""The size of a mark in pixels."""

OFFSETS = ((6, 4), (6, -11), (-6, 4), (-6, -11), (6, 15), (6, -22), (-6, 15), (-6, -22), (6, 26), (6, -33))
"""Offsets of a name from its mark, in points, best first."""


def resources(
    results: RunData,
    cost: CostName = "ram_hours",
    *,
    learners: Sequence[str] | None = None,
    x: X | None = None,
    size: tuple[float, float] = (7.0, 4.0),
) -> Figure:
    """Draw the cumulative cost of each learner: the mean over folds, with a band from minimum to maximum.

    Parameters
    ----------
    results
        The results of an evaluation that measured resources.
    cost
        ``ram_hours``, ``cpu_seconds`` or ``n_bytes``.
    learners
        The learners to show; by default all.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, where they carry them and these
        increase along the run: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> figure = resources(evaluate(SEA(n_rows=1000), NaiveBayes(), resources=True), "n_bytes")
    >>> figure.drawn.axes[0].get_ylabel()
    'model size in bytes'
    """
    measured = require_resources(results)
    shown = select_learners(results, learners)
    values = select_cost(measured, cost)
    curves = {name: summarise_folds(values[:, results.learners.index(name)].T) for name in shown}
    rows, curves = downsample_curves(measured.rows, curves, MAX_POINTS)
    axis = Axis.of_run(results, choose_x(x, [results]))
    places = axis.place(rows)
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        for name in shown:
            style = get_line_style(results.learners.index(name))
            axes.fill_between(places, curves[name].low, curves[name].high, color=style["color"], alpha=0.15, lw=0)
            axes.plot(places, curves[name].mean, label=make_printable(name), **style)
        axis.style(axes)
        positive = values[values > 0]  # the scale starts at the least of them, without empty decades below
        axes.set_yscale("symlog", linthresh=max(positive.min(), 1e-12) if positive.size else 1.0)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(COSTS[cost])
        axes.set_title(f"Cost: {COSTS[cost]}")
        drawn.legend(loc="outside lower center", ncols=min(len(shown), 3), handlelength=3)
    return Figure(drawn)


def pareto(
    results: RunData | Sequence[RunData],
    measure: str | None = None,
    forgetting: str | None = None,
    *,
    cost: CostName = "ram_hours",
    size: tuple[float, float] = (6.0, 4.0),
) -> Figure:
    """Draw a measure against a cost, and the Pareto front: the learners that no other beats in both.

    With several runs, the means over them are drawn.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), [NaiveBayes(), MajorityClass()], resources=True)
    >>> pareto(results).drawn.axes[0].get_xlabel()
    'RAM-hours'
    """
    runs = [results] if isinstance(results, RunData) else list(results)
    points = find_pareto_points(runs, measure, forgetting, cost=cost)
    measure = measure or runs[0].measures[0]
    unit = runs[0].unit(measure)
    scale = 100.0 if unit == RATE else 1.0
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        front = sorted((point.cost, scale * point.value) for point in points if point.on_front)
        axes.step(*zip(*front, strict=True), where="post", color="#8a95a3", lw=1, ls="--", zorder=1)
        for index, point in enumerate(points):
            colour = COLOURS[index % len(COLOURS)]
            face = colour if point.on_front else "white"
            marker = MARKERS[index % len(MARKERS)]
            axes.plot(point.cost, scale * point.value, marker, mec=colour, mfc=face, ms=7, zorder=2)
        costs = [point.cost for point in points]
        if min(costs) > 0 and max(costs) > 5 * min(costs):
            axes.set_xscale("log")
        axes.margins(x=0.15, y=0.12)
        axes.grid(visible=True)
        axes.set_xlabel(COSTS[cost])
        axes.set_ylabel(label_measure(measure, unit))
        axes.set_title(f"{measure} against {COSTS[cost]}; filled: on the Pareto front")
        drawn.draw_without_rendering()  # computes the layout
        _draw_labels(axes, {point.learner: (point.cost, scale * point.value) for point in points})
    return Figure(drawn)


def _draw_labels(axes: "Axes", positions: Mapping[str, tuple[float, float]]) -> None:
    """Write a name next to each position, in the colour of its mark, where there is room."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415

    middles = axes.transData.transform(list(positions.values()))
    taken = [Bbox.from_bounds(x - MARK_SIZE / 2, y - MARK_SIZE / 2, MARK_SIZE, MARK_SIZE) for x, y in middles]
    for index, (name, position) in enumerate(positions.items()):
        colour = COLOURS[index % len(COLOURS)]
        text = axes.annotate(make_printable(name), position, OFFSETS[0], textcoords="offset points", color=colour)
        boxes = []
        for across, up in OFFSETS:
            text.set(position=(across, up), ha="left" if across > 0 else "right")
            boxes.append(text.get_window_extent())
            if not boxes[-1].count_overlaps(taken):
                break
        else:  # no free position
            text.set(position=OFFSETS[0], ha="left")
            boxes = boxes[:1]
        taken.append(boxes[-1])
