"""Sampling a file of 10 million rows (about 1 GB): megabytes of input per second of CPU time, and peak memory."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from streamgauge import _native

N_ROWS = 10_000_000
BLOCK = 100_000
HEADER = (
    "@relation large\n" + "".join(f"@attribute a{i} numeric\n" for i in range(10)) + "@attribute class {0,1}\n@data\n"
)
SAMPLE = """
import resource, time
from streamgauge.streams import Balance, sample
started = time.process_time()
drawn = sample({path!r}, {folder!r}, Balance(1000, 1.0, {balance}), labelled={labelled}, index={index!r})
seconds = time.process_time() - started
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, drawn.plan.n_test)
"""


def write_input(path: Path) -> None:
    """Write rows of ten numbers and a class, one in five positive."""
    rng = np.random.default_rng(1)
    writing = _native.Writing(ord(","), [None] * 10, [b"0", b"1"], "none")
    with path.open("wb") as file:
        file.write(HEADER.encode())
        for _ in range(N_ROWS // BLOCK):
            x = np.round(rng.normal(size=(BLOCK, 10)), 6)
            file.write(writing.lines(x, (rng.random(BLOCK) < 0.2).astype(np.int32), None))


def measure(what: str, path: Path, balance: float, labelled: float, index: Path | None = None) -> None:
    """Sample in a new process; print its time and memory."""
    folder = path.parent / "sample"
    script = SAMPLE.format(
        path=str(path), folder=str(folder), balance=balance, labelled=labelled, index=index and str(index)
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, peak, n_test = map(float, done.stdout.split())
    speed = path.stat().st_size / 1e6 / seconds
    print(
        f"{what:<44} {n_test:>10,.0f} test rows  {seconds:5.2f} s of CPU  {speed:6.0f} MB/s  {peak:5.0f} MiB peak  "
        f"{'met' if speed >= 300 and peak < 200 else 'MISSED'}"
    )
    shutil.rmtree(folder)


def main() -> None:
    """Print speed and memory of sampling one large file; the goals are 300 MB/s and under 200 MiB."""
    folder = Path(tempfile.mkdtemp(prefix="streamgauge-"))
    try:
        path = folder / "large.arff"
        write_input(path)
        print(f"{N_ROWS:,} rows, {path.stat().st_size / 1e6:,.0f} MB, {os.cpu_count()} cores")
        measure("one positive in fifty, 10 % labelled", path, balance=0.02, labelled=0.1)
        measure("nearly every row, 10 % labelled", path, balance=0.25, labelled=0.1)
        measure("nearly every row, all labelled", path, balance=0.25, labelled=1.0)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
