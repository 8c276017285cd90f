"""Auto: native cells in threads, and cells written in Python in processes if that is faster."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, Executor, RunSpec, SavedStates
from streamgauge.backends.processes import Processes, is_picklable
from streamgauge.backends.threads import count_cores, holds_gil, open_threads
from streamgauge.errors import require_at_least

__all__ = ["Auto"]

MIN_ROWS = 50_000
"""The number of rows, summed over all cells written in Python, from which starting processes pays: it takes a second or
two."""


@dataclass(frozen=True)
class Auto:
    """Run native cells in threads, and cells written in Python in processes if two or more can run in parallel.

    Threads cannot run Python in parallel. Processes take a second or two to start, so they are used only from some
    50,000 rows on, summed over all such cells, or if `processes` is set; and not for learners that cannot be pickled.

    Parameters
    ----------
    threads, processes
        The most threads and processes; None for one per core. The results do not depend on it.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> evaluate(SEA(n_rows=100), NaiveBayes(), backend=Auto()).complete
    True
    """

    threads: int | None = None
    processes: int | None = None

    def __post_init__(self) -> None:
        for option, n in (("threads", self.threads), ("processes", self.processes)):
            if n is not None:
                require_at_least(option, n, 1)

    @contextmanager
    def open(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Build the cells where they belong for the length of a run."""
        in_processes = self._choose_for_processes(run_spec)
        in_threads = [index for index in range(run_spec.n_cells) if index not in in_processes]
        with ExitStack() as stack:
            executors = []
            if in_processes:
                selected = run_spec.select(sorted(in_processes))
                executors.append(stack.enter_context(Processes(self.processes).open(selected)))
            if in_threads:
                selected = run_spec.select(in_threads) if in_processes else run_spec
                n_processes = min(self.processes or count_cores(), len(in_processes))
                opened = open_threads(selected, self.threads or count_cores(), n_processes)
                executors.append(stack.enter_context(opened))
            yield executors[0] if len(executors) == 1 else _JointExecutor(executors)

    def _choose_for_processes(self, run_spec: RunSpec) -> set[int]:
        """Return the indices of the cells that run in processes."""
        python = {name for name, spec in run_spec.learners.items() if holds_gil(spec)}
        indices = {index for index, (name, _) in enumerate(run_spec.cells) if name in python}
        if self.processes is not None:
            return indices
        is_long = run_spec.n_rows is None or run_spec.n_rows * len(indices) >= MIN_ROWS
        if not is_long or len(indices) < 2 or count_cores() == 1:
            return set()
        return indices if is_picklable(replace(run_spec, rows=None)) else set()


class _JointExecutor:
    """Executors of several kinds as one."""

    makes_rows: ClassVar[bool] = False

    def __init__(self, executors: Sequence[Executor]) -> None:
        self._executors = executors
        self.depth = max(executor.depth for executor in executors)
        self.reads_ahead = all(executor.reads_ahead for executor in executors)

    def submit(self, plan: BatchPlan) -> None:
        for executor in self._executors:
            executor.submit(plan)

    def collect(self) -> list[BatchResult]:
        # Threads start to work only here, while the processes are at work already.
        return [result for executor in reversed(self._executors) for result in executor.collect()]

    def withdraw(self) -> int:
        return 0

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        for executor in self._executors:
            executor.load(saved, trusted=trusted)
