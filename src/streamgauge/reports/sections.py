"""Sections of the page: findings, comparisons, final results, charts, folds, pairwise tests, configuration."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.numbers import (
    RATE,
    format_difference,
    format_p_value,
    format_spread,
    format_value,
    label_measure,
    to_difference_unit,
)
from streamgauge._format.text import count, describe_forgetting
from streamgauge.reports.charts import Chart, build_figure
from streamgauge.reports.findings import (
    find_shared_unit,
    format_estimate,
    format_interval,
    format_such_streams,
    group_by_pair,
    label_difference,
    label_p,
)
from streamgauge.reports.model import Cell, Grid
from streamgauge.reports.series import Series
from streamgauge.reports.svg import draw_key
from streamgauge.reports.verdicts import COMPARISONS_TITLE
from streamgauge.significance import Comparison

__all__ = [
    "build_chart_section",
    "build_comparisons_section",
    "build_configuration_section",
    "build_finals_section",
    "build_findings_section",
    "build_folds_section",
    "build_grid_section",
    "build_grid_table",
    "build_item_list",
    "build_learner_heading",
    "build_pairs_section",
    "build_scrollable_table",
    "build_section",
    "draw_interval",
    "fold_sections",
]

LABELS = {"n_rows": "rows", "n_folds": "folds", "seconds": "duration in seconds", "seedless": "deterministic"}
"""The labels of entries of a description that differ from their keys."""

NAMES = ("name", "spec")
"""Entries of a description that name the part they are in."""

MAX_ITEMS = 6
"""The number of pairs shown at once; the others are collapsed."""


def build_findings_section(findings: Sequence[str], limitations: Sequence[str]) -> Markup:
    """Return the section on findings and limitations.

    Examples
    --------
    >>> build_findings_section([], [])
    ''
    """
    parts = [
        tag("div", tag("h3", title), tag("ul", *(tag("li", sentence) for sentence in sentences)))
        for title, sentences in (("Findings", findings), ("Limitations", limitations))
        if sentences
    ]
    return build_section("Summary", tag("div", *parts, class_="findings")) if parts else Markup()


def fold_sections(title: str, *sections: Markup) -> Markup:
    """Return sections that are shown on demand; empty if there are none.

    Examples
    --------
    >>> fold_sections("All tests", Markup())
    ''
    """
    shown = [section for section in sections if section]
    return tag("details", tag("summary", title), *shown, class_="more folded") if shown else Markup()


def build_chart_section(title: str, *charts: Chart | None, note: str = "") -> Markup:
    """Return a section of charts; empty if there are none.

    Examples
    --------
    >>> build_chart_section("Labels", None)
    ''
    """
    figures = [build_figure(chart) for chart in charts if chart is not None]
    if not figures:
        return Markup()
    return build_section(
        title, tag("div", *figures, class_="charts"), tag("p", note, class_="note") if note else Markup()
    )


def build_comparisons_section(comparisons: Sequence[Comparison]) -> Markup:
    """Return the section with the outcome of the first test of each pair, the difference and a drawing of its interval.

    Examples
    --------
    >>> build_comparisons_section([])
    ''
    """
    tests = [pair[0] for pair in group_by_pair(comparisons)]
    if not tests:
        return Markup()
    items = [_build_comparison(test, *_compute_scale(tests, test.unit)) for test in tests]
    note = (
        "Tests that are valid once, after the last row. Each bar is the interval of the difference, from the view of"
        " the learner that is ahead; the dashed line marks no difference."
    )
    return build_section(COMPARISONS_TITLE, build_item_list(items), tag("p", note, class_="note"))


def build_item_list(items: Sequence[Markup]) -> Markup:
    """Return a list of pairs; if there are many, those after the first few are collapsed.

    Examples
    --------
    >>> build_item_list([tag("li", "tree is better than bayes")])
    '<ul class="verdicts"><li>tree is better than bayes</li></ul>'
    """
    shown = tag("ul", *items[:MAX_ITEMS], class_="verdicts")
    if len(items) <= MAX_ITEMS:
        return shown
    more = tag("summary", count(len(items) - MAX_ITEMS, "more pair"))
    return join_markup(shown, tag("details", more, tag("ul", *items[MAX_ITEMS:], class_="verdicts"), class_="more"))


def build_finals_section(all_series: Sequence[Series], learners: Sequence[str]) -> Markup:
    """Return the section with the mean and standard deviation over folds of every measure at the last row.

    Examples
    --------
    >>> build_finals_section([], [])
    ''
    """
    if not all_series:
        return Markup()
    spans = Counter(series.forgetting for series in all_series)
    groups = [tag("th", describe_forgetting(name), colspan=n, scope="colgroup") for name, n in spans.items()]
    measures = [tag("th", label_measure(series.measure, series.unit), scope="col") for series in all_series]
    head = tag("thead", tag("tr", tag("th", "Learner", rowspan=2, scope="col"), *groups), tag("tr", *measures))
    rows = (
        tag("tr", build_learner_heading(index, name), *(_build_mean_cell(series, name) for series in all_series))
        for index, name in enumerate(learners)
        if any(name in series.values for series in all_series)
    )
    n_folds = max(series.n_folds for series in all_series)
    value = f"Mean over {n_folds} folds ± standard deviation" if n_folds > 1 else "One fold"
    best = " Bold: best mean; this does not imply significance." if len(learners) > 1 else ""
    in_percent = ", in percent" if all(series.unit == RATE for series in all_series) else "; rates in percent"
    note = tag("p", f"{value}{in_percent}.{best}", class_="note")
    return build_section(
        f"Results after {int(all_series[0].rows[-1]):,} rows", build_scrollable_table(head, rows), note
    )


def build_folds_section(all_series: Sequence[Series], learners: Sequence[str]) -> Markup:
    """Return the section with the value of every fold at the last row, a table for each measure and forgetting.

    Examples
    --------
    >>> build_folds_section([], [])
    ''
    """
    tables = [_build_fold_table(series, learners) for series in all_series if series.n_folds > 1]
    return build_section("Results by fold", *tables) if tables else Markup()


def build_pairs_section(comparisons: Sequence[Comparison]) -> Markup:
    """Return the section with every test of every pair: difference, interval, p-value and sentence.

    Examples
    --------
    >>> build_pairs_section([])
    ''
    """
    if not comparisons:
        return Markup()
    shared = find_shared_unit(comparisons)
    titles = (
        "Pair",
        "Test",
        label_difference(shared).replace("d", "D", 1),
        "Interval",
        label_p(comparisons),
        "Conclusion",
    )
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = (_build_test_row(pair, index, shared) for pair in group_by_pair(comparisons) for index in range(len(pair)))
    return build_section("Pairwise tests at the end", build_scrollable_table(head, rows, class_="words"))


def build_configuration_section(description: Mapping[str, object]) -> Markup:
    """Return the section with the configuration of the run.

    Examples
    --------
    >>> "<dt>seed</dt><dd>7</dd>" in build_configuration_section({"seed": 7})
    True
    """
    shown = {name: part for name, part in description.items() if name != "call"}  # the same facts, for `rerun`
    return build_section("Configuration", _build_definitions(shown)) if shown else Markup()


def build_section(title: str, *content: str) -> Markup:
    """Return a section of the page under a heading.

    Examples
    --------
    >>> build_section("Alarms", "none")
    '<section aria-label="Alarms"><h2>Alarms</h2>none</section>'
    """
    return tag("section", tag("h2", title), *content, aria_label=title)


def build_scrollable_table(head: Markup, rows: Iterable[Markup], class_: str | None = None) -> Markup:
    """Return a table that scrolls horizontally on narrow screens.

    Examples
    --------
    >>> build_scrollable_table(tag("thead"), [])[:20]
    '<div class="scroll" '
    """
    table = tag("table", head, tag("tbody", *rows), class_=class_)
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="table")


def build_grid_section(grid: Grid, learners: Sequence[str] = ()) -> Markup:
    """Return a table of the report model as a section of the page.

    Examples
    --------
    >>> from streamgauge.reports.model import Cell
    >>> "<h2>Cost</h2>" in build_grid_section(Grid("Cost", ("learner", "CPU s"), (("tree", (Cell("1.2"),)),)))
    True
    """
    note = tag("p", grid.note, class_="note") if grid.note else Markup()
    return build_section(grid.title, build_grid_table(grid, learners), note)


def build_grid_table(
    grid: Grid, learners: Sequence[str] = (), links: Mapping[str, Mapping[str, str]] | None = None
) -> Markup:
    """Return a table of the report model; rows that are named by a learner have its legend key.

    Parameters
    ----------
    grid
        The table.
    learners
        The learners of the page, in the order of their keys.
    links
        By row and column: the address that a cell opens.

    Examples
    --------
    >>> from streamgauge.reports.model import Cell
    >>> grid = Grid("Cost", ("learner", "CPU s"), (("tree", (Cell("1.2", best=True),)),))
    >>> 'class="best"' in build_grid_table(grid)
    True
    """
    head = tag("tr", *(tag("th", column, scope="col") for column in grid.columns))
    rows = (
        tag(
            "tr",
            build_learner_heading(learners.index(name), name) if name in learners else tag("th", name, scope="row"),
            *(
                _build_grid_cell(cell, (links or {}).get(name, {}).get(column, ""), f"{column} on {name}")
                for column, cell in zip(grid.columns[1:], cells, strict=True)
            ),
        )
        for name, cells in grid.rows
    )
    return build_scrollable_table(tag("thead", head), rows)


def _build_grid_cell(cell: Cell, address: str, name: str) -> Markup:
    text = tag("span", cell.text + " °" * cell.equal, class_="mean")
    if address:
        text = tag("a", text, href=address, aria_label=f"{cell.text}: {name}")
    return tag("td", text, class_="best" if cell.best else None)


def build_learner_heading(position: int, name: str) -> Markup:
    """Return the heading of a table row: legend key and name of a learner.

    Examples
    --------
    >>> build_learner_heading(0, "tree")[-22:]
    '<span>tree</span></th>'
    """
    return tag("th", draw_key(position), tag("span", name), scope="row")


def _build_mean_cell(series: Series, learner: str) -> Markup:
    final = series.finals.get(learner)
    if final is None:
        return tag("td")
    mean = tag("span", format_value(final.mean, series.unit), class_="mean")
    partial = f" ({final.n_defined} of {len(final.folds)} folds)" if 0 < final.n_defined < len(final.folds) else ""
    spread = tag("span", format_spread(final.deviation, series.unit), partial, class_="spread")
    return tag("td", mean, " ", spread, class_="best" if learner in series.best else None)


def _build_fold_table(series: Series, learners: Sequence[str]) -> Markup:
    titles = ["Learner", "Mean", *(str(fold) for fold in range(series.n_folds))]
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = (
        tag(
            "tr",
            build_learner_heading(index, name),
            _build_mean_cell(series, name),
            *(tag("td", format_value(float(value), series.unit)) for value in series.finals[name].folds),
        )
        for index, name in enumerate(learners)
        if name in series.finals
    )
    title = f"{label_measure(series.measure, series.unit)} {describe_forgetting(series.forgetting)}, by fold"
    return join_markup(tag("h3", title), build_scrollable_table(head, rows, "folds"))


def _compute_scale(tests: Sequence[Comparison], unit: str) -> tuple[float, float]:
    """Return the range of the scale that the drawings of all tests in one unit share."""
    bounds = [0.0, *(bound for test in tests if test.unit == unit for bound in _list_bounds(test))]
    return min(bounds), max(bounds)


def _list_bounds(test: Comparison) -> list[float]:
    """Return the numbers in the drawing of a test: the interval, if any, then the difference."""
    bounds = [*(test.interval or ()), *(() if test.difference is None else (test.difference,))]
    return bounds if all(map(math.isfinite, bounds)) else []


def _build_comparison(test: Comparison, low: float, high: float) -> Markup:
    number = tag("span", format_difference(test.difference, test.unit), class_="difference")
    unit = f" {to_difference_unit(test.unit, short=True)} "
    figures = tag("div", number, unit, tag("span", format_interval(test), class_="spread"), class_="figures")
    words = tag("div", tag("p", test.sentence), _build_warnings(test))
    is_clear = test.interval is not None and (test.interval[0] > 0 or test.interval[1] < 0)
    drawing = draw_interval(_list_bounds(test), (low, high), is_clear=is_clear)
    return tag("li", words, tag("div", drawing, figures, class_="estimate"))


def _build_warnings(test: Comparison) -> Markup:
    return join_markup(*(tag("p", warning, class_="warning") for warning in test.warnings))


def draw_interval(
    bounds: Sequence[float], scale: tuple[float, float], *, is_clear: bool, middle: float = 0.0, margin: float = 0.0
) -> Markup:
    """Draw an interval and the estimate in it around a middle, on a scale between two numbers.

    Parameters
    ----------
    bounds
        The ends of the interval, if there is one, then the estimate.
    scale
        The ends of the scale.
    is_clear
        Whether the interval excludes the middle, which decides its colour.
    middle
        What the dashed line marks.
    margin
        The distance from the middle that is shaded.

    Examples
    --------
    >>> draw_interval([], (-1.0, 1.0), is_clear=False).count("<line")
    1
    """
    low, high = scale

    def place(value: float) -> float:
        return round(6 + 188 * (min(max(value, low), high) - low) / ((high - low) or 1.0), 1)

    left, right = place(middle - margin), place(middle + margin)
    marks = [tag("rect", x=left, y=3, width=round(right - left, 1), height=22, class_="margin")] if margin else []
    marks.append(tag("line", x1=place(middle), y1=1, x2=place(middle), y2=27, class_="zero"))
    xs = [place(bound) for bound in bounds]
    if len(xs) == 3:
        ends = ((xs[0], 14, xs[1], 14), (xs[0], 9, xs[0], 19), (xs[1], 9, xs[1], 19))
        marks.extend(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="reach") for x1, y1, x2, y2 in ends)
    marks.extend(tag("circle", cx=x, cy=14, r=4) for x in xs[-1:])
    return tag(
        "svg", *marks, class_="interval clear" if is_clear else "interval", viewBox="0 0 200 28", aria_hidden="true"
    )


def _build_test_row(pair: Sequence[Comparison], index: int, shared: str | None) -> Markup:
    test = pair[index]
    names = join_markup(tag("span", test.first), " minus ", tag("span", test.second), ", ", test.measure)
    cells = [tag("th", names, scope="rowgroup", rowspan=len(pair))] if index == 0 else []
    cells.append(tag("td", test.title, class_="text"))
    other_interval, other_p = format_such_streams(test)
    cells.append(tag("td", format_estimate(test, shared)))
    for text, other, note in (
        (format_interval(test), other_interval, "for such streams "),
        (format_p_value(test.deciding_p), other_p, ""),
    ):
        second = tag("div", tag("span", note, class_="spread") if note else "", other) if other else ""
        cells.append(tag("td", tag("div", text), second))
    cells.append(tag("td", test.sentence, _build_warnings(test), class_="text sentence"))
    return tag("tr", *cells, class_="starts" if index == 0 else None)


def _build_definitions(entries: Mapping[str, object]) -> Markup:
    pairs = (
        join_markup(
            tag("dt", LABELS.get(str(name), str(name).replace("_", " "))),
            tag("dd", _build_definition(_format_count(str(name), value))),
        )
        for name, value in entries.items()
    )
    return tag("dl", *pairs)


def _format_count(name: str, value: object) -> object:
    """Return a count with thousands separators, and anything else unchanged; a seed is not a count."""
    return f"{value:,}" if name.startswith("n_") and isinstance(value, int) else value


def _build_definition(value: object) -> Markup:
    if isinstance(value, Mapping):
        names = [tag("p", str(value[name])) for name in NAMES if name in value]
        rest = {name: entry for name, entry in value.items() if name not in NAMES}
        return join_markup(*names, _build_definitions(rest) if rest else "")
    if isinstance(value, list | tuple):
        return join_markup(", ".join(str(item) for item in value))
    if isinstance(value, bool):
        return join_markup("yes" if value else "no")
    return join_markup(f"{value:.4g}" if isinstance(value, float) else str(value))
