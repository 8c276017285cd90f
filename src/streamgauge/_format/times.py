"""Times of rows for people: dates in UTC, or plain seconds if they count from the start of something else."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["format_moment", "format_time", "increases", "shows_dates"]

FIRST_DATE = 1e8
"""Times below this, March 1973, are seconds of a simulation or an experiment, which have no date."""

LAST_DATE = 253402300800.0
"""The year 10000, which no text of a date has."""

DAY = 86_400.0

LONG = 30 * DAY
"""In a run over more than this time, moments are days."""


def shows_dates(times: NDArray[np.float64] | float) -> bool:
    """Return whether times, in seconds since 1970, are shown as dates: not if all of them are near 0.

    Examples
    --------
    >>> shows_dates(np.array([0.0, 3600.0])), shows_dates(np.array([1.7e9, 1.8e9])), shows_dates(-5e8)
    (False, True, True)
    """
    greatest = float(np.max(np.abs(times), initial=0.0))
    return greatest >= FIRST_DATE and float(np.max(times, initial=-np.inf)) < LAST_DATE


def increases(times: NDArray[np.float64]) -> bool:
    """Return whether times can be an axis: all are known, none is less than the one before, and some are greater.

    Examples
    --------
    >>> increases(np.array([1.0, 1.0, 2.0])), increases(np.array([1.0, 2.0, 1.5])), increases(np.array([1.0]))
    (True, False, False)
    """
    return len(times) > 1 and bool(np.isfinite(times).all() and (np.diff(times) >= 0).all() and times[-1] > times[0])


def format_time(time: float) -> str | float:
    """Return a time as a date in UTC by ISO 8601, to the microsecond; unchanged if it has no date.

    Examples
    --------
    >>> format_time(1704067200.0), format_time(1704067200.25), format_time(12.5)
    ('2024-01-01T00:00:00Z', '2024-01-01T00:00:00.250000Z', 12.5)
    """
    if not shows_dates(time):
        return time
    text = str(np.datetime64(round(time * 1e6), "us"))
    return f"{text.removesuffix('.000000')}Z"


def format_moment(time: float, span: float) -> str:
    """Return a date in UTC as precisely as people need it in a run over `span` seconds: a day, a minute or a second.

    Examples
    --------
    >>> [format_moment(1704067205.0, span) for span in (1e7, 1e6, 1e3)]
    ['2024-01-01', '2024-01-01 00:00', '2024-01-01 00:00:05']
    """
    unit = "D" if span > LONG else "m" if span > DAY else "s"
    return str(np.datetime64(int(time // 1), "s").astype(f"datetime64[{unit}]")).replace("T", " ")
