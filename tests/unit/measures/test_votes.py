"""Measures of votes against scikit-learn, over windows and with weights that fade."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from streamgauge import _native, evaluate
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, Tumbling, Window
from streamgauge.learners import HoeffdingTree
from streamgauge.measures import MEASURES, build_state, list_statistics, measure, measure_tallies
from streamgauge.records import STATISTICS, Trace
from streamgauge.records.blocks import align_bins
from streamgauge.streams import SEA
from streamgauge.tasks import Classification
from tests.support.vote_examples import FORGETTINGS, value, voted_trace, weights_of


def test_a_perfect_ranking_by_small_votes_is_perfect() -> None:
    # T12: with ten thresholds on [0, 1] the area would be 0.5, as without any information.
    y = np.arange(200, dtype=np.int32) % 2
    rare = 1e-7 * (1.0 + np.arange(200) % 100 / 1e3) + 1e-5 * y
    trace = Trace(np.arange(200), y, y * 0, y < 0, y < 0, None, np.column_stack([1.0 - rare, rare]))
    for forgetting in (Window(200), Landmark(), AdwinWindow(), Fading(0.99)):
        assert value(forgetting, trace, "roc_auc_ovr_macro", 2) == pytest.approx(1.0, abs=1e-12)


def test_one_class_alone_has_no_area() -> None:
    # T6: not 1, and not 0.
    trace = voted_trace(100, 2, seed=1)
    alone = Trace(trace.row, trace.y_true * 0, trace.y_pred, trace.majority_hit, trace.no_change_hit, None, trace.votes)
    for forgetting in (Window(50), Landmark()):
        for name in ("roc_auc_ovr_macro", "roc_auc_ovo_macro", "pr_auc_ovr_macro", "roc_auc_margin", "pr_auc_margin"):
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
    assert list_statistics([MEASURES["accuracy"], MEASURES["kappa_m"]]) == ()


def test_votes_that_cannot_be_are_refused_with_the_row() -> None:
    trace = voted_trace(10, 2, seed=1)
    votes = np.array(trace.votes)
    votes[4, 1] = -0.5
    invalid = Trace(trace.row, trace.y_true, trace.y_pred, trace.majority_hit, trace.no_change_hit, None, votes)
    with pytest.raises(StreamgaugeError, match="row 4: its votes are not finite numbers of 0 or more"):
        value(Landmark(), invalid, "log_loss", 2)
    without = Trace(trace.row, trace.y_true, trace.y_pred, trace.majority_hit, trace.no_change_hit)
    with pytest.raises(StreamgaugeError, match="need votes, and there are none"):
        value(Landmark(), without, "log_loss", 2)
    with pytest.raises(StreamgaugeError, match="the tally holds no log_loss"):
        measure("log_loss")(Landmark().build(2).update(without, [10])[0])
    with pytest.raises(ValueError, match="statistics = rank"):
        _native.landmark(2, ["rank"])


@pytest.mark.parametrize("forgetting", [Landmark(), Window(500), Tumbling(500), Fading(), AdwinWindow()], ids=repr)
def test_memory_stays_bounded_with_every_statistic(forgetting: Any) -> None:
    state, sizes = forgetting.build(2, STATISTICS), []
    for start in range(0, 120_000, 20_000):
        trace = voted_trace(20_000, 2, seed=start)
        state.update(Trace(trace.row + start, *columns_of(trace)[1:]), [])
        sizes.append(state.n_bytes)
    assert sizes[-1] <= sizes[2] * (1.6 if isinstance(forgetting, AdwinWindow) else 1)
    assert sizes[-1] < 3_000_000


@pytest.mark.parametrize("forgetting", [Landmark(), Fading(), AdwinWindow()], ids=repr)
def test_bins_that_were_joined_do_not_depend_on_pieces_or_restarts(forgetting: Any) -> None:
    n = 20_000
    rng = np.random.default_rng(5)
    trace = replace(voted_trace(n, 2, seed=5, weighted=True), votes=rng.beta(0.3, 0.3, (n, 2)))
    whole = forgetting.build(2, STATISTICS).update(trace, range(2_000, n + 1, 2_000))
    assert whole[-1].ranks[1, 0, 0] > 0.0
    state, found = forgetting.build(2, STATISTICS), []
    for start in range(0, n, 1_000):
        saved = state.save()
        state = forgetting.build(2, STATISTICS)
        state.load(saved)
        assert state.save() == saved
        part = Trace(*(None if c is None else c[start : start + 1_000] for c in columns_of(trace)))  # type: ignore[arg-type]
        found.extend(state.update(part, [start + 1_000] if start % 2_000 else []))
    for expected, tally in zip(whole, found, strict=True):
        np.testing.assert_array_equal(tally.ranks, expected.ranks)
    saved = state.save()
    for end in range(0, len(saved), len(saved) // 11):
        with pytest.raises(StreamgaugeError):
            state.load(saved[:end])
        damaged = bytearray(saved)
        damaged[end] ^= 64
        with pytest.raises(StreamgaugeError):
            state.load(bytes(damaged))
    assert state.save() == saved


def test_bins_of_parts_of_a_stream_add_up_to_those_of_the_whole() -> None:
    n = 30_000
    rng = np.random.default_rng(6)
    weight = rng.integers(0, 4, n).astype(float)
    trace = replace(voted_trace(n, 3, seed=6), weight=weight, votes=rng.beta(0.3, 0.3, (n, 3)))
    whole: Any = Landmark().build(3, ["ranks"])
    whole.update(trace, [])
    parts: list[Any] = [Landmark().build(3, ["ranks"]) for _ in range(4)]
    for number, part in enumerate(parts):
        rows = slice(number * n // 4, (number + 1) * n // 4)
        part.update(Trace(*(None if c is None else c[rows] for c in columns_of(trace))), [])  # type: ignore[arg-type]
    for max_bins in (256, 10_000):
        of_parts = [part.vote_bins(max_bins) for part in parts]
        for code, (bins, weights) in enumerate(whole.vote_bins(max_bins)):
            assert bins.size <= max_bins
            assert (np.diff(bins) > 0).all()
            common, aligned = align_bins([(bins, weights), *(of_part[code] for of_part in of_parts)])
            assert common.size > bins.size / 2
            np.testing.assert_array_equal(aligned[:, 1:].sum(axis=1), aligned[:, 0])
            own = trace.y_true == code
            assert weights.sum(axis=1).tolist() == [weight[own].sum(), weight[~own].sum()]
    state: Any
    for state, max_bins, message in (
        (whole, 1, "max_bins = 1: it must be at least 2"),
        (Landmark().build(3), 256, "need the statistic ranks"),
        (Fading().build(3, ["ranks"]), 256, "only a landmark with the statistic ranks"),
    ):
        with pytest.raises(StreamgaugeError, match=message):
            state.vote_bins(max_bins)


def test_areas_of_many_classes_need_no_window() -> None:
    n_classes, n = 120, 3_000
    trace = voted_trace(n, n_classes, seed=1)
    for name in ("roc_auc_ovr_macro", "pr_auc_ovr_macro"):
        exact = value(Window(n), trace, name, n_classes)
        margin = value(Landmark(), trace, f"{name.split('_')[0]}_auc_margin", n_classes)
        assert abs(value(Landmark(), trace, name, n_classes) - exact) <= margin + 1e-12


def test_measuring_many_series_at_once_keeps_their_order() -> None:
    trace = voted_trace(400, 3, seed=6)
    measures = [measure(name) for name in ("accuracy", "log_loss", "roc_auc_ovr_macro")]
    states = [
        build_state(forgetting, Classification(("a", "b", "c")), measures) for forgetting in (Landmark(), Window(50))
    ]
    tallies = [state.update(trace, [100, 400]) for state in states]
    values = measure_tallies(measures, tallies)
    assert values.shape == (2, 2, 3)
    for series, of_series in enumerate(tallies):
        for stop, tally in enumerate(of_series):
            np.testing.assert_array_equal(values[series, stop], [each(tally) for each in measures])
