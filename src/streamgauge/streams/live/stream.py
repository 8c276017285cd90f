"""Base class of live streams: options, batches, and resuming from a saved state."""

import hashlib
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.protocols import LiveStreamBase
from streamgauge.records import Batch
from streamgauge.streams.live.decoding import Decoder, Format
from streamgauge.streams.live.event_counts import Counts, DeadLetterFile
from streamgauge.streams.live.events import EventSource, Position
from streamgauge.streams.live.reader import Input, LiveReader, unpack_state
from streamgauge.streams.live.schemas import as_schema

__all__ = ["LiveStream"]


@dataclass(frozen=True, kw_only=True, repr=False)
class LiveStream(LiveStreamBase):
    """Rows as they arrive, without end.

    Late, duplicate and malformed events are counted and rejected; they never stop a run. Events stay in their source
    until they are polled, so a slow evaluation needs no more memory than a fast one.

    Parameters
    ----------
    schema
        The schema of the rows: a `Schema`, a stream or a file with that schema, or a mapping such as
        ``{"attributes": {"price": None, "day": ["mo", "tu"]}, "classes": ["up", "down"]}``, also in a JSON file.
    format
        The encoding of events: "json" (one object each), "csv" (one line each) or "avro" (one record each).
    target
        The field that holds the class.
    key
        The field by which rows and labels are joined and duplicates are recognised. None uses the key of the broker if
        labels have their own source, and otherwise no key.
    time
        The field that holds the time of a row; None uses the time at which the source received the row. A row without a
        time, or with one that cannot be read, is rejected. Events may overtake each other: a row that is earlier than
        one before it counts at the latest time so far, and `Counts.out_of_order` counts it.
    time_format
        How times are written: None for ISO 8601 or seconds since 1970; "s", "ms", "us" or "ns" for numbers since 1970;
        or a format such as "%d/%m/%Y %H:%M". Avro's timestamps and dates need none.
    weight
        The field that holds the weight of a row.
    columns
        The columns of a CSV line. None for the attributes, followed by the class if rows carry it.
    labels
        The source of the labels if it is not that of the rows: another topic, stream, address or file.
    label_columns
        The columns of a CSV line with a label. None for the key, if it is a field, and the class.
    delimiter
        The character that separates the values of a CSV line.
    avro_schema, label_avro_schema
        The Avro schema of events, and of labels with their own source: JSON, or the path of a file.
    avro_framed
        Whether each Avro record is preceded by the five-byte header of a schema registry; all events must then have the
        same schema.
    patience
        How many seconds a row waits for its label and a label for its row. A row whose label has not arrived by then
        stays unlabelled, and the label is late.
    most_waiting
        The most rows, and the most labels, that may wait for each other; also the number of keys that are remembered
        to recognise duplicates.
    max_wait
        After this many seconds rows are handed out even if the batch is not full.
    dead_letters
        The file to which rejected events are written; None writes none.
    """

    schema: Any = field(default=None, repr=False)
    format: str = "json"
    target: str = "class"
    key: str | None = None
    time: str | None = None
    time_format: str | None = None
    weight: str | None = None
    columns: tuple[str, ...] | None = None
    labels: str | None = None
    label_columns: tuple[str, ...] | None = None
    delimiter: str = ","
    avro_schema: str | Path | None = field(default=None, repr=False)
    label_avro_schema: str | Path | None = field(default=None, repr=False)
    avro_framed: bool = False
    patience: float = 60.0
    most_waiting: int = 100_000
    max_wait: float = 0.5
    dead_letters: str | Path | None = field(default=None, repr=False)

    checked = True
    """Decoding rejects values that the schema does not allow."""
    has_keys: ClassVar[bool] = False
    """Whether the source stores a key with each event."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", as_schema(self.schema))
        require_between("patience", self.patience, 0.0, float("inf"))
        require_between("max_wait", self.max_wait, 0.0, 60.0)
        require_at_least("most_waiting", self.most_waiting, 1)
        if self.labels is not None and self.key is None and not self.has_keys:
            msg = "labels with their own source are joined with the rows by a key: set key to the field that holds it"
            raise StreamgaugeError(msg)
        if self.time_format is not None and self.time is None:
            msg = f"time_format={self.time_format!r} needs the field that it describes: set time=..."
            raise StreamgaugeError(msg)
        self._build_decoders()  # reports invalid options at once

    def __repr__(self) -> str:
        """Return the options that differ from their defaults, those of the source first."""
        options = sorted((option for option in fields(self) if option.repr), key=lambda option: bool(option.kw_only))
        values = [(option, getattr(self, option.name)) for option in options]
        texts = [
            f"{option.name}={str(value)!r}" if isinstance(value, Path) else f"{option.name}={value!r}"
            for option, value in values
            if value != option.default
        ]
        return f"{type(self).__name__}({', '.join(texts)})"

    @abstractmethod
    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:
        """Open the source of the rows and, if they have their own, that of the labels."""

    @property
    def has_times(self) -> bool:
        """True: a row without a time of its own has that at which its source received it."""
        return True

    @property
    def n_rows(self) -> None:
        """None: the number of rows is unknown."""
        return

    @property
    def fingerprint(self) -> str:
        """Digest of the options that determine the rows."""
        ignored = {"max_wait", "dead_letters"}
        options = [
            (name, value) for name, value in vars(self).items() if not name.startswith("_") and name not in ignored
        ]
        return f"live {hashlib.blake2b(repr(options).encode(), digest_size=8).hexdigest()}"

    @cached_property
    def _running(self) -> dict[str, Any]:
        return {}

    @property
    def _reader(self) -> LiveReader:
        """The current reader; the first is started on first use."""
        if "reader" not in self._running:
            self._start(None)
        reader: LiveReader = self._running["reader"]
        return reader

    def _start(self, positions: list[Position] | None) -> LiveReader:
        self.close()
        sources = self._open_sources([None, None] if positions is None else [*positions, None])
        rows, labels = self._build_decoders()
        reader = LiveReader(
            self.schema,
            Input(sources[0], rows),
            None if labels is None else Input(sources[1], labels),
            DeadLetterFile(self.dead_letters),
            distinct=0 if self.key is None else self.most_waiting,
            patience=self.patience,
            most_waiting=self.most_waiting,
        )
        self._running["reader"] = reader
        self._running["close"] = weakref.finalize(self, reader.close)
        return reader

    def _build_decoders(self) -> tuple[Decoder, Decoder | None]:
        """Return the decoder of rows, and that of labels if they have their own source."""
        own_labels = self.labels is not None
        extra = [name for name in (self.key, self.time, self.weight) if name is not None]
        columns = [*extra, *(attribute.name for attribute in self.schema.attributes)]
        if not own_labels:
            columns.append(self.target)
        rows = Decoder(
            self.schema,
            self._build_format(columns if self.columns is None else self.columns, self.avro_schema),
            target=None if own_labels else self.target,
            key=self.key,
            time=self.time,
            weight=self.weight,
            keyed=own_labels or self.key is not None,
        )
        if not own_labels:
            return rows, None
        label_columns = [self.target] if self.key is None else [self.key, self.target]
        labels = Decoder(
            self.schema,
            self._build_format(
                label_columns if self.label_columns is None else self.label_columns, self.label_avro_schema
            ),
            target=self.target,
            key=self.key,
            keyed=True,
            labels=True,
        )
        return rows, labels

    def _build_format(self, columns: Sequence[str], avro: str | Path | None) -> Format:
        return Format(
            name=self.format,
            columns=tuple(columns),
            delimiter=self.delimiter,
            avro=avro,
            framed=self.avro_framed,
            time_format=self.time_format,
        )

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield rows from `start` on, up to `size` at a time, without end.

        A batch without rows means that none arrived for a while. A live stream cannot go back: `start` must be the
        number of rows handed out so far, including those before `restore`; 0 starts over.
        """
        require_at_least("size", size, 1)
        if start != self._reader.counts.rows:
            if start:
                msg = f"a live stream cannot go to row {start}: it is at row {self._reader.counts.rows}"
                raise StreamgaugeError(msg)
            self._start(None)
        while True:
            yield self._reader.read_batch(size, self.max_wait)

    def state(self) -> bytes:
        """Return the state after the last batch that was handed out: positions, waiting events and counts."""
        return self._reader.save()

    def restore(self, state: bytes) -> None:
        """Resume from a saved state, in this process or another."""
        head, parts = unpack_state(state)
        n_sources = 1 if self.labels is None else 2
        if len(head["positions"]) != n_sources:
            msg = "the saved state is that of another live stream: only one of the two has a source of labels"
            raise StreamgaugeError(msg)
        self._start(head["positions"]).load(head, parts)

    def committed(self, state: bytes) -> None:
        """Acknowledge to the broker that a state is safe on disk: events before it need never be sent again."""
        positions = unpack_state(state)[0]["positions"]
        for source, position in zip(self._reader.sources, positions, strict=True):
            source.commit(position)

    @property
    def counts(self) -> Counts:
        """Numbers of events by outcome, so far."""
        return Counts(**asdict(self._reader.counts))

    @property
    def lag(self) -> int | None:
        """Number of events that wait to be read; None if unknown."""
        return self._reader.lag

    @property
    def status(self) -> str:
        """A short text for the progress bar: lag, counts and problems."""
        lag = self.lag
        problems = [source.problem for source in self._reader.sources]
        return " · ".join(filter(None, ["" if lag is None else f"lag {lag:,}", str(self.counts), *problems]))

    def facts(self) -> Mapping[str, object]:
        """Return counts and lag, for the manifest; nothing if the stream has not been read yet."""
        if "reader" not in self._running:
            return {}
        return {**asdict(self.counts), "lag": self.lag}

    def close(self) -> None:
        """Close connections and files; reading then starts over."""
        close = self._running.pop("close", None)
        if close is not None:
            close()
        self._running.pop("reader", None)
