"""stream-learn's ensembles against its own test-then-train loop."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.learners import StreamLearn
from streamgauge.records import ABSTAINED, Batch, Step
from streamgauge.streams import take

ensembles = pytest.importorskip("strlearn.ensembles", reason="stream-learn is not installed")


def test_it_predicts_what_testing_and_then_training_chunk_by_chunk_predicts():
    batch = take(sg.RandomRBF(n_attributes=4), 1_000)
    ensemble = ensembles.SEA(GaussianNB(), n_estimators=3)
    # Before the first chunk is full, the majority class so far; ties go to the first class.
    expected = np.array([np.bincount(batch.y[:row]).argmax() if row else ABSTAINED for row in range(1_000)])
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
