"""Models that cannot learn row by row: when they are fitted, on which rows, and that nothing leaks."""

from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import streamgauge as sg
from streamgauge._foreign import find_short_name
from streamgauge.checks import check_learner
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import AllLabels, Delayed
from streamgauge.learners import Encoded, Memoriser, OzaBag, PretrainedModel, Refitted, SEAEnsemble, as_spec
from streamgauge.records import Batch, Step
from streamgauge.schemes import BatchCrossValidation, Chunks, Holdout, Pretrained, TrainThenTest
from streamgauge.streams import ArrayStream, take
from tests.support.learner_checks import NUMERIC, is_seeded_apart, keeps_its_contract

STREAM = sg.RandomRBF(n_attributes=4)
SMALL_BOOSTING = LGBMClassifier(n_estimators=3, min_child_samples=2)


class Recorder:
    """A model that records the rows of its fits, by their first value."""

    fits: list[list[int]] = []  # noqa: RUF012  (shared by all copies)

    def fit(self, x, y):
        Recorder.fits.append(x[:, 0].astype(int).tolist())
        self.most = np.bincount(y).argmax()

    def predict(self, x):
        return np.full(len(x), self.most)


@pytest.fixture
def recorder():
    Recorder.fits = []
    return Recorder()


def count_rows(n):
    """Return a stream whose first attribute is the number of the row."""
    rng = np.random.default_rng(1)
    return ArrayStream(np.column_stack([np.arange(n), rng.random(n)]), rng.integers(0, 2, n))


def random_labels(n):
    rng = np.random.default_rng(3)
    return ArrayStream(rng.integers(0, 40, (n, 2)).astype(float), rng.integers(0, 2, n))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"every": 30}, [(0, 30), (0, 60), (0, 90)]),
        ({"every": 30, "window": 20}, [(10, 30), (40, 60), (70, 90)]),
        ({"every": 40, "window": 50, "first": 10}, [(0, 10), (0, 50), (40, 90)]),
        ({"first": 25}, [(0, 25)]),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_it_is_fitted_on_the_rows_that_its_options_name(recorder, options, expected, batch_size):
    sg.evaluate(count_rows(100), Refitted(recorder, **options), batch_size=batch_size, backend=sg.Threads(1))
    assert Recorder.fits == [list(range(*span)) for span in expected]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        (TrainThenTest(70), [(0, 70)]),
        (Pretrained(70), [(0, 70)]),
        (Chunks(50, TrainThenTest(70)), [(0, 70)]),
        (TrainThenTest(100), [(0, 100)]),
        (Pretrained(count_rows(35)), [(0, 35)]),
        (Pretrained(80, Holdout(every=80, size=10, source=count_rows(10))), [(0, 80)]),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 33, 70, 1000])
@pytest.mark.parametrize("labelling", [AllLabels(), Delayed(20)])
def test_it_is_fitted_on_all_training_rows_when_training_ends(recorder, scheme, expected, batch_size, labelling):
    options: dict[str, Any] = {
        "scheme": scheme,
        "batch_size": batch_size,
        "labelling": labelling,
        "backend": sg.Threads(1),
    }
    sg.evaluate(count_rows(100), Refitted(recorder), **options)
    assert Recorder.fits == [list(range(*span)) for span in expected]


def test_it_is_fitted_once_a_fold_on_the_rows_of_the_fold(recorder):
    sg.evaluate(count_rows(60), Refitted(recorder), scheme=BatchCrossValidation(3), backend=sg.Threads(1))
    assert len(Recorder.fits) == 3
    assert sorted(row for fit in Recorder.fits for row in fit) == sorted(2 * list(range(60)))


@pytest.mark.usefixtures("recorder")
def test_late_labels_count_when_they_arrive():
    tested = []

    class Watching(Recorder):
        def predict(self, x):
            tested.append(int(x[0, 0]))
            return super().predict(x)

    options: dict[str, Any] = {"labelling": Delayed(25), "batch_size": 10, "backend": sg.Threads(1)}
    sg.evaluate(count_rows(100), Refitted(Watching(), every=30), **options)
    assert Recorder.fits == [list(range(30)), list(range(60))]
    assert min(tested) == 55  # the label of row 29 arrives after the test of row 54


def test_nothing_leaks_into_a_memoriser():
    nearest = KNeighborsClassifier(n_neighbors=1)
    stream = ArrayStream(np.random.default_rng(2).random((4_000, 3)), np.random.default_rng(3).integers(0, 2, 4_000))
    learners = {"nearest": Refitted(nearest, every=1), "tree": Refitted(DecisionTreeClassifier(), every=100)}
    for scheme in (sg.Prequential(), Pretrained(200), sg.Bootstrap(2)):
        results = sg.evaluate(stream, learners, scheme=scheme, n_rows=700)
        assert (np.abs(results.values[-1] - 0.5) < 0.08).all(), scheme  # 3.6 standard errors of 500 tested rows
    same = sg.evaluate(random_labels(1_000), {"ours": Refitted(Memoriser(), every=1), "plain": Memoriser()})
    # A memoriser fitted on all rows after every row is one that learns row by row, except for its guesses.
    assert abs(float(same.values[-1, 0].item() - same.values[-1, 1].item())) < 0.05


def test_a_row_is_predicted_by_the_model_before_the_fit_that_it_completes():
    rows = take(STREAM, 60)
    predictions, _ = (
        Refitted(KNeighborsClassifier(1), every=30).build(STREAM.schema, 1).interleave(Step(rows), with_votes=False)
    )
    majority, _ = sg.MajorityClass().build(STREAM.schema, 1).interleave(Step(rows), with_votes=False)
    np.testing.assert_array_equal(predictions[:30], majority[:30])
    nearest = KNeighborsClassifier(1).fit(rows.x[:30], rows.y[:30])
    np.testing.assert_array_equal(predictions[30:], nearest.predict(rows.x[30:]))


@pytest.mark.parametrize(
    ("model", "mixed"),
    [
        (DecisionTreeClassifier(), True),
        (RandomForestClassifier(3, n_jobs=2), True),
        (SMALL_BOOSTING, True),
        (SVC(), False),
        (LogisticRegression(), False),
        (KNeighborsClassifier(), False),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
        (DummyClassifier(), True),
        (sg.HoeffdingTree(), True),
        (OzaBag(n_members=2), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_it_keeps_the_contract_of_a_learner(model, mixed):
    keeps_its_contract(Refitted(model, every=15, window=25, first=5), mixed=mixed)
    keeps_its_contract(Refitted(model, every=20), mixed=mixed)


def test_it_keeps_the_contract_without_a_fit():
    check_learner(Refitted(DecisionTreeClassifier()), MIXED, n_rows=50)


def test_every_fit_and_fold_has_a_seed_of_its_own():
    assert is_seeded_apart(Refitted(DecisionTreeClassifier(max_features=1), every=50))
    assert is_seeded_apart(Refitted(RandomForestClassifier(3), every=50))
    assert Refitted(LogisticRegression(), every=5).seedless is False
    assert Refitted(sg.NaiveBayes(), every=5).seedless is True


def test_the_numbers_depend_neither_on_batches_nor_on_threads():
    learners = [
        Refitted(DecisionTreeClassifier(max_features=1), every=120, window=300),
        Refitted(LGBMClassifier(n_estimators=5), every=200, first=50),
    ]
    options: dict[str, Any] = {"scheme": sg.Bootstrap(2), "n_rows": 700, "every": 100}
    expected = sg.evaluate(STREAM, learners, backend=sg.Threads(1), **options).values
    found = sg.evaluate(STREAM, learners, backend=sg.Threads(2), **options).values
    np.testing.assert_array_equal(found, expected)
    for batch_size in (1, 64):
        found = sg.evaluate(STREAM, learners, batch_size=batch_size, backend=sg.Threads(1), **options).values
        np.testing.assert_array_equal(found, expected)
    many = Refitted(LGBMClassifier(n_estimators=5, n_jobs=2), every=200, first=50)
    np.testing.assert_array_equal(sg.evaluate(STREAM, many, **options).values[:, 0], expected[:, 1])


@pytest.mark.parametrize("scheme", [sg.Prequential(), TrainThenTest(250), Pretrained(STREAM.__class__(n_rows=90))])
def test_a_restart_changes_nothing(tmp_path, scheme):
    learner = Refitted(DecisionTreeClassifier(max_features=1), every=100, window=150)
    if scheme != sg.Prequential():
        learner = Refitted(DecisionTreeClassifier(max_features=1))
        scheme = Pretrained(sg.RandomRBF(n_rows=90)) if isinstance(scheme, Pretrained) else scheme
    options: dict[str, Any] = {"scheme": scheme, "every": 50, "batch_size": 40, "backend": sg.Threads(1)}
    stream = sg.RandomRBF()
    whole = sg.evaluate(stream, learner, n_rows=600, **options)
    for stop in (120, 240, 280, 400):
        folder = tmp_path / str(stop)
        evaluation = sg.Evaluation(stream, learner, n_rows=600, checkpoint=folder, checkpoint_every=40, **options)
        evaluation.stop_after = stop
        evaluation.run()
        again = sg.evaluate(stream, learner, n_rows=600, checkpoint=folder, resume=True, **options)
        np.testing.assert_array_equal(again.values, whole.values)


@pytest.mark.filterwarnings("ignore:.*cannot learn row by row")
def test_models_of_other_libraries_are_taken_as_they_are():
    spec: Any = as_spec(DecisionTreeClassifier())
    assert spec.needs_training
    pipeline = make_pipeline(StandardScaler(), SVC())
    assert find_short_name(as_spec(pipeline)) == "SVC"
    models = [DecisionTreeClassifier(), LGBMClassifier(n_estimators=5), RandomForestClassifier(5), pipeline]
    stream = sg.RandomRBF(n_rows=2_000)
    majority = sg.evaluate(stream, sg.MajorityClass()).values[-1].item()
    for scheme in (TrainThenTest(1_000), sg.Prequential()):
        results = sg.evaluate(stream, models, scheme=scheme)
        assert results.learners == ("DecisionTreeClassifier", "LGBMClassifier", "RandomForestClassifier", "SVC")
        assert (results.values[-1] > majority + 0.05).all()


def test_train_then_test_gives_the_accuracy_of_scikit_learn():
    rows = take(STREAM, 1_500)
    ours = sg.evaluate(ArrayStream(rows.x, rows.y), LogisticRegression(), scheme=TrainThenTest(500)).values[-1].item()
    assert ours == LogisticRegression().fit(rows.x[:500], rows.y[:500]).score(rows.x[500:], rows.y[500:])


def test_without_training_and_without_every_it_is_fitted_regularly():
    evaluation = sg.Evaluation(sg.RandomRBF(n_rows=2_500), DecisionTreeClassifier())
    spec: Any = evaluation.specs["DecisionTreeClassifier"]
    assert spec == Refitted(spec.estimator, every=1_000, window=10_000, first=100)


def test_weights_are_respected():
    rows = take(STREAM, 400)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 400)
    learner: Any = Refitted(DecisionTreeClassifier(max_depth=2)).build(STREAM.schema, 1)
    learner.learn(rows.x, rows.y, weight)
    learner.end_training()
    tree = DecisionTreeClassifier(max_depth=2, random_state=1).fit(rows.x, rows.y, sample_weight=weight)
    np.testing.assert_allclose(learner.predict(rows.x), tree.predict_proba(rows.x))
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2))
    pipeline: Any = Refitted(model).build(STREAM.schema, 1)
    pipeline.learn(rows.x, rows.y, weight)
    pipeline.end_training()
    np.testing.assert_allclose(pipeline.predict(rows.x), tree.predict_proba(rows.x))


def test_a_model_without_weights_learns_copies_and_refuses_fractions():
    copies = Refitted(KNeighborsClassifier(1), every=2).build(STREAM.schema, 1)
    rows = take(STREAM, 2)
    copies.learn(rows.x, np.array([0, 1], dtype=np.int32), np.array([2.0, 1.0]))
    assert copies.predict(rows.x).argmax(axis=1).tolist() == [0, 1]
    with pytest.raises(StreamgaugeError, match="cannot be fitted on 4 rows: KNeighborsClassifier takes no sample_wei"):
        copies.learn(rows.x, np.array([0, 1], dtype=np.int32), np.array([0.5, 1.0]))


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), LogisticRegression(), SMALL_BOOSTING, SVC()])
def test_rows_of_one_class_make_a_model_that_predicts_it(model):
    rows = take(STREAM, 30)
    learner = Refitted(model, every=10).build(STREAM.schema, 1)
    learner.learn(rows.x, np.ones(30, dtype=np.int32), None)
    assert (learner.predict(rows.x).argmax(axis=1) == 1).all()


def test_a_class_that_is_missing_in_the_window_gets_no_votes():
    batch = sample_batch(MIXED, 60)
    learner = Refitted(DecisionTreeClassifier(), every=20, window=20).build(MIXED, 1)
    learner.learn(batch.x, np.where(batch.y == 1, 2, batch.y).astype(np.int32), None)
    votes = learner.predict(batch.x)
    assert votes.shape == (60, 3)
    assert (votes[:, 1] == 0).all()


def test_categories_reach_models_by_name_and_missing_values_as_missing():
    batch = sample_batch(MIXED, 600)
    stream = ArrayStream(batch.x, batch.y, schema=MIXED)
    columns = ColumnTransformer(
        [("names", OneHotEncoder(handle_unknown="ignore"), ["colour", "is_round"])],
        remainder=SimpleImputer(),
    )
    models = {
        "boosting": LGBMClassifier(n_estimators=10, min_child_samples=5),
        "pipeline": make_pipeline(columns, LogisticRegression()),
        "tree": DecisionTreeClassifier(max_depth=4),
    }
    results = sg.evaluate(stream, models, scheme=TrainThenTest(300))
    majority = sg.evaluate(stream, sg.MajorityClass(), scheme=TrainThenTest(300)).values[-1].item()
    assert (results.values[-1] > majority + 0.1).all()
    with pytest.raises(StreamgaugeError, match="takes no missing values, and the column 'colour' has some"):
        sg.evaluate(stream, LogisticRegression())


def test_a_failing_fit_names_model_rows_and_row():
    class Picky(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, x, y, sample_weight=None):
            if len(y) > 100:
                msg = "too many rows\nand more words"
                raise ValueError(msg)
            return super().fit(x, y, sample_weight)

    learners = {"picky": Refitted(Picky(), every=60), "bayes": sg.NaiveBayes()}
    with pytest.warns(sg.errors.FailureWarning):
        results = sg.evaluate(STREAM, learners, n_rows=300, every=50, batch_size=90)
    failure = results.failures[0]
    assert failure.row == 119
    assert failure.error == "Picky cannot be fitted on 120 rows: ValueError: too many rows"
    assert not np.isnan(results.values[1, 0]).any()
    assert np.isnan(results.values[2, 0]).all()
    for batch_size in (50, 150, 1000):
        with pytest.raises(StreamgaugeError, match="at row 149: Picky cannot be fitted on 150 rows"):
            sg.evaluate(STREAM, Refitted(Picky()), scheme=TrainThenTest(150), n_rows=300, batch_size=batch_size)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Refitted(DecisionTreeClassifier(), every=0), "every = 0: it must be a whole number of at least 1"),
        (lambda: as_spec(KMeans()), "KMeans is a clusterer; streamgauge evaluates classifiers and regressors"),
        (
            lambda: sg.evaluate(sg.SEA(n_rows=10), DecisionTreeRegressor()),
            "'DecisionTreeRegressor' is for regression, and the task of this stream is classification",
        ),
        (
            lambda: sg.evaluate(sg.SEA(n_rows=10), {"bag": OzaBag(DecisionTreeRegressor())}),
            "'bag' with DecisionTreeRegressor inside is for regression, and the task of this stream is classification",
        ),
        (lambda: Refitted(42), "this is not a learner: 42"),
        (lambda: Refitted(Refitted(sg.NaiveBayes(), every=5), every=7), "is fitted again already"),
        (lambda: OzaBag(DecisionTreeClassifier()).build(NUMERIC, 1), r"Refitted\(..., every=1000\)"),
    ],
)
def test_wrong_options_are_refused(make, complaint):
    with pytest.raises(StreamgaugeError, match=complaint):
        make()


@pytest.mark.filterwarnings("ignore:.*cannot learn row by row")
def test_wrappers_and_encoders_take_it():
    stream = sg.RandomRBF(n_rows=1_500)
    majority = sg.evaluate(stream, sg.MajorityClass()).values[-1].item()
    learners = {
        "bag": OzaBag(Refitted(DecisionTreeClassifier(), every=100), n_members=2),
        "past": PretrainedModel(DecisionTreeClassifier(), on=sg.RandomRBF(n_rows=1_000, sample=1)),
        "encoded": Encoded(DecisionTreeClassifier()),
        "chunks": SEAEnsemble(Encoded(DecisionTreeClassifier())),
    }
    results = sg.evaluate(stream, learners)
    assert (results.values[-1] > majority + 0.03).all()


def test_the_time_of_fits_is_charged_to_the_learner():
    class Slow(DecisionTreeClassifier):  # type: ignore[misc]
        def fit(self, x, y):
            total = 0
            for i in range(3_000_000):
                total += i
            return super().fit(x, y)

    learners = {"slow": Refitted(Slow()), "quick": Refitted(DecisionTreeClassifier())}
    options: dict[str, Any] = {
        "scheme": TrainThenTest(100),
        "n_rows": 200,
        "every": 100,
        "resources": True,
        "backend": sg.Threads(1),
    }
    resources = sg.evaluate(STREAM, learners, **options).resources
    assert resources is not None
    costs = resources.cpu_seconds
    slow, quick = costs[0, :, 0]  # the fit comes before the reading at the end of training
    assert slow > quick + 0.03


def test_its_size_includes_the_collected_rows_and_is_bounded_by_the_window():
    rows = take(STREAM, 5_000)
    growing, bounded, done = (
        Refitted(DecisionTreeClassifier(), **options).build(STREAM.schema, 1)
        for options in ({"every": 10_000}, {"every": 10_000, "window": 100}, {"first": 50})
    )
    for learner in (growing, bounded, done):
        for start in range(0, 5_000, 50):
            learner.learn(rows.x[start : start + 50], rows.y[start : start + 50], None)
    assert growing.n_bytes > 5_000 * 44
    assert bounded.n_bytes < 1_000 * 44
    assert done.n_bytes < 1_000 * 44
    assert len(bounded.save()) < 20_000


def test_rows_without_labels_are_not_collected(recorder):
    stream = count_rows(60)
    batch = next(iter(stream.batches(60)))
    hidden = Batch(0, batch.x, np.where(np.arange(60) % 2 == 0, -1, batch.y).astype(np.int32))
    Refitted(recorder, every=10).build(stream.schema, 1).interleave(Step(hidden), with_votes=False)
    assert [len(fit) for fit in Recorder.fits] == [10, 20, 30]
    assert all(row % 2 for fit in Recorder.fits for row in fit)


def test_a_category_that_an_encoder_has_not_seen_is_refused_with_what_to_do():
    stream = ArrayStream(np.arange(100.0).reshape(-1, 1), np.arange(100) % 2)
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    with pytest.raises(
        StreamgaugeError, match=r"at row 30: Found unknown categories .* set its handle_unknown='ignore'"
    ):
        sg.evaluate(stream, Refitted(model, every=30), backend=sg.Threads(1))
