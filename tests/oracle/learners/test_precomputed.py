"""Precomputed predictions against scikit-learn's measures."""

import json
from pathlib import Path

import numpy as np
from sklearn.metrics import cohen_kappa_score, log_loss

import streamgauge as sg
from streamgauge.learners import Precomputed
from streamgauge.records import Attribute, Schema
from streamgauge.streams import GrowingFile

CLASSES = ("no", "yes", "perhaps")
VOTES = tuple(Attribute(f"votes.{name}", missing=True) for name in CLASSES)


def test_predictions_and_labels_that_come_apart_are_measured_as_sklearn_measures_them(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    n = 500
    y, predicted = random.integers(0, 3, n), random.integers(0, 3, n)
    votes = random.dirichlet(np.ones(3), n)
    predictions, labels = tmp_path / "predictions.jsonl", tmp_path / "labels.jsonl"
    with predictions.open("w") as file:
        for i in range(n):
            voted = dict(zip(CLASSES, votes[i].tolist(), strict=True))
            file.write(json.dumps({"id": i, "prediction": CLASSES[predicted[i]], "votes": voted}) + "\n")
    with labels.open("w") as file:
        for i in random.permutation(n):
            file.write(json.dumps({"id": int(i), "class": CLASSES[y[i]]}) + "\n")
    schema = Schema((Attribute("prediction", CLASSES), *VOTES), CLASSES)
    stream = GrowingFile(predictions, labels=str(labels), key="id", schema=schema, max_wait=0.1)
    learners = [Precomputed("prediction"), Precomputed("votes")]
    results = sg.evaluate(stream, learners, n_rows=n, measures=["accuracy", "kappa", "log_loss"])
    assert results.learners == ("prediction", "votes")
    assert results.curve("prediction", "accuracy")[-1, 0] == np.mean(predicted == y)
    np.testing.assert_allclose(results.curve("prediction", "kappa")[-1, 0], cohen_kappa_score(y, predicted))
    assert results.curve("votes", "accuracy")[-1, 0] == np.mean(votes.argmax(axis=1) == y)
    np.testing.assert_allclose(results.curve("votes", "log_loss")[-1, 0], log_loss(y, votes), rtol=1e-9)
    assert results.pairs  # the two models can be compared
