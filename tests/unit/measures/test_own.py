"""Measures made from functions: what they are given, when they are refused, and what happens when they fail."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import streamgauge as sg
from streamgauge.checks import check_measure
from streamgauge.checks.measures import perfect_tally
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.measures import as_measure, describe_measure, measure
from streamgauge.records import ScoredRows, Tally, Trace


def mean_of_positive(y_true: Any, y_score: Any) -> float:  # noqa: ARG001
    """NaN never."""
    return float(np.mean(y_score))


def make_trace(n: int, *, weighted: bool = False) -> Trace:
    rng = np.random.default_rng(3)
    y_true, y_pred = (rng.integers(0, 3, n).astype(np.int32) for _ in range(2))
    miss = np.zeros(n, dtype=np.bool_)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    votes = rng.random((n, 3))
    return Trace(np.arange(n) * 2, y_true, y_pred, miss, miss, weight, votes, time=1.5 * np.arange(n, dtype=np.float64))


def list_rows(tallies: Any) -> list[list[Any]]:
    columns = ("y_true", "y_pred", "votes", "weight")
    return [[getattr(tally.rows, name) for name in columns] for tally in tallies]


@pytest.mark.parametrize("forgetting", [Window(70), Tumbling(64), TimeWindow(100.0), Landmark()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_rows_of_a_tally_are_the_newest_ones_whatever_the_pieces_and_after_a_restart(
    forgetting: Any, weighted: bool
) -> None:
    trace, reading_rows = make_trace(300, weighted=weighted), [0, 100, 399, 400, 600]
    whole = forgetting.build(3, ["rows"]).update(trace, reading_rows)
    for tally, row in zip(whole, reading_rows, strict=True):
        end = int(np.searchsorted(trace.row, row))
        covered = slice(end - tally.width, end)
        np.testing.assert_array_equal(tally.rows.y_true, trace.y_true[covered])
        np.testing.assert_array_equal(tally.rows.votes, trace.part(covered.start, covered.stop).votes)
        weight = np.ones(len(tally.rows.y_true)) if tally.rows.weight is None else tally.rows.weight
        table = np.zeros((3, 3))
        np.add.at(table, (tally.rows.y_true, tally.rows.y_pred), weight)
        np.testing.assert_array_equal(table, tally.confusion)
    state, pieces = forgetting.build(3, ["rows"]), []
    for start, stop in ((0, 1), (1, 90), (90, 90), (90, 220), (220, 300)):
        low, high = (int(trace.row[start]) if start else 0), (int(trace.row[stop]) if stop < 300 else 10_000)
        due = [row for row in reading_rows if low <= row < high] if stop > start else []
        pieces += list_rows(state.update(trace.part(start, stop), due))
        saved = state.save()
        state = forgetting.build(3, ["rows"])
        state.load(saved)
        assert state.save() == saved
    for found, expected in zip(pieces, list_rows(whole), strict=True):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_saved_state_of_another_forgetting_or_with_ill_fitting_columns_is_refused() -> None:
    state = Window(70).build(3, ["rows"])
    state.update(make_trace(50), [])
    for other in (Window(70).build(2, ["rows"]), Window(70).build(3), Window(50).build(3, ["rows"])):
        with pytest.raises(StreamgaugeError):
            other.load(state.save())


def test_windows_keep_no_more_rows_than_they_cover() -> None:
    state = Window(100).build(3, ["rows"])
    sizes = []
    for _ in range(50):
        state.update(make_trace(1000), [])
        sizes.append(state.n_bytes)
    assert max(sizes) == max(sizes[:3])


@pytest.mark.parametrize("forgetting", [Fading(), EWMA(), AdwinWindow(), Fading(0.9, chunk=10)], ids=repr)
def test_a_forgetting_that_keeps_no_rows_is_refused_by_name_before_the_first_row(forgetting: Any) -> None:
    with pytest.raises(StreamgaugeError, match=f"roc_auc_score cannot be measured under {type(forgetting).__name__}"):
        sg.Evaluation(sg.SEA(n_rows=100), sg.NaiveBayes(), measures=metrics.roc_auc_score, forgetting=forgetting)


def test_all_rows_of_a_stream_without_end_are_not_kept() -> None:
    with pytest.raises(StreamgaugeError, match=r"keeps all rows under Landmark.*set n_rows, or use Window"):
        sg.Evaluation(sg.SEA(), sg.NaiveBayes(), measures=metrics.roc_auc_score, time_limit=1.0)
    sg.Evaluation(sg.SEA(), sg.NaiveBayes(), measures=metrics.roc_auc_score, n_rows=100)
    sg.Evaluation(sg.SEA(), sg.NaiveBayes(), measures=metrics.roc_auc_score, forgetting=Window(10))
    sg.Evaluation(sg.SEA(), sg.NaiveBayes(), measures=metrics.accuracy_score)


def test_nothing_is_kept_unless_a_measure_needs_it() -> None:
    (tally,) = Window(10).build(3, ["log_loss"]).update(make_trace(20), [40])
    assert tally.rows is None


@pytest.mark.parametrize("batch_size", [1, 7, 500])
def test_batches_and_folds_do_not_change_a_bit(batch_size: int) -> None:
    def run(batch_size: int | None) -> Any:
        return sg.evaluate(
            sg.SEA(n_rows=1_000),
            [sg.NaiveBayes(), sg.MajorityClass()],
            scheme=sg.Bootstrap(2),
            measures=[metrics.roc_auc_score, "accuracy"],
            forgetting=[Window(100), Tumbling(150), Landmark()],
            every=50,
            batch_size=batch_size,
        ).values

    np.testing.assert_array_equal(run(batch_size), run(None))


def test_a_checkpoint_restores_the_kept_rows(tmp_path: Any) -> None:
    options: dict[str, Any] = {"measures": metrics.roc_auc_score, "forgetting": [Window(300), Landmark()], "every": 100}
    expected = sg.evaluate(sg.SEA(n_rows=2_000), sg.NaiveBayes(), **options)
    saving = {"checkpoint": tmp_path, "checkpoint_every": 500}
    for reading in sg.Evaluation(sg.SEA(n_rows=2_000), sg.NaiveBayes(), batch_size=100, **options, **saving):
        if reading.row >= 1_200:
            break
    resumed = sg.evaluate(sg.SEA(n_rows=2_000), sg.NaiveBayes(), resume=True, **options, **saving)
    np.testing.assert_array_equal(resumed.values, expected.values)


def test_a_measure_that_raises_is_named_with_the_row() -> None:
    def fragile(y_true: Any, y_score: Any) -> float:
        if len(y_true) > 300:
            msg = "too\nmany"
            raise RuntimeError(msg)
        return float(np.mean(y_score))

    def broken(tally: Tally) -> float:
        return tally.hits / 0

    def silent(tally: Tally) -> None:  # noqa: ARG001
        return None

    stream = sg.SEA(n_rows=1_000)
    for function, reason in (
        (fragile, "the measure fragile failed after row 400: RuntimeError: too many"),
        (broken, "the measure broken failed after row 100: ZeroDivisionError"),
        (silent, "the measure silent failed after row 100: TypeError: it returned None, which is not a number"),
    ):
        with pytest.raises(StreamgaugeError, match=reason):
            sg.evaluate(stream, sg.NaiveBayes(), measures=function, every=100)


def test_two_classes_are_passed_as_the_positive_one_unless_the_function_wants_both() -> None:
    seen: list[tuple[int, ...]] = []

    def one(y_true: Any, y_score: Any) -> float:
        seen.append(np.shape(y_score))
        return float(metrics.roc_auc_score(y_true, y_score))

    def both(y_true: Any, y_proba: Any) -> float:
        return float(y_proba[np.arange(len(y_true)), y_true].mean())

    results = sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), measures=[one, both], forgetting=Window(100))
    assert {len(shape) for shape in seen} == {1}
    assert 0.5 < results.values[-1].ravel()[1] < 1.0


def test_as_measure_declares_what_the_names_of_arguments_do_not_say() -> None:
    def gain(y_true: Any, guess: Any) -> float:  # noqa: ARG001
        return float(np.mean(guess))

    made = as_measure(greater_is_better=False, name="mean_guess", unit="nats", needs_votes=True)(gain)
    results = sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), measures=made, forgetting=Window(100))
    assert results.measures == ("mean_guess",)
    assert 0.0 < results.values[-1].ravel()[0] < 1.0
    assert describe_measure(made) == {"greater_is_better": False, "unit": "nats"}


@pytest.mark.parametrize(
    ("function", "name", "greater_is_better", "unit"),
    [
        (metrics.log_loss, "log_loss", False, "nats"),
        (metrics.mean_squared_error, "mean_squared_error", False, "rate"),
        (partial(metrics.f1_score, average="macro"), "f1_score(average='macro')", True, "rate"),
        (metrics.get_scorer("neg_brier_score"), "brier_score_loss", False, "rate"),
    ],
)
def test_names_and_directions_are_known(function: Any, name: str, greater_is_better: bool, unit: str) -> None:
    made = measure(function)
    assert made.name == name
    assert describe_measure(made) == {"greater_is_better": greater_is_better, "unit": unit}
    assert pickle.loads(pickle.dumps(made))(perfect_tally(2)) == made(perfect_tally(2))


@pytest.mark.parametrize(
    "function", [metrics.roc_auc_score, metrics.log_loss, mean_of_positive], ids=lambda function: function.__name__
)
def test_the_contract_of_a_measure_can_be_checked_for_functions_of_probabilities(function: Any) -> None:
    made = partial(function, multi_class="ovr") if function is metrics.roc_auc_score else function
    if function is mean_of_positive:
        with pytest.raises(AssertionError, match="better than"):
            check_measure(measure(made))
    else:
        check_measure(measure(made))


def test_a_window_without_a_class_has_no_value_and_fractional_weights_need_sample_weight() -> None:
    codes = np.zeros(4, dtype=np.int32)

    def strict(y_true: Any, y_score: Any) -> float:  # noqa: ARG001
        if len(set(y_true)) < 2:
            msg = "one class"
            raise ValueError(msg)
        return 1.0

    empty = ScoredRows(codes[:0], codes[:0], np.empty((0, 2)))
    for rows in (ScoredRows(codes, codes, np.eye(2)[codes]), empty):
        tally = Tally(np.diag([4.0, 0.0]), np.zeros(2), 0.0, 0.0, 4, rows=rows)
        assert np.isnan(measure(strict)(tally))
        assert np.isnan(measure(metrics.roc_auc_score)(tally))
    rows = ScoredRows(np.array([0, 1, 0, 1], dtype=np.int32), codes, np.eye(2)[codes], np.full(4, 0.5))
    tally = Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 4, rows=rows)
    with pytest.raises(StreamgaugeError, match="rows have fractional weights, and strict takes no sample_weight"):
        measure(strict)(tally)
    with pytest.raises(StreamgaugeError, match="build the forgetting with statistics"):
        measure(strict)(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 4))
