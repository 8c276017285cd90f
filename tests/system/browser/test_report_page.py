"""The report page in a real browser."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")

from playwright.sync_api import Browser

from streamgauge import SEA, NaiveBayes, NoChange, evaluate
from streamgauge.drift import DDM
from streamgauge.labelling import First
from streamgauge.reports import page_html, write_page
from streamgauge.significance import LiveTest, compare_all
from tests.support.report_examples import example_results, example_verdicts
from tests.support.timed_examples import make_timed_stream

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&amp;[red]"


def run_scripts(browser: Browser, path: Path) -> str:
    """Return the page as its scripts have left it."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    content = page.content()
    context.close()
    return content


def test_a_browser_draws_every_chart_and_runs_no_name(browser: Browser, tmp_path: Path) -> None:
    results = example_results(["tree", HOSTILE], n_folds=3, n_points=50)
    dom = run_scripts(browser, write_page(results, tmp_path / "report.html", example_verdicts(results)))
    assert dom.count("<canvas") == 4
    assert dom.count("at the last row, 250,000") == 4
    title = re.search(r"<title>(.*?)</title>", dom, flags=re.DOTALL)
    assert title is not None
    assert title[1].startswith("tree and ")


def test_the_curves_of_a_browser_are_not_blank(browser: Browser, tmp_path: Path) -> None:
    html = page_html(example_results(n_folds=3, n_points=50))
    # The page's own policy would rightly refuse this probe, so it goes.
    probe = """<script>
    document.title = [...document.querySelectorAll("canvas")].map((canvas) => {
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(pixels.buffer)).size;
    }).join(" ");
    </script></body>"""
    html = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html).replace("</body>", probe)
    path = tmp_path / "probed.html"
    path.write_text(html, encoding="utf-8")
    title = re.search(r"<title>([\d ]+)</title>", run_scripts(browser, path))
    assert title is not None
    assert [int(colours) > 20 for colours in title[1].split()] == [True] * 4


def test_a_switch_draws_all_charts_over_rows_or_time(browser: Browser, tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 50, "detectors": DDM(), "labelling": First(600)}
    results = evaluate(make_timed_stream(), {"bayes": NaiveBayes(), "last": NoChange()}, **options)
    path = write_page(results, tmp_path / "report.html")
    context = browser.new_context(timezone_id="Asia/Tokyo")  # times are shown in UTC wherever the reader is
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    assert results.times is not None
    moment = str(np.datetime64(int(results.times[-1]), "s")).replace("T", " ")
    assert page.locator(".where").first.inner_text() == f"at the last row, 1,000, {moment} UTC"
    over_time = page.locator(".plot").first.screenshot()
    page.locator("[data-key='learners 0']").first.click()
    page.locator("[data-x=row]").click()
    assert page.locator("[data-x=row]").get_attribute("aria-pressed") == "true"
    assert page.locator("[data-x=time]").get_attribute("aria-pressed") == "false"
    assert page.locator("canvas").count() == page.locator("figure.chart").count()
    page.locator("[data-key='learners 0']").first.click()
    over_rows = page.locator(".plot").first.screenshot()
    assert over_rows != over_time
    page.locator("[data-x=time]").click()
    page.mouse.move(0, 0)
    assert page.locator(".plot").first.screenshot() == over_time
    context.close()
    assert complaints == []


def test_the_differences_in_every_measure_are_drawn(browser: Browser, tmp_path: Path) -> None:
    measures = ("accuracy", "kappa", "log_loss")
    learners = {"bayes": NaiveBayes(), "last": NoChange()}
    options: dict[str, Any] = {"every": 500, "measures": measures, "live_test": LiveTest(measure=measures)}
    results = evaluate(SEA(n_rows=10_000), learners, **options, budgets=["error<0.3"])
    path = write_page(results, tmp_path / "report.html")
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="dark")
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    live = page.locator("section[aria-label='Live verdicts']")
    assert live.locator("canvas").count() == len(measures)
    assert (
        live.locator("li.first .interval, li.second .interval").count() == live.locator("li.first, li.second").count()
    )
    models = page.locator("section[aria-label='Live verdicts on one model'] .verdicts li")
    assert models.count() == len(learners)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    assert complaints == []


def test_what_is_collapsed_is_named_on_paper_and_printed_once_it_is_open(browser: Browser, tmp_path: Path) -> None:
    """Six learners and five measures take few pages; a reader who wants every test opens them first."""
    learners = ["HoeffdingTree", "NaiveBayes", "NoChange", "MajorityClass", "Perceptron", "HoeffdingAdaptiveTree"]
    measures = ["accuracy", "kappa", "g_mean", "balanced_accuracy", "f1_macro"]
    results = evaluate("SEA(n_rows=3000)", learners, measures=measures, scheme="Bootstrap(5)", resources=True)
    path = write_page(results, tmp_path / "report.html", compare_all(results))
    context = browser.new_context()
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("canvas", state="attached")

    def count_pages() -> int:
        return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))

    short = count_pages()
    page.emulate_media(media="print")
    summary = page.locator("details.folded > summary").first
    assert summary.is_visible()
    assert "not printed" in summary.evaluate("node => getComputedStyle(node, '::after').content")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert not page.locator("details:not([open])").count()
    assert short < count_pages()
    assert short <= 9
    context.close()
