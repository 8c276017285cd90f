"""The Q statistic of two learners along a run, from the readings of a loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.numbers import MISSING
from streamgauge._format.text import describe_forgetting, make_printable
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import RunData
from streamgauge.reports.curves import summarise_folds

__all__ = ["QCurve", "choose_loss", "compute_q_curve", "describe_q", "format_q_values", "list_q_values"]


@dataclass(frozen=True)
class QCurve:
    """The logarithm of the ratio of the losses of two learners at each reading: below 0 where the first is better.

    Parameters
    ----------
    first, second, measure, forgetting
        The learners, the measure of the loss, and the rows that it covers.
    rows
        The reading rows, int64 [s].
    values
        Of the losses of all folds, float64 [s]; NaN until both learners have a loss.
    folds
        Of each fold, float64 [s, folds].

    Examples
    --------
    >>> curve = QCurve("a", "b", "error", "Landmark()", np.array([10]), np.array([-0.5]), np.array([[-0.5]]))
    >>> curve.final
    -0.5
    """

    first: str
    second: str
    measure: str
    forgetting: str
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    folds: NDArray[np.float64]

    @property
    def final(self) -> float:
        """The value at the last reading; NaN if there is none."""
        return float(self.values[-1]) if len(self.values) else float("nan")

    def as_dict(self) -> dict[str, object]:
        """Return the names and the last value, None if it is undefined."""
        names = {name: getattr(self, name) for name in ("first", "second", "measure", "forgetting")}
        return {**names, "value": None if np.isnan(self.final) else self.final}


def compute_q_curve(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    measure: str | None = None,
    forgetting: str | None = None,
) -> QCurve:
    """Return the Q statistic of two learners, ``log(S_first / S_second)``, at each reading.

    S is the sum of the losses over all rows, over a window, or faded, as the forgetting has it. Both learners were
    tested on the same rows, so the ratio of the sums is that of their means, which are the readings. Only an ADWIN
    window, which is as long as the errors of a learner make it, has the ratio of the means alone.

    Parameters
    ----------
    results
        The results of an evaluation.
    first, second
        Names of the learners; may be omitted if there are just two.
    measure
        A measure that is the mean of a loss over rows: error, log_loss, brier, a cost. For accuracy the loss is the
        error. By default the first of error and accuracy that was measured, else the first that is to be minimised.
    forgetting
        The forgetting of the readings; by default the first.

    References
    ----------
    J. Gama, R. Sebastião and P. P. Rodrigues, Issues in evaluation of stream learning algorithms, KDD 2009.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()}, measures="error")
    >>> print(describe_q(compute_q_curve(results)))
    Q = -0.80 after 1,000 rows, over all rows: the error of bayes is 0.45 times that of majority
    """
    first, second = _choose_pair(results, first, second)
    if measure is None:
        measure = choose_loss({name: results.greater_is_better(name) for name in results.measures})
    losses = [results.curve(name, measure, forgetting) for name in (first, second)]
    if measure == "accuracy":
        losses = [1.0 - loss for loss in losses]
    elif results.greater_is_better(measure):
        msg = f"{measure} is not a loss: the Q statistic compares error, accuracy (as error), log_loss, brier or a cost"
        raise StreamgaugeError(msg)
    forgetting = results.forgettings[0] if forgetting is None else forgetting
    known = np.isfinite(losses[0] + losses[1])
    means = [summarise_folds(np.where(known, loss, np.nan).T).mean for loss in losses]
    return QCurve(
        first, second, measure, forgetting, results.rows, values=_log_ratio(*means), folds=_log_ratio(*losses)
    )


def describe_q(curve: QCurve) -> str:
    """Return the last value of a Q statistic as a sentence.

    Examples
    --------
    >>> curve = QCurve("a", "b", "error", "Landmark()", np.array([10]), np.array([np.nan]), np.array([[np.nan]]))
    >>> describe_q(curve)
    'Q is not defined after 10 rows, over all rows: a or b has no error'
    """
    phrase = describe_forgetting(curve.forgetting)
    n_rows = f"{int(curve.rows[-1]):,} rows" if len(curve.rows) else "0 rows"
    loss = _name_loss(curve.measure)
    if np.isnan(curve.final):
        text = f"Q is not defined after {n_rows}, {phrase}: {curve.first} or {curve.second} has no {loss}"
    else:
        ratio = f"the {loss} of {curve.first} is {np.exp(curve.final):.3g} times that of {curve.second}"
        text = f"Q = {curve.final:.2f} after {n_rows}, {phrase}: {ratio}"
    return make_printable(text)


def list_q_values(results: RunData, measure: str | None = None) -> list[dict[str, object]]:
    """Return the last Q statistic of each pair of learners under each forgetting as plain values, for JSON.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> results = evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()}, measures="error")
    >>> list_q_values(results)[0]["first"], round(list_q_values(results)[0]["value"], 2)
    ('bayes', -0.8)
    """
    return [curve.as_dict() for curve in _list_curves(results, measure)]


def format_q_values(results: RunData, measure: str | None = None) -> str:
    """Return the last Q statistic of each pair of learners under each forgetting as text, for a terminal.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NaiveBayes, evaluate
    >>> print(format_q_values(evaluate(SEA(n_rows=1000), {"bayes": NaiveBayes(), "majority": MajorityClass()})))
    Q statistic, log(loss of first / loss of second) by error: below 0 where the first is better
      bayes, majority  -0.80 over all rows
    """
    curves = _list_curves(results, measure)
    loss = _name_loss(curves[0].measure) if curves else ""
    lines = [f"Q statistic, log(loss of first / loss of second) by {loss}: below 0 where the first is better"]
    names = {(curve.first, curve.second): make_printable(f"{curve.first}, {curve.second}") for curve in curves}
    for pair, name in names.items():
        own = [curve for curve in curves if (curve.first, curve.second) == pair]
        texts = [f"{_format(curve.final)} {describe_forgetting(curve.forgetting)}" for curve in own]
        lines.append(f"  {name.ljust(max(map(len, names.values())))}  {'; '.join(texts)}")
    return "\n".join(lines)


def choose_loss(measures: Mapping[str, bool]) -> str:
    """Return the measure whose loss the Q statistic compares, of measures with whether greater is better.

    Examples
    --------
    >>> choose_loss({"kappa": True, "log_loss": False, "accuracy": True}), choose_loss({"brier": False})
    ('accuracy', 'brier')
    """
    preferred = [name for name in ("error", "accuracy") if name in measures]
    losses = preferred or [name for name, greater_is_better in measures.items() if not greater_is_better]
    if not losses:
        msg = f"the Q statistic needs a loss: measure error, not only {', '.join(measures)}"
        raise StreamgaugeError(msg)
    return losses[0]


def _list_curves(results: RunData, measure: str | None) -> list[QCurve]:
    pairs = combinations(results.learners, 2)
    return [compute_q_curve(results, *pair, measure, name) for pair in pairs for name in results.forgettings]


def _name_loss(measure: str) -> str:
    return "error" if measure == "accuracy" else measure


def _format(value: float) -> str:
    return f"{value:+.2f}" if np.isfinite(value) else MISSING


def _log_ratio(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    defined = (first > 0.0) & (second > 0.0)
    ratio = np.divide(first, second, out=np.full(first.shape, np.nan), where=defined)
    logs: NDArray[np.float64] = np.log(ratio)
    return logs


def _choose_pair(results: RunData, first: str | None, second: str | None) -> tuple[str, str]:
    names: Sequence[str] = [name for name in (first, second) if name is not None] or results.learners
    for name in names:
        if name not in results.learners:
            raise unknown_name(kind="learner", name=name, known=results.learners)
    if len(set(names)) != 2:
        msg = f"the Q statistic needs two learners: choose two of {', '.join(results.learners)}"
        raise StreamgaugeError(msg)
    return names[0], names[1]
