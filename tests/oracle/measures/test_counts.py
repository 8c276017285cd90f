"""Count measures against scikit-learn, imbalanced-learn, River and stream-learn, absent classes included."""

import warnings
from collections.abc import Callable
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imblearn.metrics import geometric_mean_score, specificity_score
from numpy.typing import NDArray
from river import metrics as river_metrics
from sklearn import metrics as sk
from strlearn import metrics as strlearn_metrics

from streamgauge.errors import StreamgaugeError
from streamgauge.measures import Averaged, FBeta, OfClass, as_measure, measure
from streamgauge.records import Schema, Tally
from tests.support.tally_examples import tallies

Labels = NDArray[np.int64]


def labels_of(tally: Tally) -> tuple[Labels, Labels]:
    """Return the rows of a tally; an abstention is -1."""
    table = np.column_stack([tally.abstained, tally.confusion]).astype(int)
    y_true, column = np.nonzero(table)
    times = table[y_true, column]
    return np.repeat(y_true, times), np.repeat(column - 1, times)


def present(tally: Tally) -> list[int]:
    return np.flatnonzero(tally.support).tolist()


def quietly(function: Callable[..., Any], *arguments: object, **options: object) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*arguments, **options))


def same(found: float, expected: float) -> bool:
    return isnan(found) if isnan(expected) else found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(tallies())
def test_averages_equal_scikit_learn_over_the_classes_that_occur(tally: Tally) -> None:
    y_true, y_pred = labels_of(tally)
    every = list(range(len(tally.support)))
    for average in ("macro", "weighted", "micro"):
        labels = every if average == "micro" else present(tally)
        options = {"labels": labels, "average": average}
        for undefined in (nan, 0.0):
            zero_division: Any = {"zero_division": undefined}
            for name, function in (("precision", sk.precision_score), ("recall", sk.recall_score)):
                expected = quietly(function, y_true, y_pred, **options, **zero_division)
                assert same(Averaged(name, average, undefined)(tally), expected), (name, average, undefined)
        for beta in (0.5, 1.0, 2.0):
            expected = quietly(sk.fbeta_score, y_true, y_pred, beta=beta, **options, zero_division=nan)
            assert same(FBeta(beta, average)(tally), expected)
        expected = quietly(sk.f1_score, y_true, y_pred, **options, zero_division=nan)
        assert same(Averaged("f1", average)(tally), expected)
        expected = quietly(sk.jaccard_score, y_true, y_pred, **options)
        assert same(Averaged("jaccard", average)(tally), expected)


@settings(max_examples=30, deadline=None)
@given(tallies())
def test_measures_of_one_class_equal_scikit_learn_one_against_the_rest(tally: Tally) -> None:
    y_true, y_pred = labels_of(tally)
    for code in range(len(tally.support)):
        (tn, fp), (fn, tp) = sk.confusion_matrix(y_true == code, y_pred == code, labels=[False, True]).tolist()
        expected = {
            "precision": tp / (tp + fp) if tp + fp else nan,
            "recall": tp / (tp + fn) if tp + fn else nan,
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else nan,
            "specificity": tn / (tn + fp) if tn + fp else nan,
            "npv": tn / (tn + fn) if tn + fn else nan,
            "false_positive_rate": fp / (tn + fp) if tn + fp else nan,
            "jaccard": tp / (tp + fp + fn) if tp + fp + fn else nan,
            "g_mean_precision_recall": tp / np.sqrt((tp + fp) * (tp + fn)) if (tp + fp) * (tp + fn) else nan,
        }
        for name, value in expected.items():
            assert same(OfClass(name, code)(tally), value), (name, code)
    for name in ("specificity", "npv", "false_positive_rate", "g_mean_precision_recall"):
        values = np.array([OfClass(name, code)(tally) for code in present(tally)])
        macro = float(np.nanmean(values)) if not np.isnan(values).all() else nan
        assert same(Averaged(name, "macro")(tally), macro)
        known = ~np.isnan(values)
        support = tally.support[present(tally)]
        weighted = float(np.average(values[known], weights=support[known])) if known.any() else nan
        assert same(Averaged(name, "weighted")(tally), weighted)


@settings(max_examples=30, deadline=None)
@given(tallies())
def test_single_numbers_equal_scikit_learn_and_imbalanced_learn(tally: Tally) -> None:
    y_true, y_pred = labels_of(tally)
    assert same(measure("accuracy")(tally), quietly(sk.accuracy_score, y_true, y_pred))
    assert same(measure("balanced_accuracy")(tally), quietly(sk.balanced_accuracy_score, y_true, y_pred))
    varied_true, varied_pred = len(set(y_true)) > 1, len(set(y_pred)) > 1
    expected = quietly(sk.matthews_corrcoef, y_true, y_pred) if varied_true and varied_pred else nan
    assert same(measure("mcc")(tally), expected)
    adjusted = quietly(sk.balanced_accuracy_score, y_true, y_pred, adjusted=True) if varied_true else nan
    assert same(measure("informedness")(tally), adjusted)
    recalls = sk.recall_score(y_true, y_pred, labels=present(tally), average=None)
    g_mean = quietly(geometric_mean_score, y_true, y_pred, labels=present(tally), average="multiclass")
    assert same(measure("g_mean")(tally), g_mean)
    harmonic = len(recalls) / np.sum(1.0 / recalls) if (recalls > 0).all() else 0.0
    assert same(measure("harmonic_mean")(tally), harmonic)
    specificity = quietly(specificity_score, y_true, y_pred, labels=present(tally), average="macro")
    if varied_true:
        assert same(Averaged("specificity", "macro")(tally), specificity)
    occurring = np.ix_(present(tally), present(tally))
    shares = tally.confusion[occurring] / tally.support[present(tally)][:, None]
    assert measure("scaled_determinant")(tally) == pytest.approx(np.linalg.det(shares), abs=1e-9)
    assert measure("determinant")(tally) == pytest.approx(np.linalg.det(tally.confusion), rel=1e-9, abs=1e-6)
    predicting = y_pred >= 0
    assert same(measure("coverage")(tally), float(np.mean(predicting)))
    expected = float(np.mean((y_pred == y_true)[predicting])) if predicting.any() else nan
    assert same(measure("accuracy_when_predicting")(tally), expected)
    assert measure("abstentions")(tally) == np.sum(y_pred < 0)


@settings(max_examples=25, deadline=None)
@given(tallies(abstaining=False))
def test_river_agrees_where_every_class_occurs(tally: Tally) -> None:
    if not (tally.support > 0).all():
        return
    y_true, y_pred = labels_of(tally)
    pairs: list[tuple[str, Any]] = [
        ("recall_macro", river_metrics.MacroRecall()),
        ("f1_macro", river_metrics.MacroF1()),
        ("f1_weighted", river_metrics.WeightedF1()),
        ("jaccard_macro", river_metrics.MacroJaccard()),
        ("g_mean", river_metrics.GeometricMean()),
    ]
    for name, theirs in pairs:
        for true, predicted in zip(y_true.tolist(), y_pred.tolist(), strict=True):
            theirs.update(true, predicted)
        assert measure(name)(tally) == pytest.approx(theirs.get(), abs=1e-9), name


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=4, max_size=4))
def test_for_two_classes_the_measures_of_stream_learn_are_ours(counts: list[int]) -> None:
    table = np.array(counts, dtype=np.float64).reshape(2, 2)
    tally = Tally(table, np.zeros(2), 0.0, 0.0, int(table.sum()))
    y_true, y_pred = labels_of(tally)
    pairs: dict[str, Any] = {
        "recall[1]": strlearn_metrics.recall,
        "precision[1]": strlearn_metrics.precision,
        "specificity[1]": strlearn_metrics.specificity,
        "f1[1]": strlearn_metrics.f1_score,
        "balanced_accuracy": strlearn_metrics.balanced_accuracy_score,
        "g_mean": strlearn_metrics.geometric_mean_score_1,
        "g_mean_precision_recall[1]": strlearn_metrics.geometric_mean_score_2,
    }
    schema = Schema((), ("0", "1"))
    for name, theirs in pairs.items():
        ours: Any = measure(name)
        ours = ours.bind(schema) if hasattr(ours, "bind") else ours
        assert ours(tally) == pytest.approx(float(theirs(y_true, y_pred)), abs=1e-12), name


def test_f1_says_in_its_name_which_it_is() -> None:
    # T10: in other tools "F1" is four different things.
    tally = Tally(np.array([[5.0, 1.0, 0.0], [2.0, 3.0, 1.0], [0.0, 1.0, 7.0]]), np.zeros(3), 0.0, 0.0, 20)
    y_true, y_pred = labels_of(tally)
    for average in ("macro", "micro", "weighted"):
        assert measure(f"f1_{average}")(tally) == pytest.approx(sk.f1_score(y_true, y_pred, average=average))
    assert measure("f1_micro")(tally) == measure("accuracy")(tally)
    with pytest.raises(StreamgaugeError, match=r"write f1\[CLASS\] or, for all classes, f1_macro"):
        measure("f1")


def test_true_negatives_are_those_of_one_class_against_the_rest() -> None:
    # T11: River counts 0 or 1 where there are 1 and 3.
    tally = Tally(np.diag([1.0, 0.0, 0.0]) + np.eye(3, k=1)[[1, 2, 0]][[2, 0, 1]], np.zeros(3), 0.0, 0.0, 0)
    y_true, y_pred = labels_of(tally)
    for code in range(3):
        (tn, fp), _ = sk.confusion_matrix(y_true == code, y_pred == code, labels=[False, True])
        assert same(OfClass("specificity", code)(tally), tn / (tn + fp) if tn + fp else nan)


@settings(max_examples=25, deadline=None)
@given(tallies())
def test_plain_functions_of_labels_see_the_rows_of_the_tally(tally: Tally) -> None:
    y_true, y_pred = labels_of(tally)

    def share_of_zeros(true: Labels, predicted: Labels) -> float:
        return float(np.mean((true == 0) | (predicted == 0)))

    assert measure(sk.accuracy_score)(tally) == pytest.approx(sk.accuracy_score(y_true, y_pred))
    assert measure(sk.zero_one_loss).name == "zero_one_loss"
    assert measure(share_of_zeros)(tally) == pytest.approx(share_of_zeros(y_true, y_pred))


def test_plain_functions_work_where_weights_are_not_whole() -> None:
    table = np.array([[0.4, 0.3], [0.05, 0.25]])

    def hit_rate(true: Labels, predicted: Labels) -> float:
        return float(np.mean(true == predicted))

    tally = Tally(table, np.zeros(2), 0.0, 0.0, 4)
    assert measure(hit_rate)(tally) == pytest.approx(0.65, abs=1e-4)
    assert measure(sk.accuracy_score)(tally) == pytest.approx(0.65, rel=1e-12)
    assert measure(hit_rate)(Tally(1e7 * table, np.zeros(2), 0.0, 0.0, 4)) == pytest.approx(0.65, abs=1e-6)
    assert isnan(measure(hit_rate)(Tally(0.0 * table, np.zeros(2), 0.0, 0.0, 0)))
    assert measure(lambda tally: tally.width)(tally) == 4.0
    loss = as_measure(greater_is_better=False, name="loss")(sk.zero_one_loss)
    assert (loss.name, loss.greater_is_better) == ("loss", False)
    assert loss(tally) == pytest.approx(0.35)
    with pytest.raises(StreamgaugeError, match="cannot be a measure"):
        measure(lambda a, b, c: a + b + c)
