"""The account of a run: what its groups have brought so far, put together."""

from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import BatchPlan, BatchResult
from streamgauge._engine.meter import Totals, costs_of
from streamgauge._engine.run_spec import RunSpec
from streamgauge._engine.schedule import LabelTotals, Schedule
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, Differences, Failure, Feedback, PairSums, Resources, Verdict
from streamgauge.records.serialise import loading, pack, unpack
from streamgauge.significance.live import LiveTest, PairWatch

__all__ = ["Collector", "Progress"]


@dataclass(frozen=True)
class Progress:
    """What one batch brought: its stops, the values there as in `Results`, the figures of each cell's cost, alarms.

    Where it has stops, `verdicts` tells what is known of each pair of learners at the last of them.
    `labels` has how classes and labels came up to each stop, as `LabelCounter` counts them; `confusions` the confusion
    matrices of the stops in `confused`, [kept, learners, forgettings, true, predicted].
    """

    n_rows: int
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    costs: NDArray[np.float64] | None = None
    alarms: tuple[Alarm, ...] = ()
    verdicts: tuple[Verdict, ...] = ()

    @property
    def reached(self) -> tuple[Verdict, ...]:
        """The verdicts that became known at these stops."""
        return tuple(verdict for verdict in self.verdicts if verdict.row is not None and verdict.row in self.rows)

    labels: NDArray[np.int64] | None = None
    confused: NDArray[np.int64] | None = None
    confusions: NDArray[np.float64] | None = None


class Collector:
    """What a run has brought so far: counts, sums and failures; of the readings it keeps none.

    Parameters
    ----------
    run_spec
        Describes all cells of the run.
    live_test
        How learners are compared at every stop; None for not.
    n_analyses
        How many stops there will be, where that is known.

    Examples
    --------
    >>> from streamgauge import SEA, Landmark, MajorityClass, Prequential
    >>> from streamgauge._engine.cell_group import CellGroup
    >>> from streamgauge.measures import accuracy
    >>> from streamgauge._engine.schedule import Schedule
    >>> from streamgauge.streams import take
    >>> learners = {"majority": MajorityClass()}
    >>> run_spec = RunSpec(SEA().schema, Prequential(), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> account, batch = Collector(run_spec), take(SEA(), 100)
    >>> order = BatchPlan([50, 100], 100, LabelTotals(n_revealed=100), Schedule(batch), batch)
    >>> account.enter(order, [CellGroup(run_spec).run_plan(order)]).values.shape
    (2, 1, 1, 1, 1)
    >>> account.feedback.n_revealed
    100
    """

    def __init__(self, run_spec: RunSpec, live_test: LiveTest | None = None, n_analyses: int | None = None) -> None:
        self._names, self._shape = list(run_spec.learners), (len(run_spec.learners), run_spec.n_folds)
        self._n_cells = run_spec.n_cells
        self._pairs = PairWatch(self._names, run_spec.n_folds, live_test, n_analyses)
        self._failures: dict[int, Failure] = {}
        self._n_scored = dict.fromkeys(range(run_spec.n_folds), 0)
        self._totals: dict[int, Totals] = {}
        self._counts = LabelTotals()
        self._clock = "process"
        self.n_done = 0

    def enter(self, order: BatchPlan, results_of_groups: Sequence[BatchResult]) -> Progress:
        """Take in what an order brought, group by group; give it as a whole."""
        self.n_done, self._counts = order.n_done, order.counts
        for of_group in results_of_groups:
            self._failures.update(of_group.failures)
            self._totals.update(zip(of_group.places, of_group.totals, strict=False))
            self._n_scored.update(zip(of_group.folds, of_group.n_scored, strict=True))
        self._clock = "process" if all(of_group.clock == "process" for of_group in results_of_groups) else "thread"
        if order.counts_pairs and len(self._names) > 1:
            self._count_pairs(order, results_of_groups)
        elif order.plan is None:
            self._pairs.look(order.n_done)
        if len(self._failures) == self._n_cells:
            raise StreamgaugeError("; ".join(map(str, self.failures[:3])))
        rows = np.array(order.reading_rows, dtype=np.int64)
        values = self._grid([of_group.values for of_group in results_of_groups], results_of_groups, stop_axis=3)
        parts = [of_group.costs for of_group in results_of_groups if of_group.costs is not None]
        costs = self._grid(parts, results_of_groups, stop_axis=2) if parts else None
        alarms = tuple(sorted(alarm for of_group in results_of_groups for alarm in of_group.alarms))
        verdicts = self.verdicts if order.reading_rows else ()
        labels = (order.labels, *self._confusions(order, results_of_groups))
        return Progress(self.n_done, rows, values, costs, alarms, verdicts, *labels)

    def _confusions(
        self, order: BatchPlan, results_of_groups: Sequence[BatchResult]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]] | tuple[None, None]:
        """Sum the confusion matrices over the folds."""
        parts = [of_group.confusions for of_group in results_of_groups if of_group.confusions is not None]
        if not parts:
            return None, None
        summed = self._grid(parts, results_of_groups, stop_axis=3).sum(axis=2)
        return np.array([order.reading_rows[place] for place in order.confused], dtype=np.int64), summed

    def _grid(
        self, parts: Sequence[NDArray[np.float64]], results_of_groups: Sequence[BatchResult], stop_axis: int
    ) -> NDArray[np.float64]:
        """Put columns [cells, ...] of the groups in the order of the cells: [stops, learners, folds, ...]."""
        whole = self._in_order(parts, results_of_groups)
        return np.moveaxis(whole.reshape(*self._shape, *whole.shape[1:]), stop_axis, 0)

    def _in_order(
        self, parts: Sequence[NDArray[np.float64]], results_of_groups: Sequence[BatchResult]
    ) -> NDArray[np.float64]:
        if len(parts) == 1:
            return parts[0]
        places = np.concatenate([of_group.places for of_group in results_of_groups])
        return np.concatenate(parts)[np.argsort(places)]

    def _count_pairs(self, order: BatchPlan, results_of_groups: Sequence[BatchResult]) -> None:
        rights = [of_group.correct for of_group in results_of_groups if of_group.correct is not None]
        n = rights[0].shape[1]
        correct = np.empty((self._n_cells, n), dtype=np.bool_)
        scored = None
        for of_group, right in zip(results_of_groups, rights, strict=True):
            correct[list(of_group.places)] = right
            if of_group.scored is not None:
                scored = np.ones((self._shape[1], n), dtype=np.bool_) if scored is None else scored
                scored[list(of_group.folds)] = of_group.scored
        cuts = [] if order.plan is None else _cuts(order.plan, order.reading_rows)
        self._pairs.update(correct.reshape(*self._shape, n), scored, cuts, order.reading_rows)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The learners that have failed up to now, each with its fold, row and error."""
        return tuple(failure for _, failure in sorted(self._failures.items()))

    @property
    def pairs(self) -> tuple[PairSums, ...]:
        """The sums of each pair of learners, neither of which has failed."""
        return self._pairs.sums(self._failed)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What is known of each pair of learners, neither of which has failed, as of the last stop."""
        return self._pairs.verdicts(self._failed)

    @property
    def differences(self) -> Differences | None:
        """The differences of all pairs along the run."""
        return self._pairs.differences(self._failed)

    @property
    def _failed(self) -> frozenset[str]:
        return frozenset(failure.learner for failure in self._failures.values())

    @property
    def feedback(self) -> Feedback:
        """What became of the labels."""
        counts = self._counts
        n_scored = np.array(list(self._n_scored.values()))
        return Feedback(counts.n_revealed, counts.n_owed, counts.n_hidden, counts.n_unknown, n_scored)

    def resources(self, kept: Sequence[Progress]) -> Resources | None:
        """Tell what the learners cost, with the figures of kept progress; None where nothing was metered."""
        costs = [part.costs for part in kept if part.costs is not None]
        if not self._totals or not costs:
            return None
        rows = np.concatenate([part.rows for part in kept])
        totals = [of_cell for _, of_cell in sorted(self._totals.items())]
        return costs_of(totals, self._shape, rows, np.concatenate(costs), self._clock)

    def save(self) -> bytes:
        """Give all that was entered."""
        facts = {
            "n_done": self.n_done,
            "counts": asdict(self._counts),
            "n_scored": [int(n) for n in self._n_scored.values()],
            "failures": {place: astuple(failure) for place, failure in self._failures.items()},
            "totals": list(self._totals),
            "clock": self._clock,
        }
        return pack("account", facts, [self._pairs.save(), *(totals.save() for totals in self._totals.values())])

    def load(self, state: bytes) -> None:
        """Take over a saved account of a run with the same cells."""
        facts, (pairs, *totals) = unpack("account", state)
        with loading("account"):
            self._pairs.load(pairs)
            self.n_done, self._clock = facts["n_done"], facts["clock"]
            self._counts = LabelTotals(**facts["counts"])
            self._n_scored = dict(enumerate(facts["n_scored"]))
            self._failures = {int(place): Failure(*failure) for place, failure in facts["failures"].items()}
            self._totals = {place: Totals.of(saved) for place, saved in zip(facts["totals"], totals, strict=True)}


def _cuts(plan: Schedule, reading_rows: Sequence[int]) -> list[int]:
    """Find before which row of a plan each stop is."""
    if plan.moves is None:
        return [stop - plan.batch.start for stop in reading_rows]
    cuts: list[int] = np.searchsorted(plan.moves.now, reading_rows).tolist()
    return cuts
