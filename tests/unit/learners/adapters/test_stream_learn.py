"""stream-learn's ensembles, beside its own evaluator."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.learners import StreamLearn, as_spec
from streamgauge.records import ABSTAINED, Batch, Step
from streamgauge.streams import take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract

ensembles = pytest.importorskip("strlearn.ensembles", reason="stream-learn is not installed")


def test_it_predicts_what_testing_and_then_training_chunk_by_chunk_predicts():
    batch = take(sg.RandomRBF(n_attributes=4), 1_000)
    ensemble = ensembles.SEA(GaussianNB(), n_estimators=3)
    expected = np.full(1_000, ABSTAINED)
    for start in range(0, 1_000, 250):
        chunk = slice(start, start + 250)
        if start > 0:
            expected[chunk] = ensemble.predict(batch.x[chunk])
        ensemble.partial_fit(batch.x[chunk], batch.y[chunk].copy(), classes=np.array([0, 1]))
    spec = StreamLearn(ensembles.SEA(GaussianNB(), n_estimators=3), chunk_size=250)
    for size in (1_000, 333):
        learner = spec.build(sg.RandomRBF(n_attributes=4).schema, 1)
        parts = [learner.interleave(Step(b), with_votes=False)[0] for b in batches_of(batch, size)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)


def batches_of(batch, size):
    for start in range(0, len(batch), size):
        part = slice(start, start + size)
        yield Batch(start, batch.x[part], batch.y[part])


@pytest.mark.parametrize("name", ["SEA", "AWE", "WAE", "OnlineBagging"])
def test_an_ensemble_keeps_the_contract(name):
    base = SGDClassifier(loss="log_loss") if name == "OnlineBagging" else GaussianNB()
    keeps_its_contract(StreamLearn(getattr(ensembles, name)(base, n_estimators=2), chunk_size=30), n_rows=100)


def test_shared_random_numbers_are_each_learners_own():
    ensemble = ensembles.OnlineBagging(GaussianNB(), n_estimators=2)
    spec = as_spec(ensemble)
    assert isinstance(spec, StreamLearn)
    before = np.random.get_state(legacy=False)["state"]["key"].tolist()
    assert is_seeded_apart(StreamLearn(ensemble, chunk_size=50))
    assert np.random.get_state(legacy=False)["state"]["key"].tolist() == before
    mine = StreamLearn(ensemble, chunk_size=50)
    one, two = (sg.evaluate(sg.SEA(n_rows=500), mine, scheme=sg.Split(2), backend=sg.Threads(n)) for n in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
