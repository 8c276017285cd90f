"""The report model: blocks of sentences and tables, independent of the output format."""

from dataclasses import dataclass, replace

from streamgauge._format.numbers import MISSING

__all__ = ["Cell", "Document", "Grid", "Sentences", "drop_empty_columns"]


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Examples
    --------
    >>> Cell("87.20", best=True).worse
    False
    """

    text: str
    best: bool = False
    worse: bool = False
    equal: bool = False
    """Whether it is not significantly worse than the best."""


@dataclass(frozen=True)
class Grid:
    """A table; the first column holds the names of the rows.

    Examples
    --------
    >>> Grid("Costs", ("learner", "CPU s"), (("tree", (Cell("1.2"),)),)).note
    ''
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    note: str = ""


@dataclass(frozen=True)
class Sentences:
    """Sentences under a heading.

    Examples
    --------
    >>> Sentences("Findings", ("tree is better than bayes.",)).title
    'Findings'
    """

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """A report: title, description and blocks; the report of one run also has the short name of its stream.

    Examples
    --------
    >>> Document("tree", "Evaluated on 10 rows.", ()).blocks
    ()
    """

    title: str
    description: str
    blocks: tuple[Grid | Sentences, ...]
    stream: str = ""


def drop_empty_columns(grid: Grid) -> Grid:
    """Return a table without the columns that have no value.

    Examples
    --------
    >>> drop_empty_columns(Grid("", ("learner", "CPU s", "late"), (("tree", (Cell("1.2"), Cell(MISSING))),))).columns
    ('learner', 'CPU s')
    """
    kept = [n for n in range(len(grid.columns) - 1) if any(cells[n].text != MISSING for _, cells in grid.rows)]
    rows = tuple((name, tuple(cells[n] for n in kept)) for name, cells in grid.rows)
    return replace(grid, columns=(grid.columns[0], *(grid.columns[1 + n] for n in kept)), rows=rows)
