"""Sections of the report model as markup of a page."""

import math
from collections.abc import Sequence
from itertools import groupby

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge.reports.charts import Chart, build_figure
from streamgauge.reports.model import (
    Block,
    Cell,
    Claim,
    Claims,
    Drawing,
    Estimate,
    Grid,
    Section,
    Sentences,
    list_titled,
)
from streamgauge.reports.svg import draw_key

__all__ = ["build_matrix_table", "build_scrollable_table", "draw_interval", "list_charts", "to_markup"]

MAX_OPEN = 6
"""The number of claims shown at once; the others are collapsed."""

STACKED = range(3, 9)
"""With this number of columns a table becomes a list for each row where the page is narrow."""


def to_markup(section: Section, learners: Sequence[str] = ()) -> Markup:
    """Return a section of the page; rows that are named by one of the learners have its legend key.

    Examples
    --------
    >>> to_markup(Section("Limitations", (Sentences("", ("There is one fold.",)),)))
    '<section aria-label="Limitations"><h2>Limitations</h2><ul class="plain"><li>There is one fold.</li></ul></section>'
    """
    if section.kind in ("banner", "answer"):
        sentences = [text for block in section.blocks if isinstance(block, Sentences) for text in block.sentences]
        if section.kind == "banner":
            return join_markup(*(tag("p", text, class_="banner", role="status") for text in sentences))
        return tag("div", *(tag("p", text) for text in sentences), class_="headline")
    notes = [tag("p", note, class_="note") for note in section.notes]
    if section.kind == "folded":
        content = _write_blocks(section, learners, heading="h3")
        return tag("details", tag("summary", section.title), *content, *notes, class_="more folded")
    if not section.title:
        return join_markup(*_write_blocks(section, learners, heading="h2"), *notes)
    content = _write_blocks(section, learners, heading="h3")
    return tag("section", tag("h2", section.title), *content, *notes, aria_label=section.title)


def list_charts(sections: Sequence[Section]) -> list[Chart]:
    """Return the charts of sections in the order of their figures on the page.

    Examples
    --------
    >>> list_charts([])
    []
    """
    return [block for section in sections for block in section.blocks if isinstance(block, Chart)]


def _write_blocks(section: Section, learners: Sequence[str], heading: str) -> list[Markup]:
    """Return the blocks of a section; charts in succession stand side by side, and so do short lists."""
    written = iter(list(list_titled(section)))
    parts: list[Markup] = []
    for kind, found in groupby(section.blocks, key=type):
        blocks: list[Block] = list(found)
        if kind is Chart:
            parts.append(tag("div", *(build_figure(b) for b in blocks if isinstance(b, Chart)), class_="charts"))
        elif kind is Drawing:
            for drawing in (block for block in blocks if isinstance(block, Drawing)):
                parts += [*_write_heading(drawing.title, heading), drawing.markup]
        elif kind is Sentences and len(blocks) > 1:
            lists = [_write_list(*next(written)) for _ in blocks]
            parts.append(tag("div", *lists, class_="findings"))
        else:
            for title, block in (next(written) for _ in blocks):
                parts += _write_titled(section, title, _write_block(block, learners), heading)
    return parts


def _write_titled(section: Section, title: str, body: Markup, heading: str) -> list[Markup]:
    """Return a block under its heading, unless that of its section says the same."""
    if heading == "h2" and title:
        return [tag("section", tag("h2", title), body, aria_label=title)]
    own = "" if title == section.title else title.removeprefix(f"{section.title} on ")
    return [*_write_heading(own, heading), body]


def _write_heading(title: str, heading: str) -> list[Markup]:
    return [tag(heading, title)] if title else []


def _write_block(block: Grid | Sentences | Claims, learners: Sequence[str]) -> Markup:
    if isinstance(block, Grid):
        note = tag("p", block.note, class_="note") if block.note else Markup()
        return join_markup(_write_table(block, learners), note)
    if isinstance(block, Claims):
        return _write_claims(block)
    return tag("ul", *(tag("li", sentence) for sentence in block.sentences), class_="plain")


def _write_list(title: str, block: Grid | Sentences | Claims) -> Markup:
    sentences = block.sentences if isinstance(block, Sentences) else ()
    return tag("div", *_write_heading(title, "h3"), tag("ul", *(tag("li", sentence) for sentence in sentences)))


def _write_claims(claims: Claims) -> Markup:
    items = [_write_claim(claim, claims.scale) for claim in claims.claims]
    n_open = min(claims.n_open, MAX_OPEN) if len(items) > claims.n_open or len(items) > MAX_OPEN else len(items)
    shown = tag("ul", *items[:n_open], class_="verdicts")
    if n_open == len(items):
        return shown
    summary = tag("summary", claims.count_more(n_open))
    return join_markup(shown, tag("details", summary, tag("ul", *items[n_open:], class_="verdicts"), class_="more"))


def _write_claim(claim: Claim, scale: tuple[float, float] | None) -> Markup:
    aside = tag("p", claim.aside, class_="aside") if claim.aside else Markup()
    words = tag("div", tag("p", f"{claim.sentence}."), aside)
    estimate = claim.estimate
    if estimate is None:
        return tag("li", words, class_=claim.outcome or None)
    number, _, unit = estimate.value.partition(" ")
    below = tag("div", estimate.below) if estimate.below else Markup()
    interval = tag("span", estimate.interval, class_="spread")
    figures = tag(
        "div", tag("span", number, class_="difference"), f" {unit} " if unit else " ", interval, below, class_="figures"
    )
    drawing = tag("div", draw_interval(estimate, scale or _find_scale(estimate)), figures, class_="estimate")
    return tag("li", words, drawing, class_=claim.outcome or None)


def _find_scale(estimate: Estimate) -> tuple[float, float]:
    reach = max((abs(bound - estimate.middle) for bound in estimate.bounds), default=0.0) or 1.0
    return estimate.middle - 1.1 * reach, estimate.middle + 1.1 * reach


def draw_interval(estimate: Estimate, scale: tuple[float, float]) -> Markup:
    """Draw an interval and the estimate in it, with its middle and margin, on a scale between two numbers.

    Examples
    --------
    >>> draw_interval(Estimate("0"), (-1.0, 1.0)).count("<line")
    1
    """
    low, high = scale

    def place(value: float) -> float:
        return round(6 + 188 * (min(max(value, low), high) - low) / ((high - low) or 1.0), 1)

    middle, margin = estimate.middle, estimate.margin
    left, right = place(middle - margin), place(middle + margin)
    marks = [tag("rect", x=left, y=3, width=round(right - left, 1), height=22, class_="margin")] if margin else []
    marks.append(tag("line", x1=place(middle), y1=1, x2=place(middle), y2=27, class_="zero"))
    xs = [place(bound) for bound in estimate.bounds if math.isfinite(bound)]
    if len(xs) == 3:
        ends = ((xs[0], 14, xs[1], 14), (xs[0], 9, xs[0], 19), (xs[1], 9, xs[1], 19))
        marks.extend(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="reach") for x1, y1, x2, y2 in ends)
    marks.extend(tag("circle", cx=x, cy=14, r=4) for x in xs[-1:])
    kind = "interval clear" if estimate.is_clear else "interval"
    return tag("svg", *marks, class_=kind, viewBox="0 0 200 28", aria_hidden="true")


def _write_table(grid: Grid, learners: Sequence[str]) -> Markup:
    head = tag("thead", tag("tr", *(tag("th", column, scope="col") for column in grid.columns)))
    rows = [
        tag(
            "tr",
            _write_name(name, learners),
            *(
                _write_cell(cell, column, name, grid.links.get(name, {}).get(column, ""))
                for column, cell in zip(grid.columns[1:], cells, strict=True)
            ),
        )
        for name, cells in grid.rows
    ]
    return build_scrollable_table(head, rows, "stacked" if len(grid.columns) in STACKED else None)


def _write_name(name: str, learners: Sequence[str]) -> Markup:
    if name not in learners:
        return tag("th", name, scope="row")
    return tag("th", draw_key(learners.index(name)), tag("span", name), scope="row")


def _write_cell(cell: Cell, column: str, name: str, address: str) -> Markup:
    mark = f" {cell.mark}" if cell.mark else ""
    text = tag("span", cell.text, class_="mean") if cell.detail else tag("span", cell.text + mark, class_="mean")
    if cell.detail:
        text = join_markup(text, " ", tag("span", cell.detail + mark, class_="spread"))
    if address:
        text = tag("a", text, href=address, aria_label=f"{cell.whole}: {column} on {name}")
    return tag("td", text, class_="best" if cell.best else None, data_label=column)


def build_scrollable_table(head: Markup, rows: Sequence[Markup], class_: str | None = None) -> Markup:
    """Return a table that scrolls horizontally on narrow screens.

    Examples
    --------
    >>> build_scrollable_table(tag("thead"), [])[:20]
    '<div class="scroll" '
    """
    table = tag("table", head, tag("tbody", *rows), class_=class_)
    return tag("div", table, class_="scroll", tabindex=0, role="group", aria_label="table")


def build_matrix_table(names: Sequence[str], cells: Sequence[Sequence[tuple[str, str]]]) -> Markup:
    """Return a table with the same names for rows and columns; each cell has a text and a class.

    Examples
    --------
    >>> "<td>1</td>" in build_matrix_table(["tree"], [[("1", "")]])
    True
    """
    head = tag("tr", tag("th", ""), *(tag("th", name, scope="col") for name in names))
    rows = [
        tag("tr", tag("th", name, scope="row"), *(tag("td", text, class_=kind or None) for text, kind in line))
        for name, line in zip(names, cells, strict=True)
    ]
    return build_scrollable_table(tag("thead", head), rows, "matrix")
