"""The line of each value in a TOML file, which Python's own parser does not keep."""

import tomllib
from bisect import bisect_left
from collections.abc import Callable

__all__ = ["KeyPath", "find_lines"]

KeyPath = tuple[str | int, ...]
"""The path to a value: keys of tables and indices of arrays."""

_QUOTES = ("'", '"')


def find_lines(text: str) -> dict[KeyPath, int]:
    r"""Return the line, from 1, of every key and every array element in a valid TOML text.

    Examples
    --------
    >>> find_lines('seeds = [\n  1,\n  2,\n]\n[learners]\ntree = "HoeffdingTree"')[("seeds", 1)]
    3
    >>> find_lines('[[samples]]\nfile = "a.csv"\n[[samples]]\nfile = "b.csv"')[("samples", 1, "file")]
    4
    """
    return _Scanner(text).scan()


class _Scanner:
    """Scans a text that is known to be valid TOML, and therefore checks nothing."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._position = 0
        self._line_ends = [place for place, character in enumerate(self._text) if character == "\n"]
        self._lines: dict[KeyPath, int] = {}
        self._last_indices: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip()
        while self._position < len(self._text):
            table = self._scan_header() if self._character == "[" else table
            if self._character and self._character != "[":
                self._scan_pair(table)
            self._skip()
        return self._lines

    @property
    def _character(self) -> str:
        return self._text[self._position : self._position + 1]

    def _skip(self, blanks: str = " \t\n,") -> None:
        """Skip blanks, commas and comments."""
        while self._character and (self._character in blanks or self._character == "#"):
            if self._character == "#":
                end = self._text.find("\n", self._position)
                self._position = len(self._text) if end < 0 else end
            else:
                self._position += 1

    def _note(self, path: KeyPath, position: int) -> None:
        self._lines.setdefault(path, bisect_left(self._line_ends, position) + 1)

    def _scan_header(self) -> KeyPath:
        """Scan ``[table]`` or ``[[array of tables]]``; return the path of the table."""
        start, is_array = self._position, self._text.startswith("[[", self._position)
        self._position += 2 if is_array else 1
        path: KeyPath = ()
        *parents, last = self._scan_keys()
        for key in parents:
            path = self._add_index((*path, key))
        path = (*path, last)
        if is_array:
            self._last_indices[path] = self._last_indices.get(path, -1) + 1
            path = self._add_index(path)
        self._note(path, start)
        self._position += 2 if is_array else 1
        self._skip()
        return path

    def _add_index(self, path: KeyPath) -> KeyPath:
        """Return the path of the last table of an array of tables; other paths are returned unchanged."""
        return (*path, self._last_indices[path]) if path in self._last_indices else path

    def _scan_pair(self, table: KeyPath) -> None:
        start, path = self._position, table
        for key in self._scan_keys():
            path = (*path, key)
            self._note(path, start)
        self._position += 1  # the equals sign
        self._skip(" \t")
        self._scan_value(path)

    def _scan_keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(" \t")
            is_quoted = self._character in _QUOTES
            keys.append(self._scan_string() if is_quoted else self._scan_while(lambda c: c.isalnum() or c in "-_"))
            self._skip(" \t")
            if self._character != ".":
                return keys
            self._position += 1

    def _scan_value(self, path: KeyPath) -> None:
        if self._character in _QUOTES:
            self._scan_string()
        elif self._character == "[":
            self._scan_array(path)
        elif self._character == "{":
            self._scan_inline_table(path)
        else:
            self._scan_while(lambda c: c not in ",]}#\n")

    def _scan_array(self, path: KeyPath) -> None:
        self._position += 1
        self._skip()
        index = 0
        while self._character != "]":
            self._note((*path, index), self._position)
            self._scan_value((*path, index))
            self._skip()
            index += 1
        self._position += 1

    def _scan_inline_table(self, path: KeyPath) -> None:
        self._position += 1
        self._skip()
        while self._character != "}":
            self._scan_pair(path)
            self._skip()
        self._position += 1

    def _scan_while(self, belongs: Callable[[str], bool]) -> str:
        start = self._position
        while self._character and belongs(self._character):
            self._position += 1
        return self._text[start : self._position]

    def _scan_string(self) -> str:
        start, quote = self._position, self._character
        mark = quote * 3 if self._text.startswith(quote * 3, self._position) else quote
        self._position += len(mark)
        while not self._text.startswith(mark, self._position):
            self._position += 2 if quote == '"' and self._character == "\\" else 1
        self._position += len(mark)
        while len(mark) == 3 and self._character == quote:  # the text itself may end in up to two quotes
            self._position += 1
        value: str = tomllib.loads(f"key = {self._text[start : self._position]}")["key"]
        return value
