"""Markdown reports."""

import re

from streamgauge._format.text import make_printable
from streamgauge.reports.model import Cell, Claims, Document, Grid, Sentences, list_titled

__all__ = ["to_markdown"]


def to_markdown(document: Document) -> str:
    r"""Return a report in Markdown, with tables in the syntax of GitHub.

    Examples
    --------
    >>> from streamgauge.reports.model import Section
    >>> grid = Grid("Cost", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(to_markdown(Document("my_tree", "Evaluated on 10 rows.", (Section("", (grid,)),))))
    # my\_tree
    <BLANKLINE>
    Evaluated on 10 rows.
    <BLANKLINE>
    ## Cost
    <BLANKLINE>
    | learner | CPU s |
    |:---|---:|
    | my\_tree | **1.2** |
    <BLANKLINE>
    """
    lines = [f"# {_escape(document.title)}", "", _escape(document.description), ""]
    for section in document.sections:
        blocks = list(list_titled(section))
        if not blocks and section.notes:
            lines += [f"## {_escape(section.title)}" if section.title else "", ""]
        for title, block in blocks:
            lines += [f"## {_escape(title)}", "", *_write_block(block), ""]
        if section.notes:
            lines += [*(_escape(note) + "  " for note in section.notes[:-1]), _escape(section.notes[-1]), ""]
    return "\n".join(lines)


def _write_block(block: Grid | Sentences | Claims) -> list[str]:
    if isinstance(block, Grid):
        return _write_grid(block)
    texts = block.sentences if isinstance(block, Sentences) else [f"{claim.whole}." for claim in block.claims]
    return [f"- {_escape(text)}" for text in texts]


def _write_grid(grid: Grid) -> list[str]:
    lines = [
        _join_cells([_escape(column) for column in grid.columns]),
        "|:---|" + "---:|" * (len(grid.columns) - 1),
        *(_join_cells([_escape(name), *map(_write_cell, cells)]) for name, cells in grid.rows),
    ]
    return [*lines, "", _escape(grid.note)] if grid.note else lines


def _join_cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_cell(cell: Cell) -> str:
    text = _escape(cell.text)
    text = f"**{text}**" if cell.best else text
    return " ".join(filter(None, (text, _escape(cell.detail), cell.mark)))


def _escape(text: str) -> str:
    """Escape the characters that Markdown interprets."""
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", make_printable(text))
