"""Streams that are read chunk by chunk, and conversion between them and ours."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream
from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream, as_stream

__all__ = ["Chunk", "ChunkedStream", "DataStream", "PositionedStream", "adopt", "from_strlearn", "read_chunks"]

Chunk = tuple[NDArray[np.float64], NDArray[Any]]
"""The rows of a chunk and their labels."""


class DataStream(ABC):
    """The base class of stream-learn's streams: `get_chunk`, `is_dry` and iteration over the chunks that are left.

    Examples
    --------
    >>> class Ones(DataStream):
    ...     n_read = 0
    ...     def get_chunk(self):
    ...         self.n_read += 1
    ...         return np.ones((2, 1)), np.ones(2)
    ...     def is_dry(self):
    ...         return self.n_read >= 3
    >>> len(list(Ones()))
    3
    """

    @abstractmethod
    def get_chunk(self) -> Chunk | None:
        """Return the next chunk; None after the last one."""

    @abstractmethod
    def is_dry(self) -> bool:
        """Return whether the last chunk was read."""

    def __iter__(self) -> Iterator[Chunk]:
        while not self.is_dry():
            chunk = self.get_chunk()
            if chunk is not None:
                yield chunk


class PositionedStream(DataStream):
    """A stream of a known number of chunks, which reads rows by their positions."""

    n_chunks: int
    chunk_size: int
    classes_: NDArray[Any]
    chunk_id: int = -1
    previous_chunk: Chunk | None = None
    current_chunk: Chunk | None = None

    @abstractmethod
    def read_rows(self, start: int, stop: int) -> Chunk:
        """Return the rows from one position to another."""

    def reset(self) -> None:
        """Return to the start."""
        self.chunk_id, self.previous_chunk, self.current_chunk = -1, None, None

    def is_dry(self) -> bool:
        """Return whether the last chunk was read."""
        return self.chunk_id + 1 >= self.n_chunks

    def get_chunk(self) -> Chunk | None:
        """Return the next chunk; None after the last one."""
        if self.is_dry():
            return None
        self.previous_chunk = self.current_chunk
        self.chunk_id += 1
        self.current_chunk = self.read_rows(self.chunk_id * self.chunk_size, (self.chunk_id + 1) * self.chunk_size)
        return self.current_chunk


class ChunkedStream(PositionedStream):
    """A stream of streamgauge in chunks, for the evaluators of stream-learn.

    Labels are class codes. The last chunk may be shorter.

    Parameters
    ----------
    stream
        The stream, or a pair of arrays.
    chunk_size
        Rows per chunk.
    n_chunks
        Number of chunks; required for endless streams.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> stream = ChunkedStream(SEA(n_rows=500), chunk_size=200)
    >>> x, y = stream.get_chunk()
    >>> stream.n_chunks, x.shape, stream.is_dry()
    (3, (200, 3), False)
    """

    def __init__(self, stream: object, chunk_size: int = 200, n_chunks: int | None = None) -> None:
        require_at_least("chunk_size", chunk_size, 1)
        self.stream: Stream = stream if is_stream(stream) else as_stream(stream)
        rows = self.stream.n_rows
        if rows is None and n_chunks is None:
            msg = "the stream never ends: set the number of chunks to read with n_chunks"
            raise StreamgaugeError(msg)
        limits = [n_chunks, None if rows is None else -(-rows // chunk_size)]
        self.n_chunks = min(limit for limit in limits if limit is not None)
        self.chunk_size = chunk_size
        self.classes_ = np.arange(self.stream.schema.n_classes)
        self.n_features = self.stream.schema.n_attributes

    def read_rows(self, start: int, stop: int) -> Chunk:
        """Return the rows from one position to another."""
        batch = next(self.stream.batches(stop - start, start=start))
        return batch.x, batch.y.astype(np.int64)


def adopt(stream: Any, chunk_size: int | None = None) -> Any:
    """Return a stream of either library as one of chunks, at its start.

    stream-learn's ARFF parser cannot return to its start, so its file is opened again.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> adopt(SEA(n_rows=500), chunk_size=100).n_chunks
    5
    """
    if not hasattr(stream, "get_chunk"):
        return ChunkedStream(stream, chunk_size or 200)
    if hasattr(stream, "analyze_header"):
        from streamgauge.compat.strlearn.streams.parsers import ARFFParser  # noqa: PLC0415  (a cycle)

        return ARFFParser(stream.name, stream.chunk_size, stream.n_chunks)
    if getattr(stream, "current_chunk", None) is not None and hasattr(stream, "reset"):
        stream.reset()
    return stream


def read_chunks(stream: Any) -> Iterator[Chunk]:
    """Yield the chunks of a stream of either library that are left.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> [len(y) for x, y in read_chunks(ChunkedStream(SEA(n_rows=500), chunk_size=200))]
    [200, 200, 100]
    """
    while True:
        chunk = stream.get_chunk()
        if chunk is None or not len(chunk[1]):
            return
        yield chunk
        if stream.is_dry():
            return


def from_strlearn(stream: Any) -> ArrayStream:
    """Read a stream of stream-learn, a generator or a parser, into memory; classes are named by its labels.

    The stream is read from its start to its end.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> theirs = ChunkedStream(SEA(n_rows=1000), chunk_size=200)
    >>> from_strlearn(theirs).n_rows
    1000
    """
    stream = adopt(stream)
    chunks = list(read_chunks(stream))
    if not chunks:
        msg = "the stream has no chunks"
        raise StreamgaugeError(msg)
    x, y = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    labels = np.unique(y)
    known = getattr(stream, "classes_", None)
    if known is not None and np.isin(labels, known).all():
        labels = np.unique(known)
    names = [_name_label(label) for label in labels.tolist()]
    codes = np.searchsorted(labels, y)
    attributes = tuple(Attribute(f"a{i + 1}", missing=bool(np.isnan(x[:, i]).any())) for i in range(x.shape[1]))
    return ArrayStream(x, [names[code] for code in codes], schema=Schema(attributes, tuple(names)))


def _name_label(label: object) -> str:
    """Return the name of a class; a whole number has no decimal point."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
