"""Generators of patterns: displays, waves, hands, trees and clusters."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Attribute, Schema
from streamgauge.streams.generators.native import Generator, nominal, numeric_schema, require_shares

__all__ = ["LED", "Classification", "PokerHand", "RandomTree", "Waveform"]


@dataclass(frozen=True)
class LED(Generator):
    """The digit that a seven-segment display shows, where each segment may be wrong.

    The first seven of 24 attributes are the segments; the others are on half of the time, whatever the digit. With a
    noise of 0.1 no learner can be right more often than 0.74.

    Parameters
    ----------
    n_drifting
        How many segments, the first ones, have changed places with as many of the other attributes. It does not
        change along the stream: join displays of different `n_drifting` for that, as in ``named("LED(50000)")``.
    noise
        Probability that a segment is wrong.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> batch = next(LED(noise=0.0).batches(1000))
    >>> int(batch.x[batch.y == 8, :7].min())  # an eight lights every segment
    1

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984.
    """

    n_drifting: int = 0
    noise: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("n_drifting", self.n_drifting, 0)
        if self.n_drifting > 7:
            msg = f"n_drifting = {self.n_drifting}: there are only 7 segments"
            raise StreamgaugeError(msg)
        require_between("noise", self.noise, 0.0, 1.0, open_low=False)

    @property
    def schema(self) -> Schema:
        """24 nominal attributes of two values, ten digits."""
        return Schema(tuple(nominal(f"a{i + 1}", "0", "1") for i in range(24)), tuple("0123456789"))

    def _build(self) -> _native.Generator:
        return _native.led(self.n_drifting, self.noise, self.seed, self.sample)


@dataclass(frozen=True)
class Waveform(Generator):
    """Waves: each class is a random mixture of two of three triangles, plus Gaussian noise.

    No learner can be right more often than 0.867 (0.86 in the book, from fewer rows).

    Parameters
    ----------
    n_attributes
        21, or 40 with 19 attributes that are noise alone.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> next(Waveform(40).batches(10)).x.shape
    (10, 40)

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984.
    """

    n_attributes: int = 21

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_attributes not in (21, 40):
            msg = f"n_attributes = {self.n_attributes!r}: it must be 21 or 40"
            raise StreamgaugeError(msg)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, three classes."""
        return numeric_schema(self.n_attributes, 3)

    def _build(self) -> _native.Generator:
        return _native.waveform(self.n_attributes == 40, self.seed, self.sample)


@dataclass(frozen=True)
class PokerHand(Generator):
    """Five cards dealt without replacement, and the poker hand that they make.

    As in UCI's data: suit (1 to 4, nominal) and rank (1 to 13, the ace is 1) of each card, and classes 0 nothing,
    1 one pair, 2 two pairs, 3 three of a kind, 4 straight, 5 flush, 6 full house, 7 four of a kind, 8 straight flush,
    9 royal flush. UCI's training part holds more of the last two than chance would give.

    Parameters
    ----------
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> [attribute.name for attribute in PokerHand().schema.attributes][:4]
    ['suit1', 'rank1', 'suit2', 'rank2']

    References
    ----------
    Cattral and Oppacher, "Poker Hand", UCI Machine Learning Repository, 2002.
    """

    @property
    def schema(self) -> Schema:
        """A nominal suit and a numeric rank per card, ten hands."""
        pairs = ((nominal(f"suit{i}", *"1234"), Attribute(f"rank{i}")) for i in range(1, 6))
        return Schema(tuple(attribute for pair in pairs for attribute in pair), tuple("0123456789"))

    def _build(self) -> _native.Generator:
        return _native.poker_hand(self.seed, self.sample)


@dataclass(frozen=True)
class RandomTree(Generator):
    """A random tree: nominal attributes, then numeric ones in [0, 1), and the class of the leaf they lead to.

    Parameters
    ----------
    n_nominal, n_numeric
        How many attributes there are of each kind.
    n_values
        How many values a nominal attribute has.
    n_classes
        How many classes there are.
    max_depth
        How deep the tree is.
    first_leaf_depth
        From which depth on there may be leaves; the root has depth 0.
    leaf_fraction
        Which part of the nodes from there on are leaves.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> RandomTree(n_nominal=1, n_numeric=2).schema.n_values.tolist()
    [5, 0, 0]

    References
    ----------
    Domingos and Hulten, "Mining high-speed data streams", KDD 2000.
    """

    n_nominal: int = 5
    n_numeric: int = 5
    n_values: int = 5
    n_classes: int = 2
    max_depth: int = 5
    first_leaf_depth: int = 3
    leaf_fraction: float = 0.15

    def __post_init__(self) -> None:
        super().__post_init__()
        for option in ("n_nominal", "n_numeric", "max_depth", "first_leaf_depth"):
            require_at_least(option, getattr(self, option), 0)
        require_at_least("n_values", self.n_values, 2)
        require_at_least("n_classes", self.n_classes, 2)
        require_between("leaf_fraction", self.leaf_fraction, 0.0, 1.0, open_low=False)
        if self.n_nominal + self.n_numeric == 0:
            msg = "n_nominal and n_numeric are both 0: there must be at least one attribute"
            raise StreamgaugeError(msg)

    @property
    def schema(self) -> Schema:
        """Nominal attributes, then numeric ones, as many classes as asked for."""
        values = [f"value{i + 1}" for i in range(self.n_values)]
        nominals = (nominal(f"nominal{i + 1}", *values) for i in range(self.n_nominal))
        numerics = (Attribute(f"numeric{i + 1}") for i in range(self.n_numeric))
        return Schema((*nominals, *numerics), tuple(f"class{i + 1}" for i in range(self.n_classes)))

    def _build(self) -> _native.Generator:
        return _native.random_tree(
            self.n_nominal,
            self.n_numeric,
            self.n_values,
            self.n_classes,
            self.max_depth,
            self.first_leaf_depth,
            self.leaf_fraction,
            self.seed,
            self.sample,
        )


@dataclass(frozen=True)
class Classification(Generator):
    """Clusters at the corners of a cube, as in scikit-learn's ``make_classification`` and in stream-learn.

    Each class has clusters at different corners; a cluster is Gaussian with a random covariance of its own. The
    attributes are the informative ones, then the redundant ones (random sums of those), then others that are noise.

    All concepts of one seed give a row the same class, so that they can be joined by any change: ``Gradual``,
    ``Incremental`` (clusters move), ``Recurring``. Joined concepts of different `shares` make a dynamic imbalance.

    Parameters
    ----------
    concept
        Which concept, counted from 1: each has its own clusters.
    n_attributes
        How many attributes a row has.
    n_informative
        How many of them are informative.
    n_redundant
        How many are random sums of the informative ones.
    n_classes
        How many classes there are.
    n_clusters
        How many clusters a class has.
    separation
        Half the side of the cube: the larger, the easier.
    shares
        The share of each class; None for equal ones.
    noise
        Probability that a label is replaced by another.
    n_rows
        How many rows there are; None for a stream without end.
    seed
        Decides all that is random.
    sample
        Which sample of the concept the rows are: another one holds other rows of the same concept.

    Examples
    --------
    >>> from streamgauge.streams import Recurring
    >>> concepts = tuple(Classification(concept, n_informative=4) for concept in (1, 2, 3))
    >>> next(Recurring(concepts, every=10_000, width=1000, kind="incremental").batches(5, start=10_500)).x.shape
    (5, 20)

    References
    ----------
    Ksieniewicz and Zyblewski, "stream-learn: open-source Python library for difficult data stream batch analysis",
    Neurocomputing 478, 2022.
    """

    concept: int = 1
    n_attributes: int = 20
    n_informative: int = 2
    n_redundant: int = 2
    n_classes: int = 2
    n_clusters: int = 2
    separation: float = 1.0
    shares: tuple[float, ...] | None = None
    noise: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        require_at_least("concept", self.concept, 1)
        require_at_least("n_informative", self.n_informative, 1)
        require_at_least("n_redundant", self.n_redundant, 0)
        require_at_least("n_attributes", self.n_attributes, self.n_informative + self.n_redundant)
        require_at_least("n_classes", self.n_classes, 2)
        require_at_least("n_clusters", self.n_clusters, 1)
        require_between("separation", self.separation, -1e300, 1e300)
        require_between("noise", self.noise, 0.0, 1.0, open_low=False)
        if self.shares is not None:
            require_shares(self.shares, self.n_classes)
        if self.n_classes * self.n_clusters > 2**self.n_informative:
            msg = (
                f"n_clusters = {self.n_clusters}: with {self.n_classes} classes they need as many corners, and "
                f"a cube of n_informative = {self.n_informative} attributes has {2**self.n_informative}"
            )
            raise StreamgaugeError(msg)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, as many classes as asked for."""
        return numeric_schema(self.n_attributes, self.n_classes)

    def _build(self) -> _native.Generator:
        return _native.classification(
            self.concept,
            self.n_attributes,
            self.n_informative,
            self.n_redundant,
            self.n_clusters,
            self.separation,
            list(self.shares or [1.0 / self.n_classes] * self.n_classes),
            self.noise,
            self.seed,
            self.sample,
        )
