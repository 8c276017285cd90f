"""Where `Auto` runs cells: native ones and short runs in threads, the others in processes."""

import pytest
from river import tree

import streamgauge as sg
from streamgauge.backends import Auto, auto


def test_native_cells_and_short_runs_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "count_cores", lambda: 2)
    spec = {"tree": tree.HoeffdingTreeClassifier()}
    short = sg.Evaluation(sg.SEA(n_rows=1000), spec, scheme=sg.Bootstrap(4)).run_spec
    long = sg.Evaluation(sg.SEA(), {"tree": tree.HoeffdingTreeClassifier(), "nb": sg.NaiveBayes()}, scheme=sg.Split(4))
    assert Auto()._choose_for_processes(short) == set()
    assert Auto()._choose_for_processes(long.run_spec) == {0, 1, 2, 3}
    assert Auto(processes=1)._choose_for_processes(short) == {0, 1, 2, 3}


def test_one_core_has_no_use_for_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "count_cores", lambda: 1)
    learners = {"tree": tree.HoeffdingTreeClassifier(), "nb": sg.NaiveBayes()}
    assert Auto()._choose_for_processes(sg.Evaluation(sg.SEA(), learners, scheme=sg.Split(4)).run_spec) == set()
