"""What an experiment plans to run, noted in the folder of its results for those who watch it."""

from pathlib import Path

from streamgauge._engine.journal.format import read_json, write_json

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
    write_json(folder / PLAN, {**(read_json(folder / PLAN) or {}), name: n_runs})
