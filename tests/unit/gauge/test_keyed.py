"""Many keys in one table: the same numbers as a gauge for each, budgets, groups, merging."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.gauge import Gauge, KeyedGauge
from streamgauge.measures import COUNT_MEASURES
from streamgauge.significance.e_values import discover

COUNTS = [name for name in COUNT_MEASURES if not name.startswith(("kappa_m", "kappa_temporal"))]


def draw_rows(seed: int, n: int = 4000, n_keys: int = 20) -> tuple[Any, Any, Any]:
    """Return keys, labels and probabilities of class 1, of a rare class."""
    random = np.random.default_rng(seed)
    y = (random.random(n) < 0.2).astype(int)
    score = 1.0 / (1.0 + np.exp(-(3.0 * y - 2.0 + 1.5 * random.standard_normal(n))))
    return random.integers(0, n_keys, n), y, score


def test_each_key_has_the_counts_of_a_gauge_of_its_own() -> None:
    random = np.random.default_rng(1)
    keys = random.integers(0, 12, 3000)
    y, predicted = random.integers(0, 4, (2, 3000))
    names: Any = np.array(["a", "b", "c", None], dtype=object)
    table = KeyedGauge(COUNTS)
    table.update(keys[:1000], names[:3][y[:1000] % 3], names[predicted[:1000]])
    for key, label, one in zip(keys[1000:], y[1000:] % 3, predicted[1000:], strict=True):
        table.update(int(key), names[label], names[one])
    assert set(table) == set(range(12))
    for key in range(12):
        gauge = Gauge(COUNTS, classes=table.classes)
        mine = keys == key
        gauge.update(names[y[mine] % 3], names[predicted[mine]])
        np.testing.assert_array_equal(list(table[key].values()), gauge.reading().values[0, 0])
    whole = Gauge(COUNTS, classes=table.classes)
    whole.update(names[y % 3], names[predicted])
    np.testing.assert_array_equal(list(table.total().values()), whole.reading().values[0, 0])
    columns = table.table()
    assert columns["n_rows"].sum() == 3000
    assert columns["accuracy"][columns["key"].index(7)] == table[7]["accuracy"]


@pytest.mark.parametrize("positive", [0, 1])
def test_losses_are_exact_and_areas_close(positive: int) -> None:
    measures = ["log_loss", "brier", "roc_auc_ovr_macro", "pr_auc_ovr_macro", "pr_auc[1]", "recall[1]"]
    keys, y, score = draw_rows(2, n=30_000, n_keys=3)
    score = score if positive else 1.0 - score
    table = KeyedGauge(measures, classes=[0, 1], score_of=positive)
    table.update(keys, y, score)
    for key in range(3):
        gauge = Gauge(measures, classes=[0, 1], score_of=positive)
        gauge.update(y[keys == key], score[keys == key])
        values, expected = np.array(list(table[key].values())), gauge.reading().values[0, 0]
        np.testing.assert_allclose(values[[0, 1, 5]], expected[[0, 1, 5]], rtol=1e-12)
        np.testing.assert_allclose(values[2], expected[2], atol=0.002)
        assert (expected[3:5] - 0.02 < values[3:5]).all()  # rows in one bin count as tied, which lowers the precision
        assert (values[3:5] <= expected[3:5]).all()


def test_verdicts_are_those_of_a_gauge_over_all_rows_of_the_key() -> None:
    random = np.random.default_rng(3)
    table = KeyedGauge(["accuracy", "recall[1]"], classes=[0, 1], budgets=["error<0.1", "recall[1]>0.7"])
    shares = {"good": 0.97, "bad": 0.8, "middle": 0.9}
    for key, share in shares.items():
        y = random.integers(0, 2, 4000)
        predicted = np.where(random.random(4000) < share, y, 1 - y)
        table.update([key] * 4000, y, predicted)
        gauge = Gauge(classes=[0, 1], budgets=["error<0.1", "recall[1]>0.7"], every=4000)
        gauge.update(y, predicted)
        verdicts = {verdict.requirement: verdict for verdict in table.verdicts() if verdict.key == key}
        for expected in gauge.verdicts():
            found = verdicts[expected.requirement]  # type: ignore[union-attr]
            assert (found.outcome, found.value) == (expected.outcome, pytest.approx(expected.value))  # type: ignore[union-attr]
    assert {verdict.key: verdict.outcome for verdict in table.verdicts()[:3]} == {
        "good": "kept",
        "bad": "broken",
        "middle": "undecided",
    }


def test_discoveries_among_many_keys_are_seldom_false() -> None:
    random, n_keys, n_false, n_found = np.random.default_rng(4), 500, 0, 0
    for _ in range(20):
        table = KeyedGauge(budgets="error<0.1")
        bad = np.arange(n_keys) < 100
        wrong = random.random((n_keys, 300)) < np.where(bad, 0.3, 0.1)[:, None]
        table.update(np.repeat(np.arange(n_keys), 300), np.ones(wrong.size, dtype=int), 1 - wrong.ravel().astype(int))
        found = np.array([verdict.is_discovery for verdict in table.verdicts()])
        n_false, n_found = n_false + int(found[~bad].sum()), n_found + int(found.sum())
    assert n_found > 20 * 50
    assert n_false <= 0.05 * n_found


@pytest.mark.parametrize("seed", range(5))
def test_discoveries_follow_their_definition(seed: int) -> None:
    log_e = np.random.default_rng(seed).normal(2.0, 4.0, 40)
    ranked = sorted(log_e, reverse=True)
    k = max((k for k in range(1, 41) if np.exp(ranked[k - 1]) >= 40 / (0.1 * k)), default=0)
    assert discover(log_e, alpha=0.1).sum() == k
    assert discover([], alpha=0.1).tolist() == []


def test_groups_add_up_the_other_parts_of_keys() -> None:
    table = KeyedGauge(["accuracy", "tp[1]"], classes=[0, 1], key_names=["country", "version"])
    table.update({"country": ["DE", "DE", "FR"], "version": [1, 2, 1]}, [1, 1, 1], [1, 0, 1])
    table.update(("FR", 2), 0, 1)
    assert table["DE", 2] == {"accuracy": 0.0, "tp[1]": 0.0}
    assert table.group("country")["DE"] == {"accuracy": 0.5, "tp[1]": 1.0}
    assert table.group("version")[1] == {"accuracy": 1.0, "tp[1]": 2.0}
    assert (table.table()["country"], table.table()["version"]) == (["DE", "DE", "FR", "FR"], [1, 2, 1, 2])
    with pytest.raises(StreamgaugeError, match="there is no part 'tenant'"):
        table.group("tenant")
    with pytest.raises(StreamgaugeError, match="tuple of country, version"):
        table.update("DE", 1, 1)


def test_merged_tables_equal_one_and_saved_ones_continue(tmp_path: Path) -> None:
    keys, y, score = draw_rows(5)
    options: dict[str, Any] = {
        "measures": ["accuracy", "log_loss", "pr_auc[1]"],
        "classes": [0, 1],
        "score_of": 1,
        "budgets": "error<0.5",
    }
    whole, merged = KeyedGauge(**options), KeyedGauge(**options)
    whole.update(keys, y, score)
    for start in range(0, 4000, 40):
        part = KeyedGauge(**options)
        rows = slice(start, start + 40)
        part.update(keys[rows], y[rows], score[rows])
        merged.merge(part)
    loaded = KeyedGauge.load(merged.save(tmp_path / "table"))
    for table in (merged, loaded):
        assert set(table) == set(whole)
        for key in whole:
            np.testing.assert_allclose(list(table[key].values()), list(whole[key].values()), rtol=1e-12)
        assert sorted(map(str, table.verdicts())) == sorted(map(str, whole.verdicts()))
    with pytest.raises(StreamgaugeError, match="other options"):
        whole.merge(KeyedGauge())
    with pytest.raises(StreamgaugeError, match="itself"):
        whole.merge(whole)
    first, second = KeyedGauge(), KeyedGauge()
    first.update("x", "up", "down")
    second.update(["x", "y"], ["side", "down"], ["side", None])
    first.merge(second)
    assert (first["x"], first["y"], first.classes) == ({"accuracy": 0.5}, {"accuracy": 0.0}, ("up", "down", "side"))


def test_threads_lose_nothing() -> None:
    table = KeyedGauge(["accuracy"], classes=[0, 1])

    def push(thread: int) -> None:
        for row in range(20_000):
            table.update(row % 97, 1, (row + thread) % 2)

    threads = [threading.Thread(target=push, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert table.table()["n_rows"].sum() == 80_000
    assert table.total() == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": "kappa_m"}, "kappa_m cannot be measured for keys"),
        ({"measures": "expected_calibration_error"}, "cannot be measured for keys"),
        ({"measures": "log_loss"}, "set score_of"),
        ({"score_of": 1}, "needs both classes"),
        ({"budgets": "kappa>0.5"}, "limits of ratios of counts"),
        ({"budgets": "error<reference(100)+0.1"}, "limits of ratios of counts"),
        ({"budgets": "brier<0.1"}, "add its measure"),
        ({"alpha": 2.0}, "alpha"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(StreamgaugeError, match=message):
        KeyedGauge(**options)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", None, 0.5), "must be a class"),
        (("a", 1, 1.5), "from 0 to 1"),
        ((["a"], [1], [float("nan")]), "from 0 to 1"),
        ((["a", "b"], [1], [0.5]), "2 keys, 1 labels"),
        ((["a"], [None], [0.5]), "row 0"),
    ],
)
def test_rows_that_make_no_sense_are_refused(row: tuple[Any, ...], message: str) -> None:
    table = KeyedGauge(classes=[0, 1], score_of=1)
    with pytest.raises(StreamgaugeError, match=message):
        table.update(*row)
    assert table.table()["n_rows"].sum() == 0
    with pytest.raises(StreamgaugeError, match="no row with the key"):
        table["missing"]
