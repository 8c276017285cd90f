"""Columns that many parts of a run share, so that none of them may write into one."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["SharedColumn", "pad_classes", "protect", "protect_fields"]

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


def pad_classes(
    column: NDArray[Any],
    n_classes: int,
    axis: int = -1,
    *,
    last: int = 0,
    fill: float = 0.0,
) -> NDArray[Any]:
    """Return a column with room for more classes along an axis; the classes that it has are the first of them.

    Parameters
    ----------
    column
        The numbers by class along the axis.
    n_classes
        The number of classes to make room for.
    axis
        The axis of the classes.
    last
        How many entries of the axis follow the classes, and still do.
    fill
        The number of the new classes.

    Examples
    --------
    >>> pad_classes(np.array([[1, 2, 9]]), 3, last=1).tolist()
    [[1, 2, 0, 9]]
    """
    n_old = column.shape[axis] - last
    if n_old == n_classes:
        return column
    missing = list(column.shape)
    missing[axis] = n_classes - n_old
    classes, rest = np.split(column, [n_old], axis=axis)
    return np.concatenate([classes, np.full(missing, fill, dtype=column.dtype), rest], axis=axis)


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
