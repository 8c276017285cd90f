"""The plain loop over rows, which every `interleave` must equal."""

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_unlabelled_learning
from streamgauge.errors import CallTimeoutError, LearnerError, StreamgaugeError
from streamgauge.learners.call_limit import begin_call
from streamgauge.protocols import Learner
from streamgauge.records import Step, find_known
from streamgauge.tasks import Task, pick_winners

__all__ = [
    "Predicted",
    "as_learner_error",
    "fail_after",
    "fill_votes",
    "join_parts",
    "limit_votes",
    "pick_winners",
    "run_row_by_row",
    "run_row_by_row_timed",
]

Predicted = tuple[Any, NDArray[np.float64] | None]
"""The predictions of a step and, if they were wanted, the votes."""


def as_learner_error(
    position: int, votes: NDArray[np.float64], error: BaseException, *, with_votes: bool
) -> LearnerError:
    """Return the error of an `interleave` that failed at a row, with the votes or predictions for the rows before.

    Examples
    --------
    >>> as_learner_error(1, np.array([[0.0, 1.0], [0.0, 0.0]]), ZeroDivisionError("by 0"), with_votes=False)
    LearnerError('ZeroDivisionError: by 0')
    """
    if isinstance(error, LearnerError):
        return error
    done = votes[:position]
    predictions = np.array(done) if done.ndim == 1 else pick_winners(done)
    reason = (
        str(error) if isinstance(error, StreamgaugeError | CallTimeoutError) else f"{type(error).__name__}: {error}"
    )
    if isinstance(error, ValueError) and "read-only" in str(error):
        reason += "; rows belong to all learners, so none may write into them: copy them first, as in x = x.copy()"
    return LearnerError(reason, position, (predictions, done if with_votes else None))


def limit_votes(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return votes with rows whose sum overflows scaled down: only the share of each class counts.

    Examples
    --------
    >>> limit_votes(np.array([[1.0, 3.0], [1.5e308, 0.5e308]])).tolist()
    [[1.0, 3.0], [7.5e+307, 2.5e+307]]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(votes.sum()):
            return votes
        too_high = ~np.isfinite(votes.sum(axis=1))
    limited = votes.copy()
    limited[too_high] = np.nan_to_num(votes[too_high], nan=0.0) / votes.shape[1]
    return limited


def fill_votes(
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    x: NDArray[np.float64],
    rows: NDArray[np.intp],
    votes: NDArray[np.float64],
    *,
    with_votes: bool,
) -> None:
    """Set the votes of some rows of a step; an error names the first row that cannot be predicted.

    Examples
    --------
    >>> votes = np.zeros((3, 2))
    >>> fill_votes(lambda x: np.hstack([x, 1.0 - x]), np.ones((3, 1)), np.array([0, 2]), votes, with_votes=True)
    >>> votes.tolist()
    [[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    try:
        votes[rows] = predict(np.ascontiguousarray(x[rows]))
    except Exception:
        for i in rows.tolist():  # one by one, to find the row that fails
            try:
                votes[i] = predict(x[i : i + 1])[0]
            except Exception as error:
                raise as_learner_error(i, votes, error, with_votes=with_votes) from error


def join_parts(parts: Sequence[Predicted], task: Task, *, with_votes: bool) -> Predicted:
    """Return the predictions and votes of the parts of a step in one piece.

    Examples
    --------
    >>> from streamgauge.tasks import Classification
    >>> parts = (np.array([1, 0], dtype=np.int32), None), (np.array([1], dtype=np.int32), None)
    >>> join_parts(parts, Classification(("a", "b")), with_votes=False)[0].tolist()
    [1, 0, 1]
    """
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return task.make_abstentions(0), task.make_outputs(0) if with_votes else None
    predictions = np.concatenate([predictions for predictions, _ in parts])
    return predictions, np.concatenate([votes for _, votes in parts if votes is not None]) if with_votes else None


def fail_after(parts: Sequence[Predicted], error: BaseException, task: Task, *, with_votes: bool) -> LearnerError:
    """Return the error of a step that failed after some of its parts, with the predictions of all rows before it.

    Examples
    --------
    >>> from streamgauge.tasks import Classification
    >>> done, task = (np.array([1, 0], dtype=np.int32), None), Classification(("a", "b"))
    >>> fail_after([done], ZeroDivisionError("by 0"), task, with_votes=False).position
    2
    """
    failure = as_learner_error(0, task.make_outputs(0), error, with_votes=with_votes)
    before = join_parts([*parts, failure.done], task, with_votes=with_votes)
    return LearnerError(str(failure), len(before[0]), before)


def run_row_by_row(learner: Learner, step: Step, task: Task, *, with_votes: bool) -> Predicted:
    """Predict each tested row with `learner.predict`, then learn it with `learner.learn`; return predictions and votes.

    Examples
    --------
    >>> from streamgauge.learners import NoChange
    >>> from streamgauge.records import Attribute, Batch, Schema
    >>> from streamgauge.tasks import find_task
    >>> schema = Schema((Attribute("x"),), classes=("a", "b"))
    >>> batch = Batch(0, np.zeros((3, 1)), np.array([1, 0, 0], dtype=np.int32))
    >>> run_row_by_row(NoChange().build(schema, seed=1), Step(batch), find_task(schema), with_votes=False)[0].tolist()
    [-1, 1, 0]
    """
    predictions, votes, _, _ = run_row_by_row_timed(learner, step, task, with_votes=with_votes)
    return predictions, votes


def run_row_by_row_timed(
    learner: Learner, step: Step, task: Task, *, with_votes: bool
) -> tuple[Any, NDArray[np.float64] | None, NDArray[np.uint64], NDArray[np.uint64]]:
    """Run `run_row_by_row` and return, too, the nanoseconds of predicting and of learning each row, 0 if not done.

    Examples
    --------
    >>> from streamgauge.learners import NoChange
    >>> from streamgauge.records import Attribute, Batch, Schema
    >>> from streamgauge.tasks import find_task
    >>> schema = Schema((Attribute("x"),), classes=("a", "b"))
    >>> step = Step(Batch(0, np.zeros((2, 1)), np.array([1, 0], dtype=np.int32)), test=np.array([False, True]))
    >>> learner, task = NoChange().build(schema, 1), find_task(schema)
    >>> _, _, predicting, learning = run_row_by_row_timed(learner, step, task, with_votes=False)
    >>> (predicting > 0).tolist(), (learning > 0).tolist()
    ([False, True], [True, True])
    """
    x, y, weight = step.batch.x, step.labels, step.learning_weight
    outputs, known = task.make_outputs(len(y)), find_known(y)
    predict_ns, learn_ns = np.zeros((2, len(y)), dtype=np.uint64)
    learn_unlabelled = find_unlabelled_learning(learner)
    i = 0
    try:
        for i in range(len(y)):
            row = slice(i, i + 1)
            if step.test is None or step.test[i]:
                begin_call()
                started = perf_counter_ns()
                outputs[row] = learner.predict(x[row])
                predict_ns[i] = perf_counter_ns() - started
            if weight is not None and not weight[i] > 0:
                continue
            row_weight = None if weight is None else weight[row]
            begin_call()
            started = perf_counter_ns()
            if known[i]:
                learner.learn(x[row], y[row], row_weight)
            elif learn_unlabelled is not None:
                learn_unlabelled(x[row], row_weight)
            else:
                continue
            learn_ns[i] = perf_counter_ns() - started
    except (Exception, CallTimeoutError) as error:
        raise as_learner_error(i, outputs, error, with_votes=with_votes) from error
    return task.decide(outputs), outputs if with_votes else None, predict_ns, learn_ns
