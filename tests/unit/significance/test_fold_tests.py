"""Tests over folds beside the sign test and Wilcoxon's: worked numbers, independent implementations, effect sizes."""

import csv
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.significance import compare, corrected_t, effect_size, five_by_two, held_out_ratio, sign_flip, wilcoxon
from streamgauge.significance.fold_tests import all_flips
from tests.support.stand_ins import PUBLISHED

TABLE_1 = [0.07, -0.01, -0.02, 1.37, 0.60, 1.42, 2.18, 1.04, 2.39, 0.03]
"""Differences of ten folds, in percent: Bifet et al. 2015, table 1."""

WITH_ZEROS_AND_TIES = [0, 0, 1, 1, -2, 3, 4, 5, 5, -6]
WHOLE = st.lists(st.integers(-9, 9), min_size=2, max_size=9)


def test_sign_flip_gives_the_worked_numbers() -> None:
    assert sign_flip(TABLE_1).p_value == 10 / 1024
    assert sign_flip(WITH_ZEROS_AND_TIES).p_value == 0.375
    assert sign_flip(np.zeros(10)).p_value == 1.0
    looks = [
        [0.2, 0.1, -0.1, 0.3, 0.0, 0.1, -0.2, 0.2],
        [0.5, 0.4, 0.1, 0.6, 0.3, 0.2, -0.1, 0.4],
        [0.6, 0.5, 0.3, 0.7, 0.4, 0.3, 0.1, 0.5],
    ]
    assert [sign_flip(look).p_value for look in looks] == [0.328125, 0.0234375, 0.0078125]


def test_the_5x2_tests_give_the_worked_numbers() -> None:
    combined = five_by_two(TABLE_1)
    assert (combined.statistic, combined.p_value) == pytest.approx((1.6672503455, 0.2981061064), abs=1e-9)
    first = five_by_two(np.reshape(TABLE_1, (5, 2)), statistic="t")
    assert (first.statistic, first.p_value) == pytest.approx((0.0718938234, 0.9454736020), abs=1e-9)
    with pytest.raises(StreamgaugeError, match="5 repetitions of 2 folds, not 4"):
        five_by_two([1, 2, 3, 4])
    with pytest.raises(StreamgaugeError, match="have equal differences"):
        five_by_two(np.ones(10))


def test_sign_flip_of_the_published_accuracies() -> None:
    with (PUBLISHED / "fold_accuracies.csv").open(encoding="utf-8") as file:
        differences = [float(row["a"]) - float(row["b"]) for row in csv.DictReader(file)]
    assert sign_flip(differences).p_value == 10 / 1024


@given(WHOLE)
@settings(max_examples=60, deadline=None)
def test_sign_flip_counts_all_sign_vectors(values: list[int]) -> None:
    sums = np.abs(all_flips(len(values)) @ np.array(values))
    assert sign_flip(values).p_value == pytest.approx((sums >= abs(sum(values))).mean())


def test_the_corrected_t_gives_the_worked_numbers() -> None:
    expected = {
        0.0: (3.1254789017, 0.0122103269),
        held_out_ratio("CrossValidation", 10): (2.1511021078, 0.0599290822),
        held_out_ratio("Bootstrap", 10): (1.1968281649, 0.2619473184),
    }
    for ratio, (statistic, p_value) in expected.items():
        found = corrected_t(TABLE_1, ratio)
        assert found.statistic == pytest.approx(statistic, abs=1e-9)
        assert found.p_value == pytest.approx(p_value, abs=1e-9)


def test_equal_differences_leave_nothing_to_reckon_with() -> None:
    assert corrected_t([0.0, 0.0, 0.0], 0.5).p_value == 1.0
    found = corrected_t([0.1, 0.1, 0.1], 0.5)
    assert math.isinf(found.statistic)
    assert "all differences are equal" in found.warnings[0]
    with pytest.raises(StreamgaugeError, match="at least 0"):
        corrected_t(TABLE_1, -1.0)


def test_the_ratio_is_that_of_the_folds() -> None:
    assert held_out_ratio("Split", 10) == 9.0
    assert held_out_ratio("Bootstrap", 5) == pytest.approx(math.exp(-1) / (1 - math.exp(-1)))
    with pytest.raises(StreamgaugeError, match="no scheme with folds"):
        held_out_ratio("Prequential", 10)


def test_the_interval_holds_what_wilcoxon_does_not_reject() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 12)
    low, high = effect_size(values).interval or (math.nan, math.nan)
    for inside in (low + 1e-6, high - 1e-6):
        assert wilcoxon(values - inside).p_value > 0.05
    for outside in (low - 1e-6, high + 1e-6):
        assert wilcoxon(values - outside).p_value <= 0.05


def test_wins_heed_which_values_are_good_and_few_folds_have_no_interval() -> None:
    effect = effect_size([0.1, 0.2, 0.0, -0.1], greater_is_better=False)
    assert (effect.wins, effect.ties, effect.losses) == (1, 1, 2)
    assert effect.interval is None
    assert math.isnan(effect_size([0.5, 0.5]).standardised)


@pytest.mark.parametrize("scheme", [sg.Bootstrap(6), sg.CrossValidation(6), sg.Split(6)])
def test_compare_knows_the_kind_of_the_folds(scheme: sg.Bootstrap) -> None:
    run = sg.evaluate(sg.SEA(n_rows=1000), {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}, scheme=scheme)
    differences = run.pairs[0].fold_differences
    found = compare(run, test="corrected_t")
    assert found.p_value == corrected_t(differences, held_out_ratio(type(scheme).__name__, 6)).p_value
    assert "corrected t over 6 folds" in found.sentence
    assert compare(run, test="sign_flip").p_value == sign_flip(differences).p_value


def test_compare_has_no_corrected_t_without_folds() -> None:
    run = sg.evaluate(sg.SEA(n_rows=200), {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()})
    with pytest.raises(StreamgaugeError, match="corrected_t compares folds, and there is one"):
        compare(run, test="corrected_t")
