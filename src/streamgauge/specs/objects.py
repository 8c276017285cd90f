"""Objects that were given by their names where the object itself is wanted."""

from streamgauge.errors import StreamgaugeError, nearest
from streamgauge.specs.families import FAMILIES

__all__ = ["require_object"]

_HOMES = {"forgetting": "forgetting", "labelling": "labelling"}


def require_object(kind: str, thing: object) -> None:
    """Raise where a text or a class is given for an object, or among several; says how the nearest is written.

    Examples
    --------
    >>> require_object("scheme", "Bootstrp(10)")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the text 'Bootstrp(10)' is no scheme; write streamgauge.schemes.Bootstrap(...)
    >>> from streamgauge import Window
    >>> require_object("forgetting", [Window(100)])
    """
    several = thing if isinstance(thing, list | tuple) else (thing,)
    given = next((one for one in several if isinstance(one, str | type)), None)
    if given is None:
        return
    name = given.__name__ if isinstance(given, type) else given.partition("(")[0].strip()
    near = nearest(name, FAMILIES[f"{kind}s"]())
    what = f"the class {name}" if isinstance(given, type) else f"the text {given!r}"
    home = f"streamgauge.{_HOMES.get(kind, f'{kind}s')}"
    further = "; a file is streamgauge.File(path), a real stream streamgauge.streams.load(name)"
    hint = f"write {home}.{near}(...)" if near else f"give one of {home}{further if kind == 'stream' else ''}"
    msg = f"{what} is no {kind}; {hint}"
    raise StreamgaugeError(msg)
