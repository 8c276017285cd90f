"""Rows of a wanted class, found without leaving their position in the stream.

The candidates for a row are the rows at its own position in the samples 0, 1, 2 and so on of the stream: all of the
same concept at the same time, and no row is a candidate for two positions.
"""

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.streams.composed import resampled

__all__ = ["MOST_TRIES", "find"]

MOST_TRIES = 1000
"""How many candidates are looked at for a row. A class of share 0.02 is missed once in 600 million rows."""

DENSE = 1 / 300
"""The share of a span of rows that must be wanted for the whole span to be read at once."""


def find(stream: Stream, rows: NDArray[np.int64], wanted: NDArray[np.int32]) -> NDArray[np.float64]:
    """Find a row of the wanted class for each of some ascending positions; their values, float64 [n, d].

    The sample that the stream itself is has been looked at before, in vain.

    Examples
    --------
    >>> from streamgauge.streams import STAGGER
    >>> find(STAGGER(concept=1), np.array([70, 80]), np.array([1, 1]))[:, :2].tolist()  # small and red
    [[0.0, 0.0], [0.0, 0.0]]
    """
    values = np.empty((len(rows), stream.schema.n_attributes))
    missing = np.arange(len(rows))
    for k in range(1, MOST_TRIES):
        if len(missing) == 0:
            return values
        x, y = _rows_at(resampled(stream, k), rows[missing])
        right = y == wanted[missing]
        values[missing[right]] = x[right]
        missing = missing[~right]
    if len(missing):
        name = stream.schema.classes[wanted[missing[0]]]
        msg = f"row {rows[missing[0]]}: none of {MOST_TRIES} candidates has class {name!r}; it is too rare to be wanted"
        raise StreamgaugeError(msg)
    return values


def _rows_at(stream: Stream, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Read rows at ascending positions."""
    first, span = int(rows[0]), int(rows[-1] - rows[0]) + 1
    if len(rows) >= DENSE * span:
        batch = next(stream.batches(span, first))
        return batch.x[rows - first], batch.y[rows - first]
    batches = [next(stream.batches(1, int(row))) for row in rows]
    return np.concatenate([batch.x for batch in batches]), np.concatenate([batch.y for batch in batches])
