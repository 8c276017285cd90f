"""A day of the dashboard with 50 clients, compressed: its memory stays flat, and every request is answered.

``python -m benchmarks dashboard_day [SECONDS]``. Every client opens the page every three hours of the day: the page,
its files, the lists, the run, the verdicts, two charts, the table; then it follows a live run over a WebSocket until
the next visit. The run is that of ten learners with 45 verdicts, with a reading every minute of the day. The server is
the one that users start, with its own limits, in a process of its own. The section of
``benchmarks/results/dashboard.md`` is replaced.
"""

import asyncio
import json
import re
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Event, Thread
from urllib.parse import urlencode

import numpy as np
from websockets.asyncio.client import connect

from benchmarks.slow_clients import measure_memory, start_dashboard
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import Journal, Layout
from streamgauge.records import Alarm, Verdict

STORED = Path(__file__).parent / "results" / "dashboard.md"
HEADING = "## A day with 50 clients"
SECONDS, N_CLIENTS, N_VISITS, N_READINGS, N_SPANS = 480.0, 50, 8, 1_440, 8
"""Length of the compressed day, clients, visits of each, readings of the run, and spans that are measured."""
MAX_GROWTH_MB = 20.0
PANELS = [
    {"kind": "measure", "name": "accuracy", "under": "Landmark()"},
    {"kind": "pair", "name": "learner 0", "under": "learner 9"},
]


class LiveRun:
    """A simulated run of ten learners with two measures, verdicts on all 45 pairs and occasional alarms."""

    def __init__(self, folder: Path) -> None:
        self.learners = tuple(f"learner {k}" for k in range(10))
        self.layout = Layout(self.learners, ("Landmark()",), ("accuracy", "kappa"), n_folds=1, with_costs=False)
        self.journal = Journal(folder, self.layout, {"stream": {"name": "SEA()"}, "scheme": {"name": "Prequential()"}})
        self.draws, self.n = np.random.default_rng(1), 0

    def step(self) -> None:
        """Advance by one reading."""
        self.n += 1
        row = 1_000 * self.n
        level = np.linspace(0.7, 0.9, len(self.learners)) + self.draws.normal(0, 0.004, len(self.learners))
        values = np.stack([level, 2 * level - 1], axis=-1)[None, :, None, None, :]
        alarms = (Alarm(row - 1, self.learners[self.n % 10], 0, "DDM"),) if self.n % 10 == 0 else ()
        verdicts = tuple(self.judge(a, b, row) for a, b in combinations(range(10), 2))
        self.journal.write_progress(Progress(row, np.array([row]), values, alarms=alarms, verdicts=verdicts))

    def judge(self, first: int, second: int, row: int) -> Verdict:
        """Return the verdict on a pair: distant learners differ at once, neighbours never."""
        difference, width = 0.02 * (first - second), 2 / np.sqrt(row)
        decided_at = 1_000 * (second - first) if abs(difference) > width else None
        return Verdict(
            first=self.learners[first],
            second=self.learners[second],
            outcome="undecided" if decided_at is None else "second",
            row=decided_at,
            difference=difference,
            interval=(difference - width, difference + width),
            rope=0.01,
            alpha=0.05,
            n_claims=45,
            null="equal",
            test="two_way_sequence",
        )


@dataclass
class Span:
    """What happened within a part of the day.

    Parameters
    ----------
    n_answers, n_messages
        Requests that were answered, and messages of the WebSockets.
    problems
        Requests that were not answered with success, connections that broke, messages that could not be read.
    slowest
        Seconds of the slowest answer.
    memory, n_files
        Memory of the server in MB, and its open files, at the end.
    """

    n_answers: int = 0
    n_messages: int = 0
    problems: list[str] = field(default_factory=list)
    slowest: float = 0.0
    memory: float = 0.0
    n_files: int = 0


class Day:
    """The clients of a day and what they saw."""

    def __init__(self, port: int, run: str, seconds: float) -> None:
        self.address, self.run, self.seconds = f"127.0.0.1:{port}", run, seconds
        self.spans = [Span()]
        self.assets, self.paths = self._list_paths()

    def _list_paths(self) -> tuple[list[str], list[str]]:
        """Return the files that a browser keeps, and what a page requests whenever it is opened."""
        with urllib.request.urlopen(f"http://{self.address}/") as answer:
            assets = sorted(set(re.findall(r"/?(assets/[\w.-]+)", answer.read().decode())))
        chosen = urlencode({"id": self.run})
        panels = [urlencode({"id": self.run, "panel": json.dumps(panel), "points": 2000}) for panel in PANELS]
        paths = ["/", "/api/runs", "/api/choices", f"/api/run?{chosen}", f"/api/verdicts?{chosen}"]
        paths += [*(f"/api/curves?{panel}" for panel in panels), f"/api/table.csv?{panels[0]}", "/metrics", "/health"]
        return [f"/{asset}" for asset in assets], paths

    async def live(self) -> None:
        """Run all clients until the day is over."""
        async with asyncio.TaskGroup() as clients:
            for number in range(N_CLIENTS):
                clients.create_task(self._visit_repeatedly(Random(number)))

    async def _visit_repeatedly(self, random: Random) -> None:
        length = self.seconds / N_VISITS
        ends = time.monotonic() + length * random.random()
        await self._follow(ends)
        for number in range(N_VISITS - 1):
            for path in self.paths if number else [*self.assets, *self.paths]:
                await asyncio.to_thread(self._request, path)
            ends += length
            await self._follow(ends)

    def _request(self, path: str) -> None:
        started = time.monotonic()
        try:
            with urllib.request.urlopen(f"http://{self.address}{path}", timeout=60.0) as answer:
                answer.read()
        except (OSError, HTTPException) as error:
            self.spans[-1].problems.append(f"{path}: {error}")
        span = self.spans[-1]
        span.n_answers += 1
        span.slowest = max(span.slowest, time.monotonic() - started)

    async def _follow(self, ends: float) -> None:
        """Follow the run over a WebSocket until a moment."""
        origin: dict[str, str] = {"Origin": f"http://{self.address}"}
        try:
            async with connect(f"ws://{self.address}/api/live", additional_headers=origin, max_size=None) as socket:
                await socket.send(json.dumps({"runs": {self.run: [0, 0]}, "panels": PANELS}))
                while (left := ends - time.monotonic()) > 0:
                    try:
                        json.loads(await asyncio.wait_for(socket.recv(), left))
                    except TimeoutError:
                        break
                    self.spans[-1].n_messages += 1
        except Exception as error:
            self.spans[-1].problems.append(f"WebSocket: {type(error).__name__}: {error}")


@contextmanager
def write_readings(run: LiveRun, seconds: float) -> Iterator[None]:
    """Write the readings of a day while the block runs."""
    over, started = Event(), time.monotonic()

    def write() -> None:
        for number in range(N_READINGS):
            if over.wait(max(0.0, started + seconds * number / N_READINGS - time.monotonic())):
                return
            run.step()

    thread = Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def simulate(seconds: float) -> list[Span]:
    """Return what happened in each span of a day."""
    with TemporaryDirectory() as folder:
        run = LiveRun(Path(folder) / "live")
        run.step()
        with start_dashboard(folder) as (pid, port):
            day = Day(port, "live", seconds)
            with write_readings(run, seconds):
                clients = Thread(target=lambda: asyncio.run(day.live()))
                clients.start()
                for number in range(N_SPANS):
                    clients.join(seconds / N_SPANS)
                    span = day.spans[-1]
                    span.memory = measure_memory(pid)
                    span.n_files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
                    print(build_table(day.spans).splitlines()[-1], flush=True)
                    if number < N_SPANS - 1:
                        day.spans.append(Span())
                clients.join()
    return day.spans


def build_table(spans: list[Span]) -> str:
    """Return the spans as a table."""
    hours = 24 // N_SPANS
    lines = [
        "| hours | answers | messages | problems | slowest answer, s | memory of the server, MB | open files |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for number, span in enumerate(spans):
        counts = f"{span.n_answers:,} | {span.n_messages:,} | {len(span.problems)}"
        server = f"{span.slowest:.2f} | {span.memory:.0f} | {span.n_files}"
        lines.append(f"| {hours * number} to {hours * (number + 1)} | {counts} | {server} |")
    return "\n".join(lines)


def build_section(spans: list[Span], seconds: float) -> str:
    """Return the section of the page of results."""
    growth = spans[-1].memory - spans[0].memory
    n_problems = sum(len(span.problems) for span in spans)
    met = "met" if not n_problems and growth <= MAX_GROWTH_MB else "missed"
    return f"""{HEADING}

`python -m benchmarks dashboard_day`: a day in {seconds:.0f} seconds. {N_CLIENTS} clients open the page {N_VISITS} times
each and follow a live run of 10 learners, 45 verdicts and {N_READINGS:,} readings over a WebSocket in between.

{build_table(spans)}

{n_problems} problems; memory {growth:+.0f} MB since the first {24 // N_SPANS} hours (goal: no problem, at most
{MAX_GROWTH_MB:.0f} MB: {met}). Times are those of a machine with other load.
"""


def main(seconds: float = SECONDS) -> None:
    """Simulate the day, print and store."""
    spans = simulate(seconds)
    for problem in sorted({problem for span in spans for problem in span.problems})[:20]:
        print(problem)
    section = build_section(spans, seconds)
    print(section)
    STORED.write_text(f"{read_rest().rstrip()}\n\n{section}", encoding="utf-8")


def read_rest() -> str:
    """Return the page of results without this section."""
    return STORED.read_text(encoding="utf-8").partition(HEADING)[0]


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
