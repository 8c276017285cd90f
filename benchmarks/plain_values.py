"""Records as plain values that are equal only if all their bits are."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

__all__ = ["to_plain"]


def to_plain(value: object) -> object:
    """Return records, arrays and mappings as nested tuples; numbers as text that keeps every bit.

    Examples
    --------
    >>> to_plain({"row": np.array([1, 2]), "share": float("nan")})
    (('row', ('<i8', (2,), '01000000000000000200000000000000')), ('share', 'nan'))
    """
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes().hex()
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, *((field.name, to_plain(getattr(value, field.name))) for field in fields(value))
    if isinstance(value, Mapping):
        return tuple((to_plain(name), to_plain(item)) for name, item in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(to_plain(item) for item in value)
    return repr(value) if isinstance(value, float | np.generic) else value
