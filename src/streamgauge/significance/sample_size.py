"""How many rows, labels or folds a difference needs, before a run or while it is under way.

The difference of two learners varies with the rows, with the seeds and folds, and with both. With n rows and k folds
its variance is ``rows / n + folds / k + both / (n k)``. So more rows do not help against the luck of folds, nor more
folds against that of rows. The three parts come from a pilot run or from assumptions.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from streamgauge._format.numbers import RATE, format_margin
from streamgauge._format.text import count
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.measures import default_margin, describe_measure
from streamgauge.records import RunData
from streamgauge.significance.compare import leave_pair_out
from streamgauge.significance.comparison import MODELS, QUESTIONS, THIS_STREAM
from streamgauge.significance.confidence_sequences import MIN_LIVE_ROWS, bernstein_radius, block_radius
from streamgauge.significance.two_way import MIN_FOLDS, estimate_variances

__all__ = ["SampleSize", "Spread", "rows_until", "sample_size"]

MAX_ROWS = 10**12
"""More rows count as never."""

MAX_FOLDS = 10_000
"""More folds count as never."""

TYPICAL_BLOCKS = 28
"""A run has 20 to 40 blocks of rows."""

OBSERVED = "the difference is that of the pilot, which is uncertain: pass the least difference that matters"

ALL_LABELS = 0.95
"""From this share of scored rows on, a pilot counts as one with all labels."""


@dataclass(frozen=True)
class Spread:
    """The parts of the variance of a difference, for one row and one fold.

    Parameters
    ----------
    rows
        The variance due to rows, times the number of rows.
    folds
        The variance due to seeds and folds, times the number of folds.
    both
        What is due to both, times both numbers.

    Examples
    --------
    >>> Spread(rows=0.1, folds=0.0002).compute_variance(1000, 10)
    0.00012
    """

    rows: float
    folds: float = 0.0
    both: float = 0.0

    def compute_variance(self, n_rows: float, n_folds: float) -> float:
        """Return the variance of the mean difference over rows and folds."""
        return self.rows / n_rows + self.folds / n_folds + self.both / (n_rows * n_folds)

    def compute_power(self, difference: float, n_rows: float, n_folds: float, alpha: float = 0.05) -> float:
        """Return the probability that the two-way t claims a true difference.

        It is that of a noncentral t with Satterthwaite's degrees of freedom.
        """
        from scipy.special import nctdtr, stdtrit  # noqa: PLC0415

        variance = self.compute_variance(n_rows, n_folds)
        if variance <= 0.0:
            return 1.0 if difference else alpha
        mixed = self.both / (n_rows * n_folds)
        of_rows, of_folds = self.rows / n_rows + mixed, self.folds / n_folds + mixed
        freedom = TYPICAL_BLOCKS - 1.0
        if n_folds > 1:
            spread = of_rows**2 / (TYPICAL_BLOCKS - 1) + of_folds**2 / (n_folds - 1)
            least, most = min(n_folds, TYPICAL_BLOCKS) - 1, TYPICAL_BLOCKS + n_folds - 2
            freedom = min(max(variance**2 / spread, least), most)
        shift, edge = abs(difference) / math.sqrt(variance), float(stdtrit(freedom, 1 - alpha / 2))
        if shift > 30.0:
            return 1.0
        return float(1.0 - nctdtr(freedom, shift, edge) + nctdtr(freedom, shift, -edge))


@dataclass(frozen=True)
class SampleSize:
    """How many rows, labels or folds it takes to tell a difference.

    Parameters
    ----------
    difference, measure, unit
        The difference to tell, of which measure, and its unit.
    power, alpha, n_pairs
        The probability to tell it, the level of all pairs together, and the number of pairs that share it.
    n_rows, n_folds
        The rows and folds of the plan; rows are None if none were planned.
    rows_needed
        The rows that are needed with these folds; None if no number suffices.
    labels_needed
        The labels among those rows.
    folds_needed
        The folds that are needed with the planned rows; None if no number suffices, or no rows are planned.
    folds_at_least
        The folds without which no number of rows suffices; None if no number of folds does either.
    planned_power
        The power of the planned rows and folds; None if no rows are planned.
    rope, live_rows
        The margin of a live verdict, and the rows within which there is one with that power; None if there never is.
    label_share
        The share of rows with a label.
    question
        The question that the test answers, as the end of a sentence.
    source
        Where the variances come from.
    notes
        What to keep in mind.
    first, second
        Names of the learners; empty if unknown.

    Examples
    --------
    >>> sample_size(difference=0.02, discordance=0.1).rows_needed
    2104
    """

    difference: float
    measure: str
    unit: str
    power: float
    alpha: float
    n_pairs: int
    n_rows: int | None
    n_folds: int
    rows_needed: int | None
    labels_needed: int | None
    folds_needed: int | None
    folds_at_least: int | None
    planned_power: float | None
    rope: float
    live_rows: int | None
    label_share: float
    question: str
    source: str
    notes: tuple[str, ...] = ()
    first: str = ""
    second: str = ""

    @property
    def sentence(self) -> str:
        """The answer in English, a sentence for each part of it."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer in English: rows, labels, folds, the planned run and a live verdict."""
        who = f" between {self.first} and {self.second}" if self.first else ""
        level = f"level {self.alpha:g}" + (f" shared by {self.n_pairs} pairs" if self.n_pairs > 1 else "")
        task = (
            f"To tell a difference of {format_margin(_round(self.difference), self.unit)} in {self.measure}{who}"
            f" {self.question} with probability {self.power:g} ({level}, two-way t at the end)"
        )
        folds = count(self.n_folds, "fold")
        if self.rows_needed is None:
            other = (
                f"at least {self.folds_at_least:,} folds are needed"
                if self.folds_at_least is not None
                else "no number of folds suffices either"
            )
            answer = f"no number of rows suffices with {folds}, since the luck of the folds alone is too large; {other}"
        else:
            answer = f"{count(self.rows_needed, 'row')} with {folds}"
            if self.label_share < 1.0:
                answer += f", of which {self.labels_needed:,} have labels"
        return (f"{task}: {answer}.", *self._describe_plan(), self._describe_live())

    def _describe_plan(self) -> tuple[str, ...]:
        if self.n_rows is None or self.planned_power is None:
            return ()
        rows, folds = count(self.n_rows, "row"), count(self.n_folds, "fold")
        chance = "above 0.99" if self.planned_power > 0.99 else f"{self.planned_power:.2f}"
        plan = f"With {rows} and {folds} the probability is {chance}."
        if self.n_folds == 1 or self.planned_power >= self.power:
            return (plan,)
        if self.folds_needed is None:
            return (
                plan,
                f"With {rows} no number of folds suffices, since the luck of the rows alone is too large.",
            )
        return (plan, f"With {rows} it takes {self.folds_needed:,} folds.")

    def _describe_live(self) -> str:
        margin = format_margin(self.rope, self.unit)
        if self.live_rows is None:
            at_margin = math.isclose(abs(self.difference), self.rope)
            reason = (
                ", since the difference is at the margin: choose a smaller one" if at_margin else " with these folds"
            )
            return f"A live verdict with a margin of {margin} cannot be expected{reason}."
        what = "which is better" if abs(self.difference) > self.rope else "that the two are equivalent"
        return f"A live verdict, {what} with a margin of {margin}, is then due within {self.live_rows:,} rows."

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, *(f"Note: {note}." for note in self.notes)])


def sample_size(  # noqa: PLR0913
    pilot: RunData | None = None,
    first: str | None = None,
    second: str | None = None,
    *,
    difference: float | None = None,
    measure: str | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    n_rows: int | None = None,
    n_folds: int | None = None,
    n_pairs: int = 1,
    rope: float | None = None,
    label_share: float | None = None,
    error_rates: tuple[float, float] | None = None,
    discordance: float | None = None,
    positives: float = 1.0,
    fold_deviation: float = 0.0,
) -> SampleSize:
    """Return how many rows, labels or folds it takes to tell a difference between two learners.

    Pass a pilot run, which works for any measure, or assumptions about the accuracy: both error rates, or the
    difference and the share of rows on which only one of the two is right.

    Parameters
    ----------
    pilot
        The results of a short run of both learners on the same stream, best with the scheme that is planned.
    first, second
        Names of the learners of the pilot; may be omitted if there are just two.
    difference
        The difference to tell, such as 0.01 for a percentage point. By default that of the pilot or the error rates.
    measure
        What to compare; by default as for `compare`.
    power
        The probability to tell the difference if it exists.
    alpha
        The level of the test.
    n_rows, n_folds
        The plan: to learn how many folds these rows need, and how many rows these folds. By default those of the pilot,
        else one fold.
    n_pairs
        The number of pairs that will be tested; each has a level of ``alpha / n_pairs``.
    rope
        The margin of a live verdict; by default that of the measure.
    label_share
        The share of rows whose labels arrive; by default that of the pilot, else 1.
    error_rates
        Assumption: the error rates of the two.
    discordance
        Assumption: the share of rows on which exactly one is right. By default as if errors were independent, which is
        too many for most learners, so that the answer is safe.
    positives
        Assumption: the share of rows that count, such as that of the positive class if the recall is compared.
    fold_deviation
        Assumption: the standard deviation of the difference from fold to fold.

    Examples
    --------
    >>> print(sample_size(error_rates=(0.10, 0.12), discordance=0.08, n_rows=1000).sentences[0])
    To tell a difference of 2 percentage points in accuracy as trained here with probability 0.8 (level 0.05, two-way \
t at the end): 1,681 rows with 1 fold.
    >>> import streamgauge as sg
    >>> learners = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree()}
    >>> pilot = sg.evaluate(sg.SEA(n_rows=2000), learners, scheme=sg.Bootstrap(10))
    >>> size = sample_size(pilot, difference=0.01)
    >>> size.rows_needed, size.question
    (264, 'on this stream')
    """
    require_between("power", power, 0.0, 1.0, open_high=True)
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    require_at_least("n_pairs", n_pairs, 1)
    if pilot is None:
        basis = _assume(measure, difference, error_rates, discordance, positives, fold_deviation)
    elif error_rates is not None or discordance is not None or positives != 1.0 or fold_deviation:
        msg = "pass either a pilot or assumptions (error_rates, discordance, positives, fold_deviation), not both"
        raise StreamgaugeError(msg)
    else:
        basis = _read_pilot(pilot, first, second, measure, with_difference=difference is None)
    d = abs(basis.difference if difference is None else difference)
    if not 0.0 < d < math.inf:
        msg = f"difference = {d:g}: it must be above 0; pass the least difference that matters, such as difference=0.01"
        raise StreamgaugeError(msg)
    share = basis.label_share if label_share is None else label_share
    require_between("label_share", share, 0.0, 1.0)
    k = basis.n_folds if n_folds is None else n_folds
    rows = basis.n_rows if n_rows is None else n_rows
    _check_plan(basis, rows, k)
    margin = basis.rope if rope is None else rope
    search = _Search(basis, d, power, alpha / n_pairs)
    scored = search.count_rows(k)
    useful = basis.positives * share
    live = search.count_live_rows(k, margin)
    return SampleSize(
        difference=d,
        measure=basis.measure,
        unit=basis.unit,
        power=power,
        alpha=alpha,
        n_pairs=n_pairs,
        n_rows=rows,
        n_folds=k,
        rows_needed=_scale(scored, useful),
        labels_needed=_scale(scored, basis.positives),
        folds_needed=None if rows is None or k == 1 else search.count_folds(rows * useful),
        folds_at_least=None if scored is not None or k == 1 else search.count_folds(math.inf),
        planned_power=None if rows is None else search.compute_power(rows * useful, k),
        rope=margin,
        live_rows=_scale(live, useful),
        label_share=share,
        question=QUESTIONS[MODELS if k == 1 else THIS_STREAM],
        source=basis.source,
        notes=basis.notes,
        first=basis.first,
        second=basis.second,
    )


@dataclass(frozen=True)
class _Basis:
    """What is known or assumed of two learners."""

    spread: Spread
    difference: float
    measure: str
    unit: str
    n_rows: int | None
    n_folds: int
    rope: float
    discordance: float | None
    label_share: float
    positives: float
    source: str
    first: str = ""
    second: str = ""
    notes: tuple[str, ...] = ()


def _check_plan(basis: _Basis, n_rows: int | None, n_folds: int) -> None:
    """Raise if nothing is known about the planned rows and folds."""
    require_at_least("n_folds", n_folds, 1)
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 1)
    if n_folds > 1 and basis.first and basis.n_folds == 1:
        msg = "the pilot has one fold, so it does not show the luck of seeds and folds: run it with several, such as 5"
        raise StreamgaugeError(msg)
    if 1 < n_folds < MIN_FOLDS:
        msg = f"n_folds = {n_folds}: the two-way t needs one fold or at least {MIN_FOLDS}"
        raise StreamgaugeError(msg)


def _read_pilot(
    results: RunData, first: str | None, second: str | None, measure: str | None, *, with_difference: bool
) -> _Basis:
    """Return the variances of a pilot, by the two-way jackknife."""
    pair, known, values = leave_pair_out(results, first, second, measure)
    facts = describe_measure(known)
    parts, n, k = estimate_variances(values), pair.n_rows, values.n_folds
    both = min(parts.both, max(parts.rows, parts.folds))
    spread = Spread(
        n * max(parts.rows - both, 0.0) if k > 1 else n * parts.rows,
        k * max(parts.folds - both, 0.0) if k > 1 else 0.0,
        n * k * both if k > 1 else 0.0,
    )
    share = n / results.n_rows
    only = (pair.only_first + pair.only_second)[0] / max(int(pair.n_scored[0]), 1)
    return _Basis(
        spread=spread,
        difference=values.difference,
        measure=known.name,
        unit=str(facts["unit"]),
        n_rows=results.n_rows,
        n_folds=k,
        rope=default_margin(known),
        discordance=float(only) if known.name in ("accuracy", "error") and k == 1 else None,
        label_share=share if share < ALL_LABELS else 1.0,
        positives=1.0,
        source=f"a pilot of {results.n_rows:,} rows with {count(k, 'fold')}",
        first=pair.first,
        second=pair.second,
        notes=(
            "the variances of a pilot are uncertain: a longer pilot gives a better answer",
            *((OBSERVED,) if with_difference else ()),
        ),
    )


def _assume(
    measure: str | None,
    difference: float | None,
    error_rates: tuple[float, float] | None,
    discordance: float | None,
    positives: float,
    fold_deviation: float,
) -> _Basis:
    """Return the variances that assumptions imply."""
    require_between("positives", positives, 0.0, 1.0)
    if not 0.0 <= fold_deviation < math.inf:
        msg = f"fold_deviation = {fold_deviation!r}: it must be a number of at least 0"
        raise StreamgaugeError(msg)
    notes = []
    if error_rates is not None:
        for rate in error_rates:
            require_between("error_rates", rate, 0.0, 1.0, open_low=False)
        a, b = error_rates
        gap = abs(a - b) if difference is None else abs(difference)
        most = min(a + b, 2.0 - a - b)
        if discordance is None:
            discordance = a * (1.0 - b) + b * (1.0 - a)
            notes.append(
                f"errors are assumed to be independent, so that only one is right on {discordance:.2%} of the rows:"
                " most learners agree more, and need fewer rows"
            )
        elif not abs(a - b) - 1e-12 <= discordance <= most + 1e-12:
            msg = (
                f"discordance = {discordance:g}: with error rates of {a:g} and {b:g} exactly one is right on between"
                f" {abs(a - b):g} and {most:g} of the rows"
            )
            raise StreamgaugeError(msg)
    elif difference is None or discordance is None:
        msg = (
            "a sample size needs a pilot, or assumptions: error_rates, or difference and discordance (the share of rows"
            " on which exactly one of the two is right)"
        )
        raise StreamgaugeError(msg)
    else:
        gap = abs(difference)
    require_between("discordance", discordance, 0.0, 1.0)
    if gap > discordance:
        msg = f"difference = {gap:g}: it cannot be above the share of rows on which only one is right, {discordance:g}"
        raise StreamgaugeError(msg)
    return _Basis(
        spread=Spread(discordance - gap**2, fold_deviation**2),
        difference=gap,
        measure=measure or ("accuracy" if positives == 1.0 else "recall"),
        unit=RATE,
        n_rows=None,
        n_folds=1,
        rope=0.01,
        discordance=discordance,
        label_share=1.0,
        positives=positives,
        source="assumptions",
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Search:
    """The least numbers with which a difference is found."""

    basis: _Basis
    difference: float
    power: float
    alpha: float

    def compute_power(self, n_rows: float, n_folds: float) -> float:
        return self.basis.spread.compute_power(self.difference, n_rows, n_folds, self.alpha)

    def count_rows(self, n_folds: int) -> int | None:
        return _find_least(lambda n: self.compute_power(n, n_folds) >= self.power)

    def count_folds(self, n_rows: float) -> int | None:
        return _find_least(lambda k: self.compute_power(n_rows, k) >= self.power, MIN_FOLDS, MAX_FOLDS)

    def count_live_rows(self, n_folds: int, rope: float) -> int | None:
        """Return the rows at which the interval of a live test is likely to leave the margin, or to lie within it."""
        from scipy.special import ndtri  # noqa: PLC0415

        spread, reach = self.basis.spread, float(ndtri(self.power))

        def is_enough(n: int) -> bool:
            error = math.sqrt(spread.compute_variance(n, n_folds))
            return self._compute_live_radius(n, n_folds) + reach * error < abs(self.difference - rope)

        return None if math.isclose(self.difference, rope) else _find_least(is_enough, MIN_LIVE_ROWS)

    def _compute_live_radius(self, n: int, n_folds: int) -> float:
        spread, discordance = self.basis.spread, self.basis.discordance
        if n_folds == 1 and discordance is not None:  # an exact sequence
            return float(bernstein_radius(n * discordance, self.alpha)) / n
        variance = spread.compute_variance(n, n_folds)
        facts = {"n_rows": n, "first_row": MIN_LIVE_ROWS, "n_blocks": TYPICAL_BLOCKS, "n_folds": n_folds}
        return float(block_radius(variance, **facts, alpha=self.alpha))


def rows_until(difference: float, rope: float, radius: Callable[[int], float], n_rows: int = 1) -> int | None:
    """Return the number of rows at which a live verdict is due, if the difference stays as it is.

    That is the smallest number, from `n_rows` up, at which the radius is smaller than the distance of the difference
    from the margin: for a difference beyond the margin one learner is then known to be better, within it the two are
    known to be equivalent. None if no number of rows suffices.

    Parameters
    ----------
    difference
        The difference of the measure.
    rope
        The margin: differences up to this do not matter.
    radius
        The half-width of the confidence sequence as a function of the number of rows, which falls with it.
    n_rows
        The rows so far.

    Examples
    --------
    >>> rows_until(0.03, 0.01, lambda n: n**-0.5), rows_until(0.01, 0.01, lambda n: n**-0.5)
    (2501, None)
    """
    require_at_least("n_rows", n_rows, 1)
    distance = abs(abs(difference) - rope)
    if not 0.0 < distance < math.inf:
        return None
    return _find_least(lambda n: radius(n) < distance, n_rows)


def _find_least(is_enough: Callable[[int], bool], start: int = 1, limit: int = MAX_ROWS) -> int | None:
    """Return the least number from `start` up that is enough, as all greater ones are; None if it is above a limit."""
    high = start
    while not is_enough(high):
        if high >= limit:
            return None
        high = min(2 * high, limit)
    low = max(high // 2, start - 1)  # not enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _scale(scored: int | None, share: float) -> int | None:
    """Return the rows of the stream of which a share is as many as are scored."""
    return None if scored is None else math.ceil(scored / share - 1e-9)


def _round(difference: float) -> float:
    """Return a difference with three significant digits."""
    return float(f"{difference:.3g}")
