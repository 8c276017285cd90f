"""What the loop is fed with: the rows for training, then those of the stream, each with the arrival of its label."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from streamgauge._engine.read_ahead import read_ahead
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import Bound, Inserting, Labelling, Resumable, Scheme, Secretive, Stream, Trained
from streamgauge.records import Arrivals, Batch, Schema
from streamgauge.streams.composed import Cursor

__all__ = ["RowSource", "usual_size"]

BATCH_BYTES = 16 << 20
"""How much a batch holds: enough that what is done once a batch costs little, and that caches are not often lost to
it; little beside what a machine has."""

FEWEST_ROWS, MOST_ROWS = 512, 262_144
"""A batch has no fewer and no more rows than these."""

TIMES_AT_HAND = 4
"""So many times as large is a batch of rows that are in memory anyway and that one learner alone goes over: nothing is
copied, and no second learner would find them in a cache."""

FIRST_PIECE = 4096
"""How many rows are done before anybody knows how long they take."""


def usual_size(schema: Schema, *, at_hand: bool = False) -> int:
    """Say how many rows a batch has where nobody says otherwise; votes, one a class, count as the values do.

    Rows are `at_hand` where they are in memory and one learner alone goes over them.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> usual_size(SEA().schema), usual_size(SEA().schema, at_hand=True)
    (262144, 1048576)
    """
    size = min(max(BATCH_BYTES // (8 * max(schema.n_attributes, schema.n_classes)), FEWEST_ROWS), MOST_ROWS)
    return TIMES_AT_HAND * size if at_hand else size


class RowSource:
    """Gives the batches of a run, as learners may see them.

    Parameters
    ----------
    stream
        The stream.
    scheme
        What may want other rows first, or know the stream.
    labelling
        Says when labels arrive; an attribute that tells it so is left out of the rows.
    seed
        Decides what the labelling draws.

    Examples
    --------
    >>> from streamgauge.labelling import DelayedByColumn
    >>> from streamgauge.schemes import Prequential
    >>> from streamgauge.streams import ArrayStream
    >>> stream = ArrayStream({"price": [1.5, 2.5], "delay": [7, 0]}, ["up", "down"])
    >>> feed = RowSource(stream, Prequential(), DelayedByColumn("delay"), seed=1)
    >>> batch, arrivals = next(feed.batches(10, None))
    >>> batch.x.tolist(), arrivals.row.tolist()
    ([[1.5], [2.5]], [7, 1])
    """

    def __init__(self, stream: Stream, scheme: Scheme, labelling: Labelling, seed: int) -> None:
        self._stream, self._labelling, self._seed = stream, labelling, seed
        self._place: int | None = None
        shown = stream
        if isinstance(labelling, Secretive) and labelling.attribute is not None:
            names = [attribute.name for attribute in stream.schema.attributes]
            if labelling.attribute not in names:
                raise unknown_name(kind="attribute", name=labelling.attribute, known=names)
            self._place = names.index(labelling.attribute)
            self._labelling = labelling.told_by(self._place)
            shown = _Without(stream, self._place)
        self.scheme: Scheme = scheme.on(shown) if isinstance(scheme, Bound) else scheme
        self.schema: Schema = shown.schema
        self.piece = FIRST_PIECE
        self._cursor: Cursor | None = None

    def rows(self, start: int, n: int) -> tuple[Batch, Arrivals | None]:
        """Give some rows of the stream, as `batches` would; quick where they follow those given before."""
        self._cursor = self._cursor or Cursor(self._stream, n)
        batch = self._cursor.rows(start, n)
        shown = self._shown(batch)
        if not getattr(self._stream, "checked", False):
            self.schema.check(shown)
        return shown, self._labelling.arrivals(batch, self._seed)

    def batches(
        self, size: int, n_rows: int | None, start: int = 0, *, ahead: bool = False
    ) -> Iterator[tuple[Batch, Arrivals | None]]:
        """Give the rows for training, which stand before row 0, and up to `n_rows` of the stream, `size` at a time.

        From a later `start` on there is no training. Rows may be read `ahead`, in a thread. Batches are given in
        pieces of no more rows than `piece` says.
        """
        if n_rows is not None and start >= n_rows:
            return
        scheme = self.scheme
        if start == 0 and isinstance(scheme, Trained) and not isinstance(scheme.training, int):
            for batch in scheme.training.batches(size):
                shown = self._shown(Batch(-len(batch), batch.x, batch.y, batch.weight, batch.time))
                self.schema.check(shown)
                yield shown, None
        size = min(size, scheme.most_rows) if isinstance(scheme, Inserting) else size
        checked = getattr(self._stream, "checked", False)
        for batch in self._read(size, n_rows, start, ahead=ahead):
            shown = self._shown(batch)
            if not checked:
                self.schema.check(shown)
            yield shown, self._labelling.arrivals(batch, self._seed)

    def _read(self, size: int, n_rows: int | None, start: int, *, ahead: bool) -> Iterator[Batch]:
        if isinstance(self._stream, Resumable):
            yield from self._as_needed(self._stream, size, n_rows, start)
            return
        read = _limited(self._stream.batches(size, start), n_rows)
        with read_ahead(read) if ahead else nullcontext(read) as batches:
            yield from self._pieces(batches)

    def _as_needed(self, stream: Stream, size: int, n_rows: int | None, done: int) -> Iterator[Batch]:
        """Give the rows of a stream that cannot go back: none is taken from it that is not handed on at once."""
        while n_rows is None or done < n_rows:
            most = min(size, self.piece, size if n_rows is None else n_rows - done)
            batch = next(stream.batches(most, done))
            done += len(batch)
            yield batch

    def pace(self, n_rows: int, seconds: float) -> None:
        """Let what is done at once take about a second, so that a run can be watched and stopped in time."""
        in_a_second = int(n_rows / max(seconds, 1e-9))
        if seconds > 2.0:
            self.piece = max(1, in_a_second)
        elif seconds < 0.5 and n_rows >= self.piece:  # else it was no hindrance
            self.piece = max(2 * self.piece, in_a_second)

    @property
    def live(self) -> Resumable | None:
        """The stream, where it is one whose rows cannot be read again."""
        return self._stream if isinstance(self._stream, Resumable) else None

    def _pieces(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        for batch in batches:
            start = 0
            while start < len(batch):
                stop = min(len(batch), start + self.piece)
                yield batch if stop - start == len(batch) else _part(batch, start, stop)
                start = stop

    def _shown(self, batch: Batch) -> Batch:
        """Leave out the attribute that only the labelling may see."""
        if self._place is None or batch.x.shape[1] == self.schema.n_attributes:
            return batch
        x = np.ascontiguousarray(np.delete(batch.x, self._place, axis=1))
        return Batch(batch.start, x, batch.y, batch.weight, batch.time)


@dataclass(frozen=True)
class _Without:
    """A stream without one of its attributes."""

    stream: Stream
    place: int

    @cached_property
    def schema(self) -> Schema:
        schema = self.stream.schema
        attributes = schema.attributes[: self.place] + schema.attributes[self.place + 1 :]
        if not attributes:
            msg = f"{schema.attributes[self.place].name!r} is the only attribute, and learners need another"
            raise StreamgaugeError(msg)
        return Schema(attributes, schema.classes)

    @property
    def n_rows(self) -> int | None:
        return self.stream.n_rows

    @property
    def fingerprint(self) -> str:
        return f"{self.stream.fingerprint} without attribute {self.place}"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        for batch in self.stream.batches(size, start):
            x = np.ascontiguousarray(np.delete(batch.x, self.place, axis=1))
            yield Batch(batch.start, x, batch.y, batch.weight, batch.time)


def _limited(batches: Iterator[Batch], n_rows: int | None) -> Iterator[Batch]:
    """Give the batches up to a number of rows."""
    for batch in batches:
        if n_rows is None or batch.start + len(batch) < n_rows:
            yield batch
            continue
        yield _part(batch, 0, n_rows - batch.start)
        return


def _part(batch: Batch, start: int, stop: int) -> Batch:
    rows = slice(start, stop)
    weight, time = (None if column is None else column[rows] for column in (batch.weight, batch.time))
    return Batch(batch.start + start, batch.x[rows], batch.y[rows], weight, time)
