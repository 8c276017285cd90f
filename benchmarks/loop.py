"""Overhead of the loop: nanoseconds of CPU per row beyond the learner's; rows in memory, one thread, best of several.

Run with ``python -m benchmarks loop``.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamgauge as sg
from benchmarks.turns import run_in_turns
from streamgauge._engine.source import default_batch_size
from streamgauge.labelling import Delayed, DelayedAtRandom, Fraction
from streamgauge.records import Step
from streamgauge.schemes import Chunks, Holdout
from streamgauge.streams import in_memory

N_ROWS = 1_000_000
ROUNDS = 7

RUNS: dict[str, dict[str, Any]] = {
    "prequential, costs not measured": {"resources": False},
    "prequential": {},
    "a fraction of labels": {"labelling": Fraction(0.5)},
    "chunks of 1,000": {"scheme": Chunks(1000)},
    "holdout": {"scheme": Holdout(10_000, 1_000)},
    "labels 1,000 rows late": {"labelling": Delayed(1000)},
    "labels 100,000 rows late": {"labelling": Delayed(100_000), "score_unlabelled_start": True},
    "labels late at random": {"labelling": DelayedAtRandom(1000)},
}


def main() -> None:
    """Print the table."""
    stream = in_memory(sg.SEA(), N_ROWS)
    _ = stream.fingerprint  # computed once
    spec = sg.NaiveBayes()

    def run_learner() -> None:
        learner = spec.build(stream.schema, 1)
        for batch in stream.batches(default_batch_size(stream.schema)):
            learner.interleave(Step(batch), with_votes=False)

    works: dict[str, Callable[[], object]] = {"NaiveBayes alone": run_learner}
    works |= {
        name: partial(sg.evaluate, stream, spec, backend=sg.Threads(1), **options) for name, options in RUNS.items()
    }
    best = run_in_turns(works, ROUNDS, time.thread_time)
    times = {name: 1e9 * timing.seconds / N_ROWS for name, timing in best.items()}
    print(f"{'':34}{'ns per row':>12}{'more':>8}")
    for name, nanoseconds in times.items():
        print(f"{name:34}{nanoseconds:12.1f}{nanoseconds - times['NaiveBayes alone']:8.1f}")


if __name__ == "__main__":
    main()
