"""Streams: arrays, files, live sources, data sets, generators, drift and transforms; sampling and writing of files."""

from streamgauge.streams.arrays import ArrayStream, as_stream, in_memory, take
from streamgauge.streams.base import drifts_of
from streamgauge.streams.concept_drift import Gradual, Incremental, Recurring, Sudden
from streamgauge.streams.convert import convert
from streamgauge.streams.datasets import DATASETS, Dataset, load
from streamgauge.streams.describe import Description, describe
from streamgauge.streams.files import File
from streamgauge.streams.generators import (
    LED,
    SEA,
    STAGGER,
    Agrawal,
    AssetNegotiation,
    Classification,
    FriedmanFunction,
    Hyperplane,
    Mixed,
    Planes,
    PokerHand,
    RandomRBF,
    RandomTree,
    Sine,
    Waveform,
)
from streamgauge.streams.joined import Joined
from streamgauge.streams.live import GrowingFile, HttpPush, Kafka, Redis, Socket
from streamgauge.streams.paper_streams import paper_stream
from streamgauge.streams.sampling import Balance, Distribution, open_test, read_index, repeat, sample
from streamgauge.streams.shuffle import shuffle
from streamgauge.streams.transforms import Covered, Imbalanced, Noisy, Relabelled, Shifted, Swapped
from streamgauge.streams.writers import write

__all__ = [
    "DATASETS",
    "LED",
    "SEA",
    "STAGGER",
    "Agrawal",
    "ArrayStream",
    "AssetNegotiation",
    "Balance",
    "Classification",
    "Covered",
    "Dataset",
    "Description",
    "Distribution",
    "File",
    "FriedmanFunction",
    "Gradual",
    "GrowingFile",
    "HttpPush",
    "Hyperplane",
    "Imbalanced",
    "Incremental",
    "Joined",
    "Kafka",
    "Mixed",
    "Noisy",
    "Planes",
    "PokerHand",
    "RandomRBF",
    "RandomTree",
    "Recurring",
    "Redis",
    "Relabelled",
    "Shifted",
    "Sine",
    "Socket",
    "Sudden",
    "Swapped",
    "Waveform",
    "as_stream",
    "convert",
    "describe",
    "drifts_of",
    "in_memory",
    "load",
    "open_test",
    "paper_stream",
    "read_index",
    "repeat",
    "sample",
    "shuffle",
    "take",
    "write",
]
