"""Time of `import streamgauge` and `streamgauge --help`; the goals are 0.3 and 0.5 seconds.

It prints CPU and wall time of a new process, the median of many and the best. Commands run in turns, so that other load
affects all alike. Modules are compiled before, as in an installed package. `import streamgauge` imports names on first
use, so the time to import all of them is printed, too.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

REPETITIONS = 15
COMMANDS: dict[str, tuple[list[str], float | None]] = {
    "python": (["-c", "pass"], None),
    "import numpy": (["-c", "import numpy"], None),
    "import streamgauge": (["-c", "import streamgauge"], 0.3),
    "from streamgauge import *": (["-c", "from streamgauge import *"], None),
    "streamgauge --help": ([str(Path(sys.executable).parent / "streamgauge"), "--help"], 0.5),
}


def time_process(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the CPU and wall seconds of a new Python process."""
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment)
    wall, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Print the times and the goals."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory() as cache:
        for repetition in range(REPETITIONS + 1):
            for name, (arguments, _) in COMMANDS.items():
                seconds = time_process(arguments, {**environment, "PYTHONPYCACHEPREFIX": cache})
                if repetition:  # the first one compiles
                    times[name].append(seconds)
    print(f"{'':26} {'CPU median':>10} {'best':>6} {'wall median':>12} {'best':>6}")
    for name, (_, goal) in COMMANDS.items():
        cpu, wall = zip(*times[name], strict=True)
        line = f"{name:26} {median(cpu):8.3f} s {min(cpu):6.3f} {median(wall):10.3f} s {min(wall):6.3f}"
        print(line + (f"  (goal {goal} s)" if goal else ""))


if __name__ == "__main__":
    main()
