"""The report model: a document of sections, independent of where it is shown.

`sections` makes them from results, one function a section; the writers `terminal`, `html`, `markdown`, `latex` and
`data` (JSON for the dashboard) know the kinds of blocks and nothing of results.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from streamgauge._format.markup import Markup
from streamgauge._format.numbers import MISSING
from streamgauge._format.text import count
from streamgauge.reports.charts import Chart

__all__ = [
    "Block",
    "Cell",
    "Claim",
    "Claims",
    "Document",
    "Drawing",
    "Estimate",
    "Grid",
    "Section",
    "Sentences",
    "drop_empty_columns",
    "list_titled",
]


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a value, and what stands smaller beside it, such as an interval or a deviation.

    Examples
    --------
    >>> Cell("87.20", "±0.31", best=True).whole
    '87.20 ±0.31'
    """

    text: str
    detail: str = ""
    best: bool = False
    worse: bool = False
    """Whether it is significantly worse than the best."""
    equal: bool = False
    """Whether it is not significantly worse than the best."""

    @property
    def whole(self) -> str:
        """The value and what stands beside it."""
        return f"{self.text} {self.detail}".strip()

    @property
    def mark(self) -> str:
        """The sign that stands after the value, explained by the note of the table."""
        return "†" if self.worse else "°" if self.equal else ""


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
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By row and column: the address that a cell opens on a page."""
    n_summary: int = 0
    """The number of last rows that sum up those above, such as mean ranks."""


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
class Estimate:
    """A number that a claim is about, with its interval, to be drawn on a scale.

    Parameters
    ----------
    value, interval, below
        What stands beside the drawing: the number with its unit, its interval, and a line below.
    bounds
        The ends of the interval, if there is one, then the number.
    middle, margin
        What the dashed line marks, and the distance from it that does not matter.
    is_clear
        Whether the interval excludes the middle.

    Examples
    --------
    >>> Estimate("+0.90 pp", "[+0.78, +1.03]", bounds=(0.0078, 0.0103, 0.009)).margin
    0.0
    """

    value: str
    interval: str = ""
    below: str = ""
    bounds: tuple[float, ...] = ()
    middle: float = 0.0
    margin: float = 0.0
    is_clear: bool = False


@dataclass(frozen=True)
class Claim:
    """What holds of a pair of learners, or of one.

    Parameters
    ----------
    sentence
        What holds, without a full stop and without the numbers that are drawn beside it.
    state
        What else is known of it, for surfaces without drawings.
    text
        Sentence and state in one, where that is more than both after each other.
    aside
        What else is known of it that no drawing shows.
    outcome
        Its kind, such as ``first``, ``undecided`` or ``broken``.
    estimate
        The number behind it.

    Examples
    --------
    >>> Claim("tree is better than bayes", "now tree is ahead by 0.90 pp").whole
    'tree is better than bayes; now tree is ahead by 0.90 pp'
    """

    sentence: str
    state: str = ""
    aside: str = ""
    outcome: str = ""
    estimate: Estimate | None = None
    text: str = ""

    @property
    def whole(self) -> str:
        """All that is known of it, in words."""
        return self.text or "; ".join(filter(None, (self.sentence, self.state, self.aside)))


@dataclass(frozen=True)
class Claims:
    """Claims of one kind under a heading; the first ones are shown at once where there are many.

    Parameters
    ----------
    title
        The heading.
    claims
        The claims, the most important first.
    n_open
        The number of them that are always shown.
    rest
        What the others have in common, after their number.
    scale
        The ends of the scale of all drawings; None for one of its own each.
    noun
        What each is about, in one word.

    Examples
    --------
    >>> Claims("", (Claim("a"), Claim("b")), n_open=1).shown
    (Claim(sentence='a', state='', aside='', outcome='', estimate=None, text=''),)
    """

    title: str
    claims: tuple[Claim, ...]
    n_open: int = 6
    rest: str = ""
    scale: tuple[float, float] | None = None
    noun: str = "pair"

    @property
    def shown(self) -> tuple[Claim, ...]:
        """The claims that are always shown."""
        return self.claims[: self.n_open]

    def count_more(self, n_shown: int) -> str:
        """Return the number of claims that are not shown, with their noun."""
        return count(len(self.claims) - n_shown, f"more {self.noun}")


@dataclass(frozen=True)
class Drawing:
    """What only a page can show: a drawing, a switch, or a matrix with shades; a terminal shows its text, if any.

    Examples
    --------
    >>> Drawing(Markup("<svg></svg>")).title
    ''
    """

    markup: Markup
    title: str = ""
    text: str = ""


Block = Grid | Sentences | Claims | Chart | Drawing


@dataclass(frozen=True)
class Section:
    """Blocks that belong together.

    Parameters
    ----------
    title
        The heading; empty if each block has its own.
    blocks
        The blocks, in their order.
    notes
        What holds for all blocks, below them; one sentence or two each.
    kind
        How it stands out: a ``banner`` must be read before any number, the ``answer`` is the first thing to read, what
        is ``folded`` is shown on demand.

    Examples
    --------
    >>> Section("Limitations", (Sentences("", ("There is one fold.",)),)).kind
    ''
    """

    title: str
    blocks: tuple[Block, ...]
    notes: tuple[str, ...] = ()
    kind: Literal["", "banner", "answer", "folded"] = ""


@dataclass(frozen=True)
class Document:
    """A report: title, description and sections; the report of one run also has the short name of its stream.

    Examples
    --------
    >>> Document("tree", "Evaluated on 10 rows.", ()).sections
    ()
    """

    title: str
    description: str
    sections: tuple[Section, ...]
    stream: str = ""


def list_titled(section: Section) -> Iterator[tuple[str, Grid | Sentences | Claims]]:
    """Yield the blocks of a section that can be written as text, each with its heading, that of the section if need be.

    A note that several tables in succession share is left at the last one.

    Examples
    --------
    >>> [title for title, _ in list_titled(Section("Cost", (Grid("", ("learner",), ()), Drawing(Markup()))))]
    ['Cost']
    """
    blocks = [block for block in section.blocks if isinstance(block, Grid | Sentences | Claims)]
    for block, following in zip(blocks, [*blocks[1:], None], strict=False):
        shown: Grid | Sentences | Claims = block
        if isinstance(block, Grid) and isinstance(following, Grid) and block.note == following.note:
            shown = replace(block, note="")
        yield block.title or section.title, shown


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
