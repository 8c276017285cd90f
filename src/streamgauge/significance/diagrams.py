"""Critical-difference diagrams: learners on a line of mean ranks, bars over those that cannot be told apart."""

from pathlib import Path
from typing import TYPE_CHECKING

from streamgauge.errors import StreamgaugeError
from streamgauge.significance.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["diagram_text", "draw_diagram"]

FORMATS = (".pdf", ".png", ".svg")


def diagram_text(ranking: Ranking, *, width: int = 60) -> str:
    """Give the diagram as text, `width` characters wide without the names.

    The first lines show where the mean ranks lie; each bar below joins learners that cannot be told apart, with a dot
    for each of them: what a bar merely passes does not belong to it.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> values = [[0.9, 0.68 + 0.01 * i, 0.71] for i in range(8)]
    >>> print(diagram_text(rank_table(values, ["tree", "bayes", "majority"]), width=21))
    1         2         3
    ├───────────────────┤
    ●                     1.00 tree
                  ●       2.44 bayes
                    ●     2.56 majority
                  ●─●
    """
    k = len(ranking.learners)
    place = {
        name: round((mean_rank - 1) / (k - 1) * (width - 1))
        for name, mean_rank in zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True)
    }
    numbers = [" "] * width
    for whole in range(1, k + 1):
        label, column = str(whole), round((whole - 1) / (k - 1) * (width - 1))
        start = min(column, width - len(label))
        numbers[start : start + len(label)] = label
    lines = ["".join(numbers).rstrip(), "├" + "─" * (width - 2) + "┤"]
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    lines += [f"{' ' * place[name] + '●':<{width}} {means[name]:.2f} {name}" for name in ranking.order]
    for group in ranking.groups:
        columns = [place[name] for name in group]
        bar = "".join("●" if i in columns else "─" for i in range(min(columns), max(columns) + 1))
        lines.append(" " * min(columns) + bar)
    return "\n".join(lines)


def draw_diagram(ranking: Ranking, path: Path | str) -> Path:
    """Draw the diagram into a file that ends in .svg, .png or .pdf; it needs matplotlib.

    With the post-hoc test of Nemenyi the critical difference is drawn as well.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.significance import rank_table
    >>> ranking = rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])
    >>> draw_diagram(ranking, Path(tempfile.mkdtemp()) / "ranks.svg").name
    'ranks.svg'
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        msg = f"{path}: a diagram is written to a file that ends in {', '.join(FORMATS)}"
        raise StreamgaugeError(msg)
    try:
        from matplotlib import rc_context  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        msg = f"{error.name} is not installed: pip install 'streamgauge[plots]'"
        raise StreamgaugeError(msg) from None
    rows = (len(ranking.learners) + 1) // 2
    # Text stays text, and the same ranking gives the same file.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "streamgauge"}):
        figure = Figure(figsize=(7.0, 1.3 + 0.25 * (rows + len(ranking.groups))))
        _draw(figure.add_axes((0.2, 0.0, 0.6, 1.0)), ranking, rows)
        try:
            figure.savefig(
                path, dpi=200, bbox_inches="tight", metadata={"Date": None} if path.suffix == ".svg" else None
            )
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from error
    return path


def _draw(axes: "Axes", ranking: Ranking, rows: int) -> None:
    """Put the names left and right of the line, the bars between the line and the names."""
    k, below = len(ranking.learners), len(ranking.groups) * 0.5 + 0.8
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    axes.plot([1, k], [0, 0], "k-", linewidth=1)
    for whole in range(1, k + 1):
        axes.plot([whole, whole], [0, 0.2], "k-", linewidth=1)
        axes.text(whole, 0.3, str(whole), ha="center", va="bottom", fontsize=9)
    margin = 0.04 * (k - 1)
    for position, name in enumerate(ranking.order):
        left = position < rows
        depth = -below - 0.7 * (position if left else k - 1 - position)
        end = 1 - margin if left else k + margin
        axes.plot([means[name], means[name], end], [0, depth, depth], c="0.5", linewidth=0.8)
        text = f"{name}  {means[name]:.2f} " if left else f" {means[name]:.2f}  {name}"
        axes.text(end, depth, text, ha="right" if left else "left", va="center", fontsize=9)
    for height, group in enumerate(ranking.groups):
        places = [means[name] for name in group]
        axes.plot([min(places), max(places)], [-0.5 * (height + 1)] * 2, "k-", linewidth=2.5)
        axes.plot(places, [-0.5 * (height + 1)] * len(places), "ko", markersize=5)
    if ranking.post_hoc == "nemenyi":
        stop = 1 + ranking.critical_difference
        axes.plot([1, stop], [1.2, 1.2], "k|-", linewidth=1)
        axes.text((1 + stop) / 2, 1.3, f"CD = {ranking.critical_difference:.2f}", ha="center", va="bottom", fontsize=9)
    axes.set_axis_off()
