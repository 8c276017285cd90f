"""Evaluations against scikit-learn."""

import numpy as np
from sklearn.metrics import accuracy_score, cohen_kappa_score

import streamgauge as sg
from streamgauge.evaluation import evaluate
from streamgauge.records import Batch, Step
from streamgauge.streams import ArrayStream, take

FORGETTINGS = (sg.Landmark(), sg.Window(500), sg.Fading(0.99), sg.AdwinWindow())

MEASURES = ("accuracy", "kappa", "kappa_m", "kappa_temporal")
LEARNERS = (sg.HoeffdingTree(), sg.NaiveBayes(), sg.MajorityClass(), sg.NoChange())


def run(stream, *, learners=LEARNERS, **options):
    return evaluate(
        stream, list(learners), **{"forgetting": FORGETTINGS, "measures": MEASURES, "every": 700, **options}
    )


def test_readings_equal_scikit_learn_on_the_same_slices():
    n, width = 3000, 500
    stream = sg.RandomRBF(n_rows=n, seed=2)
    results = run(stream, learners=[sg.NaiveBayes()], forgetting=(sg.Landmark(), sg.Window(width)))
    batch = take(stream, n)
    learner = sg.NaiveBayes().build(stream.schema, seed=1)
    predicted, _ = learner.interleave(Step(batch), with_votes=False)
    for row, of_row in zip(results.rows, results.values, strict=True):
        for f, first in enumerate((0, max(0, row - width))):
            pair = batch.y[first:row], predicted[first:row]
            np.testing.assert_allclose(of_row[0, 0, f, 0], accuracy_score(*pair), rtol=1e-12)
            np.testing.assert_allclose(of_row[0, 0, f, 1], cohen_kappa_score(*pair), rtol=1e-9)


def test_instance_weights_reach_learner_and_measure():
    batch = take(sg.SEA(noise=0.2), 1000)
    weight = np.random.default_rng(0).integers(1, 4, 1000).astype(float)
    results = evaluate(ArrayStream(batch.x, batch.y, weight=weight), sg.NaiveBayes())
    learner = sg.NaiveBayes().build(sg.SEA().schema, seed=1)
    predicted, _ = learner.interleave(Step(Batch(0, batch.x, batch.y, weight)), with_votes=False)
    expected = accuracy_score(batch.y, predicted, sample_weight=weight)
    np.testing.assert_allclose(results.values[-1, 0, 0, 0, 0], expected, rtol=1e-12)
