"""What a target, a prediction and a tally are: classes, or numbers.

A task is a frozen value that follows from the schema of a stream. Whatever the parts of a run have to know about
targets and predictions they ask it, so that schemes, labellings, schedules, checkpoints and backends are the same for
all tasks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge._foreign import build_majority, build_sums
from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Forgetting, ForgettingState, MajorityBaseline
from streamgauge.records import ABSTAINED, NumericTarget, Schema, Targets, Trace, fill_abstentions
from streamgauge.records.blocks import BASELINES, MAX_MATRIX_CLASSES, BlockLayout, make_layout
from streamgauge.records.rows import MAX_TARGET

__all__ = ["Baselines", "Classification", "Regression", "Task", "find_task", "pick_winners", "require_numbers"]


class Baselines(Protocol):
    """The two baselines of a fold, which learn what the fold learns."""

    def update(
        self, truth: Targets, labels: Targets, weight: NDArray[np.float64] | None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return a column for each baseline, as a `Trace` holds it, from before a row's label is learnt."""
        ...

    def save(self) -> bytes:
        """Return the whole state."""
        ...

    def load(self, state: bytes) -> None:
        """Restore a saved state, bit for bit."""
        ...


class Task(ABC):
    """What a target, a prediction and a tally are."""

    name: ClassVar[str]
    """One word for it."""

    default_measure: ClassVar[str]
    """The measure of a run that names none."""

    has_votes: ClassVar[bool]
    """Whether learners give votes, beside predictions, if they are wanted."""

    has_binary_losses: ClassVar[bool]
    """Whether losses are 0 or 1, as some drift detectors need them."""

    always_has_baselines: ClassVar[bool]
    """Whether rows cannot be scored without the baselines of the fold."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """The number of classes; 0 if there are none."""

    @abstractmethod
    def make_outputs(self, n: int) -> NDArray[np.float64]:
        """Return what a learner returns for n rows if it abstains: votes [n, classes], or numbers [n]."""

    @abstractmethod
    def read_outputs(self, predicted: Any, n: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the outputs for n rows from what a user's object predicted; raise if it is of another form."""

    @abstractmethod
    def decide(self, outputs: NDArray[np.float64]) -> Any:  # noqa: ANN401
        """Return the predictions of rows from what a learner returned for them."""

    @abstractmethod
    def make_abstentions(self, n: int) -> Any:  # noqa: ANN401
        """Return the predictions of n rows of a learner that abstains."""

    @abstractmethod
    def find_predicted(self, y_pred: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        """Return which rows have a prediction."""

    @abstractmethod
    def find_correct(self, y_pred: Any, y_true: Any) -> NDArray[np.bool_]:  # noqa: ANN401
        """Return which predictions are correct, for the counts of pairs of learners."""

    @abstractmethod
    def compute_losses(self, trace: Trace) -> NDArray[np.float64]:
        """Return the loss of each row in [0, 1], for drift detectors."""

    @abstractmethod
    def build_baselines(self) -> Baselines:
        """Build the baselines of a fold, which have learnt nothing."""

    @abstractmethod
    def find_scorable(self, baseline: NDArray[Any] | None) -> NDArray[np.bool_] | None:
        """Return which rows of a fold can be scored, by what its first baseline gave; None for all."""

    @abstractmethod
    def build_baseline_of(self, forgetting: Forgetting) -> MajorityBaseline | None:
        """Build the first baseline of the labels that a forgetting remembers; None for that of all labels."""

    @abstractmethod
    def build_state(self, forgetting: Forgetting, statistics: Sequence[str]) -> ForgettingState:
        """Build the state of a forgetting that keeps some statistics; raise ValueError or TypeError if it cannot."""

    @property
    @abstractmethod
    def label_groups(self) -> tuple[str, ...]:
        """The names of the groups in which rows are counted by their labels: the classes, or the target."""

    @abstractmethod
    def group_labels(self, y: Any) -> NDArray[np.int32]:  # noqa: ANN401
        """Return the group of each row; -1 for an unknown label."""

    @abstractmethod
    def make_layout(self, statistics: set[str], *, with_baselines: bool) -> BlockLayout:
        """Return what is kept of the tallies of blocks, if measures need some statistics."""

    @property
    @abstractmethod
    def tally_bytes(self) -> int:
        """About the bytes of a tally."""


@dataclass(frozen=True)
class Classification(Task):
    """Targets are classes, learners vote for them, and a tally holds a confusion matrix.

    Parameters
    ----------
    classes
        The names of the classes.

    Examples
    --------
    >>> task = Classification(("up", "down"))
    >>> task.decide(np.array([[0.2, 0.8], [0.0, 0.0]])).tolist()
    [1, -1]
    """

    classes: tuple[str, ...]

    name = "classification"
    default_measure = "accuracy"
    has_votes = True
    has_binary_losses = True
    always_has_baselines = False

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def make_outputs(self, n: int) -> NDArray[np.float64]:
        """Return n rows without votes."""
        return np.zeros((n, len(self.classes)))

    def read_outputs(self, predicted: Any, n: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Return votes from class codes, or votes; those that are negative or not finite are 0."""
        array, c = np.asarray(predicted), self.n_classes
        if array.shape == (n, c):
            votes: NDArray[np.float64] = array.astype(np.float64)
            votes[~((votes >= 0.0) & (votes < np.inf))] = 0.0
            return votes
        codes = array.astype(np.intp)
        if codes.shape != (n,) or (codes != array).any() or codes.max(initial=0) >= c:
            msg = (
                f"predict returned {array!r} for {n} row(s); "
                f"it must return a class code below {c} or {c} votes for each row"
            )
            raise StreamgaugeError(msg)
        votes = np.zeros((n, c))
        voting = np.flatnonzero(codes > ABSTAINED)
        votes[voting, codes[voting]] = 1.0
        return votes

    def decide(self, outputs: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the class with the most votes in each row."""
        return pick_winners(outputs)

    def make_abstentions(self, n: int) -> NDArray[np.int32]:
        """Return the predictions of n rows of a learner that abstains."""
        return np.full(n, ABSTAINED, dtype=np.int32)

    def find_predicted(self, y_pred: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which rows have a prediction."""
        predicted: NDArray[np.bool_] = y_pred != ABSTAINED
        return predicted

    def find_correct(self, y_pred: NDArray[np.int32], y_true: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which predictions are correct."""
        return np.equal(y_pred, y_true)

    def compute_losses(self, trace: Trace) -> NDArray[np.float64]:
        """Return 1 for each prediction that was wrong, else 0."""
        return (~trace.correct).astype(np.float64)

    def build_baselines(self) -> Baselines:
        """Build the majority class and the class seen last."""
        return cast("Baselines", _native.Baselines(self.n_classes))

    def find_scorable(self, baseline: NDArray[Any] | None) -> None:
        """Return None: all rows can be scored, also before the first label."""

    def build_baseline_of(self, forgetting: Forgetting) -> MajorityBaseline | None:
        """Build the majority class of the labels that a forgetting remembers; None for the majority of all labels."""
        return build_majority(forgetting, self.n_classes)

    def build_state(self, forgetting: Forgetting, statistics: Sequence[str]) -> ForgettingState:
        """Build the state of a forgetting that keeps counts and some statistics."""
        if not statistics:
            return forgetting.build(self.n_classes)
        state: ForgettingState = forgetting.build(self.n_classes, statistics)  # type: ignore[call-arg]
        return state

    @property
    def label_groups(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.classes

    def group_labels(self, y: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the labels."""
        return y

    def make_layout(self, statistics: set[str], *, with_baselines: bool) -> BlockLayout:
        """Return what is kept of the tallies of blocks, if measures need some statistics."""
        kept = statistics - {"calibration", "rows"}
        if self.n_classes > MAX_MATRIX_CLASSES:
            kept -= {"ranks"}
        if with_baselines:
            kept |= {BASELINES}
        return make_layout(self.n_classes, tuple(sorted(kept)))

    @property
    def tally_bytes(self) -> int:
        """The bytes of a confusion matrix."""
        return 8 * self.n_classes * (self.n_classes + 1)


@dataclass(frozen=True)
class Regression(Task):
    """Targets and predictions are numbers, and a tally holds weighted sums of errors.

    A learner that abstains (NaN) counts as if it had predicted the mean of the targets that its fold has learnt. What a
    fold tests before it has learnt any target is not scored, for all learners alike.

    Parameters
    ----------
    target
        The target.

    Examples
    --------
    >>> task = Regression(NumericTarget("price"))
    >>> task.decide(np.array([1.5, np.nan])).tolist(), task.find_predicted(np.array([1.5, np.nan])).tolist()
    ([1.5, nan], [True, False])
    """

    target: NumericTarget

    name = "regression"
    default_measure = "mae"
    has_votes = False
    has_binary_losses = False
    always_has_baselines = True

    @property
    def n_classes(self) -> int:
        """0: there are no classes."""
        return 0

    def make_outputs(self, n: int) -> NDArray[np.float64]:
        """Return n rows without a prediction."""
        return np.full(n, np.nan)

    def read_outputs(self, predicted: Any, n: int) -> NDArray[np.float64]:  # noqa: ANN401
        """Return a number per row."""
        array = np.asarray(predicted)
        if array.shape not in ((n,), (n, 1)) or array.dtype.kind not in "biuf":
            msg = f"predict returned {array!r} for {n} row(s); it must return a number for each row, NaN to abstain"
            raise StreamgaugeError(msg)
        numbers: NDArray[np.float64] = array.reshape(n).astype(np.float64)
        return require_numbers(numbers)

    def decide(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers, each of which must be small enough to be squared."""
        return require_numbers(outputs)

    def make_abstentions(self, n: int) -> NDArray[np.float64]:
        """Return the predictions of n rows of a learner that abstains."""
        return np.full(n, np.nan)

    def find_predicted(self, y_pred: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which rows have a prediction."""
        return ~np.isnan(y_pred)

    def find_correct(self, y_pred: NDArray[np.float64], y_true: NDArray[np.float64]) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return no correct prediction: numbers are near or far, and learners are compared by tallies."""
        return np.zeros(len(y_pred), dtype=np.bool_)

    def compute_losses(self, trace: Trace) -> NDArray[np.float64]:
        """Return the share of the absolute error in its sum with that of the mean of the targets so far.

        It is 0 for a perfect prediction and 1/2 for one that is as far off as the mean: bounded, and without a scale.
        """
        error = np.abs(fill_abstentions(trace).y_pred - trace.y_true)
        both = error + np.abs(trace.majority_hit - trace.y_true)
        losses: NDArray[np.float64] = np.divide(error, both, out=np.full(len(trace), 0.5), where=both > 0.0)
        return losses

    def build_baselines(self) -> Baselines:
        """Build the mean of the targets so far, and the target seen last."""
        return _NumberBaselines()

    def find_scorable(self, baseline: NDArray[Any] | None) -> NDArray[np.bool_] | None:
        """Return which rows came after the first target that the fold has learnt; None for all."""
        if baseline is None:
            return None
        known = ~np.isnan(baseline)
        return None if known.all() else known

    def build_baseline_of(self, forgetting: Forgetting) -> None:
        """Return None: the mean is that of all targets under every forgetting."""

    def build_state(self, forgetting: Forgetting, statistics: Sequence[str]) -> ForgettingState:
        """Build the state of a forgetting that keeps weighted sums."""
        return build_sums(forgetting, self.target, statistics, self.compute_losses)

    @property
    def label_groups(self) -> tuple[str, ...]:
        """The name of the target."""
        return (self.target.name,)

    def group_labels(self, y: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return 0 for a known target."""
        return np.where(np.isnan(y), np.int32(-1), np.int32(0))

    def make_layout(self, statistics: set[str], *, with_baselines: bool) -> BlockLayout:  # noqa: ARG002
        """Return what is kept of the tallies of blocks: all sums."""
        return make_layout(0, tuple(sorted(statistics - {"rows"})))

    @property
    def tally_bytes(self) -> int:
        """The bytes of some sums."""
        return 128


class _NumberBaselines:
    """The mean of the targets so far, and the target seen last."""

    def __init__(self) -> None:
        self._kernel = _native.NumberBaselines()

    def update(
        self,
        truth: Targets,  # noqa: ARG002
        labels: Targets,
        weight: NDArray[np.float64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._kernel.update(np.ascontiguousarray(labels, dtype=np.float64), weight)

    def save(self) -> bytes:
        return self._kernel.save()

    def load(self, state: bytes) -> None:
        self._kernel.load(state)


def require_numbers(predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return predictions; raise unless each is NaN, for an abstention, or a number that can be squared.

    Examples
    --------
    >>> require_numbers(np.array([1.0, np.inf]))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: it predicted inf, which is not a number from -1e+150 to 1e+150: it has diverged
    """
    beyond = np.abs(predictions) > MAX_TARGET  # False for NaN
    if beyond.any():
        found = predictions[beyond][0]
        msg = f"it predicted {found}, which is not a number from -{MAX_TARGET:g} to {MAX_TARGET:g}: it has diverged"
        raise StreamgaugeError(msg)
    return predictions


def find_task(schema: Schema) -> Task:
    """Return the task of the rows of a schema.

    Examples
    --------
    >>> find_task(Schema((), classes=("up", "down"))).name, find_task(Schema((), target=NumericTarget("price"))).name
    ('classification', 'regression')
    """
    return Classification(schema.classes) if schema.target is None else Regression(schema.target)


def pick_winners(votes: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the class with the most votes in each row; ties go to the first, `ABSTAINED` if no vote is above 0.

    Examples
    --------
    >>> pick_winners(np.array([[0.2, 0.8], [0.5, 0.5], [0.0, 0.0]])).tolist()
    [1, 0, -1]
    """
    best: NDArray[np.int32] = votes.argmax(axis=1).astype(np.int32)
    best[~(votes.max(axis=1) > 0)] = ABSTAINED
    return best
