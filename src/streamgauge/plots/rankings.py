"""Figures of rankings over streams: mean ranks, wins and p-values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import format_p_value
from streamgauge._format.text import make_printable
from streamgauge.plots.figure import Figure, new_figure
from streamgauge.reports.rankings import build_p_matrix
from streamgauge.significance import Comparison, Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["p_values", "ranks", "wins"]


def ranks(ranking: Ranking, *, width: float = 7.0) -> Figure:
    """Draw the critical-difference diagram: learners on an axis of mean ranks, and bars over those that do not differ.

    With Nemenyi's post-hoc test the critical difference is drawn as well. A dot marks each learner that belongs to a
    bar; a learner without a dot does not.

    Parameters
    ----------
    ranking
        The ranking.
    width
        The width in inches; long names make it wider.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> figure = ranks(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"]))
    >>> [text.get_text() for text in figure.drawn.axes[0].texts][-2:]
    ['tree  1.00 ', ' 2.00  bayes']
    """
    rows = (len(ranking.learners) + 1) // 2
    names = 0.07 * (8 + max(map(len, ranking.learners)))  # inches on either side, with the rank and a gap
    width = max(width, 2 * names + 0.9)
    with new_figure((width, 1.3 + 0.25 * (rows + len(ranking.groups)))) as drawn:
        drawn.set_layout_engine("none")
        _draw_ranks(drawn.add_axes((names / width, 0.0, 1 - 2 * names / width, 1.0)), ranking, rows)
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


def _draw_ranks(axes: "Axes", ranking: Ranking, rows: int) -> None:
    """Draw the names left and right of the axis, and the bars between the axis and the names."""
    k, below = len(ranking.learners), len(ranking.groups) * 0.5 + 0.8
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    axes.plot([1, k], [0, 0], "k-", linewidth=1)
    for whole in range(1, k + 1):
        axes.plot([whole, whole], [0, 0.2], "k-", linewidth=1)
        axes.text(whole, 0.3, str(whole), ha="center", va="bottom")
    for height, group in enumerate(ranking.groups):
        group_means = [means[name] for name in group]
        axes.plot([min(group_means), max(group_means)], [-0.5 * (height + 1)] * 2, "k-", linewidth=2.5)
        axes.plot(group_means, [-0.5 * (height + 1)] * len(group_means), "ko", markersize=5)
    if ranking.post_hoc == "nemenyi":
        stop = 1 + ranking.critical_difference
        axes.plot([1, stop], [1.2, 1.2], "k|-", linewidth=1)
        axes.text((1 + stop) / 2, 1.3, f"CD = {ranking.critical_difference:.2f}", ha="center", va="bottom")
    margin = 0.04 * (k - 1)
    for position, name in enumerate(ranking.order):
        left = position < rows
        depth = -below - 0.7 * (position if left else k - 1 - position)
        end = 1 - margin if left else k + margin
        axes.plot([means[name], means[name], end], [0, depth, depth], c="0.5", linewidth=0.8)
        text = f"{make_printable(name)}  {means[name]:.2f} " if left else f" {means[name]:.2f}  {make_printable(name)}"
        axes.text(end, depth, text, ha="right" if left else "left", va="center")
    axes.set_axis_off()
