"""Auto: native cells in threads, and where it pays those written in Python in processes."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, SavedStates
from streamgauge._engine.executor import Executor
from streamgauge._engine.run_spec import RunSpec
from streamgauge.backends.processes import Processes, can_travel
from streamgauge.backends.threads import Threads, n_cores
from streamgauge.errors import require_at_least
from streamgauge.learners.gil import holds_gil

__all__ = ["Auto"]

WORTHWHILE = 50_000
"""From so many rows on, those of all cells written in Python, processes are started: that takes a second or two."""


@dataclass(frozen=True)
class Auto:
    """Run native cells in threads, and cells written in Python in processes, where two or more can run side by side.

    Threads cannot run Python side by side. Processes take a second or two to start, so they are used only from some
    50,000 rows on, counted over all such cells, or where `processes` are asked for; and not for what cannot be pickled.

    Parameters
    ----------
    threads, processes
        How many of each at most; None for as many as there are cores. The results do not depend on it.

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
    def host(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Build the cells where they belong, and host them for the length of a run."""
        apart = self._apart(run_spec)
        here = [place for place in range(run_spec.n_cells) if place not in apart]
        with ExitStack() as opened:
            hosts = []
            if apart:
                hosts.append(opened.enter_context(Processes(self.processes).host(run_spec.part(sorted(apart)))))
            if here:
                run_spec = run_spec.part(here) if apart else run_spec
                hosts.append(opened.enter_context(Threads(self.threads).host(run_spec)))
            yield hosts[0] if len(hosts) == 1 else _Several(hosts)

    def _apart(self, run_spec: RunSpec) -> set[int]:
        """Say which cells go into processes."""
        held = {name for name, spec in run_spec.learners.items() if holds_gil(spec)}
        places = {place for place, (name, _) in enumerate(run_spec.cells) if name in held}
        n = self.processes or n_cores()
        if self.processes is None:
            long = run_spec.n_rows is None or run_spec.n_rows * len(places) >= WORTHWHILE
            if not long or n == 1 or len(places) < 2:
                return set()
            return places if can_travel(replace(run_spec, source=None)) else set()
        return places


class _Several:
    """Hosts of several kinds as one."""

    def __init__(self, hosts: Sequence[Executor]) -> None:
        self._hosts = hosts
        self.depth = max(host.depth for host in hosts)
        self.reads_ahead = all(host.reads_ahead for host in hosts)

    def give(self, order: BatchPlan) -> None:
        for host in self._hosts:
            host.give(order)

    def take(self) -> list[BatchResult]:
        # Those that work here do so when they are asked, while the others are at work already.
        return [results_of_groups for host in reversed(self._hosts) for results_of_groups in host.take()]

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        for host in self._hosts:
            host.load(saved, trusted=trusted)
