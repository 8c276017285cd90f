"""One display of all that runs: bars on a terminal, a line per run elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamgauge.experiments.experiment import Experiment
from streamgauge.experiments.jobs import Event

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

__all__ = ["shown_progress"]


@contextmanager
def shown_progress(experiment: Experiment, *, shown: bool | None) -> Iterator[Callable[[Event], None]]:
    """Show how far an experiment is while the block runs; it yields a function that is told every event.

    Parameters
    ----------
    experiment
        What runs.
    shown
        Whether to show it; None for bars where standard error is a terminal, and lines where it is not.

    Examples
    --------
    >>> from streamgauge.experiments.stream_sources import Source
    >>> experiment = Experiment("one", {"sea": Source("SEA", rows=100)}, {"last": "NoChange"})
    >>> with shown_progress(experiment, shown=False) as show:
    ...     show(Event("started", 0))
    """
    if shown is False:
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  (slow to import)

    console = Console(stderr=True)
    n_jobs = experiment.n_cells // len(experiment.learners)
    if console.is_terminal:
        with _bars(experiment.name, n_jobs, console) as show:
            yield show
    else:
        yield _Lines(n_jobs, console).take


class _Lines:
    """Writes a line for each run that is over; not for those that were done before."""

    def __init__(self, n_jobs: int, console: "Console") -> None:
        self._n_jobs, self._console = n_jobs, console
        self._over: set[int] = set()

    def take(self, event: Event) -> None:
        """Take notice of an event."""
        if event.kind == "noted":
            self._say(_told(event))
        elif event.kind in ("finished", "failed", "stopped", "done"):
            is_news = event.place not in self._over and event.kind != "done"
            self._over.add(event.place)
            if is_news:
                count = f"[{len(self._over)}/{self._n_jobs}]"
                self._say(f"{count} {_told(event)}")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _told(event: Event) -> str:
    return f"{event.kind}: {event.label}" + (f": {event.text}" if event.text else "")


@contextmanager
def _bars(name: str, n_jobs: int, console: "Console") -> Iterator[Callable[[Event], None]]:
    """Show a bar for the experiment, and one for each run that is under way."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        whole = bars.add_task(name, total=n_jobs)
        of_job: dict[int, TaskID] = {}
        over: set[int] = set()

        def take(event: Event) -> None:
            if event.kind == "started":
                of_job[event.place] = bars.add_task(f"  {event.label}", total=event.n_rows or None)
            elif event.kind == "advanced" and event.place in of_job:
                bars.update(of_job[event.place], completed=event.n_rows)
            elif event.kind in ("finished", "failed", "stopped", "done"):
                over.add(event.place)
                bars.update(whole, completed=len(over))
            if event.kind in ("finished", "failed", "stopped") and event.place in of_job:
                bars.remove_task(of_job.pop(event.place))
            if event.kind in ("failed", "noted") or event.n_failed:
                bars.console.print(_told(event), markup=False, highlight=False, soft_wrap=True)

        yield take
