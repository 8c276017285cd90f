"""The rows of a run: those for training, then those of the stream, each batch with the arrivals of its labels."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from queue import Empty, Full, Queue
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_labelling, adopt_scheme, adopt_stream, close_iterator
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import FIRST_PASS, Labelling, LiveStreamBase, Scheme, SchemeBase, Stream, StreamBase
from streamgauge.records import Arrivals, Batch, Schema
from streamgauge.streams.batching import Cursor, slice_batch

__all__ = ["RowSource", "default_batch_size", "read_ahead"]

T = TypeVar("T")

BATCH_BYTES = 16 << 20
"""The size of a batch: large enough that the work per batch costs little, small enough to stay in caches."""

MIN_ROWS, MAX_ROWS = 512, 262_144
"""The least and the most rows of a batch by default."""

WIDE_BATCH_BYTES = 64 << 20
"""The most bytes of the least rows: batches of very many attributes have fewer."""

IN_MEMORY_FACTOR = 4
"""Batches are larger by this factor if the rows are in memory and there is one cell: nothing is copied, and no second
cell would find the rows in a cache."""

FIRST_SLICE = 4096
"""The number of rows in a slice before the speed of the run is known."""

POLL_SECONDS = 0.05
"""How often a waiting reader thread checks whether it is still needed."""


def default_batch_size(schema: Schema, *, single_pass: bool = False) -> int:
    """Return the number of rows of a batch; votes, one a class, count like attributes.

    `single_pass` means that the rows are in memory and that there is only one cell.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> default_batch_size(SEA().schema), default_batch_size(SEA().schema, single_pass=True)
    (262144, 1048576)
    """
    row_bytes = 8 * max(schema.n_attributes, schema.n_classes, 1)
    least = min(MIN_ROWS, max(1, WIDE_BATCH_BYTES // row_bytes))
    size = min(max(BATCH_BYTES // row_bytes, least), MAX_ROWS)
    return IN_MEMORY_FACTOR * size if single_pass else size


class RowSource:
    """The batches of a run, as learners may see them.

    Parameters
    ----------
    stream
        The stream.
    scheme
        May need other rows for training, or need to know the stream.
    labelling
        When labels arrive; a column that it reads is removed from the rows.
    seed
        The seed of the labelling's random numbers.
    n_rows
        The most rows of the stream that a first pass reads, if the scheme has one.

    Examples
    --------
    >>> from streamgauge.labelling import DelayedByColumn
    >>> from streamgauge.schemes import Prequential
    >>> from streamgauge.streams import ArrayStream
    >>> stream = ArrayStream({"price": [1.5, 2.5], "delay": [7, 0]}, ["up", "down"])
    >>> source = RowSource(stream, Prequential(), DelayedByColumn("delay"), seed=1)
    >>> batch, arrivals = next(source.batches(10, None))
    >>> batch.x.tolist(), arrivals.row.tolist()
    ([[1.5], [2.5]], [7, 1])
    """

    def __init__(
        self, stream: Stream, scheme: Scheme, labelling: Labelling, seed: int, n_rows: int | None = None
    ) -> None:
        self._n_rows = n_rows
        self._stream, self._labelling, self.seed = adopt_stream(stream), adopt_labelling(labelling), seed
        self._hidden_column: int | None = None
        visible: StreamBase = self._stream
        attribute = self._labelling.attribute
        if attribute is not None:
            names = [known.name for known in stream.schema.attributes]
            if attribute not in names:
                hint = f"if it holds times, numeric=({attribute!r},) (--numeric {attribute}) keeps it, in seconds"
                msg = f"{unknown_name(kind='attribute', name=attribute, known=names)}; {hint}"
                raise StreamgaugeError(msg)
            self._hidden_column = names.index(attribute)
            self._labelling = self._labelling.bind_column(self._hidden_column)
            visible = _WithoutColumn(self._stream, self._hidden_column)
        self.scheme: SchemeBase = adopt_scheme(scheme).bind(visible)
        self.schema: Schema = visible.schema
        self.live: LiveStreamBase | None = self._stream if isinstance(self._stream, LiveStreamBase) else None
        """The stream, if its rows cannot be read again."""
        self._slice_rows = FIRST_SLICE
        self._cursor: Cursor | None = None

    @property
    def labels_delayed(self) -> bool:
        """Whether the labelling is known to delay labels."""
        return self._labelling.delays

    def read(self, start: int, n: int) -> tuple[Batch, Arrivals | None]:
        """Return some rows of the stream, as `batches` would; fast if they follow those returned before."""
        self._cursor = self._cursor or Cursor(self._stream, n)
        return self._prepare(self._cursor.read(start, n))

    def batches(
        self, size: int, n_rows: int | None, start: int = 0, *, ahead: bool = False
    ) -> Iterator[tuple[Batch, Arrivals | None]]:
        """Yield the training rows, at positions below 0, then up to `n_rows` of the stream, `size` at a time.

        With a later `start` there is no training. Rows may be read `ahead`, in a thread. Batches are cut into slices
        that take about a second each, see `adapt_slice_rows`.
        """
        if n_rows is not None and start >= n_rows:
            return
        training = self.scheme.training
        if start == 0 and self.scheme.trains_first:
            self.require_second_pass()
            for batch in self._read(size, self._n_rows, 0, ahead=ahead):
                yield replace(self._make_visible(batch), start=batch.start - FIRST_PASS), None
        if start == 0 and not isinstance(training, int):
            for batch in training.batches(size):
                visible = self._hide_column(Batch(-len(batch), batch.x, batch.y, batch.weight, batch.time))
                self.schema.check(visible)
                yield visible, None
        for batch in self._read(min(size, self.scheme.max_batch_rows), n_rows, start, ahead=ahead):
            yield self._prepare(batch)

    def require_second_pass(self) -> None:
        """Raise if the scheme reads the stream twice, but the stream cannot be read again or never ends."""
        if not self.scheme.trains_first:
            return
        if self.live is not None:
            reason = "is live: record it to a file first"
        elif self._n_rows is None and not self._stream.ends and self._stream.n_rows is None:
            reason = "never ends: set n_rows"
        else:
            return
        msg = f"{to_text(self.scheme)} reads the stream twice, but {to_text(self._stream)} {reason}"
        raise StreamgaugeError(msg)

    def observe_schema(self) -> Schema:
        """Return the schema with the attributes that are missing in the first rows where any is; reads up to them."""
        missing: NDArray[np.bool_] = np.zeros(self.schema.n_attributes, dtype=np.bool_)
        for batch in self._read(default_batch_size(self.schema), self._n_rows, 0, ahead=False):
            missing = np.logical_or.reduce(np.isnan(self._make_visible(batch).x), axis=0)
            if missing.any():
                break
        seen = zip(self.schema.attributes, missing.tolist(), strict=True)
        return replace(self.schema, attributes=tuple(replace(known, missing=gaps) for known, gaps in seen))

    def _prepare(self, batch: Batch) -> tuple[Batch, Arrivals | None]:
        return self._make_visible(batch), self._labelling.arrivals(batch, self.seed)

    def _make_visible(self, batch: Batch) -> Batch:
        """Return the rows of the stream as learners see them."""
        visible = self._hide_column(batch)
        if not self._stream.checked:
            self.schema.check(visible)
        return visible

    def _read(self, size: int, n_rows: int | None, start: int, *, ahead: bool) -> Iterator[Batch]:
        if self.live is not None:
            yield from self._read_live(self.live, size, n_rows, start)
            return
        batches = _limit_rows(self._stream.batches(size, start), n_rows)
        with read_ahead(batches) if ahead else nullcontext(batches) as reader:
            yield from self._cut_slices(reader)

    def _read_live(self, stream: LiveStreamBase, size: int, n_rows: int | None, start: int) -> Iterator[Batch]:
        """Yield the rows of a stream that cannot go back: never take more from it than is passed on at once."""
        while n_rows is None or start < n_rows:
            limit = min(size, self._slice_rows, size if n_rows is None else n_rows - start)
            batch = next(stream.batches(limit, start))
            start += len(batch)
            yield batch

    def adapt_slice_rows(self, n_rows: int, seconds: float) -> None:
        """Adapt the size of a slice so that it takes about a second; training rows, which do not count, are ignored."""
        if not n_rows:
            return
        per_second = int(n_rows / max(seconds, 1e-9))
        if seconds > 2.0:
            self._slice_rows = max(1, per_second)
        elif seconds < 0.5 and n_rows >= self._slice_rows:  # a smaller batch did not reach the limit
            self._slice_rows = max(2 * self._slice_rows, per_second)

    def _cut_slices(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            start = 0
            while start < len(batch):
                stop = min(len(batch), start + self._slice_rows)
                yield batch if stop - start == len(batch) else slice_batch(batch, start, stop)
                start = stop

    def _hide_column(self, batch: Batch) -> Batch:
        if self._hidden_column is None or batch.x.shape[1] == self.schema.n_attributes:
            return batch
        return _delete_column(batch, self._hidden_column)


@dataclass(frozen=True)
class _WithoutColumn(StreamBase):
    """A stream without one of its columns."""

    stream: StreamBase
    index: int

    @cached_property
    def schema(self) -> Schema:
        schema = self.stream.schema
        attributes = schema.attributes[: self.index] + schema.attributes[self.index + 1 :]
        if not attributes:
            msg = f"{schema.attributes[self.index].name!r} is the only attribute; learners need another one"
            raise StreamgaugeError(msg)
        return replace(schema, attributes=attributes)

    @property
    def n_rows(self) -> int | None:
        return self.stream.n_rows

    @property
    def fingerprint(self) -> str:
        return f"{self.stream.fingerprint} without attribute {self.index}"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        for batch in self.stream.batches(size, start):
            yield _delete_column(batch, self.index)


def _delete_column(batch: Batch, index: int) -> Batch:
    x = np.ascontiguousarray(np.delete(batch.x, index, axis=1))
    return Batch(batch.start, x, batch.y, batch.weight, batch.time)


def _limit_rows(batches: Iterator[Batch], n_rows: int | None) -> Iterator[Batch]:
    """Yield batches up to a number of rows."""
    for batch in batches:
        if n_rows is None or batch.start + len(batch) < n_rows:
            yield batch
            continue
        yield slice_batch(batch, 0, n_rows - batch.start)
        return


@contextmanager
def read_ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Read items in a thread while the block runs, at most two ahead of the consumer.

    Items keep their order, and an error is raised where it occurred. The thread ends with the block.

    Examples
    --------
    >>> with read_ahead(iter([1, 2, 3])) as ahead:
    ...     list(ahead)
    [1, 2, 3]
    """
    queue: Queue[_Item[T] | _End] = Queue(maxsize=1)  # the reader holds one more
    needed = threading.Event()
    needed.set()
    reader = threading.Thread(target=_fill, args=(items, queue, needed), name="streamgauge-reader", daemon=True)
    reader.start()
    try:
        yield _drain(queue)
    finally:
        needed.clear()
        _empty(queue)
        reader.join()


@dataclass(frozen=True)
class _Item(Generic[T]):
    value: T


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


def _fill(items: Iterator[T], queue: "Queue[_Item[T] | _End]", needed: threading.Event) -> None:
    end = _End()
    try:
        for value in items:
            if not _put(_Item(value), queue, needed):
                break
    except BaseException as error:
        end = _End(error)
    finally:
        close_iterator(items)
    _put(end, queue, needed)


def _put(item: "_Item[T] | _End", queue: "Queue[_Item[T] | _End]", needed: threading.Event) -> bool:
    while needed.is_set():
        try:
            queue.put(item, timeout=POLL_SECONDS)
        except Full:
            continue
        return True
    return False


def _drain(queue: "Queue[_Item[T] | _End]") -> Iterator[T]:
    while True:
        item = queue.get()
        if isinstance(item, _Item):
            yield item.value
        elif item.error is not None:
            raise item.error
        else:
            return


def _empty(queue: "Queue[_Item[T] | _End]") -> None:
    """Make room, so that a waiting reader notices at once that it is not needed."""
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
