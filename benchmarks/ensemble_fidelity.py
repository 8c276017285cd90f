"""Accuracy of ensembles next to MOA's with the same parameters, on the same rows, averaged over seeds.

Each must be within 0.005 of MOA's, or better. Run with ``python -m benchmarks ensemble_fidelity``; MOA takes a quarter
of an hour.
"""

import numpy as np

from benchmarks.fidelity import SEEDS, Rows, measure_accuracy, open_streams
from peers import moa
from streamgauge.learners import LeveragingBagging, OzaBag, OzaBoost
from streamgauge.protocols import LearnerSpec

TOLERANCE = 0.005
PAIRS: tuple[tuple[LearnerSpec, str], ...] = (
    (OzaBag(), "meta.OzaBag"),
    (LeveragingBagging(), "meta.LeveragingBag"),
    (OzaBoost(), "meta.OzaBoost"),
)


def measure_moa(learner: str, rows: Rows, seed: int) -> float:
    """Return the accuracy of one of MOA's learners."""
    predictions = moa.predict_weighted(learner, *rows, np.ones(len(rows[2])), seed=seed)
    return float(np.mean(predictions == rows[2]))


def main() -> None:
    """Print a line per stream and ensemble."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    print(f"{'':14}{'ensemble':20}{'ours':>9}{'MOA':>9}{'difference':>12}")
    for name, rows in open_streams():
        for spec, learner in PAIRS:
            ours = float(np.mean([measure_accuracy(spec, rows, seed) for seed in SEEDS]))
            theirs = float(np.mean([measure_moa(learner, rows, seed) for seed in SEEDS]))
            verdict = "" if ours - theirs >= -TOLERANCE else "  WORSE"
            line = f"{name:14}{type(spec).__name__:20}{ours:9.4f}{theirs:9.4f}{ours - theirs:+12.4f}{verdict}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
