"""Files with a flipped bit or a cut end neither end the process nor raise anything but an error that names them."""

import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_damaged_files_are_read_or_refused_by_name() -> None:
    seed = random.SystemRandom().randrange(1 << 32)  # other damage in every run; a failure prints its seed
    command = [sys.executable, "-m", "benchmarks.damaged_files", "400", str(seed)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=110)
    assert run.returncode == 0, f"seed {seed}: {run.stdout}{run.stderr}"
    assert "refused: " in run.stdout
    assert "read: " in run.stdout
