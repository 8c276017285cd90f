"""The two-way t of any measure against scikit-learn, with blocks of rows left out one by one."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics

import streamgauge as sg
from streamgauge.protocols import CellBatch
from streamgauge.records import Trace
from streamgauge.records.blocks import find_block_length
from streamgauge.results import Results
from streamgauge.significance import two_way_t
from tests.support.pair_sums import TWO_WAY_EXAMPLE, leave_out, sums_of, t_of_sums

N_ROWS = 3000


def recalls(trace: Trace) -> Any:
    return metrics.recall_score(trace.y_true, trace.y_pred, labels=[0, 1], average=None)


ORACLES: dict[str, Callable[[Trace], float]] = {
    "accuracy": lambda t: metrics.accuracy_score(t.y_true, t.y_pred),
    "f1[1]": lambda t: metrics.f1_score(t.y_true, t.y_pred, labels=[1], average="macro"),
    "kappa": lambda t: metrics.cohen_kappa_score(t.y_true, t.y_pred),
    "mcc": lambda t: metrics.matthews_corrcoef(t.y_true, t.y_pred),
    "balanced_accuracy": lambda t: float(np.mean(recalls(t))),
    "g_mean": lambda t: math.sqrt(np.prod(recalls(t))),
    "kappa_m": lambda t: 1 - np.mean(t.y_true != t.y_pred) / np.mean(~t.majority_hit),
    "roc_auc[1]": lambda t: metrics.roc_auc_score(t.y_true, t.votes[:, 1]),  # type: ignore[index]
    "pr_auc[1]": lambda t: metrics.average_precision_score(t.y_true, t.votes[:, 1]),  # type: ignore[index]
    "brier": lambda t: metrics.brier_score_loss(t.y_true, t.votes[:, 1]),  # type: ignore[index]
}
SCHEMES = (sg.Bootstrap(5), sg.CrossValidation(5), sg.Split(5))
FACTORS = {"Bootstrap": 1.0, "CrossValidation": 16 / 5, "Split": 1 / 5}


@dataclass
class Traces:
    """A recorder of all traces."""

    batches: dict[tuple[str, int], list[Trace]] = field(default_factory=dict)
    needs_votes: bool = True

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        yield lambda batch: self.batches.setdefault((batch.learner, batch.fold), []).append(batch.trace)

    def join(self, learner: str, fold: int) -> dict[str, Any]:
        parts = [trace for trace in self.batches[learner, fold] if len(trace)]
        columns = ("row", "y_true", "y_pred", "majority_hit", "no_change_hit", "votes")
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
        votes = np.where(joined["votes"].sum(axis=1, keepdims=True) > 0.0, joined["votes"], 1.0)  # no vote: all alike
        joined["votes"] = votes / votes.sum(axis=1, keepdims=True)
        return joined


def run(scheme: Any, measures: list[str]) -> tuple[Results, Traces]:
    traces = Traces()
    stream = sg.RandomRBF(n_rows=N_ROWS, seed=3)
    learners = [sg.NaiveBayes(), sg.HoeffdingTree(grace_period=50)]
    results = sg.evaluate(stream, learners, scheme=scheme, measures=measures, recorders=[traces], every=1000)
    return results, traces


def list_blocks(n_rows: int) -> list[range]:
    """Return the blocks by their definition: the short last one belongs to the one before it."""
    length = find_block_length(n_rows)
    ends = [*range(length, n_rows, length), n_rows]
    if len(ends) > 1 and 2 * (ends[-1] - ends[-2]) < length:
        del ends[-2]
    return [range(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def measure(traces: Traces, oracle: Callable[[Trace], float], learner: str, n_folds: int) -> NDArray[np.float64]:
    """Return the values of a learner [folds, 1 + blocks], each from the rows themselves."""
    values = []
    for fold in range(n_folds):
        columns = traces.join(learner, fold)
        row = [oracle(Trace(**columns))]
        for block in list_blocks(N_ROWS):
            rest = (columns["row"] < block.start) | (columns["row"] >= block.stop)
            row.append(oracle(Trace(**{name: column[rest] for name, column in columns.items()})))
        values.append(row)
    return np.array(values)


def slow_test(first: NDArray[np.float64], second: NDArray[np.float64], factor: float) -> list[float]:
    """Return theta and the p-values of both questions, by the formulas."""
    d, without = (first - second)[:, 0], (first - second)[:, 1:]
    k, b = without.shape
    theta = d.mean()
    rows = (b - 1) / b * sum((without.mean(axis=0) - without.mean()) ** 2)
    both = sum((b - 1) / b * sum((fold - fold.mean()) ** 2) for fold in without) / k**2
    spread = d.var(ddof=1)

    def p_value(variance: float, of_folds: float) -> float:
        df = variance**2 / (rows**2 / (b - 1) + of_folds**2 / (k - 1))
        df = min(max(df, min(k, b) - 1), b + k - 2)
        return float(2 * stats.t.sf(abs(theta) / math.sqrt(variance), df))

    on_this_stream = max(rows + spread / k - both, rows, spread / k)
    such_streams = rows + factor * spread + (math.sqrt(rows * factor * spread) if factor < 1 else 0.0)
    p_values = p_value(on_this_stream, spread / k), p_value(such_streams, factor * spread)
    return [float(theta), p_values[0], max(p_values)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: type(scheme).__name__)
def test_any_measure_is_tested_as_by_scikit_learn_on_the_rows_themselves(
    scheme: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamgauge.significance.two_way.are_dependent", lambda _: False)  # no blocks are joined
    results, traces = run(scheme, list(ORACLES))
    for name, oracle in ORACLES.items():
        outcome = sg.compare(results, measure=name)
        first, second = (measure(traces, oracle, learner, 5) for learner in results.learners)
        theta, p_value, other_p = slow_test(first, second, FACTORS[type(scheme).__name__])
        loose = name in ("roc_auc[1]", "pr_auc[1]")  # votes of blocks are kept in 256 bins
        assert outcome.difference == pytest.approx(theta, abs=1e-9 if not loose else 1e-4), name
        assert outcome.p_value == pytest.approx(p_value, rel=1e-6 if not loose else 0.1), name
        assert outcome.such_streams is not None
        assert outcome.such_streams.p_value == pytest.approx(other_p, rel=1e-6 if not loose else 0.1), name


def test_held_out_rows_are_pooled_over_the_folds() -> None:
    results, traces = run(sg.CrossValidation(5, test="held_out"), ["kappa", "roc_auc[1]"])
    for name in ("kappa", "roc_auc[1]"):
        outcome = sg.compare(results, measure=name)
        pooled = []
        for learner in results.learners:
            parts = [traces.join(learner, fold) for fold in range(5)]
            pooled.append(ORACLES[name](Trace(**{c: np.concatenate([part[c] for part in parts]) for c in parts[0]})))
        assert outcome.values == pytest.approx(tuple(pooled), abs=1e-4)
        assert outcome.difference == pytest.approx(pooled[0] - pooled[1], abs=1e-4)
        assert any("their tallies were added" in warning for warning in outcome.warnings)
        assert outcome.such_streams is not None


def test_one_fold_compares_two_trained_models_by_the_jackknife_over_rows() -> None:
    results, traces = run(sg.Prequential(), ["f1[1]"])
    first, second = (measure(traces, ORACLES["f1[1]"], learner, 1)[0] for learner in results.learners)
    d, without = first[0] - second[0], first[1:] - second[1:]
    b = len(without)
    error = math.sqrt((b - 1) / b * sum((without - without.mean()) ** 2))
    outcome = two_way_t(np.stack([first[None], second[None]]))
    assert outcome.statistic == pytest.approx(d / error)
    assert outcome.p_value == pytest.approx(2 * stats.t.sf(abs(d) / error, b - 1))
    assert outcome.question == "as trained here"
    assert sg.compare(results).difference == pytest.approx(d)


def test_single_rows_as_blocks_give_the_formula_of_independent_rows() -> None:
    """With blocks of one row the variances are those over rows, times n / (n - 1)."""
    random = np.random.default_rng(4)
    d = np.clip(np.rint(random.normal(size=(6, 1)) * 0.2 + random.normal(size=(6, 50))), -1, 1).astype(int)
    k, n = d.shape
    folds, rows, both = d.mean(1).var(ddof=1) / k, d.mean(0).var(ddof=1) / n, d.var(axis=1, ddof=1).sum() / (n * k**2)
    expected = d.mean() / math.sqrt(max(folds + rows - both, folds, rows))
    assert two_way_t(leave_out(d, n)).statistic == pytest.approx(expected)
    assert t_of_sums(sums_of(TWO_WAY_EXAMPLE)).statistic == pytest.approx(1.6748715787172475, rel=1e-12)


def test_areas_change_without_a_block_about_as_much_as_those_of_the_votes() -> None:
    random = np.random.default_rng(5)
    n = 60_000
    y = (random.random(n) < 0.1).astype(np.int64)
    common = 3.0 * y + 2.0 * random.normal(size=n) - 3.0  # the two models agree but for little
    sure = np.where(random.random(n) < 0.2, 20.0, 0.4)  # they are very sure of a few rows, as naive Bayes is
    votes = {name: 1 / (1 + np.exp(-sure * (common + 0.3 * random.normal(size=n)))) for name in ("a", "b")}
    columns = {f"{name}.{code}": v if code else 1 - v for name, v in votes.items() for code in (0, 1)}
    results = sg.evaluate(
        sg.streams.ArrayStream(columns, y),
        [sg.learners.Precomputed(name) for name in votes],
        measures=["pr_auc[1]", "roc_auc[1]"],
        live_test=None,
    )
    assert results.blocks is not None
    starts = [0, *results.blocks.rows.tolist()]
    for name, score in (("pr_auc[1]", metrics.average_precision_score), ("roc_auc[1]", metrics.roc_auc_score)):
        without = []
        for start, stop in pairwise(starts):
            kept = np.r_[0:start, stop:n]
            without.append(score(y[kept], votes["a"][kept]) - score(y[kept], votes["b"][kept]))
        error = math.sqrt((len(without) - 1) ** 2 / len(without) * np.var(without, ddof=1))
        outcome = sg.compare(results, "a", "b", measure=name)
        assert outcome.interval is not None
        low, high = outcome.interval
        found = (high - low) / 2 / stats.t.ppf(0.975, len(without) - 1)
        assert found == pytest.approx(error, rel=0.08), name
