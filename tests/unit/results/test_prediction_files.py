"""Predictions are written in the format of the file name, the same rows in the same order however the run is cut."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.feather
import pytest

import streamgauge as sg
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.learners import Precomputed
from streamgauge.records import UNLABELLED, Batch, Schema
from streamgauge.results import ConfusionMatrices, Misclassified, Predictions, read_errors
from streamgauge.streams import ArrayStream, File, take, write

SUFFIXES = [".csv", ".tsv", ".arff", ".csv.gz", ".arff.zst", ".parquet", ".arrow", ".feather"]
LEARNERS = {"bayes": sg.NaiveBayes(), "a tree, 'b'": sg.HoeffdingTree()}


def make_stream(n_rows: int = 300, classes: tuple[str, ...] = ("no", "yes, it is")) -> ArrayStream:
    """Rows of which every seventh has an unknown class."""
    batch = take(sg.SEA(noise=0.2, seed=5), n_rows)
    y = np.where(np.arange(n_rows) % 7 == 3, UNLABELLED, batch.y).astype(np.int32)
    return ArrayStream.from_batch(Batch(0, batch.x, y), Schema(sg.SEA().schema.attributes, classes))


def read_rows(path: Path) -> list[tuple[Any, ...]]:
    """Read a file of predictions as rows of row, after, learner, fold, predicted, true and weight."""
    file = File(path, target="true", nominal=("learner", "predicted") if ".csv" in path.name else ())
    if path.name.endswith((".tsv", ".tsv.gz")):
        file = File(path, target="true", nominal=("learner", "predicted"))
    names = [attribute.name for attribute in file.schema.attributes]
    values = [attribute.values for attribute in file.schema.attributes]
    rows = []
    for batch in file.batches(64):
        for x, y in zip(batch.x.tolist(), batch.y.tolist(), strict=True):
            row = {
                name: None if np.isnan(number) else number if texts is None else texts[int(number)]
                for name, number, texts in zip(names, x, values, strict=True)
            }
            row["true"] = None if y == UNLABELLED else file.schema.classes[y]
            rows.append(tuple(row[name] for name in ("row", "after", "learner", "fold", "predicted", "true", "weight")))
    return rows


def predict_by_hand(stream: ArrayStream) -> list[tuple[int, str | None]]:
    """Predict every row before its class, if known, is learnt: one row after the other."""
    learner = sg.NaiveBayes().build(stream.schema, 1)
    predicted: list[tuple[int, str | None]] = []
    for batch in stream.batches(1):
        votes = learner.predict(batch.x)[0]
        predicted.append((batch.start, stream.schema.classes[int(votes.argmax())] if votes.max() > 0 else None))
        if batch.y[0] != UNLABELLED:
            learner.learn(batch.x, batch.y, None)
    return predicted


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_format_holds_the_same_predictions_with_those_of_unknown_class(tmp_path: Path, suffix: str) -> None:
    stream = make_stream()
    path = tmp_path / f"p{suffix}"
    results = sg.evaluate(stream, LEARNERS, recorders=[Predictions(path)], batch_size=41)
    rows = read_rows(path)
    assert [row[:4] for row in rows] == [(i, i, learner, 0) for i in range(300) for learner in LEARNERS]
    assert [(row[0], row[4]) for row in rows if row[2] == "bayes"] == predict_by_hand(stream)
    truth = [None if y == UNLABELLED else stream.schema.classes[y] for y in take(stream, 300).y]
    assert [row[5] for row in rows[::2]] == truth
    for learner in LEARNERS:
        scored = [row for row in rows if row[2] == learner and row[5] is not None]
        accuracy = np.mean([row[4] == row[5] for row in scored])
        assert accuracy == pytest.approx(results.final(learner, "accuracy").mean, rel=1e-12)
        assert 1 - read_errors(path, learner).errors.mean() == pytest.approx(accuracy, rel=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".arff", ".parquet", ".arrow"])
def test_the_bytes_do_not_depend_on_batches_backends_or_restarts(tmp_path: Path, suffix: str) -> None:
    stream = make_stream(600)
    options: dict[str, Any] = {"scheme": sg.Bootstrap(3), "labelling": Delayed(20)}
    files = []
    runs: list[dict[str, Any]] = [{"batch_size": 1}, {"batch_size": 97}, {"backend": sg.Threads(2)}, {}]
    for number, run in enumerate(runs):
        path = tmp_path / str(number) / f"p{suffix}"
        sg.evaluate(stream, LEARNERS, recorders=[Predictions(path, votes=True)], **options, **run)
        files.append(path.read_bytes())
    path = tmp_path / "resumed" / f"p{suffix}"
    recorded: dict[str, Any] = {"recorders": [Predictions(path, votes=True)], "batch_size": 50, **options}
    recorded |= {"checkpoint": tmp_path / "checkpoints", "checkpoint_every": 100, "resume": True}
    batches = sg.Evaluation(stream, LEARNERS, **recorded).advance()
    for _ in range(7):
        next(batches)
    batches.close()  # type: ignore[attr-defined]
    sg.evaluate(stream, LEARNERS, **recorded)
    assert {*files, path.read_bytes()} == {files[0]}


def test_an_unknown_suffix_is_refused_before_the_first_row() -> None:
    for name in ("p.xls", "p", "p.parquet.gz", "p.json"):
        with pytest.raises(StreamgaugeError, match=r"ends in \.arff, \.csv or \.tsv .* \.arrow or \.feather"):
            Predictions(name)
    with pytest.raises(StreamgaugeError, match=r"rows\.xls: write to a file that ends in"):
        Misclassified("wrong", "xls")


@pytest.mark.parametrize("format", ["arff", "csv", "tsv", "parquet", "arrow", "csv.gz"])
def test_misclassified_rows_come_in_the_format_that_is_wanted(tmp_path: Path, format: str) -> None:  # noqa: A002
    stream = make_stream()
    path = tmp_path / "p.csv"
    sg.evaluate(stream, sg.NaiveBayes(), recorders=[Misclassified(tmp_path / "wrong", format), Predictions(path)])
    wrong = [int(row[0]) for row in read_rows(path) if row[5] is not None and row[4] != row[5]]
    file = File(tmp_path / "wrong" / f"NaiveBayes-0.{format}")
    assert file.n_rows == len(wrong)
    np.testing.assert_array_equal(take(file, len(wrong)).x, take(stream, 300).x[wrong])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("classes", [("no", "yes, it is"), ("0", "1")])
def test_a_file_of_predictions_is_a_stream_on_which_they_are_repeated(
    tmp_path: Path, suffix: str, classes: tuple[str, ...]
) -> None:
    path = tmp_path / f"p{suffix}"
    measures = ("accuracy", "log_loss")
    stream = make_stream(classes=classes)
    results = sg.evaluate(stream, sg.NaiveBayes(), recorders=[Predictions(path, votes=True)], measures=measures)
    again = sg.evaluate(
        File(path, target="true"), {"class": Precomputed("predicted"), "votes": Precomputed("vote")}, measures=measures
    )
    for name in ("class", "votes"):
        assert again.final(name, "accuracy").mean == pytest.approx(results.final("NaiveBayes", "accuracy").mean)
    assert again.final("votes", "log_loss").mean == pytest.approx(results.final("NaiveBayes", "log_loss").mean)


def test_weights_and_other_libraries(tmp_path: Path) -> None:
    batch = take(sg.SEA(), 50)
    stream = ArrayStream(batch.x, batch.y, weight=np.linspace(0.5, 2.0, 50))
    paths = [tmp_path / f"p{suffix}" for suffix in (".csv", ".parquet", ".feather")]
    sg.evaluate(stream, sg.NaiveBayes(), recorders=[Predictions(path) for path in paths])
    tables = [
        pl.read_csv(paths[0], null_values="?"),
        pl.read_parquet(paths[1]),
        pl.from_arrow(pyarrow.feather.read_table(str(paths[2]))),
    ]
    for table in tables:
        assert isinstance(table, pl.DataFrame)
        assert table.columns == ["row", "after", "learner", "fold", "predicted", "weight", "true"]
        assert table["row"].dtype == pl.Int64
        assert table["row"].to_list() == list(range(50))
        assert table["weight"].to_list() == np.linspace(0.5, 2.0, 50).tolist()


def test_a_learner_that_fails_keeps_its_predictions_up_to_there(tmp_path: Path) -> None:
    class Failing:
        """Predicts the first class, and fails at row 25."""

        def __init__(self) -> None:
            self.n_seen = 0

        def predict(self, x: np.ndarray) -> np.ndarray:
            self.n_seen += len(x)
            if self.n_seen > 25:
                raise RuntimeError
            return np.tile([1.0, 0.0], (len(x), 1))

        def learn(self, x: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> None:
            """Learn nothing."""

    path = tmp_path / "p.csv"
    with pytest.warns(FailureWarning):
        sg.evaluate(
            make_stream(), {"bayes": sg.NaiveBayes(), "fails": Failing()}, recorders=[Predictions(path)], batch_size=10
        )
    assert [row[0] for row in read_rows(path) if row[2] == "fails"] == list(range(25))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather"])
def test_tables_are_written_in_groups_of_rows_whatever_the_batches(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    sg.evaluate(sg.SEA(n_rows=3000), sg.NaiveBayes(), recorders=[Predictions(path)], batch_size=1)
    if suffix == ".parquet":
        assert pyarrow.parquet.ParquetFile(path).num_row_groups == 1
    assert path.stat().st_size < 200_000


def test_a_stream_is_written_as_arrow_and_read_back(tmp_path: Path) -> None:
    stream = make_stream()
    for name in ("s.arrow", "s.feather"):
        assert write(stream, tmp_path / name) == 300
        file = File(tmp_path / name)
        assert file.schema.classes == stream.schema.classes
        np.testing.assert_array_equal(take(file, 300).x, take(stream, 300).x)
        np.testing.assert_array_equal(take(file, 300).y, take(stream, 300).y)


def test_confusion_matrices_do_not_depend_on_batches(tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 70, "scheme": sg.Split(2), "forgetting": [sg.Landmark(), sg.Window(50)]}
    for size in (1, 64, 300):
        recorders = [ConfusionMatrices(tmp_path / f"{size}.csv")]
        sg.evaluate(make_stream(), LEARNERS, recorders=recorders, batch_size=size, **options)
    assert len({(tmp_path / f"{size}.csv").read_bytes() for size in (1, 64, 300)}) == 1
    table = pl.read_csv(tmp_path / "1.csv")
    assert table["row"].to_list() == sorted(table["row"].to_list())
    assert table["row"].unique(maintain_order=True).to_list() == [70, 140, 210, 280, 300]
