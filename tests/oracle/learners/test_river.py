"""River's classifiers against River's own loop."""

import pytest
from river import evaluate, linear_model, metrics, naive_bayes, preprocessing, tree
from river import stream as river_stream

import streamgauge as sg
from streamgauge.streams import ArrayStream, take


@pytest.mark.parametrize(
    "model",
    [
        tree.HoeffdingTreeClassifier(grace_period=20),
        naive_bayes.GaussianNB(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ],
    ids=["tree", "bayes", "pipeline"],
)
def test_it_gives_what_rivers_own_loop_gives(model):
    batch = take(sg.RandomRBF(n_attributes=4), 400)
    results = sg.evaluate(ArrayStream(batch.x, batch.y), {"mine": model})
    own = evaluate.progressive_val_score(river_stream.iter_array(batch.x, batch.y), model.clone(), metrics.Accuracy())
    # River leaves out the first rows, for which a model has no prediction; we count them as errors.
    assert abs(results.values[-1].item() - own.get()) <= 2 / 400
