"""Reports in all formats: the same findings, closed to what names may contain, of one run or many."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge._format.palette import COLOURS, DARK_COLOURS
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError, StreamWarning
from streamgauge.records import Attribute, Schema
from streamgauge.reports import report, write_report
from streamgauge.reports.findings import list_findings, list_limitations, turn_to_leader
from streamgauge.reports.study import FORMATS
from streamgauge.results import Results
from streamgauge.significance import compare, compare_all
from tests.support.report_examples import example_results

HOSTILE = "a_b & 100% #1 {x} $y$ ^z~ \\end{table} | <script>alert(1)</script> **bold** [link](u)"
LEARNERS = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}


@pytest.fixture(scope="module")
def results() -> Results:
    measures = ["accuracy", "log_loss"]
    return sg.evaluate(sg.SEA(n_rows=2000), LEARNERS, scheme=sg.Bootstrap(5), measures=measures, resources=True)


def write_all(results: Results) -> dict[str, str]:
    """Return the report in every format, as a reader would see its text."""
    return {
        "html": unescape(report(results, format="html")),
        "md": re.sub(r"\\(.)", r"\1", report(results, format="md")),
        "latex": report(results, format="latex"),
    }


def test_every_format_says_what_was_found_and_what_cannot_be_concluded(results: Results) -> None:
    for text in write_all(results).values():
        for sentence in (
            *list_findings(results, compare_all(results)),
            *list_limitations(results, compare_all(results)),
        ):
            assert sentence in text
        for comparison in compare_all(results):
            assert turn_to_leader(comparison).sentence in text
            for warning in comparison.warnings:
                assert warning[1:] in text


def test_a_difference_that_is_no_rate_is_not_reported_in_percentage_points(results: Results) -> None:
    outcome = compare(results, "tree", "bayes", measure="log_loss", test="sign_flip")
    assert "percentage points" not in outcome.sentence
    assert "nats" in outcome.sentence
    for written in FORMATS:
        assert not re.search(r"%\W+points", report(results, [outcome], format=written))


def test_names_cannot_break_out_of_latex_or_markdown() -> None:
    hostile = replace(example_results(["tree", HOSTILE], n_points=3, n_folds=2), failures=())
    tex = report(hostile, (), format="latex")
    tables = re.findall(r"\\begin\{table\*?\}.*?\n\\end\{table\*?\}", tex, flags=re.DOTALL)
    assert len(tables) == tex.count("\\caption{") == len(re.findall(r"^\\end\{table\*?\}$", tex, flags=re.MULTILINE))
    for table in tables:
        assert not re.search(r"(?<!\\)[#%]", table)
        plain = re.sub(r"\\[{}]", "", table)
        assert plain.count("{") == plain.count("}")
        lines = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in lines}) == 1
    markdown = report(hostile, (), format="md")
    assert not re.search(r"(?<!\\)<script", markdown)
    for line in markdown.splitlines():
        if line.startswith("| a"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 4


def test_latex_marks_the_best_and_what_is_really_worse(results: Results) -> None:
    tex = report(results, format="latex")
    finals = tex.split("{After ")[1].split("\\midrule")[1].split("\\bottomrule")[0]
    rows = {line.split("&")[0].strip(): line.split("&")[1] for line in finals.strip().splitlines()}
    best = next(iter(results.best("accuracy")))
    assert "\\textbf" in rows[best]
    assert r"$^{\dagger}$" in rows["majority"]
    assert r"$^{\dagger}$" not in rows[best]


def test_several_runs_are_ranked() -> None:
    runs = [sg.evaluate(sg.SEA(n_rows=500, seed=seed), LEARNERS) for seed in range(3)]
    for written in FORMATS:
        assert "mean rank" in report(runs, format=written).lower()
    html = report(runs)
    assert html.count('<details class="run"') == 3
    assert "w/t/l" in html
    other = sg.evaluate(sg.SEA(n_rows=500, seed=9), sg.NoChange())
    assert "The learners are not ranked." in report([*runs, other])


def test_files_are_described_by_their_names_units_once_and_tables_have_labels(tmp_path: Path) -> None:
    runs = []
    for seed, folder in enumerate(("first", "second", "second")):
        name = "other" if seed == 2 else "rows"
        path = tmp_path / folder / f"{name}.csv.gz"
        sg.streams.write(sg.SEA(n_rows=300, seed=seed), path)
        runs.append(sg.evaluate(sg.File(path), LEARNERS))
    tex = report([*runs, runs[2]], format="latex")
    values, mean_ranks = tex.split("Accuracy (\\%) over all rows")[1].split("\\bottomrule")[0].split("\\midrule")[1:]
    assert [line.split("&")[0].strip() for line in values.strip().splitlines()][2:] == ["other"]
    assert mean_ranks.strip().startswith("mean rank")
    assert values.count("rows.csv.gz") == 2  # two files of one name are distinguished
    labels = re.findall(r"\\label\{tab:([a-z0-9-]+)\}", tex)
    assert len(set(labels)) == len(labels) == tex.count("\\caption{")
    assert {"other-pairwise-tests", "other-pairwise-tests-2"} <= set(labels)
    pairs = tex.split("Pairwise tests")[1].split("\\toprule")[1].split("\\end{tabular}")[0]
    assert pairs.count("pp") == 1
    html = report(runs)
    assert "<summary>other</summary>" in html


def test_a_report_says_what_is_wrong(results: Results, tmp_path: Path) -> None:
    for make, message in (
        (lambda: report([]), "no results"),
        (lambda: report(results, format="docx"), "no format of reports 'docx'"),  # type: ignore[arg-type]
        (lambda: write_report(results, tmp_path / "report.docx"), r"end in \.html, \.md or \.tex"),
        (lambda: report([results, results], ()), "for one run"),
    ):
        with pytest.raises(StreamgaugeError, match=message):
            make()


def test_the_command_line_reports_and_draws_saved_results(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    folder = str(sg.save(results, tmp_path / "run"))
    runner = CliRunner()
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    assert runner.invoke(cli, ["report", folder, "--out", str(page)]).exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert "\\toprule" in runner.invoke(cli, ["report", folder, "--format", "latex"]).output
    for kind in ("curves", "pareto", "p_values", "balance"):
        assert runner.invoke(cli, ["plot", kind, folder, "--out", str(figure)]).exit_code == 0
        figure.unlink()
    failed = runner.invoke(cli, ["plot", "curvs", folder, "--out", str(figure)])
    assert isinstance(failed.exception, StreamgaugeError)
    assert "did you mean curves?" in str(failed.exception)


def test_the_page_has_the_colours_of_the_figures() -> None:
    css = (Path(sg.__file__).parent / "reports" / "assets" / "page.css").read_text()
    found = re.findall(r"--curve-\d: (#[0-9a-f]{6})", css)
    assert tuple(found) == (*COLOURS, *DARK_COLOURS)


def test_colours_can_be_distinguished_from_their_paper() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colours, paper in ((COLOURS, "#ffffff"), (DARK_COLOURS, "#14191f")):
        for colour in colours:
            light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3.0  # what WCAG asks of graphics


def test_records_show_themselves_in_a_notebook(results: Results) -> None:
    html = results._repr_html_()
    assert "<table>" in html
    assert html.count("<tr>") == 8  # ranked, and the final results
    assert "<script>" not in replace(results, learners=(HOSTILE, "b", "c"))._repr_html_()
    assert "better than" in compare(results, "tree", "majority")._repr_html_()
    schema = Schema((Attribute("price"), Attribute("day", ("<mo>", "tu"), missing=True)), ("up", "down"))
    assert "&lt;mo&gt;" in schema._repr_html_()
    assert "Cut short" in replace(results, complete=False)._repr_html_()


def test_tables_go_in_and_come_out() -> None:
    x, y = np.random.default_rng(3).random((300, 2)), np.random.default_rng(4).integers(0, 2, 300)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y.astype(str)})
    expected = sg.evaluate((x, y.astype(str)), sg.NaiveBayes(), every=100).values
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        found = sg.evaluate(table, sg.NaiveBayes(), target="y", every=100)
        np.testing.assert_array_equal(found.values, expected)
    tidy = found.to_pandas()
    assert tidy["value"].tolist() == [reading.value for reading in found.readings]
    assert found.to_polars()["value"].to_list() == tidy["value"].tolist()
    with pytest.raises(StreamgaugeError, match="did you mean"):
        sg.evaluate(frame, sg.NaiveBayes(), target="Y")
    with pytest.raises(StreamgaugeError, match="selects columns"):
        sg.evaluate(sg.SEA(), sg.NaiveBayes(), target="y")


def test_a_dagger_stands_only_where_the_tested_rows_do() -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    forgetting = [sg.Landmark(), sg.Window(200)]
    results = sg.evaluate(sg.SEA(n_rows=3000), learners, scheme=sg.Bootstrap(10), forgetting=forgetting)
    text = report(results, compare_all(results), format="md")
    assert compare_all(results)[0].better == "bayes"
    over_all, over_window = (text.split(f"rows, over {rows}")[1].split("\n## ")[0] for rows in ("all", "the last"))
    assert "†" in over_all
    assert "†" not in over_window


def test_notes_on_how_rows_were_read_are_on_every_surface(tmp_path):
    memo = [f"text {i}" for i in range(60)]
    frame = pa.table({"a": [*range(60)], "memo": memo, "c": ["x", "y"] * 30})
    with pytest.warns(StreamWarning, match="column 'memo' is left out"):
        results = sg.evaluate(frame, sg.NaiveBayes(), target="c")
    saved = sg.load(sg.save(results, tmp_path / "run"))
    for run in (results, saved):
        assert len(run.notes) == 1
        html = write_report(run, tmp_path / "report.html").read_text()
        for surface in (str(run), run._repr_html_(), html, *list_findings(run)[-1:]):
            assert "memo" in surface
            assert "is left out" in surface
