"""Any scikit-learn classifier with partial_fit."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import ScikitLearn, as_spec
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import ArrayStream, take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract

SCHEMA = Schema((Attribute("x"), Attribute("y"), Attribute("z")), ("a", "b", "c"))


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
def test_it_continues_from_a_saved_state(estimator):
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


@pytest.mark.parametrize(
    ("estimator", "chunk_size"),
    [
        (GaussianNB(), 1),
        (SGDClassifier(loss="log_loss"), 16),
        (make_pipeline(StandardScaler(), SGDClassifier()), 1),
        (make_pipeline(FunctionTransformer(), MLPClassifier((4,))), 16),
    ],
    ids=["bayes", "chunks", "pipeline", "chunks of a pipeline"],
)
def test_an_estimator_keeps_the_contract(estimator, chunk_size):
    keeps_its_contract(ScikitLearn(estimator, chunk_size=chunk_size))


def test_a_frozen_step_stays_as_it_is():
    batch = take(sg.SEA(), 50)
    frozen = FrozenEstimator(PolynomialFeatures().fit(batch.x))
    results = sg.evaluate(ArrayStream(batch.x, batch.y), {"mine": make_pipeline(frozen, Perceptron())})
    assert results.values[-1].item() > 0.5


def test_seeds_inside_an_estimator_are_set_and_what_it_has_learnt_is_left_behind():
    estimator = make_pipeline(StandardScaler(), MLPClassifier((4,), random_state=3))
    assert not as_spec(estimator).seedless
    assert is_seeded_apart(estimator, n_rows=60)
    batch = take(sg.SEA(), 50)
    fitted = GaussianNB().fit(batch.x, batch.y)
    assert as_spec(fitted).build(sg.SEA().schema, 1).predict(batch.x).sum() == 0.0


def test_classes_that_come_late_have_their_place():
    y = np.repeat([2, 0, 1], 20).astype(np.int32)
    learner = ScikitLearn(MultinomialNB()).build(SCHEMA, 1)
    predictions, _ = learner.interleave(Step(Batch(0, np.eye(3)[y], y)), with_votes=False)
    assert (predictions[1:20] == 2).all()
    assert (predictions[25:40] == 0).all()
    assert (predictions[45:] == 1).all()
