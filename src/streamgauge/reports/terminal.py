"""Sections of the report model on the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamgauge._format.text import make_printable
from streamgauge.records import RunData
from streamgauge.reports.document import build_document
from streamgauge.reports.model import Cell, Claims, Document, Drawing, Grid, Section, Sentences, list_titled
from streamgauge.significance import Comparison

__all__ = ["StackedTable", "build_summary", "to_renderable"]

SIGNS = {"kept": ("✓", "green"), "broken": ("✗", "red")}
"""The sign and the colour of claims of a kind."""


def build_summary(results: RunData, comparisons: Sequence[Comparison] = ()) -> RenderableType:
    """Return what the terminal shows of an evaluation: the answer, tables, and claims on pairs.

    Examples
    --------
    >>> from rich.console import Console
    >>> Console().print(build_summary(RunData.from_readings((), n_rows=250, complete=False)))
    Cut short after 250 rows: all numbers and verdicts are for these rows only.
    <BLANKLINE>
    There are no readings.
    """
    return to_renderable(build_document(results, comparisons, "terminal"))


def to_renderable(document: Document) -> RenderableType:
    """Return the sections of a report for the terminal.

    Examples
    --------
    >>> from rich.console import Console
    >>> grid = Grid("Cost", ("learner", "CPU s"), (("tree", (Cell("1.2"),)),), "Means.")
    >>> Console().print(to_renderable(Document("", "", (Section("", (grid,)),))))  # doctest: +NORMALIZE_WHITESPACE
    Cost
    <BLANKLINE>
      learner  CPU s
     ───────────────
      tree       1.2
    <BLANKLINE>
    Means.
    """
    said: set[str] = set()  # a note that two sections share stands below the first
    sections = [replace(section, notes=_leave_out(section.notes, said)) for section in document.sections]
    written = [(section.kind, list(_write_section(section))) for section in sections]
    parts: list[RenderableType] = []
    for kind, lines in written:
        if parts and lines and kind in ("", "folded"):
            parts.append(Text())
        parts += lines
    return Group(*parts)


def _leave_out(notes: Sequence[str], said: set[str]) -> tuple[str, ...]:
    """Return the notes that were not said yet, and note that they are said now."""
    new = tuple(note for note in notes if note not in said)
    said.update(notes)
    return new


def _write_section(section: Section) -> Iterator[RenderableType]:
    if section.kind in ("banner", "answer"):
        sentences = [text for block in section.blocks if isinstance(block, Sentences) for text in block.sentences]
        yield from (Text(make_printable(text), "bold") for text in sentences)
        return
    yield from _write_drawings(section)
    for title, block in list_titled(section):
        if title:
            yield Text(make_printable(title), "bold")
        if isinstance(block, Grid):
            yield from _write_grid(block)
        elif isinstance(block, Claims):
            yield _write_claims(block)
        else:
            yield from (Text(make_printable(sentence)) for sentence in block.sentences)
    if section.notes:
        yield Text(make_printable(" ".join(section.notes)), "dim" if section.blocks else "")


def _write_drawings(section: Section) -> Iterator[Text]:
    """Yield what stands for drawings, each under its title."""
    for drawing in section.blocks:
        if isinstance(drawing, Drawing) and drawing.text:
            yield from (Text(make_printable(drawing.title or section.title), "bold"), Text(drawing.text))


def _write_grid(grid: Grid) -> Iterator[RenderableType]:
    names = [name for name, _ in grid.rows]
    marked = [any(_mark(cell) for cell in column) for column in zip(*(cells for _, cells in grid.rows), strict=True)]
    rows = [
        [_write_cell(cell, is_marked=is_marked) for cell, is_marked in zip(cells, marked, strict=True)]
        for _, cells in grid.rows
    ]
    yield StackedTable(grid.columns[0], names, grid.columns[1:], rows)
    if grid.note:
        yield Text(make_printable(grid.note.replace("Bold: ", "*: ")), "dim")


def _mark(cell: Cell) -> str:
    return "*" if cell.best else cell.mark


def _write_cell(cell: Cell, *, is_marked: bool) -> Text:
    text = make_printable(cell.whole) + (_mark(cell) or " " * is_marked)
    return Text(text, style="bold" if cell.best else "")


def _write_claims(claims: Claims) -> Table:
    rows = Table.grid(padding=(0, 1))
    for claim in claims.shown:
        sign, style = SIGNS.get(claim.outcome, ("•", ""))
        rows.add_row(Text(sign, style), Text(make_printable(claim.whole)))
    if len(claims.claims) > len(claims.shown):
        rows.add_row("•", Text(f"{claims.count_more(len(claims.shown))} {claims.rest}".rstrip()))
    return rows


class StackedTable:
    """A table whose columns go on below, after its names once more, where the terminal is too narrow for all of them.

    Parameters
    ----------
    subject, names
        The heading of the names, and the name of each row.
    headings, rows
        The headings of the other columns, and the cells of each row.

    Examples
    --------
    >>> from rich.console import Console
    >>> table = StackedTable("learner", ["HoeffdingTree"], ["accuracy %", "kappa %"], [[Text("72.42"), Text("28.36")]])
    >>> Console(width=30).print(table)  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
      learner        accuracy %
     ──────────────────────────
      HoeffdingTree       72.42
    <BLANKLINE>
    <BLANKLINE>
      learner        kappa %
     ───────────────────────
      HoeffdingTree    28.36
    <BLANKLINE>
    """

    def __init__(
        self, subject: str, names: Sequence[str], headings: Sequence[str], rows: Sequence[Sequence[Text]]
    ) -> None:
        self._subject, self._names = subject, [Text(make_printable(name)) for name in names]
        self._headings, self._rows = [make_printable(heading) for heading in headings], rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        first = max(map(cell_len, [self._subject, *map(str, self._names)]))
        rest = options.max_width - first - 3  # two edges, and a space before a cell
        for columns in self._pack(rest):
            table = Table(box=box.SIMPLE_HEAD, header_style="bold", padding=(0, 0, 0, 1))
            # A name longer than the terminal is folded, to keep the numbers on one line.
            table.add_column(self._subject, overflow="fold", no_wrap=rest > 0)
            for column in columns:
                table.add_column(Text(self._headings[column]), justify="right", no_wrap=True)
            for name, cells in zip(self._names, self._rows, strict=True):
                table.add_row(name, *(cells[column] for column in columns))
            yield table

    def _pack(self, width: int) -> list[list[int]]:
        """Return the columns of each part: as many as fit, at least one."""
        parts: list[list[int]] = [[]]
        left = width
        for column, heading in enumerate(self._headings):
            needed = 2 + max(map(cell_len, [heading, *(str(cells[column]) for cells in self._rows)]))
            if needed > left and parts[-1]:
                parts.append([])
                left = width
            parts[-1].append(column)
            left -= needed
        return parts
