"""Commands that are killed at random moments and given again end with the same files, and leave nothing else behind.

``python -m benchmarks.command_kills [RUNS] [SEED] [more]`` stores its line in ``benchmarks/results/faults.md``. A
command is killed with SIGKILL up to three times, alone or with its worker processes, at moments drawn uniformly over
the time of a whole one. Then it is given once more, and the names of all files in its folder and the contents of all
tables, predictions and samples are compared with those of a command that was left alone.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import streamgauge as sg
from benchmarks.fault_table import Campaign, show
from streamgauge.cli.main import cli
from streamgauge.streams import write

N_RUNS = 240
RUN = (
    "--stream SEA --rows 40000 --learner HoeffdingTree --learner NaiveBayes --detector DDM --record predictions"
    " --record confusion --record misclassified --no-resources --quiet --every 400 --batch-size 1000 --out {out}"
    " --checkpoint {out}/checkpoints --checkpoint-every 4000 --resume"
)
COMMANDS = (
    f"evaluate {RUN}",
    f"evaluate {RUN} --processes 2",
    f"compare {RUN} --table {{out}}/readings.csv",
    "run {base}/experiment.toml --out {out} --quiet --jobs 1 --checkpoint-every 3000",
    "run {base}/experiment.toml --out {out} --quiet --jobs 2 --checkpoint-every 3000",
    "sample {base}/all.csv --training-positives 2000 --training-balance 1.0 --test-balance 0.5 --labelled 0.5"
    " --index {out}/index --out {out} --quiet",
)
EXPERIMENT = """rows = 40000
[streams]
sea = "SEA"
[learners]
bayes = "NaiveBayes"
tree = "HoeffdingTree"
"""


def start(command: str, base: Path, out: Path) -> int:
    """Start a command in a process and a group of its own; return the process id."""
    child = os.fork()
    if child == 0:
        os.setsid()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        status = 1
        try:
            status = cli.main(command.format(base=base, out=out).split(), standalone_mode=False) or 0
        finally:
            os._exit(status)
    return child


def wait(process: int) -> int:
    """Return how a process ended, as `os.waitpid` does."""
    return os.waitpid(process, 0)[1]


def read_files(out: Path) -> dict[str, object]:
    """Return all files in a folder by name, with their contents where these must be the same."""
    files: dict[str, object] = {}
    for path in out.rglob("*"):
        same = path.suffix in {".csv", ".arff", ".parquet"} and path.stem != "resources"
        files[str(path.relative_to(out))] = path.read_bytes() if path.is_file() and same else None
        if path.name == "recipe.json":
            files["drawn"] = json.loads(path.read_text())["drawn"]
    return files


def kill(command: str, base: Path, out: Path, seconds: float, draw: random.Random) -> int:
    """Kill a command up to three times, each time it is given; return how often it was hit."""
    n_kills = 0
    for _ in range(draw.randrange(1, 4)):
        process = start(command, base, out)
        time.sleep(draw.random() * seconds)
        with suppress(ProcessLookupError):
            (os.killpg if draw.random() < 0.5 else os.kill)(process, signal.SIGKILL)
        if not os.WIFSIGNALED(wait(process)):
            break
        n_kills += 1
    return n_kills


def kill_commands(n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Kill commands at random moments; store the campaign after each run."""
    campaign, draw = Campaign.start("command (SIGKILL)", more=more), random.Random(seed)
    base = Path(tempfile.mkdtemp())
    (base / "experiment.toml").write_text(EXPERIMENT)
    write(sg.SEA(n_rows=60_000), base / "all.csv")
    expected: dict[str, tuple[dict[str, object], float]] = {}
    for number in range(n_runs):
        command, out = COMMANDS[number % len(COMMANDS)], base / str(number)
        if command not in expected:
            started, whole = time.perf_counter(), base / f"{number}.whole"
            wait(start(command, base, whole))
            expected[command] = read_files(whole), time.perf_counter() - started
        files, seconds = expected[command]
        n_kills = kill(command, base, out, seconds, draw)
        resumed = any(out.rglob("*.checkpoint"))
        status = wait(start(command, base, out))
        found = read_files(out)
        if status or found != files:
            differing = [name for name in {*found, *files} if found.get(name, 0) != files.get(name, 0)]
            print(f"run {number} of seed {seed}, {command.split()[0]}: status {status}, {differing}", flush=True)
        campaign.add(n_faults=n_kills, resumed=resumed, identical=not status and found == files)
        campaign.store()
        shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(base)
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1, more: str = "") -> None:
    """Run the campaign, or continue it, and print the table."""
    show(kill_commands(n_runs, seed, more=bool(more)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
