"""Batch cross-validation against scikit-learn's, with the same folds."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB

import streamgauge as sg
from streamgauge.schemes import BatchCrossValidation
from streamgauge.streams import take


def test_a_classifier_of_scikit_learn_scores_as_in_scikit_learn() -> None:
    stream = sg.RandomRBF(n_rows=3000, n_classes=4, seed=7)
    rows = take(stream, 3000)
    scheme = BatchCrossValidation(10)
    folds = np.array([scheme.step(rows, fold, 1).test for fold in range(10)]).argmax(axis=0)
    model = GaussianNB(var_smoothing=0.0)
    predicted = cross_val_predict(model, rows.x, rows.y, cv=PredefinedSplit(folds))
    expected = [accuracy_score(rows.y[folds == fold], predicted[folds == fold]) for fold in range(10)]
    found = sg.evaluate(stream, {"bayes": model}, scheme=scheme, seed=1)
    assert found.curve("bayes", "accuracy")[-1] == pytest.approx(np.array(expected), abs=1e-12)
