"""Archives of NumPy arrays (``.npz``), read block by block without loading them."""

import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Schema
from streamgauge.streams.column_rules import find_decrease, refuse_decrease, sort_names
from streamgauge.streams.columns import Column as TableColumn
from streamgauge.streams.files.column_roles import (
    Column,
    Selection,
    build_schema,
    check_distinct,
)
from streamgauge.streams.files.numpy_arrays import StoredArray, read_array
from streamgauge.streams.files.row_blocks import Rows, rebatch
from streamgauge.streams.files.source import CHUNK_BYTES, Source
from streamgauge.streams.files.text_files import prefix_errors

__all__ = ["ArchiveReader", "open_archive"]

ARRAYS = ("x", "y", "weight", "time", "attributes")


def _read_member(source: Source, name: str) -> StoredArray:
    array = read_array(source, name)
    if array.by_column:
        stem = name.removesuffix(".npy")
        msg = f"{source.name}: {name} is stored column by column; save np.ascontiguousarray({stem})"
        raise StreamgaugeError(msg)
    return array


class ArchiveReader:
    """Reader of the rows of an archive, from any row on."""

    def __init__(
        self,
        source: Source,
        members: dict[str, StoredArray],
        columns: list[Column],
        time_format: str | None = None,
    ) -> None:
        self.schema: Schema = build_schema(columns)
        self.notes: tuple[str, ...] = ()
        self.has_times = "time" in members
        self._time_format = time_format
        self.n_rows = members["y"].shape[0]
        self._source = source
        self._members = members
        self._attributes = [i for i, column in enumerate(columns[:-1]) if column.role == "attribute"]

    def read_rows(self, size: int, start: int) -> Iterator[Rows]:
        """Yield the rows from `start` on, `size` at a time."""
        return rebatch(self._read_parts(start), size)

    def _read_parts(self, start: int) -> Iterator[Rows]:
        x, y, weight = self._members["x"], self._members["y"], self._members.get("weight")
        n = max(1, CHUNK_BYTES // (8 * max(1, x.shape[1])))
        weights = iter(()) if weight is None else weight.read_parts(start, n)
        time = self._members.get("time")
        times = iter(()) if time is None else time.read_parts(start, n)
        for i, (values, labels) in enumerate(zip(x.read_parts(start, n), y.read_parts(start, n), strict=True)):
            row = start + i * n
            yield (
                self._as_numbers(values, row),
                self._as_codes(labels),
                self._as_weights(next(weights, None), row),
                self._as_times(next(times, None), row),
            )

    def check_times(self) -> None:
        """Raise if a time is missing, is no time, or is before the one above it."""
        row, last = 0, -np.inf
        for part in self._members["time"].read_parts(0) if self.has_times else ():
            times = self._as_times(part, row)
            if times is not None and len(times):
                decrease = find_decrease(times, last)
                if decrease is not None:
                    where = f"{self._source.name}, row {row + decrease} (counted from 0)"
                    before = times[decrease - 1] if decrease else last
                    raise refuse_decrease(where, "time", float(times[decrease]), float(before))
                row, last = row + len(times), float(times[-1])

    def _as_times(self, values: NDArray[Any] | None, row: int) -> NDArray[np.float64] | None:
        if values is None:
            return None
        try:
            return TableColumn.from_values("time", values).to_times(self._time_format)
        except StreamgaugeError as error:
            msg = f"{self._source.name}, in the rows from {row} on: {error}"
            raise StreamgaugeError(msg) from None

    def _as_numbers(self, values: NDArray[Any], row: int) -> NDArray[np.float64]:
        numbers = np.ascontiguousarray(values[:, self._attributes], dtype=np.float64)
        exact = numbers == values[:, self._attributes] if values.dtype.kind in "iu" else ~np.isinf(numbers)
        if not exact.all():
            index, attribute = np.argwhere(~exact)[0]
            column = self._attributes[attribute]
            msg = f"{self._source.name}, row {row + index} (counted from 0), column {column + 1} of x: "
            msg += f"{values[index, column]} is not a finite float64"
            raise StreamgaugeError(msg)
        return numbers

    def _as_codes(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        code_by_name = {name: code for code, name in enumerate(self.schema.classes)}
        values, indexes = np.unique(labels, return_inverse=True)
        codes = np.array([code_by_name.get(_as_name(value), UNLABELLED) for value in values], dtype=np.int32)
        return codes[indexes.reshape(-1)]

    def _as_weights(self, weights: NDArray[Any] | None, row: int) -> NDArray[np.float64] | None:
        if weights is None:
            return None
        bad = ~((weights >= 0) & np.isfinite(weights))
        if bad.any():
            index = int(np.argmax(bad))
            msg = f"{self._source.name}, row {row + index} (counted from 0): "
            msg += f"the weight {weights[index]} is not a finite number of 0 or more"
            raise StreamgaugeError(msg)
        return weights.astype(np.float64)


def _as_name(value: object) -> str:
    """Return the name of a class: its text or its digits; an empty text means that the row is unlabelled."""
    return value.decode() if isinstance(value, bytes) else str(value)


def open_archive(source: Source, selection: Selection) -> ArchiveReader:
    """Open an archive of arrays ``x`` [n, d] and ``y`` [n], and optionally ``weight`` [n] and ``attributes`` [d]."""
    with source.translate_errors(), zipfile.ZipFile(source.path) as archive:
        listed = archive.namelist()
    names = {name.removesuffix(".npy").lower(): name for name in listed}
    if len(names) < len(listed):
        msg = f"{source.name} holds two arrays of one name; it holds {', '.join(sorted(listed))}"
        raise StreamgaugeError(msg)
    for required in ("x", "y"):
        if required not in names:
            msg = f"{source.name} has no array {required}; it holds {', '.join(sorted(names))}"
            raise StreamgaugeError(msg)
    members = {name: _read_member(source, names[name]) for name in ARRAYS if name in names}
    _check_arrays(source, members)
    n_columns = members["x"].shape[1]
    attributes = [f"x{i}" for i in range(n_columns)]
    with source.translate_errors():  # names that are not UTF-8
        if "attributes" in members:
            attributes = [_as_name(name) for part in members["attributes"].read_parts(0) for name in part]
        classes = {_as_name(value) for part in members["y"].read_parts(0) for value in np.unique(part)} - {""}
    if not classes:
        msg = f"{source.name} has no labelled rows"
        raise StreamgaugeError(msg)
    with prefix_errors(source):
        check_distinct(attributes)
        columns = [Column(name, "numeric") for name in attributes]
        columns, _ = selection.assign([*columns, Column("y", "nominal", sort_names(classes))])
        reader = ArchiveReader(source, members, columns, selection.time_format)
    reader.check_times()
    return reader


def _check_arrays(source: Source, members: dict[str, StoredArray]) -> None:
    x, y = members["x"], members["y"]
    expected = {"x": ("biuf", (*y.shape[:1], *x.shape[1:2])), "y": ("biuUS", x.shape[:1])}
    expected |= {"weight": ("biuf", x.shape[:1]), "time": ("iufMU", x.shape[:1]), "attributes": ("US", x.shape[1:2])}
    for name, member in members.items():
        kinds, shape = expected[name]
        n_axes = 2 if name == "x" else 1
        if len(member.shape) != n_axes or member.shape != shape:
            msg = f"{source.name}: {name} has the shape {member.shape}; "
            msg += "x must be [n, d], y, weight and time [n], attributes [d]"
            raise StreamgaugeError(msg)
        if member.dtype.kind not in kinds:
            required_by_name = {"y": "integers or strings", "time": "times, numbers or str", "attributes": "strings"}
            required_types = required_by_name.get(name, "numbers")
            msg = f"{source.name}: {name} holds {member.dtype}; it must hold {required_types}"
            raise StreamgaugeError(msg)
