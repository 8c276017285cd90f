"""Text files: the reader that ARFF, delimited and libsvm files share, ARFF headers and libsvm."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, make_printable
from streamgauge.records import Schema
from streamgauge.streams.column_rules import MAX_CLASSES, MAX_DECLARED_NAMES, sort_names
from streamgauge.streams.files.column_roles import Column, Key, Kind, Selection, build_layout, build_schema
from streamgauge.streams.files.row_blocks import Rows
from streamgauge.streams.files.source import CHUNK_BYTES, Source

__all__ = [
    "ColumnSurvey",
    "Mark",
    "TextReader",
    "build_column",
    "locate_errors",
    "open_arff",
    "open_libsvm",
    "prefix_errors",
    "read_arff_header",
    "read_from",
    "survey_rows",
    "translate_date_format",
]

ColumnSurvey = tuple[list[str], list[int], int, int, int | None, tuple[int, bool, bool] | None]
"""What a survey found in a column: names, counts of the names, number of numbers, number of missing values, the line at
which there were too many names (None if there were not), and, of times, their number, whether they decrease, and
whether the column holds other values, too."""

Surveyed = tuple[str, str, str | None, int]
"""A column to survey: name, contents, format of times, most names."""

MAX_UNUSED_ATTRIBUTES = 10_000
"""A libsvm file may have more attributes only if it has room for as many values, each of at least `VALUE_BYTES`."""

VALUE_BYTES = 4

MAX_NUMBERS_PER_BYTE = 1_000
"""The most numbers of dense rows for each byte of a sparse file, so that its cost is in proportion to its size."""

AFTER_ALL_ROWS = 1 << 62
"""Skipping to this row skips all rows."""

Mark = tuple[int, int, int]
"""A position in a file: the number of rows, bytes and lines before it."""


class TextReader:
    """Reader of the rows of a text file, from any row on.

    Parameters
    ----------
    source
        The bytes.
    schema
        The schema of the rows.
    build
        Builds a native reader that starts at a mark and skips the rows before a row number.
    first
        The mark at which the rows start.
    n_rows
        The number of rows, if known.
    notes
        What was recognised or left out.
    has_times
        Whether the rows have times.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        build: Callable[[Mark, int], _native.RowReader],
        first: Mark = (0, 0, 0),
        n_rows: int | None = None,
        *,
        notes: tuple[str, ...] = (),
        has_times: bool = False,
    ) -> None:
        self.schema = schema
        self.notes, self.has_times = notes, has_times
        self._source = source
        self._build = build
        self._marks = [first]
        self._n_rows = n_rows

    @property
    def n_rows(self) -> int:
        """Number of rows; counted on first use, at the speed of a search for line ends, if no pass has done so yet."""
        if self._n_rows is None:
            for _ in self.read_rows(1, AFTER_ALL_ROWS):
                pass
        return self._n_rows or 0

    def read_rows(self, size: int, start: int) -> Iterator[Rows]:
        """Yield the rows from `start` on, `size` at a time."""
        mark = self._find_mark_before(start)
        reader = self._build(mark, start)
        n_numbers = n_bytes = 0
        with locate_errors(self._source):
            for chunk in read_from(self._source, mark):
                position = 0
                n_bytes += len(chunk)
                while position < len(chunk):
                    position += reader.update(chunk, position, size)
                    self._remember(reader.take_marks())
                    if reader.n_rows >= size:
                        n_numbers += reader.n_rows * self.schema.n_attributes
                        if n_numbers > MAX_NUMBERS_PER_BYTE * max(n_bytes, CHUNK_BYTES):
                            raise self._make_error()
                        yield reader.take()
            reader.finish()
        self._n_rows = reader.row
        if reader.n_rows:
            yield reader.take()

    def _make_error(self) -> StreamgaugeError:
        n = self.schema.n_attributes
        msg = f"{self._source.name}: its rows are too sparse for {n:,} attributes: drop or hash some of them"
        return StreamgaugeError(msg)

    def _find_mark_before(self, row: int) -> Mark:
        marks = self._marks
        return marks[max(0, bisect_right(marks, (row, AFTER_ALL_ROWS, AFTER_ALL_ROWS)) - 1)]

    def _remember(self, marks: list[Mark]) -> None:
        if self._source.compression is None and marks and marks[-1] > self._marks[-1]:
            self._marks = sorted({*self._marks, *marks})


def read_from(source: Source, mark: Mark) -> Iterator[bytes]:
    """Yield the bytes of a file from a mark on."""
    offset = mark[1]
    return source.read_chunks(offset) if source.compression is None else _skip(source.read_chunks(), offset)


def _skip(chunks: Iterator[bytes], n_bytes: int) -> Iterator[bytes]:
    for chunk in chunks:
        if n_bytes < len(chunk):
            yield chunk[n_bytes:] if n_bytes else chunk
        n_bytes = max(0, n_bytes - len(chunk))


@contextmanager
def locate_errors(source: Source) -> Iterator[None]:
    """Turn native errors, which state line and column, into a `StreamgaugeError` that also names the file."""
    try:
        yield
    except StreamgaugeError:
        raise
    except ValueError as error:
        text = make_printable(str(error))
        msg = f"{source.name}{', ' if text.startswith('line ') else ': '}{text}"
        raise StreamgaugeError(msg) from None


@contextmanager
def prefix_errors(source: Source) -> Iterator[None]:
    """Prefix errors about columns with the name of the file."""
    try:
        yield
    except StreamgaugeError as error:
        msg = f"{source.name}: {error}"
        raise StreamgaugeError(msg) from None


def read_arff_header(source: Source) -> tuple[_native.ArffHeader, list[Column]]:
    """Return the header of an ARFF file, and its columns."""
    header = _native.ArffHeader()
    with locate_errors(source):
        for chunk in source.read_chunks():
            header.update(chunk)
            if header.is_complete:
                break
        else:
            header.finish()
    return header, [_declare_column(*attribute) for attribute in header.attributes]


def _declare_column(name: str, kind: str, values: list[str] | None) -> Column:
    if kind == "date":
        return Column(name, "time", time_format=translate_date_format(values[0]) if values else "")
    return Column(name, cast("Kind", kind), tuple(values) if values else None)


def translate_date_format(text: str) -> str:
    """Return the format of `strptime` for a format of dates in Java; empty if ISO 8601 serves, or it has no equal.

    Examples
    --------
    >>> translate_date_format("dd/MM/yyyy HH:mm"), translate_date_format("yyyy-MM-dd'T'HH:mm:ss")
    ('%d/%m/%Y %H:%M', '')
    """
    parts = re.findall(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^A-Za-z'])", text)
    translated = ""
    for quoted, run, letter, literal in parts:
        if run:
            directive = "%b" if run == "MMM" else "%B" if run == "MMMM" else _DIRECTIVES.get(letter)
            if directive is None:
                return ""
            translated += "%y" if run == "yy" else directive
        else:
            translated += (quoted.replace("''", "'") or literal).replace("%", "%%")
    is_iso = translated.replace(" ", "T", 1) in ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
    return "" if is_iso else translated


_DIRECTIVES = {
    "y": "%Y",
    "u": "%Y",
    "M": "%m",
    "d": "%d",
    "D": "%j",
    "H": "%H",
    "h": "%I",
    "a": "%p",
    "m": "%M",
    "s": "%S",
    "S": "%f",
    "E": "%a",
    "Z": "%z",
    "X": "%z",
    "x": "%z",
}
"""Directives of `strptime` by the letters of formats in Java."""


def open_arff(source: Source, selection: Selection, delimiter: str, missing: tuple[str, ...]) -> TextReader:
    """Open an ARFF file; a pass over its rows is needed only for attributes of dates and strings."""
    header, columns = read_arff_header(source)
    n_rows = None
    with prefix_errors(source):
        specs = _list_surveyed(selection, columns)
    if any(content != "nothing" for _, content, _, _ in specs):
        with locate_errors(source):
            survey = survey_rows(source, specs, delimiter, missing, header.mark, arff=True)
        n_rows = survey.n_rows
        columns = [
            column if content == "nothing" else build_column(name, content, seen, time_format, survey.n_rows)
            for column, (name, content, time_format, _), seen in zip(columns, specs, survey.seen, strict=True)
        ]
    with prefix_errors(source):
        columns, notes = selection.assign(columns)
        schema = build_schema(columns, notes)
    layout = build_layout(columns)

    def build(mark: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.delimited(layout, ord(delimiter), True, missing, mark, skip_to)  # noqa: FBT003

    has_times = any(column.role == "time" for column in columns)
    return TextReader(source, schema, build, header.mark, n_rows, notes=notes, has_times=has_times)


def _list_surveyed(selection: Selection, columns: list[Column]) -> list[Surveyed]:
    """Return the columns of an ARFF file to survey: those whose kind or names the header does not declare."""
    specs = []
    for column, (name, content, time_format, most) in zip(
        columns, selection.survey([column.name for column in columns]), strict=True
    ):
        written = time_format or column.time_format
        is_open = column.kind in ("text", "time") and content != "nothing"
        is_renamed = (
            column.kind == "numeric" and content == "names" and column.name in _name(selection.nominal, columns)
        )
        needed = content == "times" or is_open or is_renamed
        specs.append((name, content if needed else "nothing", written, most))
    return specs


def _name(keys: tuple[Key, ...], columns: list[Column]) -> set[str]:
    return {key if isinstance(key, str) else columns[key].name for key in keys}


def survey_rows(
    source: Source, specs: list[Surveyed], delimiter: str, missing: tuple[str, ...], first: Mark, *, arff: bool
) -> _native.Survey:
    """Survey the columns of a file; a column that begins with a time but holds other values, too, is surveyed again."""
    specs = list(specs)
    while True:
        survey = _native.Survey(specs, ord(delimiter), arff, missing, first)
        for chunk in read_from(source, first):
            survey.update(chunk)
            if survey.broken:
                break
        else:
            survey.finish()
        if not survey.broken:
            break
        for i in survey.broken:
            specs[i] = (specs[i][0], "no times", *specs[i][2:])
    if not survey.n_rows:
        msg = "it has no rows"
        raise ValueError(msg)
    return survey


def build_column(name: str, content: str, seen: ColumnSurvey, time_format: str | None, n_rows: int) -> Column:
    """Return a column as a survey found it."""
    names, counts, n_numbers, n_missing, overflow, times = seen
    if times is not None:
        n_times, decreases, _ = times
        kind: Kind = "numeric" if content == "numbers" else "time"
        return Column(
            name,
            kind,
            missing=n_missing > 0,
            time_format=time_format or "",
            n_present=n_times,
            n_missing=n_missing,
            decreases=decreases,
        )
    if overflow and content != "names":
        example = next(iter(names), "")
        return Column(name, "text", n_present=n_rows - n_missing, n_missing=n_missing, n_names=None, example=example)
    if not names:
        return Column(name, "numeric", missing=n_missing > 0, n_present=n_numbers, n_missing=n_missing)
    if overflow and len(names) >= MAX_DECLARED_NAMES:
        msg = f"line {overflow}: column {name!r} has more than {MAX_DECLARED_NAMES:,} different names: drop it"
        raise ValueError(msg)
    return Column.from_names(name, names, sum(counts), n_missing, declared=content == "names")


def open_libsvm(source: Source) -> TextReader:
    """Open a libsvm file; one pass finds its classes and its largest index."""
    survey = _native.LibsvmSurvey(MAX_CLASSES)
    n_bytes = 0
    with locate_errors(source):
        for chunk in source.read_chunks():
            n_bytes += len(chunk)
            survey.update(chunk)
        survey.finish()
    names, lowest, highest, n_rows = survey.seen
    if not n_rows or lowest > highest:
        msg = f"{source.name} has no {'values' if n_rows else 'rows'}"
        raise StreamgaugeError(msg)
    base = min(lowest, 1)
    if highest > max(MAX_UNUSED_ATTRIBUTES, n_bytes // VALUE_BYTES):
        msg = (
            f"{source.name}: it has a value with index {highest:,}, too large for its {n_bytes:,} bytes: renumber them"
        )
        raise StreamgaugeError(msg)
    classes = sort_names(names)
    schema = build_schema(
        [
            *(Column(f"x{index}", "numeric", missing=False) for index in range(base, highest + 1)),
            Column("class", "nominal", classes, role="class"),
        ]
    )

    def build(mark: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.libsvm(classes, base, highest + 1 - base, mark, skip_to)

    return TextReader(source, schema, build, n_rows=n_rows)
