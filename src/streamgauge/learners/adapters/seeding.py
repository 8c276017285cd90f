"""Seeds for whatever of a learner asks for one, however deep inside."""

from collections.abc import Iterator
from itertools import count

from streamgauge.randomness import draw

__all__ = ["SEED_NAMES", "seeds"]

SEED_NAMES = frozenset({"seed", "random_state", "random_seed"})
"""What libraries call the option that takes a seed."""


def seeds(seed: int) -> Iterator[int]:
    """Give one seed after the other, all from one: whole numbers below 2**31, which every library takes.

    Examples
    --------
    >>> first, second = seeds(1), seeds(1)
    >>> next(first) == next(second) != next(first)
    True
    """
    return (int(draw(seed, "nested seeds", 0, place)[0] >> 33) for place in count())
