"""The mean of windowed or faded readings along a run, with each block of readings left out.

Neighbouring readings cover some of the same rows, so they are not independent. Blocks of at least ten windows hardly
depend on each other.
"""

import re

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.significance.two_way import MIN_BLOCKS, LeftOut, are_dependent

__all__ = ["WINDOWS_OF_BLOCK", "find_width", "leave_readings_out"]

WINDOWS_OF_BLOCK = 10
"""The least number of windows in a block of readings."""

MAX_BLOCKS = 40

_WINDOWS = re.compile(r"(Window|Tumbling|Fading|EWMA)\((?:\w+=)?([0-9.e+-]+)")


def find_width(forgetting: str) -> float:
    """Return how many scored rows a reading covers: the width of a window, or the effective number of faded rows.

    Examples
    --------
    >>> find_width("Window(width=1000)"), round(find_width("Fading(factor=0.9, chunk=20)"))
    (1000.0, 200)
    >>> find_width("AdwinWindow()")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: readings under AdwinWindow() cover no fixed number of rows, so their mean \
cannot be tested: choose a Window, Tumbling, Fading or EWMA, or compare over all rows
    """
    match = _WINDOWS.match(forgetting)
    if match is not None:
        option, chunk = float(match[2]), re.search(r"chunk=(\d+)", forgetting)
        remembered = {"Fading": 1.0 - option, "EWMA": option}.get(match[1], 1.0 / option)
        if remembered > 0.0:
            return (int(chunk[1]) if chunk else 1) / remembered
    msg = (
        f"readings under {forgetting} cover no fixed number of rows, so their mean cannot be tested: choose a Window,"
        " Tumbling, Fading or EWMA, or compare over all rows"
    )
    raise StreamgaugeError(msg)


def leave_readings_out(
    values: NDArray[np.float64], rows: NDArray[np.int64], width: float
) -> tuple[LeftOut, int, tuple[str, ...]]:
    """Return the mean of readings and the same without each block of them, how many they are, and what to keep in mind.

    Readings before the first window is full, and those that are undefined for a learner in a fold, are left out.

    Parameters
    ----------
    values
        The readings of two learners, float64 [2, readings, folds].
    rows
        The row of each reading, ascending.
    width
        How many rows of the stream a reading covers.

    Examples
    --------
    >>> readings = np.random.default_rng(1).random((2, 200, 1))
    >>> left_out, n_readings, notes = leave_readings_out(readings, np.arange(100, 20_100, 100), 50)
    >>> left_out.n_blocks, n_readings, notes
    (40, 200, ())
    """
    full = rows >= width
    defined = np.isfinite(values).all(axis=(0, 2))
    n_undefined = int((full & ~defined).sum())
    rows, values = rows[full & defined], values[:, full & defined]
    n = len(rows)
    n_blocks = _count_blocks(rows, width)
    if n_blocks < MIN_BLOCKS:
        least = MIN_BLOCKS * WINDOWS_OF_BLOCK * width
        msg = (
            f"the mean of readings needs at least {MIN_BLOCKS} blocks of {WINDOWS_OF_BLOCK} windows ({least:,.0f} rows)"
            f" with readings, and there are {n_blocks}: evaluate more rows, choose a smaller window, or compare over"
            " all rows"
        )
        raise StreamgaugeError(msg)
    left_out = _leave_out(values, n_blocks)
    notes = []
    if n_undefined:
        notes.append(f"{n_undefined:,} of {n + n_undefined:,} readings are undefined in some fold and were left out")
    joined = n_blocks
    while joined // 2 >= MIN_BLOCKS and are_dependent(left_out.pseudo_values):
        joined //= 2
        left_out = _leave_out(values, joined)
    if joined < n_blocks:
        notes.append(f"neighbouring blocks of readings depend on each other, so they were joined: {joined} are left")
    return left_out, n, tuple(notes)


def _count_blocks(rows: NDArray[np.int64], width: float) -> int:
    """Return the greatest number of blocks with as many readings in each, of which none covers too few windows."""
    if len(rows) < 2:
        return 0
    least, step = WINDOWS_OF_BLOCK * width, int(np.median(np.diff(rows)))
    most = min(MAX_BLOCKS, int((rows[-1] - rows[0] + max(step, width)) // least), len(rows))
    for n_blocks in range(most, 1, -1):
        starts = _find_starts(len(rows), n_blocks)
        firsts, lasts = rows[starts], rows[np.append(starts[1:], len(rows)) - 1]
        apart = np.diff(firsts, append=rows[-1] + step)
        if (np.maximum(lasts - firsts + width, apart) >= least).all():
            return n_blocks
    return min(most, 1)


def _find_starts(n_readings: int, n_blocks: int) -> NDArray[np.int64]:
    return np.arange(n_blocks) * n_readings // n_blocks


def _leave_out(values: NDArray[np.float64], n_blocks: int) -> LeftOut:
    n = values.shape[1]
    starts = _find_starts(n, n_blocks)
    sums = np.add.reduceat(values, starts, axis=1)  # [2, blocks, folds]
    counts = np.diff(starts, append=n)[:, None]
    without = (sums.sum(axis=1, keepdims=True) - sums) / (n - counts)
    return LeftOut(values.mean(axis=1), np.moveaxis(without, 1, 2))
