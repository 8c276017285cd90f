"""Measures made from functions: of a tally, of labels and predictions, or of labels and probabilities.

Which of them a function is follows from the names of its arguments; scorers of scikit-learn know it themselves.
"""

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_module, name_callable, read_scorer
from streamgauge.errors import StreamgaugeError
from streamgauge.measures.functions import Column, as_number, describe_error
from streamgauge.protocols import Measure
from streamgauge.records import ABSTAINED, Schema, ScoredNumbers, ScoredRows, Tally
from streamgauge.tasks import Regression

__all__ = ["FunctionMeasure", "LabelMeasure", "NumberMeasure", "ProbabilityMeasure", "as_measure", "from_function"]

MOST_ROWS = 1_000_000
"""The maximum number of rows with which a tally is passed to a function without weights."""

FEWEST_ROWS = 10_000
"""The number of rows with which a tally of fractional weights is passed to a function without weights."""

TRUE_CLASSES = frozenset({"y_true", "y1", "labels_true"})
"""The first argument of a function of labels, also where the second one has a default."""

PROBABILITIES = frozenset(
    {
        "y_score",
        "y_scores",
        "y_prob",
        "y_probs",
        "y_proba",
        "y_probas",
        "proba",
        "probas",
        "probas_pred",
        "probabilities",
    }
)
"""The second argument of a function of labels and probabilities."""

PROBABILITY_FUNCTIONS = frozenset({"log_loss", "d2_log_loss_score"})
"""Functions of scikit-learn that call probabilities ``y_pred`` in some versions."""

UNITS = {"log_loss": "nats"}


def as_measure(
    *, greater_is_better: bool, name: str | None = None, unit: str | None = None, needs_votes: bool | None = None
) -> Callable[[Callable[..., float]], Measure]:
    """Make a measure from a function of one tally, of labels and predictions, or of labels and probabilities.

    A function of a tally keeps its identity and its docstring.

    Parameters
    ----------
    greater_is_better
        Whether a greater value is better.
    name
        The name in results and tables; that of the function by default.
    unit
        The unit of the values; a ``rate`` is printed in percent.
    needs_votes
        Whether the second argument of a function of labels is probabilities; by default its name decides, such as
        ``y_score`` or ``y_proba``.

    Examples
    --------
    >>> @as_measure(greater_is_better=False)
    ... def abstention(tally: Tally) -> float:
    ...     return float(tally.abstained.sum()) / tally.total
    >>> abstention.name, abstention(Tally(np.eye(2), np.array([2.0, 0.0]), 0.0, 0.0, 4))
    ('abstention', 0.5)
    """

    def decorate(function: Callable[..., float]) -> Measure:
        made = from_function(
            function, greater_is_better=greater_is_better, name=name, unit=unit, needs_votes=needs_votes
        )
        if not isinstance(made, _TallyFunctionMeasure):
            return made
        vars(function).update(name=made.name, greater_is_better=greater_is_better, unit=made.unit)
        return cast("Measure", function)

    return decorate


def from_function(
    function: Callable[..., float],
    *,
    greater_is_better: bool | None = None,
    name: str | None = None,
    unit: str | None = None,
    needs_votes: bool | None = None,
) -> Measure:
    """Make a measure from a plain function, a `functools.partial` or a scorer of scikit-learn.

    Greater values are better, unless the name ends in ``_loss`` or ``_error``, or the scorer has the other sign. The
    value of a scorer is that of its function, without the sign.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer, zero_one_loss
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> from_function(get_scorer("accuracy"))(tally), from_function(zero_one_loss).greater_is_better
    (1.0, False)
    """
    scorer = read_scorer(function)
    if scorer is not None:
        function, sign, response = scorer
        greater_is_better = sign > 0 if greater_is_better is None else greater_is_better
        needs_votes = _needs_probabilities(function, response) if needs_votes is None else needs_votes
    plain = function.func if isinstance(function, partial) else function
    own_name = name_callable(plain)
    if greater_is_better is None:
        greater_is_better = not own_name.endswith(("_loss", "_error"))
    kind = _choose_kind(function, needs_votes=needs_votes)
    return kind(
        function,
        name or name_callable(function),
        greater_is_better=greater_is_better,
        unit=unit or UNITS.get(own_name, "rate"),
    )


def _needs_probabilities(function: Callable[..., float], response: tuple[str, ...]) -> bool:
    if "predict_proba" in response:
        return True
    if "predict" in response:
        return False
    msg = (
        f"the scorer of {name_callable(function)} wants {' or '.join(response)} of an estimator; "
        "a measure can have the predicted classes (predict) or their probabilities (predict_proba)"
    )
    raise StreamgaugeError(msg)


def _choose_kind(function: Callable[..., float], *, needs_votes: bool | None) -> "type[FunctionMeasure]":
    """Return the kind of measure that a function makes, by its arguments; raise if it makes none."""
    name = name_callable(function)
    parameters = _list_parameters(function)
    required = [p.name for p in parameters if p.default is p.empty]
    arguments = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    first, second = (*arguments, "", "")[:2]
    if first.lower() == "x":
        msg = f"{name} cannot be a measure: its first argument is {first}, not the true classes (y_true)"
        raise StreamgaugeError(msg)
    if first == "estimator":
        msg = f"{name} cannot be a measure: it takes an estimator; pass the function that it calls, or a scorer of one"
        raise StreamgaugeError(msg)
    if first not in TRUE_CLASSES and len(required) == 1 and not needs_votes:
        return _TallyFunctionMeasure
    missing = [argument for argument in required if argument not in arguments[:2]]
    if not second or (missing and first not in TRUE_CLASSES):
        expected = "a function of a tally, of y_true and y_pred, or of y_true and y_score"
        msg = f"{name} cannot be a measure: it must be {expected}"
        raise StreamgaugeError(msg)
    if missing:
        msg = f"{name} needs its option {missing[0]}: pass functools.partial({name}, {missing[0]}=...)"
        raise StreamgaugeError(msg)
    if "decision" in second and needs_votes is None:
        msg = f"{name} cannot be a measure: its {second} are decision values, and learners give votes for classes"
        raise StreamgaugeError(msg)
    if needs_votes is None:
        known = find_module(function).startswith("sklearn.") and name.partition("(")[0] in PROBABILITY_FUNCTIONS
        needs_votes = known or second in PROBABILITIES
    return ProbabilityMeasure if needs_votes else LabelMeasure


def _list_parameters(function: Callable[..., float]) -> list[inspect.Parameter]:
    """Return the named arguments of a function."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        msg = f"{function!r} cannot be a measure: its arguments are unknown; wrap it in a Python function"
        raise StreamgaugeError(msg) from None
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters if p.kind not in kinds]


class FunctionMeasure(ABC):
    """A measure made from a function, which is not modified."""

    def __init__(
        self, function: Callable[..., float], name: str, *, greater_is_better: bool, unit: str = "rate"
    ) -> None:
        self._function, self.name, self.greater_is_better, self.unit = function, name, greater_is_better, unit
        parameters = inspect.signature(function).parameters.values()
        self._defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self._is_weighted = any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    @abstractmethod
    def __call__(self, tally: Tally) -> float:
        """Return the value for one tally."""

    def bind(self, schema: Schema) -> Self:  # noqa: ARG002
        """Return the measure for the classes of a schema; raise if the function refuses a trial."""
        return self

    def _refuse(self, schema: Schema, error: Exception) -> StreamgaugeError:
        name = name_callable(self._function).partition("(")[0]
        options = [p.name for p in _list_parameters(self._function) if p.default is not p.empty]
        is_refused = isinstance(error, ValueError) and bool(options)
        hint = f"; set its options with functools.partial({name}, ...)" if is_refused else ""
        where = f"for a stream of {schema.n_classes} classes" if schema.classes else "for a numeric target"
        return StreamgaugeError(f"the measure {self.name} cannot be computed {where}: {describe_error(error)}{hint}")


class _TallyFunctionMeasure(FunctionMeasure):
    """A measure made from a plain function of a tally, whose docstring it has."""

    def __init__(self, function: Callable[..., float], name: str, **options: Any) -> None:  # noqa: ANN401
        super().__init__(function, name, **options)
        self.__doc__ = function.__doc__

    def __call__(self, tally: Tally) -> float:
        return as_number(self._function(tally))

    def bind(self, schema: Schema) -> Self:
        bound = copy(self)
        if schema.target is not None and self.unit == "rate":  # an error is no rate
            bound.unit = ""
        return bound


class LabelMeasure(FunctionMeasure):
    """A measure made from a function ``f(y_true, y_pred)``, for any forgetting.

    A function that takes ``sample_weight`` gets the pairs of classes that occur and their weights. Any other function
    gets the same number of rows as the tally; if the weights are fractional, 10,000 rows in the same proportions, and
    never more than 1,000,000: a rate is then right to four or six digits. Classes are codes, and an abstention is -1;
    functions of scikit-learn that average over classes do not average over it, and with ``average="binary"`` it is a
    prediction of the negative class. The function must not depend on the order of the rows.

    NaN if the tally has no weight.

    Examples
    --------
    >>> from sklearn.metrics import hamming_loss
    >>> loss = LabelMeasure(hamming_loss, "hamming_loss", greater_is_better=False)
    >>> round(loss(Tally(np.array([[4.0, 3.0], [0.5, 2.5]]), np.zeros(2), 0.0, 0.0, 10)), 4)
    0.35
    """

    def __call__(self, tally: Tally) -> float:
        """Return the value for one tally."""
        if tally.total == 0.0:
            return float("nan")
        table = np.column_stack([tally.abstained, tally.confusion])
        y_true, column = np.nonzero(table)
        y_pred, weight = column + ABSTAINED, table[y_true, column]
        y_pred, options = self._pass_abstentions(y_true, y_pred)
        if self._is_weighted:
            options["sample_weight"] = weight
        else:
            counts = _round_weights(weight)
            y_true, y_pred = np.repeat(y_true, counts), np.repeat(y_pred, counts)
        with _quiet():
            return as_number(self._function(y_true, y_pred, **options))

    def _pass_abstentions(
        self, y_true: NDArray[np.intp], y_pred: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], dict[str, Any]]:
        """Return the predictions, and options for a function that would average over -1 as one more class."""
        is_missing = y_pred == ABSTAINED
        if not is_missing.any() or not self._defaults.keys() >= {"average", "labels"}:
            return y_pred, {}
        classes = np.union1d(y_true, y_pred[~is_missing])
        if self._defaults["average"] != "binary":
            return y_pred, {"labels": classes} if self._defaults["labels"] is None else {}
        others = [code for code in (0, 1) if code != self._defaults.get("pos_label", 1)]
        return np.where(is_missing, others[0], y_pred), {}

    def bind(self, schema: Schema) -> "LabelMeasure | NumberMeasure":  # type: ignore[override]
        """Return the measure for the targets of a schema; raise if the function refuses a trial."""
        if schema.target is not None:
            unit = "" if self.unit == "rate" else self.unit
            options: dict[str, Any] = {"greater_is_better": self.greater_is_better, "unit": unit}
            return NumberMeasure(self._function, self.name, **options).bind(schema)
        c = schema.n_classes
        trial = 2.0 * np.eye(c) + np.roll(np.eye(c), 1, axis=1)  # two hits and one error of each class
        try:
            self(Tally(trial, np.zeros(c), c, c, 3 * c))
        except Exception as error:
            raise self._refuse(schema, error) from error
        return self


class NumberMeasure(FunctionMeasure):
    """A measure made from a function ``f(y_true, y_pred)`` of numeric targets, row by row.

    It needs a forgetting that keeps rows: `Window`, `TimeWindow`, `Tumbling`, or `Landmark`, whose memory then grows
    with the stream. A learner that abstains has the prediction of the mean of the targets that its fold has learnt.
    ``sample_weight`` is passed on if rows have weights.

    NaN if there are no rows.

    Examples
    --------
    >>> from sklearn.metrics import median_absolute_error
    >>> from streamgauge.records import NumberTally
    >>> rows = ScoredNumbers(np.array([1.0, 2.0, 9.0]), np.array([1.5, 2.0, 4.0]))
    >>> tally = NumberTally(3.0, {}, 3, rows=rows)
    >>> NumberMeasure(median_absolute_error, "median_absolute_error", greater_is_better=False)(tally)
    0.5
    """

    statistics = ("rows",)
    task = Regression.name

    def __call__(self, tally: Any) -> float:  # noqa: ANN401
        """Return the value for one tally."""
        rows: ScoredNumbers | None = tally.rows
        if rows is None:
            msg = f"{self.name} needs the rows of a tally: build the forgetting with statistics=('rows',)"
            raise StreamgaugeError(msg)
        y_true, y_pred, weight = rows.y_true, rows.y_pred, rows.weight
        if weight is not None:
            counted = weight > 0.0
            y_true, y_pred, weight = y_true[counted], y_pred[counted], weight[counted]
        return self._compute(y_true, y_pred, weight) if len(y_true) else float("nan")

    def _compute(self, y_true: Column, y_pred: Column, weight: Column | None) -> float:
        options: dict[str, Any] = {}
        if weight is not None and self._is_weighted:
            options["sample_weight"] = weight
        elif weight is not None:
            counts = weight.astype(np.int64)
            if not np.array_equal(counts, weight):
                msg = f"rows have fractional weights, and {self.name} takes no sample_weight"
                raise StreamgaugeError(msg)
            y_true, y_pred = np.repeat(y_true, counts), np.repeat(y_pred, counts)
        with _quiet():
            return as_number(self._function(y_true, y_pred, **options))

    def bind(self, schema: Schema) -> Self:
        """Return the measure; raise if the function refuses a trial."""
        y_true = 1.0 + np.arange(6.0)
        try:
            self._compute(y_true, y_true + 0.5, None)
        except Exception as error:
            raise self._refuse(schema, error) from error
        return self


class ProbabilityMeasure(FunctionMeasure):
    """A measure made from a function ``f(y_true, y_score)`` of labels and probabilities, row by row.

    It needs a forgetting that keeps rows: `Window`, `TimeWindow`, `Tumbling`, or `Landmark`, whose memory then grows
    with the stream. Classes are codes. Probabilities are the shares of the votes; with two classes those of class 1,
    float64 [n], as in scikit-learn, else those of all classes, float64 [n, c]. A function that fails with the former
    in a trial gets the latter. ``sample_weight`` is passed on if rows have weights, and ``labels`` if the function
    takes them, so that it knows classes without rows.

    NaN if there are no rows, or if the function raises ValueError where a class has no rows.

    Examples
    --------
    >>> from sklearn.metrics import roc_auc_score
    >>> codes = np.array([0, 1, 0, 1], dtype=np.int32)
    >>> rows = ScoredRows(codes, codes, np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.7, 0.3]]))
    >>> tally = Tally(2.0 * np.eye(2), np.zeros(2), 2.0, 2.0, 4, rows=rows)
    >>> ProbabilityMeasure(roc_auc_score, "roc_auc_score", greater_is_better=True)(tally)
    0.75
    """

    needs_votes = True
    statistics = ("rows",)
    _with_all_classes = False

    def __call__(self, tally: Tally) -> float:
        """Return the value for one tally."""
        if tally.rows is None:
            msg = f"{self.name} needs the rows of a tally: build the forgetting with statistics=('rows',)"
            raise StreamgaugeError(msg)
        y_true, shares, weight = _remove_weightless(tally.rows)
        if not len(y_true):
            return float("nan")
        try:
            with _quiet():
                return self._compute(y_true, shares, weight)
        except ValueError:
            if len(np.unique(y_true)) < shares.shape[1]:
                return float("nan")
            raise

    def _compute(self, y_true: NDArray[np.int32], shares: Column, weight: Column | None) -> float:
        n_classes = shares.shape[1]
        takes_labels = self._defaults.get("labels", ...) is None
        options: dict[str, Any] = {"labels": np.arange(n_classes)} if takes_labels else {}
        if weight is not None and self._is_weighted:
            options["sample_weight"] = weight
        elif weight is not None:
            counts = weight.astype(np.int64)
            if not np.array_equal(counts, weight):
                msg = f"rows have fractional weights, and {self.name} takes no sample_weight"
                raise StreamgaugeError(msg)
            y_true, shares = np.repeat(y_true, counts), np.repeat(shares, counts, axis=0)
        probabilities = shares[:, 1] if n_classes == 2 and not self._with_all_classes else shares
        return as_number(self._function(y_true, probabilities, **options))

    def bind(self, schema: Schema) -> Self:
        """Return the measure for the classes of a schema; raise if the function refuses a trial."""
        c = schema.n_classes
        y_true = np.repeat(np.arange(c, dtype=np.int32), 3)
        votes = np.full((3 * c, c), 1.0) + np.eye(c)[np.repeat(np.roll(np.arange(c), 1), 3)]
        votes[np.arange(0, 3 * c, 3), y_true[::3]] += 2.0  # one of three rows of each class has most votes for it
        shares = ScoredRows(y_true, y_true, votes).shares
        other = copy(self)
        other._with_all_classes = True
        first_error: Exception | None = None
        for form in (self, other):
            try:
                with _quiet():
                    form._compute(y_true, shares, None)
            except Exception as error:
                first_error = first_error or error
            else:
                return form
        raise self._refuse(schema, cast("Exception", first_error)) from first_error


def _remove_weightless(rows: ScoredRows) -> tuple[NDArray[np.int32], Column, Column | None]:
    if rows.weight is None:
        return rows.y_true, rows.shares, None
    counted = rows.weight > 0.0
    return rows.y_true[counted], rows.shares[counted], rows.weight[counted]


class _quiet(warnings.catch_warnings):  # noqa: N801
    """Silences the warnings of scikit-learn about undefined values: these are NaN in the results."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", module=r"sklearn\.")


def _round_weights(weight: Column) -> NDArray[np.int64]:
    """Return whole numbers in the proportions of weights, by largest remainder; whole weights stay as they are."""
    total = weight.sum()
    is_whole = bool((weight == np.floor(weight)).all())
    if is_whole and total <= MOST_ROWS:
        return weight.astype(np.int64)
    exact = weight / total * (MOST_ROWS if is_whole else FEWEST_ROWS)
    counts: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    n_missing = round(exact.sum()) - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:n_missing]] += 1
    return counts
