"""stream-learn's ensembles, beside its own evaluator."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.learners import StreamLearn, as_spec
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract

ensembles = pytest.importorskip("strlearn.ensembles", reason="stream-learn is not installed")


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
