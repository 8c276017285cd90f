"""A slow and readable reader of ARFF and CSV, to compare the native one with.

It holds the whole file, uses regular expressions and Python's own `float`, and shares no code with the kernel.
"""

import math
import re
from dataclasses import dataclass, field

UNLABELLED = -1
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"', "%": "%"}
IN_SINGLE = r"'((?:[^'\\]|\\[nrt\\'\"%])*)'"
IN_DOUBLE = r"\"((?:[^\"\\]|\\[nrt\\'\"%])*)\""
ARFF_FIELD = re.compile(rf"[ \t]*+(?:{IN_SINGLE}|{IN_DOUBLE}|((?!['\"])[^,]*?))[ \t]*(,|\Z)")
CSV_FIELD = re.compile(r"[ \t]*+(?:\"((?:[^\"]|\"\")*)\"|((?!\")[^,]*?))[ \t]*(,|\Z)")
ARFF_NAME = rf"(?:{IN_SINGLE}|{IN_DOUBLE}|([^ \t{{'\"][^ \t{{]*+))"
NOMINAL_VALUE = re.compile(rf"[ \t]*(?:{IN_SINGLE}|{IN_DOUBLE}|([^ \t,}}'\"][^ \t,}}]*))[ \t]*([,}}])")
SPARSE_ENTRY = re.compile(rf"[ \t]*([0-9]++)[ \t]++(?:{IN_SINGLE}|{IN_DOUBLE}|((?!['\"])[^,}}]*?))[ \t]*([,}}])")
END = r"[ \t]*(?:%.*)?\Z"


class RefusedError(Exception):
    """The file has a fault in a line and, perhaps, a column, both counted from 1."""

    def __init__(self, line: int | None, column: int | None = None) -> None:
        super().__init__(line, column)
        self.line = line
        self.column = column


@dataclass
class Table:
    """What a file holds: names and values of the attributes, the classes, and the rows."""

    attributes: list[tuple[str, tuple[str, ...] | None]]
    classes: tuple[str, ...]
    x: list[list[float]] = field(default_factory=list)
    y: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)


def numbered_lines(data: bytes) -> list[tuple[int, str]]:
    """Cut a file into lines with their numbers; bytes that are not UTF-8 become lone surrogates."""
    if data.split(b"\n")[0].removesuffix(b"\r").startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError(1)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    lines = [line.removesuffix(b"\r") for line in lines]
    if lines:
        lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
    return [(i + 1, line.decode("utf-8", "surrogateescape")) for i, line in enumerate(lines)]


def is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def number(text: str) -> float | None:
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: ESCAPES[match[1]], text)


def unquoted(single: str | None, double: str | None, bare: str | None) -> tuple[str, bool]:
    """Return the text of a value and whether it was quoted, from the groups of an expression."""
    if bare is not None:
        return bare, False
    return unescaped(single if single is not None else double or ""), True


def read_arff(data: bytes) -> Table:
    """Read an ARFF file whose last attribute is the class."""
    lines = [(n, text) for n, text in numbered_lines(data) if text.strip(" \t") and text.lstrip(" \t")[0] != "%"]
    attributes: list[tuple[str, tuple[str, ...] | None]] = []
    rows = None
    for i, (n, text) in enumerate(lines):
        if declare(text, n, attributes):
            rows = lines[i + 1 :]
            break
    if rows is None:
        raise RefusedError(len(numbered_lines(data)))
    if any(values == () for _, values in attributes) or attributes[-1][1] is None or len(attributes) == 1:
        raise RefusedError(None)  # text, or no class, or nothing but a class
    table = Table(attributes[:-1], attributes[-1][1])
    for n, text in rows:
        add_arff_row(table, attributes, text, n)
    return table


def declare(text: str, n: int, attributes: list[tuple[str, tuple[str, ...] | None]]) -> bool:
    """Take in a line of the header; whether it is the last. Attributes of text get an empty list of values."""
    keyword = re.match(r"[ \t]*@(relation|attribute|data)(?=[ \t{]|\Z)[ \t]*", text, re.IGNORECASE)
    if not keyword or not is_text(text):
        raise RefusedError(n)
    rest = text[keyword.end() :]
    if keyword[1].lower() == "attribute":
        attributes.append(declared(rest, n, [name for name, _ in attributes]))
        return False
    is_data = keyword[1].lower() == "data"
    quoted = rest[:1] in ("'", '"')
    if is_data and (not attributes or not re.match(END, rest)):
        raise RefusedError(n)
    if not is_data and quoted and not re.match(rf"(?:{IN_SINGLE}|{IN_DOUBLE}){END}", rest):
        raise RefusedError(n)
    return is_data


def declared(text: str, n: int, others: list[str]) -> tuple[str, tuple[str, ...] | None]:
    """Return the name of an attribute, and its values: None for a numeric one, none for one of text."""
    start = re.match(rf"{ARFF_NAME}[ \t]*", text)
    name = unquoted(start[1], start[2], start[3])[0] if start else ""
    if not name or not start:
        raise RefusedError(n)
    rest = text[start.end() :]
    values: tuple[str, ...] | None
    if re.match(rf"(numeric|real|integer)(?=[ \t]|\Z){END}", rest, re.IGNORECASE):
        values = None
    elif re.match(rf"((string|date)(?=[ \t]|\Z)|date[ \t]++(?!%){ARFF_NAME}){END}", rest, re.IGNORECASE):
        values = ()
    else:
        values = listed_values(rest, n)
    if name in others:
        raise RefusedError(n, len(others) + 1)
    return name, values


def listed_values(rest: str, n: int) -> tuple[str, ...]:
    """Return the values of a nominal attribute."""
    values: list[str] = []
    at, closed = 1, False
    while not closed:
        match = NOMINAL_VALUE.match(rest, at) if rest.startswith("{") else None
        value, quoted = unquoted(match[1], match[2], match[3]) if match else ("?", False)
        if match is None or value in values or (value == "?" and not quoted):
            raise RefusedError(n)
        values.append(value)
        at, closed = match.end(), match[4] == "}"
    if not re.match(END, rest[at:]):
        raise RefusedError(n)
    return tuple(values)


def code(text: str, values: tuple[str, ...] | None) -> float | None:
    if values is None:
        return number(text)
    return float(values.index(text)) if text in values else None


def add_arff_row(table: Table, attributes: list[tuple[str, tuple[str, ...] | None]], text: str, n: int) -> None:
    if text.lstrip(" \t").startswith("{"):
        found, rest = sparse_values(attributes, text, n)
    else:
        found, rest = dense_values(attributes, text, n)
    weight = 1.0
    if rest is not None:
        match = re.fullmatch(r"[ \t]*\{(.*)\}[ \t]*", rest)
        value = number(match[1].strip(" \t")) if match else None
        if value is None or value < 0:
            raise RefusedError(n)
        weight = value
    table.x.append(found[:-1])
    table.y.append(UNLABELLED if math.isnan(found[-1]) else int(found[-1]))
    table.weight.append(weight)


def value_of(text: str, values: tuple[str, ...] | None, place: tuple[int, int], *, quoted: bool) -> float:
    if text == "?" and not quoted:
        return math.nan
    value = code(text, values) if is_text(text) and (text or quoted) else None
    if value is None:
        raise RefusedError(*place)
    return value


def dense_values(
    attributes: list[tuple[str, tuple[str, ...] | None]], text: str, n: int
) -> tuple[list[float], str | None]:
    """Return the values of a row, and what stands behind it."""
    found: list[float] = []
    at, separator = 0, ","
    for column, (_, values) in enumerate(attributes):
        match = ARFF_FIELD.match(text, at) if separator else None
        if not match:
            raise RefusedError(n, column + 1)
        inner, quoted = unquoted(match[1], match[2], match[3])
        found.append(value_of(inner, values, (n, column + 1), quoted=quoted))
        at, separator = match.end(), match[4]
    if not separator:
        return found, None
    if not text[at:].lstrip(" \t").startswith("{"):
        raise RefusedError(n, len(attributes) + 1)
    return found, text[at:]


def sparse_values(
    attributes: list[tuple[str, tuple[str, ...] | None]], text: str, n: int
) -> tuple[list[float], str | None]:
    """Return the values of a sparse row, and what stands behind it."""
    found = [0.0] * len(attributes)
    given: set[int] = set()
    empty = re.match(r"[ \t]*\{[ \t]*\}", text)
    at = empty.end() if empty else text.index("{") + 1
    closed = bool(empty)
    while not closed:
        match = SPARSE_ENTRY.match(text, at)
        column = int(match[1]) if match else -1
        if not match or column >= len(attributes) or column in given:
            raise RefusedError(n)
        given.add(column)
        inner, quoted = unquoted(match[2], match[3], match[4])
        found[column] = value_of(inner, attributes[column][1], (n, column + 1), quoted=quoted)
        at, closed = match.end(), match[5] == "}"
    behind = text[at:].lstrip(" \t")
    if not behind:
        return found, None
    if not re.match(r",[ \t]*\{", behind):
        raise RefusedError(n)
    return found, behind[1:]


def read_csv(data: bytes, *, header: bool, missing: tuple[str, ...] = ("?", "")) -> Table:
    """Read a CSV file whose last column is the class: columns are numeric or nominal as their values say."""
    lines = [(n, text) for n, text in numbered_lines(data) if text.strip(" \t")]
    if not lines:
        raise RefusedError(None)
    first = csv_fields(lines[0][1], lines[0][0], None)
    names = first if header else [f"x{i}" for i in range(len(first))]
    for i, name in enumerate(names):
        if not name or name in names[:i]:
            raise RefusedError(lines[0][0], i + 1)
    held: list[list[str]] = [[] for _ in names]
    rows = [csv_fields(text, n, (held, missing)) for n, text in lines[header:]]
    columns = [nominal_values(texts, is_class=i == len(names) - 1) for i, texts in enumerate(held)]
    if len(columns) == 1 or not columns[-1]:
        raise RefusedError(None)
    table = Table(list(zip(names, columns, strict=True))[:-1], columns[-1])
    for row in rows:
        found = [math.nan if text in missing else code(text, values) for text, values in zip(row, columns, strict=True)]
        table.x.append([value for value in found[:-1] if value is not None])
        table.y.append(UNLABELLED if row[-1] in missing else columns[-1].index(merged(held[-1], row[-1])))
        table.weight.append(1.0)
    return table


def csv_fields(text: str, n: int, kept: tuple[list[list[str]], tuple[str, ...]] | None) -> list[str]:
    """Return the texts of a line, and add those that are not missing to what is held of their columns."""
    fields: list[str] = []
    at, separator = 0, ","
    while separator:
        match = CSV_FIELD.match(text, at)
        inner = "\0" if match is None else match[2] if match[1] is None else match[1].replace('""', '"')
        if match is None or not is_text(inner) or (kept and len(fields) == len(kept[0])):
            raise RefusedError(n, len(fields) + 1)
        if kept and inner not in kept[1]:
            held = kept[0][len(fields)]
            is_class = len(fields) == len(kept[0]) - 1
            mixed = held and (number(held[0]) is None) != (number(inner) is None)
            if (not is_class and mixed) or (not inner and match[1] is None):
                raise RefusedError(n, len(fields) + 1)
            held.append(inner)
        fields.append(inner)
        at, separator = match.end(), match[3]
    if kept and len(fields) < len(kept[0]):
        raise RefusedError(n, len(fields) + 1)
    return fields


def merged(texts: list[str], text: str) -> str:
    """Return the name of a text of a column: numbers have one name, however they are written."""
    if any(number(other) is None for other in texts):
        return text
    value = float(text)
    return str(int(value)) if value.is_integer() else repr(value)


def nominal_values(texts: list[str], *, is_class: bool) -> tuple[str, ...] | None:
    """Return the names of a column in order, or None where it is numeric."""
    names = sorted({merged(texts, text) for text in texts})
    numeric = all(number(name) is not None for name in names)
    if numeric and not is_class:
        return None
    return tuple(sorted(names, key=float)) if numeric else tuple(names)
