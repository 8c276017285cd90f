"""One contestant in a separate process, so that its peak memory is measured alone.

The job is JSON on the command line; the costs are printed as JSON. Rows are in memory before the clock starts, except
for systems that only read files.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import streamgauge as sg
from benchmarks.performance.availability import CAPYMOA_FOLDER
from benchmarks.performance.memory import measure_peak
from peers import arff, moa
from streamgauge import learners, streams
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema, Step

__all__ = ["MOA", "WARM_MOA", "Costs", "Job", "run"]

N_MEMBERS = 10
WARM_MOA = "MOA, warm"
CHUNK = 200
REPEATS = 3
"""Runs of ours in one process, and of MOA in a warm virtual machine."""
OURS: dict[str, LearnerSpec] = {
    "NaiveBayes": sg.NaiveBayes(),
    "HoeffdingTree": sg.HoeffdingTree(),
    "OzaBag": learners.OzaBag(),
    "LeveragingBagging": learners.LeveragingBagging(),
    "AdaptiveRandomForest": learners.AdaptiveRandomForest(),
}
MOA = {
    "MajorityClass": "functions.MajorityClass",
    "NaiveBayes": "bayes.NaiveBayes",
    "HoeffdingTree": "trees.HoeffdingTree",
    "OzaBag": "meta.OzaBag",
    "LeveragingBagging": "meta.LeveragingBag",
    "AdaptiveRandomForest": f"meta.AdaptiveRandomForest -s {N_MEMBERS}",
}


@dataclass(frozen=True)
class Job:
    """A run of one contestant."""

    system: str
    learner: str
    n_rows: int
    arff: str = ""
    """File of the rows, for all systems but MOA; if empty, rows come from our generator."""
    generator: str = ""
    """MOA's generator of the same rows."""
    n_attributes: int = 10
    n_classes: int = 2
    n_folds: int = 0
    n_learners: int = 1
    n_threads: int = 1


@dataclass(frozen=True)
class Costs:
    """Costs of a run: CPU and wall seconds, accuracy, peak megabytes and megabytes of the learner."""

    cpu: float
    wall: float
    accuracy: float
    peak_mb: float = 0.0
    model_mb: float | None = None


def run(job: Job) -> Costs:
    """Run a job in a new process."""
    command = [sys.executable, "-m", "benchmarks.performance.contestants", json.dumps(asdict(job))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{job.system} failed on {job.learner}:\n{done.stderr[-2000:]}"
        raise RuntimeError(msg)
    return Costs(**json.loads(done.stdout.splitlines()[-1]))


def _time(work: Callable[[], float], clock: Callable[[], float] = time.process_time) -> Costs:
    wall, cpu = time.perf_counter(), clock()
    accuracy = work()
    return Costs(clock() - cpu, time.perf_counter() - wall, accuracy)


def _read_rows(job: Job) -> arff.Rows:
    if not job.arff:
        stream = _build_generator(job)
        batch = streams.take(stream, job.n_rows)
        return stream.schema, batch.x, batch.y
    schema, x, y = arff.read(Path(job.arff))
    return schema, x[: job.n_rows], y[: job.n_rows]


def _build_generator(job: Job) -> sg.RandomRBF:
    return sg.RandomRBF(job.n_attributes, job.n_classes, n_rows=job.n_rows)


def _time_best(work: Callable[[], float], repeats: int = REPEATS) -> Costs:
    runs = [_time(work) for _ in range(repeats)]
    return replace(runs[-1], cpu=min(run.cpu for run in runs), wall=min(run.wall for run in runs))


def _run_ours(job: Job) -> Costs:
    """Evaluate rows in memory, or those of a generator, minus the generator's time."""
    stream: Any
    if job.arff:
        schema, x, y = _read_rows(job)
        stream = sg.ArrayStream(x, y, schema=schema)
    else:
        stream = _build_generator(job)
    scheme = sg.Bootstrap(job.n_folds) if job.n_folds else sg.Prequential()
    named = {f"{job.learner} {i}": OURS[job.learner] for i in range(job.n_learners)}

    def work() -> float:
        backend = sg.Threads(job.n_threads)
        results = sg.evaluate(stream, named, scheme=scheme, backend=backend, every=job.n_rows)
        return float(np.mean(results.curve(results.learners[0], "accuracy")[-1]))

    sg.evaluate(sg.SEA(n_rows=1_000), sg.NaiveBayes(), scheme=scheme)  # imports everything
    costs, peak = _time_best(work), measure_peak()
    generator = Costs(0.0, 0.0, 0.0)
    if not job.arff:
        generator = _time_best(lambda: sum(len(batch) for batch in stream.batches(32_768)))
    return Costs(
        cpu=costs.cpu - generator.cpu,
        wall=costs.wall - generator.wall,
        accuracy=costs.accuracy,
        peak_mb=peak,
        model_mb=_measure_model(job, stream.schema, stream),
    )


def _measure_model(job: Job, schema: Schema, stream: Any) -> float | None:  # noqa: ANN401
    if job.n_folds or not job.arff:
        return None
    learner = OURS[job.learner].build(schema, 1)
    for batch in stream.batches(32_768):
        learner.interleave(Step(batch), with_votes=False)
    return learner.n_bytes / 1e6


def _run_moa(job: Job) -> Costs:
    """Run MOA's task; its times are those of the task thread, including the generator."""
    if job.system == WARM_MOA:
        speed = moa.measure_warm_speed(MOA[job.learner], job.generator, job.n_rows, REPEATS)
    elif job.n_folds:
        speed = moa.time_folds(MOA[job.learner], job.generator, job.n_rows, job.n_folds)
    else:
        speed = moa.measure_speed(MOA[job.learner], job.generator, job.n_rows)
    return Costs(speed.cpu * job.n_rows, speed.wall * job.n_rows, speed.accuracy, _measure_child_peak())


def _run_capymoa(job: Job) -> Costs:
    """Run CapyMOA's loop over an ARFF file, its only loop in Java; the time is the CPU time of that thread.

    No baseline is subtracted: its MajorityClass takes longer than its naive Bayes if it runs first.
    """
    sys.path.append(str(CAPYMOA_FOLDER))
    from capymoa import classifier, evaluation  # noqa: PLC0415
    from capymoa.stream import ARFFStream  # noqa: PLC0415

    stream = ARFFStream(job.arff)
    names = {"AdaptiveRandomForest": "AdaptiveRandomForestClassifier"}
    as_in_moa: dict[str, dict[str, object]] = {
        "HoeffdingTree": {"confidence": 1e-7},
        "LeveragingBagging": {"ensemble_size": N_MEMBERS},
        "AdaptiveRandomForest": {"ensemble_size": N_MEMBERS},
    }
    make = getattr(classifier, names.get(job.learner, job.learner))
    learner = make(stream.get_schema(), **as_in_moa.get(job.learner, {}))

    def work() -> float:
        results = evaluation.prequential_evaluation(stream, learner, max_instances=job.n_rows, window_size=job.n_rows)
        return float(results.cumulative.accuracy()) / 100.0

    return _time(work, time.thread_time)


def _build_river_model(name: str) -> Any:  # noqa: ANN401
    from river import ensemble, forest, naive_bayes, tree  # noqa: PLC0415

    make: dict[str, Callable[[], Any]] = {
        "NaiveBayes": naive_bayes.GaussianNB,
        "HoeffdingTree": tree.HoeffdingTreeClassifier,
        "OzaBag": lambda: ensemble.BaggingClassifier(tree.HoeffdingTreeClassifier(), N_MEMBERS, seed=1),
        "LeveragingBagging": lambda: ensemble.LeveragingBaggingClassifier(
            tree.HoeffdingTreeClassifier(), N_MEMBERS, seed=1
        ),
        "AdaptiveRandomForest": lambda: forest.ARFClassifier(N_MEMBERS, max_features=6, seed=1),
    }
    return make[name]()


def _run_river(job: Job) -> Costs:
    """Run `progressive_val_score`; for folds, the loop that a user would write."""
    from river import evaluate, stream  # noqa: PLC0415
    from river.metrics import Accuracy  # noqa: PLC0415

    _, x, y = _read_rows(job)

    def run_once() -> float:
        score: Any = evaluate.progressive_val_score
        accuracy: Any = Accuracy
        return float(score(stream.iter_array(x, y), _build_river_model(job.learner), accuracy()).get())

    def run_folds() -> float:
        models = [_build_river_model(job.learner) for _ in range(job.n_folds)]
        weights = np.random.default_rng(1).poisson(1.0, (len(y), job.n_folds)).tolist()
        hits = 0
        for (row, label), weight in zip(stream.iter_array(x, y), weights, strict=True):
            for model, w in zip(models, weight, strict=True):
                hits += model.predict_one(row) == label
                if w:
                    model.learn_one(row, label, w=w)
        return hits / (len(y) * job.n_folds)

    return _time(run_folds if job.n_folds else run_once)


def _run_scikit_learn(job: Job) -> Costs:
    """Run the loop that users of scikit-learn write, row by row."""
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    _, x, y = _read_rows(job)

    def work() -> float:
        model, hits = GaussianNB(), 0
        model.partial_fit(x[:1], y[:1], classes=np.unique(y))
        with np.errstate(divide="ignore", invalid="ignore"):  # logarithms of zero counts
            for i in range(1, len(y)):
                hits += int(model.predict(x[i : i + 1])[0] == y[i])
                model.partial_fit(x[i : i + 1], y[i : i + 1])
        return hits / (len(y) - 1)

    return _time(work)


def _run_stream_learn(job: Job) -> Costs:
    """Run stream-learn's TestThenTrain, which works in chunks, with scikit-learn's learner."""
    from sklearn.metrics import accuracy_score  # noqa: PLC0415
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
    from strlearn import evaluators  # noqa: PLC0415
    from strlearn.streams import NPYParser  # noqa: PLC0415

    _, x, y = _read_rows(job)
    path = Path(job.arff).with_suffix(f".{job.n_rows}.npy")
    np.save(path, np.column_stack([x, y]))

    def work() -> float:
        stream = NPYParser(str(path), chunk_size=CHUNK, n_chunks=len(y) // CHUNK)
        evaluator = evaluators.TestThenTrain(accuracy_score)
        evaluator.process(stream, GaussianNB())
        return float(np.mean(evaluator.scores))

    return _time(work)


SYSTEMS: dict[str, Callable[[Job], Costs]] = {
    "streamgauge": _run_ours,
    "MOA": _run_moa,
    WARM_MOA: _run_moa,
    "CapyMOA": _run_capymoa,
    "River": _run_river,
    "scikit-learn": _run_scikit_learn,
    "stream-learn": _run_stream_learn,
}


def _measure_child_peak() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Run the job of the command line."""
    job = Job(**json.loads(sys.argv[1]))
    costs = SYSTEMS[job.system](job)
    print(json.dumps(asdict(replace(costs, peak_mb=costs.peak_mb or measure_peak()))))


if __name__ == "__main__":
    main()
