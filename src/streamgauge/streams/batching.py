"""Reading streams in batches: row ranges, slices, concatenation, and cursors that continue where they stopped."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.records import Batch

__all__ = ["Cursor", "choose_rows", "concatenate", "slice_batch"]


def slice_batch(batch: Batch, start: int, stop: int) -> Batch:
    """Return consecutive rows of a batch, by their index in it, without copying.

    Examples
    --------
    >>> slice_batch(Batch(10, np.zeros((5, 1)), np.zeros(5, dtype=np.int32)), 2, 4).start
    12
    """
    rows = slice(start, stop)
    return Batch(
        start=batch.start + start,
        x=batch.x[rows],
        y=batch.y[rows],
        weight=None if batch.weight is None else batch.weight[rows],
        time=None if batch.time is None else batch.time[rows],
    )


def concatenate(parts: Sequence[Batch], first: int, n_attributes: int) -> Batch:
    """Concatenate batches into one that starts at row `first`, whatever their own positions.

    Examples
    --------
    >>> batch = Batch(7, np.zeros((2, 1)), np.zeros(2, dtype=np.int32))
    >>> concatenate([batch, batch], first=100, n_attributes=1).start
    100
    """
    if len(parts) == 1:
        (only,) = parts
        return only if only.start == first else replace(only, start=first)
    builder = _BatchBuilder(first, sum(len(part) for part in parts), n_attributes)
    position = 0
    for part in parts:
        builder.write(part, np.ones(len(part), dtype=np.bool_), position)
        position += len(part)
    return builder.build()


class _BatchBuilder:
    """A batch that is filled from several others; a missing weight is 1."""

    def __init__(self, first: int, n: int, n_attributes: int) -> None:
        self._first = first
        self._x, self._n = np.empty((n, n_attributes)), n
        self._y: NDArray[Any] = np.empty(n, dtype=np.int32)  # of the type of the batches
        self._weight: NDArray[np.float64] | None = None
        self._time: NDArray[np.float64] | None = None
        self._timed: bool | None = None

    def write(self, batch: Batch, wanted: NDArray[np.bool_], position: int = 0) -> None:
        """Write the wanted rows of a batch whose first row belongs at `position`."""
        if self._timed is not None and self._timed != (batch.time is not None):
            msg = "some of the joined streams have arrival times and others do not: give times to all or to none"
            raise StreamgaugeError(msg)
        self._timed = batch.time is not None
        if self._y.dtype != batch.y.dtype:
            self._y = np.empty(self._n, dtype=batch.y.dtype)
        target = slice(position, position + len(batch))
        np.copyto(self._x[target], batch.x, where=wanted[:, None])
        np.copyto(self._y[target], batch.y, where=wanted)
        if batch.weight is not None:
            self._weight = np.ones(len(self._y)) if self._weight is None else self._weight
            np.copyto(self._weight[target], batch.weight, where=wanted)
        if batch.time is not None:
            self._time = np.empty(len(self._y)) if self._time is None else self._time
            np.copyto(self._time[target], batch.time, where=wanted)

    def build(self) -> Batch:
        return Batch(start=self._first, x=self._x, y=self._y, weight=self._weight, time=self._time)


class Cursor:
    """A reader of one stream; consecutive reads continue the same iterator, other reads restart it.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> cursor = Cursor(SEA(n_rows=10), size=4)
    >>> [len(cursor.read(0, 3)), len(cursor.read(3, 5)), len(cursor.read(8, 5))]
    [3, 5, 2]
    """

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self._size = stream, size
        self._batches: Iterator[Batch] = iter(())
        self._rest: Batch | None = None
        self._position = -1

    def read(self, first: int, n: int) -> Batch:
        """Return `n` rows from row `first` on, or fewer at the end of the stream."""
        if first != self._position:
            self._batches, self._rest = self._stream.batches(self._size, first), None
        parts: list[Batch] = []
        n_read = 0
        while n_read < n:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            self._rest = None
            if batch is None:
                break
            if n_read + len(batch) > n:
                batch, self._rest = slice_batch(batch, 0, n - n_read), slice_batch(batch, n - n_read, len(batch))
            parts.append(batch)
            n_read += len(batch)
        self._position = first + n_read
        return concatenate(parts, first, self._stream.schema.n_attributes)


def choose_rows(cursors: Sequence[Cursor], choice: NDArray[np.intp], first: int) -> Batch:
    """Return rows from `first` on, each read from the chosen stream at its own position.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> cursors = [Cursor(SEA(seed=seed), 4) for seed in (1, 2)]
    >>> batch = choose_rows(cursors, np.array([0, 1, 0]), first=7)
    >>> batch.start, bool((batch.x[1] == next(SEA(seed=2).batches(1, start=8)).x[0]).all())
    (7, True)
    """
    chosen = np.flatnonzero(np.bincount(choice, minlength=len(cursors)))
    batches = [cursors[int(k)].read(first, len(choice)) for k in chosen]
    if len(batches) == 1:
        return batches[0]
    builder = _BatchBuilder(first, len(choice), batches[0].x.shape[1])
    for k, batch in zip(chosen, batches, strict=True):
        # A stream may end before the end of the batch if none of the later rows comes from it.
        builder.write(batch, choice[: len(batch)] == k)
    return builder.build()
