"""Streams under the names that papers gave them."""

from collections.abc import Callable
from typing import TypeVar

from streamgauge.errors import unknown_name
from streamgauge.protocols import Stream
from streamgauge.streams.drift import Gradual
from streamgauge.streams.generators import LED, SEA, Hyperplane, RandomRBF

__all__ = ["NAMED", "named"]

S = TypeVar("S", bound=Stream)

QUARTER = 250_000
"""Rows of each of the four concepts of a stream of a million rows."""


def _four_concepts(concepts: list[S], width: int) -> Stream:
    """Join four concepts by MOA's sigmoids of a width around the rows 250,000, 500,000 and 750,000.

    MOA's sigmoid never ends; of the window of three times its width it leaves out a quarter of a percent at each end.
    """
    joined: Stream = concepts[0]
    for k, concept in enumerate(concepts[1:], start=1):
        joined = Gradual(joined, concept, position=k * QUARTER - 3 * width // 2, width=3 * width)
    return joined


def _sea(width: int) -> Callable[[int], Stream]:
    return lambda seed: _four_concepts(
        [SEA(thresholds=(threshold,), n_rows=4 * QUARTER, seed=seed) for threshold in (9.0, 8.0, 7.0, 9.5)], width
    )


def _led(width: int) -> Callable[[int], Stream]:
    return lambda seed: _four_concepts([LED(k, n_rows=4 * QUARTER, seed=seed) for k in (1, 3, 5, 7)], width)


def _hyperplane(n_drifting: int, magnitude: float) -> Callable[[int], Stream]:
    return lambda seed: Hyperplane(n_drifting=n_drifting, magnitude=magnitude, n_rows=4 * QUARTER, seed=seed)


def _rbf(n_drifting: int, speed: float) -> Callable[[int], Stream]:
    return lambda seed: RandomRBF(n_drifting=n_drifting, speed=speed, n_rows=4 * QUARTER, seed=seed)


def _sea_of_gama(seed: int) -> Stream:
    return SEA(thresholds=(8.0, 9.0, 7.0, 9.5), drift_every=15_000, noise=0.1, n_rows=60_000, seed=seed)


NAMED: dict[str, Callable[[int], Stream]] = {
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
"""Per name a function from a seed to the stream."""


def named(name: str = "SEA(50)", seed: int = 1) -> Stream:
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

    Examples
    --------
    >>> from streamgauge.streams import drifts_of
    >>> drifts_of(named("SEA(50)"))[0]
    Drift(position=249925, width=150, kind='gradual')
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
    return NAMED[key](seed)
