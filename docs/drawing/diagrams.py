"""Diagrams: the path of an event, and the output on a terminal."""

import shlex
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from streamgauge._format.palette import COLOURS
from streamgauge.cli.main import cli
from streamgauge.plots import Figure
from streamgauge.plots.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_command_line", "draw_gauge", "draw_live"]

Boxes = dict[str, tuple[float, float, str]]
Arrows = list[tuple[str, str, str]]


def _draw_diagram(axes: "Axes", boxes: Boxes, arrows: Arrows) -> None:
    """Draw boxes (text: x, y, colour) and labelled arrows between them."""
    texts = {}
    for name, (x, y, colour) in boxes.items():
        frame = {"boxstyle": "round,pad=0.5", "facecolor": "w", "edgecolor": colour, "linewidth": 1.5}
        texts[name] = axes.text(x, y, name, ha="center", va="center", bbox=frame, fontsize=8.5)
    for start, stop, label in arrows:
        path = {"arrowstyle": "-|>", "color": "#5a6676", "shrinkA": 0, "shrinkB": 0}
        frames = {"patchA": texts[start].get_bbox_patch(), "patchB": texts[stop].get_bbox_patch()}
        (x, y, _), (to_x, to_y, _) = boxes[start], boxes[stop]
        axes.annotate("", (to_x, to_y), (x, y), arrowprops=path | frames)
        if label:
            level = abs(to_y - y) < 0.3
            alignment: Any = {"ha": "center", "va": "bottom"} if level else {"ha": "left", "va": "center"}
            axes.annotate(
                label, ((x + to_x) / 2, (y + to_y) / 2), (0, 4) if level else (5, 0), textcoords="offset points",
                fontsize=7.5, color="#5a6676", **alignment,
            )  # fmt: skip
    axes.set_axis_off()


def draw_live() -> Figure:
    """Draw the path of an event from its source to the loop."""
    boxes: Boxes = {
        "rows\n(Kafka, Redis, file,\nsocket, HTTP)": (0.0, 2.0, COLOURS[0]),
        "labels\n(another topic,\nfile, address)": (0.0, 0.4, COLOURS[0]),
        "decoded\nand checked": (2.5, 1.2, COLOURS[0]),
        "joined by key; wait\nfor each other up\nto `patience`": (5.0, 1.2, COLOURS[2]),
        "the loop:\ntest, learn, read": (8.0, 1.2, COLOURS[2]),
        "dead_letters.jsonl": (3.75, -0.7, COLOURS[1]),
        "checkpoint, then\ncommit to the broker": (8.0, -0.7, COLOURS[4]),
    }
    rows, labels, decoded, joined, loop, dead, checkpoint = boxes
    arrows: Arrows = [
        (rows, decoded, ""),
        (labels, decoded, ""),
        (decoded, joined, ""),
        (joined, loop, "in order"),
        (decoded, dead, "malformed"),
        (joined, dead, "duplicate, late,\nunmatched"),
        (loop, checkpoint, "offsets"),
    ]
    with new_figure((7.5, 3.0)) as figure:
        axes = figure.add_subplot()
        _draw_diagram(axes, boxes, arrows)
        axes.set_xlim(-1.2, 9.3)
        axes.set_ylim(-1.2, 2.6)
    return Figure(figure)


def draw_gauge() -> Figure:
    """Draw what goes into a gauge and what comes out."""
    boxes: Boxes = {
        "your loop:\nservice, consumer,\nscript": (0.0, 1.2, COLOURS[0]),
        "predictions wait\nfor labels by key,\nup to `patience`": (3.0, 2.2, COLOURS[2]),
        "rows: label, prediction\nof each model": (3.0, 0.2, COLOURS[2]),
        "the gauge: tallies,\nmeasures, verdicts": (6.0, 1.2, COLOURS[2]),
        "reading, curve,\nreport, metrics": (9.0, 2.2, COLOURS[4]),
        "webhook, command,\nfunction": (9.0, 0.2, COLOURS[1]),
    }
    loop, waiting, rows, gauge, reading, sinks = boxes
    arrows: Arrows = [
        (loop, waiting, "by key"),
        (loop, rows, "update"),
        (waiting, gauge, "joined"),
        (rows, gauge, ""),
        (gauge, reading, "read"),
        (gauge, sinks, "notify"),
    ]
    with new_figure((7.5, 2.6)) as figure:
        axes = figure.add_subplot()
        _draw_diagram(axes, boxes, arrows)
        axes.set_xlim(-1.2, 10.2)
        axes.set_ylim(-0.5, 2.9)
    return Figure(figure)


def draw_command_line() -> Figure:
    """Draw a terminal with the output of a comparison."""
    command = (
        'streamgauge compare --stream "RandomRBF(speed=0.0001)" --rows 20000 --scheme "Bootstrap(10)" \\\n'
        "    --learner HoeffdingTree --learner NaiveBayes --measure accuracy --measure kappa_m"
    )
    arguments = shlex.split(command.replace("\\\n", ""))[1:]
    outcome = CliRunner().invoke(cli, arguments, env={"COLUMNS": "112", "NO_COLOR": "1"})
    text = f"$ {command}\n{outcome.output.rstrip()}"
    with new_figure((8.2, 0.131 * (text.count("\n") + 2))) as figure:
        figure.set_facecolor("#16202b")
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.text(0.0, 1.0, text, va="top", family="DejaVu Sans Mono", fontsize=7.5, color="#e6ebf0", linespacing=1.3)
    return Figure(figure)
