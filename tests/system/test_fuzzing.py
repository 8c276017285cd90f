"""Damaged inputs of every reader: refused in one line that names them, or read as an independent reader reads them."""

import json
import subprocess
import sys

import pytest

from benchmarks.fuzzing import N_SOUND, OUTCOMES, list_readers

PROGRAM = """
import json, sys
from benchmarks.fuzzing import fuzz, list_readers
reader = next(reader for reader in list_readers() if reader.name == sys.argv[1])
print(json.dumps(fuzz(reader, int(sys.argv[2]), int(sys.argv[3]))))
"""


@pytest.mark.parametrize("name", [reader.name for reader in list_readers()])
def test_no_damaged_input_is_misread_or_does_harm(name: str) -> None:
    # It forks, which must not happen in a process whose libraries have started threads.
    command = [sys.executable, "-c", PROGRAM, name, "150", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert sum(counts.values()) == 150
    assert set(counts) <= set(OUTCOMES[:N_SOUND]), (counts, done.stderr)
