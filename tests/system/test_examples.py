"""Every example runs, where the library it shows is installed."""

import inspect
import re
import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from peers import moa
from streamgauge.errors import StreamWarning
from streamgauge.streams import as_stream

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*_learners.py"))
TASKS = {  # what each of the others must say
    "compare_for_a_paper": "3. majority, mean rank 3.00",
    "deployed_model": "deployed breaks recall[fraud]>0.5: its recall[fraud] since row 61,440",
    "drift_alarms": "true drifts: [4000, 8000, 12000, 16000]",
    "experiment": "second time: 0 evaluations",
    "late_labels": "Left out: 2,001 rows",
    "own_file": "MajorityClass: recall of frauds 0.00",
    "stop_when_decided": "HoeffdingTree is better than NaiveBayes in accuracy, known since row",
    "unbalanced_sample": "G-mean 0.000",
}
LIBRARIES = {
    "moa": "jpype",
    "own": "numpy",
    "river": "river",
    "scikit_learn": "sklearn",
    "stream_learn": "strlearn",
    "torch": "torch",
    "vowpal_wabbit": "vowpalwabbit",
}


def test_every_library_has_its_example():
    assert [path.stem.removesuffix("_learners") for path in EXAMPLES] == sorted(LIBRARIES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, capsys, monkeypatch):
    library = LIBRARIES[path.stem.removesuffix("_learners")]
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    if library == "jpype":
        if moa.explain_missing() is not None:
            pytest.skip(str(moa.explain_missing()))
        monkeypatch.setenv("STREAMGAUGE_MOA_JAR", moa.build_class_path())
    runpy.run_path(str(path), run_name="__main__")
    for line in capsys.readouterr().out.splitlines():
        assert 0.5 < float(line.rpartition(": ")[2]) <= 1.0


def test_every_example_is_run():
    assert {path.stem for path in FOLDER.glob("*.py")} == {path.stem for path in EXAMPLES} | {*TASKS, "payments"}


@pytest.mark.parametrize(("name", "said"), TASKS.items())
def test_the_example_of_a_task_says_what_it_should(name, said, capsys):
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert said in capsys.readouterr().out


@pytest.fixture(scope="module")
def payments():
    for library in ("lightgbm", "river", "sklearn"):
        pytest.importorskip(library)
    return runpy.run_path(str(FOLDER / "payments.py"))


def test_a_file_of_payments_is_described_and_four_models_are_compared_on_it(payments, tmp_path, capsys):
    with pytest.warns(StreamWarning, match="'payment_id' is left out"):
        payments["main"](tmp_path / "payments.csv")
    said = capsys.readouterr().out
    assert "100,000 rows, 3 attributes, 2 classes" in said
    assert "times of the rows: 2025-01-01T00" in said
    assert "imbalanced: class yes has 2.1% of the rows" in said
    table = re.findall(r"^(tree|scikit-learn|River|LightGBM) +(\d+\.\d+)\*? ", said, re.MULTILINE)
    assert len(table) == 4
    assert all(float(pr_auc) > 5.0 for _, pr_auc in table)  # that of guessing is 2.1
    assert "River is ahead by" in said
    assert said.count("in pr_auc[yes]") == 6


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_payments_in_a_frame_give_the_numbers_of_the_file(library, payments, tmp_path):
    path = tmp_path / "payments.csv"
    payments["write_payments"](path, n_rows=15_000, seed=2)
    frame = pytest.importorskip(library).read_csv(path)
    options: dict[str, Any] = {"target": "fraud", "time": "timestamp"}
    streams = (sg.File(path, **options), as_stream(frame, **options))
    with pytest.warns(StreamWarning, match="'payment_id' is left out"):
        from_file, from_frame = map(payments["compare_models"], streams)
    np.testing.assert_array_equal(from_frame.values, from_file.values)
    np.testing.assert_array_equal(from_frame.times, from_file.times)


PUBLIC = ("", "drift", "forgetting", "labelling", "learners", "measures", "plots", "records", "results", "schemes",
          "significance", "streams")  # fmt: skip


@pytest.mark.parametrize("family", PUBLIC)
def test_every_public_object_has_an_example(family):
    module = import_module(f"streamgauge.{family}".rstrip("."))
    found = {name: getattr(module, name) for name in module.__all__}
    documented = {name: thing for name, thing in found.items() if inspect.isclass(thing) or inspect.isfunction(thing)}
    assert [name for name, thing in documented.items() if ">>>" not in (thing.__doc__ or "")] == []
