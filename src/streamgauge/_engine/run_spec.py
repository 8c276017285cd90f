"""The cells of a run as a plain description, and where its rows come from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

from streamgauge._engine.batch_plan import BatchPlan, Clock, RowRange
from streamgauge.protocols import DetectorSpec, Forgetting, LearnerSpec, Measure, Scheme
from streamgauge.records import Schema

__all__ = ["PlanMaker", "RunSpec", "Source"]


class PlanMaker(Protocol):
    """Makes orders of recipes that follow each other, and can be saved between two."""

    def order(self, recipe: RowRange) -> BatchPlan:
        """Make the rows of a recipe, and plan them."""
        ...

    def save(self) -> bytes:
        """Give all of its state."""
        ...

    def load(self, state: bytes) -> None:
        """Take over a saved state."""
        ...


class Source(Protocol):
    """Where the rows of a run come from: a plain description."""

    @property
    def is_made(self) -> bool:
        """Whether the rows are computed, so that they can be had anywhere."""
        ...

    def opened(self) -> PlanMaker:
        """Start from the first row."""
        ...


@dataclass(frozen=True)
class RunSpec:
    """Which cells there are and how they are scored: a plain description of a group.

    Parameters
    ----------
    schema
        What the rows look like.
    scheme
        Says which rows are tested and learnt.
    learners
        All learners of the run, by name.
    forgettings, measures, detectors
        How the cells are scored and watched.
    seed
        The seed of the run.
    places
        Which cells of the run are in the group: the place of a cell is that of its learner times the number of folds,
        plus its fold. None for all.
    with_votes, with_passages
        Whether traces carry votes, and whether passages are told.
    metered, time_budget, clock
        Whether cells are metered, and how.
    n_rows
        How many rows there will be at most, as far as that is known.
    source
        Makes the rows, where a group is to make them itself.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, Landmark, MajorityClass, NoChange
    >>> from streamgauge.measures import accuracy
    >>> learners = {"majority": MajorityClass(), "last": NoChange()}
    >>> run_spec = RunSpec(SEA().schema, Bootstrap(2), learners, (Landmark(),), (accuracy,), {}, seed=1)
    >>> run_spec.cells
    (('majority', 0), ('majority', 1), ('last', 0), ('last', 1))
    >>> run_spec.part([1, 3]).cells
    (('majority', 1), ('last', 1))
    """

    schema: Schema
    scheme: Scheme
    learners: Mapping[str, LearnerSpec]
    forgettings: tuple[Forgetting, ...]
    measures: tuple[Measure, ...]
    detectors: Mapping[str, DetectorSpec]
    seed: int
    places: tuple[int, ...] | None = None
    with_votes: bool = False
    with_passages: bool = False
    metered: bool = False
    time_budget: float | None = None
    clock: Clock = "thread"
    n_rows: int | None = None
    source: "Source | None" = None

    @property
    def n_folds(self) -> int:
        """How many folds the run has."""
        return self.scheme.n_folds

    @property
    def n_cells(self) -> int:
        """How many cells the run has."""
        return len(self.learners) * self.n_folds

    @property
    def cells(self) -> tuple[tuple[str, int], ...]:
        """The learner and fold of each cell of the group."""
        every = tuple(product(self.learners, range(self.n_folds)))
        return every if self.places is None else tuple(every[place] for place in self.places)

    def part(self, places: Sequence[int], clock: Clock | None = None) -> "RunSpec":
        """Describe the group of some of the cells."""
        return replace(self, places=tuple(places), clock=clock or self.clock)
