"""Rankings of many learners against SciPy, statsmodels and scikit-posthocs."""

from itertools import combinations, product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from streamgauge.significance import (
    benjamini_hochberg,
    friedman,
    holm,
    hommel,
    mean_rank_p_values,
    nemenyi_p_values,
    rank_table,
    ranks_of,
)
from tests.support.accuracy_table import TABLE

NAMES = ["a", "b", "c", "d"]
TABLES = st.tuples(st.integers(3, 9), st.integers(3, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(0, 6), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_adjusted_p_values_agree_with_statsmodels_and_with_the_closure_of_simes(single: list[float]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    for ours, method in ((holm, "holm"), (hommel, "hommel"), (benjamini_hochberg, "fdr_bh")):
        with patch("gc.collect"):  # which statsmodels calls each time, and takes most of the time
            theirs = multitest.multipletests(single, method=method)[1]
        assert ours(single) == pytest.approx(theirs, abs=1e-12)
    sets = [subset for size in range(1, len(single) + 1) for subset in combinations(range(len(single)), size)]
    simes = {s: min(len(s) * p / i for i, p in enumerate(sorted(single[j] for j in s), start=1)) for s in sets}
    closed = [max(p for subset, p in simes.items() if place in subset) for place in range(len(single))]
    assert hommel(single) == pytest.approx(closed, abs=1e-12)


@given(TABLES)
@settings(max_examples=60, deadline=None)
def test_friedman_agrees_with_scipy(rows: list[list[int]]) -> None:
    values = np.array(rows)
    if (values == values[:, :1]).all():
        assert friedman(values).p_value == 1.0
        return
    oracle = stats.friedmanchisquare(*values.T)
    found = friedman(values)
    assert found.chi_square == pytest.approx(oracle.statistic, abs=1e-9)
    assert found.p_value == pytest.approx(oracle.pvalue, abs=1e-9)


@pytest.mark.parametrize("n", [1, 3, 10])
def test_holm_agrees_with_statsmodels(n: int) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    p_values = np.random.default_rng(n).uniform(0, 0.2, n)
    assert holm(p_values) == pytest.approx(multitest.multipletests(p_values, method="holm")[1], abs=1e-12)


def test_nemenyi_agrees_with_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
    oracle = np.asarray(posthocs.posthoc_nemenyi_friedman(TABLE))
    assert nemenyi_p_values(ranks_of(TABLE).mean(axis=0), 14) == pytest.approx(oracle, abs=1e-6)


def every_sign_tried(differences: NDArray[np.float64]) -> float:
    """Find the p-value of the signed-rank test by trying all signs."""
    left = differences[differences != 0].round(12)
    ranks = stats.rankdata(np.abs(left))
    signs = np.array(list(product((1, -1), repeat=len(left))))
    return float((np.abs(signs @ ranks) >= abs(np.sign(left) @ ranks) - 1e-9).mean())


def test_wilcoxon_holm_is_holm_of_the_exact_tests() -> None:
    ranking = rank_table(TABLE, NAMES)
    single = [every_sign_tried(TABLE[:, i] - TABLE[:, j]) for i, j in combinations(range(4), 2)]
    assert [pair.p_value for pair in ranking.pairs] == pytest.approx(single, abs=1e-9)
    assert [pair.adjusted for pair in ranking.pairs] == pytest.approx(holm(single), abs=1e-9)


def test_mean_ranks_are_tested_as_normal() -> None:
    means = ranks_of(TABLE).mean(axis=0)
    z = (means[0] - means[3]) / np.sqrt(4 * 5 / (6 * 14))
    assert mean_rank_p_values(means, 14)[0, 3] == pytest.approx(2 * stats.norm.sf(abs(z)))
