"""Streams: rows in memory, files, real streams by name and generators; and what makes files of them."""

from streamgauge.streams.arrays import ArrayStream, as_stream, in_memory, take
from streamgauge.streams.convert import convert
from streamgauge.streams.describe import Description, describe
from streamgauge.streams.files import File
from streamgauge.streams.generators import SEA, Hyperplane, RandomRBF
from streamgauge.streams.registry import DATASETS, Dataset, load
from streamgauge.streams.sampling import Balance, Distribution, open_test, read_index, repeat, sample
from streamgauge.streams.shuffle import shuffle
from streamgauge.streams.writers import write

__all__ = [
    "DATASETS",
    "SEA",
    "ArrayStream",
    "Balance",
    "Dataset",
    "Description",
    "Distribution",
    "File",
    "Hyperplane",
    "RandomRBF",
    "as_stream",
    "convert",
    "describe",
    "in_memory",
    "load",
    "open_test",
    "read_index",
    "repeat",
    "sample",
    "shuffle",
    "take",
    "write",
]
