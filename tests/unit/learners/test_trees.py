"""Trees that keep to a budget of memory, watch their error or think again."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.checks import check_learner
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import ExtremelyFastDecisionTree, HoeffdingAdaptiveTree, HoeffdingTree
from streamgauge.learners.native import NativeLearner
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import SEA, RandomRBF, Waveform

EAGER: dict[str, Any] = {"grace_period": 20, "tie_threshold": 0.5}
KINDS = [HoeffdingTree, HoeffdingAdaptiveTree, ExtremelyFastDecisionTree]


FIELDS = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class Mallinfo(ctypes.Structure):
    """What glibc's allocator says of itself."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in FIELDS)


def allocated() -> int:
    """Return the bytes that are in use in this process, as the allocator counts them."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        pytest.skip("the C library has no mallinfo2")
    mallinfo2.restype = Mallinfo
    found = mallinfo2()
    return int(found.uordblks + found.hblkhd)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"max_bytes": 200_000}], ids=["free", "full"])
def test_a_tree_holds_the_bytes_it_says_it_holds(kind: Callable[..., LearnerSpec], options: dict[str, int]) -> None:
    stream = Waveform()
    step = Step(next(stream.batches(8_000)))
    learners = [kind(**EAGER, **options).build(stream.schema, 1) for _ in range(2)]
    learners[0].interleave(step, with_votes=False)  # what is made once is made here
    before = allocated() - learners[1].n_bytes
    learners[1].interleave(step, with_votes=False)
    held = allocated() - before
    said = learners[1].n_bytes
    # The allocator adds some bytes to each piece, and windows consist of small ones.
    assert said == pytest.approx(held, rel=0.05, abs=4_000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("max_bytes", "most"), [(100_000, 100_000), ("sensor", 2**18)])
def test_a_tree_is_within_its_budget_after_every_batch(
    kind: Callable[..., LearnerSpec], max_bytes: int | str, most: int
) -> None:
    stream = RandomRBF()
    spec = kind(**EAGER, max_bytes=max_bytes)
    tree = spec.build(stream.schema, 1)
    for batch, _ in zip(stream.batches(97), range(100), strict=False):
        tree.learn(batch.x, batch.y, None)
        assert tree.n_bytes <= most


def test_sizes_have_names() -> None:
    sizes = {"sensor": 256 * 2**10, "handheld": 32 * 2**20, "server": 4 * 2**30}
    for name, size in sizes.items():
        assert HoeffdingTree(max_bytes=name).n_bytes_allowed == size  # type: ignore[arg-type]


def test_a_budget_without_room_for_a_leaf_is_refused_with_the_bytes_it_takes() -> None:
    with pytest.raises(ValueError, match="max_bytes = 1000 for a schema that needs"):
        HoeffdingTree(max_bytes=1_000).build(SEA().schema, 1)


def test_a_full_tree_freezes_leaves_and_is_better_than_one_that_cannot_grow() -> None:
    stream = RandomRBF()
    batch = next(stream.batches(50_000))
    accuracy = {}
    for max_bytes in (16_000, 25_000, 2**25):
        tree = HoeffdingTree(max_bytes=max_bytes).build(stream.schema, 1)
        predictions, _ = tree.interleave(Step(batch), with_votes=False)
        accuracy[max_bytes] = np.mean(predictions[25_000:] == batch.y[25_000:])
        assert (tree.facts["n_frozen"] > 0) == (max_bytes < 2**25)
        assert tree.facts["n_leaves"] > 10
    assert accuracy[16_000] < accuracy[25_000] <= accuracy[2**25]
    assert accuracy[25_000] > accuracy[2**25] - 0.1


MIXED = Schema(
    (Attribute("a"), Attribute("b", ("x", "y", "z"), missing=True), Attribute("c", missing=True)), ("p", "q", "r")
)


@pytest.mark.parametrize("max_bytes", [9_000, 10_000, 12_000, 15_000])
@pytest.mark.parametrize("poor", [False, True])
def test_a_tree_that_freezes_and_thaws_keeps_its_contract(max_bytes: int, poor: bool) -> None:
    check_learner(HoeffdingTree(**EAGER, max_bytes=max_bytes, remove_poor_attributes=poor), MIXED, n_rows=1_500)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 12), st.integers(2, 5), st.integers(0, 2**32), st.sampled_from(KINDS))
def test_trees_keep_their_contract_on_any_schema(n_numeric, n_classes, seed, kind):
    schema = Schema(
        (*(Attribute(f"x{i}", missing=i == 1) for i in range(n_numeric)), Attribute("n", ("a", "b"))),
        tuple(map(str, range(n_classes))),
    )
    check_learner(kind(**EAGER), schema, n_rows=200, seed=seed)


def hits_after(learner: NativeLearner, batch: Batch, row: int) -> float:
    predictions, _ = learner.interleave(Step(batch), with_votes=False)
    return float(np.mean(predictions[row:] == batch.y[row:]))


def test_an_adaptive_tree_recovers_from_a_drift() -> None:
    rows = next(SEA().batches(20_000))
    turned = np.where(np.arange(20_000) < 10_000, rows.y, 1 - rows.y).astype(np.int32)
    batch = Batch(0, rows.x, turned)
    plain = hits_after(HoeffdingTree().build(SEA().schema, 1), batch, 12_000)
    tree = HoeffdingAdaptiveTree().build(SEA().schema, 1)
    assert hits_after(tree, batch, 12_000) > plain + 0.03
    assert tree.facts["n_switched"] > 0


def test_random_weights_are_decided_by_the_seed_and_can_be_left_out() -> None:
    batch = next(SEA().batches(5_000))

    def votes(seed: int, *, bootstrap: bool) -> bytes:
        tree = HoeffdingAdaptiveTree(bootstrap=bootstrap).build(SEA().schema, seed)
        tree.learn(batch.x, batch.y, None)
        return tree.predict(batch.x).tobytes()

    assert votes(1, bootstrap=True) == votes(1, bootstrap=True) != votes(2, bootstrap=True)
    assert votes(1, bootstrap=False) == votes(2, bootstrap=False)
    assert HoeffdingAdaptiveTree(bootstrap=False).seedless
    assert not HoeffdingAdaptiveTree().seedless


def test_a_fast_tree_splits_earlier() -> None:
    stream = RandomRBF()
    batch = next(stream.batches(20_000))
    fast, slow = ExtremelyFastDecisionTree().build(stream.schema, 1), HoeffdingTree().build(stream.schema, 1)
    for tree in (fast, slow):
        tree.learn(batch.x, batch.y, None)
    assert fast.facts["n_leaves"] > slow.facts["n_leaves"]


@pytest.mark.parametrize(
    ("kind", "options", "culprit"),
    [
        (HoeffdingAdaptiveTree, {"delta": 1.0}, "delta = 1.0"),
        (HoeffdingAdaptiveTree, {"grace_period": 0}, "grace_period = 0"),
        (ExtremelyFastDecisionTree, {"revision_period": 0}, "revision_period = 0"),
        (ExtremelyFastDecisionTree, {"max_bytes": -1}, "max_bytes = -1"),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(kind, options, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        kind(**options)
