"""How parts hang together, and what a terminal shows."""

from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from streamgauge._format.palette import COLOURS
from streamgauge.cli.main import cli
from streamgauge.plots import Figure
from streamgauge.plots.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["command_line", "live"]

Boxes = dict[str, tuple[float, float, str]]
Arrows = list[tuple[str, str, str]]


def _diagram(axes: "Axes", boxes: Boxes, arrows: Arrows) -> None:
    """Draw boxes by name at their places, with a colour of the palette each, and arrows between them with words."""
    drawn = {}
    for name, (x, y, colour) in boxes.items():
        frame = {"boxstyle": "round,pad=0.5", "facecolor": "w", "edgecolor": colour, "linewidth": 1.5}
        drawn[name] = axes.text(x, y, name, ha="center", va="center", bbox=frame, fontsize=8.5)
    for start, stop, words in arrows:
        path = {"arrowstyle": "-|>", "color": "#5a6676", "shrinkA": 0, "shrinkB": 0}
        frames = {"patchA": drawn[start].get_bbox_patch(), "patchB": drawn[stop].get_bbox_patch()}
        (x, y, _), (to_x, to_y, _) = boxes[start], boxes[stop]
        axes.annotate("", (to_x, to_y), (x, y), arrowprops=path | frames)
        if words:
            level = abs(to_y - y) < 0.3
            place: Any = {"ha": "center", "va": "bottom"} if level else {"ha": "left", "va": "center"}
            axes.annotate(
                words, ((x + to_x) / 2, (y + to_y) / 2), (0, 4) if level else (5, 0), textcoords="offset points",
                fontsize=7.5, color="#5a6676", **place,
            )  # fmt: skip
    axes.set_axis_off()


def live() -> Figure:
    """Show the way of an event: where it comes from, what it waits for, and what becomes of it."""
    boxes: Boxes = {
        "rows\n(Kafka, Redis, file,\nsocket, HTTP)": (0.0, 2.0, COLOURS[0]),
        "labels\n(another topic,\nfile, address)": (0.0, 0.4, COLOURS[0]),
        "decoded\nand checked": (2.5, 1.2, COLOURS[0]),
        "joined by key; wait\nfor each other, at\nmost `patience`": (5.0, 1.2, COLOURS[2]),
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
        _diagram(axes, boxes, arrows)
        axes.set_xlim(-1.2, 9.3)
        axes.set_ylim(-1.2, 2.6)
    return Figure(figure)


def command_line() -> Figure:
    """Show a terminal in which a comparison was run."""
    words = ["compare", "--stream", "RandomRBF(speed=0.0001)", "--rows", "20000", "--scheme", "Bootstrap(10)"]
    words += ["--learner", "HoeffdingTree", "--learner", "NaiveBayes", "--measure", "accuracy", "--measure", "kappa_m"]
    outcome = CliRunner().invoke(cli, words, env={"COLUMNS": "112", "NO_COLOR": "1"})
    typed = '$ streamgauge compare --stream "RandomRBF(speed=0.0001)" --rows 20000 --scheme "Bootstrap(10)" \\\n'
    typed += "    --learner HoeffdingTree --learner NaiveBayes --measure accuracy --measure kappa_m\n"
    text = typed + outcome.output.rstrip()
    with new_figure((8.2, 0.131 * (text.count("\n") + 2))) as figure:
        figure.set_facecolor("#16202b")
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.text(0.0, 1.0, text, va="top", family="DejaVu Sans Mono", fontsize=7.5, color="#e6ebf0", linespacing=1.3)
    return Figure(figure)
