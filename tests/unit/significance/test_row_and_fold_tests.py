"""The tests between two learners: published and worked numbers, independent implementations, and their level."""

import csv
import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.significance import (
    MODELS,
    SEEDS,
    SUCH_STREAMS,
    THIS_STREAM,
    Answer,
    Comparison,
    mcnemar,
    sign_test,
    two_way_t,
    wilcoxon,
)
from tests.support.pair_sums import TABLE_1, leave_out, sums_of, t_of_sums, without_blocks
from tests.support.stand_ins import PUBLISHED

"""Differences of ten folds, in percent: Bifet et al. 2015, table 1."""


def test_the_sign_test_gives_the_worked_numbers() -> None:
    outcome = sign_test(TABLE_1)
    assert (outcome.statistic, outcome.direction) == (8, 1)
    assert outcome.p_value == pytest.approx(0.109375)
    assert outcome.p_value / 2 == pytest.approx(0.0546875)  # one-sided
    assert sign_test([1] * 9 + [-1]).p_value == pytest.approx(0.021484375)


@pytest.mark.parametrize(("k", "critical"), [(6, 6), (7, 7), (8, 8), (9, 8), (10, 9), (20, 15), (30, 21)])
def test_the_sign_test_has_the_known_critical_numbers_of_wins(k: int, critical: int) -> None:
    p_values = [sign_test([1] * wins + [-1] * (k - wins)).p_value for wins in (critical - 1, critical)]
    assert p_values[0] > 0.05 >= p_values[1]


def test_wilcoxon_gives_the_worked_numbers() -> None:
    outcome = wilcoxon(TABLE_1)
    assert (outcome.statistic, outcome.p_value) == (3.0, 0.009765625)
    with_zeros_and_ties = wilcoxon([0, 0, 1, 1, -2, 3, 4, 5, 5, -6])
    assert (with_zeros_and_ties.statistic, with_zeros_and_ties.p_value) == (11.0, 0.375)
    assert wilcoxon([1, 1, 1, 1, 1, 1, -1, -1, 2, 2]).p_value == pytest.approx(0.0723, abs=5e-5)


def test_wilcoxon_with_zeros_as_pratt_has_them_gives_the_worked_numbers() -> None:
    outcome = wilcoxon([0, 0, 1, 1, -2, 3, 4, 5, 5, -6], zeros="pratt")
    assert (outcome.statistic, outcome.p_value) == (15.0, 0.2734375)


def test_the_published_folds_give_the_worked_numbers_in_spite_of_rounding() -> None:
    with (PUBLISHED / "fold_accuracies.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    differences = [float(row["a"]) - float(row["b"]) for row in rows]
    assert sign_test(differences).p_value == pytest.approx(0.109375)
    assert (wilcoxon(differences).statistic, wilcoxon(differences).p_value) == (3.0, 0.009765625)
    as_rates = [difference / 100 for difference in differences]
    assert wilcoxon(as_rates).p_value == 0.009765625


def with_negative_ranks(n: int, negative: set[int]) -> list[int]:
    return [-rank if rank in negative else rank for rank in range(1, n + 1)]


def test_wilcoxon_gives_the_exact_table_for_ten_folds() -> None:
    table = [0.001953, 0.003906, 0.005859, 0.009766, 0.013672, 0.019531, 0.027344, 0.037109, 0.048828, 0.064453]
    table += [0.083984, 0.105469, 0.130859]
    for w, expected in enumerate(table):
        negative = {w} if w <= 10 else {w - 10, 10}
        outcome = wilcoxon(with_negative_ranks(10, negative))
        assert outcome.statistic == w
        assert outcome.p_value == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(("n", "critical"), [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (20, 52)])
def test_wilcoxon_has_the_known_critical_rank_sums(n: int, critical: int) -> None:
    p_values = []
    for w in (critical, critical + 1):
        negative, left = set(), w
        for rank in range(n, 0, -1):
            if rank <= left:
                negative.add(rank)
                left -= rank
        p_values.append(wilcoxon(with_negative_ranks(n, negative)).p_value)
    assert p_values[0] <= 0.05 < p_values[1]


@pytest.mark.parametrize(
    ("counts", "variant", "expected"),
    [
        ((60, 40), "chi_square", 0.0455002639),
        ((60, 40), "corrected", 0.0574331196),
        ((60, 40), "exact", 0.0568879336),
        ((60, 40), "mid_p", 0.0460440669),
        ((10, 2), "chi_square", 0.0209213353),
        ((10, 2), "corrected", 0.0433081428),
        ((10, 2), "exact", 0.0385742188),
        ((10, 2), "mid_p", 0.0224609375),
    ],
)
def test_mcnemar_gives_the_worked_numbers(counts: tuple[int, int], variant: str, expected: float) -> None:
    outcome = mcnemar(*counts, variant=variant)  # type: ignore[arg-type]
    assert outcome.p_value == pytest.approx(expected, abs=1e-10)
    assert mcnemar(*counts[::-1], variant=variant).statistic == -outcome.statistic  # type: ignore[arg-type]


def test_mcnemar_has_the_signed_statistic_and_is_exact_for_few_rows() -> None:
    assert mcnemar(60, 40).statistic == -4.0
    assert mcnemar(40, 60).statistic == 4.0
    assert mcnemar(40, 60, variant="corrected").statistic == pytest.approx(3.61)
    assert mcnemar(2, 10).statistic == pytest.approx(5.3333, abs=1e-4)
    assert mcnemar(10, 2).p_value == mcnemar(10, 2, variant="exact").p_value
    assert mcnemar(15, 9).p_value == mcnemar(15, 9, variant="exact").p_value
    assert mcnemar(16, 9).p_value == mcnemar(16, 9, variant="chi_square").p_value


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_swapping_the_learners_turns_the_outcome_and_permuting_folds_changes_nothing(
    differences: list[float], random: Random
) -> None:
    shuffled = differences.copy()
    random.shuffle(shuffled)
    for test in (sign_test, wilcoxon):
        outcome, swapped, permuted = test(differences), test([-d for d in differences]), test(shuffled)
        assert 0.0 <= outcome.p_value <= 1.0
        assert outcome.p_value == swapped.p_value == permuted.p_value
        assert outcome.direction == -swapped.direction == permuted.direction
        assert outcome.difference == permuted.difference
        assert (outcome.better is None) == (swapped.better is None)


@given(st.integers(5, 12), st.integers(10, 40), st.integers(0, 2**32))
@settings(deadline=None)
def test_the_two_way_t_is_symmetric_in_the_learners_and_in_the_folds(k: int, n_blocks: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(2, k, 1 + n_blocks))
    outcome, swapped = two_way_t(values, scheme="Bootstrap"), two_way_t(values[::-1], scheme="Bootstrap")
    shuffled = two_way_t(values[:, random.permutation(k)], scheme="Bootstrap")
    assert outcome.p_value == pytest.approx(shuffled.p_value)
    assert outcome.p_value == pytest.approx(swapped.p_value)
    assert outcome.statistic == pytest.approx(-swapped.statistic)
    for one, other in ((outcome, swapped), (outcome.such_streams, swapped.such_streams)):
        assert one is not None
        assert other is not None
        assert one.interval is not None
        assert other.interval is not None
        assert 0.0 <= one.p_value <= 1.0
        assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]))
        assert (one.p_value <= 0.05) == (one.interval[0] > 0 or one.interval[1] < 0)


def test_learners_that_never_differ_are_never_distinguished() -> None:
    zeros = np.zeros((10, 50), dtype=int)
    outcomes = [sign_test(np.zeros(10)), wilcoxon(np.zeros(10)), mcnemar(0, 0, 50), two_way_t(leave_out(zeros, 10))]
    for outcome in outcomes:
        assert (outcome.p_value, outcome.difference, outcome.better) == (1.0, 0.0, None)
        assert outcome.sentence.startswith("No difference can be claimed between")


def test_a_learner_that_is_always_right_where_the_other_is_wrong_is_better() -> None:
    outcome = two_way_t(leave_out(np.ones((5, 30), dtype=int), 10))
    assert (outcome.p_value, outcome.interval, outcome.better) == (0.0, (1.0, 1.0), "the first")
    assert "all differences are equal" in outcome.warnings[0]


def test_rounding_makes_neither_differences_nor_ranks() -> None:
    noise = [0.3 - 0.1 - 0.2, 0.1 + 0.2 - 0.3]
    assert wilcoxon(noise).p_value == 1.0
    assert wilcoxon([0.8 - 0.7, 0.9 - 0.8, 0.5 - 0.4, 0.2 - 0.3, *noise]).statistic == 2.5


def test_what_cannot_be_tested_is_refused_with_what_to_do() -> None:
    with pytest.raises(StreamgaugeError, match="at least 5 folds, or one, not 4: evaluate with more"):
        two_way_t(np.ones((2, 4, 21)))
    with pytest.raises(StreamgaugeError, match="at least 10 blocks of scored rows, not 9: evaluate more rows"):
        two_way_t(np.ones((2, 5, 10)))
    with pytest.raises(StreamgaugeError, match="finite, in an array"):
        two_way_t(np.full((2, 5, 21), np.nan))
    with pytest.raises(StreamgaugeError, match="at least 2 folds"):
        wilcoxon([0.1])
    with pytest.raises(StreamgaugeError, match="the difference of fold 1 is nan"):
        sign_test([0.1, math.nan])
    with pytest.raises(StreamgaugeError, match="alpha = 5"):
        wilcoxon([0.1, 0.2], alpha=5)
    with pytest.raises(StreamgaugeError, match="only_first = -1"):
        mcnemar(-1, 2)
    with pytest.raises(StreamgaugeError, match="n_rows = 2"):
        mcnemar(1, 2, 2)
    with pytest.raises(StreamgaugeError, match="did you mean exact"):
        mcnemar(1, 2, variant="exakt")  # type: ignore[arg-type]


def test_too_few_folds_for_the_level_are_reported() -> None:
    for test in (sign_test, wilcoxon):
        assert "the smallest possible p-value is 0.0625" in test([1, 2, 3, 4, 5]).warnings[0]
        assert "the smallest possible p-value is 0.0625" in test([1, 2, 3, 4, 5, 0, 0]).warnings[0]
        assert test([1, 2, 3, 4, 5, 6]).warnings == ()


def test_a_mean_that_points_the_other_way_is_reported() -> None:
    outcome = sign_test([0.01] * 11 + [-0.9])
    assert outcome.better == "the first"
    assert "opposite directions" in outcome.warnings[0]


def test_each_test_says_of_which_hypothesis_it_speaks() -> None:
    assert (sign_test(TABLE_1).null, wilcoxon(TABLE_1).null) == (SEEDS, SEEDS)
    assert mcnemar(3, 4).null == MODELS
    assert two_way_t(np.ones((2, 5, 21))).null == THIS_STREAM
    assert two_way_t(np.ones((2, 1, 21))).null == MODELS
    outcome = two_way_t(np.ones((2, 5, 21)), scheme="CrossValidation")
    assert outcome.such_streams is not None
    assert outcome.such_streams.null == SUCH_STREAMS


def test_the_verdict_is_a_sentence() -> None:
    better = Comparison(
        "two_way_t",
        -30.0,
        1.23e-9,
        -1,
        -0.021,
        (-0.0242, -0.0178),
        0.05,
        THIS_STREAM,
        "10 folds and 40 blocks of rows",
        "A",
        "B",
        "accuracy",
        unit="rate",
    )
    assert better.sentence == (
        "B is better than A by 2.10 percentage points in accuracy on this stream (95% interval 1.78 to 2.42;"
        " two-way t over 10 folds and 40 blocks of rows, p < 0.0001)."
    )
    answer = Answer("for such streams", SUCH_STREAMS, (-0.05, 0.008), 0.09)
    assert replace(better, such_streams=answer).sentence.endswith(
        " For such streams no difference can be claimed (95% interval -0.80 to 5.00, p = 0.0900)."
    )
    assert "For such streams B is better too" in replace(better, such_streams=replace(answer, p_value=0.01)).sentence
    costs = replace(better, measure="log_loss", unit="nats", greater_is_better=False, difference=0.5, direction=1)
    assert costs.sentence.startswith(
        "B is better than A by 0.5000 nats in log_loss on this stream (95% interval -0.0242"
    )
    assert "%" not in replace(costs, interval=None).sentence
    assert mcnemar(12, 10).sentence == (
        "No difference can be claimed between the first and the second as trained here"
        " (McNemar over 22 rows that only one got right, p = 0.8318)."
        " It leaves out the luck of seeds and of the rows learnt."
    )


def test_numbers_handed_to_a_test_are_printed_as_given() -> None:
    text = wilcoxon([90.0, 91.0, 91.5, 90.5, 92.0, 89.0, 90.7]).sentence
    assert text.startswith("the first is better than the second by 90.67 on this stream (")
    assert "percentage" not in text
    assert "%" not in text


def test_warnings_are_printed_with_the_outcome() -> None:
    outcome = replace(sign_test([0.1] * 9), warnings=("mind this",))
    assert str(outcome) == repr(outcome) == f"{outcome.sentence}\nNote: mind this."


def test_tests_over_folds_or_rows_alone_say_in_their_first_line_what_they_leave_out() -> None:
    for outcome, left_out in ((wilcoxon(TABLE_1), "luck of the rows"), (mcnemar(30, 10, 100), "luck of seeds")):
        assert left_out in str(outcome).splitlines()[0]


def rejected(d: NDArray[np.int_]) -> tuple[bool, bool, bool]:
    outcome, over_folds = two_way_t(leave_out(d, 40)), wilcoxon(d.mean(axis=1))
    return outcome.significant, over_folds.significant, t_of_sums(without_blocks(sums_of(d))).p_value <= 0.05


def rates(runs: list[NDArray[np.int_]]) -> NDArray[np.float64]:
    rate: NDArray[np.float64] = np.mean([rejected(d) for d in runs], axis=0)
    return rate


N_RUNS = 400

HOLDS = 0.05 + 3 * math.sqrt(0.05 * 0.95 / N_RUNS)


def test_under_equal_algorithms_with_other_seeds_all_tests_hold_their_level() -> None:
    random = np.random.default_rng(11)
    runs = []
    for _ in range(N_RUNS):
        skill = 0.8 + 0.05 * random.normal(size=(2, 10, 1)) + 0.1 * random.normal(size=200)
        right = (random.random((2, 10, 200)) < skill).astype(int)
        runs.append(right[0] - right[1])
    two_way, of_folds, plain = rates(runs)
    assert max(two_way, of_folds, plain) <= HOLDS


def test_under_equal_algorithms_that_share_rows_only_the_two_way_t_holds_its_level() -> None:
    random = np.random.default_rng(12)
    runs = []
    for _ in range(N_RUNS):
        common = random.choice([-1, 0, 1], size=200, p=[0.15, 0.7, 0.15])
        runs.append(np.where(random.random((10, 200)) < 0.9, common, 0))
    two_way, of_folds, _ = rates(runs)
    assert two_way <= HOLDS
    assert of_folds > 0.5


def test_where_neighbouring_rows_go_together_blocks_of_rows_hold_the_level_far_better() -> None:
    random = np.random.default_rng(13)
    runs = []
    for _ in range(N_RUNS // 2):
        lean = np.repeat(random.choice([-0.3, 0.3], size=200), 20)
        common = np.sign(lean) * (random.random(4000) < np.abs(lean))
        runs.append(np.where(random.random((10, 4000)) < 0.9, common, 0).astype(int))
    blocked, _, independent = rates(runs)
    assert blocked <= HOLDS
    assert independent > 0.2
    assert "errors are autocorrelated" in t_of_sums(sums_of(runs[0])).warnings[0]
