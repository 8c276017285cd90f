"""Reports in Markdown."""

import re

from streamgauge._format.text import make_printable
from streamgauge.reports.document import Cell, Document, Grid, Sentences

__all__ = ["markdown"]


def markdown(document: Document) -> str:
    r"""Write a report in Markdown, with tables as GitHub and most others read them.

    Examples
    --------
    >>> grid = Grid("Costs", ("learner", "CPU s"), (("my_tree", (Cell("1.2", best=True),)),))
    >>> print(markdown(Document("my_tree", "Evaluated on 10 rows.", (grid,))))
    # my\_tree
    <BLANKLINE>
    Evaluated on 10 rows.
    <BLANKLINE>
    ## Costs
    <BLANKLINE>
    | learner | CPU s |
    |:---|---:|
    | my\_tree | **1.2** |
    <BLANKLINE>
    """
    blocks = [_sentences(block) if isinstance(block, Sentences) else _grid(block) for block in document.blocks]
    return "\n".join([f"# {_escaped(document.title)}", "", _escaped(document.lead), "", *blocks])


def _sentences(block: Sentences) -> str:
    lines = [f"- {_escaped(sentence)}" for sentence in block.sentences]
    return "\n".join([f"## {_escaped(block.title)}", "", *lines, ""])


def _grid(grid: Grid) -> str:
    lines = [
        f"## {_escaped(grid.title)}",
        "",
        _line([_escaped(column) for column in grid.columns]),
        "|:---|" + "---:|" * (len(grid.columns) - 1),
        *(_line([_escaped(name), *map(_cell, cells)]) for name, cells in grid.rows),
        "",
    ]
    return "\n".join([*lines, _escaped(grid.note), ""] if grid.note else lines)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    text = f"**{text}**" if cell.best else text
    return text + (" \\*" if cell.worse else "")


def _escaped(text: str) -> str:
    """Let no character of a name be read as markup."""
    return re.sub(r"([\\`*_\[\]<>|#&~])", r"\\\1", make_printable(text))
