"""A learner that took long row by row gets a hint that says what chunks would gain, as measured."""

import re
import time
import warnings

import numpy as np
import pytest
from river import linear_model, preprocessing, tree
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import streamgauge as sg
from streamgauge.errors import StreamWarning
from streamgauge.learners import Encoded, Refitted, River, ScikitLearn
from streamgauge.learners.adapters import hints
from streamgauge.learners.adapters.hints import can_have_chunks, suggest_chunks
from streamgauge.schemes import TrainThenTest
from streamgauge.streams import take

SCHEMA, ROWS = sg.SEA().schema, take(sg.SEA(), 400)


class Slow:
    """Takes a millisecond a call, whatever the number of rows."""

    def partial_fit(self, _x, _y):
        started = time.thread_time()
        while time.thread_time() - started < 0.001:
            pass

    def predict(self, x):
        return np.zeros(len(x), dtype=int)


def test_the_gain_is_measured_on_a_copy():
    hint = suggest_chunks("slow", ScikitLearn(Slow()), SCHEMA, ROWS, (61.0, 50_000))
    assert hint is not None
    text = (
        r"slow took 61 s row by row; ScikitLearn\(model, chunk_size=100\) would take about ([\d.]+) s and learns each"
    )
    found = re.match(text, hint)
    assert found is not None
    assert 0.5 <= float(found[1]) <= 5.0  # a call for each of 500 chunks


def test_there_is_no_hint_where_little_would_be_gained_or_chunks_cannot_be_learnt():
    slow = ScikitLearn(Slow())
    assert suggest_chunks("quick", slow, SCHEMA, ROWS, (4.9, 5_000)) is None
    assert suggest_chunks("no gain", slow, SCHEMA, ROWS, (6.0, 500_000)) is None
    assert suggest_chunks("too few rows", slow, SCHEMA, take(sg.SEA(), 150), (61.0, 50_000)) is None
    assert not can_have_chunks(ScikitLearn(SGDClassifier(), chunk_size=10))
    assert not can_have_chunks(River(tree.HoeffdingTreeClassifier()))
    assert not can_have_chunks(sg.NaiveBayes())
    tree_in_a_pipeline = River(preprocessing.StandardScaler() | tree.HoeffdingTreeClassifier())
    assert suggest_chunks("tree", tree_in_a_pipeline, SCHEMA, ROWS, (61.0, 50_000)) is None


def test_a_river_model_with_learn_many_gets_one():
    model = River(preprocessing.StandardScaler() | linear_model.LogisticRegression())
    hint = suggest_chunks("mine", model, SCHEMA, ROWS, (5_000.0, 50_000))
    assert hint is not None
    assert hint.startswith("mine took 5000 s row by row; River(model, chunk_size=100) would take about")


@pytest.mark.parametrize("backend", [sg.Threads(1), sg.Threads(2)])
def test_a_run_warns_once_and_keeps_the_note(monkeypatch, backend):
    monkeypatch.setattr(hints, "LONG_SECONDS", 0.1)
    monkeypatch.setattr("streamgauge.evaluation.LONG_SECONDS", 0.1)
    options = {"backend": backend, "scheme": sg.Bootstrap(2), "n_rows": 400}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = sg.evaluate(sg.SEA(), {"slow": Slow(), "bayes": sg.NaiveBayes()}, **options)
    notes = [str(each.message) for each in caught if issubclass(each.category, StreamWarning)]
    assert len(notes) == 1
    assert results.description["notes"] == notes
    seconds = re.match(r"slow took ([\d.]+) s row by row", notes[0])
    assert seconds is not None
    assert 0.3 <= float(seconds[1]) <= 5.0
    assert "notes" not in sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes()).description


@pytest.mark.parametrize(
    ("learner", "option"),
    [
        (make_pipeline(SimpleImputer(), SGDClassifier()), "chunk_size"),
        (Encoded(ScikitLearn(SGDClassifier(), chunk_size=900)), "chunk_size"),
        (Refitted(DecisionTreeClassifier(), every=801), "every"),
        (Refitted(DecisionTreeClassifier(), every=100, first=900), "first"),
    ],
)
def test_a_learner_with_too_few_rows_for_its_first_fit_is_named(learner, option):
    with pytest.warns(StreamWarning, match=rf"mine was never fitted .* of 800; set a smaller {option}"):
        results = sg.evaluate(sg.SEA(n_rows=800), {"mine": learner})
    assert "never fitted" in results.notes[-1]


def test_a_learner_that_was_fitted_or_is_fitted_when_training_ends_gets_no_such_note():
    learner = make_pipeline(SimpleImputer(), SGDClassifier())
    fitted = sg.evaluate(sg.SEA(n_rows=800), Refitted(DecisionTreeClassifier(), every=800))
    trained = sg.evaluate(sg.SEA(n_rows=800), learner, scheme=TrainThenTest(400))
    assert not [*fitted.notes, *trained.notes]
