"""Analyses of blocks: votes in bins against plain NumPy, measures together and alone, and learners that fail."""

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import _native
from streamgauge.protocols import Measure
from streamgauge.records import BlockLayout, BlockTallies, Schema
from streamgauge.records.blocks import VoteBins, align_bins
from streamgauge.significance.interim_analyses import BlockAnalysis, analyse_measures
from streamgauge.significance.two_way import (
    measure_all_without_blocks,
    measure_looks_without_blocks,
    measure_without_blocks,
)

MEASURES = ("kappa", "f1[1]", "mcc", "roc_auc[1]", "pr_auc[0]")
SCHEMA = sg.SEA().schema


@pytest.fixture(scope="module")
def results() -> sg.Results:
    learners = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50), "majority": sg.MajorityClass()}
    return sg.evaluate(
        sg.SEA(n_rows=5000, noise=0.1), learners, scheme=sg.Bootstrap(3), measures=list(MEASURES), live_test=None
    )


def find_measures() -> list[Measure]:
    bound = (sg.measures.measure(name) for name in MEASURES)
    return [one.bind(SCHEMA) if isinstance(one, sg.measures.OverTallies) else one for one in bound]


def find_span(bin_: int) -> range:
    """Return the numbers that a bin covers: twice its middle has as many trailing zeros as it has halvings."""
    level = (bin_ & -bin_).bit_length() - 1
    return range(bin_ >> (level + 1) << level, ((bin_ >> (level + 1)) + 1) << level)


def make_bin(index: int, level: int) -> int:
    return (2 * index + 1) << level


def align_plainly(parts: list[VoteBins]) -> tuple[list[int], NDArray[np.float64]]:
    every = {bin_ for bins, _ in parts for bin_ in bins.tolist()}
    covered = {bin_: {one for one in every if one != bin_ and one in spanned(bin_)} for bin_ in every}
    common = sorted(every - set().union(*covered.values()))
    aligned = np.zeros((2, len(parts), len(common)))
    for part, (bins, weights) in enumerate(parts):
        for bin_, of_bin in zip(bins.tolist(), weights.T, strict=True):
            (place,) = (at for at, wide in enumerate(common) if bin_ == wide or bin_ in covered[wide])
            aligned[:, part, place] += of_bin
    return common, aligned


def spanned(bin_: int) -> set[int]:
    """Return all bins that a bin covers."""
    numbers = find_span(bin_)
    levels = range(len(numbers).bit_length())
    return {
        make_bin(index, level) for level in levels for index in range(numbers.start >> level, numbers.stop >> level)
    }


def draw_part(random: np.random.Generator) -> VoteBins:
    """Return bins of several widths, none of which covers another."""
    bins: list[int] = []
    start = 0
    while start < 64:
        level = int(random.integers(0, 4))
        if start % (1 << level) == 0:
            if random.random() < 0.4:
                bins.append(make_bin(start >> level, level))
            start += 1 << level
    return np.array(bins, dtype=np.int64), random.integers(0, 9, size=(2, len(bins))).astype(np.float64)


def rank_plainly(of_class: NDArray[np.float64], of_others: NDArray[np.float64]) -> tuple[float, float]:
    """Return the area by pairs of bins, and the mean precision over the rows of the class."""
    bins = np.arange(len(of_class))
    wins = (bins[:, None] > bins) + 0.5 * (bins[:, None] == bins)
    pairs = of_class.sum() * of_others.sum()
    roc = float(of_class @ wins @ of_others) / pairs if pairs else np.nan
    above = np.array([of_class[at:].sum() for at in bins])
    others = np.array([of_others[at:].sum() for at in bins])
    reached = of_class > 0.0
    precise = float((of_class[reached] * above[reached] / (above + others)[reached]).sum())
    return roc, precise / of_class.sum() if pairs else np.nan


@pytest.mark.parametrize("seed", range(20))
def test_votes_are_aligned_and_ranked_as_by_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [draw_part(random) for _ in range(random.integers(1, 6))]
    bins, aligned = align_bins(parts)
    common, expected_votes = align_plainly(parts)
    assert bins.tolist() == common
    np.testing.assert_array_equal(aligned, expected_votes)
    roc, precision = _native.rank_votes(*aligned)
    if len(bins):
        expected = [rank_plainly(*of_part) for of_part in aligned.swapaxes(0, 1)]
        np.testing.assert_allclose(np.stack([roc, precision], axis=1), expected, rtol=1e-12)


def test_pooled_votes_are_aligned_block_by_block() -> None:
    random = np.random.default_rng(1)
    narrow = (np.array([make_bin(2, 0), make_bin(3, 0), make_bin(8, 0)]), random.random((2, 4, 3)))
    wide = (np.array([make_bin(1, 1)]), np.asfortranarray(random.random((2, 4, 1))))
    empty = (np.empty(0, dtype=np.int64), np.empty((2, 4, 0)))
    _, aligned = align_bins([narrow, wide, empty])
    assert aligned.shape == (2, 3, 4, 2)
    for block in range(4):
        parts = [(bins, weights[:, block]) for bins, weights in (narrow, wide, empty)]
        np.testing.assert_allclose(aligned[:, :, block], align_plainly(parts)[1], rtol=1e-15)


def test_bins_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="bins of votes are not in order"):
        _native.align_votes([(np.array([7, 3]), np.ones((2, 2)))])


def test_areas_without_blocks_are_those_of_the_other_blocks(results: sg.Results) -> None:
    blocks, (*_, roc, precision) = results.blocks, find_measures()
    assert blocks is not None
    values = measure_all_without_blocks(blocks, [roc, precision])
    for learner, fold in np.ndindex(3, 3):
        for number, code in enumerate((1, 0)):
            _, weights = blocks.votes[learner, fold, code]
            of_bins = [
                rank_plainly(*weights[:, [own for own in range(blocks.n_blocks) if own != block]].sum(axis=1))[number]
                for block in range(-1, blocks.n_blocks)
            ]
            found = values[number, learner, fold]  # the whole is exact, the changes are those of bins
            exact = results.curve(results.learners[learner], (roc, precision)[number].name)[-1, fold]
            assert found[0] == pytest.approx(exact, rel=1e-12)
            np.testing.assert_allclose(found - found[0], np.array(of_bins) - of_bins[0], rtol=0.0, atol=1e-12)


def check_same(found: BlockAnalysis, expected: BlockAnalysis) -> None:
    np.testing.assert_array_equal(found.fold_differences, expected.fold_differences)
    np.testing.assert_array_equal(found.variance, expected.variance)
    assert (found.first_row, found.notes) == (expected.first_row, expected.notes)


def test_measures_analysed_together_are_those_analysed_alone(results: sg.Results) -> None:
    blocks, measures, pairs = results.blocks, find_measures(), [(0, 1), (0, 2), (1, 2)]
    assert blocks is not None
    together = analyse_measures(blocks, measures, pairs, SCHEMA.classes)
    for measure, found in zip(measures, together, strict=True):
        check_same(found, analyse_measures(blocks, [measure], pairs, SCHEMA.classes)[0])
        for index, pair in enumerate(pairs):
            alone = analyse_measures(blocks, [measure], [pair])[0]
            np.testing.assert_array_equal(found.variance[index : index + 1], alone.variance)
    assert np.isfinite([analysis.variance[0] for analysis in together]).all()


@pytest.mark.parametrize("n_classes", [2, 3, 9, 20])
def test_looks_measured_together_have_the_bits_of_each_alone(n_classes: int) -> None:
    random, layout = np.random.default_rng(n_classes), BlockLayout(n_classes, ())
    looks = [
        BlockTallies(np.arange(1, n + 1), layout, random.random((2, 3, n, layout.n_numbers))) for n in (20, 1, 33, 40)
    ]
    measures = [sg.measures.measure(name) for name in ("kappa", "mcc", "g_mean", "f1_macro", "f1_weighted")]
    of_class = sg.measures.measure("specificity[2]")
    assert isinstance(of_class, sg.measures.OverTallies)
    of_class = of_class.bind(Schema((), tuple(map(str, range(1, 1 + n_classes)))))
    together = measure_looks_without_blocks(looks, [*measures, of_class])
    for look, found in zip(looks, together, strict=True):
        np.testing.assert_array_equal(found, measure_all_without_blocks(look, [*measures, of_class]))
        assert np.isfinite(found[..., 0]).all()


def test_a_learner_that_has_failed_leaves_the_others_as_they_are(results: sg.Results) -> None:
    blocks, measures = results.blocks, find_measures()
    assert blocks is not None
    numbers = blocks.numbers.copy()
    numbers[1] = np.nan
    votes = {key: bins for key, bins in blocks.votes.items() if key[0] != 1}
    failed = BlockTallies(blocks.rows, blocks.layout, numbers, votes)
    pairs = [(0, 1), (0, 2)]
    for found, expected in zip(
        analyse_measures(failed, measures, pairs), analyse_measures(blocks, measures, pairs), strict=True
    ):
        assert np.isnan(found.differences[0])
        assert found.notes[0].endswith("is undefined")
        np.testing.assert_array_equal(found.fold_differences[1], expected.fold_differences[1])
        np.testing.assert_array_equal(found.variance[1], expected.variance[1])


def test_one_measure_has_the_values_of_many(results: sg.Results) -> None:
    assert results.blocks is not None
    measures = find_measures()
    for measure, values in zip(measures, measure_all_without_blocks(results.blocks, measures), strict=True):
        np.testing.assert_array_equal(measure_without_blocks(results.blocks, measure), values)


def test_votes_of_blocks_are_computed_when_they_are_read() -> None:
    layout = BlockLayout(1, ("ranks",))
    ends = [[(np.array([3]), np.array([[2.0], [0.0]]))], [(np.array([3, 5]), np.array([[2.0, 1.0], [1.0, 4.0]]))]]
    numbers = np.ones((1, 2, layout.n_numbers)) * np.array([8.0, 16.0])[None, :, None]
    blocks = BlockTallies.from_cumulative([8, 16], numbers, [ends], (1, 1), layout)
    assert list(blocks.votes) == [(0, 0, 0)]
    assert len(blocks.votes) == 1
    assert blocks.votes[0, 0, 0][1].tolist() == [[[2.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 4.0]]]
