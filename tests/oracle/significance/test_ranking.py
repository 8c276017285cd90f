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
    bergmann_hommel,
    friedman,
    holm,
    hommel,
    mean_rank_p_values,
    nemenyi_p_values,
    rank_table,
    ranks_of,
    shaffer,
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


def list_exhaustive_sets(n_learners: int) -> list[frozenset[int]]:
    """Return the sets of pairs that can be equal while all others differ, by trying all: equality is transitive."""
    pairs = list(combinations(range(n_learners), 2))
    number = {frozenset(pair): i for i, pair in enumerate(pairs)}
    triangles = [
        [number[frozenset(pair)] for pair in combinations(trio, 2)] for trio in combinations(range(n_learners), 3)
    ]
    sets = [frozenset(s) for size in range(1, len(pairs) + 1) for s in combinations(range(len(pairs)), size)]
    return [s for s in sets if all(sum(pair in s for pair in triangle) != 2 for triangle in triangles)]


EXHAUSTIVE = {n_learners: list_exhaustive_sets(n_learners) for n_learners in (2, 3, 4, 5)}


@given(st.sampled_from([1, 3, 6, 10]).flatmap(lambda n: st.lists(st.floats(0.0, 0.3), min_size=n, max_size=n)))
@settings(max_examples=60, deadline=None)
def test_bergmann_hommel_rejects_what_no_accepted_exhaustive_set_contains(single: list[float]) -> None:
    """The procedure as published: accept every exhaustive set I whose p-values are all above alpha / |I|."""
    sets = EXHAUSTIVE[{1: 2, 3: 3, 6: 4, 10: 5}[len(single)]]
    adjusted = bergmann_hommel(single)
    assert (adjusted <= shaffer(single) + 1e-15).all()
    for alpha in (0.01, 0.05, 0.2):
        accepted = frozenset().union(*(s for s in sets if min(single[i] for i in s) * len(s) > alpha))
        assert [p > alpha for p in adjusted] == [i in accepted for i in range(len(single))]


def test_there_are_as_many_exhaustive_sets_as_garcia_and_herrera_count() -> None:
    assert [len(sets) for sets in EXHAUSTIVE.values()] == [1, 4, 14, 51]
    # With 9 learners and equal p-values, all 36 pairs can be equal at once.
    assert bergmann_hommel([0.001] * 36) == pytest.approx([0.036] * 36)


def test_ranks_are_adjusted_by_bergmann_and_hommel() -> None:
    single = mean_rank_p_values(ranks_of(TABLE).mean(axis=0), len(TABLE))[np.triu_indices(4, 1)]
    ranking = rank_table(TABLE, NAMES, post_hoc="ranks_bergmann_hommel")
    assert [pair.adjusted for pair in ranking.pairs] == pytest.approx(bergmann_hommel(single))
    assert [pair.p_value for pair in ranking.pairs] == pytest.approx(single)
