"""P-values of all pairs as a matrix."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.reports.comparisons import Comparison, by_pair
from streamgauge.significance import Ranking

__all__ = ["PMatrix", "p_matrix"]


@dataclass(frozen=True)
class PMatrix:
    """The p-value of every pair of learners.

    Parameters
    ----------
    learners
        Their names.
    p_values
        float64 [learners, learners], the same on both sides of the diagonal; NaN on it and where there is none.
    significant
        Where a difference can be claimed.
    title
        What is shown.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> p_matrix(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).p_values[0, 1].item()
    0.5
    """

    learners: tuple[str, ...]
    p_values: NDArray[np.float64]
    significant: NDArray[np.bool_]
    title: str


def p_matrix(found: Ranking | Sequence[Comparison]) -> PMatrix:
    """Arrange the p-values of a ranking, the adjusted ones, or of comparisons of one run.

    Examples
    --------
    >>> p_matrix([])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there are no pairs of learners whose p-values could be shown
    """
    if isinstance(found, Ranking):
        pairs = [(pair.first, pair.second, pair.adjusted) for pair in found.pairs]
        learners, what = found.order, f"Adjusted p-values in {found.measure}"
        alpha = found.alpha
    else:
        measure = found[0].measure if found else ""
        leads = [pair[0] for pair in by_pair([test for test in found if test.measure == measure])]
        pairs = [(lead.first, lead.second, lead.p_value) for lead in leads]
        learners = tuple(dict.fromkeys(name for first, second, _ in pairs for name in (first, second)))
        what = f"p-values in {measure}"
        alpha = getattr(leads[0], "alpha", 0.05) if leads else 0.05
    if not pairs:
        msg = "there are no pairs of learners whose p-values could be shown"
        raise StreamgaugeError(msg)
    p_values = np.full((len(learners), len(learners)), np.nan)
    for first, second, p_value in pairs:
        i, j = learners.index(first), learners.index(second)
        p_values[i, j] = p_values[j, i] = p_value
    return PMatrix(learners, p_values, p_values <= alpha, f"{what} (bold: not above {alpha:g})")
