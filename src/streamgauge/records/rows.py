"""Rows: what they look like, and what to do with them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.records.schema_html import schema_html

__all__ = [
    "ABSTAINED",
    "DRIFT",
    "DRIFT_KINDS",
    "NEVER",
    "STABLE",
    "UNLABELLED",
    "WARNING",
    "Arrivals",
    "Attribute",
    "Batch",
    "Drift",
    "Schema",
    "Step",
]

UNLABELLED = -1
"""The label of a row whose class is not known."""

ABSTAINED = -1
"""The prediction of a learner that has nothing to say; it is always an error."""

STABLE, WARNING, DRIFT = 0, 1, 2
"""What a detector says after a value."""

NEVER = 1 << 60
"""The row at which a label arrives that never does."""

DRIFT_KINDS = ("sudden", "gradual", "incremental")
"""How a new concept comes."""


@dataclass(frozen=True)
class Attribute:
    """One column of a row.

    Parameters
    ----------
    name
        What it is called.
    values
        The names of its nominal values, whose positions are their codes; None where it is numeric.
    missing
        Whether values may be missing (NaN).

    Examples
    --------
    >>> Attribute("day", values=("monday", "tuesday")).is_nominal
    True
    """

    name: str
    values: tuple[str, ...] | None = None
    missing: bool = False

    @property
    def is_nominal(self) -> bool:
        """Whether it has named values rather than numbers."""
        return self.values is not None


@dataclass(frozen=True)
class Schema:
    """What the rows of a stream look like.

    Examples
    --------
    >>> schema = Schema((Attribute("price"), Attribute("day", ("mo", "tu"))), classes=("up", "down"))
    >>> schema.n_attributes, schema.n_classes, schema.n_values.tolist()
    (2, 2, [0, 2])
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        for kind, names in (("attribute", [a.name for a in self.attributes]), ("class", list(self.classes))):
            repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
            if repeated:
                msg = f"two of the schema have the same {kind} name: {sorted(repeated)[0]!r}"
                raise StreamgaugeError(msg)
        if not self.classes:
            msg = "the schema has no classes"
            raise StreamgaugeError(msg)

    @property
    def n_attributes(self) -> int:
        """How many attributes a row has."""
        return len(self.attributes)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @cached_property
    def n_values(self) -> NDArray[np.uint32]:
        """Per attribute the number of its nominal values, 0 where it is numeric."""
        return np.array([len(a.values or ()) for a in self.attributes], dtype=np.uint32)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Per attribute whether its values may be missing."""
        return np.array([a.missing for a in self.attributes], dtype=np.bool_)

    def _repr_html_(self) -> str:
        return schema_html(self)

    def check(self, batch: "Batch") -> None:
        """Raise unless every value, label and weight of a batch is what the schema allows."""
        if batch.x.shape[1] != self.n_attributes:
            msg = f"rows have {batch.x.shape[1]} values where the schema has {self.n_attributes} attributes"
            raise StreamgaugeError(msg)
        try:
            _native.check_batch(self.n_values, self.missing, self.n_classes, batch.x, batch.y, batch.weight)
        except ValueError as error:
            msg = f"in the batch that starts at row {batch.start}: {error}"
            raise StreamgaugeError(msg) from None


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a stream.

    Parameters
    ----------
    start
        The position of the first row in the stream.
    x
        Values, float64 [n, d], C-contiguous; a nominal value is its code, a missing one NaN.
    y
        Class codes, int32 [n]; `UNLABELLED` where the class is not known.
    weight
        Instance weights, which learners and measures both heed; None means 1 for all.
    time
        When each row arrived, in seconds; None where rows carry no time.

    Examples
    --------
    >>> len(Batch(0, np.zeros((3, 2)), np.zeros(3, dtype=np.int32)))
    3
    """

    start: int
    x: NDArray[np.float64]
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.y.shape != (len(self.x),):
            msg = f"a batch needs x of shape [n, d] and y of shape [n], not {self.x.shape} and {self.y.shape}"
            raise StreamgaugeError(msg)

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The position of each row in the stream."""
        return np.arange(self.start, self.start + len(self))

    @cached_property
    def n_unlabelled(self) -> int:
        """How many rows have a class that is not known."""
        # The least label says of most batches that there are none, in a sixth of the time.
        return 0 if self.y.min(initial=0) > UNLABELLED else int(np.count_nonzero(self.y == UNLABELLED))


@dataclass(frozen=True, order=True)
class Drift:
    """A true change of concept in a stream.

    Parameters
    ----------
    position
        The first row that may come from the new concept.
    width
        How many rows the change takes: from row ``position + width`` on there is only the new concept.
    kind
        How it comes: ``sudden`` (at once, width 0), ``gradual`` (rows of both concepts mix) or ``incremental`` (the
        concept itself moves).

    Examples
    --------
    >>> Drift(5000, 1000, "gradual").stop
    6000
    """

    position: int
    width: int = 0
    kind: str = "sudden"

    def __post_init__(self) -> None:
        require_at_least("position", self.position, 0)
        require_at_least("width", self.width, 0)
        if self.kind not in DRIFT_KINDS:
            error = unknown_name("kind of drift", self.kind, DRIFT_KINDS)
            raise error

    @property
    def stop(self) -> int:
        """The first row from which on there is only the new concept."""
        return self.position + self.width


@dataclass(frozen=True)
class Arrivals:
    """When the labels of the rows of a batch arrive, where that is not at once; the later of the two where both are.

    Parameters
    ----------
    row
        The row of the stream after whose test the label is there, int64 [n]; `NEVER` where it never comes.
    time
        When it is there, in seconds, float64 [n]; infinite where it never comes. A row of the stream that comes at that
        time or later comes after it.

    Examples
    --------
    >>> Arrivals(row=np.array([5, NEVER])).time is None
    True
    """

    row: NDArray[np.int64] | None = None
    time: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Step:
    """What to do with each row of a batch in one fold, one after the other.

    A row may stand in it twice: tested when it comes, and learnt when its label does.

    Parameters
    ----------
    batch
        The rows.
    test
        Which rows the learner predicts, before it may learn them; None means all.
    weight
        With which weight it learns each row, 0 for not at all; None means 1 for all.
    revealed
        Which labels it may see; None means all. A row whose label it may not see is, where its weight is above 0, a row
        without a label for learners that can use those.
    row
        Which row of the stream each is, int64 [n]; None where they are consecutive.
    now
        The row of the stream that came last when it is done, int64 [n], ascending; None where that is the row itself.

    Examples
    --------
    >>> batch = Batch(0, np.zeros((3, 2)), np.array([0, 1, 1], dtype=np.int32))
    >>> step = Step(batch, revealed=np.array([True, False, True]))
    >>> step.labels.tolist(), step.rows.tolist(), step.part(1, 3).labels.tolist()
    ([0, -1, 1], [0, 1, 2], [-1, 1])
    """

    batch: Batch
    test: NDArray[np.bool_] | None = None
    weight: NDArray[np.float64] | None = None
    revealed: NDArray[np.bool_] | None = None
    row: NDArray[np.int64] | None = None
    now: NDArray[np.int64] | None = None

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The labels that may be learnt; `UNLABELLED` where one is hidden."""
        if self.revealed is None:
            return self.batch.y
        return np.where(self.revealed, self.batch.y, np.int32(UNLABELLED))

    @cached_property
    def learning_weight(self) -> NDArray[np.float64] | None:
        """The weight of each row in learning: that of the fold times that of the instance."""
        if self.weight is None or self.batch.weight is None:
            return self.batch.weight if self.weight is None else self.weight
        return self.weight * self.batch.weight

    @cached_property
    def scored(self) -> NDArray[np.intp] | None:
        """The positions in the batch of the rows that are tested and whose class is known; None means all."""
        if self.test is None and not self.batch.n_unlabelled:
            return None
        known = self.batch.y != UNLABELLED
        if self.test is not None:
            known &= self.test
        return None if known.all() else np.flatnonzero(known)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Which row of the stream each is."""
        return self.batch.rows if self.row is None else self.row

    @property
    def times(self) -> NDArray[np.int64]:
        """The row of the stream that came last when each is done."""
        return self.rows if self.now is None else self.now

    @property
    def scored_times(self) -> NDArray[np.int64] | range:
        """The same of the rows that are scored; as a range where they all are, one after the other."""
        if self.scored is not None:
            return self.times[self.scored]
        start = self.batch.start
        return range(start, start + len(self.batch)) if self.row is None and self.now is None else self.times

    def part(self, start: int, stop: int) -> "Step":
        """Give some consecutive rows of it."""
        rows, batch = slice(start, stop), self.batch
        weight = None if batch.weight is None else batch.weight[rows]
        time = None if batch.time is None else batch.time[rows]
        return Step(
            Batch(batch.start + start, batch.x[rows], batch.y[rows], weight, time),
            None if self.test is None else self.test[rows],
            None if self.weight is None else self.weight[rows],
            None if self.revealed is None else self.revealed[rows],
            None if self.row is None else self.row[rows],
            None if self.now is None else self.now[rows],
        )
