"""A schema as a table, for notebooks."""

from typing import TYPE_CHECKING

from streamgauge._format.markup import build_table, tag
from streamgauge._format.text import count, join_words

if TYPE_CHECKING:
    from streamgauge.records.rows import Schema

__all__ = ["schema_html"]

MOST_ATTRIBUTES = 30
"""How many attributes of a schema are shown."""

MOST_VALUES = 12
"""How many names of values or classes are shown."""


def schema_html(schema: "Schema") -> str:
    """Show the attributes and classes of a schema.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> "2 classes" in schema_html(SEA().schema)
    True
    """
    rows = [
        (attribute.name, _values(attribute.values), "may be missing" if attribute.missing else "")
        for attribute in schema.attributes[:MOST_ATTRIBUTES]
    ]
    more = schema.n_attributes - len(rows)
    classes = f"{count(schema.n_classes, 'class', 'classes')}: {_some(schema.classes)}"
    parts = [
        tag("p", tag("b", count(schema.n_attributes, "attribute")), f"; {classes}"),
        build_table(("attribute", "kind", ""), rows),
        *([tag("p", f"and {count(more, 'more attribute')}")] if more else []),
    ]
    return tag("div", *parts)


def _values(values: tuple[str, ...] | None) -> str:
    return "numeric" if values is None else f"{count(len(values), 'value')}: {_some(values)}"


def _some(names: tuple[str, ...]) -> str:
    if len(names) <= MOST_VALUES:
        return join_words(names)
    return f"{', '.join(names[:MOST_VALUES])} and {count(len(names) - MOST_VALUES, 'other')}"
