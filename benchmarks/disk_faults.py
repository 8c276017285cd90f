"""Full disks and read-only folders: a clear error, and the last good checkpoint intact.

Each run writes its checkpoints to a small disk, which fills up, or into a folder that becomes read-only at a random
moment. The run must end with an error that names the folder and the reason. Then there is room again, the run resumes
from its last checkpoint, and its results must have the same bytes as those of an undisturbed run.

``python -m benchmarks disk_faults [RUNS] [SEED]`` runs it as root, who alone may mount disks, and stores its lines in
``benchmarks/results/faults.md``.
"""

import ctypes
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamgauge as sg
from benchmarks.fault_table import Campaign, count_saved_rows, serialise, show
from streamgauge._engine.checkpoint.container import decode
from streamgauge.drift import DDM
from streamgauge.labelling import Delayed, Fraction
from streamgauge.schemes import CrossValidation

N_RUNS = 20
N_ROWS = 10_000
CAPABILITIES = 0x20080522
"""Version argument of `capset`, which drops the capabilities of root."""
SIZES = range(140_000, 240_000)
"""Sizes of a small disk in bytes, all too small for a whole run."""


def choose_options(number: int) -> dict[str, Any]:
    """Return the options of a run, which differ between runs."""
    schemes = [sg.Prequential(), sg.Bootstrap(3), CrossValidation(3)]
    labellings = [Delayed(700), Fraction(0.4), Delayed(20)]
    return {
        "scheme": schemes[number % 3],
        "labelling": labellings[number // 3 % 3],
        "forgetting": [sg.AdwinWindow(), sg.Fading(0.99), sg.Window(500)],
        "measures": ["accuracy", "kappa_m", "kappa_temporal"],
        "detectors": [DDM()],
        "every": 250,
        "seed": number,
        "batch_size": 128,
    }


def start_run(number: int, folder: Path | None, output: Path, prepare: Callable[[], object] = lambda: None) -> int:
    """Start a run in a new process, which writes its results, or its error, to a file; return the process id."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            prepare()
            checkpoints: dict[str, Any] = (
                {} if folder is None else {"checkpoint": folder, "checkpoint_every": 500, "resume": True}
            )
            learners = {"tree": sg.HoeffdingTree(grace_period=100), "bayes": sg.NaiveBayes()}
            results = sg.evaluate(sg.SEA(n_rows=N_ROWS, noise=0.1), learners, **choose_options(number), **checkpoints)
            output.with_suffix(".tmp").write_bytes(serialise(results))
            output.with_suffix(".tmp").rename(output)
            status = 0
        except sg.StreamgaugeError as error:
            output.with_suffix(".error").write_text(str(error), encoding="utf-8")
        except Exception as error:
            output.with_suffix(".error").write_text(f"raw {type(error).__name__}: {error}", encoding="utf-8")
        finally:
            os._exit(status)
    return process


@contextmanager
def mount_small_disk(folder: Path, n_bytes: int) -> Iterator[Callable[[], object]]:
    """Mount a disk of `n_bytes`; yield a function that enlarges it."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", folder], check=True)
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def drop_capabilities() -> None:
    """Drop the capabilities of root, so that file permissions apply."""
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)())


def is_intact(folder: Path) -> bool:
    """Return whether the newest checkpoint is intact and no partial one is left."""
    checkpoints = sorted(folder.glob("*.checkpoint"))
    return bool(checkpoints) and decode(checkpoints[-1].read_bytes()).n_rows > 0 and not any(folder.glob(".*.tmp"))


def fill_disk(number: int, base: Path, draw: random.Random) -> tuple[bool, bool]:
    """Run until the disk is full, then resume; return whether a checkpoint was intact and the error clear."""
    output = base / f"{number}.results"
    with mount_small_disk(base / str(number), draw.choice(SIZES)) as enlarge:
        folder = base / str(number) / "run"
        os.waitpid(start_run(number, folder, output), 0)
        is_clear = _is_error_clear(output, folder, "No space left on device")
        intact = is_intact(folder)
        enlarge()
        os.waitpid(start_run(number, folder, output), 0)
    return intact, is_clear


def close_folder(number: int, base: Path, draw: random.Random) -> tuple[bool, bool]:
    """Run until the folder is read-only, then resume; return the same."""
    output, folder = base / f"{number}.results", base / str(number)
    process = start_run(number, folder, output, drop_capabilities)
    while not (count_saved_rows(folder) or output.exists() or output.with_suffix(".error").exists()):
        time.sleep(0.001)
    time.sleep(draw.random() * 0.2)
    folder.chmod(0o500)
    os.waitpid(process, 0)
    is_clear = _is_error_clear(output, folder, "Permission denied")
    intact = is_intact(folder)
    folder.chmod(0o700)
    os.waitpid(start_run(number, folder, output, drop_capabilities), 0)
    return intact, is_clear


def _is_error_clear(output: Path, folder: Path, reason: str) -> bool:
    error = "" if output.exists() else output.with_suffix(".error").read_text()
    return f"cannot write a checkpoint into {folder}: {reason}; the last good one is rows-" in error


FAULTS = {"disk full (ENOSPC)": fill_disk, "folder not writable (EACCES)": close_folder}


def run_campaign(kind: str, n_runs: int, seed: int) -> Campaign:
    """Run with faults; store the campaign after each run."""
    campaign, draw = Campaign.start(kind), random.Random(seed)
    base = Path(tempfile.mkdtemp())
    for number in range(n_runs):
        expected, output = base / f"{number}.expected", base / f"{number}.results"
        os.waitpid(start_run(number, None, expected), 0)
        intact, is_clear = FAULTS[kind](number, base, draw)
        identical = output.exists() and output.read_bytes() == expected.read_bytes()
        if not is_clear:
            error = output.with_suffix(".error")
            print(f"{number + 1}/{n_runs}: {kind}: {error.read_text() if error.exists() else 'not hit'}")
        campaign.add(n_faults=int(is_clear), resumed=is_clear and intact, identical=identical)
        campaign.store()
    shutil.rmtree(base)
    return campaign


def main(n_runs: int = N_RUNS, seed: int = 1) -> None:
    """Run the campaigns and print the table."""
    if os.geteuid() != 0:
        print("left out: only root may mount disks")
        return
    show(*(run_campaign(kind, n_runs, seed) for kind in FAULTS))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
