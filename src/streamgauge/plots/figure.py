"""A figure that can be saved, the same bytes each time, and how all figures look."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge._format.palette import COLOURS, DASHES
from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.output_files import replace_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

__all__ = ["FORMATS", "Figure", "blank", "line_style", "tidy"]

FORMATS = (".pdf", ".png", ".svg")
"""What the name of a file for a figure may end in."""

STYLE = {
    "font.family": "DejaVu Sans",  # Matplotlib brings it, so figures look the same everywhere
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#5a6676",
    "axes.edgecolor": "#5a6676",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": "#5a6676",
    "ytick.color": "#5a6676",
    "grid.color": "#e8ecf0",
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "none",
    "svg.hashsalt": "streamgauge",
}

# What would otherwise hold the time at which a file was written, or by what.
METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None, "Creator": "streamgauge", "Producer": None},
    ".png": {"Software": "streamgauge"},
    ".svg": {"Date": None, "Creator": "streamgauge"},
}


class Figure:
    """A drawn figure; a notebook shows it, and `save` writes it.

    Parameters
    ----------
    drawn
        The figure of Matplotlib, for whoever wants to change something about it.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate, plots
    >>> figure = plots.curves(evaluate(SEA(n_rows=1000), NoChange()))
    >>> figure.drawn.axes[0].get_ylabel()
    'accuracy %'
    """

    def __init__(self, drawn: "Drawn") -> None:
        self.drawn = drawn

    def save(self, path: Path | str, *, dpi: int = 200) -> Path:
        """Write it to a file that ends in .png, .svg or .pdf; the same figure gives the same bytes."""
        path = Path(path)
        if path.suffix.lower() not in FORMATS:
            msg = f"{path}: a figure is written to a file that ends in {', '.join(FORMATS)}"
            raise StreamgaugeError(msg)
        written = self._written(path.suffix.lower(), dpi)
        try:
            with replace_atomically(path) as temporary:
                temporary.write_bytes(written)
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        return path

    def _repr_png_(self) -> bytes:
        return self._written(".png", 100)

    def _written(self, ending: str, dpi: int) -> bytes:
        out = io.BytesIO()
        with library("matplotlib", "plots").rc_context(STYLE):
            self.drawn.savefig(
                out, format=ending[1:], dpi=dpi, metadata=METADATA[ending], bbox_inches="tight", pad_inches=0.08
            )
        return out.getvalue()


@contextmanager
def blank(size: tuple[float, float]) -> Iterator["Drawn"]:
    """Give an empty figure of a width and height in inches, to be drawn in the style of all figures.

    Examples
    --------
    >>> with blank((4, 3)) as drawn:
    ...     axes = drawn.add_subplot()
    >>> axes.spines["top"].get_visible()
    False
    """
    matplotlib, figure = library("matplotlib", "plots"), library("matplotlib.figure", "plots")
    with matplotlib.rc_context(STYLE):
        yield figure.Figure(figsize=size, layout="constrained")


def line_style(position: int) -> dict[str, Any]:
    """Give the colour and dash of the learner at a position.

    Examples
    --------
    >>> line_style(0)["color"]
    '#0072b2'
    """
    dash, width = DASHES[position % len(DASHES)], 1.5
    style: Any = (0, tuple(length / 2 for length in dash)) if dash else "-"
    return {"color": COLOURS[position % len(COLOURS)], "linestyle": style, "linewidth": width}


def tidy(axes: "Axes", n_rows: int) -> None:
    """Give axes over the rows of a stream their grid, limits and short numbers.

    Examples
    --------
    >>> with blank((4, 3)) as drawn:
    ...     tidy(drawn.add_subplot(), 1000)
    >>> drawn.axes[0].get_xlabel()
    'rows'
    """
    axes.grid(visible=True)
    axes.set_xlim(0, max(n_rows, 1))
    axes.set_xlabel("rows")
    axes.xaxis.set_major_formatter(library("matplotlib.ticker", "plots").FuncFormatter(_short))


def _short(number: float, _: int) -> str:
    for scale, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= scale:
            return f"{number / scale:g}{letter}"
    return f"{number:g}"
