"""Tables in memory: which of their columns are attributes, the class, the weight and the time of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Attribute, Schema
from streamgauge.streams.column_rules import (
    MAX_DECLARED_NAMES,
    TimeColumn,
    choose_time,
    describe_text,
    find_decrease,
    is_free_text,
    note_decimal_commas,
)
from streamgauge.streams.columns import Column

__all__ = ["AttributeValues", "read_attributes", "read_declared"]

Values = NDArray[np.float64]


@dataclass(frozen=True)
class AttributeValues:
    """The attributes of the rows of a table.

    Parameters
    ----------
    values
        Numbers and codes [n, d].
    attributes
        The attributes.
    time
        The times of the rows, if a column was recognised as such.
    notes
        What was recognised or left out.
    """

    values: Values
    attributes: tuple[Attribute, ...]
    time: Values | None = None
    notes: tuple[str, ...] = ()


def read_attributes(
    columns: Mapping[str, Column],
    contents: Mapping[str, tuple[str, str | None]] | None = None,
    *,
    time: str | None = None,
) -> AttributeValues:
    """Read the attributes of a table, by the same rules as those of a file.

    Parameters
    ----------
    columns
        The columns that may be attributes, by name.
    contents
        What a column holds: "numbers" or "names" as the user declared, or "anything"; the default. Also how the times
        among its numbers are written; None if they are recognised.
    time
        The name of the column that holds the times, if it is known; it is not among the columns.

    Examples
    --------
    >>> columns = {"day": ["2024-01-01", "2024-01-02"], "size": ["S", "L"]}
    >>> read = read_attributes({name: Column.from_values(name, values) for name, values in columns.items()})
    >>> read.attributes, read.time.tolist()
    ((Attribute(name='size', values=('L', 'S'), missing=False),), [1704067200.0, 1704153600.0])
    """
    contents = contents or {}
    read: dict[str, tuple[Values, Attribute]] = {}
    found: dict[str, Values] = {}
    notes: list[str] = []
    for name, column in columns.items():
        content, written = contents.get(name, ("anything", None))
        times = column.find_times() if content == "anything" else None
        if times is not None:
            found[name] = times
            continue
        attribute = _read_column(column, content, written)
        if isinstance(attribute, str):
            notes.append(attribute)
        else:
            read[name] = attribute
            if content == "anything":
                notes += note_decimal_commas(name, attribute[1].values or ())
    chosen, on_times = choose_time([_describe_times(name, times) for name, times in found.items()], time)
    values, attributes = _stack(list(read.values()))
    return AttributeValues(values, attributes, found.get(chosen or ""), (*on_times, *notes))


def read_declared(columns: Mapping[str, Column], schema: Schema) -> AttributeValues:
    """Read the attributes of a schema from the columns of a table, by name."""
    for attribute in schema.attributes:
        if attribute.name not in columns:
            raise unknown_name(kind="column", name=attribute.name, known=columns)
    return AttributeValues(*_stack([_read_known(columns[a.name], a) for a in schema.attributes]))


def _describe_times(name: str, times: Values) -> TimeColumn:
    n_missing = int(np.count_nonzero(np.isnan(times)))
    return TimeColumn(name, n_missing, never_decreases=find_decrease(times) is None)


def _read_column(column: Column, content: str, written: str | None) -> tuple[Values, Attribute] | str:
    """Return the values of a column and its attribute, or the note on why it is left out."""
    n_present = len(column) - column.n_missing
    if content == "numbers" or (n_present == 0 and content == "anything"):
        values = column.parse_numbers(written) if n_present else np.full(len(column), np.nan)
        return values, Attribute(column.name, None, missing=bool(np.isnan(values).any()))
    if content == "anything" and not column.is_nominal:
        values = column.to_numbers()
        return values, Attribute(column.name, None, missing=bool(np.isnan(values).any()))
    if content == "anything" and column.is_text:
        n_names = column.count_names()
        if is_free_text(n_names, n_present):
            return describe_text(column.name, n_names, n_present, column.example)
    codes, names = column.to_codes()
    if len(names) > MAX_DECLARED_NAMES:
        msg = f"column {column.name!r} has {len(names):,} different names, more than {MAX_DECLARED_NAMES:,}: drop it"
        raise StreamgaugeError(msg)
    return np.where(codes < 0, np.nan, codes), Attribute(column.name, names, missing=bool((codes < 0).any()))


def _read_known(column: Column, attribute: Attribute) -> tuple[Values, Attribute]:
    if not attribute.is_nominal:
        return column.to_numbers(), attribute
    codes, _ = column.to_codes(attribute.values)
    return np.where(codes < 0, np.nan, codes), attribute


def _stack(parsed: Sequence[tuple[Values, Attribute]]) -> tuple[Values, tuple[Attribute, ...]]:
    lengths = {attribute.name: len(values) for values, attribute in parsed}
    if len(set(lengths.values())) > 1:
        msg = f"the columns differ in length: {', '.join(f'{name} has {n}' for name, n in lengths.items())}"
        raise StreamgaugeError(msg)
    values = np.empty((max(lengths.values(), default=0), len(parsed)))
    for j, (column, _) in enumerate(parsed):
        values[:, j] = column
    return values, tuple(attribute for _, attribute in parsed)
