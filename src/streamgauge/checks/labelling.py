"""The contract of a labelling."""

import numpy as np

from streamgauge._engine.source import RowSource
from streamgauge.checks.schemes import check_scheme, make_noise
from streamgauge.protocols import Labelling
from streamgauge.records import Arrivals, Batch
from streamgauge.schemes import Chunks, Prequential

__all__ = ["check_labelling"]


def check_labelling(labelling: Labelling, *, n_rows: int = 600, seed: int = 1) -> None:
    """Raise unless a labelling only hides and delays labels, whatever the batches.

    Arrivals do not depend on batches or on the time of the call, no label arrives before its row, and a `Memoriser` on
    random labels scores chance, row by row and in chunks, whichever prediction is scored.

    Parameters
    ----------
    labelling
        The labelling.
    n_rows
        The number of rows; their times are their positions.
    seed
        The seed of the rows.

    Examples
    --------
    >>> from streamgauge.labelling import Delayed
    >>> check_labelling(Delayed(20), n_rows=200)
    """
    stream = make_noise(labelling, n_rows, seed)

    def read(size: int) -> list[tuple[Batch, Arrivals]]:
        batches = RowSource(stream, Prequential(), labelling, seed).batches(size, None)
        return [(batch, _fill(batch, arrivals)) for batch, arrivals in batches]

    ((whole, expected),) = read(n_rows)
    rows = np.arange(n_rows)
    _require(bool((_rows(expected) >= rows).all()), labelling, "a label arrives before its row")
    for size in (1, 7, 100):
        for batch, arrivals in read(size):
            part = slice(batch.start, batch.start + len(batch))
            same = np.array_equal(_rows(expected)[part], _rows(arrivals)) and _same_times(expected, arrivals, part)
            _require(same, labelling, f"arrivals differ in batches of {size} rows")
    _require(len(whole) == n_rows, labelling, "rows are lost")
    check_scheme(Prequential(), labelling, n_rows=n_rows, seed=seed)
    check_scheme(Prequential(), labelling, score="last", n_rows=n_rows, seed=seed)
    check_scheme(Prequential(), labelling, score="labelled", n_rows=n_rows, seed=seed)
    check_scheme(Chunks(50), labelling, n_rows=n_rows, seed=seed)


def _fill(batch: Batch, arrivals: Arrivals | None) -> Arrivals:
    if arrivals is None:
        return Arrivals(batch.rows)
    return Arrivals(batch.rows if arrivals.row is None else arrivals.row, arrivals.time)


def _rows(arrivals: Arrivals) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.empty(0, dtype=np.int64) if arrivals.row is None else np.asarray(arrivals.row)


def _same_times(whole: Arrivals, arrivals: Arrivals, part: slice) -> bool:
    if whole.time is None or arrivals.time is None:
        return whole.time is arrivals.time
    return whole.time[part].tobytes() == arrivals.time.tobytes()


def _require(holds: bool, labelling: Labelling, what: str) -> None:  # noqa: FBT001
    if not holds:
        msg = f"{labelling} breaks the contract of a labelling: {what}"
        raise AssertionError(msg)
