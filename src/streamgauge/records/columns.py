"""Columns that many parts of a run share, so that none of them may write into one."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

__all__ = ["SharedColumn", "protect", "protect_fields"]

T = TypeVar("T")


def protect(column: T) -> T:
    """Return a column as a view that cannot be written; anything that is no array, as it is.

    Examples
    --------
    >>> column = np.zeros(2)
    >>> protect(column).flags.writeable, column.flags.writeable, protect(None)
    (False, True, None)
    """
    if not isinstance(column, np.ndarray) or not column.flags.writeable:
        return column
    view = column.view()
    view.flags.writeable = False
    return view


def protect_fields(record: Any) -> None:  # noqa: ANN401
    """Protect all columns of a record, whether it was built or restored.

    Examples
    --------
    >>> from streamgauge.records import Batch
    >>> Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)).x.flags.writeable
    False
    """
    columns = vars(record)
    for name, column in columns.items():
        columns[name] = protect(column)


class SharedColumn(cached_property[T]):
    """A cached property whose column is protected.

    Examples
    --------
    >>> class Rows:
    ...     @SharedColumn
    ...     def numbers(self):
    ...         return np.arange(3)
    >>> Rows().numbers.flags.writeable
    False
    """

    if not TYPE_CHECKING:  # for which it is a cached property like any other

        def __get__(self, record: object, owner: type | None = None) -> Any:  # noqa: ANN401
            """Compute the column when it is first read."""
            if record is None:
                return self
            column = protect(self.func(record))  # without the lock that Python 3.11 would take
            vars(record)[self.attrname] = column  # found there from now on, without a call
            return column
