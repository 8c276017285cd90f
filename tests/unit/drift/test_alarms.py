"""Alarms: how they are scored, and how they travel through evaluations, files, reports and the command line."""

import itertools
import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from papers.gama_2009.page_hinkley import (
    EVERYTHING,
    FADINGS,
    SINCE_ALARM,
    count_false_alarms,
    score_stream,
    select_delays,
)
from papers.published import read_published
from streamgauge import SEA, Bootstrap, MajorityClass, NaiveBayes, StreamgaugeError, Window, evaluate, load, save
from streamgauge.backends import Threads
from streamgauge.checks import check_detector
from streamgauge.cli.main import cli
from streamgauge.drift import DDM, FHDDM, Adwin, PageHinkley, detect, recoveries, score_alarms, score_results
from streamgauge.records import DRIFT, STABLE, Drift
from streamgauge.reports import page_html
from streamgauge.reports.alarms import build_alarms_grid, score_alarms_by_name
from streamgauge.streams import STAGGER, ArrayStream


def test_the_first_alarm_detects_the_next_repeat_and_the_others_are_false() -> None:
    score = score_alarms([50, 110, 120, 130, 300, 520], [100, 500, 900], n_rows=1_000, max_delay=100)
    assert score.delays == (10, 20, None)
    assert (score.n_detected, score.n_missed, score.n_repeated, score.n_false) == (2, 1, 2, 2)
    assert score.false_alarms == (50, 300)
    assert (score.mean_delay, score.median_delay) == (15.0, 15.0)
    assert score.mean_time_to_detection == (10 + 20 + 100) / 3
    assert score.precision == 0.5
    assert score.recall == 2 / 3
    assert score.f1 == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))
    assert score.n_rows_without_drift == 1_000 - 101 - 101 - 100
    assert score.false_alarm_rate == 2 / 698
    assert score.mean_time_between_false_alarms == 349.0


def test_missed_drifts_do_not_count_as_found_at_once() -> None:
    # MOA divides the delays by all drifts, so that a missed one counts as delay 0.
    score = score_alarms([150], [100, 500], n_rows=1_000, max_delay=100)
    assert score.mean_delay == 50.0
    assert score.mean_time_to_detection == (50 + 101) / 2


def test_twenty_alarms_on_one_drift_do_not_make_up_for_a_missed_one() -> None:
    # CapyMOA counts each alarm in a window as a true positive: recall 0.952 here.
    score = score_alarms(range(1_000, 1_020), [1_000, 5_000], n_rows=9_000, max_delay=500)
    assert (score.recall, score.precision, score.n_repeated) == (0.5, 1.0, 19)


def test_a_stream_without_drift_has_false_alarms_only() -> None:
    score = score_alarms([10, 20], [], n_rows=100)
    assert (score.n_false, score.false_alarm_rate, score.precision) == (2, 0.02, 0.0)
    assert math.isnan(score.recall)
    assert math.isnan(score.f1)
    assert math.isnan(score.mean_delay)
    silent = score_alarms([], [], n_rows=100)
    assert math.isnan(silent.precision)
    assert silent.mean_time_between_false_alarms == math.inf
    assert silent.as_dict()["precision"] is None


def test_an_alarm_after_the_last_window_is_false_and_one_before_may_be_allowed() -> None:
    late = score_alarms([950], [100], n_rows=1_000, max_delay=200)
    assert (late.n_false, late.n_missed) == (1, 1)
    assert score_alarms([95], [100], n_rows=1_000).n_false == 1
    assert score_alarms([95], [100], n_rows=1_000, early=10).delays == (-5,)


def test_a_gradual_drift_may_be_detected_until_it_has_ended() -> None:
    assert score_alarms([1_450], [Drift(1_000, 400, "gradual")], n_rows=3_000, max_delay=100).delays == (450,)
    assert score_alarms([1_501], [Drift(1_000, 400, "gradual")], n_rows=3_000, max_delay=100).n_missed == 1


def test_without_a_limit_an_alarm_may_come_half_way_to_the_next_drift() -> None:
    score = score_alarms([1_499, 1_500, 2_600], [1_000, 2_000], n_rows=4_000)
    assert [(drift.start, drift.stop) for drift in score.drifts] == [(1_000, 1_500), (2_000, 3_000)]
    assert (score.delays, score.false_alarms) == ((499, 600), (1_500,))


def test_baselines_show_what_looking_at_nothing_is_worth() -> None:
    drifts = list(range(1_000, 10_000, 1_000))
    score = score_alarms([drift + 50 for drift in drifts], drifts, n_rows=10_000, max_delay=100)
    beside = score.baselines
    assert (beside["always"].recall, beside["always"].mean_delay) == (1.0, 0.0)
    assert beside["always"].n_false == 10_000 - 9 * 101
    assert (beside["never"].recall, beside["never"].n_alarms) == (0.0, 0)
    assert beside["random"].n_alarms == score.n_alarms
    assert score.f1 == 1.0 > beside["random"].f1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(0, 999), max_size=40),
    st.lists(st.integers(0, 999), max_size=6, unique=True),
    st.none() | st.integers(1, 400),
    st.integers(0, 50),
)
def test_every_alarm_is_counted_once(
    alarms: list[int], positions: list[int], max_delay: int | None, early: int
) -> None:
    score = score_alarms(alarms, positions, n_rows=1_000, max_delay=max_delay, early=early)
    assert score.n_alarms == len(alarms)
    assert score.n_detected + score.n_missed == len(positions)
    assert score.n_rows_without_drift >= 0
    ends = [(drift.start, drift.stop) for drift in score.drifts]
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(ends))
    for drift in score.drifts:
        assert drift.alarm is None or drift.start <= drift.alarm < drift.stop
    for row in score.false_alarms:
        assert not any(start <= row < stop for start, stop in ends)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: score_alarms([5_000], [], n_rows=1_000), "an alarm at row 5000"),
        (lambda: score_alarms([-1], [], n_rows=1_000), "an alarm at row -1"),
        (lambda: score_alarms([], [1_000], n_rows=1_000), "a drift at row 1000"),
        (lambda: score_alarms([], [], n_rows=0), "n_rows = 0"),
        (lambda: score_alarms([], [], n_rows=5, max_delay=0), "max_delay = 0"),
        (lambda: recoveries(np.arange(3), np.zeros(2), []), "3 rows and 2 errors"),
    ],
)
def test_scores_of_nonsense_are_refused(make: Callable[[], object], complaint: str) -> None:
    with pytest.raises(StreamgaugeError, match=complaint):
        make()


def test_recovery_is_read_from_the_error_curve() -> None:
    rows = np.arange(100, 2_100, 100)
    errors = np.full(20, 0.1)
    errors[[5, 6, 7]] = (0.5, 0.3, 0.15)
    errors[14:] = 0.4
    first, second = recoveries(rows, errors, [Drift(500), Drift(1_400)])
    assert first is not None
    assert second is not None
    assert (first.before, first.worst, first.time) == (0.1, 0.5, 400)
    assert first.deterioration == pytest.approx(0.4)
    assert second.time is None
    better = recoveries(rows, np.linspace(0.5, 0.1, 20), [Drift(500)])[0]
    assert better is not None
    assert (better.time, better.deterioration < 0) == (100, True)
    assert recoveries(rows, errors, [Drift(5_000)]) == (None,)


STREAM = SEA(thresholds=(8.0, 9.5), drift_every=5_000, noise=0.0, n_rows=20_000)


def test_alarms_of_an_evaluation_are_those_of_the_errors_and_do_not_depend_on_batches() -> None:
    options = {"detectors": ["DDM", FHDDM()], "scheme": Bootstrap(2, test="held_out"), "every": 5_000}
    results = evaluate(STREAM, [NaiveBayes(), MajorityClass()], **options)  # type: ignore[arg-type]
    assert results.alarms == tuple(sorted(results.alarms))
    assert {alarm.detector for alarm in results.alarms} <= {"DDM(warning=2.0)", "FHDDM(delta=1e-06)"}
    assert {alarm.kind for alarm in results.alarms} == {"drift", "warning"}
    for size in (1_000, 7_777):
        again = evaluate(STREAM, [NaiveBayes(), MajorityClass()], batch_size=size, **options)  # type: ignore[arg-type]
        assert again.alarms == results.alarms


def test_a_detector_in_an_evaluation_sees_each_error_of_a_prequential_run() -> None:
    batch = next(STREAM.batches(20_000))
    stream = ArrayStream(batch.x, batch.y)
    results = evaluate(stream, MajorityClass(), detectors={"watch": Adwin()})
    so_far = np.cumsum(batch.y == 1) * 2 > np.arange(1, len(batch.y) + 1)
    predictions = np.concatenate(([0], so_far[:-1].astype(int)))
    ties = np.concatenate(([True], np.cumsum(batch.y == 1)[:-1] * 2 == np.arange(1, len(batch.y))))
    assert not ties[2_000:].any()  # the first rows may be decided otherwise, which no window of today remembers
    errors = (predictions != batch.y).astype(float)
    expected = detect(errors, Adwin()).alarms
    found = [alarm.row for alarm in results.alarms if alarm.kind == "drift"]
    assert found == expected.tolist()
    assert {(alarm.learner, alarm.fold, alarm.detector) for alarm in results.alarms} == {("MajorityClass", 0, "watch")}


def test_alarms_travel_through_files_scores_tables_and_pages(tmp_path: Path) -> None:
    results = evaluate(STREAM, NaiveBayes(), detectors="DDM", forgetting=Window(500), every=100)
    assert load(save(results, tmp_path)).alarms == results.alarms
    ((names, score),) = score_results(results, max_delay=2_000).items()
    assert names == ("NaiveBayes", "DDM(warning=2.0)", 0)
    assert score.n_drifts == 3
    assert score.n_detected >= 1
    first = score.drifts[0].recovery
    assert first is not None
    assert first.deterioration > 0.02
    shown = score_alarms_by_name(results)
    assert "DDM(warning=2.0) on NaiveBayes" in shown
    assert {"always", "never"} <= set(shown)
    page = page_html(results)
    assert "<h2>Alarms</h2>" in page
    drift = next(alarm.row for alarm in results.alarms if alarm.kind == "drift")
    assert f"[{drift},0,2]" in page
    assert "alarm of a detector" in page


def test_alarms_are_counted_by_learner_where_the_true_drifts_are_unknown() -> None:
    x, y = np.random.default_rng(1).random((6_000, 2)), np.repeat([0, 1, 0], 2_000)
    results = evaluate((x, y.astype(str)), NaiveBayes(), detectors="DDM", scheme=Bootstrap(3), every=500)
    by_fold = [sum(alarm.fold == fold and alarm.kind == "drift" for alarm in results.alarms) for fold in range(3)]
    rows = [alarm.row for alarm in results.alarms if alarm.kind == "drift"]
    grid = build_alarms_grid(results)
    assert grid is not None
    ((name, cells),) = grid.rows
    least, most = min(by_fold), max(by_fold)
    assert name == "DDM(warning=2.0) on NaiveBayes"
    shown = [cell.text for cell in cells]
    assert shown == [f"{least} to {most}" if least < most else f"{least}", f"{min(rows):,}", f"{max(rows):,}"]
    silent = build_alarms_grid(evaluate(SEA(n_rows=300), NaiveBayes(), detectors="DDM"))
    assert silent is not None
    assert [cell.text for cell in silent.rows[0][1]] == ["0", "\u2013", "\u2013"]


@dataclass(frozen=True)
class EveryHundredth:
    """A detector of a user: an alarm after every hundredth error."""

    def build(self) -> "Counter":
        return Counter()


class Counter:
    n_bytes = 8

    def __init__(self) -> None:
        self.n = 0

    def update(self, values: NDArray[np.float64]) -> NDArray[np.uint8]:
        counts = self.n + np.cumsum(values).astype(np.int64)
        self.n = int(counts[-1])
        return np.where((counts % 100 == 0) & (values > 0), DRIFT, STABLE).astype(np.uint8)

    def save(self) -> bytes:
        return self.n.to_bytes(8) + zlib.crc32(self.n.to_bytes(8)).to_bytes(4)

    def load(self, state: bytes) -> None:
        if len(state) != 12 or zlib.crc32(state[:8]).to_bytes(4) != state[8:]:
            msg = "damaged"
            raise ValueError(msg)
        self.n = int.from_bytes(state[:8])


def test_a_detector_of_ones_own_is_checked_and_used_like_ours() -> None:
    check_detector(EveryHundredth())
    results = evaluate(STREAM, MajorityClass(), detectors=EveryHundredth(), batch_size=777)
    n_errors = round(20_000 * (1.0 - results.values[-1, 0, 0, 0, 0]))
    assert len(results.alarms) == n_errors // 100


@dataclass(frozen=True)
class Forgetful(EveryHundredth):
    """A detector that restarts with every piece."""

    def build(self) -> Counter:
        counter = Counter()
        counter.update = lambda values: Counter.update(Counter(), values)  # type: ignore[method-assign]
        return counter


def test_a_detector_whose_signals_depend_on_the_pieces_is_found_out() -> None:
    with pytest.raises(AssertionError, match="returns other signals for pieces"):
        check_detector(Forgetful())


def test_results_without_detectors_say_nothing_of_alarms() -> None:
    results = evaluate(STREAM, NaiveBayes(), n_rows=1_000)
    assert results.alarms == ()
    assert score_alarms_by_name(results) == {}
    assert 'id="alarms"' not in page_html(results)


def test_alarms_on_a_stream_that_knows_no_drift_are_neither_right_nor_wrong() -> None:
    batch = next(STREAM.batches(20_000))
    results = evaluate(ArrayStream(batch.x, batch.y), NaiveBayes(), detectors="DDM")
    assert list(score_alarms_by_name(results)) == ["DDM(warning=2.0) on NaiveBayes"]
    assert "so the alarms cannot be scored" in page_html(results)


def test_a_column_of_a_stream_is_watched_and_missing_values_are_passed_over() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack((rng.normal(0, 1, 4_000), rng.normal(0, 1, 4_000)))
    x[2_000:, 1] += 3.0
    clean = detect(ArrayStream(x, np.zeros(4_000, dtype=int)), "Adwin", column=1)
    assert (clean.n_rows, clean.alarms[0] // 100) == (4_000, 20)
    holes = x.copy()
    holes[::3, 1] = np.nan
    kept = np.flatnonzero(~np.isnan(holes[:, 1]))
    found = detect(ArrayStream(holes, np.zeros(4_000, dtype=int)), "Adwin", column=1)
    assert found.alarms.tolist() == kept[detect(holes[kept, 1], "Adwin").alarms].tolist()
    assert not len(detect(ArrayStream(x, np.zeros(4_000, dtype=int)), "Adwin", column=1, n_rows=1_999).alarms)


@pytest.mark.parametrize(
    ("source", "column", "complaint"),
    [
        (STREAM, None, "a stream needs column"),
        (SEA(), "a1", "the stream never ends"),
        (STREAM, "a9", "there is no column 'a9'"),
        (STREAM, 3, "the stream has 3 columns"),
        (STAGGER(n_rows=100), "shape", "column shape is nominal, but a detector needs numbers: no column is"),
        ([0.0], "a1", "only a stream has columns"),
        ([[0.0]], None, "one column of values"),
        (object(), None, "cannot read object"),
        ("no such file", None, "cannot read no such file"),
    ],
)
def test_what_cannot_be_watched_is_refused(source: object, column: str | int | None, complaint: str) -> None:
    with pytest.raises(StreamgaugeError, match=complaint):
        detect(source, "Adwin", column=column)


def test_a_file_of_numbers_is_watched(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("\n".join(["0"] * 100 + ["", "1.0"] * 100))
    assert detect(path, PageHinkley(threshold=10)).alarms.tolist() == [110]
    path.write_text("0\n0\nnought\n")
    with pytest.raises(StreamgaugeError, match="line 3: 'nought' is not a number"):
        detect(path, "Adwin")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_the_command_watches_files_columns_and_learners(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("\n".join(["0"] * 100 + ["1"] * 100))
    assert "drift at row 110" in run("detect", str(path), "--detector", "PageHinkley(threshold=10)")
    report = json.loads(run("detect", str(path), "--detector", "DDM", "--drift", "100", "--json"))
    assert report["detectors"]["DDM"]["score"]["drifts"][0]["delay"] == report["detectors"]["DDM"]["alarms"][0] - 100
    assert set(report["baselines"]) == {"always", "never", "1 random alarm"}
    stream = "SEA(thresholds=(8.0, 9.5), drift_every=5000, noise=0.0, n_rows=20000)"
    assert "no drift" in run("detect", "--stream", stream, "--column", "a1")
    shown = run("detect", "--stream", stream, "--learner", "NaiveBayes", "--detector", "DDM", "--detector", "FHDDM")
    assert "DDM on NaiveBayes: drift at row" in shown
    assert "always" in shown
    results = evaluate(STREAM, {"NaiveBayes": NaiveBayes()}, detectors={"DDM": DDM()})
    report = json.loads(run("detect", "--stream", stream, "--learner", "NaiveBayes", "--detector", "DDM", "--json"))
    drifts = [alarm.row for alarm in results.alarms if alarm.kind == "drift"]
    assert report["detectors"]["DDM on NaiveBayes"]["alarms"] == drifts


def test_the_command_lists_detectors_and_runs_them_beside_an_evaluation(tmp_path: Path) -> None:
    listed = {row["name"] for row in json.loads(run("list", "detectors", "--json"))}
    assert {"PageHinkley", "Adwin", "DDM", "EDDM", "HDDMA", "HDDMW", "RDDM", "KSWIN", "Cusum"} < listed
    assert {"EWMAChart", "STEPD", "FHDDM"} < listed
    stream = ("--stream", "SEA(drift_every=5000)", "--rows", "20000", "--learner", "NaiveBayes")
    run("evaluate", *stream, "--detector", "DDM", "--out", str(tmp_path), "--quiet")
    assert load(tmp_path).description["detectors"] == {"DDM": "DDM(warning=2.0)"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "nothing to watch"),
        (("--learner", "NaiveBayes"), "either as INPUT or with --stream"),
        (("--stream", "SEA", "--column", "a1", "--learner", "NaiveBayes"), "not both"),
        (("--stream", "SEA", "--detector", "DM"), "there is no detector"),
    ],
)
def test_the_command_names_what_is_missing(arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(StreamgaugeError, match=complaint):
        run("detect", *arguments)


def test_table_2_of_gama_and_others_is_found_again() -> None:
    found = {fading: [score_stream(fading, seed, Threads(1)) for seed in range(1, 9)] for fading in (1e-4, 1e-5, 0.0)}
    delays = {
        (reading, fading): [select_delays([one[reading].delays for one in each], place) for place in range(3)]
        for reading in (EVERYTHING, SINCE_ALARM)
        for fading, each in found.items()
    }
    n_false = {fading: sum(sum(count_false_alarms(one[EVERYTHING])) for one in each) for fading, each in found.items()}
    assert n_false[1e-4] >= 4
    assert n_false[1e-5] == n_false[0.0] == 0
    assert all(one[EVERYTHING].n_missed == 0 for fading in (1e-5, 0.0) for one in found[fading])
    for place in range(3):
        means = [float(np.nanmean(delays[EVERYTHING, fading][place])) for fading in found]
        assert means == sorted(means)
    known = read_published("gama-2009-table-2")
    assert set(map(float, known)) == set(FADINGS)
    for fading in (1e-5, 0.0):
        for ours, theirs in zip(delays[SINCE_ALARM, fading], known[f"{fading:g}"]["delays"], strict=True):
            assert abs(theirs - ours.mean()) < 3 * ours.std(ddof=1)
