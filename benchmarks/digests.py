"""Digests of 63 runs, to check that a change which should alter no number alters none.

``python -m benchmarks digests`` compares with the digests saved in benchmarks/results/digests.json, and
``python -m benchmarks.digests --save`` replaces them. The runs cover all schemes, labellings, forgettings, detectors,
ensembles, adapters, checkpoints and backends; a digest is over numbers alone, so names may change.
"""

import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import streamgauge as sg
from peers import moa
from streamgauge import drift, learners, schemes
from streamgauge.backends import Processes, Ray, Threads
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, DelayedByColumn, DelayedByTime, First, Fraction
from streamgauge.streams import LED, ArrayStream, Gradual, Mixed, Sudden, Waveform, in_memory

SAVED = Path(__file__).parent / "results" / "digests.json"
MEASURES = ["accuracy", "kappa", "kappa_m", "kappa_temporal", "f1_macro", "g_mean", "mcc"]
AREAS = ["accuracy", "roc_auc_ovr_macro", "pr_auc_ovr_macro", "log_loss", "brier", "expected_calibration_error"]
PAIR = {"tree": learners.HoeffdingTree(grace_period=50), "bayes": learners.NaiveBayes()}
DRIFTING = Sudden(sg.SEA(), sg.SEA(concept=3), position=1500)


class Nearest:
    """A learner in plain Python, for the adapters: the class of the nearest of the last 20 rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, int]] = []

    def predict(self, x: Any) -> Any:
        """Return the class of the nearest row."""
        if not self.rows:
            return np.zeros(len(x), dtype=np.int64)
        return np.array([min(self.rows, key=lambda row: float(abs(row[0] - values).sum()))[1] for values in x])

    def learn(self, x: Any, y: Any) -> None:
        """Keep the rows."""
        self.rows = [*self.rows, *zip(x.copy(), y.tolist(), strict=True)][-20:]


def build_timed_stream() -> ArrayStream:
    """Return rows with times and a column of delays."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(2000, 3))
    delays = rng.integers(0, 300, 2000).astype(float)
    return ArrayStream(
        {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "delay": delays},
        (x.sum(axis=1) > 0).astype(int),
        time=np.cumsum(rng.exponential(1.0, 2000)),
    )


def run(stream: Any = None, models: Any = None, **options: Any) -> sg.Results:
    """Return the results of one run with the usual options of this module."""
    options = {"measures": MEASURES, "every": 250, "backend": Threads(1), "batch_size": 700, **options}
    stream = in_memory(DRIFTING, 3000) if stream is None else stream
    return sg.evaluate(stream, PAIR if models is None else models, **options)


def run_and_resume(**options: Any) -> sg.Results:
    """Return the results of a run that was stopped after some batches and resumed from its checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        stream = in_memory(DRIFTING, 3000)
        shared: dict[str, Any] = {"measures": MEASURES, "every": 250, "batch_size": 300, **options}
        for progress in sg.Evaluation(stream, PAIR, checkpoint=folder, checkpoint_every=600, **shared).advance():
            if progress.n_rows >= 1500:
                break
        return sg.evaluate(stream, PAIR, checkpoint=folder, resume=True, **shared)


def run_on_ray() -> sg.Results:
    """Return the results of a run on a local Ray cluster."""
    import ray  # noqa: PLC0415

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=40)
    try:
        return run(scheme=schemes.Bootstrap(3), backend=Ray())
    finally:
        ray.shutdown()


def build_runs() -> dict[str, Callable[[], sg.Results]]:
    """Return all runs by name."""
    runs: dict[str, Callable[[], sg.Results]] = {}

    def add(name: str, *arguments: Any, **options: Any) -> None:
        runs[name] = lambda: run(*arguments, **options)

    for scheme in (
        schemes.Prequential(),
        schemes.Bootstrap(4),
        schemes.Bootstrap(4, test="held_out"),
        schemes.CrossValidation(4),
        schemes.CrossValidation(4, test="training"),
        schemes.Split(4),
        schemes.Chunks(200),
        schemes.Holdout(500, 200),
        schemes.WarmUp(300),
        schemes.TrainThenTest(1000),
        schemes.Pretrained(sg.SEA(n_rows=500)),
    ):
        add(f"scheme {scheme}", scheme=scheme)
    for labelling in (
        Fraction(0.3),
        First(500),
        Delayed(200),
        Delayed(100, of=Fraction(0.5)),
        DelayedAtRandom(100, "geometric"),
        AllLabels(),
    ):
        add(f"labelling {labelling}", labelling=labelling, scheme=schemes.Bootstrap(2))
    add("labelling by time", build_timed_stream(), labelling=DelayedByTime(50.0))
    add("labelling by column", build_timed_stream(), labelling=DelayedByColumn("delay"))
    add("score last", labelling=Delayed(200), score="last")
    add("score labelled", labelling=Fraction(0.5), score="labelled")
    for forgetting in (Landmark(), Window(300), Fading(0.995), EWMA(0.01), Tumbling(400), AdwinWindow()):
        add(f"forgetting {forgetting}", forgetting=forgetting, measures=MEASURES + AREAS[1:])
    add("forgetting TimeWindow", build_timed_stream(), forgetting=TimeWindow(100.0))
    add("forgetting of MOA", forgetting=[Landmark(moa_compatible=True), Window(300, moa_compatible=True)])
    add("several forgettings", forgetting=[Window(100), Fading(0.99), Landmark()], scheme=schemes.Bootstrap(3))
    detectors = [name for name in drift.__all__ if hasattr(getattr(drift, name), "build")]
    detectors = [name for name in detectors if name not in {"OfMean", "Watch"}]
    for part in range(3):
        add(f"detectors {part}", detectors=[getattr(drift, name)() for name in detectors[part::3]])
    ensembles = {
        "bag": learners.OzaBag(n_members=3),
        "boost": learners.OzaBoost(n_members=3),
        "leveraging": learners.LeveragingBagging(n_members=3),
        "forest": learners.AdaptiveRandomForest(n_members=4),
        "patches": learners.StreamingRandomPatches(n_members=3),
    }
    for name, ensemble in ensembles.items():
        stream = in_memory(Gradual(Waveform(), Waveform(seed=2), position=1000, width=200), 2000)
        add(f"ensemble {name}", stream, {name: ensemble}, scheme=schemes.Bootstrap(2))
    chunked = (
        "AccuracyUpdatedEnsemble",
        "AccuracyWeightedEnsemble",
        "LearnppCDS",
        "LearnppNIE",
        "SEAEnsemble",
        "WeightedAgeingEnsemble",
    )
    add("chunk ensembles", models={name: getattr(learners, name)() for name in chunked}, scheme=schemes.Chunks(250))
    single = (
        "HoeffdingAdaptiveTree",
        "ExtremelyFastDecisionTree",
        "KNearestNeighbours",
        "LogisticRegression",
        "Perceptron",
    )
    for name in single:
        add(f"learner {name}", in_memory(Mixed(), 2000), {name: getattr(learners, name)()}, measures=AREAS)
    simple = ("MajorityClass", "NoChange", "RandomGuess", "NaiveBayes")
    add("simple learners", in_memory(LED(), 2000), {name: getattr(learners, name)() for name in simple}, measures=AREAS)
    add(
        "wrappers",
        models={
            "noise": learners.NoiseFilter(learners.HoeffdingTree(), 0.1),
            "reset": learners.DriftReset(learners.NaiveBayes()),
            "one": learners.OneVsRest(learners.Perceptron()),
        },
    )
    runs |= build_adapter_runs()
    add("threads", scheme=schemes.Bootstrap(5), backend=Threads(2), models=ensembles)
    add("processes", scheme=schemes.Bootstrap(4), backend=Processes(2))
    add("processes, late labels", labelling=Delayed(150), scheme=schemes.Split(3), backend=Processes(2))
    runs["ray"] = run_on_ray
    runs["checkpoint"] = run_and_resume
    runs["checkpoint, late labels"] = lambda: run_and_resume(labelling=Delayed(400), scheme=schemes.Bootstrap(3))
    runs["checkpoint, holdout"] = lambda: run_and_resume(scheme=schemes.Holdout(500, 100), forgetting=Window(100))
    runs["checkpoint, processes"] = lambda: run_and_resume(scheme=schemes.CrossValidation(3), backend=Processes(2))
    add("generators", in_memory(sg.RandomRBF(speed=0.001), 3000), scheme=schemes.Split(3), measures=AREAS)
    add("hyperplane, endless", sg.Hyperplane(), n_rows=2500)
    add("time budget", time_budget=60.0, resources=True)
    return runs


def build_adapter_runs() -> dict[str, Callable[[], sg.Results]]:
    """Return the runs with learners of other libraries."""

    def run_scikit_learn() -> sg.Results:
        from sklearn.linear_model import SGDClassifier  # noqa: PLC0415
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

        return run(models={"sgd": SGDClassifier(random_state=3), "gauss": GaussianNB()}, n_rows=1500)

    def run_river() -> sg.Results:
        from river import linear_model, preprocessing, tree  # noqa: PLC0415

        pipeline = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        return run(models={"tree": tree.HoeffdingTreeClassifier(), "pipeline": pipeline}, n_rows=1500)

    def run_stream_learn() -> sg.Results:
        from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
        from strlearn.ensembles import SEA  # noqa: PLC0415

        return run(models={"sea": SEA(GaussianNB())}, scheme=schemes.Chunks(250))

    def run_moa() -> sg.Results:
        os.environ.setdefault("STREAMGAUGE_MOA_JAR", str(moa.find_jar()))
        names = {"tree": "trees.HoeffdingTree", "bayes": "bayes.NaiveBayes"}
        return run(models={name: learners.Moa(text) for name, text in names.items()})

    return {
        "adapter scikit-learn": run_scikit_learn,
        "adapter River": run_river,
        "adapter stream-learn": run_stream_learn,
        "adapter MOA": run_moa,
        "adapter Vowpal Wabbit": lambda: run(models={"vw": learners.VowpalWabbit()}, n_rows=1500),
        "adapter plain Python": lambda: run(models={"nearest": Nearest()}, n_rows=1000),
    }


def compute_digest(results: sg.Results) -> str:
    """Return a digest of all numbers of results that depend neither on the clock nor on names."""
    parts: list[Any] = [results.rows, results.values, results.n_rows, results.complete]
    for pair in results.pairs:
        parts += [pair.n_rows, pair.n_scored, pair.only_first, pair.only_second, pair.sum_squared_means, pair.crossed]
        parts += [pair.block_scored, pair.block_sums]
    parts += [[alarm.row, alarm.fold, len(alarm.kind)] for alarm in results.alarms]
    for verdict in results.verdicts:
        parts += [len(verdict.outcome), verdict.row or -1, verdict.difference, *(verdict.interval or ())]
    if results.feedback is not None:
        feedback = results.feedback
        parts += [feedback.n_revealed, feedback.n_owed, feedback.n_hidden, feedback.n_unknown, feedback.n_scored]
    if results.labels is not None:
        parts += [results.labels.rows, results.labels.by_class]
    if results.confusions is not None:
        parts += [results.confusions.rows, results.confusions.weights]
    if results.differences is not None:
        parts += [results.differences.rows, results.differences.values]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.nan_to_num(np.asarray(part, dtype="<f8"), nan=-9e99).tobytes())
    return digest.hexdigest()[:20]


def main(*, save: bool = False) -> None:
    """Compute all digests; print those that differ from the saved ones, or save them."""
    warnings.simplefilter("ignore")
    saved = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else {}
    digests = {}
    for name, work in build_runs().items():
        digests[name] = compute_digest(work())
        if not save and saved.get(name) != digests[name]:
            print(f"DIFFERS  {name}: {saved.get(name)} -> {digests[name]}", flush=True)
    if save:
        SAVED.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    n_same = sum(saved.get(name) == digest for name, digest in digests.items())
    print(f"{len(digests)} runs, {n_same} the same as saved")


if __name__ == "__main__":
    main(save="--save" in sys.argv)
