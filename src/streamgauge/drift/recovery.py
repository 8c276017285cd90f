"""What a drift did to a learner: how much worse it became, and when it was as good as before."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Drift

__all__ = ["Recovery", "recoveries"]


@dataclass(frozen=True)
class Recovery:
    """What one drift did to a learner.

    Parameters
    ----------
    before
        Its error just before the drift; NaN where there is no reading.
    worst
        Its greatest error from then on until the next drift.
    time
        After how many rows the error was back, within a tenth of the deterioration; None where it was not before the
        next drift.

    Examples
    --------
    >>> round(Recovery(0.125, 0.375, 500).deterioration, 3)
    0.25
    """

    before: float
    worst: float
    time: int | None

    @property
    def deterioration(self) -> float:
        """By how much the error grew, at worst; below 0 where it never was as great again."""
        return self.worst - self.before


def recoveries(
    rows: NDArray[np.int64], errors: NDArray[np.float64], drifts: Sequence[Drift]
) -> tuple[Recovery | None, ...]:
    """Say what each drift did to a learner whose error was read after so many rows; None where no reading tells.

    The error should be a recent one, of a window or a fading factor: a mean over all rows comes back late.

    Parameters
    ----------
    rows
        After how many rows of the stream each reading was taken, ascending.
    errors
        The error rate at each.
    drifts
        The true drifts, in order.

    Examples
    --------
    >>> rows, errors = np.arange(100, 1100, 100), np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.4, 0.3, 0.2, 0.1, 0.1])
    >>> recoveries(rows, errors, [Drift(500)])
    (Recovery(before=0.1, worst=0.4, time=400),)
    """
    if len(rows) != len(errors):
        msg = f"there are {len(rows)} rows of readings and {len(errors)} errors; there must be one of each"
        raise StreamgaugeError(msg)
    last = int(rows[-1]) if len(rows) else 0
    ends = [following.position for following in drifts[1:]] + [last]
    return tuple(_recovery(rows, errors, drift, end) for drift, end in zip(drifts, ends, strict=False))


def _recovery(rows: NDArray[np.int64], errors: NDArray[np.float64], drift: Drift, end: int) -> Recovery | None:
    earlier = np.flatnonzero((rows <= drift.position) & np.isfinite(errors))
    later = np.flatnonzero((rows > drift.position) & (rows <= end) & np.isfinite(errors))
    if not len(later):
        return None
    before = float(errors[earlier[-1]]) if len(earlier) else float("nan")
    at_worst = int(errors[later].argmax())
    worst = float(errors[later][at_worst])
    since = later[at_worst:]
    level = before + max(0.0, 0.1 * (worst - before))
    back = since[errors[since] <= level]
    if worst <= before:
        back = later
    return Recovery(before, worst, int(rows[back[0]]) - drift.position if len(back) else None)
