"""Tests of losses row by row: worked numbers, slow references, independent implementations, and their level."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.significance import diebold_mariano, mcnemar, mcnemar_curve, mean_loss, q_statistic

GAINS = np.array([1, 0, -1, 1, 1, 0, 0, 1, -1, 1, 0, 1], dtype=float)
"""The loss of the second model less that of the first."""

LOSSES = st.lists(st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0]), min_size=3, max_size=30)


def weights(n: int, width: int | None, factor: float) -> NDArray[np.float64]:
    """Return the weight of each row at each row: the slow reference of forgetting."""
    age = np.arange(n)[:, None] - np.arange(n)
    kept = (age >= 0) & (age < (width or n))
    return np.where(kept, factor ** np.maximum(age, 0.0), 0.0)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_mcnemar_over_a_window_is_mcnemar_of_its_rows(rows: list[tuple[bool, bool]], width: int) -> None:
    first, second = np.array(rows).T
    curve = mcnemar_curve(first, second, width=width)
    for row in range(len(rows)):
        inside = slice(max(0, row + 1 - width), row + 1)
        only_first, only_second = int((first & ~second)[inside].sum()), int((~first & second)[inside].sum())
        assert curve[row] == pytest.approx(mcnemar(only_first, only_second).statistic)


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0])
def test_mcnemar_fades_a_and_b(factor: float) -> None:
    first, second = np.random.default_rng(1).integers(0, 2, (2, 50))
    faded = weights(50, None, factor)
    a, b = faded @ (first < second), faded @ (first > second)  # a: the first was wrong and the second right
    expected = np.sign(a - b) * (a - b) ** 2 / np.maximum(a + b, 1e-300)
    assert mcnemar_curve(first, second, factor=factor) == pytest.approx(expected)


@pytest.mark.parametrize("form", [{}, {"width": 300}, {"factor": 0.99}])
def test_a_statistic_above_0_means_that_the_first_is_worse_as_in_the_papers(form: dict[str, Any]) -> None:
    """M = sign(a - b) (a - b)^2 / (a + b), a: misclassified by the first and not by the second (Gama; Bifet et al.)."""
    generator = np.random.default_rng(3)
    worse, better = generator.random(900) < 0.6, generator.random(900) < 0.9
    statistic = mcnemar_curve(worse, better, **form)[-1]
    assert statistic > 6.635
    assert mcnemar_curve(better, worse, **form)[-1] == -statistic
    assert q_statistic(~worse, ~better, **form)[-1] > 0
    a, b = int((~worse & better).sum()), int((worse & ~better).sum())
    outcome = mcnemar(b, a, 900)
    assert outcome.statistic == pytest.approx((a - b) ** 2 / (a + b))
    assert (outcome.direction, outcome.better) == (-1, "the second")


def test_the_calibrated_faded_statistic_is_a_chi_square() -> None:
    rng = np.random.default_rng(1)
    factor, last = 0.99, []
    for _ in range(2000):
        coin = rng.integers(0, 2, 700)
        last.append(abs(mcnemar_curve(coin, 1 - coin, factor=factor, scale="calibrated")[-1]))
    assert np.mean(np.array(last) > 3.841) == pytest.approx(0.05, abs=0.015)
    assert np.mean(last) == pytest.approx(1.0, abs=0.1)


@given(LOSSES, st.integers(1, 6), st.sampled_from([0.6, 1.0]))
@settings(max_examples=80, deadline=None)
def test_q_is_the_log_of_the_ratio_of_the_remembered_losses(losses: list[float], width: int, factor: float) -> None:
    first, second = np.array(losses), np.array(losses[::-1])
    window = width if factor == 1.0 else None
    sums = [weights(len(losses), window, factor) @ loss for loss in (first, second)]
    found = q_statistic(first, second, width=window, factor=factor)
    for row, (one, other) in enumerate(zip(*sums, strict=True)):
        if one > 0 and other > 0:
            assert found[row] == pytest.approx(math.log(one / other), abs=1e-9)
        else:
            assert math.isnan(found[row])


def test_diebold_mariano_gives_the_worked_numbers() -> None:
    none = diebold_mariano(np.zeros(12), GAINS, lags=0)
    assert (none.statistic, none.p_value) == pytest.approx((1.5491933385, 0.1213352504), abs=1e-9)
    two = diebold_mariano(np.zeros(12), GAINS, lags=2)
    assert (two.statistic, two.p_value) == pytest.approx((2.5980762114, 0.0093747685), abs=1e-9)
    assert two.better == "the first"
    assert diebold_mariano(GAINS, np.zeros(12), lags=2).better == "the second"


def test_neighbouring_rows_that_go_together_need_lags() -> None:
    rng = np.random.default_rng(1)
    rejected = np.zeros(2)
    for _ in range(400):
        gains = np.convolve(rng.normal(0, 1, 609), np.ones(10), "valid")
        rejected += [diebold_mariano(0 * gains, gains, lags=lags).p_value <= 0.05 for lags in (0, 30)]
    assert rejected[0] > 160  # over 40 % where neighbours are ignored
    assert rejected[1] < 45


def test_no_difference_is_no_evidence() -> None:
    assert diebold_mariano([1, 0, 1], [1, 0, 1]).p_value == 1.0
    assert diebold_mariano([0, 0, 0], [1, 1, 1]).p_value == 0.0


def test_what_is_no_pair_of_losses_is_refused() -> None:
    with pytest.raises(StreamgaugeError, match="must have the same length"):
        q_statistic([1, 2], [1])
    with pytest.raises(StreamgaugeError, match="of at least 0"):
        q_statistic([1, -2], [1, 1])
    with pytest.raises(StreamgaugeError, match="row 1 has no finite"):
        diebold_mariano([1, math.nan], [1, 1])
    with pytest.raises(StreamgaugeError, match="True or False"):
        mcnemar_curve([0.5], [1])
    with pytest.raises(StreamgaugeError, match="not both"):
        q_statistic([1, 1], [1, 1], width=1, factor=0.5)
    with pytest.raises(StreamgaugeError, match="at least 2 rows"):
        diebold_mariano([1], [1])


@pytest.mark.parametrize(("factor", "chunk"), [(0.9, 1), (0.9, 7), (0.5, 100), (1.0, 3)])
def test_any_loss_fades_by_the_recursion_of_gama_et_al(factor: float, chunk: int) -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=250) ** 2, rng.exponential(size=250)
    means, curve = [], []
    sums, weight = np.zeros(2), 0.0
    for start in range(0, 250, chunk):
        before, weight_before = sums, weight
        for stop in range(start + 1, min(start + chunk, 250) + 1):
            sums = np.array([loss[start:stop].sum() for loss in (first, second)]) + factor * before
            weight = stop - start + factor * weight_before
            means.append(sums[0] / weight)
            curve.append(np.log(sums[0] / sums[1]))
    np.testing.assert_allclose(mean_loss(first, factor=factor, chunk=chunk), means, rtol=1e-12)
    np.testing.assert_allclose(q_statistic(first, second, factor=factor, chunk=chunk), curve, rtol=1e-9, atol=1e-12)


def test_the_mean_of_a_loss_may_be_over_a_window_and_has_one_column() -> None:
    loss = np.random.default_rng(4).normal(size=50)
    expected = [loss[max(0, end - 8) : end].mean() for end in range(1, 51)]
    np.testing.assert_allclose(mean_loss(loss, width=8), expected, atol=1e-12)
    for wrong, reason in (([[1.0]], "one column"), ([1.0, np.nan], "row 1 has no finite value")):
        with pytest.raises(StreamgaugeError, match=reason):
            mean_loss(wrong)
