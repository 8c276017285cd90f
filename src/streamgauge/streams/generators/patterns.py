"""Generators of patterns: LED displays, waveforms, poker hands, random trees and clusters."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.records import Attribute, Schema
from streamgauge.streams.generators.native import Generator, build_numeric_schema, require_probability, require_shares

__all__ = ["LED", "Classification", "PokerHand", "RandomTree", "Waveform"]


@dataclass(frozen=True)
class LED(Generator):
    """The digit on a seven-segment display with faulty segments.

    The first seven of 24 attributes are the segments; the others are on half of the time, whatever the digit. With a
    noise of 0.1 the best possible accuracy is 0.74.

    Parameters
    ----------
    n_drifting
        Number of segments, the first ones, that are exchanged with irrelevant attributes. It is constant along the
        stream; for a drift join streams of different `n_drifting`, as in ``paper_stream("LED(50000)")``.
    noise
        Probability that a segment is wrong.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_probability("noise", self.noise)

    @property
    def schema(self) -> Schema:
        """24 nominal attributes of two values, ten digits."""
        return Schema(tuple(Attribute(f"a{i + 1}", ("0", "1")) for i in range(24)), tuple("0123456789"))

    def _build(self) -> _native.Generator:
        return _native.led(self.n_drifting, self.noise, self.seed, self.sample)


@dataclass(frozen=True)
class Waveform(Generator):
    """Waveforms: each class is a random mixture of two of three triangles, plus Gaussian noise.

    The best possible accuracy is 0.867 (the book has 0.86, estimated from fewer rows).

    Parameters
    ----------
    n_attributes
        21, or 40 to add 19 attributes of pure noise.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        return build_numeric_schema(self.n_attributes, 3)

    def _build(self) -> _native.Generator:
        return _native.waveform(self.n_attributes == 40, self.seed, self.sample)


@dataclass(frozen=True)
class PokerHand(Generator):
    """Five cards dealt without replacement, classified by their poker hand.

    As in UCI's data: suit (1 to 4, nominal) and rank (1 to 13, the ace is 1) of each card, and classes 0 nothing,
    1 one pair, 2 two pairs, 3 three of a kind, 4 straight, 5 flush, 6 full house, 7 four of a kind, 8 straight flush,
    9 royal flush. UCI's training set contains more of the last two than chance would yield.

    Parameters
    ----------
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        pairs = ((Attribute(f"suit{i}", tuple("1234")), Attribute(f"rank{i}")) for i in range(1, 6))
        return Schema(tuple(attribute for pair in pairs for attribute in pair), tuple("0123456789"))

    def _build(self) -> _native.Generator:
        return _native.poker_hand(self.seed, self.sample)


@dataclass(frozen=True)
class RandomTree(Generator):
    """Rows classified by a random decision tree: nominal attributes, then numeric ones in [0, 1).

    Parameters
    ----------
    n_nominal, n_numeric
        Numbers of attributes of each kind.
    n_values
        Number of values of a nominal attribute.
    n_classes
        Number of classes.
    max_depth
        Depth of the tree.
    first_leaf_depth
        Smallest depth of a leaf; the root has depth 0.
    leaf_fraction
        Fraction of the nodes from that depth on that are leaves.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_probability("leaf_fraction", self.leaf_fraction)
        if self.n_nominal + self.n_numeric == 0:
            msg = "n_nominal and n_numeric are both 0: at least one attribute is needed"
            raise StreamgaugeError(msg)

    @property
    def schema(self) -> Schema:
        """Nominal attributes, then numeric ones, `n_classes` classes."""
        values = tuple(f"value{i + 1}" for i in range(self.n_values))
        nominals = (Attribute(f"nominal{i + 1}", values) for i in range(self.n_nominal))
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

    Each class has clusters at different corners; each cluster is Gaussian with a random covariance. The informative
    attributes come first, then the redundant ones (random linear combinations of those), then pure noise.

    All concepts of one seed assign a row the same class, so they can be joined by any drift: ``Gradual``,
    ``Incremental`` (clusters move), ``Recurring``. Joined concepts of different `shares` make a dynamic imbalance.

    Parameters
    ----------
    concept
        Number of the concept, counted from 1: each has different clusters.
    n_attributes
        Number of attributes.
    n_informative
        Number of informative attributes.
    n_redundant
        Number of attributes that are random linear combinations of the informative ones.
    n_classes
        Number of classes.
    n_clusters
        Number of clusters per class.
    separation
        Half the side of the cube: the larger, the easier.
    shares
        Share of each class; None for equal shares.
    noise
        Probability that a label is replaced by another.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

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
        require_probability("noise", self.noise)
        if self.shares is not None:
            require_shares(self.shares, self.n_classes)
        if self.n_classes * self.n_clusters > 2**self.n_informative:
            msg = (
                f"n_clusters = {self.n_clusters}: {self.n_classes} classes need {self.n_classes * self.n_clusters} "
                f"corners, but a cube of n_informative = {self.n_informative} attributes has {2**self.n_informative}"
            )
            raise StreamgaugeError(msg)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, `n_classes` classes."""
        return build_numeric_schema(self.n_attributes, self.n_classes)

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
