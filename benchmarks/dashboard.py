"""The dashboard in headless Chromium: how soon it opens, and whether it stays smooth for an hour of updates.

``python -m benchmarks.dashboard 3600 20`` sends as many updates as it is told, so many a second (``3600 1`` takes the
hour), and stores what it found in ``benchmarks/results/dashboard.md``. Beside times on the clock, which tell as much of
a machine that does other work, stands the CPU time of the page's thread.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

import streamgauge as sg
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import Journal, Layout
from streamgauge._engine.journal import writer as writing
from streamgauge.learners import LogisticRegression, Perceptron, RandomGuess
from streamgauge.records import Alarm, Verdict

STORED = Path(__file__).parent / "results" / "dashboard.md"
UPDATES, PER_SECOND, OPENINGS, STRETCHES = 3_600, 20, 7, 6
TOGETHER = 10
"""How many updates are sent between two looks at the page, which would cost it more than they do."""
MINUTES = 60 // STRETCHES
GOAL = 1_000
WAIT = 180_000  # milliseconds; a loaded machine is slow

# Told by the page itself: when its curves are on the screen, and every task that kept it busy for over 50 ms.
WATCHING = """
window.tasks = [];
const keep = (list) => window.tasks.push(...list.getEntries().map((entry) => entry.duration));
new PerformanceObserver(keep).observe({ type: "longtask" });
document.addEventListener("DOMContentLoaded", () => new MutationObserver((_, observer) => {
  if (!document.documentElement.dataset.drawn) return;
  observer.disconnect();
  const seen = () => { document.documentElement.dataset.seen = performance.now(); };
  requestAnimationFrame(() => requestAnimationFrame(seen));
}).observe(document.documentElement, { attributes: true }));
"""
SERVER = """
import sys
from streamgauge.cli.main import main
from streamgauge.serve import live, run_folders
live.SECONDS = run_folders.SECONDS = float(sys.argv.pop())
main()
"""


@contextmanager
def served(folder: Path, seconds: float) -> Iterator[tuple[str, int]]:
    """Serve a folder, with news after so many seconds each; give the address and the id of the process."""
    command = [sys.executable, "-c", SERVER, "serve", str(folder), "--port", "0", str(seconds)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[0], server.pid
    finally:
        server.terminate()
        server.communicate()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of the machine, or that of Playwright."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))
    path = os.environ.get("CHROMIUM") or next(filter(None, found), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser) -> Iterator[tuple[Page, CDPSession]]:
    """Give a fresh page, and what measures it."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.add_init_script(WATCHING)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    yield page, session
    context.close()


def figures(session: CDPSession) -> dict[str, float]:
    """Tell what the page costs: TaskDuration is CPU time of its thread, in seconds."""
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def cpu_seconds(pid: int) -> float:
    """Tell the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid: int) -> float:
    """Tell the memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


# ---- how soon it opens


def finished_run(folder: Path) -> None:
    """Save a run of ten learners with ten thousand points each."""
    trees = {f"HoeffdingTree {grace}": sg.HoeffdingTree(grace_period=grace) for grace in (100, 200, 400, 800)}
    others = [sg.NaiveBayes(), sg.MajorityClass(), sg.NoChange(), Perceptron(), LogisticRegression(), RandomGuess()]
    learners = trees | {type(learner).__name__: learner for learner in others}
    results = sg.evaluate(
        sg.SEA(n_rows=200_000, noise=0.1),
        learners,
        measures=("accuracy", "kappa"),
        forgetting=[sg.Window(1_000), sg.Landmark()],
        every=20,
        detectors=["DDM"],
        journal=folder,
    )
    assert results.values.shape[:2] == (10_000, 10)
    sg.save(results, folder)


@dataclass
class Opening:
    """What it took from the address to curves on the screen."""

    milliseconds: float
    page_cpu: float
    server_cpu: float
    n_bytes: float


def open_once(browser: Browser, address: str, server: int) -> Opening:
    """Open the page in a browser that has never seen it."""
    with watched(browser) as (page, session):
        before = cpu_seconds(server)
        page.goto(address)
        page.wait_for_selector("html[data-seen]")
        cpu = 1_000 * figures(session)["TaskDuration"]
        n_bytes = page.evaluate("performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0)")
        seen = float(page.locator("html").get_attribute("data-seen") or "nan")
        return Opening(seen, cpu, 1_000 * (cpu_seconds(server) - before), n_bytes)


def opening_table(openings: dict[str, list[Opening]]) -> str:
    """Write the times of opening as a table."""
    lines = [
        "| | best, ms | median, ms | CPU of the page, ms | CPU of the server, ms | kB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, all_of_it in openings.items():
        times = [one.milliseconds for one in all_of_it]
        page, server = (median(getattr(one, part) for one in all_of_it) for part in ("page_cpu", "server_cpu"))
        kilobytes = median(one.n_bytes for one in all_of_it) / 1_000
        lines.append(
            f"| {name} | {min(times):.0f} | {median(times):.0f} | {page:.0f} | {server:.0f} | {kilobytes:.0f} |"
        )
    return "\n".join(lines)


# ---- whether it stays smooth


class LiveRun:
    """A run of ten learners with two measures that reads, judges all 45 pairs and now and then alarms, when told to."""

    def __init__(self, folder: Path) -> None:
        self.learners = tuple(f"learner {k}" for k in range(10))
        self.layout = Layout(self.learners, ("Landmark()",), ("accuracy", "kappa"), n_folds=1, with_costs=False)
        self.journal = Journal(folder, self.layout, {"stream": "SEA()", "scheme": "Prequential()"})
        self.draws, self.n = np.random.default_rng(1), 0

    def step(self) -> None:
        """Go on by one reading."""
        self.n += 1
        row = 1_000 * self.n
        level = np.linspace(0.7, 0.9, len(self.learners)) + self.draws.normal(0, 0.004, len(self.learners))
        values = np.stack([level, 2 * level - 1], axis=-1)[None, :, None, None, :]
        alarms = (Alarm(row - 1, self.learners[self.n % 10], 0, "DDM"),) if self.n % 10 == 0 else ()
        verdicts = tuple(self.verdict(a, b, row) for a, b in combinations(range(10), 2))
        self.journal.note(Progress(row, np.array([row]), values, alarms=alarms, verdicts=verdicts))

    def verdict(self, first: int, second: int, row: int) -> Verdict:
        """Judge a pair: far ones are told apart at once, near ones never."""
        difference, width = 0.02 * (first - second), 2 / np.sqrt(row)
        names = self.learners[first], self.learners[second]
        interval = (difference - width, difference + width)
        at = 1_000 * (second - first) if abs(difference) > width else None
        return Verdict(
            *names,
            "undecided" if at is None else "second",
            at,
            difference,
            interval,
            0.01,
            0.05,
            45,
            "equal",
            "two_way_sequence",
        )


@dataclass
class Stretch:
    """What some minutes of updates took."""

    heap: float
    nodes: float
    listeners: float
    cpu: float
    server_cpu: float
    server_mib: float
    tasks: list[float]
    sizes: list[int]
    costs: list[float] = field(default_factory=list)
    """Of the CPU time, that of an update, one number for every so many of them."""


def follow(browser: Browser, updates: int, per_second: float) -> Iterator[Stretch]:
    """Drive a run with a page that watches it; tell what each stretch took, first that of none."""
    writing.STATUS_SECONDS = 0.0
    with TemporaryDirectory() as folder, served(Path(folder), 1 / per_second) as (address, server):
        run = LiveRun(Path(folder) / "live")
        run.step()
        with watched(browser) as (page, session):
            sizes: list[int] = []
            page.on("websocket", lambda socket: socket.on("framereceived", lambda told: sizes.append(len(told))))
            page.goto(address)
            page.wait_for_selector("html[data-seen]")
            yield measured(page, session, server, sizes)
            for _ in range(STRETCHES):
                clock = [figures(session)["TaskDuration"]]
                for place in range(updates // STRETCHES):
                    due = time.monotonic() + 1 / per_second
                    run.step()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if place % TOGETHER == TOGETHER - 1:
                        clock.append(figures(session)["TaskDuration"])
                told = measured(page, session, server, sizes)
                told.costs = (np.diff(clock) / TOGETHER).tolist()
                yield told


def measured(page: Page, session: CDPSession, server: int, sizes: list[int]) -> Stretch:
    """Tell what it took since the start, and forget messages and tasks told before."""
    now = figures(session)
    session.send("HeapProfiler.collectGarbage")
    clean = figures(session)
    told = Stretch(
        heap=clean["JSHeapUsedSize"] / 2**20,
        nodes=clean["Nodes"],
        listeners=clean["JSEventListeners"],
        cpu=now["TaskDuration"],
        server_cpu=cpu_seconds(server),
        server_mib=resident_mib(server),
        tasks=page.evaluate("window.tasks.splice(0)"),
        sizes=sizes.copy(),
    )
    sizes.clear()
    return told


def following_table(stretches: list[Stretch], updates: int) -> str:
    """Write what the stretches took as a table."""
    each = updates // STRETCHES
    lines = [
        "| minutes | heap, MiB | nodes | listeners | page, ms of CPU an update | at most, ms "
        "| tasks over 50 ms | bytes an update | server, ms of CPU an update | server, MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for place, (before, now) in enumerate(pairwise(stretches)):
        first = MINUTES * place
        page, server = (1_000 * (getattr(now, part) - getattr(before, part)) / each for part in ("cpu", "server_cpu"))
        counts = f"{now.heap:.1f} | {now.nodes:,.0f} | {now.listeners:,.0f}"
        times = f"{page:.1f} | {max(now.costs, default=0.0) * 1_000:.1f} | {len(now.tasks)}"
        served_at = f"{sum(now.sizes) / each:,.0f} | {server:.1f} | {now.server_mib:.0f}"
        lines.append(f"| {first} to {first + MINUTES} | {counts} | {times} | {served_at} |")
    return "\n".join(lines)


# ---- both


def measure(updates: int, per_second: float) -> str:
    """Measure all, and write it as a page."""
    with TemporaryDirectory() as folder, chromium() as browser:
        finished_run(Path(folder) / "finished")
        openings: dict[str, list[Opening]] = {}
        with served(Path(folder), 1.0) as (address, server):
            for place in range(OPENINGS):
                name = "later" if place else "just after the server has started"
                openings.setdefault(name, []).append(open_once(browser, address, server))
        print(opening_table(openings))
        stretches = []
        for stretch in follow(browser, updates, per_second):
            stretches.append(stretch)
            print(f"{len(stretches) - 1} of {STRETCHES} stretches: heap of {stretch.heap:.1f} MiB", flush=True)
    return page_of(openings, stretches, updates, per_second)


def page_of(openings: dict[str, list[Opening]], stretches: list[Stretch], updates: int, per_second: float) -> str:
    """Write all as a page."""
    best = min(one.milliseconds for one in openings["later"])
    grown = stretches[-1].heap - stretches[1].heap
    return f"""# The dashboard in a browser

`python -m benchmarks.dashboard {updates} {per_second:g}`, headless Chromium, a window of 1400 x 1000.

## How soon it opens

A finished run of 10 learners x 10,000 points, two charts; from the address to the curves on the screen, in a browser
that has never seen the page.

{opening_table(openings)}

Best {best:.0f} ms (goal: under {GOAL} ms, {"met" if best < GOAL else "missed"}).

## An hour of updates

A run of 10 learners and 2 measures that goes on, with 45 verdicts anew at every update and an alarm at every tenth:
{updates:,} updates, {per_second:g} a second. The heap is told after a collection of garbage. CPU time is that of the
page's thread, at most that of the worst {TOGETHER} updates in a row. Tasks over 50 ms are told by the clock: on a busy
machine they are many.

{following_table(stretches, updates)}

The heap has grown by {grown:.1f} MiB since the first {MINUTES} minutes.
"""


def main() -> None:
    """Measure, tell, and store."""
    given = [float(text) for text in sys.argv[1:] if text.replace(".", "").isdigit()]
    updates, per_second = (given + [UPDATES, PER_SECOND][len(given) :])[:2]
    page = measure(int(updates), per_second)
    print(page)
    STORED.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
