"""Kafka, and any broker that speaks its protocol."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.streams.live.events import ENOUGH, NOTHING, Events, Portion, Position, Source
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Kafka"]

MOST = 10_000
"""How many events to take at once, so that their lengths are known before the next."""
LOOK_AGAIN = 30.0
"""After how many seconds to look for new partitions of a topic."""


@dataclass(frozen=True, repr=False)
class Kafka(LiveStream):
    """Rows from a topic of Kafka.

    One evaluation reads all partitions of a topic. The order within a partition is kept; across partitions rows come as
    the broker sends them, so only a topic with one partition has the same order in every run.

    Parameters
    ----------
    topic
        The topic of the rows; `labels` is the topic of the labels.
    servers
        Where brokers answer: hosts with ports, with commas between.
    group
        The consumer group under which offsets are committed, each time a checkpoint is safe on disk. A run that
        resumes no checkpoint begins behind them. None to commit nothing.
    begin
        Where to begin what has no committed offset: at the "earliest" event, or with the "latest" to come.
    options
        Further settings of librdkafka, such as ``{"security.protocol": "ssl"}``.

    Examples
    --------
    >>> schema = {"attributes": {"price": None}, "classes": ["up", "down"]}
    >>> stream = Kafka("trades", "broker:9092", schema=schema, labels="outcomes")
    >>> stream
    Kafka(topic='trades', servers='broker:9092', labels='outcomes')
    """

    topic: str
    servers: str = "localhost:9092"
    group: str | None = None
    begin: Literal["earliest", "latest"] = "earliest"
    options: Mapping[str, Any] | None = field(default=None, repr=False)

    has_keys: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.begin not in {"earliest", "latest"}:
            raise unknown_name(kind="place to begin called", name=self.begin, known=("earliest", "latest"))

    def _sources(self, positions: list[Position | None]) -> list[Source]:
        topics = [self.topic] if self.labels is None else [self.topic, self.labels]
        return [_Topic(self, topic, position) for topic, position in zip(topics, positions, strict=False)]


def _library() -> Any:  # noqa: ANN401
    try:
        import confluent_kafka  # noqa: PLC0415
    except ImportError:
        msg = "reading from Kafka needs confluent-kafka: pip install 'streamgauge[kafka]'"
        raise StreamgaugeError(msg) from None
    return confluent_kafka


class _Topic:
    """All partitions of one topic."""

    def __init__(self, stream: Kafka, topic: str, position: Position | None) -> None:
        self._kafka = _library()
        # not the stream itself, which is closed once nobody holds it
        self._topic, self._servers, self._group, self._begin = topic, stream.servers, stream.group, stream.begin
        self.name = f"topic {topic!r} of {stream.servers}"
        self.trouble, self._portion = "", Portion()
        settings = {
            "bootstrap.servers": stream.servers,
            "group.id": stream.group or "streamgauge",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",  # events that were deleted unread are not passed over in silence
            "queued.max.messages.kbytes": 65_536,
            "fetch.queue.backoff.ms": 5,
            "log_level": 0,
            **(stream.options or {}),
        }
        try:
            self._consumer = self._kafka.Consumer({**settings, "error_cb": self._note})
        except (self._kafka.KafkaException, ValueError, TypeError) as error:
            msg = f"{self.name}: {_told(error)}"
            raise StreamgaugeError(msg) from None
        try:
            self._next = self._begun(position)
            self._times = dict.fromkeys(self._next, -np.inf)
            self._consumer.assign([self._place(partition) for partition in self._next])
        except self._kafka.KafkaException as error:
            self._consumer.close()
            msg = f"{self.name}: no broker answers as it should: {_told(error)}"
            raise StreamgaugeError(msg) from None
        except StreamgaugeError:
            self._consumer.close()
            raise
        self._looked = self._asked = time.monotonic()

    def _note(self, error: Any) -> None:  # noqa: ANN401
        self.trouble = f"{self.name}: {error.str()}"

    def _partitions(self, seconds: float) -> list[int]:
        found = self._consumer.list_topics(self._topic, timeout=seconds).topics[self._topic]
        if found.error is not None or not found.partitions:
            msg = f"there is no topic {self._topic!r} at {self._servers}"
            raise StreamgaugeError(msg)
        return sorted(found.partitions)

    def _begun(self, position: Position | None) -> dict[int, int]:
        """Say for each partition at which offset to begin."""
        partitions = self._partitions(10.0)
        known = {} if position is None else {int(partition): offset for partition, offset in position.items()}
        rest = [self._kafka.TopicPartition(self._topic, p) for p in partitions if p not in known]
        if self._group is not None and position is None and rest:
            known |= {place.partition: place.offset for place in self._committed(rest) if place.offset >= 0}
        for partition in partitions:
            if partition not in known:
                place = self._kafka.TopicPartition(self._topic, partition)
                low, high = self._consumer.get_watermark_offsets(place, timeout=10.0)
                # a partition that came after a checkpoint is read from its start
                known[partition] = high if self._begin == "latest" and position is None else low
        return known

    def _committed(self, places: list[Any]) -> list[Any]:
        """Ask for the offsets of the group; a broker that has just started does not know yet who looks after it."""
        errors, deadline = self._kafka.KafkaError, time.monotonic() + 10.0
        passing = {errors.NOT_COORDINATOR, errors.COORDINATOR_LOAD_IN_PROGRESS, errors.COORDINATOR_NOT_AVAILABLE}
        while True:
            try:
                found: list[Any] = self._consumer.committed(places, timeout=10.0)
            except self._kafka.KafkaException as error:
                if error.args[0].code() not in passing or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return found

    def _place(self, partition: int) -> Any:  # noqa: ANN401
        return self._kafka.TopicPartition(self._topic, partition, self._next[partition])

    def poll(self, most: int, seconds: float) -> Events:
        """Give up to `most` events."""
        self._look_for_partitions()
        messages = self._consumed(most, time.monotonic() + seconds)
        if any(message.error() for message in messages):
            messages = self._without_errors(messages)
        if not messages:
            self._look_for_brokers()
            return NOTHING
        self.trouble = ""
        received = np.array([message.timestamp()[1] for message in messages]) / 1e3
        for message, moment in zip(messages, received.tolist(), strict=True):
            partition = message.partition()
            self._next[partition] = message.offset() + 1
            self._times[partition] = moment
        return Events(
            [message.value() or b"" for message in messages],
            received,
            lambda i: f"partition {messages[i].partition()}, offset {messages[i].offset()}",
            [message.key() for message in messages],
            until=self._until(),
        )

    def _consumed(self, most: int, deadline: float) -> list[Any]:
        """Take messages in portions, each of which waits until it is full or time is up."""
        messages: list[Any] = []
        n_bytes = 0
        while len(messages) < most and n_bytes < ENOUGH:
            asked = self._portion.size(min(most - len(messages), MOST), n_bytes)
            fresh = self._consumer.consume(asked, max(0.0, deadline - time.monotonic()))
            messages += fresh
            n_fresh = sum(map(len, fresh))
            n_bytes += n_fresh
            if fresh:
                self._portion.note(len(fresh), n_fresh)
            if len(fresh) < asked:
                break
        return messages

    def _until(self) -> float:
        """Say until when all events were read: partitions that have no more do not count."""
        behind = [moment for partition, moment in self._times.items() if self._left(partition) != 0]
        return float(min(behind) if behind else max(self._times.values()))

    def _left(self, partition: int) -> int | None:
        """Count the events of a partition that were not read; None before the broker was first asked for any."""
        try:
            _, high = self._consumer.get_watermark_offsets(self._place(partition), cached=True)
        except self._kafka.KafkaException:
            return None
        return None if high < 0 else max(0, int(high) - self._next[partition])

    def _without_errors(self, messages: list[Any]) -> list[Any]:
        for message in messages:
            error = message.error()
            if error is None or error.code() == self._kafka.KafkaError._PARTITION_EOF:
                continue
            if error.code() in {
                self._kafka.KafkaError._AUTO_OFFSET_RESET,
                self._kafka.KafkaError.OFFSET_OUT_OF_RANGE,
            }:
                msg = (
                    f"{self.name}, partition {message.partition()}: the broker has deleted events before they were "
                    f"read ({error.str()}); begin anew without the checkpoint or the group"
                )
                raise StreamgaugeError(msg)
            if error.fatal() or error.code() == self._kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED:
                msg = f"{self.name}: {error.str()}"
                raise StreamgaugeError(msg)
            self._note(error)
        return [message for message in messages if not message.error()]

    def _look_for_brokers(self) -> None:
        """See whether a broker is there, although nothing comes; asks no more than once a second.

        The library tells only once that all are gone, maybe while events that it had fetched before still come.
        """
        if time.monotonic() - self._asked < 1.0:
            return
        self._asked = time.monotonic()
        try:
            self._consumer.list_topics(self._topic, timeout=1.0)
        except self._kafka.KafkaException as error:
            self.trouble = self.trouble or f"{self.name}: {_told(error)}"
        else:
            self.trouble = ""

    def _look_for_partitions(self) -> None:
        if time.monotonic() - self._looked < LOOK_AGAIN:
            return
        self._looked = time.monotonic()
        try:
            fresh = [partition for partition in self._partitions(1.0) if partition not in self._next]
        except (self._kafka.KafkaException, StreamgaugeError):
            return  # the broker is away for the moment
        for partition in fresh:
            self._next[partition], self._times[partition] = 0, -np.inf
        if fresh:
            self._consumer.incremental_assign([self._place(partition) for partition in fresh])

    @property
    def position(self) -> Position:
        """The offsets of the next events."""
        return {str(partition): offset for partition, offset in self._next.items()}

    def commit(self, position: Position) -> None:
        """Commit offsets, where there is a group to do so for."""
        if self._group is None:
            return
        places = [self._kafka.TopicPartition(self._topic, int(p), offset) for p, offset in position.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=False)
        except self._kafka.KafkaException as error:
            self.trouble = f"{self.name}: offsets were not committed: {_told(error)}"

    def lag(self) -> int | None:
        """Count the events that are at the broker and were not read."""
        return sum(self._left(partition) or 0 for partition in self._next)

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()


def _told(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return str(first.str() if hasattr(first, "str") else first)
