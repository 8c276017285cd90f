"""Naive Bayes and the Hoeffding tree on streams of any schema: nanoseconds of CPU per row tested and learnt.

One thread, rows in memory. Each batch of rows is timed separately, and the best times of all batches over several
rounds are added up, so that other load matters little. In the same rounds naive Bayes as plain C (`naive_bayes.c`,
compiled at run time) learns LED and covertype: the limit of our kernel. Run with ``python -m benchmarks schemas``.
"""

import shutil
import subprocess
import tempfile
from ctypes import CDLL, c_int, c_long, c_void_p
from pathlib import Path
from time import thread_time_ns

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners import HoeffdingTree, NaiveBayes
from streamgauge.protocols import LearnerSpec, Stream
from streamgauge.records import Batch, Step
from streamgauge.streams import LED, SEA, Agrawal, Hyperplane, RandomRBF, RandomTree, Waveform, load, take

N_ROWS = 1_000_000
BATCH = 16_384
ROUNDS = 5
LEARNERS: dict[str, LearnerSpec] = {"NaiveBayes": NaiveBayes(), "HoeffdingTree": HoeffdingTree()}
SKETCH = "C sketch"

STREAMS: dict[str, Stream] = {
    "RBF, 10 x 2": RandomRBF(),
    "RBF, 20 x 4": RandomRBF(n_attributes=20, n_classes=4),
    "hyperplane": Hyperplane(),
    "SEA": SEA(),
    "Agrawal": Agrawal(5),
    "LED": LED(),
    "random tree, 5 classes": RandomTree(n_classes=5),
    "Waveform": Waveform(n_attributes=40),
}
DATASETS = {"electricity": 45_312, "covertype": 100_000, "poker-hand-25k": 25_010}


def read_streams(n_rows: int) -> dict[str, tuple[Stream, Batch]]:
    """Return the streams with their first rows, as far as they are available."""
    streams = {name: (stream, take(stream, n_rows)) for name, stream in STREAMS.items()}
    for name, n_known in DATASETS.items():
        try:
            stream = load(name, offline=True)
            streams[name] = (stream, take(stream, min(n_rows, n_known)))
        except StreamgaugeError as error:
            print(f"without {name}: {error}")
    return streams


def time_ours(spec: LearnerSpec, stream: Stream, batches: list[Batch], best: NDArray[np.float64]) -> int:
    """Learn all batches, lower the best times where this took less, and return the number of hits."""
    learner, hits = spec.build(stream.schema, 1), 0
    for i, batch in enumerate(batches):
        started = thread_time_ns()
        predictions, _ = learner.interleave(Step(batch), with_votes=False)
        best[i] = min(best[i], thread_time_ns() - started)
        hits += int((predictions == batch.y).sum())
    return hits


def cut(n_rows: int) -> list[slice]:
    """Return slices of BATCH rows."""
    return [slice(start, start + BATCH) for start in range(0, n_rows, BATCH)]


def compile_sketch(folder: str) -> CDLL | None:
    """Return naive Bayes in C; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = Path(__file__).with_name("naive_bayes.c"), Path(folder) / "naive_bayes.so"
    options = ["-O3", "-ffast-math", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, str(source), "-o", str(library), "-lm"], check=True)
    sketch = CDLL(str(library))
    rows = (c_void_p, c_void_p, c_long)
    sketch.learn_nominal.argtypes = [*rows, c_int, c_int, c_int]
    sketch.learn_numeric.argtypes = [*rows, c_int, c_int]
    sketch.learn_nominal.restype = sketch.learn_numeric.restype = c_long
    return sketch


def time_sketch(sketch: CDLL, stream: Stream, batch: Batch) -> tuple[int, int]:
    """Return the nanoseconds and the hits of naive Bayes in C."""
    x, y = np.ascontiguousarray(batch.x, float), np.ascontiguousarray(batch.y, np.int32)
    n_values = [len(attribute.values or ()) for attribute in stream.schema.attributes]
    shape = [len(n_values), *([n_values[0]] if n_values[0] else []), len(stream.schema.classes)]
    learn = sketch.learn_nominal if n_values[0] else sketch.learn_numeric
    started = thread_time_ns()
    hits = learn(x.ctypes.data, y.ctypes.data, len(y), *shape)
    return thread_time_ns() - started, hits


def measure(stream: Stream, batch: Batch, sketch: CDLL | None) -> dict[str, tuple[float, float]]:
    """Return nanoseconds per row and accuracy of each learner, and of the sketch if it is given."""
    batches = [Batch(rows.start, batch.x[rows], batch.y[rows]) for rows in cut(len(batch))]
    best = {name: np.full(len(batches), np.inf) for name in LEARNERS}
    hits = dict.fromkeys(LEARNERS, 0)
    for _ in range(ROUNDS):
        for name, spec in LEARNERS.items():
            hits[name] = time_ours(spec, stream, batches, best[name])
        if sketch is not None:
            time, hits[SKETCH] = time_sketch(sketch, stream, batch)
            best[SKETCH] = np.minimum(best.get(SKETCH, np.full(1, np.inf)), time)
    return {name: (float(best[name].sum()) / len(batch), hits[name] / len(batch)) for name in best}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        sketch = compile_sketch(folder)
        print(f"{'':24}{'learner':>15}{'ns per row':>12}{'accuracy':>10}")
        for stream_name, (stream, batch) in read_streams(N_ROWS).items():
            limit = sketch if stream_name in {"LED", "covertype"} else None
            for name, (time, accuracy) in measure(stream, batch, limit).items():
                print(f"{stream_name:24}{name:>15}{time:12.1f}{accuracy:10.5f}", flush=True)


if __name__ == "__main__":
    main()
