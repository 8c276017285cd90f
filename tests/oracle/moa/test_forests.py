"""AdaptiveRandomForest against MOA, and on a real stream."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from peers import moa
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Schema, Step
from streamgauge.streams import SEA, File, Hyperplane

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


@pytest.mark.usefixtures("moa")
@pytest.mark.parametrize("stream", [SEA(), Hyperplane()], ids=["SEA", "hyperplane"])
def test_a_forest_is_as_accurate_as_that_of_moa_which_observes_one_attribute_fewer_than_it_draws(stream: Stream):
    rows, m = rows_of(stream, 5_000), 2
    theirs = moa.run_prequential(MOA_FOREST.format(m=m + 1), *rows).accuracy
    ours = np.mean([accuracy(AdaptiveRandomForest(5, subspace=m), rows, seed) for seed in range(5)])
    assert ours > theirs - 0.02


def test_adaptive_forests_beat_a_single_tree_on_a_real_stream(real_stream: Callable[[str], File]):
    rows = rows_of(real_stream("electricity"), 45_312)
    tree = accuracy(HoeffdingTree(), rows)
    assert accuracy(AdaptiveRandomForest(), rows) > tree + 0.05
    assert accuracy(StreamingRandomPatches(), rows) > tree + 0.05
