"""scikit-learn pipelines over rows with names of categories and gaps."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import ScikitLearn, as_spec
from streamgauge.learners.adapters.scikit_learn import copy_estimator
from streamgauge.records import Step
from streamgauge.schemes import TrainThenTest
from streamgauge.streams import take
from tests.support.messy_rows import MESSY, make_messy_stream

N = 1_200
NUMBERS, NAMES = ["amount", "age"], ["country", "channel"]


def encode(**options: Any) -> ColumnTransformer:
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore", **options), NAMES),
    )


def select_numbers(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[["amount", "age"]].fillna(0.0)


PIPELINES = {
    "columns": make_pipeline(encode(), SGDClassifier(loss="log_loss")),
    "dense columns": make_pipeline(encode(sparse_output=False), StandardScaler(), SGDClassifier(loss="log_loss")),
    "selectors": make_pipeline(
        make_column_transformer(
            (SimpleImputer(), make_column_selector(dtype_include=np.number)),
            (
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
                make_column_selector(dtype_exclude=np.number),
            ),
        ),
        GaussianNB(),
    ),
    "dtype category": make_pipeline(
        make_column_transformer(
            (SimpleImputer(), make_column_selector(dtype_include=np.number)),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        ),
        SGDClassifier(),
    ),
    "all names": make_pipeline(OneHotEncoder(handle_unknown="ignore"), BernoulliNB()),
    "imputer of codes": make_pipeline(SimpleImputer(strategy="most_frequent"), MinMaxScaler(), GaussianNB()),
    "nested": make_pipeline(
        make_pipeline(SimpleImputer(), StandardScaler()), make_pipeline(PCA(2), MLPClassifier((3,)))
    ),
    "union": make_pipeline(
        SimpleImputer(), make_union(PolynomialFeatures(), SelectKBest(k=1)), OneVsRestClassifier(SGDClassifier())
    ),
    "scaler first": make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True), SGDClassifier()),
    "frame as output": make_pipeline(encode(sparse_output=False).set_output(transform="pandas"), GaussianNB()),
}


ARRAYS = {"imputer of codes", "nested", "union", "scaler first"}


def make_rows(name: str, x: Any) -> Any:
    """Return the rows that a user would pass to a pipeline; a gap is NaN, as pandas reads it from a file."""
    if name in ARRAYS:
        return x
    columns: dict[str, Any] = {}
    for values, attribute in zip(x.T, MESSY.attributes, strict=True):
        names = attribute.values
        columns[attribute.name] = (
            values if names is None else [np.nan if np.isnan(v) else names[int(v)] for v in values]
        )
        if names is not None and name == "dtype category":
            columns[attribute.name] = pd.Categorical(columns[attribute.name], categories=list(names))
    return pd.DataFrame(columns)


def run_by_hand(steps: list[Any], rows: Any, y: Any, size: int) -> Any:
    """Predict each chunk, then train the steps; those without partial_fit are fitted on the first chunk."""
    *before, last = steps
    predictions = np.full(len(y), -1)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        chunk = getattr(rows, "iloc", rows)[part]
        if start:
            prepared = chunk
            for step in before:
                prepared = step.transform(prepared)
            predictions[part] = last.predict(prepared)
        for step in before:
            if hasattr(step, "partial_fit"):
                step.partial_fit(chunk)
            elif not start:
                step.fit(chunk, y[part])
            chunk = step.transform(chunk)
        last.partial_fit(chunk, y[part], classes=[0, 1])
    return predictions


def flatten(pipeline: Any) -> list[Any]:
    parts = [step for _, step in pipeline.steps]
    return [part for step in parts for part in (flatten(step) if hasattr(step, "steps") else [step])]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_over_names_and_gaps_gives_what_the_same_steps_give_by_hand(name):
    rows, size = take(make_messy_stream(N), N), 200
    expected = run_by_hand(flatten(copy_estimator(PIPELINES[name], 1)), make_rows(name, rows.x), rows.y, size)
    learner = ScikitLearn(PIPELINES[name], chunk_size=size).build(MESSY, 1)
    found, _ = learner.interleave(Step(rows), with_votes=False)
    np.testing.assert_array_equal(found[size:], expected[size:])
    majority, _ = sg.MajorityClass().build(MESSY, 1).interleave(Step(rows), with_votes=False)
    np.testing.assert_array_equal(found[:size], majority[:size])


class Doubled(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer of a user: nothing is known of it."""

    def fit(self, _x, _y=None):
        return self

    def transform(self, x):
        return np.column_stack([x, 2.0 * np.nan_to_num(x)])


WIDE = sg.RandomRBF(n_attributes=150, n_classes=3)
CHUNKED: list[tuple[Any, Any, int]] = [
    *((make_messy_stream(N), PIPELINES[name], 150) for name in PIPELINES),
    (make_messy_stream(N, gaps=False), make_pipeline(Doubled(), MLPClassifier((20,))), 70),
    *(
        (stream, model, size)
        for stream in (sg.RandomRBF(n_attributes=7), WIDE)
        for model in (
            SGDClassifier(loss="log_loss"),
            MLPClassifier((30,)),
            make_pipeline(StandardScaler(), GaussianNB()),
        )
        for size in (1, 60, 400)
    ),
]


@pytest.mark.parametrize(("stream", "model", "size"), CHUNKED)
def test_votes_are_the_same_to_the_bit_whatever_the_batches(stream, model, size):
    n = 150 if size == 1 else 500
    rows, schema = take(stream, n), stream.schema
    random = np.random.default_rng(size)
    test, weight = random.random(n) < 0.9, random.poisson(1.0, n).astype(float) + (random.random(n) < 0.5)
    weight[n // 3 : n // 2] = 0.0  # nothing is learnt here, so that rows are predicted in blocks
    step = Step(rows, test, weight)
    spec = ScikitLearn(model, chunk_size=size)
    _, expected = spec.build(schema, 1).interleave(step, with_votes=True)
    for batch in (1 if size == 1 else 29, 64, 333):
        learner = spec.build(schema, 1)
        parts = [learner.interleave(step.part(at, min(at + batch, n)), with_votes=True)[1] for at in range(0, n, batch)]
        np.testing.assert_array_equal(np.concatenate([part for part in parts if part is not None]), expected)


def test_a_row_has_the_same_votes_wherever_it_stands_in_a_block():
    for stream in (sg.RandomRBF(n_attributes=5), WIDE):
        rows = take(stream, 700)
        for model in (SGDClassifier(loss="log_loss"), MLPClassifier((30,)), GaussianNB()):
            learner = ScikitLearn(model, chunk_size=500).build(stream.schema, 1)
            learner.learn(rows.x[:500], rows.y[:500], None)
            alone = np.concatenate([learner.predict(rows.x[i : i + 1]) for i in range(600, 700)])
            np.testing.assert_array_equal(learner.predict(rows.x[600:]), alone)
            np.testing.assert_array_equal(learner.predict(rows.x[577:])[23:], alone)


def test_chunks_of_one_row_unless_a_step_is_fitted_once():
    assert as_spec(SGDClassifier()).chunk_size == 1  # type: ignore[attr-defined]
    assert as_spec(make_pipeline(StandardScaler(), SGDClassifier())).chunk_size == 1  # type: ignore[attr-defined]
    assert as_spec(PIPELINES["columns"]).chunk_size == 1000  # type: ignore[attr-defined]
    assert ScikitLearn(PIPELINES["columns"], chunk_size=20).chunk_size == 20


def test_an_encoder_that_meets_a_new_category_says_row_value_and_what_to_set():
    strict = make_pipeline(make_column_transformer((OneHotEncoder(), ["country"])), SGDClassifier())
    stream = make_messy_stream(N)
    first = int(np.flatnonzero(take(stream, N).x[:, 2] == 2.0)[0])
    message = rf"at row {first}.*Found unknown categories \['IT'\].*handle_unknown='ignore'"
    with pytest.raises(StreamgaugeError, match=message):
        sg.evaluate(stream, ScikitLearn(strict, chunk_size=100))


def test_missing_values_are_refused_before_the_first_row_where_the_model_takes_none():
    class Unreadable(type(make_messy_stream(1))):  # type: ignore[misc]
        def batches(self, *_args: Any) -> Any:
            raise AssertionError

    rows = take(make_messy_stream(20), 20)
    stream = Unreadable(rows.x, rows.y, schema=MESSY)
    for model in (SGDClassifier(), GaussianNB(), make_pipeline(StandardScaler(), SGDClassifier())):
        with pytest.raises(StreamgaugeError, match=r"takes no missing values, and the column 'amount' .*SimpleImputer"):
            sg.evaluate(stream, model)
    whole = make_messy_stream(60, gaps=False)
    flagged = type(whole)(take(whole, 60).x, take(whole, 60).y, schema=MESSY)
    with pytest.raises(StreamgaugeError, match="takes no missing values"):
        sg.evaluate(flagged, SGDClassifier())
    learner = ScikitLearn(SGDClassifier()).build(MESSY, 1)  # as in a wrapper, or for a live stream
    with pytest.raises(StreamgaugeError, match=r"contains NaN.; SGDClassifier takes no missing values: use .*Encoded"):
        learner.interleave(Step(rows), with_votes=False)


def test_a_file_whose_header_does_not_tell_gaps_is_read_for_them(tmp_path):
    lines = ["@relation r", "@attribute a numeric", "@attribute b numeric", "@attribute class {no,yes}", "@data"]
    rows = [f"{i},{i % 7},{'yes' if i % 7 > 3 else 'no'}" for i in range(200)]
    whole, gaps = tmp_path / "whole.arff", tmp_path / "gaps.arff"
    whole.write_text("\n".join([*lines, *rows]))
    gaps.write_text("\n".join([*lines, *rows[:-1], "1,?,no"]))
    assert sg.evaluate(sg.File(whole), {"bayes": GaussianNB()}).n_rows == 200
    with pytest.raises(StreamgaugeError, match="takes no missing values, and the column 'b' has some"):
        sg.Evaluation(sg.File(gaps), {"bayes": GaussianNB()})
    assert sg.evaluate(sg.File(gaps), {"bayes": GaussianNB()}, n_rows=199).n_rows == 199


class Unknown(BaseEstimator):  # type: ignore[misc]
    """An estimator of a user that takes missing values, though its tags do not say so."""

    def partial_fit(self, x, _y):
        self.mean_ = np.nanmean(x)

    def predict(self, x):
        return (np.nan_to_num(x)[:, 0] > self.mean_).astype(int)


def test_an_estimator_of_a_user_gets_missing_values():
    results = sg.evaluate(make_messy_stream(60), Unknown())
    assert not results.failures


def test_a_column_that_the_stream_lacks_is_named_before_the_first_row():
    pipeline = make_pipeline(make_column_transformer((SimpleImputer(), ["amuont"])), SGDClassifier())
    with pytest.raises(StreamgaugeError, match="there is no column 'amuont'; did you mean amount"):
        sg.evaluate(make_messy_stream(20), pipeline)


def test_rows_can_be_forced():
    by_name = make_pipeline(FunctionTransformer(select_numbers), GaussianNB())
    learner = ScikitLearn(by_name, rows="frame")
    assert not sg.evaluate(make_messy_stream(300), learner).failures
    with pytest.raises(StreamgaugeError, match="there is no kind of rows 'pandas'"):
        ScikitLearn(by_name, rows="pandas")  # type: ignore[arg-type]
    codes = make_pipeline(SimpleImputer(), OneHotEncoder(handle_unknown="ignore"), BernoulliNB())
    assert not sg.evaluate(make_messy_stream(300), ScikitLearn(codes, rows="array", chunk_size=100)).failures
    with pytest.raises(StreamgaugeError, match="nominal columns are passed by name"):
        sg.evaluate(make_messy_stream(300), ScikitLearn(codes, rows="frame", chunk_size=100))


def test_a_pipeline_continues_from_a_saved_state_within_its_first_and_later_chunks():
    rows = take(make_messy_stream(400), 400)
    spec = ScikitLearn(PIPELINES["columns"], chunk_size=100)
    expected, _ = spec.build(MESSY, 1).interleave(Step(rows), with_votes=False)
    for cut in (50, 100, 250):
        first, second = spec.build(MESSY, 1), spec.build(MESSY, 1)
        head, _ = first.interleave(Step(rows).part(0, cut), with_votes=False)
        second.load(first.save())
        tail, _ = second.interleave(Step(rows).part(cut, 400), with_votes=False)
        np.testing.assert_array_equal(np.append(head, tail), expected)


def test_frames_cause_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sg.evaluate(make_messy_stream(300), ScikitLearn(PIPELINES["columns"], chunk_size=100))


def test_rows_of_a_chunk_that_is_not_full_are_learnt_when_training_ends():
    stream = make_messy_stream(600)
    results = sg.evaluate(
        stream, {"mine": PIPELINES["columns"], "majority": sg.MajorityClass()}, scheme=TrainThenTest(300)
    )
    mine, majority = results.values[-1, :, 0, 0, 0]
    assert mine > majority + 0.1
