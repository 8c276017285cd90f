"""Ensembles of chunks against stream-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB

from streamgauge.learners import (
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    LearnppCDS,
    LearnppNIE,
    ScikitLearn,
    SEAEnsemble,
    WeightedAgeingEnsemble,
)
from streamgauge.protocols import LearnerSpec
from streamgauge.randomness import below
from tests.support.chunk_examples import Chunks, chunks_of, votes_of


def ensembles() -> Any:
    return pytest.importorskip("strlearn.ensembles", reason="stream-learn is not installed")


def assert_same_votes(spec: LearnerSpec, theirs: Any, chunks: Chunks, weights: Callable[[Any], Any]) -> None:
    """Compare with the members of another ensemble, weighted."""
    ours = votes_of(spec, chunks)
    counts = np.eye(ours[0].shape[1])[chunks[0][1]].cumsum(axis=0)[:-1]  # the first chunk is that of the majority class
    np.testing.assert_array_equal(ours[0][1:].argmax(axis=1), counts.argmax(axis=1))
    theirs.partial_fit(*(column.copy() for column in chunks[0]))
    for votes, (x, y) in zip(ours[1:], chunks[1:], strict=True):
        support = theirs.ensemble_support_matrix(x)
        expected = np.tensordot(weights(theirs), support, axes=1)
        np.testing.assert_allclose(votes, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
        theirs.partial_fit(x.copy(), y.copy())


BASE = ScikitLearn(GaussianNB(), chunk_size=120)
"""Learns and predicts a chunk of the ensemble at once, as stream-learn does."""


@pytest.mark.parametrize(("n_classes", "base"), [(2, ScikitLearn(GaussianNB())), (3, BASE)], ids=["rows", "chunks"])
def test_sea_agrees_with_stream_learn(n_classes, base):
    theirs = ensembles().SEA(GaussianNB(), n_estimators=4)
    spec = SEAEnsemble(base, chunk_size=120, n_members=4)
    assert_same_votes(spec, theirs, chunks_of(n_classes), lambda other: np.ones(len(other.ensemble_)))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_accuracy_weighted_ensemble_has_the_members_and_weights_of_stream_learn(n_classes):
    theirs = ensembles().AWE(GaussianNB(), n_estimators=4)
    spec = AccuracyWeightedEnsemble(BASE, chunk_size=120, n_members=4)
    assert_same_votes(spec, theirs, chunks_of(n_classes), lambda other: np.maximum(other.weights_, 0.0))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_accuracy_updated_ensemble_has_the_members_and_weights_of_stream_learn(n_classes):
    theirs = ensembles().AUE(GaussianNB(), n_estimators=4)
    spec = AccuracyUpdatedEnsemble(BASE, chunk_size=120, n_members=4)
    assert_same_votes(spec, theirs, chunks_of(n_classes), lambda other: other.weights_)


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({}, {}),
        ({"post_pruning": True, "rejuvenation_power": 0.5}, {"prune_last": True, "rejuvenation": 0.5}),
        ({"aging_method": "constant", "theta": 0.05}, {"ageing": "constant", "theta": 0.05}),
        (
            {"aging_method": "gaussian", "weight_calculation_method": "pta_related_to_whole"},
            {"ageing": "gaussian", "weighting": "related_to_whole"},
        ),
        (
            {"aging_method": "constant", "weight_calculation_method": "bell_curve", "theta": 0.01},
            {"ageing": "constant", "weighting": "bell_curve", "theta": 0.01},
        ),
        (
            {"aging_method": "gaussian", "weight_calculation_method": "same_for_each"},
            {"ageing": "gaussian", "weighting": "same_for_each"},
        ),
    ],
    ids=str,
)
def test_the_weighted_ageing_ensemble_agrees_with_stream_learn(options, same):
    theirs = ensembles().WAE(GaussianNB(), n_estimators=4, **options)
    spec = WeightedAgeingEnsemble(BASE, chunk_size=120, n_members=4, **same)
    assert_same_votes(spec, theirs, chunks_of(2), lambda other: other.weights_)


def test_learnpp_nie_builds_the_learners_of_stream_learn_from_the_same_draws(monkeypatch):
    theirs = ensembles().NIE(GaussianNB(), n_estimators=5)
    chunks = chunks_of(2, n_chunks=2, rare=0.2)
    numbers = iter(range(5))
    monkeypatch.setattr(np.random, "randint", lambda high, size: below(7, "sample", next(numbers), 0, size, high))
    theirs.partial_fit(*(column.copy() for column in chunks[0]))
    votes = votes_of(LearnppNIE(BASE, chunk_size=120), chunks)[1]
    expected = theirs.ensemble_support_matrix(chunks[1][0])[0]
    np.testing.assert_allclose(votes, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "spec"), [("NIE", LearnppNIE(chunk_size=240)), ("CDS", LearnppCDS(chunk_size=240))])
def test_learnpp_finds_the_rare_class_as_well_as_stream_learn(name, spec):
    np.random.seed(1)  # stream-learn draws from there
    ours, theirs = [], []
    for seed in (1, 2):
        chunks = chunks_of(2, size=240, rare=0.1, turn=0.0, seed=seed)
        truth = np.concatenate([y for _, y in chunks[1:]])
        votes = np.concatenate(votes_of(spec, chunks)[1:])
        ours.append(balanced_accuracy_score(truth, votes.argmax(axis=1)))
        other = getattr(ensembles(), name)(GaussianNB())
        other.partial_fit(*(column.copy() for column in chunks[0]))
        predictions = []
        for x, y in chunks[1:]:
            predictions.append(other.predict(x))
            other.partial_fit(x.copy(), y.copy())
        theirs.append(balanced_accuracy_score(truth, np.concatenate(predictions)))
    assert np.mean(ours) > np.mean(theirs) - 0.02, (ours, theirs)
