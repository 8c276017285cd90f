"""The readings of a gauge so far, in bounded memory."""

from collections import Counter, deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.collector import Progress
from streamgauge.records import Alarm
from streamgauge.records.columns import pad_classes
from streamgauge.records.serialise import pack_columns, unpack_columns

__all__ = ["MAX_READINGS", "ReadingHistory"]

MAX_READINGS = 4096
"""The most readings that are kept; then every second one is dropped, and later ones are taken half as densely."""

MAX_ALARMS = 10_000
"""The most alarms that are kept, the newest."""

COLUMNS = ("rows", "values", "labels", "times")
CONFUSIONS = ("confusion_rows", "confusions")


class ReadingHistory:
    """The readings, confusion matrices and alarms of a gauge.

    Parameters
    ----------
    every
        The number of rows between two readings.

    Examples
    --------
    >>> history = ReadingHistory(10)
    >>> history.add(Progress(20, np.array([10, 20]), np.zeros((2, 1, 1, 1, 1))))
    >>> [part.rows.tolist() for part in history.list_parts(2)]
    [[10, 20]]
    """

    def __init__(self, every: int) -> None:
        self._every, self._stride = every, 1
        self._parts: list[dict[str, NDArray[Any] | None]] = []
        self._n_readings = 0
        self.alarms: deque[Alarm] = deque(maxlen=MAX_ALARMS)
        """The newest alarms, in the order of the rows."""
        self.n_alarms: Counter[tuple[str, str, str]] = Counter()
        """The number of all alarms by model, detector and kind."""

    def add(self, progress: Progress) -> None:
        """Add the readings and alarms of a batch."""
        self.alarms.extend(progress.alarms)
        self.n_alarms.update((alarm.learner, alarm.detector, alarm.kind) for alarm in progress.alarms)
        if not len(progress.rows):
            return
        self._parts.append({name: getattr(progress, name) for name in (*COLUMNS, *CONFUSIONS)})
        self._n_readings += len(progress.rows)
        if self._n_readings > MAX_READINGS:
            self._thin()

    def _thin(self) -> None:
        """Join all parts into one and keep the readings at multiples of a stride that leaves few enough."""
        joined = self._join(_find_most_classes(self._parts))
        rows = joined["rows"]
        kept = np.ones(len(rows), dtype=np.bool_)  # type: ignore[arg-type]
        while np.count_nonzero(kept) > MAX_READINGS // 2:
            self._stride *= 2
            kept = np.equal(np.mod(rows, self._every * self._stride), 0)  # type: ignore[arg-type]
            kept[-1] = True
        for name in COLUMNS:
            column = joined[name]
            joined[name] = None if column is None else column[kept]
        self._parts, self._n_readings = [joined], int(np.count_nonzero(kept))

    def _join(self, n_classes: int) -> dict[str, NDArray[Any] | None]:
        joined: dict[str, NDArray[Any] | None] = {}
        for name in (*COLUMNS, *CONFUSIONS):
            columns = [_pad(name, part[name], n_classes) for part in self._parts]
            known = [column for column in columns if column is not None]
            is_whole = len(known) == len(columns) or name in CONFUSIONS
            joined[name] = np.concatenate(known) if known and is_whole else None
        return joined

    def list_parts(self, n_classes: int) -> list[Progress]:
        """Return all readings and alarms as the progress of one batch, for a number of classes; empty without any."""
        if not self._parts:
            return []
        columns: dict[str, Any] = self._join(n_classes)
        return [Progress(n_rows=int(columns["rows"][-1]), alarms=tuple(self.alarms), **columns)]

    def clear(self) -> None:
        """Drop all readings and alarms."""
        self._parts, self._n_readings, self._stride = [], 0, 1
        self.alarms.clear()

    def save(self) -> bytes:
        """Return the whole state."""
        columns = self._join(_find_most_classes(self._parts)) if self._parts else {}
        numbers = [[*names, n] for names, n in self.n_alarms.items()]
        alarms = [[alarm.row, alarm.learner, alarm.fold, alarm.detector, alarm.kind] for alarm in self.alarms]
        return pack_columns("readings", {"stride": self._stride, "alarms": alarms, "n_alarms": numbers}, columns)

    def load(self, state: bytes) -> None:
        """Restore a saved state."""
        facts, columns = unpack_columns("readings", state)
        self._stride = facts["stride"]
        self._parts = [columns] if columns else []
        self._n_readings = len(columns["rows"]) if columns else 0
        self.alarms.extend(Alarm(*alarm) for alarm in facts["alarms"])
        self.n_alarms = Counter({(model, detector, kind): n for model, detector, kind, n in facts["n_alarms"]})


def _find_most_classes(parts: list[dict[str, NDArray[Any] | None]]) -> int:
    """Return the number of classes of the last part that says it."""
    labels = [part["labels"] for part in parts if part["labels"] is not None]
    return labels[-1].shape[1] - 3 if labels else 0


def _pad(name: str, column: NDArray[Any] | None, n_classes: int) -> NDArray[Any] | None:
    """Return a column of a part with room for more classes."""
    if column is None or name not in ("labels", "confusions") or not n_classes:
        return column
    if name == "labels":
        return pad_classes(column, n_classes, last=3)
    return pad_classes(pad_classes(column, n_classes, axis=-2), n_classes, last=1)
