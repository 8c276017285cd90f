"""The plain loop: what every `interleave` must equal."""

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import LearnerError
from streamgauge.protocols import Learner
from streamgauge.records import ABSTAINED, UNLABELLED, Step

__all__ = ["failed_at", "row_by_row", "winners"]


def winners(votes: NDArray[np.float64]) -> NDArray[np.int32]:
    """Give the class with the most votes of each row, the first of equals; `ABSTAINED` where no vote is above 0.

    Examples
    --------
    >>> winners(np.array([[0.2, 0.8], [0.5, 0.5], [0.0, 0.0]])).tolist()
    [1, 0, -1]
    """
    best: NDArray[np.int32] = votes.argmax(axis=1).astype(np.int32)
    best[~(votes.max(axis=1) > 0)] = ABSTAINED
    return best


def failed_at(position: int, votes: NDArray[np.float64], error: Exception, *, with_votes: bool) -> LearnerError:
    """Make the error of an `interleave` that failed at a row, with the votes for the rows before it.

    Examples
    --------
    >>> failed_at(1, np.array([[0.0, 1.0], [0.0, 0.0]]), ZeroDivisionError("by 0"), with_votes=False)
    LearnerError('ZeroDivisionError: by 0')
    """
    done = votes[:position]
    return LearnerError(f"{type(error).__name__}: {error}", position, (winners(done), done if with_votes else None))


def row_by_row(
    learner: Learner, step: Step, n_classes: int, *, with_votes: bool
) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
    """Predict each tested row with `learner.predict`, then learn it with `learner.learn`.

    Examples
    --------
    >>> from streamgauge.learners import NoChange
    >>> from streamgauge.records import Attribute, Batch, Schema
    >>> schema = Schema((Attribute("x"),), classes=("a", "b"))
    >>> batch = Batch(0, np.zeros((3, 1)), np.array([1, 0, 0], dtype=np.int32))
    >>> row_by_row(NoChange().build(schema, seed=1), Step(batch), 2, with_votes=False)[0].tolist()
    [-1, 1, 0]
    """
    x, y, weight = step.batch.x, step.labels, step.learning_weight
    votes = np.zeros((len(y), n_classes))
    i = 0
    try:
        for i in range(len(y)):
            row = slice(i, i + 1)
            if step.test is None or step.test[i]:
                votes[row] = learner.predict(x[row])
            if y[i] != UNLABELLED and (weight is None or weight[i] > 0):
                learner.learn(x[row], y[row], None if weight is None else weight[row])
    except Exception as error:
        raise failed_at(i, votes, error, with_votes=with_votes) from error
    return winners(votes), votes if with_votes else None
