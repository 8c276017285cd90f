"""KNearestNeighbours against scikit-learn and against what its definition says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners import KNearestNeighbours
from streamgauge.records import Attribute, Batch, Schema, Step


def difference(first: float, second: float, column: NDArray[np.float64], *, nominal: bool) -> float:
    if nominal:
        return float(first != second)  # what is missing differs from everything
    known = column[~np.isnan(column)]
    low, width = (known.min(), np.ptp(known)) if len(known) else (0.0, 0.0)
    at = [(value - low) / width if width > 0 else 0.0 for value in (first, second)]
    if np.isnan(first) and np.isnan(second):
        return 1.0
    if np.isnan(first) or np.isnan(second):
        known_at = at[0] if np.isnan(second) else at[1]
        return max(known_at, 1 - known_at)
    return at[0] - at[1]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([0, 2, 5]), min_size=1, max_size=5),
    st.integers(2, 60),
    st.integers(1, 12),
    st.integers(2, 40),
    st.integers(0, 10_000),
)
def test_all_rows_as_near_as_the_kth_vote_with_their_weights(n_values, n_rows, k, window, seed):
    rng = np.random.default_rng(seed)
    nominal = np.array(n_values) > 0
    x = np.where(nominal, rng.integers(0, np.maximum(n_values, 1), (n_rows + 5, len(n_values))), 0.0)
    x[:, ~nominal] = rng.integers(0, 5, (n_rows + 5, int((~nominal).sum()))) / 4  # many are equally far
    x[rng.random(x.shape) < 0.15] = np.nan
    x[n_rows - 2 : n_rows, ~nominal] = [[0.0], [1.0]]  # a range of 1, so that nothing is rounded
    y = rng.integers(0, 3, n_rows + 5).astype(np.int32)
    weight = rng.integers(1, 4, n_rows).astype(float)
    attributes = tuple(Attribute(f"a{i}", tuple("pqrst"[:n]) or None, missing=True) for i, n in enumerate(n_values))
    learner = KNearestNeighbours(k, window).build(Schema(attributes, tuple("abc")), 1)
    learner.learn(x[:n_rows], y[:n_rows], weight)
    kept = slice(max(0, n_rows - window), n_rows)
    votes = learner.predict(x[n_rows:])
    for row, found in zip(x[n_rows:], votes, strict=True):
        distance = np.array(
            [
                sum(difference(row[i], other[i], x[kept, i], nominal=nominal[i]) ** 2 for i in range(len(n_values)))
                for other in x[kept]
            ]
        )
        near = distance <= np.sort(distance)[min(k, len(distance)) - 1] + 1e-9
        expected = np.bincount(y[kept][near], weight[kept][near], minlength=3)
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-12)


def test_a_window_forgets_a_concept_that_is_gone():
    rng = np.random.default_rng(1)
    x = rng.random((3_000, 2))
    y = (x[:, 0] > 0.5).astype(np.int32)
    y[1_500:] = 1 - y[1_500:]
    schema = Schema((Attribute("a"), Attribute("b")), ("no", "yes"))
    learner = KNearestNeighbours(k=5, window=200).build(schema, 1)
    predictions, _ = learner.interleave(Step(Batch(0, x, y)), with_votes=False)
    assert np.mean(predictions[1_800:] == y[1_800:]) > 0.95
    assert np.mean(predictions[1_500:1_550] == y[1_500:1_550]) < 0.2
    assert learner.facts == {"n_rows": 200}


def test_values_of_any_size_leave_the_votes_sound():
    x = np.array([[1e308, 1.0], [-1e308, 1.0], [5e-324, 1.0], [0.0, 1.0]])
    learner = KNearestNeighbours(k=2).build(Schema((Attribute("a"), Attribute("b")), ("no", "yes")), 1)
    learner.learn(x, np.array([0, 1, 0, 1], dtype=np.int32), None)
    votes = learner.predict(np.array([[1e308, -1e308], [0.0, 1.0], [1e-320, 5.0]]))
    np.testing.assert_allclose(votes.sum(axis=1), 1.0)


@pytest.mark.parametrize(("options", "culprit"), [({"k": 0}, "k = 0"), ({"window": 0}, "window = 0")])
def test_an_option_outside_its_range_is_refused_by_name(options, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        KNearestNeighbours(**options)
