"""Which learners may be the best of a stream, over seeds: plain references, and the level of the test by simulation."""

import numpy as np
import pytest
from scipy import stats

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.significance import combine_seeds, compare_with_best


def test_seeds_with_rows_of_their_own_are_compared_by_the_paired_t() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 3, 10):
        first, second = rng.normal(0.8, 0.01, n), rng.normal(0.79, 0.01, n)
        expected = stats.ttest_1samp(first - second, 0.0, alternative="greater").pvalue
        assert combine_seeds(first - second) == pytest.approx(expected, rel=1e-9)


def test_seeds_that_share_their_rows_have_the_variance_within_the_runs_too() -> None:
    d, v, freedom = np.array([0.02, 0.03, 0.04]), np.array([1e-4, 4e-4, 1e-4]), np.array([18.0, 30.0, 38.0])
    within, between = np.mean([0.01, 0.02, 0.01]) ** 2, 1e-4 / 3
    t = 0.03 / np.sqrt(within + between)
    weights = np.array([between, within]) / (between + within)
    assert combine_seeds(d, v, freedom) == pytest.approx(weights @ [stats.t.sf(t, 2), stats.t.sf(t, 18)], rel=1e-9)
    # Learners without randomness have no variance between seeds: the runs are one run.
    assert combine_seeds([0.02] * 3, [1e-4] * 3, [18.0] * 3) == pytest.approx(stats.t.sf(2.0, 18), rel=1e-9)


def test_equal_predictions_are_no_difference() -> None:
    assert combine_seeds([0.0, 0.0]) == 0.5
    assert combine_seeds([0.1, 0.1]) == 0.0
    assert combine_seeds([-0.1, -0.1]) == 1.0
    with pytest.raises(StreamgaugeError, match="at least 2 runs"):
        combine_seeds([0.1])


@pytest.mark.parametrize("n", [3, 5])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_shared_rows_keep_the_level(n: int, share: float) -> None:
    """`share` is that of the seeds in the variance of the mean; 4,000 null experiments, standard error .0034."""
    rng = np.random.default_rng(n)
    rejected = 0
    for _ in range(4000):
        d = rng.normal(0.0, np.sqrt(1 - share)) + rng.normal(0.0, np.sqrt(share * n), n)
        v = np.full(n, (1 - share) * rng.chisquare(18) / 18)
        rejected += combine_seeds(d, v, np.full(n, 18.0)) <= 0.05
    assert rejected / 4000 < 0.06


def test_the_truly_best_learner_is_seldom_found_worse() -> None:
    """Five learners on three seeds, of very different variance, two of them equally good: both are rarely left out.

    That any test that takes the seed for granted fails here is checked beside it.
    """
    rng = np.random.default_rng(1)
    deviations = np.array([0.001, 0.02, 0.01, 0.005, 0.001])
    left_out, left_out_within = 0, 0
    for _ in range(3000):
        values = rng.normal(0.0, deviations, (3, 5)) + rng.normal(0.0, 0.01, (3, 1)) - [0, 0, 0.001, 0.002, 0.005]
        best = int(values.mean(axis=0).argmax())
        if best != 0:
            d = values[:, best] - values[:, 0]
            left_out += 4 * combine_seeds(d) <= 0.05
            left_out_within += 4 * stats.norm.sf(d.mean() / np.sqrt(1e-5 / 3)) <= 0.05  # the luck of the rows alone
    assert left_out / 3000 < 0.05
    assert left_out_within / 3000 > 0.1


def test_a_measure_of_which_less_is_better_is_turned() -> None:
    learners = ["NaiveBayes", "MajorityClass"]
    runs = [sg.evaluate(sg.SEA(n_rows=1000, seed=s), learners, measures="error", seed=s) for s in (1, 2, 3)]
    (test,) = compare_with_best(runs, "NaiveBayes", measure="error")
    assert test.lead > 0.0
    assert test.adjusted == test.p_value < 0.05


def test_runs_of_the_same_rows_are_no_independent_repetitions() -> None:
    learners = ["NaiveBayes", "MajorityClass", "AdaptiveRandomForest"]
    runs = [sg.evaluate(sg.SEA(n_rows=2000), learners, seed=seed) for seed in (1, 2, 3)]
    tests = {test.learner: test for test in compare_with_best(runs, "NaiveBayes", measure="accuracy")}
    outcome = sg.compare(runs[0], "NaiveBayes", "MajorityClass")
    # Neither learner is random: three runs are worth one.
    assert tests["MajorityClass"].p_value == pytest.approx(outcome.p_value / 2, rel=1e-6)
    assert tests["MajorityClass"].adjusted == pytest.approx(2 * tests["MajorityClass"].p_value)
