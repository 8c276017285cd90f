"""Charts of the page: the data that the script draws, and the figure elements around it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import RATE, label_measure, to_difference_unit
from streamgauge._format.text import describe_forgetting, make_printable
from streamgauge._format.times import shows_dates
from streamgauge.records import Differences, RunData
from streamgauge.reports.curves import Curve, downsample_curves, summarise_folds, summarise_series
from streamgauge.reports.pareto import COSTS
from streamgauge.reports.series import compute_class_balance, list_series, name_label_counts
from streamgauge.reports.svg import draw_key

__all__ = [
    "Chart",
    "build_balance_chart",
    "build_cost_chart",
    "build_curve_charts",
    "build_difference_charts",
    "build_figure",
    "build_label_chart",
    "compute_point_limit",
    "round_times",
]

MAX_POINTS = 2_000
"""The limit of points per curve: more than a screen has columns."""

PAGE_POINTS = 80_000
"""The limit of numbers in all curves of a page, which keeps it below about 1 MB."""

MAX_PAIRS = 9
"""The number of pairs in the chart of differences."""

MIN_POINTS = 100
"""Points that each curve may have, however many curves there are."""


@dataclass(frozen=True)
class Chart:
    """Lines over the rows of a run.

    Parameters
    ----------
    title, subtitle
        The caption.
    group
        What the lines stand for, such as ``learners``: clicking one hides it in all charts of the group.
    names
        The names of the lines.
    rows
        The rows of the points, int64 [n].
    lines
        The lines by their index in `names`.
    unit
        The unit of the values; a rate is shown in percent.
    bands
        Whether lines have bands.
    run
        The index of the run on the page.
    zero
        Whether zero is marked.
    margin
        Differences up to this do not matter; they are shaded.
    times
        The times of the points, float64 [n], if the rows carry times that increase.

    Examples
    --------
    >>> line = Curve(np.array([0.5]), np.array([0.4]), np.array([0.6]))
    >>> Chart("accuracy", "over all rows", "learners", ("tree",), np.array([9]), {0: line}).n_numbers
    1
    """

    title: str
    subtitle: str
    group: str
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    lines: Mapping[int, Curve]
    unit: str = RATE
    bands: bool = False
    run: int = 0
    zero: bool = False
    margin: float = 0.0
    times: NDArray[np.float64] | None = None

    @property
    def n_numbers(self) -> int:
        """How many numbers there are per row."""
        return len(self.lines) * (3 if self.bands else 1)

    def to_data(self, limit: int) -> dict[str, object]:
        """Return the data for the script, with at most `limit` points per line."""
        rows, thin = downsample_curves(self.rows, {str(key): line for key, line in self.lines.items()}, limit)
        lines = []
        for key in self.lines:
            line = thin[str(key)]
            edges = {"low": _round(line.low, self.unit), "high": _round(line.high, self.unit)} if self.bands else {}
            lines.append({"key": key, "mean": _round(line.mean, self.unit), **edges})
        return {
            "run": self.run,
            "group": self.group,
            "label": make_printable(f"{self.title} {self.subtitle}"),
            "rate": self.unit == RATE,
            "zero": self.zero,
            "margin": self.margin,
            "rows": rows.tolist(),
            **({} if self.times is None else {"times": round_times(np.interp(rows, self.rows, self.times))}),
            "lines": lines,
        }


def compute_point_limit(charts: Sequence[Chart]) -> int:
    """Return the limit of points per curve, which decreases with the number of curves.

    Examples
    --------
    >>> compute_point_limit([])
    2000
    """
    n_numbers = sum(chart.n_numbers for chart in charts)
    return min(MAX_POINTS, max(MIN_POINTS, PAGE_POINTS // max(n_numbers, 1)))


def build_figure(chart: Chart) -> Markup:
    """Return the figure element of a chart, with a legend that shows the values at the cursor.

    Examples
    --------
    >>> "<figcaption>" in build_figure(Chart("accuracy", "", "learners", (), np.array([9]), {}))
    True
    """
    legend = (
        tag(
            "li",
            tag(
                "button",
                draw_key(key),
                tag("span", chart.names[key], class_="name"),
                tag("span", class_="value"),
                type="button",
                aria_pressed="true",
                data_key=f"{chart.group} {key}",
            ),
        )
        for key in chart.lines
    )
    if chart.zero:
        unit = f" ({to_difference_unit(chart.unit, short=True)})"
    else:
        unit = label_measure("", chart.unit) if chart.unit else ""
    caption = tag("figcaption", tag("b", chart.title), f"{unit} {chart.subtitle}")
    plot, position = tag("div", class_="plot"), tag("p", class_="where")
    return tag("figure", caption, plot, position, tag("ul", *legend, class_="legend"), class_="chart")


def build_curve_charts(results: RunData, names: tuple[str, ...], run: int = 0) -> list[Chart]:
    """Return a chart of each measure with each forgetting; `names` are the learners of the whole page.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_curve_charts(evaluate(SEA(n_rows=10), NoChange()), ("NoChange",))[0].title
    'accuracy'
    """
    return [
        Chart(
            title=series.measure,
            subtitle=describe_forgetting(series.forgetting),
            group="learners",
            names=names,
            rows=series.rows,
            lines={names.index(name): line for name, line in summarise_series(series).items()},
            unit=series.unit,
            bands=series.n_folds > 1,
            run=run,
            times=_find_times(results, series.rows),
        )
        for series in list_series(results)
    ]


def build_cost_chart(results: RunData) -> Chart | None:
    """Return the chart of the cumulative cost of each learner; None if it was not measured.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_cost_chart(evaluate(SEA(n_rows=10), NoChange(), resources=True)).title
    'RAM-hours'
    """
    cost = results.resources
    if cost is None or not len(cost.rows):
        return None
    return Chart(
        title=COSTS["ram_hours"],
        subtitle="so far",
        group="learners",
        names=results.learners,
        rows=cost.rows,
        lines={m: summarise_folds(cost.ram_hours[:, m].T) for m in range(len(results.learners))},
        unit="",
        bands=results.n_folds > 1,
        times=_find_times(results, cost.rows),
    )


def build_difference_charts(results: RunData) -> list[Chart]:
    """Return a chart for each compared measure: the differences to the best learner, with their confidence sequences.

    The best learner is ahead where a curve is above 0, also in a measure of which less is better.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})
    >>> [chart.names for chart in build_difference_charts(results)]
    [('bayes minus majority',)]
    """
    differences = results.differences
    if differences is None or not len(differences.rows):
        return []
    measures = dict.fromkeys(measure for _, _, measure in differences.columns)
    return [_build_difference_chart(results, differences, measure) for measure in measures]


def _build_difference_chart(results: RunData, differences: Differences, measure: str) -> Chart:
    verdict = next((verdict for verdict in results.verdicts if verdict.measure == measure), None)
    unit = results.unit(measure) if verdict is None else verdict.unit
    greater_is_better = results.greater_is_better(measure) if verdict is None else verdict.greater_is_better
    best = _find_best(differences, measure, greater_is_better=greater_is_better)
    pairs = [{first, second} for first, second, compared in differences.columns if compared == measure]
    rivals = [name for name in results.learners if {best, name} in pairs][:MAX_PAIRS]
    sides = [(best, rival) if greater_is_better else (rival, best) for rival in rivals]
    # The first intervals are so wide that they would hide everything else.
    n_hidden = len(differences.rows) // 10
    lines = [_hide_start(Curve(*differences.between(*side, measure).T), n_hidden) for side in sides]
    return Chart(
        title=f"Difference in {measure}",
        subtitle=f"{'from' if greater_is_better else 'to'} {best}, with intervals that hold simultaneously at all rows",
        group=f"pairs in {measure}",
        names=tuple(f"{first} minus {second}" for first, second in sides),
        rows=differences.rows,
        lines=dict(enumerate(lines)),
        unit=unit,
        bands=True,
        zero=True,
        margin=0.0 if verdict is None or verdict.test == "group_sequential" else verdict.rope,
        times=_find_times(results, differences.rows),
    )


def _find_best(differences: Differences, measure: str, *, greater_is_better: bool) -> str:
    """Return the learner that wins the most pairs in a measure at the end."""
    wins: dict[str, int] = {}
    for (first, second, compared), value in zip(differences.columns, differences.values[-1, :, 0], strict=True):
        if compared == measure:
            better, worse = (first, second) if (value >= 0) == greater_is_better else (second, first)
            wins[better], wins[worse] = wins.get(better, 0) + 1, wins.get(worse, 0)
    return max(wins, key=lambda name: wins[name])


def _hide_start(line: Curve, n: int) -> Curve:
    """Return a curve without the band of the first points."""
    low, high = line.low.copy(), line.high.copy()
    low[:n] = high[:n] = np.nan
    return Curve(line.mean, low, high)


def build_balance_chart(results: RunData) -> Chart | None:
    """Return the chart of the share of each class; None if the run has no class counts.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> build_balance_chart(evaluate(SEA(n_rows=10), NoChange())).group
    'classes'
    """
    counts = results.labels
    if counts is None or not len(counts.rows):
        return None
    rows, shares = compute_class_balance(counts)
    return Chart(
        title="Class balance",
        subtitle="of the rows since the previous point",
        group="classes",
        names=tuple(f"class {name}" for name in counts.classes),
        rows=rows,
        lines={index: Curve(share, share, share) for index, share in enumerate(shares.T)},
        times=_find_times(results, rows),
    )


def build_label_chart(results: RunData) -> Chart | None:
    """Return the chart of label counts; None if all labels arrived at once, or were not counted.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import Fraction
    >>> build_label_chart(evaluate(SEA(n_rows=100), NoChange(), labelling=Fraction(0.5))).names
    ('arrived', 'pending', 'hidden', 'unknown')
    """
    counts = results.labels
    if counts is None or not (counts.n_owed.any() or counts.n_hidden.any() or counts.n_unknown.any()):
        return None
    columns = {name: column.astype(float) for name, column in name_label_counts(counts).items()}
    return Chart(
        title="Labels",
        subtitle="so far",
        group="labels",
        names=tuple(columns),
        rows=counts.rows,
        lines={
            index: Curve(column, column, column)
            for index, column in enumerate(columns.values())
            if index == 0 or column.any()
        },
        unit="rows",
        times=_find_times(results, counts.rows),
    )


def _find_times(results: RunData, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    return results.find_times(rows) if results.has_time_axis else None


def round_times(times: NDArray[np.float64]) -> list[float]:
    """Round dates to a millisecond, and times without a date to nine digits.

    Examples
    --------
    >>> round_times(np.array([1704067200.123456])), round_times(np.array([0.0, 1 / 3]))
    ([1704067200.123], [0.0, 0.333333333])
    """
    if shows_dates(times):
        dates: list[float] = np.round(times, 3).tolist()
        return dates
    return [float(f"{time:.9g}") for time in times.tolist()]


def _round(values: NDArray[np.float64], unit: str) -> list[float | int | None]:
    """Round rates to a thousandth of a percent and other values to five digits; a gap is null.

    The last value, which tables show too, is kept as it is: rounded twice it could be another one.
    """
    rounded = np.round(values, 5).tolist() if unit == RATE else list(map(_shorten, values.tolist()))
    return [value if math.isfinite(value) else None for value in [*rounded[:-1], *values[-1:].tolist()]]


def _shorten(value: float) -> float | int:
    if not math.isfinite(value):
        return value
    short = float(f"{value:.5g}")
    return int(short) if short.is_integer() else short
