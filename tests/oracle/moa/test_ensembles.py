"""Bagging and boosting against MOA."""

import numpy as np
import pytest

from peers import moa
from streamgauge.learners import LeveragingBagging, OzaBag, OzaBoost
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Step
from streamgauge.streams import LED, SEA, Hyperplane, RandomRBF

STREAMS: dict[str, Stream] = {"RBF": RandomRBF(), "SEA": SEA(), "hyperplane": Hyperplane(), "LED": LED()}
AGAINST_MOA: list[tuple[LearnerSpec, str]] = [
    (OzaBag(), "meta.OzaBag"),
    (LeveragingBagging(), "meta.LeveragingBag"),
    (OzaBoost(), "meta.OzaBoost"),
]


@pytest.mark.usefixtures("moa")
@pytest.mark.parametrize(
    ("pair", "stream"),
    [(AGAINST_MOA[0], "RBF"), (AGAINST_MOA[1], "hyperplane"), (AGAINST_MOA[2], "SEA")],
    ids=lambda value: value if isinstance(value, str) else type(value[0]).__name__,
)
def test_an_ensemble_is_as_accurate_as_moas(pair: tuple[LearnerSpec, str], stream: str):
    spec, theirs = pair
    rows = next(STREAMS[stream].batches(20_000))
    expected = moa.run_prequential(theirs, STREAMS[stream].schema, rows.x, rows.y).accuracy
    step = Step(Batch(0, rows.x, rows.y))
    found = [
        np.mean(spec.build(STREAMS[stream].schema, seed).interleave(step, with_votes=False)[0] == rows.y)
        for seed in range(5)
    ]
    # MOA's is one seed: the spread over ours tells how far it may be from its mean.
    assert float(np.mean(found)) > expected - 0.005 - 3 * float(np.std(found, ddof=1))
