"""What a column of a file or of a table in memory is: numbers, names, times or text; the same rules for all of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records import NumericTarget, Schema

__all__ = [
    "MAX_CLASSES",
    "MAX_DECLARED_NAMES",
    "MAX_NAMES",
    "MAX_NUMERIC_CLASSES",
    "TimeColumn",
    "check_target",
    "choose_time",
    "describe_numbers",
    "describe_target",
    "describe_text",
    "find_decrease",
    "is_free_text",
    "merge_spellings",
    "name_number",
    "note_decimal_commas",
    "refuse_decrease",
    "sort_names",
]

MAX_CLASSES = 1_000
"""The most classes without declaring them; more are reported as a mistake."""

MAX_NUMERIC_CLASSES = 50
"""The most different numbers that count as classes; a column with more may be meant for regression."""

MAX_NAMES = 10_000
"""A column with more distinct names than this is text, unless it is declared nominal."""

MAX_DECLARED_NAMES = 1_000_000
"""The most distinct names of a column that is declared nominal."""

FEW_ROWS = 20
"""With this many values or fewer, no column counts as text."""

TEXT_SHARE = 0.9
"""A column is text if it has more distinct names than this share of its values."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?!\d)")


def is_free_text(n_names: int | None, n_present: int) -> bool:
    """Return whether a column of names is text: nearly every value is different, or there are too many names.

    Parameters
    ----------
    n_names
        The number of distinct names; None for more than `MAX_NAMES`.
    n_present
        The number of values that are not missing.

    Examples
    --------
    >>> is_free_text(95, 100), is_free_text(90, 100), is_free_text(20, 20), is_free_text(None, 10**6)
    (True, False, False, True)
    """
    if n_names is None or n_names > MAX_NAMES:
        return True
    return n_present > FEW_ROWS and n_names > TEXT_SHARE * n_present


def describe_text(name: str, n_names: int | None, n_present: int, example: str = "") -> str:
    """Return the note on a column of text that is left out; one of its values may look like a time or a number.

    Examples
    --------
    >>> describe_text("memo", 95, 100)
    "column 'memo' is left out: it is text, with 95 different values in 100 rows; nominal=('memo',) (--nominal memo) \
keeps it as names"
    >>> describe_text("day", 95, 100, "3/31/2024").rpartition("; ")[2]
    "time='day' (--time day) with time_format (--time-format) reads times"
    """
    found = f"more than {MAX_NAMES:,}" if n_names is None or n_names > MAX_NAMES else f"{n_names:,}"
    return (
        f"column {name!r} is left out: it is text, with {found} different values in {n_present:,} rows; "
        f"nominal=({name!r},) (--nominal {quote(name)}) keeps it as names{_suggest(name, example)}"
    )


def note_decimal_commas(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the note on a column of names that all are numbers with a decimal comma; nothing for another column.

    Examples
    --------
    >>> note_decimal_commas("size", ["1,5", "2,25"])
    ("column 'size' is read as names, such as '1,5': to be numbers, they need a decimal point",)
    >>> note_decimal_commas("size", ["1,5", "large"])
    ()
    """
    if not names or not all(map(_DECIMAL_COMMA.fullmatch, names)):
        return ()
    return (f"column {name!r} is read as names, such as {names[0]!r}: to be numbers, they need a decimal point",)


def _suggest(name: str, example: str) -> str:
    """Return what else a column of text may hold, and how it would be read."""
    if _DECIMAL_COMMA.fullmatch(example):
        return f"; to be numbers, values such as {example!r} need a decimal point"
    if _native.is_time(example):
        return f"; one of the values is no time like {example!r}: time={name!r} (--time {quote(name)}) finds it"
    if _DATE.match(example):
        return f"; time={name!r} (--time {quote(name)}) with time_format (--time-format) reads times"
    return ""


def check_target(name: str, values: Sequence[str], *, declared: bool) -> None:
    """Raise if a column has too many values for classes, many different numbers, as in regression, or times.

    Parameters
    ----------
    name
        The name of the column.
    values
        The distinct values.
    declared
        Whether the user stated that the column holds names.

    Examples
    --------
    >>> check_target("price", [str(price) for price in range(51)], declared=False)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the target 'price' holds 51 different numbers: was regression meant? Pass \
numeric=('price',) (--numeric price) to predict numbers, or nominal=('price',) (--nominal price) if they are classes; \
or name another column with target (--target)
    """
    if len(values) > MAX_NUMERIC_CLASSES and not declared and all(map(_native.is_number, values)):
        n = f"more than {MAX_CLASSES:,}" if len(values) > MAX_CLASSES else f"{len(values):,}"
        msg = (
            f"the target {name!r} holds {n} different numbers: was regression meant? Pass numeric=({name!r},)"
            f" (--numeric {quote(name)}) to predict numbers, or nominal=({name!r},) (--nominal {quote(name)}) if they"
            " are classes; or name another column with target (--target)"
        )
        raise StreamgaugeError(msg)
    if values and not declared and all(map(_native.is_time, values)):
        msg = (
            f"the target {name!r} holds times: name another column with target (--target), or pass nominal=({name!r},)"
            f" (--nominal {quote(name)}) if they are classes"
        )
        raise StreamgaugeError(msg)
    if len(values) > MAX_CLASSES:
        too_many = f"column {name!r} has more than {MAX_CLASSES} values, too many for classes"
        msg = f"{too_many}: name another column with target (--target)"
        raise StreamgaugeError(msg)


def describe_numbers(name: str, numbers: NDArray[np.float64]) -> NumericTarget:
    """Return the target of a column of numbers; raise if none is known.

    Examples
    --------
    >>> describe_numbers("price", np.array([np.nan, 2.5]))
    NumericTarget(name='price', origin=2.5)
    """
    known = np.flatnonzero(np.isfinite(numbers))[:1]
    if not len(known):
        msg = f"no row has a number in the target {name!r}"
        raise StreamgaugeError(msg)
    return NumericTarget(name, float(numbers[known[0]]))


def describe_target(schema: Schema) -> str:
    """Return how many classes a schema has, or the name of its numeric target.

    Examples
    --------
    >>> describe_target(Schema((), ("up", "down"))), describe_target(Schema((), target=NumericTarget("price")))
    ('2 classes', "numeric target 'price'")
    """
    return f"{schema.n_classes} classes" if schema.target is None else f"numeric target {schema.target.name!r}"


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names: by value if all are numbers, else alphabetically.

    Examples
    --------
    >>> sort_names(["10", "9", "-1"]), sort_names(["b", "10", "9"])
    (('-1', '9', '10'), ('10', '9', 'b'))
    """
    names = sorted(names)
    return tuple(sorted(names, key=float) if all(map(_native.is_number, names)) else names)


def merge_spellings(names: Sequence[str]) -> list[str]:
    """Return the name of each text of a column: numbers and truth values that are written differently have one name.

    A whole number has no decimal point and no leading zeros, another number is written as short as possible, and a
    truth value is in lower case. Text is unchanged, also in a column where only some of the texts are numbers.

    Examples
    --------
    >>> merge_spellings(["1.0", "0", "01", "2.50"]), merge_spellings(["True", "FALSE"]), merge_spellings(["1.0", "a"])
    (['1', '0', '1', '2.5'], ['true', 'false'], ['1.0', 'a'])
    """
    if all(map(_native.is_number, names)):
        return [name_number(float(name)) for name in names]
    if {name.lower() for name in names} <= {"true", "false"}:
        return [name.lower() for name in names]
    return list(names)


def name_number(number: float) -> str:
    """Return the name of a class that is a number: a whole number without a decimal point.

    Examples
    --------
    >>> name_number(1.0), name_number(2.5)
    ('1', '2.5')
    """
    return str(int(number)) if number.is_integer() else repr(number)


@dataclass(frozen=True)
class TimeColumn:
    """A column that holds a time in every row that is not missing.

    Parameters
    ----------
    name
        The name of the column.
    n_missing
        The number of rows without a time.
    never_decreases
        Whether no time is earlier than the one before.
    """

    name: str
    n_missing: int = 0
    never_decreases: bool = True


def choose_time(columns: Sequence[TimeColumn], time: str | None = None) -> tuple[str | None, tuple[str, ...]]:
    """Return the column that holds the time of the rows, if any, and notes on all columns of times.

    Parameters
    ----------
    columns
        The columns of times, other than the class, the weight, and those that are dropped or declared.
    time
        The column that the user named; None to recognise it.

    Examples
    --------
    >>> choose_time([TimeColumn("day")])
    ('day', ("column 'day' holds the times of the rows, so it is no attribute; time='day' (--time day) states it, \
drop=('day',) (--drop day) leaves it out",))
    >>> name, notes = choose_time([TimeColumn("sent", n_missing=2)])
    >>> name, notes[0][:54]
    (None, "column 'sent' holds times, but 2 are missing: it is le")
    """
    fit = [column.name for column in columns if not column.n_missing and column.never_decreases]
    notes = []
    if time is None and len(fit) == 1:
        (time,) = fit
        notes.append(
            f"column {time!r} holds the times of the rows, so it is no attribute; time={time!r} (--time {quote(time)})"
            f" states it, drop=({time!r},) (--drop {quote(time)}) leaves it out"
        )
    for column in columns:
        if column.name == time:
            continue
        name = column.name
        reason, use = "", f"time={name!r} (--time {quote(name)}) makes it the time of the rows, "
        if column.n_missing:
            reason = f", but {column.n_missing:,} {'is' if column.n_missing == 1 else 'are'} missing"
        elif not column.never_decreases:
            reason = ", but they decrease"
        elif time is None:
            reason = f", as {len(fit) - 1} other column{'s' if len(fit) > 2 else ''} does"
            reason = reason.replace("columns does", "columns do")
        use = "" if reason.startswith(", but") else use
        notes.append(
            f"column {name!r} holds times{reason}: it is left out; {use}numeric=({name!r},) (--numeric {quote(name)})"
            " keeps it as an attribute, in seconds"
        )
    return time, tuple(notes)


def find_decrease(times: NDArray[np.float64], before: float = -np.inf) -> int | None:
    """Return the index of the first time that is earlier than the one before it; None if there is none.

    Examples
    --------
    >>> find_decrease(np.array([1.0, 1.0, 3.0, 2.0])), find_decrease(np.array([1.0]), before=5.0)
    (3, 0)
    """
    decreases = np.flatnonzero(np.diff(times, prepend=before) < 0)
    return int(decreases[0]) if len(decreases) else None


def refuse_decrease(where: int | str, name: str, time: float, before: float) -> StreamgaugeError:
    """Return the error for a row that is earlier than the one before it; a number counts rows from 0.

    Examples
    --------
    >>> print(refuse_decrease(7, "sent", 0.0, 86_400.0))
    row 7: the time in 'sent', 1970-01-01T00:00:00Z, is before that of the row above, 1970-01-02T00:00:00Z: sort the \
rows by it, or leave it out with drop=('sent',) (--drop sent)
    """
    where = f"row {where}" if isinstance(where, int) else where
    earlier, later = _native.format_time(time), _native.format_time(before)
    return StreamgaugeError(
        f"{where}: the time in {name!r}, {earlier}, is before that of the row above, {later}: sort the rows by it, or"
        f" leave it out with drop=({name!r},) (--drop {quote(name)})"
    )
