"""Saved results as the input of a command: folders of runs, or stores of many."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamgauge.cli.output import add_options
from streamgauge.errors import StreamgaugeError

if TYPE_CHECKING:
    from streamgauge.results import Results
    from streamgauge.store import Filter

__all__ = ["AXES", "add_store_options", "load_repetitions", "load_runs"]

AXES = ("stream", "scheme", "labelling", "seed")
"""What distinguishes the runs of a store."""

_OPTIONS = (
    click.option("--stream", multiple=True, help="In a store, only this stream; a name or pattern; repeatable."),
    click.option("--scheme", multiple=True, help="In a store, only this scheme."),
    click.option("--labelling", multiple=True, help="In a store, only this labelling."),
    click.option("--seed", multiple=True, help="In a store, only this seed."),
)


def add_store_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that select runs of a store to a command."""
    return add_options(command, _OPTIONS)


def load_runs(folders: Sequence[Path], options: dict[str, Any], learners: tuple[str, ...] = ()) -> "list[Results]":
    """Load the results in folders, and those selected in stores; removes the selection from `options`."""
    return [run for _, run in _load_pairs(folders, options, learners)]


def load_repetitions(
    folders: Sequence[Path], options: dict[str, Any], learners: tuple[str, ...], *, forgetting: str | None
) -> "list[Results]":
    """Load runs as `load_runs`; raise if they differ in more than stream and seeds, and name their folders."""
    from streamgauge.significance.setups import require_same_setup  # noqa: PLC0415

    pairs = _load_pairs(folders, options, learners)
    require_same_setup([run for _, run in pairs], [str(folder) for folder, _ in pairs], forgetting=forgetting)
    return [run for _, run in pairs]


def _load_pairs(
    folders: Sequence[Path], options: dict[str, Any], learners: tuple[str, ...]
) -> "list[tuple[Path, Results]]":
    """Load runs, each with its folder."""
    from streamgauge.store import Filter  # noqa: PLC0415

    wanted = Filter(**{axis: options.pop(axis) for axis in AXES}, learner=learners)
    pairs = [(folder, results) for folder in folders for results in _load_folder(folder, wanted)]
    if not pairs:
        msg = f"there are no results in {', '.join(map(str, folders))} yet"
        raise StreamgaugeError(msg)
    return pairs


def _load_folder(folder: Path, wanted: "Filter") -> "list[Results]":
    from streamgauge.results import load  # noqa: PLC0415
    from streamgauge.store import Store, is_store  # noqa: PLC0415

    if not is_store(folder):
        return [load(folder)]
    runs = list(Store(folder).results(wanted))
    for axis in ("scheme", "labelling"):
        facts = [run.description.get(axis) for run in runs]
        names = sorted({str(fact["name"] if isinstance(fact, dict) else fact) for fact in facts})
        if len(names) > 1:
            msg = f"{folder} holds results of {len(names)} {axis}s; choose one with --{axis}: {'; '.join(names)}"
            raise StreamgaugeError(msg)
    return runs
