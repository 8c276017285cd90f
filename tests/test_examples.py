"""Every example runs, where the library it shows is installed."""

import inspect
import runpy
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from peers import moa

EXAMPLES = sorted(Path(__file__).parents[1].joinpath("examples").glob("*_learners.py"))
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
        if moa.why_absent() is not None:
            pytest.skip(str(moa.why_absent()))
        monkeypatch.setenv("STREAMGAUGE_MOA_JAR", str(moa.jar()))
    runpy.run_path(str(path), run_name="__main__")
    for line in capsys.readouterr().out.splitlines():
        assert 0.5 < float(line.rpartition(": ")[2]) <= 1.0


PUBLIC = ("", "drift", "forgetting", "labelling", "learners", "measures", "plots", "records", "recording", "schemes",
          "significance", "streams")  # fmt: skip


@pytest.mark.parametrize("family", PUBLIC)
def test_every_public_object_has_an_example(family):
    module = import_module(f"streamgauge.{family}".rstrip("."))
    found = {name: getattr(module, name) for name in module.__all__}
    documented = {name: thing for name, thing in found.items() if inspect.isclass(thing) or inspect.isfunction(thing)}
    assert [name for name, thing in documented.items() if ">>>" not in (thing.__doc__ or "")] == []
