"""What generators share: a frozen value whose rows are computed in native code."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Attribute, Batch, Schema
from streamgauge.streams.spans import spans

__all__ = ["VERSION", "Generator", "nominal", "numeric_schema", "require_concept", "require_shares"]

VERSION = 1
"""Goes up when the rows of any generator change."""


@dataclass(frozen=True, kw_only=True)
class Generator(ABC):
    """What the generators share."""

    n_rows: int | None = None
    seed: int = 1
    sample: int = 0
    checked: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.n_rows is not None:
            require_at_least("n_rows", self.n_rows, 0)
        for option, value in (("seed", self.seed), ("sample", self.sample)):
            require_at_least(option, value, 0)
            if value >= 2**64:
                msg = f"{option} = {value}: it must be below 2 ** 64"
                raise StreamgaugeError(msg)

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """What the rows look like."""

    @property
    def fingerprint(self) -> str:
        """Name, version and every option."""
        # A whole number given for a float is that float.
        values = ((f.name, float(v) if f.type is float else v) for f in fields(self) for v in [getattr(self, f.name)])
        return f"{type(self).__name__}/{VERSION}({', '.join(f'{name}={value!r}' for name, value in values)})"

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Give the rows from `start` on, `size` at a time."""
        kernel = _kernel(self)
        return (Batch(first, *kernel.rows(first, n)) for first, n in spans(self.n_rows, size, start))

    @abstractmethod
    def _build(self) -> _native.Generator:
        """Build the native generator."""


@lru_cache(maxsize=256)
def _kernel(generator: Generator) -> _native.Generator:
    # Kept beside the value, which so stays small to pickle and to compare; equal generators share one.
    return generator._build()


def numeric_schema(n_attributes: int, n_classes: int) -> Schema:
    """Make the schema of numeric attributes and numbered classes.

    Examples
    --------
    >>> [attribute.name for attribute in numeric_schema(2, 3).attributes]
    ['a1', 'a2']
    """
    attributes = tuple(Attribute(f"a{i + 1}") for i in range(n_attributes))
    return Schema(attributes, tuple(str(code) for code in range(n_classes)))


def nominal(name: str, *values: str) -> Attribute:
    """Make a nominal attribute.

    Examples
    --------
    >>> nominal("size", "small", "large").is_nominal
    True
    """
    return Attribute(name, values)


def require_concept(concept: int, n_concepts: int) -> None:
    """Raise unless there is such a concept.

    Examples
    --------
    >>> require_concept(3, n_concepts=3)
    """
    require_at_least("concept", concept, 1)
    if concept > n_concepts:
        msg = f"concept = {concept}: there are only {n_concepts}"
        raise StreamgaugeError(msg)


def require_shares(shares: tuple[float, ...], n_classes: int) -> None:
    """Raise unless there is a share per class, and they add up to 1.

    Examples
    --------
    >>> require_shares((0.9, 0.1), n_classes=2)
    """
    if not isinstance(shares, tuple) or len(shares) != n_classes:
        msg = f"shares = {shares!r}: it must be a tuple of {n_classes} numbers, one per class"
        raise StreamgaugeError(msg)
    for share in shares:
        require_between("shares", share, 0.0, 1.0, open_low=False)
    if abs(sum(shares) - 1.0) > 1e-9:
        msg = f"shares = {shares!r}: they must add up to 1, not {sum(shares):g}"
        raise StreamgaugeError(msg)
