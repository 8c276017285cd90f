"""Measures as text: names with classes, betas and options, the same in Python, experiments and on the command line."""

from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import measures
from streamgauge.checks import check_measure
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import Experiment
from streamgauge.experiments.stream_sources import Source
from streamgauge.measures import (
    COUNT_MEASURES,
    MEASURES,
    Chernoff,
    Cost,
    CountOfClass,
    FBeta,
    Hoeffding,
    MinMaxAccuracy,
    OfClass,
    Utility,
    chance_accuracy,
    determinant,
    expand_all,
    find_measures,
    kappa,
    mcc,
    measure,
    scaled_determinant,
)
from streamgauge.records import Schema, Tally
from streamgauge.streams import Waveform

TABLE_5 = Tally(np.array([[40.0, 30.0], [5.0, 25.0]]), np.zeros(2), 70.0, 50.0, 100, squared_weight=100.0)
"""The confusion matrix of Table 5 of Bifet et al. (2015); class 0 is their Class+."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hoeffding(delta=0.01)", Hoeffding(0.01)),
        ("Hoeffding( 0.01, range = 10 )", Hoeffding(0.01, 10)),
        ("hoeffding(0.01, range=10)", Hoeffding(0.01, 10)),
        ("Chernoff(delta=0.1)", Chernoff(0.1)),
        ("Chernoff(0.012345678901)", Chernoff(0.012345678901)),
        ("MinMaxAccuracy(0.5, 0.9)", MinMaxAccuracy(0.5, 0.9)),
        ("min_max_accuracy(0.5, 0.9)", MinMaxAccuracy(0.5, 0.9)),
        ("Cost([[0, 1], [10, 0]])", Cost(((0, 1), (10, 0)))),
        ("Cost(((0, 1), (10, 0)), abstained=2, called='fee')", Cost(((0, 1), (10, 0)), 2, "fee")),
        ("Utility([[1, 0], [-2, 1]])", Utility(((1, 0), (-2, 1)))),
        ("FBeta(2)", FBeta(2)),
        ("FBeta(0.5, 'weighted')", FBeta(0.5, "weighted")),
        ("f2_macro_or_0", FBeta(2.0, "macro", 0.0)),
        ("precision_macro_or_0.5", measures.Averaged("precision", "macro", 0.5)),
        ("f2[up]", OfClass("f2", "up")),
        ("tp[up]", CountOfClass("tp", "up")),
        ("fn", CountOfClass("fn")),
        ("Hoeffding", Hoeffding()),
    ],
)
def test_a_text_names_a_measure_with_its_options(text: str, expected: Any) -> None:
    found = measure(text)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)
    if not isinstance(found, Cost | Utility):
        again = measure(found.name)  # the name in results is such a text
        assert (type(again), again.name) == (type(found), found.name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hoeffding(delta=0.01", r"cannot read the measure .* was never closed at character 10"),
        ("Hoeffding(dleta=0.1)", "no option of Hoeffding called 'dleta'; did you mean delta"),
        ("Hoeffding(delta=2)", r"Hoeffding\(delta=2\): delta = 2: it must be a number in \(0, 1\)"),
        ("Hoeffding(range=0)", "range = 0"),
        ("Hoeffdin(0.1)", "there is no measure 'Hoeffdin'; did you mean hoeffding"),
        ("FBeta(beta=x)", "cannot read the option 'x' of FBeta, at character 12"),
        ("MinMaxAccuracy(0.9, 0.5)", "low must be below high"),
        ("Cost([[0, 1], [1]])", "one row per class"),
        ("Cost(5)", "one row per class"),
        ("Cost({'up-down': 1})", "write 'TRUE->PREDICTED': NUMBER"),
        ("cost", r"cost needs options: write Cost\(\[\[0, 1\], \[10, 0\]\]\)"),
        ("min_max_accuracy", r"needs options: write MinMaxAccuracy\(0.5, 0.9\)"),
        ("f2", r"f2 is a measure of one class: write f2\[CLASS\] or, for all classes, f2_macro"),
        ("f0[up]", "beta = 0.0"),
        ("recallx[up]", "there is no measure of a class 'recallx'; did you mean recall"),
        ("recall_macr", "did you mean recall_macro"),
        ("roc_acu", "did you mean roc_auc"),
        ("xyz", "there is no measure 'xyz'; 'streamgauge list measures' lists all"),
    ],
)
def test_a_wrong_text_is_refused_with_the_place_and_a_suggestion(text: str, reason: str) -> None:
    with pytest.raises(StreamgaugeError, match=reason):
        measure(text)


def test_what_does_not_fit_the_classes_of_a_stream_is_refused_before_the_first_row() -> None:
    for text, stream, reason in (
        ("tp", Waveform(), r"tp has no positive class among 3: write tp\[CLASS\], such as tp\[0\]"),
        ("fp[7]", sg.SEA(), "there is no class '7'; there are 0, 1"),
        ("Cost([[0, 1], [10, 0]])", Waveform(), "the matrix of cost has 2 classes, but the stream has 3"),
        ("Cost({'0->9': 1})", sg.SEA(), "there is no class '9'"),
        (["Cost([[0, 1], [1, 0]])", "Cost([[0, 2], [1, 0]])"], sg.SEA(), r"such as Cost\(..., called='cost_2'\)"),
    ):
        with pytest.raises(StreamgaugeError, match=reason):
            sg.Evaluation(stream, sg.NaiveBayes(), measures=text)


def test_pairs_of_classes_are_a_matrix() -> None:
    schema = Schema((), ("up", "down"))
    by_pair = measure('Cost({"up->down": 1, "down -> up": 10})').bind(schema)  # type: ignore[attr-defined]
    assert by_pair(TABLE_5) == Cost(((0, 1), (10, 0)))(TABLE_5) == 0.8
    with pytest.raises(StreamgaugeError, match="does not know the codes of its classes"):
        Cost({"up->down": 1})(TABLE_5)


def test_counts_of_a_class_are_those_of_the_confusion_matrix() -> None:
    counts = {name: measure(name)(TABLE_5) for name in ("tp", "tn", "fp", "fn")}
    assert counts == {"tp": 25.0, "tn": 40.0, "fp": 30.0, "fn": 5.0}  # of class 1
    of_first = {name: CountOfClass(name, 0)(TABLE_5) for name in ("tp", "tn", "fp", "fn")}
    assert of_first == {"tp": 40.0, "tn": 25.0, "fp": 5.0, "fn": 30.0}
    abstaining = Tally(np.array([[6.0, 1.0], [0.0, 2.0]]), np.array([1.0, 3.0]), 0.0, 0.0, 13)
    assert [measure(name)(abstaining) for name in ("tp", "tn", "fp", "fn")] == [2.0, 7.0, 1.0, 3.0]
    results = sg.evaluate(sg.SEA(n_rows=1_000), sg.NaiveBayes(), measures=["tp", "tn", "fp", "fn"])
    assert results.values[-1].sum() == 1_000.0
    assert [results.unit(name) for name in results.measures] == ["rows"] * 4
    assert [results.greater_is_better(name) for name in results.measures] == [True, True, False, False]
    for name in ("tp", "tn", "fp", "fn"):
        check_measure(CountOfClass(name, 1))


def test_f_beta_of_a_class_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import fbeta_score  # noqa: PLC0415

    y_true, y_pred = np.repeat([0, 0, 1, 1], [40, 30, 5, 25]), np.repeat([0, 1, 0, 1], [40, 30, 5, 25])
    for beta in (0.5, 2, 3.5):
        for code in (0, 1):
            expected = fbeta_score(y_true, y_pred, beta=beta, pos_label=code)
            assert OfClass(f"f{beta:g}", code)(TABLE_5) == pytest.approx(expected, abs=1e-12)


def test_the_determinant_is_the_numerator_that_bifet_et_al_name() -> None:
    tp, fn, fp, tn = 40.0, 30.0, 5.0, 25.0
    assert determinant(TABLE_5) == tp * tn - fn * fp == 850.0
    roots = np.sqrt((tp + fn) * (tp + fp) * (fp + tn) * (fn + tn))
    assert mcc(TABLE_5) == pytest.approx(determinant(TABLE_5) / roots, abs=1e-12)
    assert chance_accuracy(TABLE_5) == pytest.approx(0.48, abs=1e-12)  # as printed, section 5.3
    assert kappa(TABLE_5) == pytest.approx(2 * determinant(TABLE_5) / (100**2 * (1 - 0.48)), abs=1e-12)
    assert scaled_determinant(TABLE_5) == pytest.approx(40 / 70 + 25 / 30 - 1, abs=1e-12)


def test_the_determinant_of_many_classes_is_that_of_the_counts() -> None:
    table = np.random.default_rng(1).integers(0, 20, (4, 4)).astype(float)
    tally = Tally(table, np.zeros(4), 0.0, 0.0, int(table.sum()))
    assert determinant(tally) == pytest.approx(np.linalg.det(table), rel=1e-12)
    too_large = Tally(1e5 * np.eye(100), np.zeros(100), 0.0, 0.0, 100)
    assert np.isnan(determinant(too_large))
    assert scaled_determinant(too_large) == 1.0


def test_hoeffding_has_a_range_and_the_published_form_is_an_option() -> None:
    n, delta = 100, 0.05
    plain = np.sqrt(np.log(2 / delta) / (2 * n))
    assert Hoeffding(delta)(TABLE_5) == pytest.approx(plain, rel=1e-12)
    assert Hoeffding(delta, range=10)(TABLE_5) == pytest.approx(10 * plain, rel=1e-12)
    published = np.sqrt(10 * np.log(2 / delta) / (2 * n))  # section 3.2 of Gama et al. (2009)
    assert Hoeffding(delta, range=10, published=True)(TABLE_5) == pytest.approx(published, rel=1e-12)
    assert Hoeffding(delta, published=True)(TABLE_5) == Hoeffding(delta)(TABLE_5)


def test_a_mean_cost_has_an_interval_with_its_range() -> None:
    measures = ["Cost([[0, 1], [10, 0]])", "Hoeffding(range=10)", "hoeffding", "kappa"]
    results = sg.evaluate(sg.SEA(n_rows=500), sg.NaiveBayes(), measures=measures)
    low, high = results.interval("NaiveBayes", "cost", bound="hoeffding(range=10)")
    cost = results.curve("NaiveBayes", "cost")
    np.testing.assert_allclose((high - low)[-1], 2 * 10 * np.sqrt(np.log(2 / 0.05) / (2 * 500)), rtol=1e-12)
    np.testing.assert_allclose((high + low) / 2, cost, atol=1e-12)
    for measure_, bound in (("kappa", "hoeffding(range=10)"), ("cost", "hoeffding")):
        with pytest.raises(StreamgaugeError, match="the bounds are those of the error"):
            results.interval("NaiveBayes", measure_, bound=bound)


def test_the_range_of_hoeffding_is_the_one_that_holds() -> None:
    rng = np.random.default_rng(1)
    n, range_ = 50, 10.0
    means = range_ * (rng.random((4_000, n)) < 0.5).mean(axis=1)
    tally = Tally(n / 2 * np.eye(2), np.zeros(2), 0.0, 0.0, n, squared_weight=float(n))
    missed = [np.mean(np.abs(means - 5.0) > Hoeffding(0.1, range_, p)(tally)) for p in (False, True)]
    assert missed[0] < 0.1 < missed[1]


def test_all_is_every_measure_of_counts_everywhere() -> None:
    assert expand_all("all") == tuple(COUNT_MEASURES)
    found = expand_all(["kappa", "all", "tp"])
    assert (found[:2], found[-1], found.count("kappa")) == (("kappa", "accuracy"), "tp", 1)
    bound = find_measures(["all", "log_loss"], sg.SEA())
    assert {each.name for each in bound} == {*COUNT_MEASURES, "log_loss"}
    experiment = Experiment(
        "small", streams={"sea": Source("SEA", rows=100)}, learners={"last": "NoChange"}, measures=("all", "tp")
    )
    assert set(experiment.measures) == {*COUNT_MEASURES, "tp"}
    assert "all" not in MEASURES
