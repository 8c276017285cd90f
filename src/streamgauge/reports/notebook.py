"""Sections of the report model in a notebook: markup without styles or scripts."""

from collections.abc import Sequence

from streamgauge._format.markup import Markup, build_table, join_markup, tag
from streamgauge._format.numbers import label_measure
from streamgauge._format.palette import COLOURS
from streamgauge._format.text import describe_forgetting
from streamgauge.records import RunData
from streamgauge.reports.curves import summarise_folds
from streamgauge.reports.model import Cell, Claims, Drawing, Grid, Section, Sentences, list_titled
from streamgauge.reports.svg import draw_small_curves

__all__ = ["draw_first_curves", "to_notebook"]


def to_notebook(sections: Sequence[Section]) -> Markup:
    """Return sections as markup that looks well without a style sheet.

    Examples
    --------
    >>> to_notebook([Section("Limitations", (Sentences("", ("There is one fold.",)),))])
    '<h4>Limitations</h4><ul><li>There is one fold.</li></ul>'
    """
    return join_markup(*(part for section in sections for part in _write_section(section)))


def _write_section(section: Section) -> list[Markup]:
    parts: list[Markup] = []
    for title, block in list_titled(section):
        if section.kind in ("banner", "answer") and isinstance(block, Sentences):
            parts += [tag("p", tag("b", sentence)) for sentence in block.sentences]
        else:
            parts += [tag("h4", title)] if title else []
            parts += _write_block(block)
    parts += [block.markup for block in section.blocks if isinstance(block, Drawing)]
    return [*parts, *([_write_note(" ".join(section.notes))] if section.notes else [])]


def _write_block(block: Grid | Sentences | Claims) -> list[Markup]:
    if isinstance(block, Grid):
        rows = [[name, *map(_write_cell, cells)] for name, cells in block.rows]
        return [build_table(block.columns, rows), *([_write_note(block.note)] if block.note else [])]
    if isinstance(block, Sentences):
        return [tag("ul", *(tag("li", sentence) for sentence in block.sentences))]
    texts = [f"{claim.whole}." for claim in block.shown]
    if len(block.claims) > len(block.shown):
        texts.append(f"{block.count_more(len(block.shown))} {block.rest}".rstrip() + ".")
    return [tag("ul", *(tag("li", text) for text in texts))]


def _write_cell(cell: Cell) -> Markup:
    mark = f" {cell.mark}" if cell.mark else ""
    return join_markup(tag("b", cell.text) if cell.best else cell.text, f" {cell.detail}".rstrip(), mark)


def _write_note(text: str) -> Markup:
    return tag("p", tag("small", text))


def draw_first_curves(results: RunData) -> Drawing | None:
    """Return the curves of the first measure, over the last rows if they were measured, with names in their colours.

    Examples
    --------
    >>> draw_first_curves(RunData.from_readings((), n_rows=0)) is None
    True
    """
    if not results.values.size:
        return None
    measure = results.measures[0]
    forgetting = next((name for name in results.forgettings if name != "Landmark()"), results.forgettings[0])
    curves = {
        index: summarise_folds(results.curve(learner, measure, forgetting).T)
        for index, learner in enumerate(results.learners)
    }
    title = f"{label_measure(measure, results.unit(measure))} {describe_forgetting(forgetting)}"
    drawing = draw_small_curves(curves, results.rows, results.unit(measure), title)
    names = [
        join_markup(" ", tag("span", learner, style=f"color: {COLOURS[index % len(COLOURS)]}; font-weight: bold"))
        for index, learner in enumerate(results.learners)
    ]
    caption = tag("figcaption", tag("small", f"{title}:", *names))
    return Drawing(tag("figure", caption, drawing, style="max-width: 26em; margin: 0.5em 0"))
