"""Native learners: the contract, and their numbers against independent implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge import _native
from streamgauge.checks import check_learner
from streamgauge.checks.learners import sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import (
    ExtremelyFastDecisionTree,
    HoeffdingAdaptiveTree,
    HoeffdingTree,
    KNearestNeighbours,
    LogisticRegression,
    MajorityClass,
    Memoriser,
    NaiveBayes,
    NoChange,
    NoiseFilter,
    Perceptron,
    RandomGuess,
)
from streamgauge.protocols import LearnerSpec
from streamgauge.records import ABSTAINED, Attribute, Batch, Schema, Step
from streamgauge.streams import RandomRBF

NATIVE: list[LearnerSpec] = [
    ExtremelyFastDecisionTree(),
    HoeffdingAdaptiveTree(),
    HoeffdingTree(),
    KNearestNeighbours(),
    LogisticRegression(),
    MajorityClass(),
    Memoriser(),
    NaiveBayes(),
    NoChange(),
    NoiseFilter(HoeffdingTree(), p=0.3),
    Perceptron(),
    RandomGuess(),
]
SPECS: list[LearnerSpec] = [
    *NATIVE,
    KNearestNeighbours(k=3, window=40),
    LogisticRegression(l2=0.1, classes="one_vs_rest", standardise=False),
    MajorityClass(window=30),
    NoiseFilter(Memoriser(), p=1.0),
    Perceptron(standardise=False),
    HoeffdingTree(grace_period=20, tie_threshold=0.5),
    HoeffdingTree(grace_period=20, tie_threshold=0.5, leaf_prediction="majority"),
    HoeffdingTree(grace_period=20, tie_threshold=0.5, leaf_prediction="naive_bayes", binary_splits=True),
    HoeffdingTree(grace_period=20, tie_threshold=0.5, split_criterion="gini", remove_poor_attributes=True),
    HoeffdingTree(grace_period=20, tie_threshold=0.5, split_criterion="hellinger"),
    HoeffdingAdaptiveTree(grace_period=20, tie_threshold=0.5, delta=0.5),
    ExtremelyFastDecisionTree(grace_period=20, tie_threshold=0.5, revision_period=10),
]


def schema_of(n_numeric: int, n_classes: int, n_values: tuple[int, ...] = (), *, missing: bool = False) -> Schema:
    numeric = [Attribute(f"x{i}", missing=missing) for i in range(n_numeric)]
    nominal = [Attribute(f"n{i}", tuple(map(str, range(n))), missing) for i, n in enumerate(n_values)]
    return Schema((*numeric, *nominal), tuple(map(str, range(n_classes))))


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_learner_keeps_its_contract(spec: LearnerSpec):
    check_learner(spec)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize(
    "schema",
    [
        schema_of(10, 2),
        schema_of(1, 1),
        schema_of(17, 5, missing=True),
        schema_of(0, 3, (2, 30), missing=True),
        schema_of(300, 2),
        schema_of(3, 60),
    ],
    ids=["numbers", "one class", "gaps", "nominal", "wide", "many classes"],
)
def test_a_learner_keeps_its_contract_on_odd_schemas(spec: LearnerSpec, schema: Schema):
    check_learner(spec, schema, n_rows=150)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 20),
    st.integers(1, 8),
    st.lists(st.integers(1, 6), max_size=4),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_a_tree_keeps_its_contract_on_any_schema(n_numeric, n_classes, n_values, missing, seed):
    spec = HoeffdingTree(grace_period=10, tie_threshold=0.8)
    check_learner(spec, schema_of(n_numeric, n_classes, tuple(n_values), missing=missing), n_rows=80, seed=seed)


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_instruction_set_gives_the_same_bits(spec: LearnerSpec):
    stream = RandomRBF()
    batch = next(stream.batches(20_000))
    before = _native.instruction_set()
    outcomes = []
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            learner = spec.build(stream.schema, 1)
            predictions, votes = learner.interleave(Step(batch), with_votes=True)
            assert votes is not None
            outcomes.append((predictions.tobytes(), votes.tobytes(), learner.save()))
    finally:
        _native.use_instruction_set(before)
    assert all(outcome == outcomes[0] for outcome in outcomes)


def test_weight_two_equals_two_copies():
    schema = schema_of(4, 3, (5,))
    batch = sample_batch(schema, 400)
    once, twice = NaiveBayes().build(schema, 1), NaiveBayes().build(schema, 1)
    once.learn(batch.x, batch.y, np.full(400, 2.0))
    twice.learn(np.repeat(batch.x, 2, axis=0), np.repeat(batch.y, 2), None)
    np.testing.assert_allclose(once.predict(batch.x), twice.predict(batch.x), rtol=1e-9)


def test_likelihoods_too_small_for_a_product_are_still_compared():
    schema = schema_of(400, 2)
    rng = np.random.default_rng(1)
    y = np.arange(200, dtype=np.int32) % 2
    x = rng.normal(size=(200, 400)) * 1e3 + y[:, np.newaxis]
    x[100:] += 1e5
    learner = NaiveBayes().build(schema, 1)
    learner.learn(x[:100], y[:100], None)
    votes = learner.predict(x)
    np.testing.assert_allclose(votes.sum(axis=1), 1.0)


def test_a_learner_that_knows_nothing_abstains_and_one_that_rules_all_out_follows_the_weights():
    schema = schema_of(1, 2)
    learner = NaiveBayes().build(schema, 1)
    assert learner.predict(np.zeros((1, 1))).tolist() == [[0.0, 0.0]]
    learner.learn(np.array([[1.0], [1.0], [2.0]]), np.array([1, 1, 0], dtype=np.int32), None)
    np.testing.assert_allclose(learner.predict(np.array([[3.0]])), [[1 / 3, 2 / 3]])
    np.testing.assert_allclose(learner.predict(np.array([[2.0]])), [[1.0, 0.0]])


def test_a_tree_learns_what_naive_bayes_cannot():
    rng = np.random.default_rng(1)
    x = rng.random((40_000, 2))
    y = ((x[:, 0] > 0.3) ^ (x[:, 1] > 0.6)).astype(np.int32)
    schema, step = schema_of(2, 2), Step(Batch(0, x, y))
    tree, bayes = HoeffdingTree().build(schema, 1), NaiveBayes().build(schema, 1)
    hits = [
        np.mean(learner.interleave(step, with_votes=False)[0][-10_000:] == y[-10_000:]) for learner in (tree, bayes)
    ]
    assert hits[0] > 0.95
    assert hits[1] < 0.8
    assert tree.facts["n_leaves"] > 3
    assert tree.facts["n_nodes"] == 2 * tree.facts["n_leaves"] - 1


def test_a_nominal_attribute_splits_into_its_values_or_into_one_and_the_rest():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 5, (5_000, 2)).astype(float)
    y = (x[:, 0] % 3).astype(np.int32)
    schema = schema_of(0, 3, (5, 5))
    many, binary = HoeffdingTree().build(schema, 1), HoeffdingTree(binary_splits=True).build(schema, 1)
    for tree in (many, binary):
        predictions, _ = tree.interleave(Step(Batch(0, x, y)), with_votes=False)
        assert np.mean(predictions[-1_000:] == y[-1_000:]) > 0.99
    assert many.facts == {"n_nodes": 6, "n_leaves": 5, "n_frozen": 0, "depth": 1}
    assert binary.facts["n_nodes"] == 2 * binary.facts["n_leaves"] - 1


def test_an_attribute_that_cannot_split_is_not_split_again_and_again():
    y = np.arange(100_000, dtype=np.int32) % 2
    x = np.zeros((len(y), 1))
    x[:50_000, 0] = y[:50_000]
    tree = HoeffdingTree().build(schema_of(0, 2, (2,)), 1)
    tree.learn(x, y, None)
    assert tree.facts["depth"] == 1


def test_a_value_never_seen_before_the_split_gets_the_majority_of_its_parent():
    y = np.tile(np.array([0, 0, 1], dtype=np.int32), 1_000)
    x = np.where(y == 1, 0.0, 1.0)[:, np.newaxis]
    tree = HoeffdingTree().build(schema_of(0, 2, (3,)), 1)
    tree.learn(x, y, None)
    assert tree.facts["n_leaves"] == 3
    assert tree.predict(np.array([[2.0]])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"grace_period": 0}, "grace_period = 0"),
        ({"grace_period": 1.5}, "grace_period = 1.5"),
        ({"split_confidence": 0.0}, "split_confidence = 0.0"),
        ({"tie_threshold": -0.1}, "tie_threshold = -0.1"),
        ({"leaf_prediction": "adaptativ"}, "did you mean adaptive"),
        ({"max_bytes": 0}, "max_bytes = 0"),
        ({"max_bytes": "senzor"}, "did you mean sensor"),
        ({"split_criterion": "entropy"}, "there is no split_criterion 'entropy'"),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(options, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        HoeffdingTree(**options)


@pytest.mark.parametrize("spec", NATIVE, ids=str)
def test_labels_and_weights_that_cannot_be_learnt_are_refused(spec: LearnerSpec):
    learner, x = spec.build(schema_of(1, 2), 1), np.zeros((2, 1))
    with pytest.raises(ValueError, match="row 1: label 2 is not a class code"):
        learner.learn(x, np.array([0, 2], dtype=np.int32), None)
    with pytest.raises(ValueError, match="row 0: weight -1 is not"):
        learner.learn(x, np.array([0, 1], dtype=np.int32), np.array([-1.0, 1.0]))
    with pytest.raises(ValueError, match="x has 2 values where 4 are needed"):
        spec.build(schema_of(2, 2), 1).learn(x, np.array([0, 1], dtype=np.int32), None)


@pytest.mark.parametrize("spec", NATIVE, ids=str)
def test_a_state_of_something_else_is_refused(spec: LearnerSpec):
    schema = schema_of(3, 2)
    learner = spec.build(schema, 1)
    learner.learn(np.ones((5, 3)), np.zeros(5, dtype=np.int32), None)
    state = learner.save()
    damaged = bytearray(state)
    damaged[len(state) // 2] ^= 1
    others = [other.build(schema, 1).save() for other in NATIVE if other is not spec]
    for bad in (bytes(damaged), state[:-3], state + b"\0", b"nonsense", *others):
        with pytest.raises(ValueError, match="not a saved"):
            learner.load(bad)
    assert learner.save() == state


def test_untested_rows_are_learnt_and_not_predicted():
    batch = sample_batch(schema_of(2, 2), 200)
    tree = HoeffdingTree().build(schema_of(2, 2), 1)
    predictions, _ = tree.interleave(Step(batch, test=np.arange(200) >= 100), with_votes=False)
    assert (predictions[:100] == ABSTAINED).all()
    assert (predictions[100:] != ABSTAINED).all()
