"""Figures of what learners cost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import make_printable
from streamgauge.errors import StreamgaugeError
from streamgauge.plots.figure import Figure, blank, line_style, tidy
from streamgauge.plots.lines import MOST_POINTS, shown_learners
from streamgauge.records import Resources, RunData
from streamgauge.reports.curves import over_folds, thinned
from streamgauge.reports.pareto import COSTS, standings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["pareto", "resources"]

CostName = Literal["ram_hours", "cpu_seconds", "n_bytes"]

MARKERS = "osD^vPX"

MARK = 10.0
"""How many pixels a mark covers."""

SIDES = ((6, 4), (6, -11), (-6, 4), (-6, -11), (6, 15), (6, -22), (-6, 15), (-6, -22), (6, 26), (6, -33))
"""Where a name may stand beside its mark, in points, the best place first."""


def resources(
    results: RunData,
    cost: CostName = "ram_hours",
    *,
    learners: Sequence[str] | None = None,
    size: tuple[float, float] = (7.0, 4.0),
) -> Figure:
    """Draw what each learner has cost by each row: the mean over folds, with a band from the least to the most.

    Parameters
    ----------
    results
        What an evaluation found that measured resources.
    cost
        ``ram_hours``, ``cpu_seconds`` or ``n_bytes``.
    learners
        Whose; by default everyone's.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> figure = resources(evaluate(SEA(n_rows=1000), NaiveBayes(), resources=True), "n_bytes")
    >>> figure.drawn.axes[0].get_ylabel()
    'bytes of the model'
    """
    measured = _measured(results)
    shown = shown_learners(results, learners)
    values = getattr(measured, cost)
    courses = {name: over_folds(values[:, results.learners.index(name)].T.astype(float)) for name in shown}
    rows, thin = thinned(measured.rows, courses, MOST_POINTS)
    with blank(size) as drawn:
        axes = drawn.add_subplot()
        for name in shown:
            style = line_style(results.learners.index(name))
            axes.fill_between(rows, thin[name].low, thin[name].high, color=style["color"], alpha=0.15, lw=0)
            axes.plot(rows, thin[name].mean, label=make_printable(name), **style)
        tidy(axes, results.n_rows)
        some = values[values > 0]  # the scale begins at the least of them: no empty decades below it
        axes.set_yscale("symlog", linthresh=max(some.min(), 1e-12) if some.size else 1.0)
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
    """Draw how good each learner is against what it cost, and the Pareto front: those that nobody beats in both.

    With several runs it is the means over them that are drawn.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), [NaiveBayes(), MajorityClass()], resources=True)
    >>> pareto(results).drawn.axes[0].get_xlabel()
    'RAM-hours'
    """
    runs = [results] if isinstance(results, RunData) else list(results)
    found = standings(runs, measure, forgetting, cost=cost)
    measure = measure or runs[0].measures[0]
    unit = runs[0].unit(measure)
    scale = 100.0 if unit == RATE else 1.0
    with blank(size) as drawn:
        axes = drawn.add_subplot()
        front = sorted((standing.cost, scale * standing.value) for standing in found if standing.on_front)
        axes.step(*zip(*front, strict=True), where="post", color="#8a95a3", lw=1, ls="--", zorder=1)
        for at, standing in enumerate(found):
            colour = COLOURS[at % len(COLOURS)]
            face = colour if standing.on_front else "white"
            marker = MARKERS[at % len(MARKERS)]
            axes.plot(standing.cost, scale * standing.value, marker, mec=colour, mfc=face, ms=7, zorder=2)
        costs = [standing.cost for standing in found]
        if min(costs) > 0 and max(costs) > 5 * min(costs):
            axes.set_xscale("log")
        axes.margins(x=0.15, y=0.12)
        axes.grid(visible=True)
        axes.set_xlabel(COSTS[cost])
        axes.set_ylabel(label_measure(measure, unit))
        axes.set_title(f"{measure} against {COSTS[cost]}; filled: on the Pareto front")
        drawn.draw_without_rendering()  # so that all has its place
        _label(axes, {standing.learner: (standing.cost, scale * standing.value) for standing in found})
    return Figure(drawn)


def _label(axes: "Axes", places: Mapping[str, tuple[float, float]]) -> None:
    """Write a name beside each place, in the colour of its mark, on whichever side there is room."""
    from matplotlib.transforms import Bbox  # noqa: PLC0415

    middles = axes.transData.transform(list(places.values()))
    taken = [Bbox.from_bounds(x - MARK / 2, y - MARK / 2, MARK, MARK) for x, y in middles]
    for at, (name, place) in enumerate(places.items()):
        colour = COLOURS[at % len(COLOURS)]
        text = axes.annotate(make_printable(name), place, SIDES[0], textcoords="offset points", color=colour)
        boxes = []
        for across, up in SIDES:
            text.set(position=(across, up), ha="left" if across > 0 else "right")
            boxes.append(text.get_window_extent())
            if not boxes[-1].count_overlaps(taken):
                break
        else:  # there is room nowhere
            text.set(position=SIDES[0], ha="left")
            boxes = boxes[:1]
        taken.append(boxes[-1])


def _measured(results: RunData) -> Resources:
    if results.resources is None:
        msg = "the costs of the learners were not measured in this run: evaluate with resources=True"
        raise StreamgaugeError(msg)
    return results.resources
