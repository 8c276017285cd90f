"""How a configured object is named in results and reports."""

from dataclasses import MISSING, fields, is_dataclass

__all__ = ["described"]


def described(thing: object) -> str:
    """Write a frozen value as a person would: with its first option, and those that are not as usual.

    Examples
    --------
    >>> from streamgauge import Adwin, Bootstrap, RandomRBF
    >>> described(Adwin()), described(Bootstrap(5, test="training")), described(RandomRBF(speed=0.001))
    ('Adwin(delta=0.002)', "Bootstrap(k=5, test='training')", 'RandomRBF(speed=0.001)')
    """
    if isinstance(thing, tuple):
        return f"({', '.join(described(part) for part in thing)}{',' if len(thing) == 1 else ''})"
    if not is_dataclass(thing) or isinstance(thing, type):
        return repr(thing)
    options = [option for option in fields(thing) if option.init and option.repr]
    shown = [
        f"{option.name}={described(getattr(thing, option.name))}"
        for place, option in enumerate(options)
        if getattr(thing, option.name) != (None if place == 0 or option.default is MISSING else option.default)
    ]
    return f"{type(thing).__name__}({', '.join(shown)})"
