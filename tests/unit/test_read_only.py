"""All that learners, measures, detectors and recorders get is read-only: none can change what another one sees."""

import pickle
import warnings
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import streamgauge as sg
from streamgauge._engine.batch_plan import BatchPlan
from streamgauge._engine.schedule import LabelTotals, Schedule
from streamgauge.backends import Threads
from streamgauge.backends.messages import pack_plan, unpack_plan
from streamgauge.errors import FailureWarning
from streamgauge.labelling import Delayed
from streamgauge.learners import ScikitLearn
from streamgauge.records import Batch, Step
from streamgauge.schemes import Chunks, Holdout
from streamgauge.streams import ArrayStream, take

STREAM = sg.SEA(n_rows=600, noise=0.1)


class Writer:
    """A learner that changes the rows it gets: when it predicts, or what it is given to learn."""

    def __init__(self, target):
        self.target = target

    def predict(self, x):
        if self.target == "predicted":
            x[:] = 0.0
        return np.zeros(len(x), dtype=int)

    def learn(self, x, y, weight):
        {"x": x, "y": y, "weight": weight}.get(self.target, np.zeros(1))[:] = 1


class Estimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same for scikit-learn."""

    classes_ = np.arange(2)

    def partial_fit(self, x, y, classes=None):  # noqa: ARG002
        x[:] = 0.0
        return self

    def predict(self, x):
        return np.zeros(len(x))


def run(learners, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FailureWarning)
        return sg.evaluate(STREAM, learners, every=100, **options)


@pytest.mark.parametrize("target", ["predicted", "x", "y", "weight"])
@pytest.mark.parametrize("scheme", [sg.Bootstrap(2), Chunks(50, scheme=sg.Bootstrap(2)), Holdout(100, 10)])
def test_a_learner_that_writes_fails_by_name_and_changes_no_other(target, scheme):
    options = {"scheme": scheme, "labelling": Delayed(7)}
    alone = run({"bayes": sg.NaiveBayes()}, **options)
    for backend in (Threads(1), Threads(2)):
        both = run({"writer": Writer(target), "bayes": sg.NaiveBayes()}, backend=backend, **options)
        np.testing.assert_array_equal(both.curve("bayes", "accuracy"), alone.curve("bayes", "accuracy"))
        failed = {failure.learner for failure in both.failures}
        if target == "weight" and isinstance(scheme, Holdout):
            continue  # there are no weights
        assert failed == {"writer"}
        assert "none may write into them" in both.failures[0].error


@pytest.mark.parametrize("chunk_size", [1, 50])
def test_a_model_of_another_library_that_writes_fails_by_name(chunk_size):
    learners = {"writer": ScikitLearn(Estimator(), chunk_size=chunk_size), "bayes": sg.NaiveBayes()}
    both = run(learners)
    assert [failure.learner for failure in both.failures] == ["writer"]
    assert "none may write into them" in both.failures[0].error
    np.testing.assert_array_equal(both.curve("bayes", "accuracy"), run(sg.NaiveBayes()).curve("NaiveBayes", "accuracy"))


def list_columns(record):
    columns = [getattr(record, field.name) for field in fields(record)]
    return [column for column in columns if isinstance(column, np.ndarray)]


class Recorder:
    """A recorder, a detector and a measure that keep the columns they get."""

    needs_votes, n_bytes = True, 0

    def __init__(self):
        self.columns = []

    @contextmanager
    def open(self, *_):
        yield self.record

    def record(self, batch):
        self.columns += list_columns(batch.trace) + list_columns(batch.step) + list_columns(batch.step.batch)
        self.columns += [batch.step.labels, batch.step.rows, batch.step.batch.rows]

    def build(self):
        return self

    def update(self, values):
        self.columns.append(values)
        return np.zeros(len(values), dtype=np.uint8)

    def save(self):
        return b""

    load = save

    def measure(self, tally):
        self.columns += [*list_columns(tally), tally.support, tally.predicted]
        return 0.0


@pytest.mark.parametrize("scheme", [sg.Prequential(), sg.Bootstrap(2), Holdout(100, 10)])
@pytest.mark.parametrize("delay", [0, 30])
def test_recorders_detectors_and_measures_get_columns_that_cannot_be_written(scheme, delay):
    recorder = Recorder()
    options = {"scheme": scheme, "labelling": Delayed(delay), "recorders": [recorder], "detectors": {"own": recorder}}
    run([sg.NaiveBayes(), sg.NoChange()], measures=recorder.measure, forgetting=sg.Window(50), **options)
    assert len(recorder.columns) > 20
    assert not any(column.flags.writeable for column in recorder.columns)


def test_columns_are_read_only_after_they_were_sent_to_another_process():
    batch = take(STREAM, 50)
    plan = BatchPlan([50], 50, LabelTotals(), Schedule(batch, np.ones(50, dtype=np.bool_)), batch)
    for copy in (unpack_plan(*pack_plan(plan)), pickle.loads(pickle.dumps(plan))):
        assert copy.batch is not None
        assert copy.schedule is not None
        columns = list_columns(copy.batch) + list_columns(copy.schedule.batch)
        assert not any(column.flags.writeable for column in columns)
    step = pickle.loads(pickle.dumps(Step(batch, test=np.ones(50, dtype=np.bool_))))
    assert not any(column.flags.writeable for column in list_columns(step))


def test_the_arrays_of_the_user_stay_as_they_were():
    x, y = np.zeros((5, 1)), np.zeros(5, dtype=np.int32)
    batch = Batch(0, x, y)
    assert x.flags.writeable
    assert np.shares_memory(batch.x, x)
    sg.evaluate(ArrayStream(x, np.array([0, 1, 0, 1, 0])), sg.NoChange())
    x[0] = 1.0
