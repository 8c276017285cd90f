"""Accuracy of the forests next to MOA's, on the same generated and real rows.

Ours is the mean over five seeds. MOA's command line has no seed for a learner, so the order of the attributes is
permuted instead: it changes the attributes that a leaf draws. Run with ``python -m benchmarks forest_accuracy``.
"""

import numpy as np

from benchmarks.fidelity import SEEDS, Rows, measure_accuracy, open_streams
from peers import moa
from streamgauge.learners import AdaptiveRandomForest, StreamingRandomPatches
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema

OPPONENTS: dict[str, tuple[LearnerSpec, str]] = {
    "AdaptiveRandomForest": (AdaptiveRandomForest(), "meta.AdaptiveRandomForest -s 10"),
    "StreamingRandomPatches": (StreamingRandomPatches(), "meta.StreamingRandomPatches -s 10"),
}


def permute_attributes(rows: Rows, seed: int) -> Rows:
    """Return rows with their attributes in another order."""
    schema, x, y = rows
    order = np.random.default_rng(seed).permutation(x.shape[1])
    attributes = tuple(schema.attributes[i] for i in order)
    return Schema(attributes, schema.classes), np.ascontiguousarray(x[:, order]), y


def main() -> None:
    """Print a line per stream and learner."""
    reason = moa.explain_missing()
    if reason is not None:
        print(reason)
        return
    print(f"{'':14}{'':24}{'ours':>8}{'MOA':>8}{'difference':>12}")
    for name, rows in open_streams():
        for learner, (spec, command) in OPPONENTS.items():
            ours = float(np.mean([measure_accuracy(spec, rows, seed) for seed in SEEDS]))
            runs = [moa.run_prequential(command, *permute_attributes(rows, seed)) for seed in SEEDS]
            theirs = float(np.mean([run.accuracy for run in runs]))
            print(f"{name:14}{learner:24}{ours:8.4f}{theirs:8.4f}{ours - theirs:12.4f}", flush=True)


if __name__ == "__main__":
    main()
