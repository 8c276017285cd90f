"""The contract of a labelling."""

import numpy as np

from streamgauge._engine.source import RowSource
from streamgauge.checks.schemes import check_scheme, noise
from streamgauge.protocols import Labelling
from streamgauge.records import Arrivals, Batch
from streamgauge.schemes import Chunks, Prequential

__all__ = ["check_labelling"]


def check_labelling(labelling: Labelling, *, n_rows: int = 600, seed: int = 1) -> None:
    """Raise unless a labelling only hides and delays labels, whatever the batches.

    It says the same of a row in any batch and at any time, no label comes before its row, and a `Memoriser` on random
    labels scores chance under it, row by row and in chunks, whichever prediction is scored.

    Parameters
    ----------
    labelling
        The labelling.
    n_rows
        On how many rows; their times are their positions.
    seed
        Decides the rows.

    Examples
    --------
    >>> from streamgauge.labelling import Delayed
    >>> check_labelling(Delayed(20), n_rows=200)
    """
    stream = noise(labelling, n_rows, seed)

    def arrivals(size: int) -> list[tuple[Batch, Arrivals]]:
        found = RowSource(stream, Prequential(), labelling, seed).batches(size, None)
        return [(batch, _of_all(batch, told)) for batch, told in found]

    ((whole, told),) = arrivals(n_rows)
    rows = np.arange(n_rows)
    _require(bool((_rows(told) >= rows).all()), labelling, "a label comes before its row")
    for size in (1, 7, 100):
        for batch, of_batch in arrivals(size):
            part = slice(batch.start, batch.start + len(batch))
            same = np.array_equal(_rows(told)[part], _rows(of_batch)) and _same_times(told, of_batch, part)
            _require(same, labelling, f"labels arrive otherwise where rows come {size} at a time")
    _require(len(whole) == n_rows, labelling, "rows are lost")
    check_scheme(Prequential(), labelling, n_rows=n_rows, seed=seed)
    check_scheme(Prequential(), labelling, score="last", n_rows=n_rows, seed=seed)
    check_scheme(Chunks(50), labelling, n_rows=n_rows, seed=seed)


def _of_all(batch: Batch, told: Arrivals | None) -> Arrivals:
    rows = np.arange(batch.start, batch.start + len(batch))
    return Arrivals(rows) if told is None else Arrivals(rows if told.row is None else told.row, told.time)


def _rows(told: Arrivals) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.empty(0, dtype=np.int64) if told.row is None else np.asarray(told.row)


def _same_times(whole: Arrivals, told: Arrivals, part: slice) -> bool:
    if whole.time is None or told.time is None:
        return whole.time is told.time
    return whole.time[part].tobytes() == told.time.tobytes()


def _require(holds: bool, labelling: Labelling, what: str) -> None:  # noqa: FBT001
    if not holds:
        msg = f"{labelling} breaks the contract of a labelling: {what}"
        raise AssertionError(msg)
