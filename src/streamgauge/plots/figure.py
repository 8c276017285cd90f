"""Reproducible figure files, and the common style of all figures."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.palette import COLOURS, DASHES
from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.output_files import replace_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

__all__ = [
    "FORMATS",
    "Figure",
    "check_suffix",
    "fit_readings",
    "for_paper",
    "get_line_style",
    "get_scale",
    "new_figure",
    "remove_inner_labels",
]

FORMATS = (".pdf", ".png", ".svg")
"""The suffixes of figure files."""

STYLE = {
    "font.family": "DejaVu Sans",  # ships with Matplotlib, so figures look the same everywhere
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
    "pdf.fonttype": 42,  # TrueType: text remains text
    "svg.fonttype": "none",
    "svg.hashsalt": "streamgauge",
}

PAPER = {
    "font.family": "STIXGeneral",  # like Times; ships with Matplotlib
    "mathtext.fontset": "stix",
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.titleweight": "normal",
    "axes.labelcolor": "black",
    "axes.linewidth": 0.6,
    "xtick.color": "black",
    "ytick.color": "black",
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
}
"""What figures in the column of a paper have in place of `STYLE`."""

_in_paper: ContextVar[bool] = ContextVar("in_paper", default=False)

# Removes the time and the software version, so that the same figure gives the same bytes.
METADATA: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None, "Creator": "streamgauge", "Producer": None},
    ".png": {"Software": "streamgauge"},
    ".svg": {"Date": None, "Creator": "streamgauge"},
}


class Figure:
    """A drawn figure; a notebook displays it, and `save` writes it.

    Parameters
    ----------
    drawn
        The Matplotlib figure, for further changes.

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
        """Write it to a .png, .svg or .pdf file; the same figure gives the same bytes."""
        path = check_suffix(path)
        content = self._render(path.suffix.lower(), dpi)
        try:
            with replace_atomically(path) as temporary:
                temporary.write_bytes(content)
        except OSError as error:
            msg = f"cannot write {path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        return path

    def to_bytes(self, suffix: str, *, dpi: int = 200) -> bytes:
        """Return the content of its file; the same figure gives the same bytes."""
        return self._render(suffix, dpi)

    def _repr_png_(self) -> bytes:
        return self._render(".png", 100)

    def _render(self, suffix: str, dpi: int) -> bytes:
        out = io.BytesIO()
        with library("matplotlib", "plots").rc_context(STYLE):
            self.drawn.savefig(
                out, format=suffix[1:], dpi=dpi, metadata=METADATA[suffix], bbox_inches="tight", pad_inches=0.08
            )
        return out.getvalue()


def check_suffix(path: Path | str) -> Path:
    """Return the path of a figure file; raise if figures cannot be written in its format.

    Examples
    --------
    >>> check_suffix("curves.pdf").suffix
    '.pdf'
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        msg = f"{path}: the name of a figure file must end in {', '.join(FORMATS)}"
        raise StreamgaugeError(msg)
    return path


@contextmanager
def for_paper() -> Iterator[None]:
    """Draw the figures within it for the column of a paper: small serif type, and nothing that a caption says.

    Examples
    --------
    >>> with for_paper(), new_figure((3.35, 2)) as drawn:
    ...     get_scale()
    0.6
    """
    token = _in_paper.set(True)
    try:
        yield
    finally:
        _in_paper.reset(token)


def get_scale() -> float:
    """Return how wide the type of legends is, as a multiple of that of the screen; less than 1 in `for_paper`.

    Examples
    --------
    >>> get_scale()
    1.0
    """
    return 0.6 if _in_paper.get() else 1.0


@contextmanager
def new_figure(size: tuple[float, float]) -> Iterator["Drawn"]:
    """Yield an empty figure of a width and height in inches, within the common style or that of `for_paper`.

    Examples
    --------
    >>> with new_figure((4, 3)) as drawn:
    ...     axes = drawn.add_subplot()
    >>> axes.spines["top"].get_visible()
    False
    """
    matplotlib, figure = library("matplotlib", "plots"), library("matplotlib.figure", "plots")
    with matplotlib.rc_context({**STYLE, **PAPER} if _in_paper.get() else STYLE):
        yield figure.Figure(figsize=size, layout="constrained")


def fit_readings(figure: Figure) -> None:
    """Fit the y axes to the curves after the first sixth of the rows, since first readings may differ widely.

    Examples
    --------
    >>> with new_figure((4, 3)) as drawn:
    ...     _ = drawn.add_subplot().plot(range(13), [0.1, 0.5, *[0.9, 0.8] * 5, 0.9])
    >>> fit_readings(Figure(drawn))
    >>> [round(float(end), 3) for end in drawn.axes[0].get_ylim()]
    [0.792, 0.908]
    """
    for axes in figure.drawn.axes:
        values = []
        for line in axes.get_lines():
            x, y = (np.asarray(column, dtype=np.float64) for column in line.get_data())
            if len(x) > 2:  # no mark of a drift
                values.append(y[x > x[0] + (x[-1] - x[0]) / 6])
        known = np.concatenate([part[np.isfinite(part)] for part in values]) if values else np.empty(0)
        if len(known):
            low, high = float(known.min()), float(known.max())
            margin = 0.08 * (high - low) or 1.0
            least, most = axes.get_ylim()
            axes.set_ylim(max(low - margin, least), min(high + margin, most))


def get_line_style(position: int) -> dict[str, Any]:
    """Return the colour and dash pattern of the learner at a position.

    Examples
    --------
    >>> get_line_style(0)["color"]
    '#0072b2'
    """
    dash, width = DASHES[position % len(DASHES)], 1.5
    style: Any = (0, tuple(length / 2 for length in dash)) if dash else "-"
    return {"color": COLOURS[position % len(COLOURS)], "linestyle": style, "linewidth": width}


def remove_inner_labels(grid: NDArray[Any], n_panels: int) -> None:
    """Remove labels that the panel below, or the one to the left, has as well, and axes without a panel.

    Examples
    --------
    >>> with new_figure((4, 3)) as drawn:
    ...     grid = drawn.subplots(1, 2, squeeze=False)
    >>> for axes in grid.flat:
    ...     _ = axes.set_ylabel("error %")
    >>> remove_inner_labels(grid, 2)
    >>> [axes.get_ylabel() for axes in grid.flat]
    ['error %', '']
    """
    panels: list[Axes] = list(grid.flat)
    n_columns = grid.shape[1]
    labels = [axes.get_ylabel() for axes in panels]
    for index, axes in enumerate(panels):
        if index >= n_panels:
            axes.set_axis_off()
        if index + n_columns < n_panels:
            axes.set_xlabel("")
        else:
            axes.tick_params(labelbottom=True)
        if index % n_columns and labels[index] == labels[index - 1]:
            axes.set_ylabel("")
