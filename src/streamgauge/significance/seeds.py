"""Which learners may be the best of a stream, by several runs that differ in their seeds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import RunData
from streamgauge.significance.compare import LANDMARK, check_scheme, check_test, choose_forgetting, leave_pair_out
from streamgauge.significance.ranking import choose_value, read_fold_values
from streamgauge.significance.two_way import estimate_difference

__all__ = ["SeedTest", "combine_seeds", "compare_with_best", "have_same_rows"]


@dataclass(frozen=True)
class SeedTest:
    """The test of one learner against the best of a stream, over its seeds.

    Parameters
    ----------
    learner
        Its name.
    lead
        By how much the best is ahead on average over the seeds, positive in measures of which less is better too.
    p_value
        The one-sided p-value: that the best is not better.
    adjusted
        The p-value multiplied by the number of learners that were tested against the best.

    Examples
    --------
    >>> SeedTest("tree", 0.02, 0.01, 0.04).adjusted
    0.04
    """

    learner: str
    lead: float
    p_value: float
    adjusted: float


def combine_seeds(differences: ArrayLike, variances: ArrayLike = (), freedoms: ArrayLike = ()) -> float:
    r"""Return the one-sided p-value that a mean difference over the seeds of one stream is not above 0.

    If each seed has rows of its own, the runs are independent repetitions of the whole experiment, and this is the
    paired t over the seeds, with n - 1 degrees of freedom. The variance between seeds has all luck: that of the rows
    that were learnt and tested, and that of the learners. What is known of the rows within the runs is not needed.

    If all seeds read the same rows, the luck of these is the same in all runs, and differences between seeds do not
    show it. Then the variance within the runs, :math:`(\sum \sqrt{V_i} / n)^2` for fully dependent errors, is added to
    that between the seeds divided by n; the p-values by the degrees of freedom of each are averaged with their shares
    of the sum as weights, which keeps the level where one has few degrees of freedom.

    Parameters
    ----------
    differences
        The difference of two learners in each run.
    variances, freedoms
        If all runs read the same rows: the variance of each difference within its run, and the degrees of freedom.

    Examples
    --------
    >>> from scipy.stats import ttest_1samp
    >>> differences = [0.02, 0.03, 0.025]
    >>> bool(abs(combine_seeds(differences) - ttest_1samp(differences, 0.0, alternative="greater").pvalue) < 1e-12)
    True
    """
    from scipy.special import stdtr  # noqa: PLC0415

    d, v, freedom = (np.asarray(column, dtype=np.float64) for column in (differences, variances, freedoms))
    n = len(d)
    if n < 2:
        msg = "a test over seeds needs the differences of at least 2 runs"
        raise StreamgaugeError(msg)
    mean, between = float(d.mean()), float(d.var(ddof=1)) / n
    within = float(np.sqrt(v).mean()) ** 2 if len(v) else 0.0
    if between + within == 0.0:
        return 0.0 if mean > 0.0 else 0.5 if mean == 0.0 else 1.0
    statistic = mean / math.sqrt(between + within)
    shares = [(between, n - 1.0)] + ([(within, float(freedom.min()))] if len(v) else [])
    return sum(part * float(stdtr(of, -statistic)) for part, of in shares) / (between + within)


def have_same_rows(runs: Sequence[RunData]) -> bool:
    """Return whether two of several runs read the same rows, by the fingerprint of their streams.

    Examples
    --------
    >>> import streamgauge as sg
    >>> have_same_rows([sg.evaluate("SEA(n_rows=50, seed=2)", "NoChange", seed=seed) for seed in (1, 2)])
    True
    """
    streams = [run.description.get("stream") for run in runs]
    known = [stream.get("fingerprint") for stream in streams if isinstance(stream, dict)]
    return len(set(known)) < len(known)


def compare_with_best(
    runs: Sequence[RunData], best: str, *, measure: str, forgetting: str | None = None, value: str | None = None
) -> tuple[SeedTest, ...]:
    """Test every learner against the best one over the runs of a stream with several seeds; see `combine_seeds`.

    A learner is worse than the best one of these runs if its adjusted p-value is at most alpha. The learner that is
    truly best is then among the others with a probability of at least 1 - alpha, although the best of the runs was
    chosen by the same numbers: it is left out only if one of the k - 1 others seems better at level alpha / (k - 1).

    Parameters
    ----------
    runs
        The results of the same learners on one stream with other seeds.
    best
        The learner with the best mean.
    measure, forgetting, value
        As for `streamgauge.rank`.

    References
    ----------
    J. C. Hsu, Constrained simultaneous confidence intervals for multiple comparisons with the best, Annals of
    Statistics 12, 1984.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = ["NaiveBayes", "MajorityClass"]
    >>> runs = [sg.evaluate(sg.SEA(n_rows=2000, seed=seed), learners, seed=seed) for seed in (1, 2, 3)]
    >>> (test,) = compare_with_best(runs, "NaiveBayes", measure="accuracy")
    >>> test.learner, test.adjusted < 0.05
    ('MajorityClass', True)
    """
    if best not in runs[0].learners:
        raise unknown_name(kind="learner", name=best, known=runs[0].learners)
    rivals = [name for name in runs[0].learners if name != best]
    turn = 1.0 if runs[0].greater_is_better(measure) else -1.0
    same_rows = have_same_rows(runs)
    values = [read_fold_values(run, measure, forgetting, value) for run in runs]
    tests = []
    for rival in rivals:
        d = turn * np.array([float((own[best] - own[rival]).mean()) for own in values])
        within: tuple[ArrayLike, ...] = ()
        if same_rows:
            within = tuple(np.array([_estimate_within(run, best, rival, measure, forgetting, value) for run in runs]).T)
        p_value = combine_seeds(d, *within)
        tests.append(SeedTest(rival, float(d.mean()), p_value, min(1.0, len(rivals) * p_value)))
    return tuple(tests)


def _estimate_within(
    run: RunData, first: str, second: str, measure: str, forgetting: str | None, value: str | None
) -> tuple[float, float]:
    """Return the variance of a difference within a run, and its degrees of freedom."""
    chosen = choose_forgetting(run.forgettings, forgetting)
    if (choose_value(chosen, value) == "last") != (chosen == LANDMARK):
        msg = "the luck of the rows is known of values over the stream only"
        raise StreamgaugeError(msg)
    scheme = run.description.get("scheme")
    facts: dict[str, object] = scheme if isinstance(scheme, dict) else {}
    kinds = (str(facts.get(fact, "")) for fact in ("name", "resampling"))
    check_scheme(check_test(None, run.n_folds), *kinds, repeats_tests=bool(facts.get("repeats_tests")))
    pair = leave_pair_out(run, first, second, measure, None if chosen == LANDMARK else chosen)[2]
    _, variance, freedom = estimate_difference(pair)
    return variance, freedom
