"""Files of text: what ARFF, delimited and libsvm files share, and the headers of ARFF."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Schema
from streamgauge.streams.files.column_roles import MOST_CLASSES, Column, Kind, Selection, in_order, layout_of, schema_of
from streamgauge.streams.files.row_blocks import Rows
from streamgauge.streams.files.source import Source

__all__ = ["Mark", "TextReader", "about", "chunks_from", "located", "open_arff", "open_libsvm", "read_arff_header"]

NO_ROW = 1 << 62
"""To skip to this row is to skip all."""

Mark = tuple[int, int, int]
"""A place in a file: rows, bytes and lines before it."""


class TextReader:
    """Reads the rows of a text file from any row on.

    Parameters
    ----------
    source
        The bytes.
    schema
        What the rows look like.
    build
        Makes a native reader that goes on from a place and leaves out the rows before another.
    first
        Where the rows start.
    n_rows
        How many rows there are, where that is known.
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
        """How many rows there are: counted, at the speed of a search for line ends, where no pass has told it yet."""
        if self._n_rows is None:
            for _ in self.rows(1, NO_ROW):
                pass
        return self._n_rows or 0

    def rows(self, size: int, start: int) -> Iterator[Rows]:
        """Give the rows from `start` on, `size` at a time."""
        place = self._nearest(start)
        reader = self._build(place, start)
        with located(self._source):
            for chunk in chunks_from(self._source, place):
                at = 0
                while at < len(chunk):
                    at += reader.update(chunk, at, size)
                    self._remember(reader.take_marks())
                    if reader.n_rows >= size:
                        yield reader.take()
            reader.finish()
        self._n_rows = reader.row
        if reader.n_rows:
            yield reader.take()

    def _nearest(self, row: int) -> Mark:
        """Give the last known place before a row."""
        marks = self._marks
        return marks[max(0, bisect_right(marks, (row, NO_ROW, NO_ROW)) - 1)]

    def _remember(self, marks: list[Mark]) -> None:
        if self._source.compression is None and marks and marks[-1] > self._marks[-1]:
            self._marks = sorted({*self._marks, *marks})


def chunks_from(source: Source, place: Mark) -> Iterator[bytes]:
    """Give the bytes of a file from a place on."""
    offset = place[1]
    return source.chunks(offset) if source.compression is None else _without(source.chunks(), offset)


def _without(chunks: Iterator[bytes], n: int) -> Iterator[bytes]:
    """Leave out the first `n` bytes."""
    for chunk in chunks:
        if n < len(chunk):
            yield chunk[n:] if n else chunk
        n = max(0, n - len(chunk))


@contextmanager
def located(source: Source) -> Iterator[None]:
    """Put the name of the file before the line and column of a native error."""
    try:
        yield
    except StreamgaugeError:
        raise
    except ValueError as error:
        text = str(error)
        msg = f"{source.name}{', ' if text.startswith('line ') else ': '}{text}"
        raise StreamgaugeError(msg) from None


@contextmanager
def about(source: Source) -> Iterator[None]:
    """Put the name of the file before an error about its columns."""
    try:
        yield
    except StreamgaugeError as error:
        msg = f"{source.name}: {error}"
        raise StreamgaugeError(msg) from None


def read_arff_header(source: Source, selection: Selection) -> tuple[_native.ArffHeader, list[Column]]:
    """Read what stands before the rows of an ARFF file, and give each column its role."""
    header = _native.ArffHeader()
    with located(source):
        for chunk in source.chunks():
            header.update(chunk)
            if header.is_complete:
                break
        else:
            header.finish()
    declared = [
        Column(name, cast("Kind", kind), tuple(values) if values else None) for name, kind, values in header.attributes
    ]
    with about(source):
        return header, selection.assign(declared)


def open_arff(source: Source, selection: Selection, delimiter: str, missing: tuple[str, ...]) -> TextReader:
    """Open an ARFF file; only its header is read."""
    header, columns = read_arff_header(source, selection)
    with about(source):
        schema = schema_of(columns)
    layout = layout_of(columns)

    def build(place: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.delimited(layout, ord(delimiter), True, missing, place, skip_to)  # noqa: FBT003

    return TextReader(source, schema, build, header.mark)


def open_libsvm(source: Source) -> TextReader:
    """Open a libsvm file; one pass finds its classes and its greatest index."""
    survey = _native.LibsvmSurvey(MOST_CLASSES)
    with located(source):
        for chunk in source.chunks():
            survey.update(chunk)
        survey.finish()
    found, least, greatest, n_rows = survey.seen
    if not n_rows or least > greatest:
        msg = f"{source.name} has no {'values' if n_rows else 'rows'}"
        raise StreamgaugeError(msg)
    base = min(least, 1)
    classes = in_order(found)
    schema = schema_of(
        [
            *(Column(f"x{index}", "numeric", missing=False) for index in range(base, greatest + 1)),
            Column("class", "nominal", classes, role="class"),
        ]
    )

    def build(place: Mark, skip_to: int) -> _native.RowReader:
        return _native.RowReader.libsvm(classes, base, greatest + 1 - base, place, skip_to)

    return TextReader(source, schema, build, n_rows=n_rows)
