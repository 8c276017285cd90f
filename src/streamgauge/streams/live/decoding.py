"""From events to columns: which field is what, in which format."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Schema
from streamgauge.streams.live.events import Events

__all__ = ["FORMATS", "Columns", "Decoder", "Format", "FormatName"]

FormatName = Literal["json", "csv", "avro"]
FORMATS = ("json", "csv", "avro")
LONGEST_KEY = 1024
"""A key of more bytes is a fault, so that keys that are remembered take bounded memory."""

FieldSpec = tuple[str, tuple[str, ...] | None, str, bool]


@dataclass(frozen=True)
class Format:
    """How an event is written.

    Parameters
    ----------
    name
        "json", "csv" or "avro".
    columns
        The columns of a CSV line, from left to right; others than those of the fields are passed over.
    delimiter
        What separates the values of a CSV line.
    avro
        The Avro schema of the records: JSON, or the file that holds it.
    framed
        Whether five bytes that name a schema of a registry come before each record.

    Examples
    --------
    >>> Format("csv", ("a", "b", "class")).name
    'csv'
    """

    name: str = "json"
    columns: tuple[str, ...] = ()
    delimiter: str = ","
    avro: str | Path | None = None
    framed: bool = False

    def __post_init__(self) -> None:
        if self.name not in FORMATS:
            raise unknown_name(kind="format of events", name=self.name, known=FORMATS)
        if self.name == "avro" and self.avro is None:
            msg = "events in Avro need the schema they were written with: give avro_schema, a file or its JSON"
            raise StreamgaugeError(msg)
        if len(self.delimiter) != 1 or not self.delimiter.isascii():
            msg = f"delimiter = {self.delimiter!r}: it must be one character"
            raise StreamgaugeError(msg)

    def native(self, fields: list[FieldSpec]) -> _native.EventDecoder:
        """Build the decoder of events with these fields."""
        try:
            if self.name == "json":
                return _native.EventDecoder.json(fields)
            if self.name == "csv":
                return _native.EventDecoder.csv(fields, self._checked(fields), ord(self.delimiter), ("?", ""))
            return _native.EventDecoder.avro(fields, _text_of(self.avro))
        except StreamgaugeError:
            raise
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def _checked(self, fields: list[FieldSpec]) -> tuple[str, ...]:
        repeated = [name for name in self.columns if self.columns.count(name) > 1]
        if repeated:
            msg = f"columns: {repeated[0]!r} is there twice"
            raise StreamgaugeError(msg)
        absent = [name for name, *_ in fields if name not in self.columns]
        if absent:
            msg = f"columns, the fields of a CSV line from left to right, lack {absent[0]!r}"
            raise StreamgaugeError(msg)
        return self.columns


def _text_of(schema: str | Path | None) -> str:
    """Give the JSON of an Avro schema, which may stand in a file."""
    if isinstance(schema, str) and schema.lstrip().startswith(("{", "[", '"')):
        return schema
    try:
        text = Path(schema or "").read_text(encoding="utf-8")
        json.loads(text)
    except OSError as error:
        msg = f"cannot read the Avro schema {schema}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    except ValueError as error:
        msg = f"the Avro schema {schema} is not JSON: {error}"
        raise StreamgaugeError(msg) from None
    return text


@dataclass(frozen=True)
class Columns:
    """What events hold, as columns: only the events without a fault.

    Parameters
    ----------
    event
        Which of the events these are.
    x, y, weight, time
        As in `streamgauge.records.Batch`; a time that is missing is NaN.
    keys
        What rows and labels are joined by; None where events have no key.
    received
        When each came into its source.
    faults
        The other events, and what is wrong with each.
    """

    event: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    time: NDArray[np.float64] | None
    keys: list[bytes] | None
    received: NDArray[np.float64]
    faults: list[tuple[int, str]]

    def only(self, kept: NDArray[np.intp]) -> "Columns":
        """Give some of the events."""
        weight, time = (None if column is None else column[kept] for column in (self.weight, self.time))
        keys = None if self.keys is None else [self.keys[i] for i in kept.tolist()]
        return Columns(
            self.event[kept], self.x[kept], self.y[kept], weight, time, keys, self.received[kept], self.faults
        )


class Decoder:
    """Decodes the events of a source, as many as there are at once.

    Parameters
    ----------
    schema
        What rows look like.
    format
        How events are written.
    target, key, time, weight
        The fields that hold the class, the key, the time in seconds and the weight, where there are such.
    keyed
        Whether every event needs a key; without a field for it, that is what the source itself calls the key.
    labels
        Whether events are labels: a key and a class, and no attributes.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> decoder = Decoder(Schema((Attribute("price"),), ("up", "down")), Format(), target="class")
    >>> columns = decoder.decode(Events([b'{"price": 1.5, "class": "down"}', b'{"price": "x"}'], np.zeros(2)))
    >>> columns.x.tolist(), columns.y.tolist(), columns.faults
    ([[1.5]], [1], [(1, "attribute 'price': 'x' is not a number at line 1 column 14")])
    """

    def __init__(
        self,
        schema: Schema,
        format: Format,  # noqa: A002
        *,
        target: str | None,
        key: str | None = None,
        time: str | None = None,
        weight: str | None = None,
        labels: bool = False,
        keyed: bool = False,
    ) -> None:
        fields: list[FieldSpec] = []
        if not labels:
            fields += [(a.name, a.values, "attribute", a.missing) for a in schema.attributes]
        if target is not None:
            fields.append((target, schema.classes, "class", not labels))
        for name, use in ((key, "key"), (time, "time"), (weight, "weight")):
            if name is not None:
                fields.append((name, None, use, use == "time"))
        names = [name for name, *_ in fields]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            msg = f"the field {repeated[0]!r} has two uses; an attribute cannot also be the class, key, time or weight"
            raise StreamgaugeError(msg)
        self._native = format.native(fields)
        self._framed, self._own_key, self._keyed = format.framed, key is not None, keyed
        self._named = b""

    def decode(self, events: Events) -> Columns:
        """Decode events; one that cannot be decoded is among the faults and costs the others nothing."""
        known = list(events.faults)
        values = events.values
        if self._framed:
            values = [value[5:] for value in values]
            known += self._misframed(events.values)
        ends = np.cumsum(np.fromiter(map(len, values), dtype=np.int64, count=len(values)))
        event, x, y, weight, time, keys, faults = self._native.decode(b"".join(values), ends)
        if not self._own_key and events.keys is not None:
            outer = events.keys
            keys = [outer[i] or b"" for i in event.tolist()]
        columns = Columns(event, x, y, weight, time, keys, events.received[event], faults)
        columns = self._without(columns, known)
        return self._without(columns, self._bad_keys(columns)) if self._keyed else columns

    def _misframed(self, values: list[bytes]) -> list[tuple[int, str]]:
        """Tell which events name no schema, or another than the first one does."""
        faults = []
        for i, value in enumerate(values):
            if len(value) < 5 or value[0]:
                faults.append((i, "it does not begin with the five bytes that name a schema"))
                continue
            self._named = self._named or value[1:5]
            if value[1:5] != self._named:
                ids = (int.from_bytes(value[1:5]), int.from_bytes(self._named))
                faults.append((i, f"it names the schema {ids[0]}, where events before it name {ids[1]}"))
        return faults

    @staticmethod
    def _without(columns: Columns, known: list[tuple[int, str]]) -> Columns:
        """Leave out events that are known to be faulty."""
        if not known:
            return columns
        out = {event for event, _ in known}
        told = [fault for fault in columns.faults if fault[0] not in out]
        columns.faults[:] = sorted([*told, *known])
        return columns.only(np.flatnonzero(~np.isin(columns.event, list(out))))

    @staticmethod
    def _bad_keys(columns: Columns) -> list[tuple[int, str]]:
        if columns.keys is None:
            return [(int(event), "it has no key") for event in columns.event]
        return [
            (int(event), "it has no key" if not key else f"its key has more than {LONGEST_KEY} bytes")
            for event, key in zip(columns.event, columns.keys, strict=True)
            if not 0 < len(key) <= LONGEST_KEY
        ]
