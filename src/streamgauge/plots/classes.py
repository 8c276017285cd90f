"""Figures of confusion matrices, class balance and labels along a stream."""

from collections.abc import Sequence

import numpy as np

from streamgauge._format.palette import COLOURS
from streamgauge._format.text import make_printable
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.plots.figure import Figure, get_line_style, new_figure, style_axes
from streamgauge.plots.lines import draw_marks, select_learners
from streamgauge.records import Confusions, LabelCounts, RunData
from streamgauge.reports.series import choose_moments, compute_class_balance, name_label_counts

__all__ = ["balance", "confusion", "labels"]

MAX_NAMED = 10
"""The limit of classes for which a confusion matrix has names and numbers."""


def confusion(
    results: RunData,
    forgetting: str | None = None,
    *,
    learners: Sequence[str] | None = None,
    moments: int = 4,
) -> Figure:
    """Draw the confusion matrix of each learner at several moments of the run, as shares of each true class.

    Parameters
    ----------
    results
        The results of an evaluation.
    forgetting
        The name of the forgetting; by default the first. A window shows the confusions in recent rows, a landmark all.
    learners
        The learners to show; by default all.
    moments
        Number of evenly spaced moments, including the last.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> figure = confusion(evaluate(SEA(n_rows=1000), NaiveBayes()), moments=2)
    >>> [axes.get_title("left") for axes in figure.drawn.axes]
    ['after 500 rows', 'after 1,000 rows']
    """
    require_at_least("moments", moments, 1)
    confusions = _require_confusions(results)
    shown = select_learners(results, learners)
    chosen = choose_moments(len(confusions.rows), moments)
    f = results.forgettings.index(results.forgettings[0] if forgetting is None else forgetting)
    shares, classes = confusions.shares, [make_printable(name) for name in confusions.classes]
    abstains = bool(np.nanmax(shares[chosen][..., -1]) >= 0.005)  # otherwise it is a column of zeros
    named = len(classes) <= MAX_NAMED
    predicted = [*classes, "none"] if abstains else classes
    side = 0.55 + (0.36 if named else 0.06) * len(classes)
    with new_figure((side * len(chosen) + 1.2, side * len(shown) + 0.5)) as drawn:
        grid = np.array(drawn.subplots(len(shown), len(chosen), squeeze=False, sharex=True, sharey=True))
        for row, name in zip(grid, shown, strict=True):
            row[0].set_ylabel(f"{make_printable(name)}\ntrue class", color="#1b2430")
            for axes, moment in zip(row, chosen, strict=True):
                matrix = shares[moment, results.learners.index(name), f][:, : len(predicted)]
                axes.imshow(matrix, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
                axes.spines[:].set_visible(False)
                axes.tick_params(length=0)
                for (i, j), share in np.ndenumerate(matrix) if named else ():
                    text = "" if np.isnan(share) else f"{100 * share:.0f}"
                    colour = "white" if share > 0.6 else "#1b2430"
                    axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)
        for axes, moment in zip(grid[0], chosen, strict=True):
            axes.set_title(f"after {confusions.rows[moment]:,} rows", fontsize=9, fontweight="normal")
        for axes in grid[-1]:
            axes.set_xlabel("predicted")
            if named:
                axes.set_xticks(range(len(predicted)), predicted, rotation=45, ha="right")
                axes.set_yticks(range(len(classes)), classes)
    return Figure(drawn)


def balance(results: RunData, *, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw the share of each class along the stream, of all rows with a known class, including hidden labels.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> figure = balance(evaluate(SEA(n_rows=1000), NoChange()))
    >>> figure.drawn.axes[0].get_ylabel()
    'share of rows %'
    """
    counts = _require_counts(results)
    rows, shares = compute_class_balance(counts)
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        names = [make_printable(name) for name in counts.classes]
        colours = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
        levels = 100 * np.cumsum(shares, axis=1)
        below = np.zeros(len(rows))
        for index, name in enumerate(names):
            hatch = (None, "//", "..", "xx")[index // len(COLOURS) % 4]
            level, colour = levels[:, index], colours[index]
            axes.fill_between(rows, below, level, step="pre", label=name, fc=colour, ec="white", lw=0.3, hatch=hatch)
            below = level
        for drift in results.drifts:
            axes.axvline(drift.position, color="#1b2430", lw=0.8)
        style_axes(axes, results.n_rows)
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of rows %")
        axes.set_title("Class balance")
        drawn.legend(loc="outside lower center", ncols=min(len(names), 5))
    return Figure(drawn)


def labels(results: RunData, *, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw the number of labels that have arrived, are pending, are hidden or unknown, along the stream.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import Fraction
    >>> figure = labels(evaluate(SEA(n_rows=1000), NoChange(), labelling=Fraction(0.1)))
    >>> [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    ['arrived', 'hidden']
    """
    counts = _require_counts(results)
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        draw_marks(axes, results, ())
        for index, (name, line) in enumerate(name_label_counts(counts).items()):
            if line.any() or index == 0:
                axes.plot(np.append(0, counts.rows), np.append(0, line), label=name, **get_line_style(index))
        style_axes(axes, results.n_rows)
        axes.yaxis.set_major_formatter(axes.xaxis.get_major_formatter())
        axes.set_ylabel("labels so far")
        axes.set_title("Labels")
        drawn.legend(loc="outside lower center", ncols=4, handlelength=3)
    return Figure(drawn)


def _require_confusions(results: RunData) -> Confusions:
    if results.confusions is None or not len(results.confusions.rows):
        msg = "this run has no confusion matrices: it was written by an older version, or has too many classes"
        raise StreamgaugeError(msg)
    return results.confusions


def _require_counts(results: RunData) -> LabelCounts:
    if results.labels is None or not len(results.labels.rows):
        msg = "this run has no counts of classes and labels: evaluate again"
        raise StreamgaugeError(msg)
    return results.labels
