"""Brokers and runs killed at random moments while a live stream is evaluated: no row may be lost, repeated or changed.

Each run is a process that reads rows and labels from a real broker and writes checkpoints; rows and labels come
separately; some events are broken, some labels late and some without a row. At random moments the broker is killed
and restarted, the process is killed and resumed, or both at once. Results and dead letters must be those of an
undisturbed run. At the end, an evaluation a hundred times slower than its broker shows how its memory grows.

Run with ``python -m benchmarks.broker_restarts [RUNS] [SEED] [Redis | Kafka] [more]``; the counts are stored in
``benchmarks/results/faults.md`` after every run.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import confluent_kafka as ck
import redis

import streamgauge as sg
from benchmarks.endless import measure_memory
from benchmarks.fault_table import Campaign, count_saved_rows, serialise, show
from peers.brokers import KafkaBroker, RedisServer, explain_missing_kafka, explain_missing_redis
from streamgauge.records import Attribute, Schema
from streamgauge.streams.live import Kafka, LiveStream, Redis

SCHEMA = Schema((Attribute("price"), Attribute("volume")), ("up", "down"))
N_ROWS = 20_000
EVERY = 1000
"""Rows between checkpoints."""

ROW_MILLISECONDS, PATIENCE = 20, 10.0
"""Time between two rows by the clock of the broker, and the seconds that a row waits for its label."""

ROWS_OF_PATIENCE = round(1000 * PATIENCE / ROW_MILLISECONDS)

MAX_STARTS = 40
"""A run that has not ended after this number of starts is given up."""

Broker = RedisServer | KafkaBroker
RawEvent = tuple[int, str, bytes]
"""The time in milliseconds, the key and the content of an event."""


def make_events() -> tuple[list[RawEvent], list[RawEvent]]:
    """Return rows and their labels in the order of their times.

    Of a hundred rows one is followed by a broken event, one is repeated, one has a late label, and one is followed by a
    label without a row. The last rows have no such labels, so that all are counted when the last row is handed out.
    """
    random, begins = Random(1), round(1000 * time.time()) - ROW_MILLISECONDS * N_ROWS
    rows, labels = [], []
    for i in range(N_ROWS):
        key, price, volume, at = f"k{i}", random.random(), random.gauss(0.0, 1.0), begins + ROW_MILLISECONDS * i
        row = (at, key, json.dumps({"id": key, "price": price, "volume": volume}).encode())
        rows += [row, (at, key, b"{")] if i % 100 == 50 else [row, row] if i % 100 == 75 else [row]
        label = SCHEMA.classes[price + volume > 0.5 + 0.3 * (i // 5000 % 2)]
        is_last = i > N_ROWS - 4 * ROWS_OF_PATIENCE
        delay = 1000 * PATIENCE + 1000 if i % 100 == 20 and not is_last else 0
        labels.append((at + round(delay), key, json.dumps({"id": key, "class": label}).encode()))
        if i % 100 == 30 and not is_last:
            labels.append((at, f"u{i}", json.dumps({"id": f"u{i}", "class": label}).encode()))
    return rows, sorted(labels, key=itemgetter(0))


def fill_redis(server: RedisServer) -> None:
    """Write all events."""
    with redis.Redis.from_url(server.url) as client:
        for stream, events in zip(("rows", "labels"), make_events(), strict=True):
            pipeline = client.pipeline(transaction=False)
            for number, (at, _, value) in enumerate(events):
                pipeline.xadd(stream, {"value": value}, id=f"{at}-{number}")
            pipeline.execute()
    time.sleep(1.5)  # Redis writes to disk once a second


def fill_kafka(broker: KafkaBroker) -> None:
    """Write all events, in batches so small that a reader does not fetch them all at once."""
    producer = ck.Producer(
        {"bootstrap.servers": broker.servers, "linger.ms": 20, "batch.size": 16_384, "enable.idempotence": True}
    )
    for topic, events in zip(("rows", "labels"), make_events(), strict=True):
        for at, key, value in events:
            producer.produce(topic, value, key=key, timestamp=at)
    producer.flush()


def open_stream(
    broker: Broker,
    group: str | None = None,
    dead_letters: Path | None = None,
    **more: Any,  # noqa: ANN401
) -> LiveStream:
    """Return a stream that has read nothing."""
    options: dict[str, Any] = {
        "schema": SCHEMA,
        "key": "id",
        "labels": "labels",
        "max_wait": 0.2,
        "group": group,
        "patience": PATIENCE,
    }
    options |= {"dead_letters": dead_letters, **more}
    if isinstance(broker, RedisServer):
        return Redis("rows", broker.url, **options)
    # Little is fetched ahead; otherwise a broker killed after the first second would not be noticed.
    few = {"queued.max.messages.kbytes": 64, "fetch.message.max.bytes": 16_384, "reconnect.backoff.max.ms": 500}
    return Kafka("rows", broker.servers, options=few, **options)


def evaluate(broker: Broker, folder: Path, group: str) -> bytes:
    """Evaluate all rows, with checkpoints; return everything that must be identical."""
    results = sg.evaluate(
        open_stream(broker, group, folder / "dead.jsonl", most_waiting=2000),
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
    # The lag varies, and the name of the stream contains the consumer group, which differs between runs.
    results.description["live"].pop("lag")  # type: ignore[attr-defined]
    results.description.pop("stream")
    return serialise(results) + repr(read_dead_letters(folder / "dead.jsonl")).encode()


def read_dead_letters(path: Path) -> list[tuple[str, ...]]:
    """Return what must be identical of the dead letters.

    Their order depends on the chunks in which events were fetched, and a run that was killed before its first
    checkpoint starts over and writes them again. A label that was read before its row has no place when rejected.
    """
    letters = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    waited = ("late", "unmatched")
    parts = ("reason", "key", "place", "value")
    return sorted({tuple(map(str, map(own.get, parts[: 2 if own["reason"] in waited else 4]))) for own in letters})


@dataclass
class Run:
    """A run in a process that may be killed and restarted.

    Parameters
    ----------
    broker
        The source of its rows.
    folder
        The folder of its checkpoints and results.
    """

    broker: Broker
    folder: Path
    process: int | None = None
    n_starts: int = 0

    @property
    def results(self) -> Path:
        """The file with the results, which exists when the run has ended."""
        return self.folder / "results"

    def start(self) -> None:
        """Start it, or resume it."""
        self.n_starts += 1
        self.folder.mkdir(exist_ok=True)
        if self.n_starts > MAX_STARTS:
            msg = f"{self.folder.name} does not end: {(self.folder / 'error').read_text()}"
            raise RuntimeError(msg)
        self.process = os.fork()
        if self.process == 0:
            try:
                temporary = self.folder / "results.tmp"
                temporary.write_bytes(evaluate(self.broker, self.folder, self.folder.name))
                temporary.rename(self.results)
            except BaseException as error:
                (self.folder / "error").write_text(f"{type(error).__name__}: {error}")
            finally:
                os._exit(0)

    def is_running(self) -> bool:
        """Return whether it runs; restart it if it has failed because its broker was down at the start."""
        if self.process is not None and os.waitpid(self.process, os.WNOHANG)[0]:
            self.process = None
        if self.process is None and not self.results.exists():
            self.start()
        return self.process is not None

    def kill(self) -> None:
        """Kill its process."""
        if self.process is not None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = None

    def wait(self, seconds: float = float("inf"), n_rows: int = 0) -> None:
        """Wait until it has ended, or for `seconds` after it has a checkpoint of `n_rows` rows."""
        deadline = None
        while self.is_running() and (deadline is None or time.monotonic() < deadline):
            if deadline is None and count_saved_rows(self.folder) >= n_rows:
                deadline = time.monotonic() + seconds
            time.sleep(0.002)


def run_with_faults(run: Run, rows: list[int], random: Random) -> int:
    """Run to the end with faults at some rows, the first of which hits the broker; return the number of faults."""
    n_faults = 0
    run.start()
    for row in sorted(rows):
        run.wait(0.2 * random.random(), row // EVERY * EVERY)
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


def run_campaign(name: str, broker: Broker, n_runs: int, seed: int, *, more: bool) -> Campaign:
    """Run with faults; store the campaign after each run."""
    base = Path(tempfile.mkdtemp())
    undisturbed = Run(broker, base / "undisturbed")
    run_with_faults(undisturbed, [], Random(seed))
    random, campaign = Random(seed), Campaign.start(f"{name} restarted (SIGKILL), run killed", more=more)
    for number in range(n_runs):
        run, started = Run(broker, base / f"run-{seed}-{number}"), time.monotonic()
        rows = [random.randrange(N_ROWS - EVERY) for _ in range(random.randint(1, 3))]
        n_faults = run_with_faults(run, rows, random)
        identical = run.results.read_bytes() == undisturbed.results.read_bytes()
        resumed = run.n_starts > 1 and any(run.folder.glob("*.checkpoint"))
        campaign.add(n_faults=n_faults, resumed=resumed, identical=identical)
        campaign.store()
        outcome = f"{n_faults} faults, {run.n_starts} starts, {'identical' if identical else 'DIFFERENT'}"
        print(f"{number + 1}/{n_runs}: {name}: {outcome}, {time.monotonic() - started:.0f} s", flush=True)
        if identical:
            shutil.rmtree(run.folder)
    if campaign.n_identical == campaign.n_runs:
        shutil.rmtree(base)
    else:
        print(f"runs with different results are kept in {base}")
    return campaign


def run_slowly(name: str, broker: Broker) -> None:
    """Read a few rows at a time, far more slowly than they arrive, and print how memory grows."""
    stream = open_stream(broker)
    next(stream.batches(10))
    before = measure_memory()
    for _ in range(20):
        next(stream.batches(10, stream.counts.rows))
        time.sleep(0.1)
    growth = measure_memory() - before
    print(f"{name:8}slow evaluation: {stream.lag or 0:,} events wait at the broker, memory grew by {growth:.0f} MiB")
    stream.close()


def main(n_runs: int = 25, seed: int = 1, only: str = "", more: str = "") -> None:
    """Run the campaigns, or that of one broker, or continue them, and print the table."""
    campaigns = []
    if explain_missing_redis() is None and only != "Kafka":
        server = RedisServer()
        server.start()
        fill_redis(server)
        campaigns.append(run_campaign("Redis", server, n_runs, seed, more=bool(more)))
        run_slowly("Redis", server)
        server.stop()
    if explain_missing_kafka() is None and only != "Redis":
        broker = KafkaBroker()
        broker.start()
        fill_kafka(broker)
        campaigns.append(run_campaign("Kafka", broker, n_runs, seed, more=bool(more)))
        run_slowly("Kafka", broker)
        broker.stop()
    show(*campaigns)
    for reason in filter(None, (explain_missing_redis(), explain_missing_kafka())):
        print(f"left out: {reason}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])  # type: ignore[arg-type]
