"""The evaluators of stream-learn: an honest prequential."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from streamgauge.compat import strlearn as compat
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import ArrayStream


class Memoriser(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows the label of every row it has seen, and guesses the others."""

    def __init__(self) -> None:
        self.seen: dict[bytes, int] = {}

    def partial_fit(self, x: Any, y: Any, classes: Any = None) -> "Memoriser":  # noqa: ARG002
        self.seen.update(zip((row.tobytes() for row in x), y.tolist(), strict=True))
        return self

    def predict(self, x: Any) -> Any:
        return np.array([self.seen.get(row.tobytes(), i % 2) for i, row in enumerate(x)])


def test_an_honest_prequential_tests_no_row_it_has_trained_on() -> None:
    # T1: on labels that are pure noise a memoriser scores far above chance with stream-learn.
    rng = np.random.default_rng(5)
    noise = ArrayStream(rng.random((4_000, 3)), rng.integers(0, 2, 4_000))
    honest, leaky = compat.Prequential(compat.accuracy_score), compat.Prequential(compat.accuracy_score, leaky=True)
    honest.process(noise, Memoriser(), interval=20, chunk_size=200)
    with pytest.warns(UserWarning, match="trained on"):
        leaky.process(noise, Memoriser(), interval=20, chunk_size=200)
    assert honest.scores.shape == leaky.scores.shape == (1, 190, 1)
    assert honest.scores.mean() == pytest.approx(0.5, abs=0.03)
    assert leaky.scores.mean() > 0.9
    # Where a window is one chunk nothing is tested again, and both do the same.
    chunk, again = compat.Prequential(compat.accuracy_score), compat.Prequential(compat.accuracy_score, leaky=True)
    chunk.process(noise, GaussianNB(), interval=200, chunk_size=200)
    with pytest.warns(UserWarning, match="trained on"):
        again.process(noise, GaussianNB(), interval=200, chunk_size=200)
    np.testing.assert_allclose(chunk.scores, again.scores)
    with pytest.raises(StreamgaugeError, match="divide the chunk size"):
        chunk.process(noise, GaussianNB(), interval=30, chunk_size=200)
