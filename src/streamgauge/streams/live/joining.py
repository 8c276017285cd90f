"""Join of rows and labels by key, in bounded memory."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import UNLABELLED
from streamgauge.streams.live.decoding import Columns

__all__ = ["EarlyLabel", "Join", "RecentKeys", "RejectedLabel", "Rejection"]


@dataclass(frozen=True)
class Rejection:
    """An event that the join rejects: its index among the columns, the reason in one word, and in detail."""

    index: int
    reason: str
    why: str


@dataclass(frozen=True)
class RejectedLabel:
    """A label that has waited for its row in vain: its key and class, the reason in one word, and in detail."""

    key: bytes
    code: int
    reason: str
    why: str


@dataclass(frozen=True)
class EarlyLabel:
    """A label that waits for its row."""

    code: int
    received: float
    waiting_since: float


class RecentKeys:
    """The most recent keys: at least `capacity` of them and at most twice as many.

    Examples
    --------
    >>> keys = RecentKeys(2)
    >>> keys.add([b"a", b"b", b"c"])
    >>> b"c" in keys, b"z" in keys
    (True, False)
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._young: dict[bytes, None] = {}
        self._old: dict[bytes, None] = {}

    def __contains__(self, key: bytes) -> bool:
        return key in self._young or key in self._old

    def add(self, keys: Iterable[bytes]) -> None:
        """Remember keys."""
        for key in keys:
            self._young[key] = None
            if len(self._young) >= self._capacity:
                self._old, self._young = self._young, {}

    def save(self) -> tuple[list[bytes], list[bytes]]:
        """Return the older and the younger keys."""
        return list(self._old), list(self._young)

    def load(self, old: list[bytes], young: list[bytes]) -> None:
        """Restore saved keys."""
        self._old, self._young = dict.fromkeys(old), dict.fromkeys(young)


class Join:
    """Buffer of rows that wait for their labels and labels that wait for their rows; rows leave in order of arrival.

    A label belongs to its row if the two were received within `patience` of each other, by the clock of their sources.
    A row expires, and leaves without a label, once the watermark of the labels has passed all that could be its own;
    or, if no more labels arrive, once it has waited for `patience` by the local clock.

    Parameters
    ----------
    n_attributes
        Number of attributes of a row.
    patience
        How many seconds a row waits for its label, and a label for its row.
    most_waiting
        The most rows, and the most labels, that may wait; callers must respect `room`.

    Examples
    --------
    >>> def events(keys, y):
    ...     n, y = len(keys), np.array(y, dtype=np.int32)
    ...     return Columns(np.arange(n), np.ones((n, 1)), y, None, None, keys, np.zeros(n), [])
    >>> join = Join(1, patience=60.0, most_waiting=1000)
    >>> _ = join.add_rows(events([b"a", b"b"], [-1, -1]))
    >>> _ = join.add_labels(events([b"b", b"a"], [1, 0]))
    >>> join.take(10).y.tolist()
    [0, 1]
    """

    def __init__(self, n_attributes: int, patience: float, most_waiting: int) -> None:
        self.patience, self._most_waiting = patience, most_waiting
        self._rows = _build_empty(n_attributes)
        self._waiting_since = np.empty(0)
        self._is_ready = np.empty(0, dtype=np.bool_)
        self._first_number = 0  # the sequence number of the first waiting row
        self._number_by_key: dict[bytes, int] = {}
        self._early: dict[bytes, EarlyLabel] = {}
        self._mismatched: list[RejectedLabel] = []
        self._labelled = RecentKeys(most_waiting)
        self._expired = RecentKeys(most_waiting)
        self._row_watermark = self._label_watermark = -np.inf

    @property
    def room(self) -> tuple[int, int]:
        """How many more rows, and how many more labels, may wait."""
        return self._most_waiting - len(self._rows.y), self._most_waiting - len(self._early)

    def add_rows(self, rows: Columns, watermark: float = -np.inf) -> list[Rejection]:
        """Add rows and return the rejected ones: those whose key has been seen before."""
        rejections: list[Rejection] = []
        accepted: list[int] = []
        codes = rows.y.copy()
        now = time.monotonic()
        next_number = self._first_number + len(self._rows.y)
        for i, key in enumerate(rows.keys or []):
            if key in self._number_by_key or key in self._labelled or key in self._expired:
                rejections.append(Rejection(i, "duplicate", "a row with this key was received before"))
                continue
            self._number_by_key[key] = next_number + len(accepted)
            accepted.append(i)
            early = self._early.pop(key, None)
            if early is None:
                continue
            if abs(rows.received[i] - early.received) <= self.patience:
                codes[i] = early.code
            elif early.received > rows.received[i]:  # read before its row, though it was received long after it
                self._mismatched.append(RejectedLabel(key, early.code, "late", self._late))
            else:
                self._mismatched.append(RejectedLabel(key, early.code, "unmatched", self._too_early))
        rows = replace(rows, y=codes)
        if rejections:
            rows = rows.select(np.array(accepted, dtype=np.intp))
        self._rows = _append(self._rows, rows)
        self._waiting_since = np.append(self._waiting_since, np.full(len(rows.y), now))
        self._is_ready = np.append(self._is_ready, rows.y != UNLABELLED)
        self._row_watermark = max(self._row_watermark, watermark)
        return rejections

    def add_labels(self, labels: Columns, watermark: float = -np.inf) -> list[Rejection]:
        """Add labels and return the rejected ones: duplicate, late or unmatched labels."""
        rejections: list[Rejection] = []
        y, received = self._rows.y, self._rows.received
        now = time.monotonic()
        for i, (key, code) in enumerate(zip(labels.keys or [], labels.y.tolist(), strict=True)):
            number = self._number_by_key.get(key)
            if number is None:
                self._add_early(i, key, EarlyLabel(code, float(labels.received[i]), now), rejections)
                continue
            row = number - self._first_number
            if y[row] != UNLABELLED:
                rejections.append(Rejection(i, "duplicate", "a label with this key was received before"))
            elif self._is_ready[row] or labels.received[i] > received[row] + self.patience:
                rejections.append(Rejection(i, "late", self._late))
            elif labels.received[i] < received[row] - self.patience:
                rejections.append(Rejection(i, "unmatched", self._too_early))
            else:
                y[row], self._is_ready[row] = code, True
        self._label_watermark = max(self._label_watermark, watermark)
        return rejections

    def _add_early(self, index: int, key: bytes, label: EarlyLabel, rejections: list[Rejection]) -> None:
        if key in self._early or key in self._labelled:
            rejections.append(Rejection(index, "duplicate", "a label with this key was received before"))
        elif key in self._expired:
            rejections.append(Rejection(index, "late", self._late))
        else:
            self._early[key] = label

    @property
    def _late(self) -> str:
        return f"its row waited for {self.patience:g} seconds and was handed out without it"

    @property
    def _too_early(self) -> str:
        return f"its row was received more than {self.patience:g} seconds after it"

    def restart_clock(self) -> None:
        """Restart the waiting times by the local clock."""
        now = time.monotonic()
        self._waiting_since[:] = now
        self._early = {key: replace(label, waiting_since=now) for key, label in self._early.items()}

    def expire(self, *, no_more_rows: bool, no_more_labels: bool) -> list[RejectedLabel]:
        """Mark rows that have waited too long as ready; return labels that have waited too long, or came too late.

        Parameters
        ----------
        no_more_rows, no_more_labels
            Whether none have arrived for `patience`, so that waiting times by the local clock count.
        """
        overdue = self._rows.received < self._label_watermark - self.patience
        if no_more_labels:
            overdue |= self._waiting_since < time.monotonic() - self.patience
        if max(self.room) <= 0:  # a deadlock: each side waits for events that the other has no room for
            overdue[: max(1, self._most_waiting // 4)] = True
        self._is_ready |= overdue
        rejected, self._mismatched = self._mismatched, []
        return rejected + self._expire_labels(no_more_rows=no_more_rows)

    def _expire_labels(self, *, no_more_rows: bool) -> list[RejectedLabel]:
        expired = []
        oldest_allowed = time.monotonic() - self.patience if no_more_rows else -np.inf
        for key, early in self._early.items():  # in order of arrival
            if early.received >= self._row_watermark - self.patience and early.waiting_since >= oldest_allowed:
                break
            expired.append(RejectedLabel(key, early.code, "unmatched", "its row was not received"))
        for label in expired:
            del self._early[label.key]
        return expired

    def take(self, limit: int) -> Columns:
        """Remove and return the first rows, up to the first that still waits for its label."""
        waiting = np.flatnonzero(~self._is_ready)
        n = min(limit, int(waiting[0]) if len(waiting) else len(self._is_ready))
        rows = self._rows
        taken, self._rows = rows.select(np.arange(n)), rows.select(np.arange(n, len(rows.y)))
        self._waiting_since, self._is_ready = self._waiting_since[n:], self._is_ready[n:]
        self._first_number += n
        for key, code in zip(taken.keys or [], taken.y.tolist(), strict=True):
            del self._number_by_key[key]
            (self._expired if code == UNLABELLED else self._labelled).add((key,))
        return taken

    def save(self) -> dict[str, Any]:
        """Return the state, as arrays and lists of keys by name."""
        rows, early = self._rows, self._early
        columns = {"x": rows.x, "y": rows.y, "received": rows.received, "ready": self._is_ready}
        columns |= {
            name: column for name, column in (("weight", rows.weight), ("time", rows.time)) if column is not None
        }
        columns["early_code"] = np.array([label.code for label in early.values()], dtype=np.int32)
        columns["early_received"] = np.array([label.received for label in early.values()], dtype=np.float64)
        columns["until"] = np.array([self._row_watermark, self._label_watermark])
        keys = {"keys": rows.keys or [], "early": list(early)}
        keys["done_old"], keys["done_young"] = self._labelled.save()
        keys["given_up_old"], keys["given_up_young"] = self._expired.save()
        return columns | keys

    def load(self, saved: dict[str, Any]) -> None:
        """Restore a saved state."""
        n, now = len(saved["y"]), time.monotonic()
        self._rows = Columns(
            event_index=np.zeros(n, dtype=np.int64),
            x=saved["x"],
            y=saved["y"],
            weight=saved.get("weight"),
            time=saved.get("time"),
            keys=saved["keys"],
            received=saved["received"],
            faults=[],
        )
        self._is_ready, self._waiting_since, self._first_number = saved["ready"], np.full(n, now), 0
        self._number_by_key = {key: number for number, key in enumerate(saved["keys"])}
        labels = zip(saved["early_code"].tolist(), saved["early_received"].tolist(), strict=True)
        self._early = {key: EarlyLabel(*label, now) for key, label in zip(saved["early"], labels, strict=True)}
        self._labelled.load(saved["done_old"], saved["done_young"])
        self._expired.load(saved["given_up_old"], saved["given_up_young"])
        self._row_watermark, self._label_watermark = saved["until"].tolist()


def _build_empty(n_attributes: int) -> Columns:
    return Columns(
        event_index=np.empty(0, dtype=np.int64),
        x=np.empty((0, n_attributes)),
        y=np.empty(0, dtype=np.int32),
        weight=None,
        time=None,
        keys=[],
        received=np.empty(0),
        faults=[],
    )


def _append(first: Columns, second: Columns) -> Columns:
    if not len(first.y):
        return replace(second, faults=[])
    return Columns(
        event_index=np.append(first.event_index, second.event_index),
        x=np.concatenate([first.x, second.x]),
        y=np.append(first.y, second.y),
        weight=_append_optional(first.weight, second.weight, len(first.y)),
        time=_append_optional(first.time, second.time, len(first.y)),
        keys=[*(first.keys or []), *(second.keys or [])],
        received=np.append(first.received, second.received),
        faults=[],
    )


def _append_optional(
    first: NDArray[np.float64] | None, second: NDArray[np.float64] | None, n: int
) -> NDArray[np.float64] | None:
    """Append a column to one of `n` values; NaN stands for the values of an absent first column."""
    if second is None:
        return None
    return np.append(np.full(n, np.nan) if first is None else first, second)
