"""Evaluate your own learner: any object with `predict` and `learn`."""

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg


class Centroids:
    """A learner that predicts the class whose mean is nearest."""

    def __init__(self) -> None:
        self.sums: dict[int, NDArray[np.float64]] = {}
        self.counts: dict[int, int] = {}

    def predict(self, x: NDArray[np.float64]) -> list[int]:
        """Return a class code for each row, -1 for an abstention."""
        means = {label: total / self.counts[label] for label, total in self.sums.items()}
        return [min(means, key=lambda label: float(((row - means[label]) ** 2).sum()), default=-1) for row in x]

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:
        """Update the means with labelled rows."""
        for row, label in zip(x, y.tolist(), strict=True):
            self.sums[label] = self.sums.get(label, np.zeros(len(row))) + row
            self.counts[label] = self.counts.get(label, 0) + 1


results = sg.evaluate(sg.SEA(n_rows=2_000), {"centroids": Centroids(), "bayes": sg.NaiveBayes()})
for name in results.learners:
    print(f"accuracy of {name}: {results.curve(name, 'accuracy')[-1].mean():.3f}")
