"""LogisticRegression against River and scikit-learn."""

import numpy as np
from river import compose, linear_model, optim, preprocessing
from sklearn.linear_model import SGDClassifier

from streamgauge.learners import LogisticRegression
from streamgauge.records import Step
from streamgauge.streams import RandomRBF, Waveform, take


def test_logistic_regression_of_two_classes_agrees_with_river():
    batch = take(RandomRBF(), 2_000)
    names = [f"x{i}" for i in range(batch.x.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in batch.x.tolist()]
    theirs = compose.Pipeline(
        preprocessing.StandardScaler(),
        linear_model.LogisticRegression(optimizer=optim.SGD(0.05), intercept_lr=0.05),
    )
    expected = []
    for row, label in zip(rows, batch.y.tolist(), strict=True):
        expected.append(theirs.predict_proba_one(row).get(True, 0.5))
        theirs.learn_one(row, bool(label))
    learner = LogisticRegression(0.05, classes="one_vs_rest").build(RandomRBF().schema, 1)
    _, votes = learner.interleave(Step(batch), with_votes=True)
    assert votes is not None
    np.testing.assert_allclose(votes[1:, 1], expected[1:], rtol=1e-7)


def test_logistic_regression_of_many_classes_agrees_with_scikit_learn():
    batch = take(Waveform(), 1_000)
    weight = np.random.default_rng(1).integers(1, 4, 1_000).astype(float)
    theirs = SGDClassifier(loss="log_loss", penalty=None, learning_rate="constant", eta0=0.002, shuffle=False)
    ours = LogisticRegression(0.002, classes="one_vs_rest", standardise=False).build(Waveform().schema, 1)
    theirs.partial_fit(batch.x, batch.y, classes=np.arange(3), sample_weight=weight)  # one pass, row by row
    ours.learn(batch.x, batch.y, weight)
    np.testing.assert_allclose(ours.predict(batch.x), theirs.predict_proba(batch.x), rtol=1e-6)
