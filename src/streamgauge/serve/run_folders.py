"""The runs in a results folder, named by their path in it; nothing outside the folder is accessible."""

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import Any

from streamgauge._engine.journal import format as files
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.curve_sources import Cache
from streamgauge.serve.runs import Run

__all__ = ["RunFolders"]

MAX_DEPTH = 5
"""Depth of folders to which runs are searched."""

MAX_FOLDERS = 20_000
"""Largest number of folders searched."""

MAX_RUNS = 2_000
"""Largest number of runs shown."""

LIST_VALID_SECONDS = 1.0
"""Seconds for which a list of runs is valid."""


class RunFolders:
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
    >>> [run.name for run in RunFolders(folder).list_runs()]
    ['sea']
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).resolve()
        if not self.folder.is_dir():
            msg = f"{folder} is not a folder; give the results folder that runs write to with --out"
            raise StreamgaugeError(msg)
        self.cache = Cache()
        self._runs: list[Run] = []
        self._searched, self._lock = 0.0, Lock()

    def is_readable(self) -> bool:
        """Return whether the folder can still be read."""
        return os.access(self.folder, os.R_OK | os.X_OK)

    def list_runs(self) -> list[Run]:
        """Return the runs; the folder is searched at most once a second."""
        with self._lock:
            if time.monotonic() - self._searched > LIST_VALID_SECONDS or not self._searched:
                runs = (path for path in self._walk() if _is_run(path))
                self._runs = [self._make_run(path) for path in islice(runs, MAX_RUNS)]
                self._searched = time.monotonic()
            return self._runs

    def list_summaries(self) -> list[dict[str, Any]]:
        """Return the main facts of each run: active runs first, then the newest."""
        summaries = [run.summarise() for run in self.list_runs()]
        return sorted(summaries, key=lambda run: (run["state"] != "running", -(run["started"] or 0.0), run["id"]))

    def find_run(self, name: str) -> Run:
        """Return the run of a name, its path in this folder; raises for anything outside the folder."""
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
            raise _make_error(name)
        inside = self.folder / path
        try:
            is_run = inside.resolve() == inside and _is_run(inside)  # else there is a link on the way
        except (OSError, ValueError):  # too long, or no text that a path can have
            is_run = False
        if not is_run:
            raise _make_error(name)
        return self._make_run(inside)

    def _make_run(self, path: Path) -> Run:
        return Run(path, path.relative_to(self.folder).as_posix(), self.cache)

    def _walk(self) -> Iterator[Path]:
        """Yield the folders, but none inside a run; links are not followed."""
        n_folders, queue = 0, [(self.folder, 0)]
        while queue and n_folders < MAX_FOLDERS:
            path, depth = queue.pop()
            n_folders += 1
            yield path
            if depth < MAX_DEPTH and (depth == 0 or not _is_run(path)):
                queue += [(inner, depth + 1) for inner in _list_folders(path)]


def _list_folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            visible = (entry for entry in entries if not entry.name.startswith(".") and entry.name != files.FOLDER)
            return sorted((Path(entry.path) for entry in visible if entry.is_dir(follow_symlinks=False)), reverse=True)
    except OSError:
        return []


def _is_run(path: Path) -> bool:
    return (path / files.FOLDER / files.ABOUT).is_file() or (path / "manifest.json").is_file()


def _make_error(name: str) -> StreamgaugeError:
    shown = name if len(name) <= 200 else f"{name[:200]}..."
    return StreamgaugeError(f"there is no run {shown!r} in the results folder")
