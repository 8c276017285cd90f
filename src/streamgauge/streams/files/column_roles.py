"""Roles of the columns of a file: attribute, class, weight or dropped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Attribute, Schema

__all__ = [
    "MAX_CLASSES",
    "MAX_NAMES",
    "Column",
    "Key",
    "Kind",
    "Role",
    "Selection",
    "build_layout",
    "build_schema",
    "check_classes",
    "check_distinct",
    "sort_names",
]

MAX_CLASSES = 1_000
"""The most classes that a file may have without declaring them; more are reported as a mistake."""

MAX_NAMES = 10_000
"""A column with more distinct names than this is text."""

Kind = Literal["numeric", "nominal", "text"]
Role = Literal["attribute", "class", "weight", "time", "dropped"]
Key = str | int
"""A column by name or by position: 0 is the first column, -1 the last."""


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
    """The options that select columns and their roles; see `streamgauge.streams.File`.

    Examples
    --------
    >>> assigned = Selection(target="c", drop=(0,)).assign([Column("a", "numeric"), Column("b", "numeric"),
    ...     Column("c", "nominal", ("x", "y"))])
    >>> [column.role for column in assigned]
    ['dropped', 'attribute', 'class']
    """

    target: Key = -1
    weight: Key | None = None
    time: Key | None = None
    keep: tuple[Key, ...] | None = None
    drop: tuple[Key, ...] = ()
    numeric: tuple[Key, ...] = ()
    nominal: tuple[Key, ...] = ()
    drop_text: bool = False

    def resolve_roles(self, names: Sequence[str]) -> list[Role]:
        """Return the role of each column, assuming that none is text."""
        dropped = _find_all("drop", self.drop, names)
        if self.keep is not None:
            dropped |= set(range(len(names))) - _find_all("keep", self.keep, names)
        roles: list[Role] = ["dropped" if i in dropped else "attribute" for i in range(len(names))]
        used: dict[int, str] = {}
        by_option: tuple[tuple[str, Key | None, Role], ...] = (
            ("target", self.target, "class"),
            ("weight", self.weight, "weight"),
            ("time", self.time, "time"),
        )
        for option, key, role in by_option:
            if key is None:
                continue
            index = _find(option, key, names)
            if index in used:
                msg = f"{used[index]} and {option} are the same column, {names[index]!r}"
                raise StreamgaugeError(msg)
            roles[index], used[index] = role, option
        return roles

    def resolve_contents(self, names: Sequence[str]) -> list[str]:
        """Return what each column may hold, as `_native.Survey` takes it."""
        numeric, nominal = _find_all("numeric", self.numeric, names), _find_all("nominal", self.nominal, names)
        if both := numeric & nominal:
            msg = f"column {names[min(both)]!r} is declared both numeric and nominal"
            raise StreamgaugeError(msg)
        by_role = {
            "class": "names",
            "weight": "numbers",
            "time": "nothing",
            "dropped": "nothing",
            "attribute": "anything",
        }
        return [
            "numbers" if i in numeric else "names" if i in nominal and role == "attribute" else by_role[role]
            for i, role in enumerate(self.resolve_roles(names))
        ]

    def assign(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns with their roles; raise if the kind of a column does not fit its role."""
        roles = self.resolve_roles([column.name for column in columns])
        assigned = []
        for i, (column, role) in enumerate(zip(columns, roles, strict=True)):
            label = f"column {i + 1} ({role} {column.name!r})"
            if role == "class" and column.kind != "nominal":
                msg = f"{label} is {column.kind}: the class must be nominal; name another column with target"
                raise StreamgaugeError(msg)
            if role == "weight" and column.kind != "numeric":
                msg = f"{label} is {column.kind}: the weight must be numeric"
                raise StreamgaugeError(msg)
            is_text = role == "attribute" and column.kind == "text"
            if is_text and not self.drop_text:
                msg = f"{label} is text, which cannot be an attribute: drop_text=True drops all text columns"
                raise StreamgaugeError(msg)
            assigned.append(replace(column, role="dropped" if is_text else role))
        return assigned


def _find(option: str, key: Key, names: Sequence[str]) -> int:
    if isinstance(key, str):
        if key not in names:
            raise unknown_name(kind=f"column for {option} called", name=key, known=names)
        return names.index(key)
    if isinstance(key, bool) or not isinstance(key, int) or not -len(names) <= key < len(names):
        msg = (
            f"{option} = {key!r}: it must be the name of a column or a position from {-len(names)} to {len(names) - 1}"
        )
        raise StreamgaugeError(msg)
    return key % len(names)


def _find_all(option: str, keys: Iterable[Key], names: Sequence[str]) -> set[int]:
    return {_find(option, key, names) for key in keys}


def build_schema(columns: Sequence[Column]) -> Schema:
    """Return the schema of rows with these columns.

    Examples
    --------
    >>> build_schema([Column("a", "numeric"), Column("c", "nominal", ("x", "y"), role="class")]).classes
    ('x', 'y')
    """
    attributes = tuple(Attribute(c.name, c.values, c.missing) for c in columns if c.role == "attribute")
    classes = next(column.values or () for column in columns if column.role == "class")
    if not attributes:
        msg = "there is no attribute besides the class"
        raise StreamgaugeError(msg)
    return Schema(attributes, classes)


def build_layout(columns: Sequence[Column]) -> list[tuple[str, Sequence[str] | None, str, bool]]:
    """Return the columns as the native reader takes them.

    Examples
    --------
    >>> build_layout([Column("a", "numeric")])
    [('a', None, 'attribute', True)]
    """
    return [(c.name, None if c.role == "dropped" else c.values, c.role, c.missing) for c in columns]


def sort_names(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names: by value if all are numbers, else alphabetically.

    Examples
    --------
    >>> sort_names(["10", "9", "-1"]), sort_names(["b", "10", "9"])
    (('-1', '9', '10'), ('10', '9', 'b'))
    """
    names = sorted(names)
    return tuple(sorted(names, key=float) if all(map(_native.is_number, names)) else names)


def check_distinct(names: Sequence[str]) -> None:
    """Raise if two columns have the same name.

    Examples
    --------
    >>> check_distinct(["a", "b"])
    """
    for i, name in enumerate(names):
        if name in names[:i]:
            msg = f"column {i + 1} ({name!r}): column {names.index(name) + 1} has the same name"
            raise StreamgaugeError(msg)


def check_classes(columns: Sequence[Column]) -> None:
    """Raise if the class has too many values to be a class.

    Examples
    --------
    >>> check_classes([Column("c", "nominal", ("a", "b"), role="class")])
    """
    column = next(column for column in columns if column.role == "class")
    if len(column.values or ()) > MAX_CLASSES:
        msg = f"column {column.name!r} has more than {MAX_CLASSES} values, too many for classes: "
        msg += "name another column with target"
        raise StreamgaugeError(msg)
