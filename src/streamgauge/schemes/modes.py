"""Which rows a fold tests."""

from typing import Literal, get_args

from streamgauge.errors import unknown_name

__all__ = ["TestMode", "check_mode"]

TestMode = Literal["all", "training", "held_out"]


def check_mode(test: str) -> None:
    """Raise unless a mode is known.

    Examples
    --------
    >>> check_mode("held_out")
    """
    if test not in get_args(TestMode):
        raise unknown_name(kind="test mode", name=str(test), known=get_args(TestMode))
