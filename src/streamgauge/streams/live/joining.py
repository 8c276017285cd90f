"""Rows and labels that come apart, joined by key in bounded memory."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import UNLABELLED
from streamgauge.streams.live.decoding import Columns

__all__ = ["Early", "Join", "RecentKeys", "Refused"]


@dataclass(frozen=True)
class Refused:
    """An event that the join has no use for: which of those it was given, the reason, and more of it in words."""

    event: int
    reason: str
    why: str


@dataclass(frozen=True)
class Early:
    """A label that waits for its row."""

    code: int
    received: float
    waiting_since: float


class RecentKeys:
    """Remembers the last keys, at least so many and at most twice as many.

    Examples
    --------
    >>> keys = RecentKeys(2)
    >>> keys.add([b"a", b"b", b"c"])
    >>> b"c" in keys, b"z" in keys
    (True, False)
    """

    def __init__(self, least: int) -> None:
        self._least = least
        self._young: dict[bytes, None] = {}
        self._old: dict[bytes, None] = {}

    def __contains__(self, key: bytes) -> bool:
        return key in self._young or key in self._old

    def add(self, keys: Iterable[bytes]) -> None:
        """Remember keys."""
        for key in keys:
            self._young[key] = None
            if len(self._young) >= self._least:
                self._old, self._young = self._young, {}

    @property
    def kept(self) -> list[list[bytes]]:
        """What it remembers: older keys, younger keys."""
        return [list(self._old), list(self._young)]

    def take_over(self, kept: list[list[bytes]]) -> None:
        """Remember what another one did."""
        self._old, self._young = (dict.fromkeys(keys) for keys in kept)


class Join:
    """Holds rows until their labels come, and labels until their rows do; rows leave in the order in which they came.

    A label belongs to its row where the two came within `patience` of each other, by the clock of their sources. A row
    is given up, and leaves without a label, once all labels were seen that could be its own; or, where no more labels
    come, once it has waited so long by the clock on the wall.

    Parameters
    ----------
    n_attributes
        How many values a row has.
    patience
        How many seconds a row waits for its label, and a label for its row.
    most_waiting
        How many rows, and how many labels, may wait; whoever fills it must ask for `room`.

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
        self.patience, self._most = patience, most_waiting
        self._rows = _empty(n_attributes)
        self._since = np.empty(0)
        self._ready = np.empty(0, dtype=np.bool_)
        self._first = 0  # the number of the first row that waits
        self._number: dict[bytes, int] = {}
        self._early: dict[bytes, Early] = {}
        self._done = RecentKeys(most_waiting)
        self._given_up = RecentKeys(most_waiting)
        self._rows_until = self._labels_until = -np.inf

    @property
    def room(self) -> tuple[int, int]:
        """How many more rows, and labels, may wait."""
        return self._most - len(self._rows.y), self._most - len(self._early)

    def add_rows(self, rows: Columns, until: float = -np.inf) -> list[Refused]:
        """Take in rows, all that came until a time; those whose key came before are refused."""
        refused: list[Refused] = []
        kept: list[int] = []
        codes = rows.y.copy()
        now = time.monotonic()
        next_number = self._first + len(self._rows.y)
        for i, key in enumerate(rows.keys or []):
            if key in self._number or key in self._done or key in self._given_up:
                refused.append(Refused(i, "duplicate", "a row with this key came before"))
                continue
            self._number[key] = next_number + len(kept)
            kept.append(i)
            early = self._early.get(key)
            if early is not None and abs(rows.received[i] - early.received) <= self.patience:
                codes[i] = early.code
                del self._early[key]
        rows = replace(rows, y=codes) if not refused else replace(rows, y=codes).only(np.array(kept, dtype=np.intp))
        self._rows = _joined(self._rows, rows)
        self._since = np.append(self._since, np.full(len(rows.y), now))
        self._ready = np.append(self._ready, rows.y != UNLABELLED)
        self._rows_until = max(self._rows_until, until)
        return refused

    def add_labels(self, labels: Columns, until: float = -np.inf) -> list[Refused]:
        """Take in labels, all that came until a time; those that come twice or too late are refused."""
        refused: list[Refused] = []
        y, received = self._rows.y, self._rows.received
        now = time.monotonic()
        for i, (key, code) in enumerate(zip(labels.keys or [], labels.y.tolist(), strict=True)):
            number = self._number.get(key)
            if number is None:
                self._keep_early(i, key, Early(code, float(labels.received[i]), now), refused)
                continue
            place = number - self._first
            if y[place] != UNLABELLED:
                refused.append(Refused(i, "duplicate", "a label with this key came before"))
            elif self._ready[place] or labels.received[i] > received[place] + self.patience:
                refused.append(Refused(i, "late", self._too_late))
            elif labels.received[i] < received[place] - self.patience:
                refused.append(Refused(i, "unmatched", f"its row came more than {self.patience:g} seconds after it"))
            else:
                y[place], self._ready[place] = code, True
        self._labels_until = max(self._labels_until, until)
        return refused

    def _keep_early(self, event: int, key: bytes, label: Early, refused: list[Refused]) -> None:
        if key in self._early or key in self._done:
            refused.append(Refused(event, "duplicate", "a label with this key came before"))
        elif key in self._given_up:
            refused.append(Refused(event, "late", self._too_late))
        else:
            self._early[key] = label

    @property
    def _too_late(self) -> str:
        return f"its row waited for {self.patience:g} seconds and left without it"

    def wait_anew(self) -> None:
        """Let what waits begin to wait now, by the clock on the wall."""
        now = time.monotonic()
        self._since[:] = now
        self._early = {key: replace(label, waiting_since=now) for key, label in self._early.items()}

    def give_up(self, *, no_more_rows: bool, no_more_labels: bool) -> list[tuple[bytes, int]]:
        """Give up what has waited too long; gives the labels whose rows did not come.

        Parameters
        ----------
        no_more_rows, no_more_labels
            Whether none have come for as long as one waits, so that the clock on the wall counts.
        """
        waited = self._rows.received < self._labels_until - self.patience
        if no_more_labels:
            waited |= self._since < time.monotonic() - self.patience
        if max(self.room) <= 0:  # each side waits for what stands behind the other
            waited[: max(1, self._most // 4)] = True
        self._ready |= waited
        return self._unmatched(no_more_rows=no_more_rows)

    def _unmatched(self, *, no_more_rows: bool) -> list[tuple[bytes, int]]:
        gone = []
        long_ago = time.monotonic() - self.patience if no_more_rows else -np.inf
        for key, label in self._early.items():  # in the order in which they came
            if label.received >= self._rows_until - self.patience and label.waiting_since >= long_ago:
                break
            gone.append((key, label.code))
        for key, _ in gone:
            del self._early[key]
        return gone

    def take(self, most: int) -> Columns:
        """Take the first rows, as far as they wait for nothing."""
        still = np.flatnonzero(~self._ready)
        n = min(most, int(still[0]) if len(still) else len(self._ready))
        rows = self._rows
        taken, self._rows = rows.only(np.arange(n)), rows.only(np.arange(n, len(rows.y)))
        self._since, self._ready = self._since[n:], self._ready[n:]
        self._first += n
        for key, code in zip(taken.keys or [], taken.y.tolist(), strict=True):
            del self._number[key]
            (self._given_up if code == UNLABELLED else self._done).add((key,))
        return taken

    def save(self) -> dict[str, Any]:
        """Give all of its state, as arrays and lists of keys by name."""
        rows, early = self._rows, self._early
        columns = {"x": rows.x, "y": rows.y, "received": rows.received, "ready": self._ready}
        columns |= {
            name: column for name, column in (("weight", rows.weight), ("time", rows.time)) if column is not None
        }
        columns["early_code"] = np.array([label.code for label in early.values()], dtype=np.int32)
        columns["early_received"] = np.array([label.received for label in early.values()], dtype=np.float64)
        columns["until"] = np.array([self._rows_until, self._labels_until])
        keys = {"keys": rows.keys or [], "early": list(early)}
        for name, recent in (("done", self._done), ("given_up", self._given_up)):
            keys[f"{name}_old"], keys[f"{name}_young"] = recent.kept
        return columns | keys

    def load(self, saved: dict[str, Any]) -> None:
        """Take over a state."""
        n, now = len(saved["y"]), time.monotonic()
        columns = (saved.get("weight"), saved.get("time"), saved["keys"], saved["received"])
        self._rows = Columns(np.zeros(n, dtype=np.int64), saved["x"], saved["y"], *columns, [])
        self._ready, self._since, self._first = saved["ready"], np.full(n, now), 0
        self._number = {key: number for number, key in enumerate(saved["keys"])}
        labels = zip(saved["early_code"].tolist(), saved["early_received"].tolist(), strict=True)
        self._early = {key: Early(*label, now) for key, label in zip(saved["early"], labels, strict=True)}
        self._done.take_over([saved["done_old"], saved["done_young"]])
        self._given_up.take_over([saved["given_up_old"], saved["given_up_young"]])
        self._rows_until, self._labels_until = saved["until"].tolist()


def _empty(n_attributes: int) -> Columns:
    nothing = np.empty(0)
    event, y = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    return Columns(event, np.empty((0, n_attributes)), y, None, None, [], nothing, [])


def _joined(one: Columns, other: Columns) -> Columns:
    if not len(one.y):
        return replace(other, faults=[])
    weight, time_ = (
        None if b is None else np.append(_filled(a, len(one.y)), b)
        for a, b in ((one.weight, other.weight), (one.time, other.time))
    )
    return Columns(
        np.append(one.event, other.event),
        np.concatenate([one.x, other.x]),
        np.append(one.y, other.y),
        weight,
        time_,
        [*(one.keys or []), *(other.keys or [])],
        np.append(one.received, other.received),
        [],
    )


def _filled(column: NDArray[np.float64] | None, n: int) -> NDArray[np.float64]:
    return np.full(n, np.nan) if column is None else column
