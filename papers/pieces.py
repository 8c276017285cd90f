"""The store of finished pieces: a file each, which is there whole or not at all."""

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

__all__ = ["Progress", "finish", "finished"]

Progress = Callable[[int, int, str], None]
"""Told how many pieces are done, of how many, and the key of the last one."""


@dataclass(frozen=True)
class _Store:
    """The folder of the pieces of one experiment at one scale."""

    folder: Path
    edition: dict[str, object]

    def path(self, piece: Piece) -> Path:
        return self.folder / f"{piece.key}.json"

    def read(self, piece: Piece) -> dict[str, Any] | None:
        """Give what a piece holds; None where it is to be done, also where another edition did it."""
        try:
            written = json.loads(self.path(piece).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            msg = f"{self.path(piece)} cannot be read ({error}): delete it, and it will be done again"
            raise StreamgaugeError(msg) from None
        held = written.get("holds")
        return held if written.get("edition") == self.edition and isinstance(held, dict) else None

    def write(self, piece: Piece, holds: dict[str, Any]) -> None:
        with replace_atomically(self.path(piece)) as temporary:
            text = json.dumps({"edition": self.edition, "holds": _plain(holds)}, allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Give null for NaN, which JSON lacks."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _store(experiment: Experiment, scale: Scale, folder: Path) -> _Store:
    edition = {"streamgauge": version("streamgauge"), "scale": scale, "edition": experiment.edition}
    return _Store(folder / "pieces" / experiment.name, edition)


def finished(experiment: Experiment, scale: Scale, folder: Path) -> dict[str, dict[str, Any]]:
    """Read the pieces that are finished.

    Examples
    --------
    >>> finished(Experiment("sums", lambda scale: [Piece("one", lambda backend: {"sum": 1})]), "quick", Path("nowhere"))
    {}
    """
    store = _store(experiment, scale, folder)
    found = ((piece.key, store.read(piece)) for piece in experiment.pieces(scale))
    return {key: held for key, held in found if held is not None}


def finish(
    experiment: Experiment, scale: Scale, folder: Path, backend: Backend, progress: Progress
) -> tuple[Done, tuple[str, ...]]:
    """Do the pieces that are not finished, and give what all hold, and what is left out and why.

    Each piece is stored as soon as it is done, so that a run can be stopped at any time and goes on where it was.
    Where the experiment can be told in part, pieces whose real stream cannot be had are left out.
    """
    store = _store(experiment, scale, folder)
    pieces = experiment.pieces(scale)
    done: dict[str, dict[str, Any]] = {}
    absent: dict[str, str] = {}
    for place, piece in enumerate(pieces):
        if piece.dataset is None or piece.dataset not in absent:
            held = store.read(piece)
            if held is None:
                held = _worked(piece, store, backend, absent if experiment.in_part else None)
            if held is not None:
                done[piece.key] = held
        progress(place + 1, len(pieces), piece.key)
    return done, tuple(f"{dataset} is left out: {reason}" for dataset, reason in absent.items())


def _worked(piece: Piece, store: _Store, backend: Backend, absent: dict[str, str] | None) -> dict[str, Any] | None:
    """Do a piece and store it; note in `absent` that its real stream cannot be had, where that may be."""
    try:
        _require(piece.dataset)
    except StreamgaugeError as error:
        if absent is None:
            raise
        absent[str(piece.dataset)] = str(error)
        return None
    store.write(piece, piece.work(backend))
    return store.read(piece)


def _require(dataset: str | None) -> None:
    """Raise unless a real stream can be had."""
    from streamgauge.streams import load  # noqa: PLC0415

    if dataset is not None:
        load(dataset)
