"""Columns of NumPy, pandas, polars or pyarrow, converted to numbers or codes.

All of them are read through Arrow, so no optional library is imported here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_series
from streamgauge._optional import LazyModule
from streamgauge.errors import StreamgaugeError

__all__ = ["Column", "read_columns"]

pa = LazyModule("pyarrow")


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
        return bool(pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or _is_text(kind))

    def to_numbers(self) -> NDArray[np.float64]:
        """Return the values as floats; NaN means missing."""
        kind = self.values.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if not (is_number or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            is_time = pa.types.is_temporal(kind)
            hint = ": convert it to seconds or drop the column" if is_time else ""
            msg = f"column {self.name!r} has type {kind}, but numbers are needed{hint}"
            raise StreamgaugeError(msg)
        numbers: NDArray[np.float64] = self.values.cast(pa.float64(), safe=False).to_numpy()
        return numbers

    def to_seconds(self) -> NDArray[np.float64]:
        """Return times in seconds: numbers unchanged, dates and times since 1970."""
        kind = self.values.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            microseconds = self.values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
            return Column(self.name, microseconds).to_numbers() / 1e6
        return self.to_numbers()

    def to_codes(self, names: Sequence[str] | None = None) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Return a code per row, -1 for a missing value, and the names of the codes.

        Without `names`, categories keep their order and other values are sorted. With `names`, each value is looked up
        among them; a whole number is then a code unless one of the names is a whole number.
        """
        positions, values = self._encode()
        texts = [str(value) for value in values]
        if names is None:
            return positions, tuple(texts)
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values) and not any(
            _is_whole(name) for name in names
        ):
            texts = [names[value] if 0 <= value < len(names) else str(value) for value in values]
        code_of = {name: code for code, name in enumerate(names)}
        codes = np.array([*(code_of.get(text, -2) for text in texts), -1], dtype=np.int32)[positions]
        if (codes == -2).any():
            row = int(np.argmax(codes == -2))
            msg = f"row {row} of {self.name!r}: {texts[positions[row]]!r} is not one of {', '.join(names)}"
            raise StreamgaugeError(msg)
        return codes, tuple(names)

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
            order = sorted(range(len(distinct)), key=lambda i: distinct[i])
            ranks = np.append(np.argsort(order), -1)
            return ranks[positions.astype(np.int64)].astype(np.int32), [distinct[i] for i in order]
        return positions.astype(np.int32), distinct

    def _as_discrete(self) -> Any:  # noqa: ANN401
        """Return the values in a type with a finite number of values: integers for floats, strings for other text."""
        kind = self.values.type
        if _is_text(kind):
            return self.values.cast(pa.large_string())
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = self.to_numbers()
            present = ~np.isnan(numbers)
            fractional = present & ((numbers != np.round(numbers)) | np.isinf(numbers))
            if fractional.any():
                row = int(np.argmax(fractional))
                msg = f"row {row} of {self.name!r}: {numbers[row]} is not a whole number, a string or a boolean"
                raise StreamgaugeError(msg)
            whole = pa.array(np.where(present, numbers, 0.0).astype(np.int64), mask=~present)
            return pa.chunked_array([whole])
        checks = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_dictionary, pa.types.is_null)
        if any(is_kind(kind) for is_kind in checks):
            return self.values
        msg = f"column {self.name!r} has type {kind}; it needs strings, categories or whole numbers"
        raise StreamgaugeError(msg)


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_whole(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _format_error(error: Exception) -> str:
    return str(error).splitlines()[0]


def read_columns(frame: object) -> dict[str, Column]:
    """Return the columns of a table by name, without the index of a pandas DataFrame.

    Examples
    --------
    >>> list(read_columns(pa.table({"a": [1], "b": ["x"]})))
    ['a', 'b']
    """
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        msg = f"cannot read the DataFrame: {_format_error(error)}"
        raise StreamgaugeError(msg) from None
    repeated = [name for name in table.column_names if table.column_names.count(name) > 1]
    if repeated:
        msg = f"two columns of the DataFrame have the same name: {repeated[0]!r}"
        raise StreamgaugeError(msg)
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return {
        field.name: Column(field.name, table.column(i), not _is_unordered(field))
        for i, field in enumerate(table.schema)
        if field.name not in index
    }


def _is_unordered(field: Any) -> bool:  # noqa: ANN401
    # The categories of polars' Categorical are in the order in which the process first saw them.
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
