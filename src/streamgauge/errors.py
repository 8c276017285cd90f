"""Errors and warnings: each names the culprit and what to do."""

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

__all__ = [
    "CallTimeoutError",
    "CheckpointWarning",
    "DamageWarning",
    "EndlessStreamError",
    "FailureWarning",
    "FileFaultsError",
    "LearnerError",
    "StreamWarning",
    "StreamgaugeError",
    "is_possible_path",
    "make_printable",
    "nearest",
    "path_exists",
    "require_at_least",
    "require_between",
    "require_kind",
    "require_path",
    "require_whole",
    "shorten",
    "unknown_name",
]


class StreamgaugeError(ValueError):
    """A wrong input or option: its text names the culprit and what to do.

    The command line prints the text alone and exits with status 2.

    Examples
    --------
    >>> raise StreamgaugeError("window width is 0; it must be at least 1")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: window width is 0; it must be at least 1
    """


class FileFaultsError(StreamgaugeError):
    r"""All faults of a file, a line each.

    Parameters
    ----------
    faults
        What is wrong, and where; line ends in them are escaped.

    Examples
    --------
    >>> print(FileFaultsError(["a.toml:1: no rows", "a.toml:2: no stream 'a\nb'"]))
    a.toml:1: no rows
    a.toml:2: no stream 'a\nb'
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(make_printable(fault) for fault in faults)
        super().__init__("\n".join(self.faults))


class LearnerError(StreamgaugeError):
    """Raised by a learner's `interleave` when it fails at a row of a step, after the rows before it.

    Parameters
    ----------
    reason
        The failure in words.
    position
        The position of that row in the step.
    done
        What `interleave` would have returned for the rows before.

    Examples
    --------
    >>> failure = LearnerError("ValueError: too hot", 3, (None, None))
    >>> str(failure), failure.position
    ('ValueError: too hot', 3)
    """

    def __init__(self, reason: str, position: int, done: tuple[Any, Any]) -> None:
        super().__init__(reason)
        self.position, self.done = position, done


class CallTimeoutError(BaseException):
    """A call of a learner took too long; no ``except Exception`` of a learner stops it.

    Parameters
    ----------
    seconds
        The most seconds that a call may take; NaN if not known.

    Examples
    --------
    >>> str(CallTimeoutError(5.0))
    'a call took longer than call_limit = 5 s'
    """

    def __init__(self, seconds: float = float("nan")) -> None:
        super().__init__(f"a call took longer than call_limit = {seconds:g} s")


class EndlessStreamError(StreamgaugeError):
    """A stream that never ends was given where all its rows are needed.

    Examples
    --------
    >>> isinstance(EndlessStreamError("the stream never ends"), StreamgaugeError)
    True
    """


class FailureWarning(UserWarning):
    """A learner failed; the others continue.

    Examples
    --------
    >>> str(FailureWarning("learner 'mine' failed"))
    "learner 'mine' failed"
    """


class StreamWarning(UserWarning):
    """A note on a run: columns that are left out or recognised, how a learner is run, or what would be faster.

    Examples
    --------
    >>> str(StreamWarning("the column memo is left out"))
    'the column memo is left out'
    """


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be used; the previous one is used instead.

    Examples
    --------
    >>> str(CheckpointWarning("rows-100.checkpoint: it is damaged"))
    'rows-100.checkpoint: it is damaged'
    """


class DamageWarning(UserWarning):
    """A file is damaged; what is whole is used, and what is not is left out.

    Examples
    --------
    >>> str(DamageWarning("confusions.parquet does not match its checksum"))
    'confusions.parquet does not match its checksum'
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> StreamgaugeError:
    """Return the error for an unknown name, with the nearest known one.

    Examples
    --------
    >>> str(unknown_name("learner", "HoefdingTree", ["HoeffdingTree", "NaiveBayes"]))
    "there is no learner 'HoefdingTree'; did you mean HoeffdingTree?"
    >>> str(unknown_name("option", "grace", ["grace_period", "seed"]))
    "there is no option 'grace'; did you mean grace_period?"
    """
    names = sorted(known)
    near = nearest(name[:200], names)
    names, near = list(map(make_printable, names)), None if near is None else make_printable(near)
    hint = f"there are {', '.join(names)}" if near is None else f"did you mean {near}?"
    return StreamgaugeError(f"there is no {kind} {shorten(repr(name))}; {hint}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the most similar known name, or one with a similar beginning; None if there is none.

    Examples
    --------
    >>> names = ["bifet-2015-table-1", "HoeffdingTree", "NaiveBayes"]
    >>> nearest("hoefdingtree", names), nearest("Naiv", names), nearest("bifett", names), nearest("x", names)
    ('HoeffdingTree', 'NaiveBayes', 'bifet-2015-table-1', None)
    """
    wanted = name.lower()
    by_lower = {candidate.lower(): candidate for candidate in sorted(known)}
    near = get_close_matches(wanted, by_lower, n=1)
    if not near:
        beginnings = {lower[: len(wanted)]: lower for lower in reversed(by_lower)}
        near = [beginnings[start] for start in get_close_matches(wanted, beginnings, n=1)]
    return by_lower[near[0]] if near else None


def require_at_least(option: str, value: int, least: int) -> None:
    """Raise unless a value is a whole number of at least `least`.

    Examples
    --------
    >>> require_at_least("width", 10, 1)
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{option} = {shorten(repr(value))}: it must be a whole number of at least {least}"
        raise StreamgaugeError(msg)
    if value >= 2**64:
        msg = f"{option} = {shorten(repr(value))}: it must be below 2**64"
        raise StreamgaugeError(msg)


def require_between(
    option: str, value: float, low: float, high: float, *, open_low: bool = True, open_high: bool = False
) -> None:
    """Raise unless a number lies in (low, high]; `open_low` and `open_high` exclude an end.

    Examples
    --------
    >>> require_between("factor", 1.0, 0.0, 1.0)
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    above = number and (low < value if open_low else low <= value)
    below = number and (value < high if open_high else value <= high)
    if not (above and below):
        ends = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        msg = f"{option} = {value!r}: it must be a number in {ends}"
        raise StreamgaugeError(msg)


def require_kind(option: str, value: object, kind: type | tuple[type, ...], noun: str) -> None:
    """Raise unless a value is an instance of a class or protocol, which `noun` names.

    Examples
    --------
    >>> require_kind("log", 3, str, "a path")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: log = 3: it must be a path
    """
    if not isinstance(value, kind):
        msg = f"{option} = {shorten(repr(value))}: it must be {noun}"
        raise StreamgaugeError(msg)


def require_path(option: str, value: object) -> None:
    """Raise unless a value is a path that the system can have.

    Examples
    --------
    >>> require_path("out", "results/rbf")
    >>> require_path("out", "a" * 5000)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: out = 'aaaaaaaaaaaaaaaaaaa...: the system cannot have such a path
    """
    require_kind(option, value, (str, os.PathLike), "a path")
    if not is_possible_path(value):
        msg = f"{option} = {shorten(repr(value), 20)}: the system cannot have such a path"
        raise StreamgaugeError(msg)


def is_possible_path(path: object) -> bool:
    r"""Return whether the system can have a path: one that is not too long, of characters that it knows.

    Examples
    --------
    >>> is_possible_path("no such file"), is_possible_path("a" * 5000), is_possible_path("a\0")
    (True, False, False)
    """
    try:
        Path(path).stat()  # type: ignore[arg-type]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True
    except (OSError, ValueError):
        return False
    return True


def path_exists(path: str | os.PathLike[str]) -> bool:
    r"""Return whether a path exists; what the system cannot have as a path does not.

    Examples
    --------
    >>> path_exists("."), path_exists("no such file"), path_exists("a" * 5000), path_exists("a\0")
    (True, False, False, False)
    """
    return is_possible_path(path) and Path(path).exists()


def make_printable(text: str) -> str:
    r"""Return a text with line ends and control characters, as a file may hold in a name, escaped.

    Examples
    --------
    >>> print(make_printable("a\nb\x1b[31m é"))
    a\nb\x1b[31m é
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def require_whole(kind: str, name: str) -> None:
    r"""Raise if a name holds half a character, a surrogate, which neither files nor terminals can show.

    Examples
    --------
    >>> require_whole("learner", "a \ud800")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the name of a learner, 'a \ud800', holds half a character (a surrogate), ...
    """
    if any("\ud800" <= character <= "\udfff" for character in name):
        msg = f"the name of a {kind}, {shorten(name)!r}, holds half a character (a surrogate), which no file can hold"
        msg += ": rename it"
        raise StreamgaugeError(msg)


def shorten(text: str, n: int = 200) -> str:
    """Return a text, cut where it is longer than an error can show.

    Examples
    --------
    >>> shorten("abcdef", 3)
    'abc...'
    """
    return text if len(text) <= n else f"{text[:n]}..."
