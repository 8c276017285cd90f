"""Pictures of verdicts during a run: in any measure, on one model, with few labels, and how many rows they need."""

from typing import TYPE_CHECKING

import numpy as np

import streamgauge as sg
from examples.deployed_model import BUDGETS, CHANGE, draw_payments
from streamgauge import plots, streams
from streamgauge._format.palette import COLOURS
from streamgauge.labelling import Delayed
from streamgauge.learners import AdaptiveRandomForest, HoeffdingAdaptiveTree, PretrainedModel
from streamgauge.plots import Figure
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import new_figure
from streamgauge.records import ModelVerdict, Verdict
from streamgauge.significance import LiveTest, best_group, compare_all
from streamgauge.significance.confidence_sequences import boundary_factor
from streamgauge.significance.prediction_powered import LossSums, powered_mean
from streamgauge.significance.sample_size import Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "draw_best_group",
    "draw_boundary",
    "draw_budget",
    "draw_deployed_model",
    "draw_few_labels",
    "draw_live_f1",
    "draw_sample_size",
]

BLUE, ORANGE, GREEN = COLOURS[:3]
INK, GREY, PALE = "#1b2430", "#5a6676", "#c4cbd3"


def _mark_row(axes: "Axes", row: float, text: str, *, left: bool = False) -> None:
    """Draw a vertical line at a row, with a text at its top."""
    axes.axvline(row, color=INK, lw=0.9, ls=":")
    axes.annotate(text, (row, 1.0), xycoords=("data", "axes fraction"), xytext=(-4 if left else 4, 0), va="top",
                  textcoords="offset points", ha="right" if left else "left", fontsize=8, color=INK)  # fmt: skip


def draw_live_f1() -> Figure:
    """Draw the difference of two learners in F1 with its confidence sequence, and the moment of the verdict."""
    stream = streams.Imbalanced(sg.RandomRBF(speed=0.0001), shares=(0.9, 0.1))
    results = sg.evaluate(
        stream,
        [sg.HoeffdingTree(), sg.NaiveBayes()],
        scheme=sg.Bootstrap(10),
        n_rows=30_000,
        live_test=LiveTest(measure="f1[1]"),
        measures=["f1[1]"],
    )
    return plots.difference(results)


def draw_boundary() -> Figure:
    """Draw means of equal learners in standard errors, the limit of one look, and the boundary of all looks."""
    n_walks, n_drawn, first, last = 1000, 12, 200, 200_000
    rows = np.unique(np.geomspace(first, last, 400).astype(int))
    rng = np.random.default_rng(2)
    sums = np.cumsum(rng.normal(size=(n_walks, len(rows))) * np.sqrt(np.diff(rows, prepend=0)), axis=1)
    errors = sums / np.sqrt(rows)
    boundary = np.array([boundary_factor(row, first) for row in rows])
    false_once = (np.abs(errors) > 1.96).any(axis=1)
    false_ever = (np.abs(errors) > boundary).any(axis=1)
    with new_figure((7.0, 3.4)) as figure:
        axes = figure.add_subplot()
        for walk in errors[:n_drawn]:
            axes.plot(rows, walk, color=PALE, lw=0.7)
            axes.plot(rows, np.where(np.abs(walk) > 1.96, walk, np.nan), color=ORANGE, lw=1.1)
        for sign in (1, -1):
            axes.plot(rows, sign * boundary, color=BLUE, lw=1.8, label="boundary for all looks" if sign > 0 else None)
            label = "1.96, for one look" if sign > 0 else None
            axes.axhline(sign * 1.96, color=INK, lw=1.0, ls="--", label=label)
        axes.set_xscale("log")
        axes.set_ylim(-4.6, 4.6)
        axes.set_xlabel("rows (first look at 200)")
        axes.set_ylabel("difference in standard errors")
        axes.plot([], [], color=PALE, label=f"{n_drawn} pairs of equal learners")
        shares = [f"{100 * np.mean(crossed):.0f}%" for crossed in (false_once, false_ever)]
        axes.plot([], [], color=ORANGE, label="a false claim by 1.96")
        counts = f"{shares[0]} beyond ±1.96\n{shares[1]} beyond the boundary"
        axes.plot([], [], " ", label=f"of {n_walks:,} pairs, at some look:\n{counts}")
        figure.legend(loc="outside right center")
    return Figure(figure)


def draw_best_group() -> Figure:
    """Draw how far five learners are behind the best, with the group of those not significantly worse."""
    learners = {
        "forest": AdaptiveRandomForest(5),
        "forest, other seed": AdaptiveRandomForest(5, seed=2),
        "adaptive tree": HoeffdingAdaptiveTree(),
        "tree": sg.HoeffdingTree(),
        "bayes": sg.NaiveBayes(),
    }
    results = sg.evaluate(sg.RandomRBF(speed=0.0001), learners, n_rows=20_000, scheme=sg.Bootstrap(10), live_test=None)
    comparisons = compare_all(results)
    group = best_group(comparisons)
    with new_figure((7.0, 2.4)) as figure:
        axes = figure.add_subplot()
        order = [*group.members, *group.others]
        for height, name in enumerate(order):
            colour = BLUE if name in group.members else PALE
            if name == group.best:
                axes.plot(0.0, height, "o", color=colour)
                continue
            test = next(one for one in comparisons if {one.first, one.second} == {group.best, name})
            sign = 1.0 if test.second == group.best else -1.0
            ends = [100 * sign * end for end in test.interval or (np.nan, np.nan)]
            axes.plot(ends, [height, height], color=colour, lw=2.5, solid_capstyle="butt")
            axes.plot(100 * sign * (test.difference or 0.0), height, "o", color=colour)
        axes.axvline(0.0, color=INK, lw=0.9, ls="--")
        axes.set_yticks(range(len(order)), order)
        axes.invert_yaxis()
        axes.set_xlabel("accuracy minus that of the best, percentage points")
    return Figure(figure)


def draw_budget() -> Figure:
    """Draw the error of one model that gets worse, its budget, and the rows for which the budget is known broken."""
    n_rows, change, limit = 40_000, 25_000, 0.05
    rng = np.random.default_rng(3)
    wrong = rng.random(n_rows) < np.where(np.arange(n_rows) < change, 0.03, 0.08)
    truth = rng.integers(0, 2, n_rows)
    log = {"model": np.array(["no", "yes"])[np.where(wrong, 1 - truth, truth)]}
    verdicts: list[ModelVerdict | Verdict] = []
    results = sg.evaluate(
        (log, np.array(["no", "yes"])[truth]),
        sg.learners.Precomputed("model"),
        measures="error",
        forgetting=[sg.Landmark(), sg.Window(1000)],
        budgets=f"error<{limit}",
        batch_size=200,
        on_verdict=verdicts.append,
    )
    broken = next(one for one in verdicts if isinstance(one, ModelVerdict) and one.outcome == "broken")
    assert broken.interval is not None and broken.row is not None  # noqa: PT018
    with new_figure((7.0, 3.4)) as figure:
        axes = figure.add_subplot()
        curves = (100 * results.curve("model", "error", forgetting)[:, 0] for forgetting in results.forgettings)
        axes.plot(results.rows, next(curves), color=BLUE, lw=1.6, label="error over all rows")
        axes.plot(results.rows, next(curves), color=PALE, lw=1.0, zorder=1, label="over the last 1,000 rows")
        axes.axhline(100 * limit, color=INK, lw=1.0, ls="--", label="budget: 5%")
        low, high = (100 * end for end in broken.interval)
        axes.fill_between([broken.since, broken.row], low, high, color=ORANGE, alpha=0.25, lw=0)
        label = f"since row {broken.since:,}, with its interval"
        axes.plot([broken.since, broken.row], [100 * broken.value] * 2, color=ORANGE, lw=1.8, label=label)
        _mark_row(axes, change, "the model gets worse", left=True)
        _mark_row(axes, broken.row, "known: budget broken")
        axes.set_ylim(0.0, 12.0)
        Axis(n_rows).style(axes)
        axes.set_ylabel("error %")
        figure.legend(loc="outside right center")
    return Figure(figure)


def draw_few_labels() -> Figure:
    """Draw the confidence, its correction by labelled rows, and intervals with and without the confidence."""
    n_rows, error = 20_000, 0.1
    rng = np.random.default_rng(10)
    hard = rng.random(n_rows) < 2 * error
    loss = (hard & (rng.random(n_rows) < 0.5)).astype(float)
    expected = np.where(hard, 0.3, 0.005)  # too sure of itself
    truth = 100 * loss.mean()
    coins = rng.random(n_rows)
    with new_figure((7.6, 3.2)) as figure:
        parts, axes = figure.subplots(1, 2, width_ratios=(1, 1.4))
        labelled = coins < 0.05
        start, end = 100 * expected.mean(), 100 * (expected.mean() + (loss - expected)[labelled].mean())
        parts.bar([0, 1, 2], [start, end - start, end], bottom=[0, start, 0], color=[PALE, ORANGE, BLUE], width=0.6)
        parts.axhline(truth, color=INK, lw=0.9, ls="--")
        parts.annotate("truth", (-0.4, truth), xytext=(0, 2), textcoords="offset points", fontsize=8)
        names = ("confidence,\nall rows", "correction,\nlabelled rows", "estimate")
        parts.set_xticks(range(3), names, fontsize=8)
        parts.set_ylim(0, truth * 1.25)
        parts.set_ylabel("error %")
        parts.set_title("with 5% of the labels")
        shares = (0.01, 0.05, 0.2)
        for place, share in enumerate(shares):
            sums = LossSums.from_rows(loss, expected, coins < share)
            for offset, powered, colour in ((-0.12, False, PALE), (0.12, True, BLUE)):
                mean = powered_mean(sums, share=share, powered=powered)
                label = ("with the confidence" if powered else "labelled rows alone") if place == 1 else None
                if mean.interval is None:
                    why = "none: fewer than\n50 labelled errors"
                    axes.annotate(why, (place + offset, truth), ha="center", fontsize=7, color=GREY,
                                  va="center", xytext=(22, 16), textcoords="offset points")  # fmt: skip
                    continue
                ends = [100 * edge for edge in mean.interval]
                axes.plot([place + offset] * 2, ends, color=colour, lw=5, solid_capstyle="butt", label=label)
                axes.plot(place + offset, 100 * mean.value, "_", color=INK, ms=7)
        axes.axhline(truth, color=INK, lw=0.9, ls="--", label="truth")
        axes.set_xticks(range(3), [f"{share:.0%} of labels" for share in shares])
        axes.set_xlim(-0.5, 2.5)
        axes.legend(fontsize=8)
        axes.set_title("95% intervals")
    return Figure(figure)


def draw_sample_size() -> Figure:
    """Draw the probability to tell a difference of 1 percentage point over the rows, for some numbers of folds."""
    spread = Spread(rows=0.1, folds=0.0001, both=0.05)
    rows = np.geomspace(500, 200_000, 120)
    with new_figure((7.0, 3.0)) as figure:
        axes = figure.add_subplot()
        for n_folds, colour in ((5, PALE), (10, BLUE), (20, GREEN)):
            power = [spread.compute_power(0.01, n, n_folds) for n in rows]
            axes.plot(rows, power, color=colour, lw=1.8, label=f"{n_folds} folds")
        axes.axhline(0.8, color=INK, lw=0.9, ls="--", label="wanted: 0.8")
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("rows")
        axes.set_ylabel("probability to tell the difference")
        figure.legend(loc="outside right center")
    return Figure(figure)


def draw_deployed_model() -> Figure:
    """Draw the recall of a deployed model in which frauds change, and when that is known."""
    model = PretrainedModel(sg.NaiveBayes(), on=draw_payments(20_000))
    verdicts: list[ModelVerdict | Verdict] = []
    results = sg.evaluate(
        draw_payments(100_000, CHANGE, seed=2),
        {"deployed": model},
        measures=["recall[fraud]"],
        forgetting=[sg.Landmark(), sg.Window(5_000)],
        labelling=Delayed(200),
        budgets=BUDGETS,
        batch_size=500,  # verdicts are reported after each batch
        on_verdict=verdicts.append,
    )
    recall = [one for one in verdicts if isinstance(one, ModelVerdict) and one.measure == "recall[fraud]"]
    with new_figure((7.0, 3.4)) as figure:
        axes = figure.add_subplot()
        for forgetting, colour, label in zip(
            results.forgettings, (BLUE, ORANGE), ("over all rows", "over the last 5,000"), strict=True
        ):
            curve = 100 * results.curve("deployed", "recall[fraud]", forgetting)[:, 0]
            axes.plot(results.rows, curve, color=colour, lw=1.6, label=f"recall of frauds\n{label}")
        axes.axhline(50, color=INK, lw=1.0, ls="--", label="required: 50%")
        _mark_row(axes, CHANGE, "frauds change", left=True)
        for verdict in recall:
            if verdict.outcome != "undecided" and verdict.row is not None:
                _mark_row(axes, verdict.row, f"known: {verdict.outcome}")
        axes.set_ylim(0, 100)
        Axis(results.n_rows).style(axes)
        axes.set_ylabel("recall of frauds %")
        figure.legend(loc="outside right center")
    return Figure(figure)
