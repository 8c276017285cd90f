"""Each learner is charged for itself alone, and predicting is distinguished from learning."""

import os
import signal
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge._engine.meter import Meter
from streamgauge.backends import Threads
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.learners import Refitted, ScikitLearn
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.records import ABSTAINED, Resources, Step
from streamgauge.results import load, save
from streamgauge.tasks import Classification, find_task


@dataclass(frozen=True)
class Busy:
    """A learner that sleeps while it predicts and learns a row."""

    predict: float
    learn: float
    seed: int = 1
    seedless: ClassVar[bool] = True

    def build(self, _schema, _seed):
        return _Busy(self)


class _Busy:
    def __init__(self, spec):
        self.spec, self.n_bytes = spec, 1000

    def predict(self, x):
        spin(self.spec.predict)
        return np.tile([1.0, 0.0], (len(x), 1))

    def learn(self, x, _y, _weight):
        spin(self.spec.learn)
        self.n_bytes += len(x)

    def interleave(self, step, *, with_votes):
        return run_row_by_row(self, step, Classification(("a", "b")), with_votes=with_votes)

    def save(self):
        return b""

    def load(self, _state):
        pass


def spin(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def cost_of(results: sg.Results) -> Resources:
    assert results.resources is not None
    return results.resources


@pytest.mark.parametrize("threads", [1, 2])
def test_a_learner_in_a_shared_pass_is_charged_only_for_itself(threads):
    learners = {"slow": Busy(0.0008, 0.0002), "quick": sg.NoChange()}
    cost = cost_of(sg.evaluate(sg.SEA(n_rows=300), learners, every=100, backend=Threads(threads), resources=True))
    slow, quick = cost.cpu_seconds[-1, :, 0]
    assert 0.3 <= slow < 1.0
    assert quick < 0.1
    assert cost.cpu_clock == ("process" if threads == 1 else "thread")
    assert (np.diff(cost.cpu_seconds, axis=0) >= 0).all()
    assert 0.6 < cost.predict_share[-1, 0, 0] < 0.95
    np.testing.assert_allclose(cost.predict_seconds + cost.learn_seconds, cost.cpu_seconds)
    assert cost.rows_per_second[1, 0] > cost.rows_per_second[0, 0]


class SlowFit(GaussianNB):  # type: ignore[misc]
    """A classifier that takes its time to learn a chunk."""

    def partial_fit(self, x, y, classes=None, sample_weight=None):
        spin(0.02)
        return super().partial_fit(x, y, classes, sample_weight)

    def fit(self, x, y):
        spin(0.02)
        return super().fit(x, y)


@pytest.mark.parametrize(
    "spec", [ScikitLearn(SlowFit(), chunk_size=500), Refitted(SlowFit(), every=500)], ids=["chunks", "refitted"]
)
def test_rare_calls_that_learn_many_rows_count_as_learning(spec):
    cost = cost_of(sg.evaluate(sg.SEA(n_rows=2000), {"slow": spec}, every=2000, resources=True))
    assert cost.learn_seconds[-1, 0, 0] > 0.06


def test_latencies_of_predicting_and_learning_are_distinguished():
    cost = cost_of(sg.evaluate(sg.SEA(n_rows=300), {"busy": Busy(0.002, 0.0005)}, every=300, resources=True))
    assert cost.n_timed[0, 0] >= 32
    predicting, learning = cost.latency[0, 0]
    assert predicting[0] > 0.0019
    assert learning[0] > 0.00045
    assert predicting[0] > learning[0]
    assert (np.diff(predicting) >= 0).all()
    assert cost.n_predicted.item() == cost.n_learnt.item() == 300


def test_model_bytes_are_those_at_each_stop_at_any_batch_size():
    for size in (1, 77, 1000):
        cost = cost_of(sg.evaluate(sg.SEA(n_rows=250), {"b": Busy(0, 0)}, every=100, batch_size=size, resources=True))
        assert cost.rows.tolist() == [100, 200, 250]
        assert cost.n_bytes[:, 0, 0].tolist() == [1100, 1200, 1250]
    tree = cost_of(sg.evaluate(sg.SEA(n_rows=20_000), sg.HoeffdingTree(), every=5000, resources=True))
    assert tree.n_bytes[-1, 0, 0] > tree.n_bytes[0, 0, 0] > 0
    assert tree.ram_hours[-1, 0, 0] == pytest.approx(
        (np.diff(tree.cpu_seconds[:, 0, 0], prepend=0.0) * tree.n_bytes[:, 0, 0]).sum() / 2**30 / 3600, rel=1e-9
    )
    assert tree.peak_rss is None or tree.peak_rss > 2**20


def test_measuring_changes_no_prediction():
    options: dict[str, Any] = {"every": 700, "batch_size": 500}
    stream = sg.RandomRBF(n_rows=3000, speed=0.01)
    learners = [sg.HoeffdingTree(), sg.NaiveBayes()]
    with_it, without = (sg.evaluate(stream, learners, resources=on, **options) for on in (True, False))
    assert with_it.values.tobytes() == without.values.tobytes()
    assert without.resources is None


def test_timed_rows_are_predicted_and_learnt_like_others():
    batch = sample_batch(MIXED, 500)
    weight = (np.arange(500) % 2).astype(np.float64)
    step = Step(batch, test=np.arange(500) % 3 > 0, weight=weight, revealed=np.arange(500) % 5 > 0)
    for spec in (sg.HoeffdingTree(grace_period=20), sg.NaiveBayes(), sg.NoChange()):
        plain, votes = spec.build(MIXED, 1).interleave(step, with_votes=True)
        meter = Meter(spec.build(MIXED, 1), find_task(MIXED), time.thread_time_ns, budget=1000.0)
        timed, timed_votes = meter.interleave(step, with_votes=True, cuts=[17, 300])
        np.testing.assert_array_equal(plain, timed)
        np.testing.assert_array_equal(votes, timed_votes)
        assert meter.n_late == 0
        assert meter.n_predicted == int(step.test.sum())  # type: ignore[union-attr]
        assert meter.n_learnt == int(((step.labels >= 0) & (weight > 0)).sum())


def test_a_prediction_after_the_time_budget_is_an_error():
    slow, quick = ({"busy": Busy(seconds, 0.0)} for seconds in (0.003, 0.0))
    stream = sg.SEA(n_rows=40)
    late = sg.evaluate(stream, slow, time_budget=0.002)
    assert late.values[-1, 0, 0, 0, 0] == 0.0
    assert cost_of(late).n_late.item() == 40
    in_time = sg.evaluate(stream, quick, time_budget=5.0)
    assert in_time.values.tobytes() == sg.evaluate(stream, quick).values.tobytes()
    assert cost_of(in_time).n_late.item() == 0


def test_late_predictions_lose_their_votes_too():
    meter = Meter(_Busy(Busy(0.002, 0.0)), Classification(("a", "b")), time.thread_time_ns, budget=0.001)
    batch = next(sg.SEA().batches(5))
    predictions, votes = meter.interleave(Step(batch), with_votes=True, cuts=[])
    assert (predictions == ABSTAINED).all()
    assert votes is not None
    assert not votes.any()


def test_a_time_limit_ends_a_run_and_says_so():
    results = sg.evaluate(sg.SEA(n_rows=10**6), {"busy": Busy(0.001, 0.0)}, time_limit=0.2, batch_size=50, every=50)
    assert not results.complete
    assert results.description["ended_by"] == "time limit"
    assert 0 < results.n_rows < 10**5
    assert results.rows[-1] == results.n_rows


def test_ctrl_c_at_the_last_rows_leaves_a_complete_run():
    def press(reading):
        if reading.row == 1000:
            os.kill(os.getpid(), signal.SIGINT)

    results = sg.evaluate(sg.SEA(n_rows=1000), sg.NoChange(), every=500, batch_size=500, on_reading=press)
    assert results.complete
    assert results.n_rows == 1000


def test_costs_and_feedback_are_saved_and_read_back(tmp_path):
    options: dict[str, Any] = {"scheme": sg.Bootstrap(2), "every": 300, "resources": True}
    results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.NoChange()], **options)
    found = load(save(results, tmp_path))
    assert repr(found.feedback) == repr(results.feedback)
    for name in Resources.__dataclass_fields__:
        one, other = getattr(cost_of(results), name), getattr(cost_of(found), name)
        np.testing.assert_array_equal(one, other) if isinstance(one, np.ndarray) else None
        assert isinstance(one, np.ndarray) or one == other
