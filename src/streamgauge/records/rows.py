"""Rows: schema, batches, steps and arrivals of labels."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.records.columns import SharedColumn, protect_fields
from streamgauge.records.schema_html import build_schema_html

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
    "NumericTarget",
    "Schema",
    "Step",
    "Targets",
    "find_known",
    "hide_targets",
]

Targets = NDArray[np.int32] | NDArray[np.float64]
"""A column of targets or predictions: class codes, or numbers."""

UNLABELLED = -1
"""The label of a row whose class is unknown; an unknown number is NaN."""

ABSTAINED = -1
"""The prediction of a class by a learner that abstains; it always counts as an error."""

STABLE, WARNING, DRIFT = 0, 1, 2
"""The signal of a detector after a value."""

NEVER = 1 << 60
"""The arrival row of a label that never arrives."""

DRIFT_KINDS = ("sudden", "gradual", "incremental")
"""How a new concept takes over."""


MAX_TARGET = 1e150
"""The greatest magnitude of a target or a prediction that is a number, so that its square is finite."""


def find_known(y: Targets) -> NDArray[np.bool_]:
    """Return which targets of a column are known.

    Examples
    --------
    >>> find_known(np.array([1, -1], dtype=np.int32)).tolist(), find_known(np.array([1.5, np.nan])).tolist()
    ([True, False], [True, False])
    """
    known: NDArray[np.bool_] = y != UNLABELLED if y.dtype.kind == "i" else ~np.isnan(y)
    return known


def hide_targets(y: Targets, revealed: NDArray[np.bool_]) -> Targets:
    """Return a column of targets in which those that are not revealed are unknown.

    Examples
    --------
    >>> hide_targets(np.array([1.5, 2.5]), np.array([True, False])).tolist()
    [1.5, nan]
    """
    hidden: Targets = np.where(revealed, y, np.int32(UNLABELLED) if y.dtype.kind == "i" else np.nan)
    return hidden


@dataclass(frozen=True)
class Attribute:
    """One column of a row.

    Parameters
    ----------
    name
        The name.
    values
        The names of its nominal values, whose positions are their codes; None for a numeric attribute.
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
class NumericTarget:
    """A target that is a number.

    Parameters
    ----------
    name
        The name.
    origin
        A number near the targets, such as the first one. It is subtracted before squares are added, so that R2 is exact
        also if targets are far from 0; results do not depend on it otherwise.

    Examples
    --------
    >>> NumericTarget("price", origin=250_000.0)
    NumericTarget(name='price', origin=250000.0)
    """

    name: str = "y"
    origin: float = 0.0

    def __post_init__(self) -> None:
        if not abs(self.origin) <= MAX_TARGET:
            msg = f"origin = {self.origin}: it must be a number from -{MAX_TARGET:g} to {MAX_TARGET:g}"
            raise StreamgaugeError(msg)


@dataclass(frozen=True)
class Schema:
    """The attributes of a stream, and its classes or its numeric target.

    Parameters
    ----------
    attributes
        The columns of a row.
    classes
        The names of the classes, whose positions are their codes.
    target
        The target if it is a number; there are no classes then.

    Examples
    --------
    >>> schema = Schema((Attribute("price"), Attribute("day", ("mo", "tu"))), classes=("up", "down"))
    >>> schema.n_attributes, schema.n_classes, schema.n_values.tolist()
    (2, 2, [0, 2])
    >>> Schema((Attribute("area"),), target=NumericTarget("price")).n_classes
    0
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...] = ()
    target: NumericTarget | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for kind, names in (("attribute", [a.name for a in self.attributes]), ("class", list(self.classes))):
            repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
            if repeated:
                msg = f"the schema has the {kind} name {sorted(repeated)[0]!r} twice"
                raise StreamgaugeError(msg)
        if not self.classes and self.target is None:
            msg = "the schema has no classes, and no numeric target"
            raise StreamgaugeError(msg)
        if self.classes and self.target is not None:
            msg = f"the schema has both classes and a numeric target, {self.target.name!r}"
            raise StreamgaugeError(msg)

    @property
    def n_attributes(self) -> int:
        """The number of attributes."""
        return len(self.attributes)

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 if the target is a number."""
        return len(self.classes)

    @cached_property
    def n_values(self) -> NDArray[np.uint32]:
        """The number of nominal values of each attribute, 0 for a numeric one."""
        return np.array([len(a.values or ()) for a in self.attributes], dtype=np.uint32)

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Whether values of each attribute may be missing."""
        return np.array([a.missing for a in self.attributes], dtype=np.bool_)

    def _repr_html_(self) -> str:
        return build_schema_html(self)

    def check(self, batch: "Batch") -> None:
        """Raise unless every value, label and weight of a batch matches the schema."""
        if batch.x.shape[1] != self.n_attributes:
            msg = f"rows have {batch.x.shape[1]} values, but the schema has {self.n_attributes} attributes"
            raise StreamgaugeError(msg)
        try:
            labels = batch.y if self.target is None else self._check_numbers(batch.y, self.target)
            n_classes = max(self.n_classes, 1)
            _native.check_batch(self.n_values, self.missing, n_classes, batch.x, labels, batch.weight)
        except (ValueError, TypeError) as error:
            msg = f"in the batch that starts at row {batch.start}: {error}"
            raise StreamgaugeError(msg) from None

    @staticmethod
    def _check_numbers(y: Targets, target: NumericTarget) -> NDArray[np.int32]:
        """Return labels for a check of all else; raise unless every target is a number or unknown."""
        if y.dtype != np.float64:
            msg = f"the target {target.name!r} is a number, and y has the type {y.dtype}"
            raise ValueError(msg)
        beyond = np.abs(y) > MAX_TARGET  # False for NaN
        if beyond.any():
            row = int(np.argmax(beyond))
            msg = f"row {row}: the target {y[row]} is not a number from -{MAX_TARGET:g} to {MAX_TARGET:g}"
            raise ValueError(msg)
        return np.zeros(len(y), dtype=np.int32)


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a stream. Its columns are read-only, since all learners share them.

    Parameters
    ----------
    start
        The position of the first row in the stream.
    x
        Values, float64 [n, d], C-contiguous; a nominal value is its code, a missing one NaN.
    y
        Class codes, int32 [n], `UNLABELLED` for an unknown class; or numbers, float64 [n], NaN for an unknown one.
    weight
        Instance weights, for learners and measures; None means 1 for all.
    time
        When each row arrived, in seconds; None if rows have no time.

    Examples
    --------
    >>> len(Batch(0, np.zeros((3, 2)), np.zeros(3, dtype=np.int32)))
    3
    """

    start: int
    x: NDArray[np.float64]
    y: Any
    weight: NDArray[np.float64] | None = None
    time: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        if self.x.ndim != 2 or self.y.shape != (len(self.x),):
            msg = f"a batch needs x of shape [n, d] and y of shape [n], not {self.x.shape} and {self.y.shape}"
            raise StreamgaugeError(msg)
        protect_fields(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        protect_fields(self)

    def __len__(self) -> int:
        return len(self.y)

    @SharedColumn
    def rows(self) -> NDArray[np.int64]:
        """The position of each row in the stream."""
        return np.arange(self.start, self.start + len(self))

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which rows have a known target."""
        return find_known(self.y)

    @cached_property
    def n_unlabelled(self) -> int:
        """The number of rows with an unknown target."""
        if self.y.dtype.kind == "f":
            return int(np.count_nonzero(np.isnan(self.y)))
        # The minimum shows for most batches that there are none, in a sixth of the time.
        return 0 if self.y.min(initial=0) > UNLABELLED else int(np.count_nonzero(self.y == UNLABELLED))


@dataclass(frozen=True, order=True)
class Drift:
    """A true change of concept in a stream.

    Parameters
    ----------
    position
        The first row that may come from the new concept.
    width
        The length of the change: from row ``position + width`` on there is only the new concept.
    kind
        ``sudden`` (at once, width 0), ``gradual`` (rows of both concepts mix) or ``incremental`` (the concept itself
        moves).

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
        """The first row after the change."""
        return self.position + self.width


@dataclass(frozen=True)
class Arrivals:
    """When the labels of a batch arrive, if not at once; if both are set, the later one counts.

    Parameters
    ----------
    row
        The row of the stream after whose test the label arrives, int64 [n]; `NEVER` if it never arrives.
    time
        The time of arrival in seconds, float64 [n]; infinite if it never arrives. Rows of the stream at that time or
        later come after it.

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

    A row may occur twice: tested when it arrives, and learnt when its label arrives. All columns are read-only.

    Parameters
    ----------
    batch
        The rows.
    test
        Which rows the learner predicts, before it may learn them; None means all.
    weight
        The weight with which it learns each row, 0 for not at all; None means 1 for all.
    revealed
        Which labels it may see; None means all. A row with a hidden label and a weight above 0 is an unlabelled row for
        learners that can use those.
    row
        The position of each row in the stream, int64 [n]; None if they are consecutive.
    now
        The latest row of the stream at that moment, int64 [n], ascending; None if it is the row itself.

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

    def __post_init__(self) -> None:
        protect_fields(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        protect_fields(self)

    @SharedColumn
    def labels(self) -> Any:  # noqa: ANN401
        """The labels that may be learnt; unknown (`UNLABELLED`, or NaN for numbers) for a hidden one."""
        if self.revealed is None:
            return self.batch.y
        return hide_targets(self.batch.y, self.revealed)

    @SharedColumn
    def learning_weight(self) -> NDArray[np.float64] | None:
        """The weight of each row in learning: that of the fold times that of the instance."""
        if self.weight is None or self.batch.weight is None:
            return self.batch.weight if self.weight is None else self.weight
        return self.weight * self.batch.weight

    @SharedColumn
    def scored(self) -> NDArray[np.intp] | None:
        """The positions in the batch of the tested rows with a known target; None means all."""
        if self.test is None and not self.batch.n_unlabelled:
            return None
        known = self.batch.known
        if self.test is not None:
            known &= self.test
        return None if known.all() else np.flatnonzero(known)

    @property
    def unlabelled(self) -> NDArray[np.intp]:
        """The positions in the batch of the tested rows of unknown target, which are not scored."""
        unknown = ~self.batch.known
        return np.flatnonzero(unknown if self.test is None else unknown & self.test)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The position of each row in the stream."""
        return self.batch.rows if self.row is None else self.row

    @property
    def times(self) -> NDArray[np.int64]:
        """The latest row of the stream at the moment of each."""
        return self.rows if self.now is None else self.now

    @property
    def scored_times(self) -> NDArray[np.int64] | range:
        """As `times`, of the scored rows; a range if all rows are scored in their order."""
        if self.scored is not None:
            return self.times[self.scored]
        start = self.batch.start
        return range(start, start + len(self.batch)) if self.row is None and self.now is None else self.times

    def part(self, start: int, stop: int) -> "Step":
        """Return some consecutive rows of it."""
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
