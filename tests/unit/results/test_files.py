"""A run that was saved is read back whole, or refused with a reason."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.results import build_manifest, load, save, tabulate_readings


@pytest.fixture(scope="module")
def results():
    learners = [sg.NaiveBayes(), sg.MajorityClass()]
    options: dict[str, Any] = {
        "forgetting": [sg.Landmark(), sg.Window(100)],
        "measures": ["accuracy", "kappa_m"],
        "every": 300,
    }
    return sg.evaluate(sg.SEA(n_rows=1000), learners, scheme=sg.Bootstrap(3), **options)


def test_what_was_saved_is_loaded(results, tmp_path):
    found = load(save(results, tmp_path / "new" / "folder"))
    np.testing.assert_array_equal(found.values, results.values)
    np.testing.assert_array_equal(found.rows, results.rows)
    assert found.learners == results.learners
    assert found.description == results.description
    assert [pair.n_rows for pair in found.pairs] == [pair.n_rows for pair in results.pairs]
    assert list(found.readings) == list(results.readings)


def test_the_readings_are_one_tidy_table_for_every_library(results, tmp_path):
    save(results, tmp_path)
    expected = [(r.row, r.learner, r.fold, r.measure, r.forgetting, r.value) for r in results.readings]
    assert pl.read_parquet(tmp_path / "readings.parquet").rows() == expected
    assert len(pd.read_parquet(tmp_path / "readings.parquet")) == len(expected)
    assert tabulate_readings(results).num_rows == len(expected)


def test_the_manifest_says_what_was_run(results):
    written = json.loads(json.dumps(build_manifest(results)))
    assert written["description"]["seed"] == 1
    assert written["description"]["stream"]["fingerprint"] == sg.SEA(n_rows=1000).fingerprint
    assert "Bootstrap(k=3" in written["description"]["scheme"]["name"]
    assert set(written["versions"]) >= {"python", "numpy", "streamgauge"}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("manifest.json", "{", "damaged"),
        ("manifest.json", '{"format": 99}', "format 99"),
        ("manifest.json", "{}", "damaged"),
        ("readings.parquet", "nonsense", "damaged"),
    ],
)
def test_damaged_results_are_refused_with_a_reason(results, tmp_path, name, content, reason):
    save(results, tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(StreamgaugeError, match=reason):
        load(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(results, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StreamgaugeError, match="cannot write the results to"):
        save(results, tmp_path / "file" / "folder")


def test_a_folder_never_holds_the_files_of_two_runs(results, tmp_path):
    save(results, tmp_path)
    for name in ("mine.txt", "resources.csv"):
        (tmp_path / name).write_text("not of a run")
    other = sg.evaluate(sg.SEA(n_rows=500), sg.NoChange(), every=100, live_test=None)
    save(other, tmp_path)
    assert load(tmp_path).differences is None
    fresh = save(other, tmp_path / "fresh")
    expected = {path.name for path in fresh.iterdir()} | {"mine.txt", "resources.csv", "fresh"}
    assert {path.name for path in tmp_path.iterdir()} == expected


def test_results_stay_whole_where_others_cannot_be_written(results, tmp_path, monkeypatch):
    save(results, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full_disk(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("streamgauge.results.files.build_manifest", full_disk)
    with pytest.raises(StreamgaugeError, match="No space left"):
        save(sg.evaluate(sg.SEA(n_rows=500), sg.NoChange()), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_others_keep_under_the_name_of_a_table_stays(tmp_path):
    (tmp_path / "differences.parquet").write_bytes(b"not ours: there is no manifest")
    save(sg.evaluate(sg.SEA(n_rows=500), sg.NoChange(), live_test=None), tmp_path)
    assert (tmp_path / "differences.parquet").is_file()


@pytest.mark.parametrize("damage", ["other", "doubled", "empty", "negative", "votes", "no votes"])
def test_tallies_of_blocks_that_are_not_those_of_the_run_are_refused(damage: str, tmp_path: Path) -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    options: dict[str, Any] = {"scheme": sg.Bootstrap(5), "measures": ["roc_auc[1]", "accuracy"]}
    folder, other = (
        sg.save(sg.evaluate(sg.SEA(n_rows=n_rows, seed=seed), learners, **options), tmp_path / str(seed))
        for seed, n_rows in ((1, 1000), (2, 900))
    )
    assert sg.load(folder).blocks is not None
    blocks, votes = folder / "blocks.parquet", folder / "votes.parquet"
    table = pq.read_table(votes if "votes" in damage else blocks)
    if damage == "other":
        shutil.copy(other / "blocks.parquet", blocks)
    elif damage == "doubled":
        pq.write_table(pa.concat_tables([table, table]), blocks)
    elif damage == "empty":
        pq.write_table(table[:0], blocks)
    elif damage == "negative":
        pq.write_table(table.set_column(4, "value", pc.multiply(table["value"], -1.0)), blocks)
    elif damage == "votes":
        shutil.copy(other / "votes.parquet", votes)
    else:
        pq.write_table(table[: len(table) // 2], votes)
    with pytest.raises(StreamgaugeError, match="damaged"):
        sg.load(folder)


WEIGHTS = {
    "all 0": np.zeros(4000),
    "a tenth": np.full(4000, 0.1),
    "0 at first": np.repeat([0.0, 1.5], 2000),
    "tiny": np.full(4000, 1e-300),
    "huge": np.full(4000, 1e300),
    "of all sizes": np.exp(5.0 * np.random.default_rng(1).normal(size=4000)),
}


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_votes_of_weighted_rows_are_loaded(weight, tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4000, 3))
    stream = sg.ArrayStream(x, (x[:, 0] + rng.normal(size=4000) > 0).astype(int), weight=weight)
    learners = [sg.NaiveBayes(), sg.MajorityClass()]
    results = sg.evaluate(stream, learners, measures=["roc_auc[1]", "pr_auc[1]"], scheme="Bootstrap(2)")
    loaded = sg.results.load(results.save(tmp_path / "run"))
    np.testing.assert_array_equal(loaded.values, results.values)
    assert loaded.blocks is not None
    assert results.blocks is not None
    for key, (_, weights) in loaded.blocks.votes.items():
        kept = results.blocks.votes[key][1]
        np.testing.assert_array_equal(weights.sum(axis=2), kept.sum(axis=2))
        assert weights.min() >= 0.0
