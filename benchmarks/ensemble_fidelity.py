"""The accuracy of ensembles beside MOA's with the same parameters, on the same rows, averaged over seeds.

Each is to be within 0.005 of MOA's, or better. Run with ``python -m benchmarks ensemble_fidelity``; it takes MOA a
quarter of an hour.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from peers import moa
from streamgauge.learners import LeveragingBagging, OzaBag, OzaBoost
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Schema, Step
from streamgauge.streams import LED, SEA, File, Hyperplane, RandomRBF, Waveform

N_ROWS = 100_000
SEEDS = (1, 2, 3, 4, 5)
AT_MOST = 0.005
DATA = Path(__file__).parents[2] / "shared" / "data"
PAIRS: tuple[tuple[LearnerSpec, str], ...] = (
    (OzaBag(), "meta.OzaBag"),
    (LeveragingBagging(), "meta.LeveragingBag"),
    (OzaBoost(), "meta.OzaBoost"),
)

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]


def main() -> None:
    """Print a line per stream and ensemble."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    print(f"{'':14}{'ensemble':20}{'ours':>9}{'MOA':>9}{'difference':>12}")
    for (name, rows), (spec, theirs) in product(list(_streams()), PAIRS):
        ours = np.array([accuracy_of(spec, rows, seed) for seed in SEEDS])
        moas = np.array([moas_accuracy(theirs, rows, seed) for seed in SEEDS])
        difference = float(ours.mean() - moas.mean())
        verdict = "" if difference >= -AT_MOST else "  WORSE"
        print(
            f"{name:14}{type(spec).__name__:20}{ours.mean():9.4f}{moas.mean():9.4f}{difference:+12.4f}{verdict}",
            flush=True,
        )


def accuracy_of(spec: LearnerSpec, rows: Rows, seed: int) -> float:
    """Test and learn every row; the share of right predictions."""
    schema, x, y = rows
    predictions, _ = spec.build(schema, seed).interleave(Step(Batch(0, x, y)), with_votes=False)
    return float(np.mean(predictions == y))


def moas_accuracy(learner: str, rows: Rows, seed: int) -> float:
    """Give the same of a learner of MOA."""
    predictions = moa.predict_weighted(learner, *rows, np.ones(len(rows[2])), seed=seed)
    return float(np.mean(predictions == rows[2]))


def _streams() -> Iterator[tuple[str, Rows]]:
    streams: dict[str, Stream] = {
        "RBF": RandomRBF(),
        "SEA": SEA(),
        "hyperplane": Hyperplane(),
        "LED": LED(),
        "Waveform": Waveform(),
    }
    for name in ("electricity", "skin", "magic"):
        path = DATA / f"{name}.arff"
        if path.exists():
            streams[name] = File(path)
        else:
            print(f"{path} is not there")
    for name, stream in streams.items():
        batch = next(stream.batches(N_ROWS))
        yield name, (stream.schema, batch.x, batch.y)


if __name__ == "__main__":
    main()
