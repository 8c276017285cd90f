"""MOA's learners through the adapter, beside MOA's own loop in a virtual machine of its own."""

import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import streamgauge as sg
from peers import java, moa
from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.learners import Moa, as_spec
from streamgauge.records import ABSTAINED, Step
from streamgauge.streams import take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract

jpype = pytest.importorskip("jpype", reason="jpype1 is not installed")


@pytest.fixture(autouse=True)
def _jar(monkeypatch):
    reason = moa.explain_missing()
    if reason is not None:
        pytest.skip(reason)
    monkeypatch.setenv("STREAMGAUGE_MOA_JAR", moa.build_class_path())


@pytest.mark.parametrize("learner", ["trees.HoeffdingTree -g 50", "bayes.NaiveBayes"])
def test_it_predicts_what_moas_own_loop_predicts(learner):
    stream = sg.RandomRBF(n_classes=3)
    batch = take(stream, 3_000)
    predictions, _ = Moa(learner).build(stream.schema, 1).interleave(Step(batch), with_votes=False)
    theirs = moa.run_prequential(learner, stream.schema, batch.x, batch.y).predictions
    said = predictions != ABSTAINED  # where MOA, with nothing to say, says class 0
    np.testing.assert_array_equal(predictions[said], theirs[said])
    assert said.mean() > 0.99


@pytest.mark.parametrize("learner", ["trees.HoeffdingTree -g 20", "meta.AdaptiveRandomForest -s 2", "lazy.kNN"])
def test_a_learner_keeps_the_contract(learner):
    keeps_its_contract(Moa(learner), mixed=True, n_rows=100)


def test_everything_with_a_seed_gets_its_own():
    assert is_seeded_apart(Moa("meta.OzaBag -s 3"))
    assert is_seeded_apart(Moa("meta.OzaBag -l (trees.RandomHoeffdingTree) -s 2"))
    assert Moa("trees.HoeffdingTree").seedless
    assert not Moa("meta.OzaBag").seedless


def test_folds_in_threads_give_what_one_thread_gives():
    learners = [Moa("meta.OzaBag -s 3"), Moa("bayes.NaiveBayes")]
    one, two = (
        sg.evaluate(sg.RandomRBF(n_rows=2_000), learners, scheme=sg.Bootstrap(3), backend=sg.Threads(n)) for n in (1, 2)
    )
    assert one.learners == ("OzaBag", "NaiveBayes")
    np.testing.assert_array_equal(one.values, two.values)


def test_java_objects_and_classes_of_moa_are_recognised():
    Moa().build(sg.SEA().schema, 1)
    tree = jpype.JClass("moa.classifiers.trees.HoeffdingTree")
    assert as_spec(tree) == Moa("moa.classifiers.trees.HoeffdingTree")
    learner = tree()
    learner.gracePeriodOption.setValue(77)
    assert as_spec(learner) == Moa("trees.HoeffdingTree -g 77")

    class CapyMoa:
        moa_learner = learner

    assert as_spec(CapyMoa()) == Moa("trees.HoeffdingTree -g 77")


@pytest.mark.parametrize(
    ("learner", "complaint"),
    [
        ("trees.HoefdingTree", "MOA cannot create the learner 'trees.HoefdingTree': Class not found"),
        ("trees.HoeffdingTree -? 3", "MOA cannot create the learner 'trees.HoeffdingTree -. 3'"),
        ("", "MOA cannot create the learner ''"),
    ],
)
def test_what_is_no_learner_is_refused(learner, complaint):
    with pytest.raises(StreamgaugeError, match=complaint):
        Moa(learner).build(sg.SEA().schema, 1)


@pytest.mark.parametrize("learner", ["weka.classifiers.bayes.NaiveBayesUpdateable", "weka.classifiers.trees.J48"])
def test_the_jar_of_weka_is_asked_for(learner, monkeypatch):
    monkeypatch.setenv("STREAMGAUGE_MOA_JAR", str(moa.find_jar()))
    with zipfile.ZipFile(moa.find_jar()) as jar:
        if "weka/classifiers/trees/J48.class" in jar.namelist():
            pytest.skip("this jar of MOA contains WEKA")
    program = f"import streamgauge as sg; sg.evaluate(sg.SEA(n_rows=5), sg.learners.Moa({learner!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "add its jar to STREAMGAUGE_MOA_JAR" in done.stderr


def test_a_learner_that_fails_tells_the_row():
    learner, batch = Moa("bayes.NaiveBayes").build(sg.SEA().schema, 1), take(sg.SEA(), 3)
    with pytest.raises(LearnerError, match="ArrayIndexOutOfBounds") as failure:
        learner.learn(batch.x[:2], batch.y, None)  # a row too few
    assert failure.value.position == 2


def test_without_moas_jar_the_message_says_what_to_do():
    program = "import streamgauge as sg; sg.evaluate(sg.SEA(n_rows=5), sg.learners.Moa())"
    environment = {name: value for name, value in os.environ.items() if name != "STREAMGAUGE_MOA_JAR"}
    done = subprocess.run(
        [sys.executable, "-c", program], env={**environment, "PATH": ""}, capture_output=True, text=True, check=False
    )
    assert "MOA's jar was not found: set the environment variable STREAMGAUGE_MOA_JAR" in done.stderr


def test_the_shipped_jar_holds_the_source_that_is_here_compiled():
    with zipfile.ZipFile(java.JAR) as jar:
        for source in java.SOURCES:
            assert jar.read(f"streamgauge/{source.name}") == source.read_bytes(), "run: make java"
            assert jar.read(f"streamgauge/{source.stem}.class").startswith(b"\xca\xfe\xba\xbe")
    if moa.explain_missing_jdk() is None and moa.explain_missing_weka() is None:
        assert all(compiled.startswith(b"\xca\xfe\xba\xbe") for compiled in java.compile_sources().values())
