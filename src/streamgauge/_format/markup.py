"""Markup that cannot be injected into: every text is escaped unless it was made here."""

from collections.abc import Iterable, Sequence
from html import escape

from streamgauge._format.numbers import printable

__all__ = ["Markup", "joined", "simple_table", "tag"]

VOID = frozenset({"circle", "line"})
"""Elements without content."""


class Markup(str):
    """Text that is markup already, and so is not escaped again.

    Examples
    --------
    >>> joined(Markup("<br>"), "<br>")
    '<br>&lt;br&gt;'
    """

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Make an element; children and attributes that are not `Markup` are escaped.

    An attribute of None is left out; a trailing underscore of its name is dropped and others become hyphens.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "always"), class_="note")
    '<p class="note">1 &lt; 2 <b>always</b></p>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written} />")
    return Markup(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Put markup and texts, escaped, one after the other.

    Examples
    --------
    >>> joined(tag("b", "a"), " & b")
    '<b>a</b> &amp; b'
    """
    return Markup("".join(child if isinstance(child, Markup) else escape(printable(child)) for child in children))


def simple_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Make a table whose first column names its rows; notebooks bring their own style.

    Examples
    --------
    >>> simple_table(["", "kappa"], [["tree", "0.5"]])[:44]
    '<table><thead><tr><th scope="col"></th><th s'
    """
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    body = (
        tag("tr", tag("th", row[0], scope="row", style="text-align: left"), *(tag("td", cell) for cell in row[1:]))
        for row in rows
    )
    return tag("table", head, tag("tbody", *body))
