"""Figures of rankings over streams: mean ranks, wins and p-values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import format_p_value
from streamgauge._format.text import make_printable
from streamgauge._optional import library
from streamgauge.plots.figure import Figure, get_scale, new_figure
from streamgauge.reports.rankings import build_p_matrix
from streamgauge.significance import Comparison, Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["p_values", "ranks", "wins"]

_STEP = 0.15
"""Inches between bars in the diagram of ranks."""

_LINE = 0.19
"""Inches between names in the diagram of ranks."""


def ranks(ranking: Ranking, *, width: float = 7.0) -> Figure:
    """Draw the critical-difference diagram: learners on an axis of mean ranks, and bars over those that do not differ.

    The better half of the learners is named at the left, the others at the right. With Nemenyi's post-hoc test the
    critical difference is drawn as well. A dot marks each learner that belongs to a bar; a learner without a dot does
    not.

    Parameters
    ----------
    ranking
        The ranking.
    width
        The width in inches. The axis has at least four tenths of it: names that are too long end with an ellipsis.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> figure = ranks(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [text.get_text() for text in figure.drawn.axes[0].texts][-2:]
    ['tree  1.00', '2.00  bayes']
    """
    rows = (len(ranking.learners) + 1) // 2
    head = 0.65 if ranking.post_hoc == "nemenyi" else 0.32
    height = head + _STEP * (len(ranking.groups) + 1) + _LINE * rows + 0.05
    with new_figure((width, height)) as drawn:
        drawn.set_layout_engine("none")
        axes = drawn.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, width)
        axes.set_ylim(0.0, height)
        axes.set_axis_off()
        _draw_ranks(axes, ranking, height - head, with_means=get_scale() == 1.0)
    return Figure(drawn)


def wins(ranking: Ranking) -> Figure:
    """Draw on how many streams the learner of a row wins, ties and loses against that of a column.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> figure = wins(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [text.get_text() for text in figure.drawn.axes[0].texts]
    ['2/0/0', '0/0/2']
    """
    order = [ranking.learners.index(name) for name in ranking.order]
    won, tied = ranking.wins[np.ix_(order, order)], ranking.ties[np.ix_(order, order)]
    lost = won.T
    texts = [[f"{w}/{t}/{n}" for w, t, n in zip(*line, strict=True)] for line in zip(won, tied, lost, strict=True)]
    balance = (won - lost) / max(len(ranking.streams), 1)
    title = f"Wins, ties and losses by {ranking.measure}, row against column"
    return _draw_matrix(ranking.order, balance, texts, title=title, limits=(-1.0, 1.0), colours="PuOr_r")


def p_values(source: Ranking | Sequence[Comparison]) -> Figure:
    """Draw the p-values of all pairs, significant ones in bold; for a ranking the adjusted ones.

    Parameters
    ----------
    source
        A ranking, or comparisons of the pairs of one run; the first of each pair is shown.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> figure = p_values(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> figure.drawn.get_suptitle()
    'Adjusted p-values in accuracy (bold: at most 0.05)'
    """
    matrix = build_p_matrix(source)
    texts = [["" if np.isnan(p) else format_p_value(p) for p in line] for line in matrix.p_values.tolist()]
    evidence = -np.log10(np.clip(matrix.p_values, 1e-6, 1.0))
    return _draw_matrix(
        matrix.learners,
        evidence,
        texts,
        title=matrix.title,
        limits=(0.0, 6.0),
        colours="Blues",
        bold=matrix.significant,
    )


def _draw_matrix(
    names: Sequence[str],
    values: NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    *,
    title: str,
    limits: tuple[float, float],
    colours: str,
    bold: NDArray[np.bool_] | None = None,
) -> Figure:
    n = len(names)
    longest = max(len(name) for name in names)
    with new_figure((max(2.2, 0.75 * n) + 0.075 * longest, max(1.4, 0.5 * n) + 0.6)) as drawn:
        axes = drawn.add_subplot()
        shown = np.where(np.eye(n, dtype=bool), np.nan, values)
        axes.imshow(shown, vmin=limits[0], vmax=limits[1], cmap=colours, aspect="auto")
        dark = np.abs(shown) > 0.6 * max(map(abs, limits))
        for i in range(n):
            for j in range(n):
                if i != j:
                    weight = "bold" if bold is not None and bold[i, j] else "normal"
                    colour = "white" if dark[i, j] else "#1b2430"
                    axes.text(j, i, texts[i][j], ha="center", va="center", color=colour, fontweight=weight)
        labels = [make_printable(name) for name in names]
        axes.set_xticks(range(n), labels, rotation=30, ha="right")
        axes.set_yticks(range(n), labels)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        drawn.suptitle(title, x=0.0, ha="left", fontsize=9, fontweight="bold")
    return Figure(drawn)


def _draw_ranks(axes: "Axes", ranking: Ranking, top: float, *, with_means: bool) -> None:
    """Draw the axis at a height, the bars below it, and the names below the bars; all in inches."""
    k, rows = len(ranking.learners), (len(ranking.learners) + 1) // 2
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    shares = [(means[name] - 1) / max(k - 1, 1) for name in ranking.order]
    labels = [make_printable(name) for name in ranking.order]
    if with_means:
        labels = [
            f"{label}  {means[name]:.2f}" if position < rows else f"{means[name]:.2f}  {label}"
            for position, (name, label) in enumerate(zip(ranking.order, labels, strict=True))
        ]
    labels, start, stop = _fit_names(labels, shares, rows, axes.get_xlim()[1])

    def locate(rank: float) -> float:
        return start + (rank - 1) / max(k - 1, 1) * (stop - start)

    axes.plot([start, stop], [top, top], "k-", linewidth=1)
    for whole in range(1, k + 1):
        axes.plot([locate(whole)] * 2, [top, top + 0.06], "k-", linewidth=1)
        axes.text(locate(whole), top + 0.08, str(whole), ha="center", va="bottom")
    for index, group in enumerate(ranking.groups):
        places, y = [locate(means[name]) for name in group], top - _STEP * (index + 1)
        axes.plot([min(places), max(places)], [y, y], "k-", linewidth=2.2, solid_capstyle="butt")
        axes.plot(places, [y] * len(places), "ko", markersize=4.5)
    if ranking.post_hoc == "nemenyi":
        # A critical difference wider than the axis ends with it; its number is right.
        end, y = min(1 + ranking.critical_difference, k), top + 0.32
        axes.plot([start, locate(end)], [y, y], "k|-", linewidth=1)
        label = f"CD = {ranking.critical_difference:.2f}"
        axes.text((start + locate(end)) / 2, y + 0.05, label, ha="center", va="bottom")
    below = top - _STEP * (len(ranking.groups) + 1)
    for position, (name, label) in enumerate(zip(ranking.order, labels, strict=True)):
        left = position < rows
        y = below - _LINE * ((position if left else k - 1 - position) + 0.5)
        place, side = locate(means[name]), -1 if left else 1
        axes.plot([place, place, place + side * 0.05], [top, y, y], c="0.5", linewidth=0.7, zorder=0)
        axes.text(place + side * 0.08, y, label, ha="right" if left else "left", va="center")


def _fit_names(
    labels: Sequence[str], shares: Sequence[float], rows: int, width: float
) -> tuple[list[str], float, float]:
    """Return the labels, shortened if need be, and where an axis begins and ends that leaves room for them.

    The label of the learner at a share of the axis ends there, if it is among the first `rows`, or begins there.
    """
    shown, limit = list(labels), max(map(len, labels))
    while True:
        sizes = [_measure_text(label) + 0.15 for label in shown]
        start = stop = 0.15  # margins at the left and at the right
        for _ in range(50):
            span = width - start - stop
            start = max(0.15, *(s - share * span for s, share in zip(sizes[:rows], shares[:rows], strict=True)))
            rest = zip(sizes[rows:], shares[rows:], strict=True)
            stop = max([0.15, *(s - (1 - share) * span for s, share in rest)])
        if width - start - stop >= 0.4 * width or limit <= 8:
            return shown, start, width - stop
        limit -= 1
        shown = [label if len(label) <= limit else f"{label[: limit - 1].rstrip()}…" for label in labels]


def _measure_text(text: str) -> float:
    """Return the width of a text in inches, in the type of the figure."""
    size = library("matplotlib", "plots").rcParams["font.size"]
    font = library("matplotlib.font_manager", "plots").FontProperties(size=size)
    path = library("matplotlib.textpath", "plots").TextPath((0, 0), text, prop=font)
    return float(path.get_extents().width) / 72
