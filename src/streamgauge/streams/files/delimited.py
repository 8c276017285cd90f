"""Delimited files (CSV and its kin): finds out how they are written and what their columns hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamgauge import _native
from streamgauge.records import Schema
from streamgauge.streams.files.column_roles import (
    MOST_CLASSES,
    MOST_NAMES,
    Column,
    Kind,
    Selection,
    in_order,
    layout_of,
    schema_of,
)
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import Mark, TextReader, about, chunks_from, located

__all__ = ["Start", "open_delimited", "read_start"]

LONGEST_LINE = 1 << 24

Found = tuple[list[str], list[int], int, int, int | None]
"""What a survey found in a column: names, their counts, numbers, missing values, the line of a name too many."""


@dataclass(frozen=True)
class Start:
    """The first line that is not blank, and what it tells."""

    fields: tuple[str, ...]
    place: Mark
    delimiter: str
    has_header: bool
    guessed: bool

    @property
    def names(self) -> list[str]:
        """The names of the columns, by their positions where the file does not tell."""
        unnamed = [f"x{i}" for i in range(len(self.fields))]
        if not self.has_header:
            return unnamed
        return [name or fallback for name, fallback in zip(self.fields, unnamed, strict=True)]

    @property
    def first_row(self) -> Mark:
        """Where the rows start."""
        return self.place if self.has_header else (0, 0, 0)


def open_delimited(
    source: Source,
    selection: Selection,
    missing: tuple[str, ...],
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    declared: Schema | None = None,
) -> TextReader:
    """Open a delimited file; unless a schema is declared, one pass finds out what its columns hold."""
    with located(source):
        start = read_start(source, header=header, delimiter=delimiter)
    with about(source):
        roles = selection.roles(start.names)
        expected = selection.expected(start.names)
    with located(source):
        _check_names(start, roles)
        if declared is None:
            columns, n_rows = _surveyed(source, start, missing, expected, roles.index("class"))
        else:
            columns, n_rows = _declared(start, roles, declared), None
    with about(source):
        columns = selection.assign(columns)
        schema = schema_of(columns)
    layout = layout_of(columns)

    def build(place: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.delimited(layout, ord(start.delimiter), False, missing, place, skip_to)  # noqa: FBT003

    return TextReader(source, schema, build, start.first_row, n_rows)


def read_start(source: Source, *, header: bool | None, delimiter: str | None) -> Start:
    """Read the first line of a delimited file; what it does not tell is guessed."""
    line, place = _first_line(source)
    if delimiter is None:
        delimiter = _guessed_delimiter(line, source.suffix, place[2])
    try:
        fields = tuple(text for text, _ in _native.split_line(line, ord(delimiter)))
    except ValueError as error:
        msg = f"line {place[2]}, {error}"
        raise ValueError(msg) from None
    has_header = not any(map(_native.is_number, fields)) if header is None else header
    return Start(fields, place, delimiter, has_header, header is None)


def _first_line(source: Source) -> tuple[bytes, Mark]:
    """Give the first line that is not blank, and the place behind it."""
    pending, number, end = b"", 0, 0
    for chunk in source.chunks():
        pending += chunk
        *lines, pending = pending.split(b"\n")
        for line in lines:
            number, end = number + 1, end + len(line) + 1
            if text := _plain(line, number):
                return text, (0, end, number)
        if len(pending) > LONGEST_LINE:
            msg = f"line {number + 1}: the line is longer than {LONGEST_LINE} bytes"
            raise ValueError(msg)
    if text := _plain(pending, number + 1):
        return text, (0, end + len(pending), number + 1)
    msg = "it has no rows"
    raise ValueError(msg)


def _plain(line: bytes, number: int) -> bytes:
    """Give a line without its end and the mark of UTF-8; nothing where it is blank."""
    if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
        msg = "line 1: the file is in UTF-16; convert it to UTF-8"
        raise ValueError(msg)
    line = line.removesuffix(b"\r")
    line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    return line if line.strip(b" \t") else b""


def _guessed_delimiter(line: bytes, suffix: str, number: int) -> str:
    if suffix == ".tsv":
        return "\t"
    bare = b"".join(line.split(b'"')[::2])
    found = [mark for mark in ",;\t" if mark.encode() in bare]
    if len(found) > 1:
        marks = " and ".join(repr(mark) for mark in found)
        msg = f"line {number} has both {marks}: say with delimiter what separates the values"
        raise ValueError(msg)
    if not found and b"|" not in bare:
        msg = f"line {number} has none of , ; | and tab: say with delimiter what separates the values"
        raise ValueError(msg)
    return found[0] if found else "|"


def _check_names(start: Start, roles: Sequence[str]) -> None:
    """Raise where a column of the header has no name, or that of another."""
    if not start.has_header:
        return
    first: dict[str, int] = {}
    for i, (name, role) in enumerate(zip(start.fields, roles, strict=True)):
        if role != "dropped" and not name:
            msg = (
                f"line {start.place[2]}, column {i + 1}: it has no name (an index of rows?): drop=({i},) leaves it out"
            )
            raise ValueError(msg)
        if name and name in first:
            msg = f"line {start.place[2]}, column {i + 1} ({name!r}): column {first[name] + 1} has the same name"
            raise ValueError(msg)
        first[name] = i


def _surveyed(
    source: Source, start: Start, missing: tuple[str, ...], expected: Sequence[str], target: int
) -> tuple[list[Column], int]:
    """Find out in one pass what the columns hold, and how many rows there are."""
    held = list(zip(start.names, expected, strict=True))
    survey = _native.Survey(held, ord(start.delimiter), missing, MOST_NAMES, start.first_row)
    for chunk in chunks_from(source, start.first_row):
        survey.update(chunk)
    survey.finish()
    if not survey.n_rows:
        msg = "it has no rows"
        raise ValueError(msg)
    _check_guess(start, survey, target)
    columns = [_column(name, found) for name, found in zip(start.names, survey.seen, strict=True)]
    classes = columns[target]
    if classes.kind == "numeric":
        msg = f"no row has a class in column {target + 1} ({classes.name!r})"
        raise ValueError(msg)
    if classes.kind == "text" or len(classes.values or ()) > MOST_CLASSES:
        msg = (
            f"column {target + 1} ({classes.name!r}) has more than {MOST_CLASSES} values, too many for classes: "
            "name another column with target"
        )
        raise ValueError(msg)
    return columns, survey.n_rows


def _column(name: str, found: Found) -> Column:
    names, _, _, n_missing, overflow = found
    if overflow:
        return Column(name, "text")
    return Column(name, "nominal" if names else "numeric", in_order(names) if names else None, missing=n_missing > 0)


def _check_guess(start: Start, survey: _native.Survey, target: int) -> None:
    """Raise where the rows do not show that the guess about a header was right."""
    if not start.guessed:
        return
    if start.has_header:
        # A header is told from a row by a column of numbers below a name.
        doubtful = not any(map(_is_numeric, survey.seen))
    else:
        names, counts, *_ = survey.seen[target]
        first = start.fields[target]
        alone = first in names and counts[names.index(first)] == 1 and survey.n_rows > 1
        doubtful = alone or start.fields == tuple(str(i) for i in range(len(start.fields)))
    if doubtful:
        msg = f"line {start.place[2]} may name the columns or be a row: say header=True or header=False"
        raise ValueError(msg)


def _is_numeric(found: Found) -> bool:
    names, _, n_numbers, _, overflow = found
    return overflow is None and (n_numbers > 0 or (bool(names) and all(map(_native.is_number, names))))


def _declared(start: Start, roles: Sequence[str], schema: Schema) -> list[Column]:
    """Give the columns that a schema declares."""
    names = start.names
    places = [i for i, role in enumerate(roles) if role == "attribute"]
    wanted = [attribute.name for attribute in schema.attributes]
    if len(places) != len(wanted) or (start.has_header and [names[i] for i in places] != wanted):
        found = _shown([names[i] for i in places])
        msg = f"its attributes are not those of the declared schema: {found} against {_shown(wanted)}"
        raise ValueError(msg)
    columns = [Column(name, "numeric") for name in names]
    for i, attribute in zip(places, schema.attributes, strict=True):
        kind: Kind = "nominal" if attribute.is_nominal else "numeric"
        columns[i] = Column(attribute.name, kind, attribute.values, attribute.missing)
    target = roles.index("class")
    columns[target] = Column(names[target], "nominal", schema.classes)
    return columns


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
