"""The verdict on two learners while a run proceeds: right by its formula, at the right row, however the run is cut."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rich.console import Console
from scipy import optimize, stats

import streamgauge as sg
from streamgauge import _native
from streamgauge.cli.main import cli
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.labelling import AllLabels, Delayed
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.protocols import CellBatch, Labelling, Scheme
from streamgauge.records import ModelVerdict, PairSums, Verdict
from streamgauge.reports import build_summary
from streamgauge.reports.claims import claim_verdicts
from streamgauge.results import Results
from streamgauge.schemes import Holdout
from streamgauge.significance import (
    InterimAnalysis,
    LiveTest,
    Monitor,
    PairWatch,
    decide,
    empirical_bernstein,
    two_way_sequence,
)
from streamgauge.significance.interim_analyses import OUTCOMES, decide_pairs

LEARNERS = {"bayes": sg.NaiveBayes(), "forest": AdaptiveRandomForest(2), "majority": sg.MajorityClass()}


class Hits:
    """Keeps which predictions were right, by learner and fold."""

    needs_votes = False

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], list[NDArray[np.bool_]]] = {}

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        yield lambda passage: self.found.setdefault((passage.learner, passage.fold), []).append(passage.trace.correct)

    def differences(self, first: str, second: str, n_folds: int) -> NDArray[np.int_]:
        right = [
            np.stack([np.concatenate(self.found[name, fold]) for fold in range(n_folds)]) for name in (first, second)
        ]
        differences: NDArray[np.int_] = right[0].astype(int) - right[1].astype(int)
        return differences


def slow_interval(d: NDArray[np.int_], alpha: float) -> tuple[float, float]:
    """The two-way confidence sequence by its formula, from the differences [k, n] themselves."""
    k, n = d.shape
    folds, rows, both = d.mean(1).var(ddof=1) / k, d.mean(0).var() / n, d.var() / (n * k)
    length = 1
    while n > 64 * length:
        length *= 2
    blocks = [d[:, start : start + length] - d.mean() for start in range(0, n, length)]
    blocked = len(blocks) / (len(blocks) - 1) * sum(block.sum() ** 2 for block in blocks) / (n * k) ** 2
    degrees = n - 1
    if len(blocks) >= 30 and stats.chi2.sf((len(blocks) - 1) * blocked / rows, len(blocks) - 1) < 0.001:
        rows, degrees = blocked, len(blocks) - 1  # neighbouring rows go together
    variance = max(folds + rows - both, folds, rows) or both
    start = optimize.brentq(lambda x: 2 * (stats.norm.sf(x) + x * stats.norm.pdf(x)) - alpha, 1.0, 10.0)
    factor = math.sqrt(start**2 + math.log(n / 200))
    by_folds = factor * stats.t.ppf(1 - alpha / 2, k - 1) / stats.norm.ppf(1 - alpha / 2)
    radius = max(by_folds, stats.t.isf(stats.norm.sf(factor), degrees)) * math.sqrt(variance) if n >= 200 else 2.0
    return float(d.mean()) - radius, float(d.mean()) + radius


# Right by its formula, at the right row


def test_the_verdict_comes_at_the_first_reading_whose_interval_tells() -> None:
    hits = Hits()
    results = sg.evaluate(
        sg.SEA(n_rows=3000), LEARNERS, scheme=sg.Bootstrap(5), every=150, recorders=[hits], backend=sg.Threads(1)
    )
    assert [(v.first, v.second) for v in results.verdicts] == list(combinations(LEARNERS, 2))
    for verdict in results.verdicts:
        d = hits.differences(verdict.first, verdict.second, 5)
        decisions = [(row, decide(slow_interval(d[:, :row], 0.05 / 3))) for row in range(150, 3001, 150)]
        reached = next(((row, outcome) for row, outcome in decisions if outcome != "undecided"), (None, "undecided"))
        assert (verdict.row, verdict.outcome) == reached
        assert verdict.interval == pytest.approx(slow_interval(d, 0.05 / 3), rel=1e-9)
        assert verdict.difference == pytest.approx(d.mean(), rel=1e-12)
        assert (verdict.alpha, verdict.n_claims, verdict.test) == (0.05, 3, "two_way_sequence")


def test_pairs_share_alpha_unless_each_is_to_have_its_own() -> None:
    for shared, alpha in ((True, 0.05 / 3), (False, 0.05)):
        live_test = LiveTest(shared=shared)
        results = sg.evaluate(sg.SEA(n_rows=1000), LEARNERS, scheme=sg.Split(4), live_test=live_test)
        for pair, verdict in zip(results.pairs, results.verdicts, strict=True):
            assert verdict.interval == pytest.approx(two_way_sequence(pair, alpha=alpha), rel=1e-12)


def test_one_fold_goes_by_empirical_bernstein_if_it_is_to_be_exact() -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    results = sg.evaluate(sg.SEA(n_rows=4000), learners, every=100, live_test=LiveTest(exact=True))
    (pair,), (verdict,) = results.pairs, results.verdicts
    a, b = int(pair.only_first[0]), int(pair.only_second[0])
    assert verdict.test == "empirical_bernstein"
    assert verdict.interval == pytest.approx(empirical_bernstein(a - b, a + b, 4000), rel=1e-9)
    assert verdict.better == "bayes"
    assert verdict.row is not None
    assert verdict.row < 4000


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 4000), st.sampled_from([0.0, 0.01, 0.1]))
@settings(deadline=None)
def test_evidence_decides_as_the_ends_of_the_interval_do(a: int, b: int, more: int, rope: float) -> None:
    n = max(a + b + more, 1)
    look = InterimAnalysis.from_sums([PairSums("a", "b", n, np.array([n]), np.array([a]), np.array([b]), 0.0, True)])
    expected = decide(empirical_bernstein(a - b, a + b, n, alpha=0.05), rope=rope)
    assert [OUTCOMES[code] for code in decide_pairs(look, alpha=0.05, rope=rope)] == [expected]


# However the run is cut


@pytest.mark.parametrize(
    ("scheme", "labelling"),
    [
        (sg.Prequential(), AllLabels()),
        (sg.Bootstrap(6), AllLabels()),
        (sg.CrossValidation(7, test="held_out"), AllLabels()),
        (sg.Bootstrap(3), Delayed(5)),
        (Holdout(80, 40, refreshed=True), AllLabels()),
    ],
)
def test_neither_batches_nor_threads_change_a_verdict(scheme: Scheme, labelling: Labelling) -> None:
    def verdicts(batch_size: int, threads: int) -> tuple[Verdict, ...]:
        return sg.evaluate(
            sg.SEA(n_rows=2000),
            LEARNERS,
            scheme=scheme,
            labelling=labelling,
            every=170,
            live_test=LiveTest(rope=0.02),
            batch_size=batch_size,
            backend=sg.Threads(threads),
        ).verdicts

    whole = verdicts(32_768, 1)
    assert len(whole) == 3
    assert any(verdict.row is not None for verdict in whole)
    assert verdicts(93, 2) == whole
    assert verdicts(1000, 1) == whole


def random_hits(seed: int, n: int) -> NDArray[np.bool_]:
    random = np.random.default_rng(seed)
    return random.random((3, 8, n)) < np.array([0.8, 0.78, 0.5])[:, None, None]


@pytest.mark.parametrize("masked", [False, True])
def test_a_saved_watch_continues_as_if_nothing_had_been(masked: bool) -> None:
    right = random_hits(1, 3000)
    scored = np.random.default_rng(2).random((8, 3000)) < 0.4 if masked else None
    reading_rows = list(range(100, 3001, 100))

    def watch() -> PairWatch:
        return PairWatch(["a", "b", "c"], 8, LiveTest(), len(reading_rows))

    def run(one: PairWatch, start: int, stop: int) -> None:
        part = np.ascontiguousarray(right[:, :, start:stop])
        mask = None if scored is None else np.ascontiguousarray(scored[:, start:stop])
        at = [row for row in reading_rows if start < row <= stop]
        one.update(part, mask, [row - start for row in at], at)

    whole, first, second = watch(), watch(), watch()
    run(whole, 0, 3000)
    run(first, 0, 1234)
    second.load(first.save())
    assert second.verdicts() == first.verdicts()
    run(second, 1234, 3000)
    assert second.verdicts() == whole.verdicts()
    assert second.save() == whole.save()
    assert {verdict.outcome for verdict in whole.verdicts()} >= {"first"}


def test_damaged_and_foreign_states_are_refused_and_change_nothing() -> None:
    watch = PairWatch(["a", "b", "c"], 8, LiveTest())
    watch.update(random_hits(1, 500), None, [250, 500], [250, 500])
    saved = watch.save()
    for place in range(0, len(saved), 37):
        damaged = bytearray(saved)
        damaged[place] ^= 1
        with pytest.raises(StreamgaugeError):
            watch.load(bytes(damaged))
    others = [PairWatch(["a", "b", "d"], 8, LiveTest()), PairWatch(["a", "b", "c"], 8, None)]
    others.append(PairWatch(["a", "b", "c"], 9, LiveTest()))
    for other in others:
        with pytest.raises(StreamgaugeError):
            other.load(saved)
    assert watch.save() == saved


def test_a_saved_monitor_keeps_what_it_knows() -> None:
    counter = _native.PairCounter(2, 8)
    counter.update(np.ascontiguousarray(random_hits(3, 2000)[1:]))
    pair = PairSums("b", "c", *counter.sums(0, 1))
    monitor, resumed = Monitor(LiveTest()), Monitor(LiveTest())
    (before,) = monitor.look([pair], 2000)
    resumed.load(monitor.save())
    assert resumed.look([pair], 5000) == monitor.look([pair], 5000) == (before,)
    assert (before.outcome, before.row) == ("first", 2000)


# What a user sees


def test_each_verdict_is_reported_once_as_soon_as_it_is_known() -> None:
    reported: list[Verdict] = []

    def report(verdict: Verdict | ModelVerdict) -> None:
        assert isinstance(verdict, Verdict)
        reported.append(verdict)

    results = sg.evaluate(
        sg.SEA(n_rows=3000), LEARNERS, scheme=sg.Bootstrap(5), on_verdict=report, batch_size=100, every=100
    )
    known = [(v.first, v.second, v.outcome, v.row) for v in results.verdicts if v.row is not None]
    assert sorted((v.first, v.second, v.outcome, v.row) for v in reported) == sorted(known)
    assert [v.row for v in reported] == sorted(v.row for v in reported if v.row is not None)
    assert known


def test_a_run_that_is_watched_can_be_stopped_at_a_verdict() -> None:
    evaluation = sg.Evaluation(sg.SEA(), LEARNERS, scheme=sg.Bootstrap(5), every=500, batch_size=500)
    stopped = next(r.row for r in evaluation if evaluation.verdicts and evaluation.verdicts[-1].better == "forest")
    assert stopped == evaluation.verdicts[-1].row


def test_progress_tells_verdicts_where_it_has_stops() -> None:
    evaluation = sg.Evaluation(sg.SEA(n_rows=900), LEARNERS, every=300, batch_size=100)
    found = [(len(progress.rows), len(progress.verdicts)) for progress in evaluation.advance()]
    assert found == [(0, 0), (0, 0), (1, 3)] * 3


def test_there_is_none_where_none_is_wanted_or_possible() -> None:
    assert sg.evaluate(sg.SEA(n_rows=500), LEARNERS, live_test=None).verdicts == ()
    assert sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes()).verdicts == ()


class Breaks:
    """A learner that fails after some rows."""

    def __init__(self) -> None:
        self.n = 0

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones((len(x), 2))

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        del y, weight
        self.n += len(x)
        if self.n > 200:
            msg = "broken"
            raise RuntimeError(msg)


def test_a_learner_that_failed_is_in_no_verdict() -> None:
    with pytest.warns(FailureWarning):
        results = sg.evaluate(sg.SEA(n_rows=600), {**LEARNERS, "breaks": Breaks()}, every=100)
    assert {name for v in results.verdicts for name in (v.first, v.second)} == set(LEARNERS)
    assert {v.n_claims for v in results.verdicts} == {6}


def evaluated() -> Results:
    return sg.evaluate(sg.SEA(n_rows=2000), LEARNERS, scheme=sg.Bootstrap(5), every=200)


def test_verdicts_are_saved_with_the_results(tmp_path: Path) -> None:
    results = evaluated()
    assert sg.load(sg.save(results, tmp_path)).verdicts == results.verdicts
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [verdict["row"] for verdict in manifest["verdicts"]] == [verdict.row for verdict in results.verdicts]
    assert "LiveTest" in str(manifest["description"]["live_test"])


def test_the_summary_tells_each_verdict_with_its_row() -> None:
    results = evaluated()
    console = Console(width=200, record=True, file=StringIO())
    console.print(build_summary(results))
    text = console.export_text()
    for verdict in results.verdicts:
        assert str(verdict) in text
    assert "anytime-valid at 95%" in text


def test_the_command_compare_prints_the_verdict_and_its_row() -> None:
    options = ["--stream", "SEA", "--rows", "3000", "--learner", "NaiveBayes", "--learner", "MajorityClass"]
    outcome = CliRunner().invoke(cli, ["compare", *options, "--scheme", "Bootstrap(5)", "--quiet", "--rope", "0.02"])
    assert outcome.exit_code == 0, outcome.output
    assert "NaiveBayes is better than MajorityClass in accuracy, known since row" in " ".join(outcome.output.split())
    level = ["--rope", "0.02", "--alpha", "0.01"]
    found = json.loads(CliRunner().invoke(cli, ["compare", *options, "--json", *level]).stdout)
    assert [(verdict["rope"], verdict["alpha"]) for verdict in found["verdicts"]] == [(0.02, 0.01)]


# The level


def test_all_intervals_of_a_run_hold_at_once_at_all_looks() -> None:
    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(60):
        accuracy = 0.8 + random.normal(0, 0.02, (5, 8, 1))
        right = random.random((5, 8, 1500)) < accuracy
        watch = PairWatch(list("abcde"), 8, LiveTest(rope=0.0))
        reading_rows = list(range(50, 1501, 50))
        watch.update(right, None, reading_rows, reading_rows)
        wrong += any(verdict.row is not None for verdict in watch.verdicts())
    assert wrong <= 0.05 * 60 + 2 * math.sqrt(0.05 * 0.95 * 60)


def test_what_is_no_live_test_is_refused() -> None:
    with pytest.raises(StreamgaugeError, match="alpha"):
        LiveTest(alpha=1.0)
    with pytest.raises(StreamgaugeError, match="rope"):
        LiveTest(rope=-0.1)
    pairs = [PairSums("a", "b", n, np.array([n]), np.array([n]), np.array([0]), 0.0, True) for n in (1, 2)]
    with pytest.raises(StreamgaugeError, match="from the same run"):
        Monitor().look(pairs, 2)


def test_a_difference_is_stated_from_the_side_of_who_is_ahead():
    verdict = Verdict("a", "b", "second", 4000, -0.04, (-0.06, -0.02), 0.01, 0.05, 1, "equal", "two_way_sequence")
    (claims,), _ = claim_verdicts([verdict])
    known = "b is better than a in accuracy, known since row 4,000; now b is ahead by 4.00 pp [+2.00, +6.00]"
    assert claims.claims[0].whole == known
