"""Saved results that a command takes: folders of runs, or stores of many."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from streamgauge.results import Results
    from streamgauge.store import Filter

__all__ = ["saved_options", "saved_runs"]

AXES = ("stream", "scheme", "labelling", "seed")

_OPTIONS = (
    click.option("--stream", multiple=True, help="Of a store, only this stream; a name or pattern; repeatable."),
    click.option("--scheme", multiple=True, help="Of a store, only what was found under this scheme."),
    click.option("--labelling", multiple=True, help="Of a store, only what was found under this labelling."),
    click.option("--seed", multiple=True, help="Of a store, only what was found with this seed."),
)


def saved_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose among the results of a store."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def saved_runs(folders: Sequence[Path], options: dict[str, Any], learners: tuple[str, ...] = ()) -> "list[Results]":
    """Load the results of folders, of stores what is wanted; takes the options of that out of `options`."""
    from streamgauge.store import Filter  # noqa: PLC0415

    wanted = Filter(**{axis: options.pop(axis) for axis in AXES}, learner=learners)
    runs = [found for folder in folders for found in _found(folder, wanted)]
    if not runs:
        msg = f"there are no results in {', '.join(map(str, folders))} yet"
        raise StreamgaugeError(msg)
    return runs


def _found(folder: Path, wanted: "Filter") -> "list[Results]":
    from streamgauge.results import load  # noqa: PLC0415
    from streamgauge.store import Store, is_store  # noqa: PLC0415

    if not is_store(folder):
        return [load(folder)]
    found = list(Store(folder).results(wanted))
    for axis in ("scheme", "labelling"):
        told = [one.description.get(axis) for one in found]
        names = sorted({str(fact["name"] if isinstance(fact, dict) else fact) for fact in told})
        if len(names) > 1:
            msg = f"{folder} holds results under {len(names)} {axis}s: choose one with --{axis}: {'; '.join(names)}"
            raise StreamgaugeError(msg)
    return found
