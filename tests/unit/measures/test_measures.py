"""Measures against scikit-learn and the published examples."""

import json
import pickle
from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.checks import check_measure
from streamgauge.checks.measures import NUMBERS, corner_tallies, number_tally
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, Window
from streamgauge.learners import MajorityClass, NoChange
from streamgauge.measures import (
    MEASURES,
    NUMBER_MEASURES,
    accuracy,
    as_measure,
    error,
    kappa,
    kappa_m,
    kappa_temporal,
    measure,
)
from streamgauge.protocols import Measure
from streamgauge.records import Attribute, Batch, Schema, Step, Tally, Trace
from tests.support.stand_ins import PUBLISHED


def tally_of(confusion: Any, majority_hits: float = 0.0, no_change_hits: float = 0.0) -> Tally:
    table = np.array(confusion, dtype=np.float64)
    return Tally(table, np.zeros(len(table)), majority_hits, no_change_hits, int(table.sum()))


def test_the_published_examples_come_out_as_published() -> None:
    for example in json.loads((PUBLISHED / "confusion_examples.json").read_text()):
        total = np.sum(example["confusion"])
        tally = tally_of(example["confusion"], majority_hits=example.get("majority_accuracy", 0.0) * total)
        assert accuracy(tally) == pytest.approx(example["accuracy"], abs=1e-12)
        for each in (kappa, kappa_m):
            if each.name in example:
                assert each(tally) == pytest.approx(example[each.name], abs=5e-5)


def baseline_trace(learner: MajorityClass | NoChange, weight: NDArray[np.float64] | None) -> Trace:
    rng = np.random.default_rng(11)
    # Runs of classes; the second half has one class only, so that the baselines become perfect there.
    y = np.repeat(rng.integers(0, 12, 400), rng.integers(1, 6, 400)).astype(np.int32)
    y[len(y) // 2 :] = 3
    step = Step(Batch(0, np.zeros((len(y), 1)), y))
    schema = Schema((Attribute("x"),), tuple(f"c{i}" for i in range(12)))
    majority, _ = MajorityClass().build(schema, 1).interleave(step, with_votes=False)
    no_change, _ = NoChange().build(schema, 1).interleave(step, with_votes=False)
    own = majority if isinstance(learner, MajorityClass) else no_change
    return Trace(np.arange(len(y)), y, own, majority == y, no_change == y, weight)


@pytest.mark.parametrize("forgetting", [Landmark(), Window(50), Fading(0.97), AdwinWindow()], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_baseline_is_exactly_as_good_as_itself(forgetting: Any, weighted: bool) -> None:
    for learner, own in ((MajorityClass(), kappa_m), (NoChange(), kappa_temporal)):
        trace = baseline_trace(learner, None)
        if weighted:
            trace = baseline_trace(learner, np.random.default_rng(2).random(len(trace)))
        tallies = forgetting.build(12).update(trace, range(1, len(trace) + 1))
        assert {own(tally) for tally in tallies} == {0.0}


def test_the_kappas_are_0_at_the_baseline_1_when_perfect_and_never_infinite() -> None:
    perfect, half = [[5, 0], [0, 5]], [[3, 2], [3, 2]]
    for table, hits, expected in ((perfect, 4.0, 1.0), (half, 5.0, 0.0), (perfect, 10.0, 0.0), (half, 6.0, -0.25)):
        assert kappa_m(tally_of(table, majority_hits=hits)) == expected
        assert kappa_temporal(tally_of(table, no_change_hits=hits)) == expected
    assert isnan(kappa_m(tally_of(half, majority_hits=10.0)))
    assert isnan(kappa_temporal(tally_of(half, no_change_hits=10.0)))


@pytest.mark.parametrize("each", MEASURES.values(), ids=list(MEASURES))
def test_a_tally_without_weight_has_no_value(each: Any) -> None:
    if each.name in NUMBER_MEASURES:
        bound = each.bind(NUMBERS)
        assert isnan(bound(number_tally(bound, 1, 0, error=1.0, n_rows=0)))
        return
    assert isnan(each(corner_tallies()[0])) or each is MEASURES["abstentions"]


def test_kappa_is_undefined_where_one_class_alone_is_seen_and_predicted_whatever_the_rounding() -> None:
    y, always = np.zeros(1_000, dtype=np.int32), np.ones(1_000, dtype=np.bool_)
    weight = np.random.default_rng(1).random(1_000)
    trace = Trace(np.arange(1_000), y, y, always, always, weight)
    for forgetting in (Landmark(), Window(77), Fading(0.9), AdwinWindow()):
        tally = forgetting.build(3).update(trace, [1_000])[0]
        assert accuracy(tally) == 1.0
        assert error(tally) == 0.0
        assert isnan(kappa(tally))


@pytest.mark.parametrize("each", MEASURES.values(), ids=list(MEASURES))
def test_every_measure_keeps_its_contract(each: Measure) -> None:
    assert isinstance(each, Measure)
    check_measure(each)
    again = pickle.loads(pickle.dumps(each))
    assert again is each or repr(again) == repr(each)


def test_the_check_finds_a_measure_that_breaks_the_contract() -> None:
    @as_measure(greater_is_better=False)
    def upside_down(tally: Tally) -> float:
        """NaN never."""
        return tally.hits / max(tally.total, 1.0)

    @as_measure(greater_is_better=True)
    def boundless(tally: Tally) -> float:
        """NaN never."""
        return tally.hits / tally.misses if tally.misses else float("inf")

    @as_measure(greater_is_better=True)
    def silent(tally: Tally) -> float:
        return accuracy(tally)

    for wrong, fault in ((upside_down, "better than"), (boundless, "is inf"), (silent, "docstring")):
        with pytest.raises(AssertionError, match=fault):
            check_measure(wrong)


def test_measures_are_found_by_name_or_given_as_they_are() -> None:
    own = as_measure(greater_is_better=True, name="share_of_first")(lambda tally: float(tally.support[0]))
    assert measure(own) is own
    assert own.name == "share_of_first"
    assert [measure(name).name for name in MEASURES] == list(MEASURES)
    with pytest.raises(StreamgaugeError, match="there is no measure 'kapa'; did you mean kappa"):
        measure("kapa")
    with pytest.raises(StreamgaugeError, match="not a measure"):
        measure(3)  # type: ignore[arg-type]
