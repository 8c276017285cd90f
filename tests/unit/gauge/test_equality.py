"""A gauge computes what a prequential evaluation computes on the same predictions."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from streamgauge import Landmark, evaluate
from streamgauge.drift import DDM, HDDMA
from streamgauge.forgetting import EWMA, AdwinWindow, Fading, TimeWindow, Tumbling, Window
from streamgauge.gauge import Gauge
from streamgauge.learners import Precomputed
from streamgauge.measures import MEASURES, NUMBER_MEASURES
from streamgauge.streams import ArrayStream

FORGETTINGS = [
    Landmark(),
    Landmark(moa_compatible=True),
    Window(150),
    Window(150, moa_compatible=True),
    TimeWindow(40.0),
    Tumbling(130),
    Fading(0.99),
    Fading(0.9, chunk=7),
    EWMA(0.02),
    AdwinWindow(),
]
CLASSES = ("high", "low", "middle")
OF_CLASSES = [name for name in MEASURES if name not in NUMBER_MEASURES]
MODELS = ("champion", "challenger")


class Rows:
    """Random rows of three classes whose errors grow half-way, with votes of two models; some rows have no label."""

    def __init__(self, seed: int, n: int = 900) -> None:
        random = np.random.default_rng(seed)
        self.codes = random.choice(3, n, p=[0.5, 0.3, 0.2])
        noise = np.where(np.arange(n) < n // 2, 0.6, 1.6)[:, None]
        self.votes = {}
        for model in MODELS:
            votes = (np.eye(3)[self.codes] + noise * random.random((n, 3))).round(1 + (model == "champion"))
            votes[random.random(n) < 0.03] = 0.0
            self.votes[model] = votes
        self.weight = random.choice([0.0, 1.0, 2.0, 0.3], n)
        self.time = np.cumsum(random.random(n))
        self.labels = np.array(CLASSES, dtype=object)[self.codes]
        self.labels[random.random(n) < 0.05] = None

    def predict(self, *, with_votes: bool) -> dict[str, Any]:
        """Return the predictions by model: votes, or the names of classes."""
        if with_votes:
            return self.votes
        return {model: self._pick(votes) for model, votes in self.votes.items()}

    @staticmethod
    def _pick(votes: NDArray[np.float64]) -> NDArray[Any]:
        names = np.array([*CLASSES, None], dtype=object)
        return names[np.where(votes.max(axis=1) > 0.0, votes.argmax(axis=1), 3)]

    def evaluate(self, *, weight: bool, **options: Any) -> Any:
        """Return the results of a prequential evaluation on a stream of the predictions."""
        columns = {
            f"{model}.{name}": votes[:, code]
            for model, votes in self.votes.items()
            for code, name in enumerate(CLASSES)
        }
        stream: Any = ArrayStream(columns, self.labels, weight=self.weight if weight else None, time=self.time)
        assert stream.schema.classes == CLASSES
        return evaluate(stream, [Precomputed(model) for model in MODELS], **options)

    def push(self, gauge: Gauge, seed: int, *, with_votes: bool, weight: bool) -> None:
        """Push the rows in columns of random lengths, and some one by one."""
        random, predictions = np.random.default_rng(seed), self.predict(with_votes=with_votes)
        start = 0
        while start < len(self.labels):
            stop = start + int(random.choice([1, 2, 50, 333]))
            rows: Any = slice(start, stop) if stop > start + 1 else start
            weights = self.weight[rows] if weight else None
            pushed = {model: column[rows] for model, column in predictions.items()}
            gauge.update(self.labels[rows], pushed, weights, self.time[rows])
            if random.random() < 0.2:
                gauge.reading()
            start = stop


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [False, True])
def test_every_measure_and_forgetting_has_the_numbers_of_an_evaluation(seed: int, weight: bool) -> None:
    rows = Rows(seed)
    options: dict[str, Any] = {
        "measures": [
            *OF_CLASSES,
            "recall[low]",
            "f2[high]",
            "roc_auc[middle]",
            "Cost([[0, 1, 2], [3, 0, 1], [9, 1, 0]])",
        ],
        "forgetting": FORGETTINGS,
        "detectors": [DDM(), HDDMA()],
        "budgets": ["error<0.2", "recall[low]>0.9", "error<reference(300)", "beats majority", "kappa>0.9"],
        "every": 100,
    }
    expected = rows.evaluate(weight=weight, **options)
    gauge = Gauge(models=MODELS, classes=CLASSES, **options)
    rows.push(gauge, seed, with_votes=True, weight=weight)
    results = gauge.results()
    assert results.rows.tolist() == expected.rows.tolist()
    np.testing.assert_array_equal(results.values, expected.values)
    np.testing.assert_array_equal(gauge.reading().values, expected.values[-1, :, 0])
    assert results.alarms == expected.alarms
    assert results.alarms
    assert list(map(str, results.verdicts)) == list(map(str, expected.verdicts))
    assert list(map(str, results.model_verdicts)) == list(map(str, expected.model_verdicts))
    np.testing.assert_array_equal(results.confusions.weights, expected.confusions.weights)  # type: ignore[union-attr]
    np.testing.assert_array_equal(results.labels.by_class, expected.labels.by_class)  # type: ignore[union-attr]
    assert results.pairs[0].only_first.tolist() == expected.pairs[0].only_first.tolist()
    assert results.times is not None
    np.testing.assert_array_equal(results.times, expected.times)


def test_predicted_classes_count_like_votes_for_them() -> None:
    rows = Rows(7)
    gauge = Gauge(["accuracy", "log_loss", "mcc"], models=MODELS, classes=CLASSES, every=100)
    rows.push(gauge, 7, with_votes=False, weight=False)
    rows.votes = {model: _vote_for_one(column) for model, column in rows.predict(with_votes=False).items()}
    expected = rows.evaluate(weight=False, measures=["accuracy", "log_loss", "mcc"], every=100)
    np.testing.assert_array_equal(gauge.results().values, expected.values)


def _vote_for_one(column: NDArray[Any]) -> NDArray[np.float64]:
    return np.array([[float(label == name) for name in CLASSES] for label in column])
