"""In which order rows are tested and learnt: labels that are late wait here, and so do rows that may not be learnt yet.

All folds do the same rows in the same order, for labels arrive in the world and not in a fold. How a stream is cut into
batches does not change the order: every operation has its moment.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.delay_buffer import (
    AFTER,
    ARRIVAL,
    INSERTED,
    NEVER_MOMENT,
    DelayBuffer,
    Rearrangement,
    Schedule,
    WaitingRows,
)
from streamgauge.errors import unknown_name
from streamgauge.protocols import Chunked, Inserting, Scheme, Trained
from streamgauge.records import NEVER, UNLABELLED, Arrivals, Batch
from streamgauge.records.serialise import loading, pack_columns, unpack_columns

__all__ = ["DelayBuffer", "LabelTotals", "Schedule", "Scheduler", "Score"]

Score = Literal["first", "last", "labelled"]
"""Which prediction of a row is scored: that made when it came, the last before its label came, or the first of only
those rows whose label comes."""


@dataclass(frozen=True)
class LabelTotals:
    """How many labels came, are still to come, exist but never come, and are known to nobody; see `Feedback`."""

    n_revealed: int = 0
    n_owed: int = 0
    n_hidden: int = 0
    n_unknown: int = 0


class Scheduler:
    """Plans what each batch brings, from when its rows may be learnt and when their labels come.

    Parameters
    ----------
    scheme
        What says when rows may be learnt.
    score
        Which prediction of a row is scored.

    Examples
    --------
    >>> from streamgauge.records import Arrivals
    >>> from streamgauge.schemes import Prequential
    >>> scheduler = Scheduler(Prequential())
    >>> plan = scheduler.plan(Batch(0, np.zeros((3, 1)), np.zeros(3, dtype=np.int32)), Arrivals(np.array([1, 2, 3])))
    >>> list(zip(plan.moves.row.tolist(), plan.test.tolist(), plan.revealed.tolist()))
    [(0, True, False), (1, True, False), (0, False, True), (2, True, False), (1, False, True)]
    >>> scheduler.n_owed
    1
    """

    def __init__(self, scheme: Scheme, score: Score = "first") -> None:
        if score not in get_args(Score):
            raise unknown_name(kind="way to score", name=str(score), known=get_args(Score))
        self._score = score
        # Asked once, for asking whether a thing keeps a protocol is slow.
        self._chunked = scheme if isinstance(scheme, Chunked) else None
        self._inserting = scheme if isinstance(scheme, Inserting) else None
        training = scheme.training if isinstance(scheme, Trained) else 0
        self._n_training = training if isinstance(training, int) else 0
        self._x: DelayBuffer[np.float64] = DelayBuffer(0.0)
        self._y: DelayBuffer[np.int32] = DelayBuffer(np.int32(UNLABELLED))
        self._weight: DelayBuffer[np.float64] = DelayBuffer(1.0)
        self._waiting = WaitingRows()
        self._last_time: NDArray[np.float64] | None = None
        self.n_revealed = self.n_hidden = self.n_unknown = 0
        self.hidden: NDArray[np.bool_] | None = None
        """Which rows of the last batch have a label that never comes; None for none."""

    @property
    def n_owed(self) -> int:
        """How many labels are still to come."""
        return self._waiting.n

    def save(self) -> bytes:
        """Give all of its state: the rows that wait, with the labels owed, and the counts."""
        counts = {name: getattr(self, name) for name in ("n_revealed", "n_hidden", "n_unknown")}
        waiting = self._waiting
        stores = {name: kept.store for name, kept in self._stores.items()}
        columns = {"row": waiting.row, "moment": waiting.moment, "due": waiting.due, "now": self._last_time, **stores}
        return pack_columns("sequencer", {**counts, "last_time": waiting.last_time}, columns)

    def load(self, state: bytes) -> None:
        """Take over a saved state of one built alike."""
        facts, columns = unpack_columns("sequencer", state)
        with loading("sequencer"):
            waiting = WaitingRows()
            waiting.row, waiting.moment, waiting.due = (columns.pop(name) for name in ("row", "moment", "due"))
            waiting.n = int(np.count_nonzero(waiting.row >= 0))
            waiting.last_time = facts.pop("last_time")
            self._last_time = columns.pop("now")
        self._waiting = waiting
        for name, count in facts.items():
            setattr(self, name, count)
        for name, store in columns.items():
            self._stores[name].store = store

    @property
    def counts(self) -> LabelTotals:
        """What became of the labels up to now."""
        return LabelTotals(self.n_revealed, self.n_owed, self.n_hidden, self.n_unknown)

    @property
    def _stores(self) -> "dict[str, DelayBuffer[Any]]":
        return {"x": self._x, "y": self._y, "weight": self._weight}

    def plan(self, batch: Batch, arrivals: Arrivals | None) -> Schedule:
        """Plan what a batch brings whose labels arrive as a labelling says."""
        if batch.start < 0:  # rows of another stream, to be learnt before the first
            return Schedule(batch)
        self._last_time = None if batch.time is None else batch.time[-1:]
        found = self._moments(batch, arrivals)
        inserting = self._inserting
        inserted = [] if inserting is None else inserting.inserted(batch.start, batch.start + len(batch))
        n_unknown = batch.n_unlabelled
        self.n_unknown += n_unknown
        self.hidden = None
        if found is None and not self.n_owed and not inserted:
            self.n_revealed += len(batch) - n_unknown
            return Schedule(batch)
        own = 4 * batch.rows + AFTER
        moment, due = (own, None) if found is None else found
        moment = np.where(batch.y == UNLABELLED, NEVER_MOMENT, moment)
        n_hidden = int(np.count_nonzero(moment >= NEVER_MOMENT)) - n_unknown
        self.n_hidden += n_hidden
        self.hidden = (moment >= NEVER_MOMENT) & (batch.y != UNLABELLED) if n_hidden else None
        at_once = moment == own
        if due is None and not self.n_owed and not inserted and (at_once | (moment >= NEVER_MOMENT)).all():
            self.n_revealed += int(np.count_nonzero(at_once))
            return Schedule(batch, None if self._score == "first" else at_once, at_once)
        return self._arranged(self._sequence(batch, moment, due, inserted))

    def at_end(self, n_rows: int) -> Schedule | None:
        """Plan what is to be tested after the last row; None where that is nothing."""
        rows = None if self._inserting is None else self._inserting.last(n_rows)
        if rows is None:
            return None
        here = np.empty(0, dtype=np.int64)
        nothing = Batch(n_rows - 1, rows.x[:0], rows.y[:0], time=self._last_time)
        now, row = np.full(len(rows), n_rows - 1), rows.start + np.arange(len(rows))
        moves = Rearrangement(np.full(len(rows), -1), 0, here, here, len(self._waiting.row), (rows,), row, now)
        test = np.ones(len(rows), dtype=np.bool_)
        return self._arranged(Schedule(nothing, test, ~test, moves))

    def _moments(
        self, batch: Batch, arrivals: Arrivals | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64] | None] | None:
        """Say when each row may be learnt and its label comes, or at what time; None where both are at once."""
        release = None if self._chunked is None else self._chunked.release(batch)
        if release is None and arrivals is None:
            return None
        own = 4 * batch.rows + AFTER
        moment = own if release is None else np.maximum(own, 4 * release + AFTER)
        due = None
        if arrivals is not None:
            known = batch.rows < self._n_training  # whatever the labelling says
            if arrivals.row is not None:
                late = np.where(arrivals.row >= NEVER, NEVER_MOMENT, 4 * arrivals.row + AFTER)
                moment = np.maximum(moment, np.where(known, own, late))
            if arrivals.time is not None:
                due = np.where(known, -np.inf, arrivals.time)
                moment = np.where(np.isposinf(due), NEVER_MOMENT, moment)
        return moment, due

    def _sequence(
        self,
        batch: Batch,
        moment: NDArray[np.int64],
        due: NDArray[np.float64] | None,
        inserted: list[tuple[int, Batch]],
    ) -> Schedule:
        """Bring what a batch brings into the order of its moments."""
        waiting, n, end = self._waiting, len(batch), 4 * (batch.start + len(batch))
        rows = batch.rows
        if due is not None:
            due = waiting.tell_time(batch, moment, due)
        places, left_moment, left_row = waiting.leave(end)
        known = (moment < end) & (True if due is None else np.isneginf(due))
        learnt = np.flatnonzero(known)
        kept = np.flatnonzero(~known & (moment < NEVER_MOMENT))
        late, late_row = np.concatenate([left_moment, moment[learnt]]), np.concatenate([left_row, rows[learnt]])
        order = np.lexsort((late_row, late))
        self.n_revealed += len(late)
        put_in = tuple(part for _, part in inserted)
        put_at = [np.full(len(part), 4 * after + INSERTED) for after, part in inserted]
        operations = _in_order(
            np.concatenate([4 * rows + ARRIVAL, late[order], *put_at]),
            np.concatenate([np.arange(n), np.concatenate([n + places, learnt])[order], *(0 * at - 1 for at in put_at)]),
            np.concatenate([rows, late_row[order], *(part.start + np.arange(len(part)) for part in put_in)]),
            np.repeat([ARRIVAL, AFTER, INSERTED], [n, len(late), sum(map(len, put_in))]),
        )
        kept_due = None if due is None else due[kept]
        kept_at = waiting.enter(rows[kept], moment[kept], kept_due)
        moves = Rearrangement(
            operations.source, n, kept, kept_at, len(waiting.row), put_in, operations.row, operations.now
        )
        return Schedule(batch, self._tests(operations, moment), operations.revealed, moves)

    def _tests(self, operations: "_Operations", moment: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which operations are tests."""
        tests: NDArray[np.bool_] = operations.kind == ARRIVAL
        if self._score == "last":
            tests = operations.revealed.copy()
        elif self._score == "labelled":
            tests[tests] = moment[operations.source[tests]] < NEVER_MOMENT
        tests |= operations.kind == INSERTED
        return tests

    def _arranged(self, plan: Schedule) -> Schedule:
        """Give a plan whose batch holds the rows of its operations."""
        moves, batch = plan.moves, plan.batch
        put_in = () if moves is None else moves.inserted
        x = self._x.arranged(batch.x, plan, np.concatenate([part.x for part in put_in]) if put_in else None)
        y = self._y.arranged(batch.y, plan, np.concatenate([part.y for part in put_in]) if put_in else None)
        weights = None
        if any(part.weight is not None for part in put_in):
            weights = np.concatenate([np.ones(len(part)) if part.weight is None else part.weight for part in put_in])
        weight = self._weight.arranged(batch.weight, plan, weights)
        time = batch.time
        if moves is not None and time is not None:
            time = time[moves.now - batch.start]  # what is done later is done at the time of the row that came last
        return replace(
            plan, batch=Batch(batch.start, *(batch.x, batch.y) if x is None or y is None else (x, y), weight, time)
        )


@dataclass(frozen=True)
class _Operations:
    """Operations in their order."""

    now: NDArray[np.int64]
    source: NDArray[np.int64]
    row: NDArray[np.int64]
    kind: NDArray[np.int64]
    revealed: NDArray[np.bool_]


def _in_order(
    moment: NDArray[np.int64], source: NDArray[np.int64], row: NDArray[np.int64], kind: NDArray[np.int64]
) -> _Operations:
    """Sort operations by their moments; a row that is learnt right after its test is one operation."""
    order = np.argsort(moment, kind="stable")
    moment, source, row, kind = moment[order], source[order], row[order], kind[order]
    now = moment // 4
    joined = (kind[:-1] == ARRIVAL) & (kind[1:] == AFTER) & (source[:-1] == source[1:]) & (now[:-1] == now[1:])
    revealed = kind == AFTER
    revealed[:-1] |= joined
    stays = np.ones(len(kind), dtype=np.bool_)
    stays[1:] = ~joined
    return _Operations(now[stays], source[stays], row[stays], kind[stays], revealed[stays])
