"""Measures of votes: losses and calibration.

Votes are scaled to a sum of 1. A row without votes, an abstention, counts as equal votes for all classes.
"""

import numpy as np

from streamgauge.measures.functions import Column, divide, over_tallies
from streamgauge.records import Tallies

__all__ = ["brier", "expected_calibration_error", "log_loss"]


@over_tallies(greater_is_better=False, statistics=("log_loss",), unit="nats")
def log_loss(tallies: Tallies) -> Column:
    """Mean logarithmic loss: minus the natural logarithm of the share of the votes for the true class.

    Shares are clipped at 2.2e-16, so that a certain but wrong prediction costs 36 instead of infinity. A learner that
    gives all votes to one class pays this for every error.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> log_loss(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, log_loss=0.5))
    0.25
    """
    return divide(tallies.column("log_loss"), tallies.total)


@over_tallies(greater_is_better=False, statistics=("brier",))
def brier(tallies: Tallies) -> Column:
    """Brier score: half the mean squared difference of votes and truth, summed over the classes; in [0, 1].

    For two classes it is the mean of ``(share - [true])^2`` of one class. (Brier's original score, up to 2, is twice
    this.)

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> brier(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, brier=0.5))
    0.25
    """
    return divide(tallies.column("brier"), tallies.total)


@over_tallies(greater_is_better=False, statistics=("calibration",))
def expected_calibration_error(tallies: Tallies) -> Column:
    """Mean distance between confidence and accuracy over 15 bins, weighted by rows (ECE).

    Confidence is the share of the votes for the predicted class; bins have equal width and include their upper end.

    NaN if the tally has no weight.

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
    return divide(np.abs(confidence - hits).sum(axis=-1), weight.sum(axis=-1))


__test__ = {m.name: m.__doc__ for m in (log_loss, brier, expected_calibration_error)}
