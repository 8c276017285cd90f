"""Anytime-valid tests against SciPy."""

import math

import pytest
from scipy import integrate, stats

from streamgauge.significance import anytime_mcnemar, asymptotic_radius
from streamgauge.significance.confidence_sequences import two_way_radius


def test_anytime_mcnemar_is_the_mean_of_all_bets_under_its_prior() -> None:
    bets = integrate.quad(lambda share: (2 * share) ** 7 * (2 * (1 - share)) ** 3, 0, 1)[0]
    assert math.exp(anytime_mcnemar(7, 3, prior=1.0)) == pytest.approx(bets)


def test_the_asymptotic_and_the_two_way_sequence_give_the_worked_numbers() -> None:
    radii = {100: 0.2993821603, 1000: 0.0475725564, 10_000: 0.0136913423, 100_000: 0.0047190292}
    for n_rows, expected in radii.items():
        assert asymptotic_radius(n_rows, 0.2) == pytest.approx(expected, abs=1e-9)
    assert two_way_radius(20_000, 10, 5.14e-5, 0.05, 20_000) == pytest.approx(0.0259019156, abs=1e-9)
    once = stats.t.ppf(0.975, 9) * math.sqrt(5.14e-5)
    assert once == pytest.approx(0.0162182628, abs=1e-9)
    assert two_way_radius(20_000, 10, 5.14e-5, 0.05, 20_000) > once
