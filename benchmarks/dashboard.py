"""The dashboard in headless Chromium: how soon it opens, and whether it stays smooth for an hour of updates.

``python -m benchmarks.dashboard 3600 20`` sends 3,600 updates at 20 per second (``3600 1`` takes the hour) and stores
the result in ``benchmarks/results/dashboard.md``. Besides wall time, which depends on other load, it measures the CPU
time of the page's thread.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

import streamgauge as sg
from benchmarks.dashboard_day import HEADING, LiveRun
from benchmarks.endless import measure_memory
from streamgauge._engine.journal import writer
from streamgauge.learners import LogisticRegression, Perceptron, RandomGuess

STORED = Path(__file__).parent / "results" / "dashboard.md"
UPDATES, PER_SECOND, OPENINGS, STRETCHES = 3_600, 20, 7, 6
GROUP = 10
"""Updates between two readings of the page's metrics, which cost more than the updates."""
MINUTES = 60 // STRETCHES
GOAL = 1_000
WAIT = 180_000  # milliseconds; a loaded machine is slow

# The page records when its curves are on the screen, and every task longer than 50 ms.
RECORDER = """
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
live.UPDATE_SECONDS = run_folders.LIST_VALID_SECONDS = float(sys.argv.pop())
main()
"""


@contextmanager
def serve(folder: Path, seconds: float) -> Iterator[tuple[str, int]]:
    """Serve a folder, with an update every `seconds`; yield the address and the process id."""
    command = [sys.executable, "-c", SERVER, "serve", str(folder), "--port", "0", str(seconds)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[0], server.pid
    finally:
        server.terminate()
        server.communicate()


@contextmanager
def start_chromium() -> Iterator[Browser]:
    """Start the installed Chromium, or that of Playwright."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Browser) -> Iterator[tuple[Page, CDPSession]]:
    """Open a new page in an empty browser profile; yield it and the session that measures it."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.add_init_script(RECORDER)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    yield page, session
    context.close()


def read_metrics(session: CDPSession) -> dict[str, float]:
    """Return the metrics of the page: TaskDuration is CPU time of its thread, in seconds."""
    return {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}


def measure_cpu(process: int) -> float:
    """Return the CPU seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- time to open


def save_run(folder: Path) -> None:
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
    """Costs from the address to curves on the screen."""

    milliseconds: float
    page_cpu: float
    server_cpu: float
    n_bytes: float


def open_once(browser: Browser, address: str, server: int) -> Opening:
    """Open the page with an empty browser cache."""
    with open_page(browser) as (page, session):
        before = measure_cpu(server)
        page.goto(address)
        page.wait_for_selector("html[data-seen]")
        cpu = 1_000 * read_metrics(session)["TaskDuration"]
        n_bytes = page.evaluate("performance.getEntriesByType('resource').reduce((sum, e) => sum + e.transferSize, 0)")
        seen = float(page.locator("html").get_attribute("data-seen") or "nan")
        return Opening(seen, cpu, 1_000 * (measure_cpu(server) - before), n_bytes)


def build_opening_table(openings: dict[str, list[Opening]]) -> str:
    """Return the times to open as a table."""
    lines = [
        "| | best, ms | median, ms | CPU of the page, ms | CPU of the server, ms | kB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, repeats in openings.items():
        times = [opening.milliseconds for opening in repeats]
        page = median(opening.page_cpu for opening in repeats)
        server = median(opening.server_cpu for opening in repeats)
        kilobytes = median(opening.n_bytes for opening in repeats) / 1_000
        lines.append(
            f"| {name} | {min(times):.0f} | {median(times):.0f} | {page:.0f} | {server:.0f} | {kilobytes:.0f} |"
        )
    return "\n".join(lines)


# ---- smoothness


@dataclass
class Stretch:
    """Costs of some minutes of updates."""

    heap: float
    nodes: float
    listeners: float
    cpu: float
    server_cpu: float
    server_mib: float
    tasks: list[float]
    sizes: list[int]
    costs: list[float] = field(default_factory=list)
    """CPU seconds per update, one value for each group of updates."""


def follow(browser: Browser, updates: int, per_second: float) -> Iterator[Stretch]:
    """Drive a run with a page that follows it; yield the state before the first update, then each stretch."""
    writer.STATUS_SECONDS = 0.0
    with TemporaryDirectory() as folder, serve(Path(folder), 1 / per_second) as (address, server):
        run = LiveRun(Path(folder) / "live")
        run.step()
        with open_page(browser) as (page, session):
            sizes: list[int] = []
            page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
            page.goto(address)
            page.wait_for_selector("html[data-seen]")
            yield measure_stretch(page, session, server, sizes)
            for _ in range(STRETCHES):
                clock = [read_metrics(session)["TaskDuration"]]
                for number in range(updates // STRETCHES):
                    due = time.monotonic() + 1 / per_second
                    run.step()
                    time.sleep(max(0.0, due - time.monotonic()))
                    if number % GROUP == GROUP - 1:
                        clock.append(read_metrics(session)["TaskDuration"])
                stretch = measure_stretch(page, session, server, sizes)
                stretch.costs = (np.diff(clock) / GROUP).tolist()
                yield stretch


def measure_stretch(page: Page, session: CDPSession, server: int, sizes: list[int]) -> Stretch:
    """Measure costs since the start, and messages and tasks since the last call."""
    now = read_metrics(session)
    session.send("HeapProfiler.collectGarbage")
    clean = read_metrics(session)
    stretch = Stretch(
        heap=clean["JSHeapUsedSize"] / 2**20,
        nodes=clean["Nodes"],
        listeners=clean["JSEventListeners"],
        cpu=now["TaskDuration"],
        server_cpu=measure_cpu(server),
        server_mib=measure_memory(server),
        tasks=page.evaluate("window.tasks.splice(0)"),
        sizes=sizes.copy(),
    )
    sizes.clear()
    return stretch


def build_stretch_table(stretches: list[Stretch], updates: int) -> str:
    """Return the costs of the stretches as a table."""
    n_updates = updates // STRETCHES
    lines = [
        "| minutes | heap, MiB | nodes | listeners | page, ms of CPU per update | at most, ms "
        "| tasks over 50 ms | bytes per update | server, ms of CPU per update | server, MiB |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for number, (before, now) in enumerate(pairwise(stretches)):
        minute = MINUTES * number
        page = 1_000 * (now.cpu - before.cpu) / n_updates
        server = 1_000 * (now.server_cpu - before.server_cpu) / n_updates
        counts = f"{now.heap:.1f} | {now.nodes:,.0f} | {now.listeners:,.0f}"
        times = f"{page:.1f} | {max(now.costs, default=0.0) * 1_000:.1f} | {len(now.tasks)}"
        server_costs = f"{sum(now.sizes) / n_updates:,.0f} | {server:.1f} | {now.server_mib:.0f}"
        lines.append(f"| {minute} to {minute + MINUTES} | {counts} | {times} | {server_costs} |")
    return "\n".join(lines)


# ---- both


def measure(updates: int, per_second: float) -> str:
    """Measure everything; return the page of results."""
    with TemporaryDirectory() as folder, start_chromium() as browser:
        save_run(Path(folder) / "finished")
        openings: dict[str, list[Opening]] = {}
        with serve(Path(folder), 1.0) as (address, server):
            for number in range(OPENINGS):
                name = "later" if number else "just after the server has started"
                openings.setdefault(name, []).append(open_once(browser, address, server))
        print(build_opening_table(openings))
        stretches = []
        for stretch in follow(browser, updates, per_second):
            stretches.append(stretch)
            print(f"{len(stretches) - 1} of {STRETCHES} stretches: heap of {stretch.heap:.1f} MiB", flush=True)
    return build_page(openings, stretches, updates, per_second)


def build_page(openings: dict[str, list[Opening]], stretches: list[Stretch], updates: int, per_second: float) -> str:
    """Return the page of results."""
    best = min(opening.milliseconds for opening in openings["later"])
    growth = stretches[-1].heap - stretches[1].heap
    return f"""# The dashboard in a browser

`python -m benchmarks.dashboard {updates} {per_second:g}`, headless Chromium, a window of 1400 x 1000.

## Time to open

A finished run of 10 learners x 10,000 points, two charts; from the address to the curves on the screen, with an empty
browser cache.

{build_opening_table(openings)}

Best {best:.0f} ms (goal: under {GOAL} ms, {"met" if best < GOAL else "missed"}).

## An hour of updates

A live run of 10 learners and 2 measures, with 45 new verdicts at every update and an alarm at every tenth: {updates:,}
updates, {per_second:g} per second. The heap is measured after garbage collection. CPU time is that of the page's
thread; "at most" is the mean of the worst {GROUP} updates in a row. Tasks over 50 ms are wall time: a busy machine has
many.

{build_stretch_table(stretches, updates)}

The heap has grown by {growth:.1f} MiB since the first {MINUTES} minutes.
"""


def main() -> None:
    """Measure, print and store."""
    numbers = [float(text) for text in sys.argv[1:] if text.replace(".", "").isdigit()]
    updates, per_second = (numbers + [UPDATES, PER_SECOND][len(numbers) :])[:2]
    page = measure(int(updates), per_second)
    print(page)
    day = "".join(STORED.read_text(encoding="utf-8").partition(HEADING)[1:])
    STORED.write_text(f"{page}\n{day}" if day else page, encoding="utf-8")


if __name__ == "__main__":
    main()
