"""Fading once per chunk, as Gama et al. (2009) define it for chunks of several rows, and the rows that matter."""

from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.checks import check_forgetting
from streamgauge.checks.forgetting import sample_trace
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import Fading, count_rows_above
from streamgauge.measures import error, measure
from streamgauge.records import STATISTICS, Trace


def make_trace(n: int) -> Trace:
    rng = np.random.default_rng(2)
    return replace(sample_trace(1).part(0, n), votes=rng.random((n, 4)), row=np.arange(n))


@pytest.mark.parametrize("forgetting", [Fading(0.9, chunk=7), Fading(0.5, chunk=100), Fading(1.0, chunk=3)], ids=repr)
def test_the_contract_holds(forgetting: Any) -> None:
    check_forgetting(forgetting)


@pytest.mark.parametrize(("factor", "chunk"), [(0.9, 10), (0.5, 3), (0.995, 250)])
def test_sums_after_each_chunk_are_those_of_the_recursion(factor: float, chunk: int) -> None:
    n = 1_000
    trace = make_trace(n)
    loss = (trace.y_true != trace.y_pred).astype(float)
    tallies = Fading(factor, chunk=chunk).build(4).update(trace, range(1, n + 1))
    loss_sum = weight_sum = 0.0
    for start in range(0, n, chunk):
        before = loss_sum, weight_sum
        for stop in range(start + 1, min(start + chunk, n) + 1):  # within a chunk: its rows so far
            loss_sum = loss[start:stop].sum() + factor * before[0]
            weight_sum = (stop - start) + factor * before[1]
            assert tallies[stop - 1].total == pytest.approx(weight_sum, rel=1e-11)
            assert error(tallies[stop - 1]) == pytest.approx(loss_sum / weight_sum, abs=1e-11)


def test_a_chunk_of_one_row_is_the_plain_fading_to_the_bit() -> None:
    trace = make_trace(500)
    one, plain = (each.build(4).update(trace, [100, 500]) for each in (Fading(0.9, chunk=1), Fading(0.9)))
    np.testing.assert_array_equal(one.confusion, plain.confusion)


def test_all_statistics_fade_by_chunk_and_pieces_and_restarts_change_no_bit() -> None:
    trace, forgetting = make_trace(600), Fading(0.8, chunk=50)
    whole = forgetting.build(4, STATISTICS).update(trace, [275, 600])
    state = forgetting.build(4, STATISTICS)
    state.update(trace.part(0, 130), [])
    again = forgetting.build(4, STATISTICS)
    again.load(state.save())
    parts = [*again.update(trace.part(130, 400), [275]), *again.update(trace.part(400, 600), [600])]
    for found, expected in zip(parts, whole, strict=True):
        for name in ("confusion", "squared_weight", "log_loss", "brier", "calibration", "ranks"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    weights = forgetting.weights_by_age(600)[::-1]
    assert whole[1].squared_weight == pytest.approx((weights**2).sum(), rel=1e-10)
    assert trace.votes is not None
    shares = trace.votes / trace.votes.sum(axis=1, keepdims=True)
    losses = -np.log(shares[np.arange(600), trace.y_true])
    assert measure("log_loss")(whole[1]) == pytest.approx((weights * losses).sum() / weights.sum(), rel=1e-10)
    with pytest.raises(StreamgaugeError, match="chunks of 50 rows"):
        Fading(0.8, chunk=49).build(4, STATISTICS).load(state.save())


def test_a_run_fades_by_chunk_whatever_the_batches() -> None:
    def run(**options: Any) -> Any:
        forgetting = [Fading(0.9, chunk=100), Fading(0.9)]
        measures = ["accuracy", "kappa_m", "roc_auc[1]"]
        return sg.evaluate(sg.SEA(n_rows=1_500), sg.NaiveBayes(), forgetting=forgetting, measures=measures, **options)

    results = run()
    assert results.forgettings[0] == "Fading(factor=0.9, chunk=100)"
    np.testing.assert_array_equal(results.values, run(batch_size=13).values)
    assert not np.array_equal(results.values[..., 0, :], results.values[..., 1, :])


def test_the_number_of_rows_that_matter_is_the_bound_of_gama_et_al() -> None:
    assert count_rows_above(0.995, 2.9e-7) == 3004  # "after 3000 examples is 2.9E-7"
    for factor, epsilon in ((0.9, 0.5), (0.999, 0.01), (0.5, 0.125)):
        n_rows = count_rows_above(factor, epsilon)
        assert n_rows - 1 < log(epsilon) / log(factor) <= n_rows * (1 + 1e-9)
        weights = Fading(factor).weights_by_age(n_rows + 2)
        assert weights[n_rows - 1] > epsilon >= weights[n_rows] * (1 - 1e-9)
    for factor, epsilon in ((1.0, 0.5), (0.0, 0.5), (0.5, 1.0), (0.5, 0.0)):
        with pytest.raises(StreamgaugeError, match="it must be a number in"):
            count_rows_above(factor, epsilon)


def test_options_are_checked() -> None:
    with pytest.raises(StreamgaugeError, match="chunk = 0"):
        Fading(0.9, chunk=0)
