"""Files as streams."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.protocols import StreamBase
from streamgauge.records import Batch, Schema
from streamgauge.streams.column_rules import find_decrease, refuse_decrease
from streamgauge.streams.files.archives import open_archive
from streamgauge.streams.files.column_roles import Key, Selection
from streamgauge.streams.files.delimited import open_delimited
from streamgauge.streams.files.row_blocks import NumberReader, RowReader
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import open_arff, open_libsvm

__all__ = ["File"]

SUFFIXES = {
    ".arff": "arff",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
    ".npy": "npy",
}
_SELECTION = {"target", "weight", "time", "time_format", "keep", "drop", "numeric", "nominal"}
OPTIONS_BY_FORMAT = {
    "arff": _SELECTION | {"delimiter", "missing"},
    "csv": _SELECTION | {"header", "delimiter", "missing", "declared"},
    "parquet": _SELECTION,
    "arrow": _SELECTION,
    "libsvm": set[str](),
    "npz": {"keep", "drop", "time_format"},
    "npy": _SELECTION,
}
"""The options that each format supports; others are refused rather than ignored."""


@dataclass(frozen=True)
class File(StreamBase):
    r"""The rows of a file: ARFF, CSV or TSV, Parquet, Arrow IPC, libsvm, ``.npz`` or ``.npy``.

    Text may be compressed (gzip, zip, zstd, bzip2, xz). A file is read in chunks and never held in memory. The first
    malformed value is an error that states its line and column. Class values are names, never indexes: classes "1",
    "2" and "3" have the codes 0, 1 and 2.

    Parameters
    ----------
    path
        Path of the file; ``"-"`` is standard input, which is copied to a temporary file on first use.
    target
        The column of the class: its name, or its position (0 is the first column, -1 the last). Name it in `numeric`,
        too, if it is a number to be predicted, for regression.
    header
        Whether the first line of a CSV file names the columns; None detects it, and raises if it is ambiguous.
        Without a header, columns are named x0, x1 and so on by position.
    delimiter
        The character that separates values; None detects a comma, semicolon, tab or bar.
    numeric, nominal
        Columns to read as numbers (times as seconds since 1970), or as names, of which there may be up to a million.
        Other columns are numeric if all values are numbers and nominal if none is; a mixture is an error. A column of
        more than 10,000 names, or whose names differ in more than 90 % of more than 20 rows, is text: it is left out,
        which `notes` states.
    missing
        Texts that stand for a missing value; in ARFF ``?`` always does and an empty field never.
    weight
        The column that holds the weight of each row.
    time
        The column that holds the time of each row, which may not decrease; it is no attribute. None recognises the only
        column of ISO 8601 times that never decrease, which `notes` states; other columns of times are left out. In
        ``.npz`` files it is the array ``time``.
    time_format
        How times are written: "s", "ms", "us" or "ns" for numbers of that unit since 1970, or a format of `strptime`
        such as "%d/%m/%Y %H:%M" (with %Y %y %m %d %H %I %p %M %S %f %b %B %j %z). None recognises ISO 8601 and
        numbers of seconds. Times without a zone count as UTC.
    keep, drop
        Columns to keep as attributes (None: all), and columns to drop.
    declared
        The schema of a CSV file: the pass that would infer it is skipped, and codes are those of the schema.
    format
        One of ``arff csv parquet arrow libsvm npz npy``; None infers it from the file name, then from the content.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weather.csv"
    >>> _ = path.write_text("temperature,wind,class\n21.5,calm,3\n?,storm,1\n19,calm,3\n")
    >>> stream = File(path)
    >>> stream.schema.classes, stream.schema.attributes[1].values, stream.n_rows
    (('1', '3'), ('calm', 'storm'), 3)
    >>> next(stream.batches(2)).x.tolist()
    [[21.5, 0.0], [nan, 1.0]]
    """

    path: str | os.PathLike[str]
    target: Key = -1
    header: bool | None = None
    delimiter: str | None = None
    numeric: tuple[Key, ...] = ()
    nominal: tuple[Key, ...] = ()
    missing: tuple[str, ...] = ("?", "")
    weight: Key | None = None
    time: Key | None = None
    keep: tuple[Key, ...] | None = None
    drop: tuple[Key, ...] = ()
    time_format: str | None = None
    declared: Schema | None = None
    format: str | None = None
    ends = True
    """A file always ends; see `streamgauge.protocols.StreamBase`."""

    def __post_init__(self) -> None:
        for option in ("numeric", "nominal", "missing", "keep", "drop"):
            value = getattr(self, option)
            if value is not None:
                object.__setattr__(self, option, (value,) if isinstance(value, str | int) else tuple(value))
        if self.delimiter is not None and (len(self.delimiter) != 1 or not self.delimiter.isascii()):
            msg = f"delimiter = {self.delimiter!r}: it must be one ASCII character, such as ',' or ';'"
            raise StreamgaugeError(msg)
        if self.format is not None and self.format not in OPTIONS_BY_FORMAT:
            raise unknown_name(kind="format", name=self.format, known=OPTIONS_BY_FORMAT)

    def __getstate__(self) -> dict[str, object]:
        # Cached properties are left out: readers hold open files, and another process computes them again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def schema(self) -> Schema:
        """Schema of the rows."""
        return self._reader.schema

    @property
    def n_rows(self) -> int:
        """Number of rows: from the metadata of the file, or counted on first use."""
        return self._reader.n_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognised or left out, and how to change it."""
        return self._reader.notes

    @property
    def has_times(self) -> bool:
        """Whether the rows have times."""
        return self._reader.has_times

    @cached_property
    def fingerprint(self) -> str:
        """Digest of the bytes of the file and of the options, but not of the path."""
        options = [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "path"]
        return hashlib.sha256(self._source.digest + repr(options).encode()).hexdigest()[:32]

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield the rows from `start` on, `size` at a time."""
        require_at_least("size", size, 1)
        require_at_least("start", start, 0)
        return self._read_batches(size, start)

    def _read_batches(self, size: int, start: int) -> Iterator[Batch]:
        last = -np.inf
        for x, y, weight, time in self._reader.read_rows(size, start):
            if time is not None and len(time):
                self._check_order(time, last, start)
                last = time[-1]
            yield Batch(start, x, y, weight, time)
            start += len(y)

    def _check_order(self, time: NDArray[np.float64], last: float, start: int) -> None:
        """Raise if times decrease; a file without a declared schema was checked when it was opened."""
        row = find_decrease(time, last)
        if row is not None:
            where = f"{self._source.name}, row {start + row} (counted from 0)"
            raise refuse_decrease(where, str(self.time), float(time[row]), float(time[row - 1] if row else last))

    @cached_property
    def _source(self) -> Source:
        return Source(os.fspath(self.path))

    @cached_property
    def kind(self) -> str:
        """Format: the option, or else inferred from the file name or content."""
        kind = self.format or SUFFIXES.get(self._source.suffix) or _detect_format(self._source)
        self._check_options(kind)
        return kind

    @cached_property
    def _reader(self) -> RowReader:
        source, kind = self._source, self.kind
        if source.compression and kind in ("parquet", "arrow", "npz", "npy"):
            msg = f"{source.name} is a {kind} file compressed with {source.compression}: decompress it first"
            raise StreamgaugeError(msg)
        reader = OPENERS[kind](self, source)
        return reader if reader.schema.target is None else NumberReader(reader)

    def _check_options(self, kind: str) -> None:
        for field in fields(self):
            is_set = getattr(self, field.name) != field.default
            if is_set and field.name not in OPTIONS_BY_FORMAT[kind] | {"path", "format"}:
                msg = f"{self._source.name}: the option {field.name} does not apply to {kind} files; remove it"
                raise StreamgaugeError(msg)

    @property
    def _selection(self) -> Selection:
        return Selection(**{field.name: getattr(self, field.name) for field in fields(Selection)})


def _open_csv(file: File, source: Source) -> RowReader:
    return open_delimited(
        source,
        file._selection,
        file.missing,
        header=file.header,
        delimiter=file.delimiter,
        declared=file.declared,
    )


def _open_table(file: File, source: Source) -> RowReader:
    from streamgauge.streams.files.tables import open_table  # noqa: PLC0415 (pyarrow is slow to import)

    return open_table(source, file._selection, file.kind)


OPENERS: dict[str, Callable[[File, Source], RowReader]] = {
    "arff": lambda file, source: open_arff(source, file._selection, file.delimiter or ",", file.missing),
    "csv": _open_csv,
    "parquet": _open_table,
    "arrow": _open_table,
    "libsvm": lambda _, source: open_libsvm(source),
    "npz": lambda file, source: open_archive(source, file._selection),
    "npy": _open_table,
}


FIRST_BYTES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"\x93NUMPY": "npy"}


def _detect_format(source: Source) -> str:
    if source.is_npz:
        return "npz"
    start = b"".join(islice(source.read_chunks(), 1))
    binary = next((kind for magic, kind in FIRST_BYTES.items() if start.startswith(magic)), None)
    if binary is not None:
        return binary
    if re.match(rb"(\xef\xbb\xbf)?([ \t\r]*(%[^\n]*)?\n)*[ \t]*@(relation|attribute)\b", start, re.IGNORECASE):
        return "arff"
    if re.match(rb"([ \t\r]*(#[^\n]*)?\n)*[^\s:,;|]+([ \t]+\d+:[^\s:,;|]+)+[ \t]*(#[^\n]*)?\r?(\n|$)", start):
        return "libsvm"
    return "csv"
