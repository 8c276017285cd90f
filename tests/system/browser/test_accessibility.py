"""Pages can be used by everybody, on a phone and on a desktop, in light and in dark."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")

from playwright.sync_api import Browser

import streamgauge as sg
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
