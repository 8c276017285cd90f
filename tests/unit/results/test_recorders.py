"""What a run keeps beyond its readings says the same as its readings."""

import csv
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.io import loadmat

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.protocols import Recorder
from streamgauge.results import (
    ConfusionMatrices,
    Misclassified,
    Predictions,
    tabulate_readings,
    tabulate_resources,
    write_table,
)
from streamgauge.schemes import Holdout
from streamgauge.streams import File, write

LEARNERS = [sg.NaiveBayes(), sg.MajorityClass()]


@pytest.fixture
def stream():
    return sg.SEA(n_rows=1000, noise=0.2)


def test_every_prediction_and_its_votes_are_kept(stream, tmp_path):
    recorder = Predictions(tmp_path / "p.parquet", votes=True)
    results = sg.evaluate(stream, LEARNERS, scheme=sg.Bootstrap(2), recorders=[recorder], batch_size=77, every=1000)
    table = pl.read_parquet(tmp_path / "p.parquet")
    assert len(table) == 2 * 2 * 1000
    for m, learner in enumerate(results.learners):
        for fold in range(2):
            part = table.filter((pl.col("learner") == learner) & (pl.col("fold") == fold))
            assert part["row"].to_list() == list(range(1000))
            truth = next(stream.batches(1000)).y
            assert part["true"].cast(pl.String).to_list() == [stream.schema.classes[y] for y in truth]
            right = (part["true"].cast(pl.String) == part["predicted"].cast(pl.String)).fill_null(value=False)
            assert right.mean() == pytest.approx(results.values[-1, m, fold, 0, 0], rel=1e-12)
            votes = part.select(pl.col("^vote[.].*$")).to_numpy()
            silent = part["predicted"].is_null().to_numpy()
            np.testing.assert_array_equal(votes.max(axis=1) == 0, silent)


def test_predictions_say_which_row_and_when(stream, tmp_path):
    sg.evaluate(
        stream, sg.NaiveBayes(), labelling=Delayed(30), score="last", recorders=[Predictions(tmp_path / "p.parquet")]
    )
    table = pl.read_parquet(tmp_path / "p.parquet")
    assert (table["after"] - table["row"]).unique().to_list() == [30]
    scheme = Holdout(500, 10, source=sg.SEA(seed=7))
    sg.evaluate(stream, sg.NaiveBayes(), scheme=scheme, recorders=[Predictions(tmp_path / "h.parquet")])
    table = pl.read_parquet(tmp_path / "h.parquet")
    assert table["row"].to_list() == [*range(10), *range(10)]
    assert table["after"].to_list() == [499] * 10 + [999] * 10


@pytest.mark.parametrize("suffix", [".arff", ".csv", ".tsv", ".parquet"])
def test_misclassified_rows_come_in_the_format_of_the_input(stream, tmp_path, suffix):
    write(stream, tmp_path / f"all{suffix}")
    file = File(tmp_path / f"all{suffix}")
    recorders: list[Recorder] = [Misclassified(tmp_path / "wrong"), Predictions(tmp_path / "p.parquet")]
    sg.evaluate(file, sg.NaiveBayes(), recorders=recorders, batch_size=100)
    (path,) = (tmp_path / "wrong").iterdir()
    assert path.name == f"NaiveBayes-0{suffix}"
    table = pl.read_parquet(tmp_path / "p.parquet").with_columns(pl.col("true", "predicted").cast(pl.String))
    wrong = table.filter(pl.col("true").ne_missing(pl.col("predicted")))["row"].to_list()
    rows = next(stream.batches(1000))
    found = next(File(path).batches(1000))
    np.testing.assert_array_equal(found.x, rows.x[wrong])
    assert [File(path).schema.classes[y] for y in found.y] == [stream.schema.classes[y] for y in rows.y[wrong]]


def test_confusion_matrices_are_kept_at_every_stop(stream, tmp_path):
    paths = [tmp_path / "c.csv", tmp_path / "c.mat"]
    options: dict[str, Any] = {"forgetting": [sg.Landmark(), sg.Window(100)], "every": 300, "scheme": sg.Split(2)}
    results = sg.evaluate(stream, LEARNERS, recorders=[ConfusionMatrices(path) for path in paths], **options)
    mat = loadmat(paths[1])
    confusion, abstained = mat["confusion"], mat["abstained"]
    assert mat["rows"].ravel().tolist() == results.rows.tolist() == [300, 600, 900, 1000]
    accuracy = np.trace(confusion, axis1=-2, axis2=-1) / (confusion.sum(axis=(-2, -1)) + abstained.sum(axis=-1))
    np.testing.assert_allclose(accuracy, results.values[..., 0], rtol=1e-12)
    with paths[0].open(newline="") as file:
        lines = list(csv.DictReader(file))
    classes = stream.schema.classes
    by_key = {tuple(line.values())[:-1]: float(line["weight"]) for line in lines}
    assert len(lines) == len(by_key) == confusion.size + abstained.size
    for f, forgetting in enumerate(results.forgettings):
        key = ("600", "NaiveBayes", "1", forgetting, classes[1])
        assert [by_key[(*key, name)] for name in (*classes, "")] == [
            *confusion[1, 0, 1, f, 1],
            abstained[1, 0, 1, f, 1],
        ]
    with pytest.raises(StreamgaugeError, match=r"must end in \.csv or \.mat"):
        ConfusionMatrices("c.txt")


def test_nothing_is_left_of_records_of_a_run_that_fails(stream, tmp_path):
    class Broken:
        seed, seedless = 1, True

        def build(self, _schema, _seed):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        sg.evaluate(stream, {"b": Broken()}, recorders=[Predictions(tmp_path / "p.parquet")])
    assert list(tmp_path.iterdir()) == []


def test_all_readings_are_one_table_in_csv_or_parquet(stream, tmp_path):
    results = sg.evaluate(stream, LEARNERS, every=300, resources=True)
    assert results.resources is not None
    for suffix, read in ((".csv", pl.read_csv), (".parquet", pl.read_parquet)):
        table = read(write_table(tabulate_readings(results), tmp_path / f"readings{suffix}"))
        assert table["value"].to_list() == results.values.ravel().tolist()
        costs = read(write_table(tabulate_resources(results), tmp_path / f"costs{suffix}"))
        assert costs["n_bytes"].to_list() == results.resources.n_bytes.ravel().tolist()
    with pytest.raises(StreamgaugeError, match=r"must end in \.csv or \.parquet"):
        write_table(tabulate_readings(results), tmp_path / "readings.xls")
