"""The experiment that a run belongs to, from the catalogue of its store."""

from pathlib import Path

from streamgauge.errors import StreamgaugeError
from streamgauge.serve.curve_sources import Cache
from streamgauge.store.catalogue import connect, read_table

__all__ = ["find_experiment"]

CATALOGUE, RUNS, PREFIX = "catalogue.sqlite", "runs", "run="


def find_experiment(folder: Path, cache: Cache) -> str:
    """Return the experiment that a run of a store is part of; empty for other runs.

    Examples
    --------
    >>> find_experiment(Path("results/rbf"), Cache())
    ''
    """
    if folder.parent.name != RUNS or not folder.name.startswith(PREFIX):
        return ""
    experiments: dict[str, str] | None = cache.read(folder.parent.parent / CATALOGUE, _read_experiments)
    return (experiments or {}).get(folder.name.removeprefix(PREFIX), "")


def _read_experiments(path: Path) -> dict[str, str]:
    """Read the experiments of all runs from a catalogue, which other processes may be writing; empty if it is none."""
    try:
        with connect(path, read_only=True) as catalogue:
            return {row["run"]: row["experiment"] for row in read_table(catalogue, "runs")}
    except StreamgaugeError:
        return {}
