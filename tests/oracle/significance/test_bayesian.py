"""Bayesian tests against baycomp."""

import numpy as np
import pytest

from streamgauge.significance import bayesian_sign, correlated_t, signed_rank
from tests.support.accuracy_table import TABLE


@pytest.mark.parametrize("rope", [0.005, 0.02])
def test_the_bayesian_sign_test_agrees_with_baycomp(rope: float) -> None:
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    oracle = baycomp.SignTest.probs(TABLE[:, 0], TABLE[:, 1], rope=rope, nsamples=20_000, random_state=0)
    found = bayesian_sign(TABLE[:, 1] - TABLE[:, 0], rope=rope, n_samples=20_000)
    assert (found.second, found.equivalent, found.first) == pytest.approx(tuple(oracle), abs=0.015)


@pytest.mark.parametrize("rope", [0.0, 0.005, 0.02])
def test_signed_rank_agrees_with_baycomp(rope: float) -> None:
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    oracle = baycomp.SignedRankTest.probs(TABLE[:, 0], TABLE[:, 1], rope=rope, nsamples=20_000, random_state=0)
    found = signed_rank(TABLE[:, 1] - TABLE[:, 0], rope=rope, n_samples=20_000)
    ours = (found.second, found.equivalent, found.first) if rope else (found.second, found.first)
    assert ours == pytest.approx(tuple(oracle), abs=0.015)


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_correlated_t_agrees_with_baycomp(rope: float) -> None:
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    values = np.random.default_rng(1).normal(0.005, 0.02, 10)
    oracle = baycomp.CorrelatedTTest.probs(np.zeros(10), values, rope=rope)
    found = correlated_t(values, 1 / 9, rope=rope)
    ours = (found.second, found.equivalent, found.first) if rope else (found.second, found.first)
    assert ours == pytest.approx(tuple(oracle), abs=1e-9)
