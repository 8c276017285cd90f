"""The folder of ``--out``: it holds the files of one run, never of two."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from streamgauge.cli.output import note
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Results

__all__ = ["Files", "earlier_files", "prepared_folders", "save_into"]

Files = dict[Path, tuple[int, int]]
"""Files, each with what changes when it is written again."""

RECORDS = ("predictions.parquet", "confusion.csv", "confusion.mat", "report.html")
"""What a run may write beside its results, and into the folder `MISCLASSIFIED`."""

MISCLASSIFIED = "misclassified"
_MISCLASSIFIED_NAME = re.compile(r".+-\d+\.(arff|csv|tsv|parquet)")


def prepared_folders(options: dict[str, Any], results: Path | None = None) -> Files | None:
    """Raise where a folder cannot be one, before anything is run, and find what an earlier run left in that of --out.

    Parameters
    ----------
    options
        The options of a run.
    results
        The folder of results that are at hand already; where they are written into it again, nothing is replaced.
    """
    for name in ("out", "checkpoint"):
        if options[name] is not None and options[name].exists() and not options[name].is_dir():
            msg = f"--{name} {options[name]} is a file: give the name of a folder"
            raise StreamgaugeError(msg)
    if options["resume"]:
        _tell_where_to_resume(options["checkpoint"])
    out = options["out"]
    return None if out is None or (results is not None and results.resolve() == out.resolve()) else earlier_files(out)


def _tell_where_to_resume(checkpoints: Path | None) -> None:
    if checkpoints is None:
        msg = "--resume: from where? Give the folder of the checkpoints with --checkpoint"
        raise StreamgaugeError(msg)
    from streamgauge._engine.checkpoint import Folder  # noqa: PLC0415

    found = Folder(checkpoints).newest_first()
    note(f"resuming from the newest checkpoint in {checkpoints}" if found else "no checkpoint yet: starting")


def earlier_files(folder: Path) -> Files:
    """Find the files that an earlier run wrote beside its results, which are there already.

    Examples
    --------
    >>> earlier_files(Path("no such folder"))
    {}
    """
    from streamgauge.results import holds_results  # noqa: PLC0415

    if not holds_results(folder):
        return {}
    wrong = (path for path in (folder / MISCLASSIFIED).glob("*") if _MISCLASSIFIED_NAME.fullmatch(path.name))
    return {path: _written(path) for path in (*(folder / name for name in RECORDS), *wrong) if path.is_file()}


def _written(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_ino, facts.st_mtime_ns


def save_into(folder: Path, results: Results, earlier: Files | None) -> None:
    """Write results into a folder; of an earlier run nothing stays that would seem to be of this one.

    Parameters
    ----------
    folder, results
        As for `streamgauge.save`.
    earlier
        The files that were there before this run wrote any, from `prepared_folders`.
    """
    from streamgauge.results import holds_results, save  # noqa: PLC0415

    replaces = holds_results(folder)
    save(results, folder)
    if earlier is None:
        return
    for path, written in earlier.items():
        if path.is_file() and _written(path) == written:
            path.unlink()
    with suppress(OSError):  # it is not there, or holds something else
        (folder / MISCLASSIFIED).rmdir()
    if replaces:
        note(f"the earlier results in {folder} are replaced")
