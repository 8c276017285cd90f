"""What all live streams share: their options, their rows, and how they survive a restart."""

import hashlib
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Batch
from streamgauge.streams.live.decoding import Decoder, Format
from streamgauge.streams.live.event_counts import Counts, DeadLetters
from streamgauge.streams.live.events import Position, Source
from streamgauge.streams.live.reader import Inlet, Reading, unpacked
from streamgauge.streams.live.schemas import schema_of

__all__ = ["LiveStream"]


@dataclass(frozen=True, kw_only=True, repr=False)
class LiveStream:
    """Rows as they come, and no end of them.

    Late, duplicate and malformed events are counted, set aside and never end a run. Events wait where they are until
    they are asked for, so a slow evaluation takes no more memory than a quick one.

    Parameters
    ----------
    schema
        What rows look like: a `Schema`, a stream or a file with such rows, or a mapping such as
        ``{"attributes": {"price": None, "day": ["mo", "tu"]}, "classes": ["up", "down"]}``, also in a file of JSON.
    format
        How events are written: "json" (an object each), "csv" (a line each) or "avro" (a record each).
    target
        The field that holds the class.
    key
        The field that rows and labels are joined by, and by which an event that comes twice is told. None for the key
        that the broker knows where labels come apart, and else for no key at all.
    time
        The field that holds the time of a row, in seconds; None for when it came into the source.
    weight
        The field that holds the weight of a row.
    columns
        The columns of a CSV line. None for the attributes and then, where rows carry it, the class.
    labels
        Where the labels come from, where they come apart: another topic, stream, address or file.
    label_columns
        The columns of a CSV line with a label. None for the key, where it is a field, and the class.
    delimiter
        What separates the values of a CSV line.
    avro_schema, label_avro_schema
        The Avro schema of events, and of labels that come apart: a file, or its JSON.
    avro_framed
        Whether each Avro record has five bytes before it, as clients of a schema registry write them; all events must
        then name the same schema.
    patience
        How many seconds a row waits for its label and a label for its row. A row whose label has not come by then has
        none, and the label is late.
    most_waiting
        How many rows, and how many labels, may wait for each other. It is also how many keys are remembered, so that
        none comes twice.
    max_wait
        After so many seconds rows are handed out even where a batch is not full.
    dead_letters
        The file into which events are written that were set aside; None for none.
    """

    schema: Any = field(default=None, repr=False)
    format: str = "json"
    target: str = "class"
    key: str | None = None
    time: str | None = None
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

    checked: ClassVar[bool] = True
    """Decoding leaves no value that the schema does not allow."""
    has_keys: ClassVar[bool] = False
    """Whether the source knows a key of each event beside what it holds."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", schema_of(self.schema))
        require_between("patience", self.patience, 0.0, float("inf"))
        require_between("max_wait", self.max_wait, 0.0, 60.0)
        require_at_least("most_waiting", self.most_waiting, 1)
        if self.labels is not None and self.key is None and not self.has_keys:
            msg = "labels that come apart are joined by a key: name the field that holds it with key"
            raise StreamgaugeError(msg)
        self._decoders()  # tells at once what is wrong with the options

    def __repr__(self) -> str:
        """Write it as a person would: where it reads from, then what is not as usual."""
        own = sorted((option for option in fields(self) if option.repr), key=lambda option: bool(option.kw_only))
        values = [(option, getattr(self, option.name)) for option in own]
        shown = [
            f"{option.name}={str(value)!r}" if isinstance(value, Path) else f"{option.name}={value!r}"
            for option, value in values
            if value != option.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @abstractmethod
    def _sources(self, positions: list[Position | None]) -> list[Source]:
        """Open where rows and, where they come apart, labels come from."""

    @property
    def n_rows(self) -> None:
        """Nobody knows how many rows there will be."""
        return

    @property
    def fingerprint(self) -> str:
        """A text that differs where another source is read, or is read in another way."""
        same = {"max_wait", "dead_letters"}  # which change no row
        options = [(name, value) for name, value in vars(self).items() if not name.startswith("_") and name not in same]
        return f"live {hashlib.blake2b(repr(options).encode(), digest_size=8).hexdigest()}"

    @cached_property
    def _running(self) -> dict[str, Any]:
        return {}

    @property
    def _reading(self) -> Reading:
        """The reading at hand; the first one begins when it is asked for."""
        if "reading" not in self._running:
            self._begin(None)
        reading: Reading = self._running["reading"]
        return reading

    def _begin(self, positions: list[Position] | None) -> Reading:
        self.close()
        sources = self._sources([None, None] if positions is None else [*positions, None])
        rows, labels = self._decoders()
        reading = Reading(
            self.schema,
            Inlet(sources[0], rows),
            None if labels is None else Inlet(sources[1], labels),
            DeadLetters(self.dead_letters),
            distinct=0 if self.key is None else self.most_waiting,
            patience=self.patience,
            most_waiting=self.most_waiting,
        )
        self._running["reading"] = reading
        self._running["closing"] = weakref.finalize(self, reading.close)
        return reading

    def _decoders(self) -> tuple[Decoder, Decoder | None]:
        apart, own = self.labels is not None, [] if self.key is None else [self.key]
        extra = [name for name in (self.key, self.time, self.weight) if name is not None]
        names = [attribute.name for attribute in self.schema.attributes]
        usual = (*extra, *names) if apart else (*extra, *names, self.target)
        form = self._format(usual if self.columns is None else tuple(self.columns), self.avro_schema)
        keyed = apart or self.key is not None
        rows = Decoder(
            self.schema,
            form,
            target=None if apart else self.target,
            key=self.key,
            time=self.time,
            weight=self.weight,
            keyed=keyed,
        )
        if not apart:
            return rows, None
        columns = (*own, self.target) if self.label_columns is None else tuple(self.label_columns)
        form = self._format(columns, self.label_avro_schema)
        return rows, Decoder(self.schema, form, target=self.target, key=self.key, keyed=True, labels=True)

    def _format(self, columns: tuple[str, ...], avro: str | Path | None) -> Format:
        return Format(self.format, columns, self.delimiter, avro, self.avro_framed)

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Hand out rows from `start` on, up to `size` at a time, without end.

        A batch may have no rows: nothing came for a while. A live stream cannot go back: `start` is where it is, which
        is after the rows handed out so far or, after `restore`, those handed out then; 0 begins anew.
        """
        require_at_least("size", size, 1)
        if start != self._reading.counts.rows:
            if start:
                msg = f"a live stream cannot go to row {start}: it is at row {self._reading.counts.rows}"
                raise StreamgaugeError(msg)
            self._begin(None)
        while True:
            yield self._reading.next(size, self.max_wait)

    def state(self) -> bytes:
        """Give what it takes to go on behind the last batch handed out: positions, what waits, what was counted."""
        return self._reading.save()

    def restore(self, state: bytes) -> None:
        """Go on where a state was taken, in this process or another."""
        head, parts = unpacked(state)
        n_sources = 1 if self.labels is None else 2
        if len(head["positions"]) != n_sources:
            msg = "the saved state is that of another live stream: it has labels that come apart, or has none"
            raise StreamgaugeError(msg)
        self._begin(head["positions"]).load(head, parts)

    def committed(self, state: bytes) -> None:
        """Tell the broker that a state is safe on disk, so that what came before it need never be sent again."""
        positions = unpacked(state)[0]["positions"]
        for source, position in zip(self._reading.sources, positions, strict=True):
            source.commit(position)

    @property
    def counts(self) -> Counts:
        """What became of the events up to now."""
        return Counts(**asdict(self._reading.counts))

    @property
    def lag(self) -> int | None:
        """How many events wait to be read; None where nobody knows."""
        return self._reading.lag

    @property
    def status(self) -> str:
        """How it stands, in few words: what waits, what was set aside, what is wrong."""
        lag, counted = self.lag, str(self.counts)
        troubles = [source.trouble for source in self._reading.sources if source.trouble]
        return " · ".join(filter(None, ["" if lag is None else f"lag {lag:,}", counted, *troubles]))

    def facts(self) -> Mapping[str, object]:
        """Give what the results say of it: counts and lag; nothing where it was not read yet."""
        if "reading" not in self._running:
            return {}
        return {**asdict(self.counts), "lag": self.lag}

    def close(self) -> None:
        """Let go of connections and files; it may then begin anew."""
        closing = self._running.pop("closing", None)
        if closing is not None:
            closing()
        self._running.pop("reading", None)
