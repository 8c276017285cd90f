"""The tests behind Tables 2, 3 and 4 of Bifet et al. (2015) against SciPy."""

import numpy as np
import pytest
from scipy import stats

from papers.bifet_2015.rates import TESTS


def counts(first, second):
    return {"n_scored": [100] * len(first), "only_first": first, "only_second": second, "two_way_p": 0.04}


def test_the_tests_decide_as_scipy_does():
    generator = np.random.default_rng(1)
    for _ in range(40):
        first, second = generator.integers(0, 30, (2, 10))
        decisions = {name: decide(counts(first.tolist(), second.tolist())) for name, decide in TESTS.items()}
        differences = first - second
        nonzero = differences[differences != 0]
        wins = int((nonzero > 0).sum())
        chi = (differences**2) / np.maximum(first + second, 1)
        assert decisions["mcnemar"] == pytest.approx((stats.chi2.sf(chi, 1) <= 0.05).mean())
        assert decisions["sign"] == (stats.binomtest(wins, len(nonzero)).pvalue <= 0.05)
        assert decisions["sign, 8 wins"] == (max(wins, len(nonzero) - wins) >= 8)
        assert decisions["wilcoxon, W <= 11"] == (stats.wilcoxon(nonzero, method="asymptotic").statistic <= 11)
        assert decisions["two_way_t"] == 1.0
