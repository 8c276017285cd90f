"""Files of tables: Parquet and Arrow IPC, batch by batch."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Schema
from streamgauge.streams.files.column_roles import (
    MOST_NAMES,
    Column,
    Kind,
    Selection,
    check_classes,
    check_distinct,
    in_order,
    schema_of,
)
from streamgauge.streams.files.row_blocks import Rows, rebatched
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import about

__all__ = ["NAMES_KEY", "TableReader", "open_arrow", "open_parquet"]

NAMES_KEY = b"streamgauge.values"
"""Under this key the metadata of a nominal column hold its values, as JSON."""

PART = 1 << 14
"""How many rows of a Parquet file are decoded at a time."""


class _Table(Protocol):
    """A file of record batches."""

    schema: Any
    n_rows: int

    def parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Give record batches from the one that holds row `start` on, each with the position of its first row."""
        ...


class _Parquet:
    def __init__(self, source: Source) -> None:
        self._source = source
        with source.translated():
            file = pq.ParquetFile(source.path)
        self.schema = file.schema_arrow
        self.n_rows: int = file.metadata.num_rows
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self._starts = np.cumsum([0, *sizes])

    def parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Give record batches from the row group that holds row `start` on."""
        self._source.check_unchanged()
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        groups = range(first, len(self._starts) - 1)
        row = int(self._starts[min(first, len(self._starts) - 1)])
        with self._source.translated(), pq.ParquetFile(self._source.path) as file:
            for part in file.iter_batches(PART, row_groups=groups, columns=list(columns), use_threads=False):
                yield row, part
                row += part.num_rows


class _Arrow:
    def __init__(self, source: Source) -> None:
        self._source = source
        with source.translated(), self._reader() as reader:
            self.schema = reader.schema
            self.n_rows = sum(part.num_rows for part in _batches(reader))

    def _reader(self) -> Any:  # noqa: ANN401
        mapped = pa.memory_map(str(self._source.path))
        try:
            return pa.ipc.open_file(mapped)
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(mapped)

    def parts(self, columns: Sequence[str], start: int) -> Iterator[tuple[int, Any]]:
        """Give record batches from the one that holds row `start` on."""
        self._source.check_unchanged()
        row = 0
        with self._source.translated(), self._reader() as reader:
            for part in _batches(reader):
                if row + part.num_rows > start:
                    yield row, part.select(list(columns))
                row += part.num_rows


def _batches(reader: Any) -> Iterable[Any]:  # noqa: ANN401
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    batches: Iterable[Any] = reader
    return batches


class TableReader:
    """Reads the rows of a table from any row on."""

    def __init__(self, source: Source, table: _Table, columns: Sequence[Column]) -> None:
        self.schema: Schema = schema_of(columns)
        self.n_rows = table.n_rows
        self._source = source
        self._table = table
        self._columns = columns
        self._used = [column for column in columns if column.role != "dropped"]

    def rows(self, size: int, start: int) -> Iterator[Rows]:
        """Give the rows from `start` on, `size` at a time."""
        return rebatched(self._parts(start), size)

    def _parts(self, start: int) -> Iterator[Rows]:
        for row, part in self._table.parts([column.name for column in self._used], start):
            skipped = max(0, start - row)
            yield self._decoded(part.slice(skipped), row + skipped)

    def _decoded(self, part: Any, row: int) -> Rows:  # noqa: ANN401
        x = np.empty((part.num_rows, self.schema.n_attributes))
        y = np.empty(part.num_rows, dtype=np.int32)
        weight = None
        slot = 0
        for column, values in zip(self._used, part.columns, strict=True):
            numbers = self._numbers(column, values, row)
            if column.role == "class":
                y[:] = np.where(np.isnan(numbers), UNLABELLED, numbers)
            elif column.role == "weight":
                weight = numbers
            else:
                x[:, slot] = numbers
                slot += 1
        return x, y, weight

    def _numbers(self, column: Column, values: Any, row: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Give the numbers or codes of a column, NaN where they are missing."""
        try:
            if column.values is None:
                numbers = _to_numpy(values.cast(pa.float64()) if not pa.types.is_boolean(values.type) else values)
            else:
                codes = pc.index_in(_names(values), value_set=pa.array(column.values, pa.string()))
                numbers = _to_numpy(codes)
        except pa.ArrowInvalid as error:
            raise self._fault(column, f"a value from row {row} on is no float64: {error}") from None
        bad = np.isinf(numbers)
        if column.role == "weight":
            bad |= ~(numbers >= 0)
        if column.values is not None:
            bad |= np.isnan(numbers) & ~_is_null(values)
        if bad.any():
            first = int(np.argmax(bad))
            what = "a weight of 0 or more" if column.role == "weight" else "a finite number or a known name"
            raise self._fault(column, f"row {row + first} (counted from 0) holds {values[first]}, not {what}")
        return numbers

    def _fault(self, column: Column, problem: str) -> StreamgaugeError:
        return StreamgaugeError(f"{self._source.name}, column {column.name!r}: {problem}")


def _to_numpy(values: Any) -> NDArray[np.float64]:  # noqa: ANN401
    filled = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(filled, dtype=np.float64)


def _is_null(values: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    return np.asarray(_names(values).is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def _names(values: Any) -> Any:  # noqa: ANN401
    """Give the values of a column as text."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(pa.string())


def open_parquet(source: Source, selection: Selection) -> TableReader:
    """Open a Parquet file; one pass over its columns of text finds their names."""
    return _opened(source, _Parquet(source), selection)


def open_arrow(source: Source, selection: Selection) -> TableReader:
    """Open an Arrow IPC file or stream; one pass over its columns of text finds their names."""
    return _opened(source, _Arrow(source), selection)


def _opened(source: Source, table: _Table, selection: Selection) -> TableReader:
    names = list(table.schema.names)
    with about(source):
        check_distinct(names)
        held = zip(names, table.schema.types, selection.expected(names), strict=True)
        kinds = {name: _kind(name, arrow_type, expected) for name, arrow_type, expected in held}
        declared = {name: _declared_names(table.schema.field(name)) for name in names if kinds[name] == "nominal"}
        found = _found_names(table, [name for name, values in declared.items() if values is None])
        columns = selection.assign(
            [
                Column(name, "nominal", declared[name])
                if declared.get(name)
                else _column(name, kinds[name], found.get(name, set()))
                for name in names
            ]
        )
        check_classes(columns)
        return TableReader(source, table, columns)


def _kind(name: str, arrow_type: Any, expected: str) -> Kind:  # noqa: ANN401
    types = pa.types
    if expected == "nothing":
        return "text"
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "nominal"
    whole = types.is_integer(arrow_type) or types.is_boolean(arrow_type)
    if expected == "names" and not whole:
        msg = f"column {name!r} holds {arrow_type}; names must be text or whole numbers"
        raise StreamgaugeError(msg)
    if expected == "names":
        return "nominal"
    return "numeric" if whole or types.is_floating(arrow_type) or types.is_decimal(arrow_type) else "text"


def _declared_names(field: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    """Give the nominal values that `streamgauge.streams.write` keeps beside a column, in the order of their codes."""
    kept = (field.metadata or {}).get(NAMES_KEY)
    return None if kept is None else tuple(json.loads(kept))


def _column(name: str, kind: Kind, names: set[str] | None) -> Column:
    if kind != "nominal":
        return Column(name, kind)
    # Too many names are text, and a column of nothing but missing ones cannot be told from it.
    return Column(name, "nominal", in_order(names)) if names else Column(name, "text")


def _found_names(table: _Table, columns: Sequence[str]) -> dict[str, set[str] | None]:
    """Find the names in some columns; None where there are too many."""
    found: dict[str, set[str] | None] = {name: set() for name in columns}
    if not columns:
        return found
    for _, part in table.parts(columns, 0):
        for name, values in zip(columns, part.columns, strict=True):
            names = found[name]
            if names is not None:
                names.update(pc.unique(_names(values)).drop_null().to_pylist())
                found[name] = names if len(names) <= MOST_NAMES else None
    return found
