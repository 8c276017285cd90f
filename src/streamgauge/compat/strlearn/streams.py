"""Conversion of streams between stream-learn and streamgauge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_stream
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream
from streamgauge.records import Schema
from streamgauge.streams import ArrayStream, as_stream

__all__ = ["ChunkedStream", "adopt_chunks", "from_strlearn"]

Chunk = tuple[NDArray[np.float64], NDArray[Any]]


def from_strlearn(stream: Any) -> ArrayStream:  # noqa: ANN401  (stream-learn has no types)
    """Read a stream of stream-learn into memory; classes are named by its labels.

    The stream is read from its start to its end.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> theirs = ChunkedStream(SEA(n_rows=1000), chunk_size=200)
    >>> from_strlearn(theirs).n_rows
    1000
    """
    if getattr(stream, "chunk_id", -1) >= 0:
        stream.reset()
    chunks = []
    while True:
        chunk = stream.get_chunk()
        if chunk is None or not len(chunk[1]):
            break
        chunks.append(chunk)
        if stream.is_dry():
            break
    if not chunks:
        msg = "the stream has no chunks"
        raise StreamgaugeError(msg)
    x, y = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    codes = np.searchsorted(np.asarray(stream.classes_), y)
    names = [str(label) for label in np.asarray(stream.classes_).tolist()]
    attributes = ArrayStream(x[:1], names[:1]).schema.attributes
    return ArrayStream(x, [names[code] for code in codes], schema=Schema(attributes, tuple(names)))


class ChunkedStream:
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
        self.stream: Stream = as_stream(stream)
        rows = self.stream.n_rows
        if rows is None and n_chunks is None:
            msg = "the stream never ends: set the number of chunks to read with n_chunks"
            raise StreamgaugeError(msg)
        limits = [n_chunks, None if rows is None else -(-rows // chunk_size)]
        self.n_chunks = min(limit for limit in limits if limit is not None)
        self.chunk_size = chunk_size
        self.classes_ = np.arange(self.stream.schema.n_classes)
        self.n_features = self.stream.schema.n_attributes
        self.reset()

    def reset(self) -> None:
        """Return to the start."""
        self.chunk_id = -1
        self.previous_chunk: Chunk | None = None
        self.current_chunk: Chunk | None = None

    def is_dry(self) -> bool:
        """Return whether the last chunk was read."""
        return self.chunk_id + 1 >= self.n_chunks

    def get_chunk(self) -> Chunk | None:
        """Return the next chunk; None after the last one."""
        if self.is_dry():
            return None
        self.previous_chunk = self.current_chunk
        self.chunk_id += 1
        batch = next(self.stream.batches(self.chunk_size, start=self.chunk_id * self.chunk_size))
        self.current_chunk = (batch.x, batch.y.astype(np.int64))
        return self.current_chunk


def adopt_chunks(stream: Any, chunk_size: int | None) -> tuple[Stream, int, NDArray[Any]]:  # noqa: ANN401
    """Return a stream of either library as one of ours, with its chunk size and its labels by class code.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> adopt_chunks(SEA(n_rows=500), chunk_size=100)[1:]
    (100, array([0, 1]))
    """
    if hasattr(stream, "get_chunk"):
        return from_strlearn(stream), int(stream.chunk_size), np.asarray(stream.classes_)
    known = stream if is_stream(stream) else as_stream(stream)
    return known, chunk_size or 200, np.arange(known.schema.n_classes)
