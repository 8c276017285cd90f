"""Where rows wait whose labels are late or that may not be learnt yet, and how they come back into their order."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import NEVER, Batch

__all__ = [
    "AFTER",
    "ARRIVAL",
    "BEFORE",
    "INSERTED",
    "NEVER_MOMENT",
    "DelayBuffer",
    "Rearrangement",
    "Schedule",
    "WaitingRows",
]

# A moment is 4 times a row of the stream, and one of these: labels that have come before the row, the row itself, what
# is learnt after it, and what is tested then.
BEFORE, ARRIVAL, AFTER, INSERTED = range(4)
NEVER_MOMENT = 4 * NEVER

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Schedule:
    """The rows to test and learn that a batch brings, in their order.

    Parameters
    ----------
    batch
        The rows of the stream.
    test
        Which operations are tests, where the fold wants them; None for all.
    revealed
        Which have a label that may be learnt; None for all.
    moves
        Where the operations come from; None where they are the rows of the batch as they stand.
    """

    batch: Batch
    test: NDArray[np.bool_] | None = None
    revealed: NDArray[np.bool_] | None = None
    moves: "Rearrangement | None" = None


@dataclass(frozen=True)
class Rearrangement:
    """Where each operation comes from: the batch, the store of rows that wait, or rows put in for a test.

    Parameters
    ----------
    source
        Per operation the place: up to n in the batch, from n on in the store; -1 where it is put in.
    n
        How many rows the batch has.
    kept, places
        Which rows of the batch are to be stored, and where.
    capacity
        How many places the store has.
    inserted
        The rows put in, in their order.
    row, now
        As in `Step`.
    """

    source: NDArray[np.int64]
    n: int
    kept: NDArray[np.int64]
    places: NDArray[np.int64]
    capacity: int
    inserted: tuple[Batch, ...]
    row: NDArray[np.int64]
    now: NDArray[np.int64]

    @cached_property
    def here(self) -> NDArray[np.intp]:
        """Which operations come from the batch."""
        return np.flatnonzero((self.source >= 0) & (self.source < self.n))

    @cached_property
    def stored(self) -> NDArray[np.intp]:
        """Which operations come from the store."""
        return np.flatnonzero(self.source >= self.n)

    @cached_property
    def put_in(self) -> NDArray[np.intp]:
        """Which operations are put in."""
        return np.flatnonzero(self.source < 0)


class DelayBuffer(Generic[T]):
    """One column of the rows that wait, and how it is brought into the order of a plan.

    Examples
    --------
    >>> from streamgauge.records import Batch
    >>> DelayBuffer(1.0).arranged(None, Schedule(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)))) is None
    True
    """

    def __init__(self, usual: Any) -> None:  # noqa: ANN401  (a number or a truth value)
        self._usual = usual
        self.store: NDArray[T] | None = None

    def arranged(
        self, column: NDArray[T] | None, plan: Schedule, inserted: NDArray[T] | T | None = None
    ) -> NDArray[T] | None:
        """Give the values of the operations of a plan; None where all are usual."""
        moves = plan.moves
        if moves is None:
            return column
        if column is None and self.store is None and inserted is None:
            return None
        if column is None:
            shape = (moves.n,) if self.store is None else (moves.n, *self.store.shape[1:])
            column = np.full(shape, self._usual)
        store = self._grown(moves.capacity, column)
        values = np.empty((len(moves.source), *column.shape[1:]), dtype=column.dtype)
        values[moves.here] = column.take(moves.source[moves.here], axis=0)
        values[moves.stored] = store.take(moves.source[moves.stored] - moves.n, axis=0)
        if len(moves.put_in):
            values[moves.put_in] = self._usual if inserted is None else inserted
        store[moves.places] = column[moves.kept]
        return values

    def _grown(self, capacity: int, like: NDArray[T]) -> NDArray[T]:
        """Give the store with room for all that wait."""
        before = self.store
        if before is None or len(before) < capacity:
            self.store = np.full((capacity, *like.shape[1:]), self._usual, dtype=like.dtype)
            if before is not None:
                self.store[: len(before)] = before
        return self.store  # type: ignore[return-value]


class WaitingRows:
    """The rows that wait for their labels or their turn: which, until when, and where they are stored."""

    def __init__(self) -> None:
        self.row = np.full(0, -1, dtype=np.int64)  # -1 where a place is free
        self.moment = np.empty(0, dtype=np.int64)
        self.due = np.empty(0)  # a time; minus infinity where that has come, or none is awaited
        self.n = 0
        self.last_time = -np.inf

    def tell_time(self, batch: Batch, moment: NDArray[np.int64], due: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the moments at which times come, to those that wait and to the rows of a batch; what is still due."""
        time = batch.time
        if time is None:
            msg = "the rows of the stream carry no times, so no label can come at a time"
            raise StreamgaugeError(msg)
        back = np.flatnonzero(np.diff(time, prepend=self.last_time) < 0)
        if len(back):
            msg = f"row {batch.start + back[0]} comes before the row that stands before it, at {time[back[0]]}"
            raise StreamgaugeError(msg)
        self.last_time = float(time[-1]) if len(time) else self.last_time
        for moments, dues in ((self.moment, self.due), (moment, due)):
            first = np.searchsorted(time, dues, side="left")
            come = np.isfinite(dues) & (first < len(time))
            moments[come] = np.maximum(moments[come], 4 * (batch.start + first[come]) + BEFORE)
            dues[come] = -np.inf
        return due

    def leave(self, end: int) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
        """Take out those whose moment is before `end`: their places, moments and rows."""
        if not self.n:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        places = np.flatnonzero((self.row >= 0) & (self.moment < end) & np.isneginf(self.due))
        moment, row = self.moment[places], self.row[places]
        self.row[places] = -1
        self.n -= len(places)
        return places, moment, row

    def enter(
        self, row: NDArray[np.int64], moment: NDArray[np.int64], due: NDArray[np.float64] | None
    ) -> NDArray[np.intp]:
        """Let rows wait; give their places."""
        free = np.flatnonzero(self.row < 0)
        if len(free) < len(row):
            more = max(len(row) - len(free), len(self.row))
            self.row = np.concatenate([self.row, np.full(more, -1, dtype=np.int64)])
            self.moment = np.concatenate([self.moment, np.zeros(more, dtype=np.int64)])
            self.due = np.concatenate([self.due, np.full(more, -np.inf)])
            free = np.flatnonzero(self.row < 0)
        places = free[: len(row)]
        self.row[places], self.moment[places] = row, moment
        self.due[places] = -np.inf if due is None else due
        self.n += len(row)
        return places
