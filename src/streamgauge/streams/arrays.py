"""Streams over rows in memory: NumPy arrays and DataFrames."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_frame, is_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream, StreamBase
from streamgauge.records import Attribute, Batch, Schema, Targets
from streamgauge.streams.base import split_rows
from streamgauge.streams.batching import slice_batch
from streamgauge.streams.column_rules import check_target, describe_numbers, describe_target
from streamgauge.streams.columns import Column, read_columns
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key, Selection
from streamgauge.streams.frames import AttributeValues, read_attributes, read_declared

__all__ = ["ArrayStream", "as_stream", "in_memory", "take"]

T = TypeVar("T", bound=np.generic)
Values = NDArray[np.float64]


class ArrayStream(StreamBase):
    """A stream over rows in memory.

    Strings, categories and booleans become codes of nominal attributes; labels become class codes. Categories keep
    their order, other values are sorted. NaN, None and the strings "" and "?" mean a missing value or an unknown label.
    Booleans are named "false" and "true", whole numbers without a decimal point. Arrays that already have the right
    type are not copied and must not be modified afterwards.

    In a DataFrame or a dictionary, columns are read as those of a `File`: text that differs in nearly every row is left
    out, and a single column of times that never decrease is the time of the rows. `notes` states both.

    Parameters
    ----------
    x
        Values: an array [n, d], a DataFrame (pandas, polars or pyarrow), or a dictionary of columns.
    y
        Labels, one per row: strings, categories, booleans or numbers. More than 50 different numbers are refused, since
        regression may be meant, unless a schema names the classes or `numeric` says that they are numbers.
    schema
        Schema of the rows; None to infer it from the values. With a schema, the columns of a DataFrame are looked up
        by name and hold the names of nominal values, while an array holds their codes. A label is the name of a class;
        a whole number is a class code unless a class is named by a whole number.
    weight
        Instance weights; None for 1 everywhere.
    time
        Arrival time of each row, in seconds since 1970 or as dates and times; it may not decrease. None if the rows
        have none, or to recognise it in a DataFrame.
    name
        Name of the stream.
    numeric
        ``"y"`` if the labels are numbers to be predicted, for regression; NaN is an unknown one.

    Examples
    --------
    >>> stream = ArrayStream([[0.5, 1.0], [0.2, 3.0], [0.1, 2.0]], ["up", "down", None])
    >>> stream.schema.classes, next(stream.batches(10)).y.tolist()
    (('down', 'up'), [1, 0, -1])
    >>> ArrayStream([[0.5], [0.2]], [1.5, 2.5], numeric="y").schema.target
    NumericTarget(name='y', origin=1.5)
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
        numeric: Key | Sequence[Key] = (),
    ) -> None:
        read = _read_values(x, schema, recognise_time=time is None)
        times = read.time if time is None else Column.from_values("time", time).to_times()
        labels = Column.from_values("y", y)
        if list_keys(numeric) not in ((), ("y",)):
            msg = f"numeric = {numeric!r}: of arrays only the labels can be declared, numeric='y'"
            raise StreamgaugeError(msg)
        self._set_columns(
            read,
            times,
            labels,
            weight=weight,
            schema=schema,
            name=name,
            declared=labels.is_nominal,
            is_number=bool(numeric),
        )

    @classmethod
    def from_frame(  # noqa: PLR0913
        cls,
        frame: object,
        target: Key,
        *,
        schema: Schema | None = None,
        weight: Key | None = None,
        time: Key | None = None,
        time_format: str | None = None,
        keep: Sequence[Key] | None = None,
        drop: Sequence[Key] = (),
        numeric: Sequence[Key] = (),
        nominal: Sequence[Key] = (),
        name: str | None = None,
    ) -> "ArrayStream":
        """Build a stream from a DataFrame, or a dictionary of columns, as `File` does from a file.

        Parameters
        ----------
        frame
            A DataFrame of pandas, polars or pyarrow, or a dictionary of columns.
        target
            The column of the class, or of a number that is named in `numeric`, too.
        schema
            Schema of the rows; None to infer it.
        weight, time, time_format, keep, drop, numeric, nominal
            As for `File`; columns are named, or counted from 0.
        name
            Name of the stream.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"day": ["mo", "tu"], "price": [1.5, 2.5], "move": ["up", "down"]})
        >>> ArrayStream.from_frame(frame, "move").schema.attributes[0]
        Attribute(name='day', values=('mo', 'tu'), missing=False)
        """
        options = {"keep": keep, "drop": drop, "numeric": numeric, "nominal": nominal}
        keys = {option: None if value is None else list_keys(value) for option, value in options.items()}
        columns = _read_table(frame)
        selection = Selection(target=target, weight=weight, time=time, time_format=time_format, **keys)  # type: ignore[arg-type]
        roles = dict(zip(columns, selection.resolve_roles(list(columns)), strict=True))
        special = {role: columns[column] for column, role in roles.items() if role not in ("attribute", "dropped")}
        contents = {name: (content, written) for name, content, written, _ in selection.survey(list(columns))}
        used = {column: columns[column] for column, role in roles.items() if role == "attribute"}
        time_name = special["time"].name if "time" in special else None
        read = read_attributes(used, contents, time=time_name) if schema is None else read_declared(used, schema)
        if not read.attributes:
            msg = "there is no attribute besides the class"
            raise StreamgaugeError("; ".join([msg, *read.notes]))
        times = special["time"].to_times(time_format) if "time" in special else read.time
        stream = cls.__new__(cls)
        y = special["class"]
        declared = y.name in {_name_column(key, columns) for key in keys["nominal"] or ()}
        declared |= y.is_nominal and y.find_times() is None
        is_number = y.name in {_name_column(key, columns) for key in keys["numeric"] or ()}
        stream._set_columns(
            read,
            times,
            y,
            weight=special.get("weight"),
            schema=schema,
            name=name,
            declared=declared,
            is_number=is_number,
        )
        return stream

    def _set_columns(
        self,
        read: AttributeValues,
        times: Values | None,
        y: Column,
        *,
        weight: object,
        schema: Schema | None,
        name: str | None,
        declared: bool,
        is_number: bool,
    ) -> None:
        """Set the rows from columns, after checks that need all of them."""
        labels, target_schema = _read_labels(y, read, schema, declared=declared, is_number=is_number)
        weights = None if weight is None else Column.from_values("weight", weight).to_numbers()
        for argument, column in ((y.name, labels), ("weight", weights), ("time", times)):
            if column is not None and len(column) != len(read.values):
                msg = f"{argument} has {len(column)} values, but x has {len(read.values)} rows"
                raise StreamgaugeError(msg)
        rows = Batch(start=0, x=read.values, y=labels, weight=weights, time=times)
        self._set_rows(target_schema, rows, name, read.notes)

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

    def _set_rows(self, schema: Schema, rows: Batch, name: str | None, notes: tuple[str, ...] = ()) -> None:
        rows = replace(rows, start=0)
        _check_rows(schema, rows)
        self._rows = Batch(
            start=0,
            x=_freeze(rows.x),
            y=_freeze(rows.y),
            weight=None if rows.weight is None else _freeze(rows.weight),
            time=None if rows.time is None else _freeze(rows.time),
        )
        self._schema, self.name, self._notes = schema, name, notes

    def __repr__(self) -> str:
        shape = f"{self.n_rows} rows, {self.schema.n_attributes} attributes, {describe_target(self.schema)}"
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
    def notes(self) -> tuple[str, ...]:
        """What was recognised or left out, a sentence each."""
        return self._notes

    @property
    def has_times(self) -> bool:
        """Whether rows carry times."""
        return self._rows.time is not None

    @property
    def x(self) -> Values:
        """The values of all rows, read-only."""
        return self._rows.x

    @property
    def y(self) -> Any:  # noqa: ANN401
        """The class codes, or the numbers, of all rows, read-only."""
        return self._rows.y

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the schema and of every value."""
        digest = sha256(repr(self.schema).encode())
        if self.schema.target is not None:
            digest.update(repr(self.schema.target).encode())
        for column in (self._rows.x, self._rows.y, self._rows.weight, self._rows.time):
            digest.update(b"none" if column is None else column.data)
        return f"sha256:{digest.hexdigest()[:16]}"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Return an iterator over the rows from `start` on, `size` at a time, without copying."""
        return (slice_batch(self._rows, first, first + n) for first, n in split_rows(self.n_rows, size, start))


def _read_labels(
    y: Column, read: AttributeValues, schema: Schema | None, *, declared: bool, is_number: bool
) -> tuple[Targets, Schema]:
    """Return the labels of rows, and the schema of the rows."""
    if is_number if schema is None else schema.target is not None:
        numbers = np.ascontiguousarray(y.parse_numbers(), dtype=np.float64)
        return numbers, schema or Schema(read.attributes, target=describe_numbers(y.name, numbers))
    if is_number:
        msg = f"numeric names the target {y.name!r}, but the schema has classes"
        raise StreamgaugeError(msg)
    labels, classes = y.to_codes(schema.classes if schema else None)
    if not classes:
        msg = "no row has a label: pass a schema to declare the classes"
        raise StreamgaugeError(msg)
    if schema is None:
        check_target(y.name, classes, declared=declared)
    return labels, schema or Schema(read.attributes, classes)


def _freeze(column: NDArray[T]) -> NDArray[T]:
    """Return a contiguous read-only view."""
    view = np.ascontiguousarray(column).view()
    view.setflags(write=False)
    return view


def list_keys(keys: Key | Sequence[Key]) -> tuple[Key, ...]:
    """Return an option that selects columns as a tuple, also if it is one column.

    Examples
    --------
    >>> list_keys("day"), list_keys(["day", 2])
    (('day',), ('day', 2))
    """
    return (keys,) if isinstance(keys, str | int) else tuple(keys)


def _name_column(key: Key, columns: Mapping[str, Column]) -> str:
    return key if isinstance(key, str) else list(columns)[key]


def _read_table(x: object) -> dict[str, Column]:
    """Return the columns of a DataFrame or of a dictionary."""
    if isinstance(x, dict):
        return {str(name): Column.from_values(str(name), values) for name, values in x.items()}
    return read_columns(x)


def _read_values(x: object, schema: Schema | None, *, recognise_time: bool) -> AttributeValues:
    """Return the values of rows as numbers and codes, and their attributes."""
    if is_frame(x) or isinstance(x, dict):
        columns = _read_table(x)
        if schema is not None:
            return read_declared(columns, schema)
        read = read_attributes(columns, time=None if recognise_time else "")
        if not read.attributes:
            raise StreamgaugeError("; ".join(["x has no attribute", *read.notes]))
        return read
    array = _as_matrix(x)
    if schema is not None and array.shape[1] != schema.n_attributes:
        msg = f"x has {array.shape[1]} columns, but the schema has {schema.n_attributes} attributes"
        raise StreamgaugeError(msg)
    names = [a.name for a in schema.attributes] if schema else [f"a{j + 1}" for j in range(array.shape[1])]
    if array.dtype.kind not in "iuf":
        columns = {name: Column.from_values(name, array[:, j]) for j, name in enumerate(names)}
        return read_attributes(columns) if schema is None else read_declared(columns, schema)
    values = np.ascontiguousarray(array, dtype=np.float64)
    missing = np.logical_or.reduce(np.isnan(values), axis=0)
    attributes = tuple(Attribute(name, None, bool(nan)) for name, nan in zip(names, missing, strict=True))
    return AttributeValues(values, attributes)


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


def as_stream(  # noqa: PLR0913
    thing: object,
    *,
    target: Key | None = None,
    weight: Key | None = None,
    time: Key | None = None,
    time_format: str | None = None,
    keep: Sequence[Key] | None = None,
    drop: Sequence[Key] = (),
    numeric: Sequence[Key] = (),
    nominal: Sequence[Key] = (),
) -> Stream:
    """Convert a DataFrame with a `target` column, or a pair ``(x, y)``, to a stream; a stream is returned unchanged.

    Parameters
    ----------
    thing
        A DataFrame of pandas, polars or pyarrow, a dictionary of columns, a pair (x, y), or a stream.
    target
        The column of the class; for a DataFrame alone.
    weight, time, time_format, keep, drop, numeric, nominal
        As for `File`, if `thing` has named columns.

    Examples
    --------
    >>> as_stream(([[1.0], [2.0]], ["a", "b"]))
    ArrayStream(arrays: 2 rows, 1 attributes, 2 classes)
    >>> stream = as_stream({"price": [1.5, 2.5], "day": ["2024-01-01", "2024-01-02"], "move": [0, 1]}, target="move")
    >>> stream.schema.attributes, stream.has_times
    ((Attribute(name='price', values=None, missing=False),), True)
    """
    options: dict[str, Any] = {
        "target": target,
        "weight": weight,
        "time": time,
        "time_format": time_format,
        "keep": keep,
        "drop": drop,
        "numeric": numeric,
        "nominal": nominal,
    }
    given = {
        option: value
        for option, value in options.items()
        if value is not None and not (isinstance(value, tuple) and not value)
    }
    if isinstance(thing, tuple) and len(thing) == 2:
        x, y = thing
        is_table = is_frame(x) or isinstance(x, dict)
        if not given or (given.keys() == {"numeric"} and not is_table):
            return ArrayStream(x, y, **given)
        if is_table:
            return ArrayStream.from_frame(*_join_target(x, y, given), **given)
    elif is_frame(thing) or isinstance(thing, dict):
        if target is None:
            msg = f"a DataFrame needs the name of its label column: target=..., one of {', '.join(_read_table(thing))}"
            raise StreamgaugeError(msg)
        return ArrayStream.from_frame(thing, **given)
    if given:
        raise _refuse_options(given, thing)
    if is_stream(thing):
        return thing
    msg = f"{type(thing).__name__!r} is not a stream; pass a stream, (x, y), or a DataFrame with target=..."
    msg += _suggest_collecting(thing)
    raise StreamgaugeError(msg)


def _join_target(x: object, y: object, given: dict[str, Any]) -> tuple[dict[str, Column], str]:
    """Return the columns of a table with that of its labels, and the name of that column."""
    if "target" in given:
        msg = f"target={given['target']!r} names a column of a DataFrame, but the labels are given as y"
        raise StreamgaugeError(msg)
    columns, name = _read_table(x), "y"
    while name in columns:
        name += "_"
    return columns | {name: Column.from_values(name, y)}, name


def _suggest_collecting(thing: object) -> str:
    return "; collect it first: frame.collect()" if type(thing).__name__ == "LazyFrame" else ""


def _refuse_options(given: dict[str, Any], thing: object) -> StreamgaugeError:
    option, value = next(iter(given.items()))
    text = f"{option}={value!r} selects columns of a DataFrame, but {type(thing).__name__!r} is not a DataFrame"
    text += _suggest_collecting(thing)
    if isinstance(thing, File):
        text = f"{option}={value!r} belongs to the file: File({str(thing.path)!r}, {option}={value!r})"
    return StreamgaugeError(text)


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
