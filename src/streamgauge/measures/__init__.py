"""Measures: pure functions of a tally.

They are used by name (`streamgauge list measures`), as objects with options, or as plain functions ``f(tally)`` and
``f(y_true, y_pred)``.
"""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_unit, list_needed_statistics
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.measures.agreement import determinant, informedness, kappa, kappa_m, kappa_temporal, mcc
from streamgauge.measures.areas import (
    AREAS,
    AreaOfClass,
    pr_auc_ovo_macro,
    pr_auc_ovr_macro,
    pr_auc_ovr_weighted,
    roc_auc_margin,
    roc_auc_ovo_macro,
    roc_auc_ovr_macro,
    roc_auc_ovr_weighted,
)
from streamgauge.measures.classes import AVERAGES, PER_CLASS, Averaged, FBeta, OfClass
from streamgauge.measures.costs import Cost, MinMaxAccuracy, Utility
from streamgauge.measures.counts import abstentions, accuracy, accuracy_when_predicting, coverage, error
from streamgauge.measures.functions import OverTallies, as_measure, compute_values, from_function, over_tallies
from streamgauge.measures.intervals import Chernoff, Hoeffding
from streamgauge.measures.means import balanced_accuracy, g_mean, harmonic_mean
from streamgauge.measures.votes import brier, expected_calibration_error, log_loss
from streamgauge.protocols import Forgetting, ForgettingState, Measure, Stream
from streamgauge.records import Tallies, Tally

__all__ = [
    "COUNT_MEASURES",
    "MEASURES",
    "AreaOfClass",
    "Averaged",
    "Chernoff",
    "Cost",
    "FBeta",
    "Hoeffding",
    "MinMaxAccuracy",
    "OfClass",
    "OverTallies",
    "Utility",
    "abstentions",
    "accuracy",
    "accuracy_when_predicting",
    "as_measure",
    "balanced_accuracy",
    "brier",
    "build_state",
    "coverage",
    "describe_measure",
    "determinant",
    "error",
    "expected_calibration_error",
    "find_measures",
    "g_mean",
    "harmonic_mean",
    "informedness",
    "kappa",
    "kappa_m",
    "kappa_temporal",
    "list_statistics",
    "log_loss",
    "mcc",
    "measure",
    "measure_tallies",
    "over_tallies",
    "pr_auc_ovo_macro",
    "pr_auc_ovr_macro",
    "pr_auc_ovr_weighted",
    "reads_baselines",
    "roc_auc_margin",
    "roc_auc_ovo_macro",
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
]

_BASIC: tuple[Measure, ...] = (
    accuracy,
    error,
    kappa,
    kappa_m,
    kappa_temporal,
    mcc,
    balanced_accuracy,
    g_mean,
    harmonic_mean,
    informedness,
    determinant,
    coverage,
    accuracy_when_predicting,
    abstentions,
)
_AVERAGED: tuple[Measure, ...] = tuple(
    Averaged(of, average)
    for of in PER_CLASS
    for average in AVERAGES
    if (of, average) != ("g_mean_precision_recall", "micro")
)
_FROM_VOTES: tuple[Measure, ...] = (
    log_loss,
    brier,
    expected_calibration_error,
    roc_auc_ovr_macro,
    roc_auc_ovr_weighted,
    roc_auc_ovo_macro,
    pr_auc_ovr_macro,
    pr_auc_ovr_weighted,
    pr_auc_ovo_macro,
    roc_auc_margin,
)

COUNT_MEASURES: dict[str, Measure] = {known.name: known for known in (*_BASIC, *_AVERAGED)}
"""The measures that need only counts, by name."""

MEASURES: dict[str, Measure] = {
    **COUNT_MEASURES,
    **{known.name: known for known in (*_FROM_VOTES, Hoeffding(), Chernoff())},
}
"""All measures by name."""


_BASELINE_MEASURES = {kappa_m.name, kappa_temporal.name}


def reads_baselines(measures: Iterable[Measure]) -> bool:
    """Return whether measures may read the hits of the majority-class and no-change baselines; users' measures may.

    Examples
    --------
    >>> def mine(tally):
    ...     return tally.majority_hits
    >>> [reads_baselines(measures) for measures in ([accuracy, kappa], [accuracy, kappa_m], [measure(mine)])]
    [False, True, True]
    """
    return any(m.name in _BASELINE_MEASURES or m is not MEASURES.get(m.name) for m in measures)


def measure(wanted: str | Measure | Callable[..., float]) -> Measure:
    """Return a measure: that of a name, one made from a plain function, or a given one.

    Besides the names in `MEASURES` there are names with a class, ``recall[up]``, and with a beta, ``f2_macro``.

    Examples
    --------
    >>> measure("kappa_m") is kappa_m
    True
    >>> measure("f0.5_weighted"), measure("recall[up]").name
    (FBeta(beta=0.5, average='weighted', undefined=nan), 'recall[up]')
    >>> measure("kapa")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no measure 'kapa'; did you mean kappa?
    """
    if isinstance(wanted, str):
        return _find_named(wanted)
    if isinstance(wanted, Measure) and callable(wanted):
        return wanted
    if callable(wanted) and not isinstance(wanted, type):
        return from_function(wanted)
    msg = f"{wanted!r} is not a measure: pass a name, a function of a tally or a function of y_true and y_pred"
    raise StreamgaugeError(msg)


def _find_named(name: str) -> Measure:
    if name in MEASURES:
        return MEASURES[name]
    class_measures = (*PER_CLASS, *AREAS)
    with_class = re.fullmatch(r"(\w+)\[(.+)\]", name)
    if with_class:
        known, of = with_class.groups()
        if known not in class_measures:
            raise unknown_name(kind="measure of a class", name=known, known=class_measures)
        return AreaOfClass(known, of) if known in AREAS else OfClass(known, of)
    with_beta = re.fullmatch(r"f(\d+(?:\.\d+)?)_(macro|micro|weighted)", name)
    if with_beta:
        return FBeta(float(with_beta[1]), with_beta[2])
    if name in class_measures:
        averages = [known for known in MEASURES if known.startswith(f"{name}_")]
        msg = f"{name} is a measure of one class: write {name}[CLASS] or, for all classes, {', '.join(averages)}"
        raise StreamgaugeError(msg)
    raise unknown_name(kind="measure", name=name, known=MEASURES)


def find_measures(wanted: object, stream: Stream) -> tuple[Measure, ...]:
    """Return one or several measures, bound to the classes of a stream.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> [measure.name for measure in find_measures(["accuracy", "recall[1]"], SEA())]
    ['accuracy', 'recall[1]']
    """
    several = wanted if isinstance(wanted, list | tuple) else (wanted,)
    bound = tuple(
        known.bind(stream.schema) if isinstance(known, OverTallies) else known for known in map(measure, several)
    )
    names = [known.name for known in bound]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        msg = f"two measures are called {repeated!r}: rename one of them"
        raise StreamgaugeError(msg)
    return bound


def list_statistics(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the names of the statistics that measures need beyond counts.

    Examples
    --------
    >>> list_statistics([accuracy, log_loss, brier, Hoeffding()])
    ('brier', 'log_loss', 'squared_weight')
    """
    return tuple(sorted({name for measure in measures for name in list_needed_statistics(measure)}))


def describe_measure(measure: Measure) -> dict[str, object]:
    """Return the facts about a measure that results need: which way is better, and the unit.

    Examples
    --------
    >>> describe_measure(log_loss)
    {'greater_is_better': False, 'unit': 'nats'}
    """
    return {"greater_is_better": measure.greater_is_better, "unit": find_unit(measure)}


def build_state(forgetting: Forgetting, n_classes: int, measures: Sequence[Measure]) -> ForgettingState:
    """Build the state of a forgetting that keeps only what the measures need.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> build_state(Landmark(), 2, [accuracy]).n_bytes < build_state(Landmark(), 2, [log_loss]).n_bytes
    True
    """
    statistics = list_statistics(measures)
    if not statistics:
        return forgetting.build(n_classes)
    try:
        state: ForgettingState = forgetting.build(n_classes, statistics)  # type: ignore[call-arg]
    except ValueError as problem:
        msg = f"{forgetting}: {problem}"
        raise StreamgaugeError(msg) from None
    return state


def measure_tallies(measures: Sequence[Measure], tallies: Sequence[Sequence[Tally]]) -> NDArray[np.float64]:
    """Return the values for several series of tallies, float64 [series, tallies, measures].

    Examples
    --------
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> measure_tallies([accuracy, error], [[tally], [tally]]).shape
    (2, 1, 2)
    """
    shape = (len(tallies), len(tallies[0]), len(measures))
    if not len(tallies[0]):
        return np.empty(shape)
    joined = Tallies.join(tallies)
    return np.stack([compute_values(measure, joined) for measure in measures], axis=-1).reshape(shape)
