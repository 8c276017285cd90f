"""The sums that comparisons are made of, against their definition."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.records import PairSums

Bools = NDArray[np.bool_]


def reference(correct: Bools, scored: Bools | None, first: int, second: int) -> PairSums:
    """Compute the sums of a pair by their definition."""
    seen = np.ones(correct.shape[1:], dtype=bool) if scored is None else scored
    d = (correct[first].astype(int) - correct[second].astype(int)) * seen
    folds = seen.sum(axis=0)
    by_count = [int((d.sum(axis=0)[folds == c] ** 2).sum()) for c in range(len(seen) + 1)]
    return PairSums(
        "first",
        "second",
        int((folds > 0).sum()),
        seen.sum(axis=1),
        (d > 0).sum(axis=1),
        (d < 0).sum(axis=1),
        sum(by_count[c] / c**2 for c in range(1, len(seen) + 1)),
        bool(seen[:, folds > 0].all()),
    )


def draw_batch(m: int, k: int, n: int, *, masked: bool, seed: int) -> tuple[Bools, Bools | None]:
    random = np.random.default_rng(seed)
    correct = random.random((m, k, n)) < random.random((m, 1, 1))
    scored = random.random((k, n)) < random.choice([0.1, 0.5, 1.0]) if masked else None
    return correct, scored


def counted(correct: Bools, scored: Bools | None, cuts: list[int]) -> _native.PairCounter:
    m, k, n = correct.shape
    counter = _native.PairCounter(m, k)
    bounds = [0, *sorted(min(cut, n) for cut in cuts), n]
    for start, stop in pairwise(bounds):
        part = None if scored is None else np.ascontiguousarray(scored[:, start:stop])
        counter.update(np.ascontiguousarray(correct[:, :, start:stop]), part)
    return counter


shapes = st.tuples(st.integers(2, 5), st.integers(1, 12), st.integers(0, 400))


@given(shapes, st.booleans(), st.integers(0, 2**32))
@settings(deadline=None)
def test_the_sums_of_each_pair_equal_their_definition(shape: tuple[int, int, int], masked: bool, seed: int) -> None:
    correct, scored = draw_batch(*shape, masked=masked, seed=seed)
    counter = counted(correct, scored, [])
    for first in range(shape[0]):
        for second in range(shape[0]):
            if first == second:
                continue
            found = PairSums("first", "second", *counter.sums(first, second))
            expected = reference(correct, scored, first, second)
            assert found.n_rows == expected.n_rows
            assert found.crossed == expected.crossed
            assert found.sum_squared_means == pytest.approx(expected.sum_squared_means, rel=1e-14)
            for name in ("n_scored", "only_first", "only_second"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
            assert found.block_scored.sum() == expected.n_scored.sum()
            assert found.block_sums.sum() == (expected.only_first - expected.only_second).sum()


@given(shapes, st.booleans(), st.lists(st.integers(0, 400), max_size=8), st.integers(0, 2**32))
@settings(deadline=None)
def test_no_split_into_batches_changes_a_bit(
    shape: tuple[int, int, int], masked: bool, cuts: list[int], seed: int
) -> None:
    correct, scored = draw_batch(*shape, masked=masked, seed=seed)
    assert counted(correct, scored, cuts).save() == counted(correct, scored, []).save()


@pytest.mark.parametrize("masked", [False, True])
def test_long_batches_rows_one_by_one_and_a_restart_agree_on_every_instruction_set(masked: bool) -> None:
    correct, scored = draw_batch(3, 10, 5000, masked=masked, seed=1)
    before = _native.instruction_set()
    states = set()
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            for cuts in ([], [77, 1024, 4096], list(range(5000))):
                states.add(counted(correct, scored, cuts).save())
    finally:
        _native.use_instruction_set(before)
    resumed = _native.PairCounter(3, 10)
    resumed.load(counted(correct[:, :, :3000], None if scored is None else scored[:, :3000], []).save())
    resumed.update(correct, scored, 3000)
    states.add(resumed.save())
    assert len(states) == 1


def test_sums_can_be_read_at_a_row_inside_a_batch() -> None:
    correct, scored = draw_batch(2, 4, 300, masked=True, seed=3)
    assert scored is not None
    counter = _native.PairCounter(2, 4)
    counter.update(correct, scored, 0, 123)
    assert counter.save() == counted(correct[:, :, :123], scored[:, :123], []).save()
    counter.update(correct, scored, 123, 300)
    assert counter.save() == counted(correct, scored, []).save()


def test_memory_does_not_grow_with_the_stream() -> None:
    correct, _ = draw_batch(4, 10, 4096, masked=False, seed=1)
    counter = _native.PairCounter(4, 10)
    counter.update(correct)
    before = counter.n_bytes
    for _ in range(100):
        counter.update(correct)
    assert counter.n_bytes <= 2 * before
    assert 32 <= len(counter.sums(0, 1)[-1]) <= 64


def test_what_does_not_fit_is_refused_with_the_culprit() -> None:
    counter = _native.PairCounter(2, 3)
    with pytest.raises(ValueError, match="correct has 6 values where 12 are needed"):
        counter.update(np.zeros((1, 3, 2), dtype=bool))
    with pytest.raises(ValueError, match="scored has 2 values where 6 are needed"):
        counter.update(np.zeros((2, 3, 2), dtype=bool), np.zeros((1, 2), dtype=bool))
    with pytest.raises(ValueError, match="correct is not C-contiguous"):
        counter.update(np.zeros((2, 3, 4), dtype=bool)[:, :, ::2])
    with pytest.raises(ValueError, match="within the batch"):
        counter.update(np.zeros((2, 3, 4), dtype=bool), None, 2, 5)
    with pytest.raises(ValueError, match="compared with itself"):
        counter.sums(1, 1)
    with pytest.raises(ValueError, match="there are fewer learners"):
        counter.sums(0, 2)
    with pytest.raises(ValueError, match="not a saved PairCounter"):
        counter.load(b"nonsense")
    with pytest.raises(ValueError, match="n_folds = 256"):
        _native.PairCounter(2, 256)
