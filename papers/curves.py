"""Curves of several estimates next to a holdout curve: computed, tabulated, drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from papers.findings import Table
from papers.running import run
from streamgauge.backends import Backend
from streamgauge.forgetting import Window
from streamgauge.protocols import Forgetting, LearnerSpec, Stream
from streamgauge.schemes import Holdout

__all__ = ["HOLDOUT", "average_curves", "draw_curves", "measure_distances", "run_estimates", "tabulate_curves"]

HOLDOUT = "holdout"


def run_estimates(
    stream: Stream,
    learner: LearnerSpec,
    forgettings: Mapping[str, Forgetting],
    holdout: Holdout,
    measure: str,
    backend: Backend,
) -> dict[str, list[float]]:
    """Return curves by name: a learner measured on a holdout set, and prequentially with each forgetting.

    Both evaluations learn the same rows in the same order, so they measure the same learner.
    """
    options = {"measures": measure, "backend": backend}
    tested = run(stream, {"it": learner}, scheme=holdout, forgetting=Window(holdout.size), **options)
    scored = run(stream, {"it": learner}, forgetting=tuple(forgettings.values()), every=holdout.every, **options)
    curves = {"row": scored.rows.tolist(), HOLDOUT: tested.values[:, 0, 0, 0, 0].tolist()}
    return curves | {name: scored.values[:, 0, 0, index, 0].tolist() for index, name in enumerate(forgettings)}


def measure_distances(curves: Mapping[str, ArrayLike], start: int = 0) -> dict[str, float]:
    """Return the mean absolute distance of each estimate to the holdout, from reading `start` on.

    Examples
    --------
    >>> measure_distances({"row": [1, 2], "holdout": [0.5, 0.5], "window": [0.4, 0.7]})
    {'window': 0.15}
    """
    target = np.asarray(curves[HOLDOUT], dtype=np.float64)[start:]
    return {
        name: round(float(np.abs(np.asarray(curve, dtype=np.float64)[start:] - target).mean()), 6)
        for name, curve in curves.items()
        if name not in ("row", HOLDOUT)
    }


def average_curves(runs: Sequence[Mapping[str, Any]]) -> dict[str, NDArray[np.float64]]:
    """Average curves over runs.

    Examples
    --------
    >>> average_curves([{"row": [10], "window": [0.2]}, {"row": [10], "window": [0.4]}])["window"].round(3).tolist()
    [0.3]
    """
    return {name: np.mean([curves[name] for curves in runs], axis=0) for name in runs[0]}


def tabulate_curves(curves: Mapping[str, ArrayLike]) -> Table:
    """Return a table with one column per curve.

    Examples
    --------
    >>> tabulate_curves({"row": [10], "window": [0.2]}).columns
    ('row', 'window')
    """
    columns = [np.asarray(curve).tolist() for curve in curves.values()]
    return Table("curves", tuple(curves), tuple(zip(*columns, strict=True)))


def draw_curves(axis: Any, curves: Mapping[str, ArrayLike], names: Sequence[str], **labels: Any) -> None:  # noqa: ANN401
    """Draw the named curves over rows, the holdout as a thick line."""
    for name in names:
        is_holdout = name == HOLDOUT
        style = {
            "linewidth": 2.2 if is_holdout else 1.0,
            "c": "black" if is_holdout else None,
            "alpha": 0.5 if is_holdout else 1.0,
        }
        axis.plot(curves["row"], curves[name], label=name, **style)
    axis.set(xlabel="rows", **labels)
    axis.legend(fontsize=8)
