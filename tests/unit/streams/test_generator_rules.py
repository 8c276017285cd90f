"""Generators of rules and patterns: every label follows its published rule, every value its distribution."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from streamgauge import _native, randomness
from streamgauge.checks import check_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    AssetNegotiation,
    Classification,
    Hyperplane,
    Mixed,
    PokerHand,
    RandomRBF,
    RandomTree,
    Sine,
    Waveform,
)
from tests.support.generator_rules import (
    POKER_COUNTS,
    UNLIKELY,
    agrawal_label,
    assert_even,
    assert_uniform,
    poker_class,
    rows_of,
)
from tests.support.stand_ins import DATA
from tests.unit.streams.test_generators import GENERATORS as MOVING

GENERATORS = [
    LED(),
    LED(3, noise=0.3, n_rows=500),
    Waveform(),
    Waveform(40, seed=3),
    *(Agrawal(concept) for concept in range(1, 11)),
    *(STAGGER(concept) for concept in (1, 2, 3)),
    *(Sine(concept, n_irrelevant=concept - 1) for concept in (1, 2, 3, 4)),
    *(Mixed(concept) for concept in (1, 2)),
    RandomTree(),
    RandomTree(n_nominal=0, n_classes=7, max_depth=8, n_rows=900),
    RandomTree(n_nominal=2, n_numeric=0, max_depth=9, seed=5),
    *(AssetNegotiation(concept) for concept in (1, 2, 3, 4, 5)),
    PokerHand(),
    Classification(),
    Classification(
        2, n_attributes=9, n_informative=5, n_redundant=4, n_classes=3, n_clusters=3, shares=(0.7, 0.2, 0.1)
    ),
]


@pytest.mark.parametrize("stream", [*GENERATORS, *MOVING], ids=str)
def test_generators_keep_the_contract_of_streams(stream):
    check_stream(stream)


@pytest.mark.parametrize("stream", [*GENERATORS, *MOVING], ids=str)
def test_every_instruction_set_gives_the_same_rows(stream):
    before = _native.instruction_set()
    seen = set()
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            x, y = rows_of(stream, 300, start=200)
            seen.add((x.tobytes(), y.tobytes()))
    finally:
        _native.use_instruction_set(before)
    assert len(seen) == 1


def test_fingerprints_tell_generators_apart():
    assert len({stream.fingerprint for stream in GENERATORS}) == len(GENERATORS)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: LED(8), "n_drifting = 8"),
        (lambda: LED(noise=2), "noise = 2"),
        (lambda: Waveform(22), "21 or 40"),
        (lambda: Agrawal(11), "concept = 11: there are only 10"),
        (lambda: STAGGER(0), "concept = 0"),
        (lambda: RandomTree(n_nominal=0, n_numeric=0), "at least one attribute"),
        (lambda: next(RandomTree(max_depth=100).batches(1)), "more than a million nodes"),
        (lambda: Classification(n_clusters=3), "corners"),
        (lambda: Classification(shares=(0.5, 0.6)), "add up to 1"),
        (lambda: Classification(shares=(1.0,)), "2 numbers"),
        (lambda: SEA(sample=2**64), "sample"),
    ],
)
def test_options_outside_their_range_are_refused_by_name(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_samples_hold_other_rows_of_the_same_concept():
    for kind in (SEA, Hyperplane, RandomRBF, Waveform, RandomTree, Classification, PokerHand):
        one, other = (rows_of(kind(sample=sample), 1_000) for sample in (0, 1))
        assert not np.array_equal(one[0], other[0])
    concept = Hyperplane(n_drifting=10, magnitude=0.01, noise=0.0)
    (x, y), (x_2, y_2) = (rows_of(replace(concept, sample=sample)) for sample in (0, 7))
    # The weights of a window of rows are nearly the same: those found in one sample predict the other.
    rows = slice(15_000, 15_200)
    weights, *_ = np.linalg.lstsq(x[rows] - 0.5, 2.0 * y[rows] - 1.0, rcond=None)
    assert np.mean(((x_2[rows] - 0.5) @ weights > 0) == y_2[rows]) > 0.85


def test_drifting_segments_change_places_with_other_attributes():
    (still, y), (moved, moved_y) = rows_of(LED(0)), rows_of(LED(3))
    places = [7, 8, 9, 3, 4, 5, 6, 0, 1, 2, *range(10, 24)]
    assert np.array_equal(moved, still[:, places])
    assert np.array_equal(moved_y, y)


@pytest.mark.parametrize("concept", range(1, 11))
def test_an_applicants_group_follows_the_rule_of_the_paper(concept):
    x, y = rows_of(Agrawal(concept, perturbation=0.0), 5_000)
    assert y.tolist() == [agrawal_label(concept, row) for row in x]
    assert 0 < y.mean() < 1


def test_applicants_are_distributed_as_the_paper_says():
    x, _ = rows_of(Agrawal(perturbation=0.0))
    salary, commission, age, level, car, zipcode, value, years, loan = x.T
    assert_uniform(salary, 20_000, 150_000)
    assert np.array_equal(commission == 0, salary >= 75_000)
    assert_uniform(commission[commission > 0], 10_000, 75_000)
    assert_uniform(loan, 0, 500_000)
    assert_uniform(value / (9 - zipcode), 50_000, 150_000)
    for codes, first, n in ((age, 20, 61), (years, 1, 30), (level, 0, 5), (car, 0, 20), (zipcode, 0, 9)):
        assert_even(codes - first, n)


def test_perturbed_numbers_stay_in_range_and_labels_stay_the_same():
    (x, y), (clean, clean_y) = rows_of(Agrawal(7, perturbation=0.05)), rows_of(Agrawal(7, perturbation=0.0))
    assert np.array_equal(y, clean_y)
    assert np.array_equal(x[:, 3:6], clean[:, 3:6])
    for j, low, high in ((0, 20_000, 150_000), (8, 0, 500_000)):
        assert x[:, j].min() >= low
        assert x[:, j].max() <= high
        moved = (x[:, j] - clean[:, j]) / (high - low)
        inside = np.abs(clean[:, j] - (low + high) / 2) < 0.4 * (high - low)
        assert_uniform(moved[inside], -0.05, 0.05)
    assert set(np.unique(x[:, 2])) == set(range(20, 81))
    assert set(np.unique(x[:, 7])) == set(range(1, 31))


def test_a_point_is_below_or_above_its_curve():
    for concept in (1, 2, 3, 4):
        x, y = rows_of(Sine(concept))
        curve = np.sin(x[:, 0]) if concept < 3 else 0.5 + 0.3 * np.sin(3 * np.pi * x[:, 0])
        assert np.array_equal(y, (x[:, 1] >= curve) == (concept % 2 == 1))
        for column in x.T:
            assert_uniform(column, 0, 1)


def is_interested(concept, row, schema):
    """Return whether the agent is interested, in the words of MOA."""
    colour, price, payment, amount, delay = (a.values[int(v)] for a, v in zip(schema.attributes, row, strict=True))
    match concept:
        case 1:
            return (price == "normal" and amount == "high") or (colour, price, delay) == ("brown", "veryLow", "high")
        case 2:
            return (price, amount, delay) == ("high", "veryHigh", "high")
        case 3:
            return (price, payment, amount) == ("veryLow", "0", "high") or (colour, price, payment) == (
                "red",
                "low",
                "30",
            )
        case 4:
            return delay == "veryLow" and (
                (colour, payment) == ("black", "90") or (colour, price) == ("magenta", "high")
            )
        case _:
            return (amount, delay) == ("low", "normal") and (colour == "cyan" or (colour, payment) == ("blue", "60"))


@pytest.mark.parametrize("concept", [1, 2, 3, 4, 5])
def test_an_agent_is_interested_by_its_rule_in_half_of_the_assets(concept):
    stream = AssetNegotiation(concept, noise=0.0)
    x, y = rows_of(stream, 10_000)
    assert y.tolist() == [int(not is_interested(concept, row, stream.schema)) for row in x]
    assert stats.binomtest(int(y.sum()), len(y), 0.5).pvalue > UNLIKELY
    combinations = Counter(map(tuple, x[y == 0]))
    assert stats.chisquare(list(combinations.values())).pvalue > UNLIKELY
    noisy_x, noisy = rows_of(AssetNegotiation(concept, noise=0.2), 10_000)
    assert np.array_equal(noisy_x, x)
    assert stats.binomtest(int((noisy != y).sum()), len(y), 0.2).pvalue > UNLIKELY


def test_poker_hands_have_their_class_and_no_card_twice():
    x, y = rows_of(PokerHand(), 50_000)
    cards = np.sort(13 * x[:, 0::2] + x[:, 1::2] - 1, axis=1).astype(int)
    assert (np.diff(cards, axis=1) > 0).all()
    assert_even(cards.ravel(), 52)
    some = slice(0, 5_000)
    assert y[some].tolist() == [poker_class(row) for row in x[some].tolist()]


def test_poker_classes_are_as_frequent_as_combinatorics_says():
    _, y = rows_of(PokerHand(), 1_000_000)
    counts = np.bincount(y, minlength=10)
    expected = POKER_COUNTS / POKER_COUNTS.sum() * 1_000_000
    assert stats.chisquare([*counts[:8], counts[8:].sum()], [*expected[:8], expected[8:].sum()]).pvalue > UNLIKELY


class Draws:
    """The draws that a tree is grown of."""

    def __init__(self, seed):
        self.seed = seed

    def uniform(self, i):
        return float(randomness.uniform(self.seed, "tree nodes", 0, i)[0])

    def below(self, i, limit):
        return int(randomness.below(self.seed, "tree nodes", 0, i, 1, limit)[0])


def grown_tree(options, draws):
    """Grow the tree of MOA's generator level by level; a node is a class or (attribute, threshold, children)."""
    root: dict[str, Any] = {
        "depth": 0,
        "nominal": list(range(options.n_nominal)),
        "ranges": [(0.0, 1.0)] * options.n_numeric,
    }
    nodes = [root]
    for i, node in enumerate(nodes):  # grows while it is gone through
        candidates = len(node["nominal"]) + options.n_numeric
        early = node["depth"] >= options.first_leaf_depth and draws.uniform(3 * i) < options.leaf_fraction
        if early or node["depth"] == options.max_depth or candidates == 0:
            node["class"] = draws.below(3 * i + 1, options.n_classes)
            continue
        pick = draws.below(3 * i + 1, candidates)
        child = {"depth": node["depth"] + 1, "nominal": node["nominal"], "ranges": node["ranges"]}
        if pick < len(node["nominal"]):
            attribute = node["nominal"][pick]
            left = [a for a in node["nominal"] if a != attribute]
            node["children"] = [{**child, "nominal": left} for _ in range(options.n_values)]
        else:
            numeric = pick - len(node["nominal"])
            attribute = options.n_nominal + numeric
            low, high = node["ranges"][numeric]
            node["threshold"] = low + (high - low) * draws.uniform(3 * i + 2)
            parts = [(low, node["threshold"]), (node["threshold"], high)]
            node["children"] = [
                {**child, "ranges": [*node["ranges"][:numeric], part, *node["ranges"][numeric + 1 :]]} for part in parts
            ]
        node["attribute"] = attribute
        nodes.extend(node["children"])
    return root


def tree_class(node, row):
    while "class" not in node:
        value = row[node["attribute"]]
        node = node["children"][int(value >= node["threshold"]) if "threshold" in node else int(value)]
    return node["class"]


@pytest.mark.parametrize(
    "stream",
    [
        RandomTree(),
        RandomTree(n_nominal=2, n_numeric=3, n_classes=4, leaf_fraction=0.5, first_leaf_depth=1, seed=4),
        RandomTree(n_nominal=2, n_numeric=0, max_depth=9, seed=5),
    ],
    ids=str,
)
def test_a_row_falls_into_the_leaf_of_its_class(stream):
    root = grown_tree(stream, Draws(stream.seed))
    x, y = rows_of(stream, 3_000)
    assert y.tolist() == [tree_class(root, row) for row in x.tolist()]
    for column in x[:, : stream.n_nominal].T:
        assert_even(column, stream.n_values)
    for column in x[:, stream.n_nominal :].T:
        assert_uniform(column, 0, 1)


def test_clusters_lie_at_the_corners_of_a_cube():
    stream = Classification(
        n_attributes=8, n_informative=4, n_redundant=2, n_classes=3, n_clusters=1, separation=2.0, noise=0.0
    )
    x, y = rows_of(stream, 60_000)
    corners = np.array([x[y == code, :4].mean(axis=0) for code in range(3)])
    assert np.abs(np.abs(corners) - 2.0).max() < 0.1
    assert len({tuple(np.sign(corner)) for corner in corners}) == 3
    sums, residual, *_ = np.linalg.lstsq(x[:, :4], x[:, 4:6], rcond=None)
    assert residual.max() < 1e-18 * len(x)
    assert np.abs(sums).max() <= 1.0
    assert stats.kstest(x[:, 7], "norm").pvalue > UNLIKELY
    assert stats.kstest(x[y == 1, 7], "norm").pvalue > UNLIKELY


def test_the_shares_and_the_noise_of_classification_are_as_asked():
    shares = (0.7, 0.2, 0.1)
    stream = Classification(n_informative=3, n_classes=3, shares=shares, noise=0.0)
    x, y = rows_of(stream, 50_000)
    assert stats.chisquare(np.bincount(y), np.array(shares) * 50_000).pvalue > UNLIKELY
    noisy_x, noisy = rows_of(replace(stream, noise=0.1), 50_000)
    assert np.array_equal(x, noisy_x)
    assert stats.binomtest(int((noisy != y).sum()), 50_000, 0.1).pvalue > UNLIKELY
    assert stats.chisquare(np.bincount((noisy - y)[noisy != y] % 3)[1:]).pvalue > UNLIKELY


def test_concepts_of_classification_differ_but_give_a_row_the_same_class():
    (x, y), (other_x, other_y) = (rows_of(Classification(concept, noise=0.05), 1_000) for concept in (1, 2))
    assert np.array_equal(y, other_y)
    assert not np.array_equal(x, other_x)


def test_a_wrong_seed_is_refused():
    with pytest.raises(StreamgaugeError, match="seed"):
        LED(seed=-1)


def test_hands_of_a_real_stream_have_our_labels():
    data = np.loadtxt(DATA / "streams" / "poker-hand-25k.csv", delimiter=",", dtype=int)
    assert [poker_class(cards) for *cards, _ in data.tolist()] == data[:, -1].tolist()
