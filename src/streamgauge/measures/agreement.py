"""Agreement beyond a baseline, on a scale where 0 is the baseline and 1 is perfect."""

import numpy as np

from streamgauge.measures.functions import Column, over_tallies
from streamgauge.records import Tallies, sum_classes

__all__ = [
    "chance_accuracy",
    "determinant",
    "informedness",
    "kappa",
    "kappa_m",
    "kappa_m_all",
    "kappa_temporal",
    "mcc",
    "scaled_determinant",
]

ROUNDING = 1e-12
"""A share of the weight that may be rounding: a baseline with a smaller error counts as perfect."""


@over_tallies()
def kappa(tallies: Tallies) -> Column:
    """Cohen's kappa: the gain over guessing with the same frequencies of predictions.

    ``(p0 - pe) / (1 - pe)`` where p0 is the accuracy and pe the sum over the classes of the share of the true class
    times the share of the predicted class. An abstention counts as a wrong prediction of no class.

    NaN if the tally has no weight, or if pe is 1 (to within 1e-12): there is only one class, and only it was predicted.

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
    expected_misses = sum_classes(tallies.support * (total[:, None] - tallies.predicted)) / total
    return np.where(expected_misses > ROUNDING * total, 1.0 - tallies.misses / expected_misses, np.nan)


@over_tallies()
def kappa_m(tallies: Tallies) -> Column:
    """Kappa M: the gain over predicting the majority class, which forgets as the measure does.

    ``(p0 - pm) / (1 - pm)`` where p0 is the accuracy and pm that of the majority class, over the same rows. The
    majority class is that of the labels learnt before, as far as the forgetting remembers them: the last 1,000 labels
    for ``Window(1000)``. So ``MajorityClass(window=1000)`` has exactly 0 over ``Window(1000)``, and over ``Window(1)``
    it equals `kappa_temporal`. `kappa_m_all` compares with the majority class of all labels.

    Exactly 0 if the learner has as many hits as the baseline, even if all are hits. NaN if the tally has no weight, or
    if the baseline is perfect (to within 1e-12) and the learner is not: no finite number is low enough then.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(kappa_m(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    -0.1667

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015.
    """
    return compute_gain(tallies, tallies.majority_hits)


@over_tallies(statistics=("majority_all_hits",))
def kappa_m_all(tallies: Tallies) -> Column:
    """Kappa M of all labels: the gain over predicting the majority class of all labels so far.

    Like `kappa_m`, and over the same rows, but the majority class forgets no label: over a window, the baseline may be
    the majority of a concept that has passed. Equal to `kappa_m` if nothing is forgotten.

    NaN where `kappa_m` is, with this baseline.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100, majority_all_hits=30.0)
    >>> kappa_m_all(tally)
    0.5
    """
    return compute_gain(tallies, tallies.column("majority_all_hits"))


@over_tallies()
def kappa_temporal(tallies: Tallies) -> Column:
    """Kappa temporal: the gain over predicting the previous class, which is hard to beat if classes come in runs.

    ``(p0 - pt) / (1 - pt)`` where p0 is the accuracy and pt that of the no-change predictor, over the same rows. It
    predicts the class of the most recently learnt row, before it sees the label.

    Exactly 0 if the learner has as many hits as the baseline, even if all are hits. NaN if the tally has no weight, or
    if the baseline is perfect (to within 1e-12) and the learner is not: no finite number is low enough then.

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
    return compute_gain(tallies, tallies.no_change_hits)


@over_tallies()
def mcc(tallies: Tallies) -> Column:
    """Matthews' correlation coefficient of true and predicted classes; for many classes R_K (Gorodkin, 2004).

    An abstention counts as the prediction of a separate class.

    NaN if the tally has no weight, or only one class occurs or is predicted: there is nothing to correlate.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(mcc(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.3728
    """
    total = tallies.total
    support, predicted = tallies.support / total[:, None], tallies.predicted / total[:, None]
    abstained = sum_classes(tallies.abstained) / total
    spread_true = 1.0 - sum_classes(support * support)
    spread_predicted = 1.0 - sum_classes(predicted * predicted) - abstained * abstained
    covariance = tallies.hits / total - sum_classes(support * predicted)
    varied = (spread_true > ROUNDING) & (spread_predicted > ROUNDING)
    return np.where(varied, np.clip(covariance / np.sqrt(spread_true * spread_predicted), -1.0, 1.0), np.nan)


@over_tallies()
def informedness(tallies: Tallies) -> Column:
    """Informedness: balanced accuracy on a scale where 0 is chance and 1 is perfect.

    ``(A - 1/k) / (1 - 1/k)`` where A is the mean recall over the k classes that occur; for two classes
    ``recall + specificity - 1``, Youden's J. An abstention is wrong.

    NaN if fewer than two classes occur.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(informedness(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.4048
    """
    chance = 1.0 / tallies.n_present
    mean = sum_classes(np.where(tallies.present, tallies.recall, 0.0)) * chance
    return np.where(tallies.n_present > 1, (mean - chance) / (1.0 - chance), np.nan)


@over_tallies(unit="product of counts")
def determinant(tallies: Tallies) -> Column:
    """Confusion matrix determinant, of counts: for two classes ``TP * TN - FN * FP``.

    It is the numerator of the Matthews correlation coefficient and, doubled and divided by the square of the weight, of
    kappa. It grows with the number of rows, and is 0 for a learner that predicts one class, and where a class does not
    occur. An abstention is in no column. `scaled_determinant` does not depend on the number of rows.

    NaN if the tally has no weight, or if the number is too large for a float, which takes dozens of classes.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> determinant(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100))
    850.0

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015, section 5.1.
    """
    values = _compute_determinants(tallies.confusion)
    return np.where((tallies.total > 0.0) & np.isfinite(values), values, np.nan)


@over_tallies()
def scaled_determinant(tallies: Tallies) -> Column:
    """Confusion matrix determinant, with rows scaled to shares of their true class.

    Only classes that occur count. It is 1 for a perfect learner, and 0 for one that predicts one class or guesses. For
    two classes it equals the informedness. An abstention is in no column.

    NaN if no class occurs.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(scaled_determinant(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.4048
    """
    shares = tallies.confusion / tallies.support[:, :, None]
    # a unit row for an absent class does not change the determinant of the others
    shares = np.where(tallies.present[:, :, None], shares, np.eye(tallies.n_classes))
    return np.where(tallies.n_present > 0, _compute_determinants(shares), np.nan)


def _compute_determinants(matrices: Column) -> Column:
    """Return the determinants of matrices [s, c, c]; exact for whole numbers in two classes."""
    if matrices.shape[-1] == 2:
        products: Column = matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] * matrices[:, 1, 0]
        return products
    with np.errstate(over="ignore"):
        determinants: Column = np.linalg.det(matrices)
    return determinants


@over_tallies(describes=True)
def chance_accuracy(tallies: Tallies) -> Column:
    """Accuracy of guessing with the same frequencies of predictions: the p_e (or p_c) of kappa.

    The sum over the classes of the share of the true class times the share of the predicted class. It describes the
    rows and predictions: neither more nor less is better.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> round(chance_accuracy(Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100)), 4)
    0.48

    References
    ----------
    Bifet et al., "Efficient online evaluation of big data stream classifiers", 2015, section 5.1.
    """
    total = tallies.total
    return sum_classes(tallies.support * tallies.predicted) / (total * total)


def compute_gain(tallies: Tallies, baseline_hits: Column) -> Column:
    """Return the gain over a baseline as a share of the possible gain; NaN if no gain is possible, or without weight.

    Examples
    --------
    >>> from streamgauge.records import Tally
    >>> perfect = Tallies.stack([Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)])
    >>> compute_gain(perfect, perfect.majority_hits).tolist()
    [1.0]
    """
    gain = tallies.hits - baseline_hits
    possible = tallies.total - baseline_hits
    share = np.where(possible > ROUNDING * tallies.total, gain / possible, np.nan)
    return np.where((gain == 0.0) & (tallies.total > 0.0), 0.0, share)


__test__ = {
    m.name: m.__doc__
    for m in (
        kappa,
        kappa_m,
        kappa_m_all,
        kappa_temporal,
        mcc,
        informedness,
        determinant,
        scaled_determinant,
        chance_accuracy,
    )
}
