"""A run whose rows and predictions are pushed by a caller, batch by batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import RunSpec, SavedStates
from streamgauge._engine.cells import CellGroup
from streamgauge._engine.collector import Collector, Progress
from streamgauge._engine.planner import Planner
from streamgauge._engine.source import RowSource
from streamgauge.learners.plain_loop import Predicted
from streamgauge.protocols import StreamBase
from streamgauge.records import Batch, Schema, Step
from streamgauge.records.serialise import loading, pack, unpack
from streamgauge.significance.live import LiveTest
from streamgauge.significance.single_model import ModelWatch

__all__ = ["PushedModel", "PushedRows", "PushedRun"]

NOTHING: Predicted = (np.empty(0, dtype=np.int32), None)


class PushedRows(StreamBase):
    """The schema of rows without attributes that a caller pushes; they cannot be read from it.

    Parameters
    ----------
    schema
        The classes.

    Examples
    --------
    >>> PushedRows(Schema((), ("down", "up"))).schema.n_classes
    2
    """

    n_rows = None
    fingerprint = "pushed rows"

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    @property
    def schema(self) -> Schema:
        """The classes."""
        return self._schema

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:  # noqa: ARG002
        """Yield nothing: rows are pushed."""
        return iter(())

    def __repr__(self) -> str:
        return "a gauge"


@dataclass(frozen=True)
class PushedModel:
    """A learner that returns the predictions which were pushed for the rows of a batch.

    Parameters
    ----------
    name
        The name of the model.

    Examples
    --------
    >>> PushedModel("champion").short_name
    'champion'
    """

    name: str
    inbox: list[Predicted] = field(default_factory=lambda: [NOTHING], repr=False, compare=False)
    """The predictions of the next batch, and the votes if they are needed."""
    seed: ClassVar[int] = 1
    seedless: ClassVar[bool] = True
    trained: ClassVar[bool] = True
    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    @property
    def short_name(self) -> str:
        """The name of the learner in results."""
        return self.name

    def build(self, schema: Schema, seed: int) -> "_Reader":  # noqa: ARG002
        """Build a learner that takes predictions out of the inbox."""
        return _Reader(self.inbox)


class _Reader:
    """Takes the predictions of each batch out of an inbox."""

    def __init__(self, inbox: list[Predicted]) -> None:
        self._inbox = inbox

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return no votes: predictions are pushed."""
        return np.zeros((len(x), 0))

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Do nothing: the model is trained elsewhere."""

    def interleave(self, step: Step, *, with_votes: bool) -> Predicted:  # noqa: ARG002
        """Return the pushed predictions."""
        predicted, self._inbox[0] = self._inbox[0], NOTHING
        return predicted

    @property
    def n_bytes(self) -> int:
        """The memory of the model, which is elsewhere."""
        return 0

    def save(self) -> bytes:
        """Return the state, which is empty."""
        return b""

    def load(self, state: bytes) -> None:
        """Do nothing: there is no state."""


class PushedRun:
    """The cells, the planner and the collector of a run, advanced by a caller; rows are scored as they are pushed.

    Parameters
    ----------
    source
        Describes the rows; none is read from it.
    run_spec
        Describes the cells: one fold, and only learners of the kind `PushedModel`.
    every
        The number of rows between two readings.
    live_test, n_analyses, model_watch
        As for `Collector`.
    """

    def __init__(
        self,
        source: RowSource,
        run_spec: RunSpec,
        *,
        every: int,
        live_test: LiveTest | None,
        n_analyses: int | None,
        model_watch: ModelWatch | None,
    ) -> None:
        self._source, self._every, self._spec = source, every, run_spec
        self._planner, self._group = self._make_planner(), CellGroup(run_spec)
        self.collector = Collector(run_spec, live_test, n_analyses, model_watch)
        self._inboxes = [spec.inbox for spec in run_spec.learners.values() if isinstance(spec, PushedModel)]
        self.ended_by = ""
        """Why the run ended before its rows did; it never does."""
        self.seconds = 0.0
        """The time that the run took, which is not measured."""

    def _make_planner(self) -> Planner:
        return Planner(self._source, "first", self._every)

    @property
    def n_done(self) -> int:
        """The number of rows."""
        return self.collector.n_done

    def push(
        self,
        y: NDArray[np.int32],
        predictions: Sequence[Predicted],
        weight: NDArray[np.float64] | None = None,
        time: NDArray[np.float64] | None = None,
    ) -> Progress:
        """Score rows: their classes, and the predictions of each model with votes if they are needed."""
        for inbox, predicted in zip(self._inboxes, predictions, strict=True):
            inbox[0] = predicted
        plan = self._planner.plan(Batch(self.n_done, np.empty((len(y), 0)), y, weight, time), None)
        return self.collector.add(plan, [self._group.run(plan)])

    def read(self) -> NDArray[np.float64]:
        """Return the values after the last row, float64 [models, forgettings, measures]; changes nothing."""
        return self._group.read(self.n_done)

    def finish(self, *, always: bool = False) -> Progress | None:
        """Take a reading after the last row, if it is due or `always`; rows can still follow."""
        plan = self._planner.final_plan(self.n_done, always=always)
        if plan is None or (plan.is_idle and not self._spec.keeps_blocks):
            return None
        progress = self.collector.add(plan, [self._group.run(plan)])
        return None if plan.is_idle else progress

    def save(self) -> bytes:
        """Return the whole state."""
        saved, planner = self._group.save(), self._planner.save()
        parts = [*saved.cells.values(), *saved.folds.values(), *planner.values(), self.collector.save()]
        facts = {"cells": list(saved.cells), "folds": list(saved.folds), "planner": list(planner)}
        return pack("pushed run", facts, parts)

    def load(self, state: bytes) -> None:
        """Restore the state of a run of the same models and options; it may have fewer classes, the first of these."""
        saved, planner, collector = _unpack(state)
        self._group.load(saved, trusted=False)
        self._planner.load(planner)
        self.collector.load(collector)

    def merge(self, state: bytes, classes: Sequence[int]) -> None:
        """Add the rows of a saved run of the same models and options, whose classes have these codes here.

        The caller makes sure that the order of the rows does not matter to any forgetting, measure and detector.
        """
        saved, planner, collector = _unpack(state)
        self._group.merge(saved, classes)
        other = Planner(self._source, "first", self._every)
        other.load(planner)
        self._planner.merge(other, classes)
        self.collector.merge(collector)


def _unpack(state: bytes) -> tuple[SavedStates, dict[str, bytes], bytes]:
    """Return the states of cells and folds, of the planner and of the collector."""
    facts, parts = unpack("pushed run", state)
    with loading("pushed run"):
        n_cells, n_folds = len(facts["cells"]), len(facts["folds"])
        cells = dict(zip(facts["cells"], parts[:n_cells], strict=True))
        folds = dict(zip(facts["folds"], parts[n_cells : n_cells + n_folds], strict=True))
        planner = dict(zip(facts["planner"], parts[n_cells + n_folds : -1], strict=True))
        return SavedStates(cells, folds), planner, parts[-1]
