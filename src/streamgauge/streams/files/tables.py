"""Table files: Parquet and Arrow IPC, read batch by batch."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Schema
from streamgauge.streams.column_rules import name_number
from streamgauge.streams.files.column_roles import (
    MAX_NAMES,
    Column,
    Kind,
    Selection,
    build_schema,
    check_classes,
    check_distinct,
    sort_names,
)
from streamgauge.streams.files.record_batches import RecordBatches, open_record_batches
from streamgauge.streams.files.row_blocks import Rows, rebatch
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import prefix_errors

__all__ = ["NAMES_KEY", "TableReader", "open_table"]

NAMES_KEY = b"streamgauge.values"
"""Metadata key of a nominal column under which its values are stored, as JSON."""


class TableReader:
    """Reader of the rows of a table, from any row on."""

    def __init__(self, source: Source, table: RecordBatches, columns: Sequence[Column]) -> None:
        self.schema: Schema = build_schema(columns)
        self.n_rows = table.n_rows
        self._source = source
        self._table = table
        self._used = [column for column in columns if column.role != "dropped"]

    def read_rows(self, size: int, start: int) -> Iterator[Rows]:
        """Yield the rows from `start` on, `size` at a time."""
        return rebatch(self._read_parts(start), size)

    def _read_parts(self, start: int) -> Iterator[Rows]:
        for row, part in self._table.read_parts([column.name for column in self._used], start):
            n_skipped = max(0, start - row)
            yield self._decode(part.slice(n_skipped), row + n_skipped)

    def _decode(self, part: Any, row: int) -> Rows:  # noqa: ANN401
        x = np.empty((part.num_rows, self.schema.n_attributes))
        y = np.empty(part.num_rows, dtype=np.int32)
        weight = None
        attribute = 0
        for column, values in zip(self._used, part.columns, strict=True):
            numbers = self._as_numbers(column, values, row)
            if column.role == "class":
                y[:] = np.where(np.isnan(numbers), UNLABELLED, numbers)
            elif column.role == "weight":
                weight = numbers
            else:
                x[:, attribute] = numbers
                attribute += 1
        return x, y, weight

    def _as_numbers(self, column: Column, values: Any, row: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the numbers or codes of a column, NaN for missing values."""
        try:
            if column.values is None:
                numbers = _to_numpy(values)
            else:
                numbers = _to_numpy(pc.index_in(_as_text(values), value_set=pa.array(column.values, pa.string())))
        except pa.ArrowInvalid as error:
            raise self._error(column, f"a value from row {row} on is not a float64: {error}") from None
        bad = np.isinf(numbers)
        if column.role == "weight":
            bad |= ~(numbers >= 0)
        if column.values is not None:
            bad |= np.isnan(numbers) & ~_is_null(values)
        if bad.any():
            index = int(np.argmax(bad))
            required = "a weight of 0 or more" if column.role == "weight" else "a finite number or a known name"
            raise self._error(column, f"row {row + index} (counted from 0) holds {values[index]}, not {required}")
        return numbers

    def _error(self, column: Column, problem: str) -> StreamgaugeError:
        return StreamgaugeError(f"{self._source.name}, column {column.name!r}: {problem}")


def _to_numpy(values: Any) -> NDArray[np.float64]:  # noqa: ANN401
    return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _is_null(values: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    return np.asarray(_as_text(values).is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def _as_text(values: Any) -> Any:  # noqa: ANN401
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        encoded = pa.array(values.cast(pa.float64()).to_numpy(zero_copy_only=False), from_pandas=True)
        encoded = encoded.dictionary_encode()
        names = pa.array([name_number(number) for number in encoded.dictionary.to_pylist()], pa.string())
        values = pa.DictionaryArray.from_arrays(encoded.indices, names).dictionary_decode()
    return values.cast(pa.string())


def open_table(source: Source, selection: Selection, kind: str) -> TableReader:
    """Open a "parquet", "arrow" (file or stream) or "npy" file; one pass over its text columns finds their names."""
    table = open_record_batches(source, kind)
    with source.translate_errors(), prefix_errors(source):
        names = list(table.schema.names)
        check_distinct(names)
        contents = selection.resolve_contents(names)
        kinds = {
            name: _infer_kind(name, arrow_type, content)
            for name, arrow_type, content in zip(names, table.schema.types, contents, strict=True)
        }
        declared = {name: _read_declared(table.schema.field(name)) for name in names if kinds[name] == "nominal"}
        surveyed = _survey_names(table, [name for name, values in declared.items() if values is None])
        columns = selection.assign(
            [
                Column(name, "nominal", declared[name])
                if declared.get(name)
                else _build_column(name, kinds[name], surveyed.get(name, set()))
                for name in names
            ]
        )
        check_classes(columns)
        return TableReader(source, table, columns)


def _infer_kind(name: str, arrow_type: Any, content: str) -> Kind:  # noqa: ANN401
    types = pa.types
    if content == "nothing":
        return "text"
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "nominal"
    is_whole = types.is_integer(arrow_type) or types.is_boolean(arrow_type)
    if content == "names" and not (is_whole or types.is_floating(arrow_type)):
        msg = f"column {name!r} holds {arrow_type}; names must be text or numbers"
        raise StreamgaugeError(msg)
    if content == "names":
        return "nominal"
    return "numeric" if is_whole or types.is_floating(arrow_type) or types.is_decimal(arrow_type) else "text"


def _read_declared(field: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return the values that `streamgauge.streams.write` stored with a nominal column, in the order of their codes."""
    values = (field.metadata or {}).get(NAMES_KEY)
    return None if values is None else tuple(json.loads(values))


def _build_column(name: str, kind: Kind, names: set[str] | None) -> Column:
    if kind != "nominal":
        return Column(name, kind)
    # None means too many names. A column of missing values only has no names: it is text, too.
    return Column(name, "nominal", sort_names(names)) if names else Column(name, "text")


def _survey_names(table: RecordBatches, columns: Sequence[str]) -> dict[str, set[str] | None]:
    """Return the distinct names in some columns; None for a column that has too many."""
    names_by_column: dict[str, set[str] | None] = {name: set() for name in columns}
    if not columns:
        return names_by_column
    for _, part in table.read_parts(columns, 0):
        for column, values in zip(columns, part.columns, strict=True):
            names = names_by_column[column]
            if names is not None:
                names.update(pc.unique(_as_text(values)).drop_null().to_pylist())
                names_by_column[column] = names if len(names) <= MAX_NAMES else None
    return names_by_column
