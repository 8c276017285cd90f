"""Delimited files such as CSV and TSV: detection of delimiter, header and column kinds."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamgauge import _native
from streamgauge.records import Schema
from streamgauge.streams.files.column_roles import Column, Kind, Selection, build_layout, build_schema
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import (
    ColumnSurvey,
    Mark,
    TextReader,
    build_column,
    locate_errors,
    prefix_errors,
    survey_rows,
)

__all__ = ["Start", "open_delimited", "read_start"]

MAX_LINE_BYTES = 1 << 24


@dataclass(frozen=True)
class Start:
    """The first non-blank line of a file, the mark behind it, and the format that follows from it."""

    fields: tuple[str, ...]
    mark: Mark
    delimiter: str
    has_header: bool
    guessed: bool

    @property
    def names(self) -> list[str]:
        """Names of the columns; x0, x1, ... by position where the file has none."""
        unnamed = [f"x{i}" for i in range(len(self.fields))]
        if not self.has_header:
            return unnamed
        return [name or fallback for name, fallback in zip(self.fields, unnamed, strict=True)]

    @property
    def first_row(self) -> Mark:
        """Mark at which the rows start."""
        return self.mark if self.has_header else (0, 0, 0)


def open_delimited(
    source: Source,
    selection: Selection,
    missing: tuple[str, ...],
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    declared: Schema | None = None,
) -> TextReader:
    """Open a delimited file; unless a schema is declared, one pass over it finds the kinds of its columns."""
    with locate_errors(source):
        start = read_start(source, header=header, delimiter=delimiter)
    with prefix_errors(source):
        roles = selection.resolve_roles(start.names)
        specs = selection.survey(start.names)
    with locate_errors(source):
        _check_names(start, roles)
        if declared is None:
            survey = survey_rows(source, specs, start.delimiter, missing, start.first_row, arff=False)
            columns, n_rows = _build_columns(start, survey, specs, roles.index("class")), survey.n_rows
        else:
            columns, n_rows = _match_schema(start, roles, declared, selection.time_format), None
    with prefix_errors(source):
        columns, notes = selection.assign(columns)
        schema = declared or build_schema(columns, notes)
    layout = build_layout(columns)

    def build(mark: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.delimited(layout, ord(start.delimiter), False, missing, mark, skip_to)  # noqa: FBT003

    has_times = any(column.role == "time" for column in columns)
    return TextReader(source, schema, build, start.first_row, n_rows, notes=notes, has_times=has_times)


def read_start(source: Source, *, header: bool | None, delimiter: str | None) -> Start:
    """Read the first line of a delimited file; guess the delimiter and the header if they are None."""
    line, mark = _read_first_line(source)
    if delimiter is None:
        delimiter = _guess_delimiter(line, source.suffix, mark[2])
    try:
        fields = tuple(text for text, _ in _native.split_line(line, ord(delimiter)))
    except ValueError as error:
        msg = f"line {mark[2]}, {error}"
        raise ValueError(msg) from None
    has_header = (
        not any(_native.is_number(text) or _native.is_time(text) for text in fields) if header is None else header
    )
    return Start(fields=fields, mark=mark, delimiter=delimiter, has_header=has_header, guessed=header is None)


def _read_first_line(source: Source) -> tuple[bytes, Mark]:
    """Return the first non-blank line and the mark behind it."""
    pending, number, end = b"", 0, 0
    for chunk in source.read_chunks():
        pending += chunk
        *lines, pending = pending.split(b"\n")
        for line in lines:
            number, end = number + 1, end + len(line) + 1
            if text := _strip_line(line, number):
                return text, (0, end, number)
        if len(pending) > MAX_LINE_BYTES:
            msg = f"line {number + 1}: the line is longer than {MAX_LINE_BYTES} bytes"
            raise ValueError(msg)
    if text := _strip_line(pending, number + 1):
        return text, (0, end + len(pending), number + 1)
    msg = "it has no rows"
    raise ValueError(msg)


def _strip_line(line: bytes, number: int) -> bytes:
    """Return a line without its end and byte order mark; empty if it is blank."""
    if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
        msg = "line 1: the file is in UTF-16; convert it to UTF-8"
        raise ValueError(msg)
    line = line.removesuffix(b"\r")
    line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    return line if line.strip(b" \t") else b""


def _guess_delimiter(line: bytes, suffix: str, number: int) -> str:
    if suffix == ".tsv":
        return "\t"
    unquoted = b"".join(line.split(b'"')[::2])
    candidates = [mark for mark in ",;\t" if mark.encode() in unquoted]
    if len(candidates) > 1:
        marks = " and ".join(repr(mark) for mark in candidates)
        msg = f"line {number} has both {marks}: set delimiter to the one that separates the values"
        raise ValueError(msg)
    if not candidates and b"|" not in unquoted:
        msg = f"line {number} has none of , ; | and tab: set delimiter to what separates the values"
        raise ValueError(msg)
    return candidates[0] if candidates else "|"


def _check_names(start: Start, roles: Sequence[str]) -> None:
    """Raise if a column of the header has no name, or the name of another column."""
    if not start.has_header:
        return
    first: dict[str, int] = {}
    for i, (name, role) in enumerate(zip(start.fields, roles, strict=True)):
        if role != "dropped" and not name:
            msg = f"line {start.mark[2]}, column {i + 1} has no name (a row index?): drop=({i},) drops it"
            raise ValueError(msg)
        if name and name in first:
            same = f"column {first[name] + 1} has the same name: rename one of them"
            msg = f"line {start.mark[2]}, column {i + 1} ({name!r}): {same}"
            raise ValueError(msg)
        first[name] = i


def _build_columns(
    start: Start, survey: _native.Survey, specs: list[tuple[str, str, str | None, int]], target: int
) -> list[Column]:
    """Return the columns as a survey found them."""
    _check_guess(start, survey, target)
    columns = [
        build_column(name, content, seen, time_format, survey.n_rows)
        for (name, content, time_format, _), seen in zip(specs, survey.seen, strict=True)
    ]
    if columns[target].kind == "numeric" and specs[target][1] == "names":
        msg = f"no row has a class in column {target + 1} ({columns[target].name!r})"
        raise ValueError(msg)
    return columns


def _check_guess(start: Start, survey: _native.Survey, target: int) -> None:
    """Raise if the rows do not confirm the guess about a header."""
    if not start.guessed:
        return
    if start.has_header:
        # Only a column of numbers or times below a name distinguishes a header from a row.
        doubtful = not any(map(_is_numeric, survey.seen))
    else:
        names, counts, *_ = survey.seen[target]
        first = start.fields[target]
        occurs_once = first in names and counts[names.index(first)] == 1 and survey.n_rows > 1
        doubtful = occurs_once or start.fields == tuple(str(i) for i in range(len(start.fields)))
    if doubtful:
        options = "header=True (--header) or header=False (--no-header)"
        msg = f"line {start.mark[2]} may name the columns or be a row: set {options}"
        raise ValueError(msg)


def _is_numeric(surveyed: ColumnSurvey) -> bool:
    names, _, n_numbers, _, overflow, times = surveyed
    if times is not None:
        return True
    return overflow is None and (n_numbers > 0 or (bool(names) and all(map(_native.is_number, names))))


def _match_schema(start: Start, roles: Sequence[str], schema: Schema, time_format: str | None) -> list[Column]:
    """Return the columns as a schema declares them; raise if the attributes differ."""
    names = start.names
    indexes = [i for i, role in enumerate(roles) if role == "attribute"]
    present, declared = [names[i] for i in indexes], [attribute.name for attribute in schema.attributes]
    if len(present) != len(declared) or (start.has_header and present != declared):
        msg = (
            "the attributes of the file are not those of the declared schema: "
            f"{_abbreviate(present)} instead of {_abbreviate(declared)}"
        )
        raise ValueError(msg)
    columns = [Column(name, "numeric") for name in names]
    for i, attribute in zip(indexes, schema.attributes, strict=True):
        kind: Kind = "nominal" if attribute.is_nominal else "numeric"
        columns[i] = Column(attribute.name, kind, attribute.values, attribute.missing)
    target = roles.index("class")
    columns[target] = Column(names[target], "nominal", schema.classes)
    if "time" in roles:
        time = roles.index("time")
        columns[time] = Column(names[time], "time", time_format=time_format or "")
    return columns


def _abbreviate(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
