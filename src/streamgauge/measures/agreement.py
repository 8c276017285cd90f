"""Agreement beyond a baseline, on a scale where 0 is the baseline and 1 is perfect."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.measures.functions import over_tallies, ratio
from streamgauge.records import Tallies, over_classes

__all__ = ["determinant", "informedness", "kappa", "kappa_m", "kappa_temporal", "mcc"]

SPECK = 1e-12
"""A share of the weight so small that it may be rounding: a baseline that errs no more has left no room."""

Column = NDArray[np.float64]


@over_tallies()
def kappa(tallies: Tallies) -> Column:
    """Cohen's kappa: against a guesser with the same frequencies of predictions.

    ``(p0 - pe) / (1 - pe)`` with p0 the accuracy and pe the sum over the classes of the share of the true class times
    the share of the predicted class. An abstention counts as a wrong prediction of no class.

    NaN where the tally holds no weight, or where pe is 1 (to within 1e-12): one class only, and it alone predicted.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(kappa(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.3269

    References
    ----------
    Cohen, "A coefficient of agreement for nominal scales", 1960.
    """
    total = tallies.total
    expected_misses = over_classes(tallies.support * (total[:, None] - tallies.predicted)) / total
    return np.where(expected_misses > SPECK * total, 1.0 - tallies.misses / expected_misses, np.nan)


@over_tallies()
def kappa_m(tallies: Tallies) -> Column:
    """Kappa against the majority class so far.

    ``(p0 - pm) / (1 - pm)`` with p0 the accuracy and pm that of the majority class, over the same rows. The majority
    class is that of the rows learnt before: the baseline predicts before it sees the label.

    Exactly 0 where the hits are as many as the baseline's, even if all are hits: no better than the baseline. NaN
    where the tally holds no weight, or where the baseline is perfect (to within 1e-12) and the learner is not: then no
    finite number is low enough.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(kappa_m(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    -0.1667

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015.
    """
    return gain(tallies, tallies.majority_hits)


@over_tallies()
def kappa_temporal(tallies: Tallies) -> Column:
    """Kappa against the class seen last, which is hard to beat where classes come in runs.

    ``(p0 - pt) / (1 - pt)`` with p0 the accuracy and pt that of the no-change predictor, over the same rows. It
    predicts the class of the row learnt last, before it sees the label.

    Exactly 0 where the hits are as many as the baseline's, even if all are hits: no better than the baseline. NaN
    where the tally holds no weight, or where the baseline is perfect (to within 1e-12) and the learner is not: then no
    finite number is low enough.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> kappa_temporal(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    0.3

    References
    ----------
    Žliobaitė et al., "Evaluation methods and decision theory for classification of streaming data with temporal
    dependence", 2015.
    """
    return gain(tallies, tallies.no_change_hits)


@over_tallies()
def mcc(tallies: Tallies) -> Column:
    """Matthews' correlation coefficient; for many classes its generalisation R_K (Gorodkin, 2004).

    The correlation of true and predicted classes. An abstention counts as a prediction of a class of its own.

    NaN where the tally holds no weight, or only one class is true, or only one predicted: there is nothing to
    correlate.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(mcc(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.3728
    """
    total = tallies.total
    support, predicted = tallies.support / total[:, None], tallies.predicted / total[:, None]
    abstained = over_classes(tallies.abstained) / total
    spread_true = 1.0 - over_classes(support * support)
    spread_predicted = 1.0 - over_classes(predicted * predicted) - abstained * abstained
    covariance = tallies.hits / total - over_classes(support * predicted)
    varied = (spread_true > SPECK) & (spread_predicted > SPECK)
    return np.where(varied, np.clip(covariance / np.sqrt(spread_true * spread_predicted), -1.0, 1.0), np.nan)


@over_tallies()
def informedness(tallies: Tallies) -> Column:
    """How much better than chance each class is recognised: balanced accuracy, 0 at chance and 1 where perfect.

    ``(A - 1/k) / (1 - 1/k)`` with A the mean recall over the k classes that occur; for two classes
    ``recall + specificity - 1``, Youden's J. An abstention is wrong.

    NaN where fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(informedness(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.4048
    """
    chance = 1.0 / tallies.n_present
    mean = over_classes(np.where(tallies.present, tallies.recall, 0.0)) * chance
    return ratio(mean - chance, 1.0 - chance)


@over_tallies()
def determinant(tallies: Tallies) -> Column:
    """Confusion matrix determinant: rows are shares of their true class, of the classes that occur only.

    1 where perfect, 0 for a learner that predicts one class or guesses. For two classes it is the informedness. An
    abstention is in no column.

    NaN where no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(determinant(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.4048
    """
    shares = tallies.confusion / tallies.support[:, :, None]
    # The unit row of an absent class leaves the determinant of the others.
    shares = np.where(tallies.present[:, :, None], shares, np.eye(tallies.n_classes))
    if tallies.n_classes == 2:
        values = shares[:, 0, 0] * shares[:, 1, 1] - shares[:, 0, 1] * shares[:, 1, 0]
    else:
        values = np.linalg.det(shares)
    return np.where(tallies.n_present > 0, values, np.nan)


def gain(tallies: Tallies, baseline_hits: Column) -> Column:
    """Share of what a baseline leaves to gain that was gained; NaN where it leaves nothing, or there is no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> perfect = Tallies.stacked([Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)])
    >>> gain(perfect, perfect.majority_hits).tolist()
    [1.0]
    """
    ahead = tallies.hits - baseline_hits
    room = tallies.total - baseline_hits
    share = np.where(room > SPECK * tallies.total, ahead / room, np.nan)
    return np.where((ahead == 0.0) & (tallies.total > 0.0), 0.0, share)


__test__ = {one.name: one.__doc__ for one in (kappa, kappa_m, kappa_temporal, mcc, informedness, determinant)}
