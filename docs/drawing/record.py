"""What each picture shows, as words and numbers, in `docs/pictures/shown.json`: a test compares it with the code."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from streamgauge.plots import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PICTURES", "Shown", "describe_figure", "list_words", "read_record", "write_record"]

PICTURES = Path(__file__).parents[1] / "pictures"
RECORD = PICTURES / "shown.json"

Shown = dict[str, list[Any]]
"""The words of a picture, and the numbers that it draws or the answers that it gives."""

QUANTITY = re.compile(r"[-+±]?\d[\d.,]*(?:e[-+]?\d+)?(?:[KMG]?\b(?! )|%| (?:ms|s|min|h|kB|MB|GB)\b)?")


def read_record() -> dict[str, Shown]:
    """Return what each picture showed when it was made."""
    shown: dict[str, Shown] = json.loads(RECORD.read_text(encoding="utf-8"))
    return shown


def write_record(shown: dict[str, Shown]) -> None:
    """Replace what is recorded of some pictures."""
    record = (read_record() if RECORD.exists() else {}) | shown
    RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def list_words(text: str) -> list[str]:
    r"""Return the lines of a text without numbers, since costs and times differ on every machine.

    Examples
    --------
    >>> list_words("HoeffdingTree\t0.0399\t5,785,120\n\n time left 3.4 s")
    ['HoeffdingTree # #', 'time left #']
    """
    lines = (" ".join(line.split()) for line in QUANTITY.sub("#", text).splitlines())
    return [line for line in lines if line]


def describe_figure(figure: Figure, *, is_measured: bool = False) -> Shown:
    """Return the texts of a figure, and the means of what its axes draw unless it is measured on this machine."""
    from matplotlib.text import Text  # noqa: PLC0415

    drawn = figure.drawn
    drawn.draw_without_rendering()  # it makes the labels of the ticks
    texts = [text.get_text() for text in drawn.findobj(Text) if text.get_visible()]
    lines = [line for text in texts if re.search("[A-Za-z]", text) for line in text.splitlines()]
    if is_measured:
        words = " ".join(" ".join(lines).replace("─", "").split())  # numbers decide where lines break
        return {"words": list_words(words), "numbers": []}
    return {"words": lines, "numbers": [_summarise(axes) for axes in drawn.axes]}


def _summarise(axes: "Axes") -> list[float]:
    columns = [column for line in axes.lines for column in np.asarray(line.get_xydata(), dtype=float).T]
    columns += [np.asarray(image.get_array(), dtype=float).ravel() for image in axes.images]
    means = [float(np.nanmean(column)) for column in columns if np.isfinite(column).any()]
    return [float(f"{mean:.4g}") for mean in means]
