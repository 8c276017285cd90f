"""Streams of papers, by the names they have there."""

from collections.abc import Callable
from typing import TypeVar

from streamgauge.errors import require_at_least, unknown_name
from streamgauge.protocols import Stream
from streamgauge.streams.concept_drift import Gradual
from streamgauge.streams.generators import LED, SEA, Hyperplane, RandomRBF

__all__ = ["PAPER_STREAMS", "paper_stream"]

S = TypeVar("S", bound=Stream)

_MILLION = 1_000_000

Builder = Callable[[int, int | None], Stream]
"""A function from a seed and a number of rows, None for the published number, to a stream."""


def _join_four_concepts(concepts: list[S], width: int, n_rows: int) -> Stream:
    """Join four concepts of a quarter of the rows each by MOA's sigmoids; `width` refers to a million rows.

    MOA's sigmoid never ends; the window of three times its width leaves out a quarter of a percent at each end.
    """
    joined: Stream = concepts[0]
    width = max(1, 3 * width * n_rows // _MILLION)
    for k, concept in enumerate(concepts[1:], start=1):
        joined = Gradual(joined, concept, position=k * n_rows // 4 - width // 2, width=width)
    return joined


def _define_sea(width: int) -> Builder:
    def build(seed: int, n_rows: int | None) -> Stream:
        n = n_rows or _MILLION
        concepts = [SEA(thresholds=(threshold,), n_rows=n, seed=seed) for threshold in (9.0, 8.0, 7.0, 9.5)]
        return _join_four_concepts(concepts, width, n)

    return build


def _define_led(width: int) -> Builder:
    def build(seed: int, n_rows: int | None) -> Stream:
        n = n_rows or _MILLION
        return _join_four_concepts([LED(k, n_rows=n, seed=seed) for k in (1, 3, 5, 7)], width, n)

    return build


def _define_hyperplane(n_drifting: int, magnitude: float) -> Builder:
    return lambda seed, n_rows: Hyperplane(
        n_drifting=n_drifting, magnitude=magnitude, n_rows=n_rows or _MILLION, seed=seed
    )


def _define_rbf(n_drifting: int, speed: float) -> Builder:
    return lambda seed, n_rows: RandomRBF(n_drifting=n_drifting, speed=speed, n_rows=n_rows or _MILLION, seed=seed)


def _build_sea_of_gama(seed: int, n_rows: int | None) -> Stream:
    n = n_rows or 60_000
    return SEA(thresholds=(8.0, 9.0, 7.0, 9.5), drift_every=max(1, n // 4), noise=0.1, n_rows=n, seed=seed)


PAPER_STREAMS: dict[str, Builder] = {
    "SEA(50)": _define_sea(50),
    "SEA(50000)": _define_sea(50_000),
    "HYP(10,0.001)": _define_hyperplane(10, 0.001),
    "HYP(10,0.0001)": _define_hyperplane(10, 0.0001),
    "RBF(0,0)": _define_rbf(0, 0.0),
    "RBF(50,0.001)": _define_rbf(50, 0.001),
    "RBF(10,0.001)": _define_rbf(10, 0.001),
    "RBF(50,0.0001)": _define_rbf(50, 0.0001),
    "RBF(10,0.0001)": _define_rbf(10, 0.0001),
    "LED(50000)": _define_led(50_000),
    "SEA(Gama)": _build_sea_of_gama,
}
"""Builders of the streams, by name."""


def paper_stream(name: str = "SEA(50)", seed: int = 1, n_rows: int | None = None) -> Stream:
    """Return a stream by the name it has in a paper.

    The streams of Bifet et al. have a million rows:

    - ``SEA(w)``: SEA concepts with thresholds 9, 8, 7 and 9.5 and 10% noise, joined at every 250,000th row by MOA's
      sigmoid of width `w`, which spans ``3 * w`` rows around it;
    - ``LED(w)``: displays with 1, 3, 5 and 7 drifting attributes, joined in the same way;
    - ``HYP(k,v)``: a hyperplane of 10 attributes of which `k` weights move by `v` per row;
    - ``RBF(k,v)``: 50 centroids of which `k` move by `v` per row.

    ``SEA(Gama)`` is the stream of Gama et al.: 60,000 rows, thresholds 8, 9, 7 and 9.5 for 15,000 rows each, sudden
    drifts, 10% noise.

    Parameters
    ----------
    name
        The name; spaces are ignored.
    seed
        Random seed.
    n_rows
        Number of rows; None for the published number. With fewer rows the concepts and the windows of their drifts are
        shortened in proportion; hyperplanes and centroids keep their speed per row.

    Examples
    --------
    >>> from streamgauge.streams import drifts_of
    >>> drifts_of(paper_stream("SEA(50)"))[0]
    Drift(position=249925, width=150, kind='gradual')
    >>> drifts_of(paper_stream("SEA(50)", n_rows=100_000))[0]
    Drift(position=24993, width=15, kind='gradual')
    >>> paper_stream("RBF(10, 0.001)").n_rows
    1000000

    References
    ----------
    Bifet, De Francisci Morales, Read, Holmes and Pfahringer, "Efficient online evaluation of big data stream
    classifiers", KDD 2015. Bifet, Holmes, Pfahringer, Kirkby and Gavalda, "New ensemble methods for evolving data
    streams", KDD 2009. Gama, Sebastiao and Rodrigues, "Issues in evaluation of stream learning algorithms", KDD 2009.
    """
    key = "".join(str(name).split())
    if key not in PAPER_STREAMS:
        error = unknown_name("paper stream", key, PAPER_STREAMS)
        raise error
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 4)
    return PAPER_STREAMS[key](seed, n_rows)
