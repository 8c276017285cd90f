"""What was run: the description of a run as a list of definitions."""

from collections.abc import Mapping

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge.reports.model import Drawing

__all__ = ["draw_configuration"]

LABELS = {"n_rows": "rows", "n_folds": "folds", "seconds": "duration in seconds", "seedless": "deterministic"}
"""The labels of entries of a description that differ from their keys."""

NAMES = ("name", "spec")
"""Entries of a description that name the part they are in."""


def draw_configuration(description: Mapping[str, object]) -> Drawing | None:
    """Return the configuration of a run; None if nothing is known of it.

    Examples
    --------
    >>> "<dt>seed</dt><dd>7</dd>" in draw_configuration({"seed": 7}).markup
    True
    """
    # The call has the same facts, for `rerun`; what is empty was not asked for.
    shown = {name: part for name, part in description.items() if name != "call" and part not in (None, {}, [], (), "")}
    return Drawing(_build_definitions(shown)) if shown else None


def _build_definitions(entries: Mapping[str, object]) -> Markup:
    pairs = (
        join_markup(
            tag("dt", LABELS.get(str(name), str(name).replace("_", " "))),
            tag("dd", _build_definition(_format_count(str(name), value))),
        )
        for name, value in entries.items()
    )
    return tag("dl", *pairs)


def _format_count(name: str, value: object) -> object:
    """Return a count with thousands separators, and anything else unchanged; a seed is not a count."""
    return f"{value:,}" if name.startswith("n_") and isinstance(value, int) else value


def _build_definition(value: object) -> Markup:
    if isinstance(value, Mapping):
        names = [tag("p", str(value[name])) for name in NAMES if name in value]
        rest = {name: entry for name, entry in value.items() if name not in NAMES}
        return join_markup(*names, _build_definitions(rest) if rest else "")
    if isinstance(value, list | tuple):
        return join_markup(", ".join(map(_describe_item, value)))
    if isinstance(value, bool):
        return join_markup("yes" if value else "no")
    return join_markup(f"{value:.4g}" if isinstance(value, float) else str(value))


def _describe_item(item: object) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    return " ".join(f"{str(name).replace('_', ' ')} {value}" for name, value in item.items() if value not in (0, None))
