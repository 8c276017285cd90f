"""The page of the dashboard in a real browser; what it looked like is kept in the folder test-pictures."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")
pytest.importorskip("websockets", reason="the extra serve is not installed")
pytest.importorskip("playwright", reason="Playwright, which drives a browser, is not installed")

from playwright.sync_api import Browser, Page, expect

from streamgauge import (
    SEA,
    Bootstrap,
    HoeffdingTree,
    Landmark,
    MajorityClass,
    NaiveBayes,
    Window,
    evaluate,
    load,
    rank,
    save,
    streams,
)
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import Journal, Layout
from streamgauge.experiments import Experiment, Source, run
from streamgauge.records import Alarm, EarlierVerdict, Verdict
from streamgauge.reports.headline import write_headline, write_ranking_headline
from streamgauge.reports.study import run_recommended_tests
from streamgauge.store import Store
from tests.support.timed_examples import START, make_timed_stream
from tests.support.verdict_examples import MODELS, PAIRS

PICTURES = Path(__file__).parents[3] / "test-pictures"
HOSTILE = "<img src=x onerror=alert(1)>"
NAME = "e => e.getAttribute('aria-label') || e.textContent || e.title || e.labels?.[0]?.textContent || ''"
WAIT = 60_000  # milliseconds; a loaded machine is slow


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    command = [str(Path(sys.executable).parent / "streamgauge"), "serve", str(folder), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[0]
    finally:
        server.terminate()
        server.communicate()


@contextmanager
def opened(browser: Browser, address: str, expected: str = "WebSocket", **options: Any) -> Iterator[Page]:
    """Open a page; fails on whatever the browser complains of, as on a script that may not run."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, **options)
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    page.goto(address)
    yield page
    context.close()
    assert [complaint for complaint in complaints if expected not in complaint] == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder with two finished runs."""
    root = tmp_path_factory.mktemp("results")
    learners = {"HoeffdingTree": HoeffdingTree(), HOSTILE: NaiveBayes(), "MajorityClass": MajorityClass()}
    results = evaluate(
        streams.paper_stream("SEA(50)"),
        learners,
        n_rows=60_000,
        scheme=Bootstrap(3),
        forgetting=[Window(1_000), Landmark()],
        measures=("accuracy", "kappa_m"),
        detectors=["DDM"],
        every=500,
        resources=True,
        journal=root / "sea",
    )
    save(results, root / "sea")
    save(evaluate(SEA(n_rows=5_000), NaiveBayes(), every=100), root / "small")
    return root


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as found:
        yield found


def pictured(page: Page, name: str) -> None:
    PICTURES.mkdir(exist_ok=True)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def drawn(page: Page, n: int) -> None:
    expect(page.locator(".charts canvas")).to_have_count(n, timeout=WAIT)


def answered(page: Page) -> None:
    """Wait for the answer of a finished run, which comes after its curves and moves them down."""
    expect(page.locator("#answers .answer")).to_be_visible(timeout=WAIT)


def row_of(page: Page, learner: str) -> list[str]:
    row = page.locator("#values tbody tr", has=page.locator("button", has_text=learner))
    return row.locator("td").all_inner_texts()


def test_the_page_draws_a_finished_run_and_tells_its_values(browser: Browser, address: str, folder: Path) -> None:
    results = load(folder / "sea")
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        for place, learner in enumerate(results.learners):
            last = [100 * results.curve(learner, measure)[-1].mean() for measure in results.measures]
            expect(page.locator("#values tbody tr").nth(place).locator("td").nth(0)).to_have_text(f"{last[0]:.2f}")
            assert row_of(page, learner) == [f"{value:.2f}" for value in last]
        expect(page.get_by_role("heading", name="Verdicts")).to_be_visible()
        expect(page.locator("tr.verdict")).to_have_count(3)
        expect(page.locator("#answers")).to_contain_text(write_headline(results, run_recommended_tests(results))[-1])
        expect(page.get_by_role("heading", name="Drift alarms")).to_be_visible()
        pictured(page, "finished")


def test_what_users_named_is_text_and_never_markup(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        expect(page.locator("#values").get_by_text(HOSTILE)).to_be_visible()
        assert page.locator("img").count() == 0


def test_measures_forgetting_and_learners_are_chosen(browser: Browser, address: str, folder: Path) -> None:
    results = load(folder / "sea")
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        page.get_by_role("button", name="kappa_m", exact=True).click()
        drawn(page, 1)
        page.get_by_role("button", name="memory").click()
        drawn(page, 2)
        page.locator("select[aria-label=Forgetting]").select_option("Landmark()")
        expected = f"{100 * results.curve('HoeffdingTree', 'accuracy', 'Landmark()')[-1].mean():.2f}"
        expect(page.locator("#values tbody tr").first.locator("td").first).to_have_text(expected)
        learner = page.get_by_role("button", name="MajorityClass", exact=True)
        learner.click()
        expect(learner).to_have_attribute("aria-pressed", "false")
        page.reload()  # what is chosen stands in the address
        drawn(page, 2)
        assert "Landmark" in page.url


def test_runs_are_compared_side_by_side(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        page.get_by_label("Show small together with others").check()
        expect(page.locator("#values tbody tr")).to_have_count(4)
        expect(page.locator("#values")).to_contain_text("over all rows")  # the forgetting that both have
        expect(page.locator("#values tbody tr").nth(3).locator("td").first).to_have_text(re.compile(r"\d\d\.\d\d"))
        page.get_by_label("Find a run").fill("small")
        expect(page.locator("#runs li")).to_have_count(1)
        pictured(page, "compared")


def test_it_is_said_in_what_runs_differ(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#run=sea&run=small") as page:
        drawn(page, 2)
        differences = page.locator(".differences")
        expect(differences.locator("caption")).to_have_text(re.compile("differ in stream, scheme, rows, folds"))
        expect(differences.locator("tr", has_text="folds").locator("td")).to_have_text(["3", "1"])
        expect(differences).not_to_contain_text("seed")  # it is the same
        page.goto(f"{address}#run=small")
        expect(differences).to_have_count(0)


def test_an_experiment_is_shown_with_its_progress_and_ranks(browser: Browser, tmp_path: Path) -> None:
    streams = {"sea": Source("SEA", rows=1000), "rbf": Source("RandomRBF", rows=1000)}
    experiment = Experiment("small", streams, {"tree": "HoeffdingTree", "last": "NoChange"}, seeds=(1, 2))
    run(experiment, tmp_path, n_jobs=1)
    ranking = rank(list(Store(tmp_path).results()))
    with served(tmp_path) as address, opened(browser, address) as page:
        page.locator("#experiments button").click()
        study = page.locator("#study")
        expect(study.locator("h1")).to_have_text("small")
        expect(study.locator(".lead")).to_have_text("4 finished of 4 runs")
        expect(study.locator(".answer")).to_have_text(write_ranking_headline(ranking))
        means = [f"{mean:.2f}" for mean in ranking.mean_ranks]
        expect(study.locator(".grid").first.locator("tr", has_text="mean rank").locator("td")).to_have_text(means)
        expect(page.locator("#controls")).to_be_hidden()
        pictured(page, "experiment")
        page.reload()  # the experiment stands in the address
        study.get_by_role("button", name="tree on sea").click()
        expect(page.locator("#head h1")).to_have_text("sea, seed 1")
        drawn(page, 1)
        expect(study).to_be_hidden()


def test_zoom_asks_for_more_and_keys_move_along(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        answered(page)
        box = page.locator(".u-over").first.bounding_box()
        assert box is not None
        with page.expect_request(lambda request: "/api/curves" in request.url and "from=" in request.url):
            page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 50)
            page.mouse.down()
            page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 50, steps=5)
            page.mouse.up()
        expect(page).to_have_url(re.compile("from=.*to="))
        first = span(page)
        assert 10_000 < first[0] < 20_000 < first[1] < 40_000
        page.locator(".plot").first.focus()
        moved = pressed(page, "ArrowRight")
        assert moved[0] > first[0]
        closer = pressed(page, "+")
        assert closer[1] - closer[0] < moved[1] - moved[0]
        page.keyboard.press("0")
        expect(page).not_to_have_url(re.compile("from="))


def pressed(page: Page, key: str) -> tuple[float, float]:
    """Return the range in the address once it has answered `key`."""
    before = page.url
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)
    return span(page)


def span(page: Page) -> tuple[float, float]:
    first, last = re.search(r"from=([\d.]+)&to=([\d.]+)", page.url).groups()  # type: ignore[union-attr]
    return float(first), float(last)


def test_curves_are_drawn_over_the_times_of_rows_and_over_rows(browser: Browser, tmp_path: Path) -> None:
    results = evaluate(make_timed_stream(4000), {"bayes": NaiveBayes(), "tree": HoeffdingTree()}, every=20)
    assert results.times is not None
    save(results, tmp_path / "timed")
    save(evaluate(SEA(n_rows=4000), NaiveBayes(), every=20), tmp_path / "untimed")
    caption = "#values caption"
    moment = str(np.datetime64(int(results.times[-1]), "s")).replace("T", " ")
    with served(tmp_path) as address, opened(browser, f"{address}#run=timed", timezone_id="Asia/Tokyo") as page:
        drawn(page, 1)
        expect(page.locator(caption)).to_contain_text(f"At the last reading, {moment} UTC, row 4,000")
        answered(page)
        pictured(page, "times")
        box = page.locator(".u-over").first.bounding_box()
        assert box is not None
        with page.expect_request(lambda request: "/api/curves" in request.url and "x=time" in request.url):
            page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 50)
            page.mouse.down()
            page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 50, steps=5)
            page.mouse.up()
        expect(page).to_have_url(re.compile("x=time&from="))
        first, last = span(page)
        assert results.times[0] < first < last < results.times[-1]
        page.reload()
        drawn(page, 1)
        assert span(page) == (first, last)
        page.get_by_role("button", name="rows", exact=True).click()
        expect(page).to_have_url(re.compile("x=row$"))
        expect(page.locator(caption)).to_contain_text("At the last reading, row 4,000")
        pictured(page, "times-rows")
        page.get_by_role("checkbox", name="untimed").check()
        drawn(page, 1)
        expect(page.get_by_role("button", name="rows", exact=True)).to_have_count(0)  # the other run has no times


def test_a_live_run_is_followed_over_time(browser: Browser, tmp_path: Path) -> None:
    layout = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False, with_times=True)
    with Journal(tmp_path / "live", layout, {"stream": {"name": "payments"}}) as journal:

        def step(row: int) -> None:
            values = np.full((1, 1, 1, 1, 1), 0.5 + row / 1e4)
            journal.write_progress(Progress(row, np.array([row]), values, times=np.array([START + 3600.0 * row])))

        step(10)
        with served(tmp_path) as address, opened(browser, f"{address}#run=live") as page:
            drawn(page, 1)
            expect(page.locator("#values caption")).to_contain_text("row 10")
            expect(page.get_by_role("button", name="time", exact=True)).to_have_count(0)  # one point is no axis
            step(20)
            expect(page.get_by_role("button", name="time", exact=True)).to_be_visible()
            expect(page.locator("#values caption")).to_contain_text("2024-01-01 20:00:00 UTC, row 20")
            step(30)
            expect(page.locator("#values caption")).to_contain_text("2024-01-02 06:00:00 UTC, row 30")


def test_true_drifts_are_drawn(browser: Browser, tmp_path: Path) -> None:
    results = evaluate(streams.Sudden(SEA(1), SEA(3), position=2000), NaiveBayes(), n_rows=4000)
    assert results.drifts
    save(results, tmp_path / "drift")
    save(replace(results, description={**results.description, "drifts": []}), tmp_path / "none")
    pictures = []
    with served(tmp_path) as address:
        for name in ("drift", "none"):
            with opened(browser, f"{address}#run={name}") as page:
                drawn(page, 1)
                expect(page.locator("#values caption")).to_contain_text("row 4,000")
                pictures.append(page.locator(".plot canvas").first.screenshot())
    assert pictures[0] != pictures[1]


def test_what_is_shown_is_exported(browser: Browser, address: str, tmp_path: Path) -> None:
    with opened(browser, f"{address}#run=small") as page:
        drawn(page, 1)
        with page.expect_download() as table:
            page.get_by_role("button", name="CSV").click()
        table.value.save_as(tmp_path / "shown.csv")
        lines = (tmp_path / "shown.csv").read_text().splitlines()
        assert len(lines) == 51
        with page.expect_download() as picture:
            page.get_by_role("button", name="PNG").click()
        picture.value.save_as(tmp_path / "shown.png")
        assert (tmp_path / "shown.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("phone", 390, "light"), ("dark", 1400, "dark"), ("phone-dark", 390, "dark")]
)
def test_it_fits_a_phone_and_the_dark(browser: Browser, address: str, name: str, width: int, scheme: str) -> None:
    with opened(browser, f"{address}#run=sea", color_scheme=scheme) as page:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page, 2)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark")
        pictured(page, name)


def test_everything_can_be_reached_and_has_a_name(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}#run=sea") as page:
        drawn(page, 2)
        for control in page.locator("button:visible, input:visible, select:visible").all():
            name = control.evaluate(NAME)
            assert name.strip(), control.evaluate("e => e.outerHTML")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the curves"
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.className + ' ' + document.activeElement.localName"))
        assert {"plot div", "learner button", "run button", "chip button"} <= reached
        assert page.locator("h1").count() == 1
        assert page.locator("main").count() == page.locator("nav").count() == 1


LEARNERS = tuple(f"learner {k}" for k in range(10))
COMPARED = ("accuracy", "log_loss")
LAYOUT = Layout(LEARNERS, ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)


class Runner:
    """A run that is advanced by hand."""

    def __init__(self, folder: Path, n_points: int = 0, layout: Layout = LAYOUT) -> None:
        self.journal = Journal(folder, layout, {"stream": {"name": "SEA()"}, "scheme": {"name": "Prequential()"}})
        self.layout, self.row = layout, 0
        self._draws = np.random.default_rng(1)
        if n_points:
            self.step(n_points)

    def step(self, n: int = 1, **further: Any) -> None:
        rows = 100 * np.arange(self.row + 1, self.row + n + 1)
        self.row += n
        level = np.linspace(0.7, 0.9, len(self.layout.learners))
        waves = level + 0.02 * np.sin(rows[:, None] / 30_000 + level * 40)
        values = (waves + self._draws.normal(0, 0.004, waves.shape))[:, :, None, None, None]
        self.journal.write_progress(Progress(int(rows[-1]), rows, values, **further))

    @contextmanager
    def going_on(self, every: float) -> Iterator[None]:
        ended = threading.Event()

        def go() -> None:
            while not ended.wait(every):
                self.step()

        thread = threading.Thread(target=go)
        thread.start()
        yield
        ended.set()
        thread.join()


def rows_shown(page: Page) -> int:
    found = re.search(r"row ([\d,]+)", page.locator("#values caption").inner_text())
    return int(found.group(1).replace(",", "")) if found else 0


def until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.1)


def test_a_run_is_followed_live_paused_and_taken_up_again(browser: Browser, tmp_path: Path) -> None:
    runner = Runner(tmp_path / "live", 50)
    verdict = Verdict(
        "learner 0", "learner 1", "second", 5_100, -0.02, (-0.03, -0.012), 0.01, 0.05, 45, "equal", "two_way_sequence"
    )
    with served(tmp_path) as address, opened(browser, address) as page, runner.going_on(0.2):
        drawn(page, 1)
        until(lambda: rows_shown(page) > 5_000)
        expect(page.locator("#head .badge")).to_have_text("running")
        page.get_by_role("button", name="Pause").click()
        seen = rows_shown(page)
        expect(page.get_by_role("button", name=re.compile(r"Resume \(\d+ new\)"))).to_be_visible()
        assert rows_shown(page) == seen
        page.get_by_role("button", name=re.compile("Resume")).click()
        until(lambda: rows_shown(page) > seen)
        runner.step(verdicts=(verdict,), alarms=(Alarm(5_000, "learner 3", 0, "DDM"),))
        expect(page.locator("tr.verdict .sentence")).to_have_text(
            "learner 1 is better than learner 0 in accuracy, known since row 5,100"
        )
        expect(page.get_by_role("heading", name="Drift alarms")).to_be_visible()
        page.locator("tr.verdict").get_by_role("button", name="Curve").click()
        drawn(page, 2)
        pictured(page, "live")


def test_a_pair_is_shown_from_the_view_of_who_is_ahead_and_only_what_holds_is_decided(
    browser: Browser, tmp_path: Path
) -> None:
    runner = Runner(tmp_path / "live", 50)
    names = ("learner 0", "learner 1")
    known = Verdict(*names, "second", 5_100, -0.02, (-0.03, -0.012), 0.01, 0.05, 45, "equal", "two_way_sequence")
    earlier = EarlierVerdict("second", 5_100, 5_200)
    ended = replace(known, outcome="undecided", row=None, interval=(-0.03, 0.01), earlier=earlier)
    with served(tmp_path) as address, opened(browser, address) as page, runner.going_on(0.2):
        drawn(page, 1)
        runner.step(verdicts=(known,))
        card = page.locator("tr.verdict")
        expect(card.locator(".estimate span")).to_have_text("learner 1 is ahead by 2.00 pp [+1.20, +3.00]")
        assert float(card.locator("circle").get_attribute("cx") or 0) > 100  # to the right of zero
        count = page.locator("#verdicts .count")
        expect(count).to_have_text("1 of 1 pair decided in accuracy, anytime-valid at 95%, margin 1 pp")
        card.get_by_role("button", name="Curve").click()
        expect(page.get_by_text("learner 1 \u2212 learner 0").first).to_be_visible()
        runner.step(verdicts=(ended,))
        expect(card.locator(".sentence")).to_have_text(
            "learner 0 and learner 1: undecided now in accuracy; "
            "learner 1 was known to be better from row 5,100 to row 5,200, no longer so"
        )
        expect(card).to_have_class("verdict undecided")
        expect(count).to_have_text("0 of 1 pair decided in accuracy, anytime-valid at 95%, margin 1 pp")
        expect(page.locator(".matrix .better")).to_have_count(0)
        pictured(page, "verdicts")


def test_the_measure_of_verdicts_is_chosen_and_verdicts_on_one_model_are_listed(
    browser: Browser, tmp_path: Path
) -> None:
    learners = ("tree", "bayes", "majority")
    layout = Layout(learners, ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False, compared=COMPARED)
    runner = Runner(tmp_path / "live", 50, layout)
    with served(tmp_path) as address, opened(browser, address) as page, runner.going_on(0.2):
        drawn(page, 1)
        runner.step(verdicts=PAIRS, model_verdicts=MODELS)
        models = page.locator("#verdicts tr:is(.broken, .kept)")
        expect(models.locator(".sentence")).to_have_text([str(MODELS[0]), str(MODELS[1])])
        broken, kept = (models.nth(k).locator("svg").evaluate("e => getComputedStyle(e).color") for k in range(2))
        assert broken != kept
        expect(page.locator("#verdicts .terms")).to_have_count(2)
        expect(page.locator("#verdicts")).to_contain_text("It says nothing about other streams of this source.")
        expect(page.locator("tr.verdict .sentence", has_text="in log_loss")).to_have_count(0)
        page.get_by_role("group", name="Measure of the verdicts").get_by_role("button", name="log_loss").click()
        count = "1 of 2 pairs decided in log_loss on this stream, anytime-valid at 95%, margin 0.02 nats"
        expect(page.locator("#verdicts .count").last).to_have_text(count)
        card = page.locator("tr.verdict", has_text="tree is better than bayes in log_loss")
        expect(card.locator(".estimate span")).to_have_text("tree is ahead by 0.125 nats [+0.05, +0.2]")
        assert float(card.locator("circle").get_attribute("cx") or 0) > 100  # to the right of zero
        expect(page.locator("tr.verdict .left")).to_have_text("about 12,000 more rows if the difference stays as it is")
        card.get_by_role("button", name="Curve").click()
        drawn(page, 2)
        expect(page.locator("figcaption").last).to_have_text(
            "bayes \u2212 tree difference of log_loss, nats; less is better"
        )
        pictured(page, "measures-of-verdicts")


def test_the_tests_of_a_run_without_live_verdicts_are_not_called_verdicts(browser: Browser, tmp_path: Path) -> None:
    options: dict[str, Any] = {"scheme": Bootstrap(5), "live_test": None}
    save(evaluate(SEA(n_rows=2_000), [NaiveBayes(), MajorityClass()], **options), tmp_path / "run")
    with served(tmp_path) as address, opened(browser, address) as page:
        answered(page)
        expect(page.get_by_role("heading", name="Comparisons at the end")).to_be_visible()
        expect(page.get_by_role("heading", name="verdicts")).to_have_count(0)


def test_the_page_survives_a_restart_of_the_server(browser: Browser, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    runner = Runner(tmp_path / "live", 50)
    with runner.going_on(0.2):
        with served(tmp_path, port) as address:
            context = browser.new_context()
            page = context.new_page()
            page.set_default_timeout(WAIT)
            page.goto(address)
            drawn(page, 1)
            until(lambda: rows_shown(page) > 5_000)
        expect(page.locator("#link")).to_have_text(re.compile("No connection to the server"), timeout=WAIT)
        seen = rows_shown(page)
        with served(tmp_path, port):
            expect(page.locator("#link")).to_have_text("live", timeout=WAIT)
            until(lambda: rows_shown(page) > seen + 100)
        context.close()


def test_ten_learners_with_ten_thousand_points_open_at_once(browser: Browser, tmp_path: Path) -> None:
    Runner(tmp_path / "big", 10_000)
    with served(tmp_path) as address:
        with opened(browser, address) as page:  # the files of the page are then in memory, as in daily use
            drawn(page, 1)
        with opened(browser, address) as page:
            drawn(page, 1)
            page.wait_for_selector("html[data-drawn]")
            milliseconds = page.evaluate("performance.getEntriesByName('drawn')[0].startTime")
            sizes = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.transferSize)")
            asked = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
            pictured(page, "ten-learners")
    assert sum(sizes) < 500_000
    asked = [address for address in asked if "icon" not in address]  # which a browser asks for when it likes
    assert len(set(asked)) == len(asked)
    assert milliseconds < 5_000  # under a second on a machine that does nothing else


def test_the_page_holds_no_more_points_however_long_it_runs(browser: Browser, tmp_path: Path) -> None:
    runner = Runner(tmp_path / "long", 3_000)
    with served(tmp_path) as address, opened(browser, address) as page:
        drawn(page, 1)
        asked = []
        page.on("request", lambda request: asked.append(request.url) if "/api/curves" in request.url else None)
        for _ in range(4):
            seen = rows_shown(page)
            runner.step(1_500)
            until(lambda seen=seen: rows_shown(page) > seen)  # type: ignore[misc]
        assert 1 <= len(asked) <= 4


def test_a_run_is_started_and_stopped_from_the_page(browser: Browser, tmp_path: Path) -> None:
    refusal = "status of 400"
    with served(tmp_path) as address, opened(browser, address, expected=refusal) as page:
        expect(page.get_by_role("heading", name="There are no runs yet")).to_be_visible()
        pictured(page, "empty")
        page.get_by_role("button", name="New run").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("option[value=accuracy]")).to_have_count(1)
        pictured(page, "new-run")
        dialog.locator("input[type=number]").fill("1000000000")
        dialog.get_by_label("Name", exact=True).fill("mine")
        tree = dialog.locator(".picked").first
        tree.get_by_text("Options").click()
        tree.get_by_label("grace period").fill("-50")
        dialog.get_by_role("button", name="Start").click()
        expect(dialog.get_by_role("alert")).to_contain_text("grace_period")
        tree.get_by_label("grace period").fill("50")
        tree.get_by_label("leaf prediction").select_option("'majority'")
        dialog.get_by_role("button", name="Add a learner").click()
        dialog.get_by_label("Learner", exact=True).last.select_option("MajorityClass")
        dialog.get_by_role("button", name="Remove this learner").nth(1).click()
        pictured(page, "new-run-options")
        dialog.get_by_role("button", name="Start").click()
        expect(page.locator("#head .badge")).to_have_text("running", timeout=WAIT)
        drawn(page, 2)
        names = page.locator("#values tbody th button span")
        expect(names).to_have_text(["HoeffdingTree(grace_period=50, leaf_prediction='majority')", "MajorityClass"])
        # The page is drawn about once a second: a press that takes longer is a click all the same.
        page.get_by_role("button", name="Stop").click(delay=2500)
        expect(page.locator("#head .badge")).to_have_text("cut short", timeout=WAIT)
        until((tmp_path / "mine" / "report.html").is_file)
