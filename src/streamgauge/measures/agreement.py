"""Kappas: how much better than a baseline, on a scale where 0 is the baseline and 1 is perfect."""

from math import nan

from streamgauge.measures.functions import as_measure
from streamgauge.records import Tally

__all__ = ["kappa", "kappa_m", "kappa_temporal"]

SPECK = 1e-12
"""A share of the weight so small that it may be rounding: a baseline that errs no more has left no room."""


@as_measure(greater_is_better=True)
def kappa(tally: Tally) -> float:
    """Cohen's kappa: against a guesser with the same frequencies of predictions.

    ``(p0 - pe) / (1 - pe)`` with p0 the accuracy and pe the sum over the classes of the share of the true class times
    the share of the predicted class. An abstention counts as a wrong prediction of no class.

    NaN where the tally holds no weight, or where pe is 1 (to within 1e-12): one class only, and it alone predicted.

    Examples
    --------
    >>> import numpy as np
    >>> round(kappa(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.3269

    References
    ----------
    Cohen, "A coefficient of agreement for nominal scales", 1960.
    """
    if tally.total == 0:
        return nan
    expected_misses = float(tally.support @ (tally.total - tally.predicted)) / tally.total
    return nan if expected_misses <= SPECK * tally.total else 1.0 - tally.misses / expected_misses


@as_measure(greater_is_better=True)
def kappa_m(tally: Tally) -> float:
    """Kappa against the majority class so far.

    ``(p0 - pm) / (1 - pm)`` with p0 the accuracy and pm that of the majority class, over the same rows. The majority
    class is that of the rows learnt before: the baseline predicts before it sees the label.

    Exactly 0 where the hits are as many as the baseline's, even if all are hits: no better than the baseline. NaN
    where the tally holds no weight, or where the baseline is perfect (to within 1e-12) and the learner is not: then no
    finite number is low enough.

    Examples
    --------
    >>> import numpy as np
    >>> round(kappa_m(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    -0.1667

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015.
    """
    return gain(tally, tally.majority_hits)


@as_measure(greater_is_better=True)
def kappa_temporal(tally: Tally) -> float:
    """Kappa against the class seen last, which is hard to beat where classes come in runs.

    ``(p0 - pt) / (1 - pt)`` with p0 the accuracy and pt that of the no-change predictor, over the same rows. It
    predicts the class of the row learnt last, before it sees the label.

    Exactly 0 where the hits are as many as the baseline's, even if all are hits: no better than the baseline. NaN
    where the tally holds no weight, or where the baseline is perfect (to within 1e-12) and the learner is not: then no
    finite number is low enough.

    Examples
    --------
    >>> import numpy as np
    >>> kappa_temporal(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.3

    References
    ----------
    Žliobaitė et al., "Evaluation methods and decision theory for classification of streaming data with temporal
    dependence", 2015.
    """
    return gain(tally, tally.no_change_hits)


def gain(tally: Tally, baseline_hits: float) -> float:
    """Share of what a baseline leaves to gain that was gained; NaN where it leaves nothing, or there is no weight.

    Examples
    --------
    >>> import numpy as np
    >>> gain(Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2), baseline_hits=1.0)
    1.0
    """
    if tally.total == 0:
        return nan
    if tally.hits == baseline_hits:
        return 0.0
    room = tally.total - baseline_hits
    return nan if room <= SPECK * tally.total else (tally.hits - baseline_hits) / room
