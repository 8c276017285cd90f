"""Lengths of time as people write them, such as "30 days" or "1 h 30 min"."""

import re

from streamgauge.errors import StreamgaugeError, require_between

__all__ = ["DURATION", "Duration", "format_duration", "parse_duration", "read_duration"]

Duration = float | str
"""A length of time: seconds, or text such as "30 days"."""

_UNITS = {
    604_800.0: ("weeks", "week", "w"),
    86_400.0: ("days", "day", "d"),
    3_600.0: ("hours", "hour", "hrs", "hr", "h"),
    60.0: ("minutes", "minute", "mins", "min"),
    1.0: ("seconds", "second", "secs", "sec", "s"),
    1e-3: ("milliseconds", "millisecond", "ms"),
}
_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names}
_PART = rf"(?:\d+(?:\.\d+)?|\.\d+)\s*(?:{'|'.join(sorted(_SECONDS, key=len, reverse=True))})"
DURATION = rf"{_PART}(?:\s*(?:,|and)?\s*{_PART})*\b"
"""The pattern of a duration in words."""


def parse_duration(text: str) -> float:
    """Return the seconds of a length of time: numbers with units, added up; a number alone is in seconds.

    Units are weeks, days, hours, minutes, seconds and milliseconds, also as w, d, h, min, s and ms. Months and years
    are refused, since they differ in length.

    Examples
    --------
    >>> parse_duration("30 days"), parse_duration("1h 30min"), parse_duration("0.5 s"), parse_duration("90")
    (2592000.0, 5400.0, 0.5, 90.0)
    >>> parse_duration("1 month")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: '1 month' is not a length of time: months and years differ in length; write \
days, such as '30 days'
    """
    plain = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d+)?", plain):
        return float(plain)
    if not re.fullmatch(DURATION, plain):
        unequal = re.search(r"\d\s*(months?|years?|mo|y|yr)\b", plain) is not None
        reason = "months and years differ in length; write days, such as '30 days'"
        usage = "write seconds, or a number and a unit (s, min, h, days, weeks), such as '30 days' or '1 h 30 min'"
        msg = f"{text!r} is not a length of time: {reason if unequal else usage}"
        raise StreamgaugeError(msg)
    parts = re.findall(r"([\d.]+)\s*([a-z]+)", plain.replace("and", " "))
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def read_duration(option: str, value: object, *, least: float | None = None) -> float:
    """Return the seconds of an option: a number of seconds, or text; at least `least`, or else above 0.

    Examples
    --------
    >>> read_duration("span", "7 days"), read_duration("delay", 0, least=0)
    (604800.0, 0.0)
    """
    try:
        seconds = parse_duration(value) if isinstance(value, str) else value
        require_between(option, seconds, 0.0 if least is None else least, 1e15, open_low=least is None)  # type: ignore[arg-type]
    except StreamgaugeError as error:
        if isinstance(value, str):
            msg = f"{option} = {value!r}: {str(error).partition(': ')[2]}"
        else:
            msg = f"{error} of seconds, or text such as '30 days'"
        raise StreamgaugeError(msg) from None
    return float(seconds)  # type: ignore[arg-type]


def format_duration(value: Duration) -> str:
    """Return a length of time in words, for people; text as it was written.

    Examples
    --------
    >>> format_duration(2_592_000), format_duration(5400.0), format_duration(86_400.0), format_duration(0.25)
    ('30 days', '1 h 30 min', '1 day', '0.25 s')
    >>> format_duration("7 days")
    '7 days'
    """
    if isinstance(value, str):
        return value
    parts, rest = [], value
    for seconds, unit in ((86_400.0, "day"), (3_600.0, "h"), (60.0, "min")):
        n = int(rest // seconds)
        rest -= n * seconds
        if n:
            parts.append(f"{n} {unit}{'s' if unit == 'day' and n != 1 else ''}")
    if rest or not parts:
        parts.append(f"{rest:.12g} s")
    return " ".join(parts)
