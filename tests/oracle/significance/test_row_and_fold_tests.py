"""Tests between two learners against SciPy."""

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from streamgauge.significance import InterimAnalysis, mcnemar, sign_test, wilcoxon
from tests.support.pair_sums import TABLE_1, TWO_WAY_EXAMPLE, sums_of, t_of_sums, without_blocks

"""Differences of ten folds, in percent: Bifet et al. 2015, table 1."""


def test_wilcoxon_by_the_normal_distribution_gives_the_worked_numbers() -> None:
    assert wilcoxon(TABLE_1, variant="normal").p_value == pytest.approx(0.012515318690, abs=1e-11)
    assert wilcoxon(TABLE_1, variant="corrected").p_value == pytest.approx(0.014432823939, abs=1e-11)
    assert stats.norm.ppf(wilcoxon(TABLE_1, variant="normal").p_value / 2) == pytest.approx(-2.497271238, abs=1e-8)


@given(st.lists(st.integers(-6, 6), min_size=3, max_size=30), st.sampled_from(["drop", "pratt"]), st.booleans())
@settings(deadline=None)
def test_wilcoxon_by_the_normal_distribution_equals_scipy(
    differences: list[int], zeros: Literal["drop", "pratt"], corrected: bool
) -> None:
    if not any(differences):
        return
    method = {"drop": "wilcox", "pratt": "pratt"}[zeros]
    expected = stats.wilcoxon(differences, zero_method=method, correction=corrected, method="asymptotic")
    outcome = wilcoxon(differences, zeros=zeros, variant="corrected" if corrected else "normal")
    assert outcome.statistic == expected.statistic
    if outcome.direction or not corrected:  # where both sums are equal scipy's correction goes to the wrong side of 0
        assert outcome.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_two_way_t_gives_the_worked_numbers() -> None:
    pair = sums_of(TWO_WAY_EXAMPLE)
    outcome = t_of_sums(pair)
    assert outcome.difference == 0.28125
    assert outcome.statistic == pytest.approx(1.6748715787172475, rel=1e-12)
    assert outcome.p_value == pytest.approx(0.19255293028966308, rel=1e-12)
    half = (outcome.interval[1] - outcome.interval[0]) / 2
    assert (half / stats.t.ppf(0.975, 3)) ** 2 == pytest.approx(0.0281982422, abs=1e-10)
    parts = InterimAnalysis.from_sums([pair]).parts[0]
    assert parts[1:4] == pytest.approx([0.0009765625, 0.0281982422, 0.0121765137], abs=1e-10)
    folds_as_they_are = parts[1] * 3 / 4  # ddof 0, as in the two-way clustered standard error of statsmodels
    assert math.sqrt(folds_as_they_are + parts[2] - parts[3]) == pytest.approx(0.1294378244, abs=1e-9)


def slow_two_way(d: NDArray[np.int_]) -> tuple[float, float, float]:
    """Difference, t and p by the textbook, from the differences [k, n] themselves."""
    k, n = d.shape
    folds, rows, both = d.mean(1).var(ddof=1) / k, d.mean(0).var() / n, d.var() / (n * k)
    t = d.mean() / math.sqrt(max(folds + rows - both, folds, rows) or both)
    return float(d.mean()), t, float(2 * stats.t.sf(abs(t), k - 1))


@given(st.integers(2, 12), st.integers(2, 60), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 2**32))
@settings(deadline=None)
def test_the_two_way_t_equals_the_textbook(k: int, n: int, of_folds: float, of_rows: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    shift = of_folds * random.normal(size=(k, 1)) + of_rows * random.normal(size=n)
    d = np.clip(np.rint(shift + 0.7 * random.normal(size=(k, n))), -1, 1).astype(int)
    if len(set(d.ravel().tolist())) == 1:
        return
    outcome = t_of_sums(without_blocks(sums_of(d)))
    assert (outcome.difference, outcome.statistic, outcome.p_value) == pytest.approx(
        slow_two_way(d), rel=1e-9, abs=1e-12
    )


distinct = st.lists(st.integers(1, 10_000), min_size=2, max_size=25, unique=True)


@given(distinct, st.integers(0, 2**25))
@settings(deadline=None)
def test_wilcoxon_equals_scipy_where_there_are_no_ties(sizes: list[int], signs: int) -> None:
    differences = [size if signs >> i & 1 else -size for i, size in enumerate(sizes)]
    expected = stats.wilcoxon(differences, method="exact")
    outcome = wilcoxon(differences)
    assert (outcome.statistic, outcome.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=10))
@settings(deadline=None, max_examples=50)
def test_wilcoxon_with_ties_equals_the_count_of_all_signs(differences: list[int]) -> None:
    kept = np.array([d for d in differences if d], dtype=float)
    ranks = stats.rankdata(np.abs(kept))
    flips = np.array(list(np.ndindex(*[2] * len(kept)))) if len(kept) else np.zeros((1, 0))
    sums = flips @ ranks
    least = np.minimum(sums, ranks.sum() - sums)
    seen = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
    assert wilcoxon(differences).p_value == pytest.approx((least <= seen + 1e-9).mean() if len(kept) else 1.0)


@given(st.integers(0, 40), st.integers(0, 40))
@settings(deadline=None)
def test_sign_test_and_exact_mcnemar_equal_scipy(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert mcnemar(wins, losses, variant="exact").p_value == pytest.approx(expected, rel=1e-10)
    assert sign_test([0.1] * wins + [-0.1] * losses + [0, 0]).p_value == pytest.approx(expected, rel=1e-10)
