"""Peak memory of this process, and the memory that some work adds; on Linux."""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

__all__ = ["measure_added", "measure_peak"]

STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def measure_peak() -> float:
    """Return the peak MB of this process since its start or the last reset; `getrusage` starts with its parent's."""
    return _read_status("VmHWM")


def measure_added(work: Callable[[], object]) -> float | None:
    """Run some work; return the peak MB above the memory held before, or None if the system does not report it."""
    if not REFERENCES.exists():
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    REFERENCES.write_text(RESET_PEAK, encoding="ascii")
    before = _read_status("VmRSS")
    work()
    return max(0.0, _read_status("VmHWM") - before)


def _read_status(name: str) -> float:
    """Return a value of the process status in MB."""
    line = next(line for line in STATUS.read_text(encoding="ascii").splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024 / 1e6
