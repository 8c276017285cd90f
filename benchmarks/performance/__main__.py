"""Measure everything beside the peers and write tables and pictures: ``python -m benchmarks.performance [--quick]``.

Each section runs in a process of its own, is saved when it is complete, and is given up where it takes too long; the
others go on.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.performance import pages
from benchmarks.performance.records import Record, Records, now
from benchmarks.performance.sections import SECTIONS
from benchmarks.performance.sizes import SIZES

DOCS = Path(__file__).resolve().parents[2] / "docs" / "performance"


def main() -> None:
    """Measure the sections asked for; after each, write the page of all that there are."""
    asked = _asked()
    size = "quick" if asked.quick else "full"
    asked.out.mkdir(parents=True, exist_ok=True)
    records = Records.load(asked.out)
    if not asked.resume:
        records.begun = now()
        records.save(asked.out)
    for name in asked.only:
        if asked.resume and records.is_done(name, size):
            print(f"== {name}: measured before", flush=True)
            continue
        print(f"== {name}", flush=True)
        told = _measure(name, size, asked.out)
        records = Records.load(asked.out)  # others may have measured something else meanwhile
        records.failed.pop(name, None)
        if isinstance(told, Record):
            records.done[name] = told
            print(f"  {told.cpu_seconds} seconds of CPU", flush=True)
        else:
            records.failed[name] = told
            print(f"  not measured: {told}", flush=True)
        records.save(asked.out)
        pages.write(asked.out, records)
    print(f"{asked.out / 'README.md'} tells")
    failed = [name for name in asked.only if name in records.failed]
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}; once that is mended, the same with --resume goes on")


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.performance",
        description="Measure everything beside the peers and write tables and pictures.",
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes of CPU instead of thirty")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to measure")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for tables and pictures")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was cut short")
    return parser.parse_args()


def _measure(name: str, size: str, folder: Path) -> Record | str:
    """Measure a section in a process of its own, printing what it prints; give why where it cannot be."""
    command = [sys.executable, "-m", "benchmarks.performance.sections", name, size, str(folder / f"{name}.csv")]
    before = _cpu_seconds()
    lines: list[str] = []
    limit = SIZES[size].limit
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as section:
        giving_up = threading.Timer(limit, os.killpg, (section.pid, signal.SIGKILL))
        giving_up.start()
        try:
            for line in section.stdout or ():
                lines.append(line.rstrip())
                print(lines[-1], flush=True)
        except BaseException:
            os.killpg(section.pid, signal.SIGKILL)
            raise
        finally:
            giving_up.cancel()
    if section.returncode == -signal.SIGKILL:
        return f"it was killed, as happens after {limit} seconds"
    if section.returncode:
        return next(filter(None, reversed(lines)), f"it ended with status {section.returncode}")
    without = [line.removeprefix("without ") for line in lines if line.startswith("without ")]
    return Record(size, now(), round(_cpu_seconds() - before), round(os.getloadavg()[0], 1), without)


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
