"""The effect of drifts on a learner: how much its error grew, and when it had recovered."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Drift

__all__ = ["Recovery", "recoveries"]


@dataclass(frozen=True)
class Recovery:
    """The effect of one drift on a learner.

    Parameters
    ----------
    before
        The error just before the drift; NaN if there is no reading.
    worst
        The greatest error between this drift and the next.
    time
        The number of rows until the error was back to the level before, within a tenth of the deterioration; None if
        that did not happen before the next drift.

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
        """The greatest increase of the error; negative if the error stayed below the level before."""
        return self.worst - self.before


def recoveries(
    rows: NDArray[np.int64], errors: NDArray[np.float64], drifts: Sequence[Drift]
) -> tuple[Recovery | None, ...]:
    """Return the effect of each drift on a learner; None for a drift without readings after it.

    The error should be a recent one, over a window or with a fading factor: a mean over all rows recovers late.

    Parameters
    ----------
    rows
        The rows after which the readings were taken, ascending.
    errors
        The error rate at each reading.
    drifts
        The true drifts, in order.

    Examples
    --------
    >>> rows, errors = np.arange(100, 1100, 100), np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.4, 0.3, 0.2, 0.1, 0.1])
    >>> recoveries(rows, errors, [Drift(500)])
    (Recovery(before=0.1, worst=0.4, time=400),)
    """
    if len(rows) != len(errors):
        msg = f"{len(rows)} rows and {len(errors)} errors: every reading needs one of each"
        raise StreamgaugeError(msg)
    last = int(rows[-1]) if len(rows) else 0
    ends = [drift.position for drift in drifts[1:]] + [last]
    return tuple(_measure_recovery(rows, errors, drift, end) for drift, end in zip(drifts, ends, strict=False))


def _measure_recovery(rows: NDArray[np.int64], errors: NDArray[np.float64], drift: Drift, end: int) -> Recovery | None:
    earlier = np.flatnonzero((rows <= drift.position) & np.isfinite(errors))
    later = np.flatnonzero((rows > drift.position) & (rows <= end) & np.isfinite(errors))
    if not len(later):
        return None
    before = float(errors[earlier[-1]]) if len(earlier) else float("nan")
    index = int(errors[later].argmax())
    worst = float(errors[later][index])
    if worst <= before:
        recovered = later
    else:
        after_worst = later[index:]
        level = before + max(0.0, 0.1 * (worst - before))
        recovered = after_worst[errors[after_worst] <= level]
    return Recovery(before, worst, int(rows[recovered[0]]) - drift.position if len(recovered) else None)
