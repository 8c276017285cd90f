"""Cost of scikit-learn pipelines over a chunked loop written by hand: CPU time in turns, best of several.

The loop written by hand predicts a chunk, counts hits, and then trains every step on the chunk; ours is `evaluate` with
the same pipeline and chunk size. It may take at most twice the time.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import streamgauge as sg
from benchmarks.turns import run_in_turns
from streamgauge.learners import ScikitLearn
from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream

GOAL = 2.0
TURNS = 3


@dataclass(frozen=True)
class Contest:
    """Rows, as a stream and as a user has them, and a pipeline: its name, all of it, and its steps."""

    name: str
    stream: ArrayStream
    x: Any
    y: NDArray[np.int32]
    make: Callable[[], Any]


def make_contests(n_rows: int, seed: int = 1) -> list[Contest]:
    """Return the contests: a scaler before a linear classifier, and encoded columns with gaps before it."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_rows, 6))
    y = (numbers[:, 0] + numbers[:, 1] * 0.5 + random.normal(size=n_rows) > 0).astype(np.int32)
    countries = random.choice(["DE", "FR", "IT", "PL", "SE"], n_rows)
    merchants = random.choice([f"m{i:02}" for i in range(40)], n_rows)
    frame = pd.DataFrame({f"x{i}": numbers[:, i] for i in range(6)} | {"country": countries, "merchant": merchants})
    for column in ("x1", "x4", "country"):
        frame.loc[random.random(n_rows) < 0.05, column] = np.nan
    texts = {name: frame[name].astype("category").cat for name in ("country", "merchant")}
    attributes = [Attribute(f"x{i}", missing=True) for i in range(6)]
    attributes += [Attribute(name, tuple(text.categories), missing=True) for name, text in texts.items()]
    codes = [text.codes.to_numpy().astype(float) for text in texts.values()]
    x = np.column_stack([frame.to_numpy()[:, :6].astype(float), *(np.where(code < 0, np.nan, code) for code in codes)])

    def scaled() -> Any:  # noqa: ANN401
        return make_pipeline(StandardScaler(), SGDClassifier(shuffle=False))

    def encoded() -> Any:  # noqa: ANN401
        columns = make_column_transformer(
            (SimpleImputer(), [f"x{i}" for i in range(6)]),
            (OneHotEncoder(handle_unknown="ignore"), ["country", "merchant"]),
        )
        return make_pipeline(columns, SGDClassifier(shuffle=False))

    return [
        Contest("StandardScaler, SGDClassifier", ArrayStream(numbers, y), numbers, y, scaled),
        Contest(
            "ColumnTransformer, SGDClassifier",
            ArrayStream(x, y, schema=Schema(tuple(attributes), ("0", "1"))),
            frame,
            y,
            encoded,
        ),
    ]


def run_by_hand(contest: Contest, chunk_size: int) -> float:
    """Run the loop that a user of scikit-learn writes; return the accuracy."""
    *before, last = [step for _, step in contest.make().steps]
    x, y, hits = getattr(contest.x, "iloc", contest.x), contest.y, 0
    for start in range(0, len(y), chunk_size):
        rows, labels = x[start : start + chunk_size], y[start : start + chunk_size]
        if start:
            prepared = rows
            for step in before:
                prepared = step.transform(prepared)
            hits += int((last.predict(prepared) == labels).sum())
        for step in before:
            if hasattr(step, "partial_fit"):
                step.partial_fit(rows)
            elif not start:
                step.fit(rows)
            rows = step.transform(rows)
        last.partial_fit(rows, labels, classes=[0, 1])
    return hits / len(y)


def measure(contest: Contest, chunk_size: int, turns: int = TURNS) -> tuple[float, float, float, float]:
    """Time both in turns; return the best seconds by hand and ours, and both accuracies."""

    def evaluate() -> float:
        learner = ScikitLearn(contest.make(), chunk_size=chunk_size)
        results = sg.evaluate(contest.stream, {"mine": learner}, backend=sg.Threads(1), progress=False)
        return float(results.values[-1].item())

    best = run_in_turns({"hand": lambda: run_by_hand(contest, chunk_size), "ours": evaluate}, turns, time.process_time)
    hand, ours = best["hand"], best["ours"]
    return hand.seconds, ours.seconds, hand.result or 0.0, ours.result or 0.0


def main(n_rows: int = 100_000) -> None:
    """Print a line for each pipeline and chunk size."""
    print(f"seconds of CPU for {n_rows:,} rows, best of {TURNS} turns; at most {GOAL:g} times a loop written by hand")
    print(f"{'pipeline':36}{'chunk':>7}{'by hand':>10}{'ours':>8}{'ratio':>8}  {'goal':8}{'accuracy':>9}{'by hand':>9}")
    for contest in make_contests(n_rows):
        for chunk_size in (100, 1000):
            hand, ours, theirs, accuracy = measure(contest, chunk_size)
            verdict = "met" if ours / hand <= GOAL else "MISSED"
            times = f"{chunk_size:7,}{hand:10.2f}{ours:8.2f}{ours / hand:8.2f}"
            print(f"{contest.name:36}{times}  {verdict:8}{accuracy:9.4f}{theirs:9.4f}", flush=True)


if __name__ == "__main__":
    main()
