"""Columns of any origin as numbers or codes.

NumPy, pandas, polars and pyarrow all come in through Arrow, so none of the optional ones is imported here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import LazyModule
from streamgauge.errors import StreamgaugeError

__all__ = ["Column", "columns_of", "is_frame"]

pa = LazyModule("pyarrow")


@dataclass(frozen=True)
class Column:
    """A column of a table, in Arrow's form.

    Parameters
    ----------
    name
        What it is called.
    values
        Its values.
    in_order
        Whether the order of its categories, where it has any, means something.

    Examples
    --------
    >>> codes, names = Column.of("size", ["small", "large", None]).codes()
    >>> codes.tolist(), names
    ([1, 0, -1], ('large', 'small'))
    """

    name: str
    values: Any
    in_order: bool = True

    @classmethod
    def of(cls, name: str, values: object) -> "Column":
        """Make a column of anything that holds a value per row."""
        if isinstance(values, Column):
            return values
        if hasattr(values, "to_frame"):  # a series of pandas or polars
            return next(iter(columns_of(values.to_frame()).values()))._named(name)
        try:
            return cls(name, pa.chunked_array([pa.array(values, from_pandas=True)]))
        except (pa.ArrowException, TypeError, ValueError) as error:
            msg = f"{name} is not a column of numbers, texts or truth values: {_first_line(error)}"
            raise StreamgaugeError(msg) from None

    def _named(self, name: str) -> "Column":
        return Column(name, self.values, self.in_order)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_nominal(self) -> bool:
        """Whether it holds texts, categories or truth values rather than numbers."""
        kind = self.values.type
        return bool(pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or _is_text(kind))

    def numbers(self) -> NDArray[np.float64]:
        """Give its numbers, NaN where one is missing."""
        kind = self.values.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if not (is_number or pa.types.is_boolean(kind) or pa.types.is_null(kind)):
            is_time = pa.types.is_temporal(kind)
            hint = ": convert it to seconds, or leave the column out of the table" if is_time else ""
            msg = f"column {self.name!r} holds values of type {kind} where numbers are needed{hint}"
            raise StreamgaugeError(msg)
        numbers: NDArray[np.float64] = self.values.cast(pa.float64(), safe=False).to_numpy()
        return numbers

    def seconds(self) -> NDArray[np.float64]:
        """Give its times in seconds: numbers as they are, dates and times since 1970."""
        kind = self.values.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            microseconds = self.values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
            return Column(self.name, microseconds).numbers() / 1e6
        return self.numbers()

    def codes(self, names: Sequence[str] | None = None) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Give a code per row, -1 where the value is missing, and the names of the codes.

        Without `names`, categories keep their order, other values are sorted. With `names` a value is looked up
        among them; a whole number is then a name where any of the names is a whole number, and else a code.
        """
        positions, values = self._distinct()
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

    def _distinct(self) -> tuple[NDArray[np.int32], list[Any]]:
        """Give per row the position of its value in a list of the distinct ones, -1 where it is missing."""
        values, in_order = self._whole_numbers(), self.in_order
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

    def _whole_numbers(self) -> Any:  # noqa: ANN401
        """Give the values in a type that can be told apart: whole numbers for floats, plain texts for others."""
        kind = self.values.type
        if _is_text(kind):
            return self.values.cast(pa.large_string())
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = self.numbers()
            present = ~np.isnan(numbers)
            broken = present & ((numbers != np.round(numbers)) | np.isinf(numbers))
            if broken.any():
                row = int(np.argmax(broken))
                msg = f"row {row} of {self.name!r}: {numbers[row]} is not a whole number, a text or a truth value"
                raise StreamgaugeError(msg)
            whole = pa.array(np.where(present, numbers, 0.0).astype(np.int64), mask=~present)
            return pa.chunked_array([whole])
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind):
            return self.values
        if pa.types.is_null(kind):
            return self.values
        msg = f"column {self.name!r} holds values of type {kind}; it needs texts, categories or whole numbers"
        raise StreamgaugeError(msg)


def _is_text(kind: Any) -> bool:  # noqa: ANN401
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_whole(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def is_frame(thing: object) -> bool:
    """Say whether a thing is a table: a DataFrame of pandas or polars, a table of pyarrow.

    Examples
    --------
    >>> is_frame(pa.table({"a": [1]})), is_frame(np.zeros((1, 1)))
    (True, False)
    """
    return hasattr(thing, "__arrow_c_stream__") and (hasattr(thing, "columns") or hasattr(thing, "column_names"))


def columns_of(frame: object) -> dict[str, Column]:
    """Give the columns of a table by name; the index of a pandas DataFrame is none of them.

    Examples
    --------
    >>> list(columns_of(pa.table({"a": [1], "b": ["x"]})))
    ['a', 'b']
    """
    try:
        table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        msg = f"the frame cannot be read: {_first_line(error)}"
        raise StreamgaugeError(msg) from None
    repeated = [name for name in table.column_names if table.column_names.count(name) > 1]
    if repeated:
        msg = f"two columns of the frame have the same name: {repeated[0]!r}"
        raise StreamgaugeError(msg)
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return {
        field.name: Column(field.name, table.column(i), not _is_unordered(field))
        for i, field in enumerate(table.schema)
        if field.name not in index
    }


def _is_unordered(field: Any) -> bool:  # noqa: ANN401
    # The categories of polars' Categorical come in the order in which the process first saw them.
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
