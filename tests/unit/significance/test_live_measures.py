"""Live verdicts in any measure: right by their formula, from labels that have arrived, however the run is cut."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from sklearn.metrics import cohen_kappa_score, f1_score, log_loss, roc_auc_score

import streamgauge as sg
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, Fraction
from streamgauge.measures import Cost, default_margin, measure
from streamgauge.protocols import CellBatch, Labelling, Scheme
from streamgauge.records import Differences, Verdict
from streamgauge.results import load, save
from streamgauge.schemes import Chunks
from streamgauge.significance import LiveTest
from streamgauge.streams import ArrayStream, take
from tests.support.commands import invoke

LEARNERS = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50), "majority": sg.MajorityClass()}
PAIR = {name: LEARNERS[name] for name in ("bayes", "tree")}
MEASURES = ("kappa", "f1[1]", "log_loss", "roc_auc[1]")
N_ROWS = 3000


class Traces:
    """Keeps labels, predictions and shares of class 1, by learner and fold."""

    needs_votes = True

    def __init__(self) -> None:
        self.found: dict[tuple[str, int], list[NDArray[np.float64]]] = {}

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        yield self._keep

    def _keep(self, passage: CellBatch) -> None:
        trace = passage.trace
        votes = np.zeros((len(trace), 2)) if trace.votes is None or not len(trace) else trace.votes
        total = votes.sum(axis=1)
        share = np.where(total > 0.0, votes[:, 1] / np.where(total > 0.0, total, 1.0), 0.5)
        columns = np.stack([trace.y_true, trace.y_pred, share], axis=1).astype(np.float64)
        self.found.setdefault((passage.learner, passage.fold), []).append(columns)

    def join(self, learner: str, fold: int) -> NDArray[np.float64]:
        return np.concatenate(self.found[learner, fold])


SCORES: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "kappa": lambda rows: float(cohen_kappa_score(rows[:, 0], rows[:, 1])),
    "f1[1]": lambda rows: float(f1_score(rows[:, 0], rows[:, 1], labels=[1], average="macro")),
    "log_loss": lambda rows: float(log_loss(rows[:, 0], np.clip(rows[:, 2], 1e-15, 1 - 1e-15), labels=[0, 1])),
    "roc_auc[1]": lambda rows: float(roc_auc_score(rows[:, 0], rows[:, 2])),
}


def slow_interval(
    traces: Traces, score: Callable[[NDArray[np.float64]], float], n_folds: int, first_row: int, alpha: float
) -> tuple[float, float, float]:
    """Return the difference of the first two learners and its interval after all rows, with scikit-learn's scores."""
    n = len(traces.join("bayes", 0))
    length = 8
    while n > 40 * length:
        length *= 2
    ends = [end for end in range(length, n + 1, length) if end == n or 2 * (n - end) >= length]
    ends = ends if ends[-1] == n else [*ends, n]
    block = np.searchsorted(ends, np.arange(n), side="right")
    b = len(ends)
    values = np.empty((2, n_folds, 1 + b))
    for i, name in enumerate(("bayes", "tree")):
        for fold in range(n_folds):
            rows = traces.join(name, fold)
            values[i, fold] = [score(rows), *(score(rows[block != left]) for left in range(b))]
    d = values[0] - values[1]
    theta, without = float(d[:, 0].mean()), d[:, 1:]
    by_rows = (b - 1) / b * ((without.mean(0) - without.mean()) ** 2).sum()
    pseudo = b * theta - (b - 1) * without.mean(0)
    slope = stats.linregress(np.arange(b), pseudo)
    rest = pseudo - slope.intercept - slope.slope * np.arange(b)
    if (rest[1:] * rest[:-1]).sum() > 2 / math.sqrt(b) * (rest**2).sum():
        joined = pseudo[: b // 2 * 2].reshape(-1, 2).mean(1)
        by_rows = max(by_rows, joined.var(ddof=1) / len(joined))
    variance = by_rows
    if n_folds > 1:
        by_folds = d[:, 0].var(ddof=1) / n_folds
        both = ((b - 1) / b * ((without - without.mean(1, keepdims=True)) ** 2).sum()) / n_folds**2
        variance = max(by_rows + by_folds - both, by_rows, by_folds)
    start = optimize.brentq(lambda x: 2 * (stats.norm.sf(x) + x * stats.norm.pdf(x)) - alpha, 1.0, 10.0)
    factor = math.sqrt(start**2 + math.log(n / first_row))
    wide = [stats.t.isf(stats.norm.sf(factor), b - 1)]
    if n_folds > 1:
        wide.append(factor * stats.t.ppf(1 - alpha / 2, n_folds - 1) / stats.norm.ppf(1 - alpha / 2))
    radius = float(max(wide) * math.sqrt(variance))
    return theta, theta - radius, theta + radius


# Right by the formula


@pytest.mark.parametrize("n_folds", [1, 5])
@pytest.mark.parametrize("name", MEASURES)
def test_the_interval_is_that_of_scikit_learns_scores_with_blocks_left_out(name: str, n_folds: int) -> None:
    traces = Traces()
    results = sg.evaluate(
        sg.SEA(n_rows=2000, noise=0.1),
        PAIR,
        scheme=sg.Bootstrap(5) if n_folds == 5 else sg.Prequential(),
        live_test=LiveTest(measure=name),
        recorders=[traces],
        every=1000,
        backend=sg.Threads(1),
    )
    (verdict,) = results.verdicts
    assert (verdict.measure, verdict.test, verdict.n_claims) == (name, "block_sequence", 1)
    low, high = verdict.interval or (0.0, 0.0)
    expected = slow_interval(traces, SCORES[name], n_folds, first_row=1000, alpha=0.05)
    # Areas are of votes in 256 bins; the log loss clips probabilities in another way.
    tolerance = {"roc_auc[1]": 0.02, "log_loss": 1e-3}.get(name, 1e-9)
    assert verdict.difference == pytest.approx(expected[0], rel=tolerance, abs=1e-4 if "auc" in name else 0.0)
    assert (high - low) == pytest.approx(expected[2] - expected[1], rel=5 * tolerance)


def test_alpha_is_shared_over_pairs_and_measures() -> None:
    results = sg.evaluate(
        sg.SEA(n_rows=2000), LEARNERS, live_test=LiveTest(measure=("kappa", "f1[1]")), every=1000, n_rows=2000
    )
    assert [(v.first, v.second, v.measure) for v in results.verdicts] == [
        (first, second, name)
        for first, second in (("bayes", "tree"), ("bayes", "majority"), ("tree", "majority"))
        for name in ("kappa", "f1[1]")
    ]
    assert {v.n_claims for v in results.verdicts} == {6}
    alone = sg.evaluate(
        sg.SEA(n_rows=2000), LEARNERS, live_test=LiveTest(measure=("kappa", "f1[1]"), shared=False), every=1000
    )
    shared_width, own_width = (np.diff(r.verdicts[0].interval or (0.0, 0.0))[0] for r in (results, alone))
    assert own_width < shared_width


def test_measures_by_counts_and_by_blocks_have_differences_at_the_same_rows() -> None:
    learners = [sg.NaiveBayes(), sg.MajorityClass()]
    live_test = LiveTest(measure=("accuracy", "kappa"))
    for n_rows in (6, 100):  # the first block has eight rows, counts are known from the first reading on
        results = sg.evaluate(
            sg.SEA(n_rows=n_rows), learners, scheme=sg.Bootstrap(5), live_test=live_test, every=2, batch_size=2
        )
        assert isinstance(results.differences, Differences)
        assert results.differences.rows[-1] == n_rows
        assert results.differences.measures == ("accuracy", "kappa")


@pytest.mark.parametrize(("name", "better"), [("kappa", "bayes"), ("log_loss", "bayes"), ("brier", "bayes")])
def test_the_better_one_is_better_whichever_way_the_measure_goes(name: str, better: str) -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    results = sg.evaluate(sg.SEA(n_rows=5000), learners, scheme=sg.Bootstrap(5), live_test=LiveTest(measure=name))
    (verdict,) = results.verdicts
    assert verdict.better == better
    assert (verdict.difference > 0) == verdict.greater_is_better
    assert f"in {name}, known since row" in str(verdict)


# However the run is cut


CASES: list[tuple[Scheme, Labelling]] = [
    (sg.Bootstrap(5), AllLabels()),
    (sg.Prequential(), AllLabels()),
    (sg.CrossValidation(12, test="held_out"), AllLabels()),
    (sg.Bootstrap(5), Delayed(7)),
    (sg.Prequential(), DelayedAtRandom(4)),
    (sg.Bootstrap(5), Fraction(0.4)),
]


@pytest.mark.parametrize(("scheme", "labelling"), CASES, ids=str)
def test_neither_batches_nor_threads_nor_restarts_change_a_verdict(
    scheme: Scheme, labelling: Labelling, tmp_path: Path
) -> None:
    stream, live_test = sg.SEA(n_rows=N_ROWS, noise=0.1), LiveTest(measure=("accuracy", "f1[1]", "roc_auc[1]"))
    plan: Any = {"scheme": scheme, "labelling": labelling, "every": 170, "live_test": live_test}

    def run(batch_size: int, threads: int, **options: Any) -> tuple[tuple[Verdict, ...], Differences | None]:
        results = sg.evaluate(stream, LEARNERS, **plan, batch_size=batch_size, backend=sg.Threads(threads), **options)
        return results.verdicts, results.differences

    whole, differences = run(32_768, 1)
    assert len(whole) == 9
    assert any(verdict.row is not None for verdict in whole)
    for batch_size, threads in ((93, 2), (1000, 1)):
        again, history = run(batch_size, threads)
        assert again == whole
        assert differences is not None
        assert history is not None
        np.testing.assert_array_equal(history.values, differences.values)
    evaluation = sg.Evaluation(stream, LEARNERS, **plan, checkpoint=tmp_path, checkpoint_every=500, batch_size=500)
    for progress in evaluation.advance():
        if progress.n_rows >= N_ROWS // 2:
            break
    resumed, history = run(500, 1, checkpoint=tmp_path, checkpoint_every=500, resume=True)
    assert resumed == whole
    assert history is not None
    assert differences is not None
    np.testing.assert_array_equal(history.values, differences.values)


# Labels that have arrived


@pytest.mark.parametrize("labelling", [Delayed(100), Fraction(0.3)], ids=str)
def test_a_verdict_knows_only_labels_that_have_arrived(labelling: Labelling) -> None:
    """The truth of rows whose labels never arrive, or not before the end, does not change a verdict."""
    n = 6000
    batch = take(sg.SEA(noise=0.1), n)
    arrivals = labelling.arrivals(batch, 1)
    assert arrivals is not None
    assert arrivals.row is not None
    hidden = arrivals.row >= n
    assert hidden.any()

    def run(y: NDArray[np.int32]) -> tuple[Verdict, ...]:
        learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
        stream = ArrayStream(batch.x, y, schema=sg.SEA().schema)
        live_test = LiveTest(measure=("accuracy", "kappa", "log_loss"))
        return sg.evaluate(stream, learners, labelling=labelling, live_test=live_test, every=500).verdicts

    verdicts = run(batch.y)
    assert {verdict.test for verdict in verdicts} == {"block_sequence"}
    assert run(np.where(hidden, 1 - batch.y, batch.y).astype(np.int32)) == verdicts
    others = np.random.default_rng(1).integers(0, 2, n)
    assert run(np.where(hidden, batch.y, others).astype(np.int32)) != verdicts


def test_with_late_labels_blocks_have_at_least_ten_times_the_delay() -> None:
    def first_row(delay: int) -> int:
        learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
        results = sg.evaluate(sg.SEA(n_rows=20_000), learners, labelling=Delayed(delay), every=100)
        return results.verdicts[0].row or 0

    assert first_row(12) >= 20 * 120
    assert first_row(50) >= 20 * 500


# What is refused, and what is not known yet


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"labelling": Delayed(10)}, "labels can be late or missing"),
        ({"scheme": sg.Bootstrap(5)}, "there are 5 folds"),
        ({"live_test": LiveTest(measure="kappa", exact=True)}, "kappa has none"),
    ],
)
def test_exact_sequences_are_refused_where_there_is_none(options: dict[str, object], reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        sg.Evaluation(sg.SEA(n_rows=100), PAIR, **{"live_test": LiveTest(exact=True), **options})  # type: ignore[arg-type]


def test_exact_and_asymptotic_sequences_can_be_chosen_for_one_fold() -> None:
    tests = [
        sg.evaluate(sg.SEA(n_rows=1000), PAIR, live_test=LiveTest(exact=exact)).verdicts[0].test
        for exact in (True, False)
    ]
    assert tests == ["empirical_bernstein", "block_sequence"]


@pytest.mark.parametrize(
    ("live_test", "reason"),
    [
        (LiveTest(measure="expected_calibration_error"), "not a smooth function"),
        (LiveTest(measure="kapa"), "kapa"),
        (LiveTest(measure=("kappa", "kappa")), "different measures"),
        (LiveTest(measure=()), "at least one"),
        (LiveTest(measure="kappa", rope={"f1[1]": 0.1}), "no live measure"),
        (LiveTest(measure="kappa", rope=1.5), "rope"),
        (LiveTest(measure="recall[up]"), "up"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_the_first_row(live_test: LiveTest, reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        sg.Evaluation(sg.SEA(n_rows=100), PAIR, live_test=live_test)


def test_a_rare_class_needs_two_hundred_rows_first() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(9000, 2))
    y = (x[:, 0] + generator.normal(size=9000) > 2.8).astype(np.int32)
    n_rare = int(np.cumsum(y)[4999])
    assert n_rare < 200 < y.sum() < 400
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    short = sg.evaluate(ArrayStream(x[:5000], y[:5000]), learners, live_test=LiveTest(measure="recall[1]"))
    (verdict,) = short.verdicts
    assert verdict.interval is None
    assert "of class 1 so far, 200 are needed" in verdict.note
    assert verdict.note in str(verdict)
    longer = sg.evaluate(ArrayStream(x, y), learners, live_test=LiveTest(measure="recall[1]"))
    assert longer.verdicts[0].interval is not None


def test_an_undefined_measure_is_said_to_be() -> None:
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    results = sg.evaluate(sg.SEA(n_rows=3000), learners, live_test=LiveTest(measure="precision[0]"))
    (verdict,) = results.verdicts  # the majority class is never 0
    assert (verdict.outcome, verdict.interval) == ("undecided", None)
    assert "precision[0] is undefined" in verdict.note


def test_the_default_measure_is_the_accuracy_or_the_first_that_can_be_tested() -> None:
    def compared(*measures: str) -> str:
        return sg.evaluate(sg.SEA(n_rows=500), PAIR, measures=measures).verdicts[0].measure

    assert compared("kappa", "accuracy") == "accuracy"
    assert compared("expected_calibration_error", "kappa", "f1[1]") == "kappa"
    assert compared("expected_calibration_error") == "accuracy"


def test_margins_are_in_the_unit_of_the_measure() -> None:
    cost = Cost(((0.0, 1.0), (20.0, 0.0)))
    live_test = LiveTest(measure=("kappa", cost), rope={"kappa": 0.04})
    results = sg.evaluate(sg.SEA(n_rows=2000), PAIR, measures=["accuracy", cost], live_test=live_test)
    assert [(v.measure, v.rope, v.unit) for v in results.verdicts] == [
        ("kappa", 0.04, "rate"),
        ("cost", 0.2, "per row"),
    ]
    assert [default_margin(measure(name)) for name in ("accuracy", "log_loss")] == [0.01, 0.01]


def test_a_learner_that_fails_leaves_the_verdicts_of_the_others() -> None:
    class Failing:
        def predict(self, x: object) -> int:
            del x
            return 0

        def learn(self, x: object, y: int) -> None:
            del x, y
            self.n = getattr(self, "n", 0) + 1
            if self.n > 700:
                msg = "enough"
                raise ValueError(msg)

    def run(learners: dict[str, object]) -> tuple[Verdict, ...]:
        live_test = LiveTest(measure=("kappa", "f1[1]"), shared=False)
        return sg.evaluate(sg.SEA(n_rows=3000), learners, live_test=live_test).verdicts

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FailureWarning)
        with_failure = run({**PAIR, "failing": Failing()})
    assert with_failure == run(dict(PAIR))


# Saved, repeated and written


def test_verdicts_in_several_measures_are_saved_and_repeated(tmp_path: Path) -> None:
    live_test = LiveTest(measure=("kappa", "precision[0]"), rope={"kappa": 0.03})
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    results = sg.evaluate(sg.SEA(n_rows=3000), learners, live_test=live_test)
    save(results, tmp_path / "run")
    loaded = load(tmp_path / "run")
    assert str(loaded.verdicts) == str(results.verdicts)  # NaN differs from itself
    assert loaded.differences is not None
    assert results.differences is not None
    assert loaded.differences.columns == results.differences.columns
    np.testing.assert_array_equal(loaded.differences.values, results.differences.values)
    assert sg.rerun(tmp_path / "run").same


def compare(*options: str) -> tuple[str, str, object]:
    common = ["compare", "--stream", "SEA(noise=0.1)", "--rows", "3000", "--learner", "NaiveBayes", "--quiet"]
    out, err, code = invoke(*common, "--learner", "MajorityClass", *options)
    return " ".join(out.split()), " ".join(err.split()), code


def test_the_command_line_takes_live_measures_and_margins() -> None:
    text, _, code = compare("--live-measure", "kappa", "--live-measure", "f1[1]", "--rope", "kappa=0.05")
    assert code == 0
    assert "NaiveBayes is better than MajorityClass in kappa, known since row" in text
    assert "NaiveBayes is better than MajorityClass in f1[1], known since row" in text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--rope", "much"), "--rope much: write a number"),
        (("--rope", "0.1", "--rope", "kappa=0.2"), "one number for all"),
        (("--rope", "0.1", "--rope", "0.2"), "set twice"),
        (("--live-measure", "kapa"), "kapa"),
        (("--rope", "kappa=0.1"), "no live measure 'kappa'"),
    ],
)
def test_wrong_options_are_explained(options: Sequence[str], reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        compare(*options)


def test_the_difference_is_that_of_the_readings() -> None:
    """Votes in bins would be off by more than a margin, so the areas themselves are compared."""
    generator = np.random.default_rng(2)
    x = generator.normal(size=(20_000, 3))
    y = (generator.random(20_000) < 1 / (1 + np.exp(5 - 1.5 * x[:, 0] - x[:, 1]))).astype(np.int32)
    names = ("pr_auc[1]", "roc_auc[1]", "kappa", "accuracy")
    results = sg.evaluate(ArrayStream(x, y), PAIR, measures=names, live_test=LiveTest(measure=names), every=300)
    for verdict in results.verdicts:
        first, second = (float(results.curve(name, verdict.measure)[-1, 0]) for name in PAIR)
        assert verdict.difference == pytest.approx(first - second, rel=1e-9)


def test_chunks_that_are_learnt_later_count_if_their_labels_are_there() -> None:
    options: dict[str, object] = {"scheme": Chunks(500), "live_test": LiveTest(measure="error")}
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    (some,) = sg.evaluate(sg.SEA(n_rows=4000), learners, labelling=Fraction(0.5), **options).verdicts  # type: ignore[arg-type]
    (every,) = sg.evaluate(sg.SEA(n_rows=4000), learners, **options).verdicts  # type: ignore[arg-type]
    assert some.difference == pytest.approx(every.difference, abs=0.05)


def test_too_few_folds_of_different_rows_are_said_to_decide_nothing() -> None:
    scheme = sg.CrossValidation(5, test="held_out")
    (verdict,) = sg.evaluate(sg.SEA(n_rows=1000), PAIR, scheme=scheme).verdicts
    assert "5 folds can decide nothing" in verdict.note


def test_what_is_no_live_test_is_refused_with_an_example() -> None:
    with pytest.raises(StreamgaugeError, match="pass a LiveTest"):
        sg.evaluate(sg.SEA(n_rows=100), PAIR, live_test="kappa")  # type: ignore[arg-type]


# It holds its level


def test_equal_learners_are_rarely_called_different_at_any_look() -> None:
    """A coin per row decides which of two predicts for the first; no claim is right. At most about 5 % are made."""
    claims = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        y = generator.integers(0, 2, 3000).astype(np.int32)
        good = np.where(generator.random(3000) < 0.85, y, 1 - y)
        poor = np.where(generator.random(3000) < 0.6, y, 1 - y)
        heads = generator.random(3000) < 0.5
        x = np.stack([np.where(heads, good, poor), np.where(heads, poor, good)], axis=1).astype(np.float64)
        learners = {name: Copy(column) for column, name in enumerate(("first", "second"))}
        results = sg.evaluate(
            ArrayStream(x, y), learners, live_test=LiveTest(measure="f1[1]", rope=0.0), every=50, backend=sg.Threads(1)
        )
        (verdict,) = results.verdicts
        claims += verdict.row is not None or verdict.earlier is not None
    assert claims <= 6  # 40 times 5 % is 2; more than 6 has a probability below 1 %


class Copy:
    """Predicts what a column says."""

    def __init__(self, column: int) -> None:
        self.column = column

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        return np.asarray(np.atleast_2d(x)[:, self.column], dtype=np.int32)

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:
        del x, y
