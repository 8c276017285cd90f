"""Baselines and wrappers: a window of the majority, guesses, what is known by heart, noise, a past."""

from collections import Counter

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import (
    HoeffdingTree,
    MajorityClass,
    Memoriser,
    NaiveBayes,
    NoChange,
    NoiseFilter,
    PretrainedModel,
    RandomGuess,
    ScikitLearn,
    SEAEnsemble,
)
from streamgauge.protocols import LearnerSpec
from streamgauge.records import ABSTAINED, Attribute, Batch, Schema, Step
from streamgauge.streams import ArrayStream, take, write


def labels_only(y: object) -> Step:
    column = np.asarray(y, dtype=np.int32)
    return Step(Batch(0, np.arange(float(len(column)))[:, np.newaxis], column))


def schema_of(n_classes: int) -> Schema:
    return Schema((Attribute("x"),), tuple(map(str, range(n_classes))))


def test_the_majority_of_a_window_is_that_of_the_rows_learnt_last():
    y = np.random.default_rng(1).integers(0, 4, 500)
    predictions, _ = MajorityClass(window=25).build(schema_of(4), 1).interleave(labels_only(y), with_votes=False)
    assert predictions[0] == ABSTAINED
    for i in range(1, 500):
        counts = Counter(y[max(0, i - 25) : i].tolist())
        assert predictions[i] == min(counts, key=lambda label: (-counts[label], label))


def test_a_window_as_long_as_the_stream_forgets_nothing():
    y = np.random.default_rng(2).integers(0, 3, 300)
    first, second = (
        MajorityClass(window).build(schema_of(3), 1).interleave(labels_only(y), with_votes=True)[1]
        for window in (None, 300)
    )
    np.testing.assert_array_equal(first, second)


def test_weights_that_no_sum_holds_exactly_leave_nothing_behind():
    learner = MajorityClass(window=10).build(schema_of(2), 1)
    weight = np.random.default_rng(3).random(100_000)
    learner.learn(np.zeros((100_000, 1)), np.zeros(100_000, dtype=np.int32), weight)
    learner.learn(np.zeros((10, 1)), np.ones(10, dtype=np.int32), weight[:10])
    votes = learner.predict(np.zeros((1, 1)))[0]
    assert votes[0] == 0.0
    np.testing.assert_allclose(votes[1], weight[:10].sum(), rtol=1e-14)


def test_guesses_have_the_frequencies_seen_so_far():
    rng = np.random.default_rng(4)
    y = rng.choice(3, size=30_000, p=[0.7, 0.2, 0.1]).astype(np.int32)
    predictions, _ = RandomGuess().build(schema_of(3), 1).interleave(labels_only(y), with_votes=False)
    np.testing.assert_allclose(np.bincount(predictions[1:]) / 29_999, [0.7, 0.2, 0.1], atol=0.01)
    # Guesses know nothing of the row: they are right as often as chance has it.
    assert abs(np.mean(predictions == y) - (0.49 + 0.04 + 0.01)) < 0.01


def test_guesses_of_other_seeds_are_others():
    step = labels_only(np.arange(2_000) % 2)
    first, second, third = (
        RandomGuess().build(schema_of(2), seed).interleave(step, with_votes=False)[0] for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert 0.4 < np.mean(first == third) < 0.6


def test_a_memoriser_knows_what_it_has_learnt_and_guesses_the_rest():
    rng = np.random.default_rng(5)
    x, y = rng.random((4_000, 3)), rng.integers(0, 2, 4_000).astype(np.int32)
    x[:, 1:][rng.random((4_000, 2)) < 0.1] = np.nan
    schema = Schema(tuple(Attribute(name, missing=True) for name in "abc"), ("no", "yes"))
    learner = Memoriser().build(schema, 1)
    predictions, _ = learner.interleave(Step(Batch(0, x, y)), with_votes=False)
    assert abs(np.mean(predictions == y) - 0.5) < 0.04
    assert np.array_equal(learner.predict(x).argmax(axis=1), y)
    assert learner.facts == {"n_rows": 4_000}


@pytest.mark.parametrize(
    ("base", "n_rows"),
    [(NoChange(), 40_000), (HoeffdingTree(), 40_000), (ScikitLearn(GaussianNB()), 400), (SEAEnsemble(), 10_000)],
    ids=["native", "tree", "scikit-learn", "chunks"],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_noise_changes_a_share_of_p_of_the_predictions_to_another_class(base: LearnerSpec, n_rows: int, n_classes: int):
    stream, p = sg.RandomRBF(n_classes=n_classes), 0.2
    step = Step(take(stream, n_rows))
    clean, changed, redrawn = (
        NoiseFilter(base, p=each, redraw=redraw).build(stream.schema, 1).interleave(step, with_votes=False)[0]
        for each, redraw in ((0.0, False), (p, False), (p, True))
    )
    known = clean != ABSTAINED
    assert (changed[~known] == ABSTAINED).all()
    differs, margin = (clean != changed)[known], 4 * np.sqrt(p / n_rows)
    assert abs(np.mean(differs) - p) < margin
    assert len(np.unique(changed[known][differs])) == n_classes
    a, a_changed, a_redrawn = (np.mean((column == step.batch.y)[known]) for column in (clean, changed, redrawn))
    # Bifet et al. 2015, section 4.1, with the share of the other classes that is right.
    assert abs(a_changed - (a * (1 - p) + (1 - a) * p / (n_classes - 1))) < margin
    assert abs(a_redrawn - (a * (1 - p) + p / n_classes)) < margin


def test_the_votes_of_a_noisy_learner_agree_with_its_predictions():
    step = Step(take(sg.RandomRBF(n_classes=3), 5_000))
    for p, redraw in ((0.5, False), (0.5, True), (1.0, False)):
        spec = NoiseFilter(HoeffdingTree(), p=p, redraw=redraw)
        predictions, votes = spec.build(sg.RandomRBF(n_classes=3).schema, 1).interleave(step, with_votes=True)
        clean, _ = HoeffdingTree().build(sg.RandomRBF(n_classes=3).schema, 1).interleave(step, with_votes=False)
        assert votes is not None
        known = predictions != ABSTAINED
        np.testing.assert_array_equal(votes.argmax(axis=1)[known], predictions[known])
        if p == 1.0:
            assert (predictions != clean)[known].all()


def test_noise_does_not_touch_what_is_learnt():
    batch = take(sg.SEA(), 20_000)
    tree = HoeffdingTree().build(sg.SEA().schema, 1)
    noisy = NoiseFilter(HoeffdingTree(), p=0.5).build(sg.SEA().schema, 1)
    for learner in (tree, noisy):
        learner.interleave(Step(batch), with_votes=False)
    assert noisy.facts == tree.facts
    assert noisy.n_bytes >= tree.n_bytes


def test_noise_that_never_strikes_leaves_the_learner_as_it_is():
    batch = take(sg.SEA(), 2_000)
    outcomes = [
        spec.build(sg.SEA().schema, 1).interleave(Step(batch), with_votes=True)[1]
        for spec in (NaiveBayes(), NoiseFilter(NaiveBayes(), p=0.0))
    ]
    assert outcomes[0] is not None
    assert outcomes[1] is not None
    np.testing.assert_array_equal(outcomes[0], outcomes[1])


def test_a_failing_learner_within_the_filter_raises_its_own_error():
    class Broken(GaussianNB):  # type: ignore[misc]
        def partial_fit(self, *_args: object, **_options: object) -> None:
            msg = "no more"
            raise RuntimeError(msg)

    with pytest.raises(StreamgaugeError, match="no more"):
        sg.evaluate(sg.SEA(n_rows=10), NoiseFilter(Broken()))


PAST = ArrayStream.from_batch(sample_batch(MIXED, 400, seed=9), MIXED)


def saved_tree() -> bytes:
    learner = HoeffdingTree(grace_period=20).build(MIXED, 1)
    batch = take(PAST, 400)
    learner.learn(batch.x, batch.y, batch.weight)
    return learner.save()


@pytest.mark.parametrize(
    "spec",
    [
        PretrainedModel(HoeffdingTree(grace_period=20), on=PAST),
        PretrainedModel(HoeffdingTree(grace_period=20), on=PAST, n_rows=150, frozen=False),
        PretrainedModel(HoeffdingTree(grace_period=20), state=saved_tree()),
        PretrainedModel(SEAEnsemble(chunk_size=30), on=PAST, frozen=False),
        NoiseFilter(PretrainedModel(NaiveBayes(), on=PAST), p=0.2),
        NoiseFilter(SEAEnsemble(chunk_size=30), p=0.2),
        SEAEnsemble(NoiseFilter(NaiveBayes(), p=0.2), chunk_size=30),
    ],
    ids=str,
)
def test_wrapped_learners_keep_the_contract(spec: LearnerSpec):
    check_learner(spec)


def test_a_past_is_learnt_from_a_stream_a_file_arrays_or_a_saved_state_alike(tmp_path):
    batch = take(sg.SEA(concept=2), 5_000)
    write(sg.SEA(concept=2, n_rows=5_000), tmp_path / "past.arff")
    learner = HoeffdingTree().build(sg.SEA().schema, 1)
    learner.learn(batch.x, batch.y, None)
    (tmp_path / "tree.state").write_bytes(learner.save())
    x = take(sg.SEA(), 100).x
    for spec in (
        PretrainedModel(HoeffdingTree(), on=sg.SEA(concept=2, n_rows=5_000)),
        PretrainedModel(HoeffdingTree(), on=sg.SEA(concept=2), n_rows=5_000),
        PretrainedModel(HoeffdingTree(), on=tmp_path / "past.arff"),
        PretrainedModel(HoeffdingTree(), on=str(tmp_path / "past.arff"), frozen=False),
        PretrainedModel(HoeffdingTree(), state=tmp_path / "tree.state"),
        PretrainedModel(HoeffdingTree(), state=learner.save()),
    ):
        np.testing.assert_array_equal(spec.build(sg.SEA().schema, 1).predict(x), learner.predict(x))


def test_a_frozen_learner_learns_no_more_and_another_does():
    batch = take(sg.SEA(), 2_000)
    for frozen in (True, False):
        learner = PretrainedModel(NaiveBayes(), on=sg.SEA(concept=3, n_rows=1_000), frozen=frozen).build(
            sg.SEA().schema, 1
        )
        before = learner.save()
        learner.interleave(Step(batch), with_votes=False)
        learner.learn(batch.x, batch.y, None)
        assert (learner.save() == before) is frozen


def test_rows_of_the_past_without_label_or_weight_are_left_out():
    batch = sample_batch(MIXED, 300)
    y, weight = batch.y.copy(), np.ones(300)
    y[::3], weight[1::3] = -1, 0.0
    past = ArrayStream.from_batch(Batch(0, batch.x, y, weight), MIXED)
    learner = NaiveBayes().build(MIXED, 1)
    learner.learn(batch.x[2::3].copy(), batch.y[2::3].copy(), None)
    trained = PretrainedModel(NaiveBayes(), on=past).build(MIXED, 1)
    np.testing.assert_array_equal(trained.predict(batch.x), learner.predict(batch.x))


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: MajorityClass(window=0), "window = 0"),
        (lambda: NoiseFilter(p=1.5), "p = 1.5"),
        (lambda: PretrainedModel(NaiveBayes()).build(MIXED, 1), "needs either on"),
        (lambda: PretrainedModel(NaiveBayes(), on=PAST, state=b""), "takes either on"),
        (lambda: PretrainedModel(NaiveBayes(), on=PAST, n_rows=0), "n_rows = 0"),
        (lambda: PretrainedModel(NaiveBayes(), on=sg.SEA()).build(sg.SEA().schema, 1), "never ends"),
        (lambda: PretrainedModel(NaiveBayes(), on=PAST).build(sg.SEA().schema, 1), "have the classes"),
        (
            lambda: PretrainedModel(NaiveBayes(), on=sg.SEA(n_rows=9)).build(sg.RandomRBF().schema, 1),
            "other attributes",
        ),
        (
            lambda: PretrainedModel(NaiveBayes(), state="not/there").build(MIXED, 1),
            "cannot read the saved learner not/there",
        ),
    ],
)
def test_a_mistake_is_reported_by_name(make, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        make()
