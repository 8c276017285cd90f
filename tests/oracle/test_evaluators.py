"""Our evaluators beside theirs on the same sequences of predictions.

Where they agree, a test says so; where they do not, a test shows it, and docs/differences.md tells why under the same
heading.
"""

import warnings
from math import isnan
from typing import Any

import numpy as np
import pytest
from river import metrics as river_metrics
from river import utils as river_utils
from sklearn import metrics as sk
from strlearn import metrics as strlearn_metrics

import streamgauge as sg
from streamgauge.forgetting import Landmark, Window
from streamgauge.measures import Averaged
from streamgauge.protocols import Forgetting, Measure
from tests.support.replay import EVERY, WIDTH, judge
from tests.support.sequence_examples import Codes, sequence

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
    ours = judge(y_true, y_pred, forgetting, list(RIVER), n_classes=3)
    for place, (name, metric) in enumerate(RIVER.items()):
        theirs = metric() if width is None else river_utils.Rolling(metric, window_size=width)
        expected = of_river(theirs, y_true, y_pred)
        np.testing.assert_allclose(ours[:, place], expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_river_mcc_of_two_classes_is_matched() -> None:
    y_true, y_pred = sequence(2, abstaining=False)
    ours = judge(y_true, y_pred, Landmark(), ["mcc"], n_classes=2)[:, 0]
    theirs = of_river(river_metrics.MCC(), y_true.astype(bool), y_pred.astype(bool))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_river_counts_a_class_that_was_only_predicted() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 2, 1, 1], dtype=np.int32)
    names = ["precision_macro", "recall_macro", "f1_macro", "g_mean", "balanced_accuracy"]
    ours = judge(y_true, y_pred, Landmark(), names, n_classes=3, every=4)[0]
    theirs = [of_river(RIVER[name](), y_true, y_pred, 4)[0] for name in names]
    assert theirs == pytest.approx([2 / 3, 1 / 2, 5 / 9, 0.0, 3 / 4])  # the last does not count it
    assert ours == pytest.approx([1.0, 3 / 4, 5 / 6, np.sqrt(1 / 2), 3 / 4])


def test_river_puts_0_where_there_is_no_value() -> None:
    y_true = y_pred = np.zeros(3, dtype=np.int32)
    assert of_river(river_metrics.CohenKappa(), y_true, y_pred, 3) == [0.0]
    assert isnan(judge(y_true, y_pred, Landmark(), ["kappa"], n_classes=2, every=3)[0, 0])


def test_river_positive_class_is_looked_up_among_booleans() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 1, 1, 1], dtype=np.int32)
    measures = ["precision[0]", "recall[0]", "precision[1]", "recall[1]"]
    ours = judge(y_true, y_pred, Landmark(), measures, n_classes=2, every=4)[0]
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
    ours = judge(y_true, np.column_stack([1 - score, score]), Window(4), ["roc_auc[1]"], n_classes=2, every=4)
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
    ours = judge(y_true, y_pred, sg.forgetting.Tumbling(WIDTH), list(pairs), n_classes=2, every=WIDTH)
    chunks = [slice(start, start + WIDTH) for start in range(0, 500, WIDTH)]
    expected = [[of_strlearn(name, y_true[chunk], y_pred[chunk]) for name in pairs.values()] for chunk in chunks]
    np.testing.assert_allclose(ours, expected, rtol=1e-9)


def test_stream_learn_scores_a_perfect_chunk_of_one_class_as_half_right() -> None:
    y_true = y_pred = np.zeros(4, dtype=np.int32)
    names = ["balanced_accuracy_score", "geometric_mean_score_1", "precision"]
    assert [of_strlearn(name, y_true, y_pred) for name in names] == [0.5, 0.0, 0.0]
    measures = ["balanced_accuracy", "g_mean", "precision[1]"]
    ours = judge(y_true, y_pred, Landmark(), measures, n_classes=2, every=4)[0]
    np.testing.assert_array_equal(ours, [1.0, 1.0, np.nan])


@pytest.mark.parametrize("width", [None, WIDTH])
def test_scikit_learn_scores_of_what_a_reading_covers_are_matched(width: int | None) -> None:
    y_true, y_pred = sequence(4, abstaining=True, seed=10)
    forgetting: Forgetting = Landmark() if width is None else Window(width)
    names = ["accuracy", "balanced_accuracy", "mcc", "f1_weighted", "precision_macro", "recall_macro", "f1_macro"]
    ours = judge(y_true, y_pred, forgetting, names, n_classes=4)
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
    assert judge(y_true, y_pred, Landmark(), ["precision_macro"], n_classes=3, every=4)[0, 0] == 1.0
    never = np.zeros(4, dtype=np.int32)
    assert sk.precision_score(y_true, never, average="macro") == pytest.approx(1 / 4)
    measures: list[str | Measure] = ["precision_macro", Averaged("precision", "macro", undefined=0.0)]
    assert judge(y_true, never, Landmark(), measures, n_classes=2, every=4)[0] == pytest.approx([1 / 2, 1 / 4])
    assert sk.matthews_corrcoef(y_true, never) == 0.0
    assert isnan(judge(y_true, never, Landmark(), ["mcc"], n_classes=2, every=4)[0, 0])


def test_scikit_learn_knows_no_abstention_in_kappa() -> None:
    y_true, y_pred = np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, -1, 1, 1], dtype=np.int32)
    ours = judge(y_true, y_pred, Landmark(), ["kappa"], n_classes=2, every=4)[0, 0]
    assert ours == pytest.approx(sk.cohen_kappa_score(y_true, y_pred))  # as a class of its own that is never true
    assert sk.cohen_kappa_score(y_true, y_pred, labels=[0, 1]) == 1.0  # asked for the two classes, it drops the row


def test_scikit_learn_losses_of_votes_are_matched() -> None:
    y_true, _ = sequence(3, abstaining=False, seed=11)
    votes = np.random.default_rng(2).dirichlet(np.ones(3), 500)
    ours = judge(y_true, votes, Window(WIDTH), ["log_loss", "brier", "roc_auc_ovr_macro"], n_classes=3)
    for reading, stop in zip(ours, range(EVERY, 501, EVERY), strict=True):
        rows = slice(max(0, stop - WIDTH), stop)
        true, vote = y_true[rows], votes[rows]
        assert reading[0] == pytest.approx(sk.log_loss(true, vote, labels=[0, 1, 2]))
        assert reading[1] == pytest.approx(np.mean(np.sum((vote - np.eye(3)[true]) ** 2, axis=1)) / 2)
        if len(np.unique(true)) == 3:
            assert reading[2] == pytest.approx(sk.roc_auc_score(true, vote, multi_class="ovr"))
