"""One run at a time writes into a folder, and what a killed one left is removed by the next."""

import os
import sys
from pathlib import Path

import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.records import locks
from streamgauge.records.locks import lock_folder, open_temporary_folder
from streamgauge.results import Predictions, save
from streamgauge.streams.output_files import replace_atomically
from tests.support.commands import invoke

RUN = ("evaluate", "--stream", "SEA", "--rows", "300", "--learner", "NaiveBayes", "--quiet", "--record", "predictions")


def list_names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_second_run_into_one_folder_is_refused_before_its_first_row(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path / "out", "files"),
        pytest.raises(StreamgaugeError, match=r"another run is writing its files into .*out: use another folder"),
    ):
        invoke(*RUN, "--out", str(tmp_path / "out"))
    assert list_names(tmp_path / "out") == set()
    assert invoke(*RUN, "--out", str(tmp_path / "out"))[2] == 0
    assert {name for name in list_names(tmp_path / "out") if "lock" in name or "tmp" in name} == set()


def test_the_second_journal_and_the_second_save_into_one_folder_are_refused(tmp_path: Path) -> None:
    results = sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes(), journal=tmp_path)
    with lock_folder(tmp_path / "journal", "journal"), pytest.raises(StreamgaugeError, match="writing its journal"):
        sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes(), journal=tmp_path)
    with lock_folder(tmp_path, "results"), pytest.raises(StreamgaugeError, match="writing its results"):
        save(results, tmp_path)
    save(results, tmp_path)


def test_a_temporary_file_in_use_is_no_leftover(tmp_path: Path) -> None:
    with replace_atomically(tmp_path / "a.csv") as temporary:
        temporary.write_text("whole")
        other = temporary.with_name(".a.csv.1.tmp")
        other.write_text("cut o")
        with lock_folder(tmp_path, "files"):
            assert temporary.exists()
            assert not other.exists()
    assert (tmp_path / "a.csv").read_text() == "whole"


def test_a_name_with_wildcards_removes_only_its_own_leftovers(tmp_path: Path) -> None:
    (tmp_path / ".ab.csv.1.tmp").write_text("of another file")
    with replace_atomically(tmp_path / "[ab].csv") as temporary:
        temporary.write_text("whole")
    assert list_names(tmp_path) == {".ab.csv.1.tmp", "[ab].csv"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_locked_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StreamgaugeError, match="cannot write the files into"), lock_folder(tmp_path, "files"):
        pass


def test_recorders_replace_the_file_of_a_killed_run(tmp_path: Path) -> None:
    (tmp_path / ".p.parquet.99999.tmp").write_text("cut o")
    sg.evaluate(sg.SEA(n_rows=100), sg.NaiveBayes(), recorders=[Predictions(tmp_path / "p.parquet")])
    assert list_names(tmp_path) == {"p.parquet"}


def test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next_and_no_other(tmp_path: Path) -> None:
    left = tmp_path / "streamgauge-00"
    left.mkdir()
    (left / "rows").write_text("1,2")
    left.with_suffix(".lock").touch()  # the system has released it
    (tmp_path / "streamgauge-of-a-user").mkdir()
    with open_temporary_folder(tmp_path) as first, open_temporary_folder(tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
        assert not left.exists()
    assert list_names(tmp_path) == {"streamgauge-of-a-user"}


def test_where_nothing_can_be_locked_every_temporary_folder_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_try_lock", lambda _: True)
    with open_temporary_folder(tmp_path) as first, open_temporary_folder(tmp_path):
        assert first.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_to_the_lock_of_another_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.lock").touch()
    (tmp_path / "streamgauge-00.lock").symlink_to(tmp_path / "mine.lock")
    (tmp_path / "streamgauge-00").mkdir()
    with open_temporary_folder(tmp_path):
        pass
    assert list_names(tmp_path) == {"mine.lock", "streamgauge-00", "streamgauge-00.lock"}
