"""Figures of classes and labels along a stream."""

from collections.abc import Sequence

import numpy as np

from streamgauge._format.palette import COLOURS
from streamgauge._format.text import make_printable
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.plots.figure import Figure, blank, line_style, tidy
from streamgauge.plots.lines import mark, shown_learners
from streamgauge.records import Confusions, LabelCounts, RunData
from streamgauge.reports.history import balance_of, moments_of

__all__ = ["balance", "confusion", "labels"]

MOST_NAMED = 10
"""Up to so many classes a confusion matrix has names and numbers."""


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
        What an evaluation found.
    forgetting
        Of which forgetting; by default the first. A window shows who is confused with whom now, a landmark since the
        start.
    learners
        Whose; by default everyone's.
    moments
        At how many moments, evenly spaced, the last among them.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> figure = confusion(evaluate(SEA(n_rows=1000), NaiveBayes()), moments=2)
    >>> [axes.get_title("left") for axes in figure.drawn.axes]
    ['after 500 rows', 'after 1,000 rows']
    """
    require_at_least("moments", moments, 1)
    kept = _kept(results)
    shown = shown_learners(results, learners)
    at = moments_of(len(kept.rows), moments)
    f = results.forgettings.index(results.forgettings[0] if forgetting is None else forgetting)
    shares, classes = kept.shares, [make_printable(name) for name in kept.classes]
    abstains = bool(np.nanmax(shares[at][..., -1]) >= 0.005)  # else it would be a column of zeros
    named = len(classes) <= MOST_NAMED
    predicted = [*classes, "none"] if abstains else classes
    side = 0.55 + (0.36 if named else 0.06) * len(classes)
    with blank((side * len(at) + 1.2, side * len(shown) + 0.5)) as drawn:
        grid = np.array(drawn.subplots(len(shown), len(at), squeeze=False, sharex=True, sharey=True))
        for row, name in zip(grid, shown, strict=True):
            row[0].set_ylabel(f"{make_printable(name)}\ntrue class", color="#1b2430")
            for axes, moment in zip(row, at, strict=True):
                matrix = shares[moment, results.learners.index(name), f][:, : len(predicted)]
                axes.imshow(matrix, vmin=0.0, vmax=1.0, cmap="Blues", aspect="auto")
                axes.spines[:].set_visible(False)
                axes.tick_params(length=0)
                for (i, j), share in np.ndenumerate(matrix) if named else ():
                    text = "" if np.isnan(share) else f"{100 * share:.0f}"
                    colour = "white" if share > 0.6 else "#1b2430"
                    axes.text(j, i, text, ha="center", va="center", fontsize=8, color=colour)
        for axes, moment in zip(grid[0], at, strict=True):
            axes.set_title(f"after {kept.rows[moment]:,} rows", fontsize=9, fontweight="normal")
        for axes in grid[-1]:
            axes.set_xlabel("predicted")
            if named:
                axes.set_xticks(range(len(predicted)), predicted, rotation=45, ha="right")
                axes.set_yticks(range(len(classes)), classes)
    return Figure(drawn)


def balance(results: RunData, *, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw the share of each class along the stream, of all rows whose class is known, seen by learners or not.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> figure = balance(evaluate(SEA(n_rows=1000), NoChange()))
    >>> figure.drawn.axes[0].get_ylabel()
    'share of rows %'
    """
    counts = _counts(results)
    rows, shares = balance_of(counts)
    with blank(size) as drawn:
        axes = drawn.add_subplot()
        names = [make_printable(name) for name in counts.classes]
        colours = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
        levels = 100 * np.cumsum(shares, axis=1)
        below = np.zeros(len(rows))
        for at, name in enumerate(names):
            hatch = (None, "//", "..", "xx")[at // len(COLOURS) % 4]
            axes.fill_between(
                rows, below, levels[:, at], step="pre", label=name, fc=colours[at], ec="white", lw=0.3, hatch=hatch
            )
            below = levels[:, at]
        for drift in results.drifts:
            axes.axvline(drift.position, color="#1b2430", lw=0.8)
        tidy(axes, results.n_rows)
        axes.set_ylim(0, 100)
        axes.set_ylabel("share of rows %")
        axes.set_title("Class balance")
        drawn.legend(loc="outside lower center", ncols=min(len(names), 5))
    return Figure(drawn)


def labels(results: RunData, *, size: tuple[float, float] = (7.0, 3.2)) -> Figure:
    """Draw what has become of the labels by each row: come, still owed, never to come, not known.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import Fraction
    >>> figure = labels(evaluate(SEA(n_rows=1000), NoChange(), labelling=Fraction(0.1)))
    >>> [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    ['came', 'never come']
    """
    counts = _counts(results)
    lines = {
        "came": counts.n_revealed,
        "owed": counts.n_owed,
        "never come": counts.n_hidden,
        "not known": counts.n_unknown,
    }
    with blank(size) as drawn:
        axes = drawn.add_subplot()
        mark(axes, results, ())
        for at, (name, line) in enumerate(lines.items()):
            if line.any() or name == "came":
                axes.plot(np.append(0, counts.rows), np.append(0, line), label=name, **line_style(at))
        tidy(axes, results.n_rows)
        axes.yaxis.set_major_formatter(axes.xaxis.get_major_formatter())
        axes.set_ylabel("labels so far")
        axes.set_title("What became of the labels")
        drawn.legend(loc="outside lower center", ncols=4, handlelength=3)
    return Figure(drawn)


def _kept(results: RunData) -> Confusions:
    if results.confusions is None or not len(results.confusions.rows):
        msg = "this run kept no confusion matrices: it is of an older version, or has too many classes"
        raise StreamgaugeError(msg)
    return results.confusions


def _counts(results: RunData) -> LabelCounts:
    if results.labels is None or not len(results.labels.rows):
        msg = "this run kept no counts of classes and labels: evaluate again"
        raise StreamgaugeError(msg)
    return results.labels
