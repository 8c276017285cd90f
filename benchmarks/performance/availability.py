"""Availability of the other systems; a section runs without those that are missing."""

import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from peers import moa

__all__ = ["CAPYMOA_FOLDER", "is_available"]

CAPYMOA = "capymoa==0.15.1"
CAPYMOA_FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "capymoa"
MODULES = {
    "River": "river",
    "scikit-learn": "sklearn",
    "stream-learn": "strlearn",
    "pandas": "pandas",
    "Vowpal Wabbit": "vowpalwabbit",
}


@cache
def is_available(system: str) -> bool:
    """Return whether a system can run here; print once why it cannot."""
    reason = _explain_missing(system)
    if reason is not None:
        print(f"without {system}: {reason}", flush=True)
    return reason is None


def _explain_missing(system: str) -> str | None:
    if system == "MOA":
        return moa.explain_missing_jdk()
    if system == "CapyMOA":
        return moa.explain_missing_jdk() or _install_capymoa()
    module = MODULES.get(system)
    return f"{module} is not installed" if module is not None and find_spec(module) is None else None


def _install_capymoa() -> str | None:
    """Install CapyMOA once, without its dependencies, which are not needed here; return why it failed."""
    if not (CAPYMOA_FOLDER / "capymoa").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--target", str(CAPYMOA_FOLDER), CAPYMOA]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return f"{CAPYMOA} cannot be installed"
    return None
