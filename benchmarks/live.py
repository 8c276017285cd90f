"""Rows per second from Redis Streams and from Kafka through ten learners, next to a consumer that only reads.

For each broker, in one run: events are written, then read by a bare consumer (the client library alone, values are
discarded), then evaluated. Other load slows both, so the ratio is more reliable than either.

Run with ``python -m benchmarks live [ROWS]``.
"""

import json
import sys
import time
from collections.abc import Callable

import confluent_kafka as ck
import numpy as np
import redis

import streamgauge as sg
from peers.brokers import KafkaBroker, RedisServer, explain_missing_kafka, explain_missing_redis
from streamgauge.learners import Perceptron
from streamgauge.streams import in_memory
from streamgauge.streams.live import Kafka, LiveStream, Redis

LEARNERS = {
    **{f"NaiveBayes {i}": sg.NaiveBayes(seed=i) for i in range(3)},
    **{f"MajorityClass {i}": sg.MajorityClass(window=w) for i, w in enumerate((None, 1000, 10_000))},
    **{f"HoeffdingTree {g}": sg.HoeffdingTree(grace_period=g) for g in (200, 1000)},
    "NoChange": sg.NoChange(),
    "Perceptron": Perceptron(),
}


def make_events(n: int) -> tuple[object, list[bytes]]:
    """Return a schema and rows as JSON objects, with six digits as sensors have."""
    stream = in_memory(sg.RandomRBF(), n)
    schema, batch = stream.schema, next(stream.batches(n))
    names = [attribute.name for attribute in schema.attributes]
    numbers = np.round(batch.x, 6).tolist()
    rows = zip(numbers, batch.y.tolist(), strict=True)
    return schema, [
        json.dumps({**dict(zip(names, row, strict=True)), "class": schema.classes[code]}).encode() for row, code in rows
    ]


def write_redis(server: RedisServer, events: list[bytes]) -> None:
    """Write all events into a stream."""
    with redis.Redis.from_url(server.url) as client:
        for start in range(0, len(events), 10_000):
            pipeline = client.pipeline(transaction=False)
            for event in events[start : start + 10_000]:
                pipeline.execute_command("XADD", "rows", "*", "value", event)
            pipeline.execute()


def read_redis(server: RedisServer, n: int) -> None:
    """Read all events, and nothing else."""
    with redis.Redis.from_url(server.url) as client:
        last, n_read = "0", 0
        while n_read < n:
            entries = client.xread({"rows": last}, count=16_384)[0][1]
            last, n_read = entries[-1][0], n_read + len(entries)


def write_kafka(broker: KafkaBroker, events: list[bytes]) -> None:
    """Write all events into a topic."""
    producer = ck.Producer(
        {"bootstrap.servers": broker.servers, "linger.ms": 50, "queue.buffering.max.messages": 10_000_000}
    )
    for event in events:
        producer.produce("rows", event)
    producer.flush()


def read_kafka(broker: KafkaBroker, n: int) -> None:
    """Read all events, and nothing else."""
    consumer = ck.Consumer(
        {
            "bootstrap.servers": broker.servers,
            "group.id": "bare",
            "enable.auto.commit": False,
            "fetch.queue.backoff.ms": 5,
        }
    )
    consumer.assign([ck.TopicPartition("rows", 0, 0)])
    n_read = 0
    while n_read < n:
        n_read += sum(1 for message in consumer.consume(32_768, 1.0) if message.value() is not None)
    consumer.close()


def time_work(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and CPU seconds of a work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def measure(name: str, n: int, bare: Callable[[], object], stream: LiveStream) -> None:
    """Print a line of the table, with the number of events that wait at the broker after each fifth of the rows."""
    lags: list[int | None] = []

    def evaluate() -> None:
        run = sg.Evaluation(stream, LEARNERS, n_rows=n, every=n // 5, batch_size=32_768)
        lags.extend(stream.lag for reading in run if reading.learner == "NoChange")

    bare_wall, bare_cpu = time_work(bare)
    wall, cpu = time_work(evaluate)
    waiting = " ".join("?" if lag is None else f"{lag:,}" for lag in lags)
    print(f"{name:8}{n / bare_wall:12,.0f}{n / wall:14,.0f}{bare_wall / wall:8.2f}{1e6 * bare_cpu / n:11.2f}", end="")
    print(f"{1e6 * cpu / n:12.2f}   {waiting}")
    stream.close()


def main(n: int = 300_000) -> None:
    """Print the table."""
    schema, events = make_events(n)
    size = np.mean([len(event) for event in events[:1000]])
    print(f"{n:,} JSON events of {size:.0f} bytes, ten learners; rows per second, microseconds of CPU per row.")
    print(
        "CPU per row is that of this process: client library, decoding and ten learners. At 10 or less, one idle core"
    )
    print("evaluates 100,000 rows per second.")
    print(f"{'':8}{'bare':>12}{'evaluated':>14}{'ratio':>8}{'bare CPU':>11}{'eval. CPU':>12}   lag after each fifth")
    if explain_missing_redis() is None:
        server = RedisServer()
        server.start()
        write_redis(server, events)
        measure("Redis", n, lambda: read_redis(server, n), Redis("rows", server.url, schema=schema))
        server.stop()
    if explain_missing_kafka() is None:
        broker = KafkaBroker()
        broker.start()
        write_kafka(broker, events)
        measure("Kafka", n, lambda: read_kafka(broker, n), Kafka("rows", broker.servers, schema=schema))
        broker.stop()
    for reason in filter(None, (explain_missing_redis(), explain_missing_kafka())):
        print(f"left out: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
