"""Charts of the page: what the script draws, and the figure that it is drawn in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.text import make_printable
from streamgauge.records import RunData
from streamgauge.reports.curves import Curve, curves_of, over_folds, thinned
from streamgauge.reports.history import balance_of
from streamgauge.reports.legend import key
from streamgauge.reports.pareto import COSTS
from streamgauge.reports.series import panels

__all__ = [
    "Chart",
    "balance_chart",
    "cost_chart",
    "curve_charts",
    "difference_chart",
    "figure_of",
    "label_chart",
    "point_limit",
]

MOST_POINTS = 2_000
"""How many points a curve may have: more than a screen has columns."""

PAGE_POINTS = 80_000
"""How many numbers all curves of a page share, so that it stays below about 1 MB."""

MOST_PAIRS = 9
"""How many pairs the chart of differences shows."""

FEWEST_POINTS = 100
"""How many points a curve may have however many curves there are."""


@dataclass(frozen=True)
class Chart:
    """Lines over the rows of a run.

    Parameters
    ----------
    title, about
        What is shown, and of what.
    group
        What its lines are of, as ``learners``: choosing one hides it in all charts of the group.
    names
        What each line is of.
    rows
        The rows of the points, int64 [n].
    lines
        The lines by their place in `names`.
    unit
        In what values are told; a rate in percent.
    bands
        Whether lines have bands.
    run
        The place of the run among those of the page.
    zero
        Whether zero is marked.

    Examples
    --------
    >>> line = Curve(np.array([0.5]), np.array([0.4]), np.array([0.6]))
    >>> Chart("accuracy", "over Landmark()", "learners", ("tree",), np.array([9]), {0: line}).n_numbers
    1
    """

    title: str
    about: str
    group: str
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    lines: Mapping[int, Curve]
    unit: str = RATE
    bands: bool = False
    run: int = 0
    zero: bool = False

    @property
    def n_numbers(self) -> int:
        """How many numbers a point of it has."""
        return len(self.lines) * (3 if self.bands else 1)

    def data(self, limit: int) -> dict[str, object]:
        """Give what the script draws, in at most so many points."""
        rows, thin = thinned(self.rows, {str(place): line for place, line in self.lines.items()}, limit)
        lines = []
        for place in self.lines:
            line = thin[str(place)]
            edges = {"low": _numbers(line.low, self.unit), "high": _numbers(line.high, self.unit)} if self.bands else {}
            lines.append({"key": place, "mean": _numbers(line.mean, self.unit), **edges})
        return {
            "run": self.run,
            "group": self.group,
            "label": make_printable(f"{self.title} {self.about}"),
            "rate": self.unit == RATE,
            "zero": self.zero,
            "rows": rows.tolist(),
            "lines": lines,
        }


def point_limit(charts: Sequence[Chart]) -> int:
    """Give the number of points a curve may have, fewer the more curves there are.

    Examples
    --------
    >>> point_limit([])
    2000
    """
    n_numbers = sum(chart.n_numbers for chart in charts)
    return min(MOST_POINTS, max(FEWEST_POINTS, PAGE_POINTS // max(n_numbers, 1)))


def figure_of(chart: Chart) -> Markup:
    """Make the figure that a chart is drawn in, with a legend that is read out as one points at a row.

    Examples
    --------
    >>> "<figcaption>" in figure_of(Chart("accuracy", "", "learners", (), np.array([9]), {}))
    True
    """
    legend = (
        tag(
            "li",
            tag(
                "button",
                key(place),
                tag("span", chart.names[place], class_="name"),
                tag("span", class_="value"),
                type="button",
                aria_pressed="true",
                data_key=f"{chart.group} {place}",
            ),
        )
        for place in chart.lines
    )
    unit = label_measure("", chart.unit) if chart.unit else ""
    caption = tag("figcaption", tag("b", chart.title), f"{unit} {chart.about}")
    plot, where = tag("div", class_="plot"), tag("p", class_="where")
    return tag("figure", caption, plot, where, tag("ul", *legend, class_="legend"), class_="chart")


def curve_charts(results: RunData, names: tuple[str, ...], run: int = 0) -> list[Chart]:
    """Make a chart of each measure under each forgetting; `names` are the learners of the whole page.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> curve_charts(evaluate(SEA(n_rows=10), NoChange()), ("NoChange",))[0].title
    'accuracy'
    """
    return [
        Chart(
            panel.measure,
            f"over {panel.forgetting}",
            "learners",
            names,
            panel.rows,
            {names.index(name): line for name, line in curves_of(panel).items()},
            panel.unit,
            bands=panel.n_folds > 1,
            run=run,
        )
        for panel in panels(results)
    ]


def cost_chart(results: RunData) -> Chart | None:
    """Make the chart of what each learner has cost by each row; None where that was not measured.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> cost_chart(evaluate(SEA(n_rows=10), NoChange(), resources=True)).title
    'RAM-hours'
    """
    cost = results.resources
    if cost is None or not len(cost.rows):
        return None
    lines = {m: over_folds(cost.ram_hours[:, m].T) for m in range(len(results.learners))}
    folded = results.n_folds > 1
    return Chart(COSTS["ram_hours"], "so far", "learners", results.learners, cost.rows, lines, "", bands=folded)


def difference_chart(results: RunData) -> Chart | None:
    """Make the chart of the differences to the best learner, with their confidence sequences; None without pairs.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> difference_chart(results).names
    ('bayes minus majority',)
    """
    kept = results.differences
    if kept is None or not len(kept.rows):
        return None
    best = _best(results)
    rivals = [name for name in results.learners if any({best, name} == set(pair) for pair in kept.pairs)]
    values = [kept.of(best, rival).T for rival in rivals[:MOST_PAIRS]]
    names = tuple(f"{best} minus {rival}" for rival in rivals[:MOST_PAIRS])
    lines = {at: Curve(*value) for at, value in enumerate(values)}
    # The first intervals are so wide that they would hide all else.
    later = len(kept.rows) // 10
    lines = {at: _without_start(line, later) for at, line in lines.items()}
    about = f"in accuracy to {best}, with intervals that hold at all rows at once"
    return Chart("Difference", about, "pairs", names, kept.rows, lines, bands=True, zero=True) if lines else None


def _best(results: RunData) -> str:
    """Name the learner that wins the most pairs at the end."""
    kept = results.differences
    wins = dict.fromkeys(results.learners, 0)
    for (first, second), value in zip(kept.pairs, kept.values[-1, :, 0], strict=True) if kept is not None else ():
        wins[first if value >= 0 else second] += 1
    return max(wins, key=lambda name: wins[name])


def _without_start(line: Curve, n: int) -> Curve:
    """Leave out the band of the first points."""
    low, high = line.low.copy(), line.high.copy()
    low[:n] = high[:n] = np.nan
    return Curve(line.mean, low, high)


def balance_chart(results: RunData) -> Chart | None:
    """Make the chart of the share of each class; None where the run did not keep it.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> balance_chart(evaluate(SEA(n_rows=10), NoChange())).group
    'classes'
    """
    counts = results.labels
    if counts is None or not len(counts.rows):
        return None
    rows, shares = balance_of(counts)
    lines = {place: _line(share) for place, share in enumerate(shares.T)}
    names = tuple(f"class {name}" for name in counts.classes)
    return Chart("Class balance", "of the rows since the point before", "classes", names, rows, lines)


def label_chart(results: RunData) -> Chart | None:
    """Make the chart of what became of the labels; None where all came at once, or that was not kept.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import Fraction
    >>> label_chart(evaluate(SEA(n_rows=100), NoChange(), labelling=Fraction(0.5))).names
    ('came', 'owed', 'never come', 'not known')
    """
    counts = results.labels
    if counts is None or not (counts.n_owed.any() or counts.n_hidden.any() or counts.n_unknown.any()):
        return None
    columns = {
        "came": counts.n_revealed,
        "owed": counts.n_owed,
        "never come": counts.n_hidden,
        "not known": counts.n_unknown,
    }
    lines = {at: _line(column.astype(float)) for at, column in enumerate(columns.values()) if at == 0 or column.any()}
    return Chart("Labels", "so far", "labels", tuple(columns), counts.rows, lines, "rows")


def _line(values: NDArray[np.float64]) -> Curve:
    return Curve(values, values, values)


def _numbers(values: NDArray[np.float64], unit: str) -> list[float | int | None]:
    """Round to a thousandth of a percent, other values to five digits; a gap is null."""
    if unit == RATE:
        return [value if math.isfinite(value) else None for value in np.round(values, 5).tolist()]
    return [_short(value) if math.isfinite(value) else None for value in values.tolist()]


def _short(value: float) -> float | int:
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short
