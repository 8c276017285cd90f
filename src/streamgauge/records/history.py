"""What a run keeps at its stops beside the readings: how classes and labels came, and who was taken for whom."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError

__all__ = ["Confusions", "Differences", "LabelCounts"]


@dataclass(frozen=True)
class LabelCounts:
    """How many rows of each class there were, and what became of their labels, from the start up to each stop.

    Parameters
    ----------
    rows
        The stops, int64 [s], ascending.
    classes
        Their names.
    by_class
        Rows of each class, int64 [s, c]; also of those whose label the learners never see.
    n_unknown
        Rows whose class nobody knows, int64 [s].
    n_hidden
        Rows whose label exists but never comes, int64 [s].
    n_revealed
        Labels that have come, int64 [s].

    Examples
    --------
    >>> counts = LabelCounts(
    ...     np.array([10, 20]), ("up", "down"), np.array([[6, 4], [9, 11]]), np.zeros(2, int), np.array([0, 5]),
    ...     np.array([8, 14])
    ... )
    >>> counts.between.tolist(), counts.n_owed.tolist(), counts.hidden_shares.tolist()
    ([[6, 4], [3, 7]], [2, 1], [0.0, 0.5])
    """

    rows: NDArray[np.int64]
    classes: tuple[str, ...]
    by_class: NDArray[np.int64]
    n_unknown: NDArray[np.int64]
    n_hidden: NDArray[np.int64]
    n_revealed: NDArray[np.int64]

    @property
    def between(self) -> NDArray[np.int64]:
        """Rows of each class since the stop before, int64 [s, c]."""
        return np.diff(self.by_class, axis=0, prepend=0)

    @property
    def n_owed(self) -> NDArray[np.int64]:
        """Labels still to come at each stop, int64 [s]."""
        owed: NDArray[np.int64] = self.by_class.sum(axis=1) - self.n_hidden - self.n_revealed
        return owed

    @property
    def hidden_shares(self) -> NDArray[np.float64]:
        """The share of the rows since the stop before whose label never comes or is not known, float64 [s]."""
        lost = np.diff(self.n_hidden + self.n_unknown, prepend=0)
        n = np.diff(self.by_class.sum(axis=1) + self.n_unknown, prepend=0)
        shares: NDArray[np.float64] = lost / np.maximum(n, 1)
        return shares


@dataclass(frozen=True)
class Confusions:
    """Confusion matrices along a run: weights of true and predicted classes, summed over the folds.

    At most some hundred stops are kept, evenly spaced, and none of a run with very many classes; to keep all, record
    them (`streamgauge.results.recorders.ConfusionMatrices`).

    Parameters
    ----------
    rows
        The stops that are kept, int64 [k], ascending.
    classes
        Their names.
    weights
        float64 [k, learners, forgettings, true, predicted]; one more column than classes, for rows without a
        prediction. NaN from where on a learner has failed.

    Examples
    --------
    >>> weights = np.array([[8.0, 1.0, 1.0], [2.0, 2.0, 0.0]]).reshape(1, 1, 1, 2, 3)
    >>> Confusions(np.array([14]), ("up", "down"), weights).shares[0, 0, 0].tolist()
    [[0.8, 0.1, 0.1], [0.5, 0.5, 0.0]]
    """

    rows: NDArray[np.int64]
    classes: tuple[str, ...]
    weights: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of each true class that went to each prediction; NaN where a class has no weight."""
        of_class = self.weights.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(of_class > 0.0, self.weights / of_class, np.nan)


@dataclass(frozen=True)
class Differences:
    """The difference of the accuracies of each pair of learners along a run, with its confidence sequence.

    At most some hundred stops are kept, evenly spaced, and the last.

    Parameters
    ----------
    rows
        The stops, int64 [k], ascending.
    pairs
        The names of the two learners of each pair.
    values
        The difference, and the ends of the interval that holds the true one at all rows at once: float64 [k, pairs, 3];
        NaN where the test gives no interval.
    alpha
        The chance that any of the intervals is ever wrong.
    test
        The test that they are of.

    Examples
    --------
    >>> values = np.array([[[0.02, -0.01, 0.05]]])
    >>> course = Differences(np.array([100]), (("tree", "bayes"),), values, 0.05, "two_way_sequence")
    >>> course.of("bayes", "tree").tolist()
    [[-0.02, -0.05, 0.01]]
    """

    rows: NDArray[np.int64]
    pairs: tuple[tuple[str, str], ...]
    values: NDArray[np.float64]
    alpha: float
    test: str

    def of(self, first: str, second: str) -> NDArray[np.float64]:
        """Give the difference of two learners and the ends of its interval at each stop, float64 [k, 3]."""
        if (first, second) in self.pairs:
            return self.values[:, self.pairs.index((first, second))]
        if (second, first) in self.pairs:
            turned: NDArray[np.float64] = -self.values[:, self.pairs.index((second, first))][:, [0, 2, 1]]
            return turned
        msg = f"{first} and {second} were not compared in this run"
        raise StreamgaugeError(msg)
