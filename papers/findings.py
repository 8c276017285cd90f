"""Records of a reproduction: the experiment and its pieces, and the finding next to the published values."""

import math
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
    "compare",
    "format_entry",
    "get_only",
    "mark_best",
]

Scale = Literal["tiny", "quick", "paper"]
"""Size of an experiment: "paper" as published, "quick" takes minutes, "tiny" only shows that it runs."""

Done = Mapping[str, Mapping[str, Any]]
"""Results of the finished pieces, by key."""

Entry = str | int | float | bool | None
"""An entry of a table."""


@dataclass(frozen=True)
class Piece:
    """A part of an experiment whose result is stored and not computed again.

    Parameters
    ----------
    key
        Name within the experiment, valid as a file name.
    work
        Runs the piece on a backend and returns a result that JSON can represent.
    dataset
        The real data set it needs, if any.
    """

    key: str
    work: Callable[[Backend], dict[str, Any]]
    dataset: str | None = None


@dataclass(frozen=True)
class Experiment:
    """The runs behind one or more tables and figures.

    Parameters
    ----------
    name
        Name of the experiment, valid as a file name.
    pieces
        Returns the pieces of a scale in the order in which they run.
    in_part
        Whether a finding can be computed from some of the pieces.
    edition
        Version of the pieces. A stored piece of another edition is computed again.
    """

    name: str
    pieces: Callable[[Scale], Sequence[Piece]]
    in_part: bool = False
    edition: int = 1


@dataclass(frozen=True)
class Table:
    """Values in rows and columns.

    Parameters
    ----------
    title
        The title.
    columns
        The column headings.
    rows
        The rows, with one entry per column; None is left empty.

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
        """The table in Markdown."""
        lines = [self.columns, *(map(format_entry, row) for row in self.rows)]
        texts = ["| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines]
        return "\n".join([texts[0], "|" + "---|" * len(self.columns), *texts[1:]])

    def records(self) -> Iterator[dict[str, Entry]]:
        """Yield each row as a mapping from column to entry."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)


def format_entry(entry: Entry) -> str:
    """Format an entry of a table for reading.

    Examples
    --------
    >>> [format_entry(entry) for entry in (None, 12_345, 0.71, -0.12345, 1e-8, "text")]
    ['', '12,345', '0.71', '-0.1235', '1e-08', 'text']
    """
    if entry is None or isinstance(entry, str | bool):
        return "" if entry is None else str(entry)
    if isinstance(entry, int):
        return f"{entry:,}"
    if entry and abs(entry) < 1e-4:
        return f"{entry:.3g}"
    return f"{entry:,.4f}".rstrip("0").rstrip(".") if abs(entry) < 1000 else f"{entry:,.0f}"


def mark_best(rates: Sequence[float | None], aim: float) -> list[str]:
    """Format rates with two digits, those closest to an aim in bold; a missing one is left empty.

    Examples
    --------
    >>> mark_best([0.35, 0.351, 0.88], 0.0)
    ['**0.35**', '**0.35**', '0.88']
    """
    texts = ["" if rate is None or math.isnan(rate) else f"{rate:.2f}" for rate in rates]
    nearest = min((abs(float(text) - aim) for text in texts if text), default=None)
    return [f"**{text}**" if text and abs(float(text) - aim) == nearest else text for text in texts]


def compare(ours: float, published: float | None) -> tuple[float, float | None, float | None]:
    """Return our value, the published one and the difference, rounded to four digits.

    Examples
    --------
    >>> compare(0.32692307, 0.3269)
    (0.3269, 0.3269, 0.0)
    """
    if published is None:
        return round(ours, 4), None, None
    return round(ours, 4), published, round(ours - published, 4)


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or of ours, and whether it was seen in our results.

    Parameters
    ----------
    text
        The claim, in one sentence.
    holds
        Whether it was seen.
    """

    text: str
    holds: bool

    def describe(self, scale: Scale) -> str:
        """Return the claim, and whether it was seen at a scale.

        Examples
        --------
        >>> Claim("more noise is detected more often", True).describe("quick")
        'seen at quick scale: more noise is detected more often'
        """
        return f"{'seen' if self.holds else 'NOT seen'} at {scale} scale: {self.text}"


@dataclass(frozen=True)
class Finding:
    """The result of the finished pieces.

    Parameters
    ----------
    basis
        The number of runs, rows and seeds behind it.
    tables
        Our values next to the published ones.
    draw
        Draws the finding into a Matplotlib figure; None if there is nothing to draw.
    claims
        The claims, and whether they were seen.
    notes
        Differences from the publication and their reasons.
    data
        All values, for the data file; None for those of the first table.
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
    """A table or figure of a paper, and how to reproduce it.

    Parameters
    ----------
    name
        Name on the command line.
    source
        Where it was published.
    title
        What it shows.
    experiment
        The runs behind it.
    find
        Computes the finding from the finished pieces.
    """

    name: str
    source: str
    title: str
    experiment: Experiment
    find: Callable[[Done], Finding]


def get_only(done: Done) -> Mapping[str, Any]:
    """Return the result of the only piece of an experiment.

    Examples
    --------
    >>> get_only({"all": {"sum": 3}})
    {'sum': 3}
    """
    if len(done) != 1:
        msg = f"expected one piece, found {len(done)}"
        raise StreamgaugeError(msg)
    return next(iter(done.values()))
