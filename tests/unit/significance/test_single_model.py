"""Verdicts on one model alone: exact against a plain loop, the same whatever the batches, blind to hidden labels."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

import streamgauge as sg
from streamgauge.backends import Threads
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import rerun
from streamgauge.labelling import Delayed, DelayedAtRandom, First, Fraction
from streamgauge.learners import Precomputed, PythonLearner
from streamgauge.records import ModelVerdict, Verdict
from streamgauge.records.blocks import list_boundaries
from streamgauge.results import load, save
from streamgauge.significance import LiveTest
from streamgauge.significance.single_model import RowVariance, share_alpha
from streamgauge.streams import ArrayStream
from tests.support.commands import invoke

ALL = (
    "error<0.3",
    "recall[1]>0.5",
    "precision[0]>0.7",
    "f1[1]>0.6",
    "brier<0.3",
    "kappa>0.2",
    "Cost([[0, 1], [4, 0]])<0.9",
    "beats majority",
    "beats no change",
    "error<reference(700)+0.02",
)


class Echo:
    """A model that predicts the class in the first column and learns nothing."""

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.eye(2)[x[:, 0].astype(int)])

    def learn(self, x: Any, y: Any, weight: Any) -> None:
        """Learn nothing."""


def make_stream(errors: ArrayLike, seed: int = 1, share: float = 0.5, **columns: Any) -> ArrayStream:
    """Return rows on which `Echo` errs where it is said; a share of them is of class 1."""
    wrong = np.asarray(errors, dtype=np.bool_)
    y = (np.random.default_rng(seed).random(len(wrong)) < share).astype(np.int32)
    return ArrayStream((y ^ wrong).astype(float)[:, None], y, **columns)


def draw(rates: ArrayLike, seed: int = 1) -> NDArray[np.bool_]:
    rates = np.asarray(rates)
    return np.random.default_rng(seed).random(len(rates)) < rates


def judge(stream: ArrayStream, budgets: object, **options: Any) -> tuple[ModelVerdict, ...]:
    options = {"every": 500, **options}
    return sg.evaluate(stream, PythonLearner(Echo()), budgets=budgets, **options).model_verdicts


def describe(verdicts: tuple[ModelVerdict, ...]) -> list[str]:
    return [repr(verdict) for verdict in verdicts]  # with every bit, and NaN equal to itself


# ------------------------------------------------------------------------------------------ against a plain reference


def bet(total: float, squares: float) -> float:
    """Return the log e-value of a mixture of bets, as a loop."""
    stakes = [0.5 / 2**power for power in range(12)]
    logs = [stake * total - (-math.log(1.0 - stake) - stake) * max(squares, 1.0) for stake in stakes]
    return float(max(logs) + math.log(sum(math.exp(log - max(logs)) for log in logs) / len(logs)))


def find_share(start: int) -> float:
    """Return the part of alpha for a start: half for row 0, then 40 starts, then 20 for each length of blocks."""
    if start == 0:
        return 0.5
    era, length = 0, 8
    while start > 40 * length:
        era, length = era + 1, 2 * length
    return 0.5 / ((era + 1) * (era + 2)) / (40 if era == 0 else 20)


def decide_plainly(values: NDArray[Any], alpha: float) -> tuple[str, int]:
    """Return the outcome for values in [-1, 1] that must have a mean below 0, and the start with most evidence."""
    n, length, excess = len(values), 8, {}
    while n > 40 * length:
        length *= 2
    for start in range(0, n, length):
        own = values[start:]
        excess[start] = bet(own.sum(), (own**2).sum()) - math.log(2 / (alpha * find_share(start)))
    best = max(excess, key=lambda start: excess[start])
    if excess[best] > 0:
        return "broken", best
    kept = bet(-values.sum(), (values**2).sum()) > math.log(2 / (alpha / 2))
    return ("kept" if kept else "undecided"), 0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rates", [(0.28, 0.28), (0.1, 0.55), (0.4, 0.1), (0.1, 0.2)])
def test_the_error_is_judged_as_by_a_loop_over_starts(seed: int, rates: tuple[float, float]) -> None:
    n = 3000
    wrong = draw(np.repeat(rates, n // 2), seed)
    stream = make_stream(wrong, seed)
    evaluation = sg.Evaluation(stream, PythonLearner(Echo()), budgets="error<0.3", every=250, batch_size=250)
    for progress in evaluation.advance():
        (verdict,) = progress.model_verdicts
        row = int(progress.rows[-1])
        outcome, since = decide_plainly((wrong[:row] - 0.3) / 0.7, 0.05)
        assert verdict.outcome == outcome, row
        assert verdict.since == since
        assert verdict.value == pytest.approx(wrong[since:row].mean())
        assert verdict.test == "empirical_bernstein"


@pytest.mark.parametrize("limit", [0.5, 0.6])
def test_rates_of_a_class_are_judged_by_the_rows_of_the_class(limit: float) -> None:
    n, rng = 4000, np.random.default_rng(5)
    y = (rng.random(n) < 0.1).astype(np.int32)
    predicted = np.where(rng.random(n) < np.where(y == 1, 0.6, 0.05), 1, 0)
    stream = ArrayStream(predicted.astype(float)[:, None], y)
    recall, f1 = judge(stream, [f"recall[1]>{limit}", f"f1[1]>{limit}"], live_test=LiveTest(shared=False))
    missed = (y == 1) * (limit - (predicted == 1))
    assert (recall.outcome, recall.since) == decide_plainly(missed / max(limit, 1 - limit), 0.05)
    tp, off = (y == 1) & (predicted == 1), y != predicted
    score = np.where(tp, -2 * (1 - limit), np.where(off, limit, 0.0))
    assert (f1.outcome, f1.since) == decide_plainly(score / np.abs(score).max(), 0.05)
    assert f1.value == pytest.approx(2 * tp.sum() / (2 * tp.sum() + off.sum()))


def test_the_interval_is_that_of_the_sums() -> None:
    wrong = draw(np.full(2000, 0.2))
    (verdict,) = judge(make_stream(wrong), "error<0.5")
    low, high = verdict.interval or (0.0, 0.0)
    values = (wrong - 0.5) / 0.5
    for end, sign in ((low, 1.0), (high, -1.0)):
        total = sign * (values.sum() - 2000 * (end - 0.5) / 0.5)
        assert bet(total, (values**2).sum()) == pytest.approx(math.log(2 / 0.025), abs=1e-6)


def test_all_starts_share_alpha() -> None:
    starts = [0, *list_boundaries(0, 10_000_000)]
    assert share_alpha(starts).sum() <= 1.0
    assert share_alpha(starts).sum() == pytest.approx(1.0, abs=0.03)
    assert share_alpha(starts[:500]) == pytest.approx([find_share(start) for start in starts[:500]])


def test_false_claims_are_rare() -> None:
    limits = {"error<0.1": 0.1, "error<0.25": 0.25}
    n_false = 0
    for seed in range(25):
        for budget, rate in limits.items():
            verdicts: list[object] = []
            sg.evaluate(
                make_stream(draw(np.full(2000, rate), seed)),
                PythonLearner(Echo()),
                budgets=budget,
                every=80,
                on_verdict=verdicts.append,
            )
            n_false += bool(verdicts)
    assert n_false <= 5  # of 50; at most 2 or 3 are expected, and far fewer are usual


# --------------------------------------------------------------------------------------------- what a verdict says


def test_a_late_change_is_found_soon_and_lapses_when_it_has_passed() -> None:
    rates = np.concatenate([np.full(20_000, 0.02), np.full(4_000, 0.2), np.full(40_000, 0.01)])
    seen: list[ModelVerdict | Verdict] = []
    stream = make_stream(draw(rates))
    results = sg.evaluate(
        stream, PythonLearner(Echo()), budgets="error<0.05", every=500, batch_size=500, on_verdict=seen.append
    )
    kept, broken, *_, last = [verdict for verdict in seen if isinstance(verdict, ModelVerdict)]
    assert kept.outcome == "kept"
    assert (kept.row or 0) < 5000
    assert broken.outcome == "broken"
    assert 20_000 < (broken.row or 0) <= 22_000
    assert 19_000 < broken.since < 21_500
    assert broken.value > 0.05
    assert str(broken).startswith("Echo breaks error<0.05: its error since row ")
    assert results.model_verdicts[0].outcome == "kept"
    assert last.earlier is not None
    assert last.earlier.outcome == "broken"


def test_a_reference_period_is_compared_with_what_follows() -> None:
    worse = make_stream(draw(np.repeat([0.05, 0.15], [4000, 6000])))
    same = make_stream(draw(np.full(10_000, 0.05)))
    better = make_stream(draw(np.repeat([0.3, 0.05], [4000, 6000])))
    outcomes = [judge(stream, "error<reference(3000)+0.01")[0] for stream in (worse, same, better)]
    assert [verdict.outcome for verdict in outcomes] == ["broken", "undecided", "kept"]
    assert outcomes[0].since >= 3000
    assert outcomes[1].limit == pytest.approx(np.mean(draw(np.full(10_000, 0.05))[:3072]) + 0.01)
    assert "in the first 3,072 rows it was" in outcomes[1].note
    (waiting,) = judge(same, "error<reference(20000)")
    assert waiting.outcome == "undecided"
    assert waiting.note == "the first 20,000 scored rows are the reference"


def test_baselines_must_be_beaten() -> None:
    rare = make_stream(draw(np.full(5000, 0.1)), share=0.05)  # the majority class errs on 5 % of the rows
    majority, no_change = judge(rare, ["beats majority", "beats no change"])
    assert majority.outcome == "broken"
    assert majority.interval is not None
    assert majority.interval[1] < 0.0
    often = make_stream(draw(np.full(5000, 0.1)))
    assert [verdict.outcome for verdict in judge(often, ["beats majority", "beats no change"])] == ["kept", "kept"]
    assert no_change.measure == "kappa_temporal"


def test_other_measures_are_judged_by_blocks() -> None:
    stream = make_stream(draw(np.full(8000, 0.2)))
    verdicts = judge(stream, ["kappa>0.5", "kappa>0.7", "roc_auc_ovr_macro>0.7", "kappa>0.6"])
    assert [verdict.outcome for verdict in verdicts[:3]] == ["kept", "broken", "kept"]
    assert {verdict.test for verdict in verdicts} == {"block_sequence"}
    (early,) = judge(make_stream(draw(np.full(150, 0.2))), "kappa>0.5", every=50)
    assert early.outcome == "undecided"
    assert early.note.startswith("it needs about 160 rows")


def test_the_alpha_is_shared_over_learners_and_requirements() -> None:
    learners = {"one": PythonLearner(Echo()), "two": PythonLearner(Echo())}
    stream = make_stream(draw(np.full(2000, 0.1)))
    both = sg.evaluate(stream, learners, budgets=["error<0.2", "error<0.3"], every=500)
    assert [(verdict.learner, verdict.requirement) for verdict in both.model_verdicts] == [
        ("one", "error<0.2"),
        ("one", "error<0.3"),
        ("two", "error<0.2"),
        ("two", "error<0.3"),
    ]
    assert {verdict.n_claims for verdict in both.model_verdicts} == {4}
    (alone,) = judge(stream, "error<0.2")
    assert alone.interval is not None
    assert both.model_verdicts[0].interval is not None
    assert both.model_verdicts[0].interval[1] > alone.interval[1]
    (strict,) = judge(stream, "error<0.2", live_test=LiveTest(alpha=0.05 / 4))
    assert strict.interval == both.model_verdicts[0].interval


def test_a_learner_that_has_predicted_nothing_is_not_judged() -> None:
    class Silent(Echo):
        def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.zeros((len(x), 2))

    results = sg.evaluate(make_stream(np.zeros(500)), PythonLearner(Silent()), budgets="error<0.3", every=100)
    assert results.model_verdicts[0].outcome == "undecided"
    assert results.model_verdicts[0].note == "no prediction yet"


@pytest.mark.filterwarnings("ignore::streamgauge.errors.FailureWarning")
def test_a_learner_that_fails_has_no_verdict() -> None:
    class Failing(Echo):
        def learn(self, x: Any, y: Any, weight: Any) -> None:  # noqa: ARG002
            msg = "too much"
            raise ValueError(msg)

    learners = {"good": PythonLearner(Echo()), "bad": PythonLearner(Failing())}
    results = sg.evaluate(
        make_stream(draw(np.full(3000, 0.1))), learners, budgets=["error<0.3", "kappa>0.5", "error<reference(500)"]
    )
    assert {verdict.learner for verdict in results.model_verdicts} == {"good"}
    assert [verdict.outcome for verdict in results.model_verdicts][:2] == ["kept", "kept"]


def test_weighted_rows_are_judged_by_blocks() -> None:
    weight = np.random.default_rng(3).exponential(size=8000)
    wrong = draw(np.full(8000, 0.1))
    (verdict,) = judge(make_stream(wrong, weight=weight), "error<0.3")
    assert (verdict.outcome, verdict.test) == ("kept", "block_sequence")
    assert verdict.value == pytest.approx(np.average(wrong, weights=weight))
    (early,) = judge(make_stream(wrong[:60], weight=weight[:60]), "error<0.3")
    assert early.note == "it needs 80 rows since rows have weights"


def test_folds_of_the_same_rows_are_averaged_and_those_of_others_added() -> None:
    stream = sg.SEA(n_rows=4000)
    options: dict[str, Any] = {"budgets": "error<0.3", "every": 1000, "measures": ["error"]}
    crossed = sg.evaluate(stream, sg.NaiveBayes(), scheme=sg.Bootstrap(4), **options)
    held_out = sg.evaluate(stream, sg.NaiveBayes(), scheme=sg.CrossValidation(4, test="held_out"), **options)
    alone = sg.evaluate(stream, sg.NaiveBayes(), **options)
    (first,), (second,), (third,) = (each.model_verdicts for each in (crossed, held_out, alone))
    assert first.value == pytest.approx(crossed.final("NaiveBayes", "error").mean)
    widths = [verdict.interval[1] - verdict.interval[0] for verdict in (first, second, third) if verdict.interval]
    assert widths == pytest.approx([widths[2]] * 3, rel=0.1)  # the same number of rows


# ---------------------------------------------------------------------------------------- late and partial labels


@pytest.mark.parametrize("labelling", [Fraction(0.3), First(1500), Delayed(40), DelayedAtRandom(20)])
@pytest.mark.parametrize("score", ["first", "labelled"])
def test_labels_that_have_not_arrived_change_nothing(labelling: Any, score: Any) -> None:
    n = 4000
    stream = make_stream(draw(np.full(n, 0.2)))
    arrivals = labelling.arrivals(next(iter(stream.batches(n))), 1)
    hidden = arrivals.row >= n
    assert hidden.any()
    y = np.where(hidden, 1 - stream.y, stream.y).astype(np.int32)
    other = ArrayStream(np.asarray(stream.x), y)
    budgets = [budget for budget in ALL if "reference" not in budget]
    before, after = (judge(each, budgets, labelling=labelling, score=score) for each in (stream, other))
    assert describe(before) == describe(after)
    assert before[0].value == pytest.approx(draw(np.full(n, 0.2))[~hidden].mean(), abs=0.02)


def test_late_labels_count_when_they_arrive_and_leave_the_sequence_exact() -> None:
    delay = 100
    wrong = draw(np.repeat([0.02, 0.2], [15_000, 15_000]))
    verdicts: list[Any] = []
    late = {"labelling": Delayed(delay), "every": 100, "batch_size": 100}
    (verdict,) = judge(make_stream(wrong), "error<0.1", on_verdict=verdicts.append, **late)
    assert verdict.test == "empirical_bernstein"
    kept, broken = verdicts[0], verdicts[-1]
    assert (kept.outcome, broken.outcome) == ("kept", "broken")
    assert 15_000 + delay < broken.row < 17_000
    (at_once,) = judge(make_stream(wrong[delay + 1 : 5_000 - delay]), "error<0.1")
    (arrived,) = judge(make_stream(wrong[:5_000]), "error<0.1", **late)
    assert arrived.value == at_once.value  # of the labels that have arrived, without the unlabelled start
    assert arrived.interval == pytest.approx(at_once.interval)


def test_a_baseline_without_labels_is_not_compared_with() -> None:
    """A trained model is scored from the first row on; a baseline cannot predict before the first late label."""
    y = np.array(["ok", "fraud"])[(np.random.default_rng(1).random(8000) < 0.02).astype(int)]
    constant = {"constant": Precomputed("p")}
    (verdict,) = sg.evaluate(
        ({"p": np.full(len(y), "ok")}, y), constant, labelling=Delayed(500), budgets="beats majority"
    ).model_verdicts
    assert abs(verdict.value) < 0.02


def test_a_verdict_against_a_reference_outlives_the_growth_of_blocks() -> None:
    errors = draw(np.repeat([0.05, 0.3], [5_000, 45_000]), seed=3)
    verdicts = [
        judge(make_stream(errors[:n]), "error<reference(4000)+0.05", labelling=Delayed(20), score_unlabelled_start=True)
        for n in (20_000, 50_000)
    ]
    assert [verdict.outcome for (verdict,) in verdicts] == ["broken", "broken"]


def test_late_labels_of_weighted_rows_have_no_exact_sequence() -> None:
    wrong = draw(np.full(20_000, 0.1))
    stream = make_stream(wrong)
    weighted = ArrayStream(np.asarray(stream.x), stream.y, weight=np.tile([0.5, 1.5], 10_000))
    (verdict,) = judge(weighted, "error<0.3", labelling=Delayed(20))
    assert (verdict.outcome, verdict.test) == ("kept", "block_sequence")
    (early,) = judge(weighted, "error<0.3", labelling=Delayed(500))
    assert early.outcome == "undecided"
    assert "it needs 51,200 rows since rows have weights" in early.note


def test_a_change_is_no_variance() -> None:
    sizes = np.full(20, 100.0)
    means = np.where(np.arange(20) < 10, 0.02, 0.5) + 0.001 * (-1.0) ** np.arange(20)
    totals, n_rows = np.append(0.0, np.cumsum(sizes * means)), np.append(0.0, np.cumsum(sizes))
    plain, around = RowVariance.estimate(totals, n_rows), RowVariance.estimate(totals, n_rows, 10)
    assert (plain.n_differences, around.n_differences) == (19, 16)
    assert plain.value > 100 * around.value
    assert around.value == pytest.approx(100 * 0.002**2 / 2)


# ------------------------------------------------------------------------------------- the same whatever the batches


LABELLINGS = [None, Fraction(0.3), Delayed(30), DelayedAtRandom(20)]


def run_all(n: int, labelling: Any, **options: Any) -> list[str]:
    named = {} if labelling is None else {"labelling": labelling}
    learners = [sg.NaiveBayes(), sg.HoeffdingTree(grace_period=50)]
    results = sg.evaluate(sg.SEA(n_rows=n, noise=0.1), learners, budgets=ALL, every=150, **named, **options)
    return describe(results.model_verdicts)


@pytest.fixture(scope="module")
def expected() -> dict[int, list[str]]:
    return {index: run_all(3000, labelling) for index, labelling in enumerate(LABELLINGS)}


@settings(max_examples=12, deadline=None)
@given(batch_size=st.integers(1, 3000), index=st.integers(0, len(LABELLINGS) - 1))
def test_batches_do_not_matter(batch_size: int, index: int, expected: dict[int, list[str]]) -> None:
    assert run_all(3000, LABELLINGS[index], batch_size=max(batch_size, 50)) == expected[index]


@settings(max_examples=8, deadline=None)
@given(after=st.integers(1, 20), index=st.integers(0, len(LABELLINGS) - 1))
def test_restarts_do_not_matter(
    after: int, index: int, expected: dict[int, list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, labelling = tmp_path_factory.mktemp("checkpoint"), LABELLINGS[index]
    named: dict[str, Any] = {} if labelling is None else {"labelling": labelling}
    run = sg.Evaluation(
        sg.SEA(n_rows=3000, noise=0.1),
        [sg.NaiveBayes(), sg.HoeffdingTree(grace_period=50)],
        budgets=ALL,
        every=150,
        batch_size=130,
        checkpoint=folder,
        checkpoint_every=130,
        **named,
    )
    batches = run.advance()
    for _ in range(after):
        next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert run_all(3000, labelling, checkpoint=folder, checkpoint_every=130, resume=True) == expected[index]


def test_threads_do_not_matter(expected: dict[int, list[str]]) -> None:
    assert run_all(3000, LABELLINGS[2], backend=Threads(1)) == expected[2]
    assert run_all(3000, LABELLINGS[2], backend=Threads(3), batch_size=500) == expected[2]


def test_other_budgets_do_not_resume(tmp_path: Path) -> None:
    sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), budgets="error<0.3", checkpoint=tmp_path, checkpoint_every=100)
    with pytest.raises(StreamgaugeError, match="budgets"):
        sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), budgets="error<0.4", checkpoint=tmp_path, resume=True)


def test_budgets_change_nothing_else() -> None:
    learners = [sg.NaiveBayes(), sg.HoeffdingTree()]
    plain, judged = (
        sg.evaluate(sg.SEA(n_rows=3000), learners, every=500, budgets=budgets) for budgets in (None, list(ALL))
    )
    assert plain.model_verdicts == ()
    assert np.array_equal(plain.values, judged.values)
    assert repr(plain.verdicts) == repr(judged.verdicts)
    assert repr(plain.pairs) == repr(judged.pairs)


# ------------------------------------------------------------------------------------------- files, log, command line


def test_verdicts_are_saved_logged_and_repeated(tmp_path: Path) -> None:
    results = sg.evaluate(
        sg.SEA(n_rows=3000), sg.NaiveBayes(), budgets=list(ALL), every=300, log=tmp_path / "log.jsonl"
    )
    assert results.description["budgets"] == list(ALL)
    save(results, tmp_path / "saved")
    assert describe(load(tmp_path / "saved").model_verdicts) == describe(results.model_verdicts)
    again = rerun(tmp_path / "saved")
    assert again.same
    assert describe(again.results.model_verdicts) == describe(results.model_verdicts)
    events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    logged = {event["requirement"] for event in events if event["event"] == "model_verdict"}
    assert logged == {verdict.requirement for verdict in results.model_verdicts if verdict.row or verdict.earlier}


def test_the_command_line_takes_budgets() -> None:
    arguments = ["evaluate", "--stream", "SEA", "--rows", "3000", "--learner", "NaiveBayes"]
    text, _, status = invoke(*arguments, "--budget", "error<0.3", "--budget", "beats majority")
    assert "NaiveBayes keeps error<0.3: its error is" in text
    assert status == 0
    with pytest.raises(StreamgaugeError, match=r"write error<0\.3"):
        invoke(*arguments, "--budget", "error>0.3")
    as_json = json.loads(invoke(*arguments, "--budget", "error<0.3", "--json")[0])
    assert as_json["model_verdicts"][0]["outcome"] == "kept"
