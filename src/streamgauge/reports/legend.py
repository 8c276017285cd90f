"""The key of a learner on a page: a short stroke, drawn the same in tables, legends and charts."""

from streamgauge._format.markup import Markup, tag
from streamgauge._format.palette import COLOURS, DASHES

__all__ = ["key"]


def key(position: int) -> Markup:
    """Draw the short stroke that stands for the learner at a position.

    Examples
    --------
    >>> "curve-1" in key(8) and "2 3" in key(8)
    True
    """
    dash = " ".join(str(length) for length in DASHES[position % len(DASHES)])
    line = tag("line", x1=1, y1=5, x2=31, y2=5, stroke_dasharray=dash or None)
    return tag("svg", line, class_=f"key curve-{position % len(COLOURS)}", viewBox="0 0 32 10", aria_hidden="true")
