"""Perceptron and LogisticRegression against plain references, River and scikit-learn."""

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import LogisticRegression, Perceptron
from streamgauge.protocols import LearnerSpec
from streamgauge.randomness import uniform
from streamgauge.records import Attribute, Batch, Schema, Step
from streamgauge.streams import SEA, take


def sigmoid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.0 / (1.0 + np.exp(-scores))


class Reference:
    """A linear model as its definition has it: one-hot columns, running moments, one row at a time."""

    def __init__(self, spec: Perceptron | LogisticRegression, schema: Schema, weights: NDArray[np.float64]) -> None:
        self.spec, self.schema, self.weights = spec, schema, weights
        self.seen: list[tuple[NDArray[np.float64], float]] = []
        self.mean, self.deviation = np.zeros(schema.n_attributes), np.zeros(schema.n_attributes)

    def inputs(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        numbers, codes = [], []
        for i, attribute in enumerate(self.schema.attributes):
            if attribute.values is not None:
                codes.extend([float(x[i] == code) for code in range(len(attribute.values))])
                continue
            value = self.mean[i] if np.isnan(x[i]) else x[i]
            if self.spec.standardise:
                value = (value - self.mean[i]) / self.deviation[i] if self.deviation[i] > 0 else 0.0
            numbers.append(value)
        return np.array([*numbers, *codes, 1.0])

    def outputs(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = self.weights @ self.inputs(x)
        if isinstance(self.spec, LogisticRegression) and self.spec.classes == "softmax":
            shares = np.exp(scores - scores.max())
            return np.asarray(shares / shares.sum())
        return sigmoid(scores)

    def observe(self, x: NDArray[np.float64], weight: float) -> None:
        self.seen.append((x, weight))
        rows, weights = np.array([row for row, _ in self.seen]), np.array([w for _, w in self.seen])
        for i, attribute in enumerate(self.schema.attributes):
            known = ~np.isnan(rows[:, i])
            if attribute.values is None and known.any():
                self.mean[i] = np.average(rows[known, i], weights=weights[known])
                self.deviation[i] = np.sqrt(np.average((rows[known, i] - self.mean[i]) ** 2, weights=weights[known]))

    def learn(self, x: NDArray[np.float64], y: int, weight: float) -> None:
        self.observe(x, weight)
        outputs = self.outputs(x)
        off = (np.arange(len(outputs)) == y) - outputs
        if isinstance(self.spec, Perceptron):
            off = off * outputs * (1 - outputs)
        else:
            self.weights[:, :-1] *= 1 - self.spec.learning_rate * weight * self.spec.l2
        self.weights += self.spec.learning_rate * weight * off[:, np.newaxis] * self.inputs(x)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("classes", ["softmax", "one_vs_rest"])
def test_logistic_regression_is_what_its_definition_says(classes, standardise):
    spec = LogisticRegression(0.1, l2=0.02, classes=classes, standardise=standardise)
    batch = sample_batch(MIXED, 150)
    weight = np.random.default_rng(1).exponential(size=150)
    theirs = Reference(spec, MIXED, np.zeros((3, 8)))
    ours = spec.build(MIXED, 1)
    for i in range(150):
        if i:
            votes = theirs.outputs(batch.x[i])
            np.testing.assert_allclose(ours.predict(batch.x[i : i + 1])[0], votes / votes.sum(), rtol=1e-8)
        theirs.learn(batch.x[i], batch.y[i], weight[i])
        ours.learn(batch.x[i : i + 1], batch.y[i : i + 1], weight[i : i + 1])


@pytest.mark.parametrize("standardise", [False, True])
def test_a_perceptron_is_what_its_definition_says(standardise):
    spec = Perceptron(0.7, standardise=standardise)
    batch = sample_batch(MIXED, 150)
    # Two numbers, padded to four places; then five nominal values and the bias.
    drawn = [0.2 * uniform(5, "perceptron", label, 0, 10) - 0.1 for label in range(3)]
    theirs = Reference(spec, MIXED, np.array(drawn)[:, [0, 1, 4, 5, 6, 7, 8, 9]])
    ours = spec.build(MIXED, 5)
    for i in range(150):
        if i:
            votes = theirs.outputs(batch.x[i])
            np.testing.assert_allclose(ours.predict(batch.x[i : i + 1])[0], votes / votes.sum(), rtol=1e-8)
        theirs.learn(batch.x[i], batch.y[i], 1.0)
        ours.learn(batch.x[i : i + 1], batch.y[i : i + 1], None)


@pytest.mark.parametrize("spec", [Perceptron(), LogisticRegression(), LogisticRegression(classes="one_vs_rest")])
def test_it_learns_from_nominal_values_alone_and_through_gaps(spec: LearnerSpec):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 4, (8_000, 2)).astype(float)
    y = np.isin(x[:, 0], [0, 3]).astype(np.int32)
    x[rng.random(x.shape) < 0.1] = np.nan
    schema = Schema(tuple(Attribute(name, tuple("abcd"), missing=True) for name in "pq"), ("no", "yes"))
    predictions, _ = spec.build(schema, 1).interleave(Step(Batch(0, x, y)), with_votes=False)
    assert np.mean(predictions[4_000:] == y[4_000:]) > 0.93


@pytest.mark.parametrize("spec", [Perceptron(), LogisticRegression()])
def test_the_scale_of_numbers_does_not_matter_to_it(spec: LearnerSpec):
    batch = take(SEA(), 3_000)
    plain, scaled = (
        spec.build(SEA().schema, 1).interleave(Step(Batch(0, x, batch.y)), with_votes=True)[1]
        for x in (batch.x, 1024.0 * batch.x + np.array([0.0, 2048.0, -512.0]))
    )
    assert plain is not None
    assert scaled is not None
    np.testing.assert_allclose(plain, scaled, rtol=1e-6)


def test_stronger_punishment_makes_smaller_weights_and_milder_votes():
    batch = take(SEA(), 5_000)
    votes = []
    for l2 in (0.0, 0.1, 1.0):
        learner = LogisticRegression(l2=l2).build(SEA().schema, 1)
        learner.learn(batch.x, batch.y, None)
        votes.append(learner.predict(batch.x).max(axis=1).mean())
    assert votes[0] > votes[1] > votes[2]


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: Perceptron(learning_rate=-1.0), "learning_rate = -1.0"),
        (lambda: LogisticRegression(learning_rate=float("nan")), "learning_rate = nan"),
        (lambda: LogisticRegression(l2=float("inf")), "l2 = inf"),
        (lambda: LogisticRegression(classes="softmacks"), "did you mean softmax"),  # type: ignore[arg-type]
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(make, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        make()
