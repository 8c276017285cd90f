"""Does a table or figure of a paper again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from papers.catalogue import REPRODUCTIONS
from papers.findings import Done, Finding, Reproduction, Scale
from papers.pieces import Progress, finish, finished
from papers.reports import write
from streamgauge.backends import Backend, Threads
from streamgauge.errors import StreamgaugeError, unknown_name

__all__ = ["Reproduced", "names_of", "reproduce"]

ALL = "all"


@dataclass(frozen=True)
class Reproduced:
    """A table or figure that was done again.

    Parameters
    ----------
    reproduction
        What it is.
    scale
        How large it was done.
    finding
        What was found.
    files
        What was written.
    n_pieces, n_done
        How many pieces there are, and how many the finding rests on.
    """

    reproduction: Reproduction
    scale: Scale
    finding: Finding
    files: tuple[Path, ...]
    n_pieces: int
    n_done: int

    @property
    def complete(self) -> bool:
        """Whether it rests on all that it should."""
        return self.n_done == self.n_pieces


def names_of(wanted: str) -> list[str]:
    """Give the names that a name stands for: itself, all, or those that begin with it.

    Examples
    --------
    >>> names_of("bifet-2016")
    ['bifet-2016-numbers', 'bifet-2016-ram-hours']
    """
    if wanted == ALL:
        return list(REPRODUCTIONS)
    found = [wanted] if wanted in REPRODUCTIONS else [name for name in REPRODUCTIONS if name.startswith(f"{wanted}-")]
    if not found:
        kind = "reproduction"
        raise unknown_name(kind, wanted, REPRODUCTIONS)
    return found


def reproduce(
    name: str,
    folder: str | Path,
    *,
    scale: Scale = "quick",
    so_far: bool = False,
    backend: Backend = Threads(),
    progress: Progress | None = None,
) -> Reproduced:
    """Do a table or figure of a paper again, and write its page, picture, data and manifest into a folder.

    What is finished lies in the folder, too, piece by piece, and is not done again.

    Parameters
    ----------
    name
        One of `REPRODUCTIONS`.
    folder
        Where everything goes; one for each scale.
    scale
        "paper", as large as published, or "quick".
    so_far
        Whether to tell what the finished pieces show, without doing any more.
    backend
        Where evaluations run.
    progress
        Called after every piece with the number of those done, of all, and the last one's key.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = reproduce("bifet-2015-table-5", folder)
    >>> all(claim.holds for claim in done.finding.claims), done.complete
    (True, True)
    """
    if name not in REPRODUCTIONS:
        raise unknown_name(kind="reproduction", name=name, known=REPRODUCTIONS)
    reproduction, folder = REPRODUCTIONS[name], Path(folder)
    experiment = reproduction.experiment
    n_pieces = len(experiment.pieces(scale))
    started = time.perf_counter()
    left_out: Sequence[str] = ()
    done: Done
    if so_far:
        done = finished(experiment, scale, folder)
        _require_enough(reproduction, len(done), n_pieces, folder)
    else:
        done, left_out = finish(experiment, scale, folder, backend, progress or (lambda *_: None))
    finding = _with_notes(reproduction.find(done), left_out, len(done), n_pieces)
    seconds = round(time.perf_counter() - started, 1)
    facts = {"pieces": n_pieces, "pieces_done": len(done), "seconds_of_last_run": seconds}
    files = write(reproduction, scale, finding, folder, facts)
    return Reproduced(reproduction, scale, finding, tuple(files), n_pieces, len(done))


def _require_enough(reproduction: Reproduction, n_done: int, n_pieces: int, folder: Path) -> None:
    if n_done == 0 or (n_done < n_pieces and not reproduction.experiment.in_part):
        msg = (
            f"{reproduction.name}: {n_done} of {n_pieces} pieces are finished in {folder}, too few to tell anything;"
            " run it without --so-far"
        )
        raise StreamgaugeError(msg)


def _with_notes(finding: Finding, left_out: Sequence[str], n_done: int, n_pieces: int) -> Finding:
    """Say first of all what a finding lacks."""
    if n_done == n_pieces:
        return finding
    lacking = f"NOT COMPLETE: {n_done:,} of {n_pieces:,} pieces are done"
    return replace(finding, basis=f"{finding.basis}; {lacking}", notes=(*left_out, *finding.notes))
