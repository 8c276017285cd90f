"""Contestants take turns and the best of each counts, so that what else a machine does troubles all of them alike."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Generic, TypeVar

__all__ = ["Best", "best_of", "in_turns"]

Told = TypeVar("Told")
Clock = Callable[[], float]


@dataclass
class Best(Generic[Told]):
    """The least seconds so far, and what the last run told, which is the same every time."""

    seconds: float = float("inf")
    told: Told | None = None

    def take(self, seconds: float, told: Told | None = None) -> None:
        """Take another run into account."""
        self.seconds, self.told = min(self.seconds, seconds), told


def in_turns(works: Mapping[str, Callable[[], Told]], turns: int, clock: Clock = process_time) -> dict[str, Best[Told]]:
    """Run all works one after the other, several times; give the best of each."""
    best: dict[str, Best[Told]] = {name: Best() for name in works}
    for _ in range(turns):
        for name, work in works.items():
            started = clock()
            told = work()
            best[name].take(clock() - started, told)
    return best


def best_of(work: Callable[[], object], repeats: int, clock: Clock = process_time) -> float:
    """Give the least seconds of several runs of one work."""
    return in_turns({"": work}, repeats, clock)[""].seconds
