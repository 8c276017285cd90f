"""Topics of Kafka, or of any broker with its protocol, as live streams."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.streams.live.events import MAX_POLL_BYTES, NO_EVENTS, Events, EventSource, PollSize, Position
from streamgauge.streams.live.stream import LiveStream

__all__ = ["Kafka"]

MAX_REQUEST = 10_000
"""The most events of one request, so that the lengths of events are known before the next."""
PARTITION_CHECK_SECONDS = 30.0
"""Time between checks for new partitions of a topic."""


@dataclass(frozen=True, repr=False)
class Kafka(LiveStream):
    """Rows from a topic of Kafka.

    One evaluation reads all partitions of a topic. The order within a partition is preserved; across partitions rows
    arrive as the broker sends them, so only a topic with one partition has the same order in every run.

    Parameters
    ----------
    topic
        The topic of the rows; `labels` is the topic of the labels.
    servers
        Addresses of brokers as host:port, separated by commas.
    group
        The consumer group under which offsets are committed whenever a checkpoint is safe on disk. A run that resumes
        no checkpoint starts behind them. None commits nothing.
    begin
        Where to start in a partition without a committed offset: at the "earliest" event, or with the next event to
        arrive ("latest").
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
            raise unknown_name(kind="start position", name=self.begin, known=("earliest", "latest"))

    def _open_sources(self, positions: list[Position | None]) -> list[EventSource]:
        topics = [self.topic] if self.labels is None else [self.topic, self.labels]
        return [_Topic(self, topic, position) for topic, position in zip(topics, positions, strict=False)]


class _Topic:
    """Source of the events of all partitions of one topic."""

    def __init__(self, stream: Kafka, topic: str, position: Position | None) -> None:
        self._kafka = library("confluent_kafka", "kafka")
        # No reference to the stream: it is closed when it is garbage-collected.
        self._topic, self._servers, self._group, self._begin = topic, stream.servers, stream.group, stream.begin
        self.name = f"topic {topic!r} of {stream.servers}"
        self.problem, self._poll_size = "", PollSize()
        settings = {
            "bootstrap.servers": stream.servers,
            "group.id": stream.group or "streamgauge",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",  # events that were deleted unread must not be skipped silently
            "queued.max.messages.kbytes": 65_536,
            "fetch.queue.backoff.ms": 5,
            "log_level": 0,
            **(stream.options or {}),
        }
        try:
            self._consumer = self._kafka.Consumer({**settings, "error_cb": self._note})
        except (self._kafka.KafkaException, ValueError, TypeError) as error:
            msg = f"{self.name}: {self._describe(error)}"
            raise StreamgaugeError(msg) from None
        try:
            self._next_offsets = self._find_start(position)
            self._times = dict.fromkeys(self._next_offsets, -np.inf)
            self._consumer.assign([self._build_partition(partition) for partition in self._next_offsets])
        except self._kafka.KafkaException as error:
            self._consumer.close()
            msg = f"{self.name}: cannot read from the broker: {self._describe(error)}"
            raise StreamgaugeError(msg) from None
        except StreamgaugeError:
            self._consumer.close()
            raise
        self._partitions_checked = self._brokers_checked = time.monotonic()

    def _note(self, error: Any) -> None:  # noqa: ANN401
        self.problem = f"{self.name}: {error.str()}"

    def _describe(self, error: Exception) -> str:
        cause = error.args[0] if error.args else error
        return str(cause.str() if isinstance(cause, self._kafka.KafkaError) else cause)

    def _list_partitions(self, seconds: float) -> list[int]:
        metadata = self._consumer.list_topics(self._topic, timeout=seconds).topics[self._topic]
        if metadata.error is not None or not metadata.partitions:
            msg = f"there is no topic {self._topic!r} at {self._servers}"
            raise StreamgaugeError(msg)
        return sorted(metadata.partitions)

    def _find_start(self, position: Position | None) -> dict[int, int]:
        """Return the offset at which to start, by partition."""
        partitions = self._list_partitions(10.0)
        offsets = {} if position is None else {int(partition): offset for partition, offset in position.items()}
        rest = [self._kafka.TopicPartition(self._topic, p) for p in partitions if p not in offsets]
        if self._group is not None and position is None and rest:
            offsets |= {entry.partition: entry.offset for entry in self._fetch_committed(rest) if entry.offset >= 0}
        for partition in partitions:
            if partition not in offsets:
                entry = self._kafka.TopicPartition(self._topic, partition)
                low, high = self._consumer.get_watermark_offsets(entry, timeout=10.0)
                # A partition that was created after the checkpoint is read from its start.
                offsets[partition] = high if self._begin == "latest" and position is None else low
        return offsets

    def _fetch_committed(self, partitions: list[Any]) -> list[Any]:
        """Return the committed offsets of the group; retry while a starting broker has no group coordinator."""
        errors, deadline = self._kafka.KafkaError, time.monotonic() + 10.0
        transient = {errors.NOT_COORDINATOR, errors.COORDINATOR_LOAD_IN_PROGRESS, errors.COORDINATOR_NOT_AVAILABLE}
        while True:
            try:
                committed: list[Any] = self._consumer.committed(partitions, timeout=10.0)
            except self._kafka.KafkaException as error:
                if error.args[0].code() not in transient or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return committed

    def _build_partition(self, partition: int) -> Any:  # noqa: ANN401
        return self._kafka.TopicPartition(self._topic, partition, self._next_offsets[partition])

    def poll(self, limit: int, seconds: float) -> Events:
        """Return up to `limit` events."""
        self._check_partitions()
        messages = self._consume(limit, time.monotonic() + seconds)
        if any(message.error() for message in messages):
            messages = self._remove_errors(messages)
        if not messages:
            self._check_brokers()
            return NO_EVENTS
        self.problem = ""
        received = np.array([message.timestamp()[1] for message in messages]) / 1e3
        for message, seconds_since_1970 in zip(messages, received.tolist(), strict=True):
            partition = message.partition()
            self._next_offsets[partition] = message.offset() + 1
            self._times[partition] = seconds_since_1970
        return Events(
            values=[message.value() or b"" for message in messages],
            received=received,
            locate=lambda i: f"partition {messages[i].partition()}, offset {messages[i].offset()}",
            keys=[message.key() for message in messages],
            watermark=self._compute_watermark(),
        )

    def _consume(self, limit: int, deadline: float) -> list[Any]:
        """Consume messages in several requests, each of which waits until it is full or the deadline has passed."""
        messages: list[Any] = []
        n_bytes = 0
        while len(messages) < limit and n_bytes < MAX_POLL_BYTES:
            n_requested = self._poll_size.choose(min(limit - len(messages), MAX_REQUEST), n_bytes)
            reply = self._consumer.consume(n_requested, max(0.0, deadline - time.monotonic()))
            messages += reply
            reply_bytes = sum(map(len, reply))
            n_bytes += reply_bytes
            if reply:
                self._poll_size.update(len(reply), reply_bytes)
            if len(reply) < n_requested:
                break
        return messages

    def _compute_watermark(self) -> float:
        """Return the time until which all events were read; exhausted partitions do not count."""
        behind = [time_ for partition, time_ in self._times.items() if self._count_unread(partition) != 0]
        return float(min(behind) if behind else max(self._times.values()))

    def _count_unread(self, partition: int) -> int | None:
        """Return the number of unread events of a partition; None before the first fetch from the broker."""
        try:
            _, high = self._consumer.get_watermark_offsets(self._build_partition(partition), cached=True)
        except self._kafka.KafkaException:
            return None
        return None if high < 0 else max(0, int(high) - self._next_offsets[partition])

    def _remove_errors(self, messages: list[Any]) -> list[Any]:
        """Return the messages without errors; raise if an error is permanent."""
        errors = self._kafka.KafkaError
        for message in messages:
            error = message.error()
            if error is None or error.code() == errors._PARTITION_EOF:
                continue
            if error.code() in {errors._AUTO_OFFSET_RESET, errors.OFFSET_OUT_OF_RANGE}:
                msg = (
                    f"{self.name}, partition {message.partition()}: the broker deleted events before they were read "
                    f"({error.str()}); start over without the checkpoint or the group"
                )
                raise StreamgaugeError(msg)
            if error.fatal() or error.code() == errors.TOPIC_AUTHORIZATION_FAILED:
                msg = f"{self.name}: {error.str()}"
                raise StreamgaugeError(msg)
            self._note(error)
        return [message for message in messages if not message.error()]

    def _check_brokers(self) -> None:
        """Check, at most once a second, whether a broker is available although no events arrive.

        librdkafka reports only once that all brokers are down, possibly while events that it fetched before still
        arrive.
        """
        if time.monotonic() - self._brokers_checked < 1.0:
            return
        self._brokers_checked = time.monotonic()
        try:
            self._consumer.list_topics(self._topic, timeout=1.0)
        except self._kafka.KafkaException as error:
            self.problem = self.problem or f"{self.name}: {self._describe(error)}"
        else:
            self.problem = ""

    def _check_partitions(self) -> None:
        """Assign partitions that were added to the topic."""
        if time.monotonic() - self._partitions_checked < PARTITION_CHECK_SECONDS:
            return
        self._partitions_checked = time.monotonic()
        try:
            added = [p for p in self._list_partitions(1.0) if p not in self._next_offsets]
        except (self._kafka.KafkaException, StreamgaugeError):
            return  # the broker is unavailable at the moment
        for partition in added:
            self._next_offsets[partition], self._times[partition] = 0, -np.inf
        if added:
            self._consumer.incremental_assign([self._build_partition(partition) for partition in added])

    @property
    def position(self) -> Position:
        """The offset of the next event, by partition."""
        return {str(partition): offset for partition, offset in self._next_offsets.items()}

    def commit(self, position: Position) -> None:
        """Commit offsets, if there is a consumer group."""
        if self._group is None:
            return
        offsets = [self._kafka.TopicPartition(self._topic, int(p), offset) for p, offset in position.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except self._kafka.KafkaException as error:
            self.problem = f"{self.name}: offsets were not committed: {self._describe(error)}"

    def lag(self) -> int | None:
        """Return the number of unread events at the broker."""
        return sum(self._count_unread(partition) or 0 for partition in self._next_offsets)

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()
