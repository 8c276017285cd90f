"""Few labels: the mean loss over all rows from the labels of a random share of them and the confidence in the others.

The votes of a model for a row say what loss to expect: for the error, 1 minus the share of the predicted class. The
labelled rows show by how much that is wrong, and correct it: the estimate is the mean of the expected loss over all
rows plus the mean difference of loss and expected loss over the labelled ones (prediction-powered inference). A good
confidence makes the interval narrower. A bad one cannot make it wrong, since a coin decides which rows have a label:
nothing else is random here, neither the rows, which may drift, nor the model, which may learn from the labels.

For an interval that holds at all looks the expected loss is recalibrated on the way, from the labels before each
stretch of rows, and the differences are bounded by an exact empirical Bernstein confidence sequence.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.labelling import AllLabels, Delayed, DelayedAtRandom, DelayedByColumn, DelayedByTime, Fraction
from streamgauge.protocols import Labelling
from streamgauge.records import LabelEstimate
from streamgauge.significance.confidence_sequences import bernstein_radius

__all__ = [
    "MIN_OUTCOMES",
    "LabelDesign",
    "LossSums",
    "PoweredMean",
    "describe_share",
    "estimate_losses",
    "find_best_ratio",
    "find_label_design",
    "powered_mean",
]

MIN_OUTCOMES = 50
"""With fewer labelled errors, or fewer labelled rows without error, intervals by a normal distribution are wrong."""

Interval = tuple[float, float]
Column = NDArray[np.float64]


@dataclass(frozen=True)
class LabelDesign:
    """How rows were chosen for a label: by a coin for each.

    Parameters
    ----------
    share
        The probability that a row gets a label.
    lag
        After how many further rows the label arrives.
    first_row
        The first row that the coin decides; labels of training rows before it arrive in any case.
    refusal
        Why the labels that arrive cannot be used, if no coin decides; the share is 0 then.

    Examples
    --------
    >>> find_label_design(Delayed(500, of=Fraction(0.05))).lag
    500
    """

    share: float
    lag: int = 0
    first_row: int = 0
    refusal: str = ""


def find_label_design(labelling: Labelling, first_row: int = 0) -> LabelDesign | None:
    """Return how a labelling chooses the rows that get a label; None if all labels arrive.

    Examples
    --------
    >>> from streamgauge.labelling import First
    >>> find_label_design(Fraction(0.1)).share, find_label_design(AllLabels())
    (0.1, None)
    >>> find_label_design(DelayedAtRandom(100, of=Fraction(0.1))).refusal
    'labels are late by different numbers of rows, so at no time those of a random share have arrived'
    >>> find_label_design(First(1000)).refusal
    'the labelled rows are no random share of all rows'
    """
    lag, varies = 0, False
    while isinstance(labelling, Delayed | DelayedAtRandom | DelayedByTime | DelayedByColumn):
        varies = varies or not isinstance(labelling, Delayed)
        lag += labelling.rows if isinstance(labelling, Delayed) else 0
        labelling = labelling.of
    if isinstance(labelling, AllLabels):
        return None
    shares = () if not isinstance(labelling, Fraction) else labelling.share
    shares = shares if isinstance(shares, tuple) else (shares,)
    refusal = ""
    if len(set(shares)) > 1:
        refusal = "the share of labels differs by class, so the labelled rows are no random share of all rows"
    elif not shares:
        refusal = "the labelled rows are no random share of all rows"
    elif shares[0] == 0.0:
        refusal = "no label arrives"
    elif varies:
        refusal = "labels are late by different numbers of rows, so at no time those of a random share have arrived"
    elif shares[0] == 1.0:
        return None
    return LabelDesign(0.0 if refusal else shares[0], lag, first_row, refusal)


@dataclass(frozen=True)
class LossSums:
    """Sums over the rows of a run from which the mean of a loss in [0, 1] is estimated; columns have one value a fold.

    Parameters
    ----------
    n_rows, expected, expected_squares
        All rows whose label has arrived or will never do so, and the sums of their expected loss and of its square.
    truth
        The sum of their loss. No estimate reads it; it shows how good they were.
    n_labelled, n_errors
        The labelled ones among them, and those with a wrong prediction.
    loss, loss_squares, labelled_expected, labelled_expected_squares, products
        The sums over labelled rows of the loss, its square, the expected loss, its square, and the product of the two.
    surprise, surprise_squares
        The sums over labelled rows of loss minus recalibrated expected loss, and of its square.
    recalibrated
        The sum of the recalibrated expected loss over all rows.

    Examples
    --------
    >>> zero = LossSums.from_numbers(np.zeros((1, N_NUMBERS)))
    >>> zero.n_rows.tolist()
    [0.0]
    """

    n_rows: Column
    expected: Column
    expected_squares: Column
    truth: Column
    n_labelled: Column
    n_errors: Column
    loss: Column
    loss_squares: Column
    labelled_expected: Column
    labelled_expected_squares: Column
    products: Column
    surprise: Column
    surprise_squares: Column
    recalibrated: Column

    @classmethod
    def from_numbers(cls, numbers: Column) -> "LossSums":
        """Return the sums from their numbers, float64 [folds, numbers]."""
        return cls(*np.atleast_2d(np.asarray(numbers, dtype=np.float64)).T)

    @classmethod
    def from_rows(cls, loss: Column, expected: Column, labelled: NDArray[np.bool_]) -> "LossSums":
        """Return the sums of rows whose labels are known for some of them, as if they were not recalibrated.

        Examples
        --------
        >>> loss, expected = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.25, 0.5, 0.25, 0.25])
        >>> LossSums.from_rows(loss, expected, np.array([True, True, False, False])).n_errors.tolist()
        [1.0]
        """
        numbers = add_rows(loss, expected, expected, loss > 0.0, labelled)
        return cls.from_numbers(numbers[None])

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.n_rows)

    @property
    def is_crossed(self) -> bool:
        """Whether all folds have the same number of rows."""
        return bool((self.n_rows == self.n_rows[0]).all())

    @property
    def is_binary(self) -> bool:
        """Whether the loss is 0 or 1 in the rows of one fold."""
        return self.n_folds == 1 and bool((self.loss == self.loss_squares).all())

    def invert(self) -> "LossSums":
        """Return the sums of 1 minus the loss, as of the accuracy for the error.

        Examples
        --------
        >>> loss, expected = np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.25, 0.5, 0.25, 0.25])
        >>> sums = LossSums.from_rows(loss, expected, np.array([True, True, True, False]))
        >>> sums.invert().loss.tolist(), sums.invert().invert() == sums
        ([1.0], True)
        """
        n, all_rows = self.n_labelled, self.n_rows
        return replace(
            self,
            expected=all_rows - self.expected,
            expected_squares=all_rows - 2 * self.expected + self.expected_squares,
            truth=all_rows - self.truth,
            loss=n - self.loss,
            loss_squares=n - 2 * self.loss + self.loss_squares,
            labelled_expected=n - self.labelled_expected,
            labelled_expected_squares=n - 2 * self.labelled_expected + self.labelled_expected_squares,
            products=n - self.loss - self.labelled_expected + self.products,
            surprise=-self.surprise,
            recalibrated=all_rows - self.recalibrated,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LossSums) and all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


N_NUMBERS = len(fields(LossSums))


def add_rows(
    loss: Column, expected: Column, recalibrated: Column, wrong: NDArray[np.bool_], labelled: NDArray[np.bool_]
) -> Column:
    """Return the sums of some rows as the numbers of `LossSums`, float64 [numbers].

    Examples
    --------
    >>> rows = np.array([0.0, 1.0]), np.array([0.25, 0.5]), np.array([0.25, 0.5])
    >>> add_rows(*rows, rows[0] > 0, np.array([False, True]))[:6].tolist()
    [2.0, 0.75, 0.3125, 1.0, 1.0, 1.0]
    """
    of_loss, of_expected = loss[labelled], expected[labelled]
    surprise = of_loss - recalibrated[labelled]
    return np.array(
        [
            len(loss),
            expected.sum(),
            expected @ expected,
            loss.sum(),
            len(of_loss),
            np.count_nonzero(wrong & labelled),
            of_loss.sum(),
            of_loss @ of_loss,
            of_expected.sum(),
            of_expected @ of_expected,
            of_loss @ of_expected,
            surprise.sum(),
            surprise @ surprise,
            recalibrated.sum(),
        ],
        dtype=np.float64,
    )


@dataclass(frozen=True)
class PoweredMean:
    """The mean of a loss over all rows, estimated from few labels.

    Parameters
    ----------
    value
        The estimate; NaN if there are no labelled rows.
    interval
        The interval of the mean over all rows; None if there is none.
    tuning
        How far the expected loss is trusted: 0 for not at all, 1 for fully (lambda of PPI++).
    note
        Why there is no interval, or what kind it is; empty for the usual one.

    Examples
    --------
    >>> PoweredMean(0.1, (0.08, 0.12), 0.9).interval
    (0.08, 0.12)
    """

    value: float
    interval: Interval | None = None
    tuning: float = 0.0
    note: str = ""

    @property
    def width(self) -> float:
        """The width of the interval; NaN without one."""
        return math.nan if self.interval is None else self.interval[1] - self.interval[0]


def powered_mean(
    sums: LossSums,
    *,
    share: float | None = None,
    alpha: float = 0.05,
    powered: bool = True,
    anytime: bool = False,
    finite: bool = True,
) -> PoweredMean:
    """Return the mean of a loss over all rows of a stream and its interval, from the labels of a random share of them.

    At the end of a run the interval is that of the regression estimator of survey sampling, which is PPI++ for the rows
    of this stream: the labelled rows are a random sample of a finite number of rows. With fewer than 50 labelled
    errors, or fewer than 50 labelled rows without one, there is none but that of the labelled rows alone: for the error
    in one fold by the hypergeometric distribution, which is exact unless the model learns from these labels; else an
    empirical Bernstein interval, which is exact even then. With several folds it is about the mean over the folds, and
    safe: their errors count as fully dependent.

    Parameters
    ----------
    sums
        The sums over the rows so far.
    share
        The probability with which each row got a label, which exact intervals need; None if unknown.
    alpha
        The probability that the interval is wrong.
    powered
        Whether to use the expected loss of the rows without labels; else the labelled rows alone.
    anytime
        Whether the interval must hold at all looks at once, for verdicts. It is exact then.
    finite
        Whether the mean is that over the rows of this stream; else that of the source of independent rows that the
        stream was drawn from, as in the papers.

    References
    ----------
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan and T. Zrnic, Prediction-powered inference, Science 382,
    2023; A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++: efficient prediction-powered inference, 2023;
    W. G. Cochran, Sampling techniques, 1977, chapter 7; S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon,
    Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics 49, 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> expected = rng.choice([0.02, 0.4], 20_000)
    >>> loss, labelled = (rng.random(20_000) < expected).astype(float), rng.random(20_000) < 0.05
    >>> sums = LossSums.from_rows(loss, expected, labelled)
    >>> for powered in (False, True):
    ...     mean = powered_mean(sums, powered=powered)
    ...     print(round(mean.value, 3), [round(end, 3) for end in mean.interval], round(mean.tuning, 2))
    0.216 [0.191, 0.241] 0.0
    0.219 [0.197, 0.241] 0.98
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    if share is not None:
        require_between("share", share, 0.0, 1.0)
    if anytime:
        return _bound_exactly(sums, share, alpha, powered=powered)
    usual, few = _estimate(sums, alpha, powered=powered, finite=finite), _describe_few(sums)
    if not few:
        return usual
    if powered:
        return replace(usual, interval=None, note=f"{few}, so the confidence cannot narrow the interval")
    if sums.is_binary:
        return replace(usual, interval=_bound_count(sums, alpha), note=few)
    exact = _bound_exactly(sums, share, alpha, powered=powered)
    return replace(usual, interval=exact.interval, note=exact.note or few)


def _describe_few(sums: LossSums) -> str:
    """Return that there are too few labelled errors, or rows without one; empty if there are enough."""
    errors, right = float(sums.n_errors.min()), float((sums.n_labelled - sums.n_errors).min())
    if min(errors, right) >= MIN_OUTCOMES:
        return ""
    what, n = ("labelled errors", errors) if errors <= right else ("labelled rows without error", right)
    return f"fewer than {MIN_OUTCOMES} {what} ({n:,.0f})"


def _estimate(sums: LossSums, alpha: float, *, powered: bool, finite: bool) -> PoweredMean:
    """Return the mean over folds of the estimates, and their interval by a normal distribution."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    n, all_rows = sums.n_labelled, sums.n_rows
    if n.min() < 1:
        return PoweredMean(math.nan, note="there are no labelled rows")
    hidden = all_rows - n
    mean, of_expected = sums.loss / n, sums.labelled_expected / n
    covariance = sums.products / n - mean * of_expected
    spread = sums.expected_squares / all_rows - (sums.expected / all_rows) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        tuning = covariance / (spread * (1.0 + n / hidden))
    tuning = np.where((hidden > 0) & (spread > 0.0) & np.isfinite(tuning), np.clip(tuning, 0.0, 1.0), 0.0)
    tuning = tuning if powered else np.zeros_like(tuning)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_hidden = np.where(hidden > 0, (sums.expected - sums.labelled_expected) / hidden, 0.0)
        hidden_spread = (sums.expected_squares - sums.labelled_expected_squares) / hidden - of_hidden**2
        slope = tuning * all_rows / hidden if finite else tuning
    slope = np.where(tuning > 0.0, slope, 0.0)
    values = mean + tuning * (of_hidden - of_expected)
    own_spread = sums.labelled_expected_squares / n - of_expected**2
    variance = sums.loss_squares / n - mean**2 - 2 * slope * covariance + slope**2 * own_spread
    variance = np.maximum(variance, 0.0)
    if finite:
        freedom = np.maximum(n - 1 - powered, 1.0)
        variance = variance / freedom * (1.0 - n / all_rows)
        factor = -float(stdtrit(freedom.min(), alpha / 2))
    else:
        variance = variance / n + np.where(tuning > 0.0, tuning**2 * hidden_spread / hidden, 0.0)
        factor = -float(ndtri(alpha / 2))
    value, radius = float(values.mean()), factor * math.sqrt(float(variance.mean()))
    return PoweredMean(value, _clip(value - radius, value + radius), float(tuning.mean()))


def _bound_count(sums: LossSums, alpha: float) -> Interval | None:
    """Return the exact interval of the share of errors in all rows, from a random sample of one fold."""
    from scipy.stats import hypergeom  # noqa: PLC0415

    all_rows, n, errors = (int(column[0]) for column in (sums.n_rows, sums.n_labelled, sums.loss))
    if not n:
        return None

    least, most = errors, all_rows - (n - errors)
    low = _search(least, most, lambda total: float(hypergeom.sf(errors - 1, all_rows, total, n)) > alpha / 2)
    high = _search(-most, -least, lambda total: float(hypergeom.cdf(errors, all_rows, -total, n)) > alpha / 2)
    return low / all_rows, -high / all_rows


def _search(first: int, last: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from which on something holds; the last if it holds for none before."""
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if holds(middle) else (middle + 1, last)
    return first


def _bound_exactly(sums: LossSums, share: float | None, alpha: float, *, powered: bool) -> PoweredMean:
    """Return the estimate and the interval of the exact confidence sequence, or the reason if there is none.

    Given the past and the row, the coin is all that is random: ``labelled * surprise`` has the mean ``share *
    surprise``. The mean over folds of supermartingales is one, so sums of crossed folds are averaged.
    """
    if share is None:
        return PoweredMean(math.nan, note="an exact interval needs the probability of a label")
    if not sums.is_crossed:
        return PoweredMean(math.nan, note="the folds tested different rows")
    n = float(sums.n_rows[0])
    if n < 1:
        return PoweredMean(math.nan, note="there are no rows")
    base, total, squares = (
        (sums.recalibrated, sums.surprise, sums.surprise_squares)
        if powered
        else (np.zeros_like(sums.loss), sums.loss, sums.loss_squares)
    )
    radius = float(bernstein_radius(float(squares.mean()), alpha)) / share / n
    value = (float(base.mean()) + float(total.mean()) / share) / n
    return PoweredMean(value, _clip(value - radius, value + radius))


def _clip(low: float, high: float) -> Interval:
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


def describe_share(sums: LossSums) -> str:
    """Return how many rows have labels, in words.

    Examples
    --------
    >>> describe_share(LossSums.from_rows(np.zeros(200), np.zeros(200), np.arange(200) < 10))
    'over all 200 rows, from 10 labels and the confidence in the other rows'
    """
    n_rows, n_labelled = float(sums.n_rows.mean()), float(sums.n_labelled.mean())
    return f"over all {n_rows:,.0f} rows, from {n_labelled:,.0f} labels and the confidence in the other rows"


def find_best_ratio(error: float, n_classes: int = 2) -> float:
    """Return how narrow a prediction-powered interval of the error can be, as a ratio to the labelled rows alone.

    A confidence that is calibrated, and as decided as it can be, is either certain or that of a guess among all
    classes. With an error e and two classes that gives ``sqrt(1 / (2 (1 - e)))``; no confidence does better.

    Parameters
    ----------
    error
        The error.
    n_classes
        The number of classes.

    Examples
    --------
    >>> round(find_best_ratio(0.05), 3), find_best_ratio(0.5)
    (0.725, 1.0)
    """
    if not 0.0 <= error <= 1.0 or n_classes < 2:
        msg = f"error = {error}, n_classes = {n_classes}: an error is in [0, 1], and there are at least 2 classes"
        raise StreamgaugeError(msg)
    return min(1.0, math.sqrt(1.0 / (n_classes * (1.0 - error)))) if error < 1.0 else 1.0


def estimate_losses(
    learner: str, measure: str, sums: LossSums, design: LabelDesign, *, n_classes: int = 2, alpha: float = 0.05
) -> LabelEstimate:
    """Return what few labels say about one learner, beside the truth over all rows.

    Parameters
    ----------
    learner, measure
        Whose loss it is, and which.
    sums
        The sums over the rows of the run.
    design
        How rows were chosen for a label.
    n_classes
        The number of classes.
    alpha
        The probability that an interval is wrong.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> expected = rng.choice([0.02, 0.4], 20_000)
    >>> loss, labelled = (rng.random(20_000) < expected).astype(float), rng.random(20_000) < 0.05
    >>> estimate = estimate_losses("tree", "error", LossSums.from_rows(loss, expected, labelled), LabelDesign(0.05))
    >>> estimate.is_covered, round(estimate.width_ratio, 2), round(estimate.best_ratio, 2)
    (True, 0.88, 0.8)
    """
    if np.isnan(sums.n_rows).any():
        sums = LossSums.from_numbers(np.zeros((sums.n_folds, N_NUMBERS)))
        design = LabelDesign(0.0, refusal="the rows have weights")
    share = design.share or None
    alone, powered = (powered_mean(sums, share=share, alpha=alpha, powered=by_votes) for by_votes in (False, True))
    n_rows = float(sums.n_rows.mean())
    unlabelled, truth = (float(total.mean()) / n_rows if n_rows else math.nan for total in (sums.expected, sums.truth))
    comparable = not powered.note and alone.width > 0.0
    is_error = measure == "error" and math.isfinite(alone.value)
    return LabelEstimate(
        learner=learner,
        measure=measure,
        n_rows=round(n_rows),
        n_labelled=round(float(sums.n_labelled.mean())),
        n_errors=round(float(sums.n_errors.mean())),
        labelled=alone.value,
        labelled_interval=alone.interval,
        powered=powered.value,
        powered_interval=powered.interval,
        tuning=powered.tuning,
        unlabelled=unlabelled,
        truth=truth if n_rows else None,
        width_ratio=powered.width / alone.width if comparable else math.nan,
        best_ratio=find_best_ratio(min(max(alone.value, 0.0), 1.0), max(n_classes, 2)) if is_error else math.nan,
        alpha=alpha,
        n_folds=sums.n_folds,
        note=design.refusal or powered.note,
    )
