"""The folder of ``--out``, which holds the files of exactly one run."""

import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import click

from streamgauge.cli.output import print_note
from streamgauge.errors import StreamgaugeError
from streamgauge.records.locks import lock_folder, remove_leftovers
from streamgauge.results import Results, check_table_name
from streamgauge.results.files import MANIFEST, TABLES
from streamgauge.results.saved_errors import PREDICTION_FORMATS
from streamgauge.streams.files.used_files import refuse_replacing

__all__ = [
    "FileStamps",
    "check_folders",
    "check_output_files",
    "find_earlier_files",
    "lock_out",
    "require_folder",
    "save_into",
]

FileStamps = dict[Path, tuple[int, int]]
"""Inode and modification time of files, which change when a file is rewritten."""

RECORDS = (
    *(f"predictions.{kind}" for kind in PREDICTION_FORMATS),
    "confusion.csv",
    "confusion.mat",
    "report.html",
)
"""Files that a run may write next to its results, apart from the folder `MISCLASSIFIED`."""

MISCLASSIFIED = "misclassified"
_MISCLASSIFIED_NAME = re.compile(r".+-\d+\.(arff|csv|tsv|parquet|arrow)")


def check_folders(options: dict[str, Any], results: Path | None = None) -> FileStamps | None:
    """Check the folders of a run before it starts; return the files of an earlier run in that of --out.

    Parameters
    ----------
    options
        Options of a run.
    results
        Folder that the results were loaded from; if it is that of --out, no earlier file is removed.
    """
    for name in ("out", "checkpoint"):
        require_folder(name, options[name])
    if options["resume"]:
        _check_resume(options["checkpoint"])
    out = options["out"]
    if out is None or (results is not None and results.resolve() == out.resolve()):
        return None
    return find_earlier_files(out)


def require_folder(option: str, path: Path | None) -> None:
    """Raise if the folder that an option names is a file.

    Examples
    --------
    >>> require_folder("out", Path("no such folder"))
    """
    if path is not None and path.exists() and not path.is_dir():
        msg = f"--{option} {path} is a file; it must be a folder"
        raise StreamgaugeError(msg)


def check_output_files(options: dict[str, Any], stream: object) -> None:
    """Raise unless the files of a run can be written, and replace no others; creates the folders they will be in.

    Parameters
    ----------
    options
        Options of a run.
    stream
        Its stream.
    """
    table = options["table"]
    if table is not None:
        check_table_name(table)
    for name in ("table", "report", "log"):
        path = options[name]
        if path is not None and path.is_dir():
            msg = f"--{name} {path} is a folder; it must be a file"
            raise StreamgaugeError(msg)
        _require_writable(name, None if path is None else path.parent, path)
        if path is not None:
            refuse_replacing(stream, path, f"--{name}")
    _require_other_files(options)
    _require_writable("out", options["out"], options["out"])


def _require_other_files(options: dict[str, Any]) -> None:
    """Raise if two options name one file, or one names a file that the run writes into the folder of --out."""
    out, taken = options["out"], dict[Path, str]()
    if out is not None:
        own = {MANIFEST, *TABLES, *RECORDS, "journal"} - {"report.html"}
        taken = {(out / name).resolve(): f"--out {out}" for name in own}
    default = None if out is None else out / "report.html"
    for name in ("report", "table", "log"):
        path = options[name] or (default if name == "report" else None)
        if path is None:
            continue
        other = taken.setdefault(path.resolve(), f"--{name}")
        if other != f"--{name}":
            msg = f"--{name} {path} is also written by {other}: name another file"
            raise StreamgaugeError(msg)


def lock_out(options: dict[str, Any]) -> None:
    """Keep other runs out of the folder of --out until the command ends; list the earlier files in it again.

    Parameters
    ----------
    options
        Options of a run.
    """
    folder = options["out"]
    if folder is None:
        return
    click.get_current_context().with_resource(lock_folder(folder, "files"))
    remove_leftovers(folder / MISCLASSIFIED)
    if options["earlier"] is not None:
        options["earlier"] = find_earlier_files(folder)


def _require_writable(option: str, folder: Path | None, path: Path | None) -> None:
    """Raise unless a file can be created in a folder, which is created if missing."""
    if folder is None:
        return
    blocking = next((part for part in (folder, *folder.parents) if part.exists()), folder)
    if blocking.is_file():
        msg = f"--{option} {path} cannot be written: {blocking} is a file"
        raise StreamgaugeError(msg)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return
    except OSError as error:
        msg = f"--{option} {path} cannot be written: {error.strerror or error}"
        raise StreamgaugeError(msg) from None


def _check_resume(checkpoints: Path | None) -> None:
    if checkpoints is None:
        msg = "--resume needs --checkpoint DIR"
        raise StreamgaugeError(msg)
    from streamgauge._engine.checkpoint import Folder  # noqa: PLC0415

    exists = Folder(checkpoints).list_newest_first()
    print_note(
        f"resuming from the latest checkpoint in {checkpoints}"
        if exists
        else f"no checkpoint in {checkpoints}: starting from the first row"
    )


def find_earlier_files(folder: Path) -> FileStamps:
    """Return the files that an earlier run wrote next to its results.

    Examples
    --------
    >>> find_earlier_files(Path("no such folder"))
    {}
    """
    from streamgauge.results import holds_results  # noqa: PLC0415

    if not holds_results(folder):
        return {}
    wrong = (path for path in (folder / MISCLASSIFIED).glob("*") if _MISCLASSIFIED_NAME.fullmatch(path.name))
    return {path: _get_stamp(path) for path in (*(folder / name for name in RECORDS), *wrong) if path.is_file()}


def _get_stamp(path: Path) -> tuple[int, int]:
    facts = path.stat()
    return facts.st_ino, facts.st_mtime_ns


def save_into(folder: Path, results: Results, earlier: FileStamps | None) -> None:
    """Save results into a folder, and remove the files of an earlier run that this one did not replace.

    Parameters
    ----------
    folder, results
        As for `streamgauge.save`.
    earlier
        Files of the earlier run, from `check_folders`.
    """
    from streamgauge.results import holds_results, save  # noqa: PLC0415

    replaces = holds_results(folder)
    save(results, folder)
    if earlier is None:
        return
    for path, stamp in earlier.items():
        if path.is_file() and _get_stamp(path) == stamp:
            path.unlink()
    with suppress(OSError):  # it does not exist, or holds other files
        (folder / MISCLASSIFIED).rmdir()
    if replaces:
        print_note(f"the earlier results in {folder} were replaced")
