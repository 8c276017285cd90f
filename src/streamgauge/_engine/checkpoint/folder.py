"""A folder of checkpoints: the last two are kept, and a damaged one never hides the previous one."""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from streamgauge._engine.checkpoint.container import Checkpoint, decode, encode, load_secret
from streamgauge.errors import CheckpointWarning, StreamgaugeError
from streamgauge.records.locks import lock_folder
from streamgauge.records.manifest import RunManifest

__all__ = ["Folder"]

MAX_CHECKPOINTS = 2
_NAME = "rows-{:020d}.checkpoint"


class Folder:
    """Writes and finds the checkpoints of one run.

    Parameters
    ----------
    path
        The folder, which is created if it is missing.

    Examples
    --------
    >>> import tempfile
    >>> folder = Folder(tempfile.mkdtemp())
    >>> run = RunManifest.here(("tree",), (), (), {"stream": {"name": "SEA()"}})
    >>> for n_rows in (100, 200, 300):
    ...     folder.write(Checkpoint(n_rows, run, {}, {}))
    >>> [path.name for path in folder.list_newest_first()]
    ['rows-00000000000000000300.checkpoint', 'rows-00000000000000000200.checkpoint']
    >>> folder.find_newest(run).n_rows
    300
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder while the block runs; a killed process leaves no lock behind."""
        with lock_folder(self.path, "checkpoints"):
            yield

    def format_name(self, n_rows: int) -> str:
        """Return the file name of the checkpoint after a number of rows."""
        return _NAME.format(n_rows)

    def list_newest_first(self) -> list[Path]:
        """Return the files of all checkpoints, the newest first."""
        return sorted(self.path.glob(_NAME.replace("{:020d}", "*")), reverse=True)

    def find_newest(self, run: RunManifest, usable: Callable[[Checkpoint], None] = lambda _: None) -> Checkpoint | None:
        """Return the newest usable checkpoint of a run; None if the folder has no checkpoint.

        Each one that is skipped gives a `CheckpointWarning`; if none is usable, that is an error.

        Parameters
        ----------
        run
            The run that is to resume.
        usable
            Raises if something that a checkpoint needs is missing.
        """
        paths = self.list_newest_first()
        reasons = []
        for path in paths:
            try:
                checkpoint = decode(path.read_bytes(), load_secret(make=False))
                _require_same(checkpoint.run, run)
                usable(checkpoint)
            except (StreamgaugeError, OSError) as error:
                reasons.append((path, str(error)))
            else:
                for skipped, reason in reasons:
                    msg = f"{skipped}: {reason}; using the previous checkpoint, of row {checkpoint.n_rows}"
                    warnings.warn(msg, CheckpointWarning, stacklevel=2)
                return checkpoint
        if not paths:
            return None
        by_reason = {reason: path for path, reason in reversed(reasons)}
        listed = "; ".join(f"{path}: {reason}" for reason, path in reversed(by_reason.items()))
        msg = f"no checkpoint is usable: {listed}. To start from the first row, use another folder or empty this one"
        raise StreamgaugeError(msg)

    def write(self, checkpoint: Checkpoint, *, marked: bool = False) -> None:
        """Write a checkpoint atomically, and delete all but the last two."""
        path = self.path / _NAME.format(checkpoint.n_rows)
        temporary = path.with_name(f".{path.name}.tmp")
        data = encode(checkpoint, load_secret(make=True) if marked else None)
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(self.path)
        except OSError as error:
            with suppress(OSError):  # of a folder that has become read-only
                temporary.unlink()
            raise self.make_error(error) from None
        for old in self.list_newest_first()[MAX_CHECKPOINTS:]:
            with suppress(OSError):
                old.unlink()

    def make_error(self, error: OSError) -> StreamgaugeError:
        """Return the error for a checkpoint that could not be written."""
        before = self.list_newest_first()
        previous = f"the last good one is {before[0].name}" if before else "there is no earlier one"
        return StreamgaugeError(f"cannot write a checkpoint into {self.path}: {error.strerror or error}; {previous}")


def _require_same(written: RunManifest, run: RunManifest) -> None:
    """Raise if a checkpoint is of another run, with the first difference."""
    difference = _find_difference(written.identity, run.identity)
    if difference is not None:
        name, there, here = difference
        msg = f"it is of another run: {name} is {_shorten(there)} there and {_shorten(here)} here"
        raise StreamgaugeError(msg)


def _find_difference(there: object, here: object, name: str = "") -> tuple[str, object, object] | None:
    """Return the first fact that differs: its name and both values."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        parts = [
            _find_difference(there.get(part), here.get(part), f"{name} {part}".strip()) for part in {**there, **here}
        ]
        return next((part for part in parts if part is not None), None)
    return None if there == here else (name, there, here)


def _shorten(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _sync_folder(folder: Path) -> None:
    """Make the file names in a folder durable."""
    if os.name == "nt":  # where a folder cannot be opened
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
