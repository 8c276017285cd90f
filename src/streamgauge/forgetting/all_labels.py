"""The hits of the majority class of all labels, beside those of the labels that a forgetting remembers."""

from collections.abc import Sequence
from dataclasses import replace

from streamgauge.forgetting.moa_counting import SavableState
from streamgauge.records import Tallies, Trace
from streamgauge.records.serialise import loading, pack, unpack

__all__ = ["AllLabelsTally"]


class AllLabelsTally:
    """A state that also keeps `majority_all_hits`, in a second state of the same forgetting.

    Examples
    --------
    >>> import numpy as np
    >>> from streamgauge.forgetting import Window
    >>> y = np.zeros(3, dtype=np.int32)
    >>> recent, of_all = np.array([False, True, True]), np.array([False, False, True])
    >>> trace = Trace(np.arange(3), y, y, of_all, recent).with_majority(recent)
    >>> tally = AllLabelsTally(Window(2).build(2), Window(2).build(2)).update(trace, [3])[0]
    >>> tally.majority_hits, tally.majority_all_hits
    (2.0, 1.0)
    """

    def __init__(self, state: SavableState, of_all: SavableState) -> None:
        self._state, self._of_all = state, of_all

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Tallies:
        """Add a trace; return the tally before each of the reading rows (ascending positions in the stream)."""
        tallies: Tallies = self._state.update(trace, reading_rows)
        hit = trace.majority_hit if trace.majority_all_hit is None else trace.majority_all_hit
        of_all = self._of_all.update(trace.with_majority(hit), reading_rows)
        return replace(tallies, majority_all_hits=of_all.majority_hits)

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._state.n_bytes + self._of_all.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return pack("tally of all labels", {}, [self._state.save(), self._of_all.save()])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same forgetting, bit for bit."""
        _, parts = unpack("tally of all labels", state)
        with loading("tally of all labels"):
            tally, of_all = parts
            self._state.load(tally)
            self._of_all.load(of_all)
