"""Rows tested before the first late label could be learnt are left out of all tallies, and reported."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.backends import Threads
from streamgauge.evaluation import Evaluation
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, DelayedByColumn, DelayedByTime, First, Fraction
from streamgauge.learners import PretrainedModel
from streamgauge.records import NEVER, Arrivals, Feedback
from streamgauge.schemes import Chunks, Holdout, Pretrained, TrainThenTest, WarmUp
from streamgauge.significance import LiveTest
from streamgauge.streams import ArrayStream

N = 2000


class Constant:
    """Always predicts the same class; -1 abstains."""

    def __init__(self, code):
        self.code = code

    def predict(self, x):
        return np.full(len(x), self.code)

    def learn(self, x, y):
        pass


class LateStarter(Constant):
    """Abstains until it has learnt 1,000 rows."""

    n_learnt = 0

    def predict(self, x):
        return np.full(len(x), self.code if self.n_learnt >= 1000 else -1)

    def learn(self, x, y):  # noqa: ARG002
        self.n_learnt += 1


def evaluate(*parts: Any, **options: Any) -> Any:
    return sg.evaluate(*parts, **options)


def draw(n, share, seed=1, **options):
    """Return a stream in which one of two classes has a constant share."""
    random = np.random.default_rng(seed)
    y = (random.random(n) >= share).astype(np.int32)
    return ArrayStream(np.column_stack([random.normal(size=n), y + random.normal(size=n)]), y, **options)


def last(results, learner, measure="accuracy"):
    return float(results.curve(learner, measure)[-1, 0])


@pytest.mark.parametrize("share", [0.975, 0.65])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_constant_majority_class_is_no_better_than_the_majority_class(share, seed):
    stream = draw(30_000, share, seed)
    learners = {"constant": Constant(0), "majority": sg.MajorityClass()}
    results = evaluate(stream, learners, labelling=Delayed(10_000), measures=["kappa_m", "accuracy"], every=1000)
    assert abs(last(results, "constant", "kappa_m")) <= 0.02
    assert last(results, "majority", "kappa_m") == 0.0
    y = next(stream.batches(30_000)).y
    assert last(results, "constant") == pytest.approx((y[10_001:] == 0).mean(), abs=1e-12)
    assert results.feedback.n_left_out == 10_001  # the label of row 0 arrives after the test of row 10,000
    assert results.feedback.n_scored.tolist() == [19_999]
    assert "Left out: 10,001 rows that were tested before a label could be learnt" in results.feedback.sentence


def test_a_delay_beyond_the_end_of_the_stream_is_explained():
    feedback = evaluate(draw(100, 0.65), Constant(0), labelling=Delayed(1000)).feedback
    assert feedback.sentence.endswith("learnt. No label arrived: set a shorter delay, or evaluate more rows.")


def test_one_label_is_singular():
    feedback = Feedback(997, 1, 1, 1, np.array([1000]))
    assert feedback.sentence.startswith(
        "Labels: 997 arrived, 1 was still due at the end, 1 never arrives, 1 is unknown."
    )


def test_no_row_is_left_out_if_that_is_asked_for():
    results = evaluate(draw(N, 0.65), Constant(0), labelling=Delayed(1000), score_unlabelled_start=True)
    assert results.feedback.n_scored.tolist() == [N]
    assert results.feedback.n_left_out == 0


@dataclass(frozen=True)
class Mine:
    """A labelling of a user, which delays the odd rows from some row on and hides the even ones."""

    late_from: int

    def arrivals(self, batch, _seed):
        return Arrivals(np.where(batch.rows % 2 == 0, NEVER, batch.rows + 50 * (batch.rows >= self.late_from)))


COLUMN = np.where(np.arange(N) % 3 == 0, np.nan, 40.0 + np.arange(N) % 17)

CASES = {
    "delayed": (Delayed(400), sg.Prequential(), 401),
    "of some": (Delayed(400, of=Fraction(0.05)), sg.Prequential(), None),
    "at random": (DelayedAtRandom(300), sg.Bootstrap(3), None),
    "by time": (DelayedByTime(20.0), sg.Prequential(), 200),  # there is a label before the test of row 200
    "by column": (DelayedByColumn(COLUMN), sg.CrossValidation(3, test="training"), None),
    "chunks": (Delayed(400), Chunks(500), 500),
    "warm-up": (Delayed(400), WarmUp(300), 101),
    "holdout": (Delayed(400), Holdout(500, 100), 100),
    "a user's": (Mine(0), sg.Prequential(), 51),  # from row 1 on, whose label arrives after row 51
    "a user's, late": (Mine(1000), sg.Prequential(), 0),
    "never": (Delayed(N), sg.Prequential(), N),
}


@pytest.mark.parametrize("score", ["first", "last", "labelled"])
@pytest.mark.parametrize("name", list(CASES))
def test_what_is_left_out_depends_on_neither_batches_nor_restarts(name, score, tmp_path):
    labelling, scheme, n_left_out = CASES[name]
    stream = draw(N, 0.7, time=np.arange(N) / 10)
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    options = {"labelling": labelling, "scheme": scheme, "score": score, "every": 130, "measures": "kappa_m"}
    options |= {"detectors": "DDM", "backend": Threads(1)}
    runs = [evaluate(stream, learners, batch_size=size, **options) for size in (None, 61)]
    for stop in (100, 420):  # before the first label and after it
        folder = tmp_path / str(stop)
        part = Evaluation(stream, learners, checkpoint=folder, checkpoint_every=100, batch_size=100, **options)
        for progress in part.advance():
            if progress.n_rows >= stop:
                break
        runs.append(evaluate(stream, learners, checkpoint=folder, checkpoint_every=1000, resume=True, **options))
    seen = {(run.values.tobytes(), repr(run.feedback), repr(run.verdicts), repr(run.alarms)) for run in runs}
    assert len(seen) == 1
    feedback = runs[0].feedback
    if score == "first" and n_left_out is not None:
        assert feedback.n_left_out == n_left_out
    if score == "labelled" and scheme in (sg.Prequential(), Chunks(500)):
        assert feedback.n_scored[0] + feedback.n_left_out == feedback.n_revealed


@pytest.mark.parametrize(
    "labelling", [AllLabels(), Delayed(0), DelayedAtRandom(0), First(10), First(0), Fraction(0.01)]
)
def test_every_row_is_scored_if_no_label_is_late(labelling):
    for scheme in (sg.Prequential(), Chunks(500)):
        results = evaluate(draw(N, 0.7), sg.NaiveBayes(), labelling=labelling, scheme=scheme)
        assert results.feedback.n_scored.tolist() == [N]
        assert results.feedback.n_left_out == 0
        assert results.feedback.n_owed == 0


def test_learners_that_come_trained_are_scored_from_the_first_row():
    stream, past = draw(N, 0.7), draw(500, 0.7, seed=9)
    for scheme in (Pretrained(past), TrainThenTest(past)):
        results = evaluate(stream, sg.NaiveBayes(), labelling=Delayed(1000), scheme=scheme)
        assert (results.feedback.n_scored.tolist(), results.feedback.n_left_out) == ([N], 0)
    results = evaluate(stream, sg.NaiveBayes(), labelling=Delayed(1000), scheme=Pretrained(500))
    assert (results.feedback.n_scored.tolist(), results.feedback.n_left_out) == ([N - 500], 0)
    trained = PretrainedModel(sg.NaiveBayes(), on=past)
    results = evaluate(stream, trained, labelling=Delayed(1000))
    assert (results.feedback.n_scored.tolist(), results.feedback.n_left_out) == ([N], 0)
    own: Any = Constant(0)
    own.trained = True
    results = evaluate(stream, own, labelling=Delayed(1000))
    assert (results.feedback.n_scored.tolist(), results.feedback.n_left_out) == ([N], 0)
    both = evaluate(stream, {"trained": trained, "new": sg.NaiveBayes()}, labelling=Delayed(1000))
    assert both.feedback.n_left_out == 1001  # they are compared on the same rows


def test_a_label_that_no_fold_learns_does_not_start_the_scoring():
    # The first 600 rows are held out. Their labels arrive from row 450 on, but the first one learnt is that of row 600.
    results = evaluate(draw(N, 0.7), sg.NaiveBayes(), labelling=Delayed(450), scheme=Holdout(1000, 600))
    assert results.feedback.n_left_out == 600  # the test after 1,000 rows
    assert results.feedback.n_scored.tolist() == [600]


@pytest.mark.parametrize("scheme", [sg.Prequential(), sg.Bootstrap(5), sg.Split(8, test="training")])
def test_no_verdict_is_given_before_both_learners_have_predicted(scheme):
    learners = {"a": Constant(-1), "b": Constant(-1), "constant": Constant(0)}
    results = evaluate(draw(N, 0.9), learners, scheme=scheme, every=50, backend=Threads(1))
    assert [(verdict.outcome, verdict.row) for verdict in results.verdicts] == [("undecided", None)] * 3


def test_a_verdict_may_follow_the_first_prediction_at_any_batch_size_and_after_a_restart(tmp_path):
    stream, learners = draw(N, 0.95), {"late": LateStarter(0), "constant": Constant(1)}
    exact: dict[str, Any] = {"every": 100, "live_test": LiveTest(exact=True)}
    options = {**exact, "checkpoint": tmp_path, "checkpoint_every": 500}
    for progress in Evaluation(stream, learners, batch_size=500, **options).advance():
        if progress.n_rows >= 1500:
            break
    runs = [evaluate(stream, learners, resume=True, **options)]
    runs += [evaluate(stream, learners, **exact, batch_size=size) for size in (None, 37)]
    verdicts = [run.verdicts[0] for run in runs]
    ((outcome, row, earlier),) = {(verdict.outcome, verdict.row, verdict.earlier) for verdict in verdicts}
    assert (outcome, earlier) == ("first", None)  # while the other one abstained, the constant was ahead
    assert row in (1100, 1200)
