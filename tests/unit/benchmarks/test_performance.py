"""What `make peers` does round its measurements: tables, goals, and sections that cannot be measured."""

import pytest

from benchmarks.performance import __main__ as program
from benchmarks.performance import pages
from benchmarks.performance.figures import Figure, load, save
from benchmarks.performance.records import Record, Records
from benchmarks.performance.sections import SECTIONS

FIGURES = [
    Figure("HoeffdingTree, RBF", "streamgauge", 1_000, 50.0, accuracy=0.9, model_mb=1.0),
    Figure("HoeffdingTree, RBF", "MOA", 1_000, 2_500.0, accuracy=0.9, our_accuracy=0.9, model_mb=0.5, note="warm"),
    Figure("HoeffdingTree, RBF", "River", 100, 20_000.0, size=None),
]


def test_figures_come_back_from_their_table(tmp_path):
    save(FIGURES, tmp_path / "hoeffding_tree.csv")
    assert load(tmp_path / "hoeffding_tree.csv") == FIGURES


def test_the_page_says_which_goals_are_met_missed_and_not_measured(tmp_path):
    save(FIGURES, tmp_path / "hoeffding_tree.csv")
    pages.write(tmp_path, Records(done={"hoeffding_tree": Record("full", "", 9, 0.1, [])}))
    page = (tmp_path / "README.md").read_text()
    assert "| HoeffdingTree, RBF, time | MOA | 40 | 50.0 | met |" in page
    assert "| HoeffdingTree, RBF, time | River | 500 | 400.0 | MISSED |" in page
    assert "| HoeffdingTree, RBF, model memory | MOA | 1 | 0.5 | MISSED |" in page
    assert "| Adwin, time | River | 10 |  | not measured |" in page
    assert (tmp_path / "prequential.png").stat().st_size > 0


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (Record("quick", "", 9, 0.1, []), "open: too few rows"),
        (Record("full", "", 9, 1e9, []), "reached, but repeat: the machine was busy"),
    ],
)
def test_no_goal_is_met_by_few_rows_or_on_a_busy_machine(record, verdict, tmp_path):
    save(FIGURES, tmp_path / "hoeffding_tree.csv")
    pages.write(tmp_path, Records(done={"hoeffding_tree": record}))
    page = (tmp_path / "README.md").read_text()
    assert f"| HoeffdingTree, RBF, time | MOA | 40 | 50.0 | {verdict} |" in page


def test_every_section_belongs_to_some_chapter():
    assert [section for chapter in pages.CHAPTERS for section in chapter.sections] == list(SECTIONS)


def test_a_run_is_resumed_where_it_was_cut_short(tmp_path):
    before = Record("full", "2026-01-01T00:00:00+00:00", 9, 0.1, [])
    after = Record("full", "2026-01-03T00:00:00+00:00", 9, 0.1, ["MOA: no Java"])
    Records("2026-01-02T00:00:00+00:00", {"files": before, "folds": after}).save(tmp_path)
    records = Records.load(tmp_path)
    assert not records.is_done("files", "full")
    assert records.is_done("folds", "full")
    assert not records.is_done("folds", "quick")
    assert not records.is_done("measures", "full")


def test_a_section_that_fails_says_why_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "SECTIONS", ["first", "second"])
    monkeypatch.setattr(program, "_measure", lambda name, size, _: f"{name} needs a library at {size} size")
    monkeypatch.setattr("sys.argv", ["peers", "--quick", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="not measured: first, second"):
        program.main()
    assert "not measured: second needs a library at quick size" in capsys.readouterr().out
    assert "`first` could not be measured the last time" in (tmp_path / "README.md").read_text()
