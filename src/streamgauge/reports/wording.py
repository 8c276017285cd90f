"""How numbers and names are put for people: rates in percent, in the same digits on the terminal and on the page."""

import math
from collections.abc import Sequence

__all__ = ["and_list", "count", "p_text", "percent", "points", "printable", "spread"]

MISSING = "–"  # noqa: RUF001
"""What stands where there is no number."""


def percent(rate: float) -> str:
    """Put a rate in percent, without the sign.

    Examples
    --------
    >>> percent(0.85814)
    '85.81'
    """
    return f"{100 * rate:.2f}" if math.isfinite(rate) else MISSING


def spread(rate: float) -> str:
    """Put the spread of a rate in percent, with its plus-minus.

    Examples
    --------
    >>> spread(0.0032)
    '±0.32'
    """
    return f"±{100 * rate:.2f}" if math.isfinite(rate) else ""


def points(difference: float | None) -> str:
    """Put the difference of two rates in percentage points, with its sign.

    Examples
    --------
    >>> points(0.0123), points(-0.2)
    ('+1.23', '-20.00')
    """
    return MISSING if difference is None or not math.isfinite(difference) else f"{100 * difference:+.2f}"


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
