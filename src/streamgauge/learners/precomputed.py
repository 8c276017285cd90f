"""A model that lives elsewhere: its predictions come with the rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.records import Schema, Step

__all__ = ["Precomputed"]

STATE = b"reads predictions"


@dataclass(frozen=True)
class Precomputed:
    """Reads out of each row what a model that runs elsewhere has predicted; nothing is learnt here.

    So a deployed model is evaluated, or several are compared, from a stream of their predictions joined with labels.

    Parameters
    ----------
    column
        The attribute that holds the predicted class, or the beginning of the attributes that hold the votes for each:
        with "model", votes for the class "up" are in "model.up", as they are where events hold
        ``{"model": {"up": 0.8, "down": 0.2}}``. A prediction that is missing or no class is an abstention, and thus an
        error; so are votes that are missing or below 0.
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

    @property
    def short_name(self) -> str:
        """How results call it."""
        return self.column

    def build(self, schema: Schema, seed: int) -> "_Reader":  # noqa: ARG002
        """Find out where the predictions stand."""
        places = {attribute.name: i for i, attribute in enumerate(schema.attributes)}
        if self.column in places:
            attribute = schema.attributes[places[self.column]]
            if attribute.values is None:
                msg = f"attribute {self.column!r} holds numbers, where predictions are names of classes"
                raise StreamgaugeError(msg)
            code_of = {name: code for code, name in enumerate(schema.classes)}
            codes = np.array([code_of.get(value, -1) for value in attribute.values], dtype=np.int32)
            return _Reader(schema.n_classes, [places[self.column]], codes)
        names = [f"{self.column}.{name}" for name in schema.classes]
        if not all(name in places for name in names):
            msg = f"there is no attribute {self.column!r} with predictions, nor all of {', '.join(names)} with votes"
            raise StreamgaugeError(msg)
        return _Reader(schema.n_classes, [places[name] for name in names], None)


class _Reader:
    """Gives what the rows say."""

    def __init__(self, n_classes: int, places: list[int], codes: NDArray[np.int32] | None) -> None:
        self._n_classes, self._places, self._codes = n_classes, places, codes

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the classes of each row; changes nothing."""
        given = x[:, self._places]
        if self._codes is None:
            votes = np.where(np.isnan(given) | (given < 0), np.nan, given)
            votes[np.isnan(votes).any(axis=1)] = 0.0
            return np.ascontiguousarray(votes)
        # the last code stands for a prediction that is missing
        codes = np.append(self._codes, -1)[np.where(np.isnan(given[:, 0]), -1, given[:, 0]).astype(np.intp)]
        votes = np.zeros((len(x), self._n_classes))
        told = np.flatnonzero(codes >= 0)
        votes[told, codes[told]] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn nothing."""

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Give the predictions of the tested rows of a step."""
        votes = self.predict(step.batch.x)
        if step.test is not None:
            votes[~step.test] = 0.0
        return pick_winners(votes), votes if with_votes else None

    @property
    def n_bytes(self) -> int:
        """The memory it holds: next to none."""
        return 8 * len(self._places)

    def save(self) -> bytes:
        """Give its state, which is the same for all."""
        return STATE

    def load(self, state: bytes) -> None:
        """Take over a state."""
        if state != STATE:
            msg = "these bytes are not a saved reader of predictions"
            raise StreamgaugeError(msg)
