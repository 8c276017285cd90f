"""Text files: the reader that ARFF, delimited and libsvm files share, ARFF headers and libsvm."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Schema
from streamgauge.streams.files.column_roles import (
    MAX_CLASSES,
    Column,
    Kind,
    Selection,
    build_layout,
    build_schema,
    sort_names,
)
from streamgauge.streams.files.row_blocks import Rows
from streamgauge.streams.files.source import Source

__all__ = [
    "Mark",
    "TextReader",
    "locate_errors",
    "open_arff",
    "open_libsvm",
    "prefix_errors",
    "read_arff_header",
    "read_from",
]

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
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        build: Callable[[Mark, int], _native.RowReader],
        first: Mark = (0, 0, 0),
        n_rows: int | None = None,
    ) -> None:
        self.schema = schema
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
        with locate_errors(self._source):
            for chunk in read_from(self._source, mark):
                position = 0
                while position < len(chunk):
                    position += reader.update(chunk, position, size)
                    self._remember(reader.take_marks())
                    if reader.n_rows >= size:
                        yield reader.take()
            reader.finish()
        self._n_rows = reader.row
        if reader.n_rows:
            yield reader.take()

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
        text = str(error)
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


def read_arff_header(source: Source, selection: Selection) -> tuple[_native.ArffHeader, list[Column]]:
    """Return the header of an ARFF file, and its columns with their roles."""
    header = _native.ArffHeader()
    with locate_errors(source):
        for chunk in source.read_chunks():
            header.update(chunk)
            if header.is_complete:
                break
        else:
            header.finish()
    declared = [
        Column(name, cast("Kind", kind), tuple(values) if values else None) for name, kind, values in header.attributes
    ]
    with prefix_errors(source):
        return header, selection.assign(declared)


def open_arff(source: Source, selection: Selection, delimiter: str, missing: tuple[str, ...]) -> TextReader:
    """Open an ARFF file; only its header is read."""
    header, columns = read_arff_header(source, selection)
    with prefix_errors(source):
        schema = build_schema(columns)
    layout = build_layout(columns)

    def build(mark: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.delimited(layout, ord(delimiter), True, missing, mark, skip_to)  # noqa: FBT003

    return TextReader(source, schema, build, header.mark)


def open_libsvm(source: Source) -> TextReader:
    """Open a libsvm file; one pass finds its classes and its largest index."""
    survey = _native.LibsvmSurvey(MAX_CLASSES)
    with locate_errors(source):
        for chunk in source.read_chunks():
            survey.update(chunk)
        survey.finish()
    names, lowest, highest, n_rows = survey.seen
    if not n_rows or lowest > highest:
        msg = f"{source.name} has no {'values' if n_rows else 'rows'}"
        raise StreamgaugeError(msg)
    base = min(lowest, 1)
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
