"""Comparison of everything with the peers, in tables and pictures: ``python -m benchmarks.performance [--quick]``.

Each section runs in a separate process and is saved when it is complete. One that takes too long is killed; the others
continue.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.performance import pages
from benchmarks.performance.matrix import LEARNERS
from benchmarks.performance.records import Record, Records, describe_machine, get_time
from benchmarks.performance.sections import MATRIX, SECTIONS
from benchmarks.performance.sizes import SIZES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "performance"


def main() -> None:
    """Measure the requested sections; after each, write the page of all sections."""
    arguments = _parse_arguments()
    size, folder = arguments.size, arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    records = Records.load(folder)
    if not arguments.resume:
        records.begun = get_time()
        records.save(folder)
    for name in arguments.only:
        if arguments.resume and records.is_done(name, size):
            print(f"== {name}: measured before", flush=True)
            continue
        print(f"== {name}", flush=True)
        outcome = _measure(name, size, folder, arguments.learners if name in MATRIX else [])
        records = Records.load(folder)  # another process may have measured other sections meanwhile
        records.failed.pop(name, None)
        if isinstance(outcome, Record):
            records.done[name] = outcome
            print(f"  {outcome.cpu_seconds} seconds of CPU", flush=True)
        else:
            records.failed[name] = outcome
            print(f"  not measured: {outcome}", flush=True)
        records.save(folder)
        pages.write(folder, records)
    print(f"wrote {folder / 'README.md'}")
    failed = [name for name in arguments.only if name in records.failed]
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}; fix the cause and run the same command with --resume")


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.performance",
        description="Compare everything with the peers and write tables and pictures.",
    )
    sizes = parser.add_mutually_exclusive_group()
    sizes.set_defaults(size="full")
    add = partial(sizes.add_argument, dest="size", action="store_const")
    add("--quick", const="quick", help="few rows: a few minutes of CPU instead of thirty")
    add("--short", const="short", help="one turn instead of three, and no warm virtual machines in the matrix")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to measure")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=[], help="only these learners of the matrix")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for tables and pictures")
    parser.add_argument("--resume", action="store_true", help="resume an interrupted run")
    return parser.parse_args()


def _measure(name: str, size: str, folder: Path, learners: Sequence[str] = ()) -> Record | str:
    """Measure a section in a new process and print its output; return the record, or why it failed."""
    command = [sys.executable, "-m", "benchmarks.performance.sections", name, size, str(folder / f"{name}.csv")]
    command += learners
    before = _measure_cpu()
    lines: list[str] = []
    limit = SIZES[size].limit
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as section:
        timer = threading.Timer(limit, os.killpg, (section.pid, signal.SIGKILL))
        timer.start()
        try:
            for line in section.stdout or ():
                lines.append(line.rstrip())
                print(lines[-1], flush=True)
        except BaseException:
            os.killpg(section.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
    if section.returncode == -signal.SIGKILL:
        return f"killed, probably after the limit of {limit} seconds"
    if section.returncode:
        return next(filter(None, reversed(lines)), f"exit status {section.returncode}")
    return Record(
        size=size,
        at=get_time(),
        cpu_seconds=round(_measure_cpu() - before),
        load=round(os.getloadavg()[0], 1),
        machine=describe_machine(),
        without=[line.removeprefix("without ") for line in lines if line.startswith("without ")],
    )


def _measure_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
