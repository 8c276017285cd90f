"""Figures 2 and 3: kappa against kappa_m, and window sizes against ADWIN, on the electricity market."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, get_only
from papers.running import run
from streamgauge._format.text import to_text
from streamgauge.backends import Backend
from streamgauge.forgetting import AdwinWindow, Window
from streamgauge.learners import HoeffdingTree, MajorityClass
from streamgauge.protocols import LearnerSpec
from streamgauge.streams import in_memory, load

__all__ = ["ELECTRICITY", "find_forgettings", "find_measures"]

Curves = dict[str, NDArray[np.float64]]

MEASURES = ("accuracy", "harmonic_mean", "kappa", "kappa_m")
FORGETTINGS = (Window(100), Window(1000), Window(10_000), AdwinWindow())
LEARNERS: dict[str, LearnerSpec] = {
    "Hoeffding tree": HoeffdingTree(),
    "majority class": MajorityClass(),
    "majority class of a window": MajorityClass(window=1000),
}
WINDOW, ADWIN = to_text(FORGETTINGS[1]), to_text(FORGETTINGS[-1])


def _evaluate(n_rows: int, backend: Backend) -> dict[str, Any]:
    stream = in_memory(load("electricity"), n_rows)
    options = {"measures": list(MEASURES), "forgetting": FORGETTINGS, "every": 100}
    results = run(stream, LEARNERS, backend=backend, **options)
    curves = {
        learner: {
            name: {measure: results.curve(learner, measure, name)[:, 0].tolist() for measure in MEASURES}
            for name in results.forgettings
        }
        for learner in LEARNERS
    }
    return {"rows": results.rows.tolist(), "curves": curves}


def _list_pieces(scale: Scale) -> list[Piece]:
    n_rows = 2_000 if scale == "tiny" else 45_312
    return [Piece("curves", partial(_evaluate, n_rows), dataset="electricity")]


ELECTRICITY = Experiment("bifet-2015-electricity", _list_pieces)


def _get_curve(result: Any, learner: str, forgetting: str, measure: str) -> Any:  # noqa: ANN401
    return np.array(result["curves"][learner][forgetting][measure], dtype=np.float64)


def find_measures(done: Done) -> Finding:
    """Compare kappa, kappa_m and the harmonic mean of a tree and of the majority class (Figure 2)."""
    result = get_only(done)
    rows = result["rows"]
    tree = {name: _get_curve(result, "Hoeffding tree", WINDOW, name) for name in MEASURES}
    windowed = {name: _get_curve(result, "majority class of a window", WINDOW, name) for name in MEASURES}
    worse = (tree["kappa_m"] < 0) & (tree["kappa"] > 0)
    lower = int((tree["kappa_m"] <= tree["kappa"] + 0.05).sum())
    table = Table(
        f"Readings over a window of 1,000, of {len(rows):,}",
        ("observation", "readings", "published"),
        (
            ("tree: kappa_m below 0 while kappa is above", int(worse.sum()), "for a period of time"),
            ("tree: kappa_m at most 0.05 above kappa", lower, "similar or lower"),
            ("majority of a window: kappa above 0", int((windowed["kappa"] > 0).sum()), "some"),
            ("majority of a window: harmonic mean above 0", int((windowed["harmonic_mean"] > 0).sum()), "some"),
            ("majority of a window: kappa_m other than 0", int((windowed["kappa_m"] != 0).sum()), 0),
        ),
    )
    claims = (
        Claim("the tree's kappa_m is below 0 for a time while its kappa is above 0", bool(worse.any())),
        Claim(
            "the tree's kappa_m is similar to its kappa or lower in all but a few readings", lower >= 0.98 * len(rows)
        ),
        Claim("a majority class over a window has a positive kappa at times", bool((windowed["kappa"] > 0).any())),
        Claim("kappa_m of the majority class is 0 throughout", bool((windowed["kappa_m"] == 0).all())),
    )
    notes = (
        "Published only as a picture, so claims are checked, not values.",
        "kappa_m compares with the majority class of the last 1,000 labels, which is the learner in the right panel.",
    )
    return Finding(
        basis=f"1 run, {rows[-1]:,} rows",
        tables=(table,),
        draw=partial(_draw_measures, rows, tree, windowed),
        claims=claims,
        notes=notes,
        data=_tabulate_curves(result),
        size=(11, 4),
    )


def _draw_measures(rows: list[int], tree: Curves, windowed: Curves, figure: Any) -> None:  # noqa: ANN401
    axes = figure.subplots(1, 2, sharey=True)
    for axis, title, curves in zip(axes, ("Hoeffding tree", "majority class of a window"), (tree, windowed)):  # noqa: B905
        for name, curve in curves.items():
            axis.plot(rows, 100 * curve, label=name, linewidth=1)
        axis.axhline(0.0, c="grey", linewidth=0.5)
        axis.set(title=f"{title}, window of 1,000", xlabel="rows", ylim=(-60, 105))
    axes[0].set_ylabel("%")
    axes[0].legend(fontsize=8)


def find_forgettings(done: Done) -> Finding:
    """Compare ADWIN with windows of fixed size (Figure 3)."""
    result = get_only(done)
    rows = result["rows"]
    names = [to_text(forgetting) for forgetting in FORGETTINGS]
    curves = {name: _get_curve(result, "Hoeffding tree", name, "accuracy") for name in names}
    distances = {name: float(np.abs(curves[name] - curves[ADWIN]).mean()) for name in curves if name != ADWIN}
    roughness = {name: float(np.abs(np.diff(curve)).mean()) for name, curve in curves.items()}
    table = Table(
        "Accuracy of the Hoeffding tree",
        ("forgetting", "mean distance to ADWIN", "mean change between readings"),
        tuple((name, distances.get(name), roughness[name]) for name in curves),
    )
    small, middle, large = names[:3]
    claims = (
        Claim(
            "the window of 1,000 rows is closest to ADWIN",
            min(distances, key=lambda k: distances[k]) == middle,
        ),
        Claim(
            "the smaller the window, the more it fluctuates",
            roughness[small] > roughness[middle] > roughness[large],
        ),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401
        axes = figure.subplots(1, 2, sharey=True)
        for axis, names in zip(axes, ((small, ADWIN), (large, middle, ADWIN)), strict=True):
            for name in names:
                axis.plot(rows, 100 * curves[name], label=name, linewidth=1)
            axis.set(title="Hoeffding tree, electricity", xlabel="rows", ylim=(0, 102))
            axis.legend(fontsize=8)
        axes[0].set_ylabel("accuracy, %")

    return Finding(
        basis=f"1 run, {rows[-1]:,} rows",
        tables=(table,),
        draw=draw,
        claims=claims,
        notes=("Published only as a picture, so claims are checked, not values.",),
        data=_tabulate_curves(result),
        size=(11, 4),
    )


def _tabulate_curves(result: Any) -> Table:  # noqa: ANN401
    """Return all curves, with one reading of all measures per row."""
    rows = [
        (row, learner, name, *(float("nan") if value is None else value for value in values))
        for learner, forgettings in result["curves"].items()
        for name, curves in forgettings.items()
        for row, *values in zip(result["rows"], *(curves[measure] for measure in MEASURES), strict=True)
    ]
    return Table("curves", ("row", "learner", "forgetting", *MEASURES), tuple(rows))
