"""Tests that may be looked at at any time: worked numbers, invariance, and their level under many looks."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import PairSums
from streamgauge.significance import (
    Betting,
    GroupSequentialSignFlip,
    LiveTest,
    Monitor,
    Verdict,
    anytime_mcnemar,
    decide,
    empirical_bernstein,
    two_way_sequence,
    until,
)
from streamgauge.significance.confidence_sequences import bernstein_log_e, bernstein_radius
from tests.support.pair_sums import t_of_sums

LOOKS = [
    [0.2, 0.1, -0.1, 0.3, 0.0, 0.1, -0.2, 0.2],
    [0.5, 0.4, 0.1, 0.6, 0.3, 0.2, -0.1, 0.4],
    [0.6, 0.5, 0.3, 0.7, 0.4, 0.3, 0.1, 0.5],
]


def sums_of(d: NDArray[np.int_]) -> PairSums:
    """Count differences [k, n] of -1, 0 and 1 in which the folds scored all rows."""
    counter = _native.PairCounter(2, len(d))
    counter.update(np.ascontiguousarray(np.stack([d > 0, d < 0])))
    return PairSums("tree", "bayes", *counter.sums(0, 1))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((10, 2), 0.8039638735), ((60, 40), 0.7823433146), ((530, 470), -0.2107032852), ((5300, 4700), 14.8558459972)],
)
def test_anytime_mcnemar_gives_the_worked_numbers(counts: tuple[int, int], expected: float) -> None:
    assert anytime_mcnemar(*counts) == pytest.approx(expected, abs=1e-9)


def test_anytime_mcnemar_with_other_priors_gives_the_worked_numbers() -> None:
    assert math.exp(anytime_mcnemar(10, 2, prior=1.0)) == pytest.approx(4.773892774, abs=1e-8)
    assert anytime_mcnemar(60, 40, prior=0.5) == pytest.approx(-0.5173944830, abs=1e-9)
    assert math.exp(anytime_mcnemar(10, 0, prior=1.0)) == pytest.approx(93.0909, abs=5e-5)
    assert math.exp(anytime_mcnemar(9, 1, prior=1.0)) == pytest.approx(9.3091, abs=5e-5)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [((10, 2), 1.7014846659), ((60, 40), 1.3227418839), ((530, 470), 1.0695752541), ((30, 5), 259.2900557)],
)
def test_betting_gives_the_worked_numbers(counts: tuple[int, int], expected: float) -> None:
    values = np.repeat([1.0, -1.0], counts)
    assert math.exp(Betting().update(values)[-1]) == pytest.approx(expected, abs=1e-7)


def test_betting_gives_the_worked_path() -> None:
    values = [1, 0, -1, 1, 1, 0, 0, 1, -1, 1, 0, 1]
    expected = [
        1,
        1,
        0.972222,
        0.972222,
        0.994444,
        0.994444,
        0.994444,
        1.038889,
        0.967989,
        1.003968,
        1.003968,
        1.061173,
    ]
    assert np.exp(Betting().update(values)) == pytest.approx(expected, abs=1e-6)


def test_empirical_bernstein_gives_the_worked_numbers() -> None:
    evidence = {(20, 100): 1.7426831487, (60, 1000): 1.5951402550, (200, 4000): 14.3916609014}
    for sums, expected in evidence.items():
        assert math.exp(bernstein_log_e(*sums)) == pytest.approx(expected, abs=1e-9)
    reaches = {1: 12.5682258377, 10: 15.9637933385, 100: 39.0537770572, 1000: 113.5536962172, 10_000: 350.1447280281}
    for squares, expected in reaches.items():
        assert bernstein_radius(squares, 0.05) == pytest.approx(expected, abs=1e-8)
    assert empirical_bernstein(600, 1000, 20_000) == pytest.approx((0.0243223152, 0.0356776848), abs=1e-9)


def test_the_rope_decides_as_worked_out() -> None:
    sums = {(600, 1000): "first", (-600, 1000): "second", (30, 100): "equivalent", (100, 1000): "undecided"}
    for (total, squares), outcome in sums.items():
        assert decide(empirical_bernstein(total, squares, 20_000)) == outcome


def test_group_sequential_sign_flip_gives_the_worked_numbers() -> None:
    test = GroupSequentialSignFlip(8, spending=lambda look: look / (look + 1))
    found = [(test.look(differences), test.n_rejected) for differences in LOOKS]
    assert found == [(False, 2), (True, 4), (True, 4)]


@pytest.mark.parametrize("cuts", [[1], [7, 8, 100], [64, 128]])
def test_how_values_are_cut_changes_no_bit(cuts: list[int]) -> None:
    values = np.random.default_rng(1).uniform(-1, 1, 200)
    whole, cut = Betting(), Betting()
    once = whole.update(values)
    assert np.array_equal(np.concatenate([cut.update(part) for part in np.split(values, cuts)]), once)
    assert (cut.n_rows, cut.row, cut.greatest) == (whole.n_rows, whole.row, whole.greatest)
    assert cut.update([]).tolist() == []


def test_swapping_the_learners_turns_all_round() -> None:
    values = np.random.default_rng(1).uniform(-0.5, 1, 200)
    assert Betting().update(values) == pytest.approx(Betting().update(-values))
    assert anytime_mcnemar(30, 10) == pytest.approx(anytime_mcnemar(10, 30))
    low, high = empirical_bernstein(50, 80, 200)
    assert empirical_bernstein(-50, 80, 200) == pytest.approx((-high, -low))


def test_the_two_way_sequence_is_wider_than_the_interval_for_one_look() -> None:
    rng = np.random.default_rng(1)
    pair = sums_of(rng.integers(0, 2, (10, 4000)) - rng.integers(0, 2, (10, 4000)))
    low, high = two_way_sequence(pair)
    once = t_of_sums(pair).interval
    assert low < once[0] < once[1] < high


def test_betting_and_anytime_mcnemar_hold_their_level_looked_at_after_every_row() -> None:
    rng = np.random.default_rng(5)
    wrong = np.zeros(2)
    for _ in range(400):
        values = rng.choice([-1.0, 0.0, 1.0], 1500)
        a, b = np.cumsum(values > 0), np.cumsum(values < 0)
        evidence = Betting()
        evidence.update(values)
        wrong += [evidence.row is not None, max(anytime_mcnemar(int(a[i]), int(b[i])) for i in range(0, 1500, 50)) >= 3]
    assert (wrong <= 0.05 * 400 + 2 * math.sqrt(0.05 * 0.95 * 400)).all()


def test_group_sequential_sign_flip_holds_its_level_over_many_looks() -> None:
    rng = np.random.default_rng(2)
    wrong, naive = 0, 0
    for _ in range(600):
        paths = np.cumsum(rng.standard_t(2, (20, 8)), axis=0)
        test = GroupSequentialSignFlip(8, spending=until(20))
        wrong += any(test.look(path) for path in paths)
        always = [GroupSequentialSignFlip(8, spending=lambda _: 1.0) for _ in paths]
        naive += any(one.look(path) for one, path in zip(always, paths, strict=True))
    assert wrong <= 0.05 * 600 + 2 * math.sqrt(0.05 * 0.95 * 600)
    assert naive > 0.1 * 600


def test_the_monitor_holds_its_level_where_seeds_and_rows_are_chance() -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(60):
        accuracy = 0.8 + rng.normal(0, 0.02, (2, 10, 1))
        right = rng.uniform(size=(2, 10, 3000)) < accuracy
        monitor, counter = Monitor(LiveTest(rope=0.0)), _native.PairCounter(2, 10)
        for start in range(0, 3000, 100):
            counter.update(np.ascontiguousarray(right[:, :, start : start + 100]))
            (verdict,) = monitor.look([PairSums("a", "b", *counter.sums(0, 1))], start + 100)
        wrong += verdict.outcome != "undecided" or verdict.earlier is not None
    assert wrong <= 0.05 * 60 + 2 * math.sqrt(0.05 * 0.95 * 60)


def test_a_verdict_keeps_its_row_as_long_as_it_holds() -> None:
    monitor = Monitor(LiveTest())
    better = sums_of(np.tile([1, 0, 0, 0, -1, 1, 1, 0], (10, 500)))
    none = sums_of(np.tile([1, -1, 0, 0, -1, 1, 1, -1], (10, 500)))
    assert [monitor.look([better], row)[0].row for row in (4000, 5000)] == [4000, 4000]
    (later,) = monitor.look([none], 9000)
    assert (later.outcome, later.row) == ("undecided", None)
    past = "tree was known to be better from row 4,000 to row 9,000, no longer so"
    assert str(later) == f"tree and bayes: undecided now in accuracy; {past}"


def test_equal_learners_become_equivalent_not_better() -> None:
    (verdict,) = Monitor(LiveTest(rope=0.05)).look([sums_of(np.tile([1, -1, 0, 0], (10, 2000)))], 8000)
    assert verdict.outcome == "equivalent"
    assert "equivalent in accuracy within 5 percentage points" in str(verdict)


@pytest.mark.parametrize(
    ("scheme", "test"),
    [
        (sg.Prequential(), "empirical_bernstein"),
        (sg.Bootstrap(6), "two_way_sequence"),
        (sg.CrossValidation(8, test="held_out"), "group_sequential"),
        (sg.CrossValidation(3, test="held_out"), "group_sequential"),
    ],
)
def test_the_monitor_goes_by_what_the_scheme_gives(scheme: sg.Bootstrap, test: str) -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    evaluation = sg.Evaluation(sg.SEA(n_rows=4000), learners, scheme=scheme, batch_size=500)
    monitor = Monitor(LiveTest())
    found: list[Verdict] = []
    for progress in evaluation.advance():
        found += monitor.look(evaluation.results([progress]).pairs, progress.n_rows)
    assert found[-1].test == test
    assert found[-1].outcome == ("undecided" if evaluation.results([]).n_folds == 3 else "first")
    if found[-1].row is not None:
        assert found[-1].row == next(verdict.row for verdict in found if verdict.row is not None)


def test_what_cannot_be_looked_at_is_refused() -> None:
    with pytest.raises(StreamgaugeError, match=r"values in \[-1, 1\]"):
        Betting().update([1.5])
    with pytest.raises(StreamgaugeError, match="cannot show a difference"):
        GroupSequentialSignFlip(5)
    with pytest.raises(StreamgaugeError, match="one finite difference for each of the 8 folds"):
        GroupSequentialSignFlip(8).look([0.1])
    with pytest.raises(StreamgaugeError, match="sums of 10 values"):
        empirical_bernstein(20, 5, 10)
