"""Archives of NumPy arrays (``.npz``), read row by row without loading them."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Schema
from streamgauge.streams.files.column_roles import (
    Column,
    Selection,
    check_classes,
    check_distinct,
    in_order,
    schema_of,
)
from streamgauge.streams.files.row_blocks import Rows, rebatched
from streamgauge.streams.files.source import CHUNK, Source
from streamgauge.streams.files.text_files import about

__all__ = ["ArchiveReader", "open_archive"]

KNOWN: tuple[str, ...] = ("x", "y", "weight", "attributes")


@dataclass(frozen=True)
class _Member:
    """An array of an archive: where it is and what it holds."""

    source: Source
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    def parts(self, start: int, n: int) -> Iterator[NDArray[Any]]:
        """Give rows from `start` on, `n` at a time."""
        self.source.check_unchanged()
        row_bytes = prod(self.shape[1:]) * self.dtype.itemsize
        with self.source.translated(), _opened(self.source, self.name) as file:
            file.seek(self.offset + start * row_bytes)
            for row in range(start, self.shape[0], n):
                n_here = min(n, self.shape[0] - row)
                values = file.read(n_here * row_bytes)
                if len(values) < n_here * row_bytes:
                    msg = f"{self.name} ends in row {row + len(values) // max(1, row_bytes)} of {self.shape[0]}"
                    raise EOFError(msg)
                yield np.frombuffer(values, dtype=self.dtype).reshape(n_here, *self.shape[1:])


@contextmanager
def _opened(source: Source, name: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(source.path) as archive, archive.open(name) as file:
        yield file


def _member(source: Source, name: str) -> _Member:
    with source.translated(), _opened(source, name) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read(file)
        offset = file.tell()
    if is_fortran and len(shape) > 1:
        msg = f"{source.name}: {name} is stored column by column; save np.ascontiguousarray of it"
        raise StreamgaugeError(msg)
    return _Member(source, name, shape, dtype, offset)


class ArchiveReader:
    """Reads the rows of an archive from any row on."""

    def __init__(self, source: Source, members: dict[str, _Member], columns: list[Column]) -> None:
        self.schema: Schema = schema_of(columns)
        self.n_rows = members["y"].shape[0]
        self._source = source
        self._members = members
        self._kept = [i for i, column in enumerate(columns[:-1]) if column.role == "attribute"]

    def rows(self, size: int, start: int) -> Iterator[Rows]:
        """Give the rows from `start` on, `size` at a time."""
        return rebatched(self._parts(start), size)

    def _parts(self, start: int) -> Iterator[Rows]:
        x, y, weight = (self._members.get(name) for name in ("x", "y", "weight"))
        if x is None or y is None:
            return
        n = max(1, CHUNK // (8 * max(1, x.shape[1])))
        weights = iter(()) if weight is None else weight.parts(start, n)
        for i, (values, labels) in enumerate(zip(x.parts(start, n), y.parts(start, n), strict=True)):
            row = start + i * n
            yield self._values(values, row), self._codes(labels), self._weights(next(weights, None), row)

    def _values(self, values: NDArray[Any], row: int) -> NDArray[np.float64]:
        numbers = np.ascontiguousarray(values[:, self._kept], dtype=np.float64)
        exact = numbers == values[:, self._kept] if values.dtype.kind in "iu" else ~np.isinf(numbers)
        if not exact.all():
            at, column = np.argwhere(~exact)[0]
            msg = f"{self._source.name}, row {row + at} (counted from 0), column {self._kept[column] + 1} of x: "
            msg += f"{values[at, self._kept[column]]} is not a finite float64"
            raise StreamgaugeError(msg)
        return numbers

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.int32]:
        codes = {name: code for code, name in enumerate(self.schema.classes)}
        values, places = np.unique(labels, return_inverse=True)
        found = np.array([codes.get(_name(value), UNLABELLED) for value in values], dtype=np.int32)
        return found[places.reshape(-1)]

    def _weights(self, weights: NDArray[Any] | None, row: int) -> NDArray[np.float64] | None:
        if weights is None:
            return None
        bad = ~((weights >= 0) & np.isfinite(weights))
        if bad.any():
            at = int(np.argmax(bad))
            place = f"{self._source.name}, row {row + at} (counted from 0)"
            msg = f"{place}: the weight {weights[at]} is not a finite number of 0 or more"
            raise StreamgaugeError(msg)
        return weights.astype(np.float64)


def _name(value: object) -> str:
    """Give the name of a class: its text, or its digits; an empty text is no class."""
    return value.decode() if isinstance(value, bytes) else str(value)


def open_archive(source: Source, selection: Selection) -> ArchiveReader:
    """Open an archive with arrays ``x`` [n, d] and ``y`` [n], and ``weight`` [n] and ``attributes`` [d] if need be."""
    with source.translated(), zipfile.ZipFile(source.path) as archive:
        names = {name.removesuffix(".npy").lower(): name for name in archive.namelist()}
    for needed in ("x", "y"):
        if needed not in names:
            msg = f"{source.name} holds {', '.join(sorted(names))}; an array called {needed} is needed"
            raise StreamgaugeError(msg)
    members = {name: _member(source, names[name]) for name in KNOWN if name in names}
    _check_arrays(source, members)
    n_columns = members["x"].shape[1]
    attributes = [f"x{i}" for i in range(n_columns)]
    if "attributes" in members:
        attributes = [_name(name) for part in members["attributes"].parts(0, n_columns) for name in part]
    classes = {_name(value) for part in members["y"].parts(0, CHUNK) for value in np.unique(part)} - {""}
    if not classes:
        msg = f"{source.name} has no rows with a class"
        raise StreamgaugeError(msg)
    with about(source):
        check_distinct([*attributes, ""])
        columns = [Column(name, "numeric") for name in attributes]
        columns = selection.assign([*columns, Column("", "nominal", in_order(classes))])
        check_classes(columns)
        return ArchiveReader(source, members, columns)


def _check_arrays(source: Source, members: dict[str, _Member]) -> None:
    x, y = members["x"], members["y"]
    wanted = {"x": ("biuf", (*y.shape[:1], *x.shape[1:2])), "y": ("biuUS", x.shape[:1])}
    wanted |= {"weight": ("biuf", x.shape[:1]), "attributes": ("US", x.shape[1:2])}
    for name, member in members.items():
        kinds, shape = wanted[name]
        n_axes = 2 if name == "x" else 1
        if len(member.shape) != n_axes or member.shape != shape:
            rule = "x must be [n, d], y and weight [n], attributes [d]"
            msg = f"{source.name}: {name} has the shape {member.shape}; {rule}"
            raise StreamgaugeError(msg)
        if member.dtype.kind not in kinds:
            hint = "classes are whole numbers or texts" if name == "y" else "it cannot be read"
            msg = f"{source.name}: {name} holds {member.dtype}: {hint}"
            raise StreamgaugeError(msg)
