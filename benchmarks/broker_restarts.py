"""The broker killed at random moments while a live stream is read: no row may be lost, repeated or changed.

Each run reads rows and labels, which come apart, from a real broker; at random moments the broker is killed and started
again, the process of the run is given up and another restored from its last state, or both. The rows must be those of a
run that nobody disturbed, byte for byte. At the end an evaluation that is a hundred times slower than its broker shows
how much memory it takes.

Run with ``python -m benchmarks broker_restarts [RUNS] [SEED]``.
"""

import json
import sys
import time
from random import Random
from typing import Any

import confluent_kafka as ck
import numpy as np
import redis

from benchmarks.endless import resident_mib
from peers.brokers import KafkaBroker, RedisServer, why_no_kafka, why_no_redis
from streamgauge.records import Attribute, Schema
from streamgauge.streams.live import Kafka, LiveStream, Redis

SCHEMA = Schema((Attribute("price"),), ("up", "down"))
N_ROWS = 20_000
BLOCK = 1_000


def events() -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]:
    """Make rows and their labels, each with its key."""
    random = Random(1)
    keys = [f"k{i}" for i in range(N_ROWS)]
    rows = [json.dumps({"id": key, "price": random.random()}).encode() for key in keys]
    labels = [json.dumps({"id": key, "class": random.choice(SCHEMA.classes)}).encode() for key in keys]
    return list(zip(keys, rows, strict=True)), list(zip(keys, labels, strict=True))


def fill_redis(server: RedisServer) -> None:
    """Write all events."""
    with redis.Redis.from_url(server.url) as client:
        for stream, of_stream in zip(("rows", "labels"), events(), strict=True):
            pipeline = client.pipeline(transaction=False)
            for _, value in of_stream:
                pipeline.xadd(stream, {"value": value})
            pipeline.execute()
    time.sleep(1.5)  # Redis writes to disk once a second


def fill_kafka(broker: KafkaBroker) -> None:
    """Write all events."""
    producer = ck.Producer({"bootstrap.servers": broker.servers, "linger.ms": 20})
    for topic, of_topic in zip(("rows", "labels"), events(), strict=True):
        for key, value in of_topic:
            producer.produce(topic, value, key=key)
    producer.flush()


def opened(broker: RedisServer | KafkaBroker) -> LiveStream:
    """Give a stream that has read nothing."""
    options: dict[str, Any] = {"schema": SCHEMA, "key": "id", "labels": "labels", "max_wait": 0.2}
    if isinstance(broker, RedisServer):
        return Redis("rows", broker.url, **options)
    return Kafka("rows", broker.servers, **options)


def read(broker: RedisServer | KafkaBroker, faults: dict[int, str]) -> bytes:
    """Read all rows with faults after some of the blocks; gives them as bytes."""
    stream, parts, n = opened(broker), [], 0
    state, safe = stream.state(), 0
    block = 0
    while n < N_ROWS:
        batch = next(stream.batches(min(BLOCK, N_ROWS - n), n))
        if not len(batch):
            continue
        parts.append(np.column_stack([batch.x, batch.y]))
        n += len(batch)
        block += 1
        if block % 4 == 0:
            state, safe = stream.state(), len(parts)
            stream.committed(state)
        fault = faults.pop(block, "")
        if "broker" in fault:
            broker.kill()
            broker.start()
        if "process" in fault:
            stream.close()
            stream = opened(broker)
            stream.restore(state)
            parts = parts[:safe]
            n = sum(map(len, parts))
    stream.close()
    return np.concatenate(parts).tobytes()


def campaign(name: str, broker: RedisServer | KafkaBroker, n_runs: int, seed: int) -> None:
    """Run with faults, and print how it went."""
    undisturbed = read(broker, {})
    random, n_kills, same = Random(seed), 0, 0
    started = time.monotonic()
    for _ in range(n_runs):
        blocks = random.sample(range(1, N_ROWS // BLOCK), 2)
        faults = {block: random.choice(["broker", "process", "broker and process"]) for block in blocks}
        n_kills += len(faults)
        same += read(broker, faults) == undisturbed
    seconds = time.monotonic() - started
    print(f"{name:8}{n_runs:6} runs{n_kills:6} kills{same:6} identical{seconds:8.0f} s")


def slow(name: str, broker: RedisServer | KafkaBroker) -> None:
    """Read a few rows at a time, far slower than they come, and print how memory grows."""
    stream = opened(broker)
    next(stream.batches(10))
    before = resident_mib()
    for _ in range(20):
        next(stream.batches(10, stream.counts.rows))
        time.sleep(0.1)
    print(f"{name:8}a slow evaluation: {stream.lag or 0:,} events wait at the broker, memory grew by ", end="")
    print(f"{resident_mib() - before:.0f} MiB")
    stream.close()


def main(n_runs: int = 25, seed: int = 1) -> None:
    """Print the tables."""
    if why_no_redis() is None:
        server = RedisServer()
        server.start()
        fill_redis(server)
        campaign("Redis", server, n_runs, seed)
        slow("Redis", server)
        server.stop()
    if why_no_kafka() is None:
        broker = KafkaBroker()
        broker.start()
        fill_kafka(broker)
        campaign("Kafka", broker, max(1, n_runs // 5), seed)  # it takes some ten seconds to start
        slow("Kafka", broker)
        broker.stop()
    for reason in filter(None, (why_no_redis(), why_no_kafka())):
        print(f"left out: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
