"""The cost of learners: table cells, and the section of the page."""

import math

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import MISSING
from streamgauge._format.text import describe_forgetting
from streamgauge.records import Resources, RunData
from streamgauge.reports.charts import Chart, build_figure
from streamgauge.reports.pareto import find_pareto_points
from streamgauge.reports.sections import build_learner_heading, build_scrollable_table, build_section
from streamgauge.reports.svg import draw_pareto

__all__ = ["build_costs_section", "format_costs", "list_cost_columns"]

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


def build_costs_section(results: RunData, chart: Chart | None) -> Markup:
    """Return the section on cost: a table, the cost along the stream, and the measure against it.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_costs_section(evaluate(SEA(n_rows=100), NoChange()), None)
    ''
    """
    cost = results.resources
    if cost is None or chart is None:
        return Markup()
    head = tag("tr", *(tag("th", column, scope="col") for column in ("Learner", *list_cost_columns(cost))))
    rows = [
        tag("tr", build_learner_heading(index, name), *(tag("td", cell) for cell in format_costs(cost, index)))
        for index, name in enumerate(results.learners)
    ]
    note = (
        "Means over folds, of the learner alone: reading and scoring are excluded. rows/s: throughput of predicting "
        "and learning. Model: the largest of any fold. p99: the 99th percentile of the time to predict a row, in the "
        "slowest fold. RAM-hours: gigabytes of the model times hours of CPU."
    )
    parts = [
        build_scrollable_table(tag("thead", head), rows),
        tag("p", note, class_="note"),
        tag("div", build_figure(chart), class_="charts"),
    ]
    measure = results.measures[0]
    defined = [name for name in results.learners if results.final(name, measure).n_defined]
    if len(defined) > 1:
        pareto_note = "Filled: on the Pareto front, not beaten by any other in both. The cost axis is logarithmic."
        drawing = draw_pareto(find_pareto_points([results]), measure, results.unit(measure))
        title = f"{measure} {describe_forgetting(results.forgettings[0])} against RAM-hours"
        parts += [tag("h3", title), drawing, tag("p", pareto_note, class_="note")]
    return build_section("Cost", *parts)
