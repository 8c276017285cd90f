"""Traces with votes, and what is left of their weights under a forgetting."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.forgetting import EWMA, AdwinWindow, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.measures import build_state, measure
from streamgauge.protocols import Forgetting
from streamgauge.records import Trace
from streamgauge.tasks import Classification

__all__ = ["FORGETTINGS", "value", "voted_trace", "weights_of"]

FORGETTINGS: list[Any] = [
    Landmark(), Window(150), Tumbling(130), TimeWindow(40.0), Fading(0.98), EWMA(0.05), AdwinWindow(),
]  # fmt: skip


def voted_trace(n: int, n_classes: int, seed: int, *, weighted: bool = False) -> Trace:
    """Make votes that tell something of the class, some of them tied and some rows without any."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    votes = rng.gamma(0.4, size=(n, n_classes))
    votes[np.arange(n), y] += rng.random(n)
    votes[: n // 3] = np.round(4 * votes[: n // 3])
    votes[rng.random(n) < 0.03] = 0.0
    y_pred = np.where(votes.max(axis=1) > 0, votes.argmax(axis=1), -1).astype(np.int32)
    hit = np.zeros(n, dtype=np.bool_)
    weight = rng.random(n) if weighted else None
    return Trace(np.arange(n), y, y_pred, hit, hit, weight, votes, np.arange(n) / 5.0)


def value(forgetting: Forgetting, trace: Trace, name: str, n_classes: int) -> float:
    wanted = measure(name)
    return wanted(
        build_state(forgetting, Classification(tuple(map(str, range(n_classes)))), [wanted]).update(
            trace, [len(trace)]
        )[0]
    )


def weights_of(forgetting: Any, trace: Trace) -> NDArray[np.float64]:
    """Return the weights that a forgetting leaves to the rows."""
    if hasattr(forgetting, "weights_by_age"):
        by_age: NDArray[np.float64] = forgetting.weights_by_age(len(trace))[::-1]
    else:
        width = forgetting.build(trace.votes.shape[1]).update(trace, [len(trace)])[0].width  # type: ignore[union-attr]
        by_age = (np.arange(len(trace)) >= len(trace) - width).astype(float)
    return by_age if trace.weight is None else by_age * trace.weight
