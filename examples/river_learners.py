"""Evaluate River's models. Each fold gets its own copy with its own seed."""

from river import forest, linear_model, preprocessing, tree

import streamgauge as sg

results = sg.evaluate(
    sg.SEA(n_rows=500),
    {
        "forest": forest.ARFClassifier(n_models=3),
        "tree": tree.HoeffdingTreeClassifier(grace_period=50),
        "linear": preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    },
    scheme=sg.Bootstrap(2),
)
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
