"""Plans the batches of a run, here or in workers that read the rows themselves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._engine.batch_plan import BatchPlan, PlanMaker, RowRange
from streamgauge._engine.schedule import LabelTotals, Scheduler, Score
from streamgauge._engine.source import RowSource
from streamgauge._foreign import is_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Labelling, Scheme, Stream
from streamgauge.records import Arrivals, Batch
from streamgauge.records.columns import pad_classes
from streamgauge.streams.composed import Composed
from streamgauge.streams.generators import native
from streamgauge.tasks import find_task

__all__ = ["LabelCounter", "Planner", "PlannerMark", "RowSourceSpec", "confusion_stride"]

MAX_CONFUSION_CLASSES = 20
"""Confusion matrices are kept for at most this number of classes."""

FIRST_CONFUSIONS = 128
"""Up to this number of readings all confusion matrices are kept; of more, between this number and twice as many."""


_Totals = tuple[int, LabelTotals, NDArray[np.int64], float | None]
"""Rows, what happened to their labels, their classes, and the time of the last."""

PlannerMark = tuple[_Totals, dict[str, bytes]]
"""The totals before the last planned batch, and the state after it."""


class Planner:
    """Plans one batch after the other.

    Parameters
    ----------
    source
        Where the rows come from.
    score
        Which prediction of a row is scored.
    every
        The number of rows between two readings.
    saves
        Called with the number of rows done: whether a checkpoint is due. The plan then asks for the states of all
        cells, and what later plans need is kept for `take_states`.
    score_unlabelled_start
        As for `evaluate`.
    n_rows
        The number of rows if it is known, so that the confusion matrices of the end are kept.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> source = RowSource(SEA(), Prequential(), AllLabels(), seed=1)
    >>> planner = Planner(source, "first", every=50)
    >>> plans = [planner.plan(batch, arrivals) for batch, arrivals in source.batches(100, 250)]
    >>> [(plan.n_done, plan.reading_rows) for plan in plans]
    [(100, [50, 100]), (200, [150, 200]), (250, [250])]
    >>> planner.final_plan(250).reading_rows
    []
    """

    def __init__(
        self,
        source: RowSource,
        score: Score,
        every: int,
        saves: Callable[[int], bool] = lambda _: False,
        *,
        score_unlabelled_start: bool = False,
        n_rows: int | None = None,
    ) -> None:
        self._n_rows = n_rows
        self._source, self._every, self._saves = source, every, saves
        self._task = find_task(source.schema)
        self._labels = LabelCounter(len(self._task.label_groups))
        self._scheduler = _make_scheduler(source, score, score_unlabelled_start=score_unlabelled_start)
        self._states: dict[int, dict[str, bytes]] = {}
        self._time: float | None = None  # of the last planned row
        # As before the last planned batch.
        self._before: _Totals = (0, self._scheduler.totals, self._labels.totals, None)

    def plan(self, batch: Batch, arrivals: Arrivals | None) -> BatchPlan:
        """Plan the next batch; the plan of an empty batch is idle."""
        start, stop = batch.start, batch.start + len(batch)
        if not len(batch):
            return BatchPlan([], max(0, start), self._scheduler.totals)
        self._before = (max(0, start), self._scheduler.totals, self._labels.totals, self._time)
        self._time = None if batch.time is None else float(batch.time[-1])
        schedule = self._scheduler.schedule(batch, arrivals)
        every = self._every
        reading_rows = list(range((start // every + 1) * every, stop + 1, every)) if start >= 0 else []
        groups = self._task.group_labels(batch.y)
        label_counts = self._labels.count(batch, groups, self._scheduler.arrived, self._scheduler.hidden, reading_rows)
        saves = stop > 0 and self._saves(stop)
        if saves:
            self._states[stop] = self.save()
        return BatchPlan(
            reading_rows=reading_rows,
            n_done=max(0, stop),
            label_totals=self._scheduler.totals,
            schedule=schedule,
            batch=batch,
            saves=saves,
            label_counts=label_counts,
            times=None if batch.time is None else batch.time[np.array(reading_rows, dtype=np.int64) - start - 1],
            confusion_readings=self._choose_confusion_readings(reading_rows),
            longest_delays=self._scheduler.find_longest_delays(reading_rows),
        )

    def _choose_confusion_readings(self, reading_rows: Sequence[int]) -> list[int]:
        """Choose the readings at which confusion matrices are kept, fewer as the run proceeds."""
        n_classes, every = self._task.n_classes, self._every
        strides = [confusion_stride(row // every, n_classes) for row in reading_rows]
        return [
            index
            for index, (row, stride) in enumerate(zip(reading_rows, strides, strict=True))
            if stride and (row // every % stride == 0 or row == self._n_rows)
        ]

    def final_plan(self, n_done: int, *, always: bool = False) -> BatchPlan | None:
        """Return the plan after the last row: a final test and a reading, if they are due; None without rows.

        With `always` there is a reading even if one was planned there before.
        """
        schedule = self._scheduler.schedule_final_test(n_done) if n_done else None
        if n_done == 0:
            return None
        is_due = always or schedule is not None or n_done % self._every != 0
        n_before, totals, label_counts, time = self._before
        if n_done > n_before:  # else the last planned batch did not run
            totals, label_counts, time = self._scheduler.totals, self._labels.totals, self._time
        keeps_confusions = confusion_stride(1, self._task.n_classes) is not None
        return BatchPlan(
            reading_rows=[n_done] if is_due else [],
            n_done=n_done,
            label_totals=totals,
            schedule=schedule,
            label_counts=label_counts[None] if is_due else None,
            times=np.array([time]) if is_due and time is not None else None,
            confusion_readings=[0] if is_due and keeps_confusions else [],
            longest_delays=[totals.longest_delay] if is_due else [],
        )

    def save(self) -> dict[str, bytes]:
        """Return the state after the last planned batch."""
        states = {"scheduler": self._scheduler.save(), "labels": self._labels.totals.astype("<i8").tobytes()}
        if self._time is not None:
            states["time"] = np.array(self._time, dtype="<f8").tobytes()
        live = self._source.live
        return states if live is None else {**states, "stream": live.state()}

    def mark(self) -> PlannerMark:
        """Return the state after the last planned batch, for `go_back`."""
        return self._before, self.save()

    def go_back(self, mark: PlannerMark, n_done: int) -> None:
        """Forget the batches that were planned after a mark, at which `n_done` rows were planned."""
        self._before, states = mark
        self.load(states)
        self._states = {row: kept for row, kept in self._states.items() if row <= n_done}

    def take_states(self, n_rows: int) -> dict[str, bytes]:
        """Return, once, what plans after a row need: the waiting rows, and the state of a live stream."""
        return self._states.pop(n_rows)

    def load(self, states: Mapping[str, bytes]) -> None:
        """Continue after the row at which states were saved, perhaps with fewer classes."""
        self._scheduler.load(states["scheduler"])
        labels = np.frombuffer(states["labels"], dtype="<i8").astype(np.int64)
        self._labels.totals = pad_classes(labels, len(self._labels.totals) - 3, last=3)
        self._time = float(np.frombuffer(states["time"], dtype="<f8")[0]) if "time" in states else None
        if self._source.live is not None:
            self._source.live.restore(states["stream"])

    def merge(self, other: "Planner", classes: Sequence[int]) -> None:
        """Add the counts of another planner of other rows, whose classes have these codes here."""
        counts = other._labels.totals
        groups = list(classes) or list(range(len(counts) - 3))  # of numbers there is one
        self._labels.totals[[*groups, -3, -2, -1]] += np.append(counts[: len(groups)], counts[-3:])
        totals, more = self._scheduler.totals, other._scheduler.totals
        summed = {field.name: getattr(totals, field.name) + getattr(more, field.name) for field in fields(totals)}
        summed["longest_delay"] = max(totals.longest_delay, more.longest_delay)
        self._scheduler.totals = LabelTotals(**summed)
        known = [time for time in (self._time, other._time) if time is not None]
        self._time = max(known, default=None)

    def commit(self, states: Mapping[str, bytes]) -> None:
        """Acknowledge to a live stream that states are safe on disk."""
        if self._source.live is not None:
            self._source.live.committed(states["stream"])


@dataclass(frozen=True)
class RowSourceSpec:
    """Where the rows of a run come from, so that workers can read or compute them; see `RowsSpec`.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> rows = RowSourceSpec(SEA(), Prequential(), AllLabels(), seed=1)
    >>> rows.is_computed, len(rows.open().plan(RowRange(0, 100, [100], 100)).batch)
    (True, 100)
    """

    stream: Stream
    scheme: Scheme
    labelling: Labelling
    seed: int
    score: Score = "first"
    score_unlabelled_start: bool = False

    @property
    def is_computed(self) -> bool:
        """Whether the rows are computed, so that any machine can make them."""
        return _is_computed(self.stream)

    def open(self) -> PlanMaker:
        """Start from the first row."""
        return _RangePlanner(self)


def _is_computed(stream: object) -> bool:
    if isinstance(stream, Composed):
        parts = [getattr(stream, field.name) for field in fields(stream)]
        streams = [one for part in parts for one in (part if isinstance(part, tuple) else (part,)) if is_stream(one)]
        return all(map(_is_computed, streams))
    return isinstance(stream, native.Generator)


def _make_scheduler(source: RowSource, score: Score, *, score_unlabelled_start: bool) -> Scheduler:
    return Scheduler(
        source.scheme,
        score,
        seed=source.seed,
        delays=source.labels_delayed,
        score_unlabelled_start=score_unlabelled_start,
    )


class _RangePlanner:
    """Makes the plans of a run from row ranges, in a worker."""

    def __init__(self, rows: RowSourceSpec) -> None:
        self._source = RowSource(rows.stream, rows.scheme, rows.labelling, rows.seed)
        self._scheduler = _make_scheduler(self._source, rows.score, score_unlabelled_start=rows.score_unlabelled_start)

    def plan(self, row_range: RowRange) -> BatchPlan:
        batch, arrivals = self._source.read(row_range.start, row_range.n)
        if len(batch) != row_range.n:
            msg = f"row {row_range.start + len(batch)} is missing here: a node must see the same rows as the driver"
            raise StreamgaugeError(msg)
        schedule = self._scheduler.schedule(batch, arrivals)
        return BatchPlan(
            reading_rows=row_range.reading_rows,
            n_done=row_range.n_done,
            label_totals=self._scheduler.totals,
            schedule=schedule,
            batch=batch,
            saves=row_range.saves,
            confusion_readings=row_range.confusion_readings,
        )

    def save(self) -> bytes:
        return self._scheduler.save()

    def load(self, state: bytes) -> None:
        self._scheduler.load(state)


class LabelCounter:
    """Counts the rows of each class, and what happened to their labels, up to each reading of a run.

    Parameters
    ----------
    n_classes
        The number of classes, or of other groups of labels.

    Examples
    --------
    >>> from streamgauge.records import Arrivals, Batch
    >>> counter = LabelCounter(2)
    >>> batch = Batch(0, np.zeros((4, 1)), np.array([0, 1, 1, -1], dtype=np.int32))
    >>> counter.count(batch, batch.y, None, None, [2, 4]).tolist()  # two classes, unknown, hidden, revealed
    [[1, 1, 0, 0, 2], [1, 2, 1, 0, 3]]
    """

    def __init__(self, n_classes: int) -> None:
        self.totals = np.zeros(n_classes + 3, dtype=np.int64)
        """The counts so far, int64: rows by class, unknown, hidden, revealed."""

    def count(
        self,
        batch: Batch,
        groups: NDArray[np.int32],
        arrived: NDArray[np.int64] | None,
        hidden: NDArray[np.bool_] | None,
        reading_rows: Sequence[int],
    ) -> NDArray[np.int64]:
        """Count the rows of a batch; return the counts up to each of its readings, int64 [readings, n_classes + 3].

        `groups` has the group of each row, -1 if its label is unknown; `arrived` and `hidden` are those of the
        `Scheduler`.
        """
        n_classes, start = len(self.totals) - 3, batch.start
        if start < 0:
            return np.empty((0, len(self.totals)), dtype=np.int64)
        ends = [*reading_rows, start + len(batch)]
        counts = np.zeros((len(ends), len(self.totals)), dtype=np.int64)
        labels = _native.count_labels(np.ascontiguousarray(groups), [end - start for end in ends], n_classes)
        by_class = labels.reshape(len(ends), n_classes + 1)
        counts[:, :n_classes], counts[:, n_classes] = by_class[:, 1:], by_class[:, 0]
        if hidden is not None:
            piece = np.searchsorted(ends, batch.rows, side="right")
            counts[:, -2] = np.bincount(piece[hidden], minlength=len(ends))
        if arrived is None:
            counts[:, -1] = counts[:, :-3].sum(axis=1)
        else:
            counts[:, -1] = np.bincount(np.searchsorted(ends, arrived, side="right"), minlength=len(ends))
        so_far: NDArray[np.int64] = self.totals + np.cumsum(counts, axis=0)
        self.totals = so_far[-1]
        return so_far[:-1]


def confusion_stride(reading: int, n_classes: int) -> int | None:
    """Return the stride of the readings, counted from 1, whose confusion matrices are kept; None for none at all.

    It doubles as the run proceeds, so that what is kept grows with the logarithm of its length.

    Examples
    --------
    >>> [confusion_stride(reading, 2) for reading in (1, 128, 129, 1000)], confusion_stride(1, 100)
    ([1, 1, 2, 8], None)
    """
    return None if not 0 < n_classes <= MAX_CONFUSION_CLASSES else 1 << ((reading - 1) // FIRST_CONFUSIONS).bit_length()
