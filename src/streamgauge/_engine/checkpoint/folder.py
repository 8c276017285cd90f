"""A folder of checkpoints: the last two are kept, and a damaged one never stands in the way of the one before it."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamgauge._engine.checkpoint.container import Checkpoint, decoded, encoded, secret
from streamgauge.errors import CheckpointWarning, StreamgaugeError

__all__ = ["Folder"]

N_KEPT = 2
_NAME = "rows-{:020d}.checkpoint"


class Folder:
    """Writes and finds the checkpoints of one run.

    Parameters
    ----------
    path
        The folder, which is made where it is missing.

    Examples
    --------
    >>> import tempfile
    >>> folder = Folder(tempfile.mkdtemp())
    >>> for n_rows in (100, 200, 300):
    ...     folder.write(Checkpoint(n_rows, {"stream": "SEA()"}, {}, {}))
    >>> [path.name for path in folder.newest_first()]
    ['rows-00000000000000000300.checkpoint', 'rows-00000000000000000200.checkpoint']
    >>> folder.newest({"stream": "SEA()"}).n_rows
    300
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out while the block runs; a process that is killed leaves no lock behind."""
        with _telling(self.path, "use"):
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("ab")
        with lock:
            if not _has_locked(lock.fileno()):
                msg = f"another run is writing its checkpoints into {self.path}: give another folder"
                raise StreamgaugeError(msg)
            for left in self.path.glob(".*.tmp"):
                left.unlink(missing_ok=True)
            yield

    def name_of(self, n_rows: int) -> str:
        """Give the name of the checkpoint after so many rows."""
        return _NAME.format(n_rows)

    def newest_first(self) -> list[Path]:
        """Give the files of all checkpoints, the newest first."""
        return sorted(self.path.glob(_NAME.replace("{:020d}", "*")), reverse=True)

    def newest(
        self, run: Mapping[str, Any], usable: Callable[[Checkpoint], None] = lambda _: None
    ) -> Checkpoint | None:
        """Find the newest checkpoint of a run that is whole; None where there is none at all.

        Each that is passed over is told by a `CheckpointWarning`; where none is left, that is an error.

        Parameters
        ----------
        run
            What the run is.
        usable
            Raises where something that a checkpoint needs is missing.
        """
        found = self.newest_first()
        reasons = []
        for path in found:
            try:
                checkpoint = decoded(path.read_bytes(), secret(make=False))
                _require_same(checkpoint.run, run)
                usable(checkpoint)
            except (StreamgaugeError, OSError) as error:
                reasons.append((path, str(error)))
            else:
                for passed_over, reason in reasons:
                    msg = f"{passed_over}: {reason}; the checkpoint before it is used, of row {checkpoint.n_rows}"
                    warnings.warn(msg, CheckpointWarning, stacklevel=2)
                return checkpoint
        if not found:
            return None
        told = {reason: path for path, reason in reversed(reasons)}
        listed = "; ".join(f"{path}: {reason}" for reason, path in reversed(told.items()))
        msg = f"no checkpoint can be used: {listed}. To start anew, give another folder or empty this one"
        raise StreamgaugeError(msg)

    def write(self, checkpoint: Checkpoint, *, marked: bool = False) -> None:
        """Write a checkpoint so that it is there whole or not at all, and drop those before the last two."""
        path = self.path / _NAME.format(checkpoint.n_rows)
        temporary = path.with_name(f".{path.name}.tmp")
        data = encoded(checkpoint, secret(make=True) if marked else None)
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync(self.path)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise self.failed(error) from None
        for old in self.newest_first()[N_KEPT:]:
            old.unlink(missing_ok=True)

    def failed(self, error: OSError) -> StreamgaugeError:
        """Make the error of a checkpoint that could not be written."""
        before = self.newest_first()
        kept = f"the last good one is {before[0].name}" if before else "there is none before it"
        return StreamgaugeError(f"cannot write a checkpoint into {self.path}: {error.strerror or error}; {kept}")


@contextmanager
def _telling(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"cannot {what} the folder of checkpoints {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None


def _require_same(written: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Raise where a checkpoint is of another run, and say what differs."""
    found = _difference(written, run)
    if found is not None:
        name, there, here = found
        msg = f"it is of another run: {name} is {_short(there)} there and {_short(here)} here"
        raise StreamgaugeError(msg)


def _difference(there: object, here: object, name: str = "") -> tuple[str, object, object] | None:
    """Find the first fact that differs: its name and both values."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        parts = [_difference(there.get(part), here.get(part), f"{name} {part}".strip()) for part in {**there, **here}]
        return next((part for part in parts if part is not None), None)
    return None if there == here else (name, there, here)


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _has_locked(file: int) -> bool:
    try:
        import fcntl  # noqa: PLC0415  (not on Windows, where nothing is locked)
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _sync(folder: Path) -> None:
    """Let the names in a folder be safe, too."""
    if os.name == "nt":  # where a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
