"""Anytime-valid tests beside confseq, expectation and MAPIE, SciPy, statsmodels and simulated Brownian motions.

The numbers of confseq and expectation were recorded by `tests/data/libraries/record.py`.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, optimize, signal, stats

from streamgauge.significance import Betting, anytime_mcnemar, asymptotic_radius, empirical_bernstein
from streamgauge.significance.confidence_sequences import (
    bernstein_log_e,
    bernstein_radius,
    block_radius,
    boundary_factor,
    two_way_radius,
)
from streamgauge.significance.single_model import RowVariance

LIBRARIES = Path(__file__).parents[2] / "data" / "libraries"
CONFSEQ: dict[str, Any] = json.loads((LIBRARIES / "confseq.json").read_text(encoding="utf-8"))
EXPECTATION: dict[str, Any] = json.loads((LIBRARIES / "expectation.json").read_text(encoding="utf-8"))
VALUES = np.array(CONFSEQ["values"]) / 16
STAKES = 0.5 / 2.0 ** np.arange(12)


# -------------------------------------------------------------------------------------- the same formula: equal numbers


@pytest.mark.parametrize(
    "numbers",
    [CONFSEQ["normal_mixture_bound"], EXPECTATION["TwoSidedNormalMixture"]],
    ids=["confseq", "expectation"],
)
def test_the_asymptotic_sequence_is_a_mixture_of_normal_distributions(numbers: list[list[float]]) -> None:
    for n_rows, variance, alpha, best_at, radius in numbers:
        found = asymptotic_radius(int(n_rows), variance, alpha=alpha, best_at=best_at)
        assert found == pytest.approx(radius, rel=1e-9)


@pytest.mark.parametrize(
    "numbers",
    [CONFSEQ["beta_binomial_log_mixture"], EXPECTATION["BetaBinomialMixture"]],
    ids=["confseq", "expectation"],
)
def test_anytime_mcnemar_is_a_mixture_of_binomial_distributions(numbers: list[list[float]]) -> None:
    for only_first, only_second, prior, log in numbers:
        assert anytime_mcnemar(int(only_first), int(only_second), prior=prior) == pytest.approx(log, abs=1e-9)


def test_anytime_mcnemar_is_the_mean_of_all_bets_under_its_prior() -> None:
    bets = integrate.quad(lambda share: (2 * share) ** 7 * (2 * (1 - share)) ** 3, 0, 1)[0]
    assert math.exp(anytime_mcnemar(7, 3, prior=1.0)) == pytest.approx(bets)


def test_betting_gains_the_capital_of_confseq() -> None:
    logs = Betting().update(VALUES)
    for n_rows, capital in CONFSEQ["diversified_betting_mart"]:
        assert math.exp(logs[n_rows - 1]) == pytest.approx(capital, rel=1e-9)


def test_the_empirical_bernstein_e_value_is_the_mean_over_bounds_of_confseq() -> None:
    for n_rows, *bounds in CONFSEQ["predmix_lower_cs"]:
        logs = STAKES * n_rows * (np.array(bounds) - 1.0)
        column = VALUES[:n_rows]
        found = float(bernstein_log_e(column.sum(), (column**2).sum()))
        assert found == pytest.approx(math.log(np.exp(logs).mean()), abs=1e-9)


def find_start(alpha: float) -> float:
    """Return the a of Robbins and Siegmund, whose boundary is crossed with probability 2 (1 - Phi(a) + a phi(a))."""
    return float(optimize.brentq(lambda a: 2 * (stats.norm.sf(a) + a * stats.norm.pdf(a)) - alpha, 0.0, 20.0))


def count_errors(n_rows: int, first_row: int, freedom: int, n_folds: int, alpha: float) -> float:
    """Return the standard errors to each side: a t quantile with the tail of the boundary, or more for few folds."""
    factor = math.sqrt(find_start(alpha) ** 2 + math.log(n_rows / first_row))
    by_blocks = stats.t.isf(stats.norm.sf(factor), freedom)
    by_folds = factor * stats.t.ppf(1 - alpha / 2, n_folds - 1) / stats.norm.ppf(1 - alpha / 2) if n_folds > 1 else 0.0
    return float(max(by_blocks, by_folds))


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
@pytest.mark.parametrize(("n_blocks", "n_folds"), [(20, 1), (40, 1), (39, 4), (40, 10)])
def test_the_block_sequence_spans_the_standard_errors_that_scipy_says(
    n_blocks: int, n_folds: int, alpha: float
) -> None:
    for n_rows in (500, 7000, 1_000_000):
        found = block_radius(1e-4, n_rows=n_rows, first_row=500, n_blocks=n_blocks, n_folds=n_folds, alpha=alpha)
        assert found == pytest.approx(0.01 * count_errors(n_rows, 500, n_blocks - 1, n_folds, alpha), rel=1e-9)


def test_the_two_way_sequence_spans_the_standard_errors_that_scipy_says() -> None:
    of_folds, of_rows, of_both = 1.3e-5, 4e-5, 1.6e-6
    middle, radius = two_way_radius(np.array([[0.02, of_folds, of_rows, of_both, 4.1e-5]]), 20_000, 40, 10, 0.05)
    errors = count_errors(20_000, 200, 20_000 - 1, 10, 0.05)
    assert middle == pytest.approx(0.02)
    assert radius == pytest.approx(errors * math.sqrt(of_folds + of_rows - of_both), rel=1e-9)
    assert errors > stats.t.ppf(0.975, 9)


# ----------------------------------------------------------------------------------- another formula: what must hold


@pytest.mark.parametrize("alpha", [0.2, 0.05])
def test_a_brownian_motion_crosses_the_boundary_with_probability_alpha(alpha: float) -> None:
    """Follow paths from the first look to e^16 times its rows; between looks, by the formula for a Brownian bridge."""
    random, n_paths, step = np.random.default_rng(1), 20_000, 0.05
    rows = np.exp(np.arange(0.0, 16.0, step))
    limits = np.array([math.sqrt(n) * boundary_factor(n, 1.0, alpha=alpha) for n in rows])
    path = random.standard_normal(n_paths)
    stays = (np.abs(path) < limits[0]).astype(float)
    for index, passed in enumerate(np.diff(rows)):
        before, path = path, path + math.sqrt(passed) * random.standard_normal(n_paths)
        for side in (1.0, -1.0):
            gaps = np.maximum(limits[index] - side * before, 0.0) * np.maximum(limits[index + 1] - side * path, 0.0)
            stays *= 1.0 - np.exp(-2.0 * gaps / passed)
    crossed = 1.0 - stays
    assert crossed.mean() == pytest.approx(alpha, abs=3.5 * crossed.std() / math.sqrt(n_paths))


def compare_with_tuned(squares: float, alpha: float, radius: float) -> None:
    """Compare with a mixture of stakes that is best at this very moment, at the same level of one side."""
    ratio = float(bernstein_radius(squares, 2 * alpha)) / radius
    assert 1.0 < ratio < (1.3 if squares >= 10 else 1.9)


@pytest.mark.parametrize(
    "numbers",
    [CONFSEQ["gamma_exponential_mixture_bound"], EXPECTATION["GammaExponentialMixture"]],
    ids=["confseq", "expectation"],
)
def test_the_empirical_bernstein_radius_is_near_that_of_a_tuned_mixture(numbers: list[list[float]]) -> None:
    for squares, alpha, radius in numbers:
        compare_with_tuned(squares, alpha, radius)


def test_the_empirical_bernstein_radius_is_near_that_of_mapie() -> None:
    bounds = pytest.importorskip("mapie.exchangeability_testing.bounds", reason="MAPIE is not installed")
    recorded = {(squares, alpha): radius for squares, alpha, radius in CONFSEQ["gamma_exponential_mixture_bound"]}
    for squares in (10.0, 100.0, 3000.0, 10_000.0):
        radius = bounds.GammaExponentialMixtureBound(squares, 1.0, 0.025).bound(squares, 0.025)
        compare_with_tuned(squares, 0.025, radius)
        assert radius == pytest.approx(recorded.get((squares, 0.025), radius), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("conjugate_mixture", 0.75, 1.05), ("empirical_bernstein", 0.85, 1.15), ("hedged", 1.0, 1.45)],
)
def test_the_empirical_bernstein_interval_is_about_as_wide_as_those_of_confseq(
    name: str, least: float, most: float
) -> None:
    for n_rows, low, high in CONFSEQ["intervals"][name]:
        column = VALUES[:n_rows]
        ours = empirical_bernstein(float(column.sum()), float((column**2).sum()), n_rows)
        assert ours[0] < 0.06 * max(n_rows - 1500, 0) / n_rows < ours[1]
        assert max(low, ours[0]) < min(high, ours[1])
        if 200 <= n_rows <= 1500:  # then the mean changes, for which the others have no interval
            assert least < (ours[1] - ours[0]) / (high - low) < most


def draw_dependent(random: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.asarray(signal.lfilter([1.0], [1.0, -0.5], random.standard_normal(n + 100))[100:])


def test_the_variance_between_blocks_is_the_long_run_variance_of_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
    random, found, wanted = np.random.default_rng(3), [], []
    for _ in range(60):
        column = draw_dependent(random, 8000)
        totals = np.append(0.0, column.cumsum()[199::200])
        found.append(RowVariance.estimate(totals, np.arange(0.0, 8001.0, 200.0)).value)
        fit = models.OLS(column, np.ones(8000)).fit(cov_type="HAC", cov_kwds={"maxlags": 40})
        wanted.append(8000 * float(fit.bse[0]) ** 2)
    assert np.mean(wanted) == pytest.approx(4.0, rel=0.06)  # 1 / (1 - 0.5)^2
    assert np.mean(found) == pytest.approx(np.mean(wanted), rel=0.12)
    assert np.mean(found) > 2 * column.var()
