"""The contract of a stream."""

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from streamgauge.protocols import Stream
from streamgauge.records import Batch, Schema
from streamgauge.tasks import find_task

__all__ = ["check_stream"]

BATCH_SIZES = (1, 7, 64, 1000)


def check_stream(stream: Stream, n_rows: int = 1000) -> None:
    """Raise unless the first rows of a stream are the same however they are read.

    Two passes, also at the same time, give the same rows; so do any batch size and any start; positions count from 0;
    all batches but the last are full; every value matches the schema; a stream that ends has `n_rows` rows.

    Parameters
    ----------
    stream
        The stream to check.
    n_rows
        The number of rows to check.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> check_stream(SEA(drift_every=100))
    """
    whole = next(stream.batches(n_rows), None)
    expected = n_rows if stream.n_rows is None else min(n_rows, stream.n_rows)
    n = 0 if whole is None else len(whole)
    _require(n == expected, f"{n} of {expected} rows in the first batch")
    if whole is None:
        return
    stream.schema.check(whole)
    _check_dtypes(whole, stream.schema)
    for size in BATCH_SIZES:
        _check_pass(stream, whole, size, start=0)
    for start in sorted({1, 13, n // 2, n - 1}):
        if start < n:
            _check_pass(stream, whole, 17, start)
    _check_two_at_once(stream, whole)
    if stream.n_rows is not None:
        _require(next(stream.batches(1, stream.n_rows), None) is None, "rows after the last")


def _check_dtypes(batch: Batch, schema: Schema) -> None:
    _require(batch.x.dtype == np.float64 and batch.x.flags.c_contiguous, "x is not C-contiguous float64")
    expected = find_task(schema).make_abstentions(0).dtype
    _require(batch.y.dtype == expected, f"y is not {expected}")


def _check_pass(stream: Stream, whole: Batch, size: int, start: int) -> None:
    """Read the rows of `whole` from `start` on in batches of one size."""
    position = start
    for batch in islice(stream.batches(size, start), -(-(len(whole) - start) // size)):
        reading = f"batches of {size} from row {start} on: the batch at row {position}"
        _require(batch.start == position, f"{reading} has start {batch.start}")
        end = position + size if stream.n_rows is None else min(position + size, stream.n_rows)
        _require(len(batch) == end - position, f"{reading} has {len(batch)} rows, not {end - position}")
        _require(_agree(batch, whole, position), f"{reading} has other values than one large batch")
        position = end
    _require(position >= len(whole), f"batches of {size} from row {start} on end at row {position}")


def _check_two_at_once(stream: Stream, whole: Batch) -> None:
    pairs = zip(stream.batches(7), stream.batches(7), strict=True)
    for first, second in islice(pairs, 5):
        same = _agree(first, whole, first.start) and _agree(second, whole, second.start)
        _require(same, f"two passes at the same time differ in the batch at row {first.start}")


def _agree(batch: Batch, whole: Batch, position: int) -> bool:
    """Return whether the rows that a batch shares with `whole` are the same, bit for bit."""
    n = min(len(batch), len(whole) - position)
    for part, column in (
        (batch.x, whole.x),
        (batch.y, whole.y),
        # Missing weights are weights of 1, so a batch of such rows may have none.
        (_weights(batch), _weights(whole)),
        (batch.time, whole.time),
    ):
        if part is None or column is None:
            if part is not column:
                return False
        elif part[:n].tobytes() != column[position : position + n].tobytes():
            return False
    return True


def _weights(batch: Batch) -> NDArray[np.float64]:
    return np.ones(len(batch)) if batch.weight is None else batch.weight


def _require(holds: bool, what: str) -> None:  # noqa: FBT001
    if not holds:
        msg = f"the stream breaks its contract: {what}"
        raise AssertionError(msg)
