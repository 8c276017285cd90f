"""Concatenated streams."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.records import Batch, Drift, Schema
from streamgauge.streams.base import drifts_of, min_limit, require_limit
from streamgauge.streams.batching import Cursor, concatenate
from streamgauge.streams.composed import Composed, merge_schemas, require_streams

__all__ = ["Joined"]


@dataclass(frozen=True)
class Joined(Composed):
    """Streams one after the other, each from its first row on.

    Parameters
    ----------
    streams
        The streams; all but the last must end, and the last as well if they are repeated.
    repeat
        Whether to restart with the first stream after the last, for ever.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> Joined((SEA(1, n_rows=100), SEA(3, n_rows=50))).n_rows
    150
    """

    streams: tuple[Stream, ...]
    repeat: bool = False

    def __post_init__(self) -> None:
        require_streams(self.streams)
        merge_schemas(self.streams)
        for i, stream in enumerate(self.streams):
            if not stream.n_rows and (self.repeat or stream.n_rows == 0 or i < len(self.streams) - 1):
                msg = f"cannot join: stream {i + 1} {'is empty' if stream.n_rows == 0 else 'never ends'}"
                raise StreamgaugeError(msg)

    @property
    def _streams(self) -> tuple[Stream, ...]:
        return self.streams

    @cached_property
    def schema(self) -> Schema:
        """Schema of all streams."""
        return merge_schemas(self.streams)

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        """First row of each stream in the first cycle, then the end of the cycle if there is one."""
        lengths = [stream.n_rows for stream in self.streams if stream.n_rows is not None]
        return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))

    @property
    def n_rows(self) -> int | None:
        """Total number of rows; None if endless."""
        return None if self.repeat or self.streams[-1].n_rows is None else int(self._starts[-1])

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Return a sudden drift at every boundary, and the drifts of the streams, that begin before a row."""
        limit = min_limit(self.n_rows, row)
        if self.repeat:
            require_limit(limit)
        drifts: list[Drift] = []
        for i, start in self._list_starts(limit):
            drifts += [Drift(start)] if start else []
            inner = drifts_of(self.streams[i], None if limit is None else limit - start)
            drifts += [replace(drift, position=drift.position + start) for drift in inner]
        return tuple(sorted(drifts))

    def _list_starts(self, limit: int | None) -> list[tuple[int, int]]:
        """Return index and first row of every stream that starts before a row."""
        cycle = int(self._starts[-1])
        n_cycles = -(-limit // cycle) if self.repeat and limit is not None else 1
        starts = [(i, k * cycle + int(self._starts[i])) for k in range(n_cycles) for i in range(len(self.streams))]
        return [(i, start) for i, start in starts if limit is None or start < limit]

    def _build_batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        parts: list[Batch] = []
        row, stop = first, first + n
        while row < stop:
            row_in_cycle = row % int(self._starts[-1]) if self.repeat else row
            i = min(int(np.searchsorted(self._starts, row_in_cycle, side="right")) - 1, len(self.streams) - 1)
            inner_row, length = row_in_cycle - int(self._starts[i]), self.streams[i].n_rows
            n_part = stop - row if length is None else min(stop - row, length - inner_row)
            parts.append(cursors[i].read(inner_row, n_part))
            row += n_part
        return concatenate(parts, first, self.schema.n_attributes)
