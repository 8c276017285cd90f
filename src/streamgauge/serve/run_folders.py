"""The runs of a results folder: found, named by their path in it, and never looked for outside of it."""

import os
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

from streamgauge._engine.journal import format as files
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run

__all__ = ["Library"]

DEEPEST = 5
"""How many folders deep runs are looked for."""

MOST_FOLDERS = 20_000
"""How many folders are looked at."""

MOST_RUNS = 2_000
"""How many runs are shown."""

SECONDS = 1.0
"""How long a list of runs is good."""


class Library:
    """The runs in a folder.

    Parameters
    ----------
    folder
        The results folder: a run itself, or a folder of runs, at any depth up to 5.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = evaluate(SEA(n_rows=100), NoChange(), journal=folder / "sea")
    >>> [run.name for run in Library(folder).runs()]
    ['sea']
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            msg = f"{folder} is no folder; give the folder of results that runs write with --out"
            raise StreamgaugeError(msg)
        self.cache = Cache()
        self._runs: list[Run] = []
        self._looked, self._lock = 0.0, Lock()

    def runs(self) -> list[Run]:
        """List the runs; looks again at most once a second."""
        with self._lock:
            if time.monotonic() - self._looked > SECONDS or not self._looked:
                self._runs = [self._run(path) for path in self._found()]
                self._looked = time.monotonic()
            return self._runs

    def summaries(self) -> list[dict[str, Any]]:
        """Tell the main facts of each run: those that go on first, then the newest."""
        told = [run.summary() for run in self.runs()]
        return sorted(told, key=lambda facts: (facts["state"] != "running", -(facts["started"] or 0.0), facts["id"]))

    def run(self, name: str) -> Run:
        """Find a run by its name, the path in this folder; refuses whatever is outside of it."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
            raise _no_run(name)
        inside = (self.folder / path).resolve()
        if not inside.is_relative_to(self.folder) or not _is_run(inside):
            raise _no_run(name)
        return self._run(inside)

    def _run(self, path: Path) -> Run:
        return Run(path, path.relative_to(self.folder).as_posix(), self.cache)

    def _found(self) -> list[Path]:
        found = []
        for path in self._folders():
            if _is_run(path):
                found.append(path)
                if len(found) == MOST_RUNS:
                    break
        return found

    def _folders(self) -> Iterator[Path]:
        """Walk the folders, those of runs without what is in them; links are not followed."""
        seen, waiting = 0, [(self.folder, 0)]
        while waiting and seen < MOST_FOLDERS:
            path, depth = waiting.pop()
            seen += 1
            yield path
            if depth < DEEPEST and (depth == 0 or not _is_run(path)):
                waiting += [(inner, depth + 1) for inner in _inner(path)]


def _inner(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            named = (entry for entry in entries if not entry.name.startswith(".") and entry.name != files.FOLDER)
            return sorted((Path(entry.path) for entry in named if entry.is_dir(follow_symlinks=False)), reverse=True)
    except OSError:
        return []


def _is_run(path: Path) -> bool:
    return (path / files.FOLDER / files.ABOUT).is_file() or (path / "manifest.json").is_file()


def _no_run(name: str) -> StreamgaugeError:
    return StreamgaugeError(f"there is no run {name!r} in the results folder")
