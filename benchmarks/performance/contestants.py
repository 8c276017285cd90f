"""One contestant in a process of its own, so that its peak of memory is its own.

A job comes as JSON on the command line; a line of JSON tells what it took. Rows are in memory before the clock starts,
but for those who take nothing but a file.
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
from benchmarks.performance.memory import peak_mb
from benchmarks.performance.peers_here import CAPYMOA_FOLDER
from peers import arff, moa
from streamgauge import learners, streams
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema, Step

__all__ = ["MOA", "WARM_MOA", "Job", "Taken", "run"]

N_MEMBERS = 10
WARM_MOA = "MOA, warm"
CHUNK = 200
REPEATS = 3
"""How often ours runs in one process, and MOA where its virtual machine is warm."""
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
    """What to run."""

    system: str
    learner: str
    n_rows: int
    arff: str = ""
    """The rows as a file, from which all but MOA take them; without it they are those of our own generator."""
    generator: str = ""
    """MOA's generator of these rows."""
    n_attributes: int = 10
    n_classes: int = 2
    n_folds: int = 0
    n_learners: int = 1
    n_threads: int = 1


@dataclass(frozen=True)
class Taken:
    """What it took: seconds of CPU and of wall time, accuracy, megabytes at the peak and in the learner."""

    cpu: float
    wall: float
    accuracy: float
    peak_mb: float = 0.0
    model_mb: float | None = None


def run(job: Job) -> Taken:
    """Run a job in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.performance.contestants", json.dumps(asdict(job))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        msg = f"{job.system} failed on {job.learner}:\n{done.stderr[-2000:]}"
        raise RuntimeError(msg)
    return Taken(**json.loads(done.stdout.splitlines()[-1]))


def _clocked(work: Callable[[], float], clock: Callable[[], float] = time.process_time) -> Taken:
    wall, cpu = time.perf_counter(), clock()
    accuracy = work()
    return Taken(clock() - cpu, time.perf_counter() - wall, accuracy)


def _rows(job: Job) -> arff.Rows:
    if not job.arff:
        stream = _generated(job)
        batch = streams.take(stream, job.n_rows)
        return stream.schema, batch.x, batch.y
    schema, x, y = arff.read(Path(job.arff))
    return schema, x[: job.n_rows], y[: job.n_rows]


def _generated(job: Job) -> sg.RandomRBF:
    return sg.RandomRBF(job.n_attributes, job.n_classes, n_rows=job.n_rows)


def _best(work: Callable[[], float], repeats: int = REPEATS) -> Taken:
    runs = [_clocked(work) for _ in range(repeats)]
    return replace(runs[-1], cpu=min(run.cpu for run in runs), wall=min(run.wall for run in runs))


def _ours(job: Job) -> Taken:
    """Evaluate rows in memory, or a generator's, less the time that the generator takes alone."""
    stream: Any
    if job.arff:
        schema, x, y = _rows(job)
        stream = sg.ArrayStream(x, y, schema=schema)
    else:
        stream = _generated(job)
    scheme = sg.Bootstrap(job.n_folds) if job.n_folds else sg.Prequential()
    named = {f"{job.learner} {i}": OURS[job.learner] for i in range(job.n_learners)}

    def work() -> float:
        backend = sg.Threads(job.n_threads)
        results = sg.evaluate(stream, named, scheme=scheme, backend=backend, every=job.n_rows)
        return float(np.mean(results.curve(results.learners[0], "accuracy")[-1]))

    sg.evaluate(sg.SEA(n_rows=1_000), sg.NaiveBayes(), scheme=scheme)  # what is imported when first used
    taken, peak = _best(work), peak_mb()
    alone = Taken(0.0, 0.0, 0.0) if job.arff else _best(lambda: sum(len(batch) for batch in stream.batches(32_768)))
    cpu, wall = taken.cpu - alone.cpu, taken.wall - alone.wall
    return Taken(cpu, wall, taken.accuracy, peak, _held(job, stream.schema, stream))


def _held(job: Job, schema: Schema, stream: Any) -> float | None:  # noqa: ANN401
    if job.n_folds or not job.arff:
        return None
    learner = OURS[job.learner].build(schema, 1)
    for batch in stream.batches(32_768):
        learner.interleave(Step(batch), with_votes=False)
    return learner.n_bytes / 1e6


def _moa(job: Job) -> Taken:
    """Run its task; what it reports of its own thread, the generator included."""
    if job.system == WARM_MOA:
        speed = moa.measure_warm_speed(MOA[job.learner], job.generator, job.n_rows, REPEATS)
    elif job.n_folds:
        speed = moa.time_folds(MOA[job.learner], job.generator, job.n_rows, job.n_folds)
    else:
        speed = moa.measure_speed(MOA[job.learner], job.generator, job.n_rows)
    return Taken(speed.cpu * job.n_rows, speed.wall * job.n_rows, speed.accuracy, _peak_mb_of_child())


def _capymoa(job: Job) -> Taken:
    """Run its loop over an ARFF file, which is the one that it runs in Java; the CPU time of that thread.

    Nothing is taken away: its own MajorityClass takes longer than its naive Bayes where it runs first.
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
        found = evaluation.prequential_evaluation(stream, learner, max_instances=job.n_rows, window_size=job.n_rows)
        return float(found.cumulative.accuracy()) / 100.0

    return _clocked(work, time.thread_time)


def _river_model(name: str) -> Any:  # noqa: ANN401
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


def _river(job: Job) -> Taken:
    """Run `progressive_val_score`; for folds the loop that a user would write."""
    from river import evaluate, stream  # noqa: PLC0415
    from river.metrics import Accuracy  # noqa: PLC0415

    _, x, y = _rows(job)

    def work() -> float:
        score: Any = evaluate.progressive_val_score
        accuracy: Any = Accuracy
        return float(score(stream.iter_array(x, y), _river_model(job.learner), accuracy()).get())

    def folds() -> float:
        models = [_river_model(job.learner) for _ in range(job.n_folds)]
        weights = np.random.default_rng(1).poisson(1.0, (len(y), job.n_folds)).tolist()
        hits = 0
        for (row, label), weight in zip(stream.iter_array(x, y), weights, strict=True):
            for model, w in zip(models, weight, strict=True):
                hits += model.predict_one(row) == label
                if w:
                    model.learn_one(row, label, w=w)
        return hits / (len(y) * job.n_folds)

    return _clocked(folds if job.n_folds else work)


def _scikit_learn(job: Job) -> Taken:
    """Run the loop that its users write, row by row."""
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    _, x, y = _rows(job)

    def work() -> float:
        model, hits = GaussianNB(), 0
        model.partial_fit(x[:1], y[:1], classes=np.unique(y))
        with np.errstate(divide="ignore", invalid="ignore"):  # logarithms of classes that it never saw
            for i in range(1, len(y)):
                hits += int(model.predict(x[i : i + 1])[0] == y[i])
                model.partial_fit(x[i : i + 1], y[i : i + 1])
        return hits / (len(y) - 1)

    return _clocked(work)


def _stream_learn(job: Job) -> Taken:
    """Run its TestThenTrain, which goes chunk by chunk, with scikit-learn's learner."""
    from sklearn.metrics import accuracy_score  # noqa: PLC0415
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415
    from strlearn import evaluators  # noqa: PLC0415
    from strlearn.streams import NPYParser  # noqa: PLC0415

    _, x, y = _rows(job)
    path = Path(job.arff).with_suffix(f".{job.n_rows}.npy")
    np.save(path, np.column_stack([x, y]))

    def work() -> float:
        stream = NPYParser(str(path), chunk_size=CHUNK, n_chunks=len(y) // CHUNK)
        evaluator = evaluators.TestThenTrain(accuracy_score)
        evaluator.process(stream, GaussianNB())
        return float(np.mean(evaluator.scores))

    return _clocked(work)


SYSTEMS: dict[str, Callable[[Job], Taken]] = {
    "streamgauge": _ours,
    "MOA": _moa,
    WARM_MOA: _moa,
    "CapyMOA": _capymoa,
    "River": _river,
    "scikit-learn": _scikit_learn,
    "stream-learn": _stream_learn,
}


def _peak_mb_of_child() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6


def main() -> None:
    """Run the job of the command line."""
    job = Job(**json.loads(sys.argv[1]))
    taken = asdict(SYSTEMS[job.system](job))
    taken["peak_mb"] = taken["peak_mb"] or peak_mb()
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
