"""Any scikit-learn classifier with partial_fit."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import ScikitLearn
from streamgauge.records import Batch, Step
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


def test_the_estimator_given_is_never_changed_and_folds_are_seeded_apart():
    estimator = SGDClassifier()
    spec = ScikitLearn(estimator)
    assert not spec.seedless
    assert ScikitLearn(GaussianNB()).seedless
    schema = sg.SEA().schema
    learners = [spec.build(schema, seed) for seed in (1, 1, 2)]
    batch = take(sg.SEA(), 50)
    votes = []
    for learner in learners:
        learner.interleave(Step(batch), with_votes=False)
        votes.append(learner.save())
    assert not hasattr(estimator, "classes_")
    assert votes[0] == votes[1] != votes[2]


@pytest.mark.parametrize("estimator", [SGDClassifier(loss="log_loss"), MLPClassifier((4,)), Perceptron()], ids=repr)
def test_it_goes_on_from_a_saved_state(estimator):
    schema = sg.SEA().schema
    learner, other = (ScikitLearn(estimator).build(schema, 7) for _ in range(2))
    batch = take(sg.SEA(), 60)
    head, tail = (Batch(0, batch.x[part], batch.y[part]) for part in (slice(0, 30), slice(30, 60)))
    learner.interleave(Step(head), with_votes=False)
    other.load(learner.save())
    expected = learner.interleave(Step(tail), with_votes=True)
    found = other.interleave(Step(tail), with_votes=True)
    for one, two in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, two)


class Counter:
    """Takes no weights; predicts the class of which it was given most rows."""

    counts = (0, 0)

    def partial_fit(self, _x, y):
        self.counts = (self.counts[0] + int((y == 0).sum()), self.counts[1] + int((y == 1).sum()))

    def predict(self, x):
        return np.full(len(x), int(self.counts[1] > self.counts[0]))


def test_whole_weights_become_copies_where_the_estimator_takes_none():
    batch = take(sg.SEA(), 40)
    spec = ScikitLearn(Counter())
    results = sg.evaluate(
        ArrayStream(batch.x, batch.y), {"counter": spec, "majority": sg.MajorityClass()}, scheme=sg.Bootstrap(2)
    )
    np.testing.assert_array_equal(results.curve("counter", "accuracy"), results.curve("majority", "accuracy"))
    fractional = ArrayStream(batch.x, batch.y, weight=np.full(40, 0.5))
    with pytest.raises(StreamgaugeError, match=r"takes no sample_weight, so it cannot learn a row with weight 0\.5"):
        sg.evaluate(fractional, spec)


def test_what_has_no_partial_fit_is_refused():
    with pytest.raises(StreamgaugeError, match="not a learner"):
        sg.evaluate(sg.SEA(n_rows=10), make_pipeline(GaussianNB()))
