"""Few labels: against plain loops and brute force, the same however a run is cut, blind to the truth of hidden rows."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import hypergeom

import streamgauge as sg
from streamgauge._engine.label_sums import STEPS, LabelSums
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, First, Fraction
from streamgauge.learners import LogisticRegression, Precomputed
from streamgauge.protocols import Labelling
from streamgauge.randomness import uniform
from streamgauge.records import LabelEstimate, Trace
from streamgauge.results import Results, load, save
from streamgauge.significance.prediction_powered import (
    LabelDesign,
    LossSums,
    estimate_losses,
    find_best_ratio,
    find_label_design,
    powered_mean,
)
from streamgauge.streams import ArrayStream

N = 6000
Rows = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


def draw(seed: int, n_rows: int = N, share: float = 0.2, *, worth: str = "calibrated", level: float = 0.9) -> Rows:
    rng = np.random.default_rng(seed)
    expected = rng.choice([0.02, 0.45], n_rows, p=[level, 1 - level])
    loss = (rng.random(n_rows) < expected).astype(float)
    claimed = {"calibrated": expected, "too sure": expected / 5, "worthless": rng.permutation(expected)}[worth]
    return loss, claimed, rng.random(n_rows) < share


def make_trace(n_rows: int, seed: int = 3) -> Trace:
    rng, none = np.random.default_rng(seed), np.zeros(n_rows, dtype=np.bool_)
    y, predicted = rng.integers(0, 3, (2, n_rows)).astype(np.int32)
    predicted[::17] = -1
    votes = rng.random((n_rows, 3))
    votes[::13] = 0.0
    return Trace(np.arange(n_rows), y, predicted, none, none, votes=votes)


@pytest.mark.parametrize("worth", ["calibrated", "too sure", "worthless"])
def test_intervals_hold_the_mean_over_all_rows_whatever_the_confidence_is_worth(worth: str) -> None:
    covered, ratios = [], []
    for seed in range(400):
        rows = draw(seed, worth=worth)
        powered, alone = (powered_mean(LossSums.from_rows(*rows), powered=by_votes) for by_votes in (True, False))
        assert powered.interval is not None
        covered.append(powered.interval[0] <= rows[0].mean() <= powered.interval[1])
        ratios.append(powered.width / alone.width)
    assert 0.92 <= np.mean(covered) <= 0.985
    assert np.mean(ratios) < {"calibrated": 0.88, "too sure": 0.95, "worthless": 1.01}[worth]


def test_interval_counts_that_rows_are_finite() -> None:
    loss, expected, _ = draw(1)
    some, most = (LossSums.from_rows(loss, expected, np.arange(N) % 10 < tenths) for tenths in (1, 9))
    widths = [powered_mean(sums, powered=False).width for sums in (some, most)]
    assert widths[1] == pytest.approx(widths[0] / 9, rel=0.05)  # sqrt(0.1 / 0.9) for the rows, sqrt(1 / 9) for labels


def test_few_errors_have_an_exact_interval_of_the_labelled_rows_alone_and_the_reason() -> None:
    loss, labelled = (np.arange(400) < 30).astype(float), np.arange(400) % 10 == 0
    sums = LossSums.from_rows(loss, 0.5 * loss, labelled)
    powered, alone = (powered_mean(sums, powered=by_votes) for by_votes in (True, False))
    assert powered.interval is None
    assert powered.note == "fewer than 50 labelled errors (3), so the confidence cannot narrow the interval"
    possible = [
        total
        for total in range(3, 364)
        if hypergeom.sf(2, 400, total, 40) > 0.025 and hypergeom.cdf(3, 400, total, 40) > 0.025
    ]
    assert alone.interval == (possible[0] / 400, possible[-1] / 400)


def test_few_rows_without_error_count_too() -> None:
    loss, expected, labelled = draw(2)
    note = powered_mean(LossSums.from_rows(1.0 - 0.0 * loss, expected, labelled)).note
    assert note.startswith("fewer than 50 labelled rows without error (0)")


def test_accuracy_has_the_mirrored_interval() -> None:
    sums = LossSums.from_rows(*draw(4))
    for anytime in (False, True):
        error, accuracy = (powered_mean(each, share=0.2, anytime=anytime) for each in (sums, sums.invert()))
        assert error.interval is not None
        assert accuracy.interval == pytest.approx([1.0 - error.interval[1], 1.0 - error.interval[0]])
        assert accuracy.value == pytest.approx(1.0 - error.value)


def test_anytime_interval_needs_the_share_and_is_wider() -> None:
    sums = LossSums.from_rows(*draw(5))
    assert powered_mean(sums, anytime=True).note == "an exact interval needs the probability of a label"
    assert powered_mean(sums, share=0.2, anytime=True).width > powered_mean(sums).width
    with pytest.raises(StreamgaugeError, match="share"):
        powered_mean(sums, share=1.5, anytime=True)


def test_anytime_intervals_are_hardly_ever_wrong_at_any_look_even_if_losses_follow_the_coins() -> None:
    wrong = 0
    for seed in range(200):
        coins = uniform(seed, "labelled", 0, 0, 3000) < 0.1
        recent = np.convolve(coins, np.ones(20), "full")[:3000] - coins  # the model is worse after labels
        rng, none = np.random.default_rng(seed), np.zeros(3000, dtype=np.bool_)
        errs = (rng.random(3000) < np.where(recent > 2, 0.9, 0.05)).astype(np.int32)
        trace = Trace(np.arange(3000), np.zeros(3000, dtype=np.int32), errs, none, none, votes=rng.random((3000, 2)))
        looks = LabelSums(("error",), LabelDesign(0.1), seed).update(trace, list(range(100, 3001, 100)))
        for numbers in looks:
            sums = LossSums.from_numbers(numbers)
            found, truth = powered_mean(sums, share=0.1, anytime=True).interval, float(sums.truth[0] / sums.n_rows[0])
            assert found is not None
            wrong += not found[0] <= truth <= found[1]
    assert wrong == 0


def test_folds_are_averaged_and_count_as_dependent() -> None:
    one = LossSums.from_rows(*draw(6))
    numbers = np.array([[getattr(one, name)[0] for name in vars(one)]] * 3)
    several = LossSums.from_numbers(numbers)
    for anytime in (False, True):
        found = [powered_mean(sums, share=0.2, anytime=anytime).interval for sums in (one, several)]
        assert found[0] == pytest.approx(found[1])
    uneven = replace(several, n_rows=np.array([N, N, N + 1.0]))
    assert powered_mean(uneven, share=0.2, anytime=True).note == "the folds tested different rows"


@pytest.mark.parametrize("lag", [0, 150])
def test_sums_are_those_of_a_plain_loop_whatever_the_batches(lag: int) -> None:
    trace, readings = make_trace(1000), [70, 400, 777, 1000]
    all_votes = np.asarray(trace.votes)
    wanted = []
    coins = uniform(9, "labelled", 0, 0, 1000) < 0.3
    for reading in readings:
        shown = range(max(reading - lag, 0))
        sums = np.zeros(6)
        for row in shown:
            votes = np.ones(3) if row % 13 == 0 else all_votes[row]
            loss = float(trace.y_true[row] != trace.y_pred[row])
            expected = 1.0 if trace.y_pred[row] < 0 else 1.0 - votes[trace.y_pred[row]] / votes.sum()
            expected = round(expected * STEPS) / STEPS
            sums += [1, expected, loss, *(np.array([1, loss, loss * expected]) if coins[row] else np.zeros(3))]
        wanted.append(sums)
    runs = []
    for size in (1, 7, 1000):
        state = LabelSums(("error", "brier"), LabelDesign(0.3, lag), seed=9)
        found = []
        for start in range(0, 1000, size):
            stop = min(start + size, 1000)
            found += list(state.update(trace.part(start, stop), [row for row in readings if start < row <= stop]))
            other = LabelSums(("error", "brier"), LabelDesign(0.3, lag), seed=9)
            other.load(state.save())
            state = other
        numbers = np.array(found)
        assert numbers[:, 0][:, [0, 1, 3, 4, 6, 10]].tolist() == pytest.approx(np.array(wanted))
        runs.append(numbers)
    assert all((numbers == runs[0]).all() for numbers in runs)


TENTH = Fraction(0.1)


def run(labelling: Labelling = TENTH, **options: Any) -> Results:
    stream = options.pop("stream", None) or sg.SEA(n_rows=N, noise=0.1)
    learners = {"bayes": sg.NaiveBayes(), "logistic": LogisticRegression()}
    settings: dict[str, Any] = {"every": 500, "live_test": None, **options}
    return sg.evaluate(stream, learners, labelling=labelling, **settings)


@pytest.mark.parametrize("labelling", [Fraction(0.1), Delayed(300, of=Fraction(0.1))], ids=["now", "late"])
def test_run_counts_its_rows_and_knows_the_truth(labelling: Labelling) -> None:
    results = run(labelling, measures=["error", "brier"], score_unlabelled_start=True)
    rows = N - (300 if isinstance(labelling, Delayed) else 0)
    assert results.feedback is not None
    assert [(e.learner, e.measure) for e in results.label_estimates] == [
        (learner, measure) for learner in ("bayes", "logistic") for measure in ("error", "brier")
    ]
    for estimate in results.label_estimates:
        assert (estimate.n_rows, estimate.n_labelled) == (rows, results.feedback.n_revealed)
        assert estimate.truth is not None
        assert estimate.offset == estimate.unlabelled - estimate.truth
        if rows == N:
            assert estimate.truth == pytest.approx(results.final(estimate.learner, estimate.measure).mean, abs=1e-4)
    assert results.label_estimates[0].best_ratio == find_best_ratio(results.label_estimates[0].labelled)


@pytest.mark.parametrize("labelling", [Fraction(0.1), Delayed(300, of=Fraction(0.1))], ids=["now", "late"])
def test_run_gives_the_same_numbers_however_it_is_cut(labelling: Labelling, tmp_path: Path) -> None:
    whole = run(labelling, measures=["accuracy", "brier"], budgets="error<0.15")
    options: list[dict[str, Any]] = [
        {"batch_size": 7, "n_rows": N},
        {"batch_size": 999, "backend": sg.Threads(2)},
        {"scheme": sg.Prequential(), "checkpoint": tmp_path / "c", "checkpoint_every": 1000},
    ]
    for option in options:
        again = run(labelling, measures=["accuracy", "brier"], budgets="error<0.15", **option)
        assert again.label_estimates == whole.label_estimates
        assert again.model_verdicts == whole.model_verdicts


def test_run_resumes_with_the_same_numbers(tmp_path: Path) -> None:
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "checkpoint_every": 1000}
    part = sg.Evaluation(
        sg.SEA(n_rows=N, noise=0.1), sg.NaiveBayes(), labelling=Delayed(300, of=Fraction(0.1)), every=500, **options
    )
    for _ in part.advance(lambda: part.results([]).n_rows >= 2000):
        pass
    results = sg.evaluate(
        sg.SEA(n_rows=N, noise=0.1),
        sg.NaiveBayes(),
        labelling=Delayed(300, of=Fraction(0.1)),
        every=500,
        resume=True,
        **options,
    )
    whole = sg.evaluate(
        sg.SEA(n_rows=N, noise=0.1), sg.NaiveBayes(), labelling=Delayed(300, of=Fraction(0.1)), every=500
    )
    assert results.label_estimates == whole.label_estimates


@pytest.mark.parametrize("late", [0, 200])
def test_truth_of_hidden_rows_changes_no_verdict_and_no_estimate(late: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(N, 3))
    y = (x.sum(axis=1) + rng.normal(size=N) > 0).astype(np.int32)
    hidden = ~(uniform(1, "labelled", 0, 0, N) < 0.2)
    other = np.where(hidden & (rng.random(N) < 0.5), 1 - y, y)
    labelling = Delayed(late, of=Fraction(0.2)) if late else Fraction(0.2)
    budgets = ["error<0.5", "accuracy>0.9", "brier<0.12", "error<0.26"]
    first, second = (run(labelling, stream=ArrayStream(x, truth), budgets=budgets) for truth in (y, other))
    assert first.final("bayes", "accuracy").mean > second.final("bayes", "accuracy").mean + 0.1
    assert first.model_verdicts == second.model_verdicts
    assert {verdict.test for verdict in first.model_verdicts} == {"prediction_powered"}
    assert {verdict.outcome for verdict in first.model_verdicts} >= {"kept", "broken"}
    estimates = [[replace(each, truth=None) for each in run.label_estimates] for run in (first, second)]
    assert estimates[0] == estimates[1]


def test_good_confidence_makes_the_interval_of_a_verdict_narrower() -> None:
    rng = np.random.default_rng(2)
    n = 40_000
    odds = np.where(rng.random(n) < 0.8, 0.001, 0.4)  # mostly certain, else nearly a guess
    y = (rng.random(n) < odds).astype(np.int32)
    votes = {"good.0": 1.0 - odds, "good.1": odds, "vague.0": np.full(n, 0.6), "vague.1": np.full(n, 0.4)}
    learners = {name: Precomputed(name) for name in ("good", "vague")}
    results = sg.evaluate(
        ArrayStream(votes, y), learners, labelling=Fraction(0.1), budgets="error<0.1", every=500, live_test=None
    )
    good, vague = results.model_verdicts
    assert {(verdict.outcome, verdict.test) for verdict in (good, vague)} == {("kept", "prediction_powered")}
    widths = [high - low for low, high in (verdict.interval or (0.0, 0.0) for verdict in (good, vague))]
    assert widths[0] < 0.87 * widths[1]


def test_folds_in_a_run() -> None:
    results = run(scheme=sg.Bootstrap(3))
    assert [estimate.n_folds for estimate in results.label_estimates] == [3, 3]
    assert "mean of 3 folds" in str(results.label_estimates[0])
    assert results.label_estimates[0].truth == pytest.approx(1.0 - results.final("bayes", "accuracy").mean)


@pytest.mark.parametrize(
    ("labelling", "why"),
    [
        (First(1000), "no random share"),
        (Fraction((0.1, 0.3)), "differs by class"),
        (Fraction(0.0), "no label arrives"),
        (DelayedAtRandom(50, of=Fraction(0.1)), "late by different numbers of rows"),
    ],
)
def test_labels_that_are_no_random_share_are_not_used(labelling: Labelling, why: str) -> None:
    results = run(labelling, budgets="error<0.3", score_unlabelled_start=True)
    for estimate in results.label_estimates:
        assert (estimate.n_labelled, estimate.labelled_interval, estimate.powered_interval) == (0, None, None)
        assert why in estimate.note
        assert why in str(estimate)
        assert math.isfinite(estimate.unlabelled)
        assert "assumes" in estimate.without_labels
    assert {verdict.test for verdict in results.model_verdicts} <= {"empirical_bernstein", "block_sequence"}


def test_runs_without_hidden_labels_have_no_estimates() -> None:
    assert run(AllLabels()).label_estimates == ()
    assert run(Delayed(100)).label_estimates == ()
    assert run(Fraction(1.0)).label_estimates == ()
    assert run(score="labelled").label_estimates == ()
    assert find_label_design(Fraction((0.2, 0.2))) == LabelDesign(0.2)


def test_rows_with_weights_have_no_intervals() -> None:
    x, y = np.random.default_rng(1).normal(size=(1000, 2)), np.arange(1000, dtype=np.int32) % 2
    results = run(stream=ArrayStream(x, y, weight=np.where(y > 0, 2.0, 1.0)))
    assert results.label_estimates[0].note == "the rows have weights"


def test_estimates_are_saved_and_loaded(tmp_path: Path) -> None:
    for labelling in (Fraction(0.1), First(1000)):
        results = run(labelling)
        assert repr(load(save(results, tmp_path)).label_estimates) == repr(results.label_estimates)


def test_sentences_name_what_is_assumed_and_how_far_off_it_was() -> None:
    estimate = estimate_losses("tree", "error", LossSums.from_rows(*draw(7, worth="too sure")), LabelDesign(0.2))
    assert "The truth, " in str(estimate)
    assert ", lies inside." in str(estimate)
    assert "at best 0." in str(estimate)
    assert "points below the truth" in estimate.without_labels
    assert "assumes that the model's confidences are calibrated" in estimate.without_labels
    unknown = replace(estimate, truth=None)
    assert "truth" not in str(unknown) + unknown.without_labels
    assert (unknown.is_covered, unknown.offset) == (None, None)
    outside = replace(estimate, truth=1.0)
    assert isinstance(outside, LabelEstimate)
    assert ", lies outside." in str(outside)


def test_best_ratio() -> None:
    assert find_best_ratio(0.05) == pytest.approx(math.sqrt(1 / (2 * 0.95)))
    assert find_best_ratio(0.9, n_classes=10) == 1.0
    with pytest.raises(StreamgaugeError, match="error = 2"):
        find_best_ratio(2.0)


def test_a_stream_of_one_class_has_estimates_too() -> None:
    x, y = np.random.default_rng(1).normal(size=(1000, 2)), np.zeros(1000, dtype=np.int32)
    results = sg.evaluate((x, y), [sg.NaiveBayes(), sg.MajorityClass()], labelling=Fraction(0.2))
    assert len(results.label_estimates) == 2
