"""Pages can be used by everybody, on a phone and on a desktop, in light and in dark."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")

from playwright.sync_api import Browser

import streamgauge as sg
from streamgauge.experiments import Experiment, Source, run
from streamgauge.reports import report
from streamgauge.significance import LiveTest
from tests.support.accessibility import find_overflow, find_violations

LOOKS = [(width, scheme) for width in (1440, 390) for scheme in ("light", "dark")]
LEARNERS = {"HoeffdingTree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the report of a run that has a section of every kind, and with that of a study."""
    folder = tmp_path_factory.mktemp("reports")
    options: dict[str, Any] = {
        "scheme": sg.Bootstrap(3),
        "forgetting": [sg.Window(1000), sg.Landmark()],
        "measures": ("accuracy", "kappa_m"),
        "detectors": ["DDM"],
        "every": 500,
        "resources": True,
        "live_test": LiveTest(measure=("accuracy",)),
        "budgets": ["error<0.3"],
    }
    run = sg.evaluate(sg.streams.paper_stream("SEA(50)"), LEARNERS, n_rows=20_000, **options)
    study = [sg.evaluate(stream, LEARNERS, n_rows=3000) for stream in (sg.SEA(), sg.RandomRBF(), sg.streams.LED())]
    (folder / "run.html").write_text(report(run), encoding="utf-8")
    (folder / "study.html").write_text(report(study), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["run", "study"])
def test_a_report_has_no_violation_and_fits_its_window(
    browser: Browser, folder: Path, name: str, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto((folder / f"{name}.html").as_uri())
    page.locator("canvas").first.wait_for()
    violations, overflow = find_violations(page), find_overflow(page)
    context.close()
    assert violations == overflow == []


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a folder with a run that has verdicts of all kinds, and an experiment."""
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    folder = tmp_path_factory.mktemp("results")
    options: dict[str, Any] = {"detectors": ["DDM"], "every": 500, "resources": True, "budgets": ["error<0.3"]}
    evaluated = sg.evaluate(
        sg.streams.paper_stream("SEA(50)"), LEARNERS, n_rows=20_000, scheme=sg.Bootstrap(3), **options
    )
    sg.save(evaluated, folder / "run")
    streams = {"sea": Source("SEA", rows=1000), "rbf": Source("RandomRBF", rows=1000)}
    run(Experiment("small", streams, {"tree": "HoeffdingTree", "last": "NoChange"}), folder / "store", n_jobs=1)
    command = [str(Path(sys.executable).parent / "streamgauge"), "serve", str(folder), "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield server.stdout.readline().split()[0]
    server.terminate()
    server.communicate()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_dashboard_has_no_violation_and_fits_its_window(
    browser: Browser, address: str, width: int, scheme: Any
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    found = {}
    for name, shown in (("run=run", "tr.verdict"), ("experiment=small", "#study .grid")):
        page.goto(f"{address}#{name}")
        page.reload()
        page.locator(shown).first.wait_for()
        found[name] = find_violations(page) + find_overflow(page)
    page.get_by_role("button", name="New run").click()
    page.get_by_role("dialog").locator(".picked").first.wait_for()
    found["the form"] = find_violations(page) + find_overflow(page)
    context.close()
    assert not any(found.values()), found
