"""Blocks of rows, as file readers yield them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import NumericTarget, Schema, Targets

__all__ = ["NumberReader", "RowReader", "Rows", "rebatch"]

Rows = tuple[NDArray[np.float64], Targets, NDArray[np.float64] | None, NDArray[np.float64] | None]
"""Values, class codes or numeric targets, weights and times of consecutive rows."""

FIRST_ROWS = 64
"""The number of rows that are read at a time to find the first known target."""


class RowReader(Protocol):
    """Reads the rows of a file."""

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        ...

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognised or left out."""
        ...

    @property
    def has_times(self) -> bool:
        """Whether the rows have times."""
        ...

    def read_rows(self, size: int, start: int) -> Iterator[Rows]:
        """Yield the rows from `start` on, `size` at a time."""
        ...


class NumberReader:
    """Reader of rows with a numeric target, which another reader reads as one of the attributes.

    Parameters
    ----------
    reader
        The other reader, in whose schema the target is named and among the attributes.
    """

    def __init__(self, reader: RowReader) -> None:
        self._reader, schema = reader, reader.schema
        name = cast("NumericTarget", schema.target).name
        self._column = [attribute.name for attribute in schema.attributes].index(name)
        attributes = tuple(attribute for attribute in schema.attributes if attribute.name != name)
        self.schema = Schema(attributes, target=NumericTarget(name, self._find_origin(name)))

    def _find_origin(self, name: str) -> float:
        """Return the first known target."""
        for x, *_ in self._reader.read_rows(FIRST_ROWS, 0):
            known = x[:, self._column][~np.isnan(x[:, self._column])]
            if len(known):
                return float(known[0])
        msg = f"no row has a number in the target {name!r}"
        raise StreamgaugeError(msg)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._reader.n_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What was recognised or left out."""
        return self._reader.notes

    @property
    def has_times(self) -> bool:
        """Whether the rows have times."""
        return self._reader.has_times

    def read_rows(self, size: int, start: int) -> Iterator[Rows]:
        """Yield the rows from `start` on, `size` at a time."""
        for x, _, weight, time in self._reader.read_rows(size, start):
            y = np.ascontiguousarray(x[:, self._column])
            yield np.ascontiguousarray(np.delete(x, self._column, axis=1)), y, weight, time


def rebatch(parts: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Yield the rows in batches of `size`; the last batch may be smaller.

    Examples
    --------
    >>> parts = [(np.zeros((n, 1)), np.zeros(n, dtype=np.int32), None, None) for n in (1, 4, 2)]
    >>> [len(y) for _, y, *_ in rebatch(parts, 3)]
    [3, 3, 1]
    """
    pending: list[Rows] = []
    n = 0
    for x, y, weight, time in parts:
        start = 0
        while start < len(y):
            stop = min(len(y), start + size - n)
            rows = slice(start, stop)
            weights, times = None if weight is None else weight[rows], None if time is None else time[rows]
            pending.append((x[rows], y[rows], weights, times))
            n, start = n + stop - start, stop
            if n == size:
                yield _concatenate(pending)
                pending, n = [], 0
    if n:
        yield _concatenate(pending)


def _concatenate(parts: Sequence[Rows]) -> Rows:
    x, y, weight, time = zip(*parts, strict=True)
    return np.concatenate(x), np.concatenate(y), _concatenate_optional(weight), _concatenate_optional(time)


def _concatenate_optional(parts: Iterable[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    present = [part for part in parts if part is not None]
    return np.concatenate(present) if present else None
