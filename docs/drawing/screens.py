"""Screenshots: the report of `make demo`, parts of another report, and the dashboard during a run."""

import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

import streamgauge as sg
from docs.drawing.record import Shown, list_words
from docs.drawing.runs import evaluate_gradual_sea
from streamgauge import streams
from streamgauge.cli.main import cli
from streamgauge.learners import Perceptron
from streamgauge.reports import write_report
from streamgauge.significance import LiveTest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["shoot_dashboard", "shoot_report", "shoot_report_phone_dark", "shoot_report_sections", "shoot_study"]

ROOT = Path(__file__).parents[2]
ANSWERS = ("Best: ", "No clear best; ")

CUT = """([start, most]) => {
  // Cut below the last block that is whole, so that nothing is cut in two.
  const bottoms = [...document.querySelectorAll("section, figure, header, .card, .verdicts > li, p, table, ul")]
    .map((block) => block.getBoundingClientRect()).filter((box) => box.height > 0)
    .map((box) => box.bottom + scrollY).filter((bottom) => bottom <= start + most);
  return Math.max(start, ...bottoms) - start;
}"""
SEEN = """([start, height]) => [...document.querySelectorAll("main > *")].filter((block) => {
  const box = block.getBoundingClientRect();
  return box.top + scrollY >= start && box.bottom + scrollY <= start + height;
}).map((block) => block.innerText).join("\\n")"""


@dataclass(frozen=True)
class Shot:
    """A screenshot, what it shows, and the words of the whole page."""

    picture: bytes
    shown: Shown
    words: list[str]


@contextmanager
def _open(browser: "Browser", address: str, width: int, height: int = 1200, *, dark: bool = False) -> Iterator["Page"]:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", timezone_id="UTC"
    )
    try:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector("canvas", state="attached", timeout=60_000)
        page.wait_for_timeout(500)
        yield page
    finally:
        context.close()


def _shoot(page: "Page", most: float, start: float = 0.0, *, whole: bool = False) -> Shot:
    """Take a picture at most `most` pixels high; if `whole`, it counts all words of the page as shown."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    height = page.evaluate(CUT, [start, most]) + 10
    picture = page.screenshot(full_page=True, clip={"x": 0, "y": start, "width": width, "height": height})
    text = page.inner_text("body")
    seen = text if whole else page.evaluate(SEEN, [start, height])
    answers = [line.strip() for line in seen.splitlines() if line.strip().startswith(ANSWERS)]
    return Shot(picture, {"words": list_words(seen), "answers": answers}, list_words(text))


def read_demo() -> list[str]:
    """Return the arguments of the command that `make demo` runs."""
    recipe = re.search(r"^demo: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    if recipe is None:
        msg = "the Makefile has no target demo"
        raise LookupError(msg)
    return shlex.split(recipe[1].replace("\\\n", ""))[1:]


def shoot_report(browser: "Browser") -> Shot:
    """Take a picture of the top of the report of `make demo`."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = read_demo()
        arguments[arguments.index("--out") + 1] = folder
        outcome = CliRunner().invoke(cli, [*arguments, "--quiet"])
        if outcome.exit_code:
            raise RuntimeError(outcome.output)
        with _open(browser, (Path(folder) / "report.html").as_uri(), 1200) as page:
            return _shoot(page, 1400)


@contextmanager
def _open_sea(browser: "Browser", width: int, *, dark: bool) -> Iterator["Page"]:
    with tempfile.TemporaryDirectory() as folder:
        path = evaluate_gradual_sea().report(Path(folder) / "report.html")
        with _open(browser, path.as_uri(), width, dark=dark) as page:
            yield page


def shoot_report_sections(browser: "Browser") -> Shot:
    """Take a picture of the costs and the classes of a run with a drift and hidden labels."""
    with _open_sea(browser, 1200, dark=False) as page:
        first = page.locator("section:has(h2:text-matches('^cost', 'i'))").first
        box = first.bounding_box()
        return _shoot(page, 2200, box["y"] - 24 if box else 0.0)


def shoot_report_phone_dark(browser: "Browser") -> Shot:
    """Take a picture of the same report on a phone in dark mode."""
    with _open_sea(browser, 390, dark=True) as page:
        return _shoot(page, 1500)


def shoot_study(browser: "Browser") -> Shot:
    """Take a picture of the report of a study over eight streams with three seeds each."""
    learners = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "perceptron": Perceptron()}
    names = ("SEA", "RandomRBF", "Hyperplane", "Agrawal", "LED", "Waveform", "RandomTree", "Sine")
    runs = [
        sg.evaluate(f"{name}(seed={seed})", learners, n_rows=20_000, seed=seed, forgetting=["Landmark", "Window(1000)"])
        for name in names
        for seed in (1, 2, 3)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = write_report(runs, Path(folder) / "study.html")
        with _open(browser, path.as_uri(), 1200) as page:
            return _shoot(page, 2000)


@contextmanager
def _serve(folder: Path) -> Iterator[str]:
    command = [str(Path(sys.executable).parent / "streamgauge"), "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[0]
        finally:
            server.terminate()


def shoot_dashboard(browser: "Browser") -> Shot:
    """Take a picture of the dashboard while a run with two measures and a budget is at two thirds of its rows."""
    drift = streams.Sudden(sg.RandomRBF(), sg.RandomRBF(seed=2), position=60_000)
    learners = {"HoeffdingTree": sg.HoeffdingTree(), "NaiveBayes": sg.NaiveBayes(), "Perceptron": Perceptron()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "results"
        sea = evaluate_gradual_sea(journal=folder / "sea-bootstrap")
        sea.save(folder / "sea-bootstrap")
        running = sg.Evaluation(
            drift,
            learners,
            n_rows=300_000,
            scheme="Bootstrap(5)",
            forgetting="Window(10000)",
            measures=["accuracy", "kappa_m"],
            detectors=["DDM"],
            every=1_000,
            live_test=LiveTest(measure=("accuracy", "kappa")),
            budgets=["error<0.25"],
            resources=True,
            journal=folder / "rbf-with-drift",
            batch_size=1_000,
        )
        is_stopped = threading.Event()
        progress = running.advance(is_stopped.is_set)
        while next(progress).n_rows < 200_000:
            pass
        time.sleep(1)  # so that the journal writes the status of the next batch, too
        next(progress)
        with (
            _serve(folder) as address,
            _open(browser, f"{address}#run=rbf-with-drift&measure=accuracy", 1440, 1450) as page,
        ):
            page.wait_for_timeout(1500)
            shot = _shoot(page, 1700, whole=True)
        is_stopped.set()
        list(progress)
    return shot
