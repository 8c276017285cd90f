"""What an experiment plans to run, noted in the folder of its results for those who watch it."""

import warnings
from pathlib import Path

from streamgauge._engine.journal.format import read_json, write_json
from streamgauge.errors import DamageWarning, StreamgaugeError

__all__ = ["PLAN", "note_plan"]

PLAN = "plan.json"
"""The file with the number of runs of each experiment."""


def note_plan(folder: Path, name: str, n_runs: int) -> None:
    """Note how many runs an experiment has.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> note_plan(folder, "small", 4)
    >>> read_json(folder / PLAN)
    {'small': 4}
    """
    try:
        noted = read_json(folder / PLAN) or {}
    except StreamgaugeError as error:
        warnings.warn(f"{error}; it is begun again", DamageWarning, stacklevel=2)
        noted = {}
    write_json(folder / PLAN, {**noted, name: n_runs})
