"""AdaptiveRandomForest and StreamingRandomPatches against MOA, and on a real stream."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from peers import moa
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import SEA, File, Hyperplane
from tests.support.chessboard import chessboard

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]


def rows_of(stream: Stream, n_rows: int) -> Rows:
    batch = next(stream.batches(n_rows))
    return stream.schema, batch.x, batch.y


def predictions(spec: LearnerSpec, rows: Rows, seed: int = 1) -> NDArray[np.int32]:
    schema, x, y = rows
    return spec.build(schema, seed).interleave(Step(Batch(0, x, y)), with_votes=False)[0]


def accuracy(spec: LearnerSpec, rows: Rows, seed: int = 1, *, start: int = 0) -> float:
    return float((predictions(spec, rows, seed) == rows[2])[start:].mean())


@pytest.mark.usefixtures("moa")
@pytest.mark.parametrize("stream", [SEA(), Hyperplane()], ids=["SEA", "hyperplane"])
def test_a_forest_is_as_accurate_as_that_of_moa(stream: Stream):
    rows = rows_of(stream, 5_000)
    theirs = moa.run_prequential("meta.AdaptiveRandomForest -s 5 -o (Specified m (integer value)) -m 2", *rows).accuracy
    ours = np.mean([accuracy(AdaptiveRandomForest(5, subspace=2), rows, seed) for seed in range(5)])
    assert ours > theirs - 0.01


RESAMPLED = "meta.StreamingRandomPatches -s 1 -t (Resampling (bagging))"
FOREST = "meta.AdaptiveRandomForest -s 1"


@pytest.mark.usefixtures("moa_programs")
def test_in_patches_of_moa_a_background_learner_that_has_taken_over_learns_every_row_twice_until_the_next_warning():
    rows = moa.record_events(RESAMPLED, 18, warnings="3,12", drifts="6,9,15")
    learnt = [[event for event in row if event.startswith("model")] for row in rows]
    assert learnt[:4] == [["model1"]] * 4
    assert learnt[4:7] == [["model1", "model2"]] * 3
    # The drift at row 9, without a warning since the last one, replaces nothing.
    assert learnt[7:13] == [["model2", "model2"]] * 6
    assert learnt[13:16] == [["model2", "model3"]] * 3
    assert learnt[16:] == [["model3", "model3"]] * 2
    detectors = {row: [event for event in rows[row] if not event.startswith("model")] for row in (7, 10, 13, 16)}
    assert detectors[7] == ["warning1", "drift1"]
    assert detectors[10] == ["warning4", "drift4"]
    assert detectors[13] == ["warning1", "drift7"]
    assert detectors[16] == ["warning1", "drift1"]


@pytest.mark.usefixtures("moa_programs")
def test_in_moa_a_background_learner_has_learnt_nothing_if_warning_and_drift_come_at_the_same_row():
    patches = moa.record_events(RESAMPLED, 6, warnings="3", drifts="3")
    assert patches[4] == ["model2", "model2", "warning1", "drift1"]
    forest = moa.record_events(FOREST, 6, warnings="3", drifts="3")
    assert forest[4] == ["model2", "warning1", "drift1"]


@pytest.mark.usefixtures("moa_programs")
@pytest.mark.parametrize("ensemble", [RESAMPLED, FOREST])
def test_in_moa_a_drift_without_a_background_learner_keeps_the_detector_of_warnings(ensemble: str):
    rows = moa.record_events(ensemble, 8, warnings="", drifts="3,5")
    assert rows[3] == ["model1", "warning4", "drift4"]
    assert rows[4] == ["model2", "warning5", "drift1"]
    assert rows[6] == ["model3", "warning7", "drift1"]


@pytest.mark.usefixtures("moa_programs")
def test_in_forests_of_moa_a_background_tree_learns_once_after_it_has_taken_over():
    rows = moa.record_events(FOREST, 12, warnings="3", drifts="6,9")
    assert rows[5] == ["model1", "model2", "warning2", "drift6"]
    assert rows[7] == ["model2", "warning1", "drift1"]
    assert rows[10] == ["model3", "warning4", "drift1"]


@pytest.mark.usefixtures("moa")
def test_members_without_random_numbers_are_replaced_as_in_moa():
    # Any two of three equal attributes tell the same, and members learn with the weights of the rows.
    rng = np.random.default_rng(5)
    value = rng.random(12_000)
    concepts = rng.integers(2, size=(12, 8))
    y = concepts[np.arange(12_000) // 1_000, (8 * value).astype(int)].astype(np.int32)
    rows = Schema(tuple(map(Attribute, "abc")), ("x", "y")), np.column_stack([value] * 3), y
    subspaces = "-t (Random Subspaces) -o (Specified m (integer value)) -m 2"
    theirs = moa.run_prequential(f"meta.StreamingRandomPatches -s 1 {subspaces}", *rows)
    ours = predictions(StreamingRandomPatches(1, patches="subspaces", subspace=2), rows)
    assert np.mean(ours == y) == pytest.approx(theirs.accuracy, abs=0.01)
    assert np.mean(ours == theirs.predictions) > 0.97


@pytest.mark.usefixtures("moa_programs")
@pytest.mark.parametrize("subspace", [1, 2])
def test_leaves_of_a_forest_that_observe_one_attribute_split_without_another_to_compare(subspace: int):
    rows, seeds = chessboard(12_800), range(1, 6)
    command = f"meta.AdaptiveRandomForest -s 1 -u -o (Specified m (integer value)) -m {subspace}"
    ones = np.ones(len(rows[2]))
    theirs = [np.mean(moa.predict_weighted(command, *rows, ones, seed=seed) == rows[2]) for seed in seeds]
    spec = AdaptiveRandomForest(1, subspace=subspace, drift_delta=None)
    ours = [accuracy(spec, rows, seed) for seed in seeds]
    margin = 3 * float(np.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / np.sqrt(len(seeds)))
    assert abs(np.mean(ours) - np.mean(theirs)) < margin + 0.01


def test_adaptive_forests_beat_a_single_tree_on_a_real_stream(real_stream: Callable[[str], File]):
    rows = rows_of(real_stream("electricity"), 45_312)
    tree = accuracy(HoeffdingTree(), rows)
    assert accuracy(AdaptiveRandomForest(), rows) > tree + 0.05
    assert accuracy(StreamingRandomPatches(), rows) > tree + 0.05
