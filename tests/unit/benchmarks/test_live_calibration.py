"""The benchmark of live verdicts judges what a run does, by the rule that it states."""

import math
from dataclasses import replace

import pytest

import streamgauge as sg
from benchmarks import live_calibration as bench
from streamgauge.labelling import AllLabels, Delayed
from streamgauge.streams import in_memory


@pytest.mark.parametrize(("scheme", "delay"), [("bootstrap", 0), ("split", 0), ("one fold", 0), ("one fold", 5)])
def test_verdicts_are_those_of_a_run(scheme: str, delay: int) -> None:
    stream, traces = in_memory(sg.SEA(seed=1), 2000), bench.Traces()
    learners = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
    results = sg.evaluate(
        stream,
        learners,
        scheme=bench.SCHEMES[scheme](),
        measures=bench.NAMES,
        labelling=Delayed(delay) if delay else AllLabels(),
        live_test=replace(bench.LIVE, measure=bench.NAMES),
        every=100,
        recorders=[traces],
    )
    pair = [traces.collect(name, delay, 2000) for name in learners]
    looks = range(100, 2001, 100)
    verdicts = bench.look_at(pair, bench.Blocks(pair, looks, bench.MEASURES), looks, delay).values()
    assert [(v.measure, v.test, v.interval, v.row) for v in verdicts] == [
        (v.measure, v.test, v.interval, v.row) for v in results.verdicts
    ]
    assert sum(v.interval is not None for v in verdicts) >= 9


def make_rows(n_claims: int, n: int, **facts: str) -> list[dict[str, str]]:
    row = {"stream": "SEA", "scheme": "split", "labels": "at once", "case": "seeds"} | facts
    claims = ["500"] * n_claims + ["0"] * (n - n_claims)
    others = dict.fromkeys(bench.NAMES, bench.UNMEASURED)
    return [row | others | {"repetition": str(i + 1), "kappa": claim} for i, claim in enumerate(claims)]


def test_a_cell_above_its_limit_counts_by_fresh_seeds_alone() -> None:
    first = bench.compute_rates(make_rows(10, 100))
    assert {rate.stream: (rate.n, rate.share) for rate in first} == {"all": (100, 0.1), "SEA": (100, 0.1)}
    fresh = [replace(rate, n=1000, n_claimed=50, fresh=True) for rate in first]
    assert [rate.stream for rate in bench.judge(first, fresh)] == ["all"]
    worse = [replace(rate, n=1000, n_claimed=70, fresh=True) for rate in first]
    assert {rate.stream: rate.n_claimed for rate in bench.judge(first, worse)} == {"all": 10, "SEA": 70}


def test_refused_repetitions_are_in_no_rate() -> None:
    rows = make_rows(1, 4)
    rows[3]["kappa"] = ""
    rate = bench.compute_rates(rows)[0]
    assert (rate.n, rate.n_refused, rate.n_claimed) == (3, 1, 1)
    assert bench.format_rate(rate) == "0.333 (25% refused)"


def test_an_unfinished_benchmark_names_what_chance_does_not_explain() -> None:
    assert "No cell" in bench.describe_rule(bench.compute_rates(make_rows(1, 10)), [])
    assert "- seeds, split, at once, SEA, kappa: 0.400" in bench.describe_rule(
        bench.compute_rates(make_rows(40, 100)), []
    )


def test_ratio_of_rows() -> None:
    rows = [row | {"kappa at the end": end} for row, end in zip(make_rows(2, 3), ("250", "200", "1000"), strict=True)]
    assert bench.find_ratio(rows, "kappa") == 2.5  # 2, 2.5 and no verdict
    rows[2]["kappa at the end"] = "4000"  # too late for a ratio of 3
    assert bench.find_ratio(rows, "kappa") == 2.25
    assert math.isnan(bench.find_ratio([], "kappa"))
