"""A file as a stream."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import ClassVar, Protocol

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.records import Batch, Schema
from streamgauge.streams.files.archives import open_archive
from streamgauge.streams.files.column_roles import Key, Selection
from streamgauge.streams.files.delimited import open_delimited
from streamgauge.streams.files.row_blocks import Rows
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
}
_SELECTION = {"target", "weight", "keep", "drop", "drop_text"}
HEEDED = {
    "arff": _SELECTION | {"delimiter", "missing"},
    "csv": _SELECTION | {"header", "delimiter", "numeric", "nominal", "missing", "declared"},
    "parquet": _SELECTION | {"nominal"},
    "arrow": _SELECTION | {"nominal"},
    "libsvm": set[str](),
    "npz": {"keep", "drop"},
}
"""Which options a format heeds; the others are refused rather than ignored."""


class _Reader(Protocol):
    """What reads a format."""

    @property
    def schema(self) -> Schema: ...

    @property
    def n_rows(self) -> int: ...

    def rows(self, size: int, start: int) -> Iterator[Rows]: ...


@dataclass(frozen=True)
class File:
    r"""The rows of a file: ARFF, CSV and its kin, Parquet, Arrow IPC, libsvm or ``.npz``.

    Text may be compressed (gzip, zip, zstd, bzip2, xz). A file is read in pieces and never held in memory; it is
    read right, or the first fault is told with its line and column. Class values are names, never indexes: classes
    "1", "2" and "3" have the codes 0, 1 and 2.

    Parameters
    ----------
    path
        Where it is; ``"-"`` is standard input, which is copied to a temporary file when it is first needed.
    target
        The column of the class: its name, or its position from 0 on from the left or from -1 on from the right.
    header
        Whether the first line of a CSV file names its columns; None finds out, or asks where it cannot be told.
        Without names, columns are called x0, x1 and so on by their positions.
    delimiter
        What separates values; None finds out whether it is a comma, a semicolon, a tab or a bar.
    numeric, nominal
        Columns of a CSV file (or whole numbers of a table) to be read as numbers, or as names. The others are
        numeric where all values are numbers and nominal where none is; a mixture is an error.
    missing
        Texts that stand for a missing value; in ARFF ``?`` always does and an empty field never.
    weight
        The column that holds the weight of each row.
    keep, drop
        Columns to keep as attributes (None: all), and columns to leave out.
    drop_text
        Whether to leave out columns of text: string and date attributes, and more than 10,000 different values.
    declared
        The schema of a CSV file: no pass is needed then to find it, and codes are as it says.
    format
        One of ``arff csv parquet arrow libsvm npz``; None goes by the name of the file, then by its content.

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
    keep: tuple[Key, ...] | None = None
    drop: tuple[Key, ...] = ()
    drop_text: bool = False
    declared: Schema | None = None
    format: str | None = None
    ends: ClassVar[bool] = True
    """A file ends, wherever that is; see `streamgauge.Evaluation.ends`."""

    def __post_init__(self) -> None:
        for option in ("numeric", "nominal", "missing", "keep", "drop"):
            given = getattr(self, option)
            if given is not None:
                object.__setattr__(self, option, (given,) if isinstance(given, str | int) else tuple(given))
        if self.delimiter is not None and (len(self.delimiter) != 1 or not self.delimiter.isascii()):
            msg = f"delimiter = {self.delimiter!r}: it must be one character, as ',' or ';'"
            raise StreamgaugeError(msg)
        if self.format is not None and self.format not in HEEDED:
            kind = "format"
            raise unknown_name(kind, self.format, HEEDED)

    def __getstate__(self) -> dict[str, object]:
        # What has been found out about the file is found again where it is needed; open files do not travel.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def schema(self) -> Schema:
        """What the rows look like."""
        return self._reader.schema

    @property
    def n_rows(self) -> int:
        """How many rows there are: known from the file, or counted when first asked for."""
        return self._reader.n_rows

    @cached_property
    def fingerprint(self) -> str:
        """A text that differs where the bytes of the file or the options do (not its path)."""
        options = [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "path"]
        return hashlib.sha256(self._source.digest + repr(options).encode()).hexdigest()[:32]

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Give the rows from `start` on, `size` at a time."""
        require_at_least("size", size, 1)
        require_at_least("start", start, 0)
        return self._batches(size, start)

    def _batches(self, size: int, start: int) -> Iterator[Batch]:
        for x, y, weight in self._reader.rows(size, start):
            yield Batch(start, x, y, weight)
            start += len(y)

    @cached_property
    def _source(self) -> Source:
        return Source(os.fspath(self.path))

    @cached_property
    def kind(self) -> str:
        """Its format: as given, or as its name or content tells."""
        kind = self.format or SUFFIXES.get(self._source.suffix) or _format_by_content(self._source)
        self._check_options(kind)
        return kind

    @cached_property
    def _reader(self) -> _Reader:
        source, kind = self._source, self.kind
        if source.compression and kind in ("parquet", "arrow", "npz"):
            msg = f"{source.name} is a {kind} file in {source.compression} compression: unpack it first"
            raise StreamgaugeError(msg)
        return OPENERS[kind](self, source)

    def _check_options(self, kind: str) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if field.name not in HEEDED[kind] | {"path", "format"} and given != field.default:
                msg = f"{self._source.name}: {field.name} means nothing to a {kind} file; leave it out"
                raise StreamgaugeError(msg)

    @property
    def _selection(self) -> Selection:
        return Selection(**{field.name: getattr(self, field.name) for field in fields(Selection)})


def _open_csv(file: File, source: Source) -> _Reader:
    return open_delimited(
        source,
        file._selection,
        file.missing,
        header=file.header,
        delimiter=file.delimiter,
        declared=file.declared,
    )


def _open_parquet(file: File, source: Source) -> _Reader:
    from streamgauge.streams.files.tables import open_parquet  # noqa: PLC0415 (pyarrow is slow to import)

    return open_parquet(source, file._selection)


def _open_arrow(file: File, source: Source) -> _Reader:
    from streamgauge.streams.files.tables import open_arrow  # noqa: PLC0415 (pyarrow is slow to import)

    return open_arrow(source, file._selection)


OPENERS: dict[str, Callable[[File, Source], _Reader]] = {
    "arff": lambda file, source: open_arff(source, file._selection, file.delimiter or ",", file.missing),
    "csv": _open_csv,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
    "libsvm": lambda _, source: open_libsvm(source),
    "npz": lambda file, source: open_archive(source, file._selection),
}


def _format_by_content(source: Source) -> str:
    """Tell the format of a file whose name does not."""
    if source.is_npz:
        return "npz"
    start = b"".join(islice(source.chunks(), 1))
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if re.match(rb"(\xef\xbb\xbf)?([ \t\r]*(%[^\n]*)?\n)*[ \t]*@(relation|attribute)\b", start, re.IGNORECASE):
        return "arff"
    if re.match(rb"([ \t\r]*(#[^\n]*)?\n)*[^\s:,;|]+([ \t]+\d+:[^\s:,;|]+)+[ \t]*(#[^\n]*)?\r?(\n|$)", start):
        return "libsvm"
    return "csv"
