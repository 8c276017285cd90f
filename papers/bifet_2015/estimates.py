"""Figure 4: accuracy on a holdout set, with ADWIN, and over a short and a long window."""

from functools import partial
from typing import Any

from papers.curves import HOLDOUT, draw_curves, measure_distances, run_estimates, tabulate_curves
from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, get_only
from streamgauge.backends import Backend
from streamgauge.forgetting import AdwinWindow, Window
from streamgauge.learners import HoeffdingTree
from streamgauge.protocols import Forgetting, Stream
from streamgauge.schemes import Holdout
from streamgauge.streams import RandomRBF, Sudden

__all__ = ["ESTIMATES", "find_estimates"]

N_ROWS: dict[Scale, int] = {"tiny": 4_000, "quick": 200_000, "paper": 1_000_000}
N_READINGS = 200
FORGETTINGS: dict[str, Forgetting] = {
    "ADWIN": AdwinWindow(),
    "window of 100": Window(100),
    "window of 10,000": Window(10_000),
}


def build_stream(n_rows: int, sample: int) -> Stream:
    """Return a stream of four concepts with five classes and sudden drifts."""
    stream: Stream = RandomRBF(n_classes=5, n_rows=n_rows, seed=1, sample=sample)
    for k in (1, 2, 3):
        concept = RandomRBF(n_classes=5, n_rows=n_rows, seed=k + 1, sample=sample)
        stream = Sudden(stream, concept, position=k * n_rows // 4)
    return stream


def _evaluate(n_rows: int, backend: Backend) -> dict[str, Any]:
    every = n_rows // N_READINGS
    # As many test rows as learnt rows, so that the concepts of both change at the same rows.
    holdout = Holdout(every=every, size=every, source=build_stream(n_rows, sample=2), refreshed=True)
    return run_estimates(build_stream(n_rows, sample=1), HoeffdingTree(), FORGETTINGS, holdout, "accuracy", backend)


ESTIMATES = Experiment("bifet-2015-estimates", lambda scale: [Piece("curves", partial(_evaluate, N_ROWS[scale]))])


def find_estimates(done: Done) -> Finding:
    """Compare how closely the estimates follow the holdout."""
    curves = get_only(done)
    distances = measure_distances(curves)
    table = Table(
        "Mean distance to the accuracy on the holdout set", ("estimate", "distance"), tuple(sorted(distances.items()))
    )
    claims = tuple(
        Claim(f"ADWIN is closer to the holdout than a {window}", distances["ADWIN"] < distances[window])
        for window in ("window of 10,000", "window of 100")
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        axis = figure.subplots()
        draw_curves(axis, curves, (HOLDOUT, *FORGETTINGS), ylabel="accuracy", title="Hoeffding tree, four concepts")

    notes = (
        "Published only as a picture, of a stream that the paper does not name. Ours has four concepts of random radial"
        " basis functions with sudden drifts, so that accuracies cover about the same range.",
        "Each reading has a fresh holdout set, as large as the stretch of rows before it and drawn from the same"
        " concept.",
    )
    return Finding(
        basis=f"1 run, {curves['row'][-1]:,} rows",
        tables=(table,),
        draw=draw,
        claims=claims,
        notes=notes,
        data=tabulate_curves(curves),
        size=(9, 4),
    )
