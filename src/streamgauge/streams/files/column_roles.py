"""Which column of a file is an attribute, which the class, which the weight, and which are left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Attribute, Schema

__all__ = [
    "MOST_CLASSES",
    "MOST_NAMES",
    "Column",
    "Key",
    "Kind",
    "Role",
    "Selection",
    "check_classes",
    "check_distinct",
    "in_order",
    "layout_of",
    "schema_of",
]

MOST_CLASSES = 1_000
"""More classes than this in a file that does not declare them are taken for a mistake."""

MOST_NAMES = 10_000
"""A column with more names than this is text."""

Kind = Literal["numeric", "nominal", "text"]
Role = Literal["attribute", "class", "weight", "dropped"]
Key = str | int
"""A column by its name, or by its position: from 0 on from the left, from -1 on from the right."""


@dataclass(frozen=True)
class Column:
    """A column of a file.

    Examples
    --------
    >>> Column("day", "nominal", ("mo", "tu")).role
    'attribute'
    """

    name: str
    kind: Kind
    values: tuple[str, ...] | None = None
    missing: bool = True
    role: Role = "attribute"


@dataclass(frozen=True)
class Selection:
    """What a user says of the columns; see `streamgauge.streams.File`.

    Examples
    --------
    >>> chosen = Selection(target="c", drop=(0,)).assign([Column("a", "numeric"), Column("b", "numeric"),
    ...     Column("c", "nominal", ("x", "y"))])
    >>> [column.role for column in chosen]
    ['dropped', 'attribute', 'class']
    """

    target: Key = -1
    weight: Key | None = None
    keep: tuple[Key, ...] | None = None
    drop: tuple[Key, ...] = ()
    numeric: tuple[Key, ...] = ()
    nominal: tuple[Key, ...] = ()
    drop_text: bool = False

    def roles(self, names: Sequence[str]) -> list[Role]:
        """Say what becomes of each column, where none is text."""
        dropped = _places("drop", self.drop, names)
        if self.keep is not None:
            dropped |= set(range(len(names))) - _places("keep", self.keep, names)
        target = _place("target", self.target, names)
        weight = None if self.weight is None else _place("weight", self.weight, names)
        if target == weight:
            msg = f"target and weight are the same column, {names[target]!r}"
            raise StreamgaugeError(msg)
        return [
            "class" if i == target else "weight" if i == weight else "dropped" if i in dropped else "attribute"
            for i in range(len(names))
        ]

    def expected(self, names: Sequence[str]) -> list[str]:
        """Say what each column may hold, as the survey of a file needs it."""
        numeric, nominal = (_places(o, getattr(self, o), names) for o in ("numeric", "nominal"))
        if both := numeric & nominal:
            msg = f"column {names[min(both)]!r} is declared both numeric and nominal"
            raise StreamgaugeError(msg)
        by_role = {"class": "names", "weight": "numbers", "dropped": "nothing", "attribute": "anything"}
        return [
            "numbers" if i in numeric else "names" if i in nominal and role == "attribute" else by_role[role]
            for i, role in enumerate(self.roles(names))
        ]

    def assign(self, columns: Sequence[Column]) -> list[Column]:
        """Give each column its role, or raise where it cannot have it."""
        roles = self.roles([column.name for column in columns])
        assigned = []
        for i, (column, role) in enumerate(zip(columns, roles, strict=True)):
            place = f"column {i + 1} ({role} {column.name!r})"
            if role == "class" and column.kind != "nominal":
                msg = f"{place} is {column.kind}: the class must be nominal; name another column with target"
                raise StreamgaugeError(msg)
            if role == "weight" and column.kind != "numeric":
                msg = f"{place} is {column.kind}: the weight must be numeric"
                raise StreamgaugeError(msg)
            text = role == "attribute" and column.kind == "text"
            if text and not self.drop_text:
                msg = f"{place} is text, which has no place in a row: drop_text=True leaves such columns out"
                raise StreamgaugeError(msg)
            assigned.append(replace(column, role="dropped" if text else role))
        return assigned


def _place(option: str, key: Key, names: Sequence[str]) -> int:
    if isinstance(key, str):
        if key not in names:
            kind = f"column for {option} called"
            raise unknown_name(kind, key, names)
        return names.index(key)
    if isinstance(key, bool) or not isinstance(key, int) or not -len(names) <= key < len(names):
        msg = f"{option} = {key!r}: it must be the name of a column or a position, of {len(names)} counted from 0"
        raise StreamgaugeError(msg)
    return key % len(names)


def _places(option: str, keys: Iterable[Key], names: Sequence[str]) -> set[int]:
    return {_place(option, key, names) for key in keys}


def schema_of(columns: Sequence[Column]) -> Schema:
    """Give the schema of rows with these columns.

    Examples
    --------
    >>> schema_of([Column("a", "numeric"), Column("c", "nominal", ("x", "y"), role="class")]).classes
    ('x', 'y')
    """
    attributes = tuple(Attribute(c.name, c.values, c.missing) for c in columns if c.role == "attribute")
    classes = next(column.values or () for column in columns if column.role == "class")
    if not attributes:
        msg = "no attribute is left beside the class"
        raise StreamgaugeError(msg)
    return Schema(attributes, classes)


def layout_of(columns: Sequence[Column]) -> list[tuple[str, Sequence[str] | None, str, bool]]:
    """Give the columns as the native reader takes them.

    Examples
    --------
    >>> layout_of([Column("a", "numeric")])
    [('a', None, 'attribute', True)]
    """
    return [(c.name, None if c.role == "dropped" else c.values, c.role, c.missing) for c in columns]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names: by value where all are numbers, else by their letters.

    Examples
    --------
    >>> in_order(["10", "9", "-1"]), in_order(["b", "10", "9"])
    (('-1', '9', '10'), ('10', '9', 'b'))
    """
    names = sorted(names)
    return tuple(sorted(names, key=float) if all(map(_native.is_number, names)) else names)


def check_distinct(names: Sequence[str]) -> None:
    """Raise where two columns have the same name.

    Examples
    --------
    >>> check_distinct(["a", "b"])
    """
    for i, name in enumerate(names):
        if name in names[:i]:
            msg = f"column {i + 1} ({name!r}): column {names.index(name) + 1} has the same name"
            raise StreamgaugeError(msg)


def check_classes(columns: Sequence[Column]) -> None:
    """Raise where the class has too many values to be one.

    Examples
    --------
    >>> check_classes([Column("c", "nominal", ("a", "b"), role="class")])
    """
    column = next(column for column in columns if column.role == "class")
    if len(column.values or ()) > MOST_CLASSES:
        msg = f"column {column.name!r} has more than {MOST_CLASSES} values, too many for classes: give another target"
        raise StreamgaugeError(msg)
