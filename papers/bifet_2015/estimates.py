"""Figure 4: accuracy on a holdout set, with ADWIN, and over a short and a long window."""

from functools import partial
from typing import Any

from papers.curves import HOLDOUT, distances, draw_curves, estimates, table_of_curves
from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, only
from streamgauge.backends import Backend
from streamgauge.forgetting import AdwinWindow, Window
from streamgauge.learners import HoeffdingTree
from streamgauge.protocols import Forgetting, Stream
from streamgauge.schemes import Holdout
from streamgauge.streams import RandomRBF, Sudden

__all__ = ["ESTIMATES", "find_estimates"]

N_ROWS: dict[Scale, int] = {"tiny": 4_000, "quick": 200_000, "paper": 1_000_000}
N_STOPS = 200
FORGETTINGS: dict[str, Forgetting] = {
    "ADWIN": AdwinWindow(),
    "window of 100": Window(100),
    "window of 10,000": Window(10_000),
}


def four_concepts(n_rows: int, sample: int) -> Stream:
    """Give four concepts of five classes, which follow each other suddenly."""
    joined: Stream = RandomRBF(n_classes=5, n_rows=n_rows, seed=1, sample=sample)
    for k in (1, 2, 3):
        concept = RandomRBF(n_classes=5, n_rows=n_rows, seed=k + 1, sample=sample)
        joined = Sudden(joined, concept, position=k * n_rows // 4)
    return joined


def _work(n_rows: int, backend: Backend) -> dict[str, Any]:
    every = n_rows // N_STOPS
    # As many test rows as rows learnt, so that the concepts of both change at the same rows.
    holdout = Holdout(every=every, size=every, source=four_concepts(n_rows, sample=2), refreshed=True)
    return estimates(four_concepts(n_rows, sample=1), HoeffdingTree(), FORGETTINGS, holdout, "accuracy", backend)


ESTIMATES = Experiment("bifet-2015-estimates", lambda scale: [Piece("curves", partial(_work, N_ROWS[scale]))])


def find_estimates(done: Done) -> Finding:
    """Tell which estimate follows the holdout most closely."""
    curves = only(done)
    far = distances(curves)
    table = Table(
        "Mean distance to the accuracy on the holdout set", ("estimate", "distance"), tuple(sorted(far.items()))
    )
    claims = (
        Claim("ADWIN lies nearer to the holdout than a window of 10,000", far["ADWIN"] < far["window of 10,000"]),
        Claim("ADWIN lies nearer to the holdout than a window of 100", far["ADWIN"] < far["window of 100"]),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        axis = figure.subplots()
        draw_curves(axis, curves, (HOLDOUT, *FORGETTINGS), ylabel="accuracy", title="Hoeffding tree, four concepts")

    n_rows = curves["row"][-1]
    notes = (
        "Published only as a picture, of a stream that the paper does not name; ours joins four concepts of random"
        " radial basis functions suddenly, so that accuracies span about what they span there.",
        "The holdout of each reading is as large as the stretch of rows before it and drawn anew from their concept.",
    )
    return Finding(f"1 run, {n_rows:,} rows", (table,), draw, claims, notes, table_of_curves(curves), size=(9, 4))
