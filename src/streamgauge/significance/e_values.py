"""E-values: evidence against equality that may be checked after every row.

If the null hypothesis is true, a bettor with initial capital 1 ever reaches ``1 / alpha`` with probability at most
alpha. So a difference may be claimed as soon as the e-value reaches it, however often it is checked.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, require_between

__all__ = ["Betting", "anytime_mcnemar", "discover"]

STAKES = 0.5 * 2.0 ** -np.arange(12.0)
"""Shares of the capital that are bet; a mixture of all does nearly as well as the best."""


def anytime_mcnemar(only_first: int, only_second: int, *, prior: float = 10.0) -> float:
    """Return the log e-value of McNemar's null hypothesis: a row that only one got right is equally likely for both.

    With a and b the numbers of such rows it is ``(a + b) ln 2 + ln B(g + a, g + b) - ln B(g, g)``. A difference may be
    claimed at any time at which it reaches ``ln(1 / alpha)``, which is 3 for 0.05. The rows must be those of one fold.

    With ``prior=1`` and the wins and losses over folds or streams it is the log e-value of a sign test; those of
    independent streams add up.

    Parameters
    ----------
    only_first, only_second
        Rows that only the first, and only the second, got right.
    prior
        The g of the Beta(g, g) prior of the share of the first; greater values suit smaller differences.

    Examples
    --------
    >>> round(anytime_mcnemar(5300, 4700), 4), round(math.exp(anytime_mcnemar(10, 0, prior=1.0)), 4)
    (14.8558, 93.0909)
    """
    from scipy.special import betaln  # noqa: PLC0415

    require_at_least("only_first", only_first, 0)
    require_at_least("only_second", only_second, 0)
    require_between("prior", prior, 0.0, 1e6)
    mixed = float(betaln(prior + only_first, prior + only_second) - betaln(prior, prior))
    return (only_first + only_second) * math.log(2) + mixed


def discover(log_e: ArrayLike, *, alpha: float = 0.05) -> NDArray[np.bool_]:
    """Return which of many hypotheses are rejected by the e-BH procedure, whatever their dependence.

    The expected share of true hypotheses among those rejected is at most alpha. With n hypotheses, the k with the
    greatest e-values are rejected for the greatest k at which the least of them is at least ``n / (alpha k)``.

    Parameters
    ----------
    log_e
        The log e-value of each hypothesis.
    alpha
        The level.

    References
    ----------
    R. Wang and A. Ramdas, False discovery rate control with e-values, Journal of the Royal Statistical Society B 84,
    2022.

    Examples
    --------
    >>> discover(np.log([100.0, 1.0, 45.0]), alpha=0.05).tolist()
    [True, False, True]
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    logs = np.asarray(log_e, dtype=np.float64)
    order = np.argsort(-logs, kind="stable")
    enough = np.flatnonzero(logs[order] >= math.log(max(len(logs), 1) / alpha) - np.log(np.arange(1, len(logs) + 1)))
    rejected = np.zeros(len(logs), dtype=np.bool_)
    if len(enough):
        rejected[order[: int(enough[-1]) + 1]] = True
    return rejected


class Betting:
    """A betting e-process against the hypothesis that values in [-1, 1] have mean 0 given the past.

    It bets on values above 0 and on values below 0, each with a mixture of 12 shares of its capital, from 1/2 down.
    Since the mean must be 0 at every row, being better in some period is evidence against the hypothesis. To average
    over drift, use `empirical_bernstein`.

    Memory is constant, and the result does not depend on how the values are split into columns.

    Parameters
    ----------
    alpha
        The level.

    Examples
    --------
    >>> evidence = Betting()
    >>> round(math.exp(evidence.update([1] * 30 + [-1] * 5)[-1]), 2)
    259.29
    >>> evidence.row
    15
    """

    def __init__(self, *, alpha: float = 0.05) -> None:
        require_between("alpha", alpha, 0.0, 1.0)
        self.alpha = alpha
        self.n_rows = 0
        self.row: int | None = None
        """The number of rows after which a difference could first be claimed."""
        self.greatest = 0.0
        """The greatest log e-value so far."""
        self._capital = np.zeros(2 * len(STAKES))

    def update(self, values: ArrayLike) -> NDArray[np.float64]:
        """Add values and return the log e-value after each."""
        column = np.asarray(values, dtype=np.float64)
        if column.ndim != 1 or not (np.abs(column) <= 1.0).all():
            msg = "a betting process needs a column of values in [-1, 1], such as differences of losses in [0, 1]"
            raise StreamgaugeError(msg)
        stakes = np.concatenate((STAKES, -STAKES))
        # One cumulative sum, so that the split into columns changes no bit.
        steps = np.vstack((self._capital, np.log1p(stakes * column[:, None])))
        capital = np.cumsum(steps, axis=0)[1:]
        top = capital.max(axis=1, initial=-math.inf)
        logs: NDArray[np.float64] = top + np.log(np.exp(capital - top[:, None]).mean(axis=1))
        if len(logs):
            self._capital = capital[-1]
            self.greatest = max(self.greatest, float(logs.max()))
            enough = np.flatnonzero(logs >= -math.log(self.alpha))
            if self.row is None and len(enough):
                self.row = self.n_rows + int(enough[0]) + 1
        self.n_rows += len(logs)
        return logs

    @property
    def p_value(self) -> float:
        """The anytime-valid p-value: 1 divided by the greatest e-value so far."""
        return math.exp(-self.greatest)
