"""Pictures of the figures."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.performance.figures import OURS, Figure, compute_ratio
from benchmarks.performance.summary import list_cells

__all__ = ["draw_growth", "draw_matrix", "draw_ratios"]

COLOURS = {
    OURS: "#0b5fa5",
    "MOA": "#d1622b",
    "MOA, warm": "#eda77f",
    "CapyMOA": "#8a5fb0",
    "River": "#2f8f6b",
    "scikit-learn": "#c9a227",
    "stream-learn": "#b5487a",
    "pandas": "#5a6b7b",
    "pyarrow": "#6fa8c9",
    "polars": "#3f9d9a",
    "Vowpal Wabbit": "#7d6bb0",
    "Python loop": "#9b8b6c",
}
"""Colour of each system in all pictures."""
STYLES = {"HoeffdingTree": "-", "NaiveBayes": "--"}


def _load_pyplot() -> Any:  # noqa: ANN401
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot


def draw_ratios(figures: list[Figure], title: str, path: Path) -> None:
    """Draw the ratio of each system's time to ours, one group of bars per subject, without gaps for missing systems."""
    pyplot = _load_pyplot()
    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    others = [[f for f in figures if f.subject == subject and f.system != OURS] for subject in subjects]
    n_bars = sum(map(len, others)) + len(subjects)
    picture, axes = pyplot.subplots(figsize=(8, 1.3 + 0.22 * n_bars), layout="constrained")
    position, middles, labelled = 0.0, [], set()
    for group in others:
        middles.append(position + (len(group) - 1) / 2)
        for figure in group:
            ratio = compute_ratio(figure, figures) or 1.0
            label = None if figure.system in labelled else figure.system
            labelled.add(figure.system)
            axes.barh(position, ratio - 1.0, 0.85, left=1.0, color=COLOURS[figure.system], label=label)
            text = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
            axes.text(ratio * 1.06, position, text, va="center", fontsize=7)
            position += 1
        position += 1
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlim(right=axes.get_xlim()[1] * 2.5)
    axes.set_yticks(middles, subjects, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"times as long as {OURS}")
    axes.set_title(title, fontsize=11)
    picture.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=6)
    _save(picture, path)


def draw_matrix(figures: list[Figure], path: Path) -> None:
    """Draw the ratios of the matrix, learners by streams; white where there is none."""
    ratios = {(cell.learner, cell.stream): cell.ratio for cell in list_cells(figures) if "warm" not in cell.system}
    learners, streams = (list(dict.fromkeys(names)) for names in zip(*ratios, strict=True))
    size = (max(7.5, 2.6 + 0.75 * len(streams)), 1.9 + 0.36 * len(learners))
    picture, axes = _load_pyplot().subplots(figsize=size, layout="constrained")
    grid = [[max(ratios.get((learner, stream), math.nan), 1.0) for stream in streams] for learner in learners]
    axes.imshow(grid, norm="log", vmin=1.0, vmax=100.0, cmap="Blues", aspect="auto")
    for (learner, stream), ratio in ratios.items():
        text = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
        place = streams.index(stream), learners.index(learner)
        axes.text(*place, text, ha="center", va="center", fontsize=8, color="white" if ratio > 30 else "black")
    axes.set_xticks(range(len(streams)), streams, fontsize=8, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(learners)), learners, fontsize=8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    picture.suptitle(f"Time of MOA (logistic regression: of Vowpal Wabbit), divided by that of {OURS}", fontsize=10)
    _save(picture, path)


def draw_growth(figures: list[Figure], path: Path) -> None:
    """Draw nanoseconds per row along each axis of growth, and memory over rows."""
    axis_names = list(dict.fromkeys(figure.subject.split(",")[0] for figure in figures))
    picture, grid = _load_pyplot().subplots(2, 3, figsize=(11, 6.5), layout="constrained")
    for plot in grid.flat[len(axis_names) :]:
        plot.set_axis_off()
    for axis, plot in zip(axis_names, grid.flat, strict=False):
        along_axis = [figure for figure in figures if figure.subject.split(",")[0] == axis]
        _draw_lines(plot, along_axis, lambda figure: figure.ns_per_row)
        plot.set(xlabel=axis, ylabel="ns of CPU per row")
    if "rows" in axis_names and len(axis_names) < grid.size:
        plot = grid.flat[-1]
        plot.set_axis_on()
        rows = [figure for figure in figures if figure.subject.startswith("rows,")]
        _draw_lines(plot, rows, lambda figure: figure.peak_mb)
        plot.set(xlabel="rows", ylabel="MB at the peak, whole process")
    labels = {label: line for plot in grid.flat for line, label in zip(*plot.get_legend_handles_labels(), strict=True)}
    picture.legend(labels.values(), labels, frameon=False, fontsize=8, loc="outside lower center", ncols=6)
    picture.suptitle("Growth of cost: Hoeffding tree and naive Bayes on random RBF", fontsize=11)
    _save(picture, path)


def _draw_lines(plot: Any, figures: list[Figure], get_value: Callable[[Figure], float | None]) -> None:  # noqa: ANN401
    for subject, system in dict.fromkeys((figure.subject, figure.system) for figure in figures):
        learner = subject.split(", ")[1]
        points = [(f.size, get_value(f)) for f in figures if (f.subject, f.system) == (subject, system)]
        style = {"color": COLOURS[system], "linestyle": STYLES[learner], "marker": "o", "markersize": 4}
        plot.plot(*zip(*points, strict=True), label=f"{system}, {learner}", **style)
    values = [get_value(figure) or 1.0 for figure in figures]
    decades = 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)))
    plot.set(xscale="log", yscale="log", ylim=decades)
    if max(figure.size or 0 for figure in figures) <= 1_000:
        plot.xaxis.set_major_formatter("{x:,.0f}")
    plot.yaxis.set_major_formatter("{x:,.0f}")
    plot.yaxis.set_minor_formatter("")
    plot.grid(alpha=0.25)


def _save(picture: Any, path: Path) -> None:  # noqa: ANN401
    picture.savefig(path, dpi=110)
    _load_pyplot().close(picture)
