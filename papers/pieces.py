"""The store of finished pieces: one file each, written atomically."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from papers.findings import Done, Experiment, Piece, Scale
from streamgauge.backends import Backend
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.output_files import replace_atomically

__all__ = ["Progress", "finish", "read_finished"]

Progress = Callable[[int, int, str], None]
"""Callback with the number of finished pieces, the number of all pieces, and the key of the last one."""


@dataclass(frozen=True)
class _Store:
    """The folder with the pieces of one experiment at one scale."""

    folder: Path
    edition: dict[str, object]

    @classmethod
    def open(cls, experiment: Experiment, scale: Scale, folder: Path) -> "_Store":
        edition = {"streamgauge": version("streamgauge"), "scale": scale, "edition": experiment.edition}
        return cls(folder / "pieces" / experiment.name, edition)

    def _get_path(self, piece: Piece) -> Path:
        return self.folder / f"{piece.key}.json"

    def read(self, piece: Piece) -> dict[str, Any] | None:
        """Return the result of a piece; None if it is missing or of another edition."""
        path = self._get_path(piece)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            msg = f"{path} cannot be read ({error}): delete it to compute the piece again"
            raise StreamgaugeError(msg) from None
        result = content.get("holds")
        return result if content.get("edition") == self.edition and isinstance(result, dict) else None

    def write(self, piece: Piece, result: dict[str, Any]) -> None:
        with replace_atomically(self._get_path(piece)) as temporary:
            text = json.dumps({"edition": self.edition, "holds": _replace_nan(result)}, allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")


def _replace_nan(value: Any) -> Any:  # noqa: ANN401
    """Replace NaN, which JSON lacks, by null."""
    if isinstance(value, dict):
        return {name: _replace_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nan(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read_finished(experiment: Experiment, scale: Scale, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the results of the finished pieces, by key.

    Examples
    --------
    >>> sums = Experiment("sums", lambda scale: [Piece("one", lambda backend: {"sum": 1})])
    >>> read_finished(sums, "quick", Path("nowhere"))
    {}
    """
    store = _Store.open(experiment, scale, folder)
    results = ((piece.key, store.read(piece)) for piece in experiment.pieces(scale))
    return {key: result for key, result in results if result is not None}


def finish(
    experiment: Experiment, scale: Scale, folder: Path, backend: Backend, progress: Progress
) -> tuple[Done, tuple[str, ...]]:
    """Run the pieces that are not finished; return the results of all, and a note on each data set left out.

    Each piece is stored as soon as it is finished, so an interrupted run resumes at the next piece. If the experiment
    can be evaluated in part, pieces whose data set is not available are left out.
    """
    store = _Store.open(experiment, scale, folder)
    pieces = experiment.pieces(scale)
    done: dict[str, dict[str, Any]] = {}
    missing: dict[str, str] = {}
    for index, piece in enumerate(pieces):
        if piece.dataset is None or piece.dataset not in missing:
            result = store.read(piece)
            if result is None:
                result = _run_piece(piece, store, backend, missing if experiment.in_part else None)
            if result is not None:
                done[piece.key] = result
        progress(index + 1, len(pieces), piece.key)
    return done, tuple(f"{dataset} is left out: {reason}" for dataset, reason in missing.items())


def _run_piece(piece: Piece, store: _Store, backend: Backend, missing: dict[str, str] | None) -> dict[str, Any] | None:
    """Run a piece and store it; note an unavailable data set in `missing`, or raise if that is None."""
    from streamgauge.streams import load  # noqa: PLC0415

    if piece.dataset is not None:
        try:
            load(piece.dataset)
        except StreamgaugeError as error:
            if missing is None:
                raise
            missing[piece.dataset] = str(error)
            return None
    store.write(piece, piece.work(backend))
    return store.read(piece)
