"""Progress of an experiment: bars on a terminal, a line per run elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamgauge.experiments.experiment import Experiment
from streamgauge.experiments.jobs import Event

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

__all__ = ["show_progress"]


@contextmanager
def show_progress(experiment: Experiment, *, shown: bool | None) -> Iterator[Callable[[Event], None]]:
    """Show the progress of an experiment while the block runs; yields the callback for its events.

    Parameters
    ----------
    experiment
        The experiment.
    shown
        Whether to show progress; None shows bars on a terminal, and lines elsewhere.

    Examples
    --------
    >>> from streamgauge.experiments.stream_sources import Source
    >>> experiment = Experiment("one", {"sea": Source("SEA", rows=100)}, {"last": "NoChange"})
    >>> with show_progress(experiment, shown=False) as show:
    ...     show(Event("started", 0))
    """
    if shown is False:
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415  (slow to import)

    console = Console(stderr=True)
    n_jobs = experiment.n_evaluations // len(experiment.learners)
    if console.is_terminal:
        with _show_bars(experiment.name, n_jobs, console) as show:
            yield _skip_repeated_notes(show)
    else:
        yield _skip_repeated_notes(_Lines(n_jobs, console).show)


def _skip_repeated_notes(show: Callable[[Event], None]) -> Callable[[Event], None]:
    """Return the callback without the notes that were shown before, as by another run on the same stream."""
    shown: set[tuple[str, str]] = set()

    def show_once(event: Event) -> None:
        if event.kind != "noted" or (event.label, event.text) not in shown:
            show(event)
        if event.kind == "noted":
            shown.add((event.label, event.text))

    return show_once


class _Lines:
    """Prints a line for each run that ends, except those that were done before."""

    def __init__(self, n_jobs: int, console: "Console") -> None:
        self._n_jobs, self._console = n_jobs, console
        self._over: set[int] = set()

    def show(self, event: Event) -> None:
        if event.kind == "noted":
            _print_line(self._console, _format(event))
        elif event.kind in ("finished", "failed", "stopped", "done"):
            is_news = event.index not in self._over and event.kind != "done"
            self._over.add(event.index)
            if is_news:
                _print_line(self._console, f"[{len(self._over)}/{self._n_jobs}] {_format(event)}")


def _format(event: Event) -> str:
    kind = "Note" if event.kind == "noted" else event.kind
    return f"{kind}: {event.label}" + (f": {event.text}" if event.text else "")


def _print_line(console: "Console", line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _show_bars(name: str, n_jobs: int, console: "Console") -> Iterator[Callable[[Event], None]]:
    """Show one bar for the experiment, and one for each active run."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        total = progress.add_task(name, total=n_jobs)
        bars: dict[int, TaskID] = {}
        over: set[int] = set()

        def show(event: Event) -> None:
            if event.kind == "started":
                bars[event.index] = progress.add_task(f"  {event.label}", total=event.n_rows or None)
            elif event.kind == "advanced" and event.index in bars:
                progress.update(bars[event.index], completed=event.n_rows)
            elif event.kind in ("finished", "failed", "stopped", "done"):
                over.add(event.index)
                progress.update(total, completed=len(over))
            if event.kind in ("finished", "failed", "stopped") and event.index in bars:
                progress.remove_task(bars.pop(event.index))
            if event.kind in ("failed", "noted") or event.n_failed:
                _print_line(progress.console, _format(event))

        yield show
