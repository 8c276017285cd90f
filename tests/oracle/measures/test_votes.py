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
from streamgauge.measures import MEASURES, NUMBER_MEASURES
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


BINNED = [Landmark(), Fading(0.9995), AdwinWindow()]
HOSTILE = ("around_half", "around_ends", "in_few_bins", "spread", "tied", "tiny")


def hostile_trace(kind: str, n_classes: int, seed: int, *, weighted: bool) -> Trace:
    """Make 15,000 rows, which are too many for exact bins, with votes that are hard to tell apart."""
    n = 15_000
    rng = np.random.default_rng(seed)
    prior = 1.0 / np.arange(1, n_classes + 1) ** 2
    y = rng.choice(n_classes, n, p=prior / prior.sum()).astype(np.int32)
    signal = rng.random((n, n_classes))
    signal[np.arange(n), y] += 0.4 * rng.random(n)
    scale = {"around_half": 1e-3, "in_few_bins": 1e-6}.get(kind, 1.0)
    votes = {
        "around_half": 1.0 + scale * signal,
        "in_few_bins": 1.0 + scale * signal,
        "around_ends": 10.0 ** (-12.0 * (1.4 - signal)),
        "spread": signal,
        "tied": np.round(8.0 * signal) + (rng.random((n, 1)) < 0.5) * signal,
        "tiny": 10.0 ** (-290.0 * (1.4 - signal) / 1.4),  # after rounding, many shares are exactly 1
    }[kind]
    y_pred = votes.argmax(axis=1).astype(np.int32)
    hit = np.zeros(n, dtype=np.bool_)
    weight = rng.exponential(size=n) * (rng.random(n) < 0.9) if weighted else None
    return Trace(np.arange(n), y, y_pred, hit, hit, weight, votes)


@pytest.mark.parametrize("forgetting", BINNED, ids=repr)
@settings(max_examples=8, deadline=None)
@given(st.sampled_from(HOSTILE), st.integers(2, 6), st.integers(0, 1000), st.booleans())
def test_areas_from_bins_are_within_their_margins_of_the_exact_ones(
    forgetting: Any, kind: str, n_classes: int, seed: int, weighted: bool
) -> None:
    trace = hostile_trace(kind, n_classes, seed, weighted=weighted)
    shares, weight, y = shares_of(trace), weights_of(forgetting, trace), trace.y_true
    held = weight > 1e-12 * weight.max()
    shares, weight, y = shares[held], weight[held], y[held]
    state = forgetting.build(n_classes, ("ranks",))
    ranks = state.update(trace, [len(trace)])[0].ranks
    for code in np.unique(y):
        roc, roc_margin, precision, precision_margin = ranks[:, code, code]
        exact = sk.roc_auc_score(y == code, shares[:, code], sample_weight=weight)
        assert abs(roc - exact) <= roc_margin + 1e-9
        exact = sk.average_precision_score(y == code, shares[:, code], sample_weight=weight)
        assert abs(precision - exact) <= precision_margin + 1e-9
        other = (code + 1) % n_classes
        rows = (y == code) | (y == other)
        pair = (y[rows] == code, shares[rows, code])
        assert abs(ranks[0, code, other] - sk.roc_auc_score(*pair, sample_weight=weight[rows])) <= (
            ranks[1, code, other] + 1e-9
        )
        assert abs(ranks[2, code, other] - sk.average_precision_score(*pair, sample_weight=weight[rows])) <= (
            ranks[3, code, other] + 1e-9
        )
        assert roc_margin < 0.01
        assert precision_margin < 0.04


@pytest.mark.parametrize("forgetting", BINNED, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_are_exact_for_some_thousand_rows_and_for_votes_of_few_values(forgetting: Any, weighted: bool) -> None:
    few_rows = voted_trace(900, 3, seed=9, weighted=weighted)
    few_values = hostile_trace("spread", 3, 1, weighted=weighted)
    few_values = Trace(*columns_with(few_values, np.round(6.0 * np.asarray(few_values.votes))))
    for trace in (few_rows, few_values):
        shares, weight = shares_of(trace), weights_of(forgetting, trace)
        roc = [sk.roc_auc_score(trace.y_true == c, shares[:, c], sample_weight=weight) for c in range(3)]
        precision = [
            sk.average_precision_score(trace.y_true == c, shares[:, c], sample_weight=weight) for c in range(3)
        ]
        assert value(forgetting, trace, "roc_auc_ovr_macro", 3) == pytest.approx(np.mean(roc), abs=1e-9)
        assert value(forgetting, trace, "pr_auc_ovr_macro", 3) == pytest.approx(np.mean(precision), abs=1e-9)
        assert value(forgetting, trace, "roc_auc_margin", 3) == value(forgetting, trace, "pr_auc_margin", 3) == 0.0


def columns_with(trace: Trace, votes: NDArray[np.float64]) -> tuple[Any, ...]:
    return (trace.row, trace.y_true, trace.y_pred, trace.majority_hit, trace.no_change_hit, trace.weight, votes)


@pytest.mark.parametrize("forgetting", [Window(20_000), *BINNED], ids=repr)
def test_a_perfect_ranking_by_votes_that_are_close_together_is_perfect(forgetting: Any) -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(20_000) < 0.08).astype(np.int32)
    share = np.where(y == 1, rng.uniform(0.4772, 0.484, y.size), rng.uniform(0.470, 0.477, y.size))
    hit = np.zeros(y.size, dtype=np.bool_)
    trace = Trace(np.arange(y.size), y, y, hit, hit, None, np.column_stack([1.0 - share, share]))
    ranks = forgetting.build(2, ("ranks",)).update(trace, [len(trace)])[0].ranks
    roc, roc_margin, precision, precision_margin = ranks[:, 1, 1]
    assert (roc, precision) == pytest.approx((1.0, 1.0), abs=1e-9)
    assert max(roc_margin, precision_margin) < 0.002


def test_every_measure_can_be_evaluated_under_every_forgetting() -> None:
    of_classes = [name for name in MEASURES if name not in NUMBER_MEASURES]
    results = evaluate(
        Waveform(n_rows=3_000),
        [NaiveBayes()],
        forgetting=[f for f in FORGETTINGS if not isinstance(f, TimeWindow)],
        measures=[*of_classes, "recall[0]", "roc_auc[2]", "f2_macro", sk.accuracy_score],
        every=1_500,
    )
    assert np.isfinite(results.values[-1]).all()
    low, high = results.interval("NaiveBayes", "accuracy", "chernoff")
    assert (low <= high).all()
    assert results.count_undefined("NaiveBayes", "accuracy") == 0
    np.testing.assert_array_equal(
        results.curve("NaiveBayes", "accuracy"), results.curve("NaiveBayes", "accuracy_score")
    )
