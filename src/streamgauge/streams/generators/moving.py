"""Generators whose concept can drift by itself: SEA, rotating hyperplane, moving radial basis functions."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Drift, Schema
from streamgauge.streams.base import list_periodic_drifts
from streamgauge.streams.generators.native import (
    Generator,
    build_numeric_schema,
    require_concept,
    require_probability,
)

__all__ = ["SEA", "Hyperplane", "RandomRBF"]


@dataclass(frozen=True)
class SEA(Generator):
    """SEA concepts: class 1 if ``a1 + a2 > threshold``, else class 0; a3 is irrelevant.

    The attributes are uniform in [0, 10). The classes are named as in MOA and River; Street and Kim's original file
    exchanges them.

    Parameters
    ----------
    concept
        Number of the first threshold, counted from 1.
    thresholds
        Thresholds of the concepts.
    drift_every
        Number of rows after which the next threshold takes over suddenly, in a cycle; None for no drift.
    noise
        Probability that a label is flipped.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_concept(self.concept, len(self.thresholds))
        if self.drift_every is not None:
            require_at_least("drift_every", self.drift_every, 1)
        require_probability("noise", self.noise)

    @property
    def schema(self) -> Schema:
        """Three numeric attributes, two classes."""
        return build_numeric_schema(3, 2)

    def _build(self) -> _native.Generator:
        first = self.concept - 1
        thresholds = [*self.thresholds[first:], *self.thresholds[:first]]
        return _native.sea(thresholds, self.drift_every or 0, self.noise, self.seed, self.sample)

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        """Return the changes of the threshold that begin before a row."""
        return () if self.drift_every is None else list_periodic_drifts(self.drift_every, 0, self.n_rows, row)


@dataclass(frozen=True)
class Hyperplane(Generator):
    """A rotating hyperplane: class 1 if ``sum(w * x) >= sum(w) / 2``, else class 0.

    The attributes and the initial weights are uniform in [0, 1). After each row the first `n_drifting` weights move by
    `magnitude`, each in its direction, which is then reversed with probability `reversal`. With the default
    `magnitude` the plane does not move, as in MOA.

    The state before a row depends on all earlier rows. It is cached at every 65,536th row that was reached, so that
    going back is cheap; a first jump ahead costs about 1.5 to 3 nanoseconds per row and drifting weight.

    Parameters
    ----------
    n_attributes
        Number of attributes.
    n_drifting
        Number of weights that move.
    magnitude
        Distance that they move after each row.
    reversal
        Probability that a direction is reversed after a row.
    noise
        Probability that a label is flipped.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_between("magnitude", self.magnitude, 0.0, 1e300, open_low=False)
        require_probability("reversal", self.reversal)
        require_probability("noise", self.noise)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, two classes."""
        return build_numeric_schema(self.n_attributes, 2)

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
    """Random radial basis functions with centres that can move.

    A centroid has a centre uniform in the unit cube, a class, a standard deviation uniform in [0, 1) and a weight
    uniform in (0, 1]. A row picks a centroid by weight and lies in a random direction from its centre (uniform in
    [-1, 1) per attribute, then normalised to length 1), at a Gaussian distance with that standard deviation; its class
    is that of the centroid.

    A moving centre covers `speed` per row along a straight line that starts upwards in every attribute; a coordinate
    that reaches 0 or 1 is reflected. MOA does the same, but drops the part of a step that would leave the cube, and
    its centres make one step before the first row.

    Parameters
    ----------
    n_attributes
        Number of attributes.
    n_classes
        Number of classes.
    n_centroids
        Number of centroids.
    n_drifting
        Number of centroids that move; None for all.
    speed
        Distance that they move from one row to the next.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_between("speed", self.speed, 0.0, 1e300, open_low=False)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, `n_classes` classes."""
        return build_numeric_schema(self.n_attributes, self.n_classes)

    def _build(self) -> _native.Generator:
        n_drifting = self.n_centroids if self.n_drifting is None else self.n_drifting
        return _native.random_rbf(
            self.n_attributes, self.n_classes, self.n_centroids, n_drifting, self.speed, self.seed, self.sample
        )
