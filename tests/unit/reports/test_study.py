"""The page of several runs: ranks, values that open their runs, small curves, and runs with names of their own."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.reports import report
from streamgauge.reports.curves import Curve
from streamgauge.reports.svg import draw_ranks, draw_small_curves
from streamgauge.significance import rank_table

LEARNERS = {"tree": "HoeffdingTree", "bayes": "NaiveBayes", "last": "NoChange"}


class Parts(HTMLParser):
    """The links, the parts that can be opened with their summaries, and the points of small curves."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.parts: dict[str, str] = {}
        self.curves: list[int] = []
        self._part = self._tag = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known, self._tag = {name: value or "" for name, value in attrs}, tag
        if tag == "a":
            self.links.append((known["href"], known.get("aria-label", "")))
        elif tag == "details" and known.get("class") == "run":
            self._part = known["id"]
        elif tag == "svg" and known.get("class") == "picture small":
            self.curves.append(0)
        elif tag == "polyline":
            self.curves[-1] += 1

    def handle_endtag(self, tag: str) -> None:
        self._tag = "" if tag == self._tag else self._tag

    def handle_data(self, data: str) -> None:
        if self._tag == "summary" and self._part and self._part not in self.parts:
            self.parts[self._part] = data


@pytest.fixture(scope="module")
def runs() -> list[sg.Results]:
    streams = {1: ("SEA(seed=1)", "RandomRBF(seed=1)"), 2: ("SEA(seed=1)", "RandomRBF(seed=1)")}
    return [
        sg.evaluate(stream, LEARNERS, n_rows=1000, seed=seed) for seed, names in streams.items() for stream in names
    ]


@pytest.fixture(scope="module")
def page(runs: list[sg.Results]) -> Parts:
    return Parts(report(runs))


def test_every_value_opens_a_run_on_its_stream(page: Parts) -> None:
    values = [(address, name) for address, name in page.links if name]
    assert len(values) >= 2 * len(LEARNERS)
    for address, name in values:
        stream = name.rpartition(" on ")[2]
        assert page.parts[address.removeprefix("#")].startswith(stream)


def test_runs_on_one_stream_are_named_by_what_differs(page: Parts) -> None:
    assert list(page.parts.values()) == ["SEA, seed 1", "RandomRBF, seed 1", "SEA, seed 2", "RandomRBF, seed 2"]


def test_there_is_a_small_picture_for_each_stream_with_a_curve_for_each_learner(page: Parts) -> None:
    assert page.curves == [len(LEARNERS)] * 2


def test_the_answer_and_the_deviations_are_the_same_in_markdown(runs: list[sg.Results]) -> None:
    html, text = report(runs), report(runs, format="md")
    answer = re.search(r"- ((?:Best|No clear best) over 2 streams.*)", text)
    assert answer is not None
    assert answer[1] in html
    spread = re.search(r"\\| (\d+\.\d\d ±\d+\.\d\d)", text)
    assert spread is not None
    assert spread[1] in html


def test_the_same_rows_for_all_seeds_are_said_to_be_so(runs: list[sg.Results]) -> None:
    assert "The rows of all streams are the same for all seeds" in report(runs, format="md")
    other = [sg.evaluate(f"SEA(seed={seed})", LEARNERS, n_rows=1000, seed=seed) for seed in (1, 2)]
    assert "are the same for all seeds" not in report(other, format="md")


def test_equal_ranks_have_lines_of_their_own() -> None:
    names = [f"a learner with a long name {index}" for index in range(6)]
    drawing = draw_ranks(rank_table([[0.5] * 6, [0.5] * 6], names))
    found = re.findall(r'x="([\d.]+)" y="([\d.]+)">a learner', drawing)
    ys = sorted(float(y) for _, y in found)
    assert min(np.diff(ys)) > 30  # a name, and below it a line with the rank
    width = float(re.findall(r'viewBox="0 0 ([\d.]+)', drawing)[0])
    assert all(float(x) + 8 * len(names[0]) < width for x, _ in found)


def test_a_gap_splits_a_small_curve_and_an_undefined_one_is_left_out() -> None:
    values = np.array([0.1, 0.2, np.nan, 0.4, 0.5])
    undefined = np.full(5, np.nan)
    curves = {0: Curve(values, values, values), 1: Curve(undefined, undefined, undefined)}
    assert draw_small_curves(curves, np.arange(5), "rate", "accuracy").count("<polyline") == 2


def test_a_notebook_shows_a_curve_for_each_learner_under_the_window() -> None:
    forgettings = ["Landmark", "Window(500)"]
    results = sg.evaluate("SEA(n_rows=2000)", ["NaiveBayes", "NoChange"], forgetting=forgettings)
    html = results._repr_html_()
    assert html.count("<polyline") == 2
    assert 'aria-label="accuracy % over the last 500 rows"' in html
    assert 'stroke="#0072b2"' in html  # colours need no style sheet
