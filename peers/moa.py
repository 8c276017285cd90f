"""MOA in a Java virtual machine of its own.

Its jar comes from `STREAMGAUGE_MOA_JAR`, or from Maven Central through the `mvn` that is installed, once, into
`.cache/moa` of the project. It needs no other jar for what is run here; without the agent that measures objects MOA
believes that its trees weigh nothing, so they never reach its memory limit.
"""

import csv
import os
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
    "adwin_time",
    "detector_signals",
    "evaluations",
    "evaluator_time",
    "folds",
    "generated_rows",
    "heap_bytes",
    "jar",
    "one_machine",
    "prequential",
    "read_time",
    "speed",
    "warm_speed",
    "weighted_predictions",
    "why_absent",
    "why_not_compiled",
]

COORDINATES = "nz.ac.waikato.cms.moa:moa:2024.07.0"
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "moa"
CPU_SECONDS = "evaluation time (cpu seconds)"
EVALUATION = "-e BasicClassificationPerformanceEvaluator -i {n} -f {n} -q {n}"


class MoaError(RuntimeError):
    """MOA cannot be had, or its task failed."""


@dataclass(frozen=True)
class Run:
    """What a prequential run gave: predicted class codes, and accuracy in [0, 1] as MOA counts it."""

    predictions: NDArray[np.int32]
    accuracy: float


@dataclass(frozen=True)
class Speed:
    """How fast a task was, at its best of several times.

    Parameters
    ----------
    cpu
        CPU seconds per row of the task's thread: its compiler and garbage collector are not charged.
    wall
        Wall seconds per row.
    accuracy
        In [0, 1]; over all folds where there are several.
    """

    cpu: float
    wall: float
    accuracy: float


@cache
def why_absent() -> str | None:
    """Say why MOA cannot be run here; None where it can."""
    if shutil.which("java") is None:
        return "MOA needs Java, which is not installed"
    try:
        jar()
    except MoaError as error:
        return str(error)
    return None


def why_not_compiled() -> str | None:
    """Say why our own programs around MOA cannot be run here; None where they can."""
    if shutil.which("javac") is None:
        return "it takes a JDK to run a program around MOA, and javac is not installed"
    return why_absent()


def prequential(learner: str, schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32]) -> Run:
    """Test then train a learner on every row."""
    with TemporaryDirectory() as folder:
        arff.write(Path(folder, "rows.arff"), schema, x, y)
        files = f"-s (ArffFileStream -f {folder}/rows.arff -c -1) -o {folder}/predictions.csv"
        task = f"EvaluatePrequential -l ({learner}) {files} {EVALUATION.format(n=len(y))} -S"
        output = _java(["moa.DoTask", task])
        predictions = np.loadtxt(Path(folder, "predictions.csv"), delimiter=",", usecols=0, dtype=np.int32)
    return Run(predictions, _accuracy(_last_row(output.splitlines())))


def weighted_predictions(
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
        output = _java([_source("WeightedPredictions"), learner, f"{folder}/rows.arff", str(seed)], weights)
    return np.array(output.split(), dtype=np.int32)


def detector_signals(
    detectors: list[str], values: NDArray[np.float64], repeats: int = 1
) -> list[tuple[NDArray[np.uint8], float]]:
    """Give of each detector what it showed after every value, and CPU nanoseconds per value; needs a JDK.

    A detector's static fields, which HDDM_W_Test has, are shared: each runs after the other.
    """
    options = [f"-Drepeats={repeats}"] if repeats > 1 else []
    output = _java([*options, _source("DetectorSignals"), *detectors], "\n".join(map(repr, values.tolist())))
    lines = [line.split() for line in output.splitlines()]
    return [(np.frombuffer(digits.encode(), dtype=np.uint8) - ord("0"), float(time)) for time, digits in lines]


def evaluations(
    evaluators: Sequence[str],
    y_true: NDArray[np.int32],
    y_pred: NDArray[np.int32],
    *,
    n_classes: int,
    every: int,
    weight: NDArray[np.float64] | None = None,
) -> list[dict[str, NDArray[np.float64]]]:
    """Give what evaluators say of given predictions, by the name of the measurement; needs a JDK.

    A prediction of -1 is that of a learner without votes. The values are MOA's, most of them in percent; one per
    `every` rows.
    """
    weights = np.ones(len(y_true)) if weight is None else weight
    columns = zip(y_true.tolist(), y_pred.tolist(), weights.tolist(), strict=True)
    rows = "\n".join(f"{true} {predicted} {one!r}" for true, predicted, one in columns)
    output = _java([_source("Evaluations"), str(n_classes), str(every), *evaluators], rows)
    found: list[dict[str, list[float]]] = [{} for _ in evaluators]
    for line in output.splitlines():
        _, place, value, name = line.split(" ", 3)
        found[int(place)].setdefault(name, []).append(float(value))
    return [{name: np.array(values) for name, values in each.items()} for each in found]


def generated_rows(stream: str, n_rows: int) -> tuple[Schema, NDArray[np.float64], NDArray[np.int32]]:
    """Give the rows of one of MOA's generators."""
    with TemporaryDirectory() as folder:
        _java(["moa.DoTask", f"WriteStreamToARFFFile -s ({stream}) -f {folder}/rows.arff -m {n_rows} -S"])
        return arff.read(Path(folder, "rows.arff"))


def speed(learner: str, stream: str, n_rows: int) -> Speed:
    """Time test-then-train as a person runs it, in a virtual machine of its own, the generator included.

    MajorityClass on the same stream is what to subtract for the learner alone. The wall time is that of the whole
    process.
    """
    started = time.perf_counter()
    output = _java(["moa.DoTask", _prequential(learner, stream, n_rows) + " -S"])
    wall = time.perf_counter() - started
    row = _last_row(output.splitlines())
    return Speed(float(row[CPU_SECONDS]) / n_rows, wall / n_rows, _accuracy(row))


def warm_speed(learner: str, stream: str, n_rows: int, repeats: int) -> Speed:
    """Time the same at its best of several times in one virtual machine, whose compiler has seen it all before."""
    return _best([_prequential(learner, stream, n_rows)] * repeats, n_rows)


def _prequential(learner: str, stream: str, n_rows: int) -> str:
    return f"EvaluatePrequential -l ({learner}) -s ({stream}) {EVALUATION.format(n=n_rows)}"


def heap_bytes(learner: str, stream: str, n_rows: int) -> int:
    """Tell how many bytes of the heap a learner holds after so many rows; needs a JDK."""
    return int(_java([_source("HeapBytes"), learner, stream, str(n_rows)]))


def folds(learner: str, stream: str, n_rows: int, n_folds: int) -> Speed:
    """Time prequential bootstrap validation, the generator included."""
    task = f"EvaluatePrequentialCV -l ({learner}) -s ({stream}) {EVALUATION.format(n=n_rows)}"
    return _best([f"{task} -w {n_folds} -a Bootstrap-Validation"], n_rows)


def adwin_time(losses: NDArray[np.bool_], repeats: int) -> float:
    """Give the least CPU seconds per value of ADWIN on losses, in a warm virtual machine; needs a JDK."""
    text = "".join(np.where(losses, "1", "0"))
    output = _java([_source("AdwinTime"), str(repeats)], text)
    return float(output.split()[0]) / len(losses)


def evaluator_time(
    evaluator: str, y_true: NDArray[np.int32], y_pred: NDArray[np.int32], *, every: int, repeats: int
) -> float:
    """Give the least CPU nanoseconds per row of an evaluator of two classes that is read now and then; needs a JDK."""
    outcomes = (2 * y_true + y_pred + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    return float(_java([_source("EvaluatorTime"), evaluator, str(every), str(repeats)], outcomes))


def read_time(path: Path, repeats: int) -> float:
    """Give the least CPU nanoseconds per row of reading an ARFF file, in a warm virtual machine; needs a JDK."""
    return float(_java([_source("ReadTime"), str(path), str(repeats)]))


def _best(tasks: list[str], n_rows: int) -> Speed:
    """Run tasks one after the other in one virtual machine."""
    output = _java([_source("WarmTasks")], "\n".join(tasks))
    walls, rows = [], []
    for part in output.split("wall seconds,")[1:]:
        wall, *table = part.strip().splitlines()
        walls.append(float(wall))
        rows.append(_last_row(table))
    cpu = min(float(row[CPU_SECONDS]) for row in rows)
    return Speed(cpu / n_rows, min(walls) / n_rows, _accuracy(rows[-1]))


def _source(name: str) -> str:
    """Give a program of ours to run from its source, which only a JDK can."""
    return str(Path(__file__).with_name(f"{name}.java"))


def _last_row(lines: list[str]) -> dict[str, str]:
    """Read the last line of a learning curve, whatever stands before its heading."""
    start = next(i for i, line in enumerate(lines) if line.startswith("learning evaluation instances"))
    return list(csv.DictReader(lines[start:]))[-1]


def _accuracy(row: dict[str, str]) -> float:
    name = next(name for name in row if name.removeprefix("[avg] ") == "classifications correct (percent)")
    return float(row[name]) / 100.0


_machines: list[Machine] = []


@contextmanager
def one_machine() -> Iterator[None]:
    """Run all tasks and programs in one Java virtual machine while the block runs; needs a JDK.

    For whatever measures no time: a machine that is warm, or has other things to do, is no fair measure.
    """
    with Machine(jar(), sorted(Path(__file__).parent.glob("*.java"))) as machine:
        _machines.append(machine)
        try:
            yield
        finally:
            _machines.remove(machine)


def _java(arguments: list[str], given: str = "") -> str:
    if _machines and not arguments[0].startswith("-"):
        program = arguments[0].removesuffix(".java").rpartition("/")[2]
        status, output, errors = _machines[-1].run(program, arguments[1:], given)
    else:
        command = ["java", "-cp", str(jar()), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        status, output, errors = done.returncode, done.stdout, done.stderr
    if status or "Exception" in errors:
        msg = f"MOA failed on {arguments[-1]}:\n{errors[-2000:]}"
        raise MoaError(msg)
    return output


@cache
def jar() -> Path:
    """Find MOA's jar, or fetch it."""
    given = os.environ.get("STREAMGAUGE_MOA_JAR")
    if given:
        if not Path(given).is_file():
            msg = f"STREAMGAUGE_MOA_JAR is {given}, where there is no file"
            raise MoaError(msg)
        return Path(given).resolve()
    kept = CACHE / "-".join(COORDINATES.split(":")[1:]) / "moa.jar"
    if not kept.exists():
        _fetch(kept)
    return kept


def _fetch(kept: Path) -> None:
    """Copy the jar with Maven; it appears whole or not at all, also for others who fetch at the same time."""
    if shutil.which("mvn") is None:
        msg = "MOA's jar is fetched with Maven (mvn), which is not installed; or name the jar in STREAMGAUGE_MOA_JAR"
        raise MoaError(msg)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as folder:
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={COORDINATES}", f"-DoutputDirectory={folder}"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            msg = "Maven did not fetch MOA's jar within 300 seconds"
            raise MoaError(msg) from None
        jars = list(Path(folder).glob("*.jar"))
        if done.returncode or not jars:
            complaint = next(filter(None, done.stdout.splitlines()), "it gave no reason")
            msg = f"Maven could not fetch MOA's jar: {complaint}"
            raise MoaError(msg)
        jars[0].replace(kept)
