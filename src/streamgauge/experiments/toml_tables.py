"""A TOML file under scrutiny: its tables, the line of each value, and all that is wrong with it."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.experiments.toml_positions import Path as Place
from streamgauge.experiments.toml_positions import lines_of

__all__ = ["Document", "Table"]

Value = TypeVar("Value")


class Document:
    """A TOML file and the faults found in it so far.

    Examples
    --------
    >>> Document("bad.toml", "seeds = [1,").root
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: bad.toml:1: it is not TOML: invalid value
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.faults: list[tuple[int, str]] = []
        try:
            self._data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise self._not_toml(str(error), text) from None
        self._lines = lines_of(text)

    @property
    def root(self) -> "Table":
        """The table that is the whole file."""
        return Table(self, (), self._data)

    def line(self, place: Place) -> int:
        """Give the line of a value, or of the nearest thing around it."""
        while place and place not in self._lines:
            place = place[:-1]
        return self._lines.get(place, 1)

    def fault(self, place: Place, reason: str) -> None:
        """Note what is wrong at a place."""
        self.faults.append((self.line(place), reason))

    def trying(self, place: Place, act: Callable[..., Value], *arguments: object) -> Value | None:
        """Do something; where it fails, note why, and give nothing."""
        try:
            return act(*arguments)
        except (StreamgaugeError, TypeError) as error:
            self.fault(place, str(error))
            return None

    def require_faultless(self) -> None:
        """Raise where there are faults, and tell them all, one a line."""
        if self.faults:
            told = (f"{self.name}:{line}: {reason}" for line, reason in sorted(dict.fromkeys(self.faults)))
            raise StreamgaugeError("\n".join(told))

    def _not_toml(self, reason: str, text: str) -> StreamgaugeError:
        where = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", reason)
        line = text.count("\n") + 1 if where is None or where[1] is None else int(where[1])
        told = reason[: where.start()] if where else reason
        return StreamgaugeError(f"{self.name}:{line}: it is not TOML: {told[0].lower()}{told[1:]}")


class Table:
    """A table of a document: its values by key, each of the kind that is asked for.

    Examples
    --------
    >>> document = Document("one.toml", 'rows = "many"')
    >>> document.root.number("rows")
    >>> document.faults
    [(1, "rows = 'many': it must be a whole number")]
    """

    def __init__(self, document: Document, place: Place, data: dict[str, Any]) -> None:
        self.document, self.place, self.data = document, place, data

    def allow(self, kind: str, known: Iterable[str]) -> bool:
        """Note every key that is not known, with the nearest one that is; say whether all are."""
        names = list(known)
        unknown = [key for key in self.data if key not in names]
        for key in unknown:
            self.document.fault((*self.place, key), str(unknown_name(kind, key, names)))
        return not unknown

    def fault(self, key: str | int, reason: str) -> None:
        """Note what is wrong with a value."""
        self.document.fault((*self.place, key), reason)

    def number(self, key: str) -> int | None:
        """Give a whole number; None where it is not there or is none."""
        found = self._of_kind(key, int, "a whole number")
        return found if isinstance(found, int) else None

    def real(self, key: str) -> float | None:
        """Give a number; None where it is not there or is none."""
        found = self._of_kind(key, (int, float), "a number")
        return None if found is None else float(found)

    def text(self, key: str) -> str | None:
        """Give a text; None where it is not there or is none."""
        found = self._of_kind(key, str, "a text")
        return None if found is None else str(found)

    def flag(self, key: str) -> bool | None:
        """Give true or false; None where it is not there or is neither."""
        found = self.data.get(key)
        if found is None or isinstance(found, bool):
            return found
        self.fault(key, f"{key} = {found!r}: it must be true or false")
        return None

    def _of_kind(self, key: str, kind: type | tuple[type, ...], told: str) -> Any:  # noqa: ANN401
        found = self.data.get(key)
        if found is None or (isinstance(found, kind) and not isinstance(found, bool)):
            return found
        self.fault(key, f"{key} = {found!r}: it must be {told}")
        return None

    def several(self, key: str) -> list[tuple[Place, Any]]:
        """Give the values of an array, or a single value, each with its place."""
        found = self.data.get(key, [])
        if not isinstance(found, list):
            return [((*self.place, key), found)]
        return [((*self.place, key, i), value) for i, value in enumerate(found)]

    def numbers(self, key: str) -> list[float]:
        """Give numbers: one, several, or a range such as ``{from = 0.1, to = 0.5, step = 0.1}``."""
        found = self.data.get(key, [])
        if isinstance(found, dict):
            return self.table(key).span()
        numbers = []
        for place, value in self.several(key):
            if isinstance(value, bool) or not isinstance(value, int | float):
                self.document.fault(place, f"{key} = {value!r}: it must be a number, or several in an array")
            else:
                numbers.append(float(value))
        return numbers

    def span(self) -> list[float]:
        """Give the numbers of a range, evenly (``step``) or by a ``factor``."""
        self.allow("key of a range", ("from", "to", "step", "factor"))
        first, last, step, factor = (self.real(key) for key in ("from", "to", "step", "factor"))
        wrong = first is None or last is None or (step is None) == (factor is None) or last < first
        if wrong or (step is not None and step <= 0) or (factor is not None and (factor <= 1 or (first or 0) <= 0)):
            reason = "a range is from a number to a greater one by a positive step, or by a factor above 1"
            self.document.fault(self.place, f"{reason}: {{from = 0.1, to = 0.5, step = 0.1}}")
            return []
        numbers: list[float] = []
        while len(numbers) < 10_000:
            at = first + len(numbers) * step if step else first * (factor or 1.0) ** len(numbers)  # type: ignore[operator]
            if at > last * (1 + 1e-9):  # type: ignore[operator]
                break
            numbers.append(float(f"{at:.12g}"))
        return numbers

    def table(self, key: str | int) -> "Table":
        """Give a table within this one."""
        return Table(self.document, (*self.place, key), self.data[key])  # type: ignore[index]


def read_document(path: Path | str) -> Document:
    """Read a TOML file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from None
    except UnicodeDecodeError as error:
        msg = f"{path} is not TOML: it is not UTF-8 at byte {error.start}"
        raise StreamgaugeError(msg) from None
    return Document(str(path), text)
