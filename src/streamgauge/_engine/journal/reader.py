"""Reads the journal of a run, while it is written or later."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.journal.format import (
    ABOUT,
    EVENTS,
    FOLDER,
    READINGS,
    STATUS,
    STOP,
    read_json,
    read_lines,
    read_records,
)
from streamgauge._engine.journal.layout import Layout
from streamgauge.errors import StreamgaugeError
from streamgauge.records.manifest import RunManifest, check_format

__all__ = ["JournalReader"]

SILENT_SECONDS = 60.0
"""A run on another machine that has written nothing for this long is considered dead."""


@dataclass(frozen=True)
class _Process:
    """The process of a run, and when it started in seconds since 1970."""

    pid: int
    host: str
    started: float


class JournalReader:
    """Reads a run from another process; it caches nothing but the description of the run.

    Parameters
    ----------
    folder
        The folder of the run.

    Examples
    --------
    >>> JournalReader("no such folder")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no such folder holds no journal of a run
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder) / FOLDER
        about = read_json(self.folder / ABOUT)
        try:
            check_format(self.folder / ABOUT, about)
            self.run = RunManifest.from_json(about or {})
            self.process = _Process(**(about or {})["process"])
            self.layout = Layout.from_facts(self.run, (about or {})["layout"])
        except StreamgaugeError:
            raise
        except (LookupError, TypeError, ValueError):
            msg = f"{folder} holds no journal of a run"
            raise StreamgaugeError(msg) from None

    def status(self) -> dict[str, Any]:
        """Return the status of the run: state, n_rows, seconds, verdicts, failures and more."""
        return read_json(self.folder / STATUS) or {"state": "running", "n_rows": 0, "verdicts": [], "failures": []}

    @property
    def state(self) -> str:
        """The state: ``running``, ``complete``, ``cut short``, ``failed``, or ``died`` without closing its journal."""
        return self.state_of(self.status())

    def state_of(self, status: dict[str, Any]) -> str:
        """Return the state for a status that was read before."""
        state = str(status.get("state", "running"))
        return "died" if state == "running" and not self._is_alive(status) else state

    def _is_alive(self, status: dict[str, Any]) -> bool:
        if self.process.host != platform.node() or os.name == "nt":  # on Windows signal 0 is not harmless
            return time.time() - float(status.get("updated", self.process.started)) < SILENT_SECONDS
        try:
            os.kill(self.process.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it runs as another user
            return True
        return True

    def records(self, skip: int = 0) -> tuple[int, NDArray[np.float64]]:
        """Read the records after the first `skip`, and the generation that their count refers to."""
        return read_records(self.folder / READINGS, self.layout.width, skip)

    def events(self, skip: int = 0) -> tuple[int, list[dict[str, Any]]]:
        """Read the alarms after the first `skip`, and the generation; ``n`` is the number that each represents."""
        header, *events = read_lines(self.folder / EVENTS, skip) or [{"generation": -1}]
        return int(header["generation"]), events

    def ask_to_stop(self) -> None:
        """Ask the run to end after the current batch."""
        (self.folder / STOP).touch()
