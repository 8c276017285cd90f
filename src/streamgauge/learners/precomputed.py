"""Predictions of a model that runs elsewhere, read from the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.records import ABSTAINED, Schema, Step

__all__ = ["Precomputed"]

STATE = b"reads predictions"


@dataclass(frozen=True)
class Precomputed:
    """Reads the predictions of an external model from the rows; nothing is learnt here.

    Use it to evaluate a deployed model, or to compare several, on a stream of predictions joined with labels.

    Parameters
    ----------
    column
        The attribute that holds the predicted class (its name, or its number if all classes are numbers), or the prefix
        of the attributes that hold the votes: with "model", the votes for class "up" are in "model.up", as for events
        like ``{"model": {"up": 0.8, "down": 0.2}}``. A prediction that is missing or not a class is an abstention, and
        thus an error; so are votes that are missing or negative.
    seed
        Not used: it makes no random choice.

    Examples
    --------
    >>> from streamgauge import evaluate
    >>> from streamgauge.streams import ArrayStream
    >>> stream = ArrayStream({"model": ["up", "up", "down"]}, ["up", "down", "down"])
    >>> evaluate(stream, Precomputed("model")).curve("model", "accuracy")[-1].round(3).tolist()
    [0.667]
    """

    column: str = "prediction"
    seed: int = 1
    seedless: ClassVar[bool] = True
    trained: ClassVar[bool] = True

    @property
    def short_name(self) -> str:
        """The name of the learner in results."""
        return self.column

    def build(self, schema: Schema, seed: int) -> "_PredictionReader":  # noqa: ARG002
        """Build a reader of the columns that hold the predictions."""
        indices = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
        if self.column in indices:
            attribute = schema.attributes[indices[self.column]]
            if attribute.values is None:
                numbers = self._read_numbers(schema.classes)
                return _PredictionReader(schema.n_classes, [indices[self.column]], None, numbers)
            class_codes = {name: code for code, name in enumerate(schema.classes)}
            codes = np.array([class_codes.get(value, ABSTAINED) for value in attribute.values], dtype=np.int32)
            return _PredictionReader(schema.n_classes, [indices[self.column]], codes)
        names = [f"{self.column}.{name}" for name in schema.classes]
        if not all(name in indices for name in names):
            msg = f"there is no attribute {self.column!r} with predictions, nor all of {', '.join(names)} with votes"
            raise StreamgaugeError(msg)
        return _PredictionReader(schema.n_classes, [indices[name] for name in names], None)

    def _read_numbers(self, classes: Sequence[str]) -> NDArray[np.float64]:
        """Return the numbers that are the names of the classes, as in a CSV file."""
        if not all(map(_native.is_number, classes)):
            msg = f"attribute {self.column!r} is numeric, but predictions must be names of classes"
            raise StreamgaugeError(msg)
        return np.array([float(name) for name in classes])


class _PredictionReader:
    """A learner that returns the predictions in the rows.

    With `codes`, the class of each value of the column, or `numbers`, the name of each class as a number, there is one
    column of predictions; without, one column of votes per class.
    """

    def __init__(
        self,
        n_classes: int,
        columns: list[int],
        codes: NDArray[np.int32] | None,
        numbers: NDArray[np.float64] | None = None,
    ) -> None:
        self._n_classes, self._columns, self._codes, self._numbers = n_classes, columns, codes, numbers

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for the classes of each row."""
        values = x[:, self._columns]
        if self._numbers is not None:
            return np.equal(values, self._numbers).astype(np.float64)
        if self._codes is None:
            votes = np.where(np.isnan(values) | (values < 0), np.nan, values)
            votes[np.isnan(votes).any(axis=1)] = 0.0
            return np.ascontiguousarray(votes)
        # the last code stands for a missing prediction
        codes = np.append(self._codes, ABSTAINED)[np.where(np.isnan(values[:, 0]), -1, values[:, 0]).astype(np.intp)]
        votes = np.zeros((len(x), self._n_classes))
        predicted = np.flatnonzero(codes >= 0)
        votes[predicted, codes[predicted]] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Do nothing: the model is trained elsewhere."""

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Return the predictions for the tested rows of a step."""
        votes = self.predict(step.batch.x)
        if step.test is not None:
            votes[~step.test] = 0.0
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The memory of the reader in bytes."""
        return 8 * len(self._columns)

    def save(self) -> bytes:
        """Return the state, which is the same for all readers."""
        return STATE

    def load(self, state: bytes) -> None:
        """Check that a state is one of a reader."""
        if state != STATE:
            msg = "these bytes are not a saved reader of predictions"
            raise StreamgaugeError(msg)
