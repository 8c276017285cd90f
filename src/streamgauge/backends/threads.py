"""Threads: native cells run in parallel, since kernels release the GIL."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import ClassVar, TypeVar

from streamgauge import _native
from streamgauge._engine.batch_plan import (
    BatchPlan,
    BatchResult,
    Executor,
    RunSpec,
    SavedStates,
    TaskRunner,
    run_serially,
)
from streamgauge._engine.cells import CellGroup
from streamgauge._foreign import find_declared_gil
from streamgauge.errors import require_at_least
from streamgauge.learners.adapters import Moa
from streamgauge.protocols import LearnerSpec

__all__ = ["Threads", "count_cores", "holds_gil", "open_threads"]

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Threads:
    """Run cells in threads of this process: a free thread takes the next waiting cell.

    Threads that no cell needs share the members of native ensembles: a single forest uses all of them. That holds for
    `OzaBag`, `OOB`, `UOB`, `LeveragingBagging`, `AdaptiveRandomForest` and `StreamingRandomPatches`.

    Parameters
    ----------
    n
        The most threads that work at the same time; None for one per core. The results do not depend on it.

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
    def open(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Build the cells and start the threads for the length of a run."""
        with open_threads(run_spec, self.n or count_cores()) as executor:
            yield executor


@contextmanager
def open_threads(run_spec: RunSpec, n: int, n_processes: int = 0) -> Iterator[Executor]:
    """Build the cells of a run and start n threads; ensembles take none of them that `n_processes` may need."""
    # Threads that a learner starts itself are charged to it if nothing else can have started them.
    alone = len(run_spec.cells) == 1 and run_spec.metered and holds_gil(run_spec.learners[run_spec.cells[0][0]])
    group = CellGroup(replace(run_spec, clock="process") if n == 1 or alone else run_spec)
    if n == 1:
        yield _LocalExecutor(group, run_serially, reads_ahead=False)
        return
    budget = _native.ThreadBudget(max(n - n_processes, 0), run_spec.metered)
    with ThreadPoolExecutor(n, thread_name_prefix="streamgauge", initializer=budget.enter) as pool:

        def run_in_pool(function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
            def run(item: Item) -> Outcome:
                try:
                    return function(item)
                finally:
                    budget.end_task()

            budget.begin_tasks(len(items))
            return list(pool.map(run, items))

        yield _LocalExecutor(group, run_in_pool, reads_ahead=not alone)


class _LocalExecutor:
    """Runs plans in one group of cells in this process."""

    depth: ClassVar[int] = 1
    makes_rows: ClassVar[bool] = False

    def __init__(self, group: CellGroup, run_tasks: TaskRunner, *, reads_ahead: bool) -> None:
        self._group, self._run_tasks, self.reads_ahead = group, run_tasks, reads_ahead
        self._pending: deque[BatchPlan] = deque()

    def submit(self, plan: BatchPlan) -> None:
        self._pending.append(plan)

    def collect(self) -> list[BatchResult]:
        return [self._group.run(self._pending.popleft(), self._run_tasks)]

    def withdraw(self) -> int:
        return 0

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        self._group.load(saved, trusted=trusted)


def count_cores() -> int:
    """Return the number of cores that this process may use.

    Examples
    --------
    >>> count_cores() >= 1
    True
    """
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_OURS = "streamgauge.learners."


def holds_gil(spec: LearnerSpec) -> bool:
    """Return whether a learner, or one inside it, is written in Python and can run in parallel only in a process.

    Native learners and those of MOA release the lock. A class from elsewhere is assumed to hold it, unless it has an
    attribute ``holds_gil = False``.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge.learners import NaiveBayes, OzaBag, as_spec
    >>> holds_gil(NaiveBayes()), holds_gil(as_spec(SGDClassifier())), holds_gil(OzaBag(SGDClassifier()))
    (False, True, True)
    """
    declared = find_declared_gil(spec)
    if declared is not None:
        return declared
    if isinstance(spec, Moa):
        return False
    module = type(spec).__module__
    if not is_dataclass(spec) or not module.startswith(_OURS) or module.startswith(f"{_OURS}adapters."):
        return True
    options = (getattr(spec, field.name) for field in fields(spec))
    return any(holds_gil(option) for option in options if isinstance(option, LearnerSpec))
