"""Small streams under the names of real ones, for tests of how a stream is found and run rather than of its figures."""

import re
import shutil
from pathlib import Path

import numpy as np

from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream, write

__all__ = ["DATA", "PUBLISHED", "write_stand_ins"]

DATA = Path(__file__).parents[1] / "data"
PUBLISHED = DATA / "published"
"""Figures of papers, as they were printed."""
CUTS = ("covtype.csv.gz", "magic.arff", "poker-hand-25k.csv", "skin.arff")
ELECTRICITY = Schema(
    tuple(
        Attribute(name, tuple("1234567") if name == "day" else None)
        for name in ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
    ),
    ("UP", "DOWN"),
)


def write_stand_ins(folder: Path, n_rows: int = 2_000) -> Path:
    """Fill a folder for STREAMGAUGE_DATA: cuts of real streams, and half-hourly prices that follow a random walk."""
    for name in CUTS:
        shutil.copy(DATA / "streams" / name, folder)
    for name in ("magic.arff", "skin.arff"):  # long enough to draw samples of a few hundred rows
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(re.split(r"(?im)^@data\s*\n", (DATA / "streams" / name).read_text())[1] * 7)
    rng = np.random.default_rng(1)
    price = 0.5 + 0.1 * np.tanh(np.cumsum(rng.normal(0, 0.1, n_rows)))
    columns = [np.arange(n_rows) / n_rows, np.arange(n_rows) // 48 % 7, np.arange(n_rows) % 48 / 47, price]
    columns += [rng.random(n_rows) for _ in range(4)]
    y = (price < np.convolve(price, np.ones(48) / 48)[:n_rows]).astype(np.int32)
    write(ArrayStream(np.column_stack(columns), y, schema=ELECTRICITY), folder / "electricity.arff")
    return folder
