"""Orders: what a run does next, batch by batch."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, RowRange
from streamgauge._engine.executor import Executor
from streamgauge._engine.label_counts import LabelCounter, confusion_stride
from streamgauge._engine.run_spec import PlanMaker
from streamgauge._engine.schedule import Scheduler, Score
from streamgauge._engine.source import RowSource
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Labelling, Scheme, Stream, is_stream
from streamgauge.streams.composed import Composed
from streamgauge.streams.generators import native

__all__ = ["Planner", "Rows", "StopCondition", "run_plans"]


@dataclass(frozen=True)
class Rows:
    """Where the rows of a run come from, so that a group can make them itself.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> rows = Rows(SEA(), Prequential(), AllLabels(), seed=1)
    >>> rows.is_made, len(rows.opened().order(RowRange(0, 100, [100], 100)).batch)
    (True, 100)
    """

    stream: Stream
    scheme: Scheme
    labelling: Labelling
    seed: int
    score: Score = "first"

    @property
    def is_made(self) -> bool:
        """Whether the rows are computed, so that they can be had anywhere."""
        return _is_computed(self.stream)

    def opened(self) -> PlanMaker:
        """Start from the first row."""
        return _Remade(self)


def _is_computed(stream: object) -> bool:
    if isinstance(stream, Composed):
        parts = [getattr(stream, field.name) for field in fields(stream)]
        inner = [one for part in parts for one in (part if isinstance(part, tuple) else (part,)) if is_stream(one)]
        return all(map(_is_computed, inner))
    return isinstance(stream, native.Generator)


class _Remade:
    """Makes the orders of a run again, elsewhere."""

    def __init__(self, rows: Rows) -> None:
        self._feed = RowSource(rows.stream, rows.scheme, rows.labelling, rows.seed)
        self._sequencer = Scheduler(self._feed.scheme, rows.score)

    def order(self, recipe: RowRange) -> BatchPlan:
        batch, arrivals = self._feed.rows(recipe.start, recipe.n)
        if len(batch) != recipe.n:
            msg = f"row {recipe.start + len(batch)} is missing here: a node must see the same rows as the driver does"
            raise StreamgaugeError(msg)
        plan = self._sequencer.plan(batch, arrivals)
        counts = self._sequencer.counts
        return BatchPlan(
            recipe.reading_rows, recipe.n_done, counts, plan, batch, recipe.keeps, confused=recipe.confused
        )

    def save(self) -> bytes:
        return self._sequencer.save()

    def load(self, state: bytes) -> None:
        self._sequencer.load(state)


class Planner:
    """Makes orders of the rows of a feed, each planned when it is asked for.

    Parameters
    ----------
    feed
        Gives the rows.
    score
        Which prediction of a row is scored.

    Examples
    --------
    >>> from streamgauge import SEA, Prequential
    >>> from streamgauge.labelling import AllLabels
    >>> orders = Planner(RowSource(SEA(), Prequential(), AllLabels(), seed=1))
    >>> [(order.n_done, order.reading_rows) for order in orders.of_rows(100, 250, every=50)]
    [(100, [50, 100]), (200, [150, 200]), (250, [250])]
    >>> orders.last(250, every=50) is None
    True
    """

    def __init__(self, feed: RowSource, score: Score = "first") -> None:
        self.feed = feed
        self._labels = LabelCounter(feed.schema.n_classes)
        self._sequencer = Scheduler(feed.scheme, score)
        self._start = 0
        self._kept: dict[int, dict[str, bytes]] = {}
        self._before = (0, self._sequencer.counts, self._labels.totals)  # the last batch that was planned

    def of_rows(
        self,
        size: int,
        n_rows: int | None,
        every: int,
        *,
        ahead: bool = False,
        keeps: Callable[[int], bool] | None = None,
    ) -> Generator[BatchPlan]:
        """Give the orders of up to `n_rows` rows, `size` at a time, with a stop after every so many.

        Where `keeps` says, after so many rows, that a checkpoint is due, the order asks for the states of all cells,
        and what the orders behind it need is kept for `states`. One without a plan says that no rows came for a while.
        """
        for batch, arrivals in self.feed.batches(size, n_rows, self._start, ahead=ahead):
            if not len(batch):
                yield BatchPlan([], max(0, batch.start), self._sequencer.counts)
                continue
            self._before = (max(0, batch.start), self._sequencer.counts, self._labels.totals)
            plan = self._sequencer.plan(batch, arrivals)
            start, stop = batch.start, batch.start + len(batch)
            reading_rows = list(range((start // every + 1) * every, stop + 1, every)) if start >= 0 else []
            labels = self._labels.count(batch, plan, self._sequencer.hidden, reading_rows)
            kept = keeps is not None and stop > 0 and keeps(stop)
            if kept:
                self._kept[stop] = self._states()
            confused = self._confused(reading_rows, every)
            yield BatchPlan(reading_rows, max(0, stop), self._sequencer.counts, plan, batch, kept, labels, confused)

    def _confused(self, reading_rows: Sequence[int], every: int) -> list[int]:
        """Choose the stops at which confusion matrices are kept, fewer as the run goes on."""
        n_classes = self.feed.schema.n_classes
        strides = [confusion_stride(stop // every, n_classes) for stop in reading_rows]
        numbered = enumerate(zip(reading_rows, strides, strict=True))
        return [place for place, (stop, stride) in numbered if stride and stop // every % stride == 0]

    def _states(self) -> dict[str, bytes]:
        states = {"sequencer": self._sequencer.save(), "labels": self._labels.totals.astype("<i8").tobytes()}
        return states if self.feed.live is None else {**states, "stream": self.feed.live.state()}

    def states(self, n_rows: int) -> dict[str, bytes]:
        """Give what the orders behind a row need, once: the labels still owed, and where a live stream stands."""
        return self._kept.pop(n_rows)

    def load(self, n_rows: int, states: Mapping[str, bytes]) -> None:
        """Go on behind a row, where `states` were taken."""
        self._sequencer.load(states["sequencer"])
        self._labels.totals = np.frombuffer(states["labels"], dtype="<i8").astype(np.int64)
        if self.feed.live is not None:
            self.feed.live.restore(states["stream"])
        self._start = n_rows

    def committed(self, states: Mapping[str, bytes]) -> None:
        """Tell a live stream that states are safe on disk."""
        if self.feed.live is not None:
            self.feed.live.committed(states["stream"])

    def last(self, n_done: int, every: int) -> BatchPlan | None:
        """Give what is to be done after the last row: the last part of a stream has a reading, too."""
        plan = self._sequencer.at_end(n_done) if n_done else None
        if plan is None and n_done % every == 0:
            return None
        confused = [] if confusion_stride(1, self.feed.schema.n_classes) is None else [0]
        n_before, counts, labels = self._before
        if n_done > n_before:  # else a batch was planned that nobody ran
            counts, labels = self._sequencer.counts, self._labels.totals
        return BatchPlan([n_done], n_done, counts, plan, labels=labels[None], confused=confused)


@dataclass(frozen=True)
class StopCondition:
    """When a run is to end before its rows do.

    Parameters
    ----------
    is_near
        Says whether it is to end.
    with_checkpoint
        Whether it then goes on up to a checkpoint.
    """

    is_near: Callable[[], bool]
    with_checkpoint: bool


def run_plans(
    orders: Iterator[BatchPlan], host: Executor, feed: RowSource, ending: StopCondition, n_before: int
) -> Iterator[tuple[BatchPlan, list[BatchResult]]]:
    """Have orders carried out until the run is to end, as many at a time as the host wants.

    Parameters
    ----------
    orders
        What is to be done; one without a plan brings nothing.
    host
        Does it.
    feed
        Is told how long so many rows took.
    ending
        When to end.
    n_before
        How many rows are done already.
    """
    given: deque[tuple[BatchPlan, float]] = deque()
    ended, is_kept = 0.0, not ending.with_checkpoint
    while True:
        while len(given) < host.depth and not (is_kept and ending.is_near()):
            if (order := next(orders, None)) is None:
                break
            is_kept = order.keeps or not ending.with_checkpoint
            given.append((order, time.perf_counter()))
            if order.plan is None:  # nothing came for a while, and no checkpoint can be waited for
                is_kept = True
                break
            host.give(order)
        if not given:
            return
        order, started = given.popleft()
        if order.plan is None:
            yield order, []
            continue
        yield order, host.take()
        started, ended = max(started, ended), time.perf_counter()
        feed.pace(order.n_done - n_before, ended - started)
        n_before = order.n_done
