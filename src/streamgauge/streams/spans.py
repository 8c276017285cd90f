"""Where the batches of a stream begin and end."""

from collections.abc import Iterator

from streamgauge.errors import require_at_least

__all__ = ["spans"]


def spans(n_rows: int | None, size: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """Give the first row and the number of rows of each batch; endlessly where `n_rows` is None.

    Examples
    --------
    >>> list(spans(10, size=4, start=1))
    [(1, 4), (5, 4), (9, 1)]
    """
    require_at_least("size", size, 1)
    require_at_least("start", start, 0)
    return _spans(n_rows, size, start)


def _spans(n_rows: int | None, size: int, start: int) -> Iterator[tuple[int, int]]:
    while n_rows is None or start < n_rows:
        n = size if n_rows is None else min(size, n_rows - start)
        yield start, n
        start += n
