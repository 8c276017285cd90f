"""Generators of streams with a numeric target: Friedman's function and two planes."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import inf, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import require_between
from streamgauge.randomness import uniform
from streamgauge.records import Attribute, NumericTarget, Schema
from streamgauge.streams.generators.native import Generator, require_concept

__all__ = ["FriedmanFunction", "Planes"]

N_ATTRIBUTES = 10

BLOCK = 1024
"""Rows are computed in whole blocks, since the last bits of a sine may depend on its position in an array."""

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NumberGenerator(Generator):
    """A generator whose rows are computed by NumPy, from ten numbers in [0, 1) and normal noise."""

    noise: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_between("noise", self.noise, 0.0, inf, open_low=False, open_high=True)

    @cached_property
    def schema(self) -> Schema:
        """Schema of the rows: ten numbers and a numeric target."""
        return Schema(tuple(Attribute(f"a{i + 1}") for i in range(N_ATTRIBUTES)), target=NumericTarget("y"))

    @abstractmethod
    def _transform(self, numbers: Values) -> tuple[Values, Values]:
        """Return the values of rows, float64 [n, 10], and their targets without noise, from uniform numbers."""

    def _build(self) -> Any:  # noqa: ANN401
        return _Rows(self)


class _Rows:
    """Computes the rows of a generator."""

    def __init__(self, generator: NumberGenerator) -> None:
        self._generator = generator

    def rows(self, first: int, n: int) -> tuple[Values, Values]:
        """Return the values and targets of `n` rows from `first` on."""
        start, stop = first // BLOCK * BLOCK, -(-(first + n) // BLOCK) * BLOCK
        generator, size = self._generator, stop - start
        draws = N_ATTRIBUTES + 2
        numbers = uniform(generator.seed, "numbers", generator.sample, start * draws, size * draws)
        numbers = numbers.reshape(size, draws)
        x, y = generator._transform(numbers[:, :N_ATTRIBUTES])
        first_draw, second_draw = np.ascontiguousarray(numbers[:, N_ATTRIBUTES:].T)
        normal = np.sqrt(-2.0 * np.log1p(-first_draw)) * np.cos(2.0 * pi * second_draw)
        wanted = slice(first - start, first - start + n)
        return np.ascontiguousarray(x[wanted]), y[wanted] + generator.noise * normal[wanted]


_ROLES = ((0, 1, 2, 3, 4), (3, 4, 1, 0, 2), (1, 4, 3, 2, 0))
"""Which attributes have the five parts in Friedman's function, by concept."""


@dataclass(frozen=True)
class FriedmanFunction(NumberGenerator):
    """Friedman's function: ``10 sin(pi a1 a2) + 20 (a3 - 0.5)^2 + 10 a4 + 5 a5`` and normal noise.

    Ten attributes are uniform in [0, 1); the other five are irrelevant. The concepts give the five parts to other
    attributes, so that streams of two concepts, joined by `Sudden` or `Gradual`, drift (Ikonomovska et al., 2011).

    Parameters
    ----------
    concept
        1 to 3.
    noise
        The standard deviation of the noise.
    n_rows, seed, sample
        The number of rows, None for endless; the seed; and which sample of it to draw.

    Examples
    --------
    >>> from streamgauge.streams import take
    >>> rows = take(FriedmanFunction(noise=0.0), 3)
    >>> a = rows.x[0]
    >>> wanted = 10 * np.sin(pi * a[0] * a[1]) + 20 * (a[2] - 0.5) ** 2 + 10 * a[3] + 5 * a[4]
    >>> bool(abs(rows.y[0] - wanted) < 1e-12), FriedmanFunction().schema.target
    (True, NumericTarget(name='y', origin=0.0))

    References
    ----------
    J. Friedman, Multivariate adaptive regression splines, Annals of Statistics 19, 1991; E. Ikonomovska, J. Gama and
    S. Džeroski, Learning model trees from evolving data streams, Data Mining and Knowledge Discovery 23, 2011.
    """

    concept: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, len(_ROLES))

    def _transform(self, numbers: Values) -> tuple[Values, Values]:
        a, b, c, d, e = (np.ascontiguousarray(numbers[:, index]) for index in _ROLES[self.concept - 1])
        return numbers, 10.0 * np.sin(pi * a * b) + 20.0 * (c - 0.5) ** 2 + 10.0 * d + 5.0 * e


@dataclass(frozen=True)
class Planes(NumberGenerator):
    """Two planes, of which the first attribute chooses one, and normal noise.

    a1 is -1 or 1, the others are -1, 0 or 1, each equally likely. The target is ``3 + 3 a2 + 2 a3 + a4`` if a1 is 1,
    else ``-3 + 3 a5 + 2 a6 + a7``; a8 to a10 are irrelevant. In the second concept a1 chooses the other plane.

    Parameters
    ----------
    concept
        1 or 2.
    noise
        The standard deviation of the noise; 2 in the original.
    n_rows, seed, sample
        The number of rows, None for endless; the seed; and which sample of it to draw.

    Examples
    --------
    >>> from streamgauge.streams import take
    >>> sorted(set(take(Planes(noise=0.0), 1000).y.tolist()))[:3]
    [-9.0, -8.0, -7.0]

    References
    ----------
    L. Breiman, J. Friedman, R. Olshen and C. Stone, Classification and regression trees, 1984.
    """

    concept: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 2)

    def _transform(self, numbers: Values) -> tuple[Values, Values]:
        x = np.floor(3.0 * numbers) - 1.0
        x[:, 0] = np.where(numbers[:, 0] < 0.5, -1.0, 1.0)
        first = 3.0 + 3.0 * x[:, 1] + 2.0 * x[:, 2] + x[:, 3]
        second = -3.0 + 3.0 * x[:, 4] + 2.0 * x[:, 5] + x[:, 6]
        return x, np.where(x[:, 0] == (1.0 if self.concept == 1 else -1.0), first, second)
