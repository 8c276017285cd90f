"""The variants of McNemar and the 5x2 test run by name after an evaluation, in Python and on the command line."""

import json
import math
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import streamgauge as sg
from streamgauge.cli.main import cli
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Results
from streamgauge.schemes import BatchCrossValidation
from streamgauge.significance import SUCH_STREAMS, five_by_two, list_tests
from streamgauge.streams import take

LEARNERS: dict[str, Any] = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
OPTIONS = ["--stream", "RandomRBF", "--rows", "4000", "--learner", "NaiveBayes", "--learner", "MajorityClass"]


@pytest.fixture(scope="module")
def one_fold() -> Results:
    return sg.evaluate(sg.RandomRBF(n_rows=8000), LEARNERS)


@pytest.mark.parametrize("variant", ["corrected", "exact", "mid_p"])
def test_each_variant_of_mcnemar_has_a_name(variant: str, one_fold: Results) -> None:
    assert f"mcnemar_{variant}" in list_tests()
    outcome = sg.compare(one_fold, test=f"mcnemar_{variant}")
    (pair,) = one_fold.pairs
    a, b = int(pair.only_second[0]), int(pair.only_first[0])
    at_most = stats.binom.cdf(min(a, b), a + b, 0.5)
    expected = {
        "corrected": stats.chi2.sf((abs(a - b) - 1) ** 2 / (a + b), 1),
        "exact": 2 * at_most,
        "mid_p": 2 * at_most - stats.binom.pmf(min(a, b), a + b, 0.5),
    }[variant]
    assert outcome.p_value == pytest.approx(expected, rel=1e-9)
    assert outcome.test == f"mcnemar_{variant}"
    assert math.copysign(1, outcome.statistic) == math.copysign(1, a - b)
    assert outcome.title.replace("-", "_") in outcome.sentence.replace("-", "_")


def test_five_by_two_is_alpaydins_test_of_two_fold_batches() -> None:
    stream, n = sg.RandomRBF(n_rows=1200, seed=5), 1200
    results = sg.evaluate(stream, LEARNERS, scheme=BatchCrossValidation(2, 5))
    rows, differences = take(stream, n), np.empty((5, 2))
    for fold in range(10):
        own = np.asarray(BatchCrossValidation(2, 5).step(rows, fold, 1).test)
        right = []
        for spec in LEARNERS.values():
            learner = spec.build(stream.schema, 1)
            learner.learn(rows.x[~own], rows.y[~own], None)
            right.append((learner.predict(rows.x[own]).argmax(axis=1) == rows.y[own]).mean())
        differences[fold // 2, fold % 2] = right[0] - right[1]
    variances = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    statistic = (differences**2).sum() / (2 * variances.sum())
    for name in ("five_by_two", "5x2cv"):
        outcome = sg.compare(results, test=name)
        assert outcome.statistic == pytest.approx(statistic)
        assert outcome.p_value == pytest.approx(stats.f.sf(statistic, 10, 5))
        assert outcome.null == SUCH_STREAMS
        assert outcome.difference == pytest.approx(differences.mean())
    assert five_by_two(differences).p_value == pytest.approx(outcome.p_value)


@pytest.mark.parametrize("scheme", [sg.Bootstrap(10), sg.CrossValidation(10), BatchCrossValidation(10)])
def test_five_by_two_refuses_other_folds(scheme: Any) -> None:
    results = sg.evaluate(sg.SEA(n_rows=300), LEARNERS, scheme=scheme)
    with pytest.raises(StreamgaugeError, match=r"evaluate with BatchCrossValidation\(2, 5\)"):
        sg.compare(results, test="five_by_two")


def test_the_corrected_t_knows_how_many_rows_a_fold_of_a_repetition_tests() -> None:
    results = sg.evaluate(sg.SEA(n_rows=2000), LEARNERS, scheme=BatchCrossValidation(2, 5))
    differences = results.pairs[0].fold_differences
    error = math.sqrt(differences.var(ddof=1) * (1 / 10 + 1))  # as many rows are tested as learnt
    assert sg.compare(results, test="corrected_t").statistic == pytest.approx(differences.mean() / error)


def test_the_command_line_runs_them_by_name() -> None:
    tests = ["mcnemar_corrected", "mcnemar_exact", "mcnemar_mid_p"]
    outcome = CliRunner().invoke(cli, ["compare", *OPTIONS, "--json", *(f"--test={test}" for test in tests)])
    assert outcome.exit_code == 0, outcome.output
    assert [test["test"] for test in json.loads(outcome.stdout)["comparisons"]] == tests
    scheme = ["--scheme", "BatchCrossValidation(2, 5)", "--test", "five_by_two"]
    outcome = CliRunner().invoke(cli, ["compare", *OPTIONS, "--quiet", *scheme])
    assert outcome.exit_code == 0, outcome.output
    assert "5x2 cv test over 5 repetitions of 2 folds" in " ".join(outcome.output.split())


def test_the_command_line_refuses_other_folds_before_the_first_row() -> None:
    scheme = ["--scheme", "Bootstrap(10)", "--test", "five_by_two", "--rows", "1000000000"]
    outcome = CliRunner().invoke(cli, ["compare", *OPTIONS, *scheme])
    assert isinstance(outcome.exception, StreamgaugeError)
    assert "evaluate with BatchCrossValidation(2, 5)" in str(outcome.exception)


def test_five_by_two_of_equal_learners_finds_nothing() -> None:
    outcome = five_by_two([0.0] * 10)
    assert (outcome.statistic, outcome.p_value, outcome.direction) == (0.0, 1.0, 0)
    with pytest.raises(StreamgaugeError, match="cannot be estimated"):
        five_by_two([0.1] * 10)
