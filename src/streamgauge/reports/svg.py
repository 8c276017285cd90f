"""Pictures of the page that need no script: the Pareto front, and the diagram of critical differences."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from streamgauge._format.markup import Markup, tag
from streamgauge._format.numbers import RATE, format_value, label_measure
from streamgauge._format.palette import COLOURS
from streamgauge.reports.pareto import COSTS, Standing
from streamgauge.significance import Ranking

__all__ = ["pareto_picture", "ranks_picture"]

WIDTH, HEIGHT = 720, 320
LEFT, RIGHT, TOP, FOOT = 70, 110, 20, 50

Place = Callable[[float, float], tuple[float, float]]


def pareto_picture(found: Sequence[Standing], measure: str, unit: str) -> Markup:
    """Draw how good each learner is against its RAM-hours; those on the front are filled.

    Examples
    --------
    >>> pareto_picture([Standing("tree", 0.25, 0.9, on_front=True)], "accuracy", "rate").count("<circle")
    1
    """
    logs = [math.log10(max(standing.cost, 1e-15)) for standing in found]
    x_low, x_high = _widened(min(logs), max(logs), 0.3)
    values = [standing.value for standing in found]
    y_low, y_high = _widened(min(values), max(values), 0.02 if unit == RATE else 0.1)

    def place(log: float, value: float) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - RIGHT) * (log - x_low) / (x_high - x_low)
        return round(x, 1), round(TOP + (HEIGHT - TOP - FOOT) * (y_high - value) / (y_high - y_low), 1)

    marks = [*_cost_axis(x_low, x_high, place), *_value_axis(y_low, y_high, unit, place)]
    front = sorted(place(log, standing.value) for log, standing in zip(logs, found, strict=True) if standing.on_front)
    for (x1, y1), (x2, y2) in pairwise(front):
        marks.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y1, class_="front"))
        marks.append(tag("line", x1=x2, y1=y1, x2=x2, y2=y2, class_="front"))
    for at, (log, standing) in enumerate(zip(logs, found, strict=True)):
        x, y = place(log, standing.value)
        kind = f"curve-{at % len(COLOURS)}" + ("" if standing.on_front else " hollow")
        marks.append(tag("circle", cx=x, cy=y, r=5, class_=kind))
        anchor = "end" if x + 8 * len(standing.learner) > WIDTH else "start"
        marks.append(tag("text", standing.learner, x=x + (-6 if anchor == "end" else 6), y=y - 8, text_anchor=anchor))
    marks.append(tag("text", COSTS["ram_hours"], x=WIDTH - RIGHT, y=HEIGHT - 8, class_="axis", text_anchor="end"))
    marks.append(tag("text", label_measure(measure, unit), x=8, y=TOP - 6, class_="axis"))
    named = ", ".join(standing.learner for standing in found if standing.on_front)
    label = f"{measure} against {COSTS['ram_hours']}; on the Pareto front: {named}"
    return _picture(marks, WIDTH, HEIGHT, label)


def ranks_picture(ranking: Ranking) -> Markup:
    """Draw learners on a line of mean ranks, with a bar over those that cannot be told apart.

    Examples
    --------
    >>> from streamgauge.significance import rank_table
    >>> ranks_picture(rank_table([[0.9, 0.7], [0.8, 0.6]], ["tree", "bayes"])).count("<circle")
    4
    """
    k = len(ranking.learners)
    means = dict(zip(ranking.learners, ranking.mean_ranks.tolist(), strict=True))
    left, right = 24, WIDTH - 24
    top = 64 if ranking.post_hoc == "nemenyi" else 40

    def across(mean: float) -> float:
        return round(left + (right - left) * (mean - 1) / max(k - 1, 1), 1)

    marks = [_line(across(1), top, across(k), top, "scale")]
    for whole in range(1, k + 1):
        marks.append(_line(across(whole), top - 6, across(whole), top, "scale"))
        marks.append(tag("text", str(whole), x=across(whole), y=top - 12, class_="axis", text_anchor="middle"))
    if ranking.post_hoc == "nemenyi":
        stop = 1 + ranking.critical_difference
        marks.append(_line(across(1), 18, across(min(stop, k)), 18, "scale"))
        text = f"critical difference {ranking.critical_difference:.2f}"
        marks.append(tag("text", text, x=across(1), y=12, class_="axis"))
    y = top + 18.0
    for group in ranking.groups:
        places = [across(means[name]) for name in group]
        marks.append(_line(min(places), y, max(places), y, "bar"))
        marks.extend(tag("circle", cx=place, cy=y, r=5) for place in places)
        y += 16
    for at, name in enumerate(ranking.order):
        y += 24
        x = across(means[name])
        marks.append(_line(x, top, x, y - 4, "stem"))
        marks.append(tag("circle", cx=x, cy=top, r=4, class_=f"curve-{ranking.learners.index(name) % len(COLOURS)}"))
        anchor = "start" if at < (k + 1) // 2 else "end"
        shift = 5 if anchor == "start" else -5
        marks.append(tag("text", f"{means[name]:.2f} {name}", x=x + shift, y=y, text_anchor=anchor))
    best_first = ", ".join(f"{name} {means[name]:.2f}" for name in ranking.order)
    return _picture(marks, WIDTH, round(y + 16), f"Mean ranks, the best first: {best_first}")


def _cost_axis(low: float, high: float, place: Place) -> list[Markup]:
    return [
        mark
        for power in range(math.ceil(low), math.floor(high) + 1)
        for x in [place(power, 0.0)[0]]
        for mark in (
            _line(x, TOP, x, HEIGHT - FOOT, "grid"),
            tag("text", f"1e{power}", x=x, y=HEIGHT - FOOT + 16, class_="axis", text_anchor="middle"),
        )
    ]


def _value_axis(low: float, high: float, unit: str, place: Place) -> list[Markup]:
    return [
        mark
        for step in range(5)
        for value in [low + (high - low) * step / 4]
        for y in [place(0.0, value)[1]]
        for mark in (
            _line(LEFT, y, WIDTH - RIGHT, y, "grid"),
            tag("text", format_value(value, unit), x=LEFT - 8, y=y + 4, class_="axis", text_anchor="end"),
        )
    ]


def _widened(low: float, high: float, least: float) -> tuple[float, float]:
    margin = max(0.1 * (high - low), least)
    return low - margin, high + margin


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)


def _picture(marks: Sequence[Markup], width: int, height: int, label: str) -> Markup:
    drawn = tag("svg", *marks, class_="picture", viewBox=f"0 0 {width} {height}", role="img", aria_label=label)
    return tag("div", drawn, class_="scroll pictured", tabindex=0, role="group", aria_label="picture")
