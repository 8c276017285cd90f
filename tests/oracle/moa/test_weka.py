"""WEKA's static classifiers, fitted on all training rows, beside WEKA's own command line in a machine of its own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from peers import arff, moa
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import Moa, Refitted, SEAEnsemble
from streamgauge.records import Batch
from streamgauge.schemes import Pretrained, TrainThenTest
from streamgauge.streams import ArrayStream, take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract

pytest.importorskip("jpype", reason="jpype1 is not installed")

J48 = "weka.classifiers.trees.J48 -C 0.25 -M 2"
N_TEST = 5_000


@pytest.fixture(autouse=True)
def _jars(monkeypatch, tmp_path):
    reason = moa.explain_missing_weka()
    if reason is not None:
        pytest.skip(reason)
    monkeypatch.setenv("STREAMGAUGE_MOA_JAR", moa.build_class_path())
    monkeypatch.setenv("WEKA_HOME", str(tmp_path))


def measure_both(learner, schema, batch, n_training, folder):
    """Return our accuracy under TrainThenTest and WEKA's own on the same split."""
    stream = ArrayStream(batch.x, batch.y, schema=schema, weight=batch.weight)
    results = sg.evaluate(stream, learner, scheme=TrainThenTest(n_training), batch_size=333)
    parts = {"training": slice(n_training), "test": slice(n_training, None)}
    for name, rows in parts.items():
        path = folder / f"{name}.arff"
        arff.write(path, schema, batch.x[rows], batch.y[rows])
        if batch.weight is not None:
            head, mark, data = path.read_text().partition("@data\n")
            lines = zip(data.splitlines(), batch.weight[rows].tolist(), strict=True)
            path.write_text(head + mark + "".join(f"{line},{{{weight}}}\n" for line, weight in lines))
    return float(results.values[-1].item()), moa.measure_weka(J48, folder / "training.arff", folder / "test.arff")


@pytest.mark.parametrize("n_training", [200, 2_000])
@pytest.mark.parametrize("learner", [J48, f"meta.WEKAClassifier -l ({J48})"])
def test_j48_learns_all_training_rows_of_numbers(learner, n_training, tmp_path):
    stream = sg.RandomRBF(n_classes=3)
    batch = take(stream, n_training + N_TEST)
    ours, theirs = measure_both(Moa(learner), stream.schema, batch, n_training, tmp_path)
    assert ours == pytest.approx(theirs, abs=0.002)
    assert ours > 0.55


@pytest.mark.parametrize("n_training", [200, 2_000])
def test_j48_learns_nominal_and_missing_values(n_training, tmp_path):
    batch = sample_batch(MIXED, n_training + N_TEST)
    ours, theirs = measure_both(Moa(J48), MIXED, batch, n_training, tmp_path)
    assert ours == pytest.approx(theirs, abs=0.002)
    assert ours > 0.5


def test_j48_learns_weights(tmp_path):
    batch = sample_batch(MIXED, 600)
    weight = np.where(np.arange(600) < 300, np.random.default_rng(1).choice([0.25, 1.0, 4.0], 600), 1.0)
    ours, theirs = measure_both(Moa(J48), MIXED, replace(batch, weight=weight), 300, tmp_path)
    assert ours == pytest.approx(theirs, abs=1e-9)
    unweighted, _ = measure_both(Moa(J48), MIXED, batch, 300, tmp_path)
    assert unweighted != ours


def test_static_classifiers_keep_the_contract():
    keeps_its_contract(Moa(J48), mixed=True)
    keeps_its_contract(Refitted(Moa(J48), every=20), mixed=True)
    assert Moa(J48).seedless
    assert is_seeded_apart(Refitted(Moa("weka.classifiers.trees.RandomForest -I 3"), every=100))


def test_updateable_classifiers_and_windows_of_moa_stay_with_moa():
    assert not Moa("weka.classifiers.bayes.NaiveBayesUpdateable").needs_training
    assert not Moa(f"meta.WEKAClassifier -l ({J48}) -i 500").needs_training
    assert not Moa("trees.HoeffdingTree").needs_training
    keeps_its_contract(Moa("weka.classifiers.bayes.NaiveBayesUpdateable"), mixed=True)


@pytest.mark.filterwarnings("ignore:.*cannot learn row by row")
def test_a_static_classifier_is_refitted_and_is_a_member_of_chunk_ensembles():
    rows = take(sg.RandomRBF(), 2_000)
    stream = ArrayStream(rows.x, rows.y, schema=sg.RandomRBF().schema)
    learners = {"often": Refitted(Moa(J48), every=200), "plain": Moa(J48), "members": SEAEnsemble(Moa(J48))}
    majority = sg.evaluate(stream, sg.MajorityClass()).values[-1].item()
    results = sg.evaluate(stream, learners)
    assert all(results.values[-1, i].item() > majority + 0.05 for i in range(3))
    trained = sg.evaluate(stream, Moa(J48), scheme=Pretrained(1_000))
    assert trained.values[-1].item() > majority + 0.05


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        ("weka.classifiers.trees.J49", "WEKA has no class weka.classifiers.trees.J49"),
        (f"{J48} -Z", "WEKA cannot create .*Illegal options: -Z"),
    ],
)
def test_a_wrong_command_is_refused_before_the_first_row(learner, complaint):
    with pytest.raises(StreamgaugeError, match=complaint):
        sg.evaluate(sg.SEA(n_rows=10), Moa(learner))


def test_rows_of_one_class_are_enough():
    learner: Any = Moa(J48).build(sg.SEA().schema, 1)
    batch = Batch(0, np.random.default_rng(1).random((20, 3)), np.ones(20, dtype=np.int32))
    learner.learn(batch.x, batch.y, None)
    learner.end_training()
    assert (learner.predict(batch.x).argmax(axis=1) == 1).all()
