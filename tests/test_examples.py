"""Every example runs, where the library it shows is installed."""

import runpy
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
