"""The sections of the report page that need no script: verdicts, values at the end, folds, pairs, what was run."""

import math
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
from streamgauge._format.text import count
from streamgauge.records import Final
from streamgauge.reports.comparisons import (
    Comparison,
    by_pair,
    difference_heading,
    difference_text,
    interval_text,
    shared_unit,
)
from streamgauge.reports.legend import key
from streamgauge.reports.series import Panel

__all__ = [
    "finals_section",
    "folds_section",
    "learner_head",
    "pairs_section",
    "run_section",
    "scrolled",
    "section",
    "verdicts_section",
]

LABELS = {"n_rows": "rows", "n_folds": "folds", "seconds": "seconds taken", "seedless": "without randomness"}
"""What entries of a description are called on the page, where their own name would not do."""

LEADS = ("name", "spec")
"""Entries of a description that stand for the whole that they are in."""

MOST_VERDICTS = 6
"""How many pairs have their verdict on top; those of the others unfold."""


def verdicts_section(comparisons: Sequence[Comparison]) -> Markup:
    """Say the verdict of the leading test of each pair, with the difference as a number and as a picture.

    Examples
    --------
    >>> verdicts_section([])
    ''
    """
    pairs = by_pair(comparisons)
    if not pairs:
        return Markup()
    items = [_verdict(pair[0], *_scale(pairs, pair[0].unit)) for pair in pairs]
    verdicts = tag("ul", *items[:MOST_VERDICTS], class_="verdicts")
    others = tag("ul", *items[MOST_VERDICTS:], class_="verdicts")
    unfold = tag("summary", count(len(items) - MOST_VERDICTS, "more pair"))
    more = tag("details", unfold, others, class_="more") if len(items) > MOST_VERDICTS else Markup()
    note = tag(
        "p",
        "Each bar is the interval of the difference; the broken line is no difference.",
        class_="note",
    )
    return section("Verdicts", verdicts, more, note)


def finals_section(shown: Sequence[Panel], learners: Sequence[str]) -> Markup:
    """Tabulate the mean over folds of every measure at the last row, with the deviation over folds.

    Examples
    --------
    >>> finals_section([], [])
    ''
    """
    if not shown:
        return Markup()
    spans: dict[str, int] = {}
    for panel in shown:
        spans[panel.forgetting] = spans.get(panel.forgetting, 0) + 1
    over = [tag("th", f"over {name}", colspan=n, scope="colgroup") for name, n in spans.items()]
    measures = [tag("th", label_measure(panel.measure, panel.unit), scope="col") for panel in shown]
    head = tag("thead", tag("tr", tag("th", "Learner", rowspan=2, scope="col"), *over), tag("tr", *measures))
    rows = (
        tag("tr", learner_head(at, name), *(_mean_cell(panel, name) for panel in shown))
        for at, name in enumerate(learners)
        if any(name in panel.values for panel in shown)
    )
    n_folds = max(panel.n_folds for panel in shown)
    value = f"Mean over {n_folds} folds ± standard deviation" if n_folds > 1 else "One fold"
    best = " Bold: the best mean, which says nothing of significance." if len(learners) > 1 else ""
    in_percent = ", in percent" if all(panel.unit == RATE for panel in shown) else "; rates in percent"
    note = tag("p", f"{value}{in_percent}.{best}", class_="note")
    return section(f"After {int(shown[0].rows[-1]):,} rows", scrolled(head, rows), note)


def folds_section(shown: Sequence[Panel], learners: Sequence[str]) -> Markup:
    """Tabulate the value of every fold at the last row, a table for each measure and forgetting.

    Examples
    --------
    >>> folds_section([], [])
    ''
    """
    folded = [panel for panel in shown if panel.n_folds > 1]
    tables = (_fold_table(panel, learners) for panel in folded)
    return section("Fold by fold", *tables) if folded else Markup()


def pairs_section(comparisons: Sequence[Comparison]) -> Markup:
    """Tabulate every test of every pair with its difference, interval, p-value and sentence.

    Examples
    --------
    >>> pairs_section([])
    ''
    """
    if not comparisons:
        return Markup()
    shared = shared_unit(comparisons)
    titles = ("Pair", "Test", difference_heading(shared).replace("d", "D", 1), "Interval", "p", "In words")
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = (_test_row(pair, at, shared) for pair in by_pair(comparisons) for at in range(len(pair)))
    return section("Pairs and tests", scrolled(head, rows, class_="words"))


def run_section(description: Mapping[str, object]) -> Markup:
    """List what was run, as the description of the results has it.

    Examples
    --------
    >>> "<dt>seed</dt><dd>7</dd>" in run_section({"seed": 7})
    True
    """
    return section("What was run", _definitions(description)) if description else Markup()


def section(title: str, *content: str) -> Markup:
    """Make a section of the page under a heading.

    Examples
    --------
    >>> section("Alarms", "none")
    '<section aria-label="Alarms"><h2>Alarms</h2>none</section>'
    """
    return tag("section", tag("h2", title), *content, aria_label=title)


def scrolled(head: Markup, rows: Iterable[Markup], class_: str | None = None) -> Markup:
    """Make a table that can be scrolled where the screen is too narrow for it.

    Examples
    --------
    >>> scrolled(tag("thead"), [])[:20]
    '<div class="scroll" '
    """
    table = tag("table", head, tag("tbody", *rows), class_=class_)
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="table")


def learner_head(position: int, name: str) -> Markup:
    """Head a row of a table with the key and name of a learner.

    Examples
    --------
    >>> learner_head(0, "tree")[-22:]
    '<span>tree</span></th>'
    """
    return tag("th", key(position), tag("span", name), scope="row")


def _mean_cell(panel: Panel, learner: str) -> Markup:
    final = panel.finals.get(learner)
    if final is None:
        return tag("td")
    mean = tag("span", format_value(final.mean, panel.unit), class_="mean")
    return tag("td", mean, " ", _deviation(final, panel.unit), class_="best" if learner in panel.best else None)


def _deviation(final: Final, unit: str) -> Markup:
    partial = f" ({final.n_defined} of {len(final.folds)} folds)" if 0 < final.n_defined < len(final.folds) else ""
    return tag("span", format_spread(final.deviation, unit), partial, class_="spread")


def _fold_table(panel: Panel, learners: Sequence[str]) -> Markup:
    titles = ["Learner", "Mean", *(str(fold) for fold in range(panel.n_folds))]
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in titles)))
    rows = (
        tag(
            "tr",
            learner_head(at, name),
            _mean_cell(panel, name),
            *(tag("td", format_value(float(value), panel.unit)) for value in panel.finals[name].folds),
        )
        for at, name in enumerate(learners)
        if name in panel.finals
    )
    return join_markup(
        tag("h3", label_measure(panel.measure, panel.unit), " over ", panel.forgetting, ", by fold"),
        scrolled(head, rows, "folds"),
    )


def _scale(pairs: Sequence[Sequence[Comparison]], unit: str) -> tuple[float, float]:
    """Give the ends of the scale that the pictures of all pairs in one unit share."""
    found = [0.0, *(bound for pair in pairs if pair[0].unit == unit for bound in _bounds(pair[0]))]
    return min(found), max(found)


def _bounds(comparison: Comparison) -> list[float]:
    """Give the numbers that the picture of a comparison must show: the interval, if any, then the difference."""
    found = [*(comparison.interval or ()), *(() if comparison.difference is None else (comparison.difference,))]
    return found if all(map(math.isfinite, found)) else []


def _verdict(lead: Comparison, low: float, high: float) -> Markup:
    number = tag("span", format_difference(lead.difference, lead.unit), class_="difference")
    unit = f" {to_difference_unit(lead.unit, short=True)} "
    figures = tag("div", number, unit, tag("span", interval_text(lead), class_="spread"), class_="figures")
    words = tag("div", tag("p", lead.sentence), _warnings(lead))
    return tag("li", words, tag("div", _picture(lead, low, high), figures, class_="estimate"))


def _warnings(comparison: Comparison) -> Markup:
    return join_markup(*(tag("p", warning, class_="warning") for warning in comparison.warnings))


def _picture(comparison: Comparison, low: float, high: float) -> Markup:
    """Draw the difference and its interval about zero, on the scale from `low` to `high` that all pairs share."""
    zero, *at = (f"{6 + 188 * (bound - low) / ((high - low) or 1.0):.1f}" for bound in (0.0, *_bounds(comparison)))
    marks = [tag("line", x1=zero, y1=1, x2=zero, y2=27, class_="zero")]
    if len(at) == 3:
        ends = ((at[0], 14, at[1], 14), (at[0], 9, at[0], 19), (at[1], 9, at[1], 19))
        marks.extend(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="reach") for x1, y1, x2, y2 in ends)
    marks.extend(tag("circle", cx=position, cy=14, r=4) for position in at[-1:])
    clear = comparison.interval is not None and (comparison.interval[0] > 0 or comparison.interval[1] < 0)
    return tag(
        "svg", *marks, class_="interval clear" if clear else "interval", viewBox="0 0 200 28", aria_hidden="true"
    )


def _test_row(pair: Sequence[Comparison], at: int, shared: str | None) -> Markup:
    test = pair[at]
    names = join_markup(tag("span", test.first), " minus ", tag("span", test.second), ", ", test.measure)
    cells = [tag("th", names, scope="rowgroup", rowspan=len(pair))] if at == 0 else []
    cells.append(tag("td", test.test, class_="text"))
    difference = difference_text(test, shared)
    cells.extend(tag("td", text) for text in (difference, interval_text(test), format_p_value(test.p_value)))
    cells.append(tag("td", test.sentence, _warnings(test), class_="text sentence"))
    return tag("tr", *cells, class_="starts" if at == 0 else None)


def _definitions(entries: Mapping[str, object]) -> Markup:
    pairs = (
        join_markup(
            tag("dt", LABELS.get(str(name), str(name).replace("_", " "))),
            tag("dd", _definition(_counted(str(name), value))),
        )
        for name, value in entries.items()
    )
    return tag("dl", *pairs)


def _counted(name: str, value: object) -> object:
    """Part the thousands of a count; a seed is no count."""
    return f"{value:,}" if name.startswith("n_") and isinstance(value, int) else value


def _definition(value: object) -> Markup:
    if isinstance(value, Mapping):
        leads = [tag("p", str(value[name])) for name in LEADS if name in value]
        rest = {name: entry for name, entry in value.items() if name not in LEADS}
        return join_markup(*leads, _definitions(rest) if rest else "")
    if isinstance(value, list | tuple):
        return join_markup(", ".join(str(item) for item in value))
    if isinstance(value, bool):
        return join_markup("yes" if value else "no")
    return join_markup(f"{value:.4g}" if isinstance(value, float) else str(value))
