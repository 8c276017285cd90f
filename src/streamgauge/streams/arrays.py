"""Streams of rows in memory: NumPy arrays and DataFrames."""

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.protocols import Stream, is_stream
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.columns import Column, columns_of, is_frame
from streamgauge.streams.spans import spans

__all__ = ["ArrayStream", "as_stream", "in_memory", "take"]

T = TypeVar("T", bound=np.generic)
Values = NDArray[np.float64]


class ArrayStream:
    """Rows in memory.

    Texts, categories and truth values become the codes of nominal attributes, and labels those of classes: categories
    in their order, other values sorted. NaN and None are missing values, or labels that are not known. The arrays are
    not copied where they already have the right type, so they must not change afterwards.

    Parameters
    ----------
    x
        The values: an array [n, d], a DataFrame of pandas, polars or pyarrow, or a dictionary of columns.
    y
        The labels: a value per row, of any type but numbers that are not whole.
    schema
        What the rows look like; None to see it from the values. With it, the columns of a DataFrame are found by
        name and hold the names of nominal values, while an array holds their codes. A label is the name of a class;
        a whole number is its code where no class is named by a whole number.
    weight
        Instance weights; None means 1 for all.
    time
        When each row arrived: seconds, or dates and times; None where rows carry no time.
    name
        What to call the stream.

    Examples
    --------
    >>> stream = ArrayStream([[0.5, 1.0], [0.2, 3.0], [0.1, 2.0]], ["up", "down", None])
    >>> stream.schema.classes, next(stream.batches(10)).y.tolist()
    (('down', 'up'), [1, 0, -1])
    """

    checked: ClassVar[bool] = True
    in_memory: ClassVar[bool] = True

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
        values, attributes = _values_of(x, schema)
        labels, classes = Column.of("y", y).codes(schema.classes if schema else None)
        if not classes:
            msg = "no row has a label, and no schema says which classes there are"
            raise StreamgaugeError(msg)
        weights = None if weight is None else Column.of("weight", weight).numbers()
        times = None if time is None else Column.of("time", time).seconds()
        for what, column in (("y", labels), ("weight", weights), ("time", times)):
            if column is not None and len(column) != len(values):
                msg = f"{what} has {len(column)} values where x has {len(values)} rows"
                raise StreamgaugeError(msg)
        self._keep(schema or Schema(attributes, classes), Batch(0, values, labels, weights, times), name)

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
        """Make a stream of a DataFrame that holds the labels, and perhaps weights and times, in named columns.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"day": ["mo", "tu"], "price": [1.5, 2.5], "move": ["up", "down"]})
        >>> ArrayStream.from_frame(frame, "move").schema.attributes[0]
        Attribute(name='day', values=('mo', 'tu'), missing=False)
        """
        columns = columns_of(frame)
        taken = {what: columns.pop(_known(what, columns)) for what in (target, weight, time) if what is not None}
        weights, times = (taken[what] if what is not None else None for what in (weight, time))
        return cls(columns, taken[target], schema=schema, weight=weights, time=times, name=name)

    @classmethod
    def from_batch(cls, batch: Batch, schema: Schema, *, name: str | None = None) -> "ArrayStream":
        """Make a stream of the rows of a batch, counted from 0.

        Examples
        --------
        >>> batch = Batch(70, np.zeros((2, 1)), np.array([1, 0], dtype=np.int32))
        >>> next(ArrayStream.from_batch(batch, Schema((Attribute("a"),), ("up", "down"))).batches(10)).start
        0
        """
        stream = cls.__new__(cls)
        stream._keep(schema, Batch(0, batch.x, batch.y, batch.weight, batch.time), name)
        return stream

    def _keep(self, schema: Schema, rows: Batch, name: str | None) -> None:
        _check(schema, rows)
        weight = None if rows.weight is None else _read_only(rows.weight)
        time = None if rows.time is None else _read_only(rows.time)
        self._rows = Batch(0, _read_only(rows.x), _read_only(rows.y), weight, time)
        self._schema, self.name = schema, name

    def __repr__(self) -> str:
        shape = f"{self.n_rows} rows, {self.schema.n_attributes} attributes, {self.schema.n_classes} classes"
        return f"ArrayStream({self.name or 'arrays'}: {shape})"

    @property
    def schema(self) -> Schema:
        """What the rows look like."""
        return self._schema

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self._rows)

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
        """A hash of the schema and of every value."""
        digest = sha256(repr(self.schema).encode())
        for column in (self._rows.x, self._rows.y, self._rows.weight, self._rows.time):
            digest.update(b"none" if column is None else column.data)
        return f"sha256:{digest.hexdigest()[:16]}"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Give the rows from `start` on, `size` at a time, without copying them."""
        return (self._part(first, first + n) for first, n in spans(self.n_rows, size, start))

    def _part(self, start: int, stop: int) -> Batch:
        rows, part = self._rows, slice(start, stop)
        weight = None if rows.weight is None else rows.weight[part]
        time = None if rows.time is None else rows.time[part]
        return Batch(start, rows.x[part], rows.y[part], weight, time)


def _read_only(column: NDArray[T]) -> NDArray[T]:
    view = np.ascontiguousarray(column).view()
    view.setflags(write=False)
    return view


def _known(name: str, columns: dict[str, Column]) -> str:
    if name not in columns:
        error = unknown_name("column", name, columns)
        raise error
    return name


def _values_of(x: object, schema: Schema | None) -> tuple[Values, tuple[Attribute, ...]]:
    """Give the values of rows as numbers and codes, and what their attributes are."""
    if is_frame(x):
        return _values_of_columns(columns_of(x), schema)
    if isinstance(x, dict):
        return _values_of_columns({str(name): Column.of(str(name), values) for name, values in x.items()}, schema)
    array = _array_of(x)
    if schema is not None and array.shape[1] != schema.n_attributes:
        msg = f"rows have {array.shape[1]} values where the schema has {schema.n_attributes} attributes"
        raise StreamgaugeError(msg)
    names = [a.name for a in schema.attributes] if schema else [f"a{j + 1}" for j in range(array.shape[1])]
    if array.dtype.kind not in "iuf":
        return _values_of_columns({name: Column.of(name, array[:, j]) for j, name in enumerate(names)}, schema)
    values = np.ascontiguousarray(array, dtype=np.float64)
    missing = np.logical_or.reduce(np.isnan(values), axis=0)
    return values, tuple(Attribute(name, None, bool(lacks)) for name, lacks in zip(names, missing, strict=True))


def _array_of(x: object) -> NDArray[Any]:
    try:
        array = np.asarray(x)
        # NumPy turns numbers beside texts into texts; as objects they stay what they are.
        array = np.asarray(x, dtype=object) if array.dtype.kind in "US" and not isinstance(x, np.ndarray) else array
    except ValueError as error:
        msg = f"x is not a table: {error}"
        raise StreamgaugeError(msg) from None
    if array.ndim != 2:
        msg = f"x has shape {array.shape}; it needs one row per instance and one column per attribute"
        raise StreamgaugeError(msg)
    return array


def _values_of_columns(columns: dict[str, Column], schema: Schema | None) -> tuple[Values, tuple[Attribute, ...]]:
    if schema is None:
        read = [_read(column, None) for column in columns.values()]
    else:
        read = [_read(columns[_known(a.name, columns)], a) for a in schema.attributes]
    lengths = {attribute.name: len(values) for values, attribute in read}
    if len(set(lengths.values())) > 1:
        msg = f"the columns differ in length: {', '.join(f'{name} has {n}' for name, n in lengths.items())}"
        raise StreamgaugeError(msg)
    values = np.empty((max(lengths.values(), default=0), len(read)))
    for j, (column, _) in enumerate(read):
        values[:, j] = column
    return values, tuple(attribute for _, attribute in read)


def _read(column: Column, attribute: Attribute | None) -> tuple[Values, Attribute]:
    """Give the values of a column, and what it is: as told, or else as seen."""
    names = None
    if attribute.is_nominal if attribute else column.is_nominal:
        codes, names = column.codes(attribute.values if attribute else None)
        values = np.where(codes < 0, np.nan, codes)
    else:
        values = column.numbers()
    return values, attribute or Attribute(column.name, names, missing=bool(np.isnan(values).any()))


def _check(schema: Schema, rows: Batch) -> None:
    """Raise unless the rows are what the schema allows; the text names row and column."""
    faults = (
        (np.isinf(rows.x), "is infinite"),
        (np.isnan(rows.x) & ~schema.missing, "is missing, which the schema does not allow"),
    )
    for at_fault, what in faults:
        if at_fault.any():
            row, j = divmod(int(np.argmax(at_fault)), schema.n_attributes)
            msg = f"row {row}, column {schema.attributes[j].name!r}: the value {what}"
            raise StreamgaugeError(msg)
    if rows.time is not None and not np.isfinite(rows.time).all():
        msg = f"row {int(np.argmin(np.isfinite(rows.time)))}: the time is missing or infinite"
        raise StreamgaugeError(msg)
    schema.check(rows)


def as_stream(thing: object, *, target: str | None = None) -> Stream:
    """Make a stream of a stream, of a pair ``(x, y)``, or of a DataFrame and the name of its `target` column.

    Examples
    --------
    >>> as_stream(([[1.0], [2.0]], ["a", "b"]))
    ArrayStream(arrays: 2 rows, 1 attributes, 2 classes)
    """
    if target is not None:
        if is_stream(thing) or not (is_frame(thing) or isinstance(thing, dict)):
            msg = f"target={target!r} names a column of a DataFrame; {type(thing).__name__!r} has no such columns"
            raise StreamgaugeError(msg)
        return ArrayStream.from_frame(thing, target)
    if isinstance(thing, tuple) and len(thing) == 2:
        return ArrayStream(*thing)
    if is_stream(thing):
        return thing
    if is_frame(thing):
        msg = "a DataFrame needs the name of the column that holds the labels: target=..."
        raise StreamgaugeError(msg)
    msg = f"{type(thing).__name__!r} is no stream; give a stream, (x, y), or a DataFrame with target=..."
    raise StreamgaugeError(msg)


def take(stream: Stream, n: int, start: int = 0) -> Batch:
    """Give `n` rows of a stream from row `start` on as one batch; raise where there are fewer.

    Examples
    --------
    >>> whole = ArrayStream([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> take(whole, 2, start=1).x.tolist()
    [[2.0], [3.0]]
    """
    require_at_least("n", n, 1)
    batch = next(stream.batches(n, start), None)
    found = 0 if batch is None else len(batch)
    if batch is None or found < n:
        msg = f"the stream has only {found} rows from row {start} on, not {n}"
        raise StreamgaugeError(msg)
    return batch


def in_memory(stream: Stream, n: int, start: int = 0) -> ArrayStream:
    """Bring `n` rows of a stream into memory, from row `start` on; they are counted from 0 again.

    Examples
    --------
    >>> whole = ArrayStream([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    >>> in_memory(whole, 2, start=1)
    ArrayStream(arrays: 2 rows, 1 attributes, 2 classes)
    """
    return ArrayStream.from_batch(take(stream, n, start), stream.schema)
