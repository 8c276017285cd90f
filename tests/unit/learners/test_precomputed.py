"""A model that lives elsewhere is evaluated from its predictions and the labels, without any learner here."""

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import Precomputed
from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream

CLASSES = ("no", "yes", "perhaps")
VOTES = tuple(Attribute(f"votes.{name}", missing=True) for name in CLASSES)


def test_it_keeps_the_contract_of_learners() -> None:
    check_learner(Precomputed("model"), Schema((Attribute("x"), Attribute("model", CLASSES, missing=True)), CLASSES))
    check_learner(Precomputed("votes"), Schema((*VOTES, Attribute("x")), CLASSES))


def test_what_is_no_prediction_is_an_error_of_the_model() -> None:
    schema = Schema((Attribute("model", ("yes", "maybe", "no"), missing=True),), ("no", "yes"))
    x = np.array([[0.0], [1.0], [2.0], [np.nan]])
    learner = Precomputed("model").build(schema, 1)
    assert learner.predict(x).tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    votes = Schema(tuple(Attribute(f"v.{name}", missing=True) for name in ("no", "yes")), ("no", "yes"))
    given = np.array([[0.2, 0.8], [-0.1, 0.5], [np.nan, 0.5]])
    assert Precomputed("v").build(votes, 1).predict(given).tolist() == [[0.2, 0.8], [0, 0], [0, 0]]


def test_rows_without_predictions_are_reported() -> None:
    stream = ArrayStream({"a": [1.0, 2.0]}, ["x", "y"])
    with pytest.raises(StreamgaugeError, match="there is no attribute 'model' with predictions"):
        sg.evaluate(stream, Precomputed("model"))
    with pytest.raises(StreamgaugeError, match="is numeric"):
        sg.evaluate(stream, Precomputed("a"))
