"""Threads: native cells run side by side, since kernels release the GIL."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, SavedStates
from streamgauge._engine.cell_group import CellGroup
from streamgauge._engine.executor import Executor, TaskRunner, one_by_one
from streamgauge._engine.run_spec import RunSpec
from streamgauge.errors import require_at_least
from streamgauge.learners.gil import holds_gil

__all__ = ["Threads", "n_cores"]

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(frozen=True)
class Threads:
    """Run cells in threads of this process: a thread that is free takes the next cell that waits.

    Parameters
    ----------
    n
        How many threads; None for as many as there are cores. The results do not depend on it.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, NaiveBayes, evaluate
    >>> one, two = (evaluate(SEA(n_rows=1000), NaiveBayes(), scheme=Bootstrap(3), backend=Threads(n)) for n in (1, 2))
    >>> one.values.tobytes() == two.values.tobytes()
    True
    """

    n: int | None = None

    def __post_init__(self) -> None:
        if self.n is not None:
            require_at_least("threads", self.n, 1)

    @contextmanager
    def host(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Build the cells, and start the threads for the length of a run."""
        n = self.n or n_cores()
        # The threads that a learner starts are charged to it where nothing else can have started them.
        lonely = len(run_spec.cells) == 1 and run_spec.metered and holds_gil(run_spec.learners[run_spec.cells[0][0]])
        group = CellGroup(replace(run_spec, clock="process") if n == 1 or lonely else run_spec)
        if n == 1:
            yield _Local(group, one_by_one, reads_ahead=False)
            return
        with ThreadPoolExecutor(n, thread_name_prefix="streamgauge") as pool:

            def side_by_side(work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
                return list(pool.map(work, tasks))

            yield _Local(group, side_by_side, reads_ahead=not lonely)


class _Local:
    """Hosts one group in this process."""

    depth: ClassVar[int] = 1

    def __init__(self, group: CellGroup, workers: TaskRunner, *, reads_ahead: bool) -> None:
        self._group, self._workers, self.reads_ahead = group, workers, reads_ahead
        self._given: deque[BatchPlan] = deque()

    def give(self, order: BatchPlan) -> None:
        self._given.append(order)

    def take(self) -> list[BatchResult]:
        return [self._group.run_plan(self._given.popleft(), self._workers)]

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        self._group.load(saved, trusted=trusted)


def n_cores() -> int:
    """Count the cores this process may use.

    Examples
    --------
    >>> n_cores() >= 1
    True
    """
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1
