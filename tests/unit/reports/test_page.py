"""The tables and the report page: complete, honest about gaps and cuts, and closed to what names may contain."""

import base64
import hashlib
import io
import json
import math
import re
import statistics
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from streamgauge import NaiveBayes, NoChange, evaluate
from streamgauge._format.numbers import MISSING
from streamgauge.drift import DDM
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed, First
from streamgauge.records import Drift, Reading
from streamgauge.reports import build_summary, page_html, write_page
from streamgauge.reports.alarms import build_alarms_grid
from streamgauge.reports.charts import build_curve_charts
from streamgauge.reports.curves import Curve, downsample_curves, summarise_series
from streamgauge.reports.series import list_series
from streamgauge.reports.title import describe_run
from streamgauge.results import Results
from streamgauge.streams import SEA, Gradual
from tests.support.report_examples import WARNING, example_comparison, example_results, example_verdicts
from tests.support.timed_examples import make_timed_stream

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">&amp;[red]"


class Page(HTMLParser):
    """The text, attributes and raw blocks of a page, as a parser that is not ours sees them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.blocks: dict[str, list[str]] = {"script": [], "style": []}
        self.tags: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag in self.blocks:
            self.blocks[tag].append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.blocks:
            self.blocks[self._inside][-1] += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.blocks["script"][0], parse_constant=pytest.fail)
        return found


def rendered(renderable: RenderableType, *, width: int = 80, terminal: bool = False) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def list_readings(values: list[list[float]], measure: str = "accuracy") -> tuple[Reading, ...]:
    """Make readings of one learner from values [fold][point]."""
    return tuple(
        Reading(10 * (at + 1), "tree", fold, measure, "Landmark()", value)
        for fold, of_fold in enumerate(values)
        for at, value in enumerate(of_fold)
    )


@pytest.fixture(scope="module")
def results() -> Results:
    return example_results()


@pytest.fixture(scope="module")
def page(results: Results) -> Page:
    return Page(page_html(results, example_verdicts(results)))


def test_the_page_asks_for_nothing_outside_itself(results: Results) -> None:
    html = page_html(results, example_verdicts(results))
    without_comments = re.sub(r"/\*.*?\*/", "", html, flags=re.DOTALL)
    assert re.findall(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", without_comments) == []
    assert "@import" not in html
    assert "url(" not in html
    sources = [value for _, name, value in Page(html).attributes if name in {"src", "href", "srcset", "action"}]
    assert sources == ["data:,"]


def test_the_policy_allows_the_scripts_and_styles_of_the_page_and_no_other(page: Page) -> None:
    policy = next(value for tag, name, value in page.attributes if tag == "meta" and value.startswith("default-src"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        digest = hashlib.sha256(page.blocks[kind][-1].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert not [name for _, name, _ in page.attributes if name == "style" or name.startswith("on")]


def test_the_page_carries_the_licence_of_what_it_embeds(page: Page) -> None:
    assert "Permission is hereby granted" in page.blocks["script"][-1]
    assert "Leon Sorokin" in page.blocks["script"][-1]


def test_the_page_names_every_learner_verdict_and_test(results: Results, page: Page) -> None:
    for learner in results.learners:
        assert learner in page.text
    for verdict in example_verdicts(results):
        assert verdict.sentence in page.text
        assert verdict.title in page.text


def test_warnings_are_never_left_out(results: Results, page: Page) -> None:
    assert WARNING in page.text
    text = " ".join(rendered(build_summary(results, example_verdicts(results))).split())
    assert text.count(WARNING.rstrip(".")) == 1


def test_one_pair_in_two_measures_is_two_pairs(results: Results) -> None:
    verdict = example_verdicts(results)[0]
    text = rendered(build_summary(results, [verdict, replace(verdict, measure="kappa_m", difference=0.5)]))
    assert "Comparisons at the end on accuracy" in text
    assert "Comparisons at the end on kappa_m" in text
    assert "50.00 pp" in text


def test_the_page_says_what_was_run(page: Page) -> None:
    for said in ("RandomRBF(n_classes=2", "9f2c61d07a3be815", "Bootstrap(n_folds=10", "numpy", "2.3.4", "14.23"):
        assert said in page.text
    assert "1,000,000 rows of RandomRBF" in page.text


def test_the_page_shows_every_fold_with_mean_and_deviation(results: Results, page: Page) -> None:
    final = [r for r in results.readings if r.row == results.n_rows and r.learner == "NaiveBayes"]
    for measure in ("accuracy", "kappa_m"):
        values = [r.value for r in final if r.measure == measure and r.forgetting.startswith("AdwinWindow")]
        assert len(values) == 10
        for value in values:
            assert f"{100 * value:.2f}" in page.text
        mean_and_deviation = f"{100 * statistics.mean(values):.2f} ±{100 * statistics.stdev(values):.2f}"
        assert mean_and_deviation in " ".join(page.text.split())


def test_hostile_names_stay_text(results: Results) -> None:
    hostile = {name: f"{name}{HOSTILE}" for name in ("HoeffdingTree", "accuracy", "AdwinWindow(delta=0.002)")}
    readings = tuple(
        replace(
            reading,
            learner=hostile.get(reading.learner, reading.learner),
            measure=hostile.get(reading.measure, reading.measure),
            forgetting=hostile.get(reading.forgetting, reading.forgetting),
        )
        for reading in results.readings
    )
    description: dict[str, object] = {
        HOSTILE: HOSTILE,
        "stream": {"name": HOSTILE},
        "scheme": {"name": HOSTILE},
        "list": [HOSTILE],
    }
    verdict = example_comparison(
        HOSTILE, HOSTILE, test=HOSTILE, measure=HOSTILE, unit=HOSTILE, basis=HOSTILE, warnings=(HOSTILE,)
    )
    page = Page(page_html(Results.from_readings(readings, n_rows=1, description=description), [verdict]))
    assert page.tags.count("script") == 2
    assert "img" not in page.tags
    assert page.data["learners"][0] == f"HoeffdingTree{HOSTILE}"
    assert HOSTILE in page.text


@given(st.text(st.characters(codec=None), min_size=1, max_size=40))
def test_any_text_can_be_a_name(name: str) -> None:
    results = Results.from_readings((Reading(1, name, 0, name, name, 0.5),), n_rows=1, description={name: {name: name}})
    html = page_html(results, [example_comparison(name, name, test=name, measure=name, interval=(0.0, 0.2))])
    html.encode()
    assert Page(html).tags.count("script") == 2
    assert "\x1b" not in rendered(build_summary(results))


def test_the_page_of_ten_long_curves_stays_below_a_megabyte() -> None:
    learners = [f"Learner{at}" for at in range(10)]
    results = example_results(
        learners, n_folds=2, n_points=10_000, measures=["accuracy"], forgettings=["Window(width=1000)"]
    )
    html = page_html(results)
    assert len(html.encode()) < 1_000_000
    assert len(Page(html).data["charts"][0]["rows"]) <= 2_000


def test_a_cut_short_run_says_so_everywhere() -> None:
    results = replace(example_results(complete=False, n_points=5), n_rows=25_000)
    for text in (Page(page_html(results)).text, rendered(build_summary(results))):
        assert "Cut short after 25,000 of 1,000,000 rows" in text


def test_a_complete_run_has_no_banner(results: Results, page: Page) -> None:
    assert "cut short" not in page.text
    assert "Cut short" not in rendered(build_summary(results))


def test_undefined_readings_are_gaps() -> None:
    readings = list_readings([[0.5, math.nan, 0.7], [0.6, math.nan, math.inf]])
    page = Page(page_html(Results.from_readings(readings, n_rows=30)))
    line = page.data["charts"][0]["lines"][0]
    assert line["mean"] == [0.55, None, 0.7]
    assert line["low"] == [0.5, None, 0.7]
    assert line["high"] == [0.6, None, 0.7]
    assert "(1 of 2 folds)" in page.text


def test_a_run_without_any_reading_still_has_a_report() -> None:
    empty = Results.from_readings((), n_rows=0)
    assert "There are no readings." in Page(page_html(empty)).text
    assert "There are no readings." in rendered(build_summary(empty))


def test_a_report_that_cannot_be_written_is_a_plain_error(tmp_path: Path, results: Results) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StreamgaugeError, match=r"cannot write .*file/page.html"):
        write_page(results, tmp_path / "file" / "page.html")


def test_the_tables_fit_eighty_columns(results: Results) -> None:
    long = example_results(
        ["HoeffdingTree(grace_period=100, split_confidence=1e-07)", "NaiveBayes()"],
        measures=["accuracy", "kappa", "kappa_m", "kappa_temporal"],
        n_points=3,
    )
    for shown in (results, long):
        for line in rendered(build_summary(shown, example_verdicts(shown))).splitlines():
            assert len(line) <= 80
    assert "…" not in rendered(build_summary(results, example_verdicts(results)))


def test_a_pipe_gets_no_escape_codes_and_a_terminal_bold(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    # Rich reads these; a machine that sets them must not change what is tested.
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in rendered(build_summary(results, example_verdicts(results)))
    assert "\x1b[1m" in rendered(build_summary(results), terminal=True)


def test_the_table_shows_the_mean_and_the_deviation_over_folds() -> None:
    table = rendered(build_summary(Results.from_readings(list_readings([[0.1, 0.5], [0.1, 0.7]]), n_rows=20)))
    assert "60.00 ±14.14" in table
    assert "After 20 rows, over all rows" in table


def test_the_best_of_a_column_is_starred(results: Results) -> None:
    lines = rendered(build_summary(results)).splitlines()
    assert all(line.count("*") == 2 for line in lines if line.strip().startswith("HoeffdingTree"))
    assert not any("*" in line for line in lines if line.strip().startswith(("NaiveBayes", "MajorityClass")))


def test_less_is_better_where_the_description_says_so(results: Results) -> None:
    lowered = replace(results, description={"measures": {"accuracy": {"greater_is_better": False}}})
    best = {(series.measure, learner) for series in list_series(lowered) for learner in series.best}
    assert best == {("accuracy", "MajorityClass"), ("kappa_m", "HoeffdingTree")}


def test_names_are_not_read_as_markup_on_the_terminal() -> None:
    results = Results.from_readings(
        (Reading(1, "[bold]tree[/bold]\x1b[31m", 0, "accuracy", "Landmark()", 0.5),), n_rows=1
    )
    assert "[bold]tree[/bold]�[31m" in rendered(build_summary(results))


def test_several_tests_of_a_pair_have_a_table_of_their_numbers(results: Results) -> None:
    text = rendered(build_summary(results, example_verdicts(results)), width=120)
    assert text.count(" minus ") == 6
    assert "+11.24" in text
    assert "[+10.31, +12.17]" in text
    assert "<0.0001" in text


@given(st.lists(st.floats(0, 1) | st.just(math.nan), min_size=1, max_size=300), st.integers(2, 20))
def test_thinning_keeps_ends_and_extremes_and_invents_nothing(values: list[float], half: int) -> None:
    whole = np.array(values)
    rows = np.arange(len(values), dtype=np.int64) * 7
    thin_rows, by_learner = downsample_curves(rows, {"tree": Curve(whole, whole, whole)}, 2 * half)
    mean = by_learner["tree"].mean
    assert len(thin_rows) == len(mean) <= max(2 * half, 4)
    assert (np.diff(thin_rows) > 0).all()
    np.testing.assert_array_equal(mean[[0, -1]], whole[[0, -1]])
    assert set(mean[np.isfinite(mean)]) <= set(whole[np.isfinite(whole)])
    if np.isfinite(whole).any():
        assert np.nanmin(by_learner["tree"].low) == np.nanmin(whole)
        assert np.nanmax(by_learner["tree"].high) == np.nanmax(whole)
        assert (np.nanmin(mean), np.nanmax(mean)) == (np.nanmin(whole), np.nanmax(whole))


def test_a_curve_is_the_mean_over_folds_between_its_extremes(results: Results) -> None:
    panel = list_series(results)[0]
    curve = summarise_series(panel)["NaiveBayes"]
    of_panel = [
        reading.value
        for reading in results.readings
        if (reading.row, reading.learner) == (results.n_rows, "NaiveBayes")
        and (reading.measure, reading.forgetting) == (panel.measure, panel.forgetting)
    ]
    assert curve.mean[-1] == pytest.approx(statistics.mean(of_panel))
    assert (curve.low[-1], curve.high[-1]) == (min(of_panel), max(of_panel))


def test_true_drifts_travel_from_the_stream_to_the_page() -> None:
    stream = Gradual(SEA(1), SEA(3), position=500, width=100)
    results = evaluate(stream, NoChange(), n_rows=1000)
    assert results.drifts == (Drift(500, 100, "gradual"),)
    page = page_html(results)
    assert '"drifts":[[500,600]]' in page
    assert "1 true drift of the stream" in page


def test_charts_and_marks_have_the_times_of_rows_where_these_carry_them() -> None:
    options: dict[str, Any] = {"every": 100, "detectors": DDM(), "labelling": First(600), "resources": True}
    results = evaluate(make_timed_stream(), {"bayes": NaiveBayes(), "last": NoChange()}, **options)
    assert results.times is not None
    page = Page(page_html(results))
    charts = page.data["charts"]
    assert {chart["group"] for chart in charts} == {"learners", "pairs in accuracy", "classes", "labels"}
    for chart in charts:
        at = np.searchsorted(results.rows, chart["rows"])
        assert chart["times"] == np.round(results.times[at], 3).tolist()
    marks = page.data["runs"][0]
    assert marks["alarms"]
    for kind, n_ends in (("alarms", 1), ("hidden", 2)):
        for mark, timed in zip(marks[kind], marks["timed"][kind], strict=True):
            assert timed[:n_ends] == pytest.approx(results.find_times(mark[:n_ends]).tolist(), abs=1e-3)
            assert timed[n_ends:] == mark[n_ends:]
    assert [value for _, name, value in page.attributes if name == "data-x"] == ["time", "row"]
    assert "marks between two readings are at interpolated times" in page.text


def test_a_page_without_times_has_no_switch(page: Page) -> None:
    assert not any(name == "data-x" for _, name, _ in page.attributes)
    assert not any("times" in chart for chart in page.data["charts"])
    assert "timed" not in page.data["runs"][0]


def test_times_of_a_simulation_keep_nine_digits() -> None:
    results = evaluate(make_timed_stream(start=0.0), NoChange(), every=500)
    assert results.times is not None
    assert Page(page_html(results)).data["charts"][0]["times"] == pytest.approx(results.times.tolist(), rel=1e-8)


def test_the_introduction_says_when_labels_came() -> None:
    late = evaluate(SEA(n_rows=1_000), NoChange(), labelling=Delayed(100))
    assert "Labels by Delayed(rows=100); 101 rows tested before a label could be learnt, not scored." in describe_run(
        late
    )
    assert "Labels" not in describe_run(evaluate(SEA(n_rows=100), NoChange()))


def test_the_last_value_of_a_chart_is_not_rounded_twice() -> None:
    run = Results.from_readings((Reading(1, "tree", 0, "accuracy", "Landmark()", 0.2227509),), n_rows=1)
    (chart,) = build_curve_charts(run, run.learners)
    data: Any = chart.to_data(10)
    assert data["lines"][0]["mean"] == [0.2227509]


def test_the_title_of_confusion_matrices_says_which_rows_they_cover() -> None:
    for forgettings, phrase in (
        (["Window(100)", "Landmark"], "over all rows"),
        (["Window(100)"], "over the last 100 rows"),
    ):
        html = page_html(evaluate("SEA(n_rows=500)", "NaiveBayes", forgetting=forgettings))
        assert f"<h2>Confusion matrix {phrase}</h2>" in html


def test_alarms_without_known_drifts_are_counted() -> None:
    run = evaluate("SEA(n_rows=4000)", ["NoChange", "NaiveBayes"], detectors=["DDM", "HDDMA"], scheme="Bootstrap(3)")
    grid = build_alarms_grid(run)
    assert grid is not None
    assert not run.drifts
    assert len(grid.rows) == 4
    for name, (numbers, first, last) in grid.rows:
        own = [alarm for alarm in run.alarms if f"{alarm.detector} on {alarm.learner}" == name]
        own = [alarm for alarm in own if alarm.kind == "drift"]
        by_fold = [sum(alarm.fold == fold for alarm in own) for fold in range(3)]
        assert numbers.text == " to ".join(map(str, sorted({min(by_fold), max(by_fold)})))
        rows = [f"{alarm.row:,}" for alarm in sorted(own)] or [MISSING]
        assert (first.text, last.text) == (rows[0], rows[-1])
    assert any(alarm.kind == "drift" for alarm in run.alarms)
