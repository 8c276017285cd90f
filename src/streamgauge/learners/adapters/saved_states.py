"""Saved states and sizes of learners of other libraries."""

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
    "SizeCache",
    "measure_size",
    "note_pickle",
    "pickle_state",
    "record_pickles",
    "require_trust",
    "seal",
    "set_trust",
    "unpickle_state",
    "unseal",
]

_trusted: ContextVar[bool] = ContextVar("trusted", default=True)
_pickled_kinds: ContextVar[set[str] | None] = ContextVar("pickled_kinds", default=None)
DIGEST_BYTES = 16
CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, property)
"""Types of objects that are code: they are referred to, but not part of a learner."""


def seal(kind: str, content: bytes) -> bytes:
    """Wrap a saved state in an envelope with the kind of the learner and a checksum.

    Examples
    --------
    >>> unseal("River", seal("River", b"state"))
    b'state'
    """
    head = f"streamgauge {kind}\n".encode()
    return head + hashlib.blake2b(head + content, digest_size=DIGEST_BYTES).digest() + content


def unseal(kind: str, state: bytes) -> bytes:
    """Return the saved state in an envelope; raise if it is damaged or of another kind of learner.

    Examples
    --------
    >>> unseal("River", b"nonsense")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved state of River, or it is damaged
    """
    head = f"streamgauge {kind}\n".encode()
    digest, content = state[len(head) : len(head) + DIGEST_BYTES], state[len(head) + DIGEST_BYTES :]
    if not state.startswith(head) or hashlib.blake2b(head + content, digest_size=DIGEST_BYTES).digest() != digest:
        msg = f"this is not a saved state of {kind}, or it is damaged"
        raise StreamgaugeError(msg)
    return content


def pickle_state(kind: str, content: object) -> bytes:
    """Return an object as a sealed pickle.

    Examples
    --------
    >>> unpickle_state("River", pickle_state("River", {"n": 1}))
    {'n': 1}
    """
    note_pickle(kind)
    import cloudpickle  # noqa: PLC0415  (slow to import; it pickles classes of a script or notebook by value)

    return seal(kind, cloudpickle.dumps(content, protocol=pickle.HIGHEST_PROTOCOL))


def unpickle_state(kind: str, state: bytes) -> Any:  # noqa: ANN401
    """Load what `pickle_state` saved. The checksum detects damage, not malice: load only trusted states.

    Examples
    --------
    >>> unpickle_state("River", pickle_state("Torch", 1))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: this is not a saved state of River, or it is damaged
    """
    require_trust(kind)
    return pickle.loads(unseal(kind, state))


@contextmanager
def record_pickles() -> Iterator[set[str]]:
    """Collect the kinds of learners whose states are pickled (or serialised by Java) within the block.

    Examples
    --------
    >>> with record_pickles() as kinds:
    ...     _ = pickle_state("River", 1)
    >>> kinds
    {'River'}
    """
    kinds: set[str] = set()
    token = _pickled_kinds.set(kinds)
    try:
        yield kinds
    finally:
        _pickled_kinds.reset(token)


def note_pickle(kind: str) -> None:
    """Record that a state is saved by pickle, or by another format that can run code when it is loaded."""
    kinds = _pickled_kinds.get()
    if kinds is not None:
        kinds.add(kind)


@contextmanager
def set_trust(trusted: bool) -> Iterator[None]:  # noqa: FBT001
    """Set whether states that are loaded within the block are trusted.

    Examples
    --------
    >>> with set_trust(False):
    ...     unpickle_state("River", pickle_state("River", 1))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the state of River is a pickle, which may run any code, and is not trusted
    """
    token = _trusted.set(trusted)
    try:
        yield
    finally:
        _trusted.reset(token)


def require_trust(kind: str) -> None:
    """Raise if states that may run code when they are loaded are not trusted."""
    if not _trusted.get():
        msg = f"the state of {kind} is a pickle, which may run any code, and is not trusted"
        raise StreamgaugeError(msg)


class SizeCache:
    """Cache of a size that is slow to measure; it expires after a quarter more rows.

    Examples
    --------
    >>> size = SizeCache()
    >>> [size.get(n_rows, lambda: 8 * n_rows) for n_rows in (1000, 1100, 1250)]
    [8000, 8000, 10000]
    """

    def __init__(self) -> None:
        self._n_bytes, self._next_row = 0, 0

    def get(self, n_rows: int, measure: Callable[[], int]) -> int:
        """Return the size after `n_rows`, measured again if the cached one has expired."""
        if n_rows >= self._next_row:
            self._n_bytes, self._next_row = measure(), n_rows + max(64, n_rows // 4)
        return self._n_bytes


def measure_size(thing: object) -> int:
    """Return the bytes of an object and all that it refers to, each object once, without code and classes.

    The size of an object of native code is the larger of `sys.getsizeof` and the length of its pickle.

    Examples
    --------
    >>> import numpy as np
    >>> column = np.zeros(1000)
    >>> 8_000 < measure_size({"a": column, "b": column}) < 9_000
    True
    """
    seen: set[int] = set()
    pending, total = [thing], 0
    while pending:
        item = pending.pop()
        if id(item) in seen or isinstance(item, CODE):
            continue
        seen.add(id(item))
        referents = gc.get_referents(item)
        total += sys.getsizeof(item, 0) if referents or gc.is_tracked(item) else _measure_leaf(item)
        pending.extend(referents)
        base = getattr(item, "base", None)  # the array behind a view
        if base is not None and hasattr(item, "dtype"):
            pending.append(base)
    return total


def _measure_leaf(leaf: object) -> int:
    n_bytes = sys.getsizeof(leaf, 0)
    if type(leaf).__module__ in {"builtins", "numpy"}:
        return n_bytes
    try:
        return max(n_bytes, len(pickle.dumps(leaf)))
    except Exception:  # it cannot be pickled
        return n_bytes
