"""Roles of the columns of a file: attribute, class, weight, time or dropped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Literal

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import Attribute, NumericTarget, Schema
from streamgauge.streams.column_rules import (
    MAX_CLASSES,
    MAX_DECLARED_NAMES,
    MAX_NAMES,
    TimeColumn,
    check_target,
    choose_time,
    describe_text,
    is_free_text,
    merge_spellings,
    note_decimal_commas,
    sort_names,
)

__all__ = [
    "Column",
    "Key",
    "Kind",
    "Role",
    "Selection",
    "build_layout",
    "build_schema",
    "check_distinct",
]

Kind = Literal["numeric", "nominal", "time", "text"]
Role = Literal["attribute", "class", "weight", "time", "dropped"]
Key = str | int
"""A column by name or by position: 0 is the first column, -1 the last."""


@dataclass(frozen=True)
class Column:
    """A column of a file, and what a pass over the rows found in it.

    Parameters
    ----------
    name, kind, role
        Its name, what it holds and what it is used for.
    values
        The names of a nominal column, in the order of their codes.
    missing
        Whether values may be missing.
    spellings
        The texts of the names, each with its code, where they differ from the names.
    time_format
        How times are written; None if the values are not read as times, and empty if they are recognised.
    n_present, n_missing
        Number of values, and of missing values.
    n_names
        Number of distinct names; None for too many.
    example
        One of the values of a column of text.
    decreases
        Whether a time is before the one above it.
    predicted
        Whether it is a numeric target, which is read as an attribute.

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
    spellings: tuple[tuple[str, int], ...] = ()
    time_format: str | None = None
    n_present: int = 0
    n_missing: int = 0
    n_names: int | None = 0
    example: str = ""
    decreases: bool = False
    predicted: bool = False

    @classmethod
    def from_names(cls, name: str, names: Sequence[str], n_present: int, n_missing: int, *, declared: bool) -> "Column":
        """Build a column of names: nominal, or text if nearly all are different and nothing is declared.

        Examples
        --------
        >>> Column.from_names("size", ["S", "L"], 2, 0, declared=False).values
        ('L', 'S')
        >>> Column.from_names("ok", ["1.0", "1", "0"], 9, 0, declared=True).spellings
        (('1.0', 1), ('1', 1), ('0', 0))
        """
        counts = {"n_present": n_present, "n_missing": n_missing, "n_names": len(names)}
        if not declared and is_free_text(len(names), n_present):
            n_names = None if len(names) > MAX_NAMES else len(names)
            return cls(name, "text", n_present=n_present, n_missing=n_missing, n_names=n_names, example=names[0])
        merged = merge_spellings(names)
        values = sort_names(set(merged))
        spellings: tuple[tuple[str, int], ...] = ()
        if merged != list(names):
            codes = {value: code for code, value in enumerate(values)}
            spellings = tuple((text, codes[value]) for text, value in zip(names, merged, strict=True))
        return cls(name, "nominal", values, n_missing > 0, spellings=spellings, **counts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Selection:
    """The options that select columns and their roles; see `streamgauge.streams.File`.

    Examples
    --------
    >>> assigned, notes = Selection(target="c", drop=(0,)).assign([Column("a", "numeric"), Column("b", "numeric"),
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
    time_format: str | None = None

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
            "time": "times",
            "dropped": "nothing",
            "attribute": "anything",
        }
        roles = self.resolve_roles(names)
        if "time" in roles and (time := roles.index("time")) in numeric | nominal:
            option = "numeric" if time in numeric else "nominal"
            msg = f"column {names[time]!r} is named in both time and {option}: the time of the rows is no attribute"
            raise StreamgaugeError(msg)
        if self.time_format is not None and self.time is None and not numeric:
            msg = f"time_format={self.time_format!r} needs the column that it describes: set time (--time)"
            raise StreamgaugeError(msg)
        return [
            by_role[role]
            if role not in ("attribute", "class") or (role == "class" and i not in numeric)
            else "numbers"
            if i in numeric
            else "names"
            if i in nominal
            else by_role[role]
            for i, role in enumerate(roles)
        ]

    def survey(self, names: Sequence[str]) -> list[tuple[str, str, str | None, int]]:
        """Return the columns as `_native.Survey` takes them: name, contents, format of times, most names."""
        is_written = self.time is None and self.time_format is not None and "%" in self.time_format
        formats = {"time": self.time_format, "attribute": self.time_format if is_written else None}
        roles = self.resolve_roles(names)
        contents = self.resolve_contents(names)
        most = {"names": MAX_DECLARED_NAMES}
        return [
            (
                name,
                content,
                formats.get(role) if content in ("times", "numbers") else None,
                MAX_CLASSES + 1 if role == "class" else most.get(content, MAX_NAMES),
            )
            for name, role, content in zip(names, roles, contents, strict=True)
        ]

    def assign(self, columns: Sequence[Column]) -> tuple[list[Column], tuple[str, ...]]:
        """Return the columns with their roles, and notes; raise if the kind of a column does not fit its role."""
        names = [column.name for column in columns]
        roles = self.resolve_roles(names)
        nominal, numeric = (
            _find_all(*option, names) for option in (("nominal", self.nominal), ("numeric", self.numeric))
        )
        assigned, notes = [], []
        for i, (found, role) in enumerate(zip(columns, roles, strict=True)):
            label = f"column {i + 1} ({role} {found.name!r})"
            column = _check_class(label, found, i in numeric, i in nominal) if role == "class" else found
            if column.predicted:
                assigned.append(column)
                continue
            kind = "time" if column.time_format is not None else column.kind
            if role == "weight" and kind != "numeric":
                msg = f"{label} is {kind}: the weight must be numeric"
                raise StreamgaugeError(msg)
            is_text = role == "attribute" and column.kind == "text"
            if is_text:
                notes.append(describe_text(column.name, column.n_names, column.n_present, column.example))
            elif role == "attribute" and i not in nominal:
                notes += note_decimal_commas(column.name, column.values or ())
            assigned.append(replace(column, role="dropped" if is_text else role))
        times = [
            TimeColumn(column.name, column.n_missing, never_decreases=not column.decreases)
            for column in assigned
            if column.role == "attribute" and column.kind == "time"
        ]
        named = next((column.name for column in assigned if column.role == "time"), None)
        time, on_times = choose_time(times, named)
        resolved: list[Column] = [
            replace(column, role="time" if column.name == time else "dropped")
            if column.role == "attribute" and column.kind == "time"
            else column
            for column in assigned
        ]
        return resolved, (*on_times, *notes)


def _check_class(label: str, column: Column, is_number: bool, declared: bool) -> Column:  # noqa: FBT001
    """Return the column of the target; raise if it holds neither classes nor, where these are wanted, numbers."""
    if is_number:
        kind = "time" if column.time_format is not None else column.kind
        if kind != "numeric":
            msg = f"{label} is {kind}: numbers are needed, since numeric names it"
            raise StreamgaugeError(msg)
        return replace(column, role="attribute", missing=True, predicted=True)
    if column.kind != "nominal":
        hint = f"pass numeric=({column.name!r},) (--numeric {quote(column.name)}) to predict numbers, or "
        hint = hint if column.kind == "numeric" else ""
        msg = f"{label} is {column.kind}: the class must be nominal; {hint}name another column with target"
        raise StreamgaugeError(msg)
    check_target(column.name, column.values or (), declared=declared)
    return column


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


def build_schema(columns: Sequence[Column], notes: Sequence[str] = ()) -> Schema:
    """Return the schema of rows with these columns; notes say what was left out, if no attribute remains.

    Examples
    --------
    >>> build_schema([Column("a", "numeric"), Column("c", "nominal", ("x", "y"), role="class")]).classes
    ('x', 'y')
    """
    attributes = tuple(Attribute(c.name, c.values, c.missing) for c in columns if c.role == "attribute")
    target = next((NumericTarget(column.name) for column in columns if column.predicted), None)
    if len(attributes) == (target is not None):
        msg = "there is no attribute besides the class"
        raise StreamgaugeError("; ".join([msg, *notes]))
    if target is not None:  # among the attributes, where `NumberReader` finds it
        return Schema(attributes, target=target)
    return Schema(attributes, next(column.values or () for column in columns if column.role == "class"))


def build_layout(columns: Sequence[Column]) -> list[tuple[str, Sequence[str] | None, list[int], str, bool, str | None]]:
    """Return the columns as the native reader takes them.

    Examples
    --------
    >>> build_layout([Column("a", "numeric")])
    [('a', None, [], 'attribute', True, None)]
    """
    layout: list[tuple[str, Sequence[str] | None, list[int], str, bool, str | None]] = []
    for c in columns:
        is_used = c.role not in ("dropped", "time")
        names = [text for text, _ in c.spellings] if c.spellings else c.values
        codes = [code for _, code in c.spellings] if is_used else []
        times = (c.time_format or "") if c.role == "time" else c.time_format if is_used else None
        layout.append((c.name, names if is_used else None, codes, c.role, c.missing, times))
    return layout


def check_distinct(names: Sequence[str]) -> None:
    """Raise if two columns have the same name.

    Examples
    --------
    >>> check_distinct(["a", "b"])
    """
    first: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in first:
            msg = f"column {i + 1} ({name!r}): column {first[name] + 1} has the same name: rename one of them"
            raise StreamgaugeError(msg)
        first[name] = i
