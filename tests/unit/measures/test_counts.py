"""Count measures against scikit-learn, imbalanced-learn, River and stream-learn, absent classes included."""

from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.errors import StreamgaugeError
from streamgauge.measures import (
    COUNT_MEASURES,
    Averaged,
    Cost,
    MinMaxAccuracy,
    OfClass,
    Utility,
    measure,
    measure_tallies,
)
from streamgauge.records import Schema, Tallies, Tally
from tests.support.tally_examples import tallies


@settings(max_examples=20, deadline=None)
@given(st.lists(tallies(), min_size=1, max_size=8).filter(lambda them: len({len(t.support) for t in them}) == 1))
def test_many_tallies_at_once_are_measured_as_one_by_one(drawn: list[Tally]) -> None:
    measures = list(COUNT_MEASURES.values())
    at_once = measure_tallies(measures, [Tallies.stack(drawn)])[0]
    one_by_one = np.array([[each(tally) for each in measures] for tally in drawn])
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-14, atol=1e-15)


def test_a_class_that_left_a_window_is_absent_and_does_not_count() -> None:
    # River counts a class of which 2.8e-17 is left, and a class that was only ever predicted (T6, T22).
    tally = Tally(np.array([[5.0, 0.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 0.0]]), np.zeros(3), 0.0, 0.0, 10)
    assert measure("balanced_accuracy")(tally) == pytest.approx((1.0 + 0.8) / 2)
    assert measure("g_mean")(tally) == pytest.approx(np.sqrt(0.8))
    one_class = Tally(np.diag([7.0, 0.0]), np.zeros(2), 0.0, 0.0, 7)
    assert measure("balanced_accuracy")(one_class) == measure("g_mean")(one_class) == 1.0
    assert isnan(OfClass("recall", 1)(one_class))


def test_undefined_values_are_distinguished_from_zeros() -> None:
    never_predicted = Tally(np.array([[3.0, 0.0], [2.0, 0.0]]), np.zeros(2), 0.0, 0.0, 5)
    assert isnan(OfClass("precision", 1)(never_predicted))
    assert measure("precision_macro")(never_predicted) == pytest.approx(0.6)
    assert Averaged("precision", "macro", undefined=0.0)(never_predicted) == pytest.approx(0.3)
    assert Averaged("precision", "macro", undefined=0.0).name == "precision_macro_or_0"


def test_a_class_is_named_never_counted() -> None:
    # T11, T15: a positive class is found by its name, whatever its code.
    schema = Schema((), ("spam", "1", "0"))
    tally = Tally(np.array([[4.0, 1.0, 0.0], [0.0, 2.0, 0.0], [3.0, 0.0, 1.0]]), np.zeros(3), 0.0, 0.0, 11)
    for name, expected in (("recall[spam]", 0.8), ("recall[1]", 1.0), ("recall[0]", 0.25)):
        found: Any = measure(name)
        assert found.name == name
        assert found.bind(schema)(tally) == pytest.approx(expected)
    with pytest.raises(StreamgaugeError, match="there is no class 'ham'"):
        measure("recall[ham]").bind(schema)  # type: ignore[attr-defined]
    with pytest.raises(StreamgaugeError, match="does not know the code"):
        measure("recall[spam]")(tally)
    with pytest.raises(StreamgaugeError, match="did you mean recall"):
        measure("recalls[spam]")


def test_abstentions_are_errors_skipped_or_counted_as_is_asked() -> None:
    # T14: a learner that never predicts does not score 90 percent on a stream of which 90 percent are one class.
    silent = Tally(np.zeros((2, 2)), np.array([90.0, 10.0]), 0.0, 0.0, 100)
    assert measure("accuracy")(silent) == 0.0
    assert measure("coverage")(silent) == 0.0
    assert isnan(measure("accuracy_when_predicting")(silent))
    assert measure("abstentions")(silent) == 100.0


def test_costs_and_utilities_follow_the_matrix_of_the_user() -> None:
    tally = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.array([0.0, 10.0]), 0.0, 0.0, 110)
    assert Cost(((0.0, 1.0), (10.0, 0.0)), abstained=0.5)(tally) == pytest.approx((30 + 50 + 5) / 110)
    assert Utility(((1.0, -1.0), (-5.0, 2.0)))(tally) == pytest.approx((40 - 30 - 25 + 50) / 110)
    assert Cost()(tally) == pytest.approx(measure("error")(tally))
    assert not Cost().greater_is_better
    assert Utility().greater_is_better
    assert MinMaxAccuracy(0.5, 0.9)(tally) == pytest.approx((65 / 110 - 0.5) / 0.4)
    with pytest.raises(StreamgaugeError, match="one finite number per class"):
        Cost(((0.0, 1.0),))
    with pytest.raises(StreamgaugeError, match="has 2 classes, but the stream has"):
        Cost()(Tally(np.eye(3), np.zeros(3), 0.0, 0.0, 3))
    with pytest.raises(StreamgaugeError, match="low must be below high"):
        MinMaxAccuracy(0.9, 0.5)
