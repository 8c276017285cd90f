"""What goes into a paper: the numbers of the tables, their marks, the references, and the command."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge.cli.main import cli
from streamgauge.names import FAMILIES
from streamgauge.reports import write_paper
from streamgauge.reports.model import Grid
from streamgauge.reports.paper import build_paper_tables, describe_method
from streamgauge.reports.references import collect_references, list_references, parse_reference
from streamgauge.significance import compare_all

STREAMS = ["SEA(n_rows=2000)", "RandomRBF(n_rows=2000)", "LED(n_rows=2000)"]
LEARNERS = ["NaiveBayes", "MajorityClass", "HoeffdingTree"]


@pytest.fixture(scope="module")
def runs() -> list[sg.Results]:
    return [
        sg.evaluate(stream, LEARNERS, scheme="Bootstrap(5)", measures=["accuracy", "kappa"], seed=seed)
        for stream in STREAMS
        for seed in (1, 2)
    ]


def test_a_table_has_means_and_deviations_over_seeds_and_mean_ranks(runs: list[sg.Results]) -> None:
    table = build_paper_tables(runs, measures=["accuracy"]).sections[0].blocks[0]
    assert isinstance(table, Grid)
    name, cells = table.rows[0]
    values = np.array([run.final("NaiveBayes", "accuracy").mean for run in runs[:2]])
    assert name == "SEA"
    assert cells[0].whole == f"{100 * values.mean():.2f} ±{100 * values.std(ddof=1):.2f}"
    ranked = sg.rank(runs)
    assert [cell.text for cell in table.rows[-1][1]] == [f"{mean:.2f}" for mean in ranked.mean_ranks]
    assert "over 2 seeds" in table.note
    assert f"Friedman test over 3 streams: p = {ranked.friedman.best_p:.4f}" in table.note


def test_a_single_run_a_stream_has_deviations_over_folds(runs: list[sg.Results]) -> None:
    table = build_paper_tables(runs[::2]).sections[1].blocks[0]
    assert isinstance(table, Grid)
    folds = runs[0].final("NaiveBayes", "kappa").folds
    assert table.rows[0][1][0].whole == f"{100 * folds.mean():.2f} ±{100 * folds.std(ddof=1):.2f}"
    assert "over 5 folds" in table.note


def test_marks_are_what_the_tests_say(runs: list[sg.Results]) -> None:
    table = build_paper_tables(runs[:1], measures=["accuracy"]).sections[0].blocks[0]
    assert isinstance(table, Grid)
    group = compare_all(runs[0]).best_group
    (_, cells), *rest = table.rows
    assert not rest  # no ranks over a single stream
    assert [learner for learner, cell in zip(LEARNERS, cells, strict=True) if cell.best] == [group.best]
    assert {learner for learner, cell in zip(LEARNERS, cells, strict=True) if cell.equal} == set(group.members[1:])


def test_marks_under_a_window_are_those_of_the_windowed_test() -> None:
    run = sg.evaluate("SEA(n_rows=8000)", LEARNERS, scheme="Bootstrap(5)", forgetting="Window(50)", every=50)
    table = build_paper_tables([run]).sections[0].blocks[0]
    assert isinstance(table, Grid)
    assert "mean of the readings over the stream" in table.title
    group = compare_all(run, forgetting="Window(width=50)").best_group
    marked = {learner for learner, cell in zip(LEARNERS, table.rows[0][1], strict=True) if cell.equal}
    assert marked == set(group.members[1:])


def test_only_the_tests_that_were_used_are_cited(runs: list[sg.Results], tmp_path: Path) -> None:
    for post_hoc, cited in (("wilcoxon_holm", True), ("nemenyi", False)):
        _, method, references, *_ = write_paper(runs, tmp_path / post_hoc, post_hoc=post_hoc)
        assert ("wilcoxon1945individual" in references.read_text()) == cited
        keys = {key for keys in re.findall(r"\\cite\{(.+?)\}", method.read_text()) for key in keys.split(",")}
        assert keys == set(re.findall(r"^@\w+\{(.+),", references.read_text(), re.MULTILINE))


def test_figures_are_as_wide_as_a_column(runs: list[sg.Results], tmp_path: Path) -> None:
    *_, curves, ranks, figures = write_paper(runs, tmp_path)
    for path in (curves, ranks):
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", path.read_bytes())
        assert box is not None
        assert float(box[1]) < 72 * 3.6
        assert rf"\includegraphics[width=\linewidth]{{{path.stem}}}" in figures.read_text()
    one = write_paper(runs[:1], tmp_path / "one")
    assert [path.name for path in one] == ["tables.tex", "method.tex", "references.bib", "curves.pdf", "figures.tex"]


def test_named_generators_are_described_by_the_options_that_are_not_usual() -> None:
    stream = sg.RandomRBF(speed=0.001, seed=5, n_rows=500)
    run = sg.evaluate(stream, "NoChange")
    facts = run.description["stream"]
    assert isinstance(facts, dict)
    named = replace(run, description={**run.description, "stream": {**facts, "name": "moving"}})
    assert "Streams: moving is RandomRBF(speed=0.001)." in describe_method([named])
    assert "Streams:" not in describe_method([run])


def test_the_method_names_scheme_seeds_tests_and_null(runs: list[sg.Results]) -> None:
    text = describe_method(runs)
    for part in ("Bootstrap(k=5), with 5 folds", "seeds were 1 and 2", "HoeffdingTree(grace_period=200)", "two-way t"):
        assert part in text
    assert "its null hypothesis is that on this stream" in text
    assert "adjusted by Holm over 3 pairs" in text


def test_every_reference_in_the_documentation_is_understood() -> None:
    for family in FAMILIES.values():
        for name, thing in family().items():
            for reference in list_references(thing):
                parts = parse_reference(reference)
                assert {"author", "title", "year"} <= parts.keys(), (name, reference)
                assert re.fullmatch(r"[a-z]+\d{4}[a-z]+", parts["key"]), parts["key"]
                assert parts["year"] in reference


def test_what_was_used_is_cited_once(runs: list[sg.Results]) -> None:
    entries = re.findall(r"@\w+\{(.+),", collect_references(runs))
    assert len(entries) == len(set(entries))
    assert {"domingos2000mining", "street2001a", "breiman1984classification", "cohen1960a"} <= set(entries)
    assert "oza2001online" not in entries


def test_the_command_writes_the_three_files(runs: list[sg.Results], tmp_path: Path) -> None:
    folders = [str(run.save(tmp_path / str(index))) for index, run in enumerate(runs)]
    asked = ["report", *folders, "--for", "paper", "--out", str(tmp_path / "paper")]
    outcome = CliRunner().invoke(cli, asked)
    assert outcome.exit_code == 0, outcome.output
    write_paper(runs, tmp_path / "python")
    for name in ("tables.tex", "method.tex", "references.bib"):
        assert (tmp_path / "paper" / name).read_text() == (tmp_path / "python" / name).read_text()
    refused = CliRunner().invoke(cli, [*asked, "--format", "md"])
    assert refused.exit_code != 0
    shutil.rmtree(tmp_path / "paper")
    assert CliRunner().invoke(cli, [*asked, "--measure", "kappa"]).exit_code == 0
    assert "accuracy" not in (tmp_path / "paper" / "tables.tex").read_text()
