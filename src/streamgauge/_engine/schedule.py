"""The order in which rows are tested and learnt: a buffer holds rows whose labels are late or may not be learnt yet.

All folds do the same operations in the same order, since the arrival of labels does not depend on the fold. The order
does not depend on how a stream is cut into batches: every operation has a moment. A moment is 4 times a row of the
stream, plus the phase within the row: labels that arrive before it (`BEFORE`), its test (`TEST`), what is learnt after
it (`AFTER`), and tests inserted after that (`INSERTED`).
"""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import SchemeBase
from streamgauge.records import NEVER, UNLABELLED, Arrivals, Batch
from streamgauge.records.serialise import loading, pack_columns, unpack_columns

__all__ = ["DelayBuffer", "LabelTotals", "Rearrangement", "Schedule", "Scheduler", "Score", "check_score"]

BEFORE, TEST, AFTER, INSERTED = range(4)
NEVER_MOMENT = 4 * NEVER

T = TypeVar("T", bound=np.generic)

Score = Literal["first", "last", "labelled"]
"""Which prediction of a row is scored: the one made when it arrived, the last one before its label arrived, or the
first one of only those rows whose label arrives."""


def check_score(score: str) -> None:
    """Raise unless a way to score is known.

    Examples
    --------
    >>> check_score("first")
    """
    if score not in get_args(Score):
        raise unknown_name(kind="way to score", name=str(score), known=get_args(Score))


@dataclass(frozen=True)
class LabelTotals:
    """The number of labels that arrived, are still due, exist but never arrive, and are unknown; see `Feedback`."""

    n_revealed: int = 0
    n_owed: int = 0
    n_hidden: int = 0
    n_unknown: int = 0


@dataclass(frozen=True)
class Schedule:
    """The rows to test and learn in one batch, in order.

    Parameters
    ----------
    batch
        The rows of the operations.
    test
        Which operations are tests, if the fold wants them; None for all.
    revealed
        Which operations have a label that may be learnt; None for all.
    moves
        Where the rows of the operations come from; None if they are the rows of the batch in their order.
    """

    batch: Batch
    test: NDArray[np.bool_] | None = None
    revealed: NDArray[np.bool_] | None = None
    moves: "Rearrangement | None" = None


@dataclass(frozen=True)
class Rearrangement:
    """Where the row of each operation comes from: the batch, the delay buffer, or an inserted test.

    Parameters
    ----------
    source
        The index of each operation's row: below n in the batch, from n on in the buffer; -1 for an inserted row.
    n
        The number of rows of the batch.
    stored, slots
        Which rows of the batch are put into the buffer, and into which slots.
    capacity
        The number of slots of the buffer.
    inserted
        The inserted rows, in order.
    row, now
        As in `Step`.
    """

    source: NDArray[np.int64]
    n: int
    stored: NDArray[np.int64]
    slots: NDArray[np.int64]
    capacity: int
    inserted: tuple[Batch, ...]
    row: NDArray[np.int64]
    now: NDArray[np.int64]

    @cached_property
    def from_batch(self) -> NDArray[np.intp]:
        """The operations whose rows come from the batch."""
        return np.flatnonzero((self.source >= 0) & (self.source < self.n))

    @cached_property
    def from_buffer(self) -> NDArray[np.intp]:
        """The operations whose rows come from the buffer."""
        return np.flatnonzero(self.source >= self.n)

    @cached_property
    def from_inserted(self) -> NDArray[np.intp]:
        """The operations whose rows are inserted."""
        return np.flatnonzero(self.source < 0)


class DelayBuffer(Generic[T]):
    """One column of the waiting rows; arranges a column of a batch into the order of a schedule.

    Examples
    --------
    >>> from streamgauge.records import Batch
    >>> DelayBuffer(1.0).arrange(None, Schedule(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)))) is None
    True
    """

    def __init__(self, default: Any) -> None:  # noqa: ANN401  (a number or a truth value)
        self._default = default
        self.slots: NDArray[T] | None = None

    def arrange(
        self, column: NDArray[T] | None, schedule: Schedule, inserted: NDArray[T] | T | None = None
    ) -> NDArray[T] | None:
        """Return the values of the operations of a schedule; None if all have the default."""
        moves = schedule.moves
        if moves is None:
            return column
        if column is None and self.slots is None and inserted is None:
            return None
        if column is None:
            shape = (moves.n,) if self.slots is None else (moves.n, *self.slots.shape[1:])
            column = np.full(shape, self._default)
        slots = self._grow(moves.capacity, column)
        values = np.empty((len(moves.source), *column.shape[1:]), dtype=column.dtype)
        values[moves.from_batch] = column.take(moves.source[moves.from_batch], axis=0)
        values[moves.from_buffer] = slots.take(moves.source[moves.from_buffer] - moves.n, axis=0)
        if len(moves.from_inserted):
            values[moves.from_inserted] = self._default if inserted is None else inserted
        slots[moves.slots] = column[moves.stored]
        return values

    def _grow(self, capacity: int, like: NDArray[T]) -> NDArray[T]:
        before = self.slots
        if before is None or len(before) < capacity:
            self.slots = np.full((capacity, *like.shape[1:]), self._default, dtype=like.dtype)
            if before is not None:
                self.slots[: len(before)] = before
        return self.slots  # type: ignore[return-value]


class _WaitingRows:
    """The rows that wait for their labels or their turn: which, until when, and in which slots."""

    def __init__(self) -> None:
        self.row = np.full(0, -1, dtype=np.int64)  # -1 for a free slot
        self.moment = np.empty(0, dtype=np.int64)
        self.due = np.empty(0)  # a time; minus infinity once it has come, or if none is awaited
        self.n = 0
        self.last_time = -np.inf

    def resolve_times(self, batch: Batch, moment: NDArray[np.int64], due: NDArray[np.float64]) -> NDArray[np.float64]:
        """Set the moments of waiting rows and of a batch whose due times come with it; return what is still due."""
        time = batch.time
        if time is None:
            msg = "the stream has no times, so labels cannot arrive at a time"
            raise StreamgaugeError(msg)
        decreasing = np.flatnonzero(np.diff(time, prepend=self.last_time) < 0)
        if len(decreasing):
            first = decreasing[0]
            msg = f"row {batch.start + first} has a time before that of the previous row: {time[first]}"
            raise StreamgaugeError(msg)
        self.last_time = float(time[-1]) if len(time) else self.last_time
        for moments, dues in ((self.moment, self.due), (moment, due)):
            first = np.searchsorted(time, dues, side="left")
            come = np.isfinite(dues) & (first < len(time))
            moments[come] = np.maximum(moments[come], 4 * (batch.start + first[come]) + BEFORE)
            dues[come] = -np.inf
        return due

    def release(self, end: int) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
        """Remove the rows whose moment is before `end`; return their slots, moments and rows."""
        if not self.n:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        slots = np.flatnonzero((self.row >= 0) & (self.moment < end) & np.isneginf(self.due))
        moment, row = self.moment[slots], self.row[slots]
        self.row[slots] = -1
        self.n -= len(slots)
        return slots, moment, row

    def add(
        self, row: NDArray[np.int64], moment: NDArray[np.int64], due: NDArray[np.float64] | None
    ) -> NDArray[np.intp]:
        """Add rows; return their slots."""
        free = np.flatnonzero(self.row < 0)
        if len(free) < len(row):
            more = max(len(row) - len(free), len(self.row))
            self.row = np.concatenate([self.row, np.full(more, -1, dtype=np.int64)])
            self.moment = np.concatenate([self.moment, np.zeros(more, dtype=np.int64)])
            self.due = np.concatenate([self.due, np.full(more, -np.inf)])
            free = np.flatnonzero(self.row < 0)
        slots = free[: len(row)]
        self.row[slots], self.moment[slots] = row, moment
        self.due[slots] = -np.inf if due is None else due
        self.n += len(row)
        return slots


class Scheduler:
    """Schedules the operations of each batch, from when its rows may be learnt and when their labels arrive.

    Parameters
    ----------
    scheme
        When rows may be learnt, and which tests to insert.
    score
        Which prediction of a row is scored.

    Examples
    --------
    >>> from streamgauge.records import Arrivals
    >>> from streamgauge.schemes import Prequential
    >>> scheduler = Scheduler(Prequential())
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> schedule = scheduler.schedule(batch, Arrivals(np.array([1, 2, 3])))
    >>> list(zip(schedule.moves.row.tolist(), schedule.test.tolist(), schedule.revealed.tolist()))
    [(0, True, False), (1, True, False), (0, False, True), (2, True, False), (1, False, True)]
    >>> scheduler.totals.n_owed
    1
    """

    def __init__(self, scheme: SchemeBase, score: Score = "first") -> None:
        self._scheme, self._score = scheme, score
        self._n_training = scheme.training if isinstance(scheme.training, int) else 0
        self._x: DelayBuffer[np.float64] = DelayBuffer(0.0)
        self._y: DelayBuffer[np.int32] = DelayBuffer(np.int32(UNLABELLED))
        self._weight: DelayBuffer[np.float64] = DelayBuffer(1.0)
        self._waiting = _WaitingRows()
        self._last_time: NDArray[np.float64] | None = None
        self.totals = LabelTotals()
        """What has happened to the labels so far."""
        self.hidden: NDArray[np.bool_] | None = None
        """Which rows of the last batch have a label that never arrives; None for none."""

    @property
    def _buffers(self) -> "dict[str, DelayBuffer[Any]]":
        return {"x": self._x, "y": self._y, "weight": self._weight}

    def save(self) -> bytes:
        """Return the whole state: the waiting rows and the totals."""
        waiting = self._waiting
        columns = {"row": waiting.row, "moment": waiting.moment, "due": waiting.due, "now": self._last_time}
        columns |= {name: buffer.slots for name, buffer in self._buffers.items()}
        return pack_columns("scheduler", {"totals": asdict(self.totals), "last_time": waiting.last_time}, columns)

    def load(self, state: bytes) -> None:
        """Restore the state of a scheduler with the same options."""
        facts, columns = unpack_columns("scheduler", state)
        with loading("scheduler"):
            waiting = _WaitingRows()
            waiting.row, waiting.moment, waiting.due = (columns[name] for name in ("row", "moment", "due"))
            waiting.n = int(np.count_nonzero(waiting.row >= 0))
            waiting.last_time = facts["last_time"]
            totals, last_time = LabelTotals(**facts["totals"]), columns["now"]
            slots = {name: columns[name] for name in self._buffers}
        self._waiting, self.totals, self._last_time = waiting, totals, last_time
        for name, buffer in self._buffers.items():
            buffer.slots = slots[name]

    def _count(self, n_revealed: int, n_hidden: int = 0, n_unknown: int = 0) -> None:
        before = self.totals
        self.totals = LabelTotals(
            n_revealed=before.n_revealed + n_revealed,
            n_owed=self._waiting.n,
            n_hidden=before.n_hidden + n_hidden,
            n_unknown=before.n_unknown + n_unknown,
        )

    def schedule(self, batch: Batch, arrivals: Arrivals | None) -> Schedule:
        """Schedule the tests and the learning of a batch whose labels arrive as given."""
        if batch.start < 0:  # rows of another stream, learnt before the first
            return Schedule(batch)
        self._last_time = None if batch.time is None else batch.time[-1:]
        moments = self._find_moments(batch, arrivals)
        inserted = self._scheme.inserted_tests(batch.start, batch.start + len(batch))
        n_unknown = batch.n_unlabelled
        self.hidden = None
        if moments is None and not self._waiting.n and not inserted:
            self._count(len(batch) - n_unknown, n_unknown=n_unknown)
            return Schedule(batch)
        own = 4 * batch.rows + AFTER
        moment, due = (own, None) if moments is None else moments
        moment = np.where(batch.y == UNLABELLED, NEVER_MOMENT, moment)
        never = moment >= NEVER_MOMENT
        n_hidden = int(np.count_nonzero(never)) - n_unknown
        self.hidden = never & (batch.y != UNLABELLED) if n_hidden else None
        at_once = moment == own
        if due is None and not self._waiting.n and not inserted and (at_once | never).all():
            self._count(int(np.count_nonzero(at_once)), n_hidden, n_unknown)
            return Schedule(batch, None if self._score == "first" else at_once, at_once)
        schedule, n_revealed = self._order(batch, moment, due, inserted)
        self._count(n_revealed, n_hidden, n_unknown)
        return self._arrange(schedule)

    def schedule_final_test(self, n_rows: int) -> Schedule | None:
        """Schedule the tests after the last row; None if there are none."""
        rows = self._scheme.final_test(n_rows)
        if rows is None:
            return None
        nothing = np.empty(0, dtype=np.int64)
        moves = Rearrangement(
            source=np.full(len(rows), -1),
            n=0,
            stored=nothing,
            slots=nothing,
            capacity=len(self._waiting.row),
            inserted=(rows,),
            row=rows.start + np.arange(len(rows)),
            now=np.full(len(rows), n_rows - 1),
        )
        test = np.ones(len(rows), dtype=np.bool_)
        empty = Batch(n_rows - 1, rows.x[:0], rows.y[:0], time=self._last_time)
        return self._arrange(Schedule(empty, test, ~test, moves))

    def _find_moments(
        self, batch: Batch, arrivals: Arrivals | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64] | None] | None:
        """Return the moment at which each row is learnt, or the time at which its label is due; None for at once."""
        learnable_after = self._scheme.learnable_after(batch)
        if learnable_after is None and arrivals is None:
            return None
        own = 4 * batch.rows + AFTER
        moment = own if learnable_after is None else np.maximum(own, 4 * learnable_after + AFTER)
        due = None
        if arrivals is not None:
            trained = batch.rows < self._n_training  # labels of training rows arrive at once
            if arrivals.row is not None:
                late = np.where(arrivals.row >= NEVER, NEVER_MOMENT, 4 * arrivals.row + AFTER)
                moment = np.maximum(moment, np.where(trained, own, late))
            if arrivals.time is not None:
                due = np.where(trained, -np.inf, arrivals.time)
                moment = np.where(np.isposinf(due), NEVER_MOMENT, moment)
        return moment, due

    def _order(
        self,
        batch: Batch,
        moment: NDArray[np.int64],
        due: NDArray[np.float64] | None,
        inserted: list[tuple[int, Batch]],
    ) -> tuple[Schedule, int]:
        """Sort the operations of a batch by their moments; also return how many labels arrived."""
        waiting, n, end = self._waiting, len(batch), 4 * (batch.start + len(batch))
        rows = batch.rows
        if due is not None:
            due = waiting.resolve_times(batch, moment, due)
        slots, left_moment, left_row = waiting.release(end)
        known = (moment < end) & (True if due is None else np.isneginf(due))
        learnt = np.flatnonzero(known)
        stored = np.flatnonzero(~known & (moment < NEVER_MOMENT))
        late, late_row = np.concatenate([left_moment, moment[learnt]]), np.concatenate([left_row, rows[learnt]])
        order = np.lexsort((late_row, late))
        tests = tuple(test for _, test in inserted)
        insertions = [np.full(len(test), 4 * after + INSERTED) for after, test in inserted]
        operations = _sort_operations(
            moment=np.concatenate([4 * rows + TEST, late[order], *insertions]),
            source=np.concatenate(
                [np.arange(n), np.concatenate([n + slots, learnt])[order], *(0 * moments - 1 for moments in insertions)]
            ),
            row=np.concatenate([rows, late_row[order], *(test.start + np.arange(len(test)) for test in tests)]),
            kind=np.repeat([TEST, AFTER, INSERTED], [n, len(late), sum(map(len, tests))]),
        )
        new_slots = waiting.add(rows[stored], moment[stored], None if due is None else due[stored])
        moves = Rearrangement(
            source=operations.source,
            n=n,
            stored=stored,
            slots=new_slots,
            capacity=len(waiting.row),
            inserted=tests,
            row=operations.row,
            now=operations.now,
        )
        return Schedule(batch, self._mask_tests(operations, moment), operations.revealed, moves), len(late)

    def _mask_tests(self, operations: "_Operations", moment: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which operations are tests."""
        tests: NDArray[np.bool_] = operations.kind == TEST
        if self._score == "last":
            tests = operations.revealed.copy()
        elif self._score == "labelled":
            tests[tests] = moment[operations.source[tests]] < NEVER_MOMENT
        tests |= operations.kind == INSERTED
        return tests

    def _arrange(self, schedule: Schedule) -> Schedule:
        """Return a schedule whose batch holds the rows of its operations."""
        moves, batch = schedule.moves, schedule.batch
        tests = () if moves is None else moves.inserted
        x = self._x.arrange(batch.x, schedule, np.concatenate([test.x for test in tests]) if tests else None)
        y = self._y.arrange(batch.y, schedule, np.concatenate([test.y for test in tests]) if tests else None)
        weights = None
        if any(test.weight is not None for test in tests):
            weights = np.concatenate([np.ones(len(test)) if test.weight is None else test.weight for test in tests])
        weight = self._weight.arrange(batch.weight, schedule, weights)
        time = batch.time
        if moves is not None and time is not None:
            time = time[moves.now - batch.start]  # a later operation has the time of the row that came last
        x, y = (batch.x, batch.y) if x is None or y is None else (x, y)
        return replace(schedule, batch=Batch(batch.start, x, y, weight, time))


@dataclass(frozen=True)
class _Operations:
    """Operations in their order."""

    now: NDArray[np.int64]
    source: NDArray[np.int64]
    row: NDArray[np.int64]
    kind: NDArray[np.int64]
    revealed: NDArray[np.bool_]


def _sort_operations(
    *, moment: NDArray[np.int64], source: NDArray[np.int64], row: NDArray[np.int64], kind: NDArray[np.int64]
) -> _Operations:
    """Sort operations by moment; a row that is learnt right after its test is one operation."""
    order = np.argsort(moment, kind="stable")
    moment, source, row, kind = moment[order], source[order], row[order], kind[order]
    now = moment // 4
    joined = (kind[:-1] == TEST) & (kind[1:] == AFTER) & (source[:-1] == source[1:]) & (now[:-1] == now[1:])
    revealed = kind == AFTER
    revealed[:-1] |= joined
    keep = np.ones(len(kind), dtype=np.bool_)
    keep[1:] = ~joined
    return _Operations(now=now[keep], source=source[keep], row=row[keep], kind=kind[keep], revealed=revealed[keep])
