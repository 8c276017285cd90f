"""Streams over rows in memory: NumPy arrays and DataFrames."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_frame, is_stream
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.protocols import Stream, StreamBase
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.base import split_rows
from streamgauge.streams.batching import slice_batch
from streamgauge.streams.columns import Column, read_columns

__all__ = ["ArrayStream", "as_stream", "in_memory", "take"]

T = TypeVar("T", bound=np.generic)
Values = NDArray[np.float64]


class ArrayStream(StreamBase):
    """A stream over rows in memory.

    Strings, categories and booleans become codes of nominal attributes; labels become class codes. Categories keep
    their order, other values are sorted. NaN and None mean a missing value or an unknown label. Arrays that already
    have the right type are not copied and must not be modified afterwards.

    Parameters
    ----------
    x
        Values: an array [n, d], a DataFrame (pandas, polars or pyarrow), or a dictionary of columns.
    y
        Labels, one per row: strings, categories, booleans or whole numbers.
    schema
        Schema of the rows; None to infer it from the values. With a schema, the columns of a DataFrame are looked up
        by name and hold the names of nominal values, while an array holds their codes. A label is the name of a class;
        a whole number is a class code unless a class is named by a whole number.
    weight
        Instance weights; None for 1 everywhere.
    time
        Arrival time of each row, in seconds or as dates and times; None if the rows have none.
    name
        Name of the stream.

    Examples
    --------
    >>> stream = ArrayStream([[0.5, 1.0], [0.2, 3.0], [0.1, 2.0]], ["up", "down", None])
    >>> stream.schema.classes, next(stream.batches(10)).y.tolist()
    (('down', 'up'), [1, 0, -1])
    """

    checked = True
    in_memory = True

    def __init__(
        self,
        x: object,
        y: object,
        *,
        schema: Schema | None = None,
        weight: object = None,
        time: object = None,
        name: str | None = None,
    ) -> None:
        values, attributes = _read_values(x, schema)
        labels, classes = Column.from_values("y", y).to_codes(schema.classes if schema else None)
        if not classes:
            msg = "no row has a label: pass a schema to declare the classes"
            raise StreamgaugeError(msg)
        weights = None if weight is None else Column.from_values("weight", weight).to_numbers()
        times = None if time is None else Column.from_values("time", time).to_seconds()
        for argument, column in (("y", labels), ("weight", weights), ("time", times)):
            if column is not None and len(column) != len(values):
                msg = f"{argument} has {len(column)} values, but x has {len(values)} rows"
                raise StreamgaugeError(msg)
        rows = Batch(start=0, x=values, y=labels, weight=weights, time=times)
        self._set_rows(schema or Schema(attributes, classes), rows, name)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        target: str,
        *,
        schema: Schema | None = None,
        weight: str | None = None,
        time: str | None = None,
        name: str | None = None,
    ) -> "ArrayStream":
        """Build a stream from a DataFrame with a label column and optional weight and time columns.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"day": ["mo", "tu"], "price": [1.5, 2.5], "move": ["up", "down"]})
        >>> ArrayStream.from_frame(frame, "move").schema.attributes[0]
        Attribute(name='day', values=('mo', 'tu'), missing=False)
        """
        columns = read_columns(frame)
        special: dict[str | None, Column] = {}
        for column in (target, weight, time):
            if column is not None:
                _require_column(column, columns)
                special[column] = columns.pop(column)
        return cls(
            columns, special[target], schema=schema, weight=special.get(weight), time=special.get(time), name=name
        )

    @classmethod
    def from_batch(cls, batch: Batch, schema: Schema, *, name: str | None = None) -> "ArrayStream":
        """Build a stream from the rows of a batch, renumbered from 0.

        Examples
        --------
        >>> batch = Batch(70, np.zeros((2, 1)), np.array([1, 0], dtype=np.int32))
        >>> next(ArrayStream.from_batch(batch, Schema((Attribute("a"),), ("up", "down"))).batches(10)).start
        0
        """
        stream = cls.__new__(cls)
        stream._set_rows(schema, batch, name)
        return stream

    def _set_rows(self, schema: Schema, rows: Batch, name: str | None) -> None:
        rows = replace(rows, start=0)
        _check_rows(schema, rows)
        self._rows = Batch(
            start=0,
            x=_freeze(rows.x),
            y=_freeze(rows.y),
            weight=None if rows.weight is None else _freeze(rows.weight),
            time=None if rows.time is None else _freeze(rows.time),
        )
        self._schema, self.name = schema, name

    def __repr__(self) -> str:
        shape = f"{self.n_rows} rows, {self.schema.n_attributes} attributes, {self.schema.n_classes} classes"
        return f"ArrayStream({self.name or 'arrays'}: {shape})"

    @property
    def schema(self) -> Schema:
        """Schema of the rows."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @property
    def has_times(self) -> bool:
        """Whether rows carry times."""
        return self._rows.time is not None

    @property
    def x(self) -> Values:
        """The values of all rows, read-only."""
        return self._rows.x

    @property
    def y(self) -> NDArray[np.int32]:
        """The class codes of all rows, read-only."""
        return self._rows.y

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the schema and of every value."""
        digest = sha256(repr(self.schema).encode())
        for column in (self._rows.x, self._rows.y, self._rows.weight, self._rows.time):
            digest.update(b"none" if column is None else column.data)
        return f"sha256:{digest.hexdigest()[:16]}"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Return an iterator over the rows from `start` on, `size` at a time, without copying."""
        return (slice_batch(self._rows, first, first + n) for first, n in split_rows(self.n_rows, size, start))


def _freeze(column: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view."""
    view = np.ascontiguousarray(column).view()
    view.setflags(write=False)
    return view


def _require_column(name: str, columns: dict[str, Column]) -> None:
    if name not in columns:
        error = unknown_name("column", name, columns)
        raise error


def _read_values(x: object, schema: Schema | None) -> tuple[Values, tuple[Attribute, ...]]:
    """Return the values of rows as numbers and codes, and their attributes."""
    if is_frame(x):
        return _stack_columns(read_columns(x), schema)
    if isinstance(x, dict):
        columns = {str(name): Column.from_values(str(name), values) for name, values in x.items()}
        return _stack_columns(columns, schema)
    array = _as_matrix(x)
    if schema is not None and array.shape[1] != schema.n_attributes:
        msg = f"x has {array.shape[1]} columns, but the schema has {schema.n_attributes} attributes"
        raise StreamgaugeError(msg)
    names = [a.name for a in schema.attributes] if schema else [f"a{j + 1}" for j in range(array.shape[1])]
    if array.dtype.kind not in "iuf":
        return _stack_columns({name: Column.from_values(name, array[:, j]) for j, name in enumerate(names)}, schema)
    values = np.ascontiguousarray(array, dtype=np.float64)
    missing = np.logical_or.reduce(np.isnan(values), axis=0)
    return values, tuple(Attribute(name, None, bool(any_nan)) for name, any_nan in zip(names, missing, strict=True))


def _as_matrix(x: object) -> NDArray[Any]:
    try:
        array = np.asarray(x)
        # NumPy converts a mix of numbers and strings to strings; dtype object keeps the numbers.
        array = np.asarray(x, dtype=object) if array.dtype.kind in "US" and not isinstance(x, np.ndarray) else array
    except ValueError as error:
        msg = f"x is not a table: {error}"
        raise StreamgaugeError(msg) from None
    if array.ndim != 2:
        msg = f"x has shape {array.shape}; it needs one row per instance and one column per attribute"
        raise StreamgaugeError(msg)
    return array


def _stack_columns(columns: dict[str, Column], schema: Schema | None) -> tuple[Values, tuple[Attribute, ...]]:
    if schema is None:
        parsed = [_read_column(column, None) for column in columns.values()]
    else:
        for attribute in schema.attributes:
            _require_column(attribute.name, columns)
        parsed = [_read_column(columns[attribute.name], attribute) for attribute in schema.attributes]
    lengths = {attribute.name: len(values) for values, attribute in parsed}
    if len(set(lengths.values())) > 1:
        msg = f"the columns differ in length: {', '.join(f'{name} has {n}' for name, n in lengths.items())}"
        raise StreamgaugeError(msg)
    values = np.empty((max(lengths.values(), default=0), len(parsed)))
    for j, (column, _) in enumerate(parsed):
        values[:, j] = column
    return values, tuple(attribute for _, attribute in parsed)


def _read_column(column: Column, attribute: Attribute | None) -> tuple[Values, Attribute]:
    """Return the values of a column and its attribute: the given one, else the inferred one."""
    names = None
    if attribute.is_nominal if attribute else column.is_nominal:
        codes, names = column.to_codes(attribute.values if attribute else None)
        values = np.where(codes < 0, np.nan, codes)
    else:
        values = column.to_numbers()
    return values, attribute or Attribute(column.name, names, missing=bool(np.isnan(values).any()))


def _check_rows(schema: Schema, rows: Batch) -> None:
    """Raise an error that names row and column unless the schema allows all rows."""
    faults = (
        (np.isinf(rows.x), "is infinite"),
        (np.isnan(rows.x) & ~schema.missing, "is missing, which the schema does not allow"),
    )
    for faulty, fault in faults:
        if faulty.any():
            row, j = divmod(int(np.argmax(faulty)), schema.n_attributes)
            msg = f"row {row}, column {schema.attributes[j].name!r}: the value {fault}"
            raise StreamgaugeError(msg)
    if rows.time is not None and not np.isfinite(rows.time).all():
        msg = f"row {int(np.argmin(np.isfinite(rows.time)))}: the time is missing or infinite"
        raise StreamgaugeError(msg)
    schema.check(rows)


def as_stream(thing: object, *, target: str | None = None) -> Stream:
    """Convert a pair ``(x, y)``, or a DataFrame with a `target` column, to a stream; a stream is returned unchanged.

    Examples
    --------
    >>> as_stream(([[1.0], [2.0]], ["a", "b"]))
    ArrayStream(arrays: 2 rows, 1 attributes, 2 classes)
    """
    if target is not None:
        if is_stream(thing) or not (is_frame(thing) or isinstance(thing, dict)):
            msg = f"target={target!r} names a column of a DataFrame, but {type(thing).__name__!r} is not a DataFrame"
            raise StreamgaugeError(msg)
        return ArrayStream.from_frame(thing, target)
    if isinstance(thing, tuple) and len(thing) == 2:
        return ArrayStream(*thing)
    if is_stream(thing):
        return thing
    if is_frame(thing):
        msg = "a DataFrame needs the name of its label column: target=..."
        raise StreamgaugeError(msg)
    msg = f"{type(thing).__name__!r} is not a stream; pass a stream, (x, y), or a DataFrame with target=..."
    raise StreamgaugeError(msg)


def take(stream: Stream, n: int, start: int = 0) -> Batch:
    """Return `n` rows of a stream from row `start` on as one batch; raise if there are fewer.

    Examples
    --------
    >>> whole = ArrayStream([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> take(whole, 2, start=1).x.tolist()
    [[2.0], [3.0]]
    """
    require_at_least("n", n, 1)
    batch = next(stream.batches(n, start), None)
    n_read = 0 if batch is None else len(batch)
    if batch is None or n_read < n:
        msg = f"the stream has only {n_read} rows from row {start} on, not {n}"
        raise StreamgaugeError(msg)
    return batch


def in_memory(stream: Stream, n: int, start: int = 0) -> ArrayStream:
    """Load `n` rows of a stream into memory, from row `start` on, renumbered from 0.

    Examples
    --------
    >>> whole = ArrayStream([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> in_memory(whole, 2, start=1)
    ArrayStream(arrays: 2 rows, 1 attributes, 2 classes)
    """
    return ArrayStream.from_batch(take(stream, n, start), stream.schema)
