"""Brokers and runs killed at random moments while a live stream is evaluated: no row may be lost, repeated or changed.

Each run is a process of its own that reads rows and labels, which come apart and with events to set aside among them,
from a real broker, and writes checkpoints. At random moments the broker is killed and started again, the process is
killed and resumed, or both at once. Results and set-aside events must have the same bytes as those of a run that nobody
disturbed. At the end an evaluation that is a hundred times slower than its broker shows how much memory it takes.

Run with ``python -m benchmarks.broker_restarts [RUNS] [SEED] [Redis | Kafka] [more]``; what came of it is stored
after every run in ``benchmarks/results/faults.md``.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import confluent_kafka as ck
import redis

import streamgauge as sg
from benchmarks.endless import resident_mib
from benchmarks.fault_table import Campaign, bytes_of, show
from benchmarks.faults import rows_kept
from peers.brokers import KafkaBroker, RedisServer, explain_missing_kafka, explain_missing_redis
from streamgauge.records import Attribute, Schema
from streamgauge.streams.live import Kafka, LiveStream, Redis

SCHEMA = Schema((Attribute("price"), Attribute("volume")), ("up", "down"))
N_ROWS = 20_000
EVERY = 1000
"""A checkpoint is written after so many rows."""

MOST_STARTS = 40
"""A run that was started so often without coming to its end never will."""

Broker = RedisServer | KafkaBroker


def events() -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]:
    """Make rows and their labels, each with its key; one in a hundred events is broken, one comes twice."""
    random = Random(1)
    rows, labels = [], []
    for i in range(N_ROWS):
        key, price, volume = f"k{i}", random.random(), random.gauss(0.0, 1.0)
        row = (key, json.dumps({"id": key, "price": price, "volume": volume}).encode())
        rows += [row, (key, b"{")] if i % 100 == 50 else [row, row] if i % 100 == 75 else [row]
        label = SCHEMA.classes[price + volume > 0.5 + 0.3 * (i // 5000 % 2)]
        labels.append((key, json.dumps({"id": key, "class": label}).encode()))
    return rows, labels


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
    """Write all events, in pieces that are small enough for a reader not to fetch them all at once."""
    producer = ck.Producer(
        {"bootstrap.servers": broker.servers, "linger.ms": 20, "batch.size": 16_384, "enable.idempotence": True}
    )
    for topic, of_topic in zip(("rows", "labels"), events(), strict=True):
        for key, value in of_topic:
            producer.produce(topic, value, key=key)
    producer.flush()


def opened(broker: Broker, group: str | None = None, dead_letters: Path | None = None, **more: Any) -> LiveStream:  # noqa: ANN401
    """Give a stream that has read nothing."""
    options: dict[str, Any] = {"schema": SCHEMA, "key": "id", "labels": "labels", "max_wait": 0.2, "group": group}
    options |= {"dead_letters": dead_letters, **more}
    if isinstance(broker, RedisServer):
        return Redis("rows", broker.url, **options)
    # little is fetched ahead, or else a broker that goes away after the first second would not be missed
    few = {"queued.max.messages.kbytes": 64, "fetch.message.max.bytes": 16_384, "reconnect.backoff.max.ms": 500}
    return Kafka("rows", broker.servers, options=few, **options)


def evaluated(broker: Broker, folder: Path, group: str) -> bytes:
    """Evaluate all rows, with checkpoints; give what must be the same."""
    results = sg.evaluate(
        opened(broker, group, folder / "dead.jsonl", most_waiting=2000),
        {"tree": sg.HoeffdingTree(grace_period=50), "bayes": sg.NaiveBayes()},
        scheme=sg.Bootstrap(3),
        forgetting=[sg.AdwinWindow(), sg.Fading(0.99)],
        detectors=["DDM"],
        n_rows=N_ROWS,
        every=250,
        batch_size=100,
        checkpoint=folder,
        checkpoint_every=EVERY,
        resume=True,
    )
    # the lag is that of the moment, and the name of the stream holds the consumer group, of which each run has its own
    results.description["live"].pop("lag")  # type: ignore[attr-defined]
    results.description.pop("stream")
    # events are set aside by the piece in which they were fetched, so their order is not always the same; and a run
    # that was killed before its first checkpoint begins anew, and sets them aside again
    return bytes_of(results) + b"".join(sorted(set((folder / "dead.jsonl").read_bytes().splitlines())))


@dataclass
class Run:
    """A run in processes that may be killed.

    Parameters
    ----------
    broker
        Where its rows come from.
    folder
        Where its checkpoints go, and its results once it is done.
    """

    broker: Broker
    folder: Path
    process: int | None = None
    n_starts: int = 0

    @property
    def told(self) -> Path:
        """The file that is there when it is done."""
        return self.folder / "results"

    def start(self) -> None:
        """Start it, or go on with it."""
        self.n_starts += 1
        self.folder.mkdir(exist_ok=True)
        if self.n_starts > MOST_STARTS:
            msg = f"{self.folder.name} does not come to its end: {(self.folder / 'error').read_text()}"
            raise RuntimeError(msg)
        self.process = os.fork()
        if self.process == 0:
            try:
                told = evaluated(self.broker, self.folder, self.folder.name)
                (self.folder / "results.tmp").write_bytes(told)
                (self.folder / "results.tmp").rename(self.told)
            except BaseException as error:
                (self.folder / "error").write_text(f"{type(error).__name__}: {error}")
            finally:
                os._exit(0)

    def is_running(self) -> bool:
        """Say whether it runs; where it has given up, since its broker was away at its start, it starts again."""
        if self.process is not None and os.waitpid(self.process, os.WNOHANG)[0]:
            self.process = None
        if self.process is None and not self.told.exists():
            self.start()
        return self.process is not None

    def kill(self) -> None:
        """Kill its process."""
        if self.process is not None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = None

    def wait(self, seconds: float = float("inf"), n_rows: int = 0) -> None:
        """Wait until it is done, or for so long after it has a checkpoint of so many rows."""
        deadline = None
        while self.is_running() and (deadline is None or time.monotonic() < deadline):
            if deadline is None and rows_kept(self.folder) >= n_rows:
                deadline = time.monotonic() + seconds
            time.sleep(0.002)


def struck(run: Run, places: list[int], random: Random) -> int:
    """Run to the end with faults at some rows, of which the first hits the broker; says how many there were."""
    n_faults = 0
    run.start()
    for place in sorted(places):
        run.wait(0.2 * random.random(), place // EVERY * EVERY)
        if not run.is_running():
            break
        fault = random.choice(["broker", "process", "broker and process"]) if n_faults else "broker"
        n_faults += 1
        if "process" in fault:
            run.kill()
        if "broker" in fault:
            run.broker.kill()
            run.wait(random.random())
            run.broker.start()
    run.wait()
    return n_faults


def campaign(name: str, broker: Broker, n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Run with faults; stores how it stands after each run."""
    base = Path(tempfile.mkdtemp())
    undisturbed = Run(broker, base / "undisturbed")
    struck(undisturbed, [], Random(seed))
    kind = f"{name} restarted (SIGKILL), run killed"
    random, stands = Random(seed), Campaign.stored(kind) if more else Campaign(kind)
    for number in range(n_runs):
        run, started = Run(broker, base / f"run-{seed}-{number}"), time.monotonic()
        n_faults = struck(run, [random.randrange(N_ROWS - EVERY) for _ in range(random.randint(1, 3))], random)
        same = run.told.read_bytes() == undisturbed.told.read_bytes()
        resumed = run.n_starts > 1 and any(run.folder.glob("*.checkpoint"))
        stands.add(n_faults=n_faults, resumed=resumed, identical=same)
        stands.store()
        told = f"{n_faults} faults, {run.n_starts} starts, {'identical' if same else 'DIFFERENT'}"
        print(f"{number + 1}/{n_runs}: {name}: {told}, {time.monotonic() - started:.0f} s", flush=True)
        if same:
            shutil.rmtree(run.folder)
    if stands.n_identical == stands.n_runs:
        shutil.rmtree(base)
    else:
        print(f"what was not identical is kept in {base}")
    return stands


def slow(name: str, broker: Broker) -> None:
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


def main(n_runs: int = 25, seed: int = 1, only: str = "", more: str = "") -> None:
    """Run the campaigns, or that of one broker only, or more of it, and print the table."""
    done = []
    if explain_missing_redis() is None and only != "Kafka":
        server = RedisServer()
        server.start()
        fill_redis(server)
        done.append(campaign("Redis", server, n_runs, seed, more=bool(more)))
        slow("Redis", server)
        server.stop()
    if explain_missing_kafka() is None and only != "Redis":
        broker = KafkaBroker()
        broker.start()
        fill_kafka(broker)
        done.append(campaign("Kafka", broker, n_runs, seed, more=bool(more)))
        slow("Kafka", broker)
        broker.stop()
    show(*done)
    for reason in filter(None, (explain_missing_redis(), explain_missing_kafka())):
        print(f"left out: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
