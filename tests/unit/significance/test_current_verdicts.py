"""A verdict is what holds now; one that no longer holds is earlier, counts as undecided, and claims no cause."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import _native
from streamgauge.protocols import Scheme
from streamgauge.records import EarlierVerdict, ModelVerdict, PairSums, Verdict
from streamgauge.reports.claims import claim_verdicts
from streamgauge.results import load, save
from streamgauge.significance import GroupSequentialSignFlip, LiveTest, Monitor, PairWatch, sign_flip

FACTS = (0.0, (-0.03, 0.02), 0.01, 0.05, 1, "equal", "two_way_sequence")


def watch_rates(
    rates: Sequence[tuple[float, float]], n_folds: int = 1, n_rows: int = 4000, seed: int = 1
) -> list[Verdict]:
    """Return the verdicts at every 500 rows of two learners whose accuracy changes every `n_rows` rows."""
    generator = np.random.default_rng(seed)
    watch = PairWatch(["a", "b"], n_folds, LiveTest())
    verdicts: list[Verdict] = []
    for part, pair in enumerate(rates):
        right = np.stack([generator.random((n_folds, n_rows)) < rate for rate in pair])
        for start in range(0, n_rows, 500):
            done = part * n_rows + start + 500
            watch.update(np.ascontiguousarray(right[:, :, start : start + 500]), None, [500], [done])
            verdicts += watch.verdicts()
    return verdicts


def supports(verdict: Verdict) -> bool:
    """Return whether the interval of a verdict supports its outcome, or decides nothing if it is undecided."""
    assert verdict.interval is not None
    (low, high), rope = verdict.interval, verdict.rope
    return {
        "first": low > 0,
        "second": high < 0,
        "equivalent": -rope < low and high < rope,
        "undecided": not (low > rope or high < -rope or (-rope < low and high < rope)),
    }[verdict.outcome]


@pytest.mark.parametrize("n_folds", [1, 4])
def test_each_verdict_is_supported_by_the_interval_of_its_own_row(n_folds: int) -> None:
    verdicts = watch_rates([(0.9, 0.7), (0.5, 0.8), (0.5, 0.8), (0.5, 0.8)], n_folds)
    assert all(map(supports, verdicts))
    assert {"first", "undecided", "second"} <= {verdict.outcome for verdict in verdicts}
    last = verdicts[-1]
    assert (last.outcome, last.better) == ("second", "b")
    assert last.earlier is not None
    assert last.earlier.outcome == "first"
    assert last.earlier.since < last.earlier.until < (last.row or 0)


def test_a_verdict_that_no_longer_holds_is_undecided_until_the_next_one() -> None:
    verdicts = watch_rates([(0.9, 0.7), (0.5, 0.8), (0.5, 0.8)])
    ended = next(verdict for verdict in verdicts if verdict.earlier is not None)
    assert (ended.outcome, ended.row, ended.better) == ("undecided", None, None)
    before = verdicts[verdicts.index(ended) - 1]
    assert ended.earlier == EarlierVerdict("first", before.row or 0, 500 * (verdicts.index(ended) + 1))


def test_a_better_one_stays_better_while_the_interval_excludes_zero() -> None:
    """A verdict is reached beyond the margin, and lasts to zero, so that it does not come and go at the margin."""
    verdicts = watch_rates([(0.95, 0.85), (0.9, 0.9), (0.9, 0.9), (0.9, 0.9), (0.9, 0.9), (0.9, 0.9)], 1, 2000)
    known = [verdict for verdict in verdicts if verdict.outcome == "first"]
    assert any(verdict.interval is not None and 0 < verdict.interval[0] < verdict.rope for verdict in known)
    assert len({verdict.row for verdict in known}) == 1


@given(st.lists(st.tuples(st.floats(0.3, 1.0), st.floats(0.3, 1.0)), min_size=1, max_size=3), st.integers(1, 99))
@settings(max_examples=20, deadline=None)
def test_the_past_never_decides_alone(rates: list[tuple[float, float]], seed: int) -> None:
    verdicts = watch_rates(rates, 1, 1000, seed)
    assert all(map(supports, verdicts))
    for before, after in pairwise(verdicts):
        if before.outcome != after.outcome and before.row is not None:
            assert after.earlier is not None
            assert (after.earlier.outcome, after.earlier.since) == (before.outcome, before.row)


def count_folds(differences: NDArray[np.float64]) -> PairSums:
    """Return the sums of two learners in folds that scored 1,000 rows of their own each."""
    n = len(differences)
    only_first, only_second = (np.maximum(sign * differences, 0).astype(np.int64) for sign in (1, -1))
    return PairSums("a", "b", 1000 * n, np.full(n, 1000), only_first, only_second, 0.0, False)


def test_the_claim_of_folds_lasts_while_a_single_look_would_still_make_it() -> None:
    monitor = Monitor(LiveTest(), n_looks=4)
    ahead, mixed = np.arange(10.0, 20.0), np.array([9.0, -8, 7, -6, 5, -4, 3, -2, 1, -9])
    looks = [ahead, ahead, mixed, mixed, -ahead]
    found = [monitor.look([count_folds(look)], 1000 * i)[0] for i, look in enumerate(looks, 1)]
    assert [verdict.outcome for verdict in found] == ["first", "first", "undecided", "undecided", "second"]
    assert found[2].earlier == found[4].earlier == EarlierVerdict("first", 1000, 3000)


@given(st.lists(st.integers(-20, 20), min_size=8, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_single_look_is_the_sign_flip_test(differences: list[int]) -> None:
    if any(differences):
        p_value = sign_flip([value / 100 for value in differences]).p_value
        assert GroupSequentialSignFlip(8).supports([value / 100 for value in differences]) == (p_value <= 0.05)


def test_a_saved_monitor_keeps_what_was_known() -> None:
    monitor, resumed = Monitor(LiveTest()), Monitor(LiveTest())
    counter = _native.PairCounter(2, 1)
    generator = np.random.default_rng(1)
    found: list[Verdict] = []
    for part, rates in enumerate([(0.9, 0.7), (0.5, 0.8), (0.5, 0.8)]):
        counter.update(np.stack([generator.random((1, 4000)) < rate for rate in rates]))
        pair = PairSums("a", "b", *counter.sums(0, 1))
        resumed.load(monitor.save())
        row = 4000 * (part + 1)
        assert monitor.look([pair], row) == resumed.look([pair], row)
        found += monitor.look([pair], row)
    assert found[-1].earlier is not None


# What a user sees


def test_on_a_stationary_stream_nothing_is_said_to_have_changed(tmp_path: Path) -> None:
    reported: list[Verdict | ModelVerdict] = []
    learners = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes()}
    results = sg.evaluate(sg.RandomRBF(n_rows=30_000), learners, every=500, batch_size=500, on_verdict=reported.append)
    assert [verdict.outcome for verdict in reported] == ["equivalent", "undecided", "first"]
    (verdict,) = results.verdicts
    assert (verdict.outcome, verdict.better) == ("first", "tree")
    assert verdict.earlier is not None
    assert verdict.earlier.outcome == "equivalent"
    (claims,), _ = claim_verdicts(results.verdicts)
    text = claims.claims[0].whole
    assert "changed" not in text
    earlier = verdict.earlier
    assert f"they were known to be equivalent from row {earlier.since:,} to row {earlier.until:,}, no longer so" in text
    save(results, tmp_path / "run")
    assert load(tmp_path / "run").verdicts == results.verdicts
    (facts,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["verdicts"]
    assert (facts["outcome"], facts["earlier"]) == ("first", asdict(verdict.earlier))


def test_the_words_claim_no_cause_and_call_nothing_decided() -> None:
    ended = Verdict("a", "b", "undecided", None, *FACTS, EarlierVerdict("second", 4000, 9000))
    past = "b was known to be better from row 4,000 to row 9,000, no longer so"
    assert str(ended) == f"a and b: undecided now in accuracy; {past}"
    again = replace(ended, outcome="second", row=9500)
    known = "b is better than a in accuracy, known since row 9,500"
    assert str(again) == f"{known}; before that, known from row 4,000 to row 9,000"
    assert str(replace(ended, earlier=None)) == "a and b: undecided yet in accuracy"
    (claims,), _ = claim_verdicts([ended, replace(again, first="c")])
    first, second = claims.claims
    assert first.sentence.startswith("b is better than c")  # what is decided comes first
    assert "a and b: undecided now" in second.sentence


@pytest.mark.parametrize("scheme", [sg.Prequential(), sg.Bootstrap(5)], ids=str)
def test_callbacks_get_every_change_in_order_whatever_the_batches(scheme: Scheme) -> None:
    learners = {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    seen: dict[int, list[Verdict | ModelVerdict]] = {}
    for batch_size in (100, 1700, 30_000):
        seen[batch_size] = []
        sg.evaluate(
            sg.RandomRBF(n_rows=30_000),
            learners,
            scheme=scheme,
            every=500,
            batch_size=batch_size,
            live_test=LiveTest(measure=("kappa", "accuracy"), rope=0.0),
            budgets=["accuracy>0.8", "beats majority"],
            on_verdict=seen[batch_size].append,
        )
    assert seen[100] == seen[1700] == seen[30_000]
    rows = [one.row or (one.earlier.until if one.earlier is not None else 0) for one in seen[100]]
    assert rows == sorted(rows)
    assert any(one.row is None for one in seen[100])  # no longer held
