"""Accuracy and kappa against scikit-learn."""

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score

from streamgauge.forgetting import Landmark
from streamgauge.measures import accuracy, error, kappa
from streamgauge.records import Tally, Trace


def predictions(n_classes: int) -> st.SearchStrategy[list[tuple[int, int, float]]]:
    classes = st.integers(0, n_classes - 1)
    return st.lists(st.tuples(classes, st.integers(-1, n_classes - 1), st.floats(0.01, 10.0)), min_size=1, max_size=80)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 5).flatmap(predictions), st.booleans())
def test_accuracy_and_kappa_equal_scikit_learn_where_no_class_is_a_label_of_its_own(
    rows: list[tuple[int, int, float]], weighted: bool
) -> None:
    y_true, y_pred = (np.array(column, dtype=np.int32) for column in list(zip(*rows, strict=True))[:2])
    weight = np.array([w for *_, w in rows]) if weighted else None
    never = np.zeros(len(rows), dtype=np.bool_)
    trace = Trace(np.arange(len(rows)), y_true, y_pred, never, never, weight)
    tally = Landmark().build(5).update(trace, [len(rows)])[0]
    assert accuracy(tally) == pytest.approx(accuracy_score(y_true, y_pred, sample_weight=weight), rel=1e-12)
    assert accuracy(tally) + error(tally) == pytest.approx(1.0, rel=1e-15)
    if len(set(y_true) | set(y_pred)) == 1:
        assert isnan(kappa(tally))
    else:
        assert kappa(tally) == pytest.approx(cohen_kappa_score(y_true, y_pred, sample_weight=weight), abs=1e-9)


def test_abstentions_are_errors() -> None:
    tally = Tally(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 1.0]), 0.0, 0.0, 4)
    assert accuracy(tally) == 0.5
    assert kappa(tally) == pytest.approx(cohen_kappa_score([0, 1, 0, 1], [0, 1, -1, -1]))
