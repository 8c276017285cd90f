"""The time of each reading: that of the last row before it, through restarts, files, journals, logs and merged runs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv, parquet

import streamgauge as sg
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import JournalReader
from streamgauge.backends import Threads
from streamgauge.drift import DDM
from streamgauge.errors import DamageWarning
from streamgauge.evaluation import Evaluation
from streamgauge.labelling import Delayed
from streamgauge.results import load, save, write_table
from streamgauge.schemes import Chunks, Holdout, Prequential, TrainThenTest
from streamgauge.store.merging import merge_runs
from streamgauge.streams import ArrayStream
from tests.support.timed_examples import START, make_timed_stream, make_times

PAIR = {"bayes": sg.NaiveBayes(), "last": sg.NoChange()}


@pytest.mark.parametrize("batch_size", [1, 7, 300, None])
@pytest.mark.parametrize("every", [1, 40, 300])
def test_the_time_of_a_reading_is_that_of_the_last_row_before_it(batch_size: int | None, every: int) -> None:
    results = sg.evaluate(make_timed_stream(), sg.NaiveBayes(), every=every, batch_size=batch_size)
    assert results.times is not None
    assert results.times.tobytes() == make_times()[results.rows - 1].tobytes()
    assert results.rows[-1] == 1000


@pytest.mark.parametrize("scheme", [Prequential(), Chunks(90), Holdout(200, 50), TrainThenTest(100)])
@pytest.mark.parametrize("backend", [Threads(1), Threads(3)])
def test_every_scheme_and_thread_reads_the_same_times(scheme: Any, backend: Any) -> None:
    options: dict[str, Any] = {"scheme": scheme, "backend": backend, "batch_size": 64, "labelling": Delayed(30)}
    results = sg.evaluate(make_timed_stream(), PAIR, every=130, **options)
    assert results.times is not None
    assert results.times.tolist() == make_times()[results.rows - 1].tolist()


@pytest.mark.parametrize("after", [1, 4, 10, 11])
def test_a_resumed_run_has_the_times_of_one_that_never_stopped(tmp_path: Path, after: int) -> None:
    options: dict[str, Any] = {"every": 130, "batch_size": 100, "checkpoint": tmp_path, "checkpoint_every": 100}
    batches = Evaluation(make_timed_stream(), PAIR, **options).advance()
    for _ in range(after):
        next(batches)
    batches.close()  # type: ignore[attr-defined]
    resumed = sg.evaluate(make_timed_stream(), PAIR, **options, resume=True)
    assert resumed.times is not None
    assert resumed.times.tolist() == make_times()[resumed.rows - 1].tolist()


def test_a_run_that_was_stopped_ahead_of_its_plans_ends_at_the_time_of_its_last_row() -> None:
    evaluation = Evaluation(make_timed_stream(), PAIR, every=130, batch_size=100, backend=Threads(2))
    parts: list[Progress] = []
    for part in evaluation.advance(lambda: len(parts) >= 3):
        parts.append(part)  # noqa: PERF402  (the loop looks at them)
    results = evaluation.results(parts)
    assert results.n_rows < 1000
    assert results.times is not None
    assert results.times.tolist() == make_times()[results.rows - 1].tolist()


@pytest.mark.parametrize("start", [START, 0.0, -7e8, 9e10, 1.7e9 + 1 / 3])
def test_saved_times_keep_every_bit(tmp_path: Path, start: float) -> None:
    results = sg.evaluate(make_timed_stream(start=start), sg.NaiveBayes(), every=10)
    loaded = load(save(results, tmp_path))
    assert results.times is not None
    assert loaded.times is not None
    assert loaded.times.tobytes() == results.times.tobytes()


def test_saved_readings_have_the_same_columns_with_and_without_times(tmp_path: Path) -> None:
    timed, untimed = (
        sg.evaluate(stream, sg.NaiveBayes(), every=100) for stream in (make_timed_stream(), sg.SEA(n_rows=1000))
    )
    for name, results in (("timed", timed), ("untimed", untimed)):
        save(results, tmp_path / name)
    schemas = [parquet.read_schema(tmp_path / name / "readings.parquet") for name in ("timed", "untimed")]
    assert schemas[0] == schemas[1]
    times = parquet.read_table(tmp_path / "timed" / "times.parquet")
    assert times.column_names == ["row", "time"]
    assert str(times.schema.field("time").type).endswith("tz=UTC]")
    save(untimed, tmp_path / "timed")
    assert not (tmp_path / "timed" / "times.parquet").exists()


def test_times_of_another_run_are_noticed(tmp_path: Path) -> None:
    save(sg.evaluate(make_timed_stream(), sg.NaiveBayes(), every=100), tmp_path / "one")
    save(sg.evaluate(make_timed_stream(), sg.NaiveBayes(), every=50), tmp_path / "other")
    (tmp_path / "other" / "times.parquet").replace(tmp_path / "one" / "times.parquet")
    with pytest.warns(DamageWarning, match=r"times\.parquet does not match its checksum"):
        assert load(tmp_path / "one").times is None


def test_streams_without_times_have_none_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    results = sg.evaluate(sg.SEA(n_rows=500), PAIR, every=100, journal=tmp_path, log=path)
    assert results.times is None
    assert not results.has_time_axis
    assert load(save(results, tmp_path / "saved")).times is None
    assert "time" not in results.to_arrow().column_names
    assert not any("time" in json.loads(line) for line in path.read_text().splitlines())
    view = JournalReader(tmp_path)
    assert view.layout.times(view.records()[1]) is None
    with pytest.raises(sg.StreamgaugeError, match="carry no times"):
        results.find_times([1])


def test_the_journal_holds_the_times_of_rows_also_after_thinning(tmp_path: Path) -> None:
    results = sg.evaluate(make_timed_stream(), PAIR, every=10, journal=tmp_path)
    view = JournalReader(tmp_path)
    records = view.records()[1]
    times = view.layout.times(records)
    assert results.times is not None
    assert times is not None
    assert times.tolist() == results.times.tolist()
    thinned = view.layout.thin(records, 40)
    kept = np.searchsorted(results.rows, view.layout.rows(thinned))
    assert len(kept) < len(records)
    thinned_times = view.layout.times(thinned)
    assert thinned_times is not None
    assert thinned_times.tolist() == results.times[kept].tolist()


def test_tables_have_a_column_of_timestamps_in_utc(tmp_path: Path) -> None:
    stream = ArrayStream(np.zeros((4, 1)), [0, 1, 0, 1], time=[START, START + 0.5, START + 1, START + 86_400])
    results = sg.evaluate(stream, sg.NoChange(), every=2)
    frame = results.to_pandas()
    assert list(frame)[:3] == ["row", "time", "learner"]
    assert [time.isoformat() for time in frame["time"]] == [
        "2024-01-01T00:00:00.500000+00:00",
        "2024-01-02T00:00:00+00:00",
    ]
    assert results.to_polars()["time"].dtype.time_zone == "UTC"
    path = write_table(results.to_arrow(), tmp_path / "readings.csv")
    assert path.read_text().splitlines()[1].startswith('2,2024-01-01 00:00:00.500000Z,"NoChange"')
    assert csv.read_csv(path)["time"].to_pylist() == frame["time"].tolist()


def test_seconds_of_a_simulation_are_no_dates_in_tables() -> None:
    stream = ArrayStream(np.zeros((4, 1)), [0, 1, 0, 1], time=[0.0, 0.25, 0.5, 12.5])
    assert sg.evaluate(stream, sg.NoChange(), every=2).to_pandas()["time"].tolist() == [0.25, 12.5]


def test_the_log_has_the_times_of_readings_and_verdicts(tmp_path: Path) -> None:
    log = tmp_path / "run.jsonl"
    results = sg.evaluate(make_timed_stream(), PAIR, every=100, log=log, detectors=DDM(), batch_size=70)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    timed = [event for event in events if event["event"] in ("reading", "verdict")]
    assert {event["event"] for event in timed} == {"reading", "verdict"}
    assert results.times is not None
    known = dict(zip(results.rows.tolist(), results.times.tolist(), strict=True))
    for event in timed:
        seconds = (np.datetime64(event["time"].removesuffix("Z")) - np.datetime64(0, "us")) / np.timedelta64(1, "s")
        assert seconds == pytest.approx(known[event["row"]], abs=1e-6)
    assert not any("time" in event for event in events if event["event"] == "alarm")


def test_merged_runs_keep_times_in_which_they_agree() -> None:
    one, other = (sg.evaluate(make_timed_stream(), learner, every=100) for learner in (sg.NaiveBayes(), sg.NoChange()))
    merged = merge_runs([one, other])
    assert merged.times is not None
    assert one.times is not None
    assert merged.times.tolist() == one.times.tolist()
    assert merge_runs([one, replace(other, times=one.times + 1.0)]).times is None
    assert merge_runs([one, replace(other, times=None)]).times is None


def test_rows_between_readings_get_times_between_theirs() -> None:
    results = sg.evaluate(make_timed_stream(), sg.NaiveBayes(), every=100)
    assert results.times is not None
    assert results.find_times(results.rows).tolist() == results.times.tolist()
    assert results.find_times([150])[0] == pytest.approx(results.times[:2].mean())
    assert results.find_times([5]).tolist() == results.times[:1].tolist()
