"""Where groups of cells live: what a backend has to offer."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar, runtime_checkable

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, SavedStates
from streamgauge._engine.run_spec import RunSpec

__all__ = ["Backend", "Executor", "TaskRunner", "one_by_one"]

Task = TypeVar("Task")
Done = TypeVar("Done")


class TaskRunner(Protocol):
    """Do tasks that share nothing."""

    def __call__(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """Do the work of every task; the results come in the order of the tasks."""
        ...


def one_by_one(work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
    """Do the work of tasks one after the other.

    Examples
    --------
    >>> one_by_one(abs, [-1, 2])
    [1, 2]
    """
    return [work(task) for task in tasks]


class Executor(Protocol):
    """Carries out orders, wherever its groups live; no more than `depth` may be open at a time."""

    @property
    def depth(self) -> int:
        """How many orders may be given before the first is taken back."""
        ...

    @property
    def reads_ahead(self) -> bool:
        """Whether rows may be read in a thread of this process while the cells are at work."""
        ...

    def give(self, order: BatchPlan) -> None:
        """Give an order to all groups."""
        ...

    def take(self) -> list[BatchResult]:
        """Wait until the oldest open order is carried out; what it brought, group by group."""
        ...

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        """Let all groups take over saved states before the first order; nothing is unpickled that is not trusted."""
        ...


@runtime_checkable
class Backend(Protocol):
    """Says where the cells run: a frozen value that hosts groups of cells."""

    def host(self, run_spec: RunSpec) -> AbstractContextManager[Executor]:
        """Build the cells of a crew, and host them for the length of a run."""
        ...
