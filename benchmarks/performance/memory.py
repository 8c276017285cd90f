"""How much memory some work takes above what its process holds already; on Linux."""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

__all__ = ["added_mb", "peak_mb"]

STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def peak_mb() -> float:
    """Give the peak of this process since it began, or since it was reset; `getrusage` begins with its parent's."""
    return _told("VmHWM")


def added_mb(work: Callable[[], object]) -> float | None:
    """Run some work; give the peak above what was held before, or None where the system does not tell."""
    if not REFERENCES.exists():
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    REFERENCES.write_text(RESET_PEAK, encoding="ascii")
    before = _told("VmRSS")
    work()
    return max(0.0, _told("VmHWM") - before)


def _told(name: str) -> float:
    """Read a line of kilobytes."""
    line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6
