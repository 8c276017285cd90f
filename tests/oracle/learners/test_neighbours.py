"""KNearestNeighbours against scikit-learn."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from streamgauge.learners import KNearestNeighbours
from streamgauge.streams import RandomRBF, take


def test_rows_of_numbers_have_the_neighbours_that_scikit_learn_finds():
    batch = take(RandomRBF(n_classes=3), 1_000)
    stretched = batch.x * np.array([10.0**i for i in range(10)])
    learner = KNearestNeighbours(k=7, window=400).build(RandomRBF(n_classes=3).schema, 1)
    learner.learn(stretched[:900], batch.y[:900], None)
    window, labels = stretched[500:900], batch.y[500:900]
    low, width = window.min(axis=0), np.ptp(window, axis=0)
    theirs = KNeighborsClassifier(7, algorithm="brute").fit((window - low) / width, labels)
    expected = theirs.predict_proba((stretched[900:] - low) / width)
    np.testing.assert_allclose(learner.predict(stretched[900:]), expected, rtol=1e-12)
