"""scikit-learn classifiers against a plain loop of partial_fit."""

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, StandardScaler

import streamgauge as sg
from streamgauge.learners import as_spec
from streamgauge.records import Step
from streamgauge.streams import ArrayStream, take


def test_it_gives_what_a_plain_loop_gives():
    batch = take(sg.SEA(noise=0.1), 300)
    estimator, hits = SGDClassifier(shuffle=False), 0
    for i in range(300):
        hits += i > 0 and estimator.predict(batch.x[i : i + 1])[0] == batch.y[i]
        estimator.partial_fit(batch.x[i : i + 1], batch.y[i : i + 1], classes=[0, 1])
    results = sg.evaluate(ArrayStream(batch.x, batch.y), SGDClassifier(shuffle=False))
    assert results.learners == ("SGDClassifier",)
    assert results.values[-1, 0, 0, 0, 0] == hits / 300


def test_a_pipeline_learns_row_by_row_what_its_steps_learn():
    batch = take(sg.SEA(noise=0.1), 200)
    scaler, last, expected = StandardScaler(), Perceptron(), [-1]
    for i in range(200):
        row, label = batch.x[i : i + 1], batch.y[i : i + 1]
        if i > 0:
            expected.append(int(last.predict(Binarizer().transform(scaler.transform(row)))[0]))
        scaler.partial_fit(row)
        last.partial_fit(Binarizer().transform(scaler.transform(row)), label, classes=[0, 1])
    pipeline = make_pipeline(StandardScaler(), Binarizer(), Perceptron(shuffle=False))
    predictions, _ = as_spec(pipeline).build(sg.SEA().schema, 1).interleave(Step(batch), with_votes=False)
    np.testing.assert_array_equal(predictions, expected)
