"""Ensembles and wrappers over any learner: the contract, their rules, and MOA's accuracy."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import SGDClassifier

import streamgauge as sg
from streamgauge import _native
from streamgauge._format.text import to_text
from streamgauge.checks import check_learner
from streamgauge.checks.learners import sample_batch
from streamgauge.drift import DDM, HDDMA, PageHinkley
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import (
    DriftReset,
    HoeffdingTree,
    LeveragingBagging,
    MajorityClass,
    NaiveBayes,
    NoChange,
    OneVsRest,
    OzaBag,
    OzaBoost,
    ScikitLearn,
)
from streamgauge.learners.composition import CallbackMember, make_builder
from streamgauge.learners.plain_loop import pick_winners, run_row_by_row
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import Learner, LearnerSpec, Stream
from streamgauge.records import DRIFT, WARNING, Attribute, Schema, Step
from streamgauge.streams import SEA, RandomRBF, Sudden
from streamgauge.tasks import Task, find_task

EAGER = HoeffdingTree(grace_period=20, tie_threshold=0.5)
BASES: list[LearnerSpec] = [EAGER, NaiveBayes(), MajorityClass(), NoChange()]
PLAIN = Schema((Attribute("a"), Attribute("b")), ("x", "y", "z"))


def over(base: Any) -> list[LearnerSpec]:
    return [
        OzaBag(base, n_members=3),
        LeveragingBagging(base, n_members=3, delta=0.2),
        OzaBoost(base, n_members=3),
        OzaBoost(base, n_members=2, pure=True),
        OneVsRest(base),
        DriftReset(base),
        DriftReset(base, on_warning=False),
    ]


@dataclass(frozen=True)
class InPython:
    """Any learner, hidden behind Python, so that an ensemble must call it back."""

    spec: LearnerSpec
    seed: int = 1
    seedless: bool = False

    def build(self, schema: Schema, seed: int) -> "Hidden":
        return Hidden(self.spec.build(schema, seed), find_task(schema))


class Hidden:
    def __init__(self, learner: Learner, task: Task) -> None:
        self._learner, self._task = learner, task
        self.predict, self.learn, self.save, self.load = learner.predict, learner.learn, learner.save, learner.load

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        return run_row_by_row(self._learner, step, self._task, with_votes=with_votes)

    @property
    def n_bytes(self) -> int:
        return self._learner.n_bytes


@pytest.mark.parametrize("spec", [spec for base in BASES for spec in over(base)], ids=str)
def test_an_ensemble_keeps_the_contract_of_a_learner(spec: LearnerSpec):
    check_learner(spec, n_rows=150)


@pytest.mark.parametrize("spec", over(SGDClassifier(loss="log_loss")), ids=lambda spec: type(spec).__name__)
def test_an_ensemble_of_scikit_learn_models_keeps_the_contract(spec: LearnerSpec):
    check_learner(spec, PLAIN, n_rows=30)


@pytest.mark.parametrize(
    "spec",
    [
        OzaBag(LeveragingBagging(NaiveBayes(), n_members=2), n_members=2),
        LeveragingBagging(OzaBoost(EAGER, n_members=2), n_members=2),
        OneVsRest(OzaBag(EAGER, n_members=2)),
        DriftReset(OneVsRest(OzaBag(NaiveBayes(), n_members=2))),
    ],
    ids=str,
)
def test_ensembles_of_ensembles_keep_the_contract(spec: LearnerSpec):
    check_learner(spec, n_rows=100)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(over(EAGER)), st.integers(0, 9), st.integers(1, 6), st.integers(0, 3), st.integers(0, 2**32))
def test_an_ensemble_keeps_the_contract_on_any_schema(spec, n_numeric, n_classes, n_nominal, seed):
    attributes = [Attribute(f"x{i}", missing=True) for i in range(n_numeric)]
    attributes += [Attribute(f"n{i}", ("a", "b", "c")) for i in range(n_nominal)]
    check_learner(spec, Schema(tuple(attributes), tuple(map(str, range(n_classes)))), n_rows=60, seed=seed)


@pytest.mark.parametrize("spec", over(EAGER), ids=str)
def test_a_member_that_is_called_back_does_as_a_native_one(spec: LearnerSpec):
    field = "base" if hasattr(spec, "base") else "learner"
    called: LearnerSpec = replace(spec, **{field: InPython(EAGER)})  # type: ignore[type-var]
    schema, step = PLAIN, Step(sample_batch(PLAIN, 400))
    found = [one.build(schema, 7).interleave(step, with_votes=True)[1] for one in (spec, called)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("kind", [OzaBag, LeveragingBagging, OzaBoost])
def test_every_instruction_set_gives_the_same_bits(kind):
    stream = RandomRBF()
    batch = next(stream.batches(5_000))
    before, outcomes = _native.instruction_set(), []
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            learner = kind(EAGER, n_members=3).build(stream.schema, 1)
            _, votes = learner.interleave(Step(batch), with_votes=True)
            outcomes.append((votes.tobytes(), learner.save()))
    finally:
        _native.use_instruction_set(before)
    assert all(outcome == outcomes[0] for outcome in outcomes)


def recorded(n_rows: int, spec_of: Any, seed: int = 1) -> list[list[NDArray[np.float64]]]:
    """The weights with which each member learns each row."""
    seen: list[list[NDArray[np.float64]]] = []

    class Recorder(Hidden):
        def __init__(self) -> None:
            super().__init__(MajorityClass().build(PLAIN, 1), find_task(PLAIN))
            self.weights: list[NDArray[np.float64]] = []
            seen.append(self.weights)

        def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
            assert step.weight is not None
            self.weights.append(step.weight)
            return super().interleave(step, with_votes=with_votes)

    @dataclass(frozen=True)
    class Recording:
        seed: int = 1
        seedless: bool = True

        def build(self, schema: Schema, seed: int) -> Recorder:  # noqa: ARG002
            return Recorder()

    learner = spec_of(Recording()).build(PLAIN, seed)
    learner.interleave(Step(sample_batch(PLAIN, n_rows)), with_votes=False)
    return seen


def test_members_of_a_bag_learn_with_independent_poisson_weights():
    first, second = (np.concatenate(weights) for weights in recorded(20_000, lambda base: OzaBag(base, n_members=2)))
    expected = stats.poisson(1.0).pmf(np.arange(6)) * len(first)
    for weights in (first, second):
        found = np.bincount(weights.astype(int))[:6]
        assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-4
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
    other = np.concatenate(recorded(20_000, lambda base: OzaBag(base, n_members=1), seed=2)[0])
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.03


def test_members_get_seeds_of_their_own():
    seeds: list[int] = []

    @dataclass(frozen=True)
    class Seeded:
        seed: int = 1
        seedless: bool = False

        def build(self, schema: Schema, seed: int) -> Learner:
            seeds.append(seed)
            return NaiveBayes().build(schema, seed)

    for seed in (1, 2):
        OzaBag(Seeded(), n_members=5).build(PLAIN, seed)
    assert len(set(seeds)) == 10


def reference_boost(x, y, n_members: int, n_classes: int) -> NDArray[np.float64]:
    """Online boosting without chance, as Oza and Russell write it: the votes for each row before it is learnt."""
    schema = Schema((Attribute("a"), Attribute("b")), tuple(map(str, range(n_classes))))
    members = [NaiveBayes().build(schema, 1) for _ in range(n_members)]
    right, wrong, votes = np.zeros(n_members), np.zeros(n_members), np.zeros((len(y), n_classes))
    for t in range(len(y)):
        row, label = x[t : t + 1], y[t : t + 1]
        for i, member in enumerate(members):
            error = wrong[i] / (right[i] + wrong[i]) if right[i] + wrong[i] else 0.0
            trusted = 0.0 < error < 0.5
            if trusted or i == 0:
                share = member.predict(row)[0]
                share = share / share.sum() if share.sum() else share
                votes[t] += share * (np.log((1 - error) / error) if trusted else 1.0)
            if not trusted:
                break
        boost = 1.0
        for i, member in enumerate(members):
            member.learn(row, label, np.array([boost]))
            side = right if member.predict(row)[0].argmax() == label[0] else wrong
            side[i] += boost
            boost *= (t + 1) / (2 * side[i])
    return votes


def test_boosting_follows_its_formulas():
    batch = sample_batch(PLAIN, 400)
    learner = OzaBoost(NaiveBayes(), n_members=4, pure=True).build(PLAIN, 1)
    _, votes = learner.interleave(Step(batch), with_votes=True)
    assert votes is not None
    np.testing.assert_allclose(votes, reference_boost(batch.x, batch.y, 4, 3), rtol=1e-9, atol=1e-12)


def test_one_against_the_rest_is_one_learner_per_class():
    batch = sample_batch(PLAIN, 300)
    learner = OneVsRest(NaiveBayes()).build(PLAIN, 1)
    learner.learn(batch.x, batch.y, None)
    binary = Schema(PLAIN.attributes, ("rest", "one"))
    expected = np.empty((300, 3))
    for c in range(3):
        alone = NaiveBayes().build(binary, 1)
        alone.learn(batch.x, (batch.y == c).astype(np.int32), None)
        expected[:, c] = alone.predict(batch.x)[:, 1]
    np.testing.assert_allclose(learner.predict(batch.x), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)


def drifting() -> Stream:
    return Sudden(RandomRBF(seed=1), RandomRBF(seed=2), position=10_000)


def late_accuracy(spec: LearnerSpec) -> tuple[float, dict[str, int]]:
    stream = drifting()
    batch = next(stream.batches(20_000))
    learner: Any = spec.build(stream.schema, 1)
    predictions, _ = learner.interleave(Step(batch), with_votes=False)
    return float(np.mean((predictions == batch.y)[12_000:])), learner.facts


def test_leveraging_bagging_replaces_members_after_a_drift_and_recovers():
    adaptive, facts = late_accuracy(LeveragingBagging(NaiveBayes()))
    still, _ = late_accuracy(OzaBag(NaiveBayes()))
    assert facts["n_replaced"] > 0
    assert adaptive > still + 0.01


def test_a_reset_after_a_drift_recovers():
    resets, facts = late_accuracy(DriftReset(NaiveBayes()))
    still, _ = late_accuracy(NaiveBayes())
    assert facts["n_drifts"] >= 1
    assert resets > still + 0.01


@pytest.mark.parametrize("detector", [DDM(), HDDMA(), PageHinkley(threshold=30.0, direction="up")], ids=str)
def test_any_native_detector_can_watch_a_learner(detector):
    check_learner(DriftReset(NaiveBayes(), detector), n_rows=300)
    resets, facts = late_accuracy(DriftReset(NaiveBayes(), detector))
    assert facts["n_drifts"] >= 1
    assert resets > late_accuracy(NaiveBayes())[0]


def reference_reset(detector: Any, x, y) -> NDArray[np.int32]:
    """Restart at a drift, with the learner trained since the warning."""
    schema = RandomRBF().schema
    watch, learner, second = detector.build(), NaiveBayes().build(schema, 1), None
    predictions = np.empty(len(y), dtype=np.int32)
    for t in range(len(y)):
        row, label = x[t : t + 1], y[t : t + 1]
        predictions[t] = pick_winners(learner.predict(row))[0]
        signal = watch.update([float(predictions[t] != label[0])])[0]
        if signal == WARNING:
            second = second or NaiveBayes().build(schema, 1)
            second.learn(row, label, None)
        else:
            if signal == DRIFT:
                learner = second or NaiveBayes().build(schema, 1)
                watch.reset()
            second = None
        learner.learn(row, label, None)
    return predictions


def test_a_reset_follows_its_rule_row_by_row():
    stream = Sudden(RandomRBF(seed=1), RandomRBF(seed=2), position=2_500)
    batch = next(stream.batches(5_000))
    learner = DriftReset(NaiveBayes(), DDM()).build(stream.schema, 1)
    predictions, _ = learner.interleave(Step(batch), with_votes=False)
    assert learner.facts["n_drifts"] > 0
    assert learner.facts["n_warnings"] > 0
    assert np.array_equal(predictions, reference_reset(DDM(), batch.x, batch.y))


def test_nested_learners_are_read_on_the_command_line():
    known, within = FAMILIES["learners"](), FAMILIES["detectors"]()
    text = "OzaBag(base=DriftReset(NaiveBayes(), DDM(), on_warning=False), n_members=5)"
    found = make("learner", text, known, within=within)
    assert found == OzaBag(DriftReset(NaiveBayes(), DDM(), on_warning=False), n_members=5)
    assert make("learner", to_text(found), known, within=within) == found
    with pytest.raises(StreamgaugeError, match="there is no learner 'DDM'"):
        make("learner", "DDM()", known, within=within)


def test_a_thing_that_is_no_detector_is_refused():
    with pytest.raises(StreamgaugeError, match="is not a detector"):
        DriftReset(NaiveBayes(), detector=0.05)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "culprit"),
    [
        (lambda: OzaBag(n_members=0), "n_members = 0"),
        (
            lambda: OzaBoost(n_members=1.5),  # type: ignore[arg-type]
            "n_members = 1.5",
        ),
        (lambda: LeveragingBagging(mean_weight=0.0), "mean_weight = 0.0"),
        (lambda: LeveragingBagging(mean_weight=101), "mean_weight = 101"),
        (lambda: LeveragingBagging(delta=1.0), "delta = 1.0"),
        (
            lambda: OzaBag(base="tree"),  # type: ignore[arg-type]
            "this is not a learner: 'tree'",
        ),
        (
            lambda: OneVsRest(HoeffdingTree),  # type: ignore[arg-type]
            "pass an instance",
        ),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name(make, culprit):
    with pytest.raises(StreamgaugeError, match=culprit):
        make()


class Broken(Hidden):
    """Fails at the third call."""

    n_calls = 0

    def interleave(self, step: Step, *, with_votes: bool) -> Any:
        Broken.n_calls += 1
        if Broken.n_calls == 3:
            msg = "the disk is full"
            raise OSError(msg)
        return super().interleave(step, with_votes=with_votes)


@dataclass(frozen=True)
class BreaksDown:
    seed: int = 1
    seedless: bool = True

    def build(self, schema: Schema, seed: int) -> Broken:
        return Broken(NaiveBayes().build(schema, seed), find_task(schema))


@dataclass(frozen=True)
class Unbuildable:
    seed: int = 1
    seedless: bool = True

    def build(self, schema: Schema, seed: int) -> Learner:  # noqa: ARG002
        msg = "it needs a licence"
        raise RuntimeError(msg)


def test_what_a_member_raises_reaches_the_caller():
    Broken.n_calls = 0
    learner = OzaBag(BreaksDown(), n_members=5).build(PLAIN, 1)
    with pytest.raises(OSError, match="the disk is full"):
        learner.interleave(Step(sample_batch(PLAIN, 100)), with_votes=False)
    with pytest.raises(RuntimeError, match="it needs a licence"):
        OzaBag(Unbuildable()).build(PLAIN, 1)
    # The complaint of one does not stick to the thread.
    assert OzaBag(NaiveBayes()).build(PLAIN, 1).predict(np.zeros((1, 2))).tolist() == [[0.0, 0.0, 0.0]]


def test_a_failing_member_names_its_ensemble_and_rows_in_an_evaluation():
    Broken.n_calls = 0
    with pytest.raises(StreamgaugeError, match=r"learner 'bag' failed in fold 0.*the disk is full"):
        sg.evaluate(SEA(n_rows=500), {"bag": OzaBag(BreaksDown(), n_members=5)})


def test_a_damaged_part_is_refused_and_the_ensemble_unchanged():
    for spec in over(EAGER):
        learner = spec.build(PLAIN, 1)
        learner.interleave(Step(sample_batch(PLAIN, 200)), with_votes=False)
        state = learner.save()
        damaged = bytearray(state)
        damaged[len(state) // 2] ^= 1
        other = OzaBag(NaiveBayes(), n_members=2).build(PLAIN, 1).save()
        for bad in (bytes(damaged), state[:-9], other):
            with pytest.raises(ValueError, match="not a saved"):
                learner.load(bad)
        assert learner.save() == state


def test_the_bytes_of_an_ensemble_are_those_of_its_members():
    stream = RandomRBF()
    batch = next(stream.batches(30_000))
    tree = HoeffdingTree().build(stream.schema, 1)
    bag = OzaBag(n_members=10).build(stream.schema, 1)
    boosted = LeveragingBagging(n_members=10).build(stream.schema, 1)
    for learner in (tree, bag, boosted):
        learner.interleave(Step(batch), with_votes=False)
    assert 5 * tree.n_bytes < bag.n_bytes < 20 * tree.n_bytes
    per_leaf = bag.n_bytes / bag.facts["n_leaves"]
    assert boosted.n_bytes / boosted.facts["n_leaves"] < 1.5 * per_leaf


def test_a_builder_hands_over_kernels_and_wraps_everything_else():
    n_values = np.zeros(2, dtype=np.uint32)
    assert isinstance(make_builder(NaiveBayes(), PLAIN)(n_values, 3, 1), _native.Learner)
    assert isinstance(make_builder(ScikitLearn(SGDClassifier()), PLAIN)(n_values, 3, 1), CallbackMember)
    fewer = make_builder(InPython(NaiveBayes()), PLAIN)(n_values[:1], 2, 1)
    assert isinstance(fewer, CallbackMember)
    assert fewer.predict(np.zeros((4, 1))).shape == (4, 2)
