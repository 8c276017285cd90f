"""Generators: the rows follow the rule of their concept, and its distribution is that of independent sources."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from streamgauge import randomness
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import SEA, Hyperplane, RandomRBF, take

UNLIKELY = 1e-4

GENERATORS = [
    SEA(),
    SEA(concept=3, noise=0.0, n_rows=700, seed=9),
    SEA(drift_every=33, thresholds=(2.0, 15.0, 7.5)),
    Hyperplane(),
    Hyperplane(n_drifting=10, magnitude=0.01, reversal=0.3, n_rows=500),
    Hyperplane(n_attributes=1, n_drifting=1, magnitude=0.5, noise=0.0),
    Hyperplane(n_attributes=1000, n_drifting=7, magnitude=0.1),
    RandomRBF(),
    RandomRBF(speed=0.01, n_drifting=20, n_classes=7, n_rows=900),
    RandomRBF(n_attributes=1, n_centroids=1, n_drifting=0),
    RandomRBF(n_attributes=1000, n_centroids=100, n_classes=100, speed=0.5),
]


def rows_of(stream, n, start=0):
    taken = take(stream, n, start)
    return taken.x, taken.y


def bounced(positions, velocities, n):
    """Step points to and fro between 0 and 1, row by row; gives their positions at each row."""
    positions, velocities = positions.copy(), velocities.copy()
    for _ in range(n):
        yield positions.copy()
        positions += velocities
        for limit, outside in ((1.0, positions > 1.0), (0.0, positions < 0.0)):
            positions[outside] = 2.0 * limit - positions[outside]
            velocities[outside] *= -1.0


def test_a_generator_is_a_small_value_that_can_be_sent_and_compared():
    for stream in GENERATORS:
        rows_of(stream, 100)
        copy = pickle.loads(pickle.dumps(stream))
        assert copy == stream
        assert copy.fingerprint == stream.fingerprint
    assert len({stream.fingerprint for stream in GENERATORS}) == len(GENERATORS)
    assert RandomRBF(speed=0).fingerprint == RandomRBF(speed=0.0).fingerprint


def test_seeds_give_different_rows():
    for kind in (SEA, Hyperplane, RandomRBF):
        assert not np.isin(rows_of(kind(seed=1), 100)[0], rows_of(kind(seed=2), 100)[0]).any()


@pytest.mark.parametrize("concept", [1, 2, 3, 4])
def test_a_sea_label_says_whether_the_sum_is_above_the_threshold(concept):
    x, y = rows_of(SEA(concept=concept, noise=0.0), 5_000)
    assert y.tolist() == (x[:, 0] + x[:, 1] > (8.0, 9.0, 7.0, 9.5)[concept - 1]).astype(int).tolist()


def test_the_sea_concepts_take_turns_from_the_chosen_one_on():
    x, y = rows_of(SEA(concept=3, drift_every=500, noise=0.0), 4_000)
    thresholds = np.tile(np.repeat([7.0, 9.5, 8.0, 9.0], 500), 2)
    assert y.tolist() == (x[:, 0] + x[:, 1] > thresholds).astype(int).tolist()


def test_sea_noise_flips_its_share_of_labels_whatever_the_row():
    n = 100_000
    (x, y), (clean_x, clean_y) = rows_of(SEA(noise=0.1), n), rows_of(SEA(noise=0.0), n)
    assert np.array_equal(x, clean_x)
    flipped = y != clean_y
    assert stats.binomtest(int(flipped.sum()), n, 0.1).pvalue > UNLIKELY
    table = stats.contingency.crosstab(flipped, clean_y).count
    assert stats.chi2_contingency(table).pvalue > UNLIKELY


@pytest.mark.parametrize(
    "stream",
    [
        Hyperplane(),
        Hyperplane(n_drifting=10, magnitude=0.01),
        Hyperplane(n_attributes=3, n_drifting=2, magnitude=0.3, reversal=0.5, noise=0.2, seed=4),
        Hyperplane(n_attributes=17, n_drifting=9, magnitude=0.001, reversal=0.0, noise=0.0),
    ],
    ids=str,
)
def test_a_hyperplane_moves_as_it_does_step_by_step(stream):
    n, d, k = 3_000, stream.n_attributes, stream.n_drifting

    def uniform(purpose, size):
        return randomness.uniform(stream.seed, f"hyperplane {purpose}", 0, 0, size)

    weights, directions = uniform("weights", d), np.ones(k)
    x = uniform("attributes", n * d).reshape(n, d)
    flips = uniform("noise", n) < stream.noise
    reversals = uniform("reversals", n * k).reshape(n, k) < stream.reversal
    margins = np.empty(n)
    for row in range(n):
        margins[row] = weights @ x[row] - 0.5 * weights.sum()
        weights[:k] += directions * stream.magnitude
        directions[reversals[row]] *= -1
    found_x, found_y = rows_of(stream, n)
    assert np.array_equal(found_x, x)
    clear = np.abs(margins) > 1e-9  # nearer to the plane, the order of the additions decides
    assert clear.mean() > 0.99
    assert np.array_equal(found_y[clear], ((margins >= 0) ^ flips).astype(int)[clear])


def test_a_hyperplane_is_the_same_in_whatever_order_and_threads_it_is_read():
    starts = [300_000, 0, 131_071, 65_536, 131_072, 65_530, 299_990, 17]
    stream = Hyperplane(n_drifting=3, magnitude=0.01, seed=77, n_rows=400_000)
    expected = {start: rows_of(stream, 20, start) for start in sorted(starts)}
    fresh = replace(stream, n_rows=400_001)  # unequal streams do not share what they have passed
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda start: rows_of(fresh, 20, start), starts * 3))
    for start, (x, y) in zip(starts * 3, found, strict=True):
        assert np.array_equal(x, expected[start][0])
        assert np.array_equal(y, expected[start][1])


def rbf_model(stream):
    """Draw the centroids of a stream by the rule: centres, velocities, classes, deviations, weights."""
    d, c = stream.n_attributes, stream.n_centroids

    def uniform(purpose, size):
        return randomness.uniform(stream.seed, f"RBF {purpose}", 0, 0, size)

    k = c if stream.n_drifting is None else stream.n_drifting
    headings = uniform("headings", k * d).reshape(k, d)
    velocities = np.zeros((c, d))
    velocities[:k] = stream.speed * headings / np.linalg.norm(headings, axis=1, keepdims=True)
    classes = randomness.below(stream.seed, "RBF classes", 0, 0, c, stream.n_classes)
    return (
        uniform("centres", c * d).reshape(c, d),
        velocities,
        classes,
        uniform("deviations", c),
        1 - uniform("weights", c),
    )


@pytest.mark.parametrize(
    "stream",
    [
        RandomRBF(),
        RandomRBF(speed=0.01),
        RandomRBF(n_attributes=5, n_classes=4, n_centroids=20, n_drifting=7, speed=0.3),
    ],
    ids=str,
)
def test_rbf_rows_lie_around_centres_that_move_step_by_step(stream):
    n, d = 4_000, stream.n_attributes
    centres, velocities, classes, deviations, weights = rbf_model(stream)
    directions = 2 * randomness.uniform(stream.seed, "RBF directions", 0, 0, n * d).reshape(n, d) - 1
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    x, y = rows_of(stream, n)
    picked, distances = np.empty(n, dtype=int), np.empty(n)
    for row, moved in enumerate(bounced(centres, velocities, n)):
        offsets = x[row] - moved
        along = offsets @ directions[row]
        astray = np.linalg.norm(offsets - np.outer(along, directions[row]), axis=1)
        picked[row] = np.argmin(astray)
        distances[row] = along[picked[row]]
        # The row lies on the line through exactly one centre.
        assert astray[picked[row]] < 1e-9
        assert (astray < 1e-6).sum() == 1
    assert np.array_equal(y, classes[picked])
    standard = distances / deviations[picked]
    assert stats.kstest(standard, "norm").pvalue > UNLIKELY
    assert abs((standard**2).mean() - 1) < 5 * np.sqrt(2 / n)
    expected = n * weights / weights.sum()
    often = expected > 5
    counts = np.bincount(picked, minlength=len(weights))
    counts, expected = (
        np.append(counts[often], counts[~often].sum()),
        np.append(expected[often], expected[~often].sum()),
    )
    some = expected > 0
    assert stats.chisquare(counts[some], expected[some]).pvalue > UNLIKELY


def test_far_down_the_stream_rbf_centres_are_where_stepping_would_bring_them():
    stream = RandomRBF(n_centroids=1, speed=0.001, seed=3)
    centres, velocities, _, _, _ = rbf_model(stream)
    start = 50_000
    *_, there = bounced(centres, velocities, start + 1)
    direction = 2 * randomness.uniform(stream.seed, "RBF directions", 0, start * 10, 10) - 1
    direction /= np.linalg.norm(direction)
    offset = rows_of(stream, 1, start)[0][0] - there[0]
    assert np.linalg.norm(offset - (offset @ direction) * direction) < 1e-8


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SEA, {"noise": 1.5}, "noise = 1.5"),
        (SEA, {"concept": 5}, "concept = 5: there are only 4"),
        (SEA, {"concept": 0}, "concept = 0"),
        (SEA, {"thresholds": ()}, "thresholds = ()"),
        (SEA, {"thresholds": (8.0, float("nan"))}, "thresholds = nan"),
        (SEA, {"drift_every": 0}, "drift_every = 0"),
        (SEA, {"seed": -1}, "seed = -1"),
        (SEA, {"seed": 2**64}, "seed = 18446744073709551616"),
        (SEA, {"n_rows": 1.5}, "n_rows = 1.5"),
        (Hyperplane, {"n_attributes": 0}, "n_attributes = 0"),
        (Hyperplane, {"n_drifting": 11}, "n_drifting = 11: there are only 10 attributes"),
        (Hyperplane, {"magnitude": float("inf")}, "magnitude = inf"),
        (Hyperplane, {"reversal": -0.1}, "reversal = -0.1"),
        (RandomRBF, {"n_classes": 1}, "n_classes = 1"),
        (RandomRBF, {"n_centroids": 0}, "n_centroids = 0"),
        (RandomRBF, {"n_drifting": 51}, "n_drifting = 51: there are only 50 centroids"),
        (RandomRBF, {"speed": -1.0}, "speed = -1.0"),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(kind, options, message):
    with pytest.raises(StreamgaugeError) as caught:
        kind(**options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_batches_of_no_rows_are_refused_before_the_first_is_asked_for():
    with pytest.raises(StreamgaugeError, match="size = 0"):
        SEA().batches(0)
    with pytest.raises(StreamgaugeError, match="start = -1"):
        SEA().batches(1, start=-1)
