"""Row counts of training and test sets: the formulas of STUFFED's manual (section 6.5), in exact arithmetic.

With balance = positives / negatives, the training set has its positives and ``positives / balance`` negatives. The
test set has all remaining positives and ``positives / balance`` negatives; if too few negatives remain, it has all of
them and ``negatives * balance`` positives. Counts are rounded to the nearest integer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from streamgauge.errors import StreamgaugeError, require_at_least, require_between, unknown_name

__all__ = ["Balance", "ClassGroup", "Distribution", "SamplePlan", "plan_sample"]


@dataclass(frozen=True)
class Balance:
    """Two classes, or one class against all others, at given ratios of positives to negatives.

    Parameters
    ----------
    training_positives
        Number of positives in the training set; 0 for no training set.
    training
        Positives per negative in the training set; None for the ratio of the input.
    test
        Positives per negative in the test set; None for all rows that are not in the training set.
    positive
        The positive class; None for the rarer of two.

    Examples
    --------
    >>> plan = plan_sample(Balance(50, training=0.5, test=0.4, positive="1"), {"0": 1000, "1": 500}, labelled=0.1)
    >>> [(group.name, group.training, group.test) for group in plan.groups]
    [("'1'", 50, 360), ('the rest', 100, 900)]
    >>> plan.labelled
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
            msg = f"training balance {self.training:g} without training positives: set training_positives"
            raise StreamgaugeError(msg)


@dataclass(frozen=True)
class Distribution:
    """Any number of classes at given shares.

    Parameters
    ----------
    training_rows
        Number of rows in the training set; 0 for no training set.
    training
        Share of each class in the training set; None for the shares of the input. Shares need not add up to 1: whole
        numbers are proportions (1 to 3), fractions add up to at most 1. The share of an omitted class is 0.
    test
        Share of each class in the test set, which is as large as the remaining rows allow; None for all remaining rows.

    Examples
    --------
    >>> plan = plan_sample(
    ...     Distribution(10, test={"a": 0.5, "b": 0.25, "c": 0.25}), {"a": 50, "b": 30, "c": 20}, labelled=1.0
    ... )
    >>> [(group.training, group.test) for group in plan.groups]
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
                msg = f"the {option} shares are all 0: at least one class needs a share"
                raise StreamgaugeError(msg)
            _require_valid_sum(option, shares or {})
        if self.training is not None and not self.training_rows:
            msg = "training shares without training rows: set training_rows"
            raise StreamgaugeError(msg)


def _require_valid_sum(option: str, shares: Mapping[str, float]) -> None:
    """Raise if fractions add up to more than 1."""
    total = sum(shares.values())
    if total > 1 + 1e-9 and not all(float(share).is_integer() for share in shares.values()):
        msg = f"the {option} shares add up to {total:g}, more than 1; proportions are whole numbers, such as 1 and 3"
        raise StreamgaugeError(msg)


@dataclass(frozen=True)
class ClassGroup:
    """Classes that are sampled as one, with their number of rows in the input, the training set and the test set."""

    name: str
    classes: tuple[str, ...]
    rows: int
    training: int
    test: int


@dataclass(frozen=True)
class SamplePlan:
    """Row counts of a sample by group, and the number of test rows that keep their label."""

    groups: tuple[ClassGroup, ...]
    labelled: int

    @property
    def n_training(self) -> int:
        """Number of rows in the training set."""
        return sum(group.training for group in self.groups)

    @property
    def n_test(self) -> int:
        """Number of rows in the test set."""
        return sum(group.test for group in self.groups)


def plan_sample(wanted: Balance | Distribution, counts: Mapping[str, int], *, labelled: float) -> SamplePlan:
    """Return the number of rows to draw of each class; if that is impossible, raise an error with what is possible.

    Parameters
    ----------
    wanted
        The balance or distribution.
    counts
        Number of rows of each class in the input.
    labelled
        Fraction of the test rows that keep their label.
    """
    require_between("labelled", labelled, 0.0, 1.0, open_low=False)
    groups = _plan_balance(wanted, counts) if isinstance(wanted, Balance) else _plan_distribution(wanted, counts)
    n_test = sum(group.test for group in groups)
    if n_test == 0:
        msg = "nothing is left for the test set: take fewer training rows"
        raise StreamgaugeError(msg)
    return SamplePlan(groups, _round(_to_exact(labelled) * n_test))


def _plan_balance(wanted: Balance, counts: Mapping[str, int]) -> tuple[ClassGroup, ...]:
    positive = _choose_positive(wanted, counts)
    rest = tuple(name for name in counts if name != positive)
    positives, negatives = counts[positive], sum(counts[name] for name in rest)
    if positives == 0 or negatives == 0:
        msg = f"the input has {positives:,} positives (class {positive!r}) and {negatives:,} negatives; both are needed"
        raise StreamgaugeError(msg)
    training_negatives = _count_training_negatives(wanted, positives, negatives)
    test_positives, test_negatives = _count_test_rows(
        wanted, positives - wanted.training_positives, negatives - training_negatives
    )
    return (
        ClassGroup(
            name=repr(positive),
            classes=(positive,),
            rows=positives,
            training=wanted.training_positives,
            test=test_positives,
        ),
        ClassGroup(
            name="the rest" if len(rest) == 1 else "all other classes",
            classes=rest,
            rows=negatives,
            training=training_negatives,
            test=test_negatives,
        ),
    )


def _choose_positive(wanted: Balance, counts: Mapping[str, int]) -> str:
    if wanted.positive is not None:
        _require_class(wanted.positive, counts)
        return wanted.positive
    if len(counts) != 2:
        msg = f"there are {len(counts)} classes ({', '.join(counts)}): name the positive one, or use a distribution"
        raise StreamgaugeError(msg)
    first, second = counts
    return first if counts[first] < counts[second] else second


def _count_training_negatives(wanted: Balance, positives: int, negatives: int) -> int:
    n = wanted.training_positives
    if n > positives:
        msg = f"{n:,} training positives requested, but the input has {positives:,}"
        raise StreamgaugeError(msg)
    balance = Fraction(positives, negatives) if wanted.training is None else _to_exact(wanted.training)
    needed = _round(n / balance)
    if needed > negatives:
        msg = (
            f"{n:,} training positives at balance {float(balance):g} need {needed:,} negatives, but the input has "
            f"{negatives:,}: take at most {floor(negatives * balance):,} positives, or a balance of at least "
            f"{_round_up(Fraction(n, negatives)):g}"
        )
        raise StreamgaugeError(msg)
    return needed


def _count_test_rows(wanted: Balance, positives: int, negatives: int) -> tuple[int, int]:
    """Return the positives and negatives of the test set, given those that are not in the training set."""
    if wanted.test is None:
        return positives, negatives
    balance = _to_exact(wanted.test)
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
    if _round(needed) <= negatives:
        return positives, _round(needed)
    if negatives * balance < 1:
        msg = (
            f"a test balance of {wanted.test:g} needs {ceil(1 / balance):,} negatives for a positive, but "
            f"{negatives:,} are left; at least {_round_up(Fraction(1, negatives)):g} is possible"
        )
        raise StreamgaugeError(msg)
    return _round(negatives * balance), negatives


def _plan_distribution(wanted: Distribution, counts: Mapping[str, int]) -> tuple[ClassGroup, ...]:
    shares = _normalise_shares(wanted.training, counts)
    training = _apportion(wanted.training_rows, shares)
    for name, needed in training.items():
        if needed > counts[name]:
            most = min(counts[other] // share for other, share in shares.items() if share)
            msg = (
                f"{wanted.training_rows:,} training rows need {needed:,} of class {name!r}, but the input has "
                f"{counts[name]:,}: take at most {most:,} rows"
            )
            raise StreamgaugeError(msg)
    left = {name: counts[name] - training[name] for name in counts}
    test = left if wanted.test is None else _maximise_counts(_normalise_shares(wanted.test, counts), left)
    return tuple(
        ClassGroup(name=repr(name), classes=(name,), rows=counts[name], training=training[name], test=test[name])
        for name in counts
    )


def _normalise_shares(shares: Mapping[str, float] | None, counts: Mapping[str, int]) -> dict[str, Fraction]:
    """Return shares that add up to 1; those of the counts if `shares` is None."""
    if shares is None:
        exact = {name: Fraction(count) for name, count in counts.items()}
    else:
        for name in shares:
            _require_class(name, counts)
        exact = {name: _to_exact(shares.get(name, 0.0)) for name in counts}
    total = sum(exact.values())
    return {name: share / total for name, share in exact.items()}


def _apportion(n_rows: int, shares: Mapping[str, Fraction]) -> dict[str, int]:
    """Divide rows by shares: whole parts first, then one each to the largest remainders."""
    parts = {name: floor(n_rows * share) for name, share in shares.items()}
    by_remainder = sorted(shares, key=lambda name: parts[name] - n_rows * shares[name])
    for name in by_remainder[: n_rows - sum(parts.values())]:
        parts[name] += 1
    return parts


def _maximise_counts(shares: Mapping[str, Fraction], left: Mapping[str, int]) -> dict[str, int]:
    """Return the largest counts with these shares that the remaining rows allow."""
    total = min(left[name] / share for name, share in shares.items() if share)
    counts = {name: min(left[name], _round(total * share)) for name, share in shares.items()}
    for name, share in shares.items():
        if share and total * share < 1:
            scarce = min((other for other in shares if shares[other]), key=lambda other: left[other] / shares[other])
            msg = (
                f"the test set would have no row of class {name!r} at its share of {float(share):g}, since only "
                f"{left[scarce]:,} rows of class {scarce!r} are left: lower the share of {scarce!r}"
            )
            raise StreamgaugeError(msg)
    return counts


def _require_class(name: str, counts: Mapping[str, int]) -> None:
    if name not in counts:
        error = unknown_name("class", name, counts)
        raise error


def _to_exact(value: float) -> Fraction:
    """Return the decimal number as it was written, not the nearest double."""
    return Fraction(repr(value))


def _round(value: Fraction) -> int:
    """Round to the nearest integer, halves up."""
    return floor(value + Fraction(1, 2))


def _round_up(value: Fraction) -> float:
    """Round up to four digits, so that the proposed value suffices."""
    magnitude = len(str(floor(value))) - 1 if value >= 1 else -len(str(floor(1 / value)))
    digits = Fraction(10) ** (3 - magnitude)
    return float(ceil(value * digits) / digits)
