"""Numbers for people: rates in percent, with the same digits on the terminal and on the page."""

import math

__all__ = [
    "MISSING",
    "RATE",
    "format_difference",
    "format_margin",
    "format_p_term",
    "format_p_value",
    "format_ratio",
    "format_spread",
    "format_value",
    "label_measure",
    "to_difference_unit",
]

RATE = "rate"
"""The unit of most measures."""

MISSING = "–"  # noqa: RUF001
"""Placeholder for a missing number."""


def label_measure(measure: str, unit: str) -> str:
    """Return the name of a measure with the unit it is shown in, if it has one: percent for a rate.

    Examples
    --------
    >>> label_measure("accuracy", "rate"), label_measure("log_loss", "nats"), label_measure("r2", "")
    ('accuracy %', 'log_loss (nats)', 'r2')
    """
    if not unit:
        return measure
    return f"{measure} %" if unit == RATE else f"{measure} ({unit})"


def format_value(value: float, unit: str = RATE) -> str:
    """Return a rate in percent, without the percent sign, and any other value in its own unit.

    Examples
    --------
    >>> format_value(0.85814), format_value(12345.678, "rows"), format_value(0.031236, "nats")
    ('85.81', '12,346', '0.03124')
    """
    if not math.isfinite(value):
        return MISSING
    if unit != RATE:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return f"{100 * value:.2f}"


def format_spread(value: float, unit: str = RATE) -> str:
    """Return the standard deviation of a value with its plus-minus sign; empty where there is none.

    Examples
    --------
    >>> format_spread(0.0032), format_spread(0.25, "nats")
    ('±0.32', '±0.25')
    """
    return f"±{format_value(value, unit)}" if math.isfinite(value) else ""


def format_difference(difference: float | None, unit: str = RATE) -> str:
    """Return the difference of two values with its sign; that of two rates is in percentage points.

    Examples
    --------
    >>> format_difference(0.0123), format_difference(-0.2), format_difference(0.031236, "nats")
    ('+1.23', '-20.00', '+0.03124')
    >>> format_difference(-0.00001)
    '0.00'
    """
    if difference is None or not math.isfinite(difference):
        return MISSING
    text = f"{100 * difference:+.2f}" if unit == RATE else f"{difference:+,.4g}"
    return text if text.strip("+-0.") else text[1:]  # nothing has no sign


def to_difference_unit(unit: str, *, short: bool = False) -> str:
    """Return the unit of a difference, abbreviated for tables if `short`.

    Examples
    --------
    >>> to_difference_unit("rate"), to_difference_unit("rate", short=True), to_difference_unit("nats")
    ('percentage points', 'pp', 'nats')
    """
    if unit != RATE:
        return unit
    return "pp" if short else "percentage points"


def format_margin(margin: float, unit: str = RATE) -> str:
    """Return a margin with its unit; that of rates is in percentage points.

    Examples
    --------
    >>> format_margin(0.01), format_margin(0.005), format_margin(0.02, "nats")
    ('1 percentage point', '0.5 percentage points', '0.02 nats')
    """
    if unit != RATE:
        return f"{margin:g} {unit}".rstrip()
    return f"{100 * margin:g} percentage point{'' if 100 * margin == 1 else 's'}"


def format_p_value(p_value: float) -> str:
    """Return a p-value with four digits.

    Examples
    --------
    >>> format_p_value(0.00977), format_p_value(1e-9)
    ('0.0098', '<0.0001')
    """
    if not math.isfinite(p_value):
        return MISSING
    return "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"


def format_p_term(p_value: float) -> str:
    """Return a p-value with its relation.

    Examples
    --------
    >>> format_p_term(0.03), format_p_term(1e-9)
    ('= 0.0300', '< 0.0001')
    """
    text = format_p_value(p_value)
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def format_ratio(ratio: float) -> str:
    """Return a ratio in two digits, as in "120x".

    Examples
    --------
    >>> format_ratio(123.4), format_ratio(1.04)
    ('120x', '1x')
    """
    return f"{float(f'{ratio:.2g}'):,.10g}x"
