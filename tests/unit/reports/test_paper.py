"""What goes into a paper: the numbers of the tables, their marks, the references, and the command."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import Experiment, Source, run
from streamgauge.names import FAMILIES
from streamgauge.reports import write_paper
from streamgauge.reports.latex import to_tabular
from streamgauge.reports.method import Method, describe_method
from streamgauge.reports.model import Grid
from streamgauge.reports.paper import build_paper_tables
from streamgauge.reports.paper_files import FILES, prepare_paper
from streamgauge.reports.references import collect_references, list_references, parse_reference
from streamgauge.significance import compare_all
from streamgauge.significance.setups import name_stream
from streamgauge.store import Store

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
    friedman = ranked.friedman
    outcome = f"χ²(2) = {friedman.chi_square:.2f}, exact p = {friedman.best_p:.4f}"
    assert f"Friedman test over 3 streams: {outcome}" in table.note


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
    assert "The stream was moving (RandomRBF, speed=0.001), with 500 rows" in describe_method([named])


def test_the_method_names_scheme_seeds_tests_and_learners(runs: list[sg.Results]) -> None:
    text = describe_method(runs, sg.rank(runs))
    for part in (
        "Bootstrap(k=5), with 5 folds",
        "repeated with the seeds 1 and 2",
        "the rows are the same for all seeds",
        "HoeffdingTree (grace_period=200)",
        "one-sided paired t-test over the seeds, at level 0.05 divided by the 2 comparisons",
        "a jackknife over 5 folds and",
        "Friedman's test with exact p-values",
        "compared all pairs of learners by the exact Wilcoxon signed-rank test",
    ):
        assert part in text
    one = describe_method(runs[:1])
    assert "its null hypothesis is that on this stream" in one
    assert "adjusted by Holm's procedure over 3 pairs" in one


def test_a_learner_in_python_has_its_own_name_in_the_method() -> None:
    class Last:
        def __init__(self, share: float = 0.5) -> None:
            self.share = share

        def predict(self, x: np.ndarray) -> list[int]:
            return [0] * len(x)

        def learn(self, x: np.ndarray, y: np.ndarray) -> None: ...

    text = describe_method([sg.evaluate("SEA(n_rows=300)", {"Last": Last(), "NB": "NaiveBayes"})])
    assert "Last (share=0.5) and NB (NaiveBayes)" in text
    assert "PythonLearner" not in text


def test_only_what_was_used_is_cited() -> None:
    def cite(learner: str) -> set[str]:
        method = Method([sg.evaluate("SEA(n_rows=300)", learner)])
        method.to_latex()
        return set(method.keys)

    assert "lyon2014hellinger" not in cite("HoeffdingTree")
    assert "lyon2014hellinger" in cite("HoeffdingTree(split_criterion='hellinger')")
    assert "john1995estimating" in cite("NaiveBayes")
    assert not cite("NaiveBayes") & {"nadeau2003inference", "iman1980approximations", "holm1979a"}


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
    assert "Note: with 2 seeds a learner is found worse" in outcome.output
    assert CliRunner().invoke(cli, [*asked, "--measure", "kappa"]).exit_code == 0
    assert "ccuracy" not in (tmp_path / "paper" / "tables.tex").read_text()


def test_edited_files_are_not_replaced(runs: list[sg.Results], tmp_path: Path) -> None:
    paper = prepare_paper(runs)
    paths = paper.write(tmp_path)
    assert [path.name for path in paths] == list(FILES)
    paper.write(tmp_path)  # unchanged files are
    method, tables = tmp_path / "method.tex", tmp_path / "tables.tex"
    method.write_text(method.read_text().replace("We evaluated", "We have evaluated"))
    tables.unlink()
    with pytest.raises(StreamgaugeError, match="would be replaced, but was edited"):
        paper.write(tmp_path)
    assert not tables.exists()  # all files or none
    paper.write(tmp_path, overwrite=True)
    assert "We have" not in method.read_text()
    (tmp_path / "references.bib").write_text("@book{mine,}\n")
    with pytest.raises(StreamgaugeError, match="not written by streamgauge"):
        paper.write(tmp_path)


def test_runs_of_other_setups_are_refused_with_their_folders(tmp_path: Path) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "bootstrap": {"scheme": "Bootstrap(5)"},
        "short": {"n_rows": 1000},
        "late": {"labelling": "Delayed(50)"},
        "windowed": {"forgetting": "Window(100)"},
    }
    folders = {}
    for name, options in kinds.items():
        runs = [
            sg.evaluate(stream, ["NaiveBayes", "NoChange"], **{"n_rows": 2000, **options}, seed=index)
            for index, stream in enumerate(("SEA", "LED"))
        ]
        folders[name] = [str(run.save(tmp_path / f"{name}-{index}")) for index, run in enumerate(runs)]
    differ = {"bootstrap": "schemes", "short": "length on SEA", "late": "labellings", "windowed": "forgettings"}
    for name, what in differ.items():
        for command in (["report", "--for", "paper", "--out", str(tmp_path / "paper")], ["rank"]):
            refused = CliRunner().invoke(cli, [*command, *folders["plain"], *folders[name]])
            assert refused.exit_code != 0
            message = str(refused.exception or refused.output)
            assert f"different {what}" in message
            assert f"{name}-0" in message
            assert "plain-0" in message
        assert not (tmp_path / "paper").exists()
    tree = {"NaiveBayes": "NaiveBayes", "NoChange": "MajorityClass"}
    other = sg.evaluate("SEA", tree, n_rows=2000)
    with pytest.raises(StreamgaugeError, match="different learners of the name NoChange"):
        sg.rank([sg.evaluate("SEA", ["NaiveBayes", "NoChange"], n_rows=2000, seed=2), other])


def test_a_window_among_the_forgettings_is_said_and_can_be_chosen() -> None:
    runs = [
        sg.evaluate(stream, LEARNERS[:2], n_rows=3000, forgetting=["Landmark()", "Window(100)"])
        for stream in ("SEA", "LED")
    ]
    paper = prepare_paper(runs)
    figures = paper.files["figures.tex"].decode()
    assert "Accuracy over the last 100 rows, along the stream; tables and ranks are over all rows" in figures
    assert any("for others choose the forgetting: Window(width=100)" in note for note in paper.notes)
    windowed = prepare_paper(runs, forgetting="Window(width=100)")
    assert r"Accuracy (\%) over the last 100 rows" in windowed.files["tables.tex"].decode()
    assert "tables and ranks" not in windowed.files["figures.tex"].decode()


def test_numbers_that_look_equal_are_both_bold_and_ranks_stand_below_a_rule() -> None:
    runs = [
        sg.evaluate(stream, {"a": "NaiveBayes", "b": "NaiveBayes", "c": "NoChange"}, n_rows=1000)
        for stream in ("SEA", "LED")
    ]
    table = build_paper_tables(runs).sections[0].blocks[0]
    assert isinstance(table, Grid)
    assert [(cell.best, cell.equal) for cell in table.rows[0][1]] == [(True, False), (True, False), (False, False)]
    lines = to_tabular(table)
    assert lines[-4].strip() == r"\midrule"
    assert lines[-3].strip().startswith("mean rank")


def test_streams_stand_in_the_order_of_the_experiment(tmp_path: Path) -> None:
    experiment = Experiment(
        "small",
        streams={"wave": Source("Waveform(seed={seed})", rows=500), "agr": Source("Agrawal(seed={seed})", rows=500)},
        learners={"bayes": "NaiveBayes", "last": "NoChange"},
    )
    run(experiment, tmp_path, n_jobs=1)
    names = [name_stream(results) for results in Store(tmp_path).results()]
    assert names == ["wave", "agr"]


@pytest.mark.filterwarnings("error")
def test_a_legend_of_many_long_names_leaves_room_for_the_panels() -> None:
    names = {f"a_learner_with_quite_a_long_name_{index}": "NoChange" for index in range(24)}
    runs = [sg.evaluate(stream, names, n_rows=300) for stream in ("SEA", "LED")]
    figures = prepare_paper(runs, measures=["accuracy"]).files
    assert {"curves.pdf", "ranks.pdf"} <= figures.keys()


def test_a_stream_made_of_others_cites_them() -> None:
    stream = "Sudden(STAGGER(1), STAGGER(2), position=100)"
    method = Method([sg.evaluate(stream, "NoChange", n_rows=300)])
    method.to_latex()
    assert "schlimmer1986incremental" in method.keys
