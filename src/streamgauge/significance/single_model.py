"""Verdicts on one model alone, valid at any number of looks: whether it keeps a requirement, and since when not.

Most measures are the ratio of two sums over rows: the error is wrong rows by all rows, the recall of a class is right
rows of the class by rows of the class, F1 is ``2 tp`` by ``2 tp + fp + fn``. "The ratio is at most r" then means that
``part - r whole`` has a mean of at most 0, and each row adds a bounded amount to it. So the requirement is tested by an
exact empirical Bernstein confidence sequence, not only over all rows but also over the rows since each of some 40
earlier rows, the ends of blocks. They share alpha: half of it is for all rows, the other half is split over the rows
that ever become starts, so that all claims "since row s" hold at all looks with probability ``1 - alpha``. A change
late in a long stream is found soon although the mean over all rows is still fine.

Late labels count in the order in which they arrive. What was known before a label cannot foretell more than its row's
conditional mean, whether the label came at once or not, so the sequence stays exact; its claims are about the rows
whose labels have arrived.

With weighted rows the sums are compared with their variance between blocks of rows instead, and measures that are no
such ratio are compared over all rows by leaving blocks out. Both are asymptotic; late labels make these blocks longer.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.numbers import RATE, format_value
from streamgauge.errors import StreamgaugeError
from streamgauge.measures import Cost, MinMaxAccuracy, OfClass, OverTallies, Utility
from streamgauge.measures.classes import find_rate
from streamgauge.measures.functions import compute_values
from streamgauge.protocols import Measure
from streamgauge.records import (
    BlockLayout,
    BlockTallies,
    CellBlocks,
    EarlierVerdict,
    ModelOutcome,
    ModelVerdict,
    Tallies,
    sum_classes,
)
from streamgauge.records.blocks import FIRST_LENGTH, MAX_BLOCKS, find_block_length, make_layout
from streamgauge.records.serialise import loading, pack_columns, unpack_columns
from streamgauge.significance.confidence_sequences import (
    bernstein_log_e,
    bernstein_radius,
    block_radius,
    boundary_factor,
)
from streamgauge.significance.interim_analyses import (
    BLOCK_DELAYS,
    BLOCK_SEQUENCE,
    MIN_LIVE_BLOCKS,
    MIN_LIVE_CLASS_ROWS,
    compute_variance,
)
from streamgauge.significance.prediction_powered import LabelDesign, LossSums, describe_share, powered_mean
from streamgauge.significance.requirements import BoundRequirement, find_range
from streamgauge.significance.two_way import MIN_BLOCKS, check_testable, find_rare_class, measure_without_blocks

__all__ = [
    "JudgedSums",
    "ModelWatch",
    "RatioForm",
    "check_requirement",
    "find_form",
    "judge_sums",
    "share_alpha",
    "widen",
]

Column = NDArray[np.float64]

LUCK_OF_VARIANCE = 0.05
"""At which level intervals are wider for a variance that is estimated; it is estimated once for all starts."""

LEAST_UNITS = 2
"""With weighted rows, the rows since a start are at least this number of blocks."""

EXACT, POWERED = "empirical_bernstein", "prediction_powered"
"""The names of the tests, beside `BLOCK_SEQUENCE`."""

LOSSES = {"error": "error", "accuracy": "error", "brier": "brier"}
"""The loss by which a measure is estimated from few labels."""


@dataclass(frozen=True)
class RatioForm:
    """A measure as the ratio of two sums over rows, which are counted by kind.

    A row may be of two kinds if their amounts have opposite signs, and only partly of a kind: what is needed is that
    the sum of the squares over kinds is at least that over rows.

    Parameters
    ----------
    count
        Returns the number of rows of each kind in tallies, float64 [tallies, kinds].
    part, whole
        What a row of each kind adds to the numerator and to the denominator, float64 [kinds].

    Examples
    --------
    >>> from streamgauge.measures import OfClass
    >>> form = find_form(OfClass("f1", 1), BlockLayout(2, ()))
    >>> form.part.tolist(), form.whole.tolist()  # of tp, fp, fn and tn
    ([2.0, 0.0, 0.0, 0.0], [2.0, 1.0, 1.0, 0.0])
    """

    count: Callable[[Tallies], Column]
    part: Column
    whole: Column

    @property
    def is_share(self) -> bool:
        """Whether it is the share of some rows among others."""
        return bool(np.isin(self.part, (0.0, 1.0)).all() and np.isin(self.whole, (0.0, 1.0)).all())

    def divide(self, counts: Column) -> float:
        """Return the ratio for rows by kind; NaN if the denominator is 0."""
        whole = float(counts @ self.whole)
        return float(counts @ self.part) / whole if whole > 0.0 else math.nan

    def score(self, limit: float, sign: float) -> Column:
        """Return what a row of each kind adds to the evidence that the limit is crossed, float64 [kinds]."""
        return sign * (self.part - limit * self.whole)


def find_form(measure: Measure, layout: BlockLayout) -> RatioForm | None:
    """Return a measure as a ratio of sums; None if it is none, or if its sums are not kept.

    Examples
    --------
    >>> from streamgauge.measures import error, kappa
    >>> find_form(error, BlockLayout(2, ())).whole.tolist(), find_form(kappa, BlockLayout(2, ()))
    ([1.0, 1.0], None)
    """
    if isinstance(measure, OfClass):
        return _find_class_form(measure)
    if isinstance(measure, Cost | Utility):
        if not layout.has_matrices or not isinstance(measure.matrix, tuple):
            return None
        amounts = np.append(np.ravel(np.array(measure.matrix, dtype=np.float64)), measure.abstained)
        return RatioForm(_count_cells, amounts, np.ones(len(amounts)))
    if isinstance(measure, MinMaxAccuracy):
        ends = (np.array([1.0, 0.0]) - measure.low) / (measure.high - measure.low)
        return RatioForm(_count_hits, ends, np.ones(2))
    known = _FORMS.get(measure.name) if isinstance(measure, OverTallies) else None
    return None if known is None else RatioForm(known[0], np.array(known[1]), np.array(known[2]))


def _count_hits(tallies: Tallies) -> Column:
    return np.stack([tallies.hits, tallies.misses], axis=1)


def _count_brier(tallies: Tallies) -> Column:
    loss = tallies.column("brier")
    return np.stack([loss, tallies.total - loss], axis=1)


def _count_answers(tallies: Tallies) -> Column:
    return np.stack([tallies.hits, sum_classes(tallies.false_positives)], axis=1)


def _count_abstentions(tallies: Tallies) -> Column:
    abstained = sum_classes(tallies.abstained)
    return np.stack([tallies.total - abstained, abstained], axis=1)


def _count_against(hits: str) -> Callable[[Tallies], Column]:
    return lambda tallies: np.stack([tallies.total - getattr(tallies, hits), tallies.misses], axis=1)


def _count_cells(tallies: Tallies) -> Column:
    cells = tallies.confusion.reshape(len(tallies), -1)
    return np.concatenate([cells, sum_classes(tallies.abstained)[:, None]], axis=1)


_FORMS: dict[str, tuple[Callable[[Tallies], Column], list[float], list[float]]] = {
    "accuracy": (_count_hits, [1.0, 0.0], [1.0, 1.0]),
    "error": (_count_hits, [0.0, 1.0], [1.0, 1.0]),
    "accuracy_when_predicting": (_count_answers, [1.0, 0.0], [1.0, 1.0]),
    "coverage": (_count_abstentions, [1.0, 0.0], [1.0, 1.0]),
    "brier": (_count_brier, [1.0, 0.0], [1.0, 1.0]),
    **{
        name: (_count_against(hits), [1.0, -1.0], [1.0, 0.0])
        for name, hits in (
            ("kappa_m", "majority_hits"),
            ("kappa_m_all", "majority_all_hits"),
            ("kappa_temporal", "no_change_hits"),
        )
    },
}
"""The measures over all classes that are ratios of sums: how kinds are counted, and what they add."""


def _find_class_form(measure: OfClass) -> RatioForm | None:
    """Return the form of a rate of one class, if numerator and denominator are sums over rows."""
    rate = find_rate(measure.measure)
    code = measure.of if measure.code is None else measure.code
    if rate is None or isinstance(code, str):
        return None
    kinds = np.array([*np.eye(4), [3.0, 5.0, 2.0, 11.0]])  # tp, fp, fn, tn one by one, and some of each
    confusion = kinds[:, [3, 1, 2, 0]].reshape(-1, 2, 2)
    nothing = np.zeros(len(kinds))
    tallies = Tallies(confusion, np.zeros((len(kinds), 2)), nothing, nothing, np.ones(len(kinds), dtype=np.int64))
    part, whole = (side[:, 1] for side in rate.parts(tallies))
    if not all(np.isclose(kinds[-1] @ side[:-1], side[-1]) for side in (part, whole)):
        return None

    def count(tallies: Tallies) -> Column:
        right, support, predicted = (column[:, code] for column in (tallies.right, tallies.support, tallies.predicted))
        return np.stack([right, predicted - right, support - right, tallies.supported - support - predicted + right], 1)

    return RatioForm(count, part[:-1], whole[:-1])


def check_requirement(requirement: BoundRequirement, layout: BlockLayout) -> None:
    """Raise if a requirement cannot be tested, whatever the rows are.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> from streamgauge.significance import Requirement
    >>> check_requirement(Requirement.parse("kappa>reference(5000)").bind(SEA().schema), BlockLayout(2, ()))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: requirement 'kappa>reference(5000)': kappa is no mean over rows, so it has no \
reference period; set a limit, such as kappa>0.5
    """
    measure, text = requirement.measure, requirement.text
    if find_form(measure, layout) is not None:
        return
    try:
        check_testable(measure, layout)
    except StreamgaugeError as error:
        msg = f"requirement {text!r}: {error}"
        raise StreamgaugeError(msg) from None
    if requirement.reference is not None:
        sign = ">" if measure.greater_is_better else "<"
        msg = (
            f"requirement {text!r}: {measure.name} is no mean over rows, so it has no reference period; set a limit,"
            f" such as {measure.name}{sign}0.5"
        )
        raise StreamgaugeError(msg)


def share_alpha(starts: ArrayLike) -> Column:
    """Return the share of alpha for the rows since each start; all starts that there can be share 1.

    Row 0 has half. The ends of blocks become starts as a run proceeds: 40 while blocks have 8 rows, and 20 more each
    time that the blocks have doubled j times, which share ``1 / ((j + 1) (j + 2))`` of the other half.

    Examples
    --------
    >>> share_alpha([0, 8, 336]).round(6).tolist()
    [0.5, 0.00625, 0.004167]
    """
    rows = np.asarray(starts, dtype=np.int64)
    n_doubled = np.array([int(math.log2(find_block_length(row) // FIRST_LENGTH)) for row in rows.tolist()])
    n_born = np.where(n_doubled == 0, MAX_BLOCKS, MAX_BLOCKS // 2)
    return np.where(rows == 0, 0.5, 0.5 / ((n_doubled + 1) * (n_doubled + 2) * n_born))


def widen(n_rows: float, variance: "RowVariance", *, first_row: float, alpha: float) -> float:
    """Return the time-uniform radius of a sum of rows, from their variance between blocks; asymptotic.

    Parameters
    ----------
    n_rows
        The number of rows.
    variance
        The variance of a row.
    first_row, alpha
        As for `boundary_factor`.

    Examples
    --------
    >>> round(widen(10_000, RowVariance(0.05, 19), first_row=1000, alpha=0.05), 1)
    78.5
    """
    return math.sqrt(n_rows * variance.value) * variance.correction * boundary_factor(n_rows, first_row, alpha=alpha)


@dataclass(frozen=True)
class RowVariance:
    """The variance of a row that explains that of the means of blocks, by their successive differences.

    Parameters
    ----------
    value
        The variance.
    n_differences
        The number of differences.

    Examples
    --------
    >>> RowVariance.estimate(np.array([0.0, 16.0, 48.0, 64.0]), np.array([0.0, 64.0, 128.0, 192.0]))
    RowVariance(value=2.0, n_differences=2)
    """

    value: float
    n_differences: int

    @classmethod
    def estimate(cls, totals: Column, n_rows: Column, without: int | None = None) -> "RowVariance":
        """Estimate it from the sums of values, and how many there are, up to the ends of blocks, starting with 0.

        `without` is an end around which differences are left out, since a change there is no variance.
        """
        sums, sizes = np.diff(totals), np.diff(n_rows)
        used = (sizes[1:] > 0.0) & (sizes[:-1] > 0.0)
        if without is not None:
            used[max(without - 2, 0) : without + 1] = False
        means = np.divide(sums, sizes, out=np.zeros(len(sums)), where=sizes > 0.0)
        n = int(np.count_nonzero(used))
        value = float((np.diff(means)[used] ** 2).mean() * sizes[sizes > 0.0].mean() / 2) if n else 0.0
        return cls(value, n)

    def at_least(self, value: float) -> "RowVariance":
        """Return the variance, or a value that it has at least."""
        return RowVariance(max(self.value, value), self.n_differences)

    @property
    def freedom(self) -> float:
        """The degrees of freedom."""
        return 2 * self.n_differences**2 / max(3 * self.n_differences - 1, 1)

    @property
    def correction(self) -> float:
        """By how much intervals are wider since the variance is estimated: the ratio of t and normal quantiles."""
        return _compare_quantiles(self.freedom)


@cache
def _compare_quantiles(freedom: float) -> float:
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415

    return float(stdtrit(freedom, LUCK_OF_VARIANCE / 2) / ndtri(LUCK_OF_VARIANCE / 2))


class Boundaries(Protocol):
    """The cumulative tallies of all cells at the ends of blocks."""

    rows: list[int]

    def read_numbers(self, row: int) -> Column:
        """Return those at the end of a block, float64 [cells, numbers]."""
        ...

    def build(self, row: int | None = None, *, min_length: int = 1) -> BlockTallies | None:
        """Return the tallies of blocks up to a row."""
        ...


@dataclass(frozen=True)
class _Course:
    """What was counted until some rows, `ends` int64 [n]: `counts` by kind [n, kinds] and `n_rows` [n]."""

    ends: NDArray[np.int64]
    counts: Column
    n_rows: Column


@dataclass(frozen=True)
class _Reference:
    """A reference period of one learner: what was counted until the ends of its blocks, and the exact interval."""

    course: _Course
    low: float
    high: float

    @property
    def row(self) -> int:
        """The row at which it ends."""
        return int(self.course.ends[-1])

    @property
    def counts(self) -> Column:
        """The rows by kind."""
        last: Column = self.course.counts[-1]
        return last

    @property
    def n_rows(self) -> float:
        """The number of rows."""
        return float(self.course.n_rows[-1])

    def find_interval(self, form: RatioForm, alpha: float, unit: int | None) -> tuple[float, float]:
        """Return the interval, with a unit by the variance between blocks of at least as many rows."""
        value = form.divide(self.counts)
        if unit is None or math.isnan(value):
            return self.low, self.high
        reach = _reach_of_blocks(form, value, self.course, alpha, unit)
        return min(self.low, value - reach), max(self.high, value + reach)


@dataclass(frozen=True)
class _Case:
    """A requirement whose limits are known: the limit, where it is surely crossed, and where it is surely kept."""

    requirement: BoundRequirement
    form: RatioForm
    limit: float
    worst: float
    best: float
    note: str

    @property
    def score(self) -> Column:
        return self.form.score(self.worst, self.requirement.sign)

    def find_nothing(self, evidence: "_Evidence", test: str, why: str = "") -> "_Finding":
        """Return that nothing is known, but for the value over all rows."""
        value = self.form.divide(evidence.counts[0])
        return _Finding("undecided", self.limit, test, int(evidence.starts[0]), value, note=_join(self.note, why))


@dataclass(frozen=True)
class _Evidence:
    """The rows since some starts, up to now: `counts` by kind [starts, kinds], `n_rows` and the part of alpha [starts].

    The first start is that of the whole; `starts` are rows of the stream.
    """

    starts: NDArray[np.int64]
    counts: Column
    n_rows: Column
    alphas: Column

    def select(self, keep: NDArray[np.bool_]) -> "_Evidence":
        """Return the rows since some of the starts."""
        return _Evidence(self.starts[keep], self.counts[keep], self.n_rows[keep], self.alphas[keep])


@dataclass(frozen=True)
class _Finding:
    """What a look found about a learner and a requirement."""

    outcome: ModelOutcome
    limit: float
    test: str = EXACT
    since: int = 0
    value: float = math.nan
    interval: tuple[float, float] | None = None
    note: str = ""


State = tuple[ModelOutcome, int | None, EarlierVerdict | None]
"""The outcome of a claim, the row at which it was reached, and the last one that no longer holds."""

UNDECIDED: State = ("undecided", None, None)

Claim = tuple[str, int]
"""The name of a learner, and the number of a requirement."""


class ModelWatch:
    """Requirements of the learners of a run, judged at every look.

    A verdict is what holds now. A requirement is broken if, for some start, the interval of the measure over the rows
    since then lies beyond the limit; `ModelVerdict.since` is the start with the strongest evidence. It is kept if the
    interval over all rows lies within the limit and no start shows the opposite.

    Parameters
    ----------
    names
        The names of the learners.
    n_folds
        The number of folds.
    requirements
        What each learner must keep.
    layout
        The meaning of the numbers of tallies.
    alpha
        The probability that any of the verdicts is ever wrong; each claim has an equal part if they are `shared`.
    shared
        Whether all learners and requirements share alpha.
    tests_per_row
        In how many folds a row is tested at most; None for all folds.
    note
        What to keep in mind of all verdicts.
    label_design, losses
        How rows are chosen for a label, and the losses whose sums are kept then. If that is a random share, half of
        alpha is for the interval over all rows, which uses the confidence of the model in those without a label.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = [sg.NaiveBayes(), sg.NoChange()]
    >>> results = sg.evaluate(sg.SEA(n_rows=5000), learners, budgets="error<0.3", every=1000)
    >>> [verdict.outcome for verdict in results.model_verdicts]
    ['kept', 'broken']
    """

    def __init__(  # noqa: PLR0913
        self,
        names: Sequence[str],
        n_folds: int,
        requirements: Sequence[BoundRequirement],
        layout: BlockLayout,
        *,
        alpha: float = 0.05,
        shared: bool = True,
        tests_per_row: int | None = None,
        note: str = "",
        label_design: LabelDesign | None = None,
        losses: Sequence[str] = (),
    ) -> None:
        self._names, self._n_folds, self._layout = tuple(names), n_folds, layout
        self._label_design, self._losses = label_design, tuple(losses)
        self.requirements = tuple(requirements)
        self._forms = [find_form(requirement.measure, layout) for requirement in requirements]
        self.alpha, self._note = alpha, note
        self.n_claims = max(len(self._names) * len(self.requirements), 1) if shared else 1
        self._tests_per_row = tests_per_row or n_folds
        self._states: dict[Claim, State] = {}
        self._changes: list[ModelVerdict] = []
        self._findings: dict[Claim, _Finding] = {}
        self._references: dict[Claim, _Reference] = {}
        self._first_rows: dict[Claim, int] = {}
        self._least_unit = 0  # the fewest rows of a block at the current look
        self._awaits_references = any(requirement.reference is not None for requirement in requirements)
        self._early_rows: list[int] = []
        self._early = np.empty((len(self._names) * n_folds, 0, layout.n_numbers))

    @property
    def _claim_alpha(self) -> float:
        return self.alpha / self.n_claims

    def _count(self, count: Callable[[Tallies], Column], numbers: Column) -> Column:
        """Return counts of numbers [cells, n, numbers] of tallies, the mean over folds, float64 [learners, n, ...]."""
        counts = count(self._layout.restore(np.nan_to_num(numbers).reshape(-1, numbers.shape[-1])))
        return self._average(counts.reshape(numbers.shape[0], numbers.shape[1], -1))

    def _count_rows(self, numbers: Column) -> Column:
        """Return the scored rows in numbers [cells, n, numbers], float64 [learners, n]; NaN for a failed learner."""
        return self._average(numbers[:, :, self._layout.find_position("width"), None])[:, :, 0]

    def _average(self, cells: Column) -> Column:
        """Return the mean over folds of columns [cells, n, kinds], float64 [learners, n, kinds]."""
        folds = cells.reshape(len(self._names), self._n_folds, *cells.shape[1:])
        mean: Column = folds.sum(axis=1) / self._tests_per_row
        return mean

    def _is_exact(self, numbers: Column, n_rows: Column) -> NDArray[np.bool_]:
        """Return of which learners each row counts 1, so that exact sequences apply."""
        weight = self._count(_get_total, numbers[:, -1:])[:, 0, 0]
        exact: NDArray[np.bool_] = np.isclose(weight, n_rows[:, -1], rtol=1e-9, atol=1e-9)
        return exact

    def add(self, kept: Mapping[int, CellBlocks | None]) -> None:
        """Note the tallies of all cells at the ends of blocks in a batch, for reference periods."""
        known = next((blocks for blocks in kept.values() if blocks is not None), None)
        if not self._awaits_references or known is None:
            return
        numbers = np.full((len(self._early), len(known.rows), self._layout.n_numbers), np.nan)
        for index, blocks in kept.items():
            if blocks is not None:
                numbers[index] = blocks.numbers
        for at, row in enumerate(known.rows):
            length = find_block_length(row)
            if row % length:
                continue  # a look, which ends no block
            keep = [index for index, before in enumerate(self._early_rows) if before % length == 0]
            self._early_rows = [*(self._early_rows[index] for index in keep), row]
            self._early = np.concatenate([self._early[:, keep], numbers[:, at : at + 1]], axis=1)
            self._end_references()
            if not self._awaits_references:
                break

    def _end_references(self) -> None:
        """End the reference periods whose rows have all been scored."""
        n_rows = self._count_rows(self._early)
        waiting = False
        for q, (requirement, form) in enumerate(zip(self.requirements, self._forms, strict=True)):
            for index, name in enumerate(self._names):
                if requirement.reference is None or form is None or (name, q) in self._references:
                    continue
                if n_rows[index, -1] >= requirement.reference:
                    counts = self._count(form.count, self._early)[index]
                    course = _Course(np.array(self._early_rows, dtype=np.int64), counts, n_rows[index])
                    alpha, ends = self._claim_alpha / 2, find_range(requirement.measure)
                    ends = invert_bernstein(form, counts[-1], alpha, ends)
                    self._references[name, q] = _Reference(course, *ends)
                else:
                    waiting = waiting or not np.isnan(n_rows[index, -1])
        if not waiting:
            self._awaits_references, self._early_rows, self._early = False, [], self._early[:, :0]

    def look(
        self,
        row: int,
        boundaries: Boundaries,
        numbers: Column,
        *,
        longest_delay: int = 0,
        silent: frozenset[str] = frozenset(),
        label_sums: Column | None = None,
    ) -> None:
        """Judge all learners after `row` rows.

        Parameters
        ----------
        row
            The number of rows of the stream.
        boundaries
            The cumulative tallies at the ends of blocks; those after `row` are not used.
        numbers
            The tallies of all cells now, float64 [cells, numbers]; NaN for a learner that has failed.
        longest_delay
            By how many rows a label has been late at most.
        silent
            The learners that have predicted nothing yet.
        label_sums
            The sums over rows with and without labels, float64 [learners, folds, losses, numbers]; None without any.
        """
        length = find_block_length(row)
        starts = [end for end in boundaries.rows if end <= row and end % length == 0]
        cumulative = np.stack([np.zeros_like(numbers), *map(boundaries.read_numbers, starts), numbers], axis=1)
        n_rows = self._count_rows(cumulative)
        is_exact = self._is_exact(cumulative, n_rows)
        ends = np.array([0, *starts], dtype=np.int64)
        self._least_unit = BLOCK_DELAYS * longest_delay
        unit = length * max(math.ceil(self._least_unit / length), 1)
        blocks = None
        if any(form is None for form in self._forms):
            blocks = boundaries.build(row, min_length=max(self._least_unit, 1))
        for q, (requirement, form) in enumerate(zip(self.requirements, self._forms, strict=True)):
            counts = None if form is None else self._count(form.count, cumulative)
            for index, name in enumerate(self._names):
                if np.isnan(n_rows[index, -1]):
                    continue
                if name in silent:
                    limit = math.nan if requirement.limit is None else requirement.limit
                    finding = _Finding("undecided", limit, note="no prediction yet")
                elif counts is None or form is None:
                    finding = self._judge_by_blocks((index, q), blocks, numbers, row)
                else:
                    known = self._references.get((name, q))
                    reference = known if known is not None and known.row <= row else None
                    course = _Course(np.append(ends, row), counts[index], n_rows[index])
                    finding = self._judge(requirement, form, reference, course, None if is_exact[index] else unit)
                    if label_sums is not None and self._is_powered(requirement):
                        finding = self._judge_by_confidence(requirement, finding, label_sums[index])
                self._note_finding((name, q), finding, row)

    def _is_powered(self, requirement: BoundRequirement) -> bool:
        """Return whether the confidence in rows without a label helps to judge a requirement."""
        design = self._label_design
        known = design is not None and not design.refusal and LOSSES.get(requirement.measure.name) in self._losses
        return known and requirement.limit is not None

    def _judge_by_confidence(self, requirement: BoundRequirement, found: _Finding, numbers: Column) -> _Finding:
        """Judge a mean loss over all rows from a random share of labels; `found` is what the labelled rows show."""
        name, limit, design = requirement.measure.name, requirement.limit, self._label_design
        if design is None or limit is None:
            return found
        sums = LossSums.from_numbers(numbers[:, self._losses.index(LOSSES[name])])
        sums = sums.invert() if name == "accuracy" else sums
        mean = powered_mean(sums, share=design.share, alpha=self._claim_alpha / 2, anytime=True)
        if mean.interval is None or (found.outcome == "broken" and found.since):
            return found
        low, high = mean.interval if requirement.sign > 0 else (-mean.interval[1], -mean.interval[0])
        bound = requirement.sign * limit
        outcome: ModelOutcome = "broken" if low > bound else "kept" if high < bound else "undecided"
        if outcome == "undecided" and found.outcome != "undecided":
            return found
        return _Finding(outcome, limit, POWERED, 0, mean.value, mean.interval, describe_share(sums))

    def _note_finding(self, claim: Claim, finding: _Finding, row: int) -> None:
        self._findings[claim] = finding
        outcome, since, earlier = self._states.get(claim, UNDECIDED)
        if finding.outcome != outcome:
            if since is not None:
                earlier = EarlierVerdict(outcome, since, row)
            self._states[claim] = (finding.outcome, row if finding.outcome != "undecided" else None, earlier)
            self._changes.append(self._make_verdict(claim))

    def _judge(
        self,
        requirement: BoundRequirement,
        form: RatioForm,
        reference: _Reference | None,
        course: _Course,
        unit: int | None,
    ) -> _Finding:
        """Judge a ratio of sums; `unit` is the least length of blocks whose variance counts, None if it is exact."""
        alpha = self._claim_alpha / 2 if self._is_powered(requirement) else self._claim_alpha
        starts, before, n_before = course.ends[:-1], course.counts[:-1], course.n_rows[:-1]
        if requirement.limit is not None:
            case = _Case(requirement, form, requirement.limit, requirement.limit, requirement.limit, self._note)
        elif reference is None:
            why = f"the first {requirement.reference:,} scored rows are the reference"
            return _Finding("undecided", math.nan, value=form.divide(course.counts[-1]), note=why)
        else:
            own_unit = None if unit is None else max(self._least_unit, 1)  # its own blocks do not grow
            ends = reference.find_interval(form, alpha / 2, own_unit)
            case = _set_limits(requirement, form, reference, ends, self._note)
            later = starts > reference.row
            starts = np.append(reference.row, starts[later])
            before = np.concatenate([[reference.counts], before[later]])
            n_before = np.append(reference.n_rows, n_before[later])
            alpha = alpha / 2
        shares = share_alpha(starts)
        shares[0] = 0.5
        evidence = _Evidence(starts, course.counts[-1] - before, course.n_rows[-1] - n_before, alpha * shares)
        if not math.isfinite(case.worst):
            why = "the reference period has too few blocks of rows: make it longer"
            return case.find_nothing(evidence, BLOCK_SEQUENCE, why)
        return _decide_exactly(case, evidence) if unit is None else self._decide_by_variance(case, evidence, unit)

    def _decide_by_variance(self, case: _Case, evidence: _Evidence, unit: int) -> _Finding:
        """Decide by the variance between blocks of at least `unit` rows."""
        form, score = case.form, case.score
        chosen = evidence.select((evidence.starts % unit == 0) | (evidence.starts == evidence.starts[0]))
        totals = chosen.counts @ score
        if len(totals) <= MIN_BLOCKS:
            why = f"it needs {MIN_BLOCKS * unit:,} rows since rows have weights"
            return case.find_nothing(chosen, BLOCK_SEQUENCE, why)
        squares, weights = chosen.counts @ score**2, chosen.counts @ form.whole
        radii = np.full(len(chosen.starts), np.inf)
        for index, n_rows in enumerate(chosen.n_rows.tolist()):
            if n_rows < LEAST_UNITS * unit:
                continue
            least = squares[index] / n_rows
            if form.is_share:
                least = max(least, weights[index] / n_rows * case.worst * (1.0 - case.worst))
            born = find_block_length(int(chosen.starts[index]))
            variance = RowVariance.estimate(totals[0] - totals, chosen.n_rows[0] - chosen.n_rows, index or None)
            radii[index] = widen(
                n_rows,
                variance.at_least(least),
                first_row=LEAST_UNITS * max(born, self._least_unit),
                alpha=float(chosen.alphas[index]),
            )
        beyond = (totals - radii) / np.sqrt(np.maximum(chosen.n_rows, 1.0))
        return _conclude(case, chosen, beyond, lambda index: float(radii[index]), BLOCK_SEQUENCE)

    def _judge_by_blocks(
        self, indices: tuple[int, int], blocks: BlockTallies | None, numbers: Column, row: int
    ) -> _Finding:
        """Judge any other measure over all rows, by leaving blocks out; of a learner and a requirement by index.

        Between two looks what was found before is kept.
        """
        index, requirement = indices[0], self.requirements[indices[1]]
        before = self._findings.get((self._names[index], indices[1]))
        if before is not None and blocks is not None and int(blocks.rows[-1]) != row:
            return before
        measure, limit, k = requirement.measure, requirement.limit or 0.0, self._n_folds
        with np.errstate(divide="ignore", invalid="ignore"):
            now = compute_values(measure, self._layout.restore(numbers[index * k : (index + 1) * k]))
        value = float(now.mean())
        undecided = _Finding("undecided", limit, BLOCK_SEQUENCE, value=value)
        if blocks is None or blocks.n_blocks < MIN_LIVE_BLOCKS:
            length = FIRST_LENGTH if blocks is None else int(np.diff(blocks.rows, prepend=0).max())
            return replace(undecided, note=f"it needs about {MIN_LIVE_BLOCKS * length:,} rows")
        own = blocks.select_learners([index])
        rare = find_rare_class(measure, own, MIN_LIVE_CLASS_ROWS)
        if rare is not None:
            why = f"it needs {MIN_LIVE_CLASS_ROWS} rows of each class, one has {rare[1]}"
            return replace(undecided, note=why)
        values = measure_without_blocks(own, measure)[0].mean(axis=0)
        value, without, n_rows = float(values[0]), values[1:], int(own.rows[-1])  # as old as its variance
        if not (np.isfinite(without).all() and math.isfinite(value)):
            return replace(undecided, note=f"{measure.name} is undefined without one of the blocks of rows")
        b = len(without)
        radius = float(
            block_radius(
                compute_variance(values[None, None])[0],
                n_rows=n_rows,
                first_row=self._first_rows.setdefault((self._names[index], indices[1]), n_rows),
                n_blocks=b,
                alpha=self._claim_alpha,
            )
        )
        low, high = value - radius, value + radius
        beyond = requirement.sign * (value - limit)
        outcome: ModelOutcome = "broken" if beyond > radius else "kept" if beyond < -radius else "undecided"
        return _Finding(outcome, limit, BLOCK_SEQUENCE, 0, value, _clip(low, high, measure), self._note)

    def take_changes(self) -> list[ModelVerdict]:
        """Return the verdicts as they were reached, or no longer held, since the last call."""
        changes, self._changes = self._changes, []
        return changes

    def verdicts(self, failed: frozenset[str] = frozenset()) -> tuple[ModelVerdict, ...]:
        """Return the verdicts of the last look, without those on learners that have failed."""
        claims = product(self._names, range(len(self.requirements)))
        return tuple(
            self._make_verdict(claim) for claim in claims if claim[0] not in failed and claim in self._findings
        )

    def _make_verdict(self, claim: Claim) -> ModelVerdict:
        """Return the verdict of the last look on a learner and a requirement."""
        requirement, finding = self.requirements[claim[1]], self._findings[claim]
        outcome, row, earlier = self._states.get(claim, UNDECIDED)
        return ModelVerdict(
            learner=claim[0],
            requirement=requirement.text,
            outcome=outcome,
            row=row,
            since=finding.since,
            value=finding.value,
            interval=finding.interval,
            limit=finding.limit,
            alpha=self.alpha,
            n_claims=self.n_claims,
            test=finding.test,
            measure=requirement.measure.name,
            unit=requirement.unit,
            greater_is_better=requirement.measure.greater_is_better,
            earlier=earlier,
            note=finding.note,
        )

    def save(self) -> bytes:
        """Return the whole state."""
        states = self._states.items()
        facts = {
            "requirements": [requirement.text for requirement in self.requirements],
            "states": [[*claim, outcome, row, earlier and vars(earlier)] for claim, (outcome, row, earlier) in states],
            "findings": [[*claim, vars(finding)] for claim, finding in self._findings.items()],
            "references": [[*claim, known.low, known.high] for claim, known in self._references.items()],
            "first_rows": [[*claim, row] for claim, row in self._first_rows.items()],
            "awaits_references": self._awaits_references,
            "early_rows": self._early_rows,
            "layout": [self._layout.n_classes, self._layout.statistics],
        }
        columns = {"early": self._early}
        for index, reference in enumerate(self._references.values()):
            columns |= {f"{field.name} {index}": getattr(reference.course, field.name) for field in fields(_Course)}
        return pack_columns("model watch", facts, columns)

    def load(self, state: bytes) -> None:
        """Restore the saved state of a watch over the same learners and requirements, perhaps of fewer classes."""
        facts, columns = unpack_columns("model watch", state)
        with loading("model watch"):
            if facts["requirements"] != [requirement.text for requirement in self.requirements]:
                msg = f"it has the requirements {', '.join(facts['requirements'])}"
                raise ValueError(msg)
            self._states = {
                (name, q): (outcome, row, earlier and EarlierVerdict(**earlier))
                for name, q, outcome, row, earlier in facts["states"]
            }
            self._findings = {
                (name, q): _Finding(**{**values, "interval": values["interval"] and tuple(values["interval"])})
                for name, q, values in facts["findings"]
            }
            self._references = {
                (name, q): _Reference(_Course(*(columns[f"{field.name} {i}"] for field in fields(_Course))), *ends)
                for i, (name, q, *ends) in enumerate(facts["references"])
            }
            self._first_rows = {(name, q): row for name, q, row in facts["first_rows"]}
            self._awaits_references, self._early_rows = facts["awaits_references"], facts["early_rows"]
            n_classes, statistics = facts["layout"]
            self._early = self._layout.adopt(columns["early"], make_layout(n_classes, tuple(statistics)))

    def restart(self) -> None:
        """Forget all verdicts, since rows were added whose order is unknown; those that follow are on all rows."""
        self._states, self._changes, self._findings, self._first_rows = {}, [], {}, {}


def _get_total(tallies: Tallies) -> Column:
    return tallies.total


def _decide_exactly(case: _Case, evidence: _Evidence) -> _Finding:
    """Decide by the exact sequences of all starts."""
    score = case.score
    scale = float(np.abs(score).max())
    totals, squares = evidence.counts @ score, np.maximum(evidence.counts @ score**2 / scale**2, 1.0)
    beyond = bernstein_log_e(totals / scale, squares) - np.log(2.0 / evidence.alphas)

    def find_radius(index: int) -> float:
        return scale * float(bernstein_radius(squares[index], float(evidence.alphas[index])))

    return _conclude(case, evidence, beyond, find_radius, EXACT)


@dataclass(frozen=True)
class JudgedSums:
    """What sums over rows show of many models at one look, each by itself.

    Parameters
    ----------
    outcomes
        What is known of each.
    values, low, high
        The measure and the ends of its interval, float64 [models]; NaN without rows.
    log_e
        The log e-value against the hypothesis that the requirement is kept, float64 [models].
    """

    outcomes: list[ModelOutcome]
    values: Column
    low: Column
    high: Column
    log_e: Column


def judge_sums(requirement: BoundRequirement, form: RatioForm, counts: Column, *, alpha: float) -> JudgedSums:
    """Judge many models by one requirement with a limit, each over all its rows; exact, at any number of looks.

    Parameters
    ----------
    requirement, form
        The requirement, and its measure as a ratio of sums.
    counts
        The rows of each model by kind, float64 [models, kinds]; each row counts 1.
    alpha
        The probability that the verdict on one model is ever wrong.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> from streamgauge.significance import Requirement
    >>> bound = Requirement.parse("error<0.1").bind(SEA().schema)
    >>> form = find_form(bound.measure, BlockLayout(2, ()))
    >>> judge_sums(bound, form, np.array([[980.0, 20.0], [750.0, 250.0], [9.0, 1.0]]), alpha=0.05).outcomes
    ['kept', 'broken', 'undecided']
    """
    limit, sign = requirement.limit or 0.0, requirement.sign
    score = form.score(limit, sign)
    scale = float(np.abs(score).max())
    totals, squares = counts @ score / scale, np.maximum(counts @ score**2 / scale**2, 1.0)
    threshold = math.log(2.0 / alpha)
    log_e = bernstein_log_e(totals, squares)
    broken, kept = log_e > threshold, bernstein_log_e(-totals, squares) > threshold
    radius, whole = bernstein_radius(squares, alpha), counts @ form.whole
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort(limit + sign * scale * (totals + radius * np.array([[-1.0], [1.0]])) / whole, axis=0)
        values = counts @ form.part / whole
    least, most = find_range(requirement.measure)
    outcomes: list[ModelOutcome] = [
        "broken" if is_broken else "kept" if is_kept else "undecided"
        for is_broken, is_kept in zip(broken.tolist(), kept.tolist(), strict=True)
    ]
    return JudgedSums(outcomes, values, np.maximum(ends[0], least), np.minimum(ends[1], most), log_e)


def _conclude(
    case: _Case, evidence: _Evidence, beyond: Column, find_radius: Callable[[int], float], test: str
) -> _Finding:
    """Return the outcome: broken if some start is `beyond` its threshold, kept if the interval of the first is within.

    `find_radius` returns the radius of the sum since a start.
    """
    sign, weights, totals = case.requirement.sign, evidence.counts @ case.form.whole, evidence.counts @ case.score
    index = int(np.argmax(np.where(weights > 0.0, beyond, -np.inf)))
    outcome: ModelOutcome = "broken" if beyond[index] > 0.0 and weights[index] > 0.0 else "undecided"
    index = index if outcome == "broken" else 0
    radius, weight = find_radius(index), float(weights[index])
    if not (weight > 0.0 and math.isfinite(radius)):
        return case.find_nothing(evidence, test)
    if outcome == "undecided" and (totals[0] + radius) / weight < sign * (case.best - case.worst):
        outcome = "kept"
    ends = sorted(case.worst + sign * float(totals[index] + side * radius) / weight for side in (-1.0, 1.0))
    return _Finding(
        outcome=outcome,
        limit=case.limit,
        test=test,
        since=int(evidence.starts[index]),
        value=case.form.divide(evidence.counts[index]),
        interval=_clip(ends[0], ends[1], case.requirement.measure),
        note=case.note,
    )


def _clip(low: float, high: float, measure: Measure) -> tuple[float, float]:
    least, most = find_range(measure)
    return float(max(low, least)), float(min(high, most))


def _reach_of_blocks(form: RatioForm, value: float, course: _Course, alpha: float, unit: int) -> float:
    """Return the half-width of the interval of a ratio at one moment, by the variance between blocks."""
    from scipy.special import stdtrit  # noqa: PLC0415

    score, chosen = form.score(value, 1.0), [0]
    for index, row in enumerate(course.ends.tolist()):
        if row - (course.ends[chosen[-1] - 1] if chosen[-1] else 0) >= unit:
            chosen.append(index + 1)
    totals, n_rows = np.append(0.0, course.counts @ score), np.append(0.0, course.n_rows)
    if len(chosen) <= MIN_BLOCKS:
        return math.inf
    variance = RowVariance.estimate(totals[chosen], n_rows[chosen])
    variance = variance.at_least(float(course.counts[-1] @ score**2) / n_rows[-1])
    error = math.sqrt(variance.value * n_rows[-1]) / float(course.counts[-1] @ form.whole)
    return -float(stdtrit(variance.freedom, alpha / 2)) * error


def invert_bernstein(form: RatioForm, counts: Column, alpha: float, ends: tuple[float, float]) -> tuple[float, float]:
    """Return the interval of a ratio at one moment: the values that an empirical Bernstein test does not reject.

    Parameters
    ----------
    form
        The ratio.
    counts
        The rows by kind.
    alpha
        The level.
    ends
        The least and the greatest value that the ratio can have.

    Examples
    --------
    >>> from streamgauge.measures import error
    >>> form = find_form(error, BlockLayout(2, ()))
    >>> [round(end, 4) for end in invert_bernstein(form, np.array([950.0, 50.0]), 0.05, (0.0, 1.0))]
    [0.0208, 0.0791]
    """
    value, threshold = form.divide(counts), math.log(2.0 / alpha)
    if math.isnan(value):
        return ends

    def rejects(limit: float, sign: float) -> bool:
        score = form.score(limit, sign)
        scale = float(np.abs(score).max())
        squares = max(float(counts @ score**2) / scale**2, 1.0)
        return float(bernstein_log_e(float(counts @ score) / scale, squares)) > threshold

    bounds = []
    for end, sign in zip(ends, (1.0, -1.0), strict=True):
        near, step = value, 1.0
        far = end if math.isfinite(end) else value
        while not math.isfinite(end) and not rejects(far, sign) and step < 2.0**40:
            far, step = value - sign * step, 2.0 * step
        if not rejects(far, sign):
            bounds.append(end)
            continue
        for _ in range(60):
            middle = (near + far) / 2.0
            near, far = (near, middle) if rejects(middle, sign) else (middle, far)
        bounds.append(far)
    return bounds[0], bounds[1]


def _set_limits(
    requirement: BoundRequirement, form: RatioForm, reference: _Reference, ends: tuple[float, float], note: str
) -> _Case:
    """Return the limits that a reference period sets: the ends of its interval, and the margin."""
    shift, value = requirement.sign * requirement.margin, form.divide(reference.counts)
    best, worst = sorted(ends, reverse=requirement.sign < 0.0)
    texts = [format_value(each, requirement.unit) for each in (value, *ends)]
    text = f"in the first {reference.n_rows:,.0f} rows it was {texts[0]}{'%' if requirement.unit == RATE else ''}"
    text += f" [{texts[1]}, {texts[2]}]" if math.isfinite(worst) else ""
    return _Case(requirement, form, value + shift, worst + shift, best + shift, _join(text, note))


def _join(*notes: str) -> str:
    return "; ".join(note for note in notes if note)
