"""A model that lives elsewhere is evaluated from its predictions and the labels, without any learner here."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, log_loss

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import Precomputed
from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream, GrowingFile

CLASSES = ("no", "yes", "perhaps")
VOTES = tuple(Attribute(f"votes.{name}", missing=True) for name in CLASSES)


def test_it_keeps_the_contract_of_learners() -> None:
    check_learner(Precomputed("model"), Schema((Attribute("x"), Attribute("model", CLASSES, missing=True)), CLASSES))
    check_learner(Precomputed("votes"), Schema((*VOTES, Attribute("x")), CLASSES))


def test_predictions_and_labels_that_come_apart_are_measured_as_sklearn_measures_them(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    n = 500
    y, told = random.integers(0, 3, n), random.integers(0, 3, n)
    votes = random.dirichlet(np.ones(3), n)
    predictions, labels = tmp_path / "predictions.jsonl", tmp_path / "labels.jsonl"
    with predictions.open("w") as file:
        for i in range(n):
            voted = dict(zip(CLASSES, votes[i].tolist(), strict=True))
            file.write(json.dumps({"id": i, "prediction": CLASSES[told[i]], "votes": voted}) + "\n")
    with labels.open("w") as file:
        for i in random.permutation(n):
            file.write(json.dumps({"id": int(i), "class": CLASSES[y[i]]}) + "\n")
    schema = Schema((Attribute("prediction", CLASSES), *VOTES), CLASSES)
    stream = GrowingFile(predictions, labels=str(labels), key="id", schema=schema, max_wait=0.1)
    learners = [Precomputed("prediction"), Precomputed("votes")]
    results = sg.evaluate(stream, learners, n_rows=n, measures=["accuracy", "kappa", "log_loss"])
    assert results.learners == ("prediction", "votes")
    assert results.curve("prediction", "accuracy")[-1, 0] == np.mean(told == y)
    np.testing.assert_allclose(results.curve("prediction", "kappa")[-1, 0], cohen_kappa_score(y, told))
    assert results.curve("votes", "accuracy")[-1, 0] == np.mean(votes.argmax(axis=1) == y)
    np.testing.assert_allclose(results.curve("votes", "log_loss")[-1, 0], log_loss(y, votes), rtol=1e-9)
    assert results.pairs  # the two models can be compared


def test_what_is_no_prediction_is_an_error_of_the_model() -> None:
    schema = Schema((Attribute("model", ("yes", "maybe", "no"), missing=True),), ("no", "yes"))
    x = np.array([[0.0], [1.0], [2.0], [np.nan]])
    learner = Precomputed("model").build(schema, 1)
    assert learner.predict(x).tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    votes = Schema(tuple(Attribute(f"v.{name}", missing=True) for name in ("no", "yes")), ("no", "yes"))
    given = np.array([[0.2, 0.8], [-0.1, 0.5], [np.nan, 0.5]])
    assert Precomputed("v").build(votes, 1).predict(given).tolist() == [[0.2, 0.8], [0, 0], [0, 0]]


def test_rows_without_predictions_are_told() -> None:
    stream = ArrayStream({"a": [1.0, 2.0]}, ["x", "y"])
    with pytest.raises(StreamgaugeError, match="there is no attribute 'model' with predictions"):
        sg.evaluate(stream, Precomputed("model"))
    with pytest.raises(StreamgaugeError, match="holds numbers"):
        sg.evaluate(stream, Precomputed("a"))
