"""What a run keeps at its readings beside the values: classes and labels, confusion matrices, differences."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError

__all__ = ["Confusions", "Differences", "LabelCounts"]


@dataclass(frozen=True)
class LabelCounts:
    """The number of rows of each class, and what happened to their labels, up to each reading.

    Parameters
    ----------
    rows
        The reading rows, int64 [s], ascending.
    classes
        Their names.
    by_class
        Rows of each class, int64 [s, c], including those whose label the learners never see.
    n_unknown
        Rows whose class is unknown, int64 [s].
    n_hidden
        Rows whose label exists but never arrives, int64 [s].
    n_revealed
        Labels that have arrived, int64 [s].

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
        """Rows of each class since the previous reading, int64 [s, c]."""
        return np.diff(self.by_class, axis=0, prepend=0)

    @property
    def n_owed(self) -> NDArray[np.int64]:
        """Labels still due at each reading, int64 [s]."""
        owed: NDArray[np.int64] = self.by_class.sum(axis=1) - self.n_hidden - self.n_revealed
        return owed

    @property
    def hidden_shares(self) -> NDArray[np.float64]:
        """The share of rows since the previous reading whose label never arrives or is unknown, float64 [s]."""
        lost = np.diff(self.n_hidden + self.n_unknown, prepend=0)
        n = np.diff(self.by_class.sum(axis=1) + self.n_unknown, prepend=0)
        shares: NDArray[np.float64] = lost / np.maximum(n, 1)
        return shares


@dataclass(frozen=True)
class Confusions:
    """Confusion matrices along a run: weights of true and predicted classes, summed over the folds.

    At most some hundred readings are kept, evenly spaced, and none of a run with very many classes; to keep all, use
    the recorder `streamgauge.results.ConfusionMatrices`.

    Parameters
    ----------
    rows
        The reading rows that are kept, int64 [k], ascending.
    classes
        Their names.
    weights
        float64 [k, learners, forgettings, true, predicted]; one more column than classes, for rows without a
        prediction. NaN after a learner has failed.

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
        """The share of each true class that got each prediction; NaN for a class without weight."""
        class_weight = self.weights.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(class_weight > 0.0, self.weights / class_weight, np.nan)


@dataclass(frozen=True)
class Differences:
    """The differences of pairs of learners in one or more measures along a run, with their confidence sequences.

    At most some hundred readings are kept, evenly spaced, and the last.

    Parameters
    ----------
    rows
        The reading rows, int64 [k], ascending.
    pairs
        The names of the two learners of each column; a pair has a column for each measure.
    values
        The difference, and the ends of the interval that holds at all rows at once: float64 [k, columns, 3]; NaN if
        there is no interval.
    alpha
        The probability that any of the intervals is ever wrong.
    test
        The test of the intervals.
    measures
        The measure of each column; empty if all are of the accuracy.

    Examples
    --------
    >>> values = np.array([[[0.02, -0.01, 0.05]]])
    >>> history = Differences(np.array([100]), (("tree", "bayes"),), values, 0.05, "two_way_sequence")
    >>> history.between("bayes", "tree").tolist()
    [[-0.02, -0.05, 0.01]]
    """

    rows: NDArray[np.int64]
    pairs: tuple[tuple[str, str], ...]
    values: NDArray[np.float64]
    alpha: float
    test: str
    measures: tuple[str, ...] = ()

    def select(self, learners: Collection[str]) -> "Differences | None":
        """Return the columns of pairs of some learners; None if there are none."""
        keep = [index for index, pair in enumerate(self.pairs) if {*learners}.issuperset(pair)]
        if not keep:
            return None
        measures = tuple(self.measures[index] for index in keep) if self.measures else ()
        pairs = tuple(self.pairs[index] for index in keep)
        return replace(self, pairs=pairs, values=self.values[:, keep], measures=measures)

    @property
    def columns(self) -> tuple[tuple[str, str, str], ...]:
        """The two learners and the measure of each column."""
        measures = self.measures or ("accuracy",) * len(self.pairs)
        return tuple((*pair, measure) for pair, measure in zip(self.pairs, measures, strict=True))

    @classmethod
    def join(cls, parts: Sequence["Differences"]) -> "Differences":
        """Join the differences of several measures at the same rows."""
        first = parts[0]
        return cls(
            rows=first.rows,
            pairs=tuple(pair for part in parts for pair in part.pairs),
            values=np.concatenate([part.values for part in parts], axis=1),
            alpha=first.alpha,
            test=first.test,
            measures=tuple(column[2] for part in parts for column in part.columns),
        )

    def between(self, first: str, second: str, measure: str | None = None) -> NDArray[np.float64]:
        """Return the difference of two learners and the ends of its interval at each reading, float64 [k, 3].

        `measure` is the first one that was compared, unless it is named.
        """
        columns = self.columns
        wanted = columns[0][2] if measure is None and columns else measure
        for column, turn in (((first, second, wanted), 1), ((second, first, wanted), -1)):
            if column in columns:
                values = self.values[:, columns.index(column)]
                return values if turn == 1 else -values[:, [0, 2, 1]]
        msg = f"{first} and {second} were not compared in {wanted} in this run"
        raise StreamgaugeError(msg)
