"""Redis Streams."""

import json
import time
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.streams.live.events import ENOUGH, NOTHING, Events, Portion, Position, Source
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Redis"]

MOST = 16_384
"""How many entries to ask for at once, so that neither side has to hold many."""


@dataclass(frozen=True, repr=False)
class Redis(LiveStream):
    """Rows from a stream of Redis.

    Parameters
    ----------
    stream
        The stream of the rows; `labels` is the stream of the labels.
    url
        Where Redis answers.
    field
        The field of an entry that holds the event. None where the fields of the entry are those of the row.
    group
        The consumer group whose last delivered entry is set each time a checkpoint is safe on disk. A run that resumes
        no checkpoint begins behind it. None to leave no mark.
    begin
        Where to begin where there is no such mark: at the "earliest" entry, or with the "latest" to come.

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
            raise unknown_name(kind="place to begin called", name=self.begin, known=("earliest", "latest"))
        if self.field is None and self.format != "json":
            msg = f"format = {self.format!r}: where the fields of an entry are those of the row, leave it out"
            raise StreamgaugeError(msg)

    def _sources(self, positions: list[Position | None]) -> list[Source]:
        streams = [self.stream] if self.labels is None else [self.stream, self.labels]
        return [_Entries(self, stream, position) for stream, position in zip(streams, positions, strict=False)]


def _library() -> Any:  # noqa: ANN401
    try:
        import redis  # noqa: PLC0415
    except ImportError:
        msg = "reading from Redis needs redis: pip install 'streamgauge[redis]'"
        raise StreamgaugeError(msg) from None
    return redis


class _Entries:
    """The entries of one stream."""

    def __init__(self, stream: Redis, name: str, position: Position | None) -> None:
        self._redis = _library()
        self._stream, self._group, self._begin = name, stream.group, stream.begin
        self._field = None if stream.field is None else stream.field.encode()
        self.name = f"stream {name!r} of {stream.url.rpartition('@')[2]}"
        self.trouble, self._looked, self._portion = "", 0.0, Portion()
        try:
            self._client = self._redis.Redis.from_url(
                stream.url, protocol=2, socket_connect_timeout=10, socket_timeout=70, decode_responses=False
            )
            self._client.response_callbacks.pop("XREAD", None)  # plain lists: no dictionary for each entry
            self._last, self._n_read = self._begun(position)
        except ValueError as error:
            msg = f"{self.name}: {error}"
            raise StreamgaugeError(msg) from None
        except self._redis.RedisError as error:
            self._client.close()
            msg = f"{self.name}: Redis does not answer as it should: {error}"
            raise StreamgaugeError(msg) from None

    def _begun(self, position: Position | None) -> tuple[bytes, int | None]:
        """Say behind which entry to begin, and how many come before, where that is known."""
        if position is not None:
            return position["last"].encode(), position["n_read"]
        if self._group is not None:
            for group in self._groups():
                if group["name"] == self._group.encode():
                    return group["last-delivered-id"], group.get("entries-read")
        told = self._told()
        if told is None:
            return b"0-0", 0
        if self._begin == "latest":
            return told["last-generated-id"], told.get("entries-added")
        added = told.get("entries-added")
        return b"0-0", None if added is None else added - told["length"]

    def _told(self) -> dict[str, Any] | None:
        """Ask what there is; None where there is no such stream yet."""
        try:
            told: dict[str, Any] = self._client.xinfo_stream(self._stream)
        except self._redis.ResponseError as error:
            if "no such key" in str(error):
                return None
            raise
        return told

    def _groups(self) -> list[dict[str, Any]]:
        if self._told() is None:
            return []
        groups: list[dict[str, Any]] = self._client.xinfo_groups(self._stream)
        return groups

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` events."""
        taken: list[Any] = []
        try:
            self._check_for_losses()
            self._read(taken, most, time.monotonic() + seconds)
            self.trouble = ""
        except (self._redis.ConnectionError, self._redis.TimeoutError) as error:  # also while it loads its data
            self.trouble = f"{self.name}: {error}"
            if not taken:
                time.sleep(max(0.0, min(0.1, seconds)))
        except self._redis.RedisError as error:
            msg = f"{self.name}: {error}"
            raise StreamgaugeError(msg) from None
        if not taken:
            return NOTHING
        if self._n_read is not None:
            self._n_read += len(taken)
        return self._events(taken)

    def _read(self, taken: list[Any], most: int, deadline: float) -> None:
        """Add entries to those taken; once there are some, wait for no more."""
        n_bytes = 0
        while len(taken) < most and n_bytes < ENOUGH:
            left = deadline - time.monotonic()
            block = ("BLOCK", max(1, int(1000 * left))) if left > 0 and not taken else ()
            asked = self._portion.size(min(most - len(taken), MOST), n_bytes)
            reply = self._client.execute_command("XREAD", "COUNT", asked, *block, "STREAMS", self._stream, self._last)
            if reply:
                entries = reply[0][1]
                taken += entries
                n_fresh = sum(map(len, chain.from_iterable(entry[1] for entry in entries)))
                self._portion.note(len(entries), n_fresh)
                n_bytes += n_fresh
                self._last = entries[-1][0]
            elif left <= 0 or taken:
                return

    def _events(self, entries: list[Any]) -> Events:
        received = np.array([int(entry[0].partition(b"-")[0]) for entry in entries]) / 1e3
        field = self._field
        faults: list[tuple[int, str]] = []
        if field is None:
            values = [_object(entry[1]) for entry in entries]
        else:
            held = [entry[1][1] if entry[1][0] == field else _held(entry[1], field) for entry in entries]
            faults = [
                (i, f"the entry has no field {field.decode()!r}") for i, value in enumerate(held) if value is None
            ]
            values = [value or b"" for value in held]
        return Events(
            values, received, lambda i: f"entry {entries[i][0].decode()}", faults=faults, until=float(received.max())
        )

    @property
    def position(self) -> Position:
        """The entry handed out last, and how many that makes."""
        return {"last": self._last.decode(), "n_read": self._n_read}

    def commit(self, position: Position) -> None:
        """Set the last delivered entry of the group, where there is one to do so for."""
        if self._group is None:
            return
        last, n_read = position["last"], position["n_read"]
        try:
            try:
                self._client.xgroup_create(self._stream, self._group, id=last, mkstream=True)
            except self._redis.ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
            counted = () if n_read is None else ("ENTRIESREAD", n_read)
            self._client.execute_command("XGROUP", "SETID", self._stream, self._group, last, *counted)
        except self._redis.RedisError as error:
            self.trouble = f"{self.name}: the group was not set: {error}"

    def lag(self) -> int | None:
        """Count the entries that were not read."""
        if self.trouble:
            return None  # it would have to be waited for
        try:
            told = self._told()
        except self._redis.RedisError:
            return None
        if told is None or self._n_read is None or "entries-added" not in told:
            return None
        return max(0, int(told["entries-added"]) - self._n_read)

    def _check_for_losses(self) -> None:
        """Raise where entries were deleted before they were read; looks no more than once a second."""
        if self._n_read is None or time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        told = self._told()
        n_gone = -1 if told is None else told.get("entries-added", 0) - told["length"]
        if n_gone > self._n_read:
            msg = (
                f"{self.name}: {n_gone - self._n_read:,} entries were deleted before they were read; keep more of "
                "them, or begin anew without the checkpoint or the group"
            )
            raise StreamgaugeError(msg)

    def close(self) -> None:
        """Leave Redis."""
        self._client.close()


def _held(flat: list[bytes], field: bytes) -> bytes | None:
    """Give the value of a field of an entry."""
    for name, value in zip(flat[::2], flat[1::2], strict=True):
        if name == field:
            return value
    return None


def _object(flat: list[bytes]) -> bytes:
    """Write the fields of an entry as an object of JSON."""
    texts = [part.decode(errors="surrogateescape") for part in flat]
    return json.dumps(dict(zip(texts[::2], texts[1::2], strict=True))).encode()
