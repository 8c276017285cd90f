"""The two-way test of any measure: the luck of seeds and folds, and that of rows, by leaving blocks of rows out.

There are two questions. *On this stream*: given what was learnt from its rows, would the same learners with other
seeds, on other rows like these, differ in the same direction? *For such streams*: would they on another stream of the
same source? What was learnt from the rows lasts to the end of a stream and is shared by all folds, so the second answer
needs the folds as resamplings of the training rows, and its interval is wider.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_between, unknown_name
from streamgauge.measures import MEASURES, OverTallies, list_statistics, reads_baselines
from streamgauge.measures.classes import ClassMeasure
from streamgauge.measures.functions import compute_values
from streamgauge.protocols import Measure
from streamgauge.records import BlockTallies
from streamgauge.records.blocks import BASELINES, MAX_MATRIX_CLASSES, N_RANKS, BlockLayout, align_bins
from streamgauge.significance.comparison import (
    MODELS,
    QUESTIONS,
    SUCH_STREAMS,
    THIS_STREAM,
    Answer,
    Comparison,
    significance_test,
)
from streamgauge.significance.fold_tests import ALL_EQUAL

__all__ = [
    "MIN_BLOCKS",
    "MIN_FOLDS",
    "TRAINING_FACTORS",
    "LeftOut",
    "Variances",
    "are_dependent",
    "check_testable",
    "estimate_variances",
    "leave_blocks_out",
    "two_way_t",
]

MIN_FOLDS = 5
"""With fewer folds their variance is too uncertain; one fold is compared by its rows alone."""

MIN_BLOCKS = 10
"""With fewer blocks of rows their variance is too uncertain."""

MIN_CLASS_ROWS = 20
"""A measure is not tested if a class that it looks at has fewer rows."""

TRAINING_FACTORS: dict[str, Callable[[int], float]] = {
    "Bootstrap": lambda k: 1.0,  # noqa: ARG005
    "CrossValidation": lambda k: (k - 1) ** 2 / k,
    "Split": lambda k: 1.0 / k,
}
"""The variance due to training rows, as a multiple of the variance of the folds, by scheme."""

SPLIT_NOTE = "each fold learnt only its share of the rows, so this is about learners trained on so few"


@dataclass(frozen=True)
class LeftOut:
    """A measure of two learners, or of one, over all rows, and with each block of rows left out.

    Parameters
    ----------
    whole
        The value of each learner in each fold, float64 [learners, folds].
    without_block
        The same with each block left out, float64 [learners, folds, blocks].
    without_fold, without_cell
        If folds scored different rows, so that their tallies were added: the values with each fold left out, float64
        [learners, folds], and with each block of each fold left out, float64 [learners, folds, blocks]; `whole` has one
        fold then.

    Examples
    --------
    >>> values = LeftOut(np.array([[0.8], [0.7]]), np.array([[[0.8, 0.8]], [[0.7, 0.7]]]))
    >>> values.n_folds, values.n_blocks, round(float(values.difference), 3)
    (1, 2, 0.1)
    """

    whole: NDArray[np.float64]
    without_block: NDArray[np.float64]
    without_fold: NDArray[np.float64] | None = None
    without_cell: NDArray[np.float64] | None = None

    @property
    def pooled(self) -> bool:
        """Whether the tallies of folds were added."""
        return self.without_fold is not None

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return int(self.whole.shape[1] if self.without_fold is None else self.without_fold.shape[1])

    @property
    def n_blocks(self) -> int:
        """The number of blocks of rows."""
        return int(self.without_block.shape[2])

    @property
    def difference(self) -> float:
        """The mean over the folds: of the difference of two learners, or of the value of one."""
        return float(_subtract(self.whole).mean())

    @property
    def pseudo_values(self) -> NDArray[np.float64]:
        """What each block contributes to the difference, float64 [blocks]."""
        b = self.n_blocks
        without: NDArray[np.float64] = _subtract(self.without_block).mean(axis=0)
        return b * self.difference - (b - 1) * without


def _subtract(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the difference of the values of two learners, or the values of one."""
    differences: NDArray[np.float64] = values[0] - values[1] if len(values) > 1 else values[0]
    return differences


@dataclass(frozen=True)
class Variances:
    """The parts of the variance of a mean difference.

    Parameters
    ----------
    rows, folds, both
        Due to rows, due to folds, and due to both, which the other two contain.
    of_fold
        The variance of single folds.

    Examples
    --------
    >>> Variances(rows=4e-6, folds=2e-6, both=1e-6, of_fold=2e-5).on_this_stream
    5e-06
    """

    rows: float
    folds: float
    both: float
    of_fold: float

    @property
    def on_this_stream(self) -> float:
        """The variance given what was learnt from this stream."""
        return max(self.rows + self.folds - self.both, self.rows, self.folds)


def _jackknife(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of a statistic from its values with each of n parts left out, along the last axis."""
    n = values.shape[-1]
    variance: NDArray[np.float64] = (n - 1) / n * ((values - values.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return variance


def estimate_variances(values: LeftOut) -> Variances:
    """Return the variance of the mean difference, by its parts.

    Examples
    --------
    >>> parts = estimate_variances(LeftOut(np.array([[0.8], [0.7]]), np.array([[[0.8, 0.82]], [[0.7, 0.7]]])))
    >>> round(parts.rows, 6), parts.folds
    (0.0001, 0.0)
    """
    k = values.n_folds
    without_block = _subtract(values.without_block)
    rows = float(_jackknife(without_block.mean(axis=0)))
    if values.without_fold is not None and values.without_cell is not None:
        folds = float(_jackknife(_subtract(values.without_fold)))
        both = float(_jackknife(_subtract(values.without_cell).reshape(-1)))
        # Folds scored different rows: without their luck, which is among that of the rows.
        return Variances(rows, folds, both, k * max(folds - both, 0.0))
    if k == 1:
        return Variances(rows, 0.0, 0.0, 0.0)
    of_fold = float(_subtract(values.whole).var(ddof=1))
    return Variances(rows, of_fold / k, float(_jackknife(without_block).sum()) / k**2, of_fold)


@significance_test("two_way_t", title="two-way t", over="folds and rows", least_folds=MIN_FOLDS)
def two_way_t(
    values: LeftOut | ArrayLike, *, scheme: str | None = None, repetitions: int = 1, alpha: float = 0.05
) -> Comparison:
    """Test a mean difference of any measure, with the luck of both the folds and the rows: a two-way block jackknife.

    With d[f] the difference in fold f of k, d[f, -b] the same without block b of B, and theta the mean of d, the
    variance of theta is ``max(rows + folds - both, rows, folds)``. Here ``rows`` is the jackknife variance of theta
    over blocks, ``folds`` the variance s^2 of d divided by k, and ``both`` the mean of the jackknife variances of the
    single folds divided by k, which the other two contain. The statistic is theta divided by the standard error, a t
    with Satterthwaite's degrees of freedom.

    For such streams the variance is ``rows + c s^2``, where c is 1 for bootstrap folds, ``(k - 1)^2 / k`` for
    cross-validation and ``1 / k`` for a split: the folds resample the rows that were learnt. For random learners it
    contains the luck of seeds as well, so that the interval is safe but wide. The luck of the rows as tests and as
    lessons is correlated: rows that suit a learner both count for it and teach it. The c of bootstrap and
    cross-validation is large enough to cover that; for a split, a covariance of ``sqrt(rows c s^2) / 2`` is added
    twice, which is more than simulations show.

    Parameters
    ----------
    values
        The values of both learners, whole and with each block of rows left out: a `LeftOut`, or an array
        [2, folds, 1 + blocks] whose first column is over all rows.
    scheme
        How the folds sample the rows they learn: ``Bootstrap``, ``CrossValidation`` or ``Split``; None for no answer
        about other streams.
    repetitions
        How often the scheme drew its folds.
    alpha
        The level; the intervals have confidence ``1 - alpha``.

    References
    ----------
    H. R. Künsch, The jackknife and the bootstrap for general stationary observations, Annals of Statistics 17, 1989;
    J. Shao and D. Tu, The jackknife and bootstrap, Springer, 1995; C. Nadeau and Y. Bengio, Inference for the
    generalization error, Machine Learning 52, 2003.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> accuracy = np.array([0.9, 0.8])[:, None, None] + 0.01 * rng.normal(size=(2, 10, 21))
    >>> outcome = two_way_t(accuracy, scheme="Bootstrap")
    >>> outcome.better, outcome.null == THIS_STREAM, outcome.such_streams.question
    ('the first', True, 'for such streams')
    """
    require_between("alpha", alpha, 0.0, 1.0)
    if not isinstance(values, LeftOut):
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 3 or array.shape[0] != 2 or not np.isfinite(array).all():
            msg = "values: they must be finite, in an array [2, folds, 1 + blocks]"
            raise StreamgaugeError(msg)
        values = LeftOut(array[:, :, 0], array[:, :, 1:])
    if scheme is not None and scheme not in TRAINING_FACTORS:
        raise unknown_name(kind="kind of folds", name=scheme, known=TRAINING_FACTORS)
    k, b = values.n_folds, values.n_blocks
    if 1 < k < MIN_FOLDS:
        msg = (
            f"a two-way t needs at least {MIN_FOLDS} folds, or one, not {k}: evaluate with more, such as Bootstrap(10)"
        )
        raise StreamgaugeError(msg)
    _require_blocks(b)
    parts, theta = estimate_variances(values), values.difference
    statistic, p_value, interval = _answer(theta, parts.on_this_stream, parts, parts.folds, (k, b), alpha)
    such_streams = None
    if scheme is not None and k > 1:
        training = TRAINING_FACTORS[scheme](k // repetitions) * parts.of_fold
        variance = parts.rows + training + (math.sqrt(parts.rows * training) if scheme == "Split" else 0.0)
        _, other_p, other_interval = _answer(theta, variance, parts, training, (k, b), alpha)
        # It is not known better than that on this stream.
        other_p = max(other_p, p_value)
        other_interval = (min(other_interval[0], interval[0]), max(other_interval[1], interval[1]))
        note = SPLIT_NOTE if scheme == "Split" else ""
        such_streams = Answer(QUESTIONS[SUCH_STREAMS], SUCH_STREAMS, other_interval, other_p, note)
    return Comparison(
        test="two_way_t",
        statistic=statistic,
        p_value=p_value,
        direction=(theta > 0) - (theta < 0),
        difference=theta,
        interval=interval,
        alpha=alpha,
        null=MODELS if k == 1 else THIS_STREAM,
        basis=f"{b} blocks of rows" if k == 1 else f"{k} folds and {b} blocks of rows",
        warnings=(ALL_EQUAL,) if math.isinf(statistic) else (),
        such_streams=such_streams,
        values=(float(values.whole[0].mean()), float(values.whole[1].mean())),
    )


def value_interval(values: LeftOut, *, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of the value of one learner, with the luck of folds and rows as in `two_way_t`.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> accuracy = 0.9 + 0.01 * rng.normal(size=(1, 10, 21))
    >>> low, high = value_interval(LeftOut(accuracy[:, :, 0], accuracy[:, :, 1:]))
    >>> bool(low < accuracy[:, :, 0].mean() < high)
    True
    """
    k, b = values.n_folds, values.n_blocks
    if 1 < k < MIN_FOLDS:
        msg = f"the interval of a value needs at least {MIN_FOLDS} folds, or one, not {k}"
        raise StreamgaugeError(msg)
    _require_blocks(b)
    parts = estimate_variances(values)
    return _answer(values.difference, parts.on_this_stream, parts, parts.folds, (k, b), alpha)[2]


def _require_blocks(n_blocks: int) -> None:
    if n_blocks < MIN_BLOCKS:
        msg = f"a two-way t needs at least {MIN_BLOCKS} blocks of scored rows, not {n_blocks}: evaluate more rows"
        raise StreamgaugeError(msg)


def _answer(
    theta: float, variance: float, parts: Variances, of_folds: float, shape: tuple[int, int], alpha: float
) -> tuple[float, float, tuple[float, float]]:
    """Return the statistic, the p-value and the interval of a difference with a variance."""
    from scipy.special import stdtr, stdtrit  # noqa: PLC0415

    error = math.sqrt(variance)
    if error == 0.0:
        return (0.0, 1.0, (0.0, 0.0)) if theta == 0.0 else (math.copysign(math.inf, theta), 0.0, (theta, theta))
    freedom = _compute_freedom(variance, parts, of_folds, shape)
    reach = float(stdtrit(freedom, 1 - alpha / 2)) * error
    return theta / error, 2 * float(stdtr(freedom, -abs(theta / error))), (theta - reach, theta + reach)


def _compute_freedom(variance: float, parts: Variances, of_folds: float, shape: tuple[int, int]) -> float:
    """Return Satterthwaite's degrees of freedom of a variance."""
    k, b = shape
    spread = parts.rows**2 / (b - 1) + (of_folds**2 / (k - 1) if k > 1 else 0.0)
    least, most = (b - 1, b - 1) if k == 1 else (min(k, b) - 1, b + k - 2)
    return min(max(variance**2 / spread, least), most) if spread > 0.0 else most


def estimate_difference(values: LeftOut) -> tuple[float, float, float]:
    """Return the mean difference on this stream, its variance, and the degrees of freedom of that.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> accuracy = np.array([0.9, 0.8])[:, None, None] + 0.01 * rng.normal(size=(2, 1, 21))
    >>> theta, variance, freedom = estimate_difference(LeftOut(accuracy[:, :, 0], accuracy[:, :, 1:]))
    >>> freedom
    19.0
    """
    shape = values.n_folds, values.n_blocks
    _require_blocks(values.n_blocks)
    parts = estimate_variances(values)
    variance = parts.on_this_stream
    return values.difference, variance, _compute_freedom(variance, parts, parts.folds, shape)


def leave_blocks_out(
    blocks: BlockTallies, measure: Measure, names: Sequence[str], classes: Sequence[str], *, pooled: bool
) -> tuple[LeftOut, tuple[str, ...]]:
    """Return a measure of two learners over all rows and without each block, and what to keep in mind.

    Blocks are joined with neighbours where the measure is undefined without one of them, and where neighbouring blocks
    depend on each other.

    Parameters
    ----------
    blocks
        The tallies of the two learners, or of one.
    measure
        The measure.
    names, classes
        The names of the learners and of the classes.
    pooled
        Whether to add the tallies of the folds, which scored different rows.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> measure = sg.measures.measure("kappa")
    >>> values, notes = leave_blocks_out(results.blocks, measure, results.learners, ("0", "1"), pooled=False)
    >>> values.n_folds, values.n_blocks, notes
    (1, 31, ())
    """
    _require_blocks(blocks.n_blocks)
    _require_testable(measure, blocks, classes, pooled=pooled)
    if "ranks" not in list_statistics([measure]):
        blocks = replace(blocks, votes={})
    compute = partial(_measure, measure=measure, pooled=pooled)
    values = compute(blocks)
    _require_defined(values, measure, blocks, names, classes)
    notes: list[str] = []
    while True:
        undefined = ~np.isfinite(values.without_block).all(axis=(0, 1))
        if not undefined.any() or blocks.n_blocks <= MIN_BLOCKS:
            break
        blocks = blocks.merge(_join_with_neighbour(int(undefined.argmax()), blocks.n_blocks))
        values = compute(blocks)
    parts = (values.without_block, values.without_fold, values.without_cell)
    undefined_learners = [np.argwhere(~np.isfinite(part))[:, 0] for part in parts if part is not None]
    if any(map(len, undefined_learners)):
        learner = names[int(np.concatenate(undefined_learners)[0])]
        msg = f"{measure.name} of {learner} is undefined without one of its blocks of rows: evaluate more rows"
        raise StreamgaugeError(msg)
    while blocks.n_blocks // 2 >= MIN_BLOCKS and are_dependent(values.pseudo_values):
        blocks = blocks.merge(_join_pairs(blocks.n_blocks))
        values = compute(blocks)
        notes = [f"neighbouring blocks of rows depend on each other, so they were joined: {blocks.n_blocks} are left"]
    if measure.name == "g_mean" and (values.whole == 0.0).any():
        notes.append("a recall is 0, where g_mean is not smooth: the p-value is rough")
    return values, tuple(notes)


def check_testable(measure: Measure, layout: BlockLayout) -> None:
    """Raise if a measure cannot be tested with what is kept of the tallies of blocks, whatever the rows are.

    Examples
    --------
    >>> from streamgauge.measures import kappa, log_loss
    >>> check_testable(kappa, BlockLayout(2, ()))
    >>> check_testable(log_loss, BlockLayout(2, ()))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: log_loss was not measured in the run, so it cannot be tested
    """
    statistics = set(list_statistics([measure]))
    if "calibration" in statistics:
        msg = f"{measure.name} is not a smooth function of its counts, so it cannot be tested"
        raise StreamgaugeError(msg)
    if "rows" in statistics:
        msg = f"{measure.name} is computed from single rows, so it cannot be tested: use one of our measures"
        raise StreamgaugeError(msg)
    if "ranks" in statistics and not layout.has_votes:
        if layout.has_matrices:
            msg = f"votes were not kept, so {measure.name} cannot be tested: measure it in the run"
        else:
            msg = f"votes are kept of at most {MAX_MATRIX_CLASSES} classes, so {measure.name} cannot be tested"
        raise StreamgaugeError(msg)
    if isinstance(measure, OverTallies) and measure.describes:
        msg = f"no value of {measure.name} is better than another, so it cannot be tested"
        raise StreamgaugeError(msg)
    missing = statistics - set(layout.statistics) - {"ranks"}
    if missing or (reads_baselines([measure]) and BASELINES not in layout.statistics):
        msg = f"{measure.name} was not measured in the run, so it cannot be tested"
        raise StreamgaugeError(msg)
    if "ovo" in measure.name and layout.n_classes > 2:
        msg = f"votes are kept of each class against all others, so {measure.name} cannot be tested: use an ovr measure"
        raise StreamgaugeError(msg)


def _require_testable(measure: Measure, blocks: BlockTallies, classes: Sequence[str], *, pooled: bool) -> None:
    """Raise if a measure cannot be tested with these tallies."""
    check_testable(measure, blocks.layout)
    rare = find_rare_class(measure, blocks, MIN_CLASS_ROWS, pooled=pooled)
    if rare is not None:
        code, n_rows = rare
        msg = (
            f"{measure.name} cannot be tested: class {classes[code]} has {n_rows} rows, and at least {MIN_CLASS_ROWS}"
            " are needed"
        )
        raise StreamgaugeError(msg)


def find_rare_class(
    measure: Measure, blocks: BlockTallies, least: int, *, pooled: bool = False
) -> tuple[int, int] | None:
    """Return a class that a measure looks at and that has too few rows, with their number; None if there is none.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> find_rare_class(sg.measures.measure("kappa"), results.blocks, 20) is None
    True
    """
    return find_rare_classes([measure], blocks, least, pooled=pooled)[0]


def find_rare_classes(
    measures: Sequence[Measure], blocks: BlockTallies, least: int, *, pooled: bool = False
) -> list[tuple[int, int] | None]:
    """Return for each measure a class that it looks at and that has too few rows, with their number, or None.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> find_rare_classes([sg.measures.measure("kappa"), sg.measures.accuracy], results.blocks, 20)
    [None, None]
    """
    every, shape = 1 + blocks.n_blocks, (*blocks.numbers.shape[:2], -1)
    support = blocks.left_out.support[::every].reshape(shape)  # [learners, folds, classes]
    width = blocks.left_out.width[::every].reshape(shape)
    if pooled:
        support, width = support.sum(axis=1), width.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        n_rows = support * (width / support.sum(axis=-1, keepdims=True))
    n_rows = n_rows.reshape(math.prod(n_rows.shape[:-1]), n_rows.shape[-1])
    support = np.fmax.reduce(n_rows, axis=0, initial=0.0)  # NaN without rows
    rare = [[code for code in _list_codes(measure, support) if support[code] < least] for measure in measures]
    return [(codes[0], round(support[codes[0]])) if codes else None for codes in rare]


_ANY_CLASSES = ("accuracy", "error", "coverage", "abstentions", "kappa_m", "kappa_temporal", "log_loss", "brier")
"""Measures, or beginnings of their names, that look at no class in particular."""


def _list_codes(measure: Measure, support: NDArray[np.float64]) -> list[int]:
    """Return the codes of the classes that a measure looks at."""
    frequent: list[int] = np.argsort(-support, kind="stable").tolist()
    if isinstance(measure, ClassMeasure):
        code = measure.of if measure.code is None else measure.code
        return [int(code), *(other for other in frequent if other != code)][:2]
    name = measure.name
    if measure is MEASURES.get(name) and (name.startswith(_ANY_CLASSES) or name.endswith("_micro")):
        return []
    if name in ("kappa", "mcc") or name.endswith("_weighted"):
        return frequent[:2]
    return [code for code in frequent if support[code] > 0.0]


def _require_defined(
    values: LeftOut, measure: Measure, blocks: BlockTallies, names: Sequence[str], classes: Sequence[str]
) -> None:
    undefined = ~np.isfinite(values.whole)
    if not undefined.any():
        return
    learner, fold = (int(index) for index in np.argwhere(undefined)[0])
    tallies = blocks.layout.restore(blocks.numbers[learner, fold].sum(axis=0)[None])
    never = [classes[code] for code in range(len(classes)) if tallies.predicted[0, code] == 0.0]
    why = f": it never predicted {', '.join(never)}" if never else ""
    where = f" in fold {fold}" if values.whole.shape[1] > 1 else ""
    msg = f"{measure.name} of {names[learner]} is undefined{where}{why}"
    raise StreamgaugeError(msg)


def _join_with_neighbour(index: int, n_blocks: int) -> list[list[int]]:
    """Return groups of one block each, but for one that is joined with the next, or the last with the one before."""
    first = min(index, n_blocks - 2)
    return [[block, block + 1] if block == first else [block] for block in range(n_blocks) if block != first + 1]


def _join_pairs(n_blocks: int) -> list[list[int]]:
    """Return groups of two blocks each, the last of three if their number is odd."""
    pairs = [[block, block + 1] for block in range(0, n_blocks - 1, 2)]
    if n_blocks % 2:
        pairs[-1].append(n_blocks - 1)
    return pairs


def are_dependent(pseudo_values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether neighbouring blocks are correlated beyond a trend and chance, by what each contributes.

    Blocks are along the last axis.

    Examples
    --------
    >>> are_dependent(np.array([np.repeat([0.0, 1.0, 0.0, 1.0, 0.0], 4), np.tile([0.0, 1.0], 10)])).tolist()
    [True, False]
    """
    n = pseudo_values.shape[-1]
    time = np.arange(n) - (n - 1) / 2
    rest = pseudo_values - pseudo_values.sum(axis=-1, keepdims=True) / n
    rest = rest - time * ((rest * time).sum(axis=-1, keepdims=True) / (time @ time))
    lagged = (rest[..., 1:] * rest[..., :-1]).sum(axis=-1)
    dependent: NDArray[np.bool_] = lagged > 2 / math.sqrt(n) * (rest * rest).sum(axis=-1)
    return dependent


def _measure(blocks: BlockTallies, measure: Measure, *, pooled: bool) -> LeftOut:
    """Return a measure of all learners over all rows and without each block."""
    if pooled:
        whole, without_block, without_fold, without_cell = (
            np.stack(parts)
            for parts in zip(
                *(_measure_pooled(blocks, learner, measure) for learner in range(len(blocks.numbers))), strict=True
            )
        )
        return LeftOut(whole, without_block, without_fold, without_cell)
    values = measure_without_blocks(blocks, measure)
    return LeftOut(values[:, :, 0], values[:, :, 1:])


def measure_without_blocks(blocks: BlockTallies, measure: Measure) -> NDArray[np.float64]:
    """Return a measure of each learner in each fold over all rows, and without each block of rows.

    The result is float64 [learners, folds, 1 + blocks]. How areas change without a block is that of votes in bins.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> measure_without_blocks(results.blocks, sg.measures.measure("kappa")).shape
    (2, 1, 32)
    """
    (values,) = measure_all_without_blocks(blocks, [measure])
    return np.asarray(values)


def measure_all_without_blocks(blocks: BlockTallies, measures: Sequence[Measure]) -> NDArray[np.float64]:
    """Return some measures of each learner in each fold over all rows, and without each block of rows.

    The result is float64 [measures, learners, folds, 1 + blocks]: see `measure_without_blocks`.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> measure_all_without_blocks(results.blocks, [sg.measures.accuracy, sg.measures.kappa]).shape
    (2, 2, 1, 32)
    """
    (values,) = measure_looks_without_blocks([blocks], measures)
    return values


def measure_looks_without_blocks(
    looks: Sequence[BlockTallies], measures: Sequence[Measure]
) -> list[NDArray[np.float64]]:
    """Return `measure_all_without_blocks` of several looks at one run, measured together.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=1000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> [values.shape for values in measure_looks_without_blocks([results.blocks] * 2, [sg.measures.kappa])]
    [(1, 2, 1, 32), (1, 2, 1, 32)]
    """
    if not looks:
        return []
    layout = looks[0].layout
    voted = _list_voted(measures, layout.n_classes)
    tallies = looks[0].left_out if len(looks) == 1 else layout.restore_left_out([look.leave_out() for look in looks])
    if voted:
        ranks = [_rank_cells(look, voted) for look in looks]
        tallies = replace(tallies, ranks=np.concatenate([part.reshape(-1, *part.shape[3:]) for part in ranks]))
    values = np.stack([compute_values(measure, tallies) for measure in measures])
    shapes = [(*look.numbers.shape[:2], 1 + look.n_blocks) for look in looks]
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    by_look = [
        np.ascontiguousarray(part).reshape(len(measures), *shape)
        for part, shape in zip(np.split(values, ends, axis=1), shapes, strict=True)
    ]
    for index, measure in enumerate(measures if voted else ()):
        if "ranks" in list_statistics([measure]):
            for look, own in zip(looks, by_look, strict=True):
                own[index] += np.nan_to_num(_compute_exact(measure, look) - own[index, :, :, 0])[:, :, None]
    return by_look


def _rank_cells(blocks: BlockTallies, codes: Sequence[int]) -> NDArray[np.float64]:
    """Return how votes for some classes rank the rows of each fold of each learner, whole and without each block."""
    n_learners, n_folds, n_blocks = blocks.numbers.shape[:3]
    n_classes = blocks.layout.n_classes
    ranks = np.full((n_learners, n_folds, 1 + n_blocks, N_RANKS, n_classes, n_classes), np.nan)
    for learner, fold in product(range(n_learners), range(n_folds)):
        for code in codes:
            if (learner, fold, code) in blocks.votes:  # not of a learner that has failed
                bins = blocks.votes[learner, fold, code][1]
                _write_ranks(ranks[learner, fold], code, _native.rank_without_each, bins)
    return ranks


def _list_voted(measures: Sequence[Measure], n_classes: int) -> list[int]:
    """Return the classes whose votes some measures need."""
    ranking = [measure for measure in measures if "ranks" in list_statistics([measure])]
    if all(isinstance(measure, ClassMeasure) for measure in ranking):
        codes = (measure.of if measure.code is None else measure.code for measure in ranking)  # type: ignore[attr-defined]
        return sorted({int(code) for code in codes})
    return list(range(n_classes))


def _compute_exact(measure: Measure, blocks: BlockTallies) -> NDArray[np.float64]:
    """Return a measure over all rows of each learner and fold, with votes ranked as finely as in the run.

    NaN where they were not ranked at the end of the last block.
    """
    numbers = blocks.numbers.sum(axis=2)
    n_ranks = blocks.layout.n_ranks
    numbers[:, :, -n_ranks:] = blocks.numbers[:, :, -1, -n_ranks:]
    tallies = blocks.layout.restore(numbers.reshape(-1, numbers.shape[-1]))
    return compute_values(measure, tallies).reshape(numbers.shape[:2])


def _write_ranks(
    ranks: NDArray[np.float64],
    code: int,
    rank: Callable[..., tuple[NDArray[np.float64], ...]],
    bins: NDArray[np.float64],
) -> None:
    """Write how votes for a class in bins [2, parts, bins] rank rows into `ranks` [n, 4, c, c].

    The class is ranked against all others; of two classes that is the same as against each other.
    """
    if bins.shape[-1]:  # rows were scored
        roc, precision = rank(*np.ascontiguousarray(bins))
        others = slice(None) if ranks.shape[-1] == 2 else slice(code, code + 1)
        ranks[:, 0, code, others], ranks[:, 2, code, others] = roc[:, None], precision[:, None]


def _measure_pooled(blocks: BlockTallies, learner: int, measure: Measure) -> tuple[NDArray[np.float64], ...]:
    """Return a measure over the tallies of all folds together: whole, without each block, fold and cell."""
    parts = blocks.numbers[learner]
    k, b = parts.shape[:2]
    whole = parts.sum(axis=(0, 1))
    left = [whole[None], whole - parts.sum(axis=0), whole - parts.sum(axis=1), (whole - parts).reshape(k * b, -1)]
    n_classes, ranks = blocks.layout.n_classes, None
    voted = _list_voted([measure], n_classes)
    if voted:
        ranks = np.full((sum(map(len, left)), N_RANKS, n_classes, n_classes), np.nan)
        for code in voted:
            _, bins = align_bins([blocks.votes[learner, fold, code] for fold in range(k)])  # [2, k, b, bins]
            total = bins.sum(axis=(1, 2), keepdims=True)[:, 0]
            cells = total - bins.reshape(2, k * b, -1)
            parts = np.concatenate([total, total - bins.sum(axis=1), total - bins.sum(axis=2), cells], axis=1)
            _write_ranks(ranks, code, _native.rank_votes, parts)
    values = compute_values(measure, blocks.layout.restore(np.concatenate(left), ranks))
    return values[:1], values[None, 1 : 1 + b], values[1 + b : 1 + b + k], values[1 + b + k :].reshape(k, b)
