"""How a configured object is named in results and reports."""

import re
from dataclasses import fields, is_dataclass
from pathlib import PurePath

__all__ = ["described"]


def described(thing: object) -> str:
    """Write a frozen value as a person would: with its first option, and those that are not as usual.

    Examples
    --------
    >>> from streamgauge import AdwinWindow, Bootstrap, RandomRBF
    >>> described(AdwinWindow()), described(Bootstrap(5, test="training")), described(RandomRBF(speed=0.001))
    ('AdwinWindow(delta=0.002)', "Bootstrap(k=5, test='training')", 'RandomRBF(speed=0.001)')
    >>> import numpy as np
    >>> described(Bootstrap), described((1, None)), described(np.float64(0.5))
    ("<class 'streamgauge.schemes.folds.Bootstrap'>", '(1, None)', 'np.float64(0.5)')
    >>> from pathlib import Path
    >>> described(Path("rows.csv"))
    "'rows.csv'"

    An object that does not say what it is, is named by its class and what it holds, the same in every process:

    >>> class Own:
    ...     def __init__(self, width):
    ...         self.width, self.seen = width, {}
    >>> described(Own(width=5))
    'Own(width=5)'
    """
    if isinstance(thing, PurePath):
        return repr(str(thing))
    if isinstance(thing, tuple):
        return f"({', '.join(described(part) for part in thing)}{',' if len(thing) == 1 else ''})"
    if type(thing).__repr__ is object.__repr__:
        return f"{type(thing).__name__}({', '.join(_held(thing))})"
    if not is_dataclass(thing) or isinstance(thing, type) or not _has_plain_repr(type(thing)):
        text = " ".join(repr(thing).split())  # River's models have lines
        return re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # its place in memory is another each time
    shown = [
        f"{option.name}={described(value)}"
        for place, option in enumerate(option for option in fields(thing) if option.init and option.repr)
        if not _is_usual(
            value := getattr(thing, option.name), None if place == 0 and not option.kw_only else option.default
        )
    ]
    return f"{type(thing).__name__}({', '.join(shown)})"


def _held(thing: object) -> list[str]:
    """Name the plain values that an object holds."""
    held = getattr(thing, "__dict__", {})
    return [f"{name}={value!r}" for name, value in held.items() if isinstance(value, int | float | str | None)]


def _has_plain_repr(kind: type) -> bool:
    """Say whether a dataclass leaves it to Python how it is written."""
    return bool(kind.__dataclass_params__.repr)  # type: ignore[attr-defined]


def _is_usual(value: object, usual: object) -> bool:
    """Say whether an option need not be told; columns of data never are."""
    return hasattr(value, "dtype") or value == usual
