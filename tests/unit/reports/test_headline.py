"""The headline: what it claims follows from the tests, and it is the same on every surface."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge._format.markup import tag
from streamgauge.cli.main import cli
from streamgauge.reports.document import build_document
from streamgauge.reports.findings import list_ranking_findings
from streamgauge.reports.headline import describe_below_baseline, write_headline, write_ranking_headline
from streamgauge.reports.latex import to_latex
from streamgauge.reports.markdown import to_markdown
from streamgauge.reports.page import page_html
from streamgauge.significance import LiveTest, compare_all, rank_table
from streamgauge.significance.compare import find_interval
from streamgauge.streams import ArrayStream

LEARNERS = ["HoeffdingTree", "NaiveBayes", "MajorityClass"]


def test_the_best_is_named_with_its_interval_and_since_when() -> None:
    results = sg.evaluate("RandomRBF(n_rows=20000, speed=0.0001)", LEARNERS, scheme="Bootstrap(10)")
    comparisons = compare_all(results)
    (headline,) = write_headline(results, comparisons)
    assert headline.startswith("Best: HoeffdingTree, accuracy ")
    low, high = (100 * end for end in find_interval(results, "HoeffdingTree", "accuracy"))
    assert f"[{low:.2f}, {high:.2f}]" in headline
    rows = [verdict.row or 0 for verdict in results.verdicts if verdict.better == "HoeffdingTree"]
    assert f"better than all others on this stream, known since row {max(rows):,}" in headline
    assert all(answer.such_streams is not None and answer.such_streams.deciding_p <= 0.05 for answer in comparisons[:2])
    assert headline.endswith("for such streams too.")


def test_a_value_over_all_rows_is_shown_where_the_readings_cover_fewer() -> None:
    windowed = sg.evaluate("SEA(n_rows=3000)", LEARNERS[1:], scheme="Bootstrap(5)", forgetting="Window(200)")
    whole = sg.evaluate("SEA(n_rows=3000)", LEARNERS[1:], scheme="Bootstrap(5)")
    (headline,) = write_headline(windowed, [sg.compare(windowed, forgetting="Landmark()")])
    (expected,) = write_headline(whole, [sg.compare(whole)])
    assert headline.replace(" over all rows;", ";") == expected


def test_learners_that_cannot_be_distinguished_are_not_called_best() -> None:
    results = sg.evaluate("SEA(n_rows=3000)", ["HoeffdingTree", "NaiveBayes"], scheme="Bootstrap(10)")
    outcome = sg.compare(results)
    assert outcome.better is None
    (headline,) = write_headline(results, [outcome])
    assert headline.startswith("No clear best; ahead: NaiveBayes, accuracy ")
    assert headline.endswith("not distinguishable from HoeffdingTree on this stream.")


def test_a_learner_below_a_constant_is_named_first() -> None:
    y = (np.arange(4000) % 40 == 0).astype(int)  # 2.5 % positives, nothing to learn
    x = np.random.default_rng(1).normal(size=(4000, 3))
    results = sg.evaluate(ArrayStream(x, y), ["NoChange", "MajorityClass"])
    (sentence,) = describe_below_baseline(results)
    accuracy = results.final("NoChange", "accuracy").mean
    assert sentence.startswith("NoChange does not beat a constant prediction of class 0")
    assert f"accuracy {100 * accuracy:.2f}%, the constant 97.50%" in sentence
    assert write_headline(results, [sg.compare(results)])[0] == sentence
    assert not list(describe_below_baseline(results["MajorityClass"]))


@pytest.mark.parametrize("scheme", ["Prequential", "Bootstrap(5)", "CrossValidation(5, test='held_out')"])
def test_the_headline_is_the_same_on_every_surface(scheme: str, tmp_path: Path) -> None:
    results = sg.evaluate("SEA(n_rows=3000)", [*LEARNERS, "NoChange"], scheme=scheme, measures=["accuracy", "kappa"])
    comparisons = compare_all(results)
    headline = write_headline(results, comparisons)
    assert any(sentence.startswith("NoChange does not beat") for sentence in headline)
    page, document = page_html(results, comparisons), build_document(results, comparisons)
    assert all(str(tag("p", sentence)) in page for sentence in headline)
    assert all(sentence in to_markdown(document).replace("\\", "") for sentence in headline)
    assert all(f"% - {sentence}" in to_latex(document) for sentence in headline)
    folder = str(results.save(tmp_path / "run"))
    printed = CliRunner().invoke(cli, ["compare", folder]).output
    assert all(" ".join(sentence.split()) in " ".join(printed.split()) for sentence in headline)
    assert json.loads(CliRunner().invoke(cli, ["compare", folder, "--json"]).output)["headline"] == headline


def test_learners_that_share_the_best_rank_are_all_named() -> None:
    shared = rank_table([[0.9, 0.7, 0.6], [0.7, 0.9, 0.6]], ["tree", "bayes", "last"])
    answer = write_ranking_headline(shared)
    ahead = "No clear best over 2 streams; ahead: tree and bayes, mean rank 1.50 by accuracy"
    assert answer == f"{ahead}; not distinguishable from last."
    assert (
        list_ranking_findings(shared)[0] == "tree and bayes share the best mean rank by accuracy, 1.50, over 2 streams."
    )
    equal = rank_table([[0.9, 0.9], [0.8, 0.8]], ["tree", "bayes"])
    assert (
        write_ranking_headline(equal)
        == "No clear best over 2 streams; ahead: tree and bayes, mean rank 1.50 by accuracy."
    )


def test_a_learner_is_behind_only_if_all_the_best_are_better() -> None:
    values = [[0.9 + 0.001 * (i % 3), 0.9 + 0.001 * ((i + 1) % 2), 0.5 + 0.01 * i] for i in range(12)]
    ranking = rank_table(values, ["tree", "bayes", "last"])
    assert write_ranking_headline(ranking).startswith("Best over 12 streams")
    assert "better than last" in write_ranking_headline(ranking)


def test_who_keeps_which_budget_is_said_before_the_verdicts() -> None:
    budgets = ["error<0.3", "error<0.01", "recall[0]>0.0001"]
    results = sg.evaluate("SEA(n_rows=4000)", ["NaiveBayes", "MajorityClass"], budgets=budgets)
    outcomes = {(v.learner, v.requirement): v.outcome for v in results.model_verdicts}
    assert outcomes["NaiveBayes", "error<0.3"] == "kept"
    assert {outcomes[name, "error<0.01"] for name in results.learners} == {"broken"}
    answer = write_headline(results)[-1]
    assert answer.startswith("No learner is known to keep all budgets: error<0.3 is kept by NaiveBayes")
    assert "error<0.01 is broken by all;" in answer
    alone = sg.evaluate("SEA(n_rows=4000)", "NaiveBayes", budgets="error<0.3")
    assert write_headline(alone)[-1] == "NaiveBayes keeps the budget: error<0.3 is kept by NaiveBayes."


def test_a_better_learner_within_the_margin_of_the_live_verdict_is_said_to_be_so() -> None:
    results = sg.evaluate("SEA(n_rows=20000)", ["HoeffdingTree", "NaiveBayes"], live_test=LiveTest(rope=0.05))
    (verdict,) = results.verdicts
    outcome = sg.compare(results)
    assert (verdict.outcome, outcome.better) == ("equivalent", "NaiveBayes")
    (headline,) = write_headline(results, [outcome])
    assert headline.endswith("; the difference is within the margin of 5 percentage points.")
    (plain,) = write_headline(replace(results, verdicts=()), [outcome])
    assert "margin" not in plain
