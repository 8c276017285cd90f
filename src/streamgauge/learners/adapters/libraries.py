"""Libraries that are wanted only by those who use them."""

from streamgauge._optional import library

__all__ = ["comes_from", "library"]


def comes_from(thing: object, package: str) -> bool:
    """Say whether the class of a thing, or one it inherits from, is of a package; imports nothing.

    Examples
    --------
    >>> from fractions import Fraction
    >>> comes_from(Fraction(1, 2), "numbers"), comes_from(Fraction(1, 2), "river")
    (True, False)
    """
    return any(kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__)
