"""Experiments that are ready to run, as TOML files beside this one."""

from pathlib import Path

from streamgauge.errors import unknown_name

__all__ = ["READY", "ready_path"]

READY = {
    "quick": "six learners on six streams of 20,000 rows: half a minute",
    "paper": "the streams and the three k-fold schemes of Bifet et al. (2015): hours",
    "unbalanced": "rare classes, of which few labels arrive: a minute",
}
"""The experiments that come with streamgauge, and what they are."""


def ready_path(name: str) -> Path:
    """Give the file of a ready-made experiment.

    Examples
    --------
    >>> ready_path("quick").name
    'quick.toml'
    """
    if name not in READY:
        raise unknown_name(kind="ready-made experiment", name=name, known=READY)
    return Path(__file__).parent / f"{name}.toml"
