"""Built-in experiments, as TOML files next to this one."""

from pathlib import Path

from streamgauge.errors import unknown_name

__all__ = ["READY", "get_ready_path"]

READY = {
    "quick": "six learners on six streams of 20,000 rows: half a minute",
    "paper": "the streams and the three k-fold schemes of Bifet et al. (2015): hours",
    "unbalanced": "rare classes with few labels: a minute",
}
"""The built-in experiments, each with a summary."""


def get_ready_path(name: str) -> Path:
    """Return the file of a built-in experiment.

    Examples
    --------
    >>> get_ready_path("quick").name
    'quick.toml'
    """
    if name not in READY:
        raise unknown_name(kind="built-in experiment", name=name, known=READY)
    return Path(__file__).parent / f"{name}.toml"
