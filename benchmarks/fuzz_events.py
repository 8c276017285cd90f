"""A million damaged events through live streams: JSON, CSV and Avro, with labels in the row and separate.

Every event must become a row, or be counted and set aside; memory must not grow with the events; and no undamaged row
may be lost or changed. Any exception ends it.

Run with ``python -m benchmarks fuzz_events [EVENTS] [SEED]``. Single events are tried by `benchmarks.fuzzing`, beside
Python's readers of JSON and CSV, and fastavro.
"""

import csv
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, process_time

import fastavro
import numpy as np

from benchmarks.endless import measure_memory
from benchmarks.fuzzing import Misread, Reader, Try
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Attribute, Schema
from streamgauge.streams.live.decoding import Decoder, Format
from streamgauge.streams.live.events import NO_EVENTS, Events, EventSource, Position
from streamgauge.streams.live.stream import LiveStream

SCHEMA = Schema((Attribute("price", missing=True), Attribute("day", ("mo", "tu"), missing=True)), ("up", "down"))
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Row",
        "fields": [
            {"name": "id", "type": "string"},
            {"name": "price", "type": ["null", "double"]},
            {"name": "day", "type": ["null", "string"]},
            {"name": "more", "type": {"type": "array", "items": "int"}},
            {"name": "class", "type": {"type": "enum", "name": "Way", "symbols": ["up", "down"]}},
        ],
    }
)
PARSED = fastavro.parse_schema(json.loads(AVRO))
BLOCK = 5_000
PIECES = [
    b"{",
    b"}",
    b'"',
    b",",
    b"\\",
    b"null",
    b"1e999",
    b"NaN",
    b"\xff\xfe",
    b"\x00",
    b"[" * 200,
    b'{"a":' * 50,
    b"\n",
]


class Damaged:
    """A source of events, about half of them damaged."""

    name, problem = "damaged", ""

    def __init__(self, form: str, n: int, random: Random, fields: tuple[str, ...]) -> None:
        self._form, self._left, self._random, self._fields = form, n, random, fields
        self.undamaged: dict[str, float] = {}
        self._number = 0

    def poll(self, limit: int, _seconds: float) -> Events:
        """Return the next events."""
        n = min(limit, BLOCK, self._left)
        if not n:
            return NO_EVENTS
        self._left -= n
        values = [self._make_event() for _ in range(n)]
        times = np.arange(self._number - n, self._number) / 1000.0
        return Events(values, times, watermark=float(times[-1]))

    def _make_event(self) -> bytes:
        self._number += 1
        key, price = f"k{self._number}", self._random.random()
        event = self._encode(key, price)
        if self._random.random() < 0.5:
            return self._damage(event)
        self.undamaged[key] = price
        return event

    def _encode(self, key: str, price: float) -> bytes:
        row = {"id": key, "price": price, "day": "mo", "more": [1, 2], "class": "up" if price > 0.5 else "down"}
        if self._form == "csv":
            return ",".join(str(row[name]) for name in self._fields).encode()
        if self._form == "json":
            return json.dumps({name: row[name] for name in self._fields}).encode()
        file = io.BytesIO()
        fastavro.schemaless_writer(file, PARSED, row)
        return file.getvalue()

    def _damage(self, event: bytes) -> bytes:
        random, damaged = self._random, bytearray(event)
        for _ in range(random.randint(1, 3)):
            position = random.randrange(len(damaged) + 1)
            match random.randrange(4):
                case 0:
                    damaged[position:position] = random.choice(PIECES)
                case 1:
                    del damaged[position : position + random.randint(1, 8)]
                case 2:
                    damaged[position : position + 1] = bytes([random.randrange(256)])
                case _:
                    damaged = damaged[:position] or bytearray(random.randbytes(20))
        return bytes(damaged)

    @property
    def position(self) -> Position:
        """An empty position."""
        return {}

    def commit(self, position: Position) -> None:
        """Do nothing."""

    def lag(self) -> int | None:
        """Return the number of remaining events."""
        return self._left

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Fuzzed(LiveStream):
    """A live stream of damaged events."""

    sources: tuple[Damaged, ...] = ()

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:  # noqa: ARG002
        return list(self.sources)


def fuzz(form: str, n: int, random: Random, folder: Path, *, separate: bool) -> str:
    """Send events through one kind of stream; return a line of counts."""
    fields = [("id", "price", "day"), ("id", "class")] if separate else [("id", "price", "day", "class")]
    sources = [Damaged(form, n // len(fields), random, names) for names in fields]
    stream = Fuzzed(
        schema=SCHEMA,
        format=form,
        key="id",
        labels="labels" if separate else None,
        columns=fields[0],
        avro_schema=AVRO,
        label_avro_schema=AVRO,
        dead_letters=folder / f"{form}{separate}.jsonl",
        patience=1.0,
        max_wait=0.01,
        most_waiting=BLOCK,
        sources=tuple(sources),
    )
    prices: set[float] = set()
    deadline = float("inf")
    for batch in stream.batches(10_000):
        prices.update(batch.x[:, 0].tolist())
        if not any(source.lag() for source in sources) and not len(batch):
            deadline = min(deadline, monotonic() + 2.0)  # waiting events are given up by then
        if monotonic() > deadline:
            break
    lost = [price for price in sources[0].undamaged.values() if price not in prices]
    counts = stream.counts
    if not separate and counts.rows + counts.n_set_aside != n:
        msg = f"{n} events, but {counts.rows} rows, {counts}"
        raise AssertionError(msg)
    if len(lost) > counts.duplicate:  # a damaged event may have the key of an undamaged one
        msg = f"{len(lost)} undamaged rows are lost"
        raise AssertionError(msg)
    stream.close()
    return f"{form:5} {'separate' if separate else 'in the row':10} {counts.rows:10,} rows, {counts}"


def read_event(form: str, event: bytes) -> dict[str, object]:
    """Return an event as an independent reader finds it; raise if it finds none."""
    if form == "json":
        pairs = json.loads(event.decode(), object_pairs_hook=list, parse_constant=float)
        return {name: None if isinstance(value, list) else value for name, value in reversed(pairs)}
    if form == "csv":
        (line,) = csv.reader([event.decode()], skipinitialspace=True, strict=True)
        if len(line) != 4:
            raise ValueError
        return dict(zip(("id", "price", "day", "class"), [text.strip(" \t") for text in line], strict=True))
    source = io.BytesIO(event)
    row = fastavro.schemaless_reader(source, PARSED, PARSED)
    if source.read():
        raise ValueError
    return dict(row)  # type: ignore[arg-type]


def try_event(decoder: Decoder, form: str, source: Damaged, random: Random) -> bool | None:
    """Decode a damaged event, beside an independent reader."""
    source._random = random
    row = source._encode(f"k{random.randrange(100)}", random.choice((random.random(), 0.5, -1e-300, 12345678901234567)))
    event = source._damage(row) if random.random() < 0.9 else row
    columns = decoder.decode(Events([event], np.zeros(1)))
    if columns.faults:
        raise StreamgaugeError(columns.faults[0][1])
    found = columns.x[0].tolist(), int(columns.y[0])
    try:
        facts = read_event(form, event)
        expected = [_as_number(facts.get("price")), _find(facts.get("day"), ("mo", "tu"))], facts.get("class")
        code = -1 if expected[1] in (None, "", "?") else SCHEMA.classes.index(str(expected[1]))
    except Exception:
        return None
    if not np.array_equal(found[0], expected[0], equal_nan=True) or found[1] != code:
        msg = f"{event!r}: {found} where the other reader found {facts}"
        raise Misread(msg)
    return True


def _as_number(value: object) -> float:
    return float("nan") if value in (None, "", "?") else float(str(value))


def _find(value: object, names: tuple[str, ...]) -> float:
    return float("nan") if value in (None, "", "?") else float(names.index(str(value)))


@contextmanager
def open_decoder(form: str, _: Path) -> Iterator[Try]:
    """Return what decodes damaged events."""
    fields = ("id", "price", "day", "class")
    decoder = Decoder(SCHEMA, Format(form, fields, avro=AVRO), target="class", key="id")
    yield partial(try_event, decoder, form, Damaged(form, 0, Random(0), fields))


READERS = (
    Reader("events, JSON", 40, partial(open_decoder, "json"), "Python"),
    Reader("events, CSV", 40, partial(open_decoder, "csv"), "Python"),
    Reader("events, Avro", 40, partial(open_decoder, "avro"), "fastavro"),
)


def main(n: int = 1_000_000, seed: int = 1) -> None:
    """Fuzz and print the counts."""
    kinds = [(form, separate) for form in ("json", "csv", "avro") for separate in (False, True)]
    started = process_time()
    print(f"{n:,} events, about half of them damaged, seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (form, separate) in enumerate(kinds):
            random = Random(f"{seed} {number}")
            before = measure_memory()
            line = fuzz(form, n // len(kinds), random, Path(folder), separate=separate)
            print(f"{line}; memory grew by {measure_memory() - before:.0f} MiB")
    print(f"no crash, no row lost, {process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
