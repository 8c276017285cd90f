"""The progress of a run: an append-only file beside the checkpoints, so that their cost does not grow."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from streamgauge._engine.collector import Progress
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, EarlierVerdict, ModelVerdict, Verdict
from streamgauge.records.serialise import pack_columns, unpack_columns

__all__ = ["ProgressHistory"]

COLUMNS = ("rows", "values", "costs", "labels", "times", "confusion_rows", "confusions")


class ProgressHistory:
    """The readings, costs, alarms and new verdicts of a run, batch by batch.

    Parameters
    ----------
    path
        The file; it is created with the first reading.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> history = ProgressHistory(Path(tempfile.mkdtemp()) / "progress.log")
    >>> size = history.append([Progress(100, np.array([50, 100]), np.zeros((2, 1, 1, 1, 1)))])
    >>> [progress.rows.tolist() for progress in history.read(size)]
    [[50, 100]]
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.n_bytes = 0

    def append(self, parts: Sequence[Progress]) -> int:
        """Append the progress of some batches durably; return the length of the file in bytes."""
        records = b"".join(_to_record(progress) for progress in parts if len(progress.rows) or progress.alarms)
        if records:
            with self._path.open("ab") as file:
                file.write(records)
                file.flush()
                os.fsync(file.fileno())
        self.n_bytes += len(records)
        return self.n_bytes

    def read(self, n_bytes: int) -> Iterator[Progress]:
        """Yield the progress in the first `n_bytes`; raise if they are damaged or missing."""
        if not n_bytes:
            return
        left = n_bytes
        try:
            with self._path.open("rb") as file:
                while left:
                    size = int.from_bytes(file.read(8), "little")
                    left -= 8 + size
                    if size == 0 or left < 0:
                        raise _damaged(self._path)
                    try:
                        progress = _from_record(file.read(size))
                    except StreamgaugeError:
                        raise _damaged(self._path) from None
                    yield progress
        except OSError as error:
            msg = f"cannot read {self._path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None

    def check(self, n_bytes: int) -> None:
        """Raise if the first `n_bytes` are damaged or missing."""
        for _ in self.read(n_bytes):
            pass

    def truncate(self, n_bytes: int) -> None:
        """Continue after the first `n_bytes`; what was written after them belongs to no checkpoint."""
        if n_bytes:
            os.truncate(self._path, n_bytes)
        else:
            self._path.unlink(missing_ok=True)
        self.n_bytes = n_bytes


def _damaged(path: Path) -> StreamgaugeError:
    return StreamgaugeError(f"the readings before it, in {path.name}, are damaged")


def _to_record(progress: Progress) -> bytes:
    facts = {
        "n_rows": progress.n_rows,
        "alarms": [astuple(alarm) for alarm in progress.alarms],
        "new_verdicts": [(isinstance(verdict, Verdict), asdict(verdict)) for verdict in progress.new_verdicts],
    }
    columns = {name: getattr(progress, name) for name in COLUMNS}
    state = pack_columns("progress", facts, columns)
    return len(state).to_bytes(8, "little") + state


def _from_record(state: bytes) -> Progress:
    facts, columns = unpack_columns("progress", state)
    return Progress(
        facts["n_rows"],
        alarms=tuple(Alarm(*alarm) for alarm in facts["alarms"]),
        new_verdicts=tuple(
            Verdict(**_restore(verdict)) if of_pair else ModelVerdict(**_restore(verdict))
            for of_pair, verdict in facts["new_verdicts"]
        ),
        **{name: columns[name] for name in COLUMNS},
    )


def _restore(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a verdict with the types that JSON lacks."""
    interval, earlier = facts["interval"], facts["earlier"]
    return {
        **facts,
        "interval": None if interval is None else tuple(interval),
        "earlier": None if earlier is None else EarlierVerdict(**earlier),
    }
