"""Threads: native cells run side by side, since kernels release the GIL."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from streamgauge.errors import require_at_least
from streamgauge.protocols import Workers

__all__ = ["Threads"]

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Threads:
    """Run cells in threads of this process.

    Parameters
    ----------
    n
        How many threads; None for as many as there are cores. The results do not depend on it.

    Examples
    --------
    >>> with Threads(2).start() as workers:
    ...     workers.map(lambda x: x * x, [1, 2, 3])
    [1, 4, 9]
    """

    n: int | None = None

    def __post_init__(self) -> None:
        if self.n is not None:
            require_at_least("threads", self.n, 1)

    @contextmanager
    def start(self) -> Iterator[Workers]:
        """Start the threads for the length of a run."""
        n = self.n or _n_cores()
        if n == 1:
            yield _Here()
            return
        with ThreadPoolExecutor(n, thread_name_prefix="streamgauge") as pool:
            yield _Pool(pool)


def _n_cores() -> int:
    """Count the cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


class _Here:
    """Does the work in the calling thread."""

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        return [work(task) for task in tasks]


class _Pool:
    """Does the work in a pool of threads."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool

    def map(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        return list(self._pool.map(work, tasks))
