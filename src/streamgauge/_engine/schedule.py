"""The order in which rows are tested and learnt: a buffer holds rows whose labels are late or may not be learnt yet.

All folds do the same operations in the same order, since the arrival of labels does not depend on the fold. The order
does not depend on how a stream is cut into batches: every operation has a moment. A moment is 4 times a row of the
stream, plus the phase within the row: labels that arrive before it (`BEFORE`), its test (`TEST`), what is learnt after
it (`AFTER`), and tests inserted after that (`INSERTED`).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import SchemeBase
from streamgauge.records import NEVER, UNLABELLED, Arrivals, Batch
from streamgauge.records.serialise import loading, pack_columns, unpack_columns

__all__ = [
    "DelayBuffer",
    "HeldColumns",
    "LabelTotals",
    "Rearrangement",
    "Schedule",
    "Scheduler",
    "Score",
    "check_score",
]

BEFORE, TEST, AFTER, INSERTED = range(4)
NEVER_MOMENT = 4 * NEVER

T = TypeVar("T", bound=np.generic)

Score = Literal["first", "last", "labelled"]
"""Which prediction of a row is scored: the one made when it arrived; the last one before its label was learnt; or the
first one of only those rows whose label arrives, scored when it arrives."""


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
    """The number of labels that arrived, are due, never arrive or are unknown, and of rows left out; see `Feedback`.

    `longest_delay` is the greatest number of rows between a row and its label so far.
    """

    n_revealed: int = 0
    n_owed: int = 0
    n_hidden: int = 0
    n_unknown: int = 0
    n_left_out: int = 0
    longest_delay: int = 0


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
    scored
        At which operations the test of a row is scored, if its prediction waits for the label; None for at the test.
    idle
        At which operations a row is only scored; None for none.
    labelled
        At which operations the label of a row arrives that was tested and is scored, if it can be later than the score
        or not at all; None for all that are scored. Live verdicts use only these.
    """

    batch: Batch
    test: NDArray[np.bool_] | None = None
    revealed: NDArray[np.bool_] | None = None
    moves: "Rearrangement | None" = None
    scored: NDArray[np.bool_] | None = None
    idle: NDArray[np.bool_] | None = None
    labelled: NDArray[np.bool_] | None = None


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
    arrivals
        The operation with which each row of the batch arrives.
    """

    source: NDArray[np.int64]
    n: int
    stored: NDArray[np.int64]
    slots: NDArray[np.int64]
    capacity: int
    inserted: tuple[Batch, ...]
    row: NDArray[np.int64]
    now: NDArray[np.int64]
    arrivals: NDArray[np.intp]

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


class HeldColumns:
    """What was computed at the tests of the waiting rows, such as predictions, until it is scored.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32))
    >>> HeldColumns().arrange(Schedule(batch), prediction=np.array([1]))
    [array([1])]
    """

    def __init__(self) -> None:
        self._buffers: dict[str, DelayBuffer[Any]] = {}

    def arrange(self, schedule: Schedule, **columns: NDArray[Any] | None) -> "list[NDArray[Any] | None]":
        """Return for each operation what was computed when its row was tested, from what was computed at each."""
        return [column if column is None else self._arrange(name, column, schedule) for name, column in columns.items()]

    def _arrange(self, name: str, column: NDArray[Any], schedule: Schedule) -> NDArray[Any] | None:
        moves = schedule.moves
        if moves is None:
            return column
        buffer = self._buffers.setdefault(name, DelayBuffer(column.dtype.type(0)))
        return buffer.arrange(column[moves.arrivals], schedule, column[moves.from_inserted])

    def save(self) -> bytes:
        """Return the whole state."""
        return pack_columns("held", {}, {name: buffer.slots for name, buffer in self._buffers.items()})

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        _, columns = unpack_columns("held", state)
        self._buffers = {}
        for name, slots in columns.items():
            buffer: DelayBuffer[Any] = DelayBuffer(0 if slots is None else slots.dtype.type(0))
            buffer.slots, self._buffers[name] = slots, buffer


class _WaitingRows:
    """The rows that wait for their labels or their turn: which, until when, and in which slots."""

    def __init__(self) -> None:
        self.row = np.full(0, -1, dtype=np.int64)  # -1 for a free slot
        self.moment = np.empty(0, dtype=np.int64)
        self.label = np.empty(0, dtype=np.int64)  # when the label arrives; minus 1 once it has
        self.due = np.empty(0)  # a time; minus infinity once it has come, or if none is awaited
        self.tested = np.empty(0, dtype=np.bool_)
        self.learnable = np.empty(0, dtype=np.bool_)
        self.n = 0
        self.last_time = -np.inf

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)}

    @property
    def n_owed(self) -> int:
        """The number of rows whose label has not arrived."""
        return int(np.count_nonzero((self.row >= 0) & (self.label >= 0))) if self.n else 0

    def resolve_times(self, batch: Batch, moments: "_Moments") -> NDArray[np.float64]:
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
        due = np.full(len(batch), -np.inf) if moments.due is None else moments.due
        for learnt, label, dues in ((self.moment, self.label, self.due), (moments.learnt, moments.label, due)):
            first = np.searchsorted(time, dues, side="left")
            come = np.isfinite(dues) & (first < len(time))
            for column in (learnt, label):
                column[come] = np.maximum(column[come], 4 * (batch.start + first[come]) + BEFORE)
            dues[come] = -np.inf
        return due

    def release(self, slots: NDArray[np.bool_]) -> None:
        """Free some slots."""
        self.row[slots] = -1
        self.n -= int(np.count_nonzero(slots))

    def add(self, columns: "dict[str, NDArray[Any]]", n: int) -> NDArray[np.intp]:
        """Add n rows; return their slots."""
        free = np.flatnonzero(self.row < 0)
        if len(free) < n:
            more = max(n - len(free), len(self.row))
            for name, column in self.columns.items():
                setattr(self, name, np.concatenate([column, np.full(more, -1).astype(column.dtype)]))
            free = np.flatnonzero(self.row < 0)
        slots = free[:n]
        for name, column in columns.items():
            self.columns[name][slots] = column
        self.n += n
        return slots


NO_DELAYS = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
"""The rows at which labels arrived in a batch without late labels, and the longest delay until then."""


class Scheduler:
    """Schedules the operations of each batch, from when its rows may be learnt and when their labels arrive.

    Parameters
    ----------
    scheme
        When rows may be learnt, and which tests to insert.
    score
        Which prediction of a row is scored.
    seed
        The seed of the scheme.
    delays
        Whether labels are late, so that the rows tested before the first one could be learnt are left out. Rows from
        the first late label on are left out in any case.
    score_unlabelled_start
        Whether these rows are scored all the same.

    Examples
    --------
    >>> from streamgauge.records import Arrivals
    >>> from streamgauge.schemes import Prequential
    >>> scheduler = Scheduler(Prequential(), score_unlabelled_start=True)
    >>> batch = Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32))
    >>> schedule = scheduler.schedule(batch, Arrivals(np.array([1, 2, 3])))
    >>> list(zip(schedule.moves.row.tolist(), schedule.test.tolist(), schedule.revealed.tolist()))
    [(0, True, False), (1, True, False), (0, False, True), (2, True, False), (1, False, True)]
    >>> scheduler.totals.n_owed
    1
    """

    def __init__(
        self,
        scheme: SchemeBase,
        score: Score = "first",
        *,
        seed: int = 1,
        delays: bool = False,
        score_unlabelled_start: bool = False,
    ) -> None:
        self._scheme, self._score, self._seed = scheme, score, seed
        is_trained = scheme.trains_first or not isinstance(scheme.training, int)  # before the first row
        self._scored_from = 0 if score_unlabelled_start or is_trained else None  # None before the first label
        self._late_from = 0 if delays else NEVER  # the first row that may be left out
        self._n_training = scheme.training if isinstance(scheme.training, int) else 0
        self._x: DelayBuffer[np.float64] = DelayBuffer(0.0)
        self._y: DelayBuffer[Any] = DelayBuffer(np.int32(UNLABELLED))
        self._weight: DelayBuffer[np.float64] = DelayBuffer(1.0)
        self._waiting = _WaitingRows()
        self._last_time: NDArray[np.float64] | None = None
        self.totals = LabelTotals()
        """What has happened to the labels so far."""
        self._delays, self._delay_before = NO_DELAYS, 0
        self._first_label: int | None = None  # the row after which the first label arrived, if labels are late
        self.hidden: NDArray[np.bool_] | None = None
        """Which rows of the last batch have a label that never arrives; None for none."""
        self.arrived: NDArray[np.int64] | None = None
        """The latest rows of the stream when labels arrived in the last batch; None if each came with its row."""

    @property
    def _buffers(self) -> "dict[str, DelayBuffer[Any]]":
        return {"x": self._x, "y": self._y, "weight": self._weight}

    def save(self) -> bytes:
        """Return the whole state: the waiting rows and the totals."""
        waiting = self._waiting
        columns = {**waiting.columns, "now": self._last_time}
        columns |= {name: buffer.slots for name, buffer in self._buffers.items()}
        facts = {"totals": asdict(self.totals), "last_time": waiting.last_time}
        facts |= {"scored_from": self._scored_from, "late_from": self._late_from, "first_label": self._first_label}
        return pack_columns("scheduler", facts, columns)

    def load(self, state: bytes) -> None:
        """Restore the state of a scheduler with the same options."""
        facts, columns = unpack_columns("scheduler", state)
        with loading("scheduler"):
            waiting = _WaitingRows()
            for name in waiting.columns:
                setattr(waiting, name, columns[name])
            waiting.n = int(np.count_nonzero(waiting.row >= 0))
            waiting.last_time = facts["last_time"]
            totals, last_time = LabelTotals(**facts["totals"]), columns["now"]
            slots = {name: columns[name] for name in self._buffers}
            self._scored_from, self._late_from = facts["scored_from"], facts["late_from"]
            self._first_label = facts["first_label"]
        self._waiting, self.totals, self._last_time = waiting, totals, last_time
        for name, buffer in self._buffers.items():
            buffer.slots = slots[name]

    def _count(self, n_revealed: int, n_hidden: int = 0, n_unknown: int = 0) -> None:
        before = self.totals
        self.totals = replace(
            before,
            n_revealed=before.n_revealed + n_revealed,
            n_owed=self._waiting.n_owed,
            n_hidden=before.n_hidden + n_hidden,
            n_unknown=before.n_unknown + n_unknown,
        )

    @property
    def _leaves_out(self) -> bool:
        """Whether tests are left out now: labels are late, and none could be learnt yet."""
        return self._scored_from is None and self._late_from < NEVER

    def schedule(self, batch: Batch, arrivals: Arrivals | None) -> Schedule:
        """Schedule the tests and the learning of a batch whose labels arrive as given."""
        if batch.start < 0:  # rows of another stream, learnt before the first
            return Schedule(batch)
        self._last_time = None if batch.time is None else batch.time[-1:]
        self._delays, self._delay_before = NO_DELAYS, self.totals.longest_delay
        moments = self._find_moments(batch, arrivals)
        inserted = self._scheme.inserted_tests(batch.start, batch.start + len(batch))
        n_unknown = batch.n_unlabelled
        self.hidden = self.arrived = None
        is_plain = not self._waiting.n and not inserted and not self._leaves_out
        if moments is None and is_plain:
            self._count(len(batch) - n_unknown, n_unknown=n_unknown)
            self._scored_from = self._scored_from if n_unknown == len(batch) else self._scored_from or 0
            self._note_first_label(batch.rows[batch.known] if self._first_label is None else batch.rows)
            return Schedule(batch)
        own = 4 * batch.rows + AFTER
        moments = moments or _Moments(own, own)
        unknown = ~batch.known
        moment, label = (np.where(unknown, NEVER_MOMENT, column) for column in (moments.learnt, moments.label))
        never = moment >= NEVER_MOMENT
        n_hidden = int(np.count_nonzero(never)) - n_unknown
        self.hidden = never & ~unknown if n_hidden else None
        at_once = moment == own
        if moments.due is None and is_plain and (at_once | never).all():
            self._count(int(np.count_nonzero(at_once)), n_hidden, n_unknown)
            self.arrived = batch.rows[at_once]
            self._scored_from = self._scored_from or 0 if len(self.arrived) else self._scored_from
            self._note_first_label(self.arrived)
            if self._score == "first":
                return Schedule(batch, None, at_once, labelled=at_once)
            return Schedule(batch, at_once, at_once)
        moments = _Moments(moment, label, moments.due)
        self._note_late_labels(batch, moments)
        schedule = self._order(batch, moments, inserted)
        self._count(0 if self.arrived is None else len(self.arrived), n_hidden, n_unknown)
        return self._arrange(schedule)

    def _note_late_labels(self, batch: Batch, moments: "_Moments") -> None:
        """Note the first row whose label is late, if labels were not known to be."""
        if self._scored_from is None and self._late_from == NEVER:
            late = moments.label > 4 * batch.rows + AFTER
            if moments.due is not None and batch.time is not None:
                late |= moments.due > batch.time
            late &= moments.label < NEVER_MOMENT
            if late.any():
                self._late_from = batch.start + int(np.argmax(late))

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
            arrivals=nothing,
        )
        test = np.full(len(rows), not self._leaves_out)
        if self._leaves_out:
            self._count_left_out(rows.known)
        empty = Batch(n_rows - 1, rows.x[:0], rows.y[:0], time=self._last_time)
        scored, labelled = (test if self._score == score else None for score in ("labelled", "first"))
        return self._arrange(
            Schedule(empty, test, np.zeros(len(rows), dtype=np.bool_), moves, scored, labelled=labelled)
        )

    def _find_moments(self, batch: Batch, arrivals: Arrivals | None) -> "_Moments | None":
        """Return when each row is learnt and its label arrives; None for at once."""
        learnable_after = self._scheme.learnable_after(batch)
        if learnable_after is None and arrivals is None:
            return None
        own = 4 * batch.rows + AFTER
        label, due = own, None
        if arrivals is not None:
            trained = batch.rows < self._n_training  # labels of training rows arrive at once
            if arrivals.row is not None:
                late = np.where(arrivals.row >= NEVER, NEVER_MOMENT, 4 * arrivals.row + AFTER)
                label = np.maximum(own, np.where(trained, own, late))
            if arrivals.time is not None:
                due = np.where(trained, -np.inf, arrivals.time)
                label = np.where(np.isposinf(due), NEVER_MOMENT, label)
        return _Moments(
            label if learnable_after is None else np.maximum(label, 4 * learnable_after + AFTER), label, due
        )

    def _order(self, batch: Batch, moments: "_Moments", inserted: list[tuple[int, Batch]]) -> Schedule:
        """Sort the operations of a batch by their moments."""
        waiting, n, end, rows = self._waiting, len(batch), 4 * (batch.start + len(batch)), batch.rows
        due = np.full(n, -np.inf) if moments.due is None else waiting.resolve_times(batch, moments)
        tested, learnable = self._ask_scheme(batch)
        # Columns of the batch, then of the waiting rows, whose indices are the sources of operations.
        row, learnt, label = (
            np.concatenate([own, waited])
            for own, waited in ((rows, waiting.row), (moments.learnt, waiting.moment), (moments.label, waiting.label))
        )
        resolved = np.isneginf(np.concatenate([due, waiting.due])) & (row >= 0)
        ready = resolved & (learnt < end)
        arrives = np.where(resolved & (label < end), label, -1)
        self.arrived = arrives[arrives >= 0] // 4
        late, between = np.flatnonzero(ready), np.empty(0, dtype=np.intp)
        late = late[np.lexsort((row[late], learnt[late]))]
        if self._score == "labelled":  # labels that arrive neither with their row nor when it is learnt
            between = np.flatnonzero((arrives >= 0) & (arrives < learnt) & (arrives != 4 * row + AFTER))
            between = between[np.lexsort((row[between], arrives[between]))]
        tests = tuple(test for _, test in inserted)
        insertions = [np.full(len(test), 4 * after + INSERTED) for after, test in inserted]
        operations = _sort_operations(
            moment=np.concatenate([4 * rows + TEST, learnt[late], arrives[between], *insertions]),
            source=np.concatenate([np.arange(n), late, between, *(0 * moments - 1 for moments in insertions)]),
            row=np.concatenate([rows, row[late], row[between], *(test.start + np.arange(len(test)) for test in tests)]),
            kind=np.repeat([TEST, AFTER, BEFORE, INSERTED], [n, len(late), len(between), sum(map(len, tests))]),
        )
        test, scored = self._mask_tests(operations, moments.learnt, arrives)
        tested, learnable = np.append(tested, waiting.tested), np.append(learnable, waiting.learnable)
        left_out = self._find_left_out(operations, learnable, by_row=scored is not None)
        if left_out is not None:
            wanted = test if scored is None else scored
            self._count_left_out(wanted & left_out & (tested[operations.source] | (operations.kind == INSERTED)))
            test = test & ~left_out
            scored = scored if scored is None else scored & ~left_out
        waiting.label[arrives[n:] >= 0] = -1
        waiting.release(ready[n:])
        stored = np.flatnonzero(~ready[:n] & (moments.learnt < NEVER_MOMENT))
        columns = {"row": rows, "moment": moments.learnt, "label": np.where(arrives[:n] >= 0, -1, moments.label)}
        columns |= {"due": due, "tested": tested[:n], "learnable": learnable[:n]}
        new_slots = waiting.add({name: column[stored] for name, column in columns.items()}, len(stored))
        moves = Rearrangement(
            source=operations.source,
            n=n,
            stored=stored,
            slots=new_slots,
            capacity=len(waiting.row),
            inserted=tests,
            row=operations.row,
            now=operations.now,
            arrivals=np.flatnonzero(operations.kind == TEST),
        )
        idle = operations.kind == BEFORE if len(between) else None
        labelled = self._mask_labelled(operations, test) if self._score == "first" else None
        self._note_delays(operations)
        return Schedule(batch, test, operations.revealed, moves, scored, idle, labelled)

    def _mask_labelled(self, operations: "_Operations", test: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return at which operations the label of a row arrives whose test is scored."""
        revealed = operations.revealed & (operations.kind != INSERTED)
        self._note_first_label(np.empty(0, dtype=np.int64) if self.arrived is None else np.sort(self.arrived))
        # Without any label there is no majority class and no last label, so what was tested until then is left out.
        known = operations.row > (NEVER if self._first_label is None else self._first_label)
        return np.where(operations.kind == INSERTED, test, revealed & (known | (operations.now == operations.row)))

    def _note_first_label(self, rows: NDArray[np.int64]) -> None:
        """Note the row after which the first label arrives."""
        if self._first_label is None and len(rows):
            self._first_label = int(rows[0])

    def _note_delays(self, operations: "_Operations") -> None:
        """Note the longest delay of a label in rows, as far as labels have arrived."""
        known = operations.revealed & (operations.kind != INSERTED)
        if known.any():
            late = np.maximum.accumulate((operations.now - operations.row)[known])
            late = np.maximum(late, self.totals.longest_delay)
            self._delays = operations.now[known], late
            self.totals = replace(self.totals, longest_delay=int(late[-1]))

    def find_longest_delays(self, reading_rows: Sequence[int]) -> list[int]:
        """Return the longest delay of a label in rows before each reading row of the last batch."""
        now, late = self._delays
        before = np.append(self._delay_before, late)
        return before[np.searchsorted(now, reading_rows, side="left")].tolist()  # type: ignore[no-any-return]

    def _ask_scheme(self, batch: Batch) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows of a batch some fold tests, and which it can learn; asked only while tests are left out."""
        tested = learnable = np.full(len(batch), not self._leaves_out)
        for fold in range(self._scheme.n_folds if self._leaves_out else 0):
            step = self._scheme.step(batch, fold, self._seed)
            weight = step.learning_weight
            tested = tested | (True if step.test is None else step.test)
            learnable = learnable | (True if weight is None else weight > 0)
            if tested.all() and learnable.all():
                break
        return tested & batch.known, learnable

    def _mask_tests(
        self, operations: "_Operations", learnt: NDArray[np.int64], arrives: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
        """Return which operations are tests, and at which ones they are scored if that is later."""
        tests: NDArray[np.bool_] = operations.kind == TEST
        inserted = operations.kind == INSERTED
        if self._score == "first":
            return tests | inserted, None
        if self._score == "last":
            return operations.revealed | inserted, None
        label = arrives[operations.source]
        with_row = label == 4 * operations.row + AFTER
        scored = np.where(tests, with_row, (label == operations.moment) & ~with_row)
        tests[tests] = learnt[operations.source[tests]] < NEVER_MOMENT
        return tests | inserted, scored | inserted

    def _find_left_out(
        self, operations: "_Operations", learnable: NDArray[np.bool_], *, by_row: bool
    ) -> NDArray[np.bool_] | None:
        """Return the operations before the first label that a fold can learn, or those of rows tested before it."""
        left_out = None
        if self._leaves_out:
            first = np.flatnonzero(operations.revealed & learnable[operations.source])[:1]
            stop = int(first[0]) + 1 if len(first) else len(operations.now)
            left_out = (np.arange(len(operations.now)) < stop) & (operations.now >= self._late_from)
            if len(first):
                at = operations.moment[stop - 1]
                self._scored_from = int(at // 4 + (at % 4 != BEFORE))
        elif self._scored_from is None and operations.revealed.any():
            self._scored_from = 0
        if not by_row or (left_out is None and self._scored_from is not None and self._scored_from <= self._late_from):
            return left_out
        stop_row = NEVER if self._scored_from is None else self._scored_from
        of_start = (operations.row >= self._late_from) & (operations.row < stop_row)
        inserted = operations.kind == INSERTED
        return np.where(inserted, False if left_out is None else left_out, of_start)

    def _count_left_out(self, rows: NDArray[np.bool_]) -> None:
        n_left_out = self.totals.n_left_out + int(np.count_nonzero(rows))
        self.totals = replace(self.totals, n_left_out=n_left_out)

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
class _Moments:
    """When each row of a batch may be learnt, when its label arrives, and the time at which it is due, if any."""

    learnt: NDArray[np.int64]
    label: NDArray[np.int64]
    due: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class _Operations:
    """Operations in their order; the kind of one that only scores a row is `BEFORE`."""

    moment: NDArray[np.int64]
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
    columns = {"moment": moment, "now": now, "source": source, "row": row, "kind": kind, "revealed": revealed}
    return _Operations(**{name: column[keep] for name, column in columns.items()})
