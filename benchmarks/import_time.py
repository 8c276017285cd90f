"""How long `import streamgauge` and `streamgauge --help` take; the goals are 0.3 and 0.5 seconds.

Told is the CPU time of a fresh process, the best of several, for a machine that does other work, too. Modules are
compiled before, as they are where a package is installed.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

GOALS = {
    "import numpy": (["-c", "import numpy"], None),
    "import streamgauge": (["-c", "import streamgauge"], 0.3),
    "streamgauge --help": (["--help"], 0.5),
}


def cpu_seconds(arguments: list[str], repetitions: int = 9) -> float:
    """Measure the CPU time of a fresh Python process, the best of several."""
    times = []
    with TemporaryDirectory() as compiled:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": compiled}
        for _ in range(repetitions + 1):
            before = os.times()
            subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=environment)
            after = os.times()
            times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(times)


def main() -> None:
    """Measure, and set beside the goals."""
    script = Path(sys.executable).parent / "streamgauge"
    for name, (arguments, goal) in GOALS.items():
        seconds = cpu_seconds([str(script), "--help"] if "--help" in arguments else arguments)
        print(f"{name:20} {seconds:.3f} s" + (f" (goal {goal} s)" if goal else ""))


if __name__ == "__main__":
    main()
