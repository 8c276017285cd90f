"""Columns of NumPy, pandas, polars or pyarrow, converted to numbers or codes.

All of them are read through Arrow, so no optional library is imported here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._foreign import is_series
from streamgauge._optional import LazyModule
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.column_rules import find_decrease, name_number, refuse_decrease

__all__ = ["MISSING", "Column", "is_time", "parse_times", "read_columns", "set_missing"]

pa = LazyModule("pyarrow")
pc = LazyModule("pyarrow.compute")

_TIME_UNITS = {"ms": "ms", "us": "us", "ns": "ns", "ps": "ns", "fs": "ns", "as": "ns"}
MISSING = ("", "?")
"""Strings that stand for a missing value, as in files."""


@dataclass(frozen=True)
class Column:
    """A column of a table as an Arrow array.

    Parameters
    ----------
    name
        Name of the column.
    values
        Its values, a ``pyarrow.ChunkedArray``.
    in_order
        Whether the order of its categories, if it has any, is meaningful.

    Examples
    --------
    >>> codes, names = Column.from_values("size", ["small", "large", None]).to_codes()
    >>> codes.tolist(), names
    ([1, 0, -1], ('large', 'small'))
    """

    name: str
    values: Any
    in_order: bool = True

    @classmethod
    def from_values(cls, name: str, values: Any) -> "Column":  # noqa: ANN401
        """Build a column from any object that holds one value per row."""
        if isinstance(values, Column):
            return values
        if is_series(values):
            column = next(iter(read_columns(values.to_frame()).values()))
            return replace(column, name=name)
        if isinstance(values, np.ndarray) and values.dtype.kind == "M":
            values = values.astype(f"datetime64[{_TIME_UNITS.get(np.datetime_data(values.dtype)[0], 's')}]")
        try:
            return cls(name, pa.chunked_array([pa.array(values, from_pandas=True)]))
        except (pa.ArrowException, TypeError, ValueError) as error:
            msg = f"{name} is not a column of numbers, strings or booleans: {_format_error(error)}"
            raise StreamgaugeError(msg) from None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_nominal(self) -> bool:
        """Whether it holds strings, categories or booleans rather than numbers."""
        kind = self.values.type
        return bool(pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or self.is_text)

    @property
    def is_text(self) -> bool:
        """Whether it holds strings, but not as categories."""
        return _is_text(self.values.type)

    @property
    def n_missing(self) -> int:
        """The number of missing values."""
        if self.is_text:
            return int(self._as_discrete().null_count)
        is_float = pa.types.is_floating(self.values.type)
        return int(np.count_nonzero(np.isnan(self.to_numbers()))) if is_float else int(self.values.null_count)

    def to_numbers(self) -> NDArray[np.float64]:
        """Return the values as floats; NaN means missing."""
        kind = self.values.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if not (is_number or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            hint = f": convert it to seconds, or drop=({self.name!r},)" if pa.types.is_temporal(kind) else ""
            msg = f"column {self.name!r} has type {kind}, but numbers are needed{hint}"
            raise StreamgaugeError(msg)
        numbers: NDArray[np.float64] = self.values.cast(pa.float64(), safe=False).to_numpy()
        return numbers

    def parse_numbers(self, written: str | None = None) -> NDArray[np.float64]:
        """Return the values as floats, also those of strings: numbers, or times in seconds, perhaps of a format."""
        if pa.types.is_dictionary(self.values.type):
            return self._decode().parse_numbers(written)
        times = self.find_times(written)
        if times is not None:
            return times
        if not self.is_text:
            return self.to_numbers()
        texts = self._as_discrete().to_pylist()
        bad = next((i for i, text in enumerate(texts) if text is not None and not _native.is_number(text)), None)
        if bad is not None:
            msg = f"row {bad} of {self.name!r}: {texts[bad]!r} is neither a number nor a time"
            raise StreamgaugeError(msg)
        return np.array([np.nan if text is None else float(text) for text in texts])

    def find_times(self, written: str | None = None) -> NDArray[np.float64] | None:
        """Return the times of a column of dates and times, or of values in ISO 8601 or a format; None for another."""
        kind = self.values.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return self._count_seconds()
        if not self.is_text and (written is None or not pa.types.is_integer(kind)):
            return None
        texts = self._as_discrete().cast(pa.string())
        first = next((text for text in texts.drop_null()[:1].to_pylist()), None)
        if first is None or not is_time(first, written):
            return None
        times, _, fault = parse_times(texts.to_pylist(), written)
        return times if fault is None else None

    def to_times(self, time_format: str | None = None) -> NDArray[np.float64]:
        """Return times in seconds since 1970-01-01 UTC, one for every row, that never decrease.

        Parameters
        ----------
        time_format
            How strings and numbers are written: see `streamgauge.streams.File`.
        """
        kind = self.values.type
        if pa.types.is_dictionary(kind):
            return self._decode().to_times(time_format)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            times = self._count_seconds()
        elif self.is_text or (time_format is not None and "%" in time_format):
            times = self._parse_times(self._as_discrete().cast(pa.string()).to_pylist(), time_format)
        else:
            times = self._scale_times(time_format)
        missing = ~np.isfinite(times)
        if missing.any():
            where = f"row {int(np.argmax(missing))}: the time in {self.name!r}"
            msg = f"{where} is missing or infinite: fill it in, or remove the row"
            raise StreamgaugeError(msg)
        row = find_decrease(times)
        if row is not None:
            raise refuse_decrease(row, self.name, times[row], times[row - 1])
        return times

    def _decode(self) -> "Column":
        """Return categories as the values that they stand for."""
        return replace(self, values=self.values.cast(self.values.type.value_type))

    def _parse_times(self, texts: list[str | None], time_format: str | None) -> NDArray[np.float64]:
        times, _, fault = parse_times(texts, time_format)
        if fault is not None:
            msg = f"row {fault[0]} of {self.name!r}: {fault[1]}"
            raise StreamgaugeError(msg)
        return times

    def _scale_times(self, unit: str | None) -> NDArray[np.float64]:
        """Return the times of numbers: those of a unit since 1970, or of seconds if they may be seconds."""
        numbers = self.to_numbers()
        if pa.types.is_boolean(self.values.type):
            msg = f"column {self.name!r} holds true and false, not times: name another column with time"
            raise StreamgaugeError(msg)
        if pa.types.is_integer(self.values.type) and unit in _PER_SECOND and not (numbers >= 2.0**63).any():
            return _divide(self.values, _PER_SECOND[unit])
        # The first and the largest number show whether a unit other than seconds is likely.
        checked = {int(np.nanargmax(np.abs(numbers))), 0} if np.isfinite(numbers).any() else set()
        for row in sorted(checked):
            text = None if np.isnan(numbers[row]) else repr(float(numbers[row])).removesuffix(".0")
            _, _, fault = parse_times([text], unit)
            if fault is not None:
                msg = f"row {row} of {self.name!r}: {fault[1]}"
                raise StreamgaugeError(msg)
        return numbers / _PER_SECOND.get(unit or "s", 1)

    def _count_seconds(self) -> NDArray[np.float64]:
        kind = self.values.type
        if pa.types.is_date(kind):
            values, unit = self.values.cast(pa.timestamp("s")), "s"
        else:
            values, unit = self.values, kind.unit
        return _divide(values.cast(pa.int64()), _PER_SECOND[unit])

    def to_codes(self, names: Sequence[str] | None = None) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return a code per row, -1 for a missing value, and the names of the codes.

        Without `names`, categories keep their order and other values are sorted. With `names`, each value is looked up
        among them; a whole number is then a code unless one of the names is a whole number.
        """
        positions, values = self._encode()
        texts = [_name(value) for value in values]
        if names is None:
            return positions, tuple(texts)
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values) and not any(
            _is_whole(name) for name in names
        ):
            texts = [names[value] if 0 <= value < len(names) else str(value) for value in values]
        code_of = {name: code for code, name in enumerate(names)}
        if values and all(isinstance(value, bool) for value in values):
            code_of = {name.lower(): code for name, code in code_of.items()} | code_of
        codes = np.array([*(code_of.get(text, -2) for text in texts), -1], dtype=np.int32)[positions]
        if (codes == -2).any():
            row = int(np.argmax(codes == -2))
            msg = f"row {row} of {self.name!r}: {texts[positions[row]]!r} is not one of {', '.join(names)}"
            raise StreamgaugeError(msg)
        return codes, tuple(names)

    @property
    def example(self) -> str:
        """The first value that is not missing, as text."""
        return next(map(str, self._as_discrete().drop_null()[:1].to_pylist()), "")

    def count_names(self) -> int:
        """Return the number of distinct values that are not missing."""
        return len(self._as_discrete().drop_null().unique())

    def _encode(self) -> tuple[NDArray[np.int32], list[Any]]:
        """Return per row the index of its value in the list of distinct values, -1 if missing, and that list."""
        values, in_order = self._as_discrete(), self.in_order
        if pa.types.is_null(values.type):
            return np.full(len(values), -1, dtype=np.int32), []
        if not pa.types.is_dictionary(values.type):
            values, in_order = values.dictionary_encode(), False
        chunks = values.unify_dictionaries().chunks
        distinct = chunks[0].dictionary.to_pylist() if chunks else []
        positions = np.concatenate(
            [np.empty(0), *(chunk.indices.cast(pa.int64()).fill_null(-1).to_numpy() for chunk in chunks)]
        )
        if not in_order:
            order = _sort(distinct)
            ranks = np.append(np.argsort(order), -1)
            return ranks[positions.astype(np.int64)].astype(np.int32), [distinct[i] for i in order]
        return positions.astype(np.int32), distinct

    def _as_discrete(self) -> Any:  # noqa: ANN401
        """Return distinguishable values: integers for whole floats, strings without those that mean missing."""
        kind = self.values.type
        if _is_text(kind):
            texts = self.values.cast(pa.large_string())
            return set_missing(texts)
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = self.to_numbers()
            present = ~np.isnan(numbers)
            if np.isinf(numbers).any():
                row = int(np.argmax(np.isinf(numbers)))
                msg = f"row {row} of {self.name!r}: {numbers[row]} is not a finite number, a string or a boolean"
                raise StreamgaugeError(msg)
            fractional = (present & (numbers != np.round(numbers))).any()
            known = np.where(present, numbers, 0.0)
            return pa.chunked_array([pa.array(known if fractional else known.astype(np.int64), mask=~present)])
        checks = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_dictionary, pa.types.is_null)
        if any(is_kind(kind) for is_kind in checks):
            return self.values
        msg = f"column {self.name!r} has type {kind}; it needs strings, categories or numbers"
        raise StreamgaugeError(msg)


_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def _divide(values: Any, per_second: int) -> NDArray[np.float64]:  # noqa: ANN401
    """Return whole numbers of a unit in seconds, as the parser of strings adds whole seconds and their fraction.

    Both have the sign of the number, so that no digit of a fraction before 1970 is lost.
    """
    counts = values.cast(pa.int64())
    missing = counts.is_null().to_numpy()
    numbers = counts.fill_null(0).to_numpy()
    rest = np.fmod(numbers, per_second)
    return np.where(missing, np.nan, (numbers - rest) // per_second + rest / per_second)


def set_missing(texts: Any) -> Any:  # noqa: ANN401
    """Return strings of Arrow without those that mean missing.

    `if_else` of pyarrow 19 and older damages the strings of a slice.

    Examples
    --------
    >>> set_missing(pa.array(["mo", "?", "tu", "", "we"]).slice(1)).to_pylist()
    [None, 'tu', None, 'we']
    """
    means_missing = pc.is_in(texts, value_set=pa.array(MISSING, texts.type))
    if isinstance(means_missing, pa.ChunkedArray):
        means_missing = means_missing.combine_chunks()
    return pc.replace_with_mask(texts, means_missing, pa.scalar(None, texts.type))


def parse_times(
    texts: Sequence[str | None], time_format: str | None
) -> tuple[NDArray[np.float64], str | None, tuple[int, str] | None]:
    """Return the seconds of texts, how they are written, and the first fault: its position, and what is wrong.

    Examples
    --------
    >>> seconds, kind, fault = parse_times(["2024-01-31", None], None)
    >>> seconds.tolist(), kind, fault
    ([1706659200.0, nan], 'local', None)
    """
    try:
        return _native.parse_times(list(texts), time_format)
    except ValueError as error:  # of the format
        raise StreamgaugeError(str(error)) from None


def is_time(text: str, written: str | None = None) -> bool:
    """Return whether a text is a time in ISO 8601, or in a format.

    Examples
    --------
    >>> is_time("2024-01-31"), is_time("31/01/2024"), is_time("31/01/2024", "%d/%m/%Y")
    (True, False, True)
    """
    return _native.is_time(text) if written is None else parse_times([text], written)[2] is None


def _name(value: object) -> str:
    """Return the name of a value, as a file would spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return name_number(value) if isinstance(value, float) else str(value)


def _sort(values: Sequence[Any]) -> list[int]:
    """Return the order of distinct values: strings that are all numbers by their value."""
    if values and isinstance(values[0], str) and all(map(_native.is_number, values)):
        return sorted(range(len(values)), key=lambda i: (float(values[i]), values[i]))
    return sorted(range(len(values)), key=lambda i: values[i])


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_whole(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _format_error(error: Exception) -> str:
    return str(error).splitlines()[0]


def read_columns(frame: object) -> dict[str, Column]:
    """Return the columns of a table by name; the index of a pandas DataFrame is one of them if it holds times.

    Examples
    --------
    >>> list(read_columns(pa.table({"a": [1], "b": ["x"]})))
    ['a', 'b']
    """
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        remedy = "; rename one of them" if "Duplicate column names" in str(error) else ""
        msg = f"cannot read the DataFrame: {_format_error(error)}{remedy}"
        raise StreamgaugeError(msg) from None
    repeated = [name for name in table.column_names if table.column_names.count(name) > 1]
    if repeated:
        msg = f"two columns of the DataFrame have the same name: {repeated[0]!r}; rename one of them"
        raise StreamgaugeError(msg)
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    columns = {}
    for i, field in enumerate(table.schema):
        if field.name not in index:
            columns[field.name] = Column(field.name, table.column(i), not _is_unordered(field))
        elif pa.types.is_timestamp(field.type):
            name = "index" if field.name.startswith("__index_level_") else field.name
            columns.setdefault(name, Column(name, table.column(i)))
    return columns


def _is_unordered(field: Any) -> bool:  # noqa: ANN401
    # The categories of polars' Categorical are in the order in which the process first saw them.
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
