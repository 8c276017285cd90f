"""Measures with options, all tests, the confusion matrix and the Q statistic from the command line."""

import json
import math

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.measures import COUNT_MEASURES, MEASURES
from streamgauge.significance import list_tests, mcnemar, q_statistic
from tests.support.commands import invoke

PAIR = ("--learner", "NaiveBayes", "--learner", "MajorityClass")


def evaluate(*arguments):
    out, error, status = invoke("evaluate", "--stream", "SEA", "--rows", "800", *arguments, "--json")
    assert status == 0, error
    return {(reading["learner"], reading["measure"]): reading["value"] for reading in json.loads(out)["final"]}


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Return the confusion matrix of naive Bayes on 800 rows of SEA from its predictions: [true, predicted]."""
    path = tmp_path_factory.mktemp("run") / "predictions.parquet"
    sg.evaluate(sg.SEA(n_rows=800), {"bayes": sg.NaiveBayes()}, recorders=[sg.results.Predictions(path)])
    import pyarrow.parquet as pq  # noqa: PLC0415

    rows = pq.read_table(path).select(["true", "predicted"]).to_pylist()
    matrix = np.zeros((2, 3))
    for row in rows:
        matrix[int(row["true"]), 2 if row["predicted"] is None else int(row["predicted"])] += 1
    return matrix


def expect(counts):
    (tn, fp, none_0), (fn, tp, none_1) = counts
    n, right = counts.sum(), tn + tp
    positives, negatives = fn + tp + none_1, tn + fp + none_0
    chance = (positives * (tp + fp) + negatives * (tn + fn)) / n**2
    return {
        "tp[1]": tp,
        "fp[1]": fp,
        "f2[1]": 5 * tp / (4 * positives + tp + fp),
        "Hoeffding(delta=0.01)": math.sqrt(math.log(2 / 0.01) / (2 * n)),
        "MinMaxAccuracy(0.5, 0.9)": (right / n - 0.5) / 0.4,
        "MinMaxAccuracy(low=.5, high=.9)": (right / n - 0.5) / 0.4,
        "Cost(((0, 1), (5, 0)), abstained=2)": (fp + 5 * fn + 2 * (none_0 + none_1)) / n,
        "chance_accuracy": chance,
        "kappa": (right / n - chance) / (1 - chance),
    }


@pytest.mark.parametrize("text", expect(np.ones((2, 3))))
def test_a_measure_with_options_is_written_as_text(text, counts):
    (value,) = evaluate("--learner", "NaiveBayes", "--measure", text).values()
    assert value == pytest.approx(expect(counts)[text], abs=1e-12)


def test_all_stands_for_every_measure_of_counts():
    values = evaluate("--learner", "NaiveBayes", "--measure", "all")
    assert [measure for _, measure in values] == list(COUNT_MEASURES)
    values = evaluate("--learner", "NaiveBayes", "--measure", "log_loss", "--measure", "all", "--measure", "kappa")
    assert {measure for _, measure in values} == {*COUNT_MEASURES, "log_loss"}


def test_the_confusion_matrix_is_printed(counts):
    out, _, status = invoke("evaluate", "--stream", "SEA", "--rows", "800", "--learner", "NaiveBayes", "--confusion")
    assert status == 0
    rows = [line.split() for line in out.partition("Confusion matrix of NaiveBayes")[2].splitlines()]
    found = {row[0]: row[1:4] for row in rows if len(row) == 5}
    assert found == {str(code): [f"{weight:g}" for weight in counts[code]] for code in range(2)}


def test_the_q_statistic_is_printed():
    out, _, status = invoke("compare", "--stream", "SEA", "--rows", "800", *PAIR, "--q-statistic", "--json")
    assert status == 0
    results = sg.evaluate(sg.SEA(n_rows=800), [sg.NaiveBayes(), sg.MajorityClass()], measures="error")
    losses = [results.final(name, "error").mean * 800 for name in results.learners]
    (value,) = json.loads(out)["q_statistic"]
    assert value["value"] == pytest.approx(math.log(losses[0] / losses[1]))
    assert value["value"] == pytest.approx(q_statistic(losses[:1], losses[1:])[-1])


def test_the_corrected_mcnemar_is_run_by_name():
    run = ("compare", "--stream", "SEA", "--rows", "800", *PAIR)
    out, *_ = invoke(*run, "--test", "mcnemar", "--test", "mcnemar_corrected", "--json")
    plain, corrected = json.loads(out)["comparisons"]
    results = sg.evaluate(sg.SEA(n_rows=800), [sg.NaiveBayes(), sg.MajorityClass()])
    (pair,) = results.pairs
    first, second = int(pair.only_first[0]), int(pair.only_second[0])
    assert abs(plain["statistic"]) == pytest.approx((first - second) ** 2 / (first + second))
    assert abs(corrected["statistic"]) == pytest.approx((abs(first - second) - 1) ** 2 / (first + second))
    assert corrected["p_value"] >= plain["p_value"] == mcnemar(first, second, 800).p_value


def test_the_5x2cv_test_follows_five_repetitions_of_two_folds():
    run = ("compare", "--stream", "SEA", "--rows", "1000", *PAIR, "--scheme", "BatchCrossValidation(2, 5)")
    out, error, status = invoke(*run, "--test", "5x2cv", "--json")
    assert status == 0, error
    (comparison,) = json.loads(out)["comparisons"]
    assert (comparison["test"], comparison["better"]) == ("five_by_two", "NaiveBayes")


def list_family(family):
    out, *_ = invoke("list", family, "--json")
    return {row["name"]: row for row in json.loads(out)}


def test_measures_are_listed_with_their_forms():
    listed = list_family("measures")
    assert set(MEASURES) <= set(listed)
    assert {"all", "recall[CLASS]", "tp[CLASS]", "fBETA[CLASS]", "roc_auc[CLASS]", "chance_accuracy"} <= set(listed)
    assert listed["Hoeffding"]["options"]["delta"] == 0.05
    assert set(listed["MinMaxAccuracy"]["options"]) == {"low", "high"}
    assert all(row["summary"] for row in listed.values())


def test_tests_are_listed_and_in_the_help():
    listed = list_family("tests")
    assert tuple(listed) == list_tests()
    assert {"two_way_t", "mcnemar_corrected", "five_by_two"} <= set(listed)
    assert all(row["summary"].endswith(".") for row in listed.values())
    out, *_ = invoke("compare", "--help")
    assert "mcnemar_corrected" in out.replace("\n", "")
