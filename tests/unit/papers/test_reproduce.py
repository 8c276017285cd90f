"""Tables and figures of papers, done again: every name runs, published figures are right, claims are seen."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from papers import REPRODUCTIONS, Finding, Reproduction, Table, match_names, pieces, reports, reproduce
from papers.bifet_2015.rejection_tables import check_times, find_mcnemar, find_wilcoxon
from papers.bifet_2015.rejections import MODES, STREAMS
from papers.findings import Claim, Experiment, Piece
from papers.gama_2009.page_hinkley import EVERYTHING, FADINGS, SINCE_ALARM, find_delays
from papers.published import read_published
from papers.scales import build_claims, write_claims
from streamgauge.backends import Backend, Threads
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from tests.support.stand_ins import PUBLISHED, write_stand_ins

SCHEMES = ("bootstrap", "cross_validation", "split")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMGAUGE_DATA", str(write_stand_ins(tmp_path_factory.mktemp("streams"))))
        yield tmp_path_factory.mktemp("reproduction")


def test_both_readings_of_the_delays_are_reported_and_their_claims_can_fail() -> None:
    def done(n_false: int, missed: tuple[int, ...]) -> dict[str, dict[str, Any]]:
        """Delays grow by 100 from one fading to the next on each of 100 streams; alarms are false at the second."""
        held = {}
        for place, fading in enumerate(FADINGS):
            delays: list[list[int | None]] = [[1_000 + 100 * place + k] * 3 for k in range(100)]
            for stream in missed:
                delays[stream][1] = None
            false = [[int(not place), 0, 0, n_false * (place == 1)]] * 100
            reading = {"delays": delays, "false_alarms": false}
            held[f"{fading:g}"] = {EVERYTHING: reading, SINCE_ALARM: reading}
        return held

    finding = find_delays(done(0, (3,)))
    assert [claim.holds for claim in finding.claims] == [True, True, True, False]
    assert [claim.holds for claim in find_delays(done(1, (3, 4))).claims] == [True, False, False, False]
    backwards = dict(zip(done(0, ()), reversed(done(0, ()).values()), strict=True))
    assert [claim.holds for claim in find_delays(backwards).claims[:2]] == [False, False]
    everything, since_alarm = finding.tables
    assert since_alarm.rows == everything.rows
    assert everything.rows[0][1] == "1,050 ±29 (1,045, +4)"  # 1,049.5
    assert everything.rows[1][4:] == ("0.00, 0.00, 0.00, 0.00 (0, 0, 0)", 1, 99)


def _rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_published_figures_of_the_package_are_those_of_the_papers() -> None:
    folds = _rows("fold_accuracies.csv")
    assert read_published("bifet-2015-table-1")["a"] == [float(row["a"]) for row in folds]
    assert read_published("bifet-2015-table-1")["b"] == [float(row["b"]) for row in folds]
    delays = read_published("gama-2009-table-2")
    for row in _rows("page_hinkley_delays.csv"):
        known = delays[f"{float(row['one_minus_alpha']):g}"]
        assert known["delays"] == [int(row[f"{name}_drift"]) for name in ("first", "second", "third")]
        assert known["false_alarms"] == [int(count) for count in row["false_alarms"].split(",")]
    assert len(delays) == 6
    for row in _rows("ram_hours.csv"):
        assert read_published("bifet-2016-ram-hours")[row["classifier"]]["ram_hours"] == int(row["ram_hours"])
    for row in _rows("nemenyi_critical_values.csv"):
        assert read_published("bifet-2016-nemenyi")[row["classifiers"]] == [float(row["q_0.05"]), float(row["q_0.10"])]


def test_the_published_rejection_rates_of_the_package_are_those_of_the_paper() -> None:
    overall = read_published("bifet-2015-table-2")["rates"]
    for row in _rows("rejection_rates.csv"):
        mode = "prequential" if row["prequential"] == "true" else "non-prequential"
        assert overall[row["test"]][mode][f"{float(row['noise']):g}"] == [float(row[name]) for name in SCHEMES]
    for table, name in ((3, "mcnemar"), (4, "wilcoxon")):
        known = read_published(f"bifet-2015-table-{table}")
        rows = _rows(f"rejection_rates_{name}.csv")
        assert len(rows) == 3 * len(known) == 39
        for row in rows:
            assert known[row["stream"]][f"{float(row['noise']):g}"] == [float(row[name]) for name in SCHEMES]


def test_the_published_confusion_matrices_of_the_package_are_those_of_the_papers() -> None:
    examples = json.loads((PUBLISHED / "confusion_examples.json").read_text(encoding="utf-8"))
    for name, example in zip(("bifet-2015-table-5", "bifet-2016-confusion"), examples, strict=True):
        for figure, value in read_published(name).items():
            assert example[figure] == value


def test_the_means_of_tables_3_and_4_are_rows_of_table_2() -> None:
    overall = read_published("bifet-2015-table-2")["rates"]
    for table, test, mode in ((3, "mcnemar", "non-prequential"), (4, "wilcoxon", "prequential")):
        streams = read_published(f"bifet-2015-table-{table}").values()
        for noise, rates in overall[test][mode].items():
            means = [sum(stream[noise][k] for stream in streams) / 13 for k in range(3)]
            assert means == pytest.approx(rates, abs=0.0101)


class Counting:
    """An experiment of two pieces that counts how often each is done."""

    def __init__(self, works: dict[str, Callable[[Backend], dict[str, Any]]] | None = None) -> None:
        self.done: list[str] = []
        self.works = works or {}

    def experiment(self, *, edition: int = 1, in_part: bool = False, dataset: str | None = None) -> Experiment:
        def work(key: str) -> Callable[[Backend], dict[str, Any]]:
            def do(backend: Backend) -> dict[str, Any]:
                self.done.append(key)
                return self.works[key](backend) if key in self.works else {"key": key, "nothing": float("nan")}

            return do

        made = [Piece("one", work("one")), Piece("two", work("two"), dataset=dataset)]
        return Experiment("counting", lambda _: made, in_part=in_part, edition=edition)


def _finish(experiment: Experiment, folder: Path) -> tuple[Any, tuple[str, ...]]:
    return pieces.finish(experiment, "quick", folder, Threads(1), lambda *_: None)


def test_finished_pieces_are_not_done_again(tmp_path: Path) -> None:
    counting = Counting()
    first, _ = _finish(counting.experiment(), tmp_path)
    second, _ = _finish(counting.experiment(), tmp_path)
    assert counting.done == ["one", "two"]
    assert first == second == {key: {"key": key, "nothing": None} for key in ("one", "two")}


def test_a_stopped_run_continues_with_the_piece_at_which_it_was_stopped(tmp_path: Path) -> None:
    def stop(_: Backend) -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _finish(Counting({"two": stop}).experiment(), tmp_path)
    assert list(pieces.read_finished(Counting().experiment(), "quick", tmp_path)) == ["one"]
    counting = Counting()
    _finish(counting.experiment(), tmp_path)
    assert counting.done == ["two"]


def test_pieces_of_another_edition_or_scale_are_done_again(tmp_path: Path) -> None:
    counting = Counting()
    _finish(counting.experiment(), tmp_path)
    _finish(counting.experiment(edition=2), tmp_path)
    pieces.finish(counting.experiment(edition=2), "paper", tmp_path, Threads(1), lambda *_: None)
    assert counting.done == ["one", "two"] * 3


def test_a_damaged_piece_is_reported_by_its_file(tmp_path: Path) -> None:
    _finish(Counting().experiment(), tmp_path)
    path = tmp_path / "pieces" / "counting" / "one.json"
    path.write_text(path.read_text(encoding="utf-8")[:20], encoding="utf-8")
    with pytest.raises(StreamgaugeError, match=r"one\.json cannot be read .*: delete it"):
        _finish(Counting().experiment(), tmp_path)


def test_a_real_stream_that_cannot_be_had_is_left_out_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.streams.load", _absent)
    done, left_out = _finish(Counting().experiment(in_part=True, dataset="covertype"), tmp_path)
    assert list(done) == ["one"]
    assert left_out == ("covertype is left out: covertype is not here",)
    with pytest.raises(StreamgaugeError, match="covertype is not here"):
        _finish(Counting().experiment(dataset="covertype"), tmp_path / "other")


def _absent(name: str) -> None:
    msg = f"{name} is not here"
    raise StreamgaugeError(msg)


def test_what_is_not_complete_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamgauge.streams.load", _absent)
    experiment = Counting().experiment(in_part=True, dataset="covertype")
    _known(monkeypatch, experiment)
    done = reproduce("counted", tmp_path)
    assert not done.complete
    assert done.finding.basis == "a count; NOT COMPLETE: 1 of 2 pieces are done"
    assert done.finding.notes[0] == "covertype is left out: covertype is not here"
    assert "NOT COMPLETE" in (tmp_path / "counted.md").read_text(encoding="utf-8")


def _known(monkeypatch: pytest.MonkeyPatch, experiment: Experiment) -> None:
    """Register an experiment under the name "counted"."""

    def find(done: Any) -> Finding:
        table = Table("Keys", ("key",), tuple((key,) for key in done))
        return Finding("a count", (table,), draw=lambda figure: figure.subplots().plot([0, 1]))

    counted = Reproduction("counted", "No author", "Counted", experiment, find)
    monkeypatch.setitem(REPRODUCTIONS, "counted", counted)


def test_so_far_does_no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    _known(monkeypatch, counting.experiment())
    with pytest.raises(StreamgaugeError, match="0 of 2 pieces are finished"):
        reproduce("counted", tmp_path, so_far=True)
    assert counting.done == []
    reproduce("counted", tmp_path)
    assert reproduce("counted", tmp_path, so_far=True).complete
    assert counting.done == ["one", "two"]


def test_without_matplotlib_there_is_no_picture_and_the_manifest_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "find_spec", lambda _: None)
    done = reproduce("bifet-2015-table-5", tmp_path)
    assert not any(path.suffix == ".png" for path in done.files)
    assert json.loads((tmp_path / "bifet-2015-table-5.json").read_text(encoding="utf-8"))["picture"] is None
    assert "![" not in (tmp_path / "bifet-2015-table-5.md").read_text(encoding="utf-8")
    assert "pip install 'streamgauge[plots]'" in run("bifet-2015-table-5", "--out", str(tmp_path)).output


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["reproduce", *arguments], catch_exceptions=True)


def test_the_command_lists_what_there_is() -> None:
    assert [line.split()[0] for line in run("--list").output.splitlines()] == list(REPRODUCTIONS)
    assert list(json.loads(run("--list", "--json").output)) == list(REPRODUCTIONS)


def test_the_command_prints_ours_beside_what_was_published(tmp_path: Path) -> None:
    output = run("bifet-2015-table-5", "--out", str(tmp_path)).output
    assert "published" in output
    assert "-0.1667" in output
    assert "seen at quick scale: every published measure" in output
    output = json.loads(run("bifet-2015-table-5", "--out", str(tmp_path), "--json").output)
    rows = {row["figure"]: row for row in output[0]["tables"][0]["rows"]}
    assert rows["kappa"] == {"figure": "kappa", "ours": 0.3269, "published": 0.3269, "difference": 0.0}
    assert output[0]["complete"]
    index = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "[bifet-2015-table-5](bifet-2015-table-5.md)" in index
    assert "2 of 2" in index
    assert "claims seen at quick scale" in index


def test_a_page_and_its_index_tell_the_scale_at_which_claims_were_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(done: Any) -> Finding:
        claims = (Claim("sums grow; here 3", holds=True), Claim("sums shrink (here 3 of 4)", holds=False))
        return Finding("a count", (Table("Keys", ("key",), tuple((key,) for key in done)),), claims=claims)

    counted = Reproduction("counted", "No author", "Counted", Counting().experiment(), find)
    monkeypatch.setitem(REPRODUCTIONS, "counted", counted)
    reproduce("counted", tmp_path / "paper", scale="paper")
    page = (tmp_path / "paper" / "counted.md").read_text(encoding="utf-8")
    assert "No author. Ours, at paper scale: a count." in page
    assert "- seen at paper scale: sums grow; here 3\n- NOT seen at paper scale: sums shrink (here 3 of 4)\n" in page
    index = reports.write_index(tmp_path / "paper", ["counted"]).read_text(encoding="utf-8")
    assert "| 1 of 2 |" in index
    assert "- [counted](counted.md): NOT seen at paper scale: sums shrink" in index
    assert "seen at quick" not in page + index
    claims = write_claims(tmp_path).read_text(encoding="utf-8")
    assert "| counted | sums grow | not run | [seen](paper/counted.md) |" in claims
    assert "| counted | sums shrink | not run | [NOT seen](paper/counted.md) |" in claims


DOCUMENTED = Path(__file__).parents[3] / "docs" / "reproduction"


def test_the_documented_claims_are_those_of_the_pages_at_both_scales() -> None:
    assert (DOCUMENTED / "claims.md").read_text(encoding="utf-8") == build_claims(DOCUMENTED)
    for scale in ("quick", "paper"):
        for page in (DOCUMENTED / scale).glob("*-*.md"):
            text = page.read_text(encoding="utf-8")
            assert f"Ours, at {scale} scale: " in text
            marked = [line for line in text.splitlines() if line.startswith(("- seen", "- NOT seen"))]
            assert marked
            assert all(f"seen at {scale} scale: " in line for line in marked)


def test_the_best_kind_of_folds_is_bold_as_in_the_paper() -> None:
    """Published: closest to 0 without a change, closest to 1 with noise; kinds that are equally close are all bold."""
    wanted = {
        "CovType": "0.86 **0.64** 0.98 0.97 **0.98** **0.98** 0.98 **0.99** **0.99**",
        "RBF(50,0.001)": "0.26 **0.20** 0.36 0.18 **0.43** 0.39 0.20 **0.44** 0.39",
    }
    done: dict[str, Any] = {}
    for index, stream in enumerate(STREAMS):
        same = {"n_scored": [100] * 10, "only_first": [5] * 10, "only_second": [5] * 10, "two_way_p": 1.0}
        other = {**same, "only_first": [30] * 10, "only_second": [0] * 10, "two_way_p": 0.0}
        modes = {mode: {"0": same, "0.05": other, "0.1": other} for mode in MODES}
        weak = {mode: {"0": other, "0.05": same, "0.1": other} for mode in MODES}
        schemes = {"bootstrap": modes, "cross_validation": modes, "split": weak}
        results = {name: {"accuracy": [0.5], **schemes[name]} for name in SCHEMES}
        done[str(index)] = {"seeds": "per_fold", "run": 1, "stream": stream, "n_rows": 100, **results}
    for find in (find_mcnemar, find_wilcoxon):
        rows = {str(row[0]): [str(cell).split(" ")[0] for cell in row[1:]] for row in find(done).tables[0].rows}
        for row in rows.values():
            assert row == ["**0.00**", "**0.00**", "1.00", "**1.00**", "**1.00**", "0.00"] + ["**1.00**"] * 3
        assert set(rows) == {*STREAMS, "mean"}
    published = {
        str(row[0]): [str(cell).split("(", 1)[1][:-1] for cell in row[1:]] for row in find_mcnemar(done).tables[0].rows
    }
    for stream, cells in wanted.items():
        assert published[stream] == cells.split(" ")


@pytest.mark.parametrize(
    ("seconds", "seen"),
    [
        ({"held_out": [883, 1105, 415], "training": [813, 1202, 109]}, [True, True]),  # as published
        ({"held_out": [11.61, 10.84, 3.66], "training": [11.69, 11.1, 3.29]}, [True, False]),
        ({"held_out": [2.0, 3.0, 1.0], "training": [2.0, 3.0, 2.5]}, [False, True]),
        ({}, []),
    ],
)
def test_the_claims_on_times_can_fail(seconds: dict[str, list[float]], seen: list[bool]) -> None:
    assert [claim.holds for claim in check_times(seconds)] == seen


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "nothing to reproduce"),
        (("bifet-2015-tables-1",), "did you mean bifet-2015-table-1"),
        (("bifet-2015-table-2", "--so-far"), "0 of .* pieces are finished"),
    ],
)
def test_the_command_names_what_is_wrong(arguments: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    found = run(*arguments, "--out", str(tmp_path)).exception
    assert isinstance(found, StreamgaugeError)
    with pytest.raises(StreamgaugeError, match=complaint):
        raise found


def test_what_cannot_be_done_does_not_keep_the_others_from_being_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.streams.load", _absent)
    _known(monkeypatch, Counting().experiment(dataset="skin"))
    result = run("counted", "bifet-2015-table-5", "--out", str(tmp_path))
    assert "Error: counted: skin is not here" in result.output
    assert (tmp_path / "bifet-2015-table-5.md").is_file()


def test_a_stop_tells_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: Backend) -> dict[str, Any]:
        raise KeyboardInterrupt

    _known(monkeypatch, Counting({"two": stop}).experiment())
    result = run("counted", "--out", str(tmp_path))
    assert "run the same command to continue" in result.output
    assert (tmp_path / "pieces" / "counting" / "one.json").is_file()


def test_a_name_stands_for_all_that_begin_with_it() -> None:
    assert match_names("gama-2009") == [name for name in REPRODUCTIONS if name.startswith("gama-2009-")]
    assert match_names("all") == list(REPRODUCTIONS)
    assert match_names("bifet-2015-table-2") == ["bifet-2015-table-2"]
