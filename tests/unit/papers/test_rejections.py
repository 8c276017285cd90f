"""What stands behind Tables 2, 3 and 4 of Bifet et al. (2015): one evaluation tells what many would."""

from dataclasses import replace

import numpy as np
import pytest

from papers.bifet_2015.rates import Rates
from papers.bifet_2015.rejections import (
    FOREST,
    MODES,
    NOISES,
    SCHEMES,
    STREAMS,
    SameSeed,
    build_forests,
    evaluate_pair,
    open_stream,
)
from papers.gama_2009.first_stream import compute_statistic
from papers.gama_2009.page_hinkley import DELTA, EVERYTHING, THRESHOLD, watch
from papers.row_losses import RowLosses
from streamgauge import NaiveBayes, evaluate
from streamgauge.backends import Threads
from streamgauge.learners import AdaptiveRandomForest
from streamgauge.streams import SEA, drifts_of, paper_stream

SMALL = {name: replace(FOREST, n_members=3, seed=k) for k, name in enumerate(("first", "second"))}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_evaluation_of_all_rows_tells_what_one_for_each_mode_tells(scheme):
    make, stream = SCHEMES[scheme], SEA(n_rows=700, seed=3)
    sums, accuracy = evaluate_pair(stream, SMALL, make(4), 5, Threads(1))
    for mode in MODES:
        (pair,) = evaluate(stream, SMALL, scheme=make(4, test=mode), seed=5, batch_size=100).pairs
        ours = sums[mode, "0"]
        for name in ("n_scored", "only_first", "only_second"):
            assert getattr(ours, name).tolist() == getattr(pair, name).tolist()
        assert ours.crossed == pair.crossed
        assert ours.sum_squared_means == pytest.approx(pair.sum_squared_means)
    results = evaluate(stream, SMALL, scheme=make(4), seed=5)
    assert accuracy == pytest.approx(results.values[-1, :, :, 0, 0].mean(axis=1).tolist())


def test_noise_takes_away_as_much_accuracy_as_its_formula_says():
    learners = {"first": NaiveBayes(seed=1), "second": NaiveBayes(seed=2)}  # they predict alike
    sums, accuracy = evaluate_pair(SEA(n_rows=20_000), learners, SCHEMES["bootstrap"](4), 1, Threads(1))
    for noise in NOISES:
        p = float(noise)
        pair = sums["all", noise]
        expected = accuracy[0] * p - (1 - accuracy[0]) * p  # of a there remains a (1 - p) + (1 - a) p / (c - 1)
        assert pair.fold_differences.mean() == pytest.approx(expected, abs=4 * np.sqrt(p / 80_000) + 1e-12)


def test_seeds_are_those_of_the_folds_or_one_for_all():
    schema = SEA().schema
    rows = next(SEA().batches(500))

    def votes(spec, seed):
        learner = spec.build(schema, seed)
        learner.learn(rows.x, rows.y, None)
        return learner.predict(rows.x)

    own, shared = AdaptiveRandomForest(3, seed=7), SameSeed(AdaptiveRandomForest(3, seed=7), seed=1)
    assert not np.array_equal(votes(own, 1), votes(own, 2))
    assert np.array_equal(votes(shared, 1), votes(shared, 2))
    assert not np.array_equal(votes(shared, 1), votes(SameSeed(AdaptiveRandomForest(3, seed=8), seed=1), 1))
    assert {spec.seed for number in (1, 2) for spec in build_forests(number, "per_fold").values()} == {2, 3, 4, 5}


def test_short_streams_have_all_their_concepts():
    assert [drift.position for drift in drifts_of(paper_stream("SEA(50)", n_rows=1_000))] == [250, 500, 750]
    (wide, *_) = drifts_of(paper_stream("LED(50000)", n_rows=10_000))
    assert (wide.position, wide.width) == (1_750, 1_500)
    assert open_stream("Poker", 1, 200).n_rows == 200


def counts(first, second):
    return {"n_scored": [100] * len(first), "only_first": first, "only_second": second, "two_way_p": 0.04}


def test_rates_are_means_over_runs_and_then_over_streams():
    def holds(stream, run, first):
        cell = counts([first] * 10, [0] * 10)
        modes = {mode: dict.fromkeys(NOISES, cell) for mode in MODES}
        return {"stream": stream, "run": run, "seeds": "per_fold", "n_rows": 100} | {
            scheme: {**modes, "accuracy": [0.5, 0.7]} for scheme in SCHEMES
        }

    done = {
        "a": holds("Poker", 1, 20),
        "b": holds("Poker", 2, 0),
        "c": holds("SEA(50)", 1, 20),
        "time": {"stream": "x"},
    }
    rates = Rates.from_pieces(done, "per_fold")
    assert rates.n_decisions == 3
    assert rates.average_streams("mcnemar", "all", "0").tolist() == [0.75] * 3
    by_stream = rates.average_runs("wilcoxon", "training", "0.1")[:, 0]
    assert by_stream[STREAMS.index("Poker")] == 0.5
    assert np.isnan(by_stream).sum() == len(STREAMS) - 2
    assert rates.accuracies == {"Poker": pytest.approx(0.6), "SEA(50)": pytest.approx(0.6)}
    assert Rates.from_pieces(done, "shared").n_decisions == 0


def test_the_page_hinkley_statistic_passes_its_threshold_at_the_row_of_the_alarm():
    losses = RowLosses()
    first, second, *_ = watch(0.0, 2, Threads(1), [losses])[EVERYTHING]
    errors = ~losses.correct[EVERYTHING]
    rate = np.cumsum(errors) / np.arange(1, len(errors) + 1)
    statistic = compute_statistic(rate)
    assert int(np.argmax(statistic > THRESHOLD)) == first
    assert int(np.argmax(compute_statistic(rate[first + 1 :]) > THRESHOLD)) == second - first - 1
    sums, rate_sum, mean_sum, least = 0.0, 0, 0.0, 0.0
    for n, wrong in enumerate(errors[:300], start=1):
        rate_sum += wrong
        mean_sum += rate_sum / n
        sums += rate_sum / n - mean_sum / n - DELTA
        least = min(least, sums) if n > 1 else sums
        assert statistic[n - 1] == pytest.approx(sums - least)
