"""Streams of Redis as live streams."""

import json
import time
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.streams.live.events import MAX_POLL_BYTES, NO_EVENTS, Events, EventSource, PollSize, Position
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Redis"]

MAX_REQUEST = 16_384
"""The most entries of one request, so that neither side has to buffer many."""


@dataclass(frozen=True, repr=False)
class Redis(LiveStream):
    """Rows from a stream of Redis.

    Parameters
    ----------
    stream
        The stream of the rows; `labels` is the stream of the labels.
    url
        URL of the Redis server.
    field
        The field of an entry that holds the event. None if the fields of the entry are those of the row.
    group
        The consumer group whose last delivered entry is set whenever a checkpoint is safe on disk. A run that resumes
        no checkpoint starts behind it. None sets nothing.
    begin
        Where to start without a group: at the "earliest" entry, or with the next entry to arrive ("latest").

    Examples
    --------
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> Redis("trades", "redis://broker:6379", schema=schema, key="id").schema.n_attributes
    1
    """

    stream: str
    url: str = "redis://localhost:6379"
    field: str | None = "value"
    group: str | None = None
    begin: Literal["earliest", "latest"] = "earliest"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.begin not in {"earliest", "latest"}:
            raise unknown_name(kind="start position", name=self.begin, known=("earliest", "latest"))
        if self.field is None and self.format != "json":
            msg = f"format = {self.format!r} needs field: without it, the fields of an entry are those of the row"
            raise StreamgaugeError(msg)

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:
        streams = [self.stream] if self.labels is None else [self.stream, self.labels]
        return [_Entries(self, stream, position) for stream, position in zip(streams, positions, strict=False)]


class _Entries:
    """Source of the entries of one stream."""

    def __init__(self, stream: Redis, name: str, position: Position | None) -> None:
        self._redis = library("redis", "redis")
        self._stream, self._group, self._begin = name, stream.group, stream.begin
        self._field = None if stream.field is None else stream.field.encode()
        self.name = f"stream {name!r} of {stream.url.rpartition('@')[2]}"
        self.problem, self._losses_checked, self._poll_size = "", 0.0, PollSize()
        try:
            self._client = self._redis.Redis.from_url(
                stream.url, protocol=2, socket_connect_timeout=10, socket_timeout=70, decode_responses=False
            )
            self._client.response_callbacks.pop("XREAD", None)  # plain lists instead of a dictionary per entry
            self._last, self._n_read = self._find_start(position)
        except ValueError as error:
            msg = f"{self.name}: {error}"
            raise StreamgaugeError(msg) from None
        except self._redis.RedisError as error:
            self._client.close()
            msg = f"{self.name}: cannot read from Redis: {error}"
            raise StreamgaugeError(msg) from None

    def _find_start(self, position: Position | None) -> tuple[bytes, int | None]:
        """Return the entry behind which to start, and the number of entries up to it, if known."""
        if position is not None:
            return position["last"].encode(), position["n_read"]
        info = self._fetch_info()
        if info is None:
            return b"0-0", 0
        if self._group is not None:
            for group in self._client.xinfo_groups(self._stream):
                if group["name"] == self._group.encode():
                    return group["last-delivered-id"], group.get("entries-read")
        n_added = info.get("entries-added")
        if self._begin == "latest":
            return info["last-generated-id"], n_added
        return b"0-0", None if n_added is None else n_added - info["length"]

    def _fetch_info(self) -> dict[str, Any] | None:
        """Return what Redis knows about the stream; None if it does not exist yet."""
        try:
            info: dict[str, Any] = self._client.xinfo_stream(self._stream)
        except self._redis.ResponseError as error:
            if "no such key" in str(error):
                return None
            raise
        return info

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` events."""
        entries: list[Any] = []
        try:
            self._check_for_losses()
            self._read_into(entries, limit, time.monotonic() + seconds)
            self.problem = ""
        except (self._redis.ConnectionError, self._redis.TimeoutError) as error:  # also while Redis loads its data
            self.problem = f"{self.name}: {error}"
            if not entries:
                time.sleep(max(0.0, min(0.1, seconds)))
        except self._redis.RedisError as error:
            msg = f"{self.name}: {error}"
            raise StreamgaugeError(msg) from None
        if not entries:
            return NO_EVENTS
        if self._n_read is not None:
            self._n_read += len(entries)
        return self._build_events(entries)

    def _read_into(self, entries: list[Any], limit: int, deadline: float) -> None:
        """Append entries to the list; wait only for the first."""
        n_bytes = 0
        while len(entries) < limit and n_bytes < MAX_POLL_BYTES:
            seconds_left = deadline - time.monotonic()
            block = ("BLOCK", max(1, int(1000 * seconds_left))) if seconds_left > 0 and not entries else ()
            count = self._poll_size.choose(min(limit - len(entries), MAX_REQUEST), n_bytes)
            reply = self._client.execute_command("XREAD", "COUNT", count, *block, "STREAMS", self._stream, self._last)
            if reply:
                new_entries = reply[0][1]
                entries += new_entries
                reply_bytes = sum(map(len, chain.from_iterable(entry[1] for entry in new_entries)))
                self._poll_size.update(len(new_entries), reply_bytes)
                n_bytes += reply_bytes
                self._last = new_entries[-1][0]
            elif seconds_left <= 0 or entries:
                return

    def _build_events(self, entries: list[Any]) -> Events:
        received = np.array([int(entry[0].partition(b"-")[0]) for entry in entries]) / 1e3
        field = self._field
        faults: list[tuple[int, str]] = []
        if field is None:
            values = [_to_json(entry[1]) for entry in entries]
        else:
            contents = [entry[1][1] if entry[1][0] == field else _get_field(entry[1], field) for entry in entries]
            faults = [
                (i, f"the entry has no field {field.decode()!r}") for i, value in enumerate(contents) if value is None
            ]
            values = [value or b"" for value in contents]
        return Events(
            values=values,
            received=received,
            locate=lambda i: f"entry {entries[i][0].decode()}",
            faults=faults,
            watermark=float(received.max()),
        )

    @property
    def position(self) -> Position:
        """The last entry handed out, and the number of entries up to it."""
        return {"last": self._last.decode(), "n_read": self._n_read}

    def commit(self, position: Position) -> None:
        """Set the last delivered entry of the group, if there is one."""
        if self._group is None:
            return
        last, n_read = position["last"], position["n_read"]
        try:
            try:
                self._client.xgroup_create(self._stream, self._group, id=last, mkstream=True)
            except self._redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
            entries_read = () if n_read is None else ("ENTRIESREAD", n_read)
            self._client.execute_command("XGROUP", "SETID", self._stream, self._group, last, *entries_read)
        except self._redis.RedisError as error:
            self.problem = f"{self.name}: the group was not set: {error}"

    def lag(self) -> int | None:
        """Return the number of unread entries."""
        if self.problem:
            return None  # the request would have to wait for a timeout
        try:
            info = self._fetch_info()
        except self._redis.RedisError:
            return None
        if info is None or self._n_read is None or "entries-added" not in info:
            return None
        return max(0, int(info["entries-added"]) - self._n_read)

    def _check_for_losses(self) -> None:
        """Raise if entries were deleted before they were read; check at most once a second."""
        if self._n_read is None or time.monotonic() - self._losses_checked < 1.0:
            return
        self._losses_checked = time.monotonic()
        info = self._fetch_info()
        n_deleted = -1 if info is None else info.get("entries-added", 0) - info["length"]
        if n_deleted > self._n_read:
            msg = (
                f"{self.name}: {n_deleted - self._n_read:,} entries were deleted before they were read; retain more "
                "entries, or start over without the checkpoint or the group"
            )
            raise StreamgaugeError(msg)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _get_field(flat: list[bytes], field: bytes) -> bytes | None:
    """Return the value of a field of an entry."""
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        if name == field:
            return value
    return None


def _to_json(flat: list[bytes]) -> bytes:
    """Return the fields of an entry as a JSON object."""
    texts = [part.decode(errors="surrogateescape") for part in flat]
    return json.dumps(dict(zip(texts[::2], texts[1::2], strict=True))).encode()
