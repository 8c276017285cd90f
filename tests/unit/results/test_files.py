"""A run that was saved is read back whole, or refused with a reason."""

import json
import shutil
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streamgauge as sg
from benchmarks.plain_values import to_plain
from streamgauge.errors import DamageWarning, StreamgaugeError
from streamgauge.results import Predictions, build_manifest, load, read_errors, save, tabulate_readings


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
    with pytest.raises(StreamgaugeError, match="cannot write the results into"):
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

    monkeypatch.setattr("streamgauge.results.files.ResultsManifest.of", full_disk)
    with pytest.raises(StreamgaugeError, match="No space left"):
        save(sg.evaluate(sg.SEA(n_rows=500), sg.NoChange()), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_others_keep_under_the_name_of_a_table_stays(tmp_path):
    (tmp_path / "differences.parquet").write_bytes(b"not ours: there is no manifest")
    save(sg.evaluate(sg.SEA(n_rows=500), sg.NoChange(), live_test=None), tmp_path)
    assert (tmp_path / "differences.parquet").is_file()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results with every table."""
    rows = sg.SEA(n_rows=600)
    x, y = next(iter(rows.batches(600))).x, next(iter(rows.batches(600))).y
    stream = sg.ArrayStream(x, y, time=np.arange(600) + 1_700_000_000.0)
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    recorders = [Predictions(tmp_path_factory.getbasetemp() / "full" / "predictions.csv")]
    options: dict[str, Any] = {"scheme": sg.Bootstrap(5), "measures": ["roc_auc[1]", "accuracy"], "resources": True}
    return save(
        sg.evaluate(stream, learners, every=100, recorders=recorders, **options),
        tmp_path_factory.getbasetemp() / "full",
    )


TABLES = ("times", "resources", "labels", "differences", "confusions", "blocks", "votes")


def test_the_manifest_lists_every_file_of_a_run(full: Path) -> None:
    manifest = json.loads((full / "manifest.json").read_text())
    assert set(manifest["files"]) == {path.name for path in full.iterdir()} - {"manifest.json"}
    assert set(manifest["files"]) == {f"{name}.parquet" for name in ("readings", *TABLES)} | {"predictions.csv"}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("damage", ["flipped", "missing"])
def test_what_is_damaged_is_named_and_the_rest_is_as_it_was(name: str, damage: str, full: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(full, tmp_path / "run"))
    path = folder / f"{name}.parquet"
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(flip(path.read_bytes(), Random(7).randrange(8 * path.stat().st_size)))
    with pytest.warns(DamageWarning, match=f"{name}.parquet (is missing|does not match its checksum)"):
        found = load(folder)
    expected = load(full)
    assert f"{name}.parquet" in found.notes[-1]
    lost = {"blocks"} if name == "votes" else {name}
    assert getattr(found, next(iter(lost))) is None
    lost |= {"description"}
    for field in fields(expected):
        if field.name not in lost:
            assert to_plain(getattr(found, field.name)) == to_plain(getattr(expected, field.name))


def test_no_flipped_bit_of_a_manifest_or_of_the_readings_goes_unnoticed(full: Path, tmp_path: Path) -> None:
    folder, random = Path(shutil.copytree(full, tmp_path / "run")), Random(7)
    for name in ("manifest.json", "readings.parquet"):
        data = (folder / name).read_bytes()
        for bit in random.sample(range(8 * len(data)), 100):
            (folder / name).write_bytes(flip(data, bit))
            with pytest.raises(StreamgaugeError, match=r"damaged|format"):
                load(folder)
        (folder / name).write_bytes(data)


def test_predictions_beside_results_are_checked(full: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(full, tmp_path / "run"))
    assert len(read_errors(folder, "bayes").rows)
    path = folder / "predictions.csv"
    path.write_bytes(path.read_bytes().replace(b",0,0.", b",1,0.", 1) + b"9,9,bayes,0,1,1,0\n")
    with pytest.raises(StreamgaugeError, match=r"predictions\.csv does not match its checksum in manifest\.json"):
        read_errors(folder, "bayes")


def test_the_writer_of_results_of_another_version_is_named(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"format": 1, "versions": {"streamgauge": "1.0"}}')
    with pytest.raises(StreamgaugeError, match=r"format 1, written by streamgauge 1\.0, but this version"):
        load(tmp_path)


def flip(data: bytes, bit: int) -> bytes:
    """Return bytes with one bit flipped."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


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
