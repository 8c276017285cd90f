"""Evaluate scikit-learn's classifiers with `partial_fit`, a pipeline, and one of our trees."""

from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import streamgauge as sg

results = sg.evaluate(
    sg.SEA(n_rows=1_000),
    {
        "linear": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
        "bayes": GaussianNB(),
        "bayes, 100 rows at once": sg.learners.ScikitLearn(GaussianNB(), chunk_size=100),
        "tree": sg.HoeffdingTree(),
    },
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
