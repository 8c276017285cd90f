"""A gauge of numbers computes what a prequential evaluation computes on the same predictions."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from streamgauge import AdwinWindow, Fading, Landmark, Window, evaluate
from streamgauge.errors import StreamgaugeError
from streamgauge.forgetting import TimeWindow, Tumbling
from streamgauge.gauge import Gauge
from streamgauge.measures import NUMBER_MEASURES
from streamgauge.measures.errors import AdjustedR2
from streamgauge.streams import ArrayStream

MODELS = ("champion", "challenger")


@dataclass(frozen=True)
class ReadsColumn:
    """A learner of numbers that returns a column of the rows."""

    column: int
    tasks: ClassVar[tuple[str, ...]] = ("regression",)

    def predict(self, x: Any) -> Any:
        """Return the column."""
        return x[:, self.column]

    def learn(self, x: Any, y: Any, sample_weight: Any = None) -> None:
        """Do nothing."""


@pytest.mark.parametrize("weighted", [False, True])
def test_every_measure_of_numbers_has_the_values_of_an_evaluation(weighted: bool) -> None:
    random = np.random.default_rng(1)
    y = 1000.0 + np.cumsum(random.normal(size=1200))
    predictions = {name: y + random.normal(size=1200) * scale for name, scale in zip(MODELS, (1.0, 3.0), strict=True)}
    weight = random.choice([1.0, 2.0, 0.3], 1200) if weighted else None
    options: dict[str, Any] = {
        "measures": [name for name in NUMBER_MEASURES if name != "adjusted_r2"],  # a gauge knows no attributes
        "forgetting": [Landmark(), Window(150), Fading(0.99), AdwinWindow(), TimeWindow(30.0), Tumbling(100)],
        "budgets": "mae<2",
        "every": 100,
    }
    x = np.stack(list(predictions.values()), axis=1)
    learners = {name: ReadsColumn(column) for column, name in enumerate(MODELS)}
    time = np.arange(1200) / 5
    stream: Any = ArrayStream(x, y, weight=weight, time=time, numeric="y")
    expected = evaluate(stream, learners, **options)
    gauge = Gauge(numeric=True, models=MODELS, **options)
    for start in range(0, 1000, 250):
        rows = slice(start, start + 250)
        weights = None if weight is None else weight[rows]
        gauge.update(y[rows], {name: column[rows] for name, column in predictions.items()}, weights, time[rows])
        gauge.reading()
    for row in range(1000, 1200):
        one = None if weight is None else weight[row]
        gauge.update(float(y[row]), {name: float(column[row]) for name, column in predictions.items()}, one, time[row])
    results = gauge.results()
    np.testing.assert_array_equal(results.values, expected.values)
    np.testing.assert_array_equal(gauge.reading().values, expected.values[-1, :, 0])
    # a run that knows its number of rows has a last look there
    for found, others in ((results.model_verdicts, expected.model_verdicts), (results.verdicts, expected.verdicts)):
        assert [(one.outcome, one.row) for one in found] == [(one.outcome, one.row) for one in others]
    restored = Gauge.from_bytes(gauge.to_bytes())
    np.testing.assert_array_equal(restored.reading().values, gauge.reading().values)


def test_numbers_may_come_late_and_may_be_missing() -> None:
    gauge = Gauge(numeric=True)
    gauge.predicted("a", 2.0)
    gauge.predicted("b", None)
    gauge.update(1.0, 1.0)
    gauge.update([None, 3.0], [1.0, 4.0])
    assert gauge.labelled("b", 5.0)
    assert gauge.labelled("a", 2)
    reading = gauge.reading()
    assert (reading.row, reading.measures) == (5, ("mae",))
    # the first target is not scored; no prediction counts as the mean of the targets before it, 2
    assert reading["mae"] == pytest.approx((1.0 + 3.0 + 0.0) / 3)


def test_the_adjusted_r2_takes_the_number_of_attributes_that_it_is_given() -> None:
    random = np.random.default_rng(2)
    gauge = Gauge(["r2", AdjustedR2(n_attributes=5)], numeric=True)
    y = random.normal(size=101)
    gauge.update(y, y + 0.5 * random.normal(size=101))
    reading = gauge.reading()
    assert reading["adjusted_r2"] == pytest.approx(1.0 - (1.0 - reading["r2"]) * 99 / (99 - 5))


def test_what_makes_no_sense_for_numbers_is_refused() -> None:
    with pytest.raises(StreamgaugeError, match="numbers have no classes"):
        Gauge(numeric=True, classes=["a"])
    with pytest.raises(StreamgaugeError, match="mae is a measure of regression"):
        Gauge("mae")
    with pytest.raises(StreamgaugeError, match="accuracy is a measure of classification"):
        Gauge("accuracy", numeric=True)
    for measures in ("adjusted_r2", ["mae", "all"], AdjustedR2()):
        with pytest.raises(StreamgaugeError, match="number of attributes"):
            Gauge(measures, numeric=True)
    gauge = Gauge(numeric=True)
    for y_true, y_pred in (("a", 1.0), (1.0, "b"), (1.0, float("inf")), ([1.0, 2.0], [1.0])):
        with pytest.raises(StreamgaugeError):
            gauge.update(y_true, y_pred)
    with pytest.raises(StreamgaugeError, match="must be a number"):
        gauge.labelled("a", None)
    with pytest.raises(StreamgaugeError, match="the first row is not scored"):
        gauge.merge(Gauge(numeric=True))
