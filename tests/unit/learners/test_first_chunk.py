"""A learner that waits for its first chunk predicts the majority class of the labels so far."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge import learners
from streamgauge.labelling import Delayed
from streamgauge.learners import ScikitLearn, StreamLearn, chunk_ensembles
from streamgauge.records import Batch, Step
from streamgauge.streams import take

SIZE, N = 60, 200
ENSEMBLES = [getattr(learners, name)(chunk_size=SIZE) for name in chunk_ensembles.__all__]
WAITING = [
    ScikitLearn(GaussianNB(), chunk_size=SIZE),
    ScikitLearn(SGDClassifier(), chunk_size=SIZE),
    StreamLearn(GaussianNB(), chunk_size=SIZE),
    *ENSEMBLES,
]
STREAM = sg.RandomRBF(n_attributes=4)


@pytest.mark.parametrize("spec", WAITING, ids=repr)
@pytest.mark.parametrize("with_votes", [True, False])
def test_the_first_chunk_is_predicted_as_by_the_majority_class(spec, with_votes):
    rows = take(STREAM, N)
    weight = np.random.default_rng(1).poisson(1.0, N).astype(float)
    learnt = np.flatnonzero(weight > 0)
    stop = int(learnt[SIZE - 1]) + 1  # the row that completes the chunk, which is predicted before it is learnt
    weighted = spec if isinstance(spec, StreamLearn) else None
    step = Step(rows, weight=None if weighted else weight)
    stop = SIZE if weighted else stop
    majority, _ = sg.MajorityClass().build(STREAM.schema, 1).interleave(step, with_votes=False)
    whole = spec.build(STREAM.schema, 1)
    predictions, votes = whole.interleave(step, with_votes=with_votes)
    np.testing.assert_array_equal(predictions[:stop], majority[:stop])
    assert (votes is None) != with_votes
    assert (predictions[stop:] != majority[stop:]).any()
    assert (predictions[1:] >= 0).all()
    cut = spec.build(STREAM.schema, 1)  # the same in parts, with a restart within the chunk
    parts = [cut.interleave(step.part(0, 25), with_votes=with_votes)[0]]
    restored = spec.build(STREAM.schema, 1)
    restored.load(cut.save())
    np.testing.assert_array_equal(
        restored.predict(rows.x[:5]).argmax(axis=1), np.full(5, majority[25]) if majority[25] >= 0 else 0
    )
    parts.append(restored.interleave(step.part(25, N), with_votes=with_votes)[0])
    np.testing.assert_array_equal(np.concatenate(parts), predictions)


def test_rows_without_a_label_count_for_nothing():
    rows = take(STREAM, N)
    hidden = Batch(0, rows.x, np.where(np.arange(N) < 40, -1, rows.y).astype(np.int32))
    predictions, _ = WAITING[0].build(STREAM.schema, 1).interleave(Step(hidden), with_votes=False)
    assert (predictions[:41] == -1).all()
    assert predictions[41] == rows.y[40]


def test_with_late_labels_a_waiting_learner_is_no_worse_than_the_majority_class_before_its_first_chunk():
    options: dict[str, Any] = {"labelling": Delayed(100), "n_rows": 100 + SIZE, "every": 10}
    results = sg.evaluate(STREAM, {"waits": WAITING[0], "majority": sg.MajorityClass()}, **options)
    np.testing.assert_array_equal(results.curve("waits", "accuracy"), results.curve("majority", "accuracy"))
