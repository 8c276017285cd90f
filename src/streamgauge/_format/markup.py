"""HTML and SVG markup that is safe against injection: text is escaped unless it was built here."""

from collections.abc import Iterable, Sequence
from html import escape

from streamgauge._format.text import make_printable

__all__ = ["Markup", "build_table", "join_markup", "tag"]

VOID = frozenset({"circle", "line", "rect"})
"""Elements without content."""


class Markup(str):
    """Text that is already markup and is not escaped again.

    Examples
    --------
    >>> join_markup(Markup("<br>"), "<br>")
    '<br>&lt;br&gt;'
    """

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """Build an element; children and attributes that are not `Markup` are escaped.

    An attribute that is None is left out. In attribute names a trailing underscore is dropped and other underscores
    become hyphens.

    Examples
    --------
    >>> tag("p", "1 < 2 ", tag("b", "always"), class_="note")
    '<p class="note">1 &lt; 2 <b>always</b></p>'
    """
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(make_printable(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{text} />")
    return Markup(f"<{name}{text}>{join_markup(*children)}</{name}>")


def join_markup(*children: str) -> Markup:
    """Concatenate markup and texts; texts are escaped.

    Examples
    --------
    >>> join_markup(tag("b", "a"), " & b")
    '<b>a</b> &amp; b'
    """
    return Markup("".join(child if isinstance(child, Markup) else escape(make_printable(child)) for child in children))


def build_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Markup:
    """Build an unstyled table, for notebooks, whose first column names its rows.

    Examples
    --------
    >>> build_table(["", "kappa"], [["tree", "0.5"]])[:44]
    '<table><thead><tr><th scope="col"></th><th s'
    """
    head = tag("thead", tag("tr", *(tag("th", heading, scope="col") for heading in headings)))
    body = (
        tag("tr", tag("th", row[0], scope="row", style="text-align: left"), *(tag("td", cell) for cell in row[1:]))
        for row in rows
    )
    return tag("table", head, tag("tbody", *body))
