"""Measures of votes: how much a learner believes, and how rightly.

Votes are taken as shares of their sum. A row without votes, an abstention, counts as equal votes for all classes.
"""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures.functions import over_tallies, ratio
from streamgauge.records import Tallies

__all__ = ["brier", "expected_calibration_error", "log_loss"]

Column = NDArray[np.float64]


@over_tallies(greater_is_better=False, statistics=("log_loss",), unit="nats")
def log_loss(tallies: Tallies) -> Column:
    """Mean logarithmic loss: minus the natural logarithm of the share of the votes for the true class.

    A share below 2.2e-16 is taken as that, so that one wrong certainty costs 36 and not infinity; a learner that votes
    for one class alone pays dearly for every error.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> log_loss(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, log_loss=0.5))
    0.25
    """
    return ratio(tallies.column("log_loss"), tallies.total)


@over_tallies(greater_is_better=False, statistics=("brier",))
def brier(tallies: Tallies) -> Column:
    """Brier score: half the mean squared difference of votes and truth, summed over the classes; in [0, 1].

    For two classes it is the mean of ``(share - [true])^2`` of one class. (Brier's own, up to 2, is twice this.)

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> brier(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, brier=0.5))
    0.25
    """
    return ratio(tallies.column("brier"), tallies.total)


@over_tallies(greater_is_better=False, statistics=("calibration",))
def expected_calibration_error(tallies: Tallies) -> Column:
    """How far confidence lies from accuracy: in 15 bins of confidence, the mean distance weighted by rows.

    Confidence is the share of the votes for the predicted class; bins have equal width and hold their upper end.

    NaN where the tally holds no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> bins = np.array([[2.0, 2.0], [1.2, 1.8], [1.0, 2.0]])  # weight, confidence, hits
    >>> round(expected_calibration_error(Tally(np.diag([1.0, 3.0]), np.zeros(2), 0.0, 0.0, 4, calibration=bins)), 4)
    0.1

    References
    ----------
    Guo et al., "On calibration of modern neural networks", 2017.
    """
    weight, confidence, hits = np.moveaxis(tallies.column("calibration"), 1, 0)
    return ratio(np.abs(confidence - hits).sum(axis=-1), weight.sum(axis=-1))


__test__ = {one.name: one.__doc__ for one in (log_loss, brier, expected_calibration_error)}
