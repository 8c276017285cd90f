"""Figures of what learners cost."""

from collections.abc import Sequence
from typing import Literal

from streamgauge.errors import StreamgaugeError
from streamgauge.palette import COLOURS
from streamgauge.plots.figure import Figure, blank, line_style, tidy
from streamgauge.plots.lines import MOST_POINTS, shown_learners
from streamgauge.records import Resources, Results
from streamgauge.reports.curves import over_folds, thinned
from streamgauge.reports.standings import COSTS, standings
from streamgauge.wording import RATE, printable, titled

__all__ = ["pareto", "resources"]

CostName = Literal["ram_hours", "cpu_seconds", "n_bytes"]

MARKERS = "osD^vPX"


def resources(
    results: Results,
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
            axes.plot(rows, thin[name].mean, label=printable(name), **style)
        tidy(axes, results.n_rows)
        some = values[values > 0]  # the scale begins at the least of them: no empty decades below it
        axes.set_yscale("symlog", linthresh=max(some.min(), 1e-12) if some.size else 1.0)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(COSTS[cost])
        axes.set_title(f"Cost: {COSTS[cost]}")
        drawn.legend(loc="outside lower center", ncols=min(len(shown), 3), handlelength=3)
    return Figure(drawn)


def pareto(
    results: Results | Sequence[Results],
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
    runs = [results] if isinstance(results, Results) else list(results)
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
            axes.annotate(
                printable(standing.learner), (standing.cost, scale * standing.value), (6, 4), textcoords="offset points"
            )
        costs = [standing.cost for standing in found]
        if min(costs) > 0 and max(costs) > 5 * min(costs):
            axes.set_xscale("log")
        axes.margins(x=0.15, y=0.12)
        axes.grid(visible=True)
        axes.set_xlabel(COSTS[cost])
        axes.set_ylabel(titled(measure, unit))
        axes.set_title(f"{measure} against {COSTS[cost]}; filled: on the Pareto front")
    return Figure(drawn)


def _measured(results: Results) -> Resources:
    if results.resources is None:
        msg = "the costs of the learners were not measured in this run: evaluate with resources=True"
        raise StreamgaugeError(msg)
    return results.resources
