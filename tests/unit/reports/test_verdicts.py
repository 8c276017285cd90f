"""Verdicts by measure and on one model, alike on the terminal, on the page, in Markdown, LaTeX and notebooks."""

import json
import re
from dataclasses import replace
from html import unescape
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import streamgauge as sg
from streamgauge.records import Differences
from streamgauge.reports import build_summary, page_html, report
from streamgauge.reports.charts import build_difference_charts
from streamgauge.reports.claims import claim_verdicts
from streamgauge.reports.model import Document, Section, Sentences
from streamgauge.reports.terminal import to_renderable
from streamgauge.reports.verdicts import group_verdicts
from streamgauge.results import Results
from streamgauge.significance import THIS_STREAM
from streamgauge.significance.verdict_terms import describe_verdicts
from tests.support.commands import invoke
from tests.support.report_examples import example_results, example_verdicts
from tests.support.verdict_examples import BETTER, BROKEN, ESTIMATE, MODELS, NOTE, PAIRS, SURE_LOSS, UNSURE, UNSURE_LOSS

LEARNERS = ("tree", "bayes", "majority")


@pytest.fixture(scope="module")
def results() -> Results:
    """Return results with verdicts on two pairs in two measures, and on three models."""
    plain = example_results(LEARNERS, n_folds=2, n_points=5, measures=("accuracy",), forgettings=("Landmark()",))
    values = np.array([[(v.difference, *v.interval) for v in PAIRS]] * 3)  # type: ignore[misc]
    differences = Differences(
        np.array([1000, 2000, 4000]),
        tuple((v.first, v.second) for v in PAIRS),
        values,
        0.05,
        "block_sequence",
        tuple(v.measure for v in PAIRS),
    )
    return replace(plain, verdicts=PAIRS, model_verdicts=MODELS, differences=differences)


def rendered(results: Results, width: int = 200) -> str:
    console = Console(width=width, record=True, file=StringIO())
    console.print(build_summary(results, example_verdicts(results)))
    return console.export_text()


def find_text(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", html)).split())


def list_surfaces(results: Results) -> dict[str, str]:
    tests = example_verdicts(results)
    return {
        "terminal": " ".join(rendered(results).split()),
        "page": find_text(page_html(results, tests)),
        "notebook": find_text(results._repr_html_()),
        "markdown": report(results, tests, format="md").replace("\\", ""),
        "latex": report(results, tests, format="latex").replace("\\", ""),
    }


def test_every_surface_has_the_null_the_margin_the_level_and_what_is_not_known(results: Results) -> None:
    for name, text in list_surfaces(results).items():
        for part in (
            f"Null hypothesis: {THIS_STREAM}.",
            "It says nothing about other streams of this source.",
            "the probability that any of the 4 claims is ever wrong is at most about 5%",
            "margin 1 pp",
            "margin 0.02 nats",
            "anytime-valid at 95%",
            "the probability that any of the 3 claims is ever wrong is at most 5%",
        ):
            assert part in text, (name, part)


def test_what_all_verdicts_have_in_common_is_said_once(results: Results) -> None:
    shared = replace(results, verdicts=tuple(replace(verdict, note=NOTE) for verdict in PAIRS))
    for name, text in list_surfaces(shared).items():
        assert text.count(NOTE) == 1, name
        assert text.count("Null hypothesis") == 1, name


def test_a_note_of_one_pair_stays_with_it() -> None:
    alone = replace(UNSURE_LOSS, note="kappa needs more rows")
    described = describe_verdicts((*PAIRS[:3], alone))
    assert described.sentences[3].endswith("undecided yet in log_loss (kappa needs more rows)")
    assert not any("more rows" in term for term in described.terms)
    decided = describe_verdicts((replace(BETTER, note="few rows of one class"), SURE_LOSS))
    assert "Note on tree and bayes, accuracy: few rows of one class." in decided.terms


def test_every_verdict_is_on_every_surface_in_the_same_words(results: Results) -> None:
    surfaces = list_surfaces(results)
    for name, text in surfaces.items():
        for verdict in (*PAIRS, *MODELS):
            assert str(verdict) in text, (name, verdict)


def test_a_lead_is_that_of_the_better_one_also_where_less_is_better(results: Results) -> None:
    accuracy, loss = group_verdicts(PAIRS)
    assert accuracy.lines[0].state == "now tree is ahead by 3.00 pp [+1.20, +5.00]"
    assert loss.lines[0].state == "now tree is ahead by 0.125 nats [+0.05, +0.2]"
    assert accuracy.lines[1].state.startswith("now majority is ahead by 1.10 pp [-0.80, +3.00]; ")
    assert loss.lines[1].state.startswith("now bayes is ahead by 0.011 nats [-0.008, +0.03]; ")
    for chart in build_difference_charts(results):
        for line in chart.lines.values():
            assert line.mean[-1] > 0.0  # the best is ahead of its rivals
    assert [chart.names for chart in build_difference_charts(results)] == [
        ("tree minus bayes",),
        ("bayes minus tree",),
    ]


def test_rows_left_are_shown_for_what_is_undecided(results: Results) -> None:
    left = "about 12,000 more rows if the difference stays as it is"
    for name, text in list_surfaces(results).items():
        assert text.count(left) == 2, name


def test_what_is_decided_comes_first_then_what_was_once() -> None:
    never = replace(UNSURE, first="tree", earlier=None)
    (group,) = group_verdicts((never, UNSURE, BETTER))
    assert [line.verdict for line in group.lines] == [BETTER, UNSURE, never]
    assert group.n_decided == 1


def test_a_test_without_a_margin_claims_none() -> None:
    flips = replace(BETTER, test="group_sequential", interval=None)
    (group,) = group_verdicts([flips])
    assert "margin" not in group.heading
    assert not any("margin" in term for term in describe_verdicts([flips]).terms)
    assert group.lines[0].state == "now tree is ahead by 3.00 pp"


@pytest.mark.parametrize(
    ("n_claims", "test", "words"),
    [
        (1, "empirical_bernstein", "that each is ever wrong is at most 5%"),
        (1, "two_way_sequence", "that each is ever wrong is at most about 5%"),
        (4, "empirical_bernstein", "that any of the 4 claims is ever wrong is at most 5%"),
    ],
)
def test_the_level_is_shared_or_of_each_and_exact_or_about(n_claims: int, test: str, words: str) -> None:
    verdicts = [replace(verdict, n_claims=n_claims, test=test) for verdict in PAIRS]
    assert words in describe_verdicts(verdicts).terms[0]


def test_comparisons_and_verdicts_are_not_called_the_same(results: Results) -> None:
    surfaces = list_surfaces(results)
    for name in ("terminal", "page", "markdown", "latex"):
        assert "valid once, after the last row" in surfaces[name], name
    html = page_html(results, example_verdicts(results))
    titles = re.findall(r"<h2>(.*?)</h2>", html)
    assert {"Comparisons at the end", "Live verdicts", "Live verdicts on one model"} <= set(titles)
    assert "Verdicts" not in titles


def test_the_page_draws_a_chart_and_marks_for_each_measure(results: Results) -> None:
    html = page_html(results)
    assert html.count("Difference in accuracy</b> (pp)") == 1
    assert html.count("Difference in log_loss</b> (nats)") == 1
    section = html.split('aria-label="Live verdicts on one model"')[1].split("</section>")[0]
    assert re.findall(r'<li class="(\w+)">', section) == ["broken", "kept", "undecided"]
    assert '"margin":0.02' in html
    section = html.split('aria-label="Live verdicts"')[1].split("</section>")[0]
    assert section.count('class="margin"') == len(PAIRS)


def test_the_terminal_fits_80_columns_and_lists_few_undecided_pairs(results: Results) -> None:
    assert all(len(line) <= 80 for line in rendered(results, 80).splitlines())
    many = [replace(UNSURE, first=f"learner {k}") for k in range(9)]
    console = Console(width=150, record=True, file=StringIO())
    claims, terms = claim_verdicts([BETTER, *many])
    console.print(to_renderable(Document("", "", (Section("", tuple(claims), terms),))))
    text = console.export_text()
    assert "6 more pairs undecided" in text
    assert text.count("•") == 1 + 3 + 1


def test_a_difference_without_a_value_is_said_to_have_none() -> None:
    nothing = replace(UNSURE, difference=float("nan"), interval=None, rows_left=None, earlier=None, note="no rows yet")
    (group,) = group_verdicts([nothing])
    assert group.lines[0].state == "the difference is not defined now"
    unknown = replace(BROKEN, value=float("nan"), row=None, interval=None, outcome="undecided")
    run = replace(Results.from_readings((), n_rows=10), verdicts=(nothing,), model_verdicts=(unknown,))
    html = page_html(run)
    for title in ("Live verdicts", "Live verdicts on one model"):
        assert "nan" not in html.split(f'aria-label="{title}"')[1].split("</section>")[0]


def test_estimates_from_few_labels_are_on_every_surface_beside_the_truth_and_no_verdicts(results: Results) -> None:
    few = replace(results, verdicts=(), model_verdicts=(), differences=None, label_estimates=(ESTIMATE,))
    for name, text in list_surfaces(few).items():
        for part in (
            "21.60",
            "[19.60, 23.80]",
            "21.70",
            "[19.20, 24.20]",
            "0.83",
            "(0.76)",
            "27.00",
            "(+5.80)",
            "21.20",
        ):
            assert part in text, (name, part)
        for part in (
            "Estimates from 1,000 labels (5.0% of 20,000 rows)",
            "which assumes that it is calibrated on these rows",
            "no verdicts",
        ):
            assert part in text, (name, part)
        assert "Live verdict" not in text, name


def test_an_estimate_without_an_interval_or_a_truth_has_its_reason(results: Results) -> None:
    unknown: dict[str, Any] = {
        "powered_interval": None,
        "labelled_interval": None,
        "truth": None,
        "width_ratio": float("nan"),
    }
    few = replace(results, label_estimates=(replace(ESTIMATE, note="fewer than 50 labelled errors", **unknown),))
    for name, text in list_surfaces(few).items():
        assert text.count("Note: fewer than 50 labelled errors.") == 1, name
        assert "nan" not in text.split("Estimates from")[1][:400], name


def test_a_wide_table_of_estimates_fits_80_columns(results: Results) -> None:
    long = replace(ESTIMATE, learner="AdaptiveRandomForest of ten trees", measure="brier")
    lines = rendered(replace(results, label_estimates=(ESTIMATE, long)), 80).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any("[19.60, 23.80]" in line for line in lines)


def test_the_json_of_a_command_has_the_sentence_and_the_question_of_each_verdict() -> None:
    options = ["--stream", "SEA", "--rows", "3000", "--learner", "NaiveBayes", "--learner", "MajorityClass", "--json"]
    found = json.loads(invoke("compare", *options, "--scheme", "Bootstrap(5)", "--budget", "error<0.3")[0])
    (verdict,) = found["verdicts"]
    assert verdict["sentence"].startswith("NaiveBayes is better than MajorityClass in accuracy, known since row ")
    assert verdict["question"] == "on this stream"
    assert any(term.startswith("Null hypothesis: ") for term in found["verdict_terms"])
    assert [v["sentence"].partition(":")[0] for v in found["model_verdicts"]] == [
        "NaiveBayes keeps error<0.3",
        "MajorityClass breaks error<0.3",
    ]
    assert "any of the 2 claims" in found["model_verdict_terms"][0]


def test_without_a_random_share_of_labels_only_the_estimate_without_labels_is_shown(results: Results) -> None:
    gone: dict[str, Any] = {"n_labelled": 0, "powered_interval": None, "labelled_interval": None}
    gone |= dict.fromkeys(("powered", "labelled", "width_ratio"), float("nan"))
    few = replace(results, label_estimates=(replace(ESTIMATE, note="the labelled rows are no random share", **gone),))
    for name, text in list_surfaces(few).items():
        assert "Estimates without labels" in text, name
        assert "27.00 (+5.80)" in text or name == "terminal", name
        assert "abels alone" not in text, name
        assert "the labelled rows are no random share." in text, name


def test_where_rows_have_dates_every_surface_names_them(results: Results) -> None:
    times = 1_704_067_200.0 + 86_400.0 * np.linspace(0, 100, len(results.rows))
    dated = replace(results, times=times)
    name = dated.name_row(4000)
    assert re.fullmatch(r"row 4,000 \(2024-\d\d-\d\d\)", name)
    for surface, text in list_surfaces(dated).items():
        assert f"tree is better than bayes in accuracy, known since {name}" in text, surface
        assert f"since {dated.name_row(8000)}" in text, surface
    elapsed = replace(results, times=np.linspace(0.0, 60.0, len(results.rows)))
    assert elapsed.name_row(4000) == "row 4,000"


def test_pairs_that_wait_for_rows_are_one_claim_and_are_counted() -> None:
    waiting = [replace(UNSURE, first=f"learner {k}", earlier=None, interval=None, note=NOTE) for k in range(9)]
    ((claims,), terms) = claim_verdicts(waiting)
    assert [claim.whole for claim in claims.claims] == ["All 9 pairs: undecided yet in accuracy"]
    assert terms == (f"Note: {NOTE}.",)
    ((claims,), _) = claim_verdicts([BETTER, UNSURE, *waiting])
    assert [claim.sentence.partition(",")[0] for claim in claims.claims[:2]] == [
        "tree is better than bayes in accuracy",
        "9 pairs: undecided yet in accuracy",
    ]
    assert len(claims.shown) == 3


def test_a_value_since_a_later_row_than_that_of_the_verdict_does_not_contradict_it() -> None:
    late = replace(BROKEN, row=3000, since=8000)
    assert re.match(r".* breaks error<0\.05, known since row 3,000; its error since row 8,000 is ", str(late))


def test_live_verdicts_name_the_labels_that_they_leave_out() -> None:
    run = sg.evaluate("SEA(n_rows=3000)", "NaiveBayes", labelling="Delayed(500)", budgets="error<0.3")
    for name, text in list_surfaces(run).items():
        assert "Live verdicts leave out the 500 rows whose label was still due at the end" in text, name
    known = sg.evaluate("SEA(n_rows=3000)", "NaiveBayes", budgets="error<0.3")
    assert not any("leave out the" in text for text in list_surfaces(known).values())


def test_a_note_that_two_sections_share_is_printed_once() -> None:
    sections = tuple(Section(title, (Sentences("", ("One.",)),), ("Shared.", title)) for title in "ab")
    console = Console(width=80, record=True, file=StringIO())
    console.print(to_renderable(Document("", "", sections)))
    assert console.export_text().count("Shared.") == 1
