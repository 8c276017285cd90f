"""Where the labels of a stream are hidden from the learners, as spans to be shaded."""

import numpy as np

from streamgauge.records import RunData

__all__ = ["hidden_spans"]

MOST_SPANS = 400
"""How many spans are told apart: about as many as can be seen."""


def hidden_spans(results: RunData) -> list[tuple[int, int, bool]]:
    """Give the spans of rows whose labels never come: first row, row after the last, and whether that holds for all.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange, evaluate
    >>> from streamgauge.labelling import First
    >>> hidden_spans(evaluate(SEA(n_rows=1000), NoChange(), labelling=First(400), every=100))
    [(400, 1000, True)]
    """
    counts = results.labels
    if counts is None or not len(counts.rows):
        return []
    kept = np.unique(np.linspace(0, len(counts.rows) - 1, MOST_SPANS).astype(np.int64))
    rows = np.concatenate(([0], counts.rows[kept]))
    lost = np.diff((counts.n_hidden + counts.n_unknown)[kept], prepend=0)
    kinds = np.where(lost == 0, 0, np.where(lost == np.diff(rows), 2, 1))
    begins = np.flatnonzero(np.diff(kinds, prepend=-1))
    ends = np.append(begins[1:], len(kinds))
    return [
        (int(rows[first]), int(rows[last]), bool(kinds[first] == 2))
        for first, last in zip(begins, ends, strict=True)
        if kinds[first]
    ]
