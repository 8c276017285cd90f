"""What a learner of another library holds: its saved bytes, and its size."""

import gc
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from streamgauge.errors import StreamgaugeError

__all__ = [
    "Size",
    "note_pickle",
    "noting_pickles",
    "opened",
    "pickled",
    "require_trust",
    "sealed",
    "size_of",
    "trusting",
    "unpickled",
]

_trusted: ContextVar[bool] = ContextVar("trusted", default=True)
_noted: ContextVar[set[str] | None] = ContextVar("noted", default=None)
N_DIGEST = 16
SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, property)
"""What objects refer to without holding it: code."""


def sealed(kind: str, content: bytes) -> bytes:
    """Put a saved state into an envelope that shows damage, and whose it is.

    Examples
    --------
    >>> opened("River", sealed("River", b"state"))
    b'state'
    """
    head = f"streamgauge {kind}\n".encode()
    return head + hashlib.blake2b(head + content, digest_size=N_DIGEST).digest() + content


def opened(kind: str, state: bytes) -> bytes:
    """Take a saved state out of its envelope; refuses one that is damaged or another learner's.

    Examples
    --------
    >>> opened("River", b"nonsense")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved state of River, or it is damaged
    """
    head = f"streamgauge {kind}\n".encode()
    digest, content = state[len(head) : len(head) + N_DIGEST], state[len(head) + N_DIGEST :]
    if not state.startswith(head) or hashlib.blake2b(head + content, digest_size=N_DIGEST).digest() != digest:
        msg = f"this is not a saved state of {kind}, or it is damaged"
        raise StreamgaugeError(msg)
    return content


def pickled(kind: str, content: object) -> bytes:
    """Save what only pickle can save.

    Examples
    --------
    >>> unpickled("River", pickled("River", {"n": 1}))
    {'n': 1}
    """
    note_pickle(kind)
    import cloudpickle  # noqa: PLC0415  (slow to import; it packs classes of a script or notebook by value)

    return sealed(kind, cloudpickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL))


def unpickled(kind: str, state: bytes) -> Any:  # noqa: ANN401
    """Load what `pickled` saved. The envelope shows damage, not malice: load only what you saved yourself.

    Examples
    --------
    >>> unpickled("River", pickled("Torch", 1))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved state of River, or it is damaged
    """
    require_trust(kind)
    return pickle.loads(opened(kind, state))


@contextmanager
def noting_pickles() -> Iterator[set[str]]:
    """Note, while the block runs, whose states are saved with pickle, or what is as powerful.

    Examples
    --------
    >>> with noting_pickles() as noted:
    ...     _ = pickled("River", 1)
    >>> noted
    {'River'}
    """
    noted: set[str] = set()
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def note_pickle(kind: str) -> None:
    """Note that a learner's state is saved with pickle, or with what is as powerful."""
    noted = _noted.get()
    if noted is not None:
        noted.add(kind)


@contextmanager
def trusting(trusted: bool) -> Iterator[None]:  # noqa: FBT001
    """Say whether states that are loaded while the block runs come from a trusted place.

    Examples
    --------
    >>> with trusting(False):
    ...     unpickled("River", pickled("River", 1))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the state of River is a pickle, which may run any code, and is from elsewhere
    """
    token = _trusted.set(trusted)
    try:
        yield
    finally:
        _trusted.reset(token)


def require_trust(kind: str) -> None:
    """Raise where a state that may run any code when it is loaded comes from a place that is not trusted."""
    if not _trusted.get():
        msg = f"the state of {kind} is a pickle, which may run any code, and is from elsewhere"
        raise StreamgaugeError(msg)


class Size:
    """Remembers a size that takes long to measure, until a learner has learnt a quarter more rows.

    Examples
    --------
    >>> size = Size()
    >>> [size.after(n_rows, lambda: 8 * n_rows) for n_rows in (1000, 1100, 1250)]
    [8000, 8000, 10000]
    """

    def __init__(self) -> None:
        self._n_bytes, self._due = 0, 0

    def after(self, n_rows: int, measure: Callable[[], int]) -> int:
        """Give the size after so many rows, measured anew where that is due."""
        if n_rows >= self._due:
            self._n_bytes, self._due = measure(), n_rows + max(64, n_rows // 4)
        return self._n_bytes


def size_of(thing: object) -> int:
    """Add up the bytes of all that a thing holds, each object once; code and classes are not counted.

    An object of native code that hides its memory is counted by the greater of what it says and its pickle.

    Examples
    --------
    >>> import numpy as np
    >>> column = np.zeros(1000)
    >>> 8_000 < size_of({"a": column, "b": column}) < 9_000
    True
    """
    seen: set[int] = set()
    waiting, total = [thing], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, SHARED):
            continue
        seen.add(id(one))
        inside = gc.get_referents(one)
        total += sys.getsizeof(one, 0) if inside or gc.is_tracked(one) else _size_of_leaf(one)
        waiting.extend(inside)
        base = getattr(one, "base", None)  # a view holds the array it looks at
        if base is not None and hasattr(one, "dtype"):
            waiting.append(base)
    return total


def _size_of_leaf(one: object) -> int:
    own = sys.getsizeof(one, 0)
    if type(one).__module__ in {"builtins", "numpy"}:
        return own
    try:
        return max(own, len(pickle.dumps(one)))
    except Exception:  # what cannot be pickled is as large as it says
        return own
