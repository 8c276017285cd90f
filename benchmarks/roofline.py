"""How near the three hottest kernels come to what one core can do: ``python -m benchmarks roofline``.

What a kernel must read and compute per row is counted from its code (docs/performance/roofline.md tells how); what the
machine can do is measured beside it in the same turns: bytes by summing an array that no cache holds, operations by
multiplying matrices. CPU time, one core, the best of several turns.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks import detectors
from benchmarks.turns import in_turns
from streamgauge.drift.watch import DETECTORS
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.records import Step
from streamgauge.streams import RandomRBF, take

N_ROWS = 200_000
N_SUMMED = 20_000_000
SIDE = 1_000
TURNS = 7


@dataclass(frozen=True)
class Kernel:
    """What a kernel must do for a row of ten numbers and two classes, or for a value."""

    name: str
    n_bytes: int
    """From and to memory: what no cache can hold."""
    n_operations: int
    work: Callable[[], object]
    n_rows: int


def kernels() -> list[Kernel]:
    """Give the kernels, with what they work on."""
    stream = RandomRBF()
    batch = take(stream, N_ROWS)
    grown = HoeffdingTree(leaf_prediction="majority").build(stream.schema, 1)
    grown.interleave(Step(take(stream, 1_000_000)), with_votes=False)
    only_test = Step(batch, weight=np.zeros(N_ROWS))
    values = detectors.sample()

    def learn_bayes() -> None:
        NaiveBayes().build(stream.schema, 1).interleave(Step(batch), with_votes=False)

    return [
        Kernel("naive Bayes, predict and learn", 96, 300, learn_bayes, N_ROWS),
        Kernel("tree, run down", 96, 9, lambda: grown.interleave(only_test, with_votes=False), N_ROWS),
        Kernel("ADWIN, one value", 9, 22, lambda: detectors.run_ours(DETECTORS["Adwin"](), values), detectors.N_VALUES),
    ]


def main() -> None:
    """Print the table."""
    found = kernels()
    summed, matrix = np.ones(N_SUMMED), np.ones((SIDE, SIDE))
    works: dict[str, Callable[[], object]] = {kernel.name: kernel.work for kernel in found}
    best = in_turns(works | {"bytes": summed.sum, "operations": lambda: matrix @ matrix}, TURNS)
    bandwidth = 8 * N_SUMMED / best["bytes"].seconds
    operations = 2 * SIDE**3 / best["operations"].seconds
    print(f"one core sums {bandwidth / 1e9:.1f} GB/s and does {operations / 1e9:.0f} G operations/s")
    print(f"{'':38}{'bytes':>6}{'operations':>11}{'ns for bytes':>13}{'ns to compute':>14}{'ns':>7}{'share':>7}")
    for kernel in found:
        limits = 1e9 * kernel.n_bytes / bandwidth, 1e9 * kernel.n_operations / operations
        time = 1e9 * best[kernel.name].seconds / kernel.n_rows
        told = f"{kernel.name:<38}{kernel.n_bytes:>6}{kernel.n_operations:>11}{limits[0]:>13.1f}{limits[1]:>14.1f}"
        print(f"{told}{time:>7.1f}{max(limits) / time:>7.2f}")


if __name__ == "__main__":
    main()
