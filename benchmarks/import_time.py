"""How long `import streamgauge` and `streamgauge --help` take; the goals are 0.3 and 0.5 seconds.

Told are the CPU time and the time on the clock of a fresh process, the median of many and the best, in turns, so that a
machine that does other work does so for all alike. Modules are compiled before, as they are where a package is
installed. `import streamgauge` imports names when they are asked for, so what all of them cost is told too.
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


def seconds(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Measure a fresh Python process: its CPU time, and the time on the clock."""
    before, started = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment)
    wall, after = time.perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure, and set beside the goals."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
    with TemporaryDirectory() as compiled:
        for repetition in range(REPETITIONS + 1):
            for name, (arguments, _) in COMMANDS.items():
                taken = seconds(arguments, {**kept, "PYTHONPYCACHEPREFIX": compiled})
                if repetition:  # the first one compiles
                    times[name].append(taken)
    print(f"{'':26} {'CPU median':>10} {'best':>6} {'wall median':>12} {'best':>6}")
    for name, (_, goal) in COMMANDS.items():
        cpu, wall = zip(*times[name], strict=True)
        told = f"{name:26} {median(cpu):8.3f} s {min(cpu):6.3f} {median(wall):10.3f} s {min(wall):6.3f}"
        print(told + (f"  (goal {goal} s)" if goal else ""))


if __name__ == "__main__":
    main()
