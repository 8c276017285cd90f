"""Streams one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.records import Batch, Drift, Schema
from streamgauge.streams.composed import Composed, Cursor, common_schema, require_streams, together
from streamgauge.streams.true_drifts import drifts_of, endless, moved, sooner

__all__ = ["Joined"]


@dataclass(frozen=True)
class Joined(Composed):
    """Streams one after the other, each from its own first row on.

    Parameters
    ----------
    streams
        The streams; all but the last must end, and the last too where they are repeated.
    repeat
        Whether to begin again after the last, for ever.

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
        common_schema(self.streams)
        for i, stream in enumerate(self.streams):
            if not stream.n_rows and (self.repeat or stream.n_rows == 0 or i < len(self.streams) - 1):
                msg = f"stream {i + 1} of those to join {'is empty' if stream.n_rows == 0 else 'never ends'}"
                raise StreamgaugeError(msg)

    def _streams(self) -> tuple[Stream, ...]:
        return self.streams

    @cached_property
    def schema(self) -> Schema:
        """The schema that the streams share."""
        return common_schema(self.streams)

    @cached_property
    def _seams(self) -> NDArray[np.int64]:
        """Where each stream begins; then the end, where there is one."""
        lengths = [stream.n_rows for stream in self.streams if stream.n_rows is not None]
        return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))

    @property
    def n_rows(self) -> int | None:
        """As many as all together have."""
        return None if self.repeat or self.streams[-1].n_rows is None else int(self._seams[-1])

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give a sudden change at every seam, and the changes of the streams."""
        limit = sooner(self.n_rows, row)
        if limit is None and self.repeat:
            raise endless()
        drifts: list[Drift] = []
        for place, begin in self._places(limit):
            drifts += [Drift(begin)] if begin else []
            drifts += moved(drifts_of(self.streams[place], None if limit is None else limit - begin), begin)
        return tuple(sorted(drifts))

    def _places(self, limit: int | None) -> list[tuple[int, int]]:
        """Give every stream that begins before a row, and where."""
        lap = int(self._seams[-1])
        n_laps = -(-limit // lap) if self.repeat and limit is not None else 1
        places = [(i, k * lap + int(self._seams[i])) for k in range(n_laps) for i in range(len(self.streams))]
        return [(i, begin) for i, begin in places if limit is None or begin < limit]

    def _batch(self, cursors: Sequence[Cursor], first: int, n: int) -> Batch:
        found: list[Batch] = []
        row, stop = first, first + n
        while row < stop:
            inside = row % int(self._seams[-1]) if self.repeat else row
            i = min(int(np.searchsorted(self._seams, inside, side="right")) - 1, len(self.streams) - 1)
            length = self.streams[i].n_rows
            left = stop - row if length is None else min(stop - row, length - (inside - int(self._seams[i])))
            found.append(cursors[i].rows(inside - int(self._seams[i]), left))
            row += left
        return together(found, first, self.schema.n_attributes)
