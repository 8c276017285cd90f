"""Nanoseconds of CPU per row tested and learnt, one thread, best of several rounds, rows in memory.

Each batch of rows is timed separately, and the best times of all batches are added up, so that other load matters
little. Run with ``python -m benchmarks learners``.
"""

from time import thread_time_ns

import numpy as np

from streamgauge.learners import ExtremelyFastDecisionTree, HoeffdingAdaptiveTree, HoeffdingTree, NaiveBayes
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Step
from streamgauge.streams import SEA, Hyperplane, RandomRBF

N_ROWS = 1_000_000
BATCH = 16_384
ROUNDS = 7

STREAMS: dict[str, Stream] = {
    "random RBF, 10 attributes": RandomRBF(),
    "hyperplane, 10 attributes": Hyperplane(),
    "SEA, 3 attributes": SEA(),
}
LEARNERS: tuple[LearnerSpec, ...] = (
    HoeffdingTree(),
    NaiveBayes(),
    HoeffdingAdaptiveTree(),
    ExtremelyFastDecisionTree(),
)


def measure(spec: LearnerSpec, stream: Stream) -> tuple[float, float]:
    """Return nanoseconds per row and accuracy of a learner on the first rows of a stream."""
    batches = [batch for batch, _ in zip(stream.batches(BATCH), range(N_ROWS // BATCH), strict=False)]
    best = np.full(len(batches), np.inf)
    hits = 0
    for _ in range(ROUNDS):
        learner = spec.build(stream.schema, 1)
        hits = 0
        for i, batch in enumerate(batches):
            started = thread_time_ns()
            predictions, _ = learner.interleave(Step(batch), with_votes=False)
            best[i] = min(best[i], thread_time_ns() - started)
            hits += int((predictions == batch.y).sum())
    n_rows = BATCH * len(batches)
    return float(best.sum()) / n_rows, hits / n_rows


def main() -> None:
    """Print the table."""
    print(f"{'':28}{'learner':>27}{'ns per row':>12}{'accuracy':>10}")
    for name, stream in STREAMS.items():
        for spec in LEARNERS:
            time, accuracy = measure(spec, stream)
            print(f"{name:28}{type(spec).__name__:>27}{time:12.1f}{accuracy:10.5f}")


if __name__ == "__main__":
    main()
