"""Linear learners, neighbours, baselines and chunk ensembles: nanoseconds per row and accuracy, next to their peers'.

Ours: CPU time of one thread on rows in memory, the best of several. MOA's: the CPU seconds that its task reports, less
those of its MajorityClass on the same stream. River's and stream-learn's: CPU time of their own loops. All learn the
same rows, except MOA, which uses its own generator of the same name. Run with ``python -m benchmarks simple_learners``.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import streamgauge as sg
from peers import moa
from streamgauge import learners
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Batch, Step
from streamgauge.streams import take

N_ROWS = 200_000
FEW_ROWS = 10_000
ROUNDS = 5
STREAM = sg.RandomRBF()
MOA_STREAM = "generators.RandomRBFGenerator"
CHUNK = 500
Speed = tuple[float, float]


def time_ours(spec: LearnerSpec, batch: Batch) -> Speed:
    """Return nanoseconds per row and accuracy of one of our learners."""
    best, accuracy = np.inf, 0.0
    for _ in range(ROUNDS):
        learner = spec.build(STREAM.schema, 1)
        started = time.thread_time_ns()
        predictions, _ = learner.interleave(Step(batch), with_votes=False)
        best = min(best, time.thread_time_ns() - started)
        accuracy = float(np.mean(predictions == batch.y))
    return float(best) / len(batch), accuracy


def time_moa(learner: str, n_rows: int) -> Speed:
    """Return nanoseconds per row and accuracy of one of MOA's learners."""
    base = moa.measure_warm_speed("functions.MajorityClass", MOA_STREAM, n_rows, 3).cpu
    speed = moa.measure_warm_speed(learner, MOA_STREAM, n_rows, 3)
    return 1e9 * (speed.cpu - base), speed.accuracy


def time_river(model: Any, batch: Batch) -> Speed:  # noqa: ANN401
    """Return nanoseconds per row and accuracy of one of River's models."""
    rows = [dict(enumerate(row)) for row in batch.x.tolist()]
    labels, hits = batch.y.tolist(), 0
    started = time.thread_time_ns()
    for row, label in zip(rows, labels, strict=True):
        hits += model.predict_one(row) == label
        model.learn_one(row, label)
    return (time.thread_time_ns() - started) / len(batch), hits / len(batch)


def time_stream_learn(model: Any, batch: Batch) -> Speed:  # noqa: ANN401
    """Return nanoseconds per row and accuracy of one of stream-learn's ensembles, chunk by chunk."""
    hits = 0
    started = time.thread_time_ns()
    for start in range(0, len(batch), CHUNK):
        x, y = batch.x[start : start + CHUNK], batch.y[start : start + CHUNK]
        if start:
            hits += int(np.sum(model.predict(x) == y))
        model.partial_fit(x, y.copy())
    return (time.thread_time_ns() - started) / len(batch), hits / (len(batch) - CHUNK)


def build_peers(few: Batch) -> dict[str, Callable[[], Speed]]:
    """Return functions that time the peers of our learners, if they are available, by the names of ours."""
    peers: dict[str, Callable[[], Speed]] = {}
    if moa.explain_missing_jdk() is None:
        peers["Perceptron(standardise=False)"] = lambda: time_moa("functions.Perceptron", N_ROWS)
        peers["KNearestNeighbours()"] = lambda: time_moa("lazy.kNN -k 10 -w 1000", FEW_ROWS)
    try:
        from river import compose, linear_model, optim, preprocessing  # noqa: PLC0415

        model = compose.Pipeline(
            preprocessing.StandardScaler(),
            linear_model.LogisticRegression(optimizer=optim.SGD(0.01), intercept_lr=0.01),
        )
        peers["LogisticRegression(classes='one_vs_rest')"] = lambda: time_river(model, few)
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
        from strlearn import ensembles  # noqa: PLC0415

        peers["SEAEnsemble(chunk_size=500)"] = lambda: time_stream_learn(ensembles.SEA(GaussianNB()), few)
        peers["AccuracyUpdatedEnsemble(chunk_size=500)"] = lambda: time_stream_learn(ensembles.AUE(GaussianNB()), few)
    except ImportError as error:
        print(f"not compared: {error}")
    return peers


OURS: dict[str, tuple[LearnerSpec, int]] = {
    "Perceptron()": (learners.Perceptron(), N_ROWS),
    "Perceptron(standardise=False)": (learners.Perceptron(standardise=False), N_ROWS),
    "LogisticRegression()": (learners.LogisticRegression(), N_ROWS),
    "LogisticRegression(classes='one_vs_rest')": (learners.LogisticRegression(classes="one_vs_rest"), N_ROWS),
    "KNearestNeighbours()": (learners.KNearestNeighbours(), FEW_ROWS),
    "MajorityClass(window=1000)": (learners.MajorityClass(window=1000), N_ROWS),
    "RandomGuess()": (learners.RandomGuess(), N_ROWS),
    "Memoriser()": (learners.Memoriser(), N_ROWS),
    "NaiveBayes()": (learners.NaiveBayes(), N_ROWS),
    "NoiseFilter(NaiveBayes())": (learners.NoiseFilter(learners.NaiveBayes()), N_ROWS),
    "SEAEnsemble(chunk_size=500)": (learners.SEAEnsemble(chunk_size=CHUNK), FEW_ROWS),
    "AccuracyUpdatedEnsemble(chunk_size=500)": (learners.AccuracyUpdatedEnsemble(chunk_size=CHUNK), FEW_ROWS),
}


def main() -> None:
    """Print the table."""
    table = Table(title=f"RBF, 10 attributes: ns of CPU per row, best of {ROUNDS}")
    for heading in ("learner", "rows", "ours", "peer", "ratio", "accuracy", "of the peer"):
        table.add_column(heading, justify="left" if heading == "learner" else "right", no_wrap=True)
    batch, few = take(STREAM, N_ROWS), take(STREAM, FEW_ROWS)
    peers = build_peers(few)
    for name, (spec, n_rows) in OURS.items():
        speed, accuracy = time_ours(spec, batch if n_rows == N_ROWS else few)
        theirs = peers[name]() if name in peers else None
        cells = (f"{theirs[0]:,.0f}", f"{theirs[0] / speed:.1f}") if theirs else ("-", "-")
        table.add_row(
            name, f"{n_rows:,}", f"{speed:,.0f}", *cells, f"{accuracy:.4f}", f"{theirs[1]:.4f}" if theirs else "-"
        )
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
