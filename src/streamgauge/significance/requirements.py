"""Requirements of one model: a budget for a measure, a reference period, or a baseline to beat."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamgauge._foreign import find_task_name
from streamgauge._format.text import join_words
from streamgauge.errors import StreamgaugeError, nearest, require_at_least
from streamgauge.measures import (
    Chernoff,
    Cost,
    Hoeffding,
    MinMaxAccuracy,
    OverTallies,
    Utility,
    default_margin,
    describe_measure,
)
from streamgauge.measures import measure as find_measure
from streamgauge.measures.functions import format_option
from streamgauge.protocols import Measure
from streamgauge.records import Schema
from streamgauge.tasks import Regression, find_task

__all__ = ["DEFAULT_REFERENCE", "BoundRequirement", "Requirement", "as_requirements"]

DEFAULT_REFERENCE = 5_000
"""The number of rows of a reference period, unless another is given."""

BASELINES: dict[str, tuple[str, str, float]] = {
    "majority": ("kappa_m", "above", 0.0),
    "no change": ("kappa_temporal", "above", 0.0),
    "mean": ("rae", "below", 1.0),
}
"""The measure that has passed a limit where a baseline is beaten, and the limit, by the name of the baseline."""

OF_NUMBERS = {"kappa_temporal": ("rae_no_change", "below", 1.0)}
"""What a requirement on a baseline is for numeric targets."""

ALLOWED = "error<0.05, recall[CLASS]>0.5, error<reference(5000)+0.01, beats majority, beats no change"

_NUMBER = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?"
_LIMIT = re.compile(rf"\s*([-+]?)\s*({_NUMBER})\s*(%?)\s*")
_REFERENCE = re.compile(rf"\s*reference\s*(?:\(\s*(\d[\d_]*)\s*\))?\s*(?:([-+])\s*({_NUMBER})\s*(%?))?\s*")


@dataclass(frozen=True)
class Requirement:
    """What one model must keep.

    As text: ``error<0.05``, ``recall[fraud]>0.5``, ``error<5%``; with a reference period of 5,000 rows
    ``error<reference(5000)+0.01``; and ``beats majority`` or ``beats no change``.

    Parameters
    ----------
    measure
        The name of the measure.
    below, above
        The limit: a measure of which less is better must stay below it, any other above. None with a reference period.
    reference
        The number of scored rows of the reference period, at the start of the run: the model must not be worse than it
        was then. It ends with a block of rows, so that it can be up to 5 % longer.
    margin
        How much worse than in the reference period it may be, in the unit of the measure; None for the default margin
        of the measure.

    Examples
    --------
    >>> Requirement.parse("error<0.05") == Requirement("error", below=0.05)
    True
    >>> print(Requirement("accuracy", reference=5000, margin=0.01), "|", Requirement("kappa_m", above=0.0))
    accuracy>reference(5000)-0.01 | beats majority
    >>> Requirement.parse("error is low")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: requirement 'error is low': it has no < or >; write it like error<0.05, \
recall[CLASS]>0.5, error<reference(5000)+0.01, beats majority, beats no change
    """

    measure: str
    below: float | None = None
    above: float | None = None
    reference: int | None = None
    margin: float | None = None

    def __post_init__(self) -> None:
        n_limits = sum(option is not None for option in (self.below, self.above, self.reference))
        if n_limits != 1:
            msg = f"requirement on {self.measure}: set one of below, above and reference"
            raise StreamgaugeError(msg)
        if self.reference is not None:
            require_at_least("reference", self.reference, 1)
        if self.margin is not None and self.reference is None:
            msg = f"requirement on {self.measure}: a margin needs a reference period; else add it to the limit"
            raise StreamgaugeError(msg)
        if self.margin is not None and not (math.isfinite(self.margin) and self.margin >= 0.0):
            msg = f"margin = {self.margin}: it must be a number of at least 0"
            raise StreamgaugeError(msg)
        if self.reference is None and not math.isfinite(self._limit):
            msg = f"requirement on {self.measure}: the limit must be a finite number, not {self._limit}"
            raise StreamgaugeError(msg)

    @property
    def _limit(self) -> float:
        return float(next(limit for limit in (self.below, self.above, math.nan) if limit is not None))

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Return the requirement that a text describes."""
        baseline = re.fullmatch(r"\s*beats\s+(?:the\s+)?(.+?)(?:\s+class)?\s*", text)
        if baseline:
            name = re.sub(r"[\s_-]+", " ", baseline[1])
            if name not in BASELINES:
                near = nearest(name, BASELINES)
                hint = f"did you mean 'beats {near}'?" if near else f"there are {join_words(list(BASELINES))}"
                raise _refuse(text, f"there is no baseline {name!r}: {hint}")
            measure, side, limit = BASELINES[name]
            return cls(measure, **{side: limit})  # type: ignore[arg-type]
        at = _find_comparisons(text)
        if len(at) != 1:
            count = "no < or >" if not at else "more than one < or >"
            raise _refuse(text, f"it has {count}; write it like {ALLOWED}")
        sign, name = text[at[0]], text[: at[0]].strip()
        rest = text[at[0] + 1 :].removeprefix("=")
        if not name:
            raise _refuse(text, f"it names no measure; write it like {ALLOWED}")
        try:
            return cls._parse_limit(name, sign, rest, text)
        except StreamgaugeError as error:
            raise error if str(error).startswith("requirement ") else _refuse(text, str(error)) from None

    @classmethod
    def _parse_limit(cls, name: str, sign: str, rest: str, text: str) -> "Requirement":
        limit, reference = _LIMIT.fullmatch(rest), _REFERENCE.fullmatch(rest)
        if limit:
            value = float(limit[1] + limit[2]) / (100.0 if limit[3] else 1.0)
            return cls(name, below=value) if sign == "<" else cls(name, above=value)
        if not reference:
            raise _refuse(text, f"{rest.strip()!r} is neither a number nor reference(ROWS); write it like {ALLOWED}")
        rows, direction, margin, percent = reference.groups()
        if direction is not None and (direction == "+") != (sign == "<"):
            other = "+" if sign == "<" else "-"
            what = f"the margin of a measure that must stay {'below' if sign == '<' else 'above'} its reference is"
            raise _refuse(text, f"{what} written with {other}, as in {name}{sign}reference{other}{margin}")
        return cls(
            name,
            reference=DEFAULT_REFERENCE if rows is None else int(rows.replace("_", "")),
            margin=None if margin is None else float(margin) / (100.0 if percent else 1.0),
        )

    def __str__(self) -> str:
        for baseline, (measure, side, limit) in BASELINES.items():
            if (self.measure, getattr(self, side)) == (measure, limit):
                return f"beats {baseline}"
        if self.reference is None:
            return f"{self.measure}{'>' if self.below is None else '<'}{format_option(self._limit)}"
        is_greater = self._is_greater_better
        margin = "" if self.margin is None else f"{'-' if is_greater else '+'}{format_option(self.margin)}"
        return f"{self.measure}{'>' if is_greater else '<'}reference({self.reference}){margin}"

    @property
    def _is_greater_better(self) -> bool:
        try:
            return find_measure(self.measure).greater_is_better
        except StreamgaugeError:  # a measure of the run, which only that knows
            return False

    def bind(self, schema: Schema, measures: Iterable[Measure] = ()) -> "BoundRequirement":
        """Return the requirement for the classes of a schema; raise if it cannot be kept, or not be broken.

        Parameters
        ----------
        schema
            The classes.
        measures
            The measures of the run, which are found by their names there.
        """
        task = find_task(schema)
        if self.measure in OF_NUMBERS and self.above == 0.0 and not task.n_classes:
            measure_of_numbers, side, limit = OF_NUMBERS[self.measure]
            of_numbers = Requirement(measure_of_numbers, **{side: limit})  # type: ignore[arg-type]
            return replace(of_numbers.bind(schema, measures), text=str(self))
        try:
            measure = next((own for own in measures if own.name == self.measure), None) or find_measure(self.measure)
            measure = measure.bind(schema) if isinstance(measure, OverTallies) else measure
        except StreamgaugeError as error:
            raise _refuse(str(self), str(error)) from None
        if find_task_name(measure) not in ("", task.name):
            raise _refuse(
                str(self), f"{measure.name} is a measure of {find_task_name(measure)}, and the task is {task.name}"
            )
        self._check(measure)
        margin = default_margin(measure) if self.margin is None and self.reference is not None else self.margin
        return BoundRequirement(
            text=str(self),
            measure=measure,
            limit=self._limit if self.reference is None else None,
            reference=self.reference,
            margin=margin or 0.0,
        )

    def _check(self, measure: Measure) -> None:
        greater = measure.greater_is_better
        if isinstance(measure, OverTallies) and measure.describes:
            raise _refuse(str(self), f"no value of {measure.name} is better than another, so none can be required")
        if isinstance(measure, Hoeffding | Chernoff):
            raise _refuse(str(self), f"{measure.name} is the width of an interval: require the error itself")
        if describe_measure(measure)["unit"] in ("rows", "product of counts"):
            raise _refuse(
                str(self), f"{measure.name} grows with the number of rows: require a rate, such as the recall"
            )
        if self.reference is not None:
            return
        if (self.above is not None) != greater:
            side, bound = ("greater", ">") if greater else ("smaller", "<")
            what = f"a {side} {measure.name} is better, so that is no requirement"
            raise _refuse(str(self), f"{what}; write {measure.name}{bound}{format_option(self._limit)}")
        low, high = find_range(measure)
        if not low < self._limit < high:
            ends = (
                f"between {format_option(low)} and {format_option(high)}"
                if math.isfinite(low)
                else f"below {format_option(high)}"
            )
            ends = f"above {format_option(low)}" if math.isinf(high) else ends
            raise _refuse(str(self), f"the limit of {measure.name} must be {ends}")


@dataclass(frozen=True)
class BoundRequirement:
    """A requirement with its measure, for the classes of one stream.

    Parameters
    ----------
    text
        The requirement as it is written.
    measure
        The measure.
    limit
        The value that it must not cross; None if it is that of a reference period.
    reference, margin
        The number of rows of the reference period, and how much worse it may be; None and 0 without one.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> bound = Requirement.parse("accuracy>reference(2000)").bind(SEA().schema)
    >>> bound.reference, bound.margin, bound.sign
    (2000, 0.01, -1.0)
    """

    text: str
    measure: Measure
    limit: float | None
    reference: int | None
    margin: float

    @property
    def sign(self) -> float:
        """1 if a greater value of the measure is worse, else -1."""
        return -1.0 if self.measure.greater_is_better else 1.0

    @property
    def unit(self) -> str:
        """The unit of the measure."""
        return str(describe_measure(self.measure)["unit"])


def as_requirements(wanted: object) -> tuple[Requirement, ...]:
    """Return one or several requirements, each a text or a `Requirement`; none for None.

    Examples
    --------
    >>> [str(one) for one in as_requirements(["error<5%", Requirement("kappa_m", above=0.0)])]
    ['error<0.05', 'beats majority']
    """
    is_several = isinstance(wanted, Sequence) and not isinstance(wanted, str)
    several: Sequence[object] = () if wanted is None else wanted if is_several else [wanted]  # type: ignore[assignment]
    found: dict[Requirement, None] = {}
    for one in several:
        if not isinstance(one, str | Requirement):
            msg = f"budgets: {one!r} is neither a text such as 'error<0.05' nor a Requirement"
            raise StreamgaugeError(msg)
        requirement = Requirement.parse(one) if isinstance(one, str) else one
        if requirement in found:
            msg = f"budgets: {requirement} is there twice"
            raise StreamgaugeError(msg)
        found[requirement] = None
    return tuple(found)


def find_range(measure: Measure) -> tuple[float, float]:
    """Return the least and the greatest value that a measure can have.

    Examples
    --------
    >>> from streamgauge.measures import error, kappa_m
    >>> find_range(error), find_range(kappa_m), find_range(Cost(((0, 1), (10, 0))))
    ((0.0, 1.0), (-inf, 1.0), (0.0, 10.0))
    """
    if isinstance(measure, Cost | Utility):
        if isinstance(measure.matrix, tuple):
            amounts = [*np.ravel(np.array(measure.matrix, dtype=np.float64)).tolist(), measure.abstained]
            return min(amounts), max(amounts)
        return -math.inf, math.inf
    if isinstance(measure, MinMaxAccuracy):
        return -measure.low / (measure.high - measure.low), (1.0 - measure.low) / (measure.high - measure.low)
    if measure.name in _RANGES:
        return _RANGES[measure.name]
    if find_task_name(measure) == Regression.name and not measure.greater_is_better:
        return 0.0, math.inf
    is_rate = isinstance(measure, OverTallies) and describe_measure(measure)["unit"] == "rate"
    return (0.0, 1.0) if is_rate else (-math.inf, math.inf)


_RANGES = {
    **dict.fromkeys(("mcc", "informedness"), (-1.0, 1.0)),
    **dict.fromkeys(("kappa", "kappa_m", "kappa_m_all", "kappa_temporal"), (-math.inf, 1.0)),
    **dict.fromkeys(("r2", "adjusted_r2"), (-math.inf, 1.0)),
    "log_loss": (0.0, -math.log(np.finfo(np.float64).eps)),
}
"""The ranges of rates that can be below 0, and of unbounded losses, which are clipped."""


def _find_comparisons(text: str) -> list[int]:
    """Return the positions of < and > outside brackets and quotes."""
    depth, quote, found = 0, "", []
    for position, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and depth:
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter in "<>" and depth == 0:
            found.append(position)
    return found


def _refuse(text: str, why: str) -> StreamgaugeError:
    return StreamgaugeError(f"requirement {text!r}: {why}")
