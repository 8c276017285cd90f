"""One report model: a section is a function in one place, and every surface shows it."""

import json
from io import StringIO
from typing import get_args

import pytest
from rich.console import Console

import streamgauge as sg
from streamgauge.reports import build_summary, page_html, report, sections
from streamgauge.reports.data import to_data
from streamgauge.reports.model import Cell, Claim, Claims, Estimate, Grid, Section, Sentences
from streamgauge.reports.sections import SECTIONS, Subject, Surface, build_sections


def build_weather(_: Subject) -> Section:
    """Return a section with a block of each kind that can be written as text."""
    grid = Grid("Weather", ("day", "rain"), (("Monday", (Cell("7 mm", "±2", best=True),)),), "Measured at noon.")
    claim = Claim("Monday is wetter", "by 7 mm", estimate=Estimate("7 mm", "[5, 9]", bounds=(5.0, 9.0, 7.0)))
    claims = Claims("Rain on Monday", tuple([claim] * 5), n_open=2, rest="of the week")
    return Section("", (grid, claims, Sentences("Forecast", ("It will rain.",))), ("All days are of June.",))


def test_a_new_section_is_one_function_and_every_surface_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "SECTIONS", [])
    sections._section(*get_args(Surface))(build_weather)
    results = sg.evaluate("SEA", ["NaiveBayes", "NoChange"], n_rows=300)
    console = Console(width=80, record=True, file=StringIO())
    console.print(build_summary(results))
    surfaces = {
        "terminal": console.export_text(),
        "page": page_html(results),
        "study": report([results, results]),
        "markdown": report(results, format="md").replace("\\", ""),
        "latex": report(results, format="latex"),
        "notebook": results._repr_html_(),
        "dashboard": json.dumps(to_data(build_sections(Subject(results), "overview"))),
    }
    for name, text in surfaces.items():
        for part in ("Weather", "7 mm", "2", "Measured at noon.", "Monday is wetter", "It will rain.", "All days are"):
            assert part in text, (name, part)
    assert surfaces["terminal"].count("Monday is wetter") == 2
    assert "3 more pairs of the week" in surfaces["terminal"]
    assert surfaces["page"].count("<p>Monday is wetter.</p>") == 5


def test_every_section_is_shown_somewhere() -> None:
    for entry in SECTIONS:
        assert entry.surfaces
        assert entry.surfaces <= set(get_args(Surface))
