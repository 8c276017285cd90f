"""Ensembles of chunks: the contract, and their numbers against stream-learn's."""

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.checks.learners import MIXED
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import (
    AccuracyUpdatedEnsemble,
    AccuracyWeightedEnsemble,
    Encoded,
    HoeffdingTree,
    LearnppCDS,
    LearnppNIE,
    LogisticRegression,
    OzaBag,
    RandomGuess,
    Refitted,
    SEAEnsemble,
    WeightedAgeingEnsemble,
)
from streamgauge.learners.chunk_ensembles.members import Chunk
from streamgauge.learners.chunk_ensembles.smote import oversample
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Batch, Schema, Step
from streamgauge.streams import ArrayStream
from tests.support.chunk_examples import chunks_of, schema_of, votes_of

TWO_CLASSES = Schema(MIXED.attributes, ("apple", "pear"))

SMALL: dict[str, Any] = {"chunk_size": 30, "n_members": 3}

ANY_CLASSES: list[LearnerSpec] = [
    SEAEnsemble(**SMALL),
    SEAEnsemble(RandomGuess(), **SMALL),
    AccuracyWeightedEnsemble(LogisticRegression(), **SMALL),
    AccuracyUpdatedEnsemble(HoeffdingTree(grace_period=20), **SMALL),
    WeightedAgeingEnsemble(**SMALL),
    WeightedAgeingEnsemble(weighting="related_to_whole", ageing="constant", rejuvenation=0.5, prune_last=True, **SMALL),
    WeightedAgeingEnsemble(weighting="bell_curve", ageing="gaussian", **SMALL),
    SEAEnsemble(SEAEnsemble(chunk_size=7), **SMALL),
]

UNEQUAL: list[LearnerSpec] = [LearnppNIE(**SMALL), LearnppCDS(**SMALL), LearnppCDS(RandomGuess(), **SMALL)]


@pytest.mark.parametrize("spec", ANY_CLASSES, ids=str)
def test_an_ensemble_keeps_the_contract_of_a_learner(spec: LearnerSpec):
    check_learner(spec, n_rows=300)


@pytest.mark.parametrize("spec", UNEQUAL, ids=str)
def test_an_ensemble_of_unequal_classes_keeps_the_contract_of_a_learner(spec: LearnerSpec):
    check_learner(spec, TWO_CLASSES, n_rows=300)


def test_learnpp_finds_a_rare_class_that_a_plain_learner_overlooks():
    chunks = chunks_of(2, n_chunks=30, size=200, rare=0.05)
    truth = np.concatenate([y for _, y in chunks])[200:]
    recall = {
        spec: np.mean(np.concatenate(votes_of(spec, chunks))[200:].argmax(axis=1)[truth == 1] == 1)
        for spec in (SEAEnsemble(), LearnppNIE(), LearnppCDS())
    }
    assert recall[LearnppNIE()] > recall[SEAEnsemble()] + 0.1
    assert recall[LearnppCDS()] > recall[SEAEnsemble()] + 0.1


def test_rows_made_by_smote_lie_between_rare_rows_and_keep_their_kind():
    rng = np.random.default_rng(2)
    x = np.c_[rng.normal(size=60), rng.integers(0, 3, 60), rng.normal(size=60)]
    x[rng.random(60) < 0.2, 2] = np.nan
    y = (np.arange(60) >= 50).astype(np.int32)
    more = oversample(Chunk(4, x, y, np.ones(60)), rare=1, nominal=np.array([False, True, False]), seed=1)
    assert np.bincount(more.y).tolist() == [50, 50]
    new, few = more.x[60:], x[50:]
    assert few[:, 0].min() <= new[:, 0].min() <= new[:, 0].max() <= few[:, 0].max()
    assert set(new[:, 1]) <= set(few[:, 1])
    assert len(np.unique(new[:, 0])) > 30
    balanced = Chunk(0, x, np.arange(60, dtype=np.int32) % 2, np.ones(60))
    assert oversample(balanced, rare=1, nominal=np.array([False, True, False]), seed=1) is balanced


def test_a_weight_of_two_counts_as_two_rows_in_the_judgement_of_members():
    chunks = chunks_of(2, n_chunks=1)
    x, y = chunks[0]
    member = SEAEnsemble().learner.build(schema_of(2), 1)
    member.learn(x, y, None)
    once = Chunk(0, x, y, np.where(y == 1, 2.0, 1.0))
    twice = Chunk(0, np.r_[x, x[y == 1]], np.r_[y, y[y == 1]], np.ones(120 + int(y.sum())))
    hits = [chunk.average((member.predict(chunk.x).argmax(axis=1) == chunk.y).astype(float)) for chunk in (once, twice)]
    np.testing.assert_allclose(hits[0], hits[1])


def test_an_ensemble_follows_a_drift_that_its_base_does_not():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(8_000, 3))
    y = (x[:, 0] > 0).astype(np.int32)
    y[4_000:] = 1 - y[4_000:]
    step = Step(Batch(0, x, y))
    for spec in (SEAEnsemble(n_members=5), AccuracyWeightedEnsemble(), AccuracyUpdatedEnsemble(HoeffdingTree())):
        predictions, _ = spec.build(schema_of(2), 1).interleave(step, with_votes=False)
        assert np.mean(predictions[6_000:] == y[6_000:]) > 0.9, spec
    predictions, _ = sg.NaiveBayes().build(schema_of(2), 1).interleave(step, with_votes=False)
    assert np.mean(predictions[6_000:] == y[6_000:]) < 0.7


def test_memory_stays_within_the_members_and_one_chunk():
    stream = sg.SEA(n_rows=20_000)
    sizes = []
    learner = WeightedAgeingEnsemble(chunk_size=500, n_members=4).build(stream.schema, 1)
    for batch in stream.batches(1_000):
        learner.interleave(Step(batch), with_votes=False)
        sizes.append(learner.n_bytes)
    assert max(sizes[10:]) <= 1.3 * sizes[9]
    assert sizes[-1] > 2 * 500 * (3 * 8 + 4 + 8)


def test_a_damaged_state_is_refused_and_leaves_the_ensemble_as_it_was():
    chunks = chunks_of(2)
    for spec in (SEAEnsemble(chunk_size=100), WeightedAgeingEnsemble(chunk_size=100), LearnppNIE(chunk_size=100)):
        learner = spec.build(schema_of(2), 1)
        for x, y in chunks:
            learner.learn(x, y, None)
        state = learner.save()
        damaged = bytearray(state)
        damaged[len(state) // 2] ^= 1
        other = AccuracyWeightedEnsemble(chunk_size=100).build(schema_of(2), 1).save()
        for bad in (bytes(damaged), state[:-3], state + b"\0", b"nonsense", other):
            with pytest.raises(StreamgaugeError, match="not a saved"):
                learner.load(bad)
        assert learner.save() == state


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: SEAEnsemble(chunk_size=1), "chunk_size = 1"),
        (lambda: SEAEnsemble(n_members=0), "n_members = 0"),
        (lambda: AccuracyWeightedEnsemble(n_splits=1), "n_splits = 1"),
        (lambda: AccuracyUpdatedEnsemble(chunk_size=4), "n_splits = 5: it must not exceed chunk_size = 4"),
        (lambda: WeightedAgeingEnsemble(ageing="constante"), "did you mean constant"),  # type: ignore[arg-type]
        (lambda: WeightedAgeingEnsemble(theta=2.0), "theta = 2.0"),
        (lambda: LearnppNIE(slope=-1.0), "slope = -1.0"),
        (lambda: LearnppCDS().build(MIXED, 1), "LearnppCDS is for streams of two classes; this one has 3"),
    ],
)
def test_a_mistake_is_reported_by_name(make, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        make()


@pytest.mark.parametrize("batch_size", [7, 100])
def test_a_member_that_fails_is_reported_at_the_row_that_fills_the_chunk(batch_size: int):
    class Failing(GaussianNB):  # type: ignore[misc]
        def fit(self, *_: object, **__: object) -> None:
            raise ZeroDivisionError

    stream = ArrayStream(np.random.default_rng(1).random((100, 2)), np.arange(100) % 2)
    with pytest.raises(StreamgaugeError, match="failed in fold 0 at row 49"):
        sg.evaluate(stream, SEAEnsemble(Failing(), chunk_size=50), batch_size=batch_size, backend=sg.Threads(1))


@pytest.mark.parametrize("batch_size", [7, 100])
def test_a_row_that_members_cannot_predict_is_named(batch_size: int):
    class Failing(GaussianNB):  # type: ignore[misc]
        def predict_proba(self, x: Any) -> Any:
            if (x == 60).any():
                raise ZeroDivisionError
            return super().predict_proba(x)

    stream = ArrayStream(np.arange(100.0).reshape(-1, 1), np.arange(100) % 2)
    with pytest.raises(StreamgaugeError, match="failed in fold 0 at row 60"):
        sg.evaluate(stream, SEAEnsemble(Failing(), chunk_size=50), batch_size=batch_size, backend=sg.Threads(1))


def test_a_member_without_probabilities_votes_for_the_class_that_it_predicts():
    stream = ArrayStream(np.ones((400, 1)), np.arange(400) % 2)  # GaussianNB gives NaN for a constant column
    results = sg.evaluate(stream, SEAEnsemble(GaussianNB(), chunk_size=50), backend=sg.Threads(1))
    assert results.values[-1].item() > 0.4


@pytest.mark.parametrize(
    "spec",
    [
        SEAEnsemble(GaussianNB()),
        OzaBag(GaussianNB()),
        Encoded(GaussianNB(), impute=False),
        Refitted(OzaBag(GaussianNB())),
    ],
)
def test_missing_values_that_a_member_does_not_take_are_refused_before_the_first_row(spec: LearnerSpec):
    x = np.random.default_rng(1).random((300, 2))
    x[250, 1] = np.nan
    with pytest.raises(StreamgaugeError, match=r"GaussianNB takes no missing values, and the column .* has some: use"):
        sg.evaluate(ArrayStream(x, np.arange(300) % 2), spec)
