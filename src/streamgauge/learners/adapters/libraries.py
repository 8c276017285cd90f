"""Libraries that are wanted only by those who use them."""

from importlib import import_module
from typing import Any

from streamgauge.errors import StreamgaugeError

__all__ = ["comes_from", "library"]


def library(module: str, extra: str) -> Any:  # noqa: ANN401
    """Import a library, or say how to install it.

    Examples
    --------
    >>> library("no_such_module", "river")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: no_such_module is not installed: pip install 'streamgauge[river]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # something that the library itself wants is missing
        msg = f"{error.name} is not installed: pip install 'streamgauge[{extra}]'"
        raise StreamgaugeError(msg) from None


def comes_from(thing: object, package: str) -> bool:
    """Say whether the class of a thing, or one it inherits from, is of a package; imports nothing.

    Examples
    --------
    >>> from fractions import Fraction
    >>> comes_from(Fraction(1, 2), "numbers"), comes_from(Fraction(1, 2), "river")
    (True, False)
    """
    return any(kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__)
