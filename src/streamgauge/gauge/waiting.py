"""Predictions that wait for their labels, and labels that wait for their predictions, by key."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from streamgauge.streams.live.joining import RecentKeys

__all__ = ["JoinCounts", "Prediction", "Row", "WaitingRows"]

Key = str | int

Row = tuple[int, tuple[int, ...], tuple[tuple[float, ...] | None, ...], float | None, float | None]
"""The code of the true class, of each model the code and the votes of its prediction, the weight and the time."""

Prediction = tuple[tuple[int, ...], tuple[tuple[float, ...] | None, ...], float | None, float | None]
"""A row without its true class."""


@dataclass
class JoinCounts:
    """What happened to predictions and labels that were pushed with a key.

    Parameters
    ----------
    joined
        Predictions whose label came.
    waiting, early
        Predictions that wait for their label, and labels that wait for their prediction.
    expired
        Predictions whose label did not come in time, or for which there was no room; they are not scored.
    late
        Labels that came after their prediction had expired.
    unmatched
        Labels whose prediction did not come in time.
    repeated
        Predictions and labels with a key that had come before; the first counts.

    Examples
    --------
    >>> JoinCounts(joined=3).joined
    3
    """

    joined: int = 0
    waiting: int = 0
    early: int = 0
    expired: int = 0
    late: int = 0
    unmatched: int = 0
    repeated: int = 0


@dataclass
class WaitingRows:
    """Predictions and labels by key, until the other of the two comes or they have waited too long.

    Parameters
    ----------
    patience
        How many seconds each of them waits.
    most_waiting
        The most predictions, and the most labels, that may wait; then the oldest expire.

    Examples
    --------
    >>> rows = WaitingRows(60.0, 1000)
    >>> rows.add_prediction("a", ((1,), (None,), None, None), now=0.0)
    >>> rows.add_label("a", 0, now=5.0)
    (0, (1,), (None,), None, None)
    >>> rows.add_label("a", 0, now=6.0), rows.counts.repeated
    (None, 1)
    """

    patience: float
    most_waiting: int
    counts: JoinCounts = field(default_factory=JoinCounts)

    def __post_init__(self) -> None:
        self._predictions: OrderedDict[Key, tuple[float, Prediction]] = OrderedDict()
        self._labels: OrderedDict[Key, tuple[float, int]] = OrderedDict()
        self._done: Any = RecentKeys(self.most_waiting)
        self._expired: Any = RecentKeys(self.most_waiting)

    def add_prediction(self, key: Key, prediction: Prediction, now: float) -> Row | None:
        """Add a prediction; return the row if its label is there already."""
        self.expire(now)
        if key in self._predictions or key in self._done or key in self._expired:
            self.counts.repeated += 1
            return None
        early = self._labels.pop(key, None)
        if early is not None:
            self.counts.early -= 1
            return self._join(key, early[1], prediction)
        self._predictions[key] = now, prediction
        self.counts.waiting += 1
        if len(self._predictions) > self.most_waiting:
            self._expire_prediction()
        return None

    def add_label(self, key: Key, code: int, now: float) -> Row | None:
        """Add a label; return the row if its prediction is there."""
        self.expire(now)
        waiting = self._predictions.pop(key, None)
        if waiting is not None:
            self.counts.waiting -= 1
            return self._join(key, code, waiting[1])
        if key in self._labels or key in self._done:
            self.counts.repeated += 1
        elif key in self._expired:
            self.counts.late += 1
        else:
            self._labels[key] = now, code
            self.counts.early += 1
            if len(self._labels) > self.most_waiting:
                self._drop_label()
        return None

    def _join(self, key: Key, code: int, prediction: Prediction) -> Row:
        self.counts.joined += 1
        self._done.add((key,))
        return code, *prediction

    def expire(self, now: float) -> None:
        """Drop what has waited longer than `patience`."""
        oldest = now - self.patience
        while self._predictions and next(iter(self._predictions.values()))[0] < oldest:
            self._expire_prediction()
        while self._labels and next(iter(self._labels.values()))[0] < oldest:
            self._drop_label()

    def _expire_prediction(self) -> None:
        key, _ = self._predictions.popitem(last=False)
        self._expired.add((key,))
        self.counts.waiting -= 1
        self.counts.expired += 1

    def _drop_label(self) -> None:
        self._labels.popitem(last=False)
        self.counts.early -= 1
        self.counts.unmatched += 1

    def merge(self, other: "WaitingRows", classes: list[int]) -> Iterable[Row]:
        """Add what waits in another buffer, whose classes have these codes here; yield the rows that are complete."""
        kept = ("joined", "expired", "late", "unmatched", "repeated")
        for name in kept:
            setattr(self.counts, name, getattr(self.counts, name) + getattr(other.counts, name))
        for keys in ("_done", "_expired"):
            for part in getattr(other, keys).save():
                getattr(self, keys).add(part)

        def rename(code: int) -> int:
            return code if code < 0 else classes[code]

        for key, (since, (codes, votes, weight, time)) in other._predictions.items():
            prediction = tuple(map(rename, codes)), tuple(_reorder(vote, classes) for vote in votes), weight, time
            row = self.add_prediction(key, prediction, since)
            yield from () if row is None else (row,)
        for key, (since, code) in other._labels.items():
            row = self.add_label(key, rename(code), since)
            yield from () if row is None else (row,)

    def save(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {
            "counts": vars(self.counts),
            "predictions": [[key, *waiting] for key, waiting in self._predictions.items()],
            "labels": [[key, *waiting] for key, waiting in self._labels.items()],
            "done": self._done.save(),
            "expired": self._expired.save(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        self.counts = JoinCounts(**state["counts"])
        self._predictions = OrderedDict(
            (key, (since, (tuple(codes), tuple(None if vote is None else tuple(vote) for vote in votes), weight, time)))
            for key, since, (codes, votes, weight, time) in state["predictions"]
        )
        self._labels = OrderedDict((key, (since, code)) for key, since, code in state["labels"])
        self._done.load(*state["done"])
        self._expired.load(*state["expired"])


def _reorder(votes: tuple[float, ...] | None, classes: list[int]) -> tuple[float, ...] | None:
    """Return votes by class in another order of the classes."""
    if votes is None:
        return None
    reordered = [0.0] * (max(classes) + 1)
    for code, vote in zip(classes, votes, strict=False):
        reordered[code] = vote
    return tuple(reordered)
