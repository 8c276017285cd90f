"""Pictures of comparisons: ranks over streams, error rates of tests, an experiment."""

import csv
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

import streamgauge as sg
from streamgauge import plots, streams
from streamgauge._format.palette import COLOURS
from streamgauge.experiments import get_ready_path, read, run
from streamgauge.learners import AdaptiveRandomForest, HoeffdingAdaptiveTree
from streamgauge.plots import Figure
from streamgauge.plots.figure import new_figure

__all__ = ["draw_calibration", "draw_experiment", "draw_ranks"]

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def draw_ranks() -> Figure:
    """Draw the critical-difference diagram of five learners on ten streams."""
    learners = {
        "forest": AdaptiveRandomForest(5),
        "tree": sg.HoeffdingTree(),
        "adaptive tree": HoeffdingAdaptiveTree(),
        "bayes": sg.NaiveBayes(),
        "majority": sg.MajorityClass(),
    }
    kinds = [
        sg.SEA(), sg.SEA(drift_every=2500), sg.RandomRBF(), sg.RandomRBF(speed=0.001), sg.Hyperplane(magnitude=0.001),
        streams.LED(), streams.Waveform(), streams.Agrawal(), streams.Agrawal(5), streams.RandomTree(),
    ]  # fmt: skip
    return plots.ranks(sg.rank([sg.evaluate(kind, learners, n_rows=10_000) for kind in kinds]))


def draw_calibration() -> Figure:
    """Draw how often each test claims a difference that does not exist, from the stored repetitions."""
    tests = {"two_way_t": "two-way t", "live": "live verdict", "wilcoxon": "Wilcoxon", "mcnemar": "McNemar"}
    claims = {"seeds": "one algorithm,\ntwo forests", "mirrored": "two algorithms,\nequally good"}
    outcomes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    sources = [
        ("calibration.csv", "two_way_t", "question", "on this stream", "rejected"),
        ("live_calibration.csv", "live", "labels", "at once", "claimed"),
    ]
    for name, test, column, value, count in sources:
        with (RESULTS / name).open() as lines:
            for line in csv.DictReader(lines):
                pooled = (line["stream"], line["measure"], line[column]) == ("all", "accuracy", value)
                if pooled and line["scheme"] != "one fold":
                    n_tested, n_claimed = int(line["tested"]), int(line[count])
                    outcomes[line["null"], test] += [True] * n_claimed + [False] * (n_tested - n_claimed)
    with (RESULTS / "fold_calibration.csv").open() as lines:
        for line in csv.DictReader(lines):
            kind = next((claim for claim in claims if line["claim"].startswith(claim)), None)
            if kind is not None and line["folds"] == "10":
                for test in list(tests)[2:]:
                    outcomes[kind, test].append(float(line[test]) < 0.05)
    with new_figure((7.0, 3.2)) as figure:
        axes = figure.add_subplot()
        for index, (test, title) in enumerate(tests.items()):
            heights = [100 * np.mean(outcomes[claim, test]) for claim in claims]
            bars = axes.bar(
                np.arange(len(claims)) + 0.2 * (index - 1.5), heights, 0.18, color=COLOURS[index], label=title
            )
            axes.bar_label(bars, fmt="%.1f", fontsize=8, padding=1)
        axes.axhline(5.0, color="#1b2430", lw=0.9, ls="--", label="allowed: 5%")
        axes.set_xticks(range(len(claims)), claims.values())
        axes.set_ylabel("% of runs with a false claim")
        figure.legend(loc="outside right center")
    return Figure(figure)


def draw_experiment() -> Figure:
    """Draw the results of the ready-made quick experiment with 5,000 rows per stream."""
    with tempfile.TemporaryDirectory() as folder:
        run(read(get_ready_path("quick"), rows=5000), folder, n_jobs=1)
        table = sg.Store(folder).table().to_pandas()
    means = table[table["measure"] == "accuracy"].groupby(["stream", "learner"])["mean"].mean().unstack()
    with new_figure((7.5, 3.6)) as figure:
        axes = figure.add_subplot()
        shades = axes.imshow(100 * means.to_numpy(), cmap="Blues", aspect="auto", vmin=40)
        for (row, column), value in np.ndenumerate(100 * means.to_numpy()):
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color="w" if value > 80 else "k")
        axes.set_xticks(range(means.shape[1]), means.columns, rotation=20, ha="right")
        axes.set_yticks(range(means.shape[0]), means.index)
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
        figure.colorbar(shades, label="accuracy %")
    return Figure(figure)
