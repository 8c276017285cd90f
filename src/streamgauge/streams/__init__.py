"""Streams: rows in memory, generators, changes of concept."""

from streamgauge.streams.arrays import ArrayStream, as_stream, in_memory, take
from streamgauge.streams.changes import Covered, Imbalanced, Noisy, Relabelled, Shifted, Swapped
from streamgauge.streams.drift import Gradual, Incremental, Recurring, Sudden
from streamgauge.streams.generators import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    AssetNegotiation,
    Classification,
    Hyperplane,
    Mixed,
    PokerHand,
    RandomRBF,
    RandomTree,
    Sine,
    Waveform,
)
from streamgauge.streams.joined import Joined
from streamgauge.streams.named import named
from streamgauge.streams.truth import drifts_of

__all__ = [
    "LED",
    "SEA",
    "STAGGER",
    "Agrawal",
    "ArrayStream",
    "AssetNegotiation",
    "Classification",
    "Covered",
    "Gradual",
    "Hyperplane",
    "Imbalanced",
    "Incremental",
    "Joined",
    "Mixed",
    "Noisy",
    "PokerHand",
    "RandomRBF",
    "RandomTree",
    "Recurring",
    "Relabelled",
    "Shifted",
    "Sine",
    "Sudden",
    "Swapped",
    "Waveform",
    "as_stream",
    "drifts_of",
    "in_memory",
    "named",
    "take",
]
