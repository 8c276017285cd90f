"""River's classifiers, beside River's own loop."""

from typing import Any

import numpy as np
import pytest
from river import compose, ensemble, forest, linear_model, multiclass, naive_bayes, preprocessing, stats, tree

import streamgauge as sg
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import River, as_spec
from streamgauge.records import Step
from streamgauge.streams import take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract


@pytest.mark.parametrize(
    ("model", "mixed"),
    [
        (naive_bayes.GaussianNB(), False),
        (tree.HoeffdingTreeClassifier(grace_period=20), True),
        (forest.ARFClassifier(n_models=2, grace_period=20), False),
        (
            preprocessing.OneHotEncoder() | multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
            True,
        ),
        (ensemble.VotingClassifier([naive_bayes.GaussianNB(), linear_model.Perceptron()]), False),
    ],
    ids=["bayes", "tree", "forest", "one against the rest", "voting"],
)
def test_a_model_keeps_the_contract(model, mixed):
    keeps_its_contract(River(model), mixed=mixed)


def test_a_model_of_chunks_keeps_the_contract():
    keeps_its_contract(River(preprocessing.StandardScaler() | linear_model.LogisticRegression(), chunk_size=20))
    with pytest.raises(StreamgaugeError, match="HoeffdingTreeClassifier has no learn_many"):
        River(tree.HoeffdingTreeClassifier(), chunk_size=20)


def test_whatever_takes_a_seed_inside_a_model_gets_its_own():
    models = [
        forest.ARFClassifier(n_models=2, seed=7),
        compose.Pipeline(preprocessing.StandardScaler(), forest.AMFClassifier(n_estimators=2)),
        ensemble.VotingClassifier([forest.AMFClassifier(n_estimators=2), naive_bayes.GaussianNB()]),
    ]
    for model in models:
        assert not as_spec(model).seedless
        assert is_seeded_apart(model, n_rows=150)
    assert as_spec(naive_bayes.GaussianNB()).seedless


def test_copies_have_learnt_nothing_and_the_model_given_is_never_changed():
    model = naive_bayes.GaussianNB()
    model.learn_one({"x": 1.0}, 1)
    results = sg.evaluate(sg.SEA(n_rows=50), model, scheme=sg.Bootstrap(2))
    assert results.learners == ("GaussianNB",)
    assert model.predict_proba_one({"x": 1.0}) == {1: 1.0}
    assert as_spec(model).build(sg.SEA().schema, 1).predict(np.zeros((1, 3))).tolist() == [[0.0, 0.0]]


def double(x: dict[str, float]) -> dict[str, float]:
    return {name: 2.0 * value for name, value in x.items()}


class Rows:
    """Remembers the rows it was given."""

    def __init__(self):
        self.rows = []

    def learn_one(self, x, y):
        self.rows.append((x, y))

    def predict_one(self, _x):
        return None


def test_rows_are_dicts_without_missing_values_and_nominal_values_are_names_or_codes():
    batch = sample_batch(MIXED, 100)
    names: Any = River(Rows(), nominal="names").build(MIXED, 1)
    codes: Any = River(Rows(), nominal="codes").build(MIXED, 1)
    for learner in (names, codes):
        learner.interleave(Step(batch), with_votes=False)
    for i, ((by_name, label), (by_code, _)) in enumerate(zip(names._model.rows, codes._model.rows, strict=True)):
        expected = {
            attribute.name: float(value)
            for attribute, value in zip(MIXED.attributes, batch.x[i], strict=True)
            if not np.isnan(value)
        }
        assert by_code == expected
        assert label == batch.y[i]
        assert by_name == {
            a.name: a.values[int(expected[a.name])] if a.values else expected[a.name]
            for a in MIXED.attributes
            if a.name in expected
        }


def test_weights_reach_a_model_that_takes_them_and_are_copies_for_one_that_does_not():
    batch = take(sg.SEA(), 60)
    weight = (np.arange(60) % 3).astype(np.float64)
    for model in (naive_bayes.GaussianNB(), linear_model.LogisticRegression()):
        learner = as_spec(model).build(sg.SEA().schema, 1)
        learner.learn(batch.x, batch.y, weight)
        for i in range(60):
            row = dict(zip(("a1", "a2", "a3"), batch.x[i].tolist(), strict=True))
            if isinstance(model, linear_model.LogisticRegression):
                if weight[i]:
                    model.learn_one(row, int(batch.y[i]), w=weight[i])
            else:
                for _ in range(int(weight[i])):
                    model.learn_one(row, int(batch.y[i]))
        expected = model.predict_proba_one(dict(zip(("a1", "a2", "a3"), batch.x[0].tolist(), strict=True)))
        np.testing.assert_allclose(learner.predict(batch.x[:1])[0], [expected[0], expected[1]])
    learner = as_spec(naive_bayes.GaussianNB()).build(sg.SEA().schema, 1)
    with pytest.raises(StreamgaugeError, match=r"GaussianNB takes no weight w, so it cannot learn .* weight 0\.5"):
        learner.learn(batch.x[:1], batch.y[:1], np.array([0.5]))


def test_a_model_of_two_classes_is_refused_where_there_are_more():
    with pytest.raises(StreamgaugeError, match="LogisticRegression supports only two classes, but there are 3"):
        as_spec(linear_model.LogisticRegression()).build(MIXED, 1)


def test_a_model_is_described_in_one_line():
    spec = River(preprocessing.StandardScaler() | forest.ARFClassifier(n_models=3), nominal="codes")
    assert repr(spec) == "River(model=StandardScaler() | ARFClassifier(n_models=3), nominal='codes')"
    numbers = compose.SelectType(float, int) | preprocessing.StandardScaler()
    names = compose.Select("b", "a") | preprocessing.OneHotEncoder()
    imputer = preprocessing.StatImputer(("a", stats.Mean()), ("b", "none"))
    spec = River(imputer | (numbers + names) | double | linear_model.LogisticRegression())
    assert repr(spec) == (
        "River(model=StatImputer(['a', Mean()], ['b', 'none']) | ((SelectType(float, int) | StandardScaler()) + "
        "(Select('a', 'b') | OneHotEncoder())) | FuncTransformer(func=double) | LogisticRegression())"
    )
