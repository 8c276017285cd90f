"""Bayesian tests: how likely it is that one learner is better, or that the two are as good as equal.

The probabilities answer the question directly, but keep no level: one who looks often enough will see 0.95.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import randomness
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.significance.fold_tests import checked_differences

__all__ = ["Posterior", "bayesian_sign", "correlated_t", "signed_rank"]


@dataclass(frozen=True)
class Posterior:
    """How likely each of the three is, after what was seen.

    Parameters
    ----------
    first, equivalent, second
        The probabilities that the first is better by more than the rope, that neither is, and that the second is.
    rope
        Differences up to this do not matter.
    test
        ``signed_rank``, ``bayesian_sign`` or ``correlated_t``.

    Examples
    --------
    >>> Posterior(0.97, 0.02, 0.01, 0.01, "signed_rank").verdict()
    'first'
    """

    first: float
    equivalent: float
    second: float
    rope: float
    test: str

    def verdict(self, threshold: float = 0.95) -> str:
        """Name what is at least so likely: ``first``, ``second`` or ``equivalent``; else ``undecided``."""
        require_between("threshold", threshold, 0.5, 1.0)
        chances = {"first": self.first, "equivalent": self.equivalent, "second": self.second}
        likeliest = max(chances, key=chances.__getitem__)
        return likeliest if chances[likeliest] >= threshold else "undecided"


def correlated_t(
    differences: ArrayLike, ratio: float, *, rope: float = 0.01, greater_is_better: bool = True
) -> Posterior:
    """Give the posterior of the mean difference over folds that learnt rows in common.

    It is a Student distribution with the variance of `corrected_t`, and shares what that is blind to.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a fold.
    ratio
        Rows tested per row learnt, as `held_out_ratio` gives them.
    rope
        Differences up to this do not matter.
    greater_is_better
        Whether a greater value is better.

    References
    ----------
    G. Corani and A. Benavoli, A Bayesian approach for comparing cross-validated algorithms on multiple data sets,
    Machine Learning 100, 2015.

    Examples
    --------
    >>> differences = np.array([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]) / 100
    >>> posterior = correlated_t(differences, 1 / 9)
    >>> round(posterior.first, 4), round(posterior.equivalent, 4), round(posterior.second, 4)
    (0.4152, 0.5841, 0.0007)
    """
    from scipy.special import stdtr  # noqa: PLC0415

    values = _turned(differences, rope, greater_is_better=greater_is_better)
    if not 0.0 <= ratio < math.inf:
        msg = f"ratio = {ratio!r}: rows tested per row learnt are a number of at least 0"
        raise StreamgaugeError(msg)
    k, middle = len(values), float(values.mean())
    error = math.sqrt(float(values.var(ddof=1)) * (1.0 / k + ratio))
    if error == 0.0:
        sure = (float(middle > rope), float(abs(middle) <= rope), float(middle < -rope))
        return Posterior(*sure, rope, "correlated_t")
    first = float(stdtr(k - 1, (middle - rope) / error))
    second = float(stdtr(k - 1, (-rope - middle) / error))
    return Posterior(first, max(1.0 - first - second, 0.0), second, rope, "correlated_t")


def signed_rank(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 0.5,
    n_samples: int = 50_000,
    seed: int = 1,
) -> Posterior:
    """Give the probabilities of the Bayesian signed-rank test, over streams.

    The distribution of the differences is unknown, with a Dirichlet process prior. In each sample from the posterior
    the mean of two differences falls above, within or below the rope; each of the three is as likely as the share of
    the samples in which it is the most frequent.

    Parameters
    ----------
    differences
        The value of the first learner less that of the second, one number a stream.
    rope
        Differences up to this do not matter.
    greater_is_better
        Whether a greater value is better.
    prior
        How many streams the prior, a difference of 0, counts for.
    n_samples
        How many samples to draw.
    seed
        Decides them.

    References
    ----------
    A. Benavoli, F. Mangili, G. Corani, M. Zaffalon and F. Ruggeri, A Bayesian Wilcoxon signed-rank test based on the
    Dirichlet process, ICML 2014.

    Examples
    --------
    >>> posterior = signed_rank([0.03, 0.05, 0.02, 0.04, 0.06, 0.03, -0.01, 0.02])
    >>> posterior.verdict()
    'first'
    """
    values = np.append(0.0, _turned(differences, rope, greater_is_better=greater_is_better))
    require_between("prior", prior, 0.0, 1e6)
    require_at_least("n_samples", n_samples, 1)
    sums = values[:, None] + values
    weights = _dirichlet(len(values), prior, n_samples, seed)
    # Half of what lies exactly on the border counts for either side.
    above = np.einsum("si,ij,sj->s", weights, _above(sums, 2 * rope), weights, optimize=True)
    below = np.einsum("si,ij,sj->s", weights, _above(-sums, 2 * rope), weights, optimize=True)
    within = 1.0 - above - below if rope > 0.0 else np.full(n_samples, -1.0)
    shares = np.bincount(np.argmax(np.stack((above, within, below)), axis=0), minlength=3) / n_samples
    first, equivalent, second = shares.tolist()
    return Posterior(first, equivalent, second, rope, "signed_rank")


def bayesian_sign(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 1.0,
    n_samples: int = 50_000,
    seed: int = 1,
) -> Posterior:
    """Give the probabilities of the Bayesian sign test, over streams: only how often each wins counts.

    In each sample from the posterior of the shares of streams above, within and below the rope one is the most
    frequent; each of the three is as likely as the share of the samples in which it is. The parameters are those of
    `signed_rank`.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon, Time for a change: a tutorial for comparing multiple classifiers
    through Bayesian analysis, Journal of Machine Learning Research 18, 2017.

    Examples
    --------
    >>> bayesian_sign([0.03, 0.05, 0.02, 0.04, 0.06, 0.03, -0.01, 0.02]).verdict()
    'first'
    """
    from scipy.special import gammaincinv  # noqa: PLC0415

    values = _turned(differences, rope, greater_is_better=greater_is_better)
    require_between("prior", prior, 0.0, 1e6)
    require_at_least("n_samples", n_samples, 1)
    counts = ((values > rope).sum(), (np.abs(values) <= rope).sum() + prior, (values < -rope).sum())
    drawn = [
        gammaincinv(max(float(count), 1e-6), randomness.uniform(seed, "posterior", place, 0, n_samples))
        for place, count in enumerate(counts)
    ]
    shares = np.bincount(np.argmax(np.stack(drawn), axis=0), minlength=3) / n_samples
    first, equivalent, second = shares.tolist()
    return Posterior(first, equivalent, second, rope, "bayesian_sign")


def _turned(differences: ArrayLike, rope: float, *, greater_is_better: bool) -> NDArray[np.float64]:
    """Give the differences so that greater is better."""
    require_between("rope", rope, 0.0, math.inf, open_low=False, open_high=True)
    values = checked_differences(differences, 0.5)
    return values if greater_is_better else -values


def _above(sums: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    return np.where(sums == limit, 0.5, (sums > limit).astype(np.float64))


def _dirichlet(n: int, prior: float, n_samples: int, seed: int) -> NDArray[np.float64]:
    """Draw weights that sum to 1; the first counts for `prior`, each other for 1."""
    from scipy.special import gammaincinv  # noqa: PLC0415

    drawn = [randomness.uniform(seed, "posterior", place, 0, n_samples) for place in range(n)]
    parts = np.stack([gammaincinv(prior, drawn[0]), *(-np.log1p(-one) for one in drawn[1:])], axis=1)
    weights: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
    return weights
