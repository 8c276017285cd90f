"""MOA in a separate Java virtual machine.

Its jar is `STREAMGAUGE_MOA_JAR`, or fetched once by the installed `mvn` from Maven Central into `.cache/moa` of the
project. Only the classifiers of WEKA need another jar, which is fetched in the same way. Without the agent that
measures objects, MOA sees trees of size 0, so they never reach its memory limit.
"""

import csv
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from peers import arff
from peers.machine import Machine
from streamgauge.records import Schema

__all__ = [
    "Run",
    "Speed",
    "build_class_path",
    "explain_missing",
    "explain_missing_jdk",
    "explain_missing_weka",
    "find_jar",
    "find_weka_jars",
    "generate_rows",
    "measure_heap",
    "measure_speed",
    "measure_warm_speed",
    "measure_weka",
    "predict_adaptive_tree",
    "predict_weighted",
    "record_events",
    "run_detectors",
    "run_evaluators",
    "run_prequential",
    "share_machine",
    "time_adwin",
    "time_evaluator",
    "time_folds",
    "time_reading",
]

COORDINATES = "nz.ac.waikato.cms.moa:moa:2024.07.0"
WEKA_COORDINATES = ("nz.ac.waikato.cms.weka:weka-stable:3.8.6", "nz.ac.waikato.cms.weka.thirdparty:bounce:0.18")
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "moa"
CPU_SECONDS = "evaluation time (cpu seconds)"
EVALUATION = "-e BasicClassificationPerformanceEvaluator -i {n} -f {n} -q {n}"


class MoaError(RuntimeError):
    """MOA is not available, or its task failed."""


@dataclass(frozen=True)
class Run:
    """Result of a prequential run: predicted class codes, and MOA's accuracy in [0, 1]."""

    predictions: NDArray[np.int32]
    accuracy: float


@dataclass(frozen=True)
class Speed:
    """Speed of a task, the best of several runs.

    Parameters
    ----------
    cpu
        CPU seconds per row of the task's thread; compiler and garbage collector are not counted.
    wall
        Wall seconds per row.
    accuracy
        Accuracy in [0, 1], over all folds.
    """

    cpu: float
    wall: float
    accuracy: float


@cache
def explain_missing() -> str | None:
    """Return why MOA cannot run here; None if it can."""
    if shutil.which("java") is None:
        return "MOA needs Java, which is not installed"
    try:
        find_jar()
    except MoaError as error:
        return str(error)
    return None


@cache
def explain_missing_weka() -> str | None:
    """Return why classifiers of WEKA cannot run here; None if they can."""
    try:
        find_weka_jars()
    except MoaError as error:
        return str(error)
    return explain_missing()


def explain_missing_jdk() -> str | None:
    """Return why our own Java programs for MOA cannot run here; None if they can."""
    if shutil.which("javac") is None:
        return "Java programs for MOA need a JDK; javac is not installed"
    return explain_missing()


def run_prequential(learner: str, schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32]) -> Run:
    """Test then train a learner on every row."""
    with TemporaryDirectory() as folder:
        arff.write(Path(folder, "rows.arff"), schema, x, y)
        files = f"-s (ArffFileStream -f {folder}/rows.arff -c -1) -o {folder}/predictions.csv"
        task = f"EvaluatePrequential -l ({learner}) {files} {EVALUATION.format(n=len(y))} -S"
        output = _run_java(["moa.DoTask", task])
        predictions = np.loadtxt(Path(folder, "predictions.csv"), delimiter=",", usecols=0, dtype=np.int32)
    return Run(predictions, _parse_accuracy(_parse_last_row(output.splitlines())))


def measure_weka(learner: str, training: Path, test: Path) -> float:
    """Return the accuracy in [0, 1] of a classifier of WEKA, trained on one ARFF file and tested on another.

    It is WEKA's own command line, with its own reader of files and its own evaluation.
    """
    classifier, *options = learner.split()
    files = ["-t", str(training), "-T", str(test), "-o"]
    class_path = os.pathsep.join(map(str, find_weka_jars()))
    with TemporaryDirectory() as home:
        command = ["java", "-cp", class_path, classifier, *files, *options]
        environment = {**os.environ, "WEKA_HOME": home}
        output = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    _, _, tested = output.partition("Error on test data")
    found = re.search(r"Correctly Classified Instances\s+([\d.]+)", tested)
    wrong = re.search(r"Incorrectly Classified Instances\s+([\d.]+)", tested)
    if found is None or wrong is None:
        msg = f"WEKA printed no accuracy:\n{output[:2000]}"
        raise MoaError(msg)
    return float(found[1]) / (float(found[1]) + float(wrong[1]))


def predict_weighted(
    learner: str,
    schema: Schema,
    x: NDArray[np.float64],
    y: NDArray[np.int32],
    weight: NDArray[np.float64],
    *,
    seed: int = 1,
) -> NDArray[np.int32]:
    """Predict then learn every row, with a weight each; needs a JDK."""
    with TemporaryDirectory() as folder:
        arff.write(Path(folder, "rows.arff"), schema, x, y)
        weights = "\n".join(map(repr, weight.tolist()))
        output = _run_java([_get_source("WeightedPredictions"), learner, f"{folder}/rows.arff", str(seed)], weights)
    return np.array(output.split(), dtype=np.int32)


def predict_adaptive_tree(
    schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32], seed: int | None = None
) -> NDArray[np.int32]:
    """Predict then learn every row with a Hoeffding adaptive tree; needs a JDK.

    Each leaf draws the weights of its rows with a generator of its own or, without a seed, learns every row once.
    """
    with TemporaryDirectory() as folder:
        arff.write(Path(folder, "rows.arff"), schema, x, y)
        seeds = [] if seed is None else [str(seed)]
        output = _run_java([_get_source("AdaptiveTreeWeights"), f"{folder}/rows.arff", *seeds])
    return np.array(output.split(), dtype=np.int32)


def record_events(ensemble: str, n_rows: int, *, warnings: str, drifts: str) -> list[list[str]]:
    """Return which models learn each row, and how many values its detectors have seen then; needs a JDK.

    `ensemble` has one member, whose options `-l`, `-x` and `-p` are set here; it has a warning and a drift at the rows
    given, which are counted from 0 and separated by commas.
    """
    member = "Tree" if "Forest" in ensemble else "Member"
    signals = f"-p (EnsembleEvents$Signal -n warning -r {warnings}) -x (EnsembleEvents$Signal -n drift -r {drifts})"
    learner = f"{ensemble} -l EnsembleEvents${member} {signals}"
    output = _run_java([_get_source("EnsembleEvents"), learner, str(n_rows)])
    return [line.split() for line in output.splitlines()]


def run_detectors(
    detectors: list[str], values: NDArray[np.float64], repeats: int = 1
) -> list[tuple[NDArray[np.uint8], float]]:
    """Return the state of each detector after every value, and its CPU nanoseconds per value; needs a JDK.

    Detectors run one after another, since some (HDDM_W_Test) have static fields.
    """
    options = [f"-Drepeats={repeats}"] if repeats > 1 else []
    output = _run_java([*options, _get_source("DetectorSignals"), *detectors], "\n".join(map(repr, values.tolist())))
    lines = [line.split() for line in output.splitlines()]
    return [(np.frombuffer(digits.encode(), dtype=np.uint8) - ord("0"), float(time)) for time, digits in lines]


def run_evaluators(
    evaluators: Sequence[str],
    y_true: NDArray[np.int32],
    y_pred: NDArray[np.int32],
    *,
    n_classes: int,
    every: int,
    weight: NDArray[np.float64] | None = None,
) -> list[dict[str, NDArray[np.float64]]]:
    """Return the measurements of each evaluator on given predictions, by name; needs a JDK.

    A prediction of -1 is a learner without votes. The values are MOA's, most of them in percent; one per `every` rows.
    """
    weights = np.ones(len(y_true)) if weight is None else weight
    columns = zip(y_true.tolist(), y_pred.tolist(), weights.tolist(), strict=True)
    rows = "\n".join(f"{true} {predicted} {row_weight!r}" for true, predicted, row_weight in columns)
    output = _run_java([_get_source("Evaluations"), str(n_classes), str(every), *evaluators], rows)
    measurements: list[dict[str, list[float]]] = [{} for _ in evaluators]
    for line in output.splitlines():
        _, index, value, name = line.split(" ", 3)
        measurements[int(index)].setdefault(name, []).append(float(value))
    return [{name: np.array(values) for name, values in by_name.items()} for by_name in measurements]


def generate_rows(stream: str, n_rows: int) -> tuple[Schema, NDArray[np.float64], NDArray[np.int32]]:
    """Return rows of one of MOA's generators."""
    with TemporaryDirectory() as folder:
        _run_java(["moa.DoTask", f"WriteStreamToARFFFile -s ({stream}) -f {folder}/rows.arff -m {n_rows} -S"])
        return arff.read(Path(folder, "rows.arff"))


def measure_speed(learner: str, stream: str, n_rows: int) -> Speed:
    """Time test-then-train in a new virtual machine, including the generator, as users run it.

    Subtract MajorityClass on the same stream for the learner alone. The wall time is that of the whole process.
    """
    started = time.perf_counter()
    output = _run_java(["moa.DoTask", _build_task(learner, stream, n_rows) + " -S"])
    wall = time.perf_counter() - started
    row = _parse_last_row(output.splitlines())
    return Speed(float(row[CPU_SECONDS]) / n_rows, wall / n_rows, _parse_accuracy(row))


def measure_warm_speed(learner: str, stream: str, n_rows: int, repeats: int) -> Speed:
    """Time the same as the best of several runs in one warm virtual machine."""
    return _time_best([_build_task(learner, stream, n_rows)] * repeats, n_rows)


def _build_task(learner: str, stream: str, n_rows: int) -> str:
    return f"EvaluatePrequential -l ({learner}) -s ({stream}) {EVALUATION.format(n=n_rows)}"


def measure_heap(learner: str, stream: str, n_rows: int) -> int:
    """Return the heap bytes of a learner after `n_rows` rows; needs a JDK."""
    return int(_run_java([_get_source("HeapBytes"), learner, stream, str(n_rows)]))


def time_folds(learner: str, stream: str, n_rows: int, n_folds: int) -> Speed:
    """Time prequential bootstrap validation, including the generator."""
    task = f"EvaluatePrequentialCV -l ({learner}) -s ({stream}) {EVALUATION.format(n=n_rows)}"
    return _time_best([f"{task} -w {n_folds} -a Bootstrap-Validation"], n_rows)


def time_adwin(losses: NDArray[np.bool_], repeats: int) -> float:
    """Return the fewest CPU seconds per value of ADWIN on losses in a warm virtual machine; needs a JDK."""
    text = "".join(np.where(losses, "1", "0"))
    output = _run_java([_get_source("AdwinTime"), str(repeats)], text)
    return float(output.split()[0]) / len(losses)


def time_evaluator(
    evaluator: str, y_true: NDArray[np.int32], y_pred: NDArray[np.int32], *, every: int, repeats: int
) -> float:
    """Return the fewest CPU nanoseconds per row of a two-class evaluator read every `every` rows; needs a JDK."""
    outcomes = (2 * y_true + y_pred + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    return float(_run_java([_get_source("EvaluatorTime"), evaluator, str(every), str(repeats)], outcomes))


def time_reading(path: Path, repeats: int) -> float:
    """Return the fewest CPU nanoseconds per row of reading an ARFF file in a warm virtual machine; needs a JDK."""
    return float(_run_java([_get_source("ReadTime"), str(path), str(repeats)]))


def _time_best(tasks: list[str], n_rows: int) -> Speed:
    """Run tasks one after another in one virtual machine; return the best times."""
    output = _run_java([_get_source("WarmTasks")], "\n".join(tasks))
    walls, rows = [], []
    for part in output.split("wall seconds,")[1:]:
        wall, *table = part.strip().splitlines()
        walls.append(float(wall))
        rows.append(_parse_last_row(table))
    cpu = min(float(row[CPU_SECONDS]) for row in rows)
    return Speed(cpu / n_rows, min(walls) / n_rows, _parse_accuracy(rows[-1]))


def _get_source(name: str) -> str:
    """Return the path of one of our Java programs; running from source needs a JDK."""
    return str(Path(__file__).with_name(f"{name}.java"))


def _parse_last_row(lines: list[str]) -> dict[str, str]:
    """Return the last line of a learning curve, ignoring output before its heading."""
    start = next(i for i, line in enumerate(lines) if line.startswith("learning evaluation instances"))
    return list(csv.DictReader(lines[start:]))[-1]


def _parse_accuracy(row: dict[str, str]) -> float:
    name = next(name for name in row if name.removeprefix("[avg] ") == "classifications correct (percent)")
    return float(row[name]) / 100.0


_machines: list[Machine] = []


@contextmanager
def share_machine() -> Iterator[None]:
    """Run all tasks and programs of the block in one Java virtual machine; needs a JDK.

    Not for measuring time, since the virtual machine is warm.
    """
    with Machine(find_jar(), sorted(Path(__file__).parent.glob("*.java"))) as machine:
        _machines.append(machine)
        try:
            yield
        finally:
            _machines.remove(machine)


def _run_java(arguments: list[str], stdin: str = "") -> str:
    if _machines and not arguments[0].startswith("-"):
        program = arguments[0].removesuffix(".java").rpartition("/")[2]
        status, output, errors = _machines[-1].run(program, arguments[1:], stdin)
    else:
        command = ["java", "-cp", str(find_jar()), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
        status, output, errors = done.returncode, done.stdout, done.stderr
    if status or "Exception" in errors:
        msg = f"MOA failed on {arguments[-1]}:\n{errors[-2000:]}"
        raise MoaError(msg)
    return output


@cache
def find_jar() -> Path:
    """Find MOA's jar, or fetch it."""
    setting = os.environ.get("STREAMGAUGE_MOA_JAR")
    if setting:
        if not Path(setting).is_file():
            msg = f"STREAMGAUGE_MOA_JAR is {setting}, which is not a file"
            raise MoaError(msg)
        return Path(setting).resolve()
    return _find_or_fetch(COORDINATES, "moa.jar")


def build_class_path() -> str:
    """Return MOA's jar and, where they can be found, those of WEKA: a process starts only one Java virtual machine."""
    weka = () if explain_missing_weka() else find_weka_jars()
    return os.pathsep.join(map(str, (find_jar(), *weka)))


@cache
def find_weka_jars() -> tuple[Path, ...]:
    """Find WEKA's jar and that of a library which it needs, or fetch them."""
    return tuple(_find_or_fetch(coordinates, f"{coordinates.split(':')[1]}.jar") for coordinates in WEKA_COORDINATES)


def _find_or_fetch(coordinates: str, name: str) -> Path:
    jar = CACHE / "-".join(coordinates.split(":")[1:]) / name
    if not jar.exists():
        _fetch(coordinates, jar)
    return jar


def _fetch(coordinates: str, jar: Path) -> None:
    """Copy the jar with Maven and rename it, so that it is never partial, even if several processes fetch it."""
    if shutil.which("mvn") is None:
        msg = f"fetching {jar.name} needs Maven (mvn), which is not installed; or set STREAMGAUGE_MOA_JAR to MOA's jar"
        raise MoaError(msg)
    jar.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=jar.parent) as folder:
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            msg = f"Maven did not fetch {jar.name} within 300 seconds"
            raise MoaError(msg) from None
        jars = list(Path(folder).glob("*.jar"))
        if done.returncode or not jars:
            reason = next(filter(None, done.stdout.splitlines()), "no reason given")
            msg = f"Maven could not fetch {jar.name}: {reason}"
            raise MoaError(msg)
        jars[0].replace(jar)
