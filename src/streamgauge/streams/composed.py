"""Streams composed of other streams: their base class, and the checks and schema they share."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from streamgauge._foreign import adopt_stream, is_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.base import OptionStream, split_rows
from streamgauge.streams.batching import Cursor

__all__ = ["Composed", "merge_schemas", "require_stream", "require_streams"]


@dataclass(frozen=True)
class Composed(OptionStream):
    """A stream composed of other streams; its fingerprint contains theirs."""

    @property
    @abstractmethod
    def n_rows(self) -> int | None:
        """Number of rows; None for an endless stream."""

    @property
    @abstractmethod
    def _streams(self) -> tuple[Stream, ...]:
        """The streams it is composed of."""

    @abstractmethod
    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        """Return `n` rows from row `first` on; there is a cursor for each stream."""

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of its streams, each once."""
        return tuple(dict.fromkeys(note for stream in self._streams for note in adopt_stream(stream).notes))

    @property
    def has_times(self) -> bool | None:
        """Whether the rows carry times: those of all its streams do."""
        known = [adopt_stream(stream).has_times for stream in self._streams]
        return False if False in known else None if None in known else True

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Return an iterator over the rows from `start` on, `size` at a time."""
        cursors = [Cursor(stream, size) for stream in self._streams]
        return (self._build_batch(cursors, first, n) for first, n in split_rows(self.n_rows, size, start))

    def _format_option(self, value: object) -> str:
        if is_stream(value):
            return value.fingerprint
        if isinstance(value, tuple):
            return f"({', '.join(map(self._format_option, value))})"
        if callable(value):
            # Functions with the same values are the same shape.
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
    for i, stream in enumerate(streams):
        require_stream(f"stream {i + 1}", stream)


def merge_schemas(streams: Sequence[Stream]) -> Schema:
    """Return the schema that all streams share; a value may be missing if it may be in any of them.

    Examples
    --------
    >>> from streamgauge.streams import SEA, Hyperplane
    >>> merge_schemas([SEA(), Hyperplane()])
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
        if (first.target is None) != (other.target is None):
            msg = "a stream of classes and one of numbers cannot be joined"
            raise StreamgaugeError(msg)
        attributes = []
        for a, b in zip(first.attributes, other.attributes, strict=True):
            if (a.name, a.values) != (b.name, b.values):
                msg = f"streams whose attributes {a.name!r} and {b.name!r} differ in name or values cannot be joined"
                raise StreamgaugeError(msg)
            attributes.append(Attribute(a.name, a.values, missing=a.missing or b.missing))
        first = replace(first, attributes=tuple(attributes))
    return first
