"""What the catalogue of a store says of its runs: which experiment each belongs to."""

import sqlite3
from contextlib import closing
from pathlib import Path

from streamgauge.serve.curve_sources import Cache

__all__ = ["experiment_of"]

CATALOGUE, RUNS, PREFIX = "catalogue.sqlite", "runs", "run="


def experiment_of(folder: Path, cache: Cache) -> str:
    """Name the experiment that a run of a store is a part of; nothing for other runs.

    Examples
    --------
    >>> experiment_of(Path("results/rbf"), Cache())
    ''
    """
    if folder.parent.name != RUNS or not folder.name.startswith(PREFIX):
        return ""
    experiments: dict[str, str] | None = cache.facts(folder.parent.parent / CATALOGUE, _experiments)
    return (experiments or {}).get(folder.name.removeprefix(PREFIX), "")


def _experiments(path: Path) -> dict[str, str]:
    """Read the catalogue, which others may be writing; nothing where it is no such file."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0)) as catalogue:
            return {str(run): str(name) for run, name in catalogue.execute("select run, experiment from runs")}
    except sqlite3.Error:
        return {}
