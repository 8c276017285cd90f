"""The statistics and columns of the encoder against scikit-learn and River."""

import math
from typing import Any

import numpy as np
import pytest
from river import preprocessing, stats
from sklearn.feature_extraction import FeatureHasher
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from streamgauge.learners import Encoded, NaiveBayes
from streamgauge.records import Attribute, Schema

COUNTRIES = ("Österreich", "France", "日本", "", "a=b")
SCHEMA = Schema(
    (
        Attribute("amount", missing=True),
        Attribute("country", COUNTRIES, missing=True),
        Attribute("age", missing=True),
        Attribute("day", ("mo", "tu"), missing=True),
    ),
    ("no", "yes"),
)
NUMBERS, NOMINAL = [0, 2], [1, 3]


def draw_rows(n_rows: int = 400) -> tuple[Any, Any]:
    random = np.random.default_rng(8)
    columns = (
        random.lognormal(9, 1, n_rows),
        random.choice(5, n_rows, p=[0.1, 0.5, 0.2, 0.1, 0.1]),
        random.normal(0.01, 1e-4, n_rows),
    )
    x = np.column_stack([*columns, random.choice([0, 1], n_rows, p=[0.4, 0.6])]).astype(np.float64)
    x[random.random(x.shape) < 0.15] = np.nan
    return x, random.choice([0.5, 1.0, 3.0], n_rows)


def build(**options: Any) -> Any:
    return Encoded(NaiveBayes(), **options).build(SCHEMA, 1)


def to_names(row: Any) -> dict[str, str]:
    attributes = [(SCHEMA.attributes[i], row[i]) for i in NOMINAL]
    return {a.name: (a.values or ())[int(code)] for a, code in attributes if not math.isnan(code)}


@pytest.mark.parametrize("batch", [37, 100, 400])
def test_numbers_and_categories_are_those_of_scikit_learn_after_the_same_rows(batch: int):
    x, weight = draw_rows()
    y = np.zeros(len(x), dtype=np.int32)
    learner, scaler = build(), StandardScaler()
    for start in range(0, len(x), batch):
        rows = slice(start, start + batch)
        learner.learn(x[rows], y[rows], weight[rows])
        scaler.partial_fit(x[rows][:, NUMBERS], sample_weight=weight[rows])
    scaled = np.nan_to_num(scaler.transform(x[:, NUMBERS]))  # the mean is 0
    copies = np.repeat(x[:, NOMINAL], (weight * 2).astype(int), axis=0)
    modes = SimpleImputer(strategy="most_frequent").fit(copies)
    one_hot = OneHotEncoder(categories=[range(5), range(2)], sparse_output=False)
    nominal = one_hot.fit_transform(modes.transform(x[:, NOMINAL]))
    expected = np.column_stack([scaled[:, 0], nominal[:, :5], scaled[:, 1], nominal[:, 5:]])
    np.testing.assert_allclose(learner.encode(x), expected, rtol=1e-9, atol=1e-9)


def test_missing_numbers_are_filled_as_by_scikit_learn():
    x, _ = draw_rows()
    learner = build(standardise=False, nominal="codes", indicators=True)
    learner.learn(x, np.zeros(len(x), dtype=np.int32), None)
    means = SimpleImputer(add_indicator=True).fit_transform(x[:, NUMBERS])
    modes = SimpleImputer(strategy="most_frequent", add_indicator=True).fit_transform(x[:, NOMINAL])
    filled = np.column_stack([means[:, 0], modes[:, 0], means[:, 1], modes[:, 1]])
    indicators = np.column_stack([means[:, 2], modes[:, 2], means[:, 3], modes[:, 3]])
    np.testing.assert_allclose(learner.encode(x), np.column_stack([filled, indicators]), rtol=1e-12)


@pytest.mark.parametrize("n_buckets", [1, 3, 64, 1_000])
def test_hashed_values_are_those_of_the_feature_hasher(n_buckets: int):
    x, _ = draw_rows()
    learner = build(nominal="hash", n_buckets=n_buckets, impute=False, standardise=False)
    hashed = FeatureHasher(n_buckets).transform([to_names(row) for row in x]).toarray()
    found = learner.encode(x)
    np.testing.assert_array_equal(found[:, 2:], hashed)
    np.testing.assert_array_equal(found[:, :2], x[:, NUMBERS])


def test_a_tested_row_is_that_of_a_river_pipeline():
    """River encodes a row that it predicts by the rows learnt before, too; one that it learns, after its own values.

    Its scaler would count what its imputer fills in, so numbers are scaled by what is known alone.
    """
    x, _ = draw_rows()
    learner = build()
    names = ["amount", "age"]
    scalers = {name: preprocessing.StandardScaler() for name in names}
    imputer = preprocessing.StatImputer(*[(SCHEMA.attributes[i].name, stats.Mode()) for i in NOMINAL])
    one_hot = imputer | preprocessing.OneHotEncoder()
    n_known = dict.fromkeys(names, 0)
    attributes = Encoded().encode_schema(SCHEMA).attributes
    for i, row in enumerate(x):
        numbers = {name: row[column] for name, column in zip(names, NUMBERS, strict=True)}
        found = dict(zip((a.name for a in attributes), learner.encode(row[np.newaxis])[0].tolist(), strict=True))
        for name, number in numbers.items():
            scaled = 0.0 if math.isnan(number) else scalers[name].transform_one({name: number})[name]
            limit = math.sqrt(n_known[name])
            assert found[name] == pytest.approx(max(-limit, min(limit, scaled)), rel=1e-9, abs=1e-9)
        values = {"country": None, "day": None, **to_names(row)}
        if i > 60:  # when each value has been learnt, and no two are equally frequent
            encoded = {name.replace("_", "=", 1): value for name, value in one_hot.transform_one(dict(values)).items()}
            assert {name for name, value in encoded.items() if value} == {
                name for name, value in found.items() if value and "=" in name
            }
        one_hot.learn_one(dict(values))
        for name, number in numbers.items():
            if not math.isnan(number):
                scalers[name].learn_one({name: number})
                n_known[name] += 1
        learner.learn(row[np.newaxis], np.zeros(1, dtype=np.int32), None)
