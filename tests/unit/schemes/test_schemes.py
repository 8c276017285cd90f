"""Schemes say which rows are tested and learnt, and never leak."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from streamgauge.checks import check_labelling, check_scheme
from streamgauge.checks.schemes import make_noise
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, DelayedByColumn, DelayedByTime, First, Fraction
from streamgauge.records import Arrivals, Batch, Step
from streamgauge.schemes import (
    BatchCrossValidation,
    Bootstrap,
    Chunks,
    CrossValidation,
    Holdout,
    Prequential,
    Pretrained,
    Split,
    TestMode,
    TrainThenTest,
    WarmUp,
)
from streamgauge.streams import take

NOISE = make_noise(AllLabels(), 10_000, seed=99)

MODES: tuple[TestMode, ...] = ("all", "training", "held_out")
FOLDED = [kind(5, test=mode) for kind in (CrossValidation, Split, Bootstrap) for mode in MODES]
ALL = [Prequential(), Prequential(test="training"), *FOLDED]
OTHERS = [
    BatchCrossValidation(3, 2),
    Chunks(60),
    Chunks((1, 20, 7), scheme=Bootstrap(2)),
    Holdout(100, 50),
    Holdout(100, 50, refreshed=True),
    Holdout(100, 50, source=NOISE, refreshed=True),
    Pretrained(100),
    Pretrained(100, scheme=Split(2, test="held_out")),
    Pretrained(100, scheme=Holdout(50, 20, refreshed=True)),
    TrainThenTest(125),
    WarmUp(50, scheme=Chunks(50)),
]
LABELLINGS = [
    AllLabels(),
    Fraction(0.4),
    Fraction((0.2, 0.9)),
    First(75),
    First(0),
    Delayed(37),
    Delayed(20, of=Fraction(0.5)),
    DelayedAtRandom(30),
    DelayedAtRandom(30, "geometric"),
    DelayedByTime(12.5),
    DelayedByColumn("delay"),
    DelayedByColumn("delay", "seconds"),
]


def batch_of(n: int, start: int = 0) -> Batch:
    return Batch(start, np.zeros((n, 1)), np.zeros(n, dtype=np.int32))


@pytest.mark.parametrize("scheme", [*ALL, *OTHERS], ids=repr)
def test_a_memoriser_on_random_labels_scores_chance(scheme):
    check_scheme(scheme, n_rows=500)


@pytest.mark.parametrize("labelling", LABELLINGS, ids=repr)
def test_every_labelling_keeps_its_contract(labelling):
    check_labelling(labelling, n_rows=300)


@pytest.mark.parametrize("labelling", LABELLINGS, ids=repr)
@pytest.mark.parametrize(
    "scheme", [Prequential(), CrossValidation(2), Bootstrap(2, test="training"), *OTHERS], ids=repr
)
def test_a_memoriser_scores_chance_in_every_scheme_with_every_labelling(scheme, labelling):
    check_scheme(scheme, labelling, n_rows=150)
    if labelling in (Delayed(37), Fraction(0.4)):
        for score in ("last", "labelled"):
            check_scheme(scheme, labelling, score=score, n_rows=150)


@dataclass(frozen=True)
class Leaky:
    """Tests a row once more after it was learnt."""

    n_folds: ClassVar[int] = 1

    def step(self, batch, _fold, _seed):
        return Step(batch)

    def inserted_tests(self, start, stop):
        rows = take(make_noise(AllLabels(), 1000, seed=1), 1000)
        return [(row, Batch(row, rows.x[row : row + 1], rows.y[row : row + 1])) for row in range(start, stop)]


def test_a_scheme_that_leaks_is_found_out():
    with pytest.raises(AssertionError, match="does not score chance"):
        check_scheme(Leaky())


def test_a_labelling_that_depends_on_batches_is_found_out():
    class Moody:
        def arrivals(self, batch, _seed):
            return Arrivals(np.full(len(batch), batch.start + len(batch)))

    class Early:
        def arrivals(self, batch, _seed):
            return Arrivals(np.arange(batch.start, batch.start + len(batch)) - 1)

    with pytest.raises(AssertionError, match="batches of 1 rows"):
        check_labelling(Moody())
    with pytest.raises(AssertionError, match="before its row"):
        check_labelling(Early())


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


@pytest.mark.parametrize("scheme", [Holdout(50, 20), WarmUp(10, scheme=Holdout(50, 20))], ids=repr)
def test_training_rows_cannot_be_held_out(scheme):
    with pytest.raises(StreamgaugeError, match="tests the first rows of the stream, which are learnt before"):
        Pretrained(100, scheme=scheme)
