"""Disks that are full and folders that cannot be written, for real: a clear error, and the last good checkpoint intact.

Each run writes its checkpoints to a small disk of its own, which fills up, or into a folder that is closed to it at a
random moment. The run must end with an error that names the folder and the reason; then there is room again, the run
goes on from its last checkpoint, and its results must have the same bytes as those of a run that nobody disturbed.

``python -m benchmarks disk_faults [RUNS] [SEED]`` runs it, as root, who alone may mount disks, and stores its lines in
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

from benchmarks.fault_table import Campaign, show
from benchmarks.faults import in_a_process, rows_kept
from streamgauge._engine.checkpoint.container import decode

N_RUNS = 20
CAPABILITIES = 0x20080522
"""The version of the call that gives up what root may do."""
ROOM = range(100_000, 240_000)
"""How many bytes a small disk may have: all are too few for a whole run."""


@contextmanager
def small_disk(folder: Path, n_bytes: int) -> Iterator[Callable[[], object]]:
    """Mount a disk of so many bytes; gives what makes it large."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", folder], check=True)
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def give_up_powers() -> None:
    """Be subject to the rights of files, as root is not."""
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(CAPABILITIES, 0), (ctypes.c_uint32 * 6)())


def is_intact(folder: Path) -> bool:
    """Say whether the newest checkpoint is whole, and none is left that was half written."""
    found = sorted(folder.glob("*.checkpoint"))
    return bool(found) and decode(found[-1].read_bytes()).n_rows > 0 and not any(folder.glob(".*.tmp"))


def full(number: int, base: Path, draw: random.Random) -> tuple[bool, bool]:
    """Run until the disk is full, and on; says whether a checkpoint was there and intact, and whether it was told."""
    told = base / f"{number}.told"
    with small_disk(base / str(number), draw.choice(ROOM)) as enlarge:
        folder = base / str(number) / "run"
        os.waitpid(in_a_process(number, folder, told), 0)
        error = told.with_suffix(".error").read_text() if not told.exists() else ""
        clear = f"cannot write a checkpoint into {folder}: No space left on device; the last good one is rows-" in error
        intact = is_intact(folder)
        enlarge()
        os.waitpid(in_a_process(number, folder, told), 0)
    return intact, clear


def closed(number: int, base: Path, draw: random.Random) -> tuple[bool, bool]:
    """Run until the folder is closed, and on; says the same."""
    told, folder = base / f"{number}.told", base / str(number)
    process = in_a_process(number, folder, told, give_up_powers)
    while not (rows_kept(folder) or told.exists() or told.with_suffix(".error").exists()):
        time.sleep(0.001)
    time.sleep(draw.random() * 0.2)
    folder.chmod(0o500)
    os.waitpid(process, 0)
    error = told.with_suffix(".error").read_text() if not told.exists() else ""
    clear = f"cannot write a checkpoint into {folder}: Permission denied; the last good one is rows-" in error
    intact = is_intact(folder)
    folder.chmod(0o700)
    os.waitpid(in_a_process(number, folder, told, give_up_powers), 0)
    return intact, clear


FAULTS = {"disk full (ENOSPC)": full, "folder not writable (EACCES)": closed}


def campaign(kind: str, n_runs: int, seed: int) -> Campaign:
    """Run with faults; stores how it stands after each run."""
    stands, draw = Campaign(kind), random.Random(seed)
    base = Path(tempfile.mkdtemp())
    for number in range(n_runs):
        whole, told = base / f"{number}.whole", base / f"{number}.told"
        os.waitpid(in_a_process(number, None, whole), 0)
        intact, clear = FAULTS[kind](number, base, draw)
        same = told.exists() and told.read_bytes() == whole.read_bytes()
        if not clear:
            error = told.with_suffix(".error")
            print(f"{number + 1}/{n_runs}: {kind}: {error.read_text() if error.exists() else 'not struck'}")
        stands.add(n_faults=int(clear), resumed=clear and intact, identical=same)
        stands.store()
    shutil.rmtree(base)
    return stands


def main(n_runs: int = N_RUNS, seed: int = 1) -> None:
    """Run the campaigns and print the table."""
    if os.geteuid() != 0:
        print("left out: only root may mount disks")
        return
    show(*(campaign(kind, n_runs, seed) for kind in FAULTS))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
