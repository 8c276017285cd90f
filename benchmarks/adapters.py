"""Overhead of the adapters over a library's own loop: CPU time of whole evaluations, in turns, best of several.

The library's own loop tests then trains its learner on the same rows in memory and counts hits: scikit-learn's calls
`predict` and `partial_fit` row by row, River's is `progressive_val_score`, MOA's is EvaluatePrequential in the same
warm virtual machine. Ours is `evaluate`. The overhead may be at most 10 %.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from benchmarks.turns import run_in_turns
from peers import moa
from streamgauge.records import Batch
from streamgauge.streams import ArrayStream, take

GOAL = 0.10
TURNS = 5

Loop = Callable[[Batch], float]


def build_scikit_learn_loop(make: Callable[[], Any]) -> Loop:
    """Return the loop that a user of scikit-learn writes; it returns the accuracy."""

    def loop(rows: Batch) -> float:
        estimator, hits = make(), 0
        x, y = rows.x, rows.y
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes the logarithm of zero counts
            estimator.partial_fit(x[:1], y[:1], classes=np.unique(y))
            for i in range(1, len(y)):
                hits += int(estimator.predict(x[i : i + 1])[0] == y[i])
                estimator.partial_fit(x[i : i + 1], y[i : i + 1])
        return hits / len(y)

    return loop


def build_river_loop(make: Callable[[], Any]) -> Loop:
    """Return River's loop."""
    from river import evaluate, metrics, stream  # noqa: PLC0415

    def loop(rows: Batch) -> float:
        pairs = stream.iter_array(rows.x, rows.y)
        return float(evaluate.progressive_val_score(pairs, make(), metrics.Accuracy()).get())  # type: ignore[no-untyped-call]

    return loop


def build_moa_loop(learner: str) -> Loop:
    """Return MOA's loop over rows that are already in its memory."""
    import jpype  # noqa: PLC0415

    sg.learners.Moa().build(sg.SEA().schema, 1)  # starts the virtual machine
    prepared: dict[int, Any] = {}

    def loop(rows: Batch) -> float:
        task = jpype.JClass("moa.options.ClassOption").cliStringToObject(
            f"EvaluatePrequential -l ({learner}) -e BasicClassificationPerformanceEvaluator "
            f"-i {len(rows)} -f {len(rows)} -q {len(rows)}",
            jpype.JClass("moa.tasks.MainTask"),
            None,
        )
        if id(rows) not in prepared:
            prepared[id(rows)] = _to_instances(rows)
        task.streamOption.setCurrentObject(jpype.JClass("moa.streams.CachedInstancesStream")(prepared[id(rows)]))
        curve = task.doTask()
        return float(curve.getMeasurement(0, 4)) / 100.0

    return loop


def _to_instances(rows: Batch) -> Any:  # noqa: ANN401
    """Copy rows into MOA's memory."""
    import jpype  # noqa: PLC0415

    package = "com.yahoo.labs.samoa.instances."
    names = jpype.JClass("java.util.ArrayList")()
    for i in range(rows.x.shape[1]):
        names.add(jpype.JClass(package + "Attribute")(f"x{i}"))
    classes = jpype.JClass("java.util.ArrayList")()
    for code in range(int(rows.y.max()) + 1):
        classes.add(jpype.JString(str(code)))
    names.add(jpype.JClass(package + "Attribute")("class", classes))
    instances = jpype.JClass(package + "Instances")("rows", names, 0)
    instances.setClassIndex(rows.x.shape[1])
    header = jpype.JClass(package + "InstancesHeader")(instances)
    dense = jpype.JClass(package + "DenseInstance")
    for row in np.column_stack([rows.x, rows.y]):
        instance = dense(1.0, jpype.JArray.of(row))
        instance.setDataset(header)
        instances.add(instance)
    return instances


def measure(learner: object, loop: Loop, rows: Batch, clock: Callable[[], float]) -> tuple[float, float, float, float]:
    """Time both in turns; return the best seconds per row of theirs and ours, and both accuracies."""
    stream = ArrayStream(rows.x, rows.y)

    def evaluate() -> float:
        results = sg.evaluate(stream, learner, backend=sg.Threads(1), every=len(rows))
        return float(results.values[-1].item())

    best = run_in_turns({"theirs": lambda: loop(rows), "ours": evaluate}, TURNS, clock)
    theirs, ours = best["theirs"], best["ours"]
    return theirs.seconds / len(rows), ours.seconds / len(rows), theirs.result or 0.0, ours.result or 0.0


def list_contestants() -> list[tuple[str, object, Loop, int]]:
    """Return the contestants: library, learner, its own loop, number of rows."""
    from river import forest, linear_model, naive_bayes, preprocessing, tree  # noqa: PLC0415

    estimators: list[Callable[[], Any]] = [
        lambda: SGDClassifier(shuffle=False),
        lambda: SGDClassifier(loss="log_loss", shuffle=False),
        Perceptron,
        GaussianNB,
    ]
    models: list[Callable[[], Any]] = [
        tree.HoeffdingTreeClassifier,
        naive_bayes.GaussianNB,
        lambda: preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        lambda: forest.ARFClassifier(seed=1),
    ]
    contestants: list[tuple[str, object, Loop, int]] = []
    contestants += [("scikit-learn", make(), build_scikit_learn_loop(make), 400) for make in estimators]
    sizes = (1_500, 1_500, 1_500, 200)
    contestants += [("River", make(), build_river_loop(make), size) for make, size in zip(models, sizes, strict=True)]
    if moa.explain_missing() is None:
        os.environ.setdefault("STREAMGAUGE_MOA_JAR", str(moa.find_jar()))
        for text in ("bayes.NaiveBayes", "trees.HoeffdingTree", "meta.OzaBag -s 10"):
            n_rows = 20_000 if "meta" in text else 200_000
            contestants.append(("MOA", sg.learners.Moa(text), build_moa_loop(text), n_rows))
    else:
        print(moa.explain_missing())
    return contestants


def main() -> None:
    """Print a line for each learner."""
    print(f"us of CPU per row, 10 attributes, best of {TURNS} turns; the overhead may be at most {GOAL:.0%}")
    print(f"{'':14}{'learner':24}{'own loop':>10}{'ours':>10}{'added':>8}  {'goal':8}{'accuracy':>9}{'own':>8}")
    for library, learner, loop, n_rows in list_contestants():
        # Compiler and garbage collector of the virtual machine run in other threads and are not counted.
        clock = time.thread_time if library == "MOA" else time.process_time
        name = getattr(learner, "short_name", type(learner).__name__)
        theirs, ours, their_accuracy, our_accuracy = measure(learner, loop, take(sg.RandomRBF(), n_rows), clock)
        added = ours / theirs - 1.0
        verdict = "met" if added <= GOAL else "MISSED"
        times = f"{theirs * 1e6:10,.2f}{ours * 1e6:10,.2f}{added:+8.1%}"
        print(f"{library:14}{name:24}{times}  {verdict:8}{our_accuracy:9.4f}{their_accuracy:8.4f}", flush=True)


if __name__ == "__main__":
    main()
