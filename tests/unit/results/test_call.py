"""The call of a run in its manifest: text that builds the same objects, and what text cannot hold."""

import json
import math
from typing import Any, cast

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import drift, forgetting, labelling, learners, schemes, streams
from streamgauge._foreign import is_stream_class
from streamgauge._format.text import to_text
from streamgauge.drift.watch import DETECTORS
from streamgauge.evaluation import Evaluation
from streamgauge.learners import DriftReset, OzaBag, PythonLearner
from streamgauge.measures import Cost, FBeta, Hoeffding, MinMaxAccuracy, accuracy, mae
from streamgauge.names import catalogue
from streamgauge.results.call import describe_call, restore_call
from streamgauge.significance import LiveTest
from streamgauge.streams import FriedmanFunction, Gradual, Joined, Noisy, Planes, Sudden

PARTS: dict[str, Any] = {
    "stream": sg.SEA(n_rows=100),
    "learners": {"bayes": sg.NaiveBayes()},
    "scheme": sg.Prequential(),
    "labelling": labelling.AllLabels(),
    "forgettings": (sg.Landmark(),),
    "measures": (accuracy,),
    "detectors": {},
    "live_test": LiveTest(),
    "options": {"score": "first", "seed": 1},
}
WITH_OPTIONS: dict[str, Any] = {
    "stream": [
        sg.SEA(concept=2, noise=0.1, n_rows=500, seed=4),
        Sudden(sg.SEA(), sg.SEA(concept=3), position=700),
        Noisy(Gradual(sg.RandomRBF(speed=0.001), sg.RandomRBF(seed=9), 1000, 200)),
        Joined((sg.SEA(n_rows=50), sg.SEA(n_rows=50, concept=1))),
    ],
    "scheme": [
        sg.Bootstrap(4, test="training"),
        schemes.Holdout(every=300),
        schemes.Pretrained(sg.SEA(n_rows=30), sg.CrossValidation(3)),
        schemes.WarmUp(),
    ],
    "labelling": [labelling.Delayed(20), labelling.Fraction(0.3), labelling.DelayedByColumn("delay", unit="seconds")],
    "learners": [
        sg.HoeffdingTree(grace_period=70, leaf_prediction="majority", seed=3),
        OzaBag(sg.HoeffdingTree(grace_period=50), 3),
        DriftReset(sg.NaiveBayes(), drift.DDM(drift=2.5)),
    ],
    "forgettings": [sg.Window(50), sg.Fading(0.9), forgetting.EWMA(0.1), sg.AdwinWindow(0.01)],
    "detectors": [drift.DDM(drift=2.5), drift.PageHinkley()],
}


def describe(part, thing):
    several = {"learners": {"one": thing}, "forgettings": (thing,), "detectors": {"one": thing}}
    of_numbers = {"measures": (mae,)} if isinstance(thing, FriedmanFunction | Planes) else {}
    call = describe_call(**{**PARTS, **of_numbers, part: several.get(part, thing)})
    return json.loads(json.dumps(call))  # as it is read from a manifest


def restore(part, call):
    restored = restore_call(call)["forgetting" if part == "forgettings" else part]
    if part in ("learners", "detectors"):
        return restored["one"]
    return restored[0] if part == "forgettings" else restored


FAMILIES = {
    "learners": learners,
    "scheme": schemes,
    "labelling": labelling,
    "forgettings": forgetting,
    "stream": streams,
    "detectors": drift,
}


def list_defaults():
    for part, family in FAMILIES.items():
        for name, kind in catalogue(family).items():
            is_object = (
                is_stream_class(cast("type", kind)) if part == "stream" else part != "detectors" or name in DETECTORS
            )
            if is_object and name != "ArrayStream":
                yield part, kind()


@pytest.mark.parametrize(("part", "thing"), list(list_defaults()), ids=lambda value: to_text(value)[:40])
def test_every_object_is_restored_from_its_text(part, thing):
    call = describe(part, thing)
    assert call["obstacles"] == []
    assert restore(part, call) == thing


@pytest.mark.parametrize(
    ("part", "thing"), [(part, thing) for part, things in WITH_OPTIONS.items() for thing in things], ids=repr
)
def test_objects_with_options_are_restored_from_their_text(part, thing):
    call = describe(part, thing)
    assert call["obstacles"] == []
    assert to_text(restore(part, call)) == to_text(thing)
    assert type(restore(part, call)) is type(thing)


@pytest.mark.parametrize(
    "measure",
    [
        "kappa_m",
        "recall[1]",
        FBeta(2.0, "macro", undefined=0.0),
        FBeta(0.5, "weighted"),
        Hoeffding(0.01),
        MinMaxAccuracy(0.4, 0.9),
        Cost(((0.0, 1.0), (5.0, 0.0))),
    ],
    ids=str,
)
def test_measures_with_options_are_restored_and_bound(measure):
    evaluation = Evaluation(sg.SEA(n_rows=100), sg.NaiveBayes(), measures=measure)
    call = json.loads(json.dumps(evaluation.describe_arguments()))
    assert call["obstacles"] == []
    (restored,) = restore_call(call)["measures"]
    assert (type(restored), restored.name) == (type(evaluation.measures[0]), evaluation.measures[0].name)
    assert to_text(restored) == to_text(evaluation.measures[0])


class Own:
    """A learner of a user."""

    def predict(self, x):
        return np.zeros(len(x), dtype=int)

    def learn(self, x, y):
        pass


class HoeffdingTree(Own):
    """A learner of a user with a name that is taken."""

    def __repr__(self):
        return "HoeffdingTree()"


def share_of_right(y_true, y_pred):
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


@pytest.mark.parametrize(
    ("arguments", "obstacle"),
    [
        ({"learners": {"mine": Own()}}, "learner 'mine': Own() is an object of tests.unit.results.test_call.Own"),
        ({"learners": {"mine": HoeffdingTree()}}, "test_call.HoeffdingTree, which text cannot describe"),
        ({"learners": {"mine": PythonLearner(Own())}}, "learner 'mine': Own() is an object of"),
        ({"stream": (np.zeros((9, 2)), np.arange(9) % 2)}, "stream: "),
        ({"labelling": labelling.DelayedByColumn(np.zeros(100))}, "labelling: it holds an array"),
        ({"measures": share_of_right}, "measure 'share_of_right': it is a function of Python"),
        ({"scheme": schemes.Pretrained(sg.ArrayStream(np.zeros((9, 3)), np.arange(9) % 2))}, "scheme: "),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_text_cannot_hold_is_named(arguments, obstacle):
    settings: dict[str, Any] = {"stream": sg.SEA(n_rows=100), "learners": sg.NaiveBayes(), **arguments}
    call: Any = Evaluation(settings.pop("stream"), settings.pop("learners"), **settings).describe_arguments()
    assert len(call["obstacles"]) == 1
    assert obstacle in call["obstacles"][0]


def test_a_live_stream_and_standard_input_are_named(tmp_path):
    live = streams.GrowingFile(tmp_path / "live.csv", schema=sg.SEA().schema)
    (obstacle,) = describe("stream", live)["obstacles"]
    assert obstacle.startswith("stream: GrowingFile(path=")
    assert obstacle.endswith("is a live stream, whose rows cannot be read again")
    call = describe_call(**{**PARTS, "stream": sg.File("-"), "measures": ()})
    assert call["obstacles"] == ["stream: standard input cannot be read again"]


def test_numbers_that_are_no_literals_are_restored():
    call = describe("live_test", LiveTest(alpha=0.1, rope=0.0))
    assert restore_call(call)["live_test"] == LiveTest(alpha=0.1, rope=0.0)
    assert math.isnan(restore_measure(FBeta(2.0)).undefined)


def restore_measure(measure):
    call = Evaluation(sg.SEA(n_rows=10), sg.NaiveBayes(), measures=measure).describe_arguments()
    return restore_call(call)["measures"][0]
