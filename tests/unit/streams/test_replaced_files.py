"""Files that are read: no output replaces one, and one that changes meanwhile is refused."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from streamgauge import NaiveBayes, evaluate
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Predictions
from streamgauge.streams import Balance, File, Relabelled, sample, shuffle, write
from tests.support.commands import invoke

ROWS = "a,class\n" + "1,x\n2,y\n" * 50
REFUSAL = "is the file that the rows are read from: write to another one"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "test.csv"
    path.write_text(ROWS)
    return path


def test_no_output_replaces_the_file_that_is_read(path: Path) -> None:
    link = path.with_name("link.csv")
    link.symlink_to(path)
    for output in (path, link):
        for act in (
            lambda output=output: write(File(path), output),
            lambda output=output: shuffle(path, output),
            lambda output=output: evaluate(path, NaiveBayes(), recorders=[Predictions(output)]),
        ):
            with pytest.raises(StreamgaugeError, match=REFUSAL):
                act()
    with pytest.raises(StreamgaugeError, match=REFUSAL):
        sample(path, path.parent, Balance(10))
    assert path.read_text() == ROWS


def test_the_files_of_a_composed_stream_are_known(path: Path) -> None:
    with pytest.raises(StreamgaugeError, match=REFUSAL):
        write(Relabelled(File(path), "x", "y"), path)


@pytest.mark.parametrize("option", ["--table", "--report", "--log"])
def test_no_option_of_a_run_names_the_stream(path: Path, option: str) -> None:
    with pytest.raises(StreamgaugeError, match=f"{option} .*{REFUSAL}"):
        invoke("evaluate", "--stream", str(path), "--learner", "NaiveBayes", option, str(path))
    assert path.read_text() == ROWS


@pytest.mark.parametrize(
    "options",
    [
        ("--table", "out/readings.parquet"),
        ("--log", "out/manifest.json"),
        ("--log", "out/report.html"),
        ("--report", "one.csv", "--table", "one.csv"),
        ("--log", "one.csv", "--table", "other/../one.csv"),
    ],
)
def test_no_two_outputs_of_a_run_are_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StreamgaugeError, match=r"is also written by --.*: name another file"):
        invoke("evaluate", "--stream", "SEA", "--rows", "100", "--learner", "NaiveBayes", "--out", "out", *options)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_file_that_is_written_while_it_is_read_is_refused(path: Path) -> None:
    path.write_text("a,class\n" + "0.12345,x\n0.54321,y\n" * 100_000)
    batches = File(path).batches(1_000)
    next(batches)
    with path.open("r+") as file:
        file.seek(1_000_000)
        file.write("9.99999,x\n" * 10)
    with pytest.raises(StreamgaugeError, match=r"test\.csv has changed since it was first read"):
        list(batches)


def test_a_file_that_is_replaced_while_it_is_read_is_read_to_its_end(path: Path) -> None:
    path.write_text("a,class\n" + "0.12345,x\n0.54321,y\n" * 100_000)
    other = path.with_name("other.csv")
    other.write_text("a,class\n1,x\n")
    batches = File(path).batches(1_000)
    n_rows = len(next(batches))
    other.replace(path)
    assert n_rows + sum(map(len, batches)) == 200_000


def test_an_archive_with_two_arrays_of_one_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, x=np.ones((4, 2)), y=np.array([0, 1, 0, 1]))
    with zipfile.ZipFile(path, "a") as archive, archive.open("X.npy", "w") as member:
        np.save(member, np.zeros((4, 2)))
    with pytest.raises(StreamgaugeError, match=r"rows\.npz holds two arrays of one name; it holds X\.npy, x\.npy"):
        _ = File(path).schema


def test_a_pipe_is_not_said_to_be_missing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(StreamgaugeError, match=r"rows\.csv is a pipe or a device"):
        _ = File(tmp_path / "rows.csv").schema
