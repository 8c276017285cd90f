"""Figures of measures along a stream."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import RATE, label_measure
from streamgauge._format.text import describe_forgetting, join_words, make_printable
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.plots.axis import Axis, X, choose_x
from streamgauge.plots.figure import Figure, get_line_style, new_figure, remove_inner_labels
from streamgauge.plots.marks import CHARACTER, MAX_POINTS, add_legend, draw_marks
from streamgauge.plots.pooling import PooledRuns, list_forgettings, pool_runs
from streamgauge.records import RunData
from streamgauge.reports.curves import Curve, downsample_curves, summarise_folds

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["curves"]

Band = Literal["folds", "deviation", "interval", "none"]

Lines = Literal["learners", "measures", "forgettings"]


def curves(
    results: RunData | Sequence[RunData],
    measures: str | Sequence[str] | None = None,
    forgettings: object = None,
    *,
    learners: Sequence[str] | None = None,
    lines: Lines | None = None,
    band: Band = "folds",
    x: X | None = None,
    size: tuple[float, float] | None = None,
) -> Figure:
    """Draw measures along the stream: means over folds, with bands, true drifts, alarms and hidden labels.

    A panel compares learners, measures or forgettings by its `lines`; whatever else there are several of, streams
    included, gets panels of its own. Runs of one stream with different seeds are drawn as their mean, with a band over
    all their folds. Long curves are downsampled without losing extremes.

    Grey lines and shades are true drifts, triangles at the bottom alarms of detectors (pale for warnings), hatched
    shades rows whose labels are hidden from the learners. On an axis of times, marks between two readings are at
    interpolated times.

    Parameters
    ----------
    results
        The results of an evaluation, or of several: other seeds, learners or streams.
    measures, forgettings
        One or several of those that were read, forgettings as objects or text; by default the first.
    learners
        The learners to show; by default all.
    lines
        What the lines of a panel stand for: ``learners``, ``measures`` (of one unit) or ``forgettings``. By default
        the first of them of which there are several.
    band
        The bands: from the lowest to the highest of the ``folds`` and seeds, one standard ``deviation`` around their
        mean, the ``interval`` of the error or accuracy by a bound among the measures, or ``none``.
    x
        What the x axis shows: ``row`` or ``time``. By default the times of the rows, if all runs carry them and they
        increase: dates in UTC, or seconds if they start near 0.
    size
        Width and height in inches; by default 7 inches wide, and as high as the panels need.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, NaiveBayes, Window, evaluate
    >>> results = evaluate(
    ...     SEA(n_rows=1000), [NaiveBayes(), MajorityClass()], forgetting=[Landmark(), Window(100)],
    ...     measures=["accuracy", "kappa"],
    ... )
    >>> [text.get_text() for text in curves(results).drawn.legends[0].get_texts()]
    ['NaiveBayes', 'MajorityClass']

    All measures of each learner, as lines:

    >>> figure = curves(results, ["accuracy", "kappa"], lines="measures")
    >>> [axes.get_title("left") for axes in figure.drawn.axes]
    ['NaiveBayes', 'MajorityClass']

    One learner under two forgettings:

    >>> figure = curves(results, forgettings=[Landmark(), Window(100)], learners=["NaiveBayes"])
    >>> [text.get_text() for text in figure.drawn.legends[0].get_texts()]
    ['over all rows', 'over the last 100 rows']
    """
    pooled = pool_runs(results)
    chosen = _Choice(
        streams=tuple(pooled.runs),
        learners=_choose_learners(pooled, learners),
        measures=_choose_names("measure", measures, [run.measures for run in pooled.runs.values()]),
        forgettings=_choose_names(
            "forgetting", list_forgettings(forgettings), [run.forgettings for run in pooled.runs.values()]
        ),
    )
    units = {measure: next(iter(pooled.runs.values())).unit(measure) for measure in chosen.measures}
    chosen_lines = _choose_lines(lines, chosen, units)
    panels = _list_panels(chosen, chosen_lines)
    chosen_x = choose_x(x, list(pooled.runs.values()))
    grid, title = _arrange(chosen, chosen_lines), _describe_common(chosen, chosen_lines, pooled)
    styles = {name: get_line_style(index) for index, name in enumerate(pooled.learners)}
    if chosen_lines != "learners":
        styles = {name: get_line_style(index) for index, name in enumerate(getattr(chosen, chosen_lines))}
    width, height = size or (7.0, 4.0 if len(panels) == 1 else 0.9 + 2.1 * grid[0])
    legend: dict[str, Artist] = {}
    with new_figure((width, height)) as figure:
        axes_grid = figure.subplots(*grid, squeeze=False)
        shared: dict[object, Axes] = {}
        for axes, panel in zip(axes_grid.flat, panels, strict=False):
            if (first := shared.setdefault((panel.streams, panel.measures), axes)) is not axes:
                axes.sharey(first)
            run = pooled.runs[panel.streams[0]]
            axis = Axis.of_run(run, chosen_x)
            legend |= _draw_panel(axes, axis, run, panel, lines=chosen_lines, styles=styles, band=band)
            unit = units[panel.measures[0]]
            label = label_measure(panel.measures[0], unit) if len(panel.measures) == 1 else _label_unit(unit)
            axes.set_ylabel(make_printable(label))
            _set_panel_title(axes, panel, chosen, chosen_lines, width / grid[1])
        remove_inner_labels(axes_grid, len(panels))
        if len(panels) == 1:
            axes_grid[0, 0].set_title(title)
        elif title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        n_lines = add_legend(figure, legend)
        if size is None:
            figure.set_figheight(height + 0.2 * max(0, n_lines - 2))
    return Figure(figure)


@dataclass(frozen=True)
class _Choice:
    """What a figure, or one of its panels, shows."""

    streams: tuple[str, ...]
    learners: tuple[str, ...]
    measures: tuple[str, ...]
    forgettings: tuple[str, ...]


def _choose_learners(pooled: PooledRuns, learners: Sequence[str] | None) -> tuple[str, ...]:
    for name in learners or ():
        if name not in pooled.learners:
            raise unknown_name(kind="learner", name=name, known=pooled.learners)
    return tuple(dict.fromkeys(learners or pooled.learners))


def _choose_names(kind: str, names: str | Sequence[str] | None, known: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the measures or forgettings to show, by default the first; raise if a run does not have one."""
    common = [name for name in known[0] if all(name in others for others in known)]
    if not common:
        held = "; ".join(dict.fromkeys(", ".join(others) for others in known))
        msg = f"the runs have no {kind} in common: {held}" if held else "the results contain no readings"
        raise StreamgaugeError(msg)
    wanted = [names] if isinstance(names, str) else list(names or common[:1])
    for name in wanted:
        if name not in common:
            raise unknown_name(kind=kind, name=name, known=common)
    return tuple(dict.fromkeys(wanted))


def _choose_lines(lines: Lines | None, chosen: _Choice, units: Mapping[str, str]) -> Lines:
    one_unit = len(set(units.values())) == 1
    if lines is None:
        several = len(chosen.learners) > 1, len(chosen.measures) > 1 and one_unit, len(chosen.forgettings) > 1
        return next((name for name, many in zip(get_args(Lines), several, strict=True) if many), "learners")
    if lines not in get_args(Lines):
        raise unknown_name(kind="kind of lines", name=lines, known=get_args(Lines))
    if lines == "measures" and not one_unit:
        held = join_words([f"{measure} ({unit})" for measure, unit in units.items()])
        msg = f"measures of different units cannot share a panel: {held}; choose others, or lines='learners'"
        raise StreamgaugeError(msg)
    return lines


def _list_panels(chosen: _Choice, lines: Lines) -> list[_Choice]:
    parts = vars(chosen)
    values = ([names] if part == lines else [(name,) for name in names] for part, names in parts.items())
    return [_Choice(**dict(zip(parts, panel, strict=True))) for panel in product(*values)]


def _list_several(chosen: _Choice, lines: Lines) -> list[str]:
    """Return what distinguishes the panels."""
    return [part for part, names in vars(chosen).items() if part != lines and len(names) > 1]


def _arrange(chosen: _Choice, lines: Lines) -> tuple[int, int]:
    """Return the rows and columns of the panels: one thing across where two differ, else two or three in a row."""
    several = _list_several(chosen, lines)
    numbers = [len(getattr(chosen, part)) for part in several]
    n = math.prod(numbers)
    columns = numbers[-1] if len(numbers) > 1 and numbers[-1] <= 3 else min(n, 2 if n in (2, 4) else 3)
    return -(-n // columns), columns


def _describe_common(chosen: _Choice, lines: Lines, pooled: PooledRuns) -> str:
    """Return what all panels have in common as a title."""
    several = {lines, *_list_several(chosen, lines)}
    learner = "" if "learners" in several else f"{make_printable(chosen.learners[0])}: "
    measure = "" if "measures" in several else make_printable(chosen.measures[0])
    phrase = "" if "forgettings" in several else make_printable(describe_forgetting(chosen.forgettings[0]))
    title = learner + " ".join(filter(None, (measure, phrase)))
    if pooled.n_seeds > 1:
        title = f"{title}, mean over {pooled.spread_over}".removeprefix(", ")
    return title.removesuffix(": ")


def _set_panel_title(axes: "Axes", panel: _Choice, chosen: _Choice, lines: Lines, width: float) -> None:
    """Set what distinguishes a panel as its title, in as many lines as it needs; the y axis names its measure."""
    several = _list_several(chosen, lines)
    parts = [name for part in ("streams", "learners") if part in several for name in getattr(panel, part)]
    if "forgettings" in several:
        parts.append(describe_forgetting(panel.forgettings[0]))
    wrapped = wrap(make_printable(", ".join(parts)), int((width - 0.5) / CHARACTER), max_lines=3, placeholder=" …")
    axes.set_title("\n".join(wrapped), fontsize=8.5, fontweight="normal")


def _label_unit(unit: str) -> str:
    return "%" if unit == RATE else unit


def _draw_panel(
    axes: "Axes",
    axis: Axis,
    run: RunData,
    panel: _Choice,
    *,
    lines: Lines,
    styles: Mapping[str, dict[str, Any]],
    band: Band,
) -> "dict[str, Artist]":
    """Draw the curves of a panel; return the entries of the legend, those of the lines first."""
    learners = [name for name in panel.learners if name in run.learners]
    colours = {name: styles[name]["color"] for name in learners} if lines == "learners" else {}
    marks = draw_marks(axes, axis, run, learners, colours)
    legend: dict[str, Artist] = {}
    for learner, measure, forgetting in product(learners, panel.measures, panel.forgettings):
        name = {"learners": learner, "measures": measure, "forgettings": forgetting}[lines]
        label = make_printable(describe_forgetting(name) if lines == "forgettings" else name)
        rows, curve = _compute_curve(run, learner, measure, forgetting, band)
        places = axis.place(rows)
        style, scale = styles[name], 100.0 if run.unit(measure) == RATE else 1.0
        if band != "none" and (run.n_folds > 1 or band == "interval"):
            axes.fill_between(places, scale * curve.low, scale * curve.high, color=style["color"], alpha=0.15, lw=0)
        marker = "." if len(rows) == 1 else None
        (legend[label],) = axes.plot(places, scale * curve.mean, label=label, marker=marker, **style)
    axis.style(axes)
    return legend | marks


def _compute_curve(
    run: RunData, learner: str, measure: str, forgetting: str, band: Band
) -> tuple[NDArray[np.int64], Curve]:
    """Return the curve of a learner with its band, downsampled."""
    if band == "interval":
        curve = _compute_interval(run, learner, measure, forgetting)
    else:
        folds = run.curve(learner, measure, forgetting).T
        curve = _compute_deviations(folds) if band == "deviation" else summarise_folds(folds)
    rows, downsampled = downsample_curves(run.rows, {learner: curve}, MAX_POINTS)
    return rows, downsampled[learner]


def _compute_deviations(values: NDArray[np.float64]) -> Curve:
    """Return the mean of folds [k, n], minus and plus their standard deviation."""
    defined = np.isfinite(values)
    n = defined.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=0) / n
        squares = np.where(defined, (values - mean) ** 2, 0.0).sum(axis=0)
        deviation = np.where(n > 1, np.sqrt(squares / (n - 1)), np.nan)
    return Curve(mean, mean - deviation, mean + deviation)


def _compute_interval(run: RunData, learner: str, measure: str, forgetting: str) -> Curve:
    """Return the means over folds of a measure and of the ends of its intervals."""
    bound = next((name for name in ("chernoff", "hoeffding") if name in run.measures), None)
    if bound is None:
        msg = "there are no intervals to draw: add the measure 'hoeffding' or 'chernoff' to the evaluation"
        raise StreamgaugeError(msg)
    low, high = run.interval(learner, measure, bound, forgetting)
    return Curve(*(summarise_folds(folds.T).mean for folds in (run.curve(learner, measure, forgetting), low, high)))
