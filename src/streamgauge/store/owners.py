"""Who works on what: a process by its machine, its number and its birth, and whether it still lives."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Owner"]

SILENCE = 600.0
"""After so many seconds without a sign of life a process of another machine counts as dead."""


@dataclass(frozen=True)
class Owner:
    """A process that has claimed work.

    Parameters
    ----------
    host
        The name of its machine.
    pid
        Its number there.
    born
        When it began, as its machine counts, so that a later process of the same number is not taken for it.

    Examples
    --------
    >>> Owner.here().is_alive(last_sign=0.0)
    True
    """

    host: str
    pid: int
    born: int

    @classmethod
    def here(cls) -> "Owner":
        """Give this process."""
        return cls(platform.node(), os.getpid(), _birth(os.getpid()))

    def is_alive(self, last_sign: float) -> bool:
        """Say whether the process lives; of another machine, whether it gave a sign in the last minutes."""
        if self.host != platform.node():
            return time.time() - last_sign < SILENCE
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass  # it lives, and is somebody else's
        return _birth(self.pid) == self.born


def _birth(pid: int) -> int:
    """Look up when a process of this machine began; 0 where the system does not tell, -1 where it is only a corpse."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return -1 if after_name[0] == "Z" else int(after_name[19])
