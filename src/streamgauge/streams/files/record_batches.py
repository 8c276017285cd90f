"""Record batches of Parquet, Arrow and ``.npy`` files, validated before anything computes with them.

Arrow trusts the offsets, lengths and dictionary indexes that it finds in a file: computing with those of a damaged file
may end the process. Every record batch that leaves this module has passed Arrow's full validation. Files are read, not
mapped into memory: a mapped file that another process cuts off would end the process, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files.numpy_arrays import read_array
from streamgauge.streams.files.source import Source

__all__ = ["RecordBatches", "open_record_batches", "read_table"]

PARQUET_BATCH_ROWS = 1 << 14
"""Number of rows of a Parquet file that are decoded at a time."""


class RecordBatches(Protocol):
    """The record batches of a file."""

    schema: Any
    n_rows: int

    def read_parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Yield record batches from the one that holds row `start` on, each with the number of its first row."""
        ...


def open_record_batches(source: Source, kind: str) -> RecordBatches:
    """Open a "parquet", "arrow" (Arrow IPC file or stream) or "npy" file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.parquet"
    >>> pq.write_table(pa.table({"a": [1, 2]}), path)
    >>> batches = open_record_batches(Source(str(path)), "parquet")
    >>> batches.n_rows, [(row, part.to_pydict()) for row, part in batches.read_parts(["a"], 0)]
    (2, [(0, {'a': [1, 2]})])
    """
    with source.translate_errors():
        return OPENERS[kind](source)


def read_table(path: Path | str, columns: Sequence[str] | None = None) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Read columns of a Parquet file as a table; None for all columns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.parquet"
    >>> pq.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), path)
    >>> read_table(path, ["b"]).to_pydict()
    {'b': [3, 4]}
    """
    source = Source(str(path))
    batches = open_record_batches(source, "parquet")
    names = batches.schema.names if columns is None else columns
    schema = pa.schema([_find_field(source, batches.schema, name) for name in names])
    return pa.Table.from_batches([part for _, part in batches.read_parts(names, 0)], schema)


def _find_field(source: Source, schema: Any, name: str) -> Any:  # noqa: ANN401
    if schema.names.count(name) != 1:
        msg = f"{source.name} must have one column {name!r}; it has {', '.join(schema.names)}"
        raise StreamgaugeError(msg)
    return schema.field(name)


class _Validator:
    """Makes record batches safe to compute with.

    The values of a column are checked in the first pass over all rows. Later passes only check that the file has not
    changed since, after each record batch was read.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._checked: set[str] = set()

    def check(self, part: Any, schema: Any) -> Any:  # noqa: ANN401
        """Return a record batch that has been checked, or raise."""
        part.validate()
        unchecked = [name for name in schema.names if name not in self._checked]
        part.select(unchecked).validate(full=True)
        self._source.check_unchanged()
        if part.schema.types != schema.types:
            msg = "a record batch has other types than the file"
            raise ValueError(msg)
        return part

    def note_checked(self, columns: Iterable[str]) -> None:
        """Note that all rows of some columns have been checked."""
        self._checked |= set(columns)


def _check_length(row: int, n_rows: int) -> None:
    if row != n_rows:
        msg = f"it has {row} of {n_rows} rows"
        raise EOFError(msg)


class _Parquet:
    def __init__(self, source: Source) -> None:
        self._source, self._validator = source, _Validator(source)
        with self._open() as file:
            self.schema = file.schema_arrow
            self.n_rows: int = file.metadata.num_rows
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        if min(sizes, default=0) < 0 or sum(sizes) != self.n_rows:
            msg = f"its row groups have {sum(sizes)} rows, not {self.n_rows}"
            raise ValueError(msg)
        self._starts = np.cumsum([0, *sizes])

    def _open(self) -> Any:  # noqa: ANN401
        return pq.ParquetFile(self._source.path, page_checksum_verification=True)

    def read_parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Yield record batches from the row group that holds row `start` on."""
        self._source.check_unchanged()
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        groups = range(first, len(self._starts) - 1)
        row = int(self._starts[min(first, len(self._starts) - 1)])
        schema = pa.schema([self.schema.field(name) for name in columns])
        with self._source.translate_errors(), self._open() as file:
            options: dict[str, Any] = {"row_groups": groups, "columns": list(columns), "use_threads": False}
            # pyarrow 19 reads no empty range of row groups.
            for part in file.iter_batches(PARQUET_BATCH_ROWS, **options) if groups else ():
                yield row, self._validator.check(part, schema)
                row += part.num_rows
            _check_length(row, self.n_rows)
        if start == 0:
            self._validator.note_checked(columns)


class _Arrow:
    def __init__(self, source: Source) -> None:
        self._source, self._validator = source, _Validator(source)
        with self._open() as reader:
            self.schema = reader.schema
        # one column is enough to count the rows; an Arrow file then skips the others
        with self._open(self.schema.names[:1]) as reader:
            self.n_rows = sum(part.num_rows for part in _iterate_batches(reader))

    def _open(self, columns: Sequence[str] = ()) -> Any:  # noqa: ANN401
        """Open the file to read some columns, or all."""
        included = sorted(self.schema.names.index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=included, use_threads=False)
        file = pa.OSFile(str(self._source.path))
        try:
            return pa.ipc.open_file(file, options=options)
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file, options=options)

    def read_parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Yield record batches from the one that holds row `start` on."""
        self._source.check_unchanged()
        row = 0
        with self._source.translate_errors(), self._open(columns) as reader:
            for part in _iterate_batches(reader):
                if row + part.num_rows > start:
                    yield row, self._validator.check(part, reader.schema).select(list(columns))
                row += part.num_rows
            _check_length(row, self.n_rows)
        if start == 0:
            self._validator.note_checked(columns)


def _iterate_batches(reader: Any) -> Iterable[Any]:  # noqa: ANN401
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    batches: Iterable[Any] = reader
    return batches


class _Npy:
    """The columns of a 2-d array of numbers, x0, x1 and so on, or the fields of a structured array."""

    def __init__(self, source: Source) -> None:
        self._array = read_array(source)
        dtype, n_axes = self._array.dtype, len(self._array.shape)
        if dtype.names is None and (n_axes != 2 or dtype.kind not in "biuf"):
            msg = f"{source.name} holds an array {list(self._array.shape)} of {dtype}; a stream needs a 2-d array of "
            msg += "numbers, whose last column is the class unless target names another, or a 1-d structured array"
            raise StreamgaugeError(msg)
        fields = {} if dtype.names is None else {name: dtype[name] for name in dtype.names}
        bad = next((name for name, field in fields.items() if field.kind not in "biufUSM"), None)
        if bad is not None or (fields and n_axes != 1):
            msg = f"{source.name} holds a structured array {list(self._array.shape)} of {dtype}; it must be 1-d, with "
            msg += "numbers, strings or times in its fields"
            raise StreamgaugeError(msg)
        self.n_rows = self._array.shape[0]
        self._names = list(fields) if fields else [f"x{i}" for i in range(self._array.shape[1])]
        self.schema = self._to_batch(np.empty((0, *self._array.shape[1:]), dtype), self._names).schema

    def read_parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Yield record batches from row `start` on."""
        row = start
        for block in self._array.read_parts(start, max(1, min(PARQUET_BATCH_ROWS, (1 << 24) // self._array.row_bytes))):
            yield row, self._to_batch(block, columns)
            row += len(block)

    def _to_batch(self, block: NDArray[Any], columns: Sequence[str]) -> Any:  # noqa: ANN401
        values = [block[name] if block.dtype.names else block[:, self._names.index(name)] for name in columns]
        return pa.RecordBatch.from_arrays([_to_arrow(column) for column in values], list(columns))


def _to_arrow(values: NDArray[Any]) -> Any:  # noqa: ANN401
    """Return a column of NumPy as Arrow holds it, with null for NaN and "not a time"."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "M":
        return pa.array(values.astype("M8[us]"), from_pandas=True)
    if kind == "f":
        return pa.array(values.astype(np.float32 if size <= 4 else np.float64), from_pandas=True)
    values = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("="))
    return pa.array(values, pa.binary()).cast(pa.string()) if kind == "S" else pa.array(values)


OPENERS: dict[str, Callable[[Source], RecordBatches]] = {"parquet": _Parquet, "arrow": _Arrow, "npy": _Npy}
