"""AdaptiveRandomForest and StreamingRandomPatches: the contract, what makes them adaptive, and MOA beside them.

Single predictions cannot agree with MOA's: its random numbers are others. What is compared is accuracy. All trees of
MOA draw their attributes from the same seed, so that they begin alike; ours have a seed each.
"""

import ctypes
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from streamgauge import _native
from streamgauge.checks import check_learner
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree, NaiveBayes, ScikitLearn, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import SEA, RandomRBF

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]

SPECS: list[LearnerSpec] = [
    AdaptiveRandomForest(3),
    AdaptiveRandomForest(2, subspace="sqrt", warning_delta=0.9, drift_delta=0.8, grace_period=5, tie_threshold=0.9),
    AdaptiveRandomForest(2, subspace=1, drift_delta=None, weighted_votes=False, leaf_prediction="majority"),
    AdaptiveRandomForest(2, subspace=99, warning_delta=None, leaf_prediction="naive_bayes", mean_weight=0.5),
    StreamingRandomPatches(3),
    StreamingRandomPatches(2, NaiveBayes(), "subspaces", warning_delta=0.9, drift_delta=0.8),
    StreamingRandomPatches(2, HoeffdingTree(grace_period=10), "resampling", drift_delta=0.9),
    StreamingRandomPatches(2, AdaptiveRandomForest(2), subspace=2),
]
"""Some with windows so nervous that they warn and renew within a few hundred rows."""


def schema_of(n_numeric: int, n_classes: int, n_values: tuple[int, ...] = (), *, missing: bool = False) -> Schema:
    numeric = [Attribute(f"x{i}", missing=missing) for i in range(n_numeric)]
    nominal = [Attribute(f"n{i}", tuple(map(str, range(n))), missing) for i, n in enumerate(n_values)]
    return Schema((*numeric, *nominal), tuple(map(str, range(n_classes))))


def rows_of(stream: Stream, n_rows: int) -> Rows:
    batch = next(stream.batches(n_rows))
    return stream.schema, batch.x, batch.y


def switching(n_rows: int = 6_000) -> Rows:
    """A class that turns round in the middle of the stream."""
    rng = np.random.default_rng(5)
    x = rng.random((n_rows, 6))
    y = ((x[:, 0] + x[:, 1] > 1.0) ^ (np.arange(n_rows) >= n_rows // 2)).astype(np.int32)
    return schema_of(6, 2), x, y


def predictions(spec: LearnerSpec, rows: Rows, seed: int = 1) -> NDArray[np.int32]:
    schema, x, y = rows
    return spec.build(schema, seed).interleave(Step(Batch(0, x, y)), with_votes=False)[0]


def accuracy(spec: LearnerSpec, rows: Rows, seed: int = 1, *, start: int = 0) -> float:
    return float((predictions(spec, rows, seed) == rows[2])[start:].mean())


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_a_forest_keeps_its_contract(spec: LearnerSpec):
    check_learner(spec)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@pytest.mark.parametrize(
    "schema",
    [
        schema_of(10, 2),
        schema_of(1, 1),
        schema_of(19, 4, missing=True),
        schema_of(0, 3, (2, 30), missing=True),
        schema_of(60, 2, (3,)),
        schema_of(3, 40),
    ],
    ids=["numbers", "one class", "gaps", "nominal", "wide", "many classes"],
)
def test_a_forest_keeps_its_contract_on_odd_schemas(spec: LearnerSpec, schema: Schema):
    check_learner(spec, schema, n_rows=120)


def test_members_may_be_learners_of_another_library():
    spec = StreamingRandomPatches(2, GaussianNB())
    assert isinstance(spec.base, ScikitLearn)
    assert accuracy(spec, rows_of(SEA(), 500)) > 0.7


@pytest.mark.parametrize("spec", [AdaptiveRandomForest(3), StreamingRandomPatches(3)], ids=str)
def test_every_instruction_set_gives_the_same_bits(spec: LearnerSpec):
    schema, x, y = switching()
    before = _native.instruction_set()
    outcomes = []
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            learner = spec.build(schema, 1)
            predicted, votes = learner.interleave(Step(Batch(0, x, y)), with_votes=True)
            assert votes is not None
            outcomes.append((predicted.tobytes(), votes.tobytes(), learner.save()))
    finally:
        _native.use_instruction_set(before)
    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.parametrize("kind", [AdaptiveRandomForest, StreamingRandomPatches])
def test_members_give_way_after_a_drift(kind: type[AdaptiveRandomForest] | type[StreamingRandomPatches]):
    rows = switching()
    learner = kind(5).build(rows[0], 1)
    learner.interleave(Step(Batch(0, *rows[1:])), with_votes=False)
    assert learner.facts["n_drifts"] >= 3
    assert accuracy(kind(5), rows, start=4_000) > accuracy(kind(5, drift_delta=None), rows, start=4_000) + 0.005


def test_a_background_tree_has_learnt_when_it_takes_over():
    rows = switching()
    with_background = np.mean([accuracy(AdaptiveRandomForest(5), rows, seed, start=3_000) for seed in range(8)])
    without = [accuracy(AdaptiveRandomForest(5, warning_delta=None), rows, seed, start=3_000) for seed in range(8)]
    assert with_background > np.mean(without) - 0.002


def test_seeds_differ_and_repeat():
    rows = rows_of(RandomRBF(), 3_000)
    spec = AdaptiveRandomForest(3)
    np.testing.assert_array_equal(predictions(spec, rows, 1), predictions(spec, rows, 1))
    assert (predictions(spec, rows, 1) != predictions(spec, rows, 2)).any()


def test_the_memory_reported_grows_with_the_trees_and_shrinks_with_their_subspace():
    rows = rows_of(RandomRBF(), 20_000)

    def n_bytes(spec: AdaptiveRandomForest) -> int:
        learner = spec.build(rows[0], 1)
        learner.interleave(Step(Batch(0, *rows[1:])), with_votes=False)
        return learner.n_bytes

    assert n_bytes(AdaptiveRandomForest(6)) > 1.5 * n_bytes(AdaptiveRandomForest(3))
    assert n_bytes(AdaptiveRandomForest(3, subspace=4)) < n_bytes(AdaptiveRandomForest(3, subspace=10))


class Mallinfo(ctypes.Structure):
    """What glibc tells of the memory that was handed out."""

    _names = ("arena", "chunks", "fast_chunks", "maps", "mapped", "most", "fast", "used", "free", "top")
    _fields_: ClassVar = [(name, ctypes.c_size_t) for name in _names]


def bytes_in_use() -> int:
    """Ask the allocator how many bytes are in use."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        pytest.skip("the allocator does not tell how much it has handed out")
    mallinfo.restype = Mallinfo
    usage = mallinfo()
    return int(usage.used + usage.mapped)


@pytest.mark.parametrize("spec", [AdaptiveRandomForest(5), StreamingRandomPatches(5)], ids=str)
def test_the_memory_reported_is_what_the_allocator_has_handed_out(spec: LearnerSpec):
    schema, x, y = rows_of(RandomRBF(), 20_000)
    step = Step(Batch(0, x, y))
    before = bytes_in_use()
    learner = spec.build(schema, 1)
    learner.interleave(step, with_votes=False)
    taken = bytes_in_use() - before
    assert learner.n_bytes == pytest.approx(taken, rel=0.05, abs=50_000)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"n_members": 0}, "n_members = 0"),
        ({"subspace": 0}, "subspace = 0"),
        ({"subspace": "log"}, "subspace = 'log'"),
        ({"mean_weight": 0.0}, "mean_weight"),
        ({"warning_delta": 1.0}, "warning_delta"),
        ({"drift_delta": 0.0}, "drift_delta"),
    ],
)
@pytest.mark.parametrize("kind", [AdaptiveRandomForest, StreamingRandomPatches])
def test_an_option_outside_its_range_is_refused_by_name(kind, options, complaint):
    with pytest.raises(StreamgaugeError, match=complaint):
        kind(**options)


def test_what_a_tree_or_the_patches_do_not_know_is_refused_by_name():
    with pytest.raises(StreamgaugeError, match="grace_period"):
        AdaptiveRandomForest(grace_period=0)
    with pytest.raises(StreamgaugeError, match="pages"):
        StreamingRandomPatches(patches="pages")  # type: ignore[arg-type]
