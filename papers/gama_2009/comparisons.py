"""Figures 4 to 7: the Q and McNemar statistics over all rows, over windows and with fading."""

from functools import partial
from typing import Any

import numpy as np

from papers.curves import tabulate_curves
from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, get_only
from papers.row_losses import RowLosses
from papers.running import run
from streamgauge.backends import Backend
from streamgauge.drift import DDM
from streamgauge.learners import DriftReset, LogisticRegression, NaiveBayes
from streamgauge.protocols import LearnerSpec
from streamgauge.significance import mcnemar_curve, q_statistic
from streamgauge.streams import drifts_of, in_memory, load, paper_stream

__all__ = ["LOADS", "VARIANTS", "find_figure_4", "find_figure_5", "find_figure_6", "find_figure_7"]

EVERY = 50
CRITICAL = 6.635
"""Chi-square with one degree of freedom at 0.99."""
LEARNERS: dict[str, LearnerSpec] = {
    "steps of 0.1": LogisticRegression(learning_rate=0.1),
    "steps of 0.003": LogisticRegression(learning_rate=0.003),
}
Q_FORMS: dict[str, dict[str, float]] = {
    "all rows": {},
    "window of 250": {"width": 250},
    "fading 0.995": {"factor": 0.995},
}
MCNEMAR_FORMS: dict[str, dict[str, float]] = {
    "all rows": {},
    "window of 1,000": {"width": 1000},
    "window of 100": {"width": 100},
    "fading 0.999": {"factor": 0.999},
    "fading 0.99": {"factor": 0.99},
}


# Figures 4 and 5


def _run_loads(n_rows: int, backend: Backend) -> dict[str, Any]:
    losses = RowLosses()
    run(in_memory(load("electricity"), n_rows), LEARNERS, recorders=[losses], every=n_rows, backend=backend)
    first, second = (losses.squared[name] for name in LEARNERS)
    forms: dict[str, Any] = Q_FORMS
    curves = {name: q_statistic(first, second, **form)[EVERY - 1 :: EVERY].tolist() for name, form in forms.items()}
    return {"rows": list(range(EVERY, n_rows + 1, EVERY)), "curves": curves, "n_rows": n_rows}


def _list_load_pieces(scale: Scale) -> list[Piece]:
    n_rows = 2_000 if scale == "tiny" else 45_312
    return [Piece("curves", partial(_run_loads, n_rows), dataset="electricity")]


LOADS = Experiment("gama-2009-loads", _list_load_pieces)
LOAD_NOTES = (
    "Published only as pictures, of two neural networks that forecast an electrical load; the data are not available."
    " Ours are two single-layer networks with different learning rates on the electricity market; the loss is squared"
    " error, as in the paper.",
)


def _get_q_curves(done: Done) -> tuple[list[int], dict[str, Any]]:
    result = get_only(done)
    return result["rows"], {name: np.array(curve, dtype=np.float64) for name, curve in result["curves"].items()}


def find_figure_4(done: Done) -> Finding:
    """Check that Q over all rows shows only which learner is better overall."""
    rows, curves = _get_q_curves(done)
    q, recent = curves["all rows"], curves["window of 250"]
    late = slice(len(q) // 10, None)
    opposite = float(np.mean(np.sign(recent[late]) != np.sign(q[late])))
    table = Table(
        "The Q statistic over all rows",
        ("figure", "ours", "published"),
        (
            ("Q after the last row", float(q[-1]), None),
            ("share of readings below 0, after the first tenth", float((q[late] < 0).mean()), 1),
            ("share of readings where a window of 250 has the opposite sign", opposite, None),
        ),
    )
    claims = (
        Claim("Q keeps its sign: one learner is better overall", bool((q[late] < 0).all())),
        Claim("it does not show when the other learner is better", opposite > 0.0),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        axis = figure.subplots()
        axis.plot(rows, q, linewidth=1)
        axis.axhline(0.0, c="grey", linewidth=0.5)
        axis.set(title="Q over all rows", xlabel="rows", ylabel="log of the ratio of losses")

    return Finding(
        basis=f"1 run, {rows[-1]:,} rows",
        tables=(table,),
        draw=draw,
        claims=claims,
        notes=LOAD_NOTES,
        data=tabulate_curves({"row": rows, **curves}),
        size=(8, 3.5),
    )


def find_figure_5(done: Done) -> Finding:
    """Compare Q over a window with Q under fading."""
    rows, curves = _get_q_curves(done)
    window, fading = curves["window of 250"], curves["fading 0.995"]
    defined = ~(np.isnan(window) | np.isnan(fading))
    correlation = float(np.corrcoef(window[defined], fading[defined])[0, 1])
    table = Table(
        "The Q statistic with forgetting",
        ("figure", "ours", "published"),
        (
            ("correlation of window and fading", correlation, "similar plots"),
            ("readings above 0, window of 250", float((window[defined] > 0).mean()), None),
            ("readings above 0, fading 0.995", float((fading[defined] > 0).mean()), None),
        ),
    )
    claims = (Claim("a window of 250 and a fading factor of 0.995 give similar plots", correlation > 0.9),)

    def draw(figure: Any) -> None:  # noqa: ANN401
        axes = figure.subplots(2, 1, sharex=True, sharey=True)
        for axis, (name, curve) in zip(axes, (("window of 250", window), ("fading 0.995", fading)), strict=True):
            axis.plot(rows, curve, linewidth=0.7)
            axis.axhline(0.0, c="grey", linewidth=0.5)
            axis.set(title=name, ylabel="Q")
        axes[1].set_xlabel("rows")

    return Finding(
        basis=f"1 run, {rows[-1]:,} rows",
        tables=(table,),
        draw=draw,
        claims=claims,
        notes=LOAD_NOTES,
        data=tabulate_curves({"row": rows, **curves}),
        size=(8, 5),
    )


# Figures 6 and 7


def _run_variants(backend: Backend) -> dict[str, Any]:
    losses, stream = RowLosses(), paper_stream("SEA(Gama)")
    learners = {"standard": NaiveBayes(), "relearns": DriftReset(NaiveBayes(), DDM())}
    results = run(stream, learners, recorders=[losses], every=EVERY, detectors={"DDM": DDM()}, backend=backend)
    first, second = (losses.correct[name] for name in learners)
    forms: dict[str, Any] = MCNEMAR_FORMS
    statistics = {name: mcnemar_curve(first, second, **form) for name, form in forms.items()}
    rows = np.arange(1, len(first) + 1)
    rates = {name: 1.0 - np.cumsum(losses.correct[name]) / rows for name in learners}
    thinned = {name: curve[EVERY - 1 :: EVERY].tolist() for name, curve in {**statistics, **rates}.items()}
    rejecting = {name: np.flatnonzero(np.abs(curve) > CRITICAL) for name, curve in statistics.items()}
    return {
        "rows": rows[EVERY - 1 :: EVERY].tolist(),
        "curves": thinned,
        "first": {name: int(rejected[0]) + 1 if len(rejected) else None for name, rejected in rejecting.items()},
        "share": {name: len(rejected) / len(first) for name, rejected in rejecting.items()},
        "drifts": [drift.position for drift in drifts_of(stream)],
        "alarms": [alarm.row for alarm in results.alarms if alarm.learner == "relearns" and alarm.kind == "drift"],
    }


VARIANTS = Experiment("gama-2009-variants", lambda _: [Piece("curves", _run_variants)])
VARIANT_NOTES = (
    "Published only as pictures. The paper's detector is DDM (Gama et al. 2004); its stream is generated here from its"
    " description: four SEA concepts of 15,000 rows, 10 % noise.",
)


def _build_mcnemar_table(result: Any, names: tuple[str, ...]) -> Table:  # noqa: ANN401
    return Table(
        f"Signed McNemar of the standard variant against the one that relearns, beyond {CRITICAL}",
        ("form", "first row beyond", "share of rows beyond", "at the last row"),
        tuple((name, result["first"][name], result["share"][name], result["curves"][name][-1]) for name in names),
    )


def find_figure_6(done: Done) -> Finding:
    """Check that McNemar over all rows keeps rejecting once it does."""
    result = get_only(done)
    rows, curves, drifts = result["rows"], result["curves"], result["drifts"]
    statistic = np.array(curves["all rows"])
    start = result["first"]["all rows"]
    after = statistic[np.array(rows) >= start + 5_000] if start else np.empty(0)
    claims = (
        Claim("the variant that relearns has fewer errors", curves["relearns"][-1] < curves["standard"][-1]),
        Claim(
            f"once beyond {CRITICAL} for 5,000 rows, the statistic over all rows does not fall below it again",
            bool(len(after)) and bool((after > CRITICAL).all()),
        ),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        top, bottom = figure.subplots(2, 1, sharex=True)
        for name in ("standard", "relearns"):
            top.plot(rows, curves[name], label=name, linewidth=1)
        top.set(ylabel="error rate", ylim=(0.05, 0.3), title="naive Bayes on SEA")
        top.legend(fontsize=8)
        bottom.plot(rows, statistic, linewidth=1)
        bottom.axhline(CRITICAL, c="grey", linestyle=":")
        bottom.set(xlabel="rows; drifts are dashed, alarms are not", ylabel="signed McNemar")
        _mark_drifts(top, result)
        _mark_drifts(bottom, result)

    return Finding(
        basis=f"1 run, {rows[-1]:,} rows, drifts at {drifts}",
        tables=(_build_mcnemar_table(result, ("all rows",)),),
        draw=draw,
        claims=claims,
        notes=VARIANT_NOTES,
        data=tabulate_curves({"row": rows, **curves}),
        size=(8, 5),
    )


def find_figure_7(done: Done) -> Finding:
    """Compare the McNemar statistic over windows and with fading."""
    result = get_only(done)
    rows, curves, share, first = result["rows"], result["curves"], result["share"], result["first"]
    correlation = np.corrcoef(curves["window of 1,000"], curves["fading 0.999"])[0, 1]
    crossings = [first[name] for name in ("window of 1,000", "fading 0.999")]
    claims = (
        Claim("a window of 1,000 and a fading factor of 0.999 are correlated", bool(correlation > 0.8)),
        Claim(
            "they first exceed the threshold within 1,000 rows of each other",
            None not in crossings and abs(crossings[0] - crossings[1]) <= 1_000,
        ),
        Claim(
            "significance depends on how much is forgotten",
            share["all rows"] > share["window of 1,000"] > share["window of 100"],
        ),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401
        axes = figure.subplots(2, 1, sharex=True)
        for axis, names in zip(
            axes, (("window of 1,000", "window of 100"), ("fading 0.999", "fading 0.99")), strict=True
        ):
            for name in names:
                axis.plot(rows, curves[name], label=name, linewidth=0.8)
            axis.axhline(CRITICAL, c="grey", linestyle=":")
            axis.set_ylabel("signed McNemar")
            axis.legend(fontsize=8)
            _mark_drifts(axis, result)
        axes[1].set_xlabel("rows; drifts are dashed, alarms are not")

    notes = (
        *VARIANT_NOTES,
        "The faded statistic is drawn as published. It is about half as large as a chi-square, so it exceeds 6.635 by"
        " chance far less often than once in a hundred; mcnemar_curve(..., scale='calibrated') corrects that.",
    )
    return Finding(
        basis=f"1 run, {rows[-1]:,} rows",
        tables=(_build_mcnemar_table(result, tuple(MCNEMAR_FORMS)),),
        draw=draw,
        claims=claims,
        notes=notes,
        data=tabulate_curves({"row": rows, **curves}),
        size=(8, 5),
    )


def _mark_drifts(axis: Any, result: Any) -> None:  # noqa: ANN401
    for drift in result["drifts"]:
        axis.axvline(drift, c="C3", linestyle="--", linewidth=1)
    for alarm in result["alarms"]:
        axis.axvline(alarm, c="C2", linewidth=1)
