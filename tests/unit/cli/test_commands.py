"""All commands alike: help with examples, JSON, quiet and verbose, exit statuses, completion, and what they import."""

import ast
import inspect
import json
import re
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import streamgauge as sg
from streamgauge.cli import doctor
from streamgauge.cli.main import COMMANDS, cli
from streamgauge.cli.run_options import get_exit_status
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Failure
from tests.support.commands import invoke

SPEAKING = [name for name in COMMANDS if name not in ("completion",)]


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    (folder / "small.toml").write_text(
        'rows = 500\nseeds = [1, 2]\nschemes = ["Bootstrap(2)", "Prequential"]\nmeasures = ["accuracy", "kappa"]\n'
        'learners = ["NaiveBayes", "NoChange"]\nstreams = ["SEA", "STAGGER", "Sine"]\n'
    )
    out, error, status = invoke("run", str(folder / "small.toml"), "--out", str(folder / "found"), "--jobs", "1")
    assert status == 0, error
    assert "24 evaluations: 24 finished now" in error
    assert "NaiveBayes" in out
    return folder / "found"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name):
    text = command(name).help or ""
    assert "Example" in text
    assert f"streamgauge {name}" in text


@pytest.mark.parametrize("name", SPEAKING)
def test_every_command_speaks_json_and_can_be_quiet_or_verbose(name):
    options = {text for parameter in command(name).params for text in parameter.opts}
    assert {"--json", "--quiet", "--verbose"} <= options


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is(name):
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.opts


def test_quiet_prints_results_alone_and_verbose_more(store):
    arguments = ("evaluate", "--stream", "SEA", "--rows", "200", "--learner", "NoChange")
    out, error, _ = invoke(*arguments, "--quiet", "--out", str(store / "one"))
    assert "NoChange" in out
    assert error == ""
    _, error, _ = invoke(*arguments, "--verbose", "--out", str(store / "one"))
    assert "report:" in error
    assert "Prequential" in error
    with pytest.raises(click.UsageError, match="exclude each other"):
        invoke(*arguments, "--quiet", "--verbose")


def test_the_exit_status_tells_what_failed_and_what_was_stopped():
    results = sg.evaluate(sg.SEA(n_rows=100), sg.NoChange())
    assert get_exit_status(results) == 0
    assert get_exit_status(replace(results, failures=(Failure("mine", 0, 3, "too hot"),))) == 1
    assert get_exit_status(replace(results, description={"ended_by": "interrupt"})) == 130


def test_run_checks_without_running(store):
    path = str(store.parent / "small.toml")
    out, error, status = invoke("run", path, "--out", str(store), "--check")
    assert (out, status) == ("", 0)
    assert "0 of 24 evaluations are missing" in error
    output = json.loads(invoke("run", path, "--out", str(store / "new"), "--check", "--json")[0])
    assert (output["n_missing"], len(output["missing"])) == (24, 12)
    assert not (store / "new").exists()


def test_run_lists_what_is_ready_made_and_names_the_nearest():
    assert set(json.loads(invoke("run", "--list", "--json")[0])) == {"quick", "paper", "unbalanced"}
    assert "quick" in invoke("run", "--list")[0]
    with pytest.raises(StreamgaugeError, match="did you mean quick"):
        invoke("run", "--ready", "quik")
    with pytest.raises(StreamgaugeError, match="give an experiment"):
        invoke("run")


def test_a_run_that_fails_gives_status_1_and_its_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("STREAMGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "real.toml").write_text('streams = ["gmsc"]\nlearners = ["NoChange"]\n')
    out, error, status = invoke("run", str(tmp_path / "real.toml"), "--out", str(tmp_path / "found"))
    assert (out, status) == ("", 1)
    assert "failed: gmsc" in error
    output = json.loads(invoke("run", str(tmp_path / "real.toml"), "--out", str(tmp_path / "found"), "--json")[0])
    assert (output["n_failed"], output["complete"]) == (1, False)


def test_results_are_listed_filtered_and_exported(store, tmp_path):
    rows = json.loads(invoke("results", str(store), "--json", "--scheme", "Bootstrap", "--learner", "Naive*")[0])
    assert len(rows) == 3 * 2 * 2
    out = invoke("results", str(store), "--measure", "accuracy", "--seed", "1")[0]
    assert out.splitlines()[1].split() == ["stream", "scheme", "NaiveBayes", "NoChange"]
    assert " ± " in invoke("results", str(store))[0]
    target = tmp_path / "all.csv"
    invoke("results", str(store), "--export", str(target))
    assert len(target.read_text().splitlines()) == 1 + 48
    output = json.loads(invoke("results", str(store), "--runs", "--json")[0])
    assert (len(output["runs"]), output["running"]) == (12, [])
    assert "Sine" in invoke("results", str(store), "--runs")[0]
    with pytest.raises(StreamgaugeError, match="needs --runs"):
        invoke("results", str(store), "--status", "failed")


def test_a_store_can_be_ranked(store):
    output = json.loads(invoke("rank", str(store), "--scheme", "Bootstrap", "--json")[0])
    assert output["streams"] == ["SEA", "STAGGER", "Sine"]  # two seeds of a stream are one stream
    assert output["learners"] == ["NaiveBayes", "NoChange"]
    with pytest.raises(StreamgaugeError, match="of 2 schemes; choose one with --scheme"):
        invoke("rank", str(store))
    with pytest.raises(StreamgaugeError, match="a store of many runs"):
        invoke("compare", str(store))


def test_a_store_can_be_reported_and_drawn(store, tmp_path):
    output = invoke("report", str(store), "--scheme", "Bootstrap", "--format", "md")[0]
    assert "3 streams" in output
    chosen = ["--scheme", "Prequential", "--seed", "1"]
    invoke("plot", "ranks", str(store), *chosen, "--out", str(tmp_path / "ranks.svg"))
    only = [*chosen, "--stream", "SEA", "--forgetting", "Landmark"]
    invoke("plot", "curves", str(store), *only, "--out", str(tmp_path / "curves.svg"))
    assert (tmp_path / "curves.svg").is_file()
    invoke("plot", "curves", str(store), "--scheme", "Prequential", "--out", str(tmp_path / "all.svg"))
    drawn = (tmp_path / "all.svg").read_text()
    assert "accuracy over all rows, mean over 2 seeds" in drawn
    assert all(f">{stream}<" in drawn for stream in ("SEA", "STAGGER", "Sine"))
    with pytest.raises(
        StreamgaugeError, match="balance takes one run, not 3: name one folder, or choose one run of a store with --st"
    ):
        invoke("plot", "balance", str(store), *chosen, "--out", str(tmp_path / "balance.svg"))
    with pytest.raises(StreamgaugeError, match=r"choose one with --measure or Filter\(measure=...\)"):
        invoke("results", str(store), "--export", str(tmp_path / "table.tex"))


def test_ranks_are_drawn_by_the_first_measure_that_runs_share(tmp_path):
    for name, measures in (("SEA", ("error", "kappa")), ("Sine", ("kappa", "mcc"))):
        wanted = [word for measure in measures for word in ("--measure", measure)]
        learners = ["--learner", "NaiveBayes", "--learner", "NoChange"]
        invoke("evaluate", "--stream", name, "--rows", "300", *learners, *wanted, "--out", str(tmp_path / name))
    runs = [str(tmp_path / "SEA"), str(tmp_path / "Sine")]
    invoke("plot", "ranks", *runs, "--out", str(tmp_path / "ranks.svg"))
    invoke("plot", "ranks", *runs, "--measure", "kappa", "--out", str(tmp_path / "kappa.svg"))
    assert (tmp_path / "ranks.svg").read_bytes() == (tmp_path / "kappa.svg").read_bytes()
    with pytest.raises(StreamgaugeError, match="there is no measure 'error'"):
        invoke("plot", "ranks", *runs, "--measure", "error", "--out", str(tmp_path / "ranks.svg"))


def test_a_run_replaces_what_another_left_in_its_folder_and_nothing_else(tmp_path):
    records = ["--record", "predictions", "--record", "misclassified", "--record", "confusion"]
    first = ["evaluate", "--stream", "SEA", "--rows", "300", "--learner", "NaiveBayes", "--learner", "NoChange"]
    assert "replaced" not in invoke(*first, *records, "--out", str(tmp_path))[1]
    (tmp_path / "misclassified" / "mine.txt").write_text("not of a run")
    second = ["evaluate", "--stream", "SEA", "--rows", "200", "--learner", "MajorityClass"]
    output = invoke(*second, "--record", "misclassified", "--no-resources", "--out", str(tmp_path))[1]
    assert f"the earlier results in {tmp_path} were replaced" in output
    tables = {"confusions.parquet", "labels.parquet", "readings.parquet", "manifest.json"}
    assert {path.name for path in tmp_path.iterdir()} == {*tables, "report.html", "journal", "misclassified"}
    assert {path.name for path in (tmp_path / "misclassified").iterdir()} == {"MajorityClass-0.arff", "mine.txt"}


def test_a_run_that_resumes_says_so(tmp_path):
    options = ["--stream", "SEA", "--rows", "300", "--learner", "NoChange", "--checkpoint", str(tmp_path), "--resume"]
    assert "starting from the first row" in invoke("evaluate", *options)[1]
    assert "resuming from the latest checkpoint" in invoke("evaluate", *options)[1]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["compare", "--learner", "NoChange"], "a comparison needs two learners; add one to --learner NoCh"),
        (["compare", "--learner", "NoChange", "--learner", "NoChange()"], "two learners are the same: NoChange"),
        (["evaluate", "--learner", "NoChange", "--resume"], "--resume needs --checkpoint DIR"),
        (["evaluate", "--learner", "NoChange", "--out", __file__], "--out .* is a file"),
        (["evaluate", "--learner", "NoChange", "--measure", "recall"], r"write recall\[CLASS\] or.*, recall_macro"),
    ],
)
def test_mistakes_are_reported_in_the_words_of_the_command_line(arguments, reason):
    with pytest.raises(StreamgaugeError, match=reason):
        invoke(*arguments, "--stream", "SEA", "--rows", "100")


def test_reproduce_finds_the_papers_of_its_checkout(monkeypatch):
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not (Path(path) / "papers").is_dir()])
    for name in [name for name in sys.modules if name.partition(".")[0] == "papers"]:
        monkeypatch.delitem(sys.modules, name)
    assert "bifet-2015-table-5" in invoke("reproduce", "--list")[0]


def test_reproduce_without_the_papers_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setattr(sg, "__file__", str(tmp_path / "lib" / "site-packages" / "streamgauge" / "__init__.py"))
    monkeypatch.setitem(sys.modules, "papers", None)  # an import then fails as if there were none
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        StreamgaugeError, match=r"^the papers are not part of the installed package: clone the repos.*$"
    ):
        invoke("reproduce", "--list")


def test_doctor_knows_every_extra():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert set(doctor.EXTRAS) == set(project["optional-dependencies"])


def test_doctor_says_what_is_installed_and_what_is_not(monkeypatch):
    versions = {
        name: doctor._find_version(name) for name in ("click", "cloudpickle", "numpy", "pyarrow", "rich", "scipy")
    }
    monkeypatch.setattr(doctor, "_find_version", versions.get)
    out, _, status = invoke("doctor")
    assert status == 0
    assert "pip install 'streamgauge[river]' adds learners of River" in out
    found = json.loads(invoke("doctor", "--json")[0])
    assert found["extras"]["river"]["installed"] is False
    assert found["problems"] == []
    monkeypatch.setattr(doctor, "_find_version", {**versions, "scipy": None, "numpy": "1.26.4"}.get)
    out, _, status = invoke("doctor")
    assert status == 1
    assert "scipy is missing: pip install scipy" in out
    assert "numpy 1.26.4 is installed, but >=2.0,<3 is required: pip install 'numpy>=2.0,<3'" in out


def test_doctor_says_what_moa_lacks_beside_packages(monkeypatch, tmp_path):
    pytest.importorskip("jpype", reason="the extra moa is not installed")
    monkeypatch.setenv("STREAMGAUGE_MOA_JAR", str(tmp_path / "moa.jar"))
    found = json.loads(invoke("doctor", "--json")[0])
    assert "moa.jar, which is not a file" in found["extras"]["moa"]["lacks"]
    assert found["problems"] == []


def test_words_objects_and_streams_that_do_not_exist_are_reported_with_the_nearest():
    for words, hint in (
        (("evaluate", "--score", "lst"), "did you mean last?"),
        (("list", "learnrs"), "did you mean learners?"),
        (("describe", "elektricity"), "there is no stream 'elektricity'; did you mean electricity?"),
        (("run", "quik"), "did you mean --ready quick?"),
    ):
        done = CliRunner().invoke(cli, list(words), standalone_mode=False)
        output = (
            done.exception.format_message() if isinstance(done.exception, click.UsageError) else str(done.exception)
        )
        assert hint in output


@pytest.mark.parametrize(
    ("part", "hint"),
    [
        ({"scheme": "Bootstrp(10)"}, "there is no scheme 'Bootstrp'; did you mean Bootstrap?"),
        ({"forgetting": ["Windows(5)"]}, "there is no forgetting 'Windows'; did you mean Window?"),
        (
            {"labelling": sg.labelling.AllLabels},
            "the class AllLabels is not a labelling; write streamgauge.labelling.AllL",
        ),
        ({"scheme": sg.Bootstrap}, "the class Bootstrap is not a scheme; write streamgauge.schemes.Bootstrap(...)"),
        ({"learners": "NoChanging"}, "there is no learner 'NoChanging'; did you mean NoChange?"),
        ({"learners": [sg.NoChange(), "NaiveBays"]}, "there is no learner 'NaiveBays'; did you mean NaiveBayes?"),
        ({"stream": "SEAA"}, "there is no stream 'SEAA'; did you mean SEA?"),
        ({"stream": "zzz.csv"}, "zzz.csv"),
        ({"stream": "SEA(n_rows=10)", "target": "class"}, "takes no options of files: remove target"),
    ],
)
def test_a_misspelt_text_or_a_class_is_reported_with_the_nearest_object(part, hint):
    with pytest.raises(StreamgaugeError, match=re.escape(hint)):
        sg.evaluate(**{"stream": sg.SEA(n_rows=10), "learners": sg.NoChange(), **part})


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_a_shell_needs(shell):
    out, _, _ = invoke("completion", shell)
    assert "_STREAMGAUGE_COMPLETE" in out


def test_what_is_imported_late_is_what_type_checkers_and_editors_see():
    tree = ast.parse(Path(sg.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names if "streamgauge" in str(node.module)}
    families = {name for name, module in seen.items() if module == "streamgauge"}
    for name in families:
        assert getattr(sg, name).__name__ == f"streamgauge.{name}"
    for name in sg.__all__:
        assert getattr(sg, name) is getattr(import_module(str(seen[name])), name)
    assert set(seen) == families | set(sg.__all__)
    assert {name for name in dir(sg) if not name.startswith("__")} == set(seen)


def test_there_are_about_25_public_names_and_all_are_there():
    assert 20 <= len(sg.__all__) <= 30
    for name in sg.__all__:
        assert getattr(sg, name).__doc__


def test_rows_before_the_first_late_label_are_left_out_unless_they_are_asked_for():
    words = ("evaluate", "--stream", "SEA", "--rows", "900", "--learner", "NaiveBayes", "--labelling", "Delayed(300)")
    feedback = json.loads(invoke(*words, "--json")[0])["feedback"]
    assert (feedback["n_scored"], feedback["n_left_out"]) == ([599], 301)
    assert "Left out: 301 rows that were tested before a label could be learnt" in " ".join(invoke(*words)[0].split())
    feedback = json.loads(invoke(*words, "--json", "--score-unlabelled-start")[0])["feedback"]
    assert (feedback["n_scored"], feedback["n_left_out"]) == ([900], 0)


OTHER_WAYS = {
    "backend": "--threads, --processes or --ray",
    "live_test": "--live-measure and --rope",
    "recorders": "--record and --log",
    "on_reading": "--log",
    "on_verdict": "--log",
    "progress": "--quiet",
    "journal": "--out",
}
"""Parameters of `evaluate` that take objects or functions of Python, and what stands for them on the command line."""


def test_a_parameter_has_its_name_on_the_command_line() -> None:
    known = {option for parameter in command("evaluate").params for option in parameter.opts}
    names = set(inspect.signature(sg.evaluate).parameters)
    assert set(OTHER_WAYS) <= names
    assert {f"--{name.replace('_', '-')}" for name in names - set(OTHER_WAYS)} <= known
    for ways in OTHER_WAYS.values():
        assert {*re.findall(r"--[a-z-]+", ways)} <= known
    page = (Path(__file__).parents[3] / "docs" / "command_line.md").read_text()
    for name, ways in OTHER_WAYS.items():
        row = next(line for line in page.splitlines() if line.startswith("|") and f"`{name}" in line)
        assert {*re.findall(r"--[a-z-]+", ways)} <= {*re.findall(r"--[a-z-]+", row)}
    out, _, status = invoke("evaluate", "--stream", "SEA", "--learners", "NaiveBayes", "--n-rows", "50", "--json")
    assert (status, json.loads(out)["n_rows"]) == (0, 50)
