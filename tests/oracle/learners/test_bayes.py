"""NaiveBayes against scikit-learn and SciPy."""

import numpy as np
from scipy.stats import norm
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from streamgauge.checks.learners import sample_batch
from streamgauge.learners import NaiveBayes
from streamgauge.records import Attribute, Schema


def schema_of(n_numeric: int, n_classes: int, n_values: tuple[int, ...] = (), *, missing: bool = False) -> Schema:
    numeric = [Attribute(f"x{i}", missing=missing) for i in range(n_numeric)]
    nominal = [Attribute(f"n{i}", tuple(map(str, range(n))), missing) for i, n in enumerate(n_values)]
    return Schema((*numeric, *nominal), tuple(map(str, range(n_classes))))


def test_gaussian_naive_bayes_agrees_with_scikit_learn():
    schema = schema_of(6, 3)
    batch = sample_batch(schema, 2_000)
    weight = np.random.default_rng(1).integers(0, 4, 2_000).astype(float)
    learner = NaiveBayes().build(schema, 1)
    learner.learn(batch.x, batch.y, weight)
    theirs = GaussianNB(var_smoothing=0.0).fit(batch.x, batch.y, sample_weight=weight)
    # scikit-learn divides the squared deviations by the weight, we divide by the weight less 1.
    totals = np.array([weight[batch.y == c].sum() for c in range(3)])
    theirs.var_ *= (totals / (totals - 1))[:, np.newaxis]
    np.testing.assert_allclose(learner.predict(batch.x), theirs.predict_proba(batch.x), rtol=1e-9, atol=1e-12)


def test_nominal_naive_bayes_agrees_with_scikit_learn():
    schema = schema_of(0, 4, (3, 7, 2))
    batch = sample_batch(schema, 1_000)
    learner = NaiveBayes().build(schema, 1)
    learner.learn(batch.x, batch.y, None)
    theirs = CategoricalNB(alpha=1.0, min_categories=[3, 7, 2]).fit(batch.x, batch.y)
    np.testing.assert_allclose(learner.predict(batch.x), theirs.predict_proba(batch.x), rtol=1e-10)


def test_naive_bayes_leaves_missing_values_out():
    schema = schema_of(2, 2, (3,), missing=True)
    batch = sample_batch(schema, 500)
    learner = NaiveBayes().build(schema, 1)
    learner.learn(batch.x, batch.y, None)
    posterior = np.ones((500, 2))
    for c in range(2):
        rows = batch.x[batch.y == c]
        posterior[:, c] = len(rows)
        for column in range(2):
            known = rows[~np.isnan(rows[:, column]), column]
            density = norm.pdf(batch.x[:, column], known.mean(), known.std(ddof=1))
            posterior[:, c] *= np.where(np.isnan(batch.x[:, column]), 1.0, density)
        known = rows[~np.isnan(rows[:, 2]), 2]
        counts = np.bincount(known.astype(int), minlength=3)
        codes = np.nan_to_num(batch.x[:, 2]).astype(int)
        probability = (counts[codes] + 1) / (counts.sum() + 3)
        posterior[:, c] *= np.where(np.isnan(batch.x[:, 2]), 1.0, probability)
    posterior /= posterior.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.predict(batch.x), posterior, rtol=1e-10)
