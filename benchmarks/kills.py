"""A kill campaign: every command that writes something is killed at random moments and started again.

``python -m benchmarks kills [RUNS] [SEED] [more] [COMMAND ...]``. A run of a command is killed (SIGKILL) up to four
times: at a moment drawn uniformly over the time of an undisturbed run, or at its n-th operation on files. Where it has
processes of its own, one of those may be hit instead, or all at once. Then the same command runs undisturbed (with
``--resume`` where it has checkpoints). All files must hold what they hold without kills, times apart, and nothing may
be left behind: no temporary file here, in the folder for temporary files or in shared memory, no lock, no claim, no
process. Lines by command and backend are stored in ``benchmarks/results/faults.md`` after every run.
"""

import atexit
import ctypes
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.fault_table import Campaign, count_saved_rows, show
from benchmarks.written_files import find_differences, take_snapshot
from streamgauge.backends import processes
from streamgauge.cli import main as cli

N_RUNS = 10
"""Runs of each command."""
MAX_KILLS = 4
PATIENCE = 30.0
"""Seconds within which the processes of a killed command must have ended, on a busy machine."""
SUBREAPER = 36
"""Argument of `prctl`: orphans of our children become our children, so that none is missed."""
CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "shutil.rmtree"})

RUN = (
    "--rows 5000 --learner NaiveBayes --learner 'HoeffdingTree(grace_period=100)' --detector DDM --every 250 "
    "--batch-size 128 --no-resources --seed 3 --out out"
)
RECORDERS = "--record predictions --record votes --record misclassified --record confusion --log run.log"
CHECKPOINTS = "--checkpoint states --checkpoint-every 500 --resume"
EXPERIMENT = """
name = "small"
checkpoint_every = 500
measures = ["accuracy", "kappa_m"]
[streams]
sea = { stream = "SEA(noise=0.1)", rows = 4000 }
clusters = { stream = "RandomRBF(speed=0.01)", rows = 4000 }
[learners]
bayes = "NaiveBayes"
tree = "HoeffdingTree(grace_period=100)"
"""
PREPARATION = (
    "shuffle rows.csv shuffled.csv",
    f"compare --stream 'SEA(noise=0.1)' --learner NoChange --record predictions {RUN.replace('out out', 'out sea')}",
    f"compare --stream 'RandomRBF()' --learner NoChange --record predictions {RUN.replace('out out', 'out rbf')}",
    "run experiment.toml --out store --jobs 1",
)
COMMANDS = {
    "evaluate, threads": f"evaluate --stream 'SEA(noise=0.1)' --scheme 'Bootstrap(3)' --labelling 'Delayed(700)' "
    f"--forgetting AdwinWindow --forgetting 'Fading(0.99)' {RUN} {RECORDERS} {CHECKPOINTS} --threads 2 --table t.csv",
    "evaluate, processes": f"evaluate --stream 'SEA(noise=0.1)' --scheme 'CrossValidation(3)' "
    f"--labelling 'Fraction(0.4)' {RUN} {RECORDERS} {CHECKPOINTS} --processes 2 --report report.html",
    "evaluate, no checkpoints": f"evaluate --stream 'SEA(noise=0.1)' {RUN} {RECORDERS} --report report.html",
    "evaluate --watch": f"evaluate --stream 'SEA(noise=0.1)' {RUN} {CHECKPOINTS} --watch",
    "compare, threads": f"compare --stream 'RandomRBF(speed=0.01)' --scheme 'Bootstrap(5)' {RUN} {RECORDERS} "
    f"{CHECKPOINTS} --record-format csv --table t.parquet",
    "compare, processes": f"compare --stream ../inputs/rows.csv {RUN} {RECORDERS} {CHECKPOINTS} --processes 2",
    "run, one process": "run ../inputs/experiment.toml --out store --jobs 1",
    "run, processes": "run ../inputs/experiment.toml --out store --jobs 2",
    "run --again": "run ../inputs/experiment.toml --out store --jobs 1 --again --checkpoint-every 1000",
    "sample": "sample ../inputs/rows.csv --training-rows 500 --labelled 0.5 --seed 2 --out sample --index index",
    "convert": "convert ../inputs/rows.csv rows.parquet",
    "convert, compressed": "convert ../inputs/rows.csv rows.arff.zst",
    "shuffle": "shuffle ../inputs/rows.csv rows.csv",
    "detect": "detect --stream ../inputs/rows.csv --learner NaiveBayes --plot statistic.svg",
    "report": "report ../inputs/sea ../inputs/rbf --out report.html",
    "report --for": "report ../inputs/sea --for paper --out paper",
    "rank": "rank ../inputs/sea ../inputs/rbf --diagram ranks.svg",
    "plot": "plot curves ../inputs/sea ../inputs/rbf --out curves.png",
    "results": "results ../inputs/store --export readings.csv",
    "rerun": "rerun ../inputs/sea",
    "reproduce": "reproduce stuffed-sampling --out reproduction",
}
"""The commands by the name of their line; each runs in an empty folder beside that of the inputs."""


@dataclass
class Place:
    """The folders of a command; all runs have the same, so that no path differs.

    Parameters
    ----------
    base
        The folder of everything.
    """

    base: Path

    @property
    def work(self) -> Path:
        """The folder in which commands run, with all that they write."""
        return self.base / "work"

    def clear(self) -> None:
        """Empty it."""
        shutil.rmtree(self.work, ignore_errors=True)
        for name in ("tmp", "shm"):
            (self.work / name).mkdir(parents=True)

    def start(self, command: str, folder: Path, prepare: Callable[[], object] = lambda: None) -> int:
        """Start a command in a process of its own; return its id."""
        process = os.fork()
        if process:
            return process
        status = 1
        try:
            os.setpgid(0, 0)
            os.chdir(folder)
            tempfile.tempdir = str(self.work / "tmp")
            os.environ |= {"TMPDIR": tempfile.tempdir, "HOME": str(self.base), "MPLCONFIGDIR": str(self.base)}
            processes.SHARED_MEMORY = self.work / "shm"
            for number, name in ((1, "output"), (2, "errors")):
                os.dup2(os.open(self.base / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.argv = ["streamgauge", *shlex.split(command)]
            prepare()
            cli.main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        finally:
            with suppress(BaseException):
                atexit._run_exitfuncs()
            os._exit(status)

    def run(self, command: str, folder: Path | None = None, prepare: Callable[[], object] = lambda: None) -> None:
        """Run a command to its end; raise if it fails."""
        _, status = os.waitpid(self.start(command, folder or self.work, prepare), 0)
        if status:
            msg = f"{command}: {(self.base / 'errors').read_text()}"
            raise RuntimeError(msg)

    def prepare_inputs(self) -> None:
        """Write the files that commands read."""
        self.clear()
        inputs = self.base / "inputs"
        inputs.mkdir()
        (inputs / "experiment.toml").write_text(EXPERIMENT)
        rng = Random(1)
        rows = [[rng.gauss(0.0, 1.0) for _ in range(4)] for _ in range(5000)]
        lines = [",".join(map(repr, row)) + (",yes" if sum(row) > rng.gauss(0.0, 1.0) else ",no") for row in rows]
        (inputs / "rows.csv").write_text("\n".join(["a,b,c,d,class", *lines, ""]))
        for command in PREPARATION:
            self.run(command, inputs)


@dataclass
class Undisturbed:
    """A run without kills: what it wrote, how long it took, and its number of operations on files."""

    files: dict[str, str]
    seconds: float
    n_changes: int


def run_undisturbed(place: Place, command: str) -> Undisturbed:
    """Run a command twice, the first time to warm up; both must write the same."""
    place.clear()
    place.run(command)
    first = take_snapshot(place.work)
    place.clear()
    counter = place.base / "changes"
    counter.write_bytes(b"")
    started = time.monotonic()
    place.run(command, prepare=lambda: count_changes(counter))
    seconds = time.monotonic() - started
    files = take_snapshot(place.work)
    if differences := find_differences(first, files):
        msg = f"{command} differs without kills: {'; '.join(differences)}"
        raise RuntimeError(msg)
    return Undisturbed(files, seconds, counter.stat().st_size)


def count_changes(counter: Path) -> None:
    """Add a byte to a file at each operation of this process on files."""
    log = os.open(counter, os.O_WRONLY)
    on_change(lambda _: os.write(log, b"."))


def on_change(act: Callable[[int], object]) -> None:
    """Call a function with the number of each operation of this process on files, before it happens."""
    n = 0

    def note(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal n
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in CHANGES or writes:
            n += 1
            act(n)

    sys.addaudithook(note)


def kill_at_change(number: int) -> Callable[[], None]:
    """Return a preparation after which a process kills itself before an operation on files."""

    def kill(n: int) -> None:
        if n == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return lambda: on_change(kill)


def list_children(process: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    found = []
    with suppress(OSError, ValueError):
        for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
            found += [int(child), *list_children(int(child))]
    return found


def end_strays() -> list[str]:
    """Wait for all processes that are left; return the command lines of those that do not end, and end them."""
    deadline = time.monotonic() + PATIENCE
    while _reap() and time.monotonic() < deadline:
        time.sleep(0.02)
    strays = []
    for process in list_children(os.getpid()):
        with suppress(OSError):
            strays.append(Path(f"/proc/{process}/cmdline").read_text().replace("\0", " "))
            os.kill(process, signal.SIGKILL)
    return [line for line in strays if "resource_tracker" not in line]


def _reap() -> bool:
    """Reap dead children; return whether any lives."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def hit(place: Place, command: str, undisturbed: Undisturbed, random: Random) -> bool:
    """Run a command and kill it, or one of its processes; return whether it was hit before its end."""
    if random.random() < 0.5:
        process = place.start(command, place.work, kill_at_change(random.randint(1, max(1, undisturbed.n_changes))))
        _, status = os.waitpid(process, 0)
        return os.WIFSIGNALED(status)
    process = place.start(command, place.work)
    time.sleep(random.random() * undisturbed.seconds)
    children = list_children(process)
    whom = random.random() if children else 1.0
    victim = random.choice(children) if whom < 0.3 else process
    with suppress(ProcessLookupError):
        for each in (process, *children) if 0.3 <= whom < 0.6 else (victim,):
            os.kill(each, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status) or (victim != process and victim in children)


def run_campaign(place: Place, name: str, n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Kill the runs of one command; store the campaign after each."""
    command, random = COMMANDS[name], Random(f"{name} {seed}")
    undisturbed = run_undisturbed(place, command)
    campaign = Campaign.start(f"{name} (SIGKILL)", more=more)
    for number in range(n_runs):
        place.clear()
        wanted = random.randint(1, MAX_KILLS)
        n_kills = sum(hit(place, command, undisturbed, random) for _ in range(wanted))
        resumed = n_kills > 0 and count_saved_rows(place.work) > 0
        problems = []
        try:
            place.run(command)
        except RuntimeError as error:
            problems.append(str(error))
        problems += [f"still runs: {line}" for line in end_strays()]
        problems += find_differences(undisturbed.files, take_snapshot(place.work))
        campaign.add(n_faults=n_kills, resumed=resumed, identical=not problems)
        campaign.store()
        if problems:
            kept = place.base.with_name(f"{place.base.name}-{name.replace(' ', '-')}-{number}")
            shutil.copytree(place.work, kept, dirs_exist_ok=True)
            print(f"FAILED: {name}, run {number}, {n_kills} kills, kept in {kept}: {'; '.join(problems)}", flush=True)
    print(f"{name}: {campaign.n_faults} kills, {campaign.n_runs - campaign.n_identical} failed", flush=True)
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "", *names: str) -> None:
    """Run the campaigns, or continue them, and print the table."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    unknown = [name for name in names if name not in COMMANDS]
    if unknown:
        sys.exit(f"there is no command {unknown[0]!r}; there are {', '.join(COMMANDS)}")
    place = Place(Path(tempfile.mkdtemp(prefix="kills-")))
    place.prepare_inputs()
    campaigns = [run_campaign(place, name, n_runs, seed, more=bool(more)) for name in names or COMMANDS]
    shutil.rmtree(place.base)
    show(*campaigns)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
