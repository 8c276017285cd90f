"""Addressed randomness: the rule, and that it is random."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from streamgauge import randomness

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
WORDS = st.integers(0, MASK)
UNLIKELY = 1e-4


def splitmix64(state):
    """Steele, Lea and Flood's generator, in Python's unbounded whole numbers."""
    z = (state + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def reference_draw(seed, purpose, fold, row):
    key = splitmix64(splitmix64(splitmix64(seed) ^ fnv1a(purpose)) ^ fold)
    return splitmix64((key + row * GOLDEN) & MASK)


@given(seed=WORDS, purpose=st.text("abc xyz é✓", max_size=20), fold=WORDS, row=st.integers(0, 2**63))
def test_native_draws_follow_the_documented_rule(seed, purpose, fold, row):
    expected = [reference_draw(seed, purpose, fold, row + i) for i in range(3)]
    assert randomness.draw(seed, purpose, fold, row, 3).tolist() == expected
    assert randomness.uniform(seed, purpose, fold, row, 3).tolist() == [(bits >> 11) / 2**53 for bits in expected]
    assert randomness.below(seed, purpose, fold, row, 3, 10).tolist() == [bits * 10 >> 64 for bits in expected]


@given(seed=WORDS, row=st.integers(0, 2**60))
def test_poisson_weights_are_the_quantiles_of_their_draws(seed, row):
    quantiles = stats.poisson.ppf(randomness.uniform(seed, "weights", 2, row, 20), 1)
    assert randomness.poisson(seed, "weights", 2, row, 20).tolist() == quantiles.tolist()


def test_fold_seeds_have_their_published_values_and_follow_the_rule():
    assert randomness.fold_seed(1, 0, 7) == 16039768801272104445
    assert randomness.fold_seed(1, 1, 7) == 7125996428116321486
    assert randomness.fold_seed(5, 3, 2) == splitmix64(splitmix64(splitmix64(5) ^ 3) ^ 2)
    seeds = {randomness.fold_seed(master, fold, 1) for master in range(100) for fold in range(100)}
    assert len(seeds) == 100 * 100


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_draws_are_uniform(seed):
    values = randomness.uniform(seed, "labels", 0, row=0, n=200_000)
    assert stats.kstest(values, "uniform").pvalue > UNLIKELY
    counts = np.bincount(randomness.below(seed, "fold", 1, row=0, n=200_000, limit=7), minlength=7)
    assert stats.chisquare(counts).pvalue > UNLIKELY


def test_every_bit_of_a_draw_is_fair():
    draws = randomness.draw(1, "weights", 0, row=0, n=100_000)
    for bit in range(64):
        ones = int(((draws >> np.uint64(bit)) & np.uint64(1)).sum())
        assert stats.binomtest(ones, 100_000).pvalue > UNLIKELY / 64


def test_neighbouring_rows_are_independent():
    values = randomness.uniform(1, "weights", 0, row=0, n=200_000)
    for lag in (1, 2, 3, 10, 64):
        assert stats.pearsonr(values[:-lag], values[lag:]).pvalue > UNLIKELY
    pairs = np.histogram2d(values[::2], values[1::2], bins=16)[0]
    assert stats.chisquare(pairs.ravel()).pvalue > UNLIKELY


def test_poisson_weights_have_the_frequencies_of_poisson_1():
    weights = randomness.poisson(1, "weights", 0, row=0, n=500_000)
    counts = np.bincount(np.minimum(weights, 7).astype(int), minlength=8)
    masses = np.append(stats.poisson.pmf(range(7), 1), stats.poisson.sf(6, 1))
    assert stats.chisquare(counts, masses * len(weights)).pvalue > UNLIKELY


@pytest.mark.parametrize(
    "others",
    [
        [(1, "weights", fold) for fold in range(8)],
        [(seed, "weights", 0) for seed in range(8)],
        [(1, purpose, 0) for purpose in ("weights", "weightt", "labels", "fold", "")],
    ],
    ids=["folds", "seeds", "purposes"],
)
def test_folds_seeds_and_purposes_are_independent_of_each_other(others):
    n = 50_000
    columns = [randomness.uniform(seed, purpose, fold, 0, n) for seed, purpose, fold in others]
    weights = [np.minimum(randomness.poisson(seed, purpose, fold, 0, n), 3) for seed, purpose, fold in others]
    pairs = list(combinations(range(len(others)), 2))
    for i, j in pairs:
        assert stats.pearsonr(columns[i], columns[j]).pvalue > UNLIKELY / len(pairs)
        table = stats.contingency.crosstab(weights[i], weights[j]).count
        assert stats.chi2_contingency(table).pvalue > UNLIKELY / len(pairs)
