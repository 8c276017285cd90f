"""Forgetting against scikit-learn on the same slice, and River's ADWIN."""

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from river import drift
from sklearn.metrics import accuracy_score, confusion_matrix

from streamgauge import _native
from streamgauge.checks.forgetting import sample_trace
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, Window
from streamgauge.measures import accuracy
from streamgauge.protocols import Forgetting
from streamgauge.records import Tally, Trace

untyped_adwin: Any = drift.ADWIN


@st.composite
def traces(draw: st.DrawFn) -> tuple[int, Trace]:
    """Draw a trace and its number of classes: some classes absent, some rows without a prediction, any weights."""
    n_classes = draw(st.integers(1, 6))
    n = draw(st.integers(1, 120))
    present = draw(st.lists(st.integers(0, n_classes - 1), min_size=1, max_size=n_classes))
    y_true = draw(st.lists(st.sampled_from(present), min_size=n, max_size=n))
    y_pred = draw(st.lists(st.integers(-1, n_classes - 1), min_size=n, max_size=n))
    hits = draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=n, max_size=n))
    weights = st.one_of(st.floats(0.01, 10.0), st.integers(0, 5).map(float))
    weight = draw(st.none() | st.lists(weights, min_size=n, max_size=n))
    row = np.cumsum(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)))
    classes = (np.array(y_true, dtype=np.int32), np.array(y_pred, dtype=np.int32))
    hit = np.array(hits, dtype=np.bool_)
    trace = Trace(row, *classes, hit[:, 0].copy(), hit[:, 1].copy())
    return n_classes, trace if weight is None else replace(trace, weight=np.array(weight))


def check_against_sklearn(trace: Trace, tally: Tally, sample_weight: NDArray[np.float64]) -> None:
    if sample_weight.sum() == 0:  # which scikit-learn refuses
        assert tally.confusion.sum() == tally.abstained.sum() == 0
        return
    n_classes = len(tally.confusion)
    labels = [-1, *range(n_classes)]
    with_abstained = confusion_matrix(trace.y_true, trace.y_pred, labels=labels, sample_weight=sample_weight)
    np.testing.assert_allclose(tally.confusion, with_abstained[1:, 1:], rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(tally.abstained, with_abstained[1:, 0], rtol=1e-10, atol=1e-300)
    expected = accuracy_score(trace.y_true, trace.y_pred, sample_weight=sample_weight)
    assert accuracy(tally) == pytest.approx(expected, rel=1e-10)


def last_tally(forgetting: Forgetting, n_classes: int, trace: Trace) -> Tally:
    return forgetting.build(n_classes).update(trace, [int(trace.row[-1]) + 1])[0]


@settings(max_examples=40, deadline=None)
@given(traces(), st.integers(1, 150))
def test_landmark_and_window_equal_scikit_learn_on_the_same_slice(drawn: tuple[int, Trace], width: int) -> None:
    n_classes, trace = drawn
    for forgetting, held in ((Landmark(), trace), (Window(width), trace.part(max(0, len(trace) - width), len(trace)))):
        tally = last_tally(forgetting, n_classes, trace)
        assert tally.width == len(held)
        check_against_sklearn(held, tally, np.ones(len(held)) if held.weight is None else held.weight)


@settings(max_examples=40, deadline=None)
@given(traces(), st.floats(0.3, 1.0))
def test_fading_equals_scikit_learn_with_weights_that_fade_with_age(drawn: tuple[int, Trace], factor: float) -> None:
    n_classes, trace = drawn
    age = np.arange(len(trace))[::-1]
    weight = np.float64(factor) ** age * (np.ones(len(age)) if trace.weight is None else trace.weight)
    check_against_sklearn(trace, last_tally(Fading(factor), n_classes, trace), weight)


def test_fading_stays_right_over_many_periods() -> None:
    short = sample_trace(3)
    classes = (np.tile(short.y_true, 30), np.tile(short.y_pred, 30))
    hits = (np.tile(short.majority_hit, 30), np.tile(short.no_change_hit, 30))
    long = Trace(np.arange(30 * len(short)), *classes, *hits)
    for factor in (0.9999, 0.99, 0.2):
        weight = factor ** np.arange(len(long))[::-1].astype(float)
        tally = last_tally(Fading(factor), 4, long)
        check = confusion_matrix(long.y_true, long.y_pred, labels=range(4), sample_weight=weight)
        np.testing.assert_allclose(tally.confusion, check, rtol=1e-10, atol=1e-280)
        assert tally.majority_hits == pytest.approx(weight[long.majority_hit].sum(), rel=1e-10)


def loss_sequences(n: int) -> dict[str, NDArray[np.bool_]]:
    rng, t = np.random.default_rng(7), np.arange(n)
    rates = {
        "stationary": np.full(n, 0.2),
        "abrupt": np.where(t % 20_000 < 10_000, 0.1, 0.4),
        "gradual": 0.3 + 0.25 * np.sin(t / 3_000),
        "pure": (t // 5_000 % 2).astype(float),
    }
    return {name: rng.random(n) < rate for name, rate in rates.items()}


def river_widths(losses: NDArray[np.bool_], adwin: AdwinWindow) -> list[int]:
    """Return the width of River's window after every value.

    River's detector starts afresh after an alarm; the window of the paper, which is meant here, keeps what it has not
    dropped. Taking back the alarm makes River's go on in the same way.
    """
    options = {name: getattr(adwin, name) for name in ("delta", "clock", "max_buckets", "min_window_length")}
    detector: Any = untyped_adwin(**options, grace_period=adwin.grace_period)
    widths = []
    for loss in losses.tolist():
        detector._drift_detected = False
        detector.update(float(loss))
        widths.append(int(detector.width))
    return widths


@pytest.mark.parametrize(
    "adwin",
    [
        AdwinWindow(),
        AdwinWindow(delta=0.3, clock=7, max_buckets=3, min_window_length=1, grace_period=0),
        AdwinWindow(clock=1),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["stationary", "abrupt", "gradual", "pure"])
def test_adaptive_windows_are_as_wide_as_those_of_river(adwin: AdwinWindow, kind: str) -> None:
    losses = loss_sequences(100_000)[kind]
    zeros, never = np.zeros(len(losses), dtype=np.int32), np.zeros(len(losses), dtype=np.bool_)
    ends = np.arange(1, len(losses) + 1)
    # The kernel itself: a hundred thousand tallies as columns, not as objects.
    kernel = _native.adwin(2, *astuple(adwin))
    confusion, _, _, widths, _, _ = kernel.update(zeros, losses.astype(np.int32), never, never, None, ends)
    assert widths.tolist() == river_widths(losses, adwin)
    assert kind == "stationary" or (np.diff(widths.astype(int)) < 0).any()
    # Every tally is that of its own window.
    total = np.concatenate([[0], np.cumsum(losses)])
    assert confusion[:, 0, 1].tolist() == (total[ends] - total[ends - widths.astype(int)]).tolist()
