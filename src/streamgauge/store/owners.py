"""The process that owns a claim: its machine, process id and start time, and whether it still lives."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Owner"]

DEAD_AFTER_SECONDS = 600.0
"""Seconds without a sign of life after which a process on another machine counts as dead."""


@dataclass(frozen=True)
class Owner:
    """A process that has claimed work.

    Parameters
    ----------
    host
        Name of its machine.
    pid
        Its process id.
    started_at_ticks
        Its start time in clock ticks of the machine; distinguishes it from a later process with the same id.

    Examples
    --------
    >>> Owner.here().is_alive(last_sign=0.0)
    True
    """

    host: str
    pid: int
    started_at_ticks: int

    @classmethod
    def here(cls) -> "Owner":
        """Return this process."""
        return cls(platform.node(), os.getpid(), _find_start_time(os.getpid()))

    def is_alive(self, last_sign: float) -> bool:
        """Return whether the process lives; on another machine, whether it gave a sign of life recently."""
        if self.host != platform.node():
            return time.time() - last_sign < DEAD_AFTER_SECONDS
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it lives, and belongs to another user
        return _find_start_time(self.pid) == self.started_at_ticks


def _find_start_time(pid: int) -> int:
    """Return the start time of a process of this machine; 0 if the system does not give it, -1 for a zombie."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return -1 if after_name[0] == "Z" else int(after_name[19])
