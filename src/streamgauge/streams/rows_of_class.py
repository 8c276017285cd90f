"""Search for rows of a wanted class without leaving their position in the stream.

The candidates for a row are the rows at its own position in samples 1, 2, 3, ... of the stream: all of the same concept
at the same time, and no row is a candidate for two positions.
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Stream
from streamgauge.randomness import draw

__all__ = ["find_rows_of_class", "resample"]

_MAX_TRIES = 1000
"""Candidates tried for a row. A class of share 0.02 is missed once in 600 million rows."""

_DENSE = 1 / 300
"""Share of the rows of a range from which on the whole range is read at once."""


def find_rows_of_class(stream: Stream, rows: NDArray[np.int64], classes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return values [n, d] of a row of the wanted class for each of `rows`, which are ascending positions.

    Sample 0, the stream itself, is not searched: the caller has already seen that it has another class there.

    Examples
    --------
    >>> from streamgauge.streams import STAGGER
    >>> find_rows_of_class(STAGGER(concept=1), np.array([70, 80]), np.array([1, 1]))[:, :2].tolist()  # small and red
    [[0.0, 0.0], [0.0, 0.0]]
    """
    values = np.empty((len(rows), stream.schema.n_attributes))
    missing = np.arange(len(rows))
    for k in range(1, _MAX_TRIES):
        if len(missing) == 0:
            return values
        x, y = _read_rows(resample(stream, k), rows[missing])
        matches = y == classes[missing]
        values[missing[matches]] = x[matches]
        missing = missing[~matches]
    if len(missing):
        name = stream.schema.classes[classes[missing[0]]]
        msg = f"row {rows[missing[0]]}: class {name!r} is too rare, none of {_MAX_TRIES} candidates has it"
        raise StreamgaugeError(msg)
    return values


def _read_rows(stream: Stream, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return values and classes of the rows at ascending positions."""
    first, n = int(rows[0]), int(rows[-1] - rows[0]) + 1
    if len(rows) >= _DENSE * n:
        batch = next(stream.batches(n, first))
        return batch.x[rows - first], batch.y[rows - first]
    batches = [next(stream.batches(1, int(row))) for row in rows]
    return np.concatenate([batch.x for batch in batches]), np.concatenate([batch.y for batch in batches])


def resample(stream: Stream, k: int) -> Stream:
    """Return the `k`-th other sample of the same concepts, for `k` from 1 on.

    Generators have any number of samples, and so do streams composed of generators; stored rows have only one.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> bool((next(resample(SEA(), 1).batches(1)).x == next(SEA().batches(1)).x).any())
    False
    """
    resampled: Stream = _resample(stream, k)
    return resampled


def _resample(stream: Any, k: int) -> Any:  # noqa: ANN401  (a stream or a tuple of streams)
    if isinstance(stream, tuple):
        return tuple(_resample(member, k) for member in stream)
    if is_dataclass(stream) and not isinstance(stream, type):
        options = {field.name: getattr(stream, field.name) for field in fields(stream)}
        if "sample" in options:
            return replace(stream, sample=int(draw(options["sample"], "samples", 0, k)[0]))
        parts = {name: value for name, value in options.items() if _holds_streams(value)}
        if parts:
            return replace(stream, **{name: _resample(value, k) for name, value in parts.items()})
    msg = f"{stream!r} has only one sample of its concept, and more are needed: use a generator"
    raise StreamgaugeError(msg)


def _holds_streams(value: object) -> bool:
    return is_stream(value) or (isinstance(value, tuple) and any(is_stream(member) for member in value))
