"""Streams whose rows carry times, with nights and gaps, for tests of times along a run."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.streams import ArrayStream

__all__ = ["START", "make_timed_stream", "make_times"]

START = 1_704_067_200.0
"""The first of January 2024, 00:00 UTC."""


def make_times(n: int = 1000, start: float = START) -> NDArray[np.float64]:
    """Return ascending times with fractions, a gap of ten days in the middle, and some equal ones."""
    gaps = np.random.default_rng(7).exponential(3600.0, n)
    gaps[::10], gaps[n // 2] = 0.0, 864_000.0
    return start + np.cumsum(gaps)


def make_timed_stream(n: int = 1000, start: float = START) -> ArrayStream:
    """Return a stream of two classes whose concept changes in the middle."""
    x = np.random.default_rng(3).normal(size=(n, 2))
    side = np.where(np.arange(n) < n // 2, x[:, 0], -x[:, 0])
    return ArrayStream(x, np.where(side > 0, "up", "down"), time=make_times(n, start))
