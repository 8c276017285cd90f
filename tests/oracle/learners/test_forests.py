"""AdaptiveRandomForest against MOA, and on a real stream."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from peers import arff, moa
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Schema, Step
from streamgauge.streams import SEA, Hyperplane

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]


def rows_of(stream: Stream, n_rows: int) -> Rows:
    batch = next(stream.batches(n_rows))
    return stream.schema, batch.x, batch.y


def predictions(spec: LearnerSpec, rows: Rows, seed: int = 1) -> NDArray[np.int32]:
    schema, x, y = rows
    return spec.build(schema, seed).interleave(Step(Batch(0, x, y)), with_votes=False)[0]


def accuracy(spec: LearnerSpec, rows: Rows, seed: int = 1, *, start: int = 0) -> float:
    return float((predictions(spec, rows, seed) == rows[2])[start:].mean())


MOA_FOREST = "meta.AdaptiveRandomForest -s 5 -o (Specified m (integer value)) -m {m}"


@pytest.mark.skipif(moa.why_absent() is not None, reason=str(moa.why_absent()))
@pytest.mark.parametrize("stream", [SEA(), Hyperplane()], ids=["SEA", "hyperplane"])
def test_a_forest_is_as_accurate_as_that_of_moa_which_observes_one_attribute_fewer_than_it_draws(stream: Stream):
    rows, m = rows_of(stream, 5_000), 2
    theirs = moa.prequential(MOA_FOREST.format(m=m + 1), *rows).accuracy
    ours = np.mean([accuracy(AdaptiveRandomForest(5, subspace=m), rows, seed) for seed in range(5)])
    assert ours > theirs - 0.02


ELECTRICITY = Path(__file__).parents[4] / "shared" / "data" / "electricity.arff"


@pytest.mark.skipif(not ELECTRICITY.exists(), reason=f"{ELECTRICITY} is not there")
def test_the_renewed_beat_a_single_tree_on_a_real_stream():
    schema, x, y = arff.read(ELECTRICITY)
    rows = schema, x, y
    tree = accuracy(HoeffdingTree(), rows)
    assert accuracy(AdaptiveRandomForest(), rows) > tree + 0.05
    assert accuracy(StreamingRandomPatches(), rows) > tree + 0.05
