"""Codes of classes, in the order in which they are declared or appear."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.records import ABSTAINED

__all__ = ["MAX_CLASSES", "ClassCodes"]

MAX_CLASSES = 32_767
"""The most classes that a tally can have."""

TABLE_SIZE = 65_536
"""Classes that are whole numbers from 0 to below this are looked up in a table."""

UNKNOWN = -2
"""The entry of the table for a number that is no class yet."""

SHIFT = 20
"""By how many bits the code of the true class is shifted where one number holds both codes of a row."""


class ClassCodes:
    """The classes so far and their codes; a class that is looked up for the first time is added.

    Labels with the same text are the same class: 1, 1.0, "1" and np.int64(1).

    Parameters
    ----------
    classes
        The declared classes.

    Examples
    --------
    >>> codes = ClassCodes(["ok", "fraud"])
    >>> codes.encode(["fraud", "ok", "other", None]).tolist(), codes.names
    ([1, 0, 2, -1], ('ok', 'fraud', 'other'))
    """

    def __init__(self, classes: Iterable[object] = ()) -> None:
        self.true_part: dict[Hashable, int] = {}
        """The part of the number of a row that its true class makes, for labels that have been seen."""
        self.predicted_part: dict[Hashable, int] = {None: 0}
        """The part that its predicted class makes; that of None, for no prediction, is 0."""
        self._by_name: dict[str, int] = {}
        self._table = np.full(0, UNKNOWN, dtype=np.int32)
        for label in classes:
            if find_name(label) in self._by_name:
                msg = f"classes: {label!r} is there twice"
                raise StreamgaugeError(msg)
            self.find(label)

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes by code."""
        return tuple(self._by_name)

    def find(self, label: object) -> int:
        """Return the code of a label, a new one for a new class; `ABSTAINED` for None and NaN."""
        known = self.predicted_part.get(label)
        if known is not None:
            return known - 1
        name = find_name(label)
        if name is None:
            return ABSTAINED
        code = self._by_name.get(name)
        if code is None:
            if len(self) == MAX_CLASSES:
                msg = f"{label!r} would be class {MAX_CLASSES + 1:,}, and the most is {MAX_CLASSES:,}: is it a class?"
                raise StreamgaugeError(msg)
            code = self._by_name[name] = len(self)
        self.true_part[label] = code << SHIFT
        self.predicted_part[label] = code + 1
        return code

    def encode(self, labels: Sequence[object] | NDArray[Any]) -> NDArray[np.int32]:
        """Return the codes of a column of labels; `ABSTAINED`, which is also `UNLABELLED`, for None and NaN."""
        column = labels if isinstance(labels, np.ndarray) else None
        if column is not None and column.dtype.kind in "iub" and len(column):
            return self._encode_whole(column)
        known, find = self.predicted_part, self.find
        values = labels if column is None else column.tolist()
        try:
            codes = [known[label] - 1 for label in values]
        except (KeyError, TypeError):
            codes = [find(label) for label in values]
        return np.array(codes, dtype=np.int32)

    def _encode_whole(self, column: NDArray[Any]) -> NDArray[np.int32]:
        """Return the codes of whole numbers, by a table."""
        if column.dtype.kind == "b":
            column = column.view(np.uint8)
        low, high = int(column.min()), int(column.max())
        if low < 0 or high >= TABLE_SIZE:
            return np.array([self.find(label) for label in column.tolist()], dtype=np.int32)
        if high >= len(self._table):
            missing = np.full(high + 1 - len(self._table), UNKNOWN, dtype=np.int32)
            self._table = np.append(self._table, missing)
        codes = self._table.take(column)
        if int(codes.min()) == UNKNOWN:
            first = np.sort(np.unique(column[codes == UNKNOWN], return_index=True)[1])
            for label in column[codes == UNKNOWN][first].tolist():  # in the order of the rows
                self._table[label] = self.find(label)
            codes = self._table.take(column)
        return codes


def find_name(label: object) -> str | None:
    """Return the name of the class of a label; None for None and NaN, which stand for no class.

    Examples
    --------
    >>> [find_name(label) for label in ("up", 1, 1.0, np.int64(1), True, None, float("nan"))]
    ['up', '1', '1', '1', '1', None, None]
    """
    if isinstance(label, str):
        return str(label)
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or (isinstance(label, float) and label != label):  # noqa: PLR0124  (NaN)
        return None
    if isinstance(label, bool):
        return str(int(label))
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    if isinstance(label, int | float | str):
        return str(label)
    msg = f"{label!r} is no class: a class is a text or a number"
    raise StreamgaugeError(msg)
