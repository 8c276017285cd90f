"""Locks on folders and temporary files; the system releases those of a killed process."""

import glob
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from streamgauge.errors import StreamgaugeError

__all__ = ["lock_folder", "open_temporary_folder", "remove_leftovers", "try_lock"]

_TEMPORARY = "streamgauge-"


@contextmanager
def lock_folder(folder: Path, what: str, *, patience: float = 0.0) -> Iterator[None]:
    """Keep other runs from writing the same into a folder while the block runs; remove what a killed one left.

    Parameters
    ----------
    folder
        The folder, which is created if missing.
    what
        What is written. Each has a lock of its own, so that one folder can hold several kinds of files.
    patience
        The seconds to wait for another run to end.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with lock_folder(folder, "results"), lock_folder(folder, "journal"):
    ...     sorted(path.name for path in folder.iterdir())
    ['.journal.lock', '.results.lock']
    >>> list(folder.iterdir())
    []
    """
    path = folder / f".{what}.lock"
    deadline = time.monotonic() + patience
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while (lock := try_lock(path)) is None and time.monotonic() < deadline:
            time.sleep(0.01)
    except OSError as error:
        msg = f"cannot write the {what} into {folder}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    if lock is None:
        msg = f"another run is writing its {what} into {folder}: use another folder, or wait until it has ended"
        raise StreamgaugeError(msg)
    with lock:
        try:
            remove_leftovers(folder)
            yield
        finally:
            with suppress(OSError):  # on Windows, where an open file cannot be removed
                path.unlink(missing_ok=True)


@contextmanager
def open_temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder for temporary files, which is removed in the end; remove those of killed processes.

    Parameters
    ----------
    parent
        The folder that it is in; None for that of temporary files.

    Examples
    --------
    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> with open_temporary_folder(parent) as folder:
    ...     _ = (folder / "rows").write_text("1,2")
    >>> list(parent.iterdir())
    []
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_dead_folders(parent)
    folder = parent / f"{_TEMPORARY}{token_hex(8)}"
    path = folder.with_suffix(".lock")
    while (lock := try_lock(path)) is None:  # another process has just found it without a lock
        time.sleep(0.01)
    try:
        with lock:
            folder.mkdir(mode=0o700)
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        path.unlink(missing_ok=True)


def _remove_dead_folders(parent: Path) -> None:
    """Remove the temporary folders of this user whose process is dead."""
    for path in parent.glob(f"{_TEMPORARY}*.lock"):
        with suppress(OSError):
            if not _is_own_file(path) or (lock := try_lock(path)) is None:
                continue
            with lock:
                if (again := try_lock(path)) is not None:  # a file system without locks
                    again.close()
                    continue
                shutil.rmtree(path.with_suffix(""), ignore_errors=True)
            path.unlink(missing_ok=True)


def _is_own_file(path: Path) -> bool:
    facts = path.lstat()
    return stat.S_ISREG(facts.st_mode) and (sys.platform == "win32" or facts.st_uid == os.getuid())


def try_lock(path: Path) -> BinaryIO | None:
    """Open a file, which is created if missing, and lock it until it is closed; None if another one has locked it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lock"
    >>> with try_lock(path):
    ...     try_lock(path) is None
    True
    """
    while True:
        file = path.open("ab")
        if not _try_lock(file.fileno()):
            file.close()
            return None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        file.close()  # its owner removed or renamed it meanwhile


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Remove the temporary files in a folder that no process has locked, or those of one file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / ".report.html.tmp").write_text("cut o")
    >>> remove_leftovers(folder)
    >>> list(folder.iterdir())
    []
    """
    for path in folder.glob(f".{glob.escape(name)}*.tmp"):
        with suppress(OSError):
            if path.is_file() and (lock := try_lock(path)) is not None:
                with lock:
                    path.unlink(missing_ok=True)


def _try_lock(file: int) -> bool:
    """Lock an open file; return False if it is locked. A file system without locks counts as free."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl  # noqa: PLC0415

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
