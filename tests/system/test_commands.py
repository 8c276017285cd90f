"""Commands as processes: exit statuses, colours, completion, and what is imported."""

import os
import re
import subprocess
import sys

import pytest

from tests.support.commands import BIN, invoke, streamgauge


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


def test_a_command_that_does_not_exist_is_met_with_the_nearest():
    done = streamgauge("evaluat")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no command 'evaluat'; did you mean evaluate?\n"


def test_no_colours_where_none_are_wanted(store):
    script = f"script -qec '{BIN} results {store} --measure accuracy --scheme Bootstrap' /dev/null"
    if subprocess.run(["which", "script"], capture_output=True, check=False).returncode:
        pytest.skip("there is no script(1) to act as a terminal")
    plain = subprocess.run(
        script, shell=True, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"}
    )
    assert not re.search(r"\x1b\[(3\d|4\d|9\d)", plain.stdout)  # bold may be, colours not
    assert "0." in plain.stdout


def test_run_tells_every_fault_of_a_file_on_a_line(tmp_path):
    (tmp_path / "bad.toml").write_text('rows = 10\nstreams = ["SEA"]\nlearners = ["Hoeffding", "NoChang"]\n')
    done = streamgauge("run", str(tmp_path / "bad.toml"))
    assert done.returncode == 2
    assert [line.rpartition("bad.toml:")[2].split(":")[0] for line in done.stderr.splitlines()] == ["3", "3"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("streamgauge ev", "evaluate"),
        ("streamgauge evaluate --learner Hoeffding", "HoeffdingTree"),
        ("streamgauge evaluate --stream elec", "electricity"),
        ("streamgauge run --ready qu", "quick"),
        ("streamgauge list mea", "measures"),
        ("streamgauge results --exp", "--export"),
    ],
)
def test_commands_options_and_names_are_completed(words, expected):
    count = str(len(words.split()) - 1)
    done = streamgauge(_STREAMGAUGE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=count)
    assert done.returncode == 0, done.stderr
    assert f"plain,{expected}" in done.stdout.splitlines()


HEAVY = {"matplotlib", "ray", "sklearn", "pandas", "polars", "scipy", "pyarrow", "pydantic", "rich", "torch", "river"}

LAZY = {"numpy", "click", "importlib.metadata"} | {f"streamgauge.{name}" for name in ("learners", "streams", "records")}

HELP = "from streamgauge.cli.main import cli; cli(['--help'], standalone_mode=False)"


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import streamgauge", HEAVY | LAZY),
        (HELP, HEAVY | LAZY - {"click"}),
        ("from streamgauge import *", HEAVY | {"jpype", "starlette", "streamgauge.plots", "streamgauge.cli"}),
        ("import streamgauge.experiments, streamgauge.store", HEAVY),
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code, absent):
    program = f"{code}\nimport sys\nprint('modules:', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    modules = set(done.stdout.rpartition("modules:")[2].split())
    assert "streamgauge" in modules
    assert not absent & modules


def test_a_function_stays_itself_whatever_is_imported_in_between():
    code = (
        "import streamgauge as sg, streamgauge.evaluation, streamgauge.experiments.run, streamgauge.significance\n"
        "print(*{type(getattr(sg, name)).__name__ for name in ('evaluate', 'run', 'compare', 'rank', 'load', 'save')})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "function\n"


def test_a_name_the_package_does_not_have_is_reported_with_the_nearest_one():
    done = subprocess.run(
        [sys.executable, "-c", "import streamgauge as sg; sg.evaluates"], stderr=-1, text=True, check=False
    )
    assert done.stderr.endswith("no attribute 'evaluates'; did you mean evaluate?\n")
