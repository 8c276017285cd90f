"""Seeds for the components of a learner, at any depth."""

from collections.abc import Iterator
from itertools import count

from streamgauge.randomness import draw

__all__ = ["SEED_NAMES", "generate_seeds"]

SEED_NAMES = frozenset({"seed", "random_state", "random_seed"})
"""Names that libraries use for the option that takes a seed."""


def generate_seeds(seed: int) -> Iterator[int]:
    """Yield an endless sequence of seeds derived from one: integers below 2**31, which every library accepts.

    Examples
    --------
    >>> first, second = generate_seeds(1), generate_seeds(1)
    >>> next(first) == next(second) != next(first)
    True
    """
    return (int(draw(seed, "nested seeds", 0, index)[0] >> 33) for index in count())
