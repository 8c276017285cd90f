"""Learners of others on the same terms: recognised on sight, and failing alone."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import streamgauge as sg
from streamgauge.errors import FailureWarning, LearnerError, StreamgaugeError
from streamgauge.evaluation import Evaluation
from streamgauge.learners import PythonLearner, as_spec
from streamgauge.learners.adapters.saved_states import measure_size
from streamgauge.records import Failure, Step
from streamgauge.reports import page_html
from streamgauge.results import load, save
from streamgauge.streams import take
from tests.support.learner_checks import is_seeded_apart, keeps_its_contract


class Majority:
    """Predicts the class it saw most; fails at a given row."""

    def __init__(self, fails_after=10**9, fails_at="learn"):
        self.counts, self.fails_after, self.fails_at = np.zeros(2), fails_after, fails_at
        self.n = 0

    def predict(self, x):
        if self.fails_at == "predict" and self.n >= self.fails_after:
            msg = "too hot"
            raise ArithmeticError(msg)
        best = int(self.counts.argmax()) if self.counts.any() else -1
        return np.full(len(x), best)

    def learn(self, _x, y, weight=None):
        if self.fails_at == "learn" and self.n >= self.fails_after:
            msg = "too hot"
            raise ArithmeticError(msg)
        self.n += len(y)
        np.add.at(self.counts, y, 1.0 if weight is None else weight)


class Voter:
    """Votes at random, with its own seed; takes no weights; saves itself."""

    def __init__(self):
        self.seed, self.n = 0, 0

    def predict(self, x):
        return np.random.default_rng([self.seed, self.n]).random((len(x), 2))

    def learn(self, _x, y):
        self.n += len(y)

    def save(self):
        return str(self.n).encode()

    def load(self, state):
        self.n = int(state)


def test_any_object_with_predict_and_learn_is_a_learner():
    keeps_its_contract(PythonLearner(Majority()))
    results = sg.evaluate(sg.SEA(n_rows=300), [Majority(), sg.MajorityClass()], scheme=sg.Bootstrap(2))
    assert results.learners == ("Majority", "MajorityClass")
    mine, ours = (results.curve(name, "accuracy") for name in results.learners)
    np.testing.assert_array_equal(mine, ours)


def test_an_object_with_votes_and_a_seed_of_its_own():
    assert is_seeded_apart(Voter())
    assert not as_spec(Voter()).seedless
    assert as_spec(Majority()).seedless
    learner, other = (as_spec(Voter()).build(sg.SEA().schema, 1) for _ in range(2))
    batch = take(sg.SEA(), 20)
    learner.learn(batch.x, batch.y, None)
    other.load(learner.save())
    assert other.predict(batch.x).tolist() == learner.predict(batch.x).tolist()
    with pytest.raises(StreamgaugeError, match="learn of Voter takes no sample_weight"):
        learner.learn(batch.x, batch.y, np.full(20, 0.5))


@pytest.mark.parametrize("given", [[0.5], ["a"], [7], [[0.1, 0.2, 0.7]], None])
def test_what_is_no_prediction_is_refused(given):
    class Odd(Majority):
        def predict(self, _x):
            return given

    learner = as_spec(Odd()).build(sg.SEA().schema, 1)
    with pytest.raises((StreamgaugeError, ValueError, TypeError)):
        learner.predict(np.zeros((1, 3)))


@pytest.mark.parametrize("thing", [42, SGDClassifier, object(), None])
def test_what_is_no_learner_is_refused(thing):
    with pytest.raises(StreamgaugeError, match="this is not a learner"):
        sg.evaluate(sg.SEA(n_rows=10), {"mine": thing})


@pytest.mark.parametrize("fails_at", ["predict", "learn"])
@pytest.mark.parametrize("size", [1000, 64])
def test_a_failing_learner_names_itself_and_its_row_while_the_others_go_on(fails_at, size):
    learners = {"bad": Majority(437, fails_at), "good": Majority(), "ours": sg.MajorityClass()}
    with pytest.warns(FailureWarning, match="learner 'bad' failed in fold 0 at row 437: ArithmeticError: too hot"):
        results = sg.evaluate(sg.SEA(n_rows=1000), learners, every=100, batch_size=size)
    assert results.failures == (Failure("bad", 0, 437, "ArithmeticError: too hot"),)
    assert results.complete
    bad, good = (results.curve(name, "accuracy")[:, 0] for name in ("bad", "good"))
    np.testing.assert_array_equal(bad[:4], good[:4])
    assert np.isnan(bad[4:]).all()
    assert not np.isnan(good).any()
    assert [(pair.first, pair.second) for pair in results.pairs] == [("good", "ours")]
    with pytest.raises(StreamgaugeError, match="bad cannot be compared: learner 'bad' failed in fold 0 at row 437"):
        sg.compare(results, "bad", "good")


def test_one_fold_may_fail_alone():
    class Moody(Majority):
        def learn(self, x, y, weight=None):
            if x[0, 0] > 9.99:
                msg = "too large"
                raise ArithmeticError(msg)
            super().learn(x, y, weight)

    with pytest.warns(FailureWarning):
        results = sg.evaluate(sg.SEA(n_rows=1500), Moody(), scheme=sg.Split(4), every=500)
    failed = {failure.fold for failure in results.failures}
    assert 0 < len(failed) < 4
    last = results.curve("Moody", "accuracy")[-1]
    assert [bool(np.isnan(value)) for value in last] == [fold in failed for fold in range(4)]


def test_where_all_fail_that_is_an_error():
    with pytest.raises(StreamgaugeError, match="learner 'mine' failed in fold 0 at row 5: ArithmeticError: too hot"):
        sg.evaluate(sg.SEA(n_rows=100), {"mine": Majority(5)})


def test_failures_are_saved_and_reported(tmp_path):
    with pytest.warns(FailureWarning):
        results = sg.evaluate(sg.SEA(n_rows=100), {"bad<": Majority(5), "good": Majority()})
    again = load(save(results, tmp_path))
    assert again.failures == results.failures
    page = page_html(results)
    assert "failed in fold 0 at row 5: ArithmeticError: too hot; it has no later readings." in page
    assert "bad<" not in page


def test_an_evaluation_tells_failures_as_it_goes():
    learners = {"bad": Majority(150), "good": Majority()}
    evaluation = Evaluation(sg.SEA(), learners, every=100, batch_size=100, backend=sg.Threads(1))
    for reading in evaluation:
        if reading.row == 300:
            break
    assert [failure.row for failure in evaluation.failures] == [150]


def test_an_interleave_that_fails_has_done_the_rows_before():
    learner = as_spec(Majority(7)).build(sg.SEA().schema, 1)
    batch = take(sg.SEA(), 20)
    with pytest.raises(LearnerError) as failure:
        learner.interleave(Step(batch), with_votes=True)
    predictions, votes = failure.value.done
    assert failure.value.position == len(predictions) == len(votes) == 7


def test_sizes_count_what_is_held_once():
    column = np.zeros(10_000)
    held = {"one": column, "view": column[::2], "text": "x" * 1000}
    assert 81_000 < measure_size(held) < 83_000
    assert measure_size([held, held]) < 84_000
    assert measure_size(Majority()) < 3_000
    assert measure_size(np.random.RandomState(1)) > len(pickle.dumps(np.random.RandomState(1))) / 2
