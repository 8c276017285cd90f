"""Functions and scorers of scikit-learn as measures, beside our own over the same rows."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import Landmark, TimeWindow, Tumbling, Window
from streamgauge.results import Predictions
from streamgauge.streams import ArrayStream, Waveform
from tests.support.stand_ins import DATA

EXACT = [Window(500), Tumbling(400)]


def read(measures: Any, forgetting: Any, stream: Any = None, **options: Any) -> Any:
    """Return the values of a run [readings, measures]."""
    stream = sg.SEA(n_rows=4_000) if stream is None else stream
    results = sg.evaluate(stream, sg.NaiveBayes(), measures=measures, forgetting=forgetting, **options)
    return results.values[:, 0, 0, 0, :]


@pytest.mark.parametrize("forgetting", EXACT, ids=repr)
@pytest.mark.parametrize(
    ("function", "own"),
    [
        (metrics.roc_auc_score, "roc_auc[1]"),
        (metrics.average_precision_score, "pr_auc[1]"),
        (metrics.log_loss, "log_loss"),
        (metrics.brier_score_loss, "brier"),
        (partial(metrics.top_k_accuracy_score, k=1), "accuracy"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_functions_of_probabilities_equal_our_own_on_the_same_window(function: Any, own: str, forgetting: Any) -> None:
    found, expected = read(function, forgetting, n_rows=4_000), read(own, forgetting, n_rows=4_000)
    defined = ~np.isnan(expected)
    assert defined.sum() > 190
    np.testing.assert_allclose(found[defined], expected[defined], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("forgetting", EXACT, ids=repr)
@pytest.mark.parametrize(
    ("function", "own"),
    [
        (partial(metrics.roc_auc_score, multi_class="ovr"), "roc_auc_ovr_macro"),
        (partial(metrics.roc_auc_score, multi_class="ovo"), "roc_auc_ovo_macro"),
        (partial(metrics.average_precision_score, average="weighted"), "pr_auc_ovr_weighted"),
        (metrics.log_loss, "log_loss"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_they_equal_our_own_for_three_classes(function: Any, own: str, forgetting: Any) -> None:
    stream = Waveform(n_rows=3_000)
    found, expected = (read(each, forgetting, stream, every=100) for each in (function, own))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("forgetting", [*EXACT, Landmark()], ids=repr)
@pytest.mark.parametrize(
    ("function", "own"),
    [
        (metrics.accuracy_score, "accuracy"),
        (metrics.zero_one_loss, "error"),
        (metrics.cohen_kappa_score, "kappa"),
        (metrics.matthews_corrcoef, "mcc"),
        (metrics.balanced_accuracy_score, "balanced_accuracy"),
        (metrics.f1_score, "f1[1]"),
        (metrics.precision_score, "precision[1]"),
        (partial(metrics.recall_score, pos_label=0), "recall[0]"),
        (partial(metrics.fbeta_score, beta=2), "f2[1]"),
        (partial(metrics.f1_score, average="macro"), "f1_macro"),
        (partial(metrics.precision_score, average="micro"), "precision_micro"),
        (partial(metrics.jaccard_score, average="weighted"), "jaccard_weighted"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_functions_of_labels_equal_our_own_also_where_learners_abstain(
    function: Any, own: str, forgetting: Any
) -> None:
    found, expected = read(function, forgetting), read(own, forgetting)
    n_abstained = read("abstentions", Landmark())[-1, 0]
    assert n_abstained > 0  # naive Bayes does not predict the first row
    defined = ~np.isnan(expected)
    np.testing.assert_allclose(found[defined], expected[defined], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("scorer", "own", "greater_is_better"),
    [
        ("roc_auc", "roc_auc[1]", True),
        ("neg_log_loss", "log_loss", False),
        ("average_precision", "pr_auc[1]", True),
        ("accuracy", "accuracy", True),
        ("f1", "f1[1]", True),
    ],
)
def test_scorers_say_themselves_what_they_want_and_which_way_is_better(
    scorer: str, own: str, greater_is_better: bool
) -> None:
    stream, forgetting = sg.SEA(n_rows=2_000), Window(500)
    results = sg.evaluate(stream, sg.NaiveBayes(), measures=metrics.get_scorer(scorer), forgetting=forgetting)
    (name,) = results.measures
    assert results.greater_is_better(name) is greater_is_better
    np.testing.assert_allclose(results.values[-1].ravel(), read(own, forgetting, stream)[-1], rtol=0.0, atol=1e-9)


def test_rows_with_weights_and_times_equal_the_function_over_these_rows() -> None:
    rng = np.random.default_rng(5)
    n = 1_000
    x, weight, time = rng.normal(size=(n, 2)), rng.integers(0, 4, n).astype(float), np.cumsum(rng.random(n))
    y = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    stream = ArrayStream(x, y, weight=weight, time=time)
    for forgetting in (Window(200), TimeWindow(60.0)):
        both = read([metrics.roc_auc_score, "roc_auc[1]"], forgetting, stream, every=100)
        np.testing.assert_allclose(both[:, 0], both[:, 1], rtol=0.0, atol=1e-9)


def test_the_whole_stream_equals_one_call_over_all_predictions(tmp_path: Any) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    stream = sg.File(DATA / "streams" / "magic.arff")
    path = tmp_path / "predictions.parquet"
    results = sg.evaluate(
        stream, sg.NaiveBayes(), measures=metrics.roc_auc_score, recorders=[Predictions(path, votes=True)], every=500
    )
    table = pq.read_table(path).to_pydict()
    negative, positive = stream.schema.classes
    votes = np.column_stack([table[f"vote.{name}"] for name in (negative, positive)])
    total = votes.sum(axis=1)
    shares = np.where(total > 0.0, votes[:, 1] / np.where(total > 0.0, total, 1.0), 0.5)
    expected = metrics.roc_auc_score(np.array(table["true"]) == positive, shares)
    assert results.values[-1].ravel()[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (metrics.roc_auc_score, r"3 classes: ValueError: multi_class must be .*functools.partial\(roc_auc_score"),
        (metrics.precision_score, "3 classes: ValueError: Target is multiclass"),
        (metrics.roc_curve, "roc_curve"),
        (metrics.confusion_matrix, r"confusion_matrix .* returned an array of shape \(3, 3\)"),
        (metrics.classification_report, "classification_report .* returned a text"),
        (metrics.hinge_loss, "hinge_loss cannot be a measure: its pred_decision are decision values"),
        (metrics.ndcg_score, "the measure ndcg_score"),
        (metrics.fbeta_score, r"fbeta_score needs its option beta: pass functools.partial\(fbeta_score, beta=...\)"),
        (metrics.silhouette_score, "silhouette_score cannot be a measure: its first argument is X"),
        (
            metrics.make_scorer(metrics.hinge_loss, response_method="decision_function"),
            "the scorer of hinge_loss wants decision_function",
        ),
    ],
)
def test_a_function_that_cannot_be_served_is_refused_by_name_before_the_first_row(function: Any, reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        sg.Evaluation(Waveform(), sg.NaiveBayes(), measures=function, forgetting=Window(100))
