"""Streams that are made of other streams: how they read them, what they have in common, and how they are told apart."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream, is_stream
from streamgauge.randomness import draw
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.spans import spans

__all__ = [
    "Composed",
    "Cursor",
    "choose",
    "common_schema",
    "require_stream",
    "require_streams",
    "resampled",
    "together",
    "with_columns",
]

VERSION = 1
"""Goes up when the rows of any stream that is made of others change."""


class Cursor:
    """Reads a stream for one pass over a composed stream; going on where it stopped costs no new start.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> cursor = Cursor(SEA(n_rows=10), size=4)
    >>> [len(cursor.rows(0, 3)), len(cursor.rows(3, 5)), len(cursor.rows(8, 5))]
    [3, 5, 2]
    """

    def __init__(self, stream: Stream, size: int) -> None:
        self._stream, self._size = stream, size
        self._batches: Iterator[Batch] = iter(())
        self._rest: Batch | None = None
        self._position = -1

    def rows(self, first: int, n: int) -> Batch:
        """Give `n` rows from row `first` on, or those that there are."""
        if first != self._position:
            self._batches, self._rest = self._stream.batches(self._size, first), None
        parts, found = [], 0
        while found < n:
            batch = self._rest if self._rest is not None else next(self._batches, None)
            self._rest = None
            if batch is None:
                break
            if found + len(batch) > n:
                batch, self._rest = part(batch, 0, n - found), part(batch, n - found, len(batch))
            parts.append(batch)
            found += len(batch)
        self._position = first + found
        return together(parts, first, self._stream.schema.n_attributes)


def part(batch: Batch, start: int, stop: int) -> Batch:
    """Give some consecutive rows of a batch.

    Examples
    --------
    >>> part(Batch(10, np.zeros((5, 1)), np.zeros(5, dtype=np.int32)), 2, 4).start
    12
    """
    rows = slice(start, stop)
    weight, time = (None if column is None else column[rows] for column in (batch.weight, batch.time))
    return Batch(batch.start + start, batch.x[rows], batch.y[rows], weight, time)


def together(parts: Sequence[Batch], first: int, n_attributes: int) -> Batch:
    """Put rows into one batch, whatever position they had before.

    Examples
    --------
    >>> batch = Batch(7, np.zeros((2, 1)), np.zeros(2, dtype=np.int32))
    >>> together([batch, batch], first=100, n_attributes=1).start
    100
    """
    if len(parts) == 1:
        (only,) = parts
        return only if only.start == first else Batch(first, only.x, only.y, only.weight, only.time)
    together = _Rows(first, sum(len(rows) for rows in parts), n_attributes)
    position = 0
    for rows in parts:
        together.put(np.ones(len(rows), dtype=np.bool_), rows, position)
        position += len(rows)
    return together.batch()


class _Rows:
    """A batch that is filled from several; a weight that is missing is 1."""

    def __init__(self, first: int, n: int, n_attributes: int) -> None:
        self._first = first
        self._x, self._y = np.empty((n, n_attributes)), np.empty(n, dtype=np.int32)
        self._weight: NDArray[np.float64] | None = None
        self._time: NDArray[np.float64] | None = None
        self._timed: bool | None = None

    def put(self, wanted: NDArray[np.bool_], batch: Batch, position: int = 0) -> None:
        """Write the wanted rows of a batch; its first row belongs at a position."""
        if self._timed is not None and self._timed != (batch.time is not None):
            msg = "some of the joined streams say when their rows arrived, and others do not"
            raise StreamgaugeError(msg)
        self._timed = batch.time is not None
        place = slice(position, position + len(batch))
        np.copyto(self._x[place], batch.x, where=wanted[:, None])
        np.copyto(self._y[place], batch.y, where=wanted)
        if batch.weight is not None:
            self._weight = np.ones(len(self._y)) if self._weight is None else self._weight
            np.copyto(self._weight[place], batch.weight, where=wanted)
        if batch.time is not None:
            self._time = np.empty(len(self._y)) if self._time is None else self._time
            np.copyto(self._time[place], batch.time, where=wanted)

    def batch(self) -> Batch:
        return Batch(self._first, self._x, self._y, self._weight, self._time)


def choose(cursors: Sequence[Cursor], choice: NDArray[np.intp], first: int) -> Batch:
    """Take each row from the stream that is chosen for it; all address it by the same position.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> cursors = [Cursor(SEA(seed=seed), 4) for seed in (1, 2)]
    >>> batch = choose(cursors, np.array([0, 1, 0]), first=7)
    >>> batch.start, bool((batch.x[1] == next(SEA(seed=2).batches(1, start=8)).x[0]).all())
    (7, True)
    """
    used = np.flatnonzero(np.bincount(choice, minlength=len(cursors)))
    batches = [cursors[int(k)].rows(first, len(choice)) for k in used]
    if len(batches) == 1:
        return batches[0]
    rows = _Rows(first, len(choice), batches[0].x.shape[1])
    for k, batch in zip(used, batches, strict=True):
        # A stream that is not wanted to the end of the batch may have ended before.
        rows.put(choice[: len(batch)] == k, batch)
    return rows.batch()


@dataclass(frozen=True)
class Composed(ABC):
    """What the streams share that are made of other streams."""

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """What the rows look like."""

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """How many rows there are; None for a stream without end."""

    @property
    def fingerprint(self) -> str:
        """Name, version and every option, streams by their own fingerprints."""
        options = ((f.name, float(v) if f.type is float else v) for f in fields(self) for v in [getattr(self, f.name)])
        return f"{type(self).__name__}/{VERSION}({', '.join(f'{name}={_told(value)}' for name, value in options)})"

    @abstractmethod
    def _streams(self) -> tuple[Stream, ...]:
        """Give the streams that it is made of."""

    @abstractmethod
    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        """Make `n` rows from row `first` on."""

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Give the rows from `start` on, `size` at a time."""
        cursors = [Cursor(stream, size) for stream in self._streams()]
        return (self._batch(cursors, first, n) for first, n in spans(self.n_rows, size, start))


def _told(value: object) -> str:
    if is_stream(value):
        return value.fingerprint
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))})"
    if callable(value):
        # Two functions are the same shape where they have the same values.
        return f"sha256:{sha256(np.asarray(value(np.linspace(0.0, 1.0, 1001))).tobytes()).hexdigest()[:16]}"
    return repr(value)


def require_stream(option: str, value: object) -> None:
    """Raise unless an option is a stream.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> require_stream("before", SEA())
    """
    if not is_stream(value) or isinstance(value, type):
        msg = f"{option} = {value!r}: it must be a stream"
        raise StreamgaugeError(msg)


def require_streams(streams: tuple[Stream, ...]) -> None:
    """Raise unless an option is a tuple of at least one stream.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> require_streams((SEA(1), SEA(3)))
    """
    if not isinstance(streams, tuple) or not streams:
        msg = f"{streams!r} is not a tuple of streams; write (A, B) or (A,)"
        raise StreamgaugeError(msg)
    for stream in streams:
        require_stream("one of the streams", stream)


def common_schema(streams: Sequence[Stream]) -> Schema:
    """Give the schema that streams share; values may be missing where they may be in any of them.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Hyperplane
    >>> common_schema([SEA(), Hyperplane()])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: streams of 3 and of 10 attributes cannot be joined
    """
    first, *others = [stream.schema for stream in streams]
    for other in others:
        if first.n_attributes != other.n_attributes:
            msg = f"streams of {first.n_attributes} and of {other.n_attributes} attributes cannot be joined"
            raise StreamgaugeError(msg)
        if first.classes != other.classes:
            msg = f"streams of classes {first.classes} and {other.classes} cannot be joined"
            raise StreamgaugeError(msg)
        for a, b in zip(first.attributes, other.attributes, strict=True):
            if (a.name, a.values) != (b.name, b.values):
                msg = f"streams whose attributes {a.name!r} and {b.name!r} differ in name or values cannot be joined"
                raise StreamgaugeError(msg)
        pairs = zip(first.attributes, other.attributes, strict=True)
        attributes = tuple(Attribute(a.name, a.values, missing=a.missing or b.missing) for a, b in pairs)
        first = Schema(attributes, first.classes)
    return first


def with_columns(batch: Batch, *, x: NDArray[np.float64] | None = None, y: NDArray[np.int32] | None = None) -> Batch:
    """Give a batch with other values or labels.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((1, 2)), np.zeros(1, dtype=np.int32))
    >>> with_columns(batch, x=np.ones((1, 2))).x.tolist()
    [[1.0, 1.0]]
    """
    return Batch(batch.start, batch.x if x is None else x, batch.y if y is None else y, batch.weight, batch.time)


def resampled(stream: Stream, k: int) -> Stream:
    """Give another sample of the same concepts; 0 is the stream itself.

    Generators have any number of samples, and so have the streams made of them; what is stored has only one.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> one, other = (next(resampled(SEA(), k).batches(1)).x for k in (0, 1))
    >>> bool((one == other).any())
    False
    """
    return stream if k == 0 else _resampled(stream, k)


def _resampled(stream: Any, k: int) -> Any:  # noqa: ANN401
    if isinstance(stream, tuple):
        return tuple(_resampled(part, k) for part in stream)
    if is_dataclass(stream) and not isinstance(stream, type):
        if hasattr(stream, "sample"):
            return replace(stream, sample=int(draw(stream.sample, "samples", 0, k)[0]))
        parts = {f.name: v for f in fields(stream) for v in [getattr(stream, f.name)] if _holds_streams(v)}
        if parts:
            return replace(stream, **{name: _resampled(value, k) for name, value in parts.items()})
    msg = f"{stream!r} holds one sample of its concept only, and this needs more: give it a generator"
    raise StreamgaugeError(msg)


def _holds_streams(value: object) -> bool:
    return is_stream(value) or (isinstance(value, tuple) and any(is_stream(v) for v in value))
