"""Accuracy of ensembles and of the adaptive tree next to MOA's with the same parameters, on the same rows.

Both are means over ten seeds. The mean difference must be above -0.01, and the lower end of its 95 % interval above
-0.02. Run with ``python -m benchmarks ensemble_fidelity``, or some learners and streams with ``python -m
benchmarks.ensemble_fidelity NAME ...``. MOA takes an hour and more; it is asked only for what the file that
`FIDELITY_RESULTS` names lacks, and its accuracies are added to that file. `FIDELITY_SEEDS` is the number of seeds.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.fidelity import Rows, measure_accuracy
from peers import moa
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import (
    AdaptiveRandomForest,
    HoeffdingAdaptiveTree,
    LeveragingBagging,
    OzaBag,
    OzaBoost,
    StreamingRandomPatches,
)
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.streams import LED, Agrawal, File, Hyperplane, RandomRBF, RandomTree, load

N_ROWS, N_SEEDS = 50_000, 10
LEAST_DIFFERENCE, LEAST_END = -0.01, -0.02
PAIRS: dict[str, tuple[LearnerSpec, str]] = {
    "HoeffdingAdaptiveTree": (HoeffdingAdaptiveTree(), "trees.HoeffdingAdaptiveTree"),
    "StreamingRandomPatches": (StreamingRandomPatches(), "meta.StreamingRandomPatches -s 10"),
    "AdaptiveRandomForest": (AdaptiveRandomForest(), "meta.AdaptiveRandomForest -s 10"),
    "LeveragingBagging": (LeveragingBagging(), "meta.LeveragingBag"),
    "OzaBag": (OzaBag(), "meta.OzaBag"),
    "OzaBoost": (OzaBoost(), "meta.OzaBoost"),
}


def _load_chessboard() -> File:
    """Return a stream that is not in the registry: squares of a chessboard, shown one after the other."""
    path = Path(os.environ.get("STREAMGAUGE_DATA", "."), "transient-chessboard.arff")
    if not path.is_file():
        msg = "there is no transient-chessboard.arff in the folder that STREAMGAUGE_DATA names"
        raise StreamgaugeError(msg)
    return File(path)


STREAMS: dict[str, Callable[[], Stream]] = {
    "transient-chessboard": _load_chessboard,
    "electricity": lambda: load("electricity", offline=True),
    "sea-concepts": lambda: load("sea-concepts", offline=True),
    "covertype": lambda: load("covertype", offline=True),
    "LED": LED,
    "random tree": lambda: RandomTree(n_classes=5),
    "Agrawal": lambda: Agrawal(5),
    "RBF": RandomRBF,
    "hyperplane": Hyperplane,
}


class MoaResults:
    """Accuracies of MOA's learners, kept in a file if there is one."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        lines = Path(path).read_text(encoding="utf-8").splitlines() if path and Path(path).exists() else []
        self._known = dict(line.rsplit("\t", 1) for line in lines)

    def measure(self, learner: str, rows: Rows, seed: int) -> float:
        """Return the accuracy of a learner, from the file if it is there."""
        digest = hashlib.sha256(rows[1].tobytes() + rows[2].tobytes()).hexdigest()[:16]
        key = f"{digest}\t{learner}\t{seed}"
        if key not in self._known:
            predictions = moa.predict_weighted(learner, *rows, np.ones(len(rows[2])), seed=seed)
            self._known[key] = repr(float(np.mean(predictions == rows[2])))
            if self._path:
                with Path(self._path).open("a", encoding="utf-8") as file:
                    file.write(f"{key}\t{self._known[key]}\n")
        return float(self._known[key])


def open_streams(names: list[str]) -> Iterator[tuple[str, Rows]]:
    """Yield the first rows of the named streams; print which ones are missing."""
    for name in names:
        try:
            stream = STREAMS[name]()
            batch = next(stream.batches(N_ROWS))
        except StreamgaugeError as error:
            print(f"{name} is left out: {error}")
            continue
        yield name, (stream.schema, batch.x, batch.y)


def compute_lower_end(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the lower end of Welch's 95 % interval of the difference of the means."""
    if len(ours) < 2 or np.ptp(ours) + np.ptp(theirs) == 0.0:
        return float(np.mean(ours) - np.mean(theirs))
    interval: Any = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    return float(interval.low)


def main(names: list[str] | None = None) -> None:
    """Print a line per stream and learner."""
    reason = moa.explain_missing_jdk()
    if reason is not None:
        print(reason)
        return
    learners = [name for name in PAIRS if not names or name in names or not set(PAIRS).intersection(names)]
    streams = [name for name in STREAMS if not names or name in names or not set(STREAMS).intersection(names)]
    seeds = range(1, 1 + int(os.environ.get("FIDELITY_SEEDS", N_SEEDS)))
    results = MoaResults(os.environ.get("FIDELITY_RESULTS"))
    print(f"{'':22}{'':24}{'ours':>16}{'MOA':>16}{'difference':>12}{'lower end':>11}")
    with moa.share_machine():
        for stream, rows in open_streams(streams):
            for name in learners:
                spec, command = PAIRS[name]
                ours = np.array([measure_accuracy(spec, rows, seed) for seed in seeds])
                theirs = np.array([results.measure(command, rows, seed) for seed in seeds])
                _print_line(f"{stream:22}{name:24}", ours, theirs)


def _print_line(heading: str, ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> None:
    columns = "".join(f"{np.mean(values):8.4f} ±{np.std(values):.4f}" for values in (ours, theirs))
    difference, lower_end = float(np.mean(ours) - np.mean(theirs)), compute_lower_end(ours, theirs)
    verdict = "" if difference > LEAST_DIFFERENCE and lower_end > LEAST_END else "  WORSE"
    print(f"{heading}{columns}{difference:+12.4f}{lower_end:+11.4f}{verdict}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
