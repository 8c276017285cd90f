"""The baseline of `kappa_m` forgets as the measure does: against a slow reference, and the identities of the papers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge._engine.cells import Fold
from streamgauge._engine.schedule import Schedule
from streamgauge._foreign import build_majority
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.forgetting.kinds import ForgettingBase
from streamgauge.labelling import AllLabels, Delayed
from streamgauge.learners import MajorityClass, NoChange
from streamgauge.measures import kappa_m, kappa_m_all
from streamgauge.records import UNLABELLED, Step, Tally, Trace
from streamgauge.schemes import Bootstrap, Chunks, CrossValidation, Prequential


def follow(
    forgetting: object,
    truth: Sequence[int],
    labels: Sequence[int],
    weight: Sequence[float],
    time: Sequence[float],
) -> list[bool]:
    """Return the hits of the majority class by definition: all labels are weighed again for each row."""
    learnt: list[tuple[int, float, float]] = []  # label, weight and time of arrival, oldest first
    hits, now = [], -np.inf
    for true, label, row_weight, arrival in zip(truth, labels, weight, time, strict=True):
        now = max(now, arrival)
        weights = [0.0] * 4
        for index, (known, known_weight, learnt_at) in enumerate(learnt):
            if isinstance(forgetting, Window | Tumbling):
                share = float(index >= len(learnt) - forgetting.width)
            elif isinstance(forgetting, TimeWindow):
                share = float(learnt_at > now - forgetting.seconds)
            elif isinstance(forgetting, Fading):
                share = forgetting.factor ** (len(learnt) // forgetting.chunk - index // forgetting.chunk)
            weights[known] += known_weight * share
        hits.append(max(weights) > 0.0 and int(np.argmax(weights)) == true)
        if label != UNLABELLED and row_weight > 0.0:
            learnt.append((label, row_weight, now))
    return hits


FORGETTINGS = [
    Window(1),
    Window(5),
    Window(40),
    Tumbling(7),
    TimeWindow(3.0),
    TimeWindow(0.5),
    Fading(0.5),
    Fading(0.5, chunk=3),
    Fading(1.0),
]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.booleans(),
        st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.0, 3.0]),
        st.sampled_from([0.0, 0.25, 1.0]),
    ),
    max_size=120,
)


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@given(rows=ROWS, cut=st.integers(0, 120), labelled=st.booleans())
def test_the_majority_is_that_of_the_labels_that_the_forgetting_remembers(
    forgetting: ForgettingBase, weighted: bool, rows: list[Any], cut: int, labelled: bool
):
    truth = np.array([row[0] for row in rows], dtype=np.int32)
    known = np.array([row[1] or labelled for row in rows], dtype=np.bool_)
    labels = np.where(known, truth, UNLABELLED).astype(np.int32)
    weight = np.array([row[2] if weighted else 1.0 for row in rows])
    time = np.cumsum([row[3] for row in rows], dtype=np.float64)
    expected = follow(forgetting, truth.tolist(), labels.tolist(), weight.tolist(), time.tolist())
    majority = forgetting.build_majority(4)
    assert majority is not None
    hits = [
        majority.update(truth[part], labels[part], weight[part] if weighted else None, time[part])
        for part in (slice(0, cut), slice(cut, None))
    ]
    assert np.concatenate(hits).tolist() == expected


def test_a_window_of_one_label_predicts_no_change_and_landmark_has_no_baseline_of_its_own():
    truth = (np.arange(500) // 7 % 3).astype(np.int32)
    majority = Window(1).build_majority(3)
    assert majority is not None
    assert majority.update(truth, truth)[1:].tolist() == (truth[1:] == truth[:-1]).tolist()
    assert Landmark().build_majority(3) is None
    assert Window(9, moa_compatible=True).build_majority(3) is None


def weighted_stream(n_rows: int = 3_000) -> sg.streams.ArrayStream:
    rows = sg.streams.take(sg.SEA(drift_every=500, noise=0.2), n_rows)
    y = np.where(np.arange(n_rows) // 400 % 2, rows.y, 1 - rows.y)
    return sg.streams.ArrayStream(rows.x, y, weight=np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], n_rows))


STREAMS: dict[str, Callable[[], Any]] = {
    "plain": lambda: sg.SEA(thresholds=(6.0, 14.0), drift_every=500, n_rows=3_000),
    "weighted": weighted_stream,
}
SCHEMES = [Prequential(), Bootstrap(3), CrossValidation(3, test="all"), Chunks(64)]
LABELLINGS = [AllLabels(), Delayed(1), Delayed(150)]


@pytest.mark.parametrize("labelling", LABELLINGS, ids=str)
@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("stream", STREAMS)
def test_the_majority_class_of_a_window_has_kappa_m_of_exactly_0_over_that_window(
    stream: str, scheme: Any, labelling: Any
):
    """Bifet et al. 2015, Figure 2: the kappa_m of the majority class is constant 0."""
    learners = {"all": MajorityClass(), "window": MajorityClass(window=100), "last": MajorityClass(window=1)}
    results = sg.evaluate(
        STREAMS[stream](),
        learners,
        scheme=scheme,
        labelling=labelling,
        forgetting=[Landmark(), Window(100), Tumbling(100), Window(1)],
        measures=["kappa_m", "kappa_m_all", "accuracy"],
        every=50,
    )
    values = results.values  # readings, learners, folds, forgettings, measures
    for learner, forgetting in ((0, 0), (1, 1), (1, 2), (2, 3)):
        seen = ~np.isnan(values[:, learner, :, forgetting, 2])
        assert (values[:, learner, :, forgetting, 0][seen] == 0.0).all()
    assert np.ptp(values[:, 1, :, 1, 2][~np.isnan(values[:, 1, :, 1, 2])]) > 0.1
    np.testing.assert_array_equal(values[:, 0, :, 1, 1][~np.isnan(values[:, 0, :, 1, 2])], 0.0)


def test_over_a_window_of_one_row_kappa_m_equals_kappa_temporal():
    results = sg.evaluate(
        sg.SEA(thresholds=(6.0, 14.0), drift_every=100, n_rows=600),
        {"tree": sg.HoeffdingTree(), "no change": NoChange()},
        forgetting=Window(1),
        measures=["kappa_m", "kappa_temporal"],
        labelling=Delayed(7),
        every=1,
    )
    np.testing.assert_array_equal(results.values[..., 0], results.values[..., 1])


def test_all_forgettings_differ_from_the_baseline_of_all_labels_after_a_change_of_classes():
    y = np.repeat([0, 1], 2_000)
    stream = sg.streams.ArrayStream(np.zeros((4_000, 1)), y, time=np.arange(4_000.0))
    forgettings = [Window(200), Tumbling(200), TimeWindow(200.0), Fading(0.99), EWMA(0.01), AdwinWindow()]
    results = sg.evaluate(
        stream, MajorityClass(), forgetting=forgettings, measures=["kappa_m", "kappa_m_all"], every=100
    )
    after = results.values[-5, 0, 0]  # at row 3,600: the class of all labels has not changed yet
    assert (np.isnan(after[:, 0]) | (after[:, 0] < -1.0)).all()  # NaN where the baseline is perfect
    assert (after[:, 1] == 0.0).all()


class Mine:
    """A forgetting of a user: it forgets nothing, and may have a baseline of its own."""

    def build(self, n_classes: int) -> Any:
        return Landmark().build(n_classes)


class MineWithBaseline(Mine):
    def build_majority(self, n_classes: int) -> Any:
        return Window(100).build_majority(n_classes)


def test_a_forgetting_of_a_user_has_the_baseline_of_all_labels_unless_it_builds_another():
    assert build_majority(Mine(), 2) is None
    results = sg.evaluate(
        sg.SEA(thresholds=(6.0, 14.0), drift_every=500, n_rows=2_000),
        [MajorityClass(), MajorityClass(window=100)],
        forgetting=[Mine(), MineWithBaseline()],
        measures="kappa_m",
        every=100,
    )
    values = results.values[:, :, 0, :, 0]
    assert (values[:, 0, 0] == 0.0).all()
    assert (values[:, 1, 1] == 0.0).all()
    assert (values[-1, [0, 1], [1, 0]] != 0.0).all()


def test_a_tally_keeps_the_hits_of_all_labels_only_if_a_measure_needs_them():
    y = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    recent, of_all = np.array([0, 1, 0, 0, 1], dtype=np.bool_), np.array([0, 1, 0, 0, 0], dtype=np.bool_)
    trace = Trace(np.arange(5), y, y, of_all, of_all).with_majority(recent)
    plain, both = (Window(4).build(2, statistics).update(trace, [5])[0] for statistics in ((), ("majority_all_hits",)))
    assert (plain.majority_hits, plain.majority_all_hits) == (2.0, None)
    assert (both.majority_hits, both.majority_all_hits) == (2.0, 1.0)
    assert Landmark().build(2, ("majority_all_hits",)).update(trace, [5])[0].majority_all_hits == 2.0
    assert (kappa_m(both), kappa_m_all(both)) == (1.0, 1.0)
    assert kappa_m_all(Tally(np.eye(2), np.zeros(2), 0.0, 0.0, 2, majority_all_hits=2.0)) == 0.0


@pytest.mark.parametrize("forgetting", [Window(50), Fading(0.9, chunk=4), AdwinWindow(), TimeWindow(9.0)], ids=str)
def test_a_state_with_the_hits_of_all_labels_is_saved_bit_for_bit(forgetting: ForgettingBase):
    trace = make_trace(400)
    first, second = (forgetting.build(3, ("majority_all_hits",)) for _ in range(2))
    first.update(trace.part(0, 170), [])
    second.load(first.save())
    last = [state.update(trace.part(170, 400), [400])[0] for state in (first, second)]
    assert last[0].majority_all_hits == last[1].majority_all_hits
    assert first.save() == second.save()


def make_trace(n: int) -> Trace:
    draws = np.random.default_rng(3)
    y, predicted = draws.integers(0, 3, (2, n)).astype(np.int32)
    hits: list[NDArray[np.bool_]] = list(draws.random((3, n)) < 0.4)
    return Trace(np.arange(n), y, predicted, hits[0], hits[1], time=np.arange(n) / 5.0).with_majority(hits[2])


def test_how_a_run_is_cut_and_where_it_runs_changes_no_kappa_m():
    def run(**options: Any) -> NDArray[np.float64]:
        results = sg.evaluate(
            sg.SEA(thresholds=(6.0, 14.0), drift_every=500, n_rows=2_000),
            [sg.NaiveBayes(), MajorityClass(window=30)],
            scheme=Bootstrap(2),
            labelling=Delayed(33),
            forgetting=[Window(30), Fading(0.9), AdwinWindow(), Tumbling(50)],
            measures=["kappa_m", "kappa_m_all"],
            every=100,
            **options,
        )
        return results.values

    whole = run()
    for size in (1, 7, 333):
        np.testing.assert_array_equal(run(batch_size=size), whole)


def test_a_step_of_a_fold_has_one_column_for_each_forgetting():
    batch = sg.streams.take(sg.SEA(), 100)
    fold = Fold(0, sg.SEA().schema, majorities=[None, Window(5).build_majority(2)])
    fold.begin_step(Schedule(batch), Step(batch))
    assert fold.majority_hits[0] is None
    assert fold.majority_hits[1] is not None
    assert len(fold.majority_hits[1]) == 100
