"""What `make peers` does round its measurements: tables, goals, and sections that cannot be measured."""

import pytest

from benchmarks.performance import __main__ as program
from benchmarks.performance import matrix, pages
from benchmarks.performance.figures import Figure, load, save
from benchmarks.performance.matrix import CONTESTS, LEARNERS, choose_rows
from benchmarks.performance.records import Record, Records
from benchmarks.performance.sections import MATRIX, SECTIONS, measure
from benchmarks.performance.summary import build_summary
from streamgauge.streams import PokerHand

CELLS = [
    Figure("OzaBag, LED", "streamgauge", 1_000, 50.0, accuracy=0.9),
    Figure("OzaBag, LED", "MOA", 1_000, 2_000.0, accuracy=0.91),
    Figure("OzaBag, LED", "MOA, warm", 1_000, 500.0, accuracy=0.91),
    Figure("OzaBag, SEA", "streamgauge", 1_000, 50.0, accuracy=0.9),
    Figure("OzaBag, SEA", "MOA", 1_000, 500.0, accuracy=0.9),
    Figure("OzaBag, SEA", "MOA, warm", 1_000, 2_000.0, accuracy=0.9),
]
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
    monkeypatch.setattr(program, "_measure", lambda name, size, *_: f"{name} needs a library at {size} size")
    monkeypatch.setattr("sys.argv", ["peers", "--quick", "--out", str(tmp_path)])
    with pytest.raises(SystemExit, match="not measured: first, second"):
        program.main()
    assert "not measured: second needs a library at quick size" in capsys.readouterr().out
    assert "`first` could not be measured the last time" in (tmp_path / "README.md").read_text()


def test_the_summary_has_the_geometric_mean_and_the_lowest_ratio_of_each_learner(tmp_path):
    assert "| OzaBag | MOA | 2 | 20.0 | 10.0 | SEA | 20.0 | 10.0 | -0.0050 | -0.0100 |" in build_summary(CELLS)
    save(CELLS, tmp_path / "matrix_led.csv")
    pages.write(tmp_path, Records())
    assert "| OzaBag | MOA | 2 | 20.0 |" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "matrix.png").stat().st_size > 0


def test_the_page_says_that_the_matrix_has_not_been_measured(tmp_path):
    save(FIGURES, tmp_path / "hoeffding_tree.csv")
    pages.write(tmp_path, Records())
    assert "Not measured yet" in (tmp_path / "README.md").read_text()


def test_a_matrix_section_is_a_stream():
    assert list(CONTESTS) == list(MATRIX)


def test_rows_are_as_many_as_the_time_allows():
    assert choose_rows(lambda n_rows: n_rows * 1e-3, 1_000_000, 60.0) == 50_000
    assert choose_rows(lambda n_rows: n_rows * 1e-7, 45_312, 60.0) == 45_312
    assert choose_rows(lambda n_rows: n_rows * 1.0, 1_000_000, 60.0) == 5_000
    assert choose_rows(lambda n_rows: 1.0 + n_rows * 1e-6, 1_000_000, 3.0) == 1_000_000


def test_measuring_some_learners_again_keeps_the_others(tmp_path, monkeypatch):
    again = Figure("NaiveBayes, LED", "streamgauge", 1_000, 7.0)
    save([*CELLS[:3], Figure("NaiveBayes, LED", "streamgauge", 1_000, 9.0)], tmp_path / "matrix_led.csv")
    monkeypatch.setitem(matrix.SECTIONS, "matrix_led", lambda *_, names: [again] * len(names))
    measure("matrix_led", "quick", tmp_path / "matrix_led.csv", ("NaiveBayes",))
    assert load(tmp_path / "matrix_led.csv") == [*CELLS[:3], again]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_of_the_matrix_is_built_from_its_schema(name):
    assert LEARNERS[name][0].build(PokerHand().schema, 1).n_bytes > 0
