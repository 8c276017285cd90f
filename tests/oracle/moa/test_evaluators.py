"""Our evaluators beside MOA's on the same sequences of predictions: docs/differences.md explains where they differ."""

from math import inf, isnan
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

import streamgauge as sg
from peers import moa
from streamgauge.compat.moa import MEASURES, moa_kappa_m, moa_kappa_temporal
from streamgauge.forgetting import EWMA, Landmark, Window
from streamgauge.measures import measure
from streamgauge.protocols import Forgetting, Measure
from streamgauge.records import Trace
from tests.support.replay import EVERY, WIDTH, judge
from tests.support.sequence_examples import Codes, sequence

BASIC, WINDOW = "BasicClassificationPerformanceEvaluator", "WindowClassificationPerformanceEvaluator"

ALL = "-o -p -r -f"

CORRECT, KAPPA, TEMPORAL, AGAINST_MAJORITY = list(MEASURES)[:4]

needs_moa = pytest.mark.usefixtures("moa_programs")


def near_ties(n_rows: int = 101) -> tuple[Codes, Codes]:
    """Return labels 1, 0, 0, 1, 1, ... and a learner that always says 0."""
    y_true = np.resize(np.array([1, 0, 0, 1], dtype=np.int32), n_rows)
    return y_true, np.zeros(n_rows, dtype=np.int32)


@needs_moa
@pytest.mark.parametrize("n_classes", [2, 4])
def test_moa_basic_and_window_evaluators_are_matched_in_every_reading_and_measurement(n_classes: int) -> None:
    y_true, y_pred = sequence(n_classes, abstaining=True)
    evaluators = [f"{BASIC} {ALL}", f"{WINDOW} -w {WIDTH} {ALL}"]
    found = moa.run_evaluators(evaluators, y_true, y_pred, n_classes=n_classes, every=EVERY)
    compatible: list[Forgetting] = [Landmark(moa_compatible=True), Window(WIDTH, moa_compatible=True)]
    for theirs, forgetting in zip(found, compatible, strict=True):
        per_class = [f"{of}[{code}]" for of in ("precision", "recall") for code in range(n_classes)]
        ours = judge(y_true, y_pred, forgetting, [*MEASURES.values(), *per_class], n_classes=n_classes)
        titles = [f"{of} for class {code} (percent)" for of in ("Precision", "Recall") for code in range(n_classes)]
        expected = np.stack([theirs[name] for name in [*MEASURES, *titles]], axis=1) / 100.0
        assert len(expected) == 500 // EVERY
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@needs_moa
def test_moa_accuracy_kappa_and_faded_rates_are_ours_without_abstentions() -> None:
    y_true, y_pred = sequence(3, abstaining=False)
    y_true[0] = 1  # MOA takes class 0 to have come before
    evaluators = [BASIC, f"{WINDOW} -w {WIDTH}", "FadingFactorClassificationPerformanceEvaluator -a 0.99"]
    found = moa.run_evaluators(evaluators, y_true, y_pred, n_classes=3, every=EVERY)
    forgettings: list[Forgetting] = [Landmark(), Window(WIDTH), sg.Fading(0.99)]
    for theirs, forgetting in zip(found, forgettings, strict=True):
        ours = judge(y_true, y_pred, forgetting, ["accuracy", "kappa", "kappa_temporal"], n_classes=3)
        expected = np.stack([theirs[name] for name in (CORRECT, KAPPA, TEMPORAL)], axis=1) / 100.0
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@needs_moa
def test_moa_majority_class_knows_the_label_it_is_asked_for() -> None:
    y_true, y_pred = near_ties()
    theirs = moa.run_evaluators([BASIC], y_true, y_pred, n_classes=2, every=101)[0][AGAINST_MAJORITY][0] / 100.0
    options: dict[str, Any] = {"n_classes": 2, "every": 101}
    assert theirs == pytest.approx(-1.04)
    assert judge(y_true, y_pred, Landmark(moa_compatible=True), ["kappa_m"], **options) == pytest.approx(theirs)
    # One that predicts before it sees the label gets 25 of 101 right, where always saying 0 gets 50.
    assert judge(y_true, y_pred, Landmark(), ["kappa_m"], **options) == pytest.approx((50 - 25) / (101 - 25))


@needs_moa
def test_moa_windows_have_a_majority_class_of_their_own() -> None:
    y_true = np.repeat(np.array([0, 1], dtype=np.int32), [300, 100])
    y_pred = np.zeros(400, dtype=np.int32)  # what a majority class of all rows says
    theirs = moa.run_evaluators([f"{WINDOW} -w 100"], y_true, y_pred, n_classes=2, every=400)[0]
    options: dict[str, Any] = {"n_classes": 2, "every": 400}
    assert theirs[AGAINST_MAJORITY][0] == -100.0  # 50 rows after the change, the window has a new majority
    assert judge(y_true, y_pred, Window(100), ["kappa_m_all"], **options) == 0.0  # it is the baseline itself
    # Ours says 1 from the 52nd row after the change on, before it sees the label; MOA's has seen it, one row earlier.
    assert judge(y_true, y_pred, Window(100), ["kappa_m"], **options) == pytest.approx(-49 / 51)
    compatible = judge(y_true, y_pred, Window(100, moa_compatible=True), ["kappa_m"], **options)
    assert compatible == pytest.approx(theirs[AGAINST_MAJORITY][0] / 100.0)


@needs_moa
def test_moa_takes_an_abstention_and_what_came_before_the_first_row_for_class_0() -> None:
    y_true = np.array([0] * 9 + [1], dtype=np.int32)
    silent = np.full(10, -1, dtype=np.int32)
    theirs = moa.run_evaluators([BASIC], y_true, silent, n_classes=2, every=10)[0]
    assert theirs[CORRECT][0] == 90.0
    assert theirs[TEMPORAL][0] == 0.0  # nine of ten for no-change too, the first row among them
    for forgetting, accuracy, hits in ((Landmark(), 0.0, 8), (Landmark(moa_compatible=True), 0.9, 9)):
        options: dict[str, Any] = {"n_classes": 2, "every": 10}
        ours = judge(y_true, silent, forgetting, ["accuracy", "kappa_temporal"], **options)[0]
        assert ours == pytest.approx([accuracy, (10 * accuracy - hits) / (10 - hits)])


@needs_moa
def test_moa_f1_is_of_means_and_undefined_where_a_class_is() -> None:
    y_true = np.array([0, 0, 1, 1, 2, 2, 2, 2], dtype=np.int32)
    y_pred = np.array([0, 1, 1, 1, 0, 2, 2, 0], dtype=np.int32)
    theirs = moa.run_evaluators([f"{BASIC} {ALL}"], y_true, y_pred, n_classes=3, every=8)[0]
    precision = sk.precision_score(y_true, y_pred, average="macro")
    recall = sk.recall_score(y_true, y_pred, average="macro")
    assert theirs["F1 Score (percent)"][0] / 100.0 == pytest.approx(2 * precision * recall / (precision + recall))
    ours = judge(y_true, y_pred, Landmark(), ["f1_macro", "precision_macro"], n_classes=3, every=8)[0]
    assert ours == pytest.approx([sk.f1_score(y_true, y_pred, average="macro"), precision])
    assert abs(ours[0] - theirs["F1 Score (percent)"][0] / 100.0) > 0.01
    # With a fourth class that never comes, MOA has no value; ours is over the classes that occur.
    theirs = moa.run_evaluators([f"{BASIC} {ALL}"], y_true, y_pred, n_classes=4, every=8)[0]
    assert isnan(theirs["Precision (percent)"][0])
    assert isnan(theirs["F1 Score (percent)"][0])
    wider = judge(y_true, y_pred, Landmark(), ["f1_macro", "precision_macro"], n_classes=4, every=8)[0]
    assert wider.tolist() == ours.tolist()


@needs_moa
def test_moa_kappas_have_no_value_or_no_bound_where_a_baseline_is_perfect() -> None:
    y_true, y_pred = np.zeros(4, dtype=np.int32), np.array([0, 0, 0, 1], dtype=np.int32)
    theirs = moa.run_evaluators([BASIC], y_true, y_pred, n_classes=2, every=2)[0]
    measures: list[str | Measure] = ["kappa_m", "kappa_temporal", moa_kappa_m, moa_kappa_temporal]
    ours = judge(y_true, y_pred, Landmark(moa_compatible=True), measures, n_classes=2, every=2)
    for place, name in enumerate((AGAINST_MAJORITY, TEMPORAL)):
        assert isnan(theirs[name][0])
        assert theirs[name][1] == -inf
        assert ours[0, place] == 0.0  # no better than the baseline
        assert isnan(ours[1, place])
        np.testing.assert_array_equal(ours[:, place + 2], theirs[name])


@needs_moa
def test_moa_rates_of_weighted_rows_can_exceed_100_percent() -> None:
    y_true, y_pred = near_ties()
    weight = np.where(y_true == y_pred, 3.0, 1.0)
    theirs = moa.run_evaluators([BASIC], y_true, y_pred, n_classes=2, every=101, weight=weight)[0]
    assert theirs[CORRECT][0] > 100.0
    hit = np.zeros(101, dtype=np.bool_)
    trace = Trace(np.arange(101), y_true, y_pred, hit, hit, weight)
    assert measure("accuracy")(Landmark().build(2).update(trace, [101])[0]) == pytest.approx(150 / 201)


@needs_moa
def test_moa_averages_of_ewma_start_at_0() -> None:
    y_true, y_pred = sequence(2, abstaining=False, seed=8)
    evaluators = ["EWMAClassificationPerformanceEvaluator -a 0.01"]
    theirs = moa.run_evaluators(evaluators, y_true, y_pred, n_classes=2, every=20)[0][CORRECT] / 100.0
    ours = judge(y_true, y_pred, EWMA(0.01), ["accuracy"], n_classes=2, every=20)[:, 0]
    assert theirs[0] < 0.2
    assert ours[0] > 0.5
    weight_seen = 1.0 - 0.99 ** np.arange(20, 501, 20)
    np.testing.assert_allclose(ours, theirs / weight_seen, rtol=1e-9)  # the whole of the difference


@needs_moa
def test_moa_adwin_keeps_a_window_for_each_part_of_a_measure() -> None:
    y_true, y_pred = sequence(2, abstaining=False, n_rows=2000, seed=9)
    y_pred[1000:] = 1 - y_pred[1000:]  # the learner fails: the error changes, the classes do not
    theirs = moa.run_evaluators(["AdwinClassificationPerformanceEvaluator"], y_true, y_pred, n_classes=2, every=2000)[0]
    ours = judge(y_true, y_pred, sg.AdwinWindow(), ["accuracy", "kappa"], n_classes=2, every=2000)[0]
    assert ours[0] == pytest.approx(theirs[CORRECT][0] / 100.0, abs=0.02)
    recent = slice(1000, None)
    window_kappa = sk.cohen_kappa_score(y_true[recent], y_pred[recent])
    assert ours[1] == pytest.approx(window_kappa, abs=0.03)
