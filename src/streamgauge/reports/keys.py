"""What tells learners apart on the page: a colour and a dash each, drawn the same in tables, legends and charts."""

from streamgauge.markup import Markup, tag

__all__ = ["DASHES", "N_COLOURS", "key"]

N_COLOURS = 7
"""How many curve colours the style sheet has."""

DASHES = ((), (9, 4), (2, 3), (10, 3, 2, 3), (16, 4), (5, 2, 1, 2))
"""Lengths of dash and gap in turn; their number shares no factor with that of the colours, so 42 learners differ."""


def key(position: int) -> Markup:
    """Draw the short stroke that stands for the learner at a position.

    Examples
    --------
    >>> "curve-1" in key(8) and "2 3" in key(8)
    True
    """
    dash = " ".join(str(length) for length in DASHES[position % len(DASHES)])
    line = tag("line", x1=1, y1=5, x2=31, y2=5, stroke_dasharray=dash or None)
    return tag("svg", line, class_=f"key curve-{position % N_COLOURS}", viewBox="0 0 32 10", aria_hidden="true")
