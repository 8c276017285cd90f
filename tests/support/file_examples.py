"""Tables and texts that several readers read."""

import numpy as np
import pandas as pd

from streamgauge.protocols import Stream
from streamgauge.records import Batch

__all__ = ["arff_text", "example_table", "whole"]


def whole(stream: Stream, size: int = 1000, start: int = 0) -> Batch:
    batches = list(stream.batches(size, start))
    weights = [b.weight if b.weight is not None else np.ones(len(b)) for b in batches]
    return Batch(
        start,
        np.concatenate([b.x for b in batches]),
        np.concatenate([b.y for b in batches]),
        np.concatenate(weights),
        None if batches[0].time is None else np.concatenate([b.time for b in batches if b.time is not None]),
    )


def example_table(n: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.integers(-1000, 1000, n),
            "colour": rng.choice(["red", "green", "dark blue"], n),
            "label": rng.choice([1, 2, 3], n),
        }
    )
    table.loc[::7, "number"] = np.nan
    return table


def arff_text(table: pd.DataFrame) -> bytes:
    header = "@relation example\n@attribute number real\n@attribute whole integer\n"
    header += "@attribute colour {'dark blue', green, red}\n@attribute label {1,2,3}\n@data\n"
    rows = table.assign(colour=table["colour"].map(lambda c: f"'{c}'" if " " in c else c))
    text: str = rows.to_csv(index=False, header=False, na_rep="?")
    return (header + text).encode()
