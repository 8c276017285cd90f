"""Sample sizes beside statsmodels, the normal formula of textbooks, and simulated runs of the test itself."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from streamgauge.significance import LeftOut, Spread, sample_size, two_way_t
from streamgauge.significance.confidence_sequences import bernstein_radius
from streamgauge.significance.sample_size import TYPICAL_BLOCKS


@pytest.mark.parametrize("n_rows", [500, 2000, 8000])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_power_of_one_fold_is_that_of_a_t_test_over_blocks(n_rows: int, alpha: float) -> None:
    models = pytest.importorskip("statsmodels.stats.power", reason="statsmodels is not installed")
    spread, difference = Spread(rows=0.1), 0.02
    of_block = math.sqrt(spread.rows / (n_rows / TYPICAL_BLOCKS))
    expected = models.TTestPower().power(difference / of_block, nobs=TYPICAL_BLOCKS, alpha=alpha)
    assert spread.compute_power(difference, n_rows, 1, alpha) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("difference", "discordance"), [(0.02, 0.1), (0.005, 0.06), (0.05, 0.3)])
def test_the_rows_of_one_fold_are_close_to_the_normal_formula_for_paired_proportions(
    difference: float, discordance: float
) -> None:
    """Connor, Sample size for testing differences in proportions for the paired-sample design, Biometrics 43, 1987."""
    n = (norm.ppf(0.975) * discordance**0.5 + norm.ppf(0.8) * (discordance - difference**2) ** 0.5) ** 2 / difference**2
    rows = sample_size(difference=difference, discordance=discordance).rows_needed
    assert rows is not None
    assert n < rows < 1.12 * n  # the variance is estimated, from blocks


def simulate(spread: Spread, difference: float, n_rows: int, n_folds: int, n_runs: int) -> float:
    """Return how often the two-way t claims a difference, with means of blocks drawn from normal distributions."""
    random = np.random.default_rng(1)
    b, rejected = TYPICAL_BLOCKS, 0
    for _ in range(n_runs):
        of_rows = random.normal(0.0, math.sqrt(spread.rows * b / n_rows), size=b)
        of_folds = random.normal(0.0, math.sqrt(spread.folds), size=n_folds)
        of_both = random.normal(0.0, math.sqrt(spread.both * b / n_rows), size=(n_folds, b))
        blocks = difference + of_rows + of_folds[:, None] + of_both
        whole = blocks.mean(axis=1)
        without = (blocks.sum(axis=1, keepdims=True) - blocks) / (b - 1)
        zeros = np.zeros_like
        outcome = two_way_t(LeftOut(np.stack([whole, zeros(whole)]), np.stack([without, zeros(without)])))
        rejected += outcome.p_value <= 0.05
    return rejected / n_runs


@pytest.mark.parametrize(
    ("spread", "n_folds"),
    [
        (Spread(rows=0.08), 1),
        (Spread(rows=0.05, folds=0.0001, both=0.05), 10),
        (Spread(rows=0.002, folds=0.0004, both=0.1), 20),
        (Spread(rows=0.05, folds=0.00012), 6),
    ],
)
def test_the_test_has_the_power_with_the_rows_that_are_said_to_be_needed(spread: Spread, n_folds: int) -> None:
    difference = 0.02
    least = next(n for n in range(50, 1_000_000, 10) if spread.compute_power(difference, n, n_folds) >= 0.8)
    assert simulate(spread, difference, least, n_folds, 4000) == pytest.approx(0.8, abs=0.03)


def test_a_live_verdict_comes_with_the_power_within_the_rows_that_are_said() -> None:
    size = sample_size(error_rates=(0.10, 0.15), discordance=0.11, rope=0.01)
    assert size.live_rows is not None
    random = np.random.default_rng(1)
    n, n_runs, due = size.live_rows, 2000, 0
    p_first, p_second = 0.08, 0.03
    for _ in range(n_runs):
        first, second, _ = random.multinomial(n, (p_first, p_second, 1 - p_first - p_second))
        due += (first - second - float(bernstein_radius(first + second, 0.05))) / n > 0.01
    assert due / n_runs == pytest.approx(0.8, abs=0.03)
