"""Measures of votes against scikit-learn, over windows and with weights that fade."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as sk

from streamgauge import evaluate
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, TimeWindow, Window
from streamgauge.learners import NaiveBayes
from streamgauge.measures import MEASURES
from streamgauge.records import Trace
from streamgauge.streams import Waveform
from tests.support.vote_examples import FORGETTINGS, value, voted_trace, weights_of


def shares_of(trace: Trace) -> NDArray[np.float64]:
    assert trace.votes is not None
    total = trace.votes.sum(axis=1, keepdims=True)
    return np.where(total > 0, trace.votes / np.where(total > 0, total, 1.0), 1.0 / trace.votes.shape[1])


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_scikit_learn_with_the_weights_that_are_left(forgetting: Any, weighted: bool) -> None:
    trace = voted_trace(700, 3, seed=4, weighted=weighted)
    shares, weight = shares_of(trace), weights_of(forgetting, trace)
    log_loss = sk.log_loss(trace.y_true, shares, labels=range(3), sample_weight=weight)
    assert value(forgetting, trace, "log_loss", 3) == pytest.approx(log_loss, rel=1e-9)
    brier = sk.brier_score_loss(trace.y_true, shares, labels=range(3), sample_weight=weight, scale_by_half=True)
    assert value(forgetting, trace, "brier", 3) == pytest.approx(brier, rel=1e-9)
    confidence = np.where(trace.y_pred >= 0, shares[np.arange(700), trace.y_pred], 1 / 3)
    bins = np.clip(np.ceil(15 * confidence), 1, 15)
    gaps = [abs((weight * (confidence - trace.correct))[bins == b].sum()) for b in range(1, 16)]
    found = value(forgetting, trace, "expected_calibration_error", 3)
    assert found == pytest.approx(sum(gaps) / weight.sum(), rel=1e-9)


@settings(max_examples=12, deadline=None)
@given(st.integers(2, 4), st.integers(20, 200), st.integers(0, 1000), st.booleans())
def test_areas_over_windows_are_exactly_those_of_scikit_learn(
    n_classes: int, width: int, seed: int, weighted: bool
) -> None:
    trace = voted_trace(300, n_classes, seed, weighted=weighted)
    held = cut_votes(trace, 300 - width)
    shares, y = shares_of(held), held.y_true
    if len(set(y)) < n_classes:
        return
    window = Window(width)
    roc, precision = [], []
    for code in range(n_classes):
        roc.append(sk.roc_auc_score(y == code, shares[:, code], sample_weight=held.weight))
        precision.append(sk.average_precision_score(y == code, shares[:, code], sample_weight=held.weight))
    support = np.bincount(y, weights=held.weight, minlength=n_classes)
    assert value(window, trace, "roc_auc_ovr_macro", n_classes) == pytest.approx(np.mean(roc), abs=1e-9)
    assert value(window, trace, "pr_auc_ovr_macro", n_classes) == pytest.approx(np.mean(precision), abs=1e-9)
    weighted_mean = np.average(roc, weights=support)
    assert value(window, trace, "roc_auc_ovr_weighted", n_classes) == pytest.approx(weighted_mean, abs=1e-9)
    pairs = [(a, b) for a in range(n_classes) for b in range(n_classes) if a != b]
    one_to_one = []
    for a, b in pairs:
        rows = (y == a) | (y == b)
        weight = None if held.weight is None else held.weight[rows]
        one_to_one.append(sk.roc_auc_score(y[rows] == a, shares[rows, a], sample_weight=weight))
    assert value(window, trace, "roc_auc_ovo_macro", n_classes) == pytest.approx(np.mean(one_to_one), abs=1e-9)
    if n_classes > 2 and not weighted:
        whole = sk.roc_auc_score(y, shares, multi_class="ovo", labels=range(n_classes))
        assert value(window, trace, "roc_auc_ovo_macro", n_classes) == pytest.approx(whole, abs=1e-9)


def cut_votes(trace: Trace, start: int) -> Trace:
    assert trace.votes is not None
    part = trace.part(start, len(trace))
    return Trace(
        part.row, part.y_true, part.y_pred, part.majority_hit, part.no_change_hit, part.weight, trace.votes[start:]
    )


@pytest.mark.parametrize("forgetting", [Landmark(), Fading(0.99), AdwinWindow()], ids=repr)
def test_areas_from_bins_are_within_their_margin_of_the_exact_ones(forgetting: Any) -> None:
    trace = voted_trace(1_500, 3, seed=9, weighted=True)
    shares, weight = shares_of(trace), weights_of(forgetting, trace)
    exact = [sk.roc_auc_score(trace.y_true == c, shares[:, c], sample_weight=weight) for c in range(3)]
    margin = value(forgetting, trace, "roc_auc_margin", 3)
    assert abs(value(forgetting, trace, "roc_auc_ovr_macro", 3) - np.mean(exact)) <= margin + 1e-12
    assert margin < 0.02


def test_every_measure_can_be_evaluated_under_every_forgetting() -> None:
    results = evaluate(
        Waveform(n_rows=3_000),
        [NaiveBayes()],
        forgetting=[f for f in FORGETTINGS if not isinstance(f, TimeWindow)],
        measures=[*MEASURES, "recall[0]", "roc_auc[2]", "f2_macro", sk.accuracy_score],
        every=1_500,
    )
    assert np.isfinite(results.values[-1]).all()
    low, high = results.interval("NaiveBayes", "accuracy", "chernoff")
    assert (low <= high).all()
    assert results.count_undefined("NaiveBayes", "accuracy") == 0
    np.testing.assert_array_equal(
        results.curve("NaiveBayes", "accuracy"), results.curve("NaiveBayes", "accuracy_score")
    )
