"""Tests over folds against SciPy."""

import numpy as np
import pytest
from scipy import stats

from streamgauge.significance import corrected_t, sign_flip

TABLE_1 = [0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]
"""Differences of ten folds, in percent: Bifet et al. 2015, table 1."""


def test_sign_flip_agrees_with_scipy() -> None:
    oracle = stats.permutation_test((np.array(TABLE_1),), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(TABLE_1).p_value == pytest.approx(oracle.pvalue)


def test_many_folds_are_flipped_at_random_and_never_give_zero() -> None:
    values = np.random.default_rng(1).normal(0.4, 1, 30)
    found = sign_flip(values, n_flips=20_000)
    assert found.p_value == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.02)
    assert found.p_value == sign_flip(values, n_flips=20_000).p_value
    assert sign_flip(np.ones(30), n_flips=100).p_value >= 0.01


def test_the_corrected_t_without_correction_is_the_paired_t_with_its_interval() -> None:
    oracle = stats.ttest_1samp(TABLE_1, 0)
    found = corrected_t(TABLE_1, 0.0)
    assert found.p_value == pytest.approx(oracle.pvalue)
    assert found.interval == pytest.approx(tuple(oracle.confidence_interval(0.95)))
