"""Timing in turns: contestants alternate and the best of each counts, so that other load affects all alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Generic, TypeVar

__all__ = ["Best", "run_in_turns", "time_best"]

Result = TypeVar("Result")
Clock = Callable[[], float]


@dataclass
class Best(Generic[Result]):
    """The fewest seconds so far, and the result, which is the same in every run."""

    seconds: float = float("inf")
    result: Result | None = None

    def add(self, seconds: float, result: Result | None = None) -> None:
        """Add another run."""
        self.seconds, self.result = min(self.seconds, seconds), result


def run_in_turns(
    works: Mapping[str, Callable[[], Result]], turns: int, clock: Clock = process_time
) -> dict[str, Best[Result]]:
    """Run all works one after another, several times; return the best of each."""
    best: dict[str, Best[Result]] = {name: Best() for name in works}
    for _ in range(turns):
        for name, work in works.items():
            started = clock()
            result = work()
            best[name].add(clock() - started, result)
    return best


def time_best(work: Callable[[], object], repeats: int, clock: Clock = process_time) -> float:
    """Return the fewest seconds of several runs of one work."""
    return run_in_turns({"": work}, repeats, clock)[""].seconds
