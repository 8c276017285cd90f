"""Figures for papers and slides, drawn with Matplotlib (``pip install 'streamgauge[plots]'``): PNG, SVG or PDF.

Each function draws one kind of figure and returns a `Figure`, which a notebook displays and `Figure.save` writes.
"""

from streamgauge.plots.classes import balance, confusion, labels
from streamgauge.plots.costs import pareto, resources
from streamgauge.plots.detectors import detector_statistic
from streamgauge.plots.figure import Figure
from streamgauge.plots.lines import curves
from streamgauge.plots.pairs import difference, q_statistic
from streamgauge.plots.rankings import p_values, ranks, wins

__all__ = [
    "Figure",
    "balance",
    "confusion",
    "curves",
    "detector_statistic",
    "difference",
    "labels",
    "p_values",
    "pareto",
    "q_statistic",
    "ranks",
    "resources",
    "wins",
]
