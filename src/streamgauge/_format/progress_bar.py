"""Progress with rows (or bytes) per second and the time left: a bar on a terminal, a line in a notebook."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

__all__ = ["progress_bar"]

WAIT_SECONDS = 1.0
"""What takes no longer shows no progress, unless it is asked for."""

Draw = Callable[[int, Callable[[], str]], None]


@contextmanager
def progress_bar(total: int | None, *, shown: bool | None, unit: str = "rows") -> Iterator[Callable[..., None]]:
    """Show progress while the block runs; yields a function that updates it.

    That function takes the number of rows done so far and, optionally, a function that returns a short note.

    Parameters
    ----------
    total
        Total number of rows; None if unknown.
    shown
        Whether to show progress; None shows it after a second, if standard error is a terminal or this is a notebook.
    unit
        What is counted.

    Examples
    --------
    >>> with progress_bar(100, shown=False) as advance_to:
    ...     advance_to(50)
    """
    open_display = _draw_in_notebook if _find_display() is not None else _draw_on_terminal
    is_silent = shown is False or (shown is None and open_display is _draw_on_terminal and not sys.stderr.isatty())
    started, draw = monotonic(), None
    with ExitStack() as stack:

        def advance_to(done: int, note: Callable[[], str] = str) -> None:
            nonlocal draw
            if draw is None and not is_silent and (shown or monotonic() - started >= WAIT_SECONDS):
                draw = stack.enter_context(open_display(total, unit, started))
            if draw is not None:
                draw(done, note)

        yield advance_to


def _find_display() -> Any:  # noqa: ANN401
    """Return the function that shows objects in a notebook; None outside of one. Imports nothing for others."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if "ZMQInteractiveShell" not in {kind.__name__ for kind in type(shell).__mro__}:  # that of a kernel
        return None
    return import_module("IPython.display").display


@contextmanager
def _draw_in_notebook(total: int | None, unit: str, started: float) -> Iterator[Draw]:
    """Show a line of text below the cell, which disappears at the end."""
    handle = _find_display()({"text/plain": ""}, raw=True, display_id=True)

    def draw(done: int, note: Callable[[], str]) -> None:
        speed = done / max(monotonic() - started, 1e-9)
        share = f" of {total:,} ({done / total:.0%})" if total else ""
        left = f", {_format_time((total - done) / speed)} left" if total and 0 < done < total else ""
        text = f"{done:,}{share} {unit}, {speed:,.0f} {unit}/s{left} {note()}".rstrip()
        handle.update({"text/plain": text}, raw=True)

    try:
        yield draw
    finally:
        handle.update({"text/plain": ""}, raw=True)


@contextmanager
def _draw_on_terminal(total: int | None, unit: str, _started: float) -> Iterator[Draw]:
    """Show a bar on standard error, which disappears at the end."""
    from rich.console import Console  # noqa: PLC0415  (a short run need not pay its 70 ms)
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Task as BarTask  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class Speed(ProgressColumn):
        def render(self, task: BarTask) -> Text:
            return Text(f"{task.speed:,.0f} {unit}/s" if task.speed else "", style="progress.data.speed")

    columns = (
        TextColumn(f"{{task.completed:,.0f}} {unit}"),
        BarColumn(),
        Speed(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(unit, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note())


def _format_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
