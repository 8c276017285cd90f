"""The store: claims that no two processes share, results that any tool can read, and what was found, together."""

import json
import os
import sqlite3
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest

import streamgauge as sg
from streamgauge.errors import DamageWarning, StreamgaugeError
from streamgauge.store import (
    CATALOGUE,
    Claim,
    Condition,
    Filter,
    Store,
    WantedResults,
    build_latex_table,
    export,
    is_store,
)
from streamgauge.store.merging import merge_runs, select_learners
from streamgauge.store.owners import DEAD_AFTER_SECONDS, Owner

CONDITION = Condition("sea", "sea-1", "Bootstrap(k=2)", "AllLabels()")
REQUEST = WantedResults(("accuracy", "error"), ("Landmark()",))
LEARNERS = {"bayes": "NaiveBayes()", "last": "NoChange()"}


@pytest.fixture(scope="module")
def results():
    learners = {"bayes": sg.NaiveBayes(), "last": sg.NoChange()}
    return sg.evaluate(
        sg.SEA(n_rows=600), learners, scheme=sg.Bootstrap(2), measures=["accuracy", "error"], every=200, resources=True
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, new=True)


def claimed(store, condition=CONDITION, learners=LEARNERS, **options):
    claim = store.claim(condition, learners, REQUEST, **options)
    assert isinstance(claim, Claim)
    return claim


@pytest.fixture
def filled(store, results):
    for seed in (1, 2):
        store.finish(claimed(store, replace(CONDITION, seed=seed)), results)
    return store


def test_a_run_is_claimed_once_and_done_once(store, results):
    claim = claimed(store)
    assert store.claim(CONDITION, LEARNERS, REQUEST) == "busy"
    assert store.find_missing(CONDITION, LEARNERS, REQUEST) == list(LEARNERS)
    store.finish(claim, results)
    assert store.claim(CONDITION, LEARNERS, REQUEST) == "done"
    assert store.find_missing(CONDITION, LEARNERS, REQUEST) == []


def test_of_many_at_once_one_gets_a_claim(store):
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(Store(store.folder).claim, CONDITION, LEARNERS, REQUEST) for _ in range(40)]
    assert sum(isinstance(one.result(), Claim) for one in asked) == 1


def test_a_claim_leaves_to_others_what_they_have(store):
    first = claimed(store, learners={"bayes": "NaiveBayes()"})
    second = claimed(store)
    assert list(second.learners) == ["last"]
    assert store.claim(CONDITION, LEARNERS, REQUEST) == "busy"
    store.release(second)
    assert store.claim(CONDITION, LEARNERS, REQUEST, together=True) == "busy"  # bayes is taken
    store.release(first)
    assert list(claimed(store, together=True).learners) == list(LEARNERS)


def test_what_is_claimed_depends_on_learner_condition_and_what_is_asked(store, results):
    store.finish(claimed(store), results)
    assert store.claim(CONDITION, LEARNERS, WantedResults(("error",), ("Landmark()",))) == "done"
    more = WantedResults(("accuracy", "kappa"), ("Landmark()",))
    assert store.find_missing(CONDITION, LEARNERS, more) == list(LEARNERS)
    assert store.find_missing(CONDITION, {"bayes": "NaiveBayes(other)"}, REQUEST) == ["bayes"]
    assert store.find_missing(replace(CONDITION, fingerprint="sea-2"), LEARNERS, REQUEST) == list(LEARNERS)
    assert store.find_missing(CONDITION, LEARNERS, REQUEST, ignore_results_before=time.time() + 60) == list(LEARNERS)


def test_a_later_process_of_the_same_number_is_not_the_owner():
    here = Owner.here()
    assert here.is_alive(0.0)
    if here.started_at_ticks:
        assert not replace(here, started_at_ticks=here.started_at_ticks + 1).is_alive(0.0)
    assert not Owner(here.host, 2**22 + 1, 1).is_alive(0.0)  # no system has that number


def test_a_process_of_another_machine_lives_as_long_as_it_gives_signs():
    far = Owner("far away", 1, 1)
    assert far.is_alive(time.time() - DEAD_AFTER_SECONDS / 2)
    assert not far.is_alive(time.time() - DEAD_AFTER_SECONDS * 2)


def test_progress_is_seen_by_others(store):
    claim = claimed(store, experiment="one")
    store.note_progress(claim, 12_000)
    (seen,) = Store(store.folder).running()
    assert (seen["n_rows"], seen["pid"]) == (12_000, os.getpid())


def test_a_run_that_failed_is_missing_and_its_reason_is_kept(store):
    store.fail(claimed(store), "too hot")
    (run,) = store.runs(Filter(status=("failed",)))
    assert [cell["error"] for cell in run["learners"]] == ["too hot", "too hot"]
    assert store.finals() == []
    assert store.find_missing(CONDITION, LEARNERS, REQUEST) == list(LEARNERS)


def test_a_run_is_kept_as_it_was_found(store, results):
    claim = claimed(store)
    store.finish(claim, results)
    found = store.load(claim.run)
    np.testing.assert_array_equal(found.values, results.values)
    manifest = json.loads((store.get_folder(claim.run) / "manifest.json").read_text())
    assert {"versions", "machine", "description"} <= set(manifest)
    assert not list((store.folder / "runs").glob(".*"))
    with pytest.raises(StreamgaugeError, match="there is no run"):
        store.load("nothing")


def test_the_last_readings_are_means_over_the_folds(filled, results):
    (row,) = filled.finals(Filter(learner=("bayes",), measure=("error",), seed=("1",)))
    last = results.curve("bayes", "error")[-1]
    assert row["mean"] == pytest.approx(last.mean(), abs=1e-15)
    assert row["spread"] == pytest.approx(last.std(ddof=1), abs=1e-15)
    assert row["greater_is_better"] == 0


def test_a_filter_that_fits_nothing_names_the_nearest(filled):
    assert len(filled.finals(Filter(scheme=("Bootstrap",)))) == 8
    assert len(filled.finals(Filter(learner=("b*", "last"), measure=("accuracy",)))) == 4
    with pytest.raises(StreamgaugeError, match="did you mean bayes"):
        filled.finals(Filter(learner=("bays",)))
    with pytest.raises(StreamgaugeError, match="did you mean sea"):
        filled.runs(Filter(stream=("see",)))


def test_results_of_one_condition_are_put_together(store, results):
    for name, spec in LEARNERS.items():
        store.finish(claimed(store, learners={name: spec}), select_learners(results, [name]))
    (found,) = store.results(Filter(learner=("last",)))
    assert found.learners == ("last",)
    assert found.pairs == ()


def test_runs_that_have_nothing_in_common_are_not_put_together(results):
    other = sg.evaluate(sg.SEA(n_rows=600), {"more": sg.NoChange()}, scheme=sg.Bootstrap(2), every=300)
    with pytest.raises(StreamgaugeError, match="cannot be merged"):
        merge_runs([results, other])


@pytest.mark.parametrize("content", [b"", b"nonsense" * 500])
def test_a_damaged_catalogue_is_reported(tmp_path, content):
    (tmp_path / CATALOGUE).write_bytes(content)
    with pytest.raises(StreamgaugeError, match=CATALOGUE):
        Store(tmp_path)


def test_a_folder_without_a_catalogue_is_no_store(tmp_path):
    assert not is_store(tmp_path)
    with pytest.raises(StreamgaugeError, match="is not a store of results"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StreamgaugeError, match="cannot write the catalogue into"):
        Store(tmp_path / "file" / "store", new=True)


def test_the_catalogue_is_in_wal_mode(store):
    with sqlite3.connect(store.folder / CATALOGUE) as catalogue:
        assert catalogue.execute("pragma journal_mode").fetchone() == ("wal",)
    catalogue.close()


def test_pandas_and_polars_read_all_runs_at_once(filled, results):
    n = len(list(results.readings))
    runs = {run["run"] for run in filled.runs()}
    polars = pl.scan_parquet(filled.folder / "runs" / "*" / "readings.parquet", hive_partitioning=True).collect()
    assert (len(polars), set(polars["run"])) == (2 * n, runs)
    with sqlite3.connect(filled.folder / CATALOGUE) as catalogue:
        pandas = pd.read_sql("select run, seed, learner, mean from finals join runs using (run)", catalogue)
    catalogue.close()
    assert set(pandas["run"]) == runs
    assert filled.table().to_pandas()["mean"].tolist() == [row["mean"] for row in filled.finals()]


@pytest.mark.skipif(find_spec("duckdb") is None, reason="duckdb is not installed")
def test_duckdb_reads_all_runs_at_once(filled):
    import duckdb  # noqa: PLC0415

    finals = filled.table()  # noqa: F841  (DuckDB sees it by its name)
    path = filled.folder / "runs" / "*" / "readings.parquet"
    found = duckdb.execute(
        "select learner, seed, max(row) from read_parquet(?, hive_partitioning = true)"
        " join (select distinct run, seed from finals) using (run)"
        " where measure = 'accuracy' group by all order by all",
        [str(path)],
    ).fetchall()
    assert found == [(learner, seed, 600) for learner in ("bayes", "last") for seed in (1, 2)]


def test_readings_are_exported(filled, tmp_path):
    wanted = Filter(measure=("error",))
    rows = filled.finals(wanted)
    assert pd.read_csv(export(filled, tmp_path / "out.csv", wanted))["learner"].tolist() == ["bayes", "last"] * 2
    assert pl.read_parquet(export(filled, tmp_path / "out.parquet", wanted))["mean"].to_list() == [
        r["mean"] for r in rows
    ]
    assert json.loads(export(filled, tmp_path / "out.json", wanted).read_text()) == rows
    tex = export(filled, tmp_path / "out.tex", wanted).read_text()
    best = min(row["mean"] for row in rows)
    assert rf"sea & \textbf{{{best:.4f}}} & " in tex
    with pytest.raises(StreamgaugeError, match="exactly one measure: found accuracy, error"):
        export(filled, tmp_path / "out.tex")


def test_a_latex_table_tells_apart_what_differs_and_escapes_names():
    row = {"stream": "s_1", "scheme": "a", "measure": "kappa", "forgetting": "f", "greater_is_better": 1}
    rows = [{**row, "labelling": one, "learner": "50 %", "mean": None} for one in ("x", "y")]
    text = build_latex_table(rows)
    assert r"50 \%" in text
    assert r"s\_1, x & -- \\" in text


def test_no_flipped_bit_of_the_catalogue_changes_anything_in_silence(filled):
    path = filled.folder / CATALOGUE
    whole, lists = path.read_bytes(), (filled.runs(), filled.finals())
    draw = np.random.default_rng(3)
    flips = draw.integers(0, 8 * len(whole), 150).tolist()
    used = [bit for bit in range(8 * len(whole)) if whole[bit // 8]]
    flips += draw.choice(used, 150).tolist()
    for bit in flips:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, refused = lists, None
            try:
                found = (filled.runs(), filled.finals())
            except StreamgaugeError as error:
                refused = str(error)
        if refused is not None:
            assert CATALOGUE in refused, bit
        elif found != lists:
            assert any(issubclass(each.category, DamageWarning) for each in caught), bit
            assert all(row in lists[1] for row in found[1]), bit
    path.write_bytes(whole)


def test_a_lost_row_of_the_catalogue_is_noticed(filled):
    with sqlite3.connect(filled.folder / CATALOGUE) as catalogue:
        catalogue.execute("delete from finals where rowid = 1")
    catalogue.close()
    with pytest.warns(DamageWarning, match=r"catalogue.sqlite is damaged: rows of the table finals are missing"):
        filled.finals()


def test_a_changed_row_of_the_catalogue_is_left_out_and_the_others_are_listed(filled):
    n = len(filled.finals())
    with sqlite3.connect(filled.folder / CATALOGUE) as catalogue:
        catalogue.execute("update finals set mean = mean + 0.001 where rowid = 1")
    catalogue.close()
    with pytest.warns(DamageWarning, match=r"damaged: 1 row of the table finals left out"):
        assert len(filled.finals()) == n - 1


def test_the_lock_of_a_process_that_was_killed_while_it_created_the_store_is_removed(tmp_path):
    Store(tmp_path, new=True)
    (tmp_path / ".catalogue.lock").touch()
    Store(tmp_path, new=True)
    assert [path.name for path in tmp_path.iterdir()] == [CATALOGUE]
