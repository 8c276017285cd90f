"""What the tests of live sources share: rows as events, and how to read a few of them."""

import json
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.live import LiveStream

__all__ = ["SCHEMA", "as_csv", "as_json", "collected", "labels_as_json", "rows"]

SCHEMA = Schema((Attribute("price", missing=True), Attribute("day", ("mo", "tu"), missing=True)), ("up", "down"))


def rows(n: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Make rows that fit the schema, whose class depends on the price."""
    random = np.random.default_rng(seed)
    x = np.column_stack([random.normal(size=n), random.integers(0, 2, n)])
    return x, (x[:, 0] + random.normal(size=n) / 2 > 0).astype(np.int32)


def as_json(
    x: NDArray[np.float64], y: NDArray[np.int32] | None = None, keys: Sequence[str] | None = None
) -> list[bytes]:
    """Write rows as objects."""
    events = []
    for i, (price, day) in enumerate(x.tolist()):
        event: dict[str, object] = {"price": price, "day": SCHEMA.attributes[1].values[int(day)]}  # type: ignore[index]
        event |= {} if y is None else {"class": SCHEMA.classes[y[i]]}
        event |= {} if keys is None else {"id": keys[i]}
        events.append(json.dumps(event).encode())
    return events


def labels_as_json(y: NDArray[np.int32], keys: Sequence[str]) -> list[bytes]:
    """Write labels as objects."""
    return [json.dumps({"id": key, "class": SCHEMA.classes[code]}).encode() for key, code in zip(keys, y, strict=True)]


def as_csv(x: NDArray[np.float64], y: NDArray[np.int32]) -> list[bytes]:
    """Write rows as lines."""
    days = SCHEMA.attributes[1].values or ()
    return [
        f"{price!r},{days[int(day)]},{SCHEMA.classes[c]}".encode()
        for (price, day), c in zip(x.tolist(), y, strict=True)
    ]


def collected(stream: LiveStream, n: int, size: int = 1000, seconds: float = 20.0) -> Batch:
    """Read further rows from where the stream is."""
    deadline = time.monotonic() + seconds
    parts: list[Batch] = []
    for batch in stream.batches(size, stream.counts.rows):
        parts.append(batch)
        if sum(map(len, parts)) >= n or time.monotonic() > deadline:
            break
    times = [part.time for part in parts if part.time is not None]
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    return Batch(parts[0].start, x, y, time=np.concatenate(times))
