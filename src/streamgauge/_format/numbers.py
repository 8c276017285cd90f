"""How numbers and names are put for people: rates in percent, in the same digits on the terminal and on the page."""

import math
import re
from collections.abc import Sequence
from pathlib import PurePath

__all__ = [
    "MISSING",
    "RATE",
    "and_list",
    "count",
    "difference_unit",
    "p_text",
    "percent",
    "points",
    "printable",
    "spread",
    "stream_title",
    "stream_titles",
    "times",
    "titled",
]

RATE = "rate"
"""The unit of most measures."""

MISSING = "–"  # noqa: RUF001
"""What stands where there is no number."""


def titled(measure: str, unit: str) -> str:
    """Name a measure with the unit in which it is shown: percent for a rate.

    Examples
    --------
    >>> titled("accuracy", "rate"), titled("log_loss", "nats")
    ('accuracy %', 'log_loss (nats)')
    """
    return f"{measure} %" if unit == RATE else f"{measure} ({unit})"


def percent(value: float, unit: str = RATE) -> str:
    """Put a rate in percent, without the sign; what is no rate in its own unit.

    Examples
    --------
    >>> percent(0.85814), percent(12345.678, "rows"), percent(0.031236, "nats")
    ('85.81', '12,346', '0.03124')
    """
    if not math.isfinite(value):
        return MISSING
    if unit != RATE:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{100 * value:.2f}"


def spread(value: float, unit: str = RATE) -> str:
    """Put the spread of a rate in percent, with its plus-minus; that of what is no rate in its own unit.

    Examples
    --------
    >>> spread(0.0032), spread(0.25, "nats")
    ('±0.32', '±0.25')
    """
    return f"±{percent(value, unit)}" if math.isfinite(value) else ""


def points(difference: float | None, unit: str = RATE) -> str:
    """Put the difference of two rates in percentage points, of other values in their unit, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.2), points(0.031236, "nats")
    ('+1.23', '-20.00', '+0.03124')
    """
    if difference is None or not math.isfinite(difference):
        return MISSING
    return f"{100 * difference:+.2f}" if unit == RATE else f"{difference:+,.4g}"


def difference_unit(unit: str) -> str:
    """Name the unit of a difference.

    Examples
    --------
    >>> difference_unit("rate"), difference_unit("nats")
    ('% points', 'nats')
    """
    return "% points" if unit == RATE else unit


def p_text(p_value: float) -> str:
    """Put a p-value in four digits.

    Examples
    --------
    >>> p_text(0.00977), p_text(1e-9)
    ('0.0098', '<0.0001')
    """
    if not math.isfinite(p_value):
        return MISSING
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def count(number: int, one: str, many: str | None = None) -> str:
    """Count things.

    Examples
    --------
    >>> count(1, "row"), count(1_000_000, "row")
    ('1 row', '1,000,000 rows')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_FILE = re.compile(r"""File\(path=(?P<quote>['"])(?P<path>.*?)(?P=quote)(?:, (?:[^()]|\([^()]*\))*)?\)""")
_COMPRESSED = (".gz", ".zip", ".zst", ".bz2", ".xz")


def stream_title(name: str) -> str:
    """Name a stream shortly, as for a heading: a file by its name without folder and ending.

    Examples
    --------
    >>> stream_title("File(path='data/electricity.arff.gz')"), stream_title("SEA(seed=2)")
    ('electricity', 'SEA(seed=2)')
    >>> stream_title("Noisy(stream=File(path='rows.csv', drop=('id',)), share=0.1)")
    'Noisy(stream=rows, share=0.1)'
    """
    return _FILE.sub(_stem, name)


def _stem(found: "re.Match[str]") -> str:
    path = PurePath(found["path"])
    return PurePath(path.stem if path.suffix in _COMPRESSED else path).stem or found[0]


def stream_titles(names: Sequence[str]) -> tuple[str, ...]:
    """Name several streams shortly; those that would then have the same name keep the long one.

    Examples
    --------
    >>> stream_titles(["File(path='a/rows.csv')", "File(path='b/rows.csv')", "File(path='a/other.csv')"])
    ("File(path='a/rows.csv')", "File(path='b/rows.csv')", 'other')
    """
    short = {name: stream_title(name) for name in names}
    taken = list(short.values())
    return tuple(short[name] if taken.count(short[name]) == 1 else name for name in names)


def times(ratio: float) -> str:
    """Put how many times as great something is, in two digits.

    Examples
    --------
    >>> times(123.4), times(1.04)
    ('120 times', '1 times')
    """
    return f"{float(f'{ratio:.2g}'):,.10g} times"


def and_list(words: Sequence[str]) -> str:
    """Join words as in a sentence.

    Examples
    --------
    >>> and_list(["accuracy", "kappa", "kappa_m"])
    'accuracy, kappa and kappa_m'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def printable(text: str) -> str:
    r"""Replace what neither a terminal nor a page should be sent: control characters and broken code points.

    Examples
    --------
    >>> printable("tree\x1b[31m")
    'tree�[31m'
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
