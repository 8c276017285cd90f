"""How many rows of each class go where: the formulas of STUFFED's manual (section 6.5), in exact arithmetic.

With balance = positives / negatives, the training set has its positives and ``positives / balance`` negatives. The
test set takes the positives that are left and ``positives / balance`` negatives; where these are more than there are,
it takes the negatives that are left and ``negatives * balance`` positives. Counts are rounded to the nearest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name

__all__ = ["Balance", "Distribution", "Group", "Plan", "plan"]


@dataclass(frozen=True)
class Balance:
    """Two classes, or one class against all others, at wanted ratios of positives to negatives.

    Parameters
    ----------
    training_positives
        How many positives the training set has; 0 for no training set.
    training
        Positives per negative in the training set; None for that of the input.
    test
        Positives per negative in the test set; None for all rows that the training set leaves.
    positive
        The class that counts as positive; None for the rarer of two.

    Examples
    --------
    >>> sampled = plan(Balance(50, training=0.5, test=0.4, positive="1"), {"0": 1000, "1": 500}, labelled=0.1)
    >>> [(group.name, group.training, group.test) for group in sampled.groups]
    [("'1'", 50, 360), ('the rest', 100, 900)]
    >>> sampled.labelled
    126
    """

    training_positives: int
    training: float | None = None
    test: float | None = None
    positive: str | None = None

    def __post_init__(self) -> None:
        require_at_least("training_positives", self.training_positives, 0)
        for option, value in (("training balance", self.training), ("test balance", self.test)):
            if value is not None:
                require_between(option, value, 0.0, 1e9)
        if self.training is not None and not self.training_positives:
            msg = f"a training balance of {self.training:g} without training positives; say how many"
            raise StreamgaugeError(msg)


@dataclass(frozen=True)
class Distribution:
    """Any number of classes at wanted shares.

    Parameters
    ----------
    training_rows
        How many rows the training set has; 0 for no training set.
    training
        The share of each class in the training set; None for that of the input. Shares need not add up to 1: whole
        numbers are proportions (1 to 3), fractions add up to at most 1. A class that is not named has none.
    test
        The share of each class in the test set, which is as large as the rows that are left allow; None for all of
        them.

    Examples
    --------
    >>> wanted = Distribution(10, test={"a": 0.5, "b": 0.25, "c": 0.25})
    >>> [(group.training, group.test) for group in plan(wanted, {"a": 50, "b": 30, "c": 20}, labelled=1.0).groups]
    [(5, 36), (3, 18), (2, 18)]
    """

    training_rows: int
    training: Mapping[str, float] | None = None
    test: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        require_at_least("training_rows", self.training_rows, 0)
        for option, shares in (("training", self.training), ("test", self.test)):
            for name, share in (shares or {}).items():
                require_between(f"{option} share of class {name!r}", share, 0.0, 1e9, open_low=False)
            if shares is not None and not any(shares.values()):
                msg = f"the {option} shares are all 0; at least one class needs one"
                raise StreamgaugeError(msg)
            _require_fractions_of_one(option, shares or {})
        if self.training is not None and not self.training_rows:
            msg = "shares of a training set without training rows; say how many"
            raise StreamgaugeError(msg)


def _require_fractions_of_one(option: str, shares: Mapping[str, float]) -> None:
    """Raise where fractions add up to more than the whole."""
    total = sum(shares.values())
    if total > 1 + 1e-9 and not all(float(share).is_integer() for share in shares.values()):
        msg = f"the {option} shares add up to {total:g}, more than 1; proportions are whole numbers, such as 1 and 3"
        raise StreamgaugeError(msg)


@dataclass(frozen=True)
class Group:
    """Classes that are drawn from as one, with the rows they have and those that go into each set."""

    name: str
    classes: tuple[str, ...]
    rows: int
    training: int
    test: int


@dataclass(frozen=True)
class Plan:
    """What is drawn: rows of each group, and how many of the test rows keep their label."""

    groups: tuple[Group, ...]
    labelled: int

    @property
    def n_training(self) -> int:
        """Rows of the training set."""
        return sum(group.training for group in self.groups)

    @property
    def n_test(self) -> int:
        """Rows of the test set."""
        return sum(group.test for group in self.groups)


def plan(wanted: Balance | Distribution, counts: Mapping[str, int], *, labelled: float) -> Plan:
    """Say how many rows of each class are drawn, or raise with what could be.

    Parameters
    ----------
    wanted
        The balance or distribution.
    counts
        How many rows each class has.
    labelled
        The fraction of the test rows that keep their label.
    """
    require_between("labelled", labelled, 0.0, 1.0, open_low=False)
    groups = _balanced(wanted, counts) if isinstance(wanted, Balance) else _distributed(wanted, counts)
    n_test = sum(group.test for group in groups)
    if n_test == 0:
        msg = "nothing is left for the test set; take fewer training rows"
        raise StreamgaugeError(msg)
    return Plan(groups, _nearest(_exact(labelled) * n_test))


def _balanced(wanted: Balance, counts: Mapping[str, int]) -> tuple[Group, ...]:
    positive = _positive(wanted, counts)
    rest = tuple(name for name in counts if name != positive)
    positives, negatives = counts[positive], sum(counts[name] for name in rest)
    if positives == 0 or negatives == 0:
        msg = f"the input has {positives:,} positives (class {positive!r}) and {negatives:,} negatives; both are needed"
        raise StreamgaugeError(msg)
    training_negatives = _training_negatives(wanted, positives, negatives)
    test = _test_counts(wanted, positives - wanted.training_positives, negatives - training_negatives)
    return (
        Group(repr(positive), (positive,), positives, wanted.training_positives, test[0]),
        Group("the rest" if len(rest) == 1 else "all other classes", rest, negatives, training_negatives, test[1]),
    )


def _positive(wanted: Balance, counts: Mapping[str, int]) -> str:
    if wanted.positive is not None:
        if wanted.positive not in counts:
            raise _unknown_class(wanted.positive, counts)
        return wanted.positive
    if len(counts) != 2:
        msg = f"there are {len(counts)} classes ({', '.join(counts)}): name the positive one, or ask for a distribution"
        raise StreamgaugeError(msg)
    first, second = counts
    return first if counts[first] < counts[second] else second


def _training_negatives(wanted: Balance, positives: int, negatives: int) -> int:
    asked = wanted.training_positives
    if asked > positives:
        msg = f"{asked:,} training positives are asked for, but the input has {positives:,}"
        raise StreamgaugeError(msg)
    balance = Fraction(positives, negatives) if wanted.training is None else _exact(wanted.training)
    needed = _nearest(asked / balance)
    if needed > negatives:
        msg = (
            f"{asked:,} training positives at balance {float(balance):g} need {needed:,} negatives, but the input has "
            f"{negatives:,}: take at most {floor(negatives * balance):,} positives, or a balance of at least "
            f"{_up(Fraction(asked, negatives)):g}"
        )
        raise StreamgaugeError(msg)
    return needed


def _test_counts(wanted: Balance, positives: int, negatives: int) -> tuple[int, int]:
    """Give the positives and negatives of a test set that takes what the training set leaves."""
    if wanted.test is None:
        return positives, negatives
    balance = _exact(wanted.test)
    if positives == 0 or negatives == 0:
        msg = f"the training set leaves {positives:,} positives and {negatives:,} negatives; the test set needs both"
        raise StreamgaugeError(msg)
    needed = positives / balance
    if needed < 1:
        msg = (
            f"a test balance of {wanted.test:g} needs {ceil(balance):,} positives for a negative, but {positives:,} "
            f"are left; at most {positives:,} is possible"
        )
        raise StreamgaugeError(msg)
    if _nearest(needed) <= negatives:
        return positives, _nearest(needed)
    if negatives * balance < 1:
        msg = (
            f"a test balance of {wanted.test:g} needs {ceil(1 / balance):,} negatives for a positive, but "
            f"{negatives:,} are left; at least {_up(Fraction(1, negatives)):g} is possible"
        )
        raise StreamgaugeError(msg)
    return _nearest(negatives * balance), negatives


def _distributed(wanted: Distribution, counts: Mapping[str, int]) -> tuple[Group, ...]:
    shares = _shares(wanted.training, counts)
    training = _apportioned(wanted.training_rows, shares)
    for name, needed in training.items():
        if needed > counts[name]:
            most = min(counts[other] // share for other, share in shares.items() if share)
            msg = (
                f"{wanted.training_rows:,} training rows need {needed:,} of class {name!r}, but the input has "
                f"{counts[name]:,}: take at most {most:,} rows"
            )
            raise StreamgaugeError(msg)
    left = {name: counts[name] - training[name] for name in counts}
    test = left if wanted.test is None else _largest(_shares(wanted.test, counts), left)
    return tuple(Group(repr(name), (name,), counts[name], training[name], test[name]) for name in counts)


def _shares(given: Mapping[str, float] | None, counts: Mapping[str, int]) -> dict[str, Fraction]:
    if given is None:
        exact = {name: Fraction(count) for name, count in counts.items()}
    else:
        for name in given:
            if name not in counts:
                raise _unknown_class(name, counts)
        exact = {name: _exact(given.get(name, 0.0)) for name in counts}
    total = sum(exact.values())
    return {name: share / total for name, share in exact.items()}


def _apportioned(n_rows: int, shares: Mapping[str, Fraction]) -> dict[str, int]:
    """Divide rows by shares: whole parts first, then one each to the largest remainders."""
    parts = {name: floor(n_rows * share) for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: parts[name] - n_rows * shares[name])
    for name in by_remainder[: n_rows - sum(parts.values())]:
        parts[name] += 1
    return parts


def _largest(shares: Mapping[str, Fraction], left: Mapping[str, int]) -> dict[str, int]:
    """Give the largest counts with these shares that the rows that are left allow."""
    total = min(left[name] / share for name, share in shares.items() if share)
    counts = {name: min(left[name], _nearest(total * share)) for name, share in shares.items()}
    for name, share in shares.items():
        if share and total * share < 1:
            scarce = min((other for other in shares if shares[other]), key=lambda other: left[other] / shares[other])
            msg = (
                f"the test set cannot give class {name!r} its share of {float(share):g}: with the {left[scarce]:,} "
                f"rows that are left of class {scarce!r} it would get no row; lower the share of {scarce!r}"
            )
            raise StreamgaugeError(msg)
    return counts


def _unknown_class(name: str, counts: Mapping[str, int]) -> StreamgaugeError:
    return unknown_name("class", name, counts)


def _exact(value: float) -> Fraction:
    """Give the decimal number that a person wrote, not the nearest double."""
    return Fraction(repr(value))


def _nearest(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _up(value: Fraction) -> float:
    """Round up to four digits, so that what is proposed suffices."""
    digits = Fraction(10) ** (3 - floor(_magnitude(value)))
    return float(ceil(value * digits) / digits)


def _magnitude(value: Fraction) -> int:
    return len(str(floor(value))) - 1 if value >= 1 else -len(str(floor(1 / value)))
