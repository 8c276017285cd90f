"""The encoder before a learner: what a row is encoded by, when statistics change, and what it passes on."""

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import streamgauge as sg
from streamgauge.checks import check_learner
from streamgauge.checks.learners import MIXED, sample_batch
from streamgauge.errors import LearnerError, StreamgaugeError
from streamgauge.labelling import Delayed
from streamgauge.learners import (
    DriftReset,
    Encoded,
    HoeffdingTree,
    LogisticRegression,
    Memoriser,
    NaiveBayes,
    OzaBag,
    Perceptron,
    Refitted,
    SEAEnsemble,
    as_spec,
    encoders,
)
from streamgauge.learners.plain_loop import run_row_by_row
from streamgauge.names import make_learners
from streamgauge.protocols import LearnerSpec
from streamgauge.records import UNLABELLED, Attribute, Schema, Step
from streamgauge.schemes import Chunks, TrainThenTest
from streamgauge.streams import ArrayStream
from streamgauge.tasks import Classification

Rows = NDArray[np.float64]


class Watcher:
    """Learner that keeps the rows it is shown: the tested ones and the learnt ones."""

    def __init__(self) -> None:
        self.tested: list[list[float]] = []
        self.learnt: list[list[float]] = []

    def predict(self, x: Rows) -> Rows:
        self.tested += x.tolist()
        return np.zeros((len(x), 3))

    def learn(self, x: Rows, y: object, weight: object) -> None:  # noqa: ARG002
        self.learnt += x.tolist()

    def interleave(self, step: Step, *, with_votes: bool) -> Any:
        return run_row_by_row(self, step, Classification(("a", "b", "c")), with_votes=with_votes)

    n_bytes = 0

    def save(self) -> bytes:
        return b""

    def load(self, state: bytes) -> None: ...


class SemiSupervisedWatcher(Watcher):
    """The same, which also learns rows without a label."""

    def learn_unlabelled(self, x: Rows, weight: object) -> None:  # noqa: ARG002
        self.learnt += x.tolist()


@dataclass(frozen=True)
class Watching:
    """Specification of a learner that already exists."""

    watcher: Watcher
    seed: int = 1
    seedless = True

    def build(self, schema: Schema, seed: int) -> Watcher:  # noqa: ARG002
        return self.watcher


class PlainEncoder:
    """The definition in plain Python: all learnt rows are kept, and every statistic is computed from them."""

    def __init__(self, schema: Schema, spec: Encoded) -> None:
        self.schema, self.spec = schema, spec
        self.learnt: list[tuple[list[float], float]] = []

    def encode(self, row: list[float]) -> list[float]:
        columns = [self._encode(i, value) for i, value in enumerate(row)]
        indicators = [
            float(np.isnan(value))
            for value, attribute in zip(row, self.schema.attributes, strict=True)
            if self.spec.indicators and attribute.missing
        ]
        return [number for column in columns for number in column] + indicators

    def _encode(self, i: int, value: float) -> list[float]:
        values = self.schema.attributes[i].values
        known = [(row[i], weight) for row, weight in self.learnt if not np.isnan(row[i])]
        numbers, weights = (np.array(column) for column in zip(*known, strict=True)) if known else (np.empty(0),) * 2
        if values is None:
            mean = float(np.average(numbers, weights=weights)) if known else 0.0
            value = mean if np.isnan(value) and self.spec.impute else value
            if not self.spec.standardise:
                return [value]
            deviation = float(np.sqrt(np.average((numbers - mean) ** 2, weights=weights))) if known else 0.0
            if np.ptp(numbers) == 0 if known else True:
                return [0.0 * value]
            return [float(np.clip((value - mean) / deviation, -np.sqrt(len(known)), np.sqrt(len(known))))]
        if np.isnan(value) and self.spec.impute:
            value = float(np.argmax([weights[numbers == code].sum() for code in range(len(values))]))
        if self.spec.nominal == "codes":
            return [value]
        return [float(value == code) for code in range(len(values))]

    def run(self, step: Step, *, uses_unlabelled: bool = False) -> tuple[list[list[float]], list[list[float]]]:
        tested, learnt = [], []
        for i, row in enumerate(step.batch.x.tolist()):
            if step.test is None or step.test[i]:
                tested.append(self.encode(row))
            weight = 1.0 if step.learning_weight is None else float(step.learning_weight[i])
            if weight > 0 and (step.labels[i] != UNLABELLED or uses_unlabelled):
                learnt.append(self.encode(row))
                self.learnt.append((row, weight))
        return tested, learnt


def make_step(n_rows: int = 150) -> Step:
    """Return rows with gaps, of which most are tested, some are learnt with weights, and some have no label."""
    random = np.random.default_rng(3)
    batch = sample_batch(MIXED, n_rows, seed=4)
    x = batch.x * np.array([1e6, 1.0, 1e-3, 1.0]) + np.array([-1e5, 0.0, 7.0, 0.0])
    return Step(
        replace(batch, x=x),
        test=random.random(n_rows) < 0.8,
        weight=random.choice([0.0, 1.0, 2.5], n_rows),
        revealed=random.random(n_rows) < 0.7,
    )


PLAIN = [
    Encoded(),
    Encoded(indicators=True),
    Encoded(impute=False),
    Encoded(standardise=False),
    Encoded(nominal="codes", standardise=False),
    Encoded(nominal="codes", impute=False, indicators=True),
]


@pytest.mark.parametrize("spec", PLAIN, ids=str)
@pytest.mark.parametrize("kind", [Watcher, SemiSupervisedWatcher])
def test_a_row_is_encoded_by_the_rows_learnt_before_it(spec: Encoded, kind: type[Watcher]):
    watcher = kind()
    step = make_step()
    replace(spec, learner=Watching(watcher)).build(MIXED, 1).interleave(step, with_votes=True)
    tested, learnt = PlainEncoder(MIXED, spec).run(step, uses_unlabelled=kind is SemiSupervisedWatcher)
    np.testing.assert_allclose(watcher.tested, tested, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(watcher.learnt, learnt, rtol=1e-9, atol=1e-9)


def test_with_late_labels_the_statistics_change_when_the_label_arrives():
    watcher = Watcher()
    batch = sample_batch(MIXED, 80)
    stream = ArrayStream.from_batch(batch, MIXED)
    sg.evaluate(stream, Encoded(Watching(watcher)), labelling=Delayed(25), score_unlabelled_start=True)
    plain = PlainEncoder(MIXED, Encoded())
    for i, row in enumerate(batch.x.tolist()):
        np.testing.assert_allclose(watcher.tested[i], plain.encode(row), rtol=1e-9, atol=1e-9)
        if i >= 25:
            late = batch.x[i - 25].tolist()
            np.testing.assert_allclose(watcher.learnt[i - 25], plain.encode(late), rtol=1e-9, atol=1e-9)
            plain.learnt.append((late, 1.0))


def test_neither_the_row_itself_nor_later_rows_change_how_a_row_is_encoded():
    step = make_step()
    for i in (0, 60, 149):
        first, second = Watcher(), Watcher()
        other = step.batch.x.copy()
        other[i:] = sample_batch(MIXED, 150, seed=77).x[i:] * 9.0 % 2.0
        other[i, 0] = step.batch.x[i, 0]
        for watcher, x in ((first, step.batch.x), (second, other)):
            rows = replace(step, batch=replace(step.batch, x=x), test=None)
            Encoded(Watching(watcher)).build(MIXED, 1).interleave(rows, with_votes=False)
        assert first.tested[:i] == second.tested[:i]
        assert first.tested[i][0] == second.tested[i][0]


def test_a_memoriser_behind_an_encoder_finds_no_leak():
    random = np.random.default_rng(1)
    x = np.column_stack([random.normal(size=(4_000, 2)), random.integers(0, 5, 4_000)])
    y = random.integers(0, 2, 4_000).astype(np.int32)
    schema = Schema((Attribute("a"), Attribute("b"), Attribute("c", tuple("vwxyz"))), ("no", "yes"))

    def measure_accuracy(rows: NDArray[np.intp], **options: Any) -> Any:
        stream = ArrayStream(x[rows], y[rows], schema=schema)
        spec = Encoded(Memoriser(), standardise=False)  # so that it recognises a row that it has learnt
        return sg.evaluate(stream, {"memoriser": spec}, **options).curve("memoriser", "accuracy")[-1]

    once, twice = np.arange(4_000), np.repeat(np.arange(2_000), 2)
    for options in ({"scheme": sg.CrossValidation(3)}, {"labelling": Delayed(30)}, {"scheme": Chunks(100)}):
        assert np.abs(measure_accuracy(once, **options) - 0.5).max() < 0.06
    assert measure_accuracy(twice)[0] > 0.7


SPECS = [
    *(replace(spec, learner=LogisticRegression()) for spec in PLAIN),
    Encoded(Perceptron(), nominal="hash", n_buckets=4, indicators=True),
    Encoded(HoeffdingTree(grace_period=20, tie_threshold=0.5), nominal="codes", standardise=False),
    Encoded(NaiveBayes(), impute=False),
    Encoded(SGDClassifier(loss="log_loss")),
    Encoded(as_spec(GaussianNB())),
    Encoded(DriftReset(NaiveBayes())),
    Encoded(SEAEnsemble(chunk_size=30)),
    SEAEnsemble(Encoded(NaiveBayes()), chunk_size=30),
    OzaBag(Encoded(Perceptron()), n_members=3),
    Encoded(Encoded(NaiveBayes(), nominal="codes"), nominal="hash"),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_an_encoded_learner_keeps_the_contract(spec: LearnerSpec):
    check_learner(spec, n_rows=200)


def test_rows_that_come_in_parts_give_the_same_bits(monkeypatch: pytest.MonkeyPatch):
    step = make_step()
    spec = Encoded(LogisticRegression(), indicators=True)
    whole = spec.build(MIXED, 1)
    expected = whole.interleave(step, with_votes=True)
    monkeypatch.setattr(encoders, "PART_BYTES", 7 * 8 * 10)
    parts = spec.build(MIXED, 1)
    found = parts.interleave(step, with_votes=True)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(parts.predict(step.batch.x), whole.predict(step.batch.x))
    assert parts.predict(step.batch.x[:0]).shape == (0, 3)
    for learner in (whole, parts):
        learner.learn(step.batch.x, step.batch.y, None)
    assert parts.save() == whole.save()


def test_a_learner_that_fails_late_keeps_the_predictions_before(monkeypatch: pytest.MonkeyPatch):
    class Failing(Watcher):
        def predict(self, x: Rows) -> Any:
            if len(self.tested) == 33:
                msg = "too hot"
                raise RuntimeError(msg)
            return super().predict(x) + np.array([0.0, 1.0, 0.0])

    monkeypatch.setattr(encoders, "PART_BYTES", 7 * 8 * 10)
    learner = Encoded(Watching(Failing())).build(MIXED, 1)
    with pytest.raises(LearnerError, match="too hot") as failure:
        learner.interleave(Step(sample_batch(MIXED, 60)), with_votes=False)
    assert failure.value.position == 33
    assert failure.value.done[0].tolist() == [1] * 33


def test_only_a_learner_that_uses_unlabelled_rows_is_given_them():
    assert not hasattr(Encoded(NaiveBayes()).build(MIXED, 1), "learn_unlabelled")
    x, plain = sample_batch(MIXED, 40).x, PlainEncoder(MIXED, Encoded())
    learner: Any = Encoded(Watching(SemiSupervisedWatcher())).build(MIXED, 1)
    learner.learn_unlabelled(x, np.full(40, 2.0))
    plain.learnt = [(row, 2.0) for row in x.tolist()]
    np.testing.assert_allclose(learner.encode(x), [plain.encode(row) for row in x.tolist()], rtol=1e-9, atol=1e-9)


def test_a_constant_column_is_0_and_close_first_values_give_no_enormous_number():
    learner = Encoded(NaiveBayes()).build(Schema((Attribute("same"), Attribute("close")), ("a", "b")), 1)
    learner.learn(np.array([[0.1, 20.0], [0.1, 20.0 + 1e-9], [0.1, 20.0]]), np.array([0, 1, 0], dtype=np.int32), None)
    assert learner.encode(np.array([[5.0, 1e9]])).tolist() == [[0.0, 3**0.5]]
    assert learner.encode(np.array([[5.0, -1e9]])).tolist() == [[0.0, -(3**0.5)]]


def test_scales_do_not_matter_to_a_linear_learner_behind_an_encoder():
    rows = sample_batch(Schema((Attribute("a"), Attribute("b")), ("no", "yes")), 600)
    streams = [ArrayStream(rows.x * scale, rows.y) for scale in ([1.0, 1.0], [2.0**-20, 2.0**20])]
    model = SGDClassifier(loss="log_loss")
    learners = {"plain": model, "encoded": Encoded(model)}
    same, scaled = (sg.evaluate(stream, learners).values[-1, :, 0, 0, 0] for stream in streams)
    assert scaled[1] == same[1]
    assert scaled[0] < same[0] - 0.1


def test_training_that_ends_is_passed_on():
    stream = ArrayStream.from_batch(sample_batch(MIXED, 600), MIXED)
    spec = Encoded(DecisionTreeClassifier(max_depth=4))
    assert isinstance(spec.learner, Refitted)
    results = sg.evaluate(stream, {"encoded": spec, "majority": sg.MajorityClass()}, scheme=TrainThenTest(300))
    assert results.curve("encoded", "accuracy")[-1, 0] > results.curve("majority", "accuracy")[-1, 0] + 0.1


def test_the_learner_has_the_random_numbers_it_has_alone():
    stream = sg.SEA(n_rows=500)
    plain = OzaBag(n_members=3, seed=5)
    encoded = Encoded(plain, standardise=False)
    assert (encoded.seed, encoded.seedless, Encoded(NaiveBayes()).seedless) == (5, False, True)
    results = sg.evaluate(stream, {"plain": plain, "encoded": encoded}, scheme=sg.Bootstrap(2), every=50)
    np.testing.assert_array_equal(results.curve("encoded", "accuracy"), results.curve("plain", "accuracy"))


def test_it_is_named_by_its_learner_and_read_from_text():
    assert Encoded(SGDClassifier()).short_name == "Encoded(SGDClassifier)"
    text = "Encoded(Perceptron(learning_rate=0.5), nominal='hash', n_buckets=8)"
    learners = make_learners(["Encoded(Perceptron())", text])
    assert learners[text] == Encoded(Perceptron(learning_rate=0.5), nominal="hash", n_buckets=8)
    assert pickle.loads(pickle.dumps(learners[text])) == learners[text]


def test_columns_of_equal_names_get_numbers():
    schema = Schema((Attribute("a", ("x", "x=1")), Attribute("a=x"), Attribute("a=x (2)")), ("no",))
    names = [a.name for a in Encoded().encode_schema(schema).attributes]
    assert names == ["a=x", "a=x=1", "a=x (3)", "a=x (2)"]


def test_a_saved_state_of_other_options_is_refused():
    first, second = Encoded(NaiveBayes()).build(MIXED, 1), Encoded(NaiveBayes(), indicators=True).build(MIXED, 1)
    before = second.save()
    with pytest.raises(StreamgaugeError, match="encoded learner"):
        second.load(first.save())
    assert second.save() == before
    assert first.n_bytes > NaiveBayes().build(MIXED, 1).n_bytes


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"nominal": "onehot"}, "did you mean one_hot"),
        ({"n_buckets": 0}, "n_buckets"),
        ({"learner": "Perceptron()"}, "not a learner"),
    ],
)
def test_a_mistake_is_reported_by_name(options: dict[str, Any], culprit: str):
    with pytest.raises(StreamgaugeError, match=culprit):
        Encoded(**options)


def test_too_many_columns_are_refused_before_the_first_row():
    merchants = tuple(map(str, range(70_000)))
    schema = Schema((Attribute("amount"), Attribute("merchant", merchants)), ("no", "yes"))
    stream = ArrayStream(np.zeros((2, 2)), np.array([0, 1], dtype=np.int32), schema=schema)
    with pytest.raises(StreamgaugeError, match=r"70,000 columns.*nominal='hash'.*'merchant'"):
        sg.evaluate(stream, Encoded())
    sg.evaluate(stream, Encoded(nominal="hash"))
