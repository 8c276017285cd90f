"""SVG drawings that need no script: legend keys, the Pareto front, mean ranks and small curves."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import RATE, format_value, label_measure
from streamgauge._format.palette import COLOURS, DASHES
from streamgauge.reports.curves import Curve, downsample_curves
from streamgauge.reports.pareto import COSTS, ParetoPoint
from streamgauge.significance import Ranking

__all__ = ["draw_key", "draw_pareto", "draw_ranks", "draw_small_curves", "wrap_picture"]

WIDTH, HEIGHT = 460, 320
LEFT, RIGHT, TOP, FOOT = 56, 24, 28, 50

LETTER = 7.2
"""The width of a letter, at most for nearly all names."""

SMALL = (320, 170)
"""Width and height of a small picture."""

SMALL_POINTS = 120
"""The most points of a curve in it."""

Projection = Callable[[float, float], tuple[float, float]]


def draw_key(position: int) -> Markup:
    """Return the legend key of the learner at a position: a short stroke, the same in tables, legends and charts.

    Examples
    --------
    >>> "curve-1" in draw_key(8) and "2 3" in draw_key(8)
    True
    """
    dash = " ".join(str(length) for length in DASHES[position % len(DASHES)])
    line = tag("line", x1=1, y1=5, x2=31, y2=5, stroke_dasharray=dash or None)
    return tag("svg", line, class_=f"key curve-{position % len(COLOURS)}", viewBox="0 0 32 10", aria_hidden="true")


def draw_pareto(points: Sequence[ParetoPoint], measure: str, unit: str) -> Markup:
    """Draw the value of each learner against its RAM-hours; points on the Pareto front are filled.

    Examples
    --------
    >>> draw_pareto([ParetoPoint("tree", 0.25, 0.9, on_front=True)], "accuracy", "rate").count("<circle")
    1
    """
    logs = [math.log10(max(point.cost, 1e-15)) for point in points]
    x_low, x_high = _widen(min(logs), max(logs), 0.3)
    values = [point.value for point in points]
    y_low, y_high = _widen(min(values), max(values), 0.02 if unit == RATE else 0.1)

    def project(log: float, value: float) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * (log - x_low) / (x_high - x_low)
        return round(x, 1), round(TOP + (HEIGHT - TOP - FOOT) * (y_high - value) / (y_high - y_low), 1)

    marks = [*_draw_cost_axis(x_low, x_high, project), *_draw_value_axis(y_low, y_high, unit, project)]
    front = sorted(project(log, point.value) for log, point in zip(logs, points, strict=True) if point.on_front)
    places = [project(log, point.value) for log, point in zip(logs, points, strict=True)]
    boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]  # no name covers a point or a line
    for (x1, y1), (x2, y2) in pairwise(front):
        for ends in ((x1, y1, x2, y1), (x2, min(y1, y2), x2, max(y1, y2))):
            marks.append(_draw_line(*ends, "front"))
            boxes.append(ends)
    for position, (point, (x, y)) in enumerate(zip(points, places, strict=True)):
        kind = f"curve-{position % len(COLOURS)}" + ("" if point.on_front else " hollow")
        marks.append(tag("circle", cx=x, cy=y, r=5, class_=kind))
        marks.append(_place_name(point.learner, x, y, boxes))
    marks.append(tag("text", COSTS["ram_hours"], x=WIDTH - RIGHT, y=HEIGHT - 8, class_="axis", text_anchor="end"))
    marks.append(tag("text", label_measure(measure, unit), x=8, y=TOP - 14, class_="axis"))
    front_names = ", ".join(point.learner for point in points if point.on_front)
    label = f"{measure} against {COSTS['ram_hours']}; on the Pareto front: {front_names}"
    return wrap_picture(marks, WIDTH, HEIGHT, label)


def _place_name(name: str, x: float, y: float, boxes: list[tuple[float, float, float, float]]) -> Markup:
    """Write a name beside a point where it covers nothing else; `boxes` has the left, top, right and foot of the rest.

    Names longer than the plot is wide begin left of it, over the numbers of the axis.
    """
    wide = LETTER * len(name)
    left = max(min(max(x - wide / 2, LEFT + 4), WIDTH - wide - 4), 4)
    tries = [y + step for pair in ((-10 - 15 * k, 20 + 15 * k) for k in range(6)) for step in pair]
    feet = [foot for foot in tries if TOP - 8 < foot < HEIGHT - FOOT] or [y - 10]

    def is_free(foot: float) -> bool:
        return all(foot + 3 < t or foot - 11 > f or left > r or left + wide < start for start, t, r, f in boxes)

    foot = next(filter(is_free, feet), feet[0])
    boxes.append((left, foot - 10, left + wide, foot + 2))
    return tag("text", name, x=round(left + wide / 2, 1), y=round(foot, 1), text_anchor="middle")


def draw_ranks(ranking: Ranking) -> Markup:
    """Draw the mean ranks, a line for each learner, and bars that join learners that do not differ.

    Names and numbers have a line of their own, so that they cannot collide however close the ranks are.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> draw_ranks(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).count("<circle")
    4
    """
    k, step = len(ranking.learners), 40
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    left, right, top = 14, 330, 34
    width = right + 60 + 16 * len(ranking.groups)
    bottom = top + step * k + 8
    ys = {name: top + step * (index + 0.8) for index, name in enumerate(ranking.order)}

    def project(mean: float) -> float:
        return round(left + (right - left) * (mean - 1) / max(k - 1, 1), 1)

    marks = [_draw_line(left, top, right, top, "scale")]
    for whole in range(1, k + 1):
        marks.append(_draw_line(project(whole), top, project(whole), bottom, "grid"))
        marks.append(tag("text", str(whole), x=project(whole), y=top - 8, class_="axis", text_anchor="middle"))
    if ranking.post_hoc == "nemenyi":
        stop = 1 + ranking.critical_difference
        bottom += 28
        marks.append(_draw_line(project(1), bottom - 16, project(min(stop, k)), bottom - 16, "bar"))
        text = f"critical difference {ranking.critical_difference:.2f}"
        marks.append(tag("text", text, x=project(1), y=bottom, class_="axis"))
    for name, y in ys.items():
        x, colour = project(means[name]), ranking.learners.index(name) % len(COLOURS)
        marks.append(_draw_line(left, y, x, y, "stem"))
        marks.append(tag("circle", cx=x, cy=y, r=5, class_=f"curve-{colour}"))
        marks.append(tag("text", name, x=left, y=y - 11))
        marks.append(tag("text", f"{means[name]:.2f}", x=x + 10, y=y + 4))
    for index, group in enumerate(ranking.groups):
        x = right + 58 + 16 * index
        marks.append(_draw_line(x, ys[group[0]], x, ys[group[-1]], "bar"))
        marks.extend(tag("circle", cx=x, cy=ys[name], r=4) for name in group)
    best_first = ", ".join(f"{name} {means[name]:.2f}" for name in ranking.order)
    return wrap_picture(marks, width, round(bottom + 8), f"Mean ranks, best first: {best_first}")


def draw_small_curves(curves: Mapping[int, Curve], rows: NDArray[np.int64], unit: str, label: str) -> Markup:
    """Draw the curves of learners, by their positions, in a small picture with its own scale.

    It has its colours in attributes, so that it looks the same where there are no styles, as in a notebook.

    Examples
    --------
    >>> line = Curve(*np.array([[0.5, 0.75]] * 3))
    >>> draw_small_curves({0: line}, np.array([10, 20]), "rate", "accuracy on SEA").count("<polyline")
    1
    """
    rows, thin = downsample_curves(rows, {str(key): curve for key, curve in curves.items()}, SMALL_POINTS)
    values = {key: thin[str(key)].mean for key in curves}
    finite = np.concatenate([line[np.isfinite(line)] for line in values.values()] or [np.zeros(0)])
    low, high = (
        _widen(float(finite.min()), float(finite.max()), 0.005 if unit == RATE else 1e-9) if len(finite) else (0, 1)
    )
    left, right, top, foot = 46, SMALL[0] - 8, 8, SMALL[1] - 22
    span = max(int(rows[-1]) - int(rows[0]), 1) if len(rows) else 1
    marks = []
    for share in (0.0, 0.5, 1.0):
        y = foot - (foot - top) * share
        marks.append(tag("line", x1=left, y1=y, x2=right, y2=y, class_="grid", stroke="#dde2e8"))
        text = format_value(low + (high - low) * share, unit)
        marks.append(_draw_small_text(text, left - 5, y + 4, "end"))
    for share, anchor in ((0.0, "start"), (1.0, "end")):
        at = f"{int(rows[0]) + round(span * share):,}" if len(rows) else ""
        x = left + (right - left) * share
        marks.append(_draw_small_text(at, x, SMALL[1] - 5, anchor))
    for key, line in values.items():
        dash = " ".join(map(str, DASHES[key % len(DASHES)])) or None
        for piece in np.split(np.arange(len(line)), np.flatnonzero(~np.isfinite(line))):
            kept = piece[np.isfinite(line[piece])]
            xs = left + (right - left) * (rows[kept] - rows[0]) / span
            ys = foot - (foot - top) * (line[kept] - low) / ((high - low) or 1.0)
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
            if points:
                marks.append(_draw_small_line(points, key % len(COLOURS), dash))
    size = f"0 0 {SMALL[0]} {SMALL[1]}"
    return tag("svg", *marks, class_="picture small", viewBox=size, role="img", aria_label=label)


def _draw_small_text(text: str, x: float, y: float, anchor: str) -> Markup:
    style = {"fill": "#5a6676", "font_size": "11", "font_family": "sans-serif"}
    return tag("text", text, x=x, y=y, class_="axis", text_anchor=anchor, **style)


def _draw_small_line(points: str, colour: int, dash: str | None) -> Markup:
    style = {"fill": "none", "stroke": COLOURS[colour], "stroke_width": "1.6", "stroke_dasharray": dash}
    return tag("polyline", points=points, class_=f"curve-{colour}", **style)


def _draw_cost_axis(low: float, high: float, project: Projection) -> list[Markup]:
    return [
        mark
        for power in range(math.ceil(low), math.floor(high) + 1)
        for x in [project(power, 0.0)[0]]
        for mark in (
            _draw_line(x, TOP, x, HEIGHT - FOOT, "grid"),
            tag("text", f"1e{power}", x=x, y=HEIGHT - FOOT + 16, class_="axis", text_anchor="middle"),
        )
    ]


def _draw_value_axis(low: float, high: float, unit: str, project: Projection) -> list[Markup]:
    return [
        mark
        for step in range(5)
        for value in [low + (high - low) * step / 4]
        for y in [project(0.0, value)[1]]
        for mark in (
            _draw_line(LEFT, y, WIDTH - RIGHT, y, "grid"),
            tag("text", format_value(value, unit), x=LEFT - 8, y=y + 4, class_="axis", text_anchor="end"),
        )
    ]


def _widen(low: float, high: float, min_margin: float) -> tuple[float, float]:
    margin = max(0.1 * (high - low), min_margin)
    return low - margin, high + margin


def _draw_line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)


def wrap_picture(marks: Sequence[Markup], width: int, height: int, label: str) -> Markup:
    """Return a drawing of marks in a box, as large as its text is meant to be, or as small as the page is.

    Examples
    --------
    >>> 'aria-label="ranks"' in wrap_picture([], 100, 50, "ranks")
    True
    """
    box = f"0 0 {width} {height}"
    drawing = tag("svg", *marks, class_="picture", viewBox=box, width=width, role="img", aria_label=label)
    return tag("div", drawing, class_="pictured")
