"""Compositions of River over rows with names of categories and gaps, against River's own loop."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from river import (
    anomaly,
    compose,
    drift,
    ensemble,
    feature_extraction,
    feature_selection,
    forest,
    imblearn,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    preprocessing,
    stats,
    tree,
)

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import River
from streamgauge.learners.adapters.river import _copy_model
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.records import Step
from streamgauge.streams import take
from tests.support.messy_rows import MESSY, make_messy_stream

N = 300


def logistic() -> Any:
    return linear_model.LogisticRegression()


def numbers() -> Any:
    return compose.SelectType(float, int) | preprocessing.StandardScaler()


def names() -> Any:
    return compose.SelectType(str) | preprocessing.OneHotEncoder()


def impute() -> Any:
    return preprocessing.StatImputer(("amount", stats.Mean()), ("country", "unknown"))


def features(x: dict[str, Any]) -> dict[str, Any]:
    return {"age": x["age"], "log": None if x["amount"] is None else math.log1p(x["amount"])}


def fill(x: dict[str, Any]) -> dict[str, Any]:
    return {"age": x["age"], "amount": x["amount"] or 0.0}


ABSENT: dict[str, Callable[[], Any]] = {
    "two types": lambda: numbers() | logistic(),
    "union": lambda: (numbers() + names()) | logistic(),
    "list": lambda: [numbers(), names()] | logistic(),
    "discard": lambda: compose.Discard("country", "channel") | preprocessing.MinMaxScaler() | logistic(),
    "neighbours": lambda: numbers() | neighbors.KNNClassifier(n_neighbors=3),
    "ordinal": lambda: compose.SelectType(str) | preprocessing.OrdinalEncoder() | naive_bayes.GaussianNB(),
    "hashed": lambda: preprocessing.FeatureHasher(n_features=32) | logistic(),
    "adaptive scaler": lambda: compose.SelectType(float) | preprocessing.AdaptiveStandardScaler() | logistic(),
    "robust scaler": lambda: compose.SelectType(float) | preprocessing.RobustScaler() | logistic(),
    "normalised": lambda: compose.SelectType(float) | preprocessing.Normalizer() | logistic(),
    "prefix and suffix": lambda: (
        compose.SelectType(float)
        | (compose.Prefixer("p_") + compose.Suffixer("_s"))
        | preprocessing.StandardScaler()
        | logistic()
    ),
    "renamed": lambda: compose.Renamer({"age": "years"}) | numbers() | logistic(),
    "polynomials": lambda: numbers() | feature_extraction.PolynomialExtender() | logistic(),
    "random features": lambda: numbers() | feature_extraction.RBFSampler(n_components=5) | logistic(),
    "projection": lambda: numbers() | preprocessing.SparseRandomProjector(n_components=2) | logistic(),
    "best features": lambda: (
        numbers() | feature_selection.SelectKBest(similarity=stats.PearsonCorr(), k=1) | logistic()
    ),
    "zeros kept": lambda: compose.SelectType(str) | preprocessing.OneHotEncoder(drop_zeros=False) | logistic(),
    "one against the rest": lambda: multiclass.OneVsRestClassifier(numbers() | logistic()),
    "pipeline of one against the rest": lambda: numbers() | multiclass.OneVsRestClassifier(logistic()),
    "bagged pipelines": lambda: ensemble.BaggingClassifier(numbers() | logistic(), n_models=3),
    "boosted trees": lambda: ensemble.AdaBoostClassifier(tree.HoeffdingTreeClassifier(grace_period=20), n_models=3),
    "voting": lambda: ensemble.VotingClassifier(
        [numbers() | logistic(), tree.HoeffdingTreeClassifier(), names() | naive_bayes.BernoulliNB()]
    ),
    "stacking": lambda: ensemble.StackingClassifier(
        [numbers() | logistic(), tree.HoeffdingTreeClassifier()], tree.HoeffdingTreeClassifier()
    ),
    "retrained after drift": lambda: drift.DriftRetrainingClassifier(numbers() | logistic(), drift.binary.DDM()),
    "undersampled": lambda: imblearn.RandomUnderSampler(numbers() | logistic(), desired_dist={0: 0.5, 1: 0.5}),
    "anomalies left out": lambda: (
        numbers() | anomaly.QuantileFilter(anomaly.HalfSpaceTrees(n_trees=3), q=0.9) | logistic()
    ),
    "tree": lambda: tree.HoeffdingTreeClassifier(grace_period=20),
    "adaptive tree": lambda: tree.HoeffdingAdaptiveTreeClassifier(grace_period=20),
    "forest": lambda: forest.ARFClassifier(n_models=2, grace_period=20),
    "Mondrian forest": lambda: compose.SelectType(float) | forest.AMFClassifier(n_estimators=2),
    "softmax": lambda: (numbers() + names()) | linear_model.SoftmaxRegression(),
    "passive aggressive": lambda: numbers() | linear_model.PAClassifier(),
}
"""Compositions that take rows in which the keys of missing values are absent."""

NONE: dict[str, Callable[[], Any]] = {
    "imputed": lambda: impute() | (numbers() + names()) | logistic(),
    "imputed in a union": lambda: ((impute() | numbers()) + names()) | logistic(),
    "imputed in an ensemble": lambda: ensemble.BaggingClassifier(impute() | numbers() | logistic(), n_models=2),
    "previous value": lambda: preprocessing.PreviousImputer() | numbers() | logistic(),
    "imputed by group": lambda: (
        compose.Grouper(preprocessing.StatImputer(("amount", stats.Mean())), by="channel") | numbers() | logistic()
    ),
    "imputed by a group with gaps": lambda: (
        compose.Grouper(preprocessing.StatImputer(("amount", stats.Mean())), by="country") | numbers() | logistic()
    ),
    "target by group": lambda: (feature_extraction.TargetAgg(by="country", how=stats.Mean()) + numbers()) | logistic(),
    "target by groups": lambda: (
        feature_extraction.TargetAgg(by=["country", "channel"], how=stats.BayesianMean(0.5, 10)) | logistic()
    ),
    "aggregate": lambda: (
        feature_extraction.Agg(on="age", by="country", how=stats.Mean()) | preprocessing.StandardScaler() | logistic()
    ),
    "function": lambda: fill | preprocessing.StandardScaler() | logistic(),  # type: ignore[operator]
    "function that passes gaps on": lambda: (
        compose.FuncTransformer(features)
        | preprocessing.StatImputer(("log", stats.Mean()))
        | preprocessing.StandardScaler()
        | logistic()
    ),
}
"""Compositions that look up features by name, so that missing values must be None in River."""


def run_own_loop(model: Any, *, missing: bool) -> tuple[list[int], list[float]]:
    """Return the predictions of River's own loop, and the probabilities of the second class."""
    batch = take(make_messy_stream(N), N)
    predictions, probabilities = [], []
    for values, label in zip(batch.x, batch.y.tolist(), strict=True):
        row = {
            attribute.name: None
            if np.isnan(value)
            else attribute.values[int(value)]
            if attribute.values
            else float(value)
            for value, attribute in zip(values, MESSY.attributes, strict=True)
        }
        row = row if missing else {name: value for name, value in row.items() if value is not None}
        try:
            votes = model.predict_proba_one(row)
        except NotImplementedError:
            votes = {model.predict_one(row): 1.0}
        ordered = np.nan_to_num([votes.get(0, 0.0), votes.get(1, 0.0)]).tolist()
        predictions.append(-1 if max(ordered) <= 0 else int(ordered[1] > ordered[0]))
        probabilities.append(ordered[1])
        model.learn_one(row, label)
    return predictions, probabilities


@pytest.mark.parametrize("name", [*ABSENT, *NONE])
def test_a_composition_over_names_and_gaps_gives_what_rivers_own_loop_gives(name):
    model = (ABSENT | NONE)[name]()
    own = _copy_model(model, generate_seeds(1))
    predictions, probabilities = run_own_loop(own, missing=name in NONE)
    found, votes = River(model).build(MESSY, 1).interleave(Step(take(make_messy_stream(N), N)), with_votes=True)
    assert votes is not None
    np.testing.assert_allclose(votes[:, 1], probabilities, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found, predictions)
    assert len(set(found.tolist())) > 1


def test_a_selection_by_name_leaves_out_what_is_missing():
    selected = compose.Select("amount", "age") | preprocessing.StandardScaler() | logistic()
    by_type = compose.SelectType(float) | preprocessing.StandardScaler() | logistic()
    results = sg.evaluate(make_messy_stream(N), {"name": selected, "type": by_type})
    np.testing.assert_array_equal(results.curve("name", "accuracy"), results.curve("type", "accuracy"))


def test_folds_and_the_model_given_share_no_imputer():
    """River's clone passes on the statistics of a StatImputer instead of copying them."""
    model = impute() | numbers() | logistic()
    first, second = (River(model).build(MESSY, 1) for _ in range(2))
    rows = take(make_messy_stream(N), N)
    expected, _ = first.interleave(Step(rows), with_votes=False)
    found, _ = second.interleave(Step(rows), with_votes=False)
    np.testing.assert_array_equal(found, expected)
    assert model["StatImputer"].stats["amount"].get() == 0.0


@pytest.mark.parametrize("name", ["imputed by group", "target by group", "function that passes gaps on", "union"])
def test_a_composition_continues_from_a_saved_state(name):
    model, rows = (ABSENT | NONE)[name](), take(make_messy_stream(N), N)
    expected, _ = River(model).build(MESSY, 1).interleave(Step(rows), with_votes=False)
    first, second = (River(model).build(MESSY, 1) for _ in range(2))
    head, _ = first.interleave(Step(rows).part(0, 170), with_votes=False)
    second.load(first.save())
    tail, _ = second.interleave(Step(rows).part(170, N), with_votes=False)
    np.testing.assert_array_equal(np.append(head, tail), expected)


def test_a_name_where_a_number_is_expected_is_explained():
    with pytest.raises(StreamgaugeError, match=r"got the name of a category .* SelectType\(float\)"):
        sg.evaluate(make_messy_stream(N), preprocessing.StandardScaler() | logistic())
    with pytest.raises(StreamgaugeError, match=r"got the name of a category"):
        sg.evaluate(make_messy_stream(N), logistic())
    assert not sg.evaluate(make_messy_stream(N), River(logistic(), nominal="codes")).failures


def test_a_feature_that_is_looked_up_and_missing_is_explained():
    words = feature_extraction.BagOfWords(on="country") | naive_bayes.MultinomialNB()
    with pytest.raises(StreamgaugeError, match=r"KeyError: 'country'; the row has no country, .* StatImputer"):
        sg.evaluate(make_messy_stream(N), words)
