"""Recorders of a run with checkpoints: what they write can be gone on with."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import Passage, Recorder, Stream
from streamgauge.records import Schema

__all__ = ["Continuing", "Facts", "Taker", "continued", "saved_by"]


Facts = tuple[Stream, Schema, Sequence[str], Sequence[str]]
"""What a recorder is opened with: stream, schema, the names of learners and of forgettings."""

Taker = Callable[[Passage], None]


@runtime_checkable
class Continuing(Protocol):
    """A recorder that can go on with what it wrote in an earlier part of a run, as a recorder may."""

    def continued(
        self, stream: Stream, schema: Schema, learners: Sequence[str], forgettings: Sequence[str], state: bytes | None
    ) -> AbstractContextManager[Taker]:
        """Open it as `open` does, to go on from a state where one is given.

        What it yields has a method ``save()``, too: it makes what was taken safe on disk, and says how far that goes.
        """
        ...


def continued(recorder: Recorder, facts: Facts, state: bytes | None) -> AbstractContextManager[Taker]:
    """Open a recorder for a run with checkpoints; raises where it cannot go on with what it wrote."""
    if not isinstance(recorder, Continuing):
        msg = f"{type(recorder).__name__} cannot go on after a checkpoint: it has no method continued()"
        raise StreamgaugeError(msg)
    return recorder.continued(*facts, state)


def saved_by(taker: Taker) -> bytes:
    """Let an open recorder make safe what it took, and say how far that goes."""
    state: bytes = taker.save()  # type: ignore[attr-defined]
    return state
