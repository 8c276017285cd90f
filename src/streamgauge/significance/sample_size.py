"""How many rows, labels or folds a difference needs, before a run or while it is under way."""

import math
from collections.abc import Callable

from streamgauge.errors import require_at_least
from streamgauge.significance.confidence_sequences import asymptotic_radius

__all__ = ["rows_until"]

MAX_ROWS = 10**12
"""More rows count as never."""


def rows_until(
    difference: float,
    variance_per_row: float,
    rope: float,
    alpha: float,
    horizon: float,
    n_rows: int = 1,
    *,
    fold_radius: float = 0.0,
) -> int | None:
    """Return the number of rows at which a live verdict is due, if difference and variance stay as they are.

    That is the smallest number, from `n_rows` up, at which the time-uniform radius is smaller than the distance of the
    difference from the margin: for a difference beyond the margin one learner is then known to be better, within it the
    two are known to be equivalent. None if no number of rows suffices.

    Parameters
    ----------
    difference
        The difference of the measure.
    variance_per_row
        The variance of the difference times the number of rows.
    rope
        The margin: differences up to this do not matter.
    alpha
        The level of this claim.
    horizon
        The expected number of rows; the radius is about narrowest at a quarter of it.
    n_rows
        The rows so far.
    fold_radius
        The part of the radius that is due to folds, which more rows do not shrink.

    Examples
    --------
    >>> rows_until(0.03, 0.2, 0.01, 0.05, 20_000), rows_until(0.002, 0.2, 0.01, 0.05, 20_000)
    (5505, 28803)
    >>> rows_until(0.01, 0.2, 0.01, 0.05, 20_000) is None
    True
    """
    require_at_least("n_rows", n_rows, 1)
    distance = abs(abs(difference) - rope)
    if not distance > fold_radius or not math.isfinite(distance) or not math.isfinite(variance_per_row):
        return None

    def is_enough(n: int) -> bool:
        radius = asymptotic_radius(n, variance_per_row, alpha=alpha, best_at=horizon / 4)
        return math.hypot(radius, fold_radius) < distance

    return _find_least(is_enough, n_rows)


def _find_least(is_enough: Callable[[int], bool], start: int = 1, limit: int = MAX_ROWS) -> int | None:
    """Return the least number from `start` up that is enough, as all greater ones are; None if it is above a limit."""
    high = start
    while not is_enough(high):
        if high >= limit:
            return None
        high = min(2 * high, limit)
    low = max(high // 2, start - 1)  # not enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
