"""What a person did wrong, told so that they can mend it."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class StreamgaugeError(ValueError):
    """A mistake in what was asked for or given: its text names the culprit and what to do.

    The command line prints the text alone and exits with status 2.

    Examples
    --------
    >>> raise StreamgaugeError("window width is 0; it must be at least 1")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: window width is 0; it must be at least 1
    """


class LearnerError(StreamgaugeError):
    """What a learner's `interleave` raises when it fails at a row of a step; the rows before it were done.

    Parameters
    ----------
    reason
        The failure in words.
    position
        The position in the step of the row it failed at.
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


class EndlessStreamError(StreamgaugeError):
    """A stream that never ends was given where all of it would be read.

    Examples
    --------
    >>> isinstance(EndlessStreamError("the stream never ends"), StreamgaugeError)
    True
    """


class FailureWarning(UserWarning):
    """Tells that a learner failed while others went on.

    Examples
    --------
    >>> str(FailureWarning("learner 'mine' failed"))
    "learner 'mine' failed"
    """


class CheckpointWarning(UserWarning):
    """Tells that a checkpoint cannot be used and the one before it is.

    Examples
    --------
    >>> str(CheckpointWarning("rows-100.checkpoint: it is damaged"))
    'rows-100.checkpoint: it is damaged'
    """


def unknown_name(kind: str, name: str, known: Iterable[str]) -> StreamgaugeError:
    """Make the error for a name that does not exist, with the nearest one that does.

    Examples
    --------
    >>> str(unknown_name("learner", "HoefdingTree", ["HoeffdingTree", "NaiveBayes"]))
    "there is no learner 'HoefdingTree'; did you mean HoeffdingTree?"
    >>> str(unknown_name("option", "grace", ["grace_period", "seed"]))
    "there is no option 'grace'; did you mean grace_period?"
    """
    names = sorted(known)
    near = nearest(name, names)
    hint = f"there are {', '.join(names)}" if near is None else f"did you mean {near}?"
    return StreamgaugeError(f"there is no {kind} {name!r}; {hint}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Give the known name that a person may have meant: one that is much alike, or that begins much alike.

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
        begun = {lower[: len(wanted)]: lower for lower in reversed(by_lower)}
        near = [begun[start] for start in get_close_matches(wanted, begun, n=1)]
    return by_lower[near[0]] if near else None


def require_at_least(option: str, value: int, least: int) -> None:
    """Raise unless a whole number is at least so large.

    Examples
    --------
    >>> require_at_least("width", 10, 1)
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{option} = {value!r}: it must be a whole number of at least {least}"
        raise StreamgaugeError(msg)


def require_between(
    option: str, value: float, low: float, high: float, *, open_low: bool = True, open_high: bool = False
) -> None:
    """Raise unless a number lies in (low, high]; `open_low` and `open_high` say which ends are left out.

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
