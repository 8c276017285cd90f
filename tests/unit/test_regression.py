"""Numeric targets from end to end: every scheme, labelling and backend, in the same loop as classes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.backends import Threads
from streamgauge.errors import FailureWarning, StreamgaugeError
from streamgauge.forgetting import Fading, Landmark, Tumbling, Window
from streamgauge.labelling import AllLabels, Delayed, Fraction
from streamgauge.learners import Encoded, LinearRegression, MeanTarget, Memoriser, NoChange, PythonLearner, Refitted
from streamgauge.randomness import uniform
from streamgauge.records import Attribute, Batch, NumericTarget, Schema
from streamgauge.results import ConfusionMatrices, Misclassified, Predictions
from streamgauge.schemes import Bootstrap, Chunks, CrossValidation, Holdout, Prequential, Split, TrainThenTest
from streamgauge.streams import ArrayStream, File, FriedmanFunction, Planes, take, write

SCHEMES = [
    Prequential(),
    Chunks(50),
    CrossValidation(5),
    Bootstrap(5),
    Split(5),
    Holdout(every=500, size=200),
    TrainThenTest(300),
]
LABELLINGS = [AllLabels(), Delayed(70), Fraction(0.3)]
BASELINES = {"memoriser": Memoriser(), "mean": MeanTarget(), "last": NoChange()}


def make_random_stream(n: int = 2_000, n_values: int = 400) -> ArrayStream:
    """Return rows of few different values, which come again, whose targets are random."""
    x = np.floor(n_values * uniform(1, "x", 0, 0, n))[:, np.newaxis]
    return ArrayStream(x, 1e4 + uniform(1, "y", 0, 0, n), numeric="y", name="random")


@pytest.mark.parametrize("labelling", LABELLINGS, ids=repr)
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("score", ["first", "last", "labelled"])
def test_a_memoriser_is_no_better_than_the_mean_on_random_targets(scheme: Any, labelling: Any, score: Any) -> None:
    results = sg.evaluate(
        make_random_stream(),
        BASELINES,
        scheme=scheme,
        labelling=labelling,
        score=score,
        measures=["mae", "rmse", "r2", "rae", "rae_no_change"],
        every=500,
    )
    values = {name: results.values[-1, index].mean(axis=0)[0] for index, name in enumerate(results.learners)}
    assert values["memoriser"][0] > 0.95 * values["mean"][0]
    assert values["memoriser"][2] < 0.05
    if score != "last" or isinstance(labelling, AllLabels):
        # With their own predictions as baselines these are exact; a last prediction is scored beside later baselines.
        np.testing.assert_array_equal(results.values[:, 1, ..., 3], 1.0)
        np.testing.assert_array_equal(results.values[:, 2, ..., 4], 1.0)


def test_what_a_fold_tests_before_its_first_target_is_not_scored() -> None:
    results = sg.evaluate(FriedmanFunction(n_rows=300), MeanTarget(), every=100)
    assert results.feedback is not None
    assert results.feedback.n_scored == (299,)
    y = take(FriedmanFunction(), 300).y
    means = np.cumsum(y)[:-1] / np.arange(1, 300)
    assert results.final("MeanTarget", "mae").mean == pytest.approx(np.abs(means - y[1:]).mean(), rel=1e-12)


OPTIONS: list[dict[str, Any]] = [
    {"batch_size": 7},
    {"backend": Threads(2)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: repr(next(iter(options.values()))))
def test_the_same_bits_however_it_runs(options: dict[str, Any]) -> None:
    def run(**options: Any) -> sg.Results:
        return sg.evaluate(
            FriedmanFunction(n_rows=1_500),
            [LinearRegression(), Memoriser(), MeanTarget()],
            scheme=Bootstrap(3),
            labelling=Delayed(20),
            measures="all",
            forgetting=[Landmark(), Window(100), Fading(0.99), Tumbling(70)],
            detectors="Adwin",
            every=250,
            **options,
        )

    plain, other = run(), run(**options)
    np.testing.assert_array_equal(plain.values, other.values)
    assert plain.alarms == other.alarms
    assert [str(verdict) for verdict in plain.verdicts] == [str(verdict) for verdict in other.verdicts]
    assert plain.blocks is not None
    assert other.blocks is not None
    np.testing.assert_array_equal(plain.blocks.numbers, other.blocks.numbers)


@pytest.mark.parametrize("stop", [400, 700])
def test_a_restarted_run_has_the_same_bits(tmp_path: Any, stop: int) -> None:
    def build(**options: Any) -> sg.Evaluation:
        return sg.Evaluation(
            FriedmanFunction(n_rows=1_000),
            [LinearRegression(), Encoded(LinearRegression()), Memoriser(), NoChange()],
            scheme=CrossValidation(3),
            labelling=Delayed(30),
            measures=["mae", "r2", "rrse"],
            forgetting=[Landmark(), Window(100), Fading(0.99), Fading(0.9, chunk=20)],
            every=100,
            **options,
        )

    whole = build().run()
    first = build(checkpoint=tmp_path, checkpoint_every=100)
    first.stop_after = stop
    first.run()
    resumed = build(checkpoint=tmp_path, checkpoint_every=100, resume=True).run()
    np.testing.assert_array_equal(whole.values, resumed.values)


def test_all_learners_of_numbers_find_a_plane() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    tree = pytest.importorskip("sklearn.tree")
    learners = {
        "ours": LinearRegression(),
        "encoded": Encoded(LinearRegression()),
        "sgd": linear_model.SGDRegressor(),
        "tree": Refitted(tree.DecisionTreeRegressor(max_depth=8), every=500, window=2_000),
        "mean": MeanTarget(),
    }
    results = sg.evaluate(Planes(n_rows=3_000), learners, measures=["rmse", "rrse"])
    assert not results.failures
    values = results.values[-1, :, 0, 0, 1]
    assert (values[:4] < 0.95).all()
    assert values[4] == 1.0


def test_regressors_of_river_predict_what_river_predicts() -> None:
    linear = pytest.importorskip("river.linear_model")
    rows = take(FriedmanFunction(), 400)
    theirs, errors = linear.LinearRegression(), []
    for x, y in zip(rows.x, rows.y.tolist(), strict=True):
        row = {f"a{i + 1}": value for i, value in enumerate(x.tolist())}
        errors.append(abs(theirs.predict_one(row) - y))
        theirs.learn_one(row, y)
    results = sg.evaluate(FriedmanFunction(n_rows=400), linear.LinearRegression())
    assert results.final("LinearRegression", "mae").mean == pytest.approx(np.mean(errors[1:]), rel=1e-12)


class Silent:
    """Predicts the first attribute, but abstains on every third call."""

    def __init__(self) -> None:
        self.n = 0

    def predict(self, x: Any) -> Any:
        return x[:, 0] if self.n % 3 else np.full(len(x), np.nan)

    def learn(self, x: Any, y: Any) -> None:
        self.n += len(y[: len(x)])


def test_an_abstention_counts_as_the_mean_so_far() -> None:
    rows = take(FriedmanFunction(), 200)
    results = sg.evaluate(FriedmanFunction(n_rows=200), {"silent": Silent()}, measures=["mae", "prediction_share"])
    means = np.concatenate([[np.nan], np.cumsum(rows.y)[:-1] / np.arange(1, 200)])
    predicted = np.where(np.arange(200) % 3, rows.x[:, 0], means)[1:]
    assert results.final("silent", "mae").mean == pytest.approx(np.abs(predicted - rows.y[1:]).mean(), rel=1e-12)
    assert results.final("silent", "prediction_share").mean == pytest.approx(np.mean(np.arange(1, 200) % 3 > 0))


class Diverging:
    """Predicts ever larger numbers."""

    def __init__(self) -> None:
        self.value = 1.0

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.value)

    def learn(self, x: Any, y: Any) -> None:
        self.value *= 1e3 ** len(y[: len(x)])


def test_a_learner_that_diverges_fails_and_the_others_go_on() -> None:
    with pytest.warns(FailureWarning, match="it has diverged"):
        results = sg.evaluate(
            FriedmanFunction(n_rows=200), {"bad": PythonLearner(Diverging()), "mean": MeanTarget()}, every=20
        )
    assert results.failures[0].row == 51  # 1e153
    assert np.isnan(results.curve("bad", "mae")[-1, 0])
    assert np.isfinite(results.curve("mean", "mae")).all()


def test_unknown_targets_are_neither_scored_nor_learnt() -> None:
    rows = take(FriedmanFunction(), 500)
    y = np.where(np.arange(500) % 4 == 1, np.nan, rows.y)
    some = sg.evaluate((rows.x, y), [LinearRegression(), MeanTarget()], numeric="y")
    known = ~np.isnan(y)
    only = sg.evaluate((rows.x[known], y[known]), [LinearRegression(), MeanTarget()], numeric="y")
    np.testing.assert_array_equal(some.values[-1], only.values[-1])
    assert some.feedback is not None
    assert some.feedback.n_unknown == 125


def test_detectors_see_when_errors_grow() -> None:
    x = take(FriedmanFunction(), 4_000).x
    y = 100.0 * np.where(np.arange(4_000) < 2_000, x[:, 0], 1.0 - x[:, 0])
    results = sg.evaluate((x, y), LinearRegression(), numeric="y", detectors=["Adwin", "PageHinkley"])
    seen = {alarm.detector.partition("(")[0] for alarm in results.alarms if 2_000 <= alarm.row < 2_200}
    assert seen == {"Adwin", "PageHinkley"}


@pytest.mark.parametrize("scheme", [Prequential(), Bootstrap(5), CrossValidation(5)], ids=repr)
def test_verdicts_compare_errors(scheme: Any) -> None:
    learners = {"linear": LinearRegression(), "mean": MeanTarget()}
    results = sg.evaluate(FriedmanFunction(n_rows=6_000), learners, scheme=scheme, measures=["mae", "r2"], every=500)
    (verdict,) = results.verdicts
    assert (verdict.better, verdict.measure, verdict.greater_is_better) == ("linear", "mae", False)
    comparison = sg.compare(results)
    assert (comparison.better, comparison.measure) == ("linear", "mae")
    difference = results.final("linear", "mae").mean - results.final("mean", "mae").mean
    assert comparison.difference == pytest.approx(difference, rel=1e-9)
    assert sg.compare(results, measure="r2").better == "linear"
    with pytest.raises(StreamgaugeError, match="accuracy"):
        sg.compare(results, test="mcnemar")


def test_what_is_for_another_task_is_refused_before_the_first_row() -> None:
    with pytest.raises(StreamgaugeError, match="kappa is a measure of classification, and the task of this stream is"):
        sg.evaluate(FriedmanFunction(), MeanTarget(), measures="kappa", n_rows=10)
    with pytest.raises(StreamgaugeError, match="rmse is a measure of regression"):
        sg.evaluate(sg.SEA(), sg.NaiveBayes(), measures="rmse", n_rows=10)
    with pytest.raises(StreamgaugeError, match="'NaiveBayes' is for classification, and the task of this stream is"):
        sg.evaluate(FriedmanFunction(), sg.NaiveBayes(), n_rows=10)
    with pytest.raises(StreamgaugeError, match="'MeanTarget' is for regression"):
        sg.evaluate(sg.SEA(), MeanTarget(), n_rows=10)
    with pytest.raises(StreamgaugeError, match="moa_compatible counts classes"):
        sg.evaluate(FriedmanFunction(), MeanTarget(), forgetting=Window(10, moa_compatible=True), n_rows=10)


def test_a_schema_has_either_classes_or_a_numeric_target() -> None:
    attributes = (Attribute("a"),)
    with pytest.raises(StreamgaugeError, match="both classes and a numeric target, 'price'"):
        Schema(attributes, ("up", "down"), NumericTarget("price"))
    with pytest.raises(StreamgaugeError, match="no classes, and no numeric target"):
        Schema(attributes)
    with pytest.raises(StreamgaugeError, match=r"row 1: the target inf is not a number from"):
        ArrayStream([[1.0], [2.0]], [1.0, np.inf], numeric="y")
    batch = replace(take(FriedmanFunction(), 3), y=np.zeros(3, dtype=np.int32))
    with pytest.raises(StreamgaugeError, match="the target 'y' is a number, and y has the type int32"):
        FriedmanFunction().schema.check(batch)


def test_targets_far_from_zero_have_the_same_r2() -> None:
    rows = take(FriedmanFunction(), 2_000)
    near, far = (
        sg.evaluate((rows.x, rows.y + shift), MeanTarget(), numeric="y", measures="r2", forgetting=Window(300))
        for shift in (0.0, 1e9)
    )
    np.testing.assert_allclose(near.values[1:], far.values[1:], rtol=1e-5, atol=1e-6)


def test_detectors_that_need_0_and_1_are_refused() -> None:
    with pytest.raises(StreamgaugeError, match=r"detector 'EDDM.*' takes only 0 and 1, and the losses of regression"):
        sg.evaluate(FriedmanFunction(), MeanTarget(), detectors=["Adwin", "EDDM"], n_rows=10)


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.arff", "rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("weighted", [False, True])
def test_files_hold_numeric_targets(tmp_path: Any, name: str, weighted: bool) -> None:
    x = np.column_stack([[0.5, 1.5, np.nan, 3.5], [0.0, 1.0, np.nan, 0.0]])
    attributes = (Attribute("size", missing=True), Attribute("day", ("mo", "tu"), missing=True))
    schema = Schema(attributes, target=NumericTarget("price"))
    y, weight = np.array([np.nan, 1e-3, np.nan, -7.25]), np.array([1.0, 0.5, 2.0, 0.0]) if weighted else None
    stream = ArrayStream.from_batch(Batch(0, x, y, weight), schema)
    assert write(stream, tmp_path / name) == 4
    weight_column = "weight" if weighted and name != "rows.arff" else None
    read = File(tmp_path / name, target="price", numeric=("price",), weight=weight_column)
    assert read.schema.target == NumericTarget("price", origin=1e-3)
    assert read.n_rows == 4
    for start in (0, 3):
        for size in (1, 3):
            rows = list(read.batches(size, start))
            np.testing.assert_array_equal(np.concatenate([batch.x for batch in rows]), x[start:])
            np.testing.assert_array_equal(np.concatenate([batch.y for batch in rows]), y[start:])
            if weight is not None:
                np.testing.assert_array_equal(np.concatenate([batch.weight for batch in rows]), weight[start:])


def test_a_file_and_a_frame_ask_before_they_predict_numbers(tmp_path: Any) -> None:
    rows = take(FriedmanFunction(), 200)
    write(ArrayStream.from_batch(rows, FriedmanFunction().schema), tmp_path / "rows.csv")
    frame = {f"a{i + 1}": column for i, column in enumerate(rows.x.T)} | {"y": rows.y}
    for stream in (str(tmp_path / "rows.csv"), frame):
        with pytest.raises(StreamgaugeError, match=r"was regression meant\? Pass numeric=\('y',\) \(--numeric y\)"):
            sg.evaluate(stream, LinearRegression(), target="y")
    of_file, of_frame = (
        sg.evaluate(stream, LinearRegression(), target="y", numeric="y", every=50).values
        for stream in (str(tmp_path / "rows.csv"), frame)
    )
    np.testing.assert_array_equal(of_file, of_frame)
    names = {"a": [1.0, 2.0], "y": ["low", "high"]}
    with pytest.raises(StreamgaugeError, match="'low' is neither a number nor a time"):
        sg.evaluate(names, LinearRegression(), target="y", numeric="y")
    write(ArrayStream([[1.0], [2.0]], ["low", "high"]), tmp_path / "names.csv")
    with pytest.raises(StreamgaugeError, match=r"low"):
        sg.evaluate(str(tmp_path / "names.csv"), LinearRegression(), target="class", numeric="class")


def test_predictions_are_recorded_and_results_saved(tmp_path: Any) -> None:
    rows = take(FriedmanFunction(), 300)
    path = tmp_path / "predictions.parquet"
    learners = {"linear": LinearRegression(), "mean": MeanTarget()}
    results = sg.evaluate(
        FriedmanFunction(n_rows=300),
        learners,
        labelling=Delayed(10),
        measures=["mae", "Pinball(0.9)"],
        recorders=[Predictions(path)],
        every=100,
    )
    recorded = File(path, target="true", numeric=("true",))
    batch = next(recorded.batches(10_000))
    of_mean = batch.x[:, 2] == 1.0
    assert results.feedback is not None
    assert len(batch) == 2 * results.feedback.n_scored[0]
    row = batch.x[of_mean, 0].astype(int)
    np.testing.assert_array_equal(batch.y[of_mean], rows.y[row])
    error = np.abs(batch.x[of_mean, 4] - batch.y[of_mean]).mean()
    assert results.final("mean", "mae").mean == pytest.approx(error, rel=1e-12)
    results.save(tmp_path / "run")
    loaded = sg.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.values, results.values)
    assert str(sg.compare(loaded)) == str(sg.compare(results))
    assert sg.compare(loaded, measure="pinball(0.9)").better == "linear"


@pytest.mark.parametrize("function", ["median_absolute_error", "max_error", "mean_absolute_error"])
def test_functions_of_numbers_are_measures(function: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rows = take(FriedmanFunction(), 300)
    results = sg.evaluate(
        FriedmanFunction(n_rows=300), NoChange(), measures=getattr(metrics, function), forgetting=Window(90)
    )
    expected = getattr(metrics, function)(rows.y[210:], rows.y[209:299])
    assert results.final("NoChange", function).mean == pytest.approx(expected, rel=1e-12)


def test_recorders_of_classes_are_refused(tmp_path: Any) -> None:
    for recorder in (ConfusionMatrices(tmp_path / "c.csv"), Misclassified(tmp_path)):
        with pytest.raises(StreamgaugeError, match="needs classes, and the target 'y' is a number"):
            sg.evaluate(FriedmanFunction(), MeanTarget(), n_rows=10, recorders=[recorder])


def test_budgets_of_errors_and_of_baselines_are_judged() -> None:
    learners = {"linear": LinearRegression(), "mean": MeanTarget()}
    budgets = ["mae<3", "beats mean", "beats no change"]
    results = sg.evaluate(
        FriedmanFunction(n_rows=6_000), learners, measures=["mae", "rmse"], budgets=budgets, every=500
    )
    outcomes = {(one.learner, one.requirement): one.outcome for one in results.model_verdicts}
    assert outcomes["linear", "mae<3"] == "kept"
    assert outcomes["mean", "mae<3"] == "broken"
    assert outcomes["linear", "beats mean"] == outcomes["linear", "beats no change"] == "kept"
    assert outcomes["mean", "beats mean"] != "kept"
    assert outcomes["mean", "beats no change"] == "kept"
    for budget, reason in (
        ("error<0.05", "error is a measure of classification, and the task is regression"),
        ("mae<-1", "the limit of mae must be above 0"),
        ("r2>1.5", "the limit of r2 must be below 1"),
        ("r2<0.5", "a greater r2 is better"),
        ("rmse<reference(2000)", "rmse is no mean over rows, so it has no reference period"),
    ):
        with pytest.raises(StreamgaugeError, match=reason):
            sg.evaluate(FriedmanFunction(), MeanTarget(), budgets=budget, n_rows=10)
