"""Pictures of streams: concepts that drift, and the alarms of detectors."""

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

import streamgauge as sg
from streamgauge import drift, streams
from streamgauge._format.palette import COLOURS
from streamgauge.learners import KNearestNeighbours
from streamgauge.plots import Figure
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import new_figure
from streamgauge.protocols import Stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_detectors", "draw_drifts"]


def draw_drifts() -> Figure:
    """Draw how the border between two classes moves in four streams."""
    old, new = (sg.SEA(concept, thresholds=(6.0, 13.0), noise=0.0) for concept in (1, 2))
    kinds: dict[str, Stream] = {
        "Sudden(old, new, position=1000)": streams.Sudden(old, new, position=1000),
        "Gradual(old, new, position=500, width=1000)": streams.Gradual(old, new, position=500, width=1000),
        "Recurring((old, new), every=500)": streams.Recurring((old, new), every=500),
        "Imbalanced(old, shares=(0.9, 0.1))": streams.Imbalanced(old, shares=(0.9, 0.1)),
    }
    with new_figure((7.5, 4.6)) as figure:
        grid = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, (title, stream) in zip(grid.flat, kinds.items(), strict=True):
            _plot_points(axes, stream, 2000)
            axes.set_title(title, fontsize=9)
        for axes in grid[0]:
            axes.set_xlabel("")
        for axes in grid[:, 0]:
            axes.set_ylabel("a1 + a2")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=3)
    return Figure(figure)


def _plot_points(axes: "Axes", stream: Stream, n_rows: int) -> None:
    batch = next(stream.batches(n_rows))
    rows, height = np.arange(n_rows), batch.x[:, 0] + batch.x[:, 1]
    for code, name in enumerate(stream.schema.classes):
        mask = batch.y == code
        axes.scatter(
            rows[mask], height[mask], s=3, color=COLOURS[code], marker="ox"[code], lw=0.6, label=f"class {name}"
        )
    Axis(n_rows).style(axes)


def draw_detectors() -> Figure:
    """Draw the alarms of five detectors, the true drifts, and the error that they watch."""
    n_rows, names = 20_000, ("DDM", "EDDM", "HDDMA", "Adwin", "PageHinkley")
    old, new = (sg.SEA(concept, thresholds=(7.0, 10.0), noise=0.05) for concept in (1, 2))
    stream = streams.Recurring((old, new), every=4000)
    results = sg.evaluate(
        stream,
        {"neighbours": KNearestNeighbours(window=500)},
        n_rows=n_rows,
        detectors=list(names),
        forgetting=sg.Window(500),
        measures="error",
        every=50,
    )
    true_drifts = [change.position for change in results.drifts]
    alarms = defaultdict(list)
    for alarm in results.alarms:
        if alarm.kind == "drift":
            alarms[next(name for name in names if alarm.detector.startswith(name))].append(alarm.row)
    with new_figure((7.5, 4.4)) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        above.plot(results.rows, 100 * results.curve("neighbours", "error")[:, 0], color=COLOURS[0], lw=1.3)
        above.set_ylabel("error %, last 500 rows")
        for index, name in enumerate(names):
            score = drift.score_alarms(alarms[name], true_drifts, n_rows=n_rows, max_delay=2000)
            wrong = set(score.false_alarms)
            right = [row for row in alarms[name] if row not in wrong]
            below.plot(right, np.full(len(right), index), "^", color=COLOURS[2], ms=7)
            below.plot(sorted(wrong), np.full(len(wrong), index), "x", color=COLOURS[1], ms=6)
        below.set_yticks(range(len(names)), names)
        below.set_ylim(len(names) - 0.5, -0.5)
        for axes in (above, below):
            for row in true_drifts:
                axes.axvline(row, color="#5a6676", lw=0.9, ls="--")
            Axis(n_rows).style(axes)
        above.set_xlabel("")
        below.plot([], [], "^", color=COLOURS[2], label="alarm within 2,000 rows of a drift")
        below.plot([], [], "x", color=COLOURS[1], label="false alarm")
        below.plot([], [], "--", color="#5a6676", lw=0.9, label="true drift")
        figure.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return Figure(figure)
