"""The Bayesian tests: worked numbers, and baycomp."""

import numpy as np
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.significance import bayesian_sign, corrected_t, correlated_t, signed_rank
from tests.support.accuracy_table import TABLE

TABLE_1 = np.array([0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]) / 100
"""Differences of ten folds: Bifet et al. 2015, table 1."""

OVER_STREAMS = TABLE[:, 3] - TABLE[:, 0]


def test_correlated_t_gives_the_worked_numbers() -> None:
    found = correlated_t(TABLE_1, 1 / 9, rope=0.01)
    expected = (0.4151766857, 0.5841027851, 0.0007205292)
    assert (found.first, found.equivalent, found.second) == pytest.approx(expected, abs=1e-9)
    without = correlated_t(TABLE_1, 1 / 9, rope=0.0)
    assert (without.first, without.second) == pytest.approx((0.9700354589, 0.0299645411), abs=1e-9)
    assert without.equivalent == pytest.approx(0.0, abs=1e-12)
    assert without.second == pytest.approx(corrected_t(TABLE_1, 1 / 9).p_value / 2)


def test_signed_rank_gives_the_worked_numbers() -> None:
    found = signed_rank(OVER_STREAMS, rope=0.01)
    assert (found.second, found.equivalent, found.first) == pytest.approx((0.0004, 0.0315, 0.9680), abs=0.004)
    assert found == signed_rank(OVER_STREAMS, rope=0.01)


def test_the_bayesian_sign_test_gives_the_worked_numbers() -> None:
    found = bayesian_sign(OVER_STREAMS, rope=0.01)
    assert (found.second, found.equivalent, found.first) == pytest.approx((0.0007, 0.0440, 0.9553), abs=0.004)
    assert found == bayesian_sign(-OVER_STREAMS, rope=0.01, greater_is_better=False)


def test_a_measure_whose_small_values_are_good_turns_all_round() -> None:
    for high, low in (
        (signed_rank(OVER_STREAMS), signed_rank(-OVER_STREAMS, greater_is_better=False)),
        (correlated_t(TABLE_1, 0.5), correlated_t(-TABLE_1, 0.5, greater_is_better=False)),
    ):
        assert high == low


def test_learners_that_are_alike_are_equivalent() -> None:
    assert signed_rank(np.zeros(10)).verdict() == "equivalent"
    assert correlated_t(np.zeros(10), 0.1).verdict() == "equivalent"
    assert correlated_t(np.full(10, 0.5), 0.1).verdict() == "first"
    assert signed_rank([0.1, -0.1, 0.1, -0.1]).verdict() == "undecided"


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(StreamgaugeError, match="rope"):
        signed_rank([0.1, 0.2], rope=-1.0)
    with pytest.raises(StreamgaugeError, match="at least 0"):
        correlated_t([0.1, 0.2], -0.1)
