"""Chunk ensembles of scikit-learn members next to stream-learn's own: CPU time of an evaluation, and accuracy.

Both learn the same rows in the same chunks, test then train, in turns, so that other load affects them alike; the best
of each counts. Theirs is stream-learn's TestThenTrain with one metric, ours is `evaluate` with accuracy.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import streamgauge as sg
from streamgauge import learners
from streamgauge.protocols import Stream
from streamgauge.streams import take

N_CHUNKS = 40
CHUNK_SIZES = (100, 200, 500)
REPEATS = 5
GOAL = 1.5
PAIRS = {
    "SEAEnsemble": "SEA",
    "AccuracyWeightedEnsemble": "AWE",
    "AccuracyUpdatedEnsemble": "AUE",
    "WeightedAgeingEnsemble": "WAE",
    "LearnppCDS": "CDS",
    "LearnppNIE": "NIE",
}
STREAMS = {"RBF": sg.RandomRBF(), "hyperplane": sg.Hyperplane()}


class Chunks:
    """Rows in memory as a stream of stream-learn."""

    def __init__(self, x: NDArray[np.float64], y: NDArray[np.int32], size: int) -> None:
        self._x, self._y, self._size = x, y, size
        self.n_chunks, self.chunk_id, self.classes_ = len(y) // size, -1, np.unique(y)
        self.previous_chunk: Any = None
        self.current_chunk: Any = None

    def get_chunk(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the next chunk."""
        self.chunk_id += 1
        rows = slice(self.chunk_id * self._size, (self.chunk_id + 1) * self._size)
        chunk = self._x[rows].copy(), self._y[rows].copy()
        self.previous_chunk, self.current_chunk = self.current_chunk, chunk
        return chunk

    def is_dry(self) -> bool:
        """Return whether this was the last chunk."""
        return self.chunk_id + 1 >= self.n_chunks


def list_members() -> dict[str, Any]:
    """Return the models that the members are."""
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    return {
        "GaussianNB": GaussianNB(),
        "DecisionTreeClassifier": DecisionTreeClassifier(random_state=1),
        "MLPClassifier": MLPClassifier(max_iter=20, random_state=1),
    }


def measure(ours: Callable[[], float], theirs: Callable[[], float], repeats: int) -> tuple[float, float, float, float]:
    """Return the least CPU seconds of both, run in turns, and their accuracies."""
    best, accuracies = [np.inf, np.inf], [0.0, 0.0]
    for _ in range(repeats):
        for index, run in enumerate((ours, theirs)):
            started = time.process_time()
            accuracies[index] = run()
            best[index] = min(best[index], time.process_time() - started)
    return best[0], best[1], accuracies[0], accuracies[1]


def compare(
    name: str, member: object, stream: Stream, size: int, repeats: int = REPEATS
) -> tuple[float, float, float, float]:
    """Return our CPU seconds and stream-learn's for one ensemble, and both accuracies."""
    import strlearn  # noqa: PLC0415
    from sklearn.metrics import accuracy_score  # noqa: PLC0415

    rows = take(stream, N_CHUNKS * size)
    arrays = sg.ArrayStream(rows.x, rows.y, schema=stream.schema)

    def run_ours() -> float:
        spec = getattr(learners, name)(member, chunk_size=size)
        results = sg.evaluate(arrays, spec, every=size, backend=sg.Threads(1), forgetting=sg.Window(size))
        return float(results.values[1:].mean())

    def run_theirs() -> float:
        evaluator = strlearn.evaluators.TestThenTrain((accuracy_score,))
        evaluator.process(Chunks(rows.x, rows.y, size), getattr(strlearn.ensembles, PAIRS[name])(member))
        return float(evaluator.scores.mean())

    return measure(run_ours, run_theirs, repeats)


def main() -> None:
    """Print a table of all ensembles, members, streams and chunk sizes."""
    warnings.simplefilter("ignore")
    table = Table(title=f"{N_CHUNKS} chunks, CPU seconds, best of {REPEATS}; goal: at most {GOAL} times stream-learn's")
    for heading in ("ensemble", "members", "stream", "chunk", "ours", "stream-learn", "ratio", "accuracy", "theirs"):
        table.add_column(heading, justify="left" if heading in {"ensemble", "members", "stream"} else "right")
    ratios = []
    for name in PAIRS:
        for member_name, member in list_members().items():
            if name == "AccuracyUpdatedEnsemble" and not hasattr(member, "partial_fit"):
                continue  # neither can update it
            for stream_name, stream in STREAMS.items():
                for size in CHUNK_SIZES:
                    ours, theirs, accuracy, their_accuracy = compare(name, member, stream, size)
                    ratios.append(ours / theirs)
                    numbers = (f"{ours:.3f}", f"{theirs:.3f}", f"{ratios[-1]:.2f}")
                    scores = (f"{accuracy:.3f}", f"{their_accuracy:.3f}")
                    table.add_row(name, member_name, stream_name, str(size), *numbers, *scores)
    Console(width=140).print(table)
    print(f"largest ratio {max(ratios):.2f}, median {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
