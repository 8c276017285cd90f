"""Bayesian tests: the probability that one learner is better, or that the two are practically equivalent.

The probabilities answer the question directly but control no error rate: checked often enough, they will reach 0.95.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import randomness
from streamgauge.errors import require_at_least, require_between
from streamgauge.significance.fold_tests import check_differences, check_ratio

__all__ = ["Posterior", "bayesian_sign", "correlated_t", "signed_rank"]


@dataclass(frozen=True)
class Posterior:
    """The posterior probabilities of the three possible outcomes.

    Parameters
    ----------
    first, equivalent, second
        The probabilities that the first is better by more than the rope, that neither is, and that the second is.
    rope
        The region of practical equivalence: differences up to this are ignored.
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
        """Return the outcome with at least this probability, or ``undecided``."""
        require_between("threshold", threshold, 0.5, 1.0)
        chances = {"first": self.first, "equivalent": self.equivalent, "second": self.second}
        likeliest = max(chances, key=chances.__getitem__)
        return likeliest if chances[likeliest] >= threshold else "undecided"


def correlated_t(
    differences: ArrayLike, ratio: float, *, rope: float = 0.01, greater_is_better: bool = True
) -> Posterior:
    """Return the posterior of the mean difference over folds that learnt rows in common.

    It is a Student distribution with the variance of `corrected_t`, and has the same limitations.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per fold.
    ratio
        Rows tested per row learnt, as `held_out_ratio` returns it.
    rope
        The region of practical equivalence: differences up to this are ignored.
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

    values = _orient(differences, rope, greater_is_better=greater_is_better)
    check_ratio(ratio)
    k, middle = len(values), float(values.mean())
    error = math.sqrt(float(values.var(ddof=1)) * (1.0 / k + ratio))
    if error == 0.0:
        return Posterior(
            first=float(middle > rope),
            equivalent=float(abs(middle) <= rope),
            second=float(middle < -rope),
            rope=rope,
            test="correlated_t",
        )
    first = float(stdtr(k - 1, (middle - rope) / error))
    second = float(stdtr(k - 1, (-rope - middle) / error))
    equivalent = max(1.0 - first - second, 0.0)
    return Posterior(first=first, equivalent=equivalent, second=second, rope=rope, test="correlated_t")


def signed_rank(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 0.5,
    n_samples: int = 50_000,
    seed: int = 1,
) -> Posterior:
    """Return the posterior of the Bayesian signed-rank test over streams.

    The distribution of the differences is unknown, with a Dirichlet process prior. In each sample from the posterior
    the mean of two differences falls above, within or below the rope. The probability of each of the three is the
    share of the samples in which it is the most frequent.

    Parameters
    ----------
    differences
        The value of the first learner minus that of the second, one number per stream.
    rope
        The region of practical equivalence: differences up to this are ignored.
    greater_is_better
        Whether a greater value is better.
    prior
        The weight of the prior, a difference of 0, in streams.
    n_samples
        How many samples to draw.
    seed
        The seed for drawing them.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili, M. Zaffalon and F. Ruggeri, A Bayesian Wilcoxon signed-rank test based on the
    Dirichlet process, ICML 2014.

    Examples
    --------
    >>> posterior = signed_rank([0.03, 0.05, 0.02, 0.04, 0.06, 0.03, -0.01, 0.02])
    >>> posterior.verdict()
    'first'
    """
    values = np.append(0.0, _orient(differences, rope, greater_is_better=greater_is_better))
    require_between("prior", prior, 0.0, 1e6)
    require_at_least("n_samples", n_samples, 1)
    sums = values[:, None] + values
    weights = _draw_dirichlet(len(values), prior, n_samples, seed)
    # Sums exactly on the border count half for either side.
    above = np.einsum("si,ij,sj->s", weights, _mark_above(sums, 2 * rope), weights, optimize=True)
    below = np.einsum("si,ij,sj->s", weights, _mark_above(-sums, 2 * rope), weights, optimize=True)
    within = 1.0 - above - below if rope > 0.0 else np.full(n_samples, -1.0)
    return _build_posterior(np.stack((above, within, below)), rope, "signed_rank")


def bayesian_sign(
    differences: ArrayLike,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 1.0,
    n_samples: int = 50_000,
    seed: int = 1,
) -> Posterior:
    """Return the posterior of the Bayesian sign test over streams, which only counts wins.

    In each sample from the posterior of the shares of streams above, within and below the rope, one of the three is the
    most frequent. The probability of each is the share of the samples in which it is. The parameters are those of
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

    values = _orient(differences, rope, greater_is_better=greater_is_better)
    require_between("prior", prior, 0.0, 1e6)
    require_at_least("n_samples", n_samples, 1)
    counts = ((values > rope).sum(), (np.abs(values) <= rope).sum() + prior, (values < -rope).sum())
    drawn = [
        gammaincinv(max(float(count), 1e-6), randomness.uniform(seed, "posterior", index, 0, n_samples))
        for index, count in enumerate(counts)
    ]
    return _build_posterior(np.stack(drawn), rope, "bayesian_sign")


def _build_posterior(samples: NDArray[np.float64], rope: float, test: str) -> Posterior:
    """Return how often each of the three rows of `samples` [3, n] is the greatest."""
    shares = np.bincount(np.argmax(samples, axis=0), minlength=3) / samples.shape[1]
    first, equivalent, second = shares.tolist()
    return Posterior(first=first, equivalent=equivalent, second=second, rope=rope, test=test)


def _orient(differences: ArrayLike, rope: float, *, greater_is_better: bool) -> NDArray[np.float64]:
    """Return the differences so that greater is better."""
    require_between("rope", rope, 0.0, math.inf, open_low=False, open_high=True)
    values = check_differences(differences, 0.5)
    return values if greater_is_better else -values


def _mark_above(sums: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    return np.where(sums == limit, 0.5, (sums > limit).astype(np.float64))


def _draw_dirichlet(n: int, prior: float, n_samples: int, seed: int) -> NDArray[np.float64]:
    """Return weights that sum to 1, drawn from Dirichlet(prior, 1, ..., 1)."""
    from scipy.special import gammaincinv  # noqa: PLC0415

    drawn = [randomness.uniform(seed, "posterior", index, 0, n_samples) for index in range(n)]
    parts = np.stack([gammaincinv(prior, drawn[0]), *(-np.log1p(-column) for column in drawn[1:])], axis=1)
    weights: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
    return weights
