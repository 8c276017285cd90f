"""Given predictions, evaluated in our loop."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.protocols import Forgetting, Measure
from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream
from tests.support.sequence_examples import Codes

__all__ = ["EVERY", "WIDTH", "Replay", "judge"]

EVERY, WIDTH = 25, 50


class Replay:
    """Predicts what stands in the row: a class code, or votes where there are several columns."""

    def predict(self, x: Any) -> Any:
        return x[:, 0].astype(int).tolist() if x.shape[1] == 1 else x

    def learn(self, x: Any, y: Any) -> None:
        pass


def judge(
    y_true: Codes,
    predicted: NDArray[Any],
    forgetting: Forgetting,
    measures: Sequence[str | Measure],
    *,
    n_classes: int,
    every: int = EVERY,
) -> NDArray[np.float64]:
    """Have our loop judge given predictions; readings x measures."""
    x = np.asarray(predicted, dtype=np.float64).reshape(len(y_true), -1)
    attributes = tuple(Attribute(f"x{column}") for column in range(x.shape[1]))
    stream = ArrayStream(x, y_true, schema=Schema(attributes, tuple(str(code) for code in range(n_classes))))
    results = sg.evaluate(stream, {"replay": Replay()}, forgetting=forgetting, measures=list(measures), every=every)
    values: NDArray[np.float64] = results.values[:, 0, 0, 0]
    return values
