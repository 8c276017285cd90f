"""Streams under the names that papers gave them."""

from collections.abc import Callable
from typing import TypeVar

from streamgauge.errors import require_at_least, unknown_name
from streamgauge.protocols import Stream
from streamgauge.streams.concept_drift import Gradual
from streamgauge.streams.generators import LED, SEA, Hyperplane, RandomRBF

__all__ = ["NAMED", "named"]

S = TypeVar("S", bound=Stream)

MILLION = 1_000_000
"""Rows of the streams of Bifet et al."""

Maker = Callable[[int, int | None], Stream]
"""Makes a stream of a seed and a number of rows; None for as many as published."""


def _four_concepts(concepts: list[S], width: int, n_rows: int) -> Stream:
    """Join four concepts of a quarter of the rows each by MOA's sigmoids, of a width meant for a million rows.

    MOA's sigmoid never ends; of the window of three times its width it leaves out a quarter of a percent at each end.
    """
    joined: Stream = concepts[0]
    width = max(1, 3 * width * n_rows // MILLION)
    for k, concept in enumerate(concepts[1:], start=1):
        joined = Gradual(joined, concept, position=k * n_rows // 4 - width // 2, width=width)
    return joined


def _sea(width: int) -> Maker:
    def make(seed: int, n_rows: int | None) -> Stream:
        n = n_rows or MILLION
        thresholds = (9.0, 8.0, 7.0, 9.5)
        return _four_concepts([SEA(thresholds=(one,), n_rows=n, seed=seed) for one in thresholds], width, n)

    return make


def _led(width: int) -> Maker:
    def make(seed: int, n_rows: int | None) -> Stream:
        n = n_rows or MILLION
        return _four_concepts([LED(k, n_rows=n, seed=seed) for k in (1, 3, 5, 7)], width, n)

    return make


def _hyperplane(n_drifting: int, magnitude: float) -> Maker:
    return lambda seed, n_rows: Hyperplane(
        n_drifting=n_drifting, magnitude=magnitude, n_rows=n_rows or MILLION, seed=seed
    )


def _rbf(n_drifting: int, speed: float) -> Maker:
    return lambda seed, n_rows: RandomRBF(n_drifting=n_drifting, speed=speed, n_rows=n_rows or MILLION, seed=seed)


def _sea_of_gama(seed: int, n_rows: int | None) -> Stream:
    n = n_rows or 60_000
    return SEA(thresholds=(8.0, 9.0, 7.0, 9.5), drift_every=max(1, n // 4), noise=0.1, n_rows=n, seed=seed)


NAMED: dict[str, Maker] = {
    "SEA(50)": _sea(50),
    "SEA(50000)": _sea(50_000),
    "HYP(10,0.001)": _hyperplane(10, 0.001),
    "HYP(10,0.0001)": _hyperplane(10, 0.0001),
    "RBF(0,0)": _rbf(0, 0.0),
    "RBF(50,0.001)": _rbf(50, 0.001),
    "RBF(10,0.001)": _rbf(10, 0.001),
    "RBF(50,0.0001)": _rbf(50, 0.0001),
    "RBF(10,0.0001)": _rbf(10, 0.0001),
    "LED(50000)": _led(50_000),
    "SEA(Gama)": _sea_of_gama,
}
"""Per name a function from a seed and a number of rows to the stream."""


def named(name: str = "SEA(50)", seed: int = 1, n_rows: int | None = None) -> Stream:
    """Make a stream that a paper has named.

    Those of Bifet et al. have a million rows:

    - ``SEA(w)``: SEA concepts of thresholds 9, 8, 7 and 9.5, 10 % noise, joined at every 250,000th row by MOA's
      sigmoid of width `w`, which spans ``3 * w`` rows around it;
    - ``LED(w)``: displays with 1, 3, 5 and 7 drifting attributes, joined in the same way;
    - ``HYP(k,v)``: a hyperplane of 10 attributes of which `k` weights move by `v` per row;
    - ``RBF(k,v)``: 50 centroids of which `k` move by `v` per row.

    ``SEA(Gama)`` is the stream of Gama et al.: 60,000 rows, thresholds 8, 9, 7 and 9.5 for 15,000 rows each, sudden
    changes, 10 % noise.

    Parameters
    ----------
    name
        The name; spaces do not matter.
    seed
        Decides all that is random.
    n_rows
        How many rows; None for as many as published. With fewer the concepts are shorter, and joined as much faster;
        hyperplanes and centroids move as fast as ever.

    Examples
    --------
    >>> from streamgauge.streams import drifts_of
    >>> drifts_of(named("SEA(50)"))[0]
    Drift(position=249925, width=150, kind='gradual')
    >>> drifts_of(named("SEA(50)", n_rows=100_000))[0]
    Drift(position=24993, width=15, kind='gradual')
    >>> named("RBF(10, 0.001)").n_rows
    1000000

    References
    ----------
    Bifet, De Francisci Morales, Read, Holmes and Pfahringer, "Efficient online evaluation of big data stream
    classifiers", KDD 2015. Bifet, Holmes, Pfahringer, Kirkby and Gavalda, "New ensemble methods for evolving data
    streams", KDD 2009. Gama, Sebastiao and Rodrigues, "Issues in evaluation of stream learning algorithms", KDD 2009.
    """
    key = "".join(str(name).split())
    if key not in NAMED:
        error = unknown_name("stream named", key, NAMED)
        raise error
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 4)
    return NAMED[key](seed, n_rows)
