"""Accuracy of the forests beside MOA's, on the same rows: generated ones and real ones.

Ours is the mean over five seeds. MOA's command line takes no seed for a learner, so that the order of the attributes is
drawn instead: it decides which of them a leaf's random numbers mean. Run with ``python -m benchmarks forest_accuracy``.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from peers import arff, moa
from streamgauge.learners import AdaptiveRandomForest, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Schema, Step
from streamgauge.streams import LED, SEA, Hyperplane, RandomRBF, Waveform

N_ROWS = 100_000
SEEDS = range(1, 6)
DATA = Path(__file__).parents[2] / "shared" / "data"

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]

OPPONENTS: dict[str, tuple[LearnerSpec, str]] = {
    "AdaptiveRandomForest": (AdaptiveRandomForest(), "meta.AdaptiveRandomForest -s 10"),
    "StreamingRandomPatches": (StreamingRandomPatches(), "meta.StreamingRandomPatches -s 10"),
}


def generated(stream: Stream) -> Rows:
    """Give the first rows of a stream."""
    batch = next(stream.batches(N_ROWS))
    return stream.schema, batch.x, batch.y


def real(name: str) -> Rows:
    """Give the first rows of a file."""
    schema, x, y = arff.read(DATA / f"{name}.arff")
    return schema, x[:N_ROWS], y[:N_ROWS]


STREAMS: dict[str, Callable[[], Rows]] = {
    "RBF": lambda: generated(RandomRBF()),
    "SEA": lambda: generated(SEA()),
    "hyperplane": lambda: generated(Hyperplane()),
    "LED": lambda: generated(LED()),
    "Waveform": lambda: generated(Waveform()),
    "electricity": lambda: real("electricity"),
    "skin": lambda: real("skin"),
    "magic": lambda: real("magic"),
}


def shuffled(rows: Rows, seed: int) -> Rows:
    """Give rows with their attributes in another order."""
    schema, x, y = rows
    order = np.random.default_rng(seed).permutation(x.shape[1])
    attributes = tuple(schema.attributes[i] for i in order)
    return Schema(attributes, schema.classes), np.ascontiguousarray(x[:, order]), y


def ours(spec: LearnerSpec, rows: Rows) -> float:
    """Give the mean accuracy over seeds."""
    schema, x, y = rows
    step = Step(Batch(0, x, y))
    hits = [spec.build(schema, seed).interleave(step, with_votes=False)[0] == y for seed in SEEDS]
    return float(np.mean(hits))


def main() -> None:
    """Print a line per stream and learner."""
    reason = moa.explain_missing()
    if reason is not None:
        print(reason)
        return
    print(f"{'':14}{'':24}{'ours':>8}{'MOA':>8}{'difference':>12}")
    for name, rows_of in STREAMS.items():
        if name in {"electricity", "skin", "magic"} and not (DATA / f"{name}.arff").exists():
            print(f"{name:14}{DATA / name}.arff is not there")
            continue
        rows = rows_of()
        for learner, (spec, command) in OPPONENTS.items():
            mine = ours(spec, rows)
            theirs = float(np.mean([moa.run_prequential(command, *shuffled(rows, seed)).accuracy for seed in SEEDS]))
            print(f"{name:14}{learner:24}{mine:8.4f}{theirs:8.4f}{mine - theirs:12.4f}", flush=True)


if __name__ == "__main__":
    main()
