"""One reading of a live stream: from its sources to batches, and all that must survive a restart."""

import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Batch, Schema
from streamgauge.streams.live.decoding import Columns, Decoder
from streamgauge.streams.live.event_counts import Counts, DeadLetters, Letter
from streamgauge.streams.live.events import Events, Source
from streamgauge.streams.live.joining import Join, RecentKeys, Refused

__all__ = ["Inlet", "Reading", "unpacked"]

VERSION = 1
SHORT = 0.02
"""How many seconds to wait for one source while another may bring something."""


class Inlet:
    """A source and the decoder of its events."""

    def __init__(self, source: Source, decoder: Decoder) -> None:
        self.source, self.decoder = source, decoder
        self._dry_since = np.inf

    def poll(self, most: int, seconds: float) -> Events:
        """Give some events; notes since when there were none."""
        events = self.source.poll(most, seconds)
        self._dry_since = np.inf if len(events) else min(self._dry_since, time.monotonic())
        return events

    @property
    def is_dry(self) -> bool:
        """Whether nothing came when it was last asked."""
        return self._dry_since < np.inf

    def has_ended(self, patience: float) -> bool:
        """Say whether nothing has come for so long; a moment without events is no sign that there are no more."""
        return self._dry_since <= time.monotonic() - patience

    def wait_anew(self) -> None:
        """Let the time without events begin now."""
        if self.is_dry:
            self._dry_since = time.monotonic()


class Reading:
    """Reads rows, and their labels where those come apart, and hands them out in batches.

    Parameters
    ----------
    schema
        What rows look like.
    rows, labels
        Where they come from; no labels where rows carry their own.
    letters
        Takes events that were set aside.
    distinct
        How many keys of rows to remember, so that none comes twice; 0 where rows have no keys.
    patience, most_waiting
        How long, and how many of them, rows and labels wait for each other.
    """

    def __init__(
        self,
        schema: Schema,
        rows: Inlet,
        labels: Inlet | None,
        letters: DeadLetters,
        *,
        distinct: int,
        patience: float,
        most_waiting: int,
    ) -> None:
        self._schema, self._rows, self._labels, self._letters = schema, rows, labels, letters
        self._join = None if labels is None else Join(schema.n_attributes, patience, most_waiting)
        self._known = RecentKeys(distinct) if distinct and labels is None else None
        self.counts = Counts()

    def next(self, size: int, max_wait: float) -> Batch:
        """Hand out up to `size` rows, fewer where more do not come within `max_wait` seconds; none, too."""
        start, deadline = self.counts.rows, time.monotonic() + max_wait
        parts: list[Columns] = []
        n = 0
        while n < size:
            left = deadline - time.monotonic()
            part = self._plain(size - n, left) if self._join is None else self._joined(self._join, size - n, left)
            if len(part.y):
                parts.append(part)
                n += len(part.y)
            if left <= 0:
                break
        batch = self._batch(start, parts)
        self.counts.rows += n
        self.counts.unlabelled += int(np.count_nonzero(batch.y == UNLABELLED))
        return batch

    def _plain(self, most: int, left: float) -> Columns:
        events = self._rows.poll(most, max(0.0, left))
        columns = self._decoded(self._rows, events)
        if self._known is None or not len(columns.y):
            return columns
        known, kept, refused = self._known, [], []
        for i, key in enumerate(columns.keys or []):
            if key in known:
                refused.append(Refused(i, "duplicate", "a row with this key came before"))
            else:
                known.add((key,))
                kept.append(i)
        self._refuse(self._rows, events, columns, refused)
        return columns.only(np.array(kept, dtype=np.intp)) if refused else columns

    def _joined(self, join: Join, most: int, left: float) -> Columns:
        labels = self._labels or self._rows
        ready = join.take(most)
        if len(ready.y):
            return ready
        rooms = join.room
        for inlet, other, room, others_room, add in (
            (self._rows, labels, *rooms, join.add_rows),
            (labels, self._rows, *rooms[::-1], join.add_labels),
        ):
            # one that has no room is not asked, so that nothing is known of it
            seconds = min(SHORT, left) if other.is_dry or others_room <= 0 else 0.0
            if room > 0:
                events = inlet.poll(min(room, max(most, 1024)), max(0.0, seconds))
                columns = self._decoded(inlet, events)
                self._refuse(inlet, events, columns, add(columns, events.until))
        if any(source.trouble for source in self.sources):
            for waiting in (join, self._rows, labels):
                waiting.wait_anew()  # nobody is late while a broker is away
        ended = [inlet.has_ended(join.patience) for inlet in (self._rows, labels)]
        gone = join.give_up(no_more_rows=ended[0], no_more_labels=ended[1])
        self._set_aside(
            Letter(
                "unmatched", "its row did not come", labels.source.name, "", key, self._schema.classes[code].encode()
            )
            for key, code in gone
        )
        self.counts.unmatched += len(gone)
        return join.take(most)

    def _decoded(self, inlet: Inlet, events: Events) -> Columns:
        columns = inlet.decoder.decode(events)
        self.counts.malformed += len(columns.faults)
        self._set_aside(self._letter(inlet, events, event, "malformed", why) for event, why in columns.faults)
        return columns

    def _refuse(self, inlet: Inlet, events: Events, columns: Columns, refused: Sequence[Refused]) -> None:
        for one in refused:
            setattr(self.counts, one.reason, getattr(self.counts, one.reason) + 1)
        self._set_aside(
            self._letter(inlet, events, int(columns.event[one.event]), one.reason, one.why) for one in refused
        )

    @staticmethod
    def _letter(inlet: Inlet, events: Events, event: int, reason: str, why: str) -> Letter:
        key = None if events.keys is None else events.keys[event]
        return Letter(reason, why, inlet.source.name, events.place(event), key, events.values[event])

    def _set_aside(self, letters: Any) -> None:  # noqa: ANN401
        self._letters.write(letters)

    def _batch(self, start: int, parts: Sequence[Columns]) -> Batch:
        nothing = np.empty((0, self._schema.n_attributes))
        x = np.concatenate([nothing, *(part.x for part in parts)])
        y = np.concatenate([np.empty(0, dtype=np.int32), *(part.y for part in parts)])
        weights = [part.weight for part in parts if part.weight is not None]
        times = [part.received if part.time is None else _timed(part.time, part.received) for part in parts]
        return Batch(
            start,
            np.ascontiguousarray(x),
            y,
            np.concatenate(weights) if weights else None,
            np.concatenate([np.empty(0), *times]),
        )

    @property
    def sources(self) -> list[Source]:
        """Where events come from: rows, then labels."""
        return [inlet.source for inlet in (self._rows, self._labels) if inlet is not None]

    @property
    def lag(self) -> int | None:
        """How many events wait to be read; None where nobody knows."""
        lags = [source.lag() for source in self.sources]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if known else None

    def save(self) -> bytes:
        """Give all of its state: positions, what waits, what was counted."""
        head = {
            "version": VERSION,
            "positions": [source.position for source in self.sources],
            "counts": asdict(self.counts),
            "dead_letters": self._letters.n_bytes,
        }
        parts: dict[str, Any] = {} if self._join is None else self._join.save()
        if self._known is not None:
            parts["known_old"], parts["known_young"] = self._known.kept
        return packed(head, parts)

    def load(self, head: dict[str, Any], parts: dict[str, Any]) -> None:
        """Take over a state; the sources must have been opened at its positions."""
        self.counts = Counts(**head["counts"])
        self._letters.go_back(head["dead_letters"])
        if self._join is not None:
            self._join.load(parts)
        if self._known is not None:
            self._known.take_over([parts["known_old"], parts["known_young"]])

    def close(self) -> None:
        """Let go of connections and files."""
        for source in self.sources:
            source.close()
        self._letters.close()


def _timed(time_: NDArray[np.float64], received: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(time_), received, time_)


def packed(head: dict[str, Any], parts: dict[str, Any]) -> bytes:
    """Write a state as bytes: arrays as they are, keys one behind the other.

    Examples
    --------
    >>> head, parts = unpacked(packed({"version": VERSION}, {"keys": [b"a", b"bc"], "x": np.zeros(2)}))
    >>> head, parts["keys"], parts["x"].tolist()
    ({'version': 1}, [b'a', b'bc'], [0.0, 0.0])
    """
    arrays = {"head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)}
    for name, part in parts.items():
        if isinstance(part, list):
            arrays[f"keys/{name}"] = np.frombuffer(b"".join(part), dtype=np.uint8)
            arrays[f"ends/{name}"] = np.cumsum([len(key) for key in part], dtype=np.int64)
        else:
            arrays[f"array/{name}"] = part
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def unpacked(state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `packed` wrote, or raise where it is damaged."""
    try:
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            head = json.loads(arrays["head"].tobytes())
            parts: dict[str, Any] = {
                name.partition("/")[2]: arrays[name] for name in arrays.files if name.startswith("array/")
            }
            for name in arrays.files:
                if name.startswith("keys/"):
                    short = name.partition("/")[2]
                    parts[short] = _cut(arrays[name].tobytes(), arrays[f"ends/{short}"].tolist())
    except Exception as error:
        msg = f"these bytes are not a saved state of a live stream: {error}"
        raise StreamgaugeError(msg) from None
    if head.get("version") != VERSION:
        msg = f"the saved state of the live stream has version {head.get('version')}, and only {VERSION} is known"
        raise StreamgaugeError(msg)
    return head, parts


def _cut(content: bytes, ends: list[int]) -> list[bytes]:
    return [content[start:end] for start, end in pairwise([0, *ends])]
