"""Reader of a live stream: from its sources to batches, with a state that survives a restart."""

import io
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import UNLABELLED, Batch, Schema
from streamgauge.streams.live.decoding import Columns, Decoder
from streamgauge.streams.live.event_counts import Counts, DeadLetter, DeadLetterFile
from streamgauge.streams.live.events import Events, EventSource
from streamgauge.streams.live.joining import Join, RecentKeys, Rejection

__all__ = ["Input", "LiveReader", "pack_state", "unpack_state"]

VERSION = 2
SHORT_WAIT = 0.02
"""How many seconds to wait for one source while the other may have events."""
MIN_POLL = 1024
"""The least number of rows or labels to request for the join, if it has room."""


class Input:
    """A source and the decoder of its events."""

    def __init__(self, source: EventSource, decoder: Decoder) -> None:
        self.source, self.decoder = source, decoder
        self._idle_since = np.inf

    def poll(self, limit: int, seconds: float) -> Events:
        """Return some events, and note since when there have been none."""
        events = self.source.poll(limit, seconds)
        self._idle_since = np.inf if len(events) else min(self._idle_since, time.monotonic())
        return events

    @property
    def is_idle(self) -> bool:
        """Whether the last poll returned nothing."""
        return self._idle_since < np.inf

    def is_idle_for(self, seconds: float) -> bool:
        """Return whether no events have arrived for this long."""
        return self._idle_since <= time.monotonic() - seconds

    def restart_clock(self) -> None:
        """Count the time without events from now on."""
        if self.is_idle:
            self._idle_since = time.monotonic()


class LiveReader:
    """Reads rows, joins them with labels from another source if there is one, and returns them in batches.

    Parameters
    ----------
    schema
        The schema of the rows.
    rows, labels
        The inputs; `labels` is None if rows carry their labels.
    letters
        The file for rejected events.
    distinct
        How many keys of rows to remember, to reject duplicates; 0 if rows have no keys.
    patience, most_waiting
        How long rows and labels wait for each other, and how many of them.
    """

    def __init__(
        self,
        schema: Schema,
        rows: Input,
        labels: Input | None,
        letters: DeadLetterFile,
        *,
        distinct: int,
        patience: float,
        most_waiting: int,
    ) -> None:
        self._schema, self._rows, self._labels, self._letters = schema, rows, labels, letters
        self._join = None if labels is None else Join(schema.n_attributes, patience, most_waiting)
        self._seen_keys = RecentKeys(distinct) if distinct and labels is None else None
        self.counts = Counts()
        self._latest = -np.inf

    def read_batch(self, size: int, max_wait: float) -> Batch:
        """Return up to `size` rows: fewer, or none, if no more arrive within `max_wait` seconds."""
        start, deadline = self.counts.rows, time.monotonic() + max_wait
        parts: list[Columns] = []
        n = 0
        while n < size:
            seconds_left = deadline - time.monotonic()
            part = (
                self._read_labelled(size - n, seconds_left)
                if self._join is None or self._labels is None
                else self._read_joined(self._join, self._labels, size - n, seconds_left)
            )
            if len(part.y):
                parts.append(part)
                n += len(part.y)
            if seconds_left <= 0:
                break
        batch = self._build_batch(start, parts)
        self.counts.rows += n
        self.counts.unlabelled += int(np.count_nonzero(batch.y == UNLABELLED))
        return batch

    def _read_labelled(self, limit: int, seconds_left: float) -> Columns:
        events = self._rows.poll(limit, max(0.0, seconds_left))
        columns = self._decode(self._rows, events)
        if self._seen_keys is None or not len(columns.y):
            return columns
        accepted, rejections = [], []
        for i, key in enumerate(columns.keys or []):
            if key in self._seen_keys:
                rejections.append(Rejection(i, "duplicate", "a row with this key was received before"))
            else:
                self._seen_keys.add((key,))
                accepted.append(i)
        self._reject(self._rows, events, columns, rejections)
        return columns.select(np.array(accepted, dtype=np.intp)) if rejections else columns

    def _read_joined(self, join: Join, labels: Input, limit: int, seconds_left: float) -> Columns:
        ready = join.take(limit)
        if len(ready.y):
            return ready
        row_room, label_room = join.room
        for polled, room, add, other, other_room in (
            (self._rows, row_room, join.add_rows, labels, label_room),
            (labels, label_room, join.add_labels, self._rows, row_room),
        ):
            # An input without room is not polled, so that it counts as neither idle nor active.
            seconds = min(SHORT_WAIT, seconds_left) if other.is_idle or other_room <= 0 else 0.0
            if room > 0:
                events = polled.poll(min(room, max(limit, MIN_POLL)), max(0.0, seconds))
                columns = self._decode(polled, events)
                self._reject(polled, events, columns, add(columns, events.watermark))
        if any(source.problem for source in self.sources):
            for clock in (join, self._rows, labels):
                clock.restart_clock()  # no event is late while a broker is unavailable
        rejected = join.expire(
            no_more_rows=self._rows.is_idle_for(join.patience), no_more_labels=labels.is_idle_for(join.patience)
        )
        self._letters.write(
            DeadLetter(
                reason=label.reason,
                why=label.why,
                source=labels.source.name,
                place="",
                key=label.key,
                value=self._schema.classes[label.code].encode(),
            )
            for label in rejected
        )
        self.counts.late += sum(label.reason == "late" for label in rejected)
        self.counts.unmatched += sum(label.reason == "unmatched" for label in rejected)
        return join.take(limit)

    def _decode(self, polled: Input, events: Events) -> Columns:
        columns = polled.decoder.decode(events)
        self.counts.malformed += len(columns.faults)
        self._letters.write(_build_letter(polled, events, index, "malformed", why) for index, why in columns.faults)
        return columns

    def _reject(self, polled: Input, events: Events, columns: Columns, rejections: Sequence[Rejection]) -> None:
        for rejection in rejections:
            setattr(self.counts, rejection.reason, getattr(self.counts, rejection.reason) + 1)
        keys: Sequence[bytes | None] = columns.keys or [None] * len(columns.event_index)
        self._letters.write(
            replace(
                _build_letter(polled, events, int(columns.event_index[at]), rejection.reason, rejection.why),
                key=keys[at],
            )
            for rejection in rejections
            for at in (rejection.index,)
        )

    def _build_batch(self, start: int, parts: Sequence[Columns]) -> Batch:
        x = np.concatenate([np.empty((0, self._schema.n_attributes)), *(part.x for part in parts)])
        weights = [part.weight for part in parts if part.weight is not None]
        stated = np.concatenate([np.empty(0), *(part.received if part.time is None else part.time for part in parts)])
        return Batch(
            start=start,
            x=np.ascontiguousarray(x),
            y=np.concatenate([np.empty(0, dtype=np.int32), *(part.y for part in parts)]),
            weight=np.concatenate(weights) if weights else None,
            time=self._order_times(stated),
        )

    def _order_times(self, stated: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return times that never decrease: a row that was overtaken counts at the latest time so far."""
        times: NDArray[np.float64] = np.maximum.accumulate(np.append(self._latest, stated))[1:]
        self.counts.out_of_order += int(np.count_nonzero(times > stated))
        self._latest = float(times[-1]) if len(times) else self._latest
        return times

    @property
    def sources(self) -> list[EventSource]:
        """The sources: rows, then labels."""
        return [polled.source for polled in (self._rows, self._labels) if polled is not None]

    @property
    def lag(self) -> int | None:
        """Number of events that wait to be read; None if unknown."""
        lags = [lag for source in self.sources if (lag := source.lag()) is not None]
        return sum(lags) if lags else None

    def save(self) -> bytes:
        """Return the state: positions, waiting events and counts."""
        head = {
            "version": VERSION,
            "positions": [source.position for source in self.sources],
            "counts": asdict(self.counts),
            "dead_letters": self._letters.n_bytes,
            "latest_time": self._latest if np.isfinite(self._latest) else None,
        }
        parts: dict[str, Any] = {} if self._join is None else self._join.save()
        if self._seen_keys is not None:
            parts["known_old"], parts["known_young"] = self._seen_keys.save()
        return pack_state(head, parts)

    def load(self, head: dict[str, Any], parts: dict[str, Any]) -> None:
        """Restore a saved state; the sources must have been opened at its positions."""
        self.counts = Counts(**head["counts"])
        self._letters.truncate(head["dead_letters"])
        self._latest = -np.inf if head["latest_time"] is None else head["latest_time"]
        if self._join is not None:
            self._join.load(parts)
        if self._seen_keys is not None:
            self._seen_keys.load(parts["known_old"], parts["known_young"])

    def close(self) -> None:
        """Close connections and files."""
        for source in self.sources:
            source.close()
        self._letters.close()


def _build_letter(polled: Input, events: Events, index: int, reason: str, why: str) -> DeadLetter:
    return DeadLetter(
        reason=reason,
        why=why,
        source=polled.source.name,
        place=events.locate(index),
        key=None if events.keys is None else events.keys[index],
        value=events.values[index],
    )


def pack_state(head: dict[str, Any], parts: dict[str, Any]) -> bytes:
    """Serialise a state: JSON for the head, arrays as they are, lists of keys concatenated.

    Examples
    --------
    >>> head, parts = unpack_state(pack_state({"version": VERSION}, {"keys": [b"a", b"bc"], "x": np.zeros(2)}))
    >>> head, parts["keys"], parts["x"].tolist()
    ({'version': 2}, [b'a', b'bc'], [0.0, 0.0])
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


def unpack_state(state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Deserialise a state, or raise if it is damaged."""
    try:
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            head = json.loads(arrays["head"].tobytes())
            parts: dict[str, Any] = {}
            for entry in arrays.files:
                kind, _, name = entry.partition("/")
                if kind == "array":
                    parts[name] = arrays[entry]
                elif kind == "keys":
                    parts[name] = _split(arrays[entry].tobytes(), arrays[f"ends/{name}"].tolist())
    except Exception as error:
        msg = f"these bytes are not a saved state of a live stream: {error}"
        raise StreamgaugeError(msg) from None
    if head.get("version") != VERSION:
        msg = (
            f"the saved state of the live stream has version {head.get('version')}; only version {VERSION} is supported"
        )
        raise StreamgaugeError(msg)
    return head, parts


def _split(content: bytes, ends: list[int]) -> list[bytes]:
    return [content[start:end] for start, end in pairwise([0, *ends])]
