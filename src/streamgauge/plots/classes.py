"""Figures of confusion matrices, class balance and labels along a stream."""

from collections.abc import Sequence
from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.palette import COLOURS
from streamgauge._format.text import describe_forgetting, make_printable
from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.plots.axis import Axis, X, choose_x, shorten_number
from streamgauge.plots.figure import Figure, get_line_style, new_figure, remove_inner_labels
from streamgauge.plots.marks import CHARACTER, add_legend, draw_marks, select_learners
from streamgauge.records import LabelCounts, RunData
from streamgauge.reports.confusion_text import find_forgetting, find_moments, require_confusions
from streamgauge.reports.series import choose_moments, compute_class_balance, name_label_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["balance", "confusion", "labels"]

Values = Literal["shares", "counts", "both"]

MAX_NAMED = 10
"""The limit of classes for which a confusion matrix has names and numbers."""


def confusion(
    results: RunData,
    forgetting: str | None = None,
    *,
    learners: Sequence[str] | None = None,
    moments: int = 4,
    rows: int | Sequence[int] | None = None,
    values: Values = "shares",
) -> Figure:
    """Draw the confusion matrix of each learner at several moments of the run.

    Colours are shares of each true class. With several moments, each learner has a row of matrices; with one moment,
    the learners are arranged in a grid.

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
    rows
        The moments, as rows of the stream: the last matrix that was kept up to each of them is drawn.
    values
        The numbers in the cells: ``shares`` of the true class in percent, ``counts`` of rows, summed over folds, or
        ``both``.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), NaiveBayes())
    >>> [axes.get_title("left") for axes in confusion(results, moments=2).drawn.axes]
    ['after 500 rows', 'after 1,000 rows']
    >>> [text.get_text() for text in confusion(results, rows=1000, values="counts").drawn.axes[0].texts]
    ['226', '124', '33', '616']
    """
    require_at_least("moments", moments, 1)
    if values not in get_args(Values):
        raise unknown_name(kind="kind of values", name=values, known=get_args(Values))
    confusions, f = require_confusions(results), find_forgetting(results, forgetting)
    shown = select_learners(results, learners)
    chosen = choose_moments(len(confusions.rows), moments) if rows is None else find_moments(confusions, rows)
    classes = [make_printable(name) for name in confusions.classes]
    abstains = bool(np.nanmax(confusions.shares[chosen][..., -1]) >= 0.005)  # otherwise it is a column of zeros
    predicted = [*classes, "none"] if abstains else classes
    named = len(classes) <= MAX_NAMED
    n_columns = len(chosen) if len(chosen) > 1 else min(len(shown), 2 if len(shown) in (2, 4) else 3)
    n_lines = -(-len(shown) * len(chosen) // n_columns)
    side = 0.75 + (0.06 if not named else 0.36 if values == "shares" else 0.55) * len(classes)
    longest = max(map(len, predicted)) if named else 0
    slant: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if longest > 3 else {}
    width = max(2.8, side * n_columns + 0.9 + CHARACTER * longest)
    height = max(2.0, side * n_lines + 0.5 + (0.7 * CHARACTER * longest if slant else 0.0))
    with new_figure((width, height)) as drawn:
        grid = drawn.subplots(n_lines, n_columns, squeeze=False, sharex=True, sharey=True)
        for axes, (name, moment) in zip(grid.flat, product(shown, chosen), strict=False):
            index = (moment, results.learners.index(name), f)
            shares, counts = (kind[index][:, : len(predicted)] for kind in (confusions.shares, confusions.weights))
            _draw_confusion(axes, shares, counts, values if named else None)
            axes.set_xlabel("predicted")
            learner = "\n".join(wrap(make_printable(name), int(side / CHARACTER)))
            after = f"after {confusions.rows[moment]:,} rows"
            axes.set_ylabel("true class" if len(chosen) == 1 else f"{learner}\ntrue class", color="#1b2430")
            title = learner if len(chosen) == 1 else after if name == shown[0] else ""
            axes.set_title(title, fontsize=9, fontweight="normal")
            if named:
                axes.set_xticks(range(len(predicted)), predicted, **slant)
                axes.set_yticks(range(len(classes)), classes)
        remove_inner_labels(grid, len(shown) * len(chosen))
        title = _describe_confusion(results, f, values, after if len(chosen) == 1 else "")
        drawn.suptitle("\n".join(wrap(title, int(13 * width))), fontsize=9, x=0.01, ha="left")
    return Figure(drawn)


def _describe_confusion(results: RunData, forgetting: int, values: Values, moment: str) -> str:
    """Return what the numbers of confusion matrices are, as a title."""
    numbers = {"shares": "Percent of the true class", "counts": "Rows", "both": "Rows, and percent of the true class"}
    folds = f"sum of {results.n_folds} folds" if results.n_folds > 1 and values != "shares" else ""
    phrase = make_printable(describe_forgetting(results.forgettings[forgetting]))
    return ", ".join(filter(None, (numbers[values], folds, moment, phrase)))


def _draw_confusion(
    axes: "Axes", shares: NDArray[np.float64], counts: NDArray[np.float64], values: Values | None
) -> None:
    axes.imshow(shares, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    if values is None:
        return
    for (i, j), share in np.ndenumerate(shares):
        percent = "" if np.isnan(share) else f"{100 * share:.0f}"
        number = "" if np.isnan(counts[i, j]) else f"{counts[i, j]:,.0f}"
        text = {"shares": percent, "counts": number, "both": f"{number}\n{percent}%" if percent else number}[values]
        colour = "white" if share > 0.6 else "#1b2430"
        axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)


def balance(results: RunData, *, x: X | None = None, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw the share of each class along the stream, of all rows with a known class, including hidden labels.

    Parameters
    ----------
    results
        The results of an evaluation.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, where they carry them and these
        increase along the run: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> figure = balance(evaluate(SEA(n_rows=1000), NoChange()))
    >>> figure.drawn.axes[0].get_ylabel()
    'share of rows %'
    """
    counts = _require_counts(results)
    rows, shares = compute_class_balance(counts)
    axis = Axis.of_run(results, choose_x(x, [results]))
    places = axis.place(rows)
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        names = [make_printable(name) for name in counts.classes]
        colours = [COLOURS[index % len(COLOURS)] for index in range(len(names))]
        levels = 100 * np.cumsum(shares, axis=1)
        below = np.zeros(len(rows))
        for index, name in enumerate(names):
            hatch = (None, "//", "..", "xx")[index // len(COLOURS) % 4]
            level, colour = levels[:, index], colours[index]
            axes.fill_between(places, below, level, step="pre", label=name, fc=colour, ec="white", lw=0.3, hatch=hatch)
            below = level
        legend = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))
        for drift in results.drifts:
            legend["true drift"] = axes.axvline(float(axis.place(drift.position)), color="#1b2430", lw=0.8)
        axis.style(axes)
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of rows %")
        axes.set_title("Class balance")
        add_legend(drawn, legend)
    return Figure(drawn)


def labels(results: RunData, *, x: X | None = None, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw the number of labels that have arrived, are pending, are hidden or unknown, along the stream.

    Parameters
    ----------
    results
        The results of an evaluation.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, where they carry them and these
        increase along the run: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import Fraction
    >>> figure = labels(evaluate(SEA(n_rows=1000), NoChange(), labelling=Fraction(0.1)))
    >>> [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    ['arrived', 'hidden', 'labels hidden', 'labels partly hidden']
    """
    counts = _require_counts(results)
    axis = Axis.of_run(results, choose_x(x, [results]))
    places = axis.place(np.append(0, counts.rows))
    with new_figure(size) as drawn:
        axes = drawn.add_subplot()
        marks = draw_marks(axes, axis, results, ())
        for index, (name, line) in enumerate(name_label_counts(counts).items()):
            if line.any() or index == 0:
                axes.plot(places, np.append(0, line), label=name, **get_line_style(index))
        axis.style(axes)
        axes.yaxis.set_major_formatter(library("matplotlib.ticker", "plots").FuncFormatter(shorten_number))
        axes.set_ylabel("labels so far")
        axes.set_title("Labels")
        add_legend(drawn, dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True)) | marks)
    return Figure(drawn)


def _require_counts(results: RunData) -> LabelCounts:
    if results.labels is None or not len(results.labels.rows):
        msg = "this run has no counts of classes and labels: evaluate again"
        raise StreamgaugeError(msg)
    return results.labels
