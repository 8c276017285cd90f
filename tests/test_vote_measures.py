"""Measures of votes against scikit-learn, over windows and with weights that fade."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as sk

from streamgauge import _native, evaluate
from streamgauge.checks.forgetting import cut
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import EWMA, Adwin, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.measures import MEASURES, build_state, measure, measured, statistics_of
from streamgauge.protocols import Forgetting
from streamgauge.records import STATISTICS, Trace
from streamgauge.streams import SEA, Waveform

FORGETTINGS: list[Any] = [
    Landmark(), Window(150), Tumbling(130), TimeWindow(40.0), Fading(0.98), EWMA(0.05), Adwin(),
]  # fmt: skip


def voted_trace(n: int, n_classes: int, seed: int, *, weighted: bool = False) -> Trace:
    """Make votes that tell something of the class, some of them tied and some rows without any."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    votes = rng.gamma(0.4, size=(n, n_classes))
    votes[np.arange(n), y] += rng.random(n)
    votes[: n // 3] = np.round(4 * votes[: n // 3])
    votes[rng.random(n) < 0.03] = 0.0
    y_pred = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), -1).astype(np.int32)
    hit = np.zeros(n, dtype=np.bool_)
    weight = rng.random(n) if weighted else None
    return Trace(np.arange(n), y, y_pred, hit, hit, weight, votes, np.arange(n) / 5.0)


def shares_of(trace: Trace) -> NDArray[np.float64]:
    assert trace.votes is not None
    total = trace.votes.sum(axis=1, keepdims=True)
    return np.where(total > 0, trace.votes / np.where(total > 0, total, 1.0), 1.0 / trace.votes.shape[1])


def value(forgetting: Forgetting, trace: Trace, name: str, n_classes: int) -> float:
    wanted = measure(name)
    return wanted(build_state(forgetting, n_classes, [wanted]).update(trace, [len(trace)])[0])


def weights_of(forgetting: Any, trace: Trace) -> NDArray[np.float64]:
    """Give the weights that a forgetting leaves to the rows."""
    if hasattr(forgetting, "weights_by_age"):
        by_age: NDArray[np.float64] = forgetting.weights_by_age(len(trace))[::-1]
    else:
        width = forgetting.build(trace.votes.shape[1]).update(trace, [len(trace)])[0].width  # type: ignore[union-attr]
        by_age = (np.arange(len(trace)) >= len(trace) - width).astype(float)
    return by_age if trace.weight is None else by_age * trace.weight


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
    part = cut(trace, start, len(trace))
    return Trace(
        part.row, part.y_true, part.y_pred, part.majority_hit, part.no_change_hit, part.weight, trace.votes[start:]
    )


@pytest.mark.parametrize("forgetting", [Landmark(), Fading(0.99), Adwin()], ids=repr)
def test_areas_from_bins_are_within_their_margin_of_the_exact_ones(forgetting: Any) -> None:
    trace = voted_trace(1_500, 3, seed=9, weighted=True)
    shares, weight = shares_of(trace), weights_of(forgetting, trace)
    exact = [sk.roc_auc_score(trace.y_true == c, shares[:, c], sample_weight=weight) for c in range(3)]
    margin = value(forgetting, trace, "roc_auc_margin", 3)
    assert abs(value(forgetting, trace, "roc_auc_ovr_macro", 3) - np.mean(exact)) <= margin + 1e-12
    assert margin < 0.02


def test_a_perfect_ranking_by_small_votes_is_perfect() -> None:
    # T12: with ten thresholds on [0, 1] the area would be 0.5, as if nothing were told.
    y = np.arange(200, dtype=np.int32) % 2
    rare = 1e-7 * (1.0 + np.arange(200) % 100 / 1e3) + 1e-5 * y
    trace = Trace(np.arange(200), y, y * 0, y < 0, y < 0, None, np.column_stack([1.0 - rare, rare]))
    for forgetting in (Window(200), Landmark(), Adwin(), Fading(0.99)):
        assert value(forgetting, trace, "roc_auc_ovr_macro", 2) == 1.0


def test_one_class_alone_has_no_area() -> None:
    # T6: not 1, and not 0.
    trace = voted_trace(100, 2, seed=1)
    alone = Trace(trace.row, trace.y_true * 0, trace.y_pred, trace.majority_hit, trace.no_change_hit, None, trace.votes)
    for forgetting in (Window(50), Landmark()):
        for name in ("roc_auc_ovr_macro", "roc_auc_ovo_macro", "pr_auc_ovr_macro", "roc_auc_margin"):
            assert np.isnan(value(forgetting, alone, name, 2))


def test_a_windowed_area_forgets() -> None:
    # T12: a "windowed" area that is the cumulative one.
    good, bad = voted_trace(1_000, 2, seed=2), voted_trace(1_000, 2, seed=3)
    assert good.votes is not None
    assert bad.votes is not None
    both = Trace(
        np.arange(2_000),
        np.concatenate([good.y_true, 1 - bad.y_true]).astype(np.int32),
        np.concatenate([good.y_pred, bad.y_pred]).astype(np.int32),
        np.zeros(2_000, dtype=np.bool_),
        np.zeros(2_000, dtype=np.bool_),
        None,
        np.concatenate([good.votes, bad.votes]),
    )
    assert value(Window(500), both, "roc_auc_ovr_macro", 2) < 0.4 < value(Landmark(), both, "roc_auc_ovr_macro", 2)


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
def test_statistics_do_not_depend_on_pieces_or_restarts(forgetting: Any) -> None:
    trace = voted_trace(600, 3, seed=7, weighted=True)
    whole = forgetting.build(3, STATISTICS).update(trace, [250, 600])
    state = forgetting.build(3, STATISTICS)
    first = Trace(*(None if c is None else c[:250] for c in columns_of(trace)))  # type: ignore[arg-type]
    second = Trace(*(None if c is None else c[250:] for c in columns_of(trace)))  # type: ignore[arg-type]
    found = [state.update(first, [250])[0]]
    again = forgetting.build(3, STATISTICS)
    again.load(state.save())
    found.append(again.update(second, [600])[0])
    for expected, tally in zip(whole, found, strict=True):
        for name in ("squared_weight", "log_loss", "brier"):
            assert getattr(tally, name) == getattr(expected, name)
        np.testing.assert_array_equal(tally.calibration, expected.calibration)
        np.testing.assert_array_equal(tally.ranks, expected.ranks)


def columns_of(trace: Trace) -> tuple[Any, ...]:
    hits = (trace.majority_hit, trace.no_change_hit)
    return (trace.row, trace.y_true, trace.y_pred, *hits, trace.weight, trace.votes, trace.time)


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_are_those_of_gama_with_the_rows_that_still_count(forgetting: Any, weighted: bool) -> None:
    trace = voted_trace(500, 2, seed=3, weighted=weighted)
    weight = weights_of(forgetting, trace)
    n = weight.sum() ** 2 / (weight**2).sum()
    mean = (weight * ~trace.correct).sum() / weight.sum()
    assert value(forgetting, trace, "hoeffding", 2) == pytest.approx(np.sqrt(np.log(2 / 0.05) / (2 * n)), rel=1e-9)
    assert value(forgetting, trace, "chernoff", 2) == pytest.approx(np.sqrt(3 * mean * np.log(40) / n), rel=1e-9)


def test_votes_are_asked_for_only_where_a_measure_needs_them() -> None:
    asked = []

    class Watched(HoeffdingTree):
        def build(self, schema: Any, seed: int) -> Any:
            learner, plain = super().build(schema, seed), super().build(schema, seed)

            class Spy:
                def __getattr__(self, name: str) -> Any:
                    return getattr(learner, name)

                def interleave(self, step: Any, *, with_votes: bool) -> Any:
                    asked.append(with_votes)
                    return plain.interleave(step, with_votes=with_votes)

            return Spy()

    evaluate(SEA(n_rows=2_000), Watched(), measures=["accuracy", "hoeffding"])
    evaluate(SEA(n_rows=2_000), Watched(), measures=["accuracy", "log_loss"])
    assert asked == [False, True]
    assert statistics_of([MEASURES["accuracy"], MEASURES["kappa_m"]]) == ()


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
    assert results.n_undefined("NaiveBayes", "accuracy") == 0
    np.testing.assert_array_equal(
        results.curve("NaiveBayes", "accuracy"), results.curve("NaiveBayes", "accuracy_score")
    )


def test_votes_that_cannot_be_are_refused_with_the_row() -> None:
    trace = voted_trace(10, 2, seed=1)
    assert trace.votes is not None
    trace.votes[4, 1] = -0.5
    with pytest.raises(StreamgaugeError, match="row 4: its votes are not finite numbers of 0 or more"):
        value(Landmark(), trace, "log_loss", 2)
    without = Trace(trace.row, trace.y_true, trace.y_pred, trace.majority_hit, trace.no_change_hit)
    with pytest.raises(StreamgaugeError, match="need votes, and there are none"):
        value(Landmark(), without, "log_loss", 2)
    with pytest.raises(StreamgaugeError, match="the tally holds no log_loss"):
        measure("log_loss")(Landmark().build(2).update(without, [10])[0])
    with pytest.raises(StreamgaugeError, match="too many classes to rank by votes without a window"):
        build_state(Landmark(), 200, [measure("roc_auc_ovr_macro")])
    with pytest.raises(ValueError, match="statistics = rank"):
        _native.landmark(2, ["rank"])


@pytest.mark.parametrize("forgetting", [Landmark(), Window(500), Tumbling(500), Fading(), Adwin()], ids=repr)
def test_memory_stays_bounded_with_every_statistic(forgetting: Any) -> None:
    state, sizes = forgetting.build(2, STATISTICS), []
    for start in range(0, 120_000, 20_000):
        trace = voted_trace(20_000, 2, seed=start)
        state.update(Trace(trace.row + start, *columns_of(trace)[1:]), [])
        sizes.append(state.n_bytes)
    assert sizes[-1] <= sizes[2] * (1.6 if isinstance(forgetting, Adwin) else 1)
    assert sizes[-1] < 3_000_000


def test_measuring_many_series_at_once_keeps_their_order() -> None:
    trace = voted_trace(400, 3, seed=6)
    measures = [measure(name) for name in ("accuracy", "log_loss", "roc_auc_ovr_macro")]
    states = [build_state(forgetting, 3, measures) for forgetting in (Landmark(), Window(50))]
    tallies = [state.update(trace, [100, 400]) for state in states]
    values = measured(measures, tallies)
    assert values.shape == (2, 2, 3)
    for series, of_series in enumerate(tallies):
        for stop, tally in enumerate(of_series):
            np.testing.assert_array_equal(values[series, stop], [each(tally) for each in measures])
