"""The base class of generators, whose rows are computed in native code, and the checks of their options."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.base import OptionStream, split_rows

__all__ = ["Generator", "build_numeric_schema", "require_concept", "require_probability", "require_shares"]


@dataclass(frozen=True, kw_only=True)
class Generator(OptionStream):
    """A stream whose rows are a pure function of its options and of their position."""

    n_rows: int | None = None
    seed: int = 1
    sample: int = 0
    checked = True

    def __post_init__(self) -> None:
        if self.n_rows is not None:
            require_at_least("n_rows", self.n_rows, 0)
        for option, value in (("seed", self.seed), ("sample", self.sample)):
            require_at_least(option, value, 0)
            if value >= 2**64:
                msg = f"{option} = {value}: it must be below 2 ** 64"
                raise StreamgaugeError(msg)

    @property
    def has_times(self) -> bool:
        """False: rows carry no times."""
        return False

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Return an iterator over the rows from `start` on, `size` at a time."""
        kernel = _build_kernel(self)
        return (Batch(first, *kernel.rows(first, n)) for first, n in split_rows(self.n_rows, size, start))

    @abstractmethod
    def _build(self) -> _native.Generator:
        """Build the native generator."""


@lru_cache(maxsize=256)
def _build_kernel(generator: Generator) -> _native.Generator:
    # Cached outside the dataclass, which stays cheap to pickle and to compare; equal generators share a kernel.
    return generator._build()


def build_numeric_schema(n_attributes: int, n_classes: int) -> Schema:
    """Return a schema of numeric attributes a1, a2, ... and numbered classes.

    Examples
    --------
    >>> [attribute.name for attribute in build_numeric_schema(2, 3).attributes]
    ['a1', 'a2']
    """
    attributes = tuple(Attribute(f"a{i + 1}") for i in range(n_attributes))
    return Schema(attributes, tuple(str(code) for code in range(n_classes)))


def require_concept(concept: int, n_concepts: int) -> None:
    """Raise unless a concept lies in 1 to `n_concepts`.

    Examples
    --------
    >>> require_concept(3, n_concepts=3)
    """
    require_at_least("concept", concept, 1)
    if concept > n_concepts:
        msg = f"concept = {concept}: there are only {n_concepts}"
        raise StreamgaugeError(msg)


def require_probability(option: str, value: float) -> None:
    """Raise unless an option lies in [0, 1].

    Examples
    --------
    >>> require_probability("noise", 0.0)
    """
    require_between(option, value, 0.0, 1.0, open_low=False)


def require_shares(shares: tuple[float, ...], n_classes: int) -> None:
    """Raise unless there is one share per class and they add up to 1.

    Examples
    --------
    >>> require_shares((0.9, 0.1), n_classes=2)
    """
    if not isinstance(shares, tuple) or len(shares) != n_classes:
        msg = f"shares = {shares!r}: it must be a tuple of {n_classes} numbers, one per class"
        raise StreamgaugeError(msg)
    for share in shares:
        require_probability("shares", share)
    if abs(sum(shares) - 1.0) > 1e-9:
        msg = f"shares = {shares!r}: they must add up to 1, not {sum(shares):g}"
        raise StreamgaugeError(msg)
