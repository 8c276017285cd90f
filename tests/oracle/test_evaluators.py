"""Our evaluators beside theirs on the same sequences of predictions.

Where they agree, a test says so; where they do not, a test shows it, and docs/differences.md tells why under the same
heading.
"""

import warnings
from collections.abc import Sequence
from math import inf, isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from river import metrics as river_metrics
from river import utils as river_utils
from sklearn import metrics as sk
from strlearn import metrics as strlearn_metrics

import streamgauge as sg
from peers import moa
from streamgauge.compat.moa import MEASURES, moa_kappa_m, moa_kappa_temporal
from streamgauge.forgetting import EWMA, Landmark, Window
from streamgauge.measures import Averaged, measure
from streamgauge.protocols import Forgetting, Measure
from streamgauge.records import Attribute, Schema, Trace
from streamgauge.streams import ArrayStream
from tests.support.sequence_examples import Codes, sequence

EVERY, WIDTH = 25, 50

BASIC, WINDOW = "BasicClassificationPerformanceEvaluator", "WindowClassificationPerformanceEvaluator"

ALL = "-o -p -r -f"

CORRECT, KAPPA, TEMPORAL, AGAINST_MAJORITY = list(MEASURES)[:4]

needs_moa = pytest.mark.usefixtures("moa_programs")


class Replay:
    """Predicts what stands in the row: a class code, or votes where there are several columns."""

    def predict(self, x: Any) -> Any:
        return x[:, 0].astype(int).tolist() if x.shape[1] == 1 else x

    def learn(self, x: Any, y: Any) -> None:
        pass


def evaluated(
    y_true: Codes,
    predicted: NDArray[Any],
    forgetting: Forgetting,
    measures: Sequence[str | Measure],
    *,
    n_classes: int,
    every: int = EVERY,
) -> NDArray[np.float64]:
    """Have our loop judge given predictions; readings x measures."""
    x = np.asarray(predicted, dtype=np.float64).reshape(len(y_true), -1)
    attributes = tuple(Attribute(f"x{column}") for column in range(x.shape[1]))
    stream = ArrayStream(x, y_true, schema=Schema(attributes, tuple(str(code) for code in range(n_classes))))
    results = sg.evaluate(stream, {"replay": Replay()}, forgetting=forgetting, measures=list(measures), every=every)
    values: NDArray[np.float64] = results.values[:, 0, 0, 0]
    return values


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
        ours = evaluated(y_true, y_pred, forgetting, [*MEASURES.values(), *per_class], n_classes=n_classes)
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
        ours = evaluated(y_true, y_pred, forgetting, ["accuracy", "kappa", "kappa_temporal"], n_classes=3)
        expected = np.stack([theirs[name] for name in (CORRECT, KAPPA, TEMPORAL)], axis=1) / 100.0
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)


@needs_moa
def test_moa_majority_class_knows_the_label_it_is_asked_for() -> None:
    y_true, y_pred = near_ties()
    theirs = moa.run_evaluators([BASIC], y_true, y_pred, n_classes=2, every=101)[0][AGAINST_MAJORITY][0] / 100.0
    options: dict[str, Any] = {"n_classes": 2, "every": 101}
    assert theirs == pytest.approx(-1.04)
    assert evaluated(y_true, y_pred, Landmark(moa_compatible=True), ["kappa_m"], **options) == pytest.approx(theirs)
    # One that predicts before it sees the label gets 25 of 101 right, where always saying 0 gets 50.
    assert evaluated(y_true, y_pred, Landmark(), ["kappa_m"], **options) == pytest.approx((50 - 25) / (101 - 25))


@needs_moa
def test_moa_windows_have_a_majority_class_of_their_own() -> None:
    y_true = np.repeat(np.array([0, 1], dtype=np.int32), [300, 100])
    y_pred = np.zeros(400, dtype=np.int32)  # what a majority class of all rows says
    theirs = moa.run_evaluators([f"{WINDOW} -w 100"], y_true, y_pred, n_classes=2, every=400)[0]
    options: dict[str, Any] = {"n_classes": 2, "every": 400}
    assert theirs[AGAINST_MAJORITY][0] == -100.0  # 50 rows after the change, the window has a new majority
    assert evaluated(y_true, y_pred, Window(100), ["kappa_m"], **options) == 0.0  # it is the baseline itself
    compatible = evaluated(y_true, y_pred, Window(100, moa_compatible=True), ["kappa_m"], **options)
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
        ours = evaluated(y_true, silent, forgetting, ["accuracy", "kappa_temporal"], **options)[0]
        assert ours == pytest.approx([accuracy, (10 * accuracy - hits) / (10 - hits)])


@needs_moa
def test_moa_f1_is_of_means_and_undefined_where_a_class_is() -> None:
    y_true = np.array([0, 0, 1, 1, 2, 2, 2, 2], dtype=np.int32)
    y_pred = np.array([0, 1, 1, 1, 0, 2, 2, 0], dtype=np.int32)
    theirs = moa.run_evaluators([f"{BASIC} {ALL}"], y_true, y_pred, n_classes=3, every=8)[0]
    precision = sk.precision_score(y_true, y_pred, average="macro")
    recall = sk.recall_score(y_true, y_pred, average="macro")
    assert theirs["F1 Score (percent)"][0] / 100.0 == pytest.approx(2 * precision * recall / (precision + recall))
    ours = evaluated(y_true, y_pred, Landmark(), ["f1_macro", "precision_macro"], n_classes=3, every=8)[0]
    assert ours == pytest.approx([sk.f1_score(y_true, y_pred, average="macro"), precision])
    assert abs(ours[0] - theirs["F1 Score (percent)"][0] / 100.0) > 0.01
    # With a fourth class that never comes, MOA has no value; ours is over the classes that occur.
    theirs = moa.run_evaluators([f"{BASIC} {ALL}"], y_true, y_pred, n_classes=4, every=8)[0]
    assert isnan(theirs["Precision (percent)"][0])
    assert isnan(theirs["F1 Score (percent)"][0])
    wider = evaluated(y_true, y_pred, Landmark(), ["f1_macro", "precision_macro"], n_classes=4, every=8)[0]
    assert wider.tolist() == ours.tolist()


@needs_moa
def test_moa_kappas_have_no_value_or_no_bound_where_a_baseline_is_perfect() -> None:
    y_true, y_pred = np.zeros(4, dtype=np.int32), np.array([0, 0, 0, 1], dtype=np.int32)
    theirs = moa.run_evaluators([BASIC], y_true, y_pred, n_classes=2, every=2)[0]
    measures: list[str | Measure] = ["kappa_m", "kappa_temporal", moa_kappa_m, moa_kappa_temporal]
    ours = evaluated(y_true, y_pred, Landmark(moa_compatible=True), measures, n_classes=2, every=2)
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
    ours = evaluated(y_true, y_pred, EWMA(0.01), ["accuracy"], n_classes=2, every=20)[:, 0]
    assert theirs[0] < 0.2
    assert ours[0] > 0.5
    weight_seen = 1.0 - 0.99 ** np.arange(20, 501, 20)
    np.testing.assert_allclose(ours, theirs / weight_seen, rtol=1e-9)  # the whole of the difference


@needs_moa
def test_moa_adwin_keeps_a_window_for_each_part_of_a_measure() -> None:
    y_true, y_pred = sequence(2, abstaining=False, n_rows=2000, seed=9)
    y_pred[1000:] = 1 - y_pred[1000:]  # the learner fails: the error changes, the classes do not
    theirs = moa.run_evaluators(["AdwinClassificationPerformanceEvaluator"], y_true, y_pred, n_classes=2, every=2000)[0]
    ours = evaluated(y_true, y_pred, sg.AdwinWindow(), ["accuracy", "kappa"], n_classes=2, every=2000)[0]
    assert ours[0] == pytest.approx(theirs[CORRECT][0] / 100.0, abs=0.02)
    recent = slice(1000, None)
    window_kappa = sk.cohen_kappa_score(y_true[recent], y_pred[recent])
    assert ours[1] == pytest.approx(window_kappa, abs=0.03)


RIVER: dict[str, Any] = {
    "accuracy": river_metrics.Accuracy,
    "kappa": river_metrics.CohenKappa,
    "balanced_accuracy": river_metrics.BalancedAccuracy,
    "g_mean": river_metrics.GeometricMean,
    "precision_macro": river_metrics.MacroPrecision,
    "recall_macro": river_metrics.MacroRecall,
    "f1_macro": river_metrics.MacroF1,
    "jaccard_macro": river_metrics.MacroJaccard,
    "precision_micro": river_metrics.MicroPrecision,
    "recall_micro": river_metrics.MicroRecall,
    "f1_micro": river_metrics.MicroF1,
    "jaccard_micro": river_metrics.MicroJaccard,
    "precision_weighted": river_metrics.WeightedPrecision,
    "recall_weighted": river_metrics.WeightedRecall,
    "f1_weighted": river_metrics.WeightedF1,
    "jaccard_weighted": river_metrics.WeightedJaccard,
}


def of_river(metric: Any, y_true: Codes, y_pred: Codes, every: int = EVERY) -> list[float]:
    readings = []
    for row, (true, predicted) in enumerate(zip(y_true.tolist(), y_pred.tolist(), strict=True), start=1):
        metric.update(true, predicted)
        if row % every == 0:
            readings.append(metric.get())
    return readings


@pytest.mark.parametrize("width", [None, WIDTH])
def test_river_metrics_are_matched_in_every_reading(width: int | None) -> None:
    y_true, y_pred = sequence(3, abstaining=False, seed=6)
    y_true[::10], y_true[1::10], y_true[2::10] = 0, 1, 2  # every class occurs in every window
    forgetting: Forgetting = Landmark() if width is None else Window(width)
    ours = evaluated(y_true, y_pred, forgetting, list(RIVER), n_classes=3)
    for place, (name, metric) in enumerate(RIVER.items()):
        theirs = metric() if width is None else river_utils.Rolling(metric, window_size=width)
        expected = of_river(theirs, y_true, y_pred)
        np.testing.assert_allclose(ours[:, place], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_river_mcc_of_two_classes_is_matched() -> None:
    y_true, y_pred = sequence(2, abstaining=False)
    ours = evaluated(y_true, y_pred, Landmark(), ["mcc"], n_classes=2)[:, 0]
    theirs = of_river(river_metrics.MCC(), y_true.astype(bool), y_pred.astype(bool))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_river_counts_a_class_that_was_only_predicted() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 2, 1, 1], dtype=np.int32)
    names = ["precision_macro", "recall_macro", "f1_macro", "g_mean", "balanced_accuracy"]
    ours = evaluated(y_true, y_pred, Landmark(), names, n_classes=3, every=4)[0]
    theirs = [of_river(RIVER[name](), y_true, y_pred, 4)[0] for name in names]
    assert theirs == pytest.approx([2 / 3, 1 / 2, 5 / 9, 0.0, 3 / 4])  # the last does not count it
    assert ours == pytest.approx([1.0, 3 / 4, 5 / 6, np.sqrt(1 / 2), 3 / 4])


def test_river_puts_0_where_there_is_no_value() -> None:
    y_true = y_pred = np.zeros(3, dtype=np.int32)
    assert of_river(river_metrics.CohenKappa(), y_true, y_pred, 3) == [0.0]
    assert isnan(evaluated(y_true, y_pred, Landmark(), ["kappa"], n_classes=2, every=3)[0, 0])


def test_river_positive_class_is_looked_up_among_booleans() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 1, 1, 1], dtype=np.int32)
    measures = ["precision[0]", "recall[0]", "precision[1]", "recall[1]"]
    ours = evaluated(y_true, y_pred, Landmark(), measures, n_classes=2, every=4)[0]
    theirs = [
        of_river(metric(pos_val=0), y_true, y_pred, 4)[0] for metric in (river_metrics.Precision, river_metrics.Recall)
    ]
    assert theirs == pytest.approx(ours[2:])  # those of class 1, though class 0 was asked for
    assert ours[:2] == pytest.approx([1.0, 0.5])


def test_river_area_is_of_ten_thresholds() -> None:
    y_true = np.array([0, 0, 1, 1], dtype=np.int32)
    score = np.array([0.01, 0.02, 0.03, 0.04])
    theirs = river_metrics.ROCAUC()
    for true, one in zip(y_true.tolist(), score.tolist(), strict=True):
        theirs.update(bool(true), {True: one, False: 1 - one})
    assert theirs.get() == pytest.approx(0.5)
    ours = evaluated(y_true, np.column_stack([1 - score, score]), Window(4), ["roc_auc[1]"], n_classes=2, every=4)
    assert ours[0, 0] == sk.roc_auc_score(y_true, score) == 1.0


def of_strlearn(name: str, y_true: Codes, y_pred: Codes) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(getattr(strlearn_metrics, name)(y_true, y_pred))


def test_stream_learn_scores_of_chunks_are_matched() -> None:
    y_true, y_pred = sequence(2, abstaining=False, seed=7)
    y_true[::10], y_true[1::10] = 0, 1
    pairs = {
        "recall[1]": "recall",
        "precision[1]": "precision",
        "specificity[1]": "specificity",
        "f1[1]": "f1_score",
        "balanced_accuracy": "balanced_accuracy_score",
        "g_mean": "geometric_mean_score_1",
        "g_mean_precision_recall[1]": "geometric_mean_score_2",
    }
    ours = evaluated(y_true, y_pred, sg.forgetting.Tumbling(WIDTH), list(pairs), n_classes=2, every=WIDTH)
    chunks = [slice(start, start + WIDTH) for start in range(0, 500, WIDTH)]
    expected = [[of_strlearn(name, y_true[chunk], y_pred[chunk]) for name in pairs.values()] for chunk in chunks]
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_stream_learn_scores_a_perfect_chunk_of_one_class_as_half_right() -> None:
    y_true = y_pred = np.zeros(4, dtype=np.int32)
    names = ["balanced_accuracy_score", "geometric_mean_score_1", "precision"]
    assert [of_strlearn(name, y_true, y_pred) for name in names] == [0.5, 0.0, 0.0]
    measures = ["balanced_accuracy", "g_mean", "precision[1]"]
    ours = evaluated(y_true, y_pred, Landmark(), measures, n_classes=2, every=4)[0]
    np.testing.assert_array_equal(ours, [1.0, 1.0, np.nan])


@pytest.mark.parametrize("width", [None, WIDTH])
def test_scikit_learn_scores_of_what_a_reading_covers_are_matched(width: int | None) -> None:
    y_true, y_pred = sequence(4, abstaining=True, seed=10)
    forgetting: Forgetting = Landmark() if width is None else Window(width)
    names = ["accuracy", "balanced_accuracy", "mcc", "f1_weighted", "precision_macro", "recall_macro", "f1_macro"]
    ours = evaluated(y_true, y_pred, forgetting, names, n_classes=4)
    for reading, stop in zip(ours, range(EVERY, 501, EVERY), strict=True):
        rows = slice(0 if width is None else max(0, stop - width), stop)
        true, predicted = y_true[rows], y_pred[rows]
        present: dict[str, Any] = {"labels": np.unique(true), "zero_division": np.nan}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [
                sk.accuracy_score(true, predicted),
                sk.balanced_accuracy_score(true, predicted),
                sk.matthews_corrcoef(true, predicted),
                sk.f1_score(true, predicted, average="weighted", **present),
                sk.precision_score(true, predicted, average="macro", **present),
                sk.recall_score(true, predicted, average="macro", **present),
                sk.f1_score(true, predicted, average="macro", **present),
            ]
        np.testing.assert_allclose(reading, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_averages_over_predicted_classes_too_and_puts_0_where_there_is_no_value() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 2, 1, 1], dtype=np.int32)
    assert sk.precision_score(y_true, y_pred, average="macro") == pytest.approx(2 / 3)
    assert evaluated(y_true, y_pred, Landmark(), ["precision_macro"], n_classes=3, every=4)[0, 0] == 1.0
    never = np.zeros(4, dtype=np.int32)
    assert sk.precision_score(y_true, never, average="macro") == pytest.approx(1 / 4)
    measures: list[str | Measure] = ["precision_macro", Averaged("precision", "macro", undefined=0.0)]
    assert evaluated(y_true, never, Landmark(), measures, n_classes=2, every=4)[0] == pytest.approx([1 / 2, 1 / 4])
    assert sk.matthews_corrcoef(y_true, never) == 0.0
    assert isnan(evaluated(y_true, never, Landmark(), ["mcc"], n_classes=2, every=4)[0, 0])


def test_scikit_learn_knows_no_abstention_in_kappa() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, -1, 1, 1], dtype=np.int32)
    ours = evaluated(y_true, y_pred, Landmark(), ["kappa"], n_classes=2, every=4)[0, 0]
    assert ours == pytest.approx(sk.cohen_kappa_score(y_true, y_pred))  # as a class of its own that is never true
    assert sk.cohen_kappa_score(y_true, y_pred, labels=[0, 1]) == 1.0  # asked for the two classes, it drops the row


def test_scikit_learn_losses_of_votes_are_matched() -> None:
    y_true, _ = sequence(3, abstaining=False, seed=11)
    votes = np.random.default_rng(2).dirichlet(np.ones(3), 500)
    ours = evaluated(y_true, votes, Window(WIDTH), ["log_loss", "brier", "roc_auc_ovr_macro"], n_classes=3)
    for reading, stop in zip(ours, range(EVERY, 501, EVERY), strict=True):
        rows = slice(max(0, stop - WIDTH), stop)
        true, vote = y_true[rows], votes[rows]
        assert reading[0] == pytest.approx(sk.log_loss(true, vote, labels=[0, 1, 2]))
        assert reading[1] == pytest.approx(np.mean(np.sum((vote - np.eye(3)[true]) ** 2, axis=1)) / 2)
        if len(np.unique(true)) == 3:
            assert reading[2] == pytest.approx(sk.roc_auc_score(true, vote, multi_class="ovr"))
