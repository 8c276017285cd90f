"""Which of the other systems can be had here; a section goes on without those that cannot."""

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from peers import moa

__all__ = ["CAPYMOA_FOLDER", "has"]

CAPYMOA = "capymoa==0.15.1"
CAPYMOA_FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "capymoa"
MODULES = {"River": "river", "scikit-learn": "sklearn", "stream-learn": "strlearn", "pandas": "pandas"}


@cache
def has(system: str) -> bool:
    """Tell whether a system can be run here; say once why it cannot."""
    reason = _why_absent(system)
    if reason is not None:
        print(f"without {system}: {reason}", flush=True)
    return reason is None


def _why_absent(system: str) -> str | None:
    if system == "MOA":
        return moa.explain_missing_jdk()
    if system == "CapyMOA":
        return moa.explain_missing_jdk() or _why_no_capymoa()
    module = MODULES.get(system)
    return f"{module} is not installed" if module is not None and find_spec(module) is None else None


def _why_no_capymoa() -> str | None:
    """Install CapyMOA, once, without what it depends on, which its part used here does not need."""
    if not (CAPYMOA_FOLDER / "capymoa").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--target", str(CAPYMOA_FOLDER), CAPYMOA]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return f"{CAPYMOA} cannot be installed"
    return None
