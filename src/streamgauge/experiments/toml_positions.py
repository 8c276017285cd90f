"""Where each value of a TOML file stands, which Python's own reader does not tell."""

import tomllib
from collections.abc import Callable

__all__ = ["Path", "lines_of"]

Path = tuple[str | int, ...]
"""The way to a value: keys of tables and places in arrays."""

_QUOTES = ("'", '"')


def lines_of(text: str) -> dict[Path, int]:
    r"""Give the line, from 1, of every key and every value of an array in a valid TOML text.

    Examples
    --------
    >>> lines_of('seeds = [\n  1,\n  2,\n]\n[learners]\ntree = "HoeffdingTree"')[("seeds", 1)]
    3
    >>> lines_of('[[samples]]\nfile = "a.csv"\n[[samples]]\nfile = "b.csv"')[("samples", 1, "file")]
    4
    """
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a text that is known to be valid, so that it need not look for mistakes."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        """Walk from the start to the end."""
        table: Path = ()
        self._skip()
        while self._at < len(self._text):
            table = self._header() if self._now == "[" else table
            if self._now and self._now != "[":
                self._pair(table)
            self._skip()
        return self._lines

    @property
    def _now(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, blanks: str = " \t\n,") -> None:
        """Go on to where something stands; commas mean nothing here."""
        while self._now and (self._now in blanks or self._now == "#"):
            if self._now == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                self._at += 1

    def _note(self, path: Path, at: int) -> None:
        self._lines.setdefault(path, self._text.count("\n", 0, at) + 1)

    def _header(self) -> Path:
        at, repeated = self._at, self._text.startswith("[[", self._at)
        self._at += 2 if repeated else 1
        path: Path = ()
        *parents, last = self._keys()
        for key in parents:
            path = self._newest((*path, key))
        path = (*path, last)
        if repeated:
            self._tables[path] = self._tables.get(path, -1) + 1
            path = self._newest(path)
        self._note(path, at)
        self._at += 2 if repeated else 1
        self._skip()
        return path

    def _newest(self, path: Path) -> Path:
        """Give the path of the last table of an array of tables; other paths as they are."""
        return (*path, self._tables[path]) if path in self._tables else path

    def _pair(self, table: Path) -> None:
        at, path = self._at, table
        for key in self._keys():
            path = (*path, key)
            self._note(path, at)
        self._at += 1  # the sign of equality
        self._skip(" \t")
        self._value(path)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(" \t")
            keys.append(self._string() if self._now in _QUOTES else self._bare(lambda c: c.isalnum() or c in "-_"))
            self._skip(" \t")
            if self._now != ".":
                return keys
            self._at += 1

    def _value(self, path: Path) -> None:
        if self._now in _QUOTES:
            self._string()
        elif self._now == "[":
            self._array(path)
        elif self._now == "{":
            self._inline_table(path)
        else:
            self._bare(lambda c: c not in ",]}#\n")

    def _array(self, path: Path) -> None:
        self._at += 1
        self._skip()
        place = 0
        while self._now != "]":
            self._note((*path, place), self._at)
            self._value((*path, place))
            self._skip()
            place += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        self._skip()
        while self._now != "}":
            self._pair(path)
            self._skip()
        self._at += 1

    def _bare(self, belongs: Callable[[str], bool]) -> str:
        start = self._at
        while self._now and belongs(self._now):
            self._at += 1
        return self._text[start : self._at]

    def _string(self) -> str:
        start, quote = self._at, self._now
        mark = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(mark)
        while not self._text.startswith(mark, self._at):
            self._at += 2 if quote == '"' and self._now == "\\" else 1
        self._at += len(mark)
        while len(mark) == 3 and self._now == quote:  # up to two quotes may end the text itself
            self._at += 1
        value: str = tomllib.loads(f"it = {self._text[start : self._at]}")["it"]
        return value
