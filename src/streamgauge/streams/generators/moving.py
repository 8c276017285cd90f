"""Generators whose concept moves by itself: SEA, rotating hyperplane, moving radial basis functions."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Drift, Schema
from streamgauge.streams.generators.native import Generator, numeric_schema
from streamgauge.streams.true_drifts import periodic

__all__ = ["SEA", "Hyperplane", "RandomRBF"]


def _require_not_negative(option: str, value: float) -> None:
    require_between(option, value, 0.0, 1e300, open_low=False)


@dataclass(frozen=True)
class SEA(Generator):
    """SEA concepts: class 1 where ``a1 + a2 > threshold``, class 0 where not; a3 says nothing.

    The attributes are uniform in [0, 10). The classes are named as in MOA and River; in Street and Kim's own file
    they are named the other way round.

    Parameters
    ----------
    concept
        Which of the thresholds comes first, counted from 1.
    thresholds
        The thresholds of the concepts.
    drift_every
        After how many rows the next threshold takes over at once, the first after the last; None for never.
    noise
        Probability that a label is flipped.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> batch = next(SEA(noise=0.0).batches(5))
    >>> (batch.x[:, 0] + batch.x[:, 1] > 8).astype(int).tolist() == batch.y.tolist()
    True

    References
    ----------
    Street and Kim, "A streaming ensemble algorithm (SEA) for large-scale classification", KDD 2001.
    """

    concept: int = 1
    thresholds: tuple[float, ...] = (8.0, 9.0, 7.0, 9.5)
    drift_every: int | None = None
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.thresholds, tuple) or not self.thresholds:
            msg = f"thresholds = {self.thresholds!r}: it must be a tuple of at least one number"
            raise StreamgaugeError(msg)
        for threshold in self.thresholds:
            require_between("thresholds", threshold, -1e300, 1e300)
        require_at_least("concept", self.concept, 1)
        if self.concept > len(self.thresholds):
            msg = f"concept = {self.concept}: there are only {len(self.thresholds)}"
            raise StreamgaugeError(msg)
        if self.drift_every is not None:
            require_at_least("drift_every", self.drift_every, 1)
        require_between("noise", self.noise, 0.0, 1.0, open_low=False)

    @property
    def schema(self) -> Schema:
        """Three numeric attributes, two classes."""
        return numeric_schema(3, 2)

    def _build(self) -> _native.Generator:
        first = self.concept - 1
        in_turn = [*self.thresholds[first:], *self.thresholds[:first]]
        return _native.sea(in_turn, self.drift_every or 0, self.noise, self.seed, self.sample)

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Give the changes of the threshold."""
        return () if self.drift_every is None else periodic(self.drift_every, 0, self.n_rows, row)


@dataclass(frozen=True)
class Hyperplane(Generator):
    """A rotating hyperplane: class 1 where ``sum(w * x) >= sum(w) / 2``, class 0 where not.

    The attributes are uniform in [0, 1), and so are the weights at first. After each row the first `n_drifting`
    weights move by `magnitude`, each in its direction, which is then reversed with probability `reversal`. With the
    default `magnitude` the plane stands still, as MOA's does.

    The state before a row depends on all rows before it; it is kept for every 65,536th row that anyone has passed, so
    that going back is cheap. A first jump far ahead costs about 1.5 to 3 nanoseconds per row and drifting weight.

    Parameters
    ----------
    n_attributes
        How many attributes a row has.
    n_drifting
        How many of the weights move.
    magnitude
        How far they move after each row.
    reversal
        Probability that a direction is reversed after a row.
    noise
        Probability that a label is flipped.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> stream = Hyperplane(n_drifting=10, magnitude=0.001)
    >>> next(stream.batches(4, start=100_000)).x.shape
    (4, 10)

    References
    ----------
    Hulten, Spencer and Domingos, "Mining time-changing data streams", KDD 2001.
    """

    n_attributes: int = 10
    n_drifting: int = 2
    magnitude: float = 0.0
    reversal: float = 0.1
    noise: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("n_attributes", self.n_attributes, 1)
        require_at_least("n_drifting", self.n_drifting, 0)
        if self.n_drifting > self.n_attributes:
            msg = f"n_drifting = {self.n_drifting}: there are only {self.n_attributes} attributes"
            raise StreamgaugeError(msg)
        _require_not_negative("magnitude", self.magnitude)
        require_between("reversal", self.reversal, 0.0, 1.0, open_low=False)
        require_between("noise", self.noise, 0.0, 1.0, open_low=False)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, two classes."""
        return numeric_schema(self.n_attributes, 2)

    def _build(self) -> _native.Generator:
        return _native.hyperplane(
            self.n_attributes,
            self.n_drifting,
            self.magnitude,
            self.reversal,
            self.noise,
            self.seed,
            self.sample,
        )


@dataclass(frozen=True)
class RandomRBF(Generator):
    """Random radial basis functions whose centres may move.

    A centroid has a centre uniform in the unit cube, a class, a standard deviation uniform in [0, 1) and a weight
    uniform in (0, 1]. A row picks a centroid by weight and lies in a random direction from its centre (uniform in
    [-1, 1) per attribute, then made of length 1), at a Gaussian distance of that standard deviation; its class is
    that of the centroid.

    A moving centre covers `speed` per row along a straight line that starts upwards in every attribute; a coordinate
    that reaches 0 or 1 turns back. MOA's does the same, but loses the part of a step that would lead out of the cube,
    and its centres have made one step before the first row.

    Parameters
    ----------
    n_attributes
        How many attributes a row has.
    n_classes
        How many classes there are.
    n_centroids
        How many centroids there are.
    n_drifting
        How many of the centroids move; None for all.
    speed
        How far they move from one row to the next.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> stream = RandomRBF(speed=0.001, n_rows=1_000_000)
    >>> last = next(stream.batches(10, start=999_997))
    >>> last.start, last.x.shape
    (999997, (3, 10))

    References
    ----------
    Bifet, Holmes, Pfahringer, Kirkby and Gavalda, "New ensemble methods for evolving data streams", KDD 2009.
    """

    n_attributes: int = 10
    n_classes: int = 2
    n_centroids: int = 50
    n_drifting: int | None = None
    speed: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("n_attributes", self.n_attributes, 1)
        require_at_least("n_classes", self.n_classes, 2)
        require_at_least("n_centroids", self.n_centroids, 1)
        if self.n_drifting is not None:
            require_at_least("n_drifting", self.n_drifting, 0)
            if self.n_drifting > self.n_centroids:
                msg = f"n_drifting = {self.n_drifting}: there are only {self.n_centroids} centroids"
                raise StreamgaugeError(msg)
        _require_not_negative("speed", self.speed)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, as many classes as asked for."""
        return numeric_schema(self.n_attributes, self.n_classes)

    def _build(self) -> _native.Generator:
        n_drifting = self.n_centroids if self.n_drifting is None else self.n_drifting
        return _native.random_rbf(
            self.n_attributes, self.n_classes, self.n_centroids, n_drifting, self.speed, self.seed, self.sample
        )
