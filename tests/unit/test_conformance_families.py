"""Every entry of a family's `__all__` keeps the contract of the family.

A new entry is checked as soon as it is exported. What cannot be built without options gets them in `options`; what is
no member of the family is listed in `helpers` with a reason; what needs more than this process is checked in the file
that `checked_in` names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge import backends, drift, forgetting, labelling, learners, measures, schemes, streams
from streamgauge._foreign import find_tasks
from streamgauge.checks import (
    check_detector,
    check_forgetting,
    check_labelling,
    check_learner,
    check_measure,
    check_scheme,
    check_stream,
)
from streamgauge.checks.learners import MIXED
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Schema
from tests.support.learner_checks import NUMERIC
from tests.support.stand_ins import DATA

TESTS = Path(__file__).parents[1]
THREE = ("no", "yes", "perhaps")
WITH_PREDICTIONS = Schema((Attribute("x"), Attribute("prediction", THREE, missing=True)), THREE)
TWO_CLASSES = Schema((Attribute("x"), Attribute("kind", ("a", "b"), missing=True)), ("no", "yes"))


class Counter:
    """Predicts by the rows it has learnt."""

    def __init__(self) -> None:
        self.n = 0

    def predict(self, x: Any) -> Any:
        return np.full(len(x), self.n % 2)

    def learn(self, x: Any, y: Any) -> None:  # noqa: ARG002
        self.n += 1


def check_backend(backend: Any) -> None:
    options: dict[str, Any] = {"scheme": sg.Bootstrap(2), "every": 100}
    found, expected = (
        sg.evaluate(sg.SEA(n_rows=300), [sg.NaiveBayes(), sg.NoChange()], backend=each, **options)
        for each in (backend, sg.Threads(1))
    )
    np.testing.assert_array_equal(found.values, expected.values)


def check_small_learner(spec: LearnerSpec) -> None:
    two_classes = isinstance(spec, learners.LearnppCDS | learners.LearnppNIE)
    numbers = isinstance(spec, learners.River | learners.ScikitLearn | learners.StreamLearn)
    schema: Schema | None = TWO_CLASSES if two_classes else NUMERIC if numbers else MIXED
    if "classification" not in find_tasks(spec):
        schema = None
    if isinstance(spec, learners.Precomputed):
        schema = WITH_PREDICTIONS
    check_learner(spec, schema, n_rows=60)


def scikit_learn() -> Any:
    from sklearn.naive_bayes import GaussianNB  # noqa: PLC0415

    return GaussianNB()


def river() -> Any:
    from river.naive_bayes import GaussianNB  # noqa: PLC0415

    return GaussianNB()


def stream_learn() -> Any:
    from strlearn.ensembles import SEA  # noqa: PLC0415

    return SEA(scikit_learn())


@dataclass(frozen=True)
class Family:
    """A module, the check of its members, and what to know of those that cannot simply be built and checked."""

    module: ModuleType
    check: Callable[[Any], None]
    options: dict[str, Callable[[], Any]]
    helpers: dict[str, str]
    checked_in: dict[str, str]


LIVE = "unit/streams/live/test_sources.py"
RECORD = "a record of what was found"
FUNCTION = "a function on objects of the family"
FAMILIES = {
    "streams": Family(
        streams,
        check_stream,
        options={
            "ArrayStream": lambda: streams.ArrayStream(np.arange(40.0).reshape(20, 2), ["a", "b"] * 10),
            "Covered": lambda: streams.Covered(sg.SEA(), "a1"),
            "File": lambda: streams.File(DATA / "streams" / "magic.arff"),
            "Gradual": lambda: streams.Gradual(sg.SEA(1), sg.SEA(3), position=100, width=500),
            "Imbalanced": lambda: streams.Imbalanced(sg.SEA(), (0.8, 0.2)),
            "Incremental": lambda: streams.Incremental(
                streams.Classification(1), streams.Classification(2), position=100, width=500
            ),
            "Joined": lambda: streams.Joined((sg.SEA(1, n_rows=123), sg.SEA(3, n_rows=456))),
            "Noisy": lambda: streams.Noisy(sg.SEA()),
            "Recurring": lambda: streams.Recurring((streams.STAGGER(1), streams.STAGGER(2)), every=70),
            "Relabelled": lambda: streams.Relabelled(streams.LED(), "0", "1"),
            "Shifted": lambda: streams.Shifted(sg.SEA(), "a2", by=5.0),
            "Sudden": lambda: streams.Sudden(sg.SEA(1), sg.SEA(3), position=333),
            "Swapped": lambda: streams.Swapped(sg.SEA(), "a1", "a3"),
        },
        helpers={
            "Balance": "how a sample is drawn",
            "DATASETS": "the registry of real streams",
            "Dataset": "an entry of the registry",
            "Description": RECORD,
            "Distribution": "how a sample is drawn",
            **dict.fromkeys(
                (
                    *("as_stream", "convert", "describe", "drifts_of", "in_memory", "load", "open_test"),
                    *("paper_stream", "read_index", "repeat", "sample", "shuffle", "take", "write"),
                ),
                FUNCTION,
            ),
        },
        checked_in={
            "GrowingFile": LIVE,
            "HttpPush": LIVE,
            "Kafka": "system/brokers/test_brokers.py",
            "Redis": "system/brokers/test_brokers.py",
            "Socket": LIVE,
        },
    ),
    "learners": Family(
        learners,
        check_small_learner,
        options={
            "Precomputed": lambda: learners.Precomputed("prediction"),
            "PythonLearner": lambda: learners.PythonLearner(Counter()),
            "River": lambda: learners.River(river()),
            "Refitted": lambda: learners.Refitted(every=20, window=30),
            "ScikitLearn": lambda: learners.ScikitLearn(scikit_learn()),
            "StreamLearn": lambda: learners.StreamLearn(stream_learn()),
        },
        helpers={"as_spec": FUNCTION},
        checked_in={
            "Moa": "oracle/moa/test_adapter.py",
            "PretrainedModel": "unit/learners/test_baselines.py",
            "Torch": "unit/learners/adapters/test_torch.py",
        },
    ),
    "schemes": Family(
        schemes,
        lambda scheme: check_scheme(scheme, n_rows=500),
        options={"Holdout": lambda: schemes.Holdout(100, 50), "WarmUp": lambda: schemes.WarmUp(50)},
        helpers={"TestMode": "the type of an option"},
        checked_in={},
    ),
    "labelling": Family(
        labelling,
        lambda each: check_labelling(each, n_rows=200),
        options={"DelayedByColumn": lambda: labelling.DelayedByColumn("delay")},
        helpers={},
        checked_in={},
    ),
    "forgetting": Family(
        forgetting,
        check_forgetting,
        options={},
        helpers={
            **dict.fromkeys(("NativeForgetting", "NumberSums"), "what the state of a kernel is wrapped in"),
            "count_rows_above": FUNCTION,
        },
        checked_in={},
    ),
    "measures": Family(
        measures,
        check_measure,
        options={
            "AreaOfClass": lambda: measures.AreaOfClass("roc_auc", 0),
            "Averaged": lambda: measures.measure("f1_macro"),
            "CountOfClass": lambda: measures.CountOfClass("tp", 0),
            "FBeta": lambda: measures.measure("f2_macro"),
            "OfClass": lambda: measures.OfClass("recall", 0),
        },
        helpers={
            **dict.fromkeys(("COUNT_MEASURES", "NUMBER_MEASURES"), "measures by name"),
            "MEASURES": "measures by name, each checked in unit/measures/test_measures.py",
            "Chernoff": "an interval round a measure",
            "Hoeffding": "an interval round a measure",
            "OverTallies": "what a function of tallies is wrapped in",
            "WITH_OPTIONS": "classes of measures by name",
            **dict.fromkeys(
                (
                    *(
                        "as_measure",
                        "build_state",
                        "default_margin",
                        "describe_measure",
                        "find_measures",
                        "list_statistics",
                        "measure",
                    ),
                    *("measure_tallies", "over_tallies", "reads_baselines"),
                    *("check_forgettings", "depends_on_classes", "expand_all"),
                ),
                FUNCTION,
            ),
        },
        checked_in={"Cost": "unit/measures/test_counts.py", "Utility": "unit/measures/test_counts.py"},
    ),
    "drift": Family(
        drift,
        check_detector,
        options={"OfMean": lambda: drift.OfMean(drift.PageHinkley())},
        helpers={
            "StatisticTrace": "a record",
            "read_values": FUNCTION,
            "trace_statistic": FUNCTION,
            **dict.fromkeys(("AlarmScore", "Detection", "DriftScore", "Recovery"), RECORD),
            "NativeDetector": "what the state of a kernel is wrapped in",
            "Watch": "a detector on the errors of a run",
            **dict.fromkeys(
                ("as_detector", "detect", "name_detectors", "recoveries", "score_alarms", "score_results"), FUNCTION
            ),
        },
        checked_in={},
    ),
    "backends": Family(
        backends,
        check_backend,
        options={},
        helpers={"Backend": "the protocol"},
        checked_in={"Processes": "system/test_processes.py", "Ray": "system/test_ray.py"},
    ),
}
MEMBERS = [
    (family, name)
    for family, known in FAMILIES.items()
    for name in known.module.__all__
    if name not in known.helpers and name not in known.checked_in
]


@pytest.mark.parametrize(("family", "name"), MEMBERS, ids=lambda value: value)
def test_an_entry_of_a_family_keeps_its_contract(family: str, name: str) -> None:
    known = FAMILIES[family]
    exported = getattr(known.module, name)
    try:
        member = known.options.get(name, exported if isinstance(exported, type) else lambda: exported)()
    except TypeError as error:
        pytest.fail(f"{name} of {family}: give it options, or list it as a helper with a reason ({error})")
    known.check(member)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_tables_name_entries_of_their_family_once(family: str) -> None:
    known = FAMILIES[family]
    listed = [*known.options, *known.helpers, *known.checked_in]
    assert set(listed) <= set(known.module.__all__)
    assert len(listed) == len(set(listed))
    assert all(known.helpers.values())


@pytest.mark.parametrize(
    ("name", "file"),
    [pair for known in FAMILIES.values() for pair in known.checked_in.items()],
    ids=lambda value: value,
)
def test_what_is_checked_elsewhere_is_named_there(name: str, file: str) -> None:
    assert f"{name}(" in (TESTS / file).read_text(encoding="utf-8")
