"""Schemes say which rows are tested and learnt, and never leak."""

import numpy as np
import pytest

from streamgauge.checks import check_scheme
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Batch
from streamgauge.schemes import Bootstrap, CrossValidation, Prequential, Split, TestMode

MODES: tuple[TestMode, ...] = ("all", "training", "held_out")
FOLDED = [kind(5, test=mode) for kind in (CrossValidation, Split, Bootstrap) for mode in MODES]
ALL = [Prequential(), Prequential(test="training"), *FOLDED]


def batch_of(n: int, start: int = 0) -> Batch:
    return Batch(start, np.zeros((n, 1)), np.zeros(n, dtype=np.int32))


@pytest.mark.parametrize("scheme", ALL, ids=repr)
def test_a_memoriser_on_random_labels_scores_chance(scheme):
    check_scheme(scheme)


@pytest.mark.parametrize("scheme", FOLDED, ids=repr)
def test_a_fold_tests_the_rows_that_its_mode_names(scheme):
    for fold in range(scheme.n_folds):
        step = scheme.step(batch_of(1000), fold, seed=3)
        learnt = step.weight > 0
        expected = {"all": None, "training": learnt, "held_out": ~learnt}[scheme.test]
        if expected is None:
            assert step.test is None
        else:
            np.testing.assert_array_equal(step.test, expected)


@pytest.mark.parametrize("scheme", ALL, ids=repr)
def test_a_step_does_not_depend_on_how_the_rows_are_cut_into_batches(scheme):
    whole = scheme.step(batch_of(300), fold=scheme.n_folds - 1, seed=9)
    parts = [scheme.step(batch_of(100, start), fold=scheme.n_folds - 1, seed=9) for start in (0, 100, 200)]
    for column in ("test", "weight"):
        if getattr(whole, column) is not None:
            np.testing.assert_array_equal(
                getattr(whole, column), np.concatenate([getattr(part, column) for part in parts])
            )


def test_cross_validation_leaves_each_row_out_of_one_random_fold():
    weights = np.array([CrossValidation(10).step(batch_of(5000), fold, seed=1).weight for fold in range(10)])
    assert (weights.sum(axis=0) == 9).all()
    out = weights.argmin(axis=0)
    assert not np.array_equal(out[:10], np.arange(10))  # at random, not in turn
    assert np.abs(np.bincount(out, minlength=10) - 500).max() < 5 * np.sqrt(450)


def test_split_gives_each_row_to_one_fold():
    weights = np.array([Split(10).step(batch_of(5000), fold, seed=1).weight for fold in range(10)])
    assert (weights.sum(axis=0) == 1).all()


def test_bootstrap_folds_are_independent_of_each_other():
    weights = np.array([Bootstrap(4).step(batch_of(100_000), fold, seed=1).weight for fold in range(4)])
    correlations = np.corrcoef(weights)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(100_000)


@pytest.mark.parametrize("kind", [CrossValidation, Split, Bootstrap])
@pytest.mark.parametrize("k", [1, 0, -3, 2.0, True])
def test_fewer_than_two_folds_are_refused(kind, k):
    with pytest.raises(StreamgaugeError, match="k = "):
        kind(k)


def test_an_unknown_test_mode_is_refused_with_the_nearest():
    with pytest.raises(StreamgaugeError, match="did you mean held_out"):
        Bootstrap(3, test="heldout")  # type: ignore[arg-type]


def test_prequential_has_nothing_to_hold_out():
    with pytest.raises(StreamgaugeError, match="would test none"):
        Prequential(test="held_out")
