"""A progress bar with rows (or bytes) per second and the time left, on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int | None, *, shown: bool | None, unit: str = "rows") -> Iterator[Callable[..., None]]:
    """Show a bar while the block runs; it yields a function that is told how many rows are done.

    That may also be given a function that says more, in few words.

    Parameters
    ----------
    total
        How many rows there will be; None where nobody knows.
    shown
        Whether to show it; None for only where standard error is a terminal.
    unit
        What is counted, where it is not rows.

    Examples
    --------
    >>> with progress_bar(100, shown=False) as advance_to:
    ...     advance_to(50)
    """
    if shown is False:
        yield lambda _done, _note=str: None
        return
    from rich.console import Console  # noqa: PLC0415  (70 ms that a quiet run need not pay)
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Task as BarTask  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Speed(ProgressColumn):
        """Rows, or whatever is counted, per second."""

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
