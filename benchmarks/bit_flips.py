"""Single flipped bits in every kind of file that is written and read again.

Run with ``python -m benchmarks.bit_flips [N] [SEED]``: N flips, spread over all files of all kinds, every other one in
a byte that is not zero. Each damaged file is read in a process of its own. What was read must be the same, or a warning
must name what was left out, or an error of one line must name the file or its folder. Anything else is a failure: a
number, name or verdict that changed in silence, a raw exception, a crash, or more than 60 seconds. It prints tried and
failed by kind, stores them in ``benchmarks/results/bit_flips.md``, and stops with an error after a failure.
"""

import os
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import streamgauge as sg
from benchmarks.plain_values import to_plain
from streamgauge._engine.journal import JournalReader
from streamgauge.drift import DDM
from streamgauge.errors import CheckpointWarning, DamageWarning, StreamgaugeError
from streamgauge.experiments import Experiment, Source
from streamgauge.experiments import run as run_experiment
from streamgauge.results import ConfusionMatrices, Predictions, load, read_errors, save
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run
from streamgauge.store import Store
from streamgauge.streams import File, sample, write
from streamgauge.streams.sampling import Balance

N_FLIPS = 10_000
SECONDS = 60
OUTCOMES = ("the same", "warned", "refused", "changed in silence", "raw exception", "message without the file")
N_SOUND = 3
STORED = Path(__file__).parent / "results" / "bit_flips.md"
ABOUT = """# Flipped bits

Single bits flipped in every kind of file that is written and read again (`python -m benchmarks.bit_flips N SEED`): the
same, warned (what is damaged was named and left out, the rest was the same) or refused (an error of one line names the
file or its folder). Failed: a number, name or verdict changed in silence, a crash, a raw exception, or 60 seconds.

"""
STREAM, LEARNERS = sg.SEA(n_rows=900, noise=0.1), {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
OPTIONS: dict[str, Any] = {"every": 100, "measures": ["accuracy", "roc_auc_ovr_macro"], "detectors": [DDM()]}
OPTIONS |= {"batch_size": 50, "progress": False}
RECORDERS = [Predictions("predictions.csv"), ConfusionMatrices("confusion.csv")]
"""They are part of the identity of a run, so their paths are relative."""

Facts = Mapping[str, object]


@dataclass(frozen=True)
class Kind:
    """A kind of files.

    Parameters
    ----------
    name
        The name in the table.
    write
        Writes the files into a folder.
    patterns
        The files among them that are damaged.
    read
        Reads them again, from a copy of the folder in which one is damaged.
    share
        How often it is tried, beside the others.
    """

    name: str
    write: Callable[[Path], object]
    patterns: tuple[str, ...]
    read: Callable[[Path], Facts]
    share: int = 4


def write_results(folder: Path) -> None:
    """Save results with every table, and predictions."""
    recorder = Predictions(folder / "predictions.parquet", votes=True)
    results = sg.evaluate(STREAM, LEARNERS, budgets="error<0.5", resources=True, recorders=[recorder], **OPTIONS)
    save(results, folder)


def read_results(folder: Path) -> Facts:
    """Return all fields of saved results; what was left out is missing."""
    results = load(folder)
    fields = {**vars(results), "own_measures": None, "description": {**results.description, "notes": None}}
    return {name: to_plain(value) for name, value in fields.items() if value is not None}


def write_predictions(kind: str) -> Callable[[Path], None]:
    """Return what saves results beside predictions of a kind."""

    def write_kind(folder: Path) -> None:
        recorder = Predictions(folder / f"predictions.{kind}")
        save(sg.evaluate(STREAM, LEARNERS, recorders=[recorder], **OPTIONS), folder)

    return write_kind


def read_predictions(folder: Path) -> Facts:
    """Return the errors of both learners."""
    return {name: to_plain(read_errors(folder, name)) for name in LEARNERS}


def write_journal(folder: Path) -> None:
    """Write a journal and the file that names its run."""
    sg.evaluate(STREAM, LEARNERS, journal=folder, **OPTIONS)
    from streamgauge._engine.journal.format import RUN, write_json  # noqa: PLC0415

    write_json(folder / RUN, {"title": "noise of a tenth", "experiment": "noises", "learners": list(LEARNERS)})


def read_journal(folder: Path) -> Facts:
    """Return what a journal holds, and what the dashboard makes of it."""
    view = JournalReader(folder)
    run = Run(folder, folder.name, Cache())
    shown = {"summary": run.summarise(), "described": run.describe(), "verdicts": run.list_verdicts()}
    if shown["summary"]["state"] == "unreadable":
        raise StreamgaugeError(shown["summary"]["reason"])
    curves = to_plain(run.read_curves().records)
    return {"about": to_plain(view.run), "status": view.status(), "events": view.events(), "curves": curves, **shown}


def build_experiment() -> Experiment:
    """Return an experiment of four evaluations."""
    sources = {"sea": Source("SEA", rows=600), "stagger": Source("STAGGER", rows=600)}
    return Experiment("noises", sources, {"bayes": "NaiveBayes", "majority": "MajorityClass"})


def write_store(folder: Path) -> None:
    """Run an experiment."""
    run_experiment(build_experiment(), folder, n_jobs=1)


def read_store(folder: Path) -> Facts:
    """Return all that a store lists, and its results."""
    store = Store(folder)
    entries: dict[str, object] = {}
    for run in store.runs():
        cells = run.pop("learners")
        entries[f"run {run['run']}"] = to_plain(run)
        entries |= {f"cell {run['run']} {cell['learner']}": to_plain(cell) for cell in cells}
    for row in store.finals():
        entries[f"final {row['run']} {row['learner']} {row['measure']}"] = to_plain(row)
    for results in store.results():
        of = results.description["stream"]
        entries |= {f"{name} on {of}": to_plain(results.values[:, at]) for at, name in enumerate(results.learners)}
    return entries


def stop_run(folder: Path) -> None:
    """Write checkpoints with a log of recorders, and stop."""
    options = {**OPTIONS, "checkpoint": folder / "checkpoints", "checkpoint_every": 200, "recorders": RECORDERS}
    del options["progress"]
    with chdir(folder):
        for progress in sg.Evaluation(STREAM, LEARNERS, **options).advance():
            if progress.n_rows >= 600:
                break


def resume_run(folder: Path) -> Facts:
    """Return the results and the recorded files of a run that resumes from its checkpoints."""
    options = {**OPTIONS, "checkpoint": folder / "checkpoints", "checkpoint_every": 200, "recorders": RECORDERS}
    with chdir(folder):
        results = sg.evaluate(STREAM, LEARNERS, resume=True, **options)
    facts = {"values": to_plain(results.values), "alarms": results.alarms, "verdicts": to_plain(results.verdicts)}
    return {**facts, **{path.name: path.read_bytes() for path in folder.glob("*.csv")}}


def stop_experiment(folder: Path) -> None:
    """Run an experiment, and stop it in its first evaluation."""

    def stop(event: Any) -> None:  # noqa: ANN401
        if event.kind == "advanced" and event.n_rows >= 300:
            signal.raise_signal(signal.SIGINT)

    run_experiment(build_experiment(), folder, n_jobs=1, checkpoint_every=100, on_event=stop)


def resume_experiment(folder: Path) -> Facts:
    """Return all results of an experiment that is run to its end."""
    outcome = run_experiment(build_experiment(), folder, n_jobs=1, checkpoint_every=100)
    if outcome.failures:
        raise StreamgaugeError("; ".join(outcome.failures))
    finals = Store(folder).finals()
    return {f"{row['stream']} {row['learner']} {row['measure']}": (row["mean"], row["spread"]) for row in finals}


def write_sample(folder: Path) -> None:
    """Sample a file with index files."""
    write(sg.SEA(n_rows=300), folder / "all.csv")
    wanted = Balance(training_positives=40, training=1.0, test=0.5, positive=None)
    sample(File(folder / "all.csv"), folder / "drawn", wanted, index=folder / "index")


def read_sample(folder: Path) -> Facts:
    """Draw the sample of a recipe again, with its index files."""
    from streamgauge.streams import repeat  # noqa: PLC0415

    repeat(folder / "drawn" / "recipe.json", folder / "again", source=folder / "all.csv")
    return {path.name: path.read_bytes() for path in (folder / "again").glob("*.csv")}


KINDS = (
    Kind("results", write_results, ("manifest.json", "*.parquet"), read_results),
    *(
        Kind(f"predictions.{kind}", write_predictions(kind), ("predictions.*",), read_predictions, 1)
        for kind in ("parquet", "arrow", "csv", "arff")
    ),
    Kind("journal", write_journal, ("journal/*", "run.json"), read_journal),
    Kind("store", write_store, ("catalogue.sqlite",), read_store),
    Kind("checkpoints", stop_run, ("checkpoints/*.checkpoint", "checkpoints/*.log"), resume_run),
    Kind(
        "experiment", stop_experiment, ("catalogue.sqlite", "plan.json", "runs/*/*", "runs/*/*/*"), resume_experiment, 1
    ),
    Kind("sample", write_sample, ("drawn/recipe.json",), read_sample, 1),
)


def is_same(found: Facts, sound: Facts, *, may_lack: bool) -> bool:
    """Return whether all that was found is the same; with `may_lack` some of it may have been left out."""
    if not may_lack:
        return dict(found) == dict(sound)
    return all(name in sound and (value == sound[name] or not value) for name, value in found.items())


def judge(kind: Kind, folder: Path, sound: Facts) -> int:
    """Return the number of the outcome of reading a damaged folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = kind.read(folder)
        except StreamgaugeError as error:
            names = {part for path in folder.rglob("*") for part in path.relative_to(folder).parts} | {folder.name}
            is_named = len(str(error).splitlines()) == 1 and any(name in str(error) for name in names)
            return 2 if is_named else 5
        except Exception:
            traceback.print_exc()
            return 4
    warned = any(issubclass(each.category, DamageWarning | CheckpointWarning) for each in caught)
    if not is_same(found, sound, may_lack=warned and kind.name in {"results", "store"}):
        return 3
    return int(warned)


def in_child(act: Callable[[], int]) -> str:
    """Do something in a process of its own, quietly; return the outcome, or the signal that ended it."""
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        if "SHOW" not in os.environ:
            os.dup2(null, 2)
        status = 4
        try:
            status = act()
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else OUTCOMES[os.WEXITSTATUS(status)]


@dataclass(frozen=True)
class Prepared:
    """Sound files of a kind, and what is read of them."""

    kind: Kind
    folder: Path
    files: tuple[Path, ...]
    sound: Facts

    @classmethod
    def prepare(cls, kind: Kind, base: Path) -> "Prepared":
        """Write the files of a kind, and read them."""
        folder = base / kind.name
        folder.mkdir()
        kind.write(folder)
        files = sorted({path for pattern in kind.patterns for path in folder.glob(pattern) if path.is_file()})
        files = [path for path in files if path.stat().st_size]
        with tempfile.TemporaryDirectory(dir=base) as copy:
            shutil.copytree(folder, Path(copy) / kind.name)
            return cls(kind, folder, tuple(files), kind.read(Path(copy) / kind.name))

    def flip(self, number: int, random: Random, base: Path) -> tuple[str, str]:
        """Flip a bit of one file in a copy of the folder; return the file and the outcome of reading it."""
        path = self.files[number % len(self.files)].relative_to(self.folder)
        copy = base / "copy" / self.kind.name
        shutil.copytree(self.folder, copy)
        data = bytearray((copy / path).read_bytes())
        used = [position for position, byte in enumerate(data) if byte] if number % 2 else range(len(data))
        data[random.choice(used)] ^= 1 << random.randrange(8)
        (copy / path).write_bytes(data)
        outcome = in_child(lambda: judge(self.kind, copy, self.sound))
        shutil.rmtree(base / "copy")
        return str(path), outcome


def survey(n: int, seed: int, kinds: tuple[Kind, ...] = KINDS) -> Iterator[dict[str, Counter[str]]]:
    """Flip `n` bits; yield the count of each outcome by kind, now and then and at the end."""
    random = Random(seed)
    counts: dict[str, Counter[str]] = {kind.name: Counter() for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            turns = [item for kind in kinds for item in [Prepared.prepare(kind, base)] * kind.share]
        for number in range(n):
            prepared = turns[number % len(turns)]
            path, outcome = prepared.flip(sum(counts[prepared.kind.name].values()), random, base)
            counts[prepared.kind.name][outcome] += 1
            if outcome not in OUTCOMES[:N_SOUND]:
                print(f"flip {number} of seed {seed} in {prepared.kind.name}, {path}: {outcome}", flush=True)
            if (number + 1) % 500 == 0 or number + 1 == n:
                yield counts


def build_table(counts: Mapping[str, Counter[str]]) -> str:
    """Return a table of tried and failed by kind."""
    lines = ["| kind | tried | the same | warned | refused | failed |", "|---|---:|---:|---:|---:|---:|"]
    total = sum(counts.values(), Counter[str]())
    for name, found in (*counts.items(), ("total", total)):
        sound = [found[outcome] for outcome in OUTCOMES[:N_SOUND]]
        numbers = [found.total(), *sound, found.total() - sum(sound)]
        lines.append(f"| {name} | " + " | ".join(f"{number:,}" for number in numbers) + " |")
    return "\n".join([*lines, ""])


def main(n: int = N_FLIPS, seed: int = 1) -> None:
    """Flip bits, print the table and store it."""
    for counts in survey(n, seed):
        table = build_table(counts)
        STORED.write_text(f"{ABOUT}Seed {seed}:\n\n{table}", encoding="utf-8")
    print(table)
    if any(set(found) - set(OUTCOMES[:N_SOUND]) for found in counts.values()):
        sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
