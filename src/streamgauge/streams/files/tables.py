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
from streamgauge.streams.column_rules import MAX_DECLARED_NAMES, find_decrease, name_number, refuse_decrease
from streamgauge.streams.columns import Column as TableColumn
from streamgauge.streams.columns import is_time, parse_times, set_missing
from streamgauge.streams.files.column_roles import Column, Kind, Selection, build_schema, check_distinct
from streamgauge.streams.files.record_batches import RecordBatches, open_record_batches
from streamgauge.streams.files.row_blocks import Rows, rebatch
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import prefix_errors

__all__ = ["NAMES_KEY", "TableReader", "open_table"]

NAMES_KEY = b"streamgauge.values"
"""Metadata key of a nominal column under which its values are stored, as JSON."""


class TableReader:
    """Reader of the rows of a table, from any row on."""

    def __init__(
        self, source: Source, table: RecordBatches, columns: Sequence[Column], notes: tuple[str, ...] = ()
    ) -> None:
        self.schema: Schema = build_schema(columns, notes)
        self.n_rows = table.n_rows
        self.notes = notes
        self.has_times = any(column.role == "time" for column in columns)
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
        y = np.full(part.num_rows, UNLABELLED, dtype=np.int32)
        weight, time = None, None
        attribute = 0
        for column, values in zip(self._used, part.columns, strict=True):
            numbers = self._as_numbers(column, values, row)
            if column.role == "class":
                y[:] = np.where(np.isnan(numbers), UNLABELLED, numbers)
            elif column.role == "weight":
                weight = numbers
            elif column.role == "time":
                time = numbers
            else:
                x[:, attribute] = numbers
                attribute += 1
        return x, y, weight, time

    def _as_numbers(self, column: Column, values: Any, row: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the numbers, codes or times of a column, NaN for missing values."""
        if column.time_format is not None:
            times, _, fault = _read_times(values, column.time_format or None)
            if fault is not None:
                raise self._error(column, f"row {row + fault[0]} (counted from 0): {fault[1]}")
            return times
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
    texts = values.cast(pa.string())
    return set_missing(texts)


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
        specs = {
            # Categories are names, as in a DataFrame: neither text nor times.
            name: ("names", None, MAX_DECLARED_NAMES)
            if content == "anything"
            and kinds[name] == "nominal"
            and pa.types.is_dictionary(table.schema.field(name).type)
            else (content, time_format, most)
            for name, content, time_format, most in selection.survey(names)
            if content != "nothing" and declared.get(name) is None
        }
        surveys = _survey(table, specs, {name: table.schema.field(name).type for name in specs})
        columns, notes = selection.assign(
            [
                Column(name, "nominal", declared[name])
                if declared.get(name)
                else surveys[name].build(name)
                if name in surveys
                else Column(name, kinds[name])
                for name in names
            ]
        )
        return TableReader(source, table, columns, notes)


def _infer_kind(name: str, arrow_type: Any, content: str) -> Kind:  # noqa: ANN401
    types = pa.types
    if content == "nothing":
        return "text"
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    is_text = types.is_string(arrow_type) or types.is_large_string(arrow_type)
    if is_text or (types.is_boolean(arrow_type) and content != "numbers"):
        return "nominal"
    if (types.is_timestamp(arrow_type) or types.is_date(arrow_type)) and content != "names":
        return "time"
    checks = (types.is_integer, types.is_boolean, types.is_floating, types.is_decimal, types.is_null)
    if not any(is_type(arrow_type) for is_type in (checks[:3] if content == "names" else checks)):
        required = "names must be text or numbers" if content == "names" else f"drop it with drop=({name!r},)"
        msg = f"column {name!r} holds {arrow_type}; {required}"
        raise StreamgaugeError(msg)
    return "nominal" if content == "names" else "numeric"


def _read_declared(field: Any) -> tuple[str, ...] | None:  # noqa: ANN401
    """Return the values that `streamgauge.streams.write` stored with a nominal column, in the order of their codes."""
    values = (field.metadata or {}).get(NAMES_KEY)
    return None if values is None else tuple(json.loads(values))


class _ColumnSurvey:
    """What a pass over the rows finds in a column of names or times."""

    def __init__(self, name: str, content: str, time_format: str | None, max_names: int, arrow_type: Any) -> None:  # noqa: ANN401
        self._name, self._content, self._time_format, self._max_names = name, content, time_format, max_names
        types = pa.types
        is_temporal = types.is_timestamp(arrow_type) or types.is_date(arrow_type)
        is_dated = content == "numbers" and time_format is not None and types.is_integer(arrow_type)
        self._is_text = is_dated or any(
            is_type(arrow_type) for is_type in (types.is_string, types.is_large_string, types.is_dictionary)
        )
        is_text = self._is_text or (types.is_boolean(arrow_type) and content != "numbers")
        self._is_float = types.is_floating(arrow_type)
        self._is_number = not (is_temporal or is_text or content in ("names", "times"))
        self._is_time: bool | None = True if is_temporal or content == "times" else False if self._is_number else None
        self._names: set[str] | None = None if self._is_time or self._is_number else set()
        self._n_present, self._n_missing, self._decreases = 0, 0, False
        self._kind: str | None = None
        self._last = -np.inf

    def update(self, values: Any, row: int) -> None:  # noqa: ANN401
        values = _as_text(values) if self._is_text else values
        n_missing = values.null_count
        if self._is_float:
            n_missing += pc.sum(pc.is_nan(values)).as_py() or 0
        self._n_missing += n_missing
        self._n_present += len(values) - n_missing
        if self._is_time is None and self._n_present and self._content in ("anything", "numbers"):
            first = _as_text(values).drop_null()[0].as_py()
            self._is_time = is_time(first, self._time_format)
        if self._is_time:
            self._add_times(values, row)
        if self._names is not None:
            self._names.update(pc.unique(_as_text(values)).drop_null().to_pylist())
            if len(self._names) > self._max_names:
                self._names = set(sorted(self._names)[: self._max_names]) if self._content == "names" else None

    def _add_times(self, values: Any, row: int) -> None:  # noqa: ANN401
        times, kind, fault = _read_times(values, self._time_format)
        is_declared = self._content in ("times", "numbers")
        if fault is None and kind is not None and self._kind not in (None, kind):
            fault = (0, "some times have a time zone and others have none: write all times alike")
        if fault is not None:
            if is_declared:
                msg = f"row {row + fault[0]} (counted from 0), column {self._name!r}: {fault[1]}"
                raise StreamgaugeError(msg)
            self._is_time = False
            return
        self._kind = kind or self._kind
        if self._content == "times" and np.isnan(times).any():
            index = int(np.argmax(np.isnan(times)))
            msg = f"row {row + index} (counted from 0), column {self._name!r}: the time is missing: fill it in, or "
            raise StreamgaugeError(msg + "remove the row")
        present = times[~np.isnan(times)]
        decrease = find_decrease(present, self._last)
        if decrease is not None and self._content == "times":
            before = present[decrease - 1] if decrease else self._last
            where = f"row {row + decrease} (counted from 0)"
            raise refuse_decrease(where, self._name, float(present[decrease]), float(before))
        self._decreases |= decrease is not None
        if len(present):
            self._last = float(present[-1])

    def build(self, name: str) -> Column:
        if self._is_time:
            return Column(
                name,
                "numeric" if self._content == "numbers" else "time",
                missing=self._n_missing > 0,
                time_format=self._time_format or "",
                decreases=self._decreases,
                n_present=self._n_present,
                n_missing=self._n_missing,
            )
        if self._is_number or self._content == "numbers" or (self._names is not None and not self._names):
            return Column(name, "numeric", missing=self._n_missing > 0)
        if self._names is None:
            return Column(name, "text", n_names=None, n_present=self._n_present, n_missing=self._n_missing)
        if len(self._names) >= MAX_DECLARED_NAMES:
            msg = f"column {name!r} has {MAX_DECLARED_NAMES:,} different names or more: drop it"
            raise StreamgaugeError(msg)
        declared = self._content == "names"
        return Column.from_names(name, sorted(self._names), self._n_present, self._n_missing, declared=declared)


def _survey(
    table: RecordBatches, specs: dict[str, tuple[str, str | None, int]], types: dict[str, Any]
) -> dict[str, _ColumnSurvey]:
    """Return what one pass over the rows finds in some columns."""
    surveys = {name: _ColumnSurvey(name, *spec, types[name]) for name, spec in specs.items()}
    if surveys:
        for row, part in table.read_parts(list(surveys), 0):
            for survey, values in zip(surveys.values(), part.columns, strict=True):
                survey.update(values, row)
    return surveys


def _read_times(
    values: Any,  # noqa: ANN401
    time_format: str | None,
) -> tuple[NDArray[np.float64], str | None, tuple[int, str] | None]:
    """Return times as `_native.parse_times` does, of a column of times, text or numbers."""
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        times = TableColumn("time", pa.chunked_array([values])).find_times()
        return (np.full(len(values), np.nan) if times is None else times), None, None
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    return parse_times((values.cast(pa.string()) if is_number else _as_text(values)).to_pylist(), time_format)
