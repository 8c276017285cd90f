"""Reproduction of a table or figure of a paper."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from papers.catalogue import REPRODUCTIONS
from papers.findings import Done, Finding, Reproduction, Scale
from papers.pieces import Progress, finish, read_finished
from papers.reports import write
from streamgauge.backends import Backend, Threads
from streamgauge.errors import StreamgaugeError, unknown_name

__all__ = ["Reproduced", "match_names", "reproduce"]

ALL = "all"


@dataclass(frozen=True)
class Reproduced:
    """A reproduced table or figure.

    Parameters
    ----------
    reproduction
        The table or figure.
    scale
        The scale of its experiment.
    finding
        The finding.
    files
        The files that were written.
    n_pieces, n_done
        The number of pieces, and how many of them are finished.
    """

    reproduction: Reproduction
    scale: Scale
    finding: Finding
    files: tuple[Path, ...]
    n_pieces: int
    n_done: int

    @property
    def complete(self) -> bool:
        """Whether all pieces are finished."""
        return self.n_done == self.n_pieces


def match_names(wanted: str) -> list[str]:
    """Return the names that a text selects: the name itself, "all", or all names that start with the text and a dash.

    Examples
    --------
    >>> match_names("bifet-2016")
    ['bifet-2016-numbers', 'bifet-2016-ram-hours']
    """
    if wanted == ALL:
        return list(REPRODUCTIONS)
    names = [wanted] if wanted in REPRODUCTIONS else [name for name in REPRODUCTIONS if name.startswith(f"{wanted}-")]
    if not names:
        raise unknown_name(kind="reproduction", name=wanted, known=REPRODUCTIONS)
    return names


def reproduce(
    name: str,
    folder: str | Path,
    *,
    scale: Scale = "quick",
    so_far: bool = False,
    backend: Backend = Threads(),
    progress: Progress | None = None,
) -> Reproduced:
    """Reproduce a table or figure of a paper; write its page, picture, data and manifest into a folder.

    Finished pieces are stored in the folder, too, and are not run again.

    Parameters
    ----------
    name
        One of `REPRODUCTIONS`.
    folder
        The output folder; use one per scale.
    scale
        "paper", as large as published, or "quick".
    so_far
        Whether to report on the finished pieces only and run nothing.
    backend
        The backend of the evaluations.
    progress
        Called after every piece with the number of finished pieces, of all pieces, and the key of the last one.

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
        done = read_finished(experiment, scale, folder)
        _require_enough(reproduction, len(done), n_pieces, folder)
    else:
        done, left_out = finish(experiment, scale, folder, backend, progress or (lambda *_: None))
    finding = reproduction.find(done)
    if len(done) < n_pieces:
        incomplete = f"NOT COMPLETE: {len(done):,} of {n_pieces:,} pieces are done"
        finding = replace(finding, basis=f"{finding.basis}; {incomplete}", notes=(*left_out, *finding.notes))
    seconds = round(time.perf_counter() - started, 1)
    facts = {"pieces": n_pieces, "pieces_done": len(done), "seconds_of_last_run": seconds}
    files = write(reproduction, scale, finding, folder, facts)
    return Reproduced(
        reproduction=reproduction,
        scale=scale,
        finding=finding,
        files=tuple(files),
        n_pieces=n_pieces,
        n_done=len(done),
    )


def _require_enough(reproduction: Reproduction, n_done: int, n_pieces: int, folder: Path) -> None:
    if n_done == 0 or (n_done < n_pieces and not reproduction.experiment.in_part):
        msg = (
            f"{reproduction.name}: {n_done} of {n_pieces} pieces are finished in {folder}, too few for a result;"
            " run it without --so-far"
        )
        raise StreamgaugeError(msg)
