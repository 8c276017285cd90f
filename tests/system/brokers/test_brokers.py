"""Real brokers: Redis, Kafka, and a mock cluster of librdkafka whose brokers go down."""

import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import confluent_kafka as ck
import numpy as np
import pytest
import redis
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

import streamgauge as sg
from benchmarks.endless import measure_memory
from peers.brokers import KafkaBroker, RedisServer, find_free_port
from peers.mock_kafka import MockCluster
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import ArrayStream
from streamgauge.streams.live import Kafka, LiveStream, Redis, kafka
from streamgauge.streams.live import events as live_events
from streamgauge.streams.live import redis as redis_source
from streamgauge.streams.live.kafka import _Topic
from streamgauge.streams.live.redis import _Entries
from tests.support.live_examples import SCHEMA, as_csv, as_json, collected, labels_as_json, rows


def send_redis(server: RedisServer, stream: str, values: list[bytes]) -> None:
    with redis.Redis.from_url(server.url) as client:
        pipeline = client.pipeline(transaction=False)
        for value in values:
            pipeline.xadd(stream, {"value": value})
        pipeline.execute()


def send_kafka(
    servers: str, topic: str, values: list[bytes], keys: list[str] | None = None, timestamp: int = 0
) -> None:
    producer = ck.Producer({"bootstrap.servers": servers, "linger.ms": 5})
    for i, value in enumerate(values):
        producer.produce(topic, value, key=None if keys is None else keys[i], timestamp=timestamp)
    assert producer.flush(30) == 0


def make_topics(broker: KafkaBroker, *topics: str, partitions: int = 1) -> None:
    admin = AdminClient({"bootstrap.servers": broker.servers})
    for done in admin.create_topics([NewTopic(topic, partitions, 1) for topic in topics]).values():
        done.result(30)


def same_readings(stream: LiveStream, x: np.ndarray, y: np.ndarray) -> None:
    options: dict[str, Any] = {"every": 100, "n_rows": len(y)}
    learners = [sg.NaiveBayes(), sg.MajorityClass()]
    live, still = (sg.evaluate(s, learners, **options) for s in (stream, ArrayStream(x, y, schema=SCHEMA)))
    np.testing.assert_array_equal(live.values, still.values)


def test_redis_rows_are_evaluated_as_those_in_memory_are(redis_server: RedisServer) -> None:
    x, y = rows(3000)
    send_redis(redis_server, "lines", as_csv(x, y))
    stream = Redis("lines", redis_server.url, schema=SCHEMA, format="csv", max_wait=0.1)
    same_readings(stream, x, y)
    assert stream.lag == 0
    keys = [f"k{i}" for i in range(len(y))]
    send_redis(redis_server, "rows", [b"{", *as_json(x, None, keys)])
    send_redis(redis_server, "labels", labels_as_json(y, keys)[::-1])
    same_readings(Redis("rows", redis_server.url, schema=SCHEMA, key="id", labels="labels", max_wait=0.1), x, y)


def test_the_fields_of_an_entry_may_be_those_of_the_row(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.xadd("fields", {"price": "1.5", "day": "tu", "class": "down"})
        client.xadd("fields", {"price": b"\xff", "class": "down"})
        client.xadd("fields", {"price": "2", "class": "up"})
    stream = Redis("fields", redis_server.url, field=None, schema=SCHEMA, max_wait=0.1)
    batch = collected(stream, 2)
    assert batch.y.tolist() == [1, 0]
    np.testing.assert_array_equal(batch.x, [[1.5, 1.0], [2.0, np.nan]])
    assert stream.counts.malformed == 1


def test_redis_learns_how_far_a_run_is_only_when_a_state_is_safe(redis_server: RedisServer) -> None:
    x, y = rows(100)
    send_redis(redis_server, "safe", as_json(x, y))
    options: dict[str, Any] = {"schema": SCHEMA, "group": "gauge", "max_wait": 0.1}
    stream = Redis("safe", redis_server.url, **options)
    first = next(stream.batches(30))
    state = stream.state()
    next(stream.batches(30, 30))
    np.testing.assert_array_equal(next(Redis("safe", redis_server.url, **options).batches(30)).x, first.x)
    stream.committed(state)
    on = Redis("safe", redis_server.url, **options)
    np.testing.assert_array_equal(collected(on, 70).x, x[30:])
    assert on.lag == 0
    with redis.Redis.from_url(redis_server.url) as client:
        client.xtrim("safe", maxlen=10, approximate=False)
    again = Redis("safe", redis_server.url, **options)
    with pytest.raises(StreamgaugeError, match="entries were deleted before they were read"):
        collected(again, 1)


def test_a_run_outlives_a_restart_of_redis(redis_server: RedisServer) -> None:
    x, y = rows(200)
    send_redis(redis_server, "restart", as_json(x[:100], y[:100]))
    stream = Redis("restart", redis_server.url, schema=SCHEMA, max_wait=0.1)
    first = collected(stream, 100)
    time.sleep(1.1)  # what was written less than a second ago may be lost to a kill
    redis_server.kill()
    assert len(next(stream.batches(10, 100))) == 0
    assert "Connection refused" in stream.status or "Error" in stream.status
    redis_server.start()
    send_redis(redis_server, "restart", as_json(x[100:], y[100:]))
    rest = collected(stream, 100)
    np.testing.assert_array_equal(np.concatenate([first.x, rest.x]), x)


def test_a_broker_that_does_not_answer_is_reported() -> None:
    port = find_free_port()
    with pytest.raises(StreamgaugeError, match="cannot read from Redis"):
        next(Redis("rows", f"redis://user:secret@127.0.0.1:{port}", schema=SCHEMA).batches(1))
    with pytest.raises(StreamgaugeError) as caught:
        next(Redis("rows", f"redis://user:secret@127.0.0.1:{port}", schema=SCHEMA).batches(1))
    assert "secret" not in str(caught.value)


def test_kafka_rows_are_evaluated_as_those_in_memory_are(kafka_broker: KafkaBroker) -> None:
    x, y = rows(3000)
    keys = [f"k{i}" for i in range(len(y))]
    make_topics(kafka_broker, "lines", "rows", "labels")
    send_kafka(kafka_broker.servers, "lines", as_csv(x, y))
    stream = Kafka("lines", kafka_broker.servers, schema=SCHEMA, format="csv", max_wait=0.2)
    same_readings(stream, x, y)
    assert stream.lag == 0
    send_kafka(kafka_broker.servers, "rows", [*as_json(x), b"{"], [*keys, "broken"])
    label = [json.dumps({"class": SCHEMA.classes[code]}).encode() for code in y]
    send_kafka(kafka_broker.servers, "labels", label, keys)
    joined = Kafka("rows", kafka_broker.servers, schema=SCHEMA, labels="labels", max_wait=0.2)
    same_readings(joined, x, y)
    with pytest.raises(StreamgaugeError, match="there is no topic 'nothing'"):
        next(Kafka("nothing", kafka_broker.servers, schema=SCHEMA).batches(1))


def test_a_topic_of_many_partitions_loses_and_repeats_no_row_over_restarts(kafka_broker: KafkaBroker) -> None:
    n = 2000
    x, y = rows(n)
    keys = [f"k{i}" for i in range(n)]
    make_topics(kafka_broker, "parts", "parts-labels", partitions=3)
    send_kafka(kafka_broker.servers, "parts", as_json(x), keys)
    send_kafka(kafka_broker.servers, "parts-labels", labels_as_json(y, keys), keys)
    options: dict[str, Any] = {"schema": SCHEMA, "labels": "parts-labels", "group": "gauge", "max_wait": 0.2}
    stream = Kafka("parts", kafka_broker.servers, **options)
    parts = []
    for _ in range(4):
        parts.append(collected(stream, 400, size=150))
        state = stream.state()
        stream.committed(state)
        next(stream.batches(100, stream.counts.rows))  # lost with the process
        stream.close()
        stream = Kafka("parts", kafka_broker.servers, **options)
        stream.restore(state)
    parts.append(collected(stream, n - sum(map(len, parts))))
    found = np.concatenate([np.column_stack([part.x, part.y]) for part in parts])
    expected = np.column_stack([x, y])
    np.testing.assert_array_equal(found[np.lexsort(found.T)], expected[np.lexsort(expected.T)])
    stream.committed(stream.state())
    again = Kafka("parts", kafka_broker.servers, **{**options, "max_wait": 1.0})
    assert len(next(again.batches(10))) == 0  # the group has read all
    committed = ck.Consumer({"bootstrap.servers": kafka_broker.servers, "group.id": "gauge"})
    places = committed.committed([ck.TopicPartition("parts", p) for p in range(3)], timeout=10)
    assert sum(place.offset for place in places) == n
    committed.close()


def test_a_run_outlives_a_restart_of_kafka(kafka_broker: KafkaBroker) -> None:
    x, y = rows(400)
    make_topics(kafka_broker, "restart")
    send_kafka(kafka_broker.servers, "restart", as_json(x[:200], y[:200]))
    stream = Kafka("restart", kafka_broker.servers, schema=SCHEMA, max_wait=0.2)
    first = collected(stream, 200)
    kafka_broker.kill()
    assert len(next(stream.batches(10, 200))) == 0
    kafka_broker.start()
    send_kafka(kafka_broker.servers, "restart", as_json(x[200:], y[200:]))
    rest = collected(stream, 200, seconds=60)
    np.testing.assert_array_equal(np.concatenate([first.x, rest.x]), x)


def test_a_slow_evaluation_of_kafka_holds_no_more_than_its_queue(kafka_broker: KafkaBroker) -> None:
    n, note = 12_000, b', "note": "' + b"x" * 16_384 + b'"}'  # some 190 MiB, of which 64 may wait here
    x, y = rows(n)
    make_topics(kafka_broker, "much")
    for start in range(0, n, 1000):  # so that what is sent leaves no room behind in this process
        part = slice(start, start + 1000)
        send_kafka(kafka_broker.servers, "much", [event[:-1] + note for event in as_json(x[part], y[part])])
    stream = Kafka("much", kafka_broker.servers, schema=SCHEMA, max_wait=0.2)
    next(stream.batches(1))
    before, deadline = measure_memory(), time.monotonic() + 3
    while time.monotonic() < deadline:
        next(stream.batches(10, stream.counts.rows))
        time.sleep(0.1)
    assert measure_memory() - before < 96
    assert stream.lag == n - stream.counts.rows > 0
    done = stream.counts.rows
    np.testing.assert_array_equal(collected(stream, n - done, seconds=60).x, x[done:])
    stream.close()


def test_brokers_go_down_and_come_up_and_no_row_is_lost(mock_kafka: MockCluster) -> None:
    x, y = rows(300)
    mock_kafka.create("mocked")
    send_kafka(mock_kafka.servers, "mocked", as_json(x[:200], y[:200]))
    options = {"reconnect.backoff.max.ms": 200}
    stream = Kafka("mocked", mock_kafka.servers, schema=SCHEMA, max_wait=0.2, options=options)
    parts = [next(stream.batches(150))]
    mock_kafka.down()
    deadline = time.monotonic() + 30
    while not stream.status.count("mocked") and time.monotonic() < deadline:
        parts.append(next(stream.batches(150, stream.counts.rows)))
    assert "mocked" in stream.status
    mock_kafka.up()
    send_kafka(mock_kafka.servers, "mocked", as_json(x[200:], y[200:]))
    parts.append(collected(stream, 300 - sum(map(len, parts)), seconds=60))
    np.testing.assert_array_equal(np.concatenate([part.x for part in parts]), x)
    deadline = time.monotonic() + 30  # a broker that has only just come back may be slow to answer
    while "mocked" in stream.status and time.monotonic() < deadline:
        assert not len(next(stream.batches(150, stream.counts.rows)))
    assert "mocked" not in stream.status
    stream.close()


def test_no_label_is_given_up_while_the_brokers_of_its_row_are_away(
    mock_kafka: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the library tells only once that brokers are gone, and events that it fetched before seem to show the opposite
    monkeypatch.setattr("streamgauge.streams.live.kafka._Topic._note", lambda *_: None)
    x, y = rows(60)
    keys = [f"k{i}" for i in range(len(y))]
    mock_kafka.create("held")
    mock_kafka.create("held-labels")
    sent_at = int(time.time() * 1000)
    send_kafka(mock_kafka.servers, "held-labels", labels_as_json(y, keys), keys)
    send_kafka(mock_kafka.servers, "held", as_json(x[:40]), keys[:40])
    stream = Kafka(
        "held", mock_kafka.servers, schema=SCHEMA, labels="held-labels", max_wait=0.05, patience=2.0, most_waiting=100
    )
    parts = [next(stream.batches(1))]
    mock_kafka.down()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        parts.append(next(stream.batches(5, stream.counts.rows)))
    assert stream.counts.unmatched == 0
    mock_kafka.up()
    send_kafka(mock_kafka.servers, "held", as_json(x[40:]), keys[40:], timestamp=sent_at)
    parts.append(collected(stream, 60 - sum(map(len, parts)), seconds=60))
    np.testing.assert_array_equal(np.concatenate([part.x for part in parts]), x)
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)
    stream.close()


def test_a_partition_that_was_not_asked_yet_holds_back_and_an_empty_one_does_not(
    mock_kafka: MockCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [b"%05d" % i + b"x" * 995 for i in range(300)]
    mock_kafka.create("apart", partitions=2)
    producer = ck.Producer({"bootstrap.servers": mock_kafka.servers})
    for value in [*values, None]:
        producer.produce("apart", value, partition=0, timestamp=50_000_000)
    assert producer.flush(30) == 0
    topic = _Topic(Kafka("apart", mock_kafka.servers, schema=SCHEMA), "apart", None)
    monkeypatch.setattr(kafka, "MAX_POLL_BYTES", 100_000)
    found: list[bytes] = []
    while len(found) <= len(values):
        fresh = topic.poll(10**6, 0.2).values
        assert len(fresh) <= 256
        found += fresh
    assert found == [*values, b""]
    deadline = time.monotonic() + 20
    while topic._count_unread(1) is None and time.monotonic() < deadline:
        topic.poll(1, 0.1)
    assert topic._compute_watermark() == 50_000.0  # partition 1 is known to be empty
    watermarks = topic._consumer.get_watermark_offsets
    unknown = {0: watermarks(topic._build_partition(0), cached=True), 1: (-1001, -1001)}
    consumer = SimpleNamespace(get_watermark_offsets=lambda place, cached: unknown[place.partition])  # noqa: ARG005
    with monkeypatch.context() as before:
        before.setattr(topic, "_consumer", consumer)
        assert topic._compute_watermark() == -np.inf
        assert topic.lag() == 0
    topic.close()


def test_long_entries_of_redis_are_asked_for_few_at_a_time(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = [b"%05d" % i + b"x" * 995 for i in range(1000)]
    send_redis(redis_server, "long", values)
    for module in (redis_source, live_events):
        monkeypatch.setattr(module, "MAX_POLL_BYTES", 1 << 17)
    entries = _Entries(Redis("long", redis_server.url, schema=SCHEMA), "long", None)
    polls = [entries.poll(10**6, 0.2).values for _ in range(9)]
    assert [value for poll in polls for value in poll] == values
    assert max(map(len, polls)) <= 135
    entries.close()


def test_kafka_that_does_not_answer_is_reported_and_leaves_no_thread_behind() -> None:
    stream = Kafka("rows", "127.0.0.1:1", schema=SCHEMA, options={"socket.timeout.ms": 500})
    started = threading.active_count()
    with pytest.raises(StreamgaugeError, match="cannot read from the broker"):
        next(stream.batches(1))
    assert threading.active_count() == started
