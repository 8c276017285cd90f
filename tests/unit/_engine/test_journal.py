"""The journal of a run: what others can follow while it runs, and what remains of it after a crash."""

import json
import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from streamgauge import (
    SEA,
    Bootstrap,
    Evaluation,
    HoeffdingTree,
    Landmark,
    MajorityClass,
    NaiveBayes,
    StreamgaugeError,
    Window,
    evaluate,
)
from streamgauge._engine.collector import Progress
from streamgauge._engine.journal import Journal, JournalReader, Layout
from streamgauge._engine.journal import format as files
from streamgauge._engine.journal import writer as writing
from streamgauge._format.downsample import Buckets
from streamgauge.records import Alarm
from streamgauge.records.checksums import seal_json
from streamgauge.records.manifest import RunManifest
from tests.support.timed_examples import make_timed_stream

LAYOUT = Layout(("tree",), ("Landmark()",), ("accuracy",), n_folds=1, with_costs=False)


def progress_at(rows: list[int], value: float = 0.5, **further: object) -> Progress:
    reading_rows = np.array(rows, dtype=np.int64)
    values = np.full((len(rows), 1, 1, 1, 1), value)
    return Progress(max(rows), reading_rows, values, **further)  # type: ignore[arg-type]


def test_the_journal_holds_every_reading_of_the_results(tmp_path: Path) -> None:
    results = evaluate(
        SEA(n_rows=5_000),
        [HoeffdingTree(), MajorityClass()],
        scheme=Bootstrap(3),
        forgetting=[Landmark(), Window(500)],
        measures=("accuracy", "kappa"),
        every=700,
        resources=True,
        journal=tmp_path,
    )
    view = JournalReader(tmp_path)
    _, records = view.records()
    assert view.layout.rows(records).tolist() == results.rows.tolist()
    for forgetting in results.forgettings:
        for measure in results.measures:
            mean, low, high = view.layout.curve(records, measure, forgetting)
            for place, learner in enumerate(results.learners):
                folds = results.curve(learner, measure, forgetting)
                np.testing.assert_allclose(mean[:, place], folds.mean(axis=1), rtol=1e-12)
                assert low[:, place].tolist() == folds.min(axis=1).tolist()
                assert high[:, place].tolist() == folds.max(axis=1).tolist()
    assert results.resources is not None
    np.testing.assert_allclose(view.layout.cost(records, "n_bytes"), results.resources.n_bytes.mean(axis=2), rtol=1e-12)


def test_a_run_writes_the_same_results_with_and_without_a_journal(tmp_path: Path) -> None:
    plain, followed = (
        evaluate(SEA(n_rows=3_000), NaiveBayes(), every=100, journal=folder) for folder in (None, tmp_path)
    )
    assert plain.values.tolist() == followed.values.tolist()


def test_a_running_evaluation_can_be_followed(tmp_path: Path) -> None:
    evaluation = Evaluation(SEA(), NaiveBayes(), every=1_000, batch_size=1_000, journal=tmp_path)
    seen = []
    for progress in evaluation.advance():
        view = JournalReader(tmp_path)
        seen.append(len(view.records()[1]))
        if progress.n_rows == 3_000:
            assert view.state == "running"
            break
    assert seen == [1, 2, 3]


def test_a_run_that_is_left_says_that_it_was_cut_short(tmp_path: Path) -> None:
    advancing = Evaluation(SEA(), NaiveBayes(), every=1_000, batch_size=1_000, journal=tmp_path).advance()
    next(advancing)
    advancing.close()  # type: ignore[attr-defined]
    assert JournalReader(tmp_path).state == "cut short"


def test_a_run_that_fails_says_why(tmp_path: Path) -> None:
    class Broken:
        def predict(self, _: NDArray[np.float64]) -> NDArray[np.float64]:
            msg = "too hot"
            raise ValueError(msg)

        def partial_fit(self, x: object, y: object, classes: object = None) -> None: ...

    with pytest.raises(StreamgaugeError, match="too hot"):
        evaluate(SEA(n_rows=1_000), Broken(), journal=tmp_path)
    status = JournalReader(tmp_path).status()
    assert status["state"] == "failed"
    assert "too hot" in status["reason"]


def test_anyone_can_ask_a_run_to_stop(tmp_path: Path) -> None:
    evaluation = Evaluation(SEA(), NaiveBayes(), every=1_000, batch_size=1_000, journal=tmp_path)
    kept = []
    for progress in evaluation.advance():
        kept.append(progress)
        if progress.n_rows == 2_000:
            JournalReader(tmp_path).ask_to_stop()
    results = evaluation.results(kept)
    assert results.n_rows == 2_000
    assert not results.complete
    assert JournalReader(tmp_path).state == "cut short"


def test_a_stop_of_an_earlier_run_does_not_stop_the_next(tmp_path: Path) -> None:
    evaluate(SEA(n_rows=1_000), NaiveBayes(), journal=tmp_path)
    JournalReader(tmp_path).ask_to_stop()
    assert evaluate(SEA(n_rows=1_000), NaiveBayes(), journal=tmp_path).complete


def test_alarms_are_reported_as_in_the_results(tmp_path: Path) -> None:
    results = evaluate(
        SEA(n_rows=20_000, noise=0.1), NaiveBayes(), detectors=["DDM", "Adwin"], batch_size=1_000, journal=tmp_path
    )
    _, events = JournalReader(tmp_path).events()
    alarms = [Alarm(**{name: fact for name, fact in event.items() if name != "n"}) for event in events]
    assert tuple(alarms) == results.alarms


def test_a_record_that_a_crash_cut_off_is_not_read(tmp_path: Path) -> None:
    evaluate(SEA(n_rows=1_000), NaiveBayes(), every=100, journal=tmp_path)
    path = tmp_path / "journal" / files.READINGS
    whole = path.read_bytes()
    for cut in range(1, 8 * (JournalReader(tmp_path).layout.width + 1)):
        path.write_bytes(whole[:-cut])
        assert len(JournalReader(tmp_path).records()[1]) == 9
    path.write_bytes(whole + b"\0" * 4096)
    assert len(JournalReader(tmp_path).records()[1]) == 10
    path.unlink()
    assert len(JournalReader(tmp_path).records()[1]) == 0


def test_every_flipped_bit_of_a_journal_is_named_or_changes_nothing(tmp_path: Path) -> None:
    alarms = (Alarm(5, "tree", 0, "DDM"), Alarm(7, "tree", 0, "DDM"))
    with Journal(tmp_path, LAYOUT, {"stream": {"name": "SEA()"}, "title": 'a "b" \\'}) as journal:
        for row in range(10, 40, 10):
            journal.write_progress(progress_at([row], alarms=alarms))

    def read() -> tuple[object, ...]:
        view = JournalReader(tmp_path)
        return (
            view.run,
            view.process,
            view.layout,
            view.status(),
            view.events(),
            view.records()[0],
            view.records()[1].tobytes(),
        )

    whole = read()
    for name in (files.ABOUT, files.STATUS, files.EVENTS, files.READINGS):
        path = tmp_path / "journal" / name
        data = path.read_bytes()
        for bit in range(0, 8 * len(data), 3):
            damaged = bytearray(data)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            try:
                found: object = read()
            except StreamgaugeError as error:
                found = str(error)
            assert found == whole or name in str(found)
        path.write_bytes(data)
    assert read() == whole


def test_an_event_that_a_crash_cut_off_is_not_read(tmp_path: Path) -> None:
    with Journal(tmp_path, LAYOUT) as journal:
        journal.write_progress(progress_at([10], alarms=(Alarm(5, "tree", 0, "DDM"), Alarm(7, "tree", 0, "DDM"))))
    path = tmp_path / "journal" / files.EVENTS
    path.write_bytes(path.read_bytes()[:-3])
    assert [event["row"] for event in JournalReader(tmp_path).events()[1]] == [5]


def test_a_long_run_keeps_to_its_space_and_loses_no_extreme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_RECORDS", 400)
    noise = np.random.default_rng(1).normal(size=5_000)
    noise[1_234], noise[3_210] = 50.0, -50.0
    sizes = set()
    with Journal(tmp_path, LAYOUT) as journal:
        for row, value in enumerate(noise, start=1):
            journal.write_progress(progress_at([row], value))
            sizes.add((tmp_path / "journal" / files.READINGS).stat().st_size)
    view = JournalReader(tmp_path)
    generation, records = view.records()
    mean, _, _ = view.layout.curve(records, "accuracy", "Landmark()")
    assert len(records) <= 400
    assert max(sizes) <= 32 + 400 * 8 * (LAYOUT.width + 1)
    assert generation > json.loads((tmp_path / "journal" / files.ABOUT).read_text())["process"]["started"] * 1000 - 1
    assert (mean.max(), mean.min()) == (50.0, -50.0)
    rows = view.layout.rows(records)
    assert (rows[0], rows[-1]) == (1, 5_000)
    assert abs(rows[mean[:, 0].argmax()] - 1_235) < 5_000 / 50


def test_too_many_alarms_are_merged_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_EVENTS", 100)
    with Journal(tmp_path, LAYOUT) as journal:
        for row in range(1_000):
            journal.write_progress(progress_at([row + 1], alarms=(Alarm(row, "tree", 0, "DDM"),)))
    _, events = JournalReader(tmp_path).events()
    assert len(events) <= 101
    assert sum(event["n"] for event in events) == 1_000
    assert [event["row"] for event in events] == sorted(event["row"] for event in events)


def test_a_disk_that_refuses_ends_the_journal_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with Journal(tmp_path, LAYOUT) as journal:
        monkeypatch.setattr(journal, "_append", refuse)
        journal.write_progress(progress_at([10]))
        assert "No space left on device" in journal.error


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StreamgaugeError, match=r"cannot write the journal into .*taken"):
        evaluate(SEA(n_rows=100), NaiveBayes(), journal=tmp_path / "taken")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": 1}',
        seal_json({}),
        seal_json({"format": 99}),
        seal_json({"format": 2, "learners": 3}),
        seal_json(RunManifest.here((), (), (), {}).to_json()),
        "\x00",
    ],
)
def test_a_folder_without_a_sound_journal_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "about.json").write_text(text)
    with pytest.raises(StreamgaugeError, match=r"holds no journal|about.json is damaged|has format 99 but"):
        JournalReader(tmp_path)


columns = st.lists(st.one_of(st.floats(-1, 1), st.just(float("nan"))), max_size=200)


@given(columns, st.integers(4, 40))
def test_thinning_keeps_ends_and_extremes_and_invents_nothing(values: list[float], limit: int) -> None:
    column, rows = np.array(values)[:, None], 7 * np.arange(1, len(values) + 1)
    for buckets in (Buckets.from_count(len(values), limit), Buckets.from_rows(rows, limit)):
        thin = buckets.take_extremes(column)[:, 0]
        assert len(thin) == len(buckets.indices) <= limit
        assert np.all(np.diff(buckets.indices) > 0)
        if not values:
            assert len(thin) == len(buckets.take_latest(column)) == len(buckets.take_minima(column)) == 0
            continue
        assert buckets.indices[[0, -1]].tolist() == [0, len(values) - 1]
        assert np.array_equal(thin[-1], column[-1, 0], equal_nan=True)
        known = column[~np.isnan(column)]
        if known.size:
            assert (np.nanmin(thin), np.nanmax(thin)) == (known.min(), known.max())
        assert set(thin[~np.isnan(thin)]) <= set(known)
        assert np.array_equal(buckets.take_maxima(column), -buckets.take_minima(-column), equal_nan=True)


@given(st.integers(0, 2**32))
def test_an_extreme_is_found_within_its_bucket_however_often_it_is_thinned(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(2_000, 1))
    rows = np.arange(1, 2_001)
    kept_rows, kept = rows[:0], values[:0]
    for start in range(0, 2_000, 100):
        kept_rows = np.concatenate((kept_rows, rows[start : start + 100]))
        kept = np.concatenate((kept, values[start : start + 100]))
        buckets = Buckets.from_rows(kept_rows, 200)
        kept_rows, kept = kept_rows[buckets.indices], buckets.take_extremes(kept)
    assert len(kept) > 60
    assert abs(kept_rows[kept[:, 0].argmax()] - rows[values[:, 0].argmax()]) <= 32
    assert np.diff(kept_rows).max() <= 64  # the old is kept as finely as the new


def test_a_run_that_resumes_at_its_end_still_states_its_verdicts_and_differences(tmp_path: Path) -> None:
    """It was killed between its last checkpoint and the end of its journal."""

    def run() -> tuple[list[object], list[list[float]]]:
        evaluate(
            SEA(n_rows=2_000),
            [HoeffdingTree(), MajorityClass()],
            every=500,
            batch_size=500,
            checkpoint=tmp_path / "states",
            resume=True,
            journal=tmp_path,
        )
        view = JournalReader(tmp_path)
        differences: list[list[float]] = view.layout.pair(view.records()[1], "HoeffdingTree", "MajorityClass").tolist()
        return view.status()["verdicts"], differences

    verdicts, differences = run()
    assert len(verdicts) == 1
    assert np.isfinite(differences).all()
    assert run() == (verdicts, differences)


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_is_set_neither_delays_the_status_nor_counts_as_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    monkeypatch.setattr(writing, "STATUS_SECONDS", 0.01)
    clock = time.time
    with Journal(tmp_path, LAYOUT) as journal:
        journal.write_progress(progress_at([10]))
        monkeypatch.setattr(time, "time", lambda: clock() + jump)
        time.sleep(0.02)
        journal.write_progress(progress_at([20]))
        status = JournalReader(tmp_path).status()
        assert status["n_rows"] == 20
        assert 0.0 < status["seconds"] < 60.0


def test_a_journal_that_is_written_again_has_another_generation_whatever_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    generations = set()
    for _ in range(3):
        with Journal(tmp_path, LAYOUT):
            view = JournalReader(tmp_path)
            generations |= {view.records()[0], view.events()[0]}
    assert len(generations) == 3


@pytest.mark.parametrize("name", ["about.json", "status.json", "events.jsonl", "readings.f64"])
def test_a_file_without_bound_is_not_read(tmp_path: Path, name: str) -> None:
    evaluate(SEA(n_rows=100), NaiveBayes(), journal=tmp_path)
    os.truncate(tmp_path / "journal" / name, 1 << 40)  # a hole takes no space on the disk
    with pytest.raises(StreamgaugeError, match=f"{name} is damaged: it has more than 268,435,456 bytes"):
        _read_all(tmp_path)


def _read_all(folder: Path) -> None:
    view = JournalReader(folder)
    view.status()
    view.events()
    view.records()


@pytest.mark.parametrize("most", [4_000, 40])
def test_verdicts_of_a_running_evaluation_have_the_dates_of_the_finished_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(writing, "MAX_MOMENTS", most)
    stream = make_timed_stream(4000)
    results = evaluate(
        stream, ["NaiveBayes", "MajorityClass"], budgets="error<0.45", journal=tmp_path, every=40, batch_size=200
    )
    status = JournalReader(tmp_path).status()
    for part, verdicts in (("verdicts", results.verdicts), ("model_verdicts", results.model_verdicts)):
        sentences = [facts["sentence"] for facts in status[part]]
        expected = [verdict.describe(results.name_row) for verdict in verdicts]
        dates = [re.findall(r"\(2024-\d\d-\d\d\)", sentence) for sentence in sentences]
        assert any(dates)
        if most > 100:
            assert sentences == expected
        else:  # between the times that are kept, interpolated dates may differ by a day
            assert [re.sub(r" \(2024-[^)]*\)", "", s) for s in sentences] == [str(verdict) for verdict in verdicts]
