"""Decoding of events into columns."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Schema
from streamgauge.streams.live.events import Events
from streamgauge.streams.live.schemas import read_json

__all__ = ["FORMATS", "Columns", "Decoder", "Format", "FormatName"]

FormatName = Literal["json", "csv", "avro"]
FORMATS = ("json", "csv", "avro")
MAX_KEY_BYTES = 1024
"""The most bytes of a key, so that remembered keys take bounded memory; a longer key is a fault."""

FieldSpec = tuple[str, tuple[str, ...] | None, str, bool]
"""A field as the native decoder takes it: name, nominal values, use, and whether it may be missing."""


@dataclass(frozen=True)
class Format:
    """The encoding of an event.

    Parameters
    ----------
    name
        "json", "csv" or "avro".
    columns
        The columns of a CSV line, from left to right; columns that no field uses are skipped.
    delimiter
        The character that separates the values of a CSV line.
    avro
        The Avro schema of the records: JSON, or the path of a JSON file.
    framed
        Whether each record is preceded by the five-byte header of a schema registry.
    time_format
        How times are written: see `streamgauge.streams.File`.

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
    time_format: str | None = None

    def __post_init__(self) -> None:
        if self.name not in FORMATS:
            raise unknown_name(kind="format of events", name=self.name, known=FORMATS)
        if self.name == "avro" and self.avro is None:
            msg = "Avro events need avro_schema: the schema they were written with, as JSON or as the path of a file"
            raise StreamgaugeError(msg)
        if len(self.delimiter) != 1 or not self.delimiter.isascii():
            msg = f"delimiter = {self.delimiter!r}: it must be one ASCII character"
            raise StreamgaugeError(msg)

    def build_decoder(self, fields: list[FieldSpec]) -> _native.EventDecoder:
        """Return a native decoder of events with these fields."""
        try:
            if self.name == "json":
                return _native.EventDecoder.json(fields, self.time_format)
            if self.name == "csv":
                self._check_columns(fields)
                missing = ("?", "")
                return _native.EventDecoder.csv(fields, self.time_format, self.columns, ord(self.delimiter), missing)
            return _native.EventDecoder.avro(fields, self.time_format, _read_avro_schema(self.avro))
        except StreamgaugeError:
            raise
        except ValueError as error:
            raise StreamgaugeError(str(error)) from None

    def _check_columns(self, fields: list[FieldSpec]) -> None:
        repeated = [name for name in self.columns if self.columns.count(name) > 1]
        if repeated:
            msg = f"columns: {repeated[0]!r} occurs twice"
            raise StreamgaugeError(msg)
        absent = [name for name, *_ in fields if name not in self.columns]
        if absent:
            msg = f"columns: {absent[0]!r} is missing; list the fields of a CSV line from left to right"
            raise StreamgaugeError(msg)


def _read_avro_schema(schema: str | Path | None) -> str:
    """Return the JSON of an Avro schema, which may be in a file."""
    if isinstance(schema, str) and schema.lstrip().startswith(("{", "[", '"')):
        return schema
    return read_json(Path(schema or ""), "Avro schema")


@dataclass(frozen=True)
class Columns:
    """Decoded events, as columns; events that could not be decoded are in `faults`.

    Parameters
    ----------
    event_index
        The index of each decoded event among the events of the poll.
    x, y, weight, time
        As in `streamgauge.records.Batch`.
    keys
        The keys by which rows and labels are joined; None if events have no key.
    received
        When each event reached its source.
    faults
        The indexes of the other events, each with the reason.
    """

    event_index: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    time: NDArray[np.float64] | None
    keys: list[bytes] | None
    received: NDArray[np.float64]
    faults: list[tuple[int, str]]

    def select(self, indexes: NDArray[np.intp]) -> "Columns":
        """Return some of the events."""
        return Columns(
            event_index=self.event_index[indexes],
            x=self.x[indexes],
            y=self.y[indexes],
            weight=None if self.weight is None else self.weight[indexes],
            time=None if self.time is None else self.time[indexes],
            keys=None if self.keys is None else [self.keys[i] for i in indexes.tolist()],
            received=self.received[indexes],
            faults=self.faults,
        )


class Decoder:
    """Decoder of the events of a source, which decodes all events of a poll in one native call.

    Parameters
    ----------
    schema
        The schema of the rows.
    format
        The encoding of the events.
    target, key, time, weight
        The fields that hold the class, the key, the time and the weight; None if there is no such field.
    keyed
        Whether every event needs a key: that of the field `key`, or else the one that the source stores.
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
                fields.append((name, None, use, False))
        names = [name for name, *_ in fields]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            msg = f"the field {repeated[0]!r} is used twice; an attribute cannot also be the class, key, time or weight"
            raise StreamgaugeError(msg)
        self._native = format.build_decoder(fields)
        self._framed, self._has_key_field, self._keyed = format.framed, key is not None, keyed
        self._schema_id = b""

    def decode(self, events: Events) -> Columns:
        """Decode events; one that cannot be decoded becomes a fault and does not affect the others."""
        faults = list(events.faults)
        values = events.values
        if self._framed:
            values = [value[5:] for value in values]
            faults += self._check_frames(events.values)
        ends = np.cumsum(np.fromiter(map(len, values), dtype=np.int64, count=len(values)))
        index, x, y, weight, time, keys, decoding_faults = self._native.decode(b"".join(values), ends)
        if not self._has_key_field and events.keys is not None:
            source_keys = events.keys
            keys = [source_keys[i] or b"" for i in index.tolist()]
        columns = Columns(
            event_index=index,
            x=x,
            y=y,
            weight=weight,
            time=time,
            keys=keys,
            received=events.received[index],
            faults=decoding_faults,
        )
        columns = _exclude(columns, faults)
        return _exclude(columns, _check_keys(columns)) if self._keyed else columns

    def _check_frames(self, values: list[bytes]) -> list[tuple[int, str]]:
        """Return the events without a schema identifier, or with another one than the first event."""
        faults = []
        for i, value in enumerate(values):
            if len(value) < 5 or value[0]:
                faults.append((i, "it does not begin with the five-byte header of a schema registry"))
                continue
            self._schema_id = self._schema_id or value[1:5]
            if value[1:5] != self._schema_id:
                ids = (int.from_bytes(value[1:5]), int.from_bytes(self._schema_id))
                faults.append((i, f"it has the schema {ids[0]}, but earlier events have {ids[1]}"))
        return faults


def _exclude(columns: Columns, faults: list[tuple[int, str]]) -> Columns:
    """Move faulty events from the columns to the faults."""
    if not faults:
        return columns
    faulty = {index for index, _ in faults}
    others = [fault for fault in columns.faults if fault[0] not in faulty]
    columns.faults[:] = sorted([*others, *faults])
    return columns.select(np.flatnonzero(~np.isin(columns.event_index, list(faulty))))


def _check_keys(columns: Columns) -> list[tuple[int, str]]:
    """Return the events whose key is missing or too long."""
    if columns.keys is None:
        return [(int(index), "it has no key") for index in columns.event_index]
    return [
        (int(index), "it has no key" if not key else f"its key has more than {MAX_KEY_BYTES} bytes")
        for index, key in zip(columns.event_index, columns.keys, strict=True)
        if not 0 < len(key) <= MAX_KEY_BYTES
    ]
