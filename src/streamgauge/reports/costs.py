"""The cost of learners: a table, and a measure against it."""

import math

from streamgauge._format.markup import join_markup, tag
from streamgauge._format.numbers import MISSING
from streamgauge._format.text import describe_forgetting
from streamgauge.records import Resources, RunData
from streamgauge.reports.model import Cell, Drawing, Grid
from streamgauge.reports.pareto import find_pareto_points
from streamgauge.reports.svg import draw_pareto

__all__ = ["build_costs_grid", "draw_pareto_front", "format_costs", "list_cost_columns"]

COLUMNS = ("CPU s", "predict %", "rows/s", "model kB", "RAM-hours", "p99 us")


def list_cost_columns(cost: Resources) -> tuple[str, ...]:
    """Return the headings of the costs of a learner.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> list_cost_columns(evaluate(SEA(n_rows=100), NoChange(), resources=True).resources)[0]
    'CPU s'
    """
    return (*COLUMNS, "late") if cost.n_late.any() else COLUMNS


def format_costs(cost: Resources, index: int) -> tuple[str, ...]:
    """Return the costs of a learner: means over folds, the largest model of any fold, the slowest predictions.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> len(format_costs(evaluate(SEA(n_rows=100), NoChange(), resources=True).resources, 0))
    6
    """
    p99 = cost.percentiles.index(99.0)
    return (
        f"{cost.cpu_seconds[-1, index].mean():.3g}",
        f"{100 * cost.predict_share[-1, index].mean():.0f}",
        f"{cost.rows_per_second[index].mean():,.0f}",
        f"{cost.n_bytes[:, index].max() / 1000:,.1f}",
        f"{cost.ram_hours[-1, index].mean():.2g}",
        _format_microseconds(1e6 * cost.latency[index, :, 0, p99].max()),
        *((f"{cost.n_late[index].sum():,}",) if cost.n_late.any() else ()),
    )


def _format_microseconds(value: float) -> str:
    """Return three digits, or all those of a whole number; a dash if nothing was predicted."""
    if math.isnan(value):
        return MISSING
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def build_costs_grid(results: RunData) -> Grid | None:
    """Return the table of the cost of each learner; None if it was not measured.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_costs_grid(evaluate(SEA(n_rows=100), NoChange(), resources=True)).title
    'Cost'
    """
    cost = results.resources
    if cost is None or not len(cost.rows):
        return None
    rows = tuple((name, tuple(map(Cell, format_costs(cost, index)))) for index, name in enumerate(results.learners))
    note = (
        "Means over folds, of the learner alone. rows/s: of predicting and learning. Model: the largest of any fold."
        " p99: time to predict a row, in the slowest fold. RAM-hours: gigabytes of the model times hours of CPU."
    )
    return Grid("Cost", ("learner", *list_cost_columns(cost)), rows, note)


def draw_pareto_front(results: RunData) -> Drawing | None:
    """Return the first measure of the learners against their RAM-hours; None if there are fewer than two values.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> draw_pareto_front(evaluate(SEA(n_rows=100), NoChange(), resources=True)) is None
    True
    """
    if results.resources is None or not results.values.size:
        return None
    measure = results.measures[0]
    if sum(bool(results.final(name, measure).n_defined) for name in results.learners) < 2:
        return None
    note = "Filled: on the Pareto front, not beaten by any other in both. The cost axis is logarithmic."
    drawing = draw_pareto(find_pareto_points([results]), measure, results.unit(measure))
    title = f"{measure} {describe_forgetting(results.forgettings[0])} against RAM-hours"
    return Drawing(join_markup(drawing, tag("p", note, class_="note")), title)
