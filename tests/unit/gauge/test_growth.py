"""Classes that appear later, merged gauges and saved gauges."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge import Landmark
from streamgauge.errors import StreamgaugeError
from streamgauge.gauge import Gauge
from streamgauge.measures import COUNT_MEASURES
from streamgauge.significance.live import LiveTest
from tests.unit.gauge.test_equality import FORGETTINGS, OF_CLASSES

SUMS = [name for name in OF_CLASSES if not name.startswith(("kappa_m", "kappa_temporal"))]
"""The measures that do not depend on the order of rows."""


def draw_rows(seed: int, n: int = 3000, n_classes: int = 5) -> tuple[Any, Any]:
    """Return labels and predictions of which later classes appear one after the other."""
    random = np.random.default_rng(seed)
    known = 1 + np.arange(n) * n_classes // n
    y = random.integers(0, known)
    return y, np.where(random.random(n) < 0.7, y, random.integers(0, known))


def push_slowly(gauge: Gauge, y: Any, predicted: Any) -> None:
    """Push rows so that the gauge counts them, and grows, many times."""
    for start in range(0, len(y), 250):
        gauge.update(y[start : start + 250], predicted[start : start + 250])
        gauge.reading()


@pytest.mark.parametrize("forgetting", FORGETTINGS, ids=str)
def test_classes_that_appear_later_change_no_number(forgetting: Any) -> None:
    y, predicted = draw_rows(1)
    # rows without a prediction have equal probabilities for the classes that were known then
    options: dict[str, Any] = {
        "measures": OF_CLASSES,
        "forgetting": forgetting,
        "every": 500,
        "budgets": "error<0.2",
    }
    grown, whole = Gauge(**options), Gauge(classes=range(5), **options)
    for gauge in (grown, whole):
        for start in range(0, len(y), 250):
            rows = slice(start, start + 250)
            gauge.update(y[rows], predicted[rows], time=np.arange(start, start + 250) / 10)
            gauge.reading()
    assert grown.classes == whole.classes == ("0", "1", "2", "3", "4")
    np.testing.assert_allclose(grown.reading().values, whole.reading().values, rtol=1e-12, atol=1e-12)
    results, expected = grown.results(), whole.results()
    np.testing.assert_allclose(results.values[-1], expected.values[-1], rtol=1e-12, atol=1e-12)
    assert results.confusions.weights.shape == expected.confusions.weights.shape  # type: ignore[union-attr]
    np.testing.assert_array_equal(results.labels.by_class, expected.labels.by_class)  # type: ignore[union-attr]
    assert list(map(str, results.model_verdicts)) == list(map(str, expected.model_verdicts))


def test_blocks_for_verdicts_grow_past_the_classes_whose_matrices_are_kept() -> None:
    y, predicted = draw_rows(2, n=6000, n_classes=24)
    other = np.where(np.arange(6000) % 3 == 0, y, predicted)
    options: dict[str, Any] = {
        "models": ["a", "b"],
        "measures": ["kappa", "f1_macro"],
        "live_test": LiveTest(measure=["kappa"]),
        "every": 500,
        "budgets": "error<reference(1000)+0.01",
    }
    grown, whole = Gauge(**options), Gauge(classes=range(24), **options)
    for gauge in (grown, whole):
        for start in range(0, 6000, 250):
            rows = slice(start, start + 250)
            gauge.update(y[rows], {"a": predicted[rows], "b": other[rows]})
            gauge.reading()
    results, expected = grown.results(), whole.results()
    np.testing.assert_array_equal(results.blocks.numbers, expected.blocks.numbers)  # type: ignore[union-attr]
    assert list(map(str, results.verdicts)) == list(map(str, expected.verdicts))
    assert list(map(str, results.model_verdicts)) == list(map(str, expected.model_verdicts))


def test_a_thousand_shards_merged_have_the_counts_of_one_pass_to_the_bit() -> None:
    y, predicted = draw_rows(3, n=20_000, n_classes=4)
    whole, merged = Gauge(list(SUMS), classes=range(4)), Gauge(list(SUMS), classes=range(4))
    whole.update(y, predicted)
    for start in range(0, 20_000, 20):
        shard = Gauge(list(SUMS), classes=range(4))
        shard.update(y[start : start + 20], predicted[start : start + 20])
        merged.merge(shard)
    assert merged.n_rows == whole.n_rows == 20_000
    counts = [SUMS.index(name) for name in SUMS if name in COUNT_MEASURES]
    values, expected = merged.reading().values[0, 0], whole.reading().values[0, 0]
    np.testing.assert_array_equal(values[counts], expected[counts])
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    results, one_pass = merged.results(), whole.results()
    np.testing.assert_array_equal(results.confusions.weights[-1], one_pass.confusions.weights[-1])  # type: ignore[union-attr]
    np.testing.assert_array_equal(results.labels.by_class[-1], one_pass.labels.by_class[-1])  # type: ignore[union-attr]


def test_merged_gauges_may_have_seen_classes_in_another_order() -> None:
    random = np.random.default_rng(4)
    names: Any = np.array(["a", "b", "c", "d"])
    y, predicted = names[random.integers(0, 4, (2, 2000))]
    order = np.concatenate([np.argsort(y[:1200], kind="stable"), 1200 + np.argsort(y[1200:], kind="stable")[::-1]])
    y, predicted = y[order], predicted[order]
    votes = {name: (predicted == name) * 0.7 + 0.1 * (y == name) for name in names}
    measures = ["mcc", "roc_auc_ovr_macro", "pr_auc_ovo_macro", "log_loss", "recall[a]"]
    whole, first, second = (
        Gauge(measures, classes=names),
        Gauge(measures, classes=["a"]),
        Gauge(measures, classes=["a"]),
    )
    whole.update(y, votes)
    first.update(y[:1200], {name: votes[name][:1200] for name in names})
    second.update(y[1200:], {name: votes[name][1200:] for name in names})
    assert first.classes != second.classes
    first.merge(second)
    np.testing.assert_allclose(first.reading().values, whole.reading().values, rtol=1e-12)


def test_pairs_and_budgets_of_merged_gauges_follow_from_their_sums() -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 6000)
    predictions = {name: np.where(random.random(6000) < share, y, 1 - y) for name, share in (("a", 0.9), ("b", 0.8))}
    options: dict[str, Any] = {
        "models": ["a", "b"],
        "classes": [0, 1],
        "live_test": LiveTest(exact=True),
        "budgets": ["error<0.15", "recall[1]>0.7"],
        "every": 1000,
    }
    whole, merged = Gauge(**options), Gauge(**options)
    whole.update(y, predictions)
    for start in range(0, 6000, 500):
        shard = Gauge(**options)
        shard.update(
            y[start : start + 500], {name: column[start : start + 500] for name, column in predictions.items()}
        )
        merged.merge(shard)
    pair, expected = merged.results().pairs[0], whole.results().pairs[0]
    assert (pair.only_first, pair.only_second, pair.n_rows) == (expected.only_first, expected.only_second, 6000)
    assert pair.block_scored.sum() == 6000
    assert pair.block_sums.sum() == expected.block_sums.sum()
    outcomes = [verdict.outcome for verdict in merged.verdicts()]
    assert outcomes == [verdict.outcome for verdict in whole.verdicts()] == ["first", "kept", "kept", "broken", "kept"]
    merged.update(y, predictions)
    assert merged.n_rows == 12_000
    assert [verdict.outcome for verdict in merged.verdicts()] == outcomes


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"forgetting": "Window(100)"}, "order of the rows"),
        ({"forgetting": "AdwinWindow"}, "order of the rows"),
        ({"forgetting": "Fading"}, "order of the rows"),
        ({"forgetting": Landmark(moa_compatible=True)}, "order of the rows"),
        ({"measures": "kappa_m"}, "kappa_m compares with a baseline"),
        ({"measures": "kappa_temporal"}, "kappa_temporal compares with a baseline"),
        ({"budgets": "beats majority"}, "kappa_m compares with a baseline"),
        ({"detectors": "DDM"}, "detector DDM"),
        ({"budgets": "error<reference(100)+0.1"}, "reference period"),
        ({"budgets": "kappa>0.5", "measures": "kappa"}, "blocks of consecutive rows"),
        ({"models": ["a", "b"]}, "blocks of consecutive rows"),
    ],
)
def test_merging_is_refused_where_the_order_of_rows_matters(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        Gauge(**options).merge(Gauge(**options))
    with pytest.raises(StreamgaugeError, match="other models or options"):
        Gauge().merge(Gauge("error"))
    gauge = Gauge()
    with pytest.raises(StreamgaugeError, match="itself"):
        gauge.merge(gauge)


def test_a_saved_gauge_continues_bit_for_bit(tmp_path: Path) -> None:
    y, predicted = draw_rows(6)
    options: dict[str, Any] = {
        "measures": list(COUNT_MEASURES),
        "forgetting": [forgetting for forgetting in FORGETTINGS if "Time" not in str(forgetting)],
        "detectors": ["DDM", "Adwin"],
        "budgets": ["error<0.2", "beats majority"],
        "every": 100,
    }
    whole, first = Gauge(**options), Gauge(**options)
    push_slowly(whole, y, predicted)
    push_slowly(first, y[:1700], predicted[:1700])
    first.predicted("waiting", 1)
    first.labelled("early", 2)
    second = Gauge.load(first.save(tmp_path / "gauge"))
    third = pickle.loads(pickle.dumps(second))
    push_slowly(third, y[1700:], predicted[1700:])
    np.testing.assert_array_equal(third.reading().values, whole.reading().values)
    results, expected = third.results(), whole.results()
    np.testing.assert_array_equal(results.rows, expected.rows)
    np.testing.assert_array_equal(results.values, expected.values)
    assert results.alarms == expected.alarms
    assert list(map(str, results.model_verdicts)) == list(map(str, expected.model_verdicts))
    assert third.labelled("waiting", 1)
    third.predicted("early", 2)
    assert third.counts.joined == 2


def test_what_cannot_be_saved_and_what_is_no_gauge_is_refused(tmp_path: Path) -> None:
    def mine(tally: Any) -> float:
        return float(tally.hits)

    gauge = Gauge(mine)
    gauge.update(1, 1)
    assert gauge.reading()["mine"] == 1.0
    with pytest.raises(StreamgaugeError, match="function of Python"):
        gauge.save(tmp_path / "gauge")
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(StreamgaugeError, match="not a saved gauge"):
        Gauge.load(tmp_path / "other")
    with pytest.raises(StreamgaugeError, match="cannot read"):
        Gauge.load(tmp_path / "missing")
