"""Markdown reports."""

import re

from streamgauge._format.text import make_printable
from streamgauge.reports.model import Cell, Document, Grid, Sentences

__all__ = ["to_markdown"]


def to_markdown(document: Document) -> str:
    r"""Return a report in Markdown, with tables in the syntax of GitHub.

    Examples
    --------
    >>> grid = Grid("Cost", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(to_markdown(Document("my_tree", "Evaluated on 10 rows.", (grid,))))
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
    blocks = [
        _write_sentences(block) if isinstance(block, Sentences) else _write_grid(block) for block in document.blocks
    ]
    return "\n".join([f"# {_escape(document.title)}", "", _escape(document.description), "", *blocks])


def _write_sentences(block: Sentences) -> str:
    lines = [f"- {_escape(sentence)}" for sentence in block.sentences]
    return "\n".join([f"## {_escape(block.title)}", "", *lines, ""])


def _write_grid(grid: Grid) -> str:
    lines = [
        f"## {_escape(grid.title)}",
        "",
        _join_cells([_escape(column) for column in grid.columns]),
        "|:---|" + "---:|" * (len(grid.columns) - 1),
        *(_join_cells([_escape(name), *map(_write_cell, cells)]) for name, cells in grid.rows),
        "",
    ]
    return "\n".join([*lines, _escape(grid.note), ""] if grid.note else lines)


def _join_cells(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_cell(cell: Cell) -> str:
    text = _escape(cell.text)
    text = f"**{text}**" if cell.best else text
    return text + (" †" if cell.worse else " °" if cell.equal else "")


def _escape(text: str) -> str:
    """Escape the characters that Markdown interprets."""
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", make_printable(text))
