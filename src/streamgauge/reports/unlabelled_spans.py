"""Spans of rows whose labels are hidden from the learners, for hatching in charts."""

import numpy as np

from streamgauge.records import RunData

__all__ = ["find_unlabelled_spans"]

MAX_SPANS = 400
"""About as many spans as can be distinguished on a screen."""


def find_unlabelled_spans(results: RunData) -> list[tuple[int, int, bool]]:
    """Return the spans of rows whose labels never arrive: first row, row after the last, and whether all rows lack one.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import First
    >>> find_unlabelled_spans(evaluate(SEA(n_rows=1000), NoChange(), labelling=First(400), every=100))
    [(400, 1000, True)]
    """
    counts = results.labels
    if counts is None or not len(counts.rows):
        return []
    indices = np.unique(np.linspace(0, len(counts.rows) - 1, MAX_SPANS).astype(np.int64))
    rows = np.concatenate(([0], counts.rows[indices]))
    unlabelled = np.diff((counts.n_hidden + counts.n_unknown)[indices], prepend=0)
    kinds = np.where(unlabelled == 0, 0, np.where(unlabelled == np.diff(rows), 2, 1))
    begins = np.flatnonzero(np.diff(kinds, prepend=-1))
    ends = np.append(begins[1:], len(kinds))
    return [
        (int(rows[first]), int(rows[last]), bool(kinds[first] == 2))
        for first, last in zip(begins, ends, strict=True)
        if kinds[first]
    ]
