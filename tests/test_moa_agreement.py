"""HoeffdingTree and NaiveBayes against MOA's, on the same rows.

Single predictions may differ for two reasons. Take both away, and none of 200,000 does, on any of the numeric streams:

- MOA attempts a split when the difference of two rounded sums of weights reaches the grace period; we count the weight
  since the last attempt. Sums of whole weights are exact only until the first split, so after it MOA attempts some
  splits a row late, and trees of rows near a tie grow apart. With weights that do not add up to the grace period
  this cannot happen: hence the sharper tests with weights.
- MOA multiplies densities, and says class 0 where all products underflow; we add logarithms. This befalls young leaves,
  whose variances are of a few rows.

Where it knows nothing, as at the first row, MOA says class 0; we abstain.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from peers import arff, moa
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import SEA, Hyperplane, RandomRBF

N_ROWS = 200_000
ELECTRICITY = Path(__file__).parents[2] / "shared" / "data" / "electricity.arff"

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]


@pytest.fixture(autouse=True)
def moa_is_there() -> None:
    reason = moa.why_absent()
    if reason is not None:
        pytest.skip(reason)


def rows_of(stream: Stream, n_rows: int = N_ROWS) -> Rows:
    batch = next(stream.batches(n_rows))
    return stream.schema, batch.x, batch.y


def electricity() -> Rows:
    if not ELECTRICITY.exists():
        pytest.skip(f"{ELECTRICITY} is not there")
    return arff.read(ELECTRICITY)


def nominal(*, missing: float = 0.0) -> Rows:
    """Four classes behind five nominal and two numeric attributes, some values missing."""
    rng = np.random.default_rng(7)
    y = rng.integers(4, size=50_000).astype(np.int32)
    n_values = (2, 3, 4, 5, 7, 0, 0)
    columns = [
        np.where(rng.random(len(y)) < 0.4, y % n, rng.integers(n, size=len(y))) if n else rng.normal(y % 2, size=len(y))
        for n in n_values
    ]
    x = np.column_stack(columns).astype(np.float64)
    x[rng.random(x.shape) < missing] = np.nan
    attributes = [Attribute(f"a{i}", tuple("abcdefg"[:n]) or None, missing > 0) for i, n in enumerate(n_values)]
    return Schema(tuple(attributes), tuple("wxyz")), x, y


LEARNERS: dict[str, LearnerSpec] = {"bayes.NaiveBayes": NaiveBayes(), "trees.HoeffdingTree": HoeffdingTree()}
STREAMS: dict[str, Callable[[], Rows]] = {
    "RBF": lambda: rows_of(RandomRBF()),
    "SEA": lambda: rows_of(SEA()),
    "hyperplane": lambda: rows_of(Hyperplane()),
    "electricity": electricity,
}


def predictions_of(learner: str, rows: Rows, weight: NDArray[np.float64] | None = None) -> NDArray[np.int32]:
    schema, x, y = rows
    step = Step(Batch(0, x, y), weight=weight)
    return LEARNERS[learner].build(schema, 1).interleave(step, with_votes=False)[0]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    ("learner", "differing"),
    [("bayes.NaiveBayes", 0.0005), ("trees.HoeffdingTree", 0.02)],
)
def test_a_learner_is_as_accurate_as_moas(learner: str, differing: float, stream: str) -> None:
    rows = STREAMS[stream]()
    theirs = moa.prequential(learner, *rows)
    ours = predictions_of(learner, rows)
    accuracy, differ = np.mean(ours == rows[2]), np.mean(ours != theirs.predictions)
    found = f"accuracy {accuracy:.5f}, MOA's {theirs.accuracy:.5f}; {differ:.6f} of the predictions differ"
    assert abs(accuracy - theirs.accuracy) <= 0.002, found
    assert differ <= differing, found


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("stream", ["RBF of five classes", "nominal"])
def test_a_learner_of_weighted_rows_predicts_nearly_every_row_as_moas(learner: str, stream: str) -> None:
    if moa.why_not_compiled() is not None:
        pytest.skip(str(moa.why_not_compiled()))
    rows = nominal() if stream == "nominal" else rows_of(RandomRBF(n_classes=5), 50_000)
    rng = np.random.default_rng(3)
    weight = rng.exponential(size=len(rows[2])) * (rng.random(len(rows[2])) < 0.8)
    theirs = moa.weighted_predictions(learner, *rows, weight)
    differ = np.mean(predictions_of(learner, rows, weight) != theirs)
    assert differ <= 0.002, f"{differ:.6f} of the predictions differ"


def test_naive_bayes_leaves_out_missing_values_as_moas_does() -> None:
    rows = nominal(missing=0.2)
    theirs = moa.prequential("bayes.NaiveBayes", *rows)
    differ = np.mean(predictions_of("bayes.NaiveBayes", rows) != theirs.predictions)
    assert differ <= 0.002, f"{differ:.6f} of the predictions differ"
