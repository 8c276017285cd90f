"""The summary of a stream as text, for people."""

from collections.abc import Iterator, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from streamgauge._format.text import count, make_printable

if TYPE_CHECKING:
    from streamgauge.streams.describe import Description

__all__ = ["format_description"]

RARE_SHARE = 0.2
"""A class with a smaller share of the rows than this is rare."""

MOST_CLASSES = 50
"""The most classes in the table."""

_BARS = " ▁▂▃▄▅▆▇█"


def format_description(description: "Description") -> str:
    """Return the facts, the tables of classes and attributes, and the notes.

    Examples
    --------
    >>> from streamgauge.streams import SEA, describe
    >>> print(format_description(describe(SEA(n_rows=100), spans=4)))  # doctest: +ELLIPSIS
    100 rows, 3 attributes, 2 classes
    accuracy of the no-change baseline: ...
    """
    n_labelled, n_more = description.n_labelled, max(0, len(description.classes) - MOST_CLASSES)
    classes = [
        (name, f"{rows:,}", f"{rows / max(1, n_labelled):.4f}", "".join(map(_draw_bar, shares)))
        for (name, rows), shares in zip(description.classes.items(), description.span_shares.T, strict=True)
    ][:MOST_CLASSES]
    attributes = []
    for attribute in description.attributes:
        distinct = "more than 10,000" if attribute.n_distinct is None else f"{attribute.n_distinct:,}"
        values = (attribute.minimum, attribute.maximum, attribute.mean)
        numbers = ["" if value is None else f"{value:.6g}" for value in values]
        attributes.append((attribute.name, attribute.kind, f"{attribute.n_missing:,}", distinct, *numbers))
    parts_heading = f"share in {count(len(description.span_ends), 'part')}"
    return "\n".join(
        [
            *_list_facts(description),
            f"fingerprint: {description.fingerprint}",
            "",
            *_align([("class", "rows", "share", parts_heading), *classes]),
            *([f"... and {count(n_more, 'more class', 'more classes')} (--json lists all)"] if n_more else []),
            "",
            *_align([("attribute", "kind", "missing", "distinct", "min", "max", "mean"), *attributes]),
            *_list_notes(description),
        ]
    )


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns."""
    table = [[make_printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _list_facts(description: "Description") -> Iterator[str]:
    """Yield what stands above the tables: size, baseline, times, and whether a class is rare."""
    n_rows, n_labelled = description.n_rows, description.n_labelled
    labelled = "" if n_labelled == n_rows else f", {n_labelled:,} of them labelled"
    parts = (count(len(description.attributes), "attribute"), count(len(description.classes), "class", "classes"))
    yield f"{count(n_rows, 'row')}{labelled}, {', '.join(parts)}"
    if len(description.classes) == 1:
        yield "there is only one class, so there is nothing to predict: name the right column with target (--target)"
    if description.temporal_dependence is not None:
        accuracy = f"{description.temporal_dependence:.4f}"
        yield f"accuracy of the no-change baseline: {accuracy} (it predicts the previous class)"
    if description.first_time is not None:
        yield f"times of the rows: {description.first_time} to {description.last_time}"
    if description.rarest is not None and description.rarest[1] < RARE_SHARE:
        name, share = description.rarest
        measures = f"kappa_m, pr_auc[{name}] or recall[{name}]"
        yield f"imbalanced: class {name} has {share:.1%} of the rows; prefer {measures} to accuracy"


def _list_notes(description: "Description") -> Iterator[str]:
    """Yield the notes, and the nominal attributes whose values are almost all distinct, such as keys."""
    for attribute in description.attributes:
        n_distinct = attribute.n_distinct or description.n_rows
        if attribute.kind == "nominal" and n_distinct > max(20, (description.n_rows - attribute.n_missing) / 2):
            name = attribute.name
            yield (
                f"\nNote: most values of column {name!r} are unique, so little can be learnt from it; drop=({name!r},)"
                f" (--drop {quote(name)}) leaves it out"
            )
    yield from (f"\nNote: {note}" for note in description.notes)


def _draw_bar(share: float) -> str:
    return _BARS[min(8, int(share * 8 + 1))] if share > 0 else _BARS[0]  # a blank for NaN, too
