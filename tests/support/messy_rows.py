"""Rows as users have them: numbers and names of categories, both with gaps."""

import numpy as np

from streamgauge.records import Attribute, Schema
from streamgauge.streams import ArrayStream

__all__ = ["MESSY", "make_messy_stream"]

MESSY = Schema(
    (
        Attribute("amount", missing=True),
        Attribute("age"),
        Attribute("country", ("DE", "FR", "IT"), missing=True),
        Attribute("channel", ("shop", "web")),
    ),
    ("no", "yes"),
)


def make_messy_stream(n_rows: int, *, gaps: bool = True, seed: int = 1) -> ArrayStream:
    """Return rows of `MESSY`; the country IT occurs in the second half only."""
    random = np.random.default_rng(seed)
    amount, age = random.lognormal(2.0, 1.0, n_rows), random.integers(18, 90, n_rows).astype(float)
    country = random.integers(0, 2, n_rows) + (random.random(n_rows) < 0.2) * (np.arange(n_rows) >= n_rows // 2)
    channel = random.integers(0, 2, n_rows)
    y = (amount * (1 + country) + 5.0 * channel + random.normal(0.0, 4.0, n_rows) > 20.0).astype(np.int32)
    x = np.column_stack([amount, age, np.minimum(country, 2), channel]).astype(float)
    if gaps:
        x[random.random(n_rows) < 0.1, 0] = np.nan
        x[random.random(n_rows) < 0.1, 2] = np.nan
    return ArrayStream(x, y, schema=MESSY)
