"""What a reproduction is: pieces of work, and what is found in them, beside what was published."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from streamgauge.backends import Backend
from streamgauge.errors import StreamgaugeError

__all__ = [
    "Claim",
    "Done",
    "Entry",
    "Experiment",
    "Finding",
    "Piece",
    "Reproduction",
    "Scale",
    "Table",
    "beside",
    "only",
    "text_of",
]

Scale = Literal["tiny", "quick", "paper"]
"""How large: "paper" as published, "quick" to see it within minutes, "tiny" to see that it runs."""

Done = Mapping[str, Mapping[str, Any]]
"""What the finished pieces hold, by key."""

Entry = str | int | float | bool | None
"""What a table holds at a place."""


@dataclass(frozen=True)
class Piece:
    """A part of an experiment that is done, or not: what is finished is not done again.

    Parameters
    ----------
    key
        Its name within the experiment, of the letters of file names.
    work
        Does it on a backend, and gives what JSON can hold.
    dataset
        The real stream that it needs, where it needs one.
    """

    key: str
    work: Callable[[Backend], dict[str, Any]]
    dataset: str | None = None


@dataclass(frozen=True)
class Experiment:
    """Work that one or more tables and figures show.

    Parameters
    ----------
    name
        What it is called, of the letters of file names.
    pieces
        Gives the pieces of a scale, in the order in which they are done.
    in_part
        Whether something can be told when only some of the pieces are there.
    edition
        What the pieces mean; another one than that of a stored piece makes it be done again.
    """

    name: str
    pieces: Callable[[Scale], Sequence[Piece]]
    in_part: bool = False
    edition: int = 1


@dataclass(frozen=True)
class Table:
    """Figures in rows and columns.

    Parameters
    ----------
    title
        What it shows.
    columns
        Their headings.
    rows
        Per row an entry for each column; None is left empty.

    Examples
    --------
    >>> print(Table("Sums", ("a", "sum"), (("x", 0.123456), ("y", None))).markdown)
    | a | sum |
    |---|---|
    | x | 0.1235 |
    | y |  |
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]

    @property
    def markdown(self) -> str:
        """The table as Markdown writes it."""
        lines = [self.columns, ["---"] * len(self.columns), *(map(text_of, row) for row in self.rows)]
        texts = ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in map(list, lines)]
        texts[1] = "|" + "---|" * len(self.columns)
        return "\n".join(texts)

    def records(self) -> Iterator[dict[str, Entry]]:
        """Give each row as entries by column."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


def text_of(entry: Entry) -> str:
    """Write an entry of a table as a person would.

    Examples
    --------
    >>> [text_of(entry) for entry in (None, 12_345, 0.71, -0.12345, 1e-8, "text")]
    ['', '12,345', '0.71', '-0.1235', '1e-08', 'text']
    """
    if entry is None or isinstance(entry, str | bool):
        return "" if entry is None else str(entry)
    if isinstance(entry, int):
        return f"{entry:,}"
    if entry and abs(entry) < 1e-4:
        return f"{entry:.3g}"
    return f"{entry:,.4f}".rstrip("0").rstrip(".") if abs(entry) < 1000 else f"{entry:,.0f}"


def beside(ours: float, published: float | None) -> tuple[float, float | None, float | None]:
    """Give our figure, the published one and the difference; rounded as the published one is printed.

    Examples
    --------
    >>> beside(0.32692307, 0.3269)
    (0.3269, 0.3269, 0.0)
    """
    if published is None:
        return round(ours, 4), None, None
    return round(ours, 4), published, round(ours - published, 4)


@dataclass(frozen=True)
class Claim:
    """Something that a paper claims, or that we do, and whether it was seen here.

    Parameters
    ----------
    text
        The claim, in a sentence.
    holds
        Whether it was seen.
    """

    text: str
    holds: bool

    @property
    def sentence(self) -> str:
        """The claim and whether it was seen."""
        return f"{'seen' if self.holds else 'NOT seen'}: {self.text}"


@dataclass(frozen=True)
class Finding:
    """What the finished pieces tell.

    Parameters
    ----------
    basis
        On how much it rests: runs, rows, seeds.
    tables
        Ours beside the published figures.
    draw
        Draws it into a figure of Matplotlib; None where there is nothing to draw.
    claims
        What is claimed, and whether it was seen.
    notes
        Where and why it differs from what was published.
    data
        All figures, one a row, as they go into the data file; None for those of the first table.
    size
        Width and height of the figure, in inches.
    """

    basis: str
    tables: tuple[Table, ...]
    draw: Callable[[Any], None] | None = None
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    data: Table | None = None
    size: tuple[float, float] = (9.0, 4.0)


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper, done again.

    Parameters
    ----------
    name
        What it is called on the command line.
    source
        Where it was published.
    title
        What it shows.
    experiment
        The work behind it.
    find
        Tells from finished pieces what was found.
    """

    name: str
    source: str
    title: str
    experiment: Experiment
    find: Callable[[Done], Finding]


def only(done: Done) -> Mapping[str, Any]:
    """Give what the only piece of an experiment holds.

    Examples
    --------
    >>> only({"all": {"sum": 3}})
    {'sum': 3}
    """
    if len(done) != 1:
        msg = f"one piece was expected, and there are {len(done)}"
        raise StreamgaugeError(msg)
    return next(iter(done.values()))
