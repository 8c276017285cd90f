"""Generators: streams whose rows are computed in native code.

A row is a pure function of seed, sample and position: any start and any batch size give the same rows. `seed` sets the
concept (weights, centroids, trees) as well as the rows; `sample` only the rows. The concepts are those of MOA's
generators. The random numbers are not, so rows differ from MOA's while their distribution does not; the exceptions are
documented in each class.
"""

from streamgauge.streams.generators.moving import SEA, Hyperplane, RandomRBF
from streamgauge.streams.generators.numbers import FriedmanFunction, Planes
from streamgauge.streams.generators.patterns import LED, Classification, PokerHand, RandomTree, Waveform
from streamgauge.streams.generators.rules import STAGGER, Agrawal, AssetNegotiation, Mixed, Sine

__all__ = [
    "LED",
    "SEA",
    "STAGGER",
    "Agrawal",
    "AssetNegotiation",
    "Classification",
    "FriedmanFunction",
    "Hyperplane",
    "Mixed",
    "Planes",
    "PokerHand",
    "RandomRBF",
    "RandomTree",
    "Sine",
    "Waveform",
]
