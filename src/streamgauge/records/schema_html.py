"""A schema as a table, for notebooks."""

from typing import TYPE_CHECKING

from streamgauge._format.markup import build_table, tag
from streamgauge._format.text import count, join_words

if TYPE_CHECKING:
    from streamgauge.records.rows import Schema

__all__ = ["build_schema_html"]

MAX_ATTRIBUTES = 30
"""The most attributes shown."""

MAX_VALUES = 12
"""The most names of values or classes shown."""


def build_schema_html(schema: "Schema") -> str:
    """Return the attributes and classes of a schema as HTML.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> "2 classes" in build_schema_html(SEA().schema)
    True
    """
    rows = [
        (attribute.name, _describe_values(attribute.values), "may be missing" if attribute.missing else "")
        for attribute in schema.attributes[:MAX_ATTRIBUTES]
    ]
    more = schema.n_attributes - len(rows)
    classes = f"{count(schema.n_classes, 'class', 'classes')}: {_shorten(schema.classes)}"
    parts = [
        tag("p", tag("b", count(schema.n_attributes, "attribute")), f"; {classes}"),
        build_table(("attribute", "kind", ""), rows),
        *([tag("p", f"and {count(more, 'more attribute')}")] if more else []),
    ]
    return tag("div", *parts)


def _describe_values(values: tuple[str, ...] | None) -> str:
    return "numeric" if values is None else f"{count(len(values), 'value')}: {_shorten(values)}"


def _shorten(names: tuple[str, ...]) -> str:
    if len(names) <= MAX_VALUES:
        return join_words(names)
    return f"{', '.join(names[:MAX_VALUES])} and {count(len(names) - MAX_VALUES, 'other')}"
