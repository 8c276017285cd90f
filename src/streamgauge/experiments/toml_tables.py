"""A TOML file that is being checked: its tables, the line of each value, and the errors found in it."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from streamgauge.errors import FileFaultsError, StreamgaugeError, unknown_name
from streamgauge.experiments.toml_positions import KeyPath, find_lines

__all__ = ["Document", "Table", "read_document"]

Value = TypeVar("Value")

MAX_PARTS = 50
"""The most parts of a dotted key."""

_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_KEY_PART}\.[ \t]*+){{{MAX_PARTS}}}{_KEY_PART}", flags=re.ASCII)


class Document:
    """A TOML file and the errors found in it so far.

    Examples
    --------
    >>> Document("bad.toml", "seeds = [1,").root
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: bad.toml:1: this is not valid TOML: invalid value
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.errors: list[tuple[int, str]] = []
        if (key := _LONG_KEY.search(text)) is not None:  # Python's reader takes hours and gigabytes for longer ones
            msg = f"{name}:{text.count(chr(10), 0, key.start()) + 1}: a key has more than {MAX_PARTS} parts"
            raise StreamgaugeError(msg)
        try:
            self._data = tomllib.loads(text)
            self._lines = find_lines(text)
        except tomllib.TOMLDecodeError as error:
            raise self._make_error(str(error), text) from None
        except RecursionError:
            msg = f"{name} is not valid TOML: its values are nested too deeply"
            raise StreamgaugeError(msg) from None

    @property
    def root(self) -> "Table":
        """The root table."""
        return Table(self, (), self._data)

    def find_line(self, path: KeyPath) -> int:
        """Return the line of a value, or of the nearest enclosing value with a known line."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def add_error(self, path: KeyPath, reason: str) -> None:
        """Note an error at a value."""
        self.errors.append((self.find_line(path), reason))

    def attempt(self, path: KeyPath, function: Callable[..., Value], *arguments: object) -> Value | None:
        """Call a function; if it fails, note the error at a value and return None."""
        try:
            return function(*arguments)
        except (StreamgaugeError, TypeError) as error:
            self.add_error(path, str(error))
            return None

    def raise_errors(self) -> None:
        """Raise if there are errors; the message lists them all, one per line."""
        if self.errors:
            lines = (f"{self.name}:{line}: {reason}" for line, reason in sorted(dict.fromkeys(self.errors)))
            raise FileFaultsError(lines)

    def _make_error(self, reason: str, text: str) -> StreamgaugeError:
        where = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", reason)
        line = text.count("\n") + 1 if where is None or where[1] is None else int(where[1])
        reason = reason[: where.start()] if where else reason
        return StreamgaugeError(f"{self.name}:{line}: this is not valid TOML: {reason[0].lower()}{reason[1:]}")


class Table:
    """A table of a document, whose values are read by key and type.

    Examples
    --------
    >>> document = Document("one.toml", 'rows = "many"')
    >>> document.root.read_integer("rows")
    >>> document.errors
    [(1, "rows = 'many': it must be a whole number")]
    """

    def __init__(self, document: Document, path: KeyPath, data: dict[str, Any]) -> None:
        self.document, self.path, self.data = document, path, data

    def check_keys(self, kind: str, known: Iterable[str]) -> bool:
        """Note every unknown key, with the nearest known one; return whether there is none."""
        names = list(known)
        unknown = [key for key in self.data if key not in names]
        for key in unknown:
            self.add_error(key, str(unknown_name(kind, key, names)))
        return not unknown

    def add_error(self, key: str | int, reason: str) -> None:
        """Note an error at a key."""
        self.document.add_error((*self.path, key), reason)

    def read_integer(self, key: str) -> int | None:
        """Return a whole number; None if it is missing or something else."""
        value = self._read(key, int, "a whole number")
        return value if isinstance(value, int) else None

    def read_float(self, key: str) -> float | None:
        """Return a number; None if it is missing or something else."""
        value = self._read(key, (int, float), "a number")
        return None if value is None else float(value)

    def read_text(self, key: str) -> str | None:
        """Return a text; None if it is missing or something else."""
        value = self._read(key, str, "a text")
        return None if value is None else str(value)

    def read_flag(self, key: str) -> bool | None:
        """Return true or false; None if it is missing or something else."""
        value = self.data.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.add_error(key, f"{key} = {value!r}: it must be true or false")
        return None

    def _read(self, key: str, kind: type | tuple[type, ...], kind_name: str) -> Any:  # noqa: ANN401
        value = self.data.get(key)
        if value is None or (isinstance(value, kind) and not isinstance(value, bool)):
            return value
        self.add_error(key, f"{key} = {value!r}: it must be {kind_name}")
        return None

    def list_values(self, key: str) -> list[tuple[KeyPath, Any]]:
        """Return the elements of an array, or a single value, each with its path."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            return [((*self.path, key), value)]
        return [((*self.path, key, i), element) for i, element in enumerate(value)]

    def read_numbers(self, key: str) -> list[float]:
        """Return numbers: one, several, or a range such as ``{from = 0.1, to = 0.5, step = 0.1}``."""
        if isinstance(self.data.get(key), dict):
            return self.get_table(key).read_range()
        numbers = []
        for path, value in self.list_values(key):
            if isinstance(value, bool) or not isinstance(value, int | float):
                self.document.add_error(path, f"{key} = {value!r}: it must be a number, or an array of numbers")
            else:
                numbers.append(float(value))
        return numbers

    def read_range(self) -> list[float]:
        """Return the numbers of a range with a constant ``step`` or a constant ``factor``."""
        self.check_keys("key of a range", ("from", "to", "step", "factor"))
        first, last, step, factor = (self.read_float(key) for key in ("from", "to", "step", "factor"))
        wrong = first is None or last is None or (step is None) == (factor is None) or last < first
        if wrong or (step is not None and step <= 0) or (factor is not None and (factor <= 1 or (first or 0) <= 0)):
            reason = "a range needs from, a greater to, and either a positive step or a factor above 1"
            self.document.add_error(self.path, f"{reason}: {{from = 0.1, to = 0.5, step = 0.1}}")
            return []
        numbers: list[float] = []
        while len(numbers) < 10_000:
            number = first + len(numbers) * step if step else first * (factor or 1.0) ** len(numbers)  # type: ignore[operator]
            if number > last * (1 + 1e-9):  # type: ignore[operator]
                break
            numbers.append(float(f"{number:.12g}"))
        return numbers

    def get_table(self, key: str | int) -> "Table":
        """Return a table within this one."""
        return Table(self.document, (*self.path, key), self.data[key])  # type: ignore[index]


def read_document(path: Path | str) -> Document:
    """Read a TOML file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    except UnicodeDecodeError as error:
        msg = f"{path} is not valid TOML: byte {error.start} is not UTF-8"
        raise StreamgaugeError(msg) from None
    return Document(str(path), text)
