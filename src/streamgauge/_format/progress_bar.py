"""A progress bar on standard error with rows (or bytes) per second and the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int | None, *, shown: bool | None, unit: str = "rows") -> Iterator[Callable[..., None]]:
    """Show a bar while the block runs; yields a function that updates it.

    That function takes the number of rows done so far and, optionally, a function that returns a short note.

    Parameters
    ----------
    total
        Total number of rows; None if unknown.
    shown
        Whether to show the bar; None shows it only if standard error is a terminal.
    unit
        What is counted.

    Examples
    --------
    >>> with progress_bar(100, shown=False) as advance_to:
    ...     advance_to(50)
    """
    if shown is False:
        yield lambda _done, _note=str: None
        return
    from rich.console import Console  # noqa: PLC0415  (a quiet run need not pay its 70 ms)
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Task as BarTask  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Speed(ProgressColumn):
        def render(self, task: BarTask) -> Text:
            return Text(f"{task.speed:,.0f} {unit}/s" if task.speed else "", style="progress.data.speed")

    console = Console(stderr=True)
    columns = (
        TextColumn(f"{{task.completed:,.0f}} {unit}"),
        BarColumn(),
        Speed(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not (shown or console.is_terminal), transient=True) as bar:
        task = bar.add_task(unit, total=total, note="")
        yield lambda done, note=str: bar.update(task, completed=done, note=note())
