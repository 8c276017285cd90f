"""Generators with fixed rules: Agrawal, STAGGER, Sine, Mixed and asset negotiation."""

from dataclasses import dataclass

from streamgauge import _native
from streamgauge.errors import require_at_least
from streamgauge.records import Attribute, Schema
from streamgauge.streams.generators.native import Generator, build_numeric_schema, require_concept, require_probability

__all__ = ["STAGGER", "Agrawal", "AssetNegotiation", "Mixed", "Sine"]

_SIGNS = ("positive", "negative")


@dataclass(frozen=True)
class Agrawal(Generator):
    """Loan applications, assigned to group A or B by one of ten rules.

    The salary is uniform in [20,000, 150,000); the commission is uniform in [10,000, 75,000) for salaries below 75,000
    and 0 otherwise. Age is uniform in 20 to 80, the years in the house in 1 to 30, the loan in [0, 500,000); education,
    car and zipcode are uniform codes; the value of the house is 0.5 to 1.5 times an amount that depends on the zipcode.
    The rule is applied to these values; the row has them perturbed. MOA truncates the perturbed value of the house at
    135,000, a tenth of its maximum; here the limit is 1,350,000.

    Parameters
    ----------
    concept
        Number of the rule: 1 to 10, as in the paper.
    perturbation
        Maximum shift of a number, up or down, as a fraction of its range; it stays in the range.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

    Examples
    --------
    >>> batch = next(Agrawal(concept=1, perturbation=0.0).batches(100))
    >>> age = batch.x[:, 2]
    >>> ((age >= 40) & (age < 60)).astype(int).tolist() == batch.y.tolist()
    True

    References
    ----------
    Agrawal, Imielinski and Swami, "Database mining: a performance perspective", IEEE Transactions on Knowledge and
    Data Engineering 5, 1993.
    """

    concept: int = 1
    perturbation: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 10)
        require_probability("perturbation", self.perturbation)

    @property
    def schema(self) -> Schema:
        """Six numeric and three nominal attributes, two groups."""
        attributes = (
            Attribute("salary"),
            Attribute("commission"),
            Attribute("age"),
            Attribute("elevel", tuple(f"level{i}" for i in range(5))),
            Attribute("car", tuple(f"car{i + 1}" for i in range(20))),
            Attribute("zipcode", tuple(f"zipcode{i + 1}" for i in range(9))),
            Attribute("hvalue"),
            Attribute("hyears"),
            Attribute("loan"),
        )
        return Schema(attributes, ("groupA", "groupB"))

    def _build(self) -> _native.Generator:
        return _native.agrawal(self.concept, self.perturbation, self.seed, self.sample)


@dataclass(frozen=True)
class STAGGER(Generator):
    """STAGGER concepts: objects with size, colour and shape that match a concept or not.

    Parameters
    ----------
    concept
        1: small and red. 2: green or circular. 3: medium or large.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

    Examples
    --------
    >>> batch = next(STAGGER(concept=3).batches(100))
    >>> (batch.x[:, 0] > 0).astype(int).tolist() == batch.y.tolist()
    True

    References
    ----------
    Schlimmer and Granger, "Incremental learning from noisy data", Machine Learning 1, 1986.
    """

    concept: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 3)

    @property
    def schema(self) -> Schema:
        """Three nominal attributes of three values, two classes."""
        attributes = (
            Attribute("size", ("small", "medium", "large")),
            Attribute("colour", ("red", "blue", "green")),
            Attribute("shape", ("circle", "square", "triangle")),
        )
        return Schema(attributes, ("false", "true"))

    def _build(self) -> _native.Generator:
        return _native.stagger(self.concept, self.seed, self.sample)


@dataclass(frozen=True)
class Sine(Generator):
    """Points below and above a curve; the attributes are uniform in [0, 1).

    Parameters
    ----------
    concept
        1: class ``positive`` if ``a2 < sin(a1)``. 3: if ``a2 < 0.5 + 0.3 sin(3 pi a1)``. 2 and 4: the same with the
        classes exchanged.
    n_irrelevant
        Number of irrelevant attributes.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

    Examples
    --------
    >>> import numpy as np
    >>> batch = next(Sine(concept=1).batches(100))
    >>> (batch.x[:, 1] >= np.sin(batch.x[:, 0])).astype(int).tolist() == batch.y.tolist()
    True

    References
    ----------
    Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", SBIA 2004.
    """

    concept: int = 1
    n_irrelevant: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 4)
        require_at_least("n_irrelevant", self.n_irrelevant, 0)

    @property
    def schema(self) -> Schema:
        """Numeric attributes, two classes."""
        return Schema(build_numeric_schema(2 + self.n_irrelevant, 2).attributes, _SIGNS)

    def _build(self) -> _native.Generator:
        return _native.sine(self.concept, self.n_irrelevant, self.seed, self.sample)


@dataclass(frozen=True)
class Mixed(Generator):
    """Booleans v and w and numbers x and y in [0, 1).

    Parameters
    ----------
    concept
        1: class ``positive`` if at least two of v, w and ``y < 0.5 + 0.3 sin(3 pi x)`` hold. 2: the classes are
        exchanged.
    n_rows
        Number of rows; None for an endless stream.
    seed
        Random seed of the concept and of the rows.
    sample
        Number of the sample: another sample has other rows of the same concept.

    Examples
    --------
    >>> [attribute.name for attribute in Mixed().schema.attributes]
    ['v', 'w', 'x', 'y']

    References
    ----------
    Gama, Medas, Castillo and Rodrigues, "Learning with drift detection", SBIA 2004.
    """

    concept: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 2)

    @property
    def schema(self) -> Schema:
        """Two nominal and two numeric attributes, two classes."""
        return Schema((Attribute("v", ("0", "1")), Attribute("w", ("0", "1")), Attribute("x"), Attribute("y")), _SIGNS)

    def _build(self) -> _native.Generator:
        return _native.mixed(self.concept, self.seed, self.sample)


@dataclass(frozen=True)
class AssetNegotiation(Generator):
    """Interest of an agent in an asset, given colour, price, payment, amount and delay.

    Both classes are equally likely, and the values are uniform among those of the class. MOA's classes alternate
    instead, and it labels some interesting assets ``notInterested`` even without noise.

    Parameters
    ----------
    concept
        Number of the rule: 1 to 5.
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
    >>> AssetNegotiation().schema.n_values.tolist()
    [8, 8, 9, 8, 5]

    References
    ----------
    Enembreck, Avila, Scalabrin and Barthes, "Learning drifting negotiations", Applied Artificial Intelligence 21,
    2007.
    """

    concept: int = 1
    noise: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_concept(self.concept, 5)
        require_probability("noise", self.noise)

    @property
    def schema(self) -> Schema:
        """Five nominal attributes, two classes."""
        levels = ("veryLow", "low", "normal", "high", "veryHigh")
        more = (*levels, "quiteHigh", "enormous")
        attributes = (
            Attribute("colour", ("black", "blue", "cyan", "brown", "red", "green", "yellow", "magenta")),
            Attribute("price", (*more, "non_salable")),
            Attribute("payment", tuple(str(days) for days in range(0, 270, 30))),
            Attribute("amount", (*more, "non_ensured")),
            Attribute("deliveryDelay", levels),
        )
        return Schema(attributes, ("interested", "notInterested"))

    def _build(self) -> _native.Generator:
        return _native.asset_negotiation(self.concept, self.noise, self.seed, self.sample)
