"""Progress is shown when something takes more than a second, on a terminal or in a notebook."""

import io
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import streamgauge as sg
from streamgauge._format import progress_bar as module
from streamgauge._format.progress_bar import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    return clock


def run(clock: Clock, *, shown: bool | None, seconds: float) -> None:
    with progress_bar(1000, shown=shown) as advance_to:
        for step in range(1, 5):
            clock.now = seconds * step / 4
            advance_to(250 * step, lambda: "lag 3")


@pytest.mark.parametrize(
    ("shown", "seconds", "terminal", "expected"),
    [
        (None, 3.0, True, True),
        (None, 0.9, True, False),
        (None, 3.0, False, False),
        (False, 3.0, True, False),
        (True, 0.1, True, True),
    ],
)
def test_a_bar_appears_on_a_terminal_after_a_second(monkeypatch, clock, shown, seconds, terminal, expected):
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    run(clock, shown=shown, seconds=seconds)
    assert ("1,000 rows" in screen.getvalue()) == expected


@pytest.fixture
def notebook(monkeypatch):
    """Pretend that this is a notebook; return the texts that it shows."""
    texts: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            assert raw
            texts.append(content["text/plain"])

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        texts.append(content["text/plain"])
        return Handle()

    ipython, displays = ModuleType("IPython"), ModuleType("IPython.display")
    fakes: Any = (ipython, displays)
    fakes[0].get_ipython = type("ZMQInteractiveShell", (), {})
    fakes[1].display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return texts


def test_a_line_appears_in_a_notebook_after_a_second_and_disappears(monkeypatch, clock, notebook):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    run(clock, shown=None, seconds=4.0)
    assert notebook == [
        "",
        "250 of 1,000 (25%) rows, 250 rows/s, 0:03 left lag 3",
        "500 of 1,000 (50%) rows, 250 rows/s, 0:02 left lag 3",
        "750 of 1,000 (75%) rows, 250 rows/s, 0:01 left lag 3",
        "1,000 of 1,000 (100%) rows, 250 rows/s lag 3",
        "",
    ]
    assert screen.getvalue() == ""
    notebook.clear()
    run(clock, shown=None, seconds=clock.now + 0.5)
    assert [text for text in notebook if text] == []


def test_a_shell_in_a_terminal_is_no_notebook(monkeypatch, clock, notebook):
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", SimpleNamespace, raising=False)
    run(clock, shown=None, seconds=4.0)
    assert notebook == []


def test_evaluations_show_progress_by_themselves(monkeypatch, notebook):
    stream = sg.SEA(n_rows=1_000)
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.0)
    sg.evaluate(stream, sg.NaiveBayes(), batch_size=500)
    assert any(text.startswith("500 of 1,000") for text in notebook)
    notebook.clear()
    sg.evaluate(stream, sg.NaiveBayes(), batch_size=500, progress=False)
    assert notebook == []
