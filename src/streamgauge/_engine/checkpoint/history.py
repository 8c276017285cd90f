"""The progress of a run: an append-only file beside the checkpoints, so that their cost does not grow."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge._engine.checkpoint.record_file import check_records, read_records, to_record
from streamgauge._engine.collector import Progress
from streamgauge.records import Alarm, EarlierVerdict, ModelVerdict, Verdict

__all__ = ["ProgressHistory"]

KIND = "progress"
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
        for facts, columns in read_records(self._path, KIND, n_bytes):
            yield _from_record(facts, columns)

    def check(self, n_bytes: int) -> None:
        """Raise if the first `n_bytes` are damaged or missing."""
        check_records(self._path, KIND, n_bytes)

    def truncate(self, n_bytes: int) -> None:
        """Continue after the first `n_bytes`; what was written after them belongs to no checkpoint."""
        if n_bytes:
            os.truncate(self._path, n_bytes)
        else:
            self._path.unlink(missing_ok=True)
        self.n_bytes = n_bytes


def _to_record(progress: Progress) -> bytes:
    differences = progress.differences
    facts = {
        "n_rows": progress.n_rows,
        "alarms": [astuple(alarm) for alarm in progress.alarms],
        "new_verdicts": [(isinstance(verdict, Verdict), asdict(verdict)) for verdict in progress.new_verdicts],
        "compared": list(differences),
    }
    columns = {name: getattr(progress, name) for name in COLUMNS}
    columns["differences"] = np.array(list(differences.values()), dtype=np.float64)
    return to_record(KIND, facts, columns)


def _from_record(facts: dict[str, Any], columns: dict[str, Any]) -> Progress:
    return Progress(
        facts["n_rows"],
        alarms=tuple(Alarm(*alarm) for alarm in facts["alarms"]),
        new_verdicts=tuple(
            Verdict(**_restore(verdict)) if of_pair else ModelVerdict(**_restore(verdict))
            for of_pair, verdict in facts["new_verdicts"]
        ),
        logged_differences={
            tuple(names): tuple(values)
            for names, values in zip(facts["compared"], columns["differences"].tolist(), strict=True)
        },
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
