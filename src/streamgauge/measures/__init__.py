"""Measures: pure functions of a tally.

By name (`streamgauge list measures`), as objects with options, or as plain functions ``f(tally)`` and
``f(y_true, y_pred)``.
"""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

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
    "determinant",
    "error",
    "expected_calibration_error",
    "facts_of",
    "g_mean",
    "harmonic_mean",
    "informedness",
    "kappa",
    "kappa_m",
    "kappa_temporal",
    "log_loss",
    "mcc",
    "measure",
    "measured",
    "measures_of",
    "over_tallies",
    "pr_auc_ovo_macro",
    "pr_auc_ovr_macro",
    "pr_auc_ovr_weighted",
    "reads_baselines",
    "roc_auc_margin",
    "roc_auc_ovo_macro",
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
    "statistics_of",
]

_SINGLE: tuple[Measure, ...] = (
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
_OF_VOTES: tuple[Measure, ...] = (
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

COUNT_MEASURES: dict[str, Measure] = {known.name: known for known in (*_SINGLE, *_AVERAGED)}
"""Every measure that needs no more than counts, by its name."""

MEASURES: dict[str, Measure] = {
    **COUNT_MEASURES,
    **{known.name: known for known in (*_OF_VOTES, Hoeffding(), Chernoff())},
}
"""Every measure, by its name."""


_OF_BASELINES = {kappa_m.name, kappa_temporal.name}


def reads_baselines(measures: Iterable[Measure]) -> bool:
    """Whether measures may look at what the majority class, or the class seen last, got right; others' own always may.

    Examples
    --------
    >>> def mine(tally):
    ...     return tally.majority_hits
    >>> [reads_baselines(found) for found in ([accuracy, kappa], [accuracy, kappa_m], [measure(mine)])]
    [False, True, True]
    """
    return any(one.name in _OF_BASELINES or one is not MEASURES.get(one.name) for one in measures)


def measure(wanted: str | Measure | Callable[..., float]) -> Measure:
    """Find a measure by its name, or make one of a plain function; a measure is given back as it is.

    Beside the names in `MEASURES` there are those with a class, ``recall[up]``, and with a beta, ``f2_macro``.

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
        return _named(wanted)
    if isinstance(wanted, Measure) and callable(wanted):
        return wanted
    if callable(wanted) and not isinstance(wanted, type):
        return from_function(wanted)
    msg = f"{wanted!r} is not a measure: give a name, a function of a tally or a function of y_true and y_pred"
    raise StreamgaugeError(msg)


def _named(name: str) -> Measure:
    if name in MEASURES:
        return MEASURES[name]
    of_class = re.fullmatch(r"(\w+)\[(.+)\]", name)
    if of_class:
        known, of = of_class.groups()
        if known not in (*PER_CLASS, *AREAS):
            raise unknown_name(kind="measure of a class", name=known, known=(*PER_CLASS, *AREAS))
        return AreaOfClass(known, of) if known in AREAS else OfClass(known, of)
    with_beta = re.fullmatch(r"f(\d+(?:\.\d+)?)_(macro|micro|weighted)", name)
    if with_beta:
        return FBeta(float(with_beta[1]), with_beta[2])
    if name in (*PER_CLASS, *AREAS):
        means = [known for known in MEASURES if known.startswith(f"{name}_")]
        msg = f"{name} is that of a class: write {name}[CLASS] or, of all classes, {', '.join(means)}"
        raise StreamgaugeError(msg)
    raise unknown_name(kind="measure", name=name, known=MEASURES)


def find_measures(wanted: object, stream: Stream) -> tuple[Measure, ...]:
    """Find one or several measures, those of a class with the code it has in a stream.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> [found.name for found in find_measures(["accuracy", "recall[1]"], SEA())]
    ['accuracy', 'recall[1]']
    """
    several = wanted if isinstance(wanted, list | tuple) else (wanted,)
    found = (measure(one) for one in several)
    bound = tuple(one.bound(stream.schema) if hasattr(one, "bound") else one for one in found)
    names = [one.name for one in bound]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        msg = f"two measures are called {repeated!r}; give one of them another name"
        raise StreamgaugeError(msg)
    return bound


def list_statistics(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Name what measures need of a tally beyond the counts.

    Examples
    --------
    >>> list_statistics([accuracy, log_loss, brier, Hoeffding()])
    ('brier', 'log_loss', 'squared_weight')
    """
    needed = {name for one in measures for name in getattr(one, "statistics", ())}
    return tuple(sorted(needed))


def describe_measure(measure: Measure) -> dict[str, object]:
    """Say what a reader of results must know of a measure.

    Examples
    --------
    >>> describe_measure(log_loss)
    {'greater_is_better': False, 'unit': 'nats'}
    """
    return {"greater_is_better": measure.greater_is_better, "unit": getattr(measure, "unit", "rate")}


def build_state(forgetting: Forgetting, n_classes: int, measures: Sequence[Measure]) -> ForgettingState:
    """Build the state of a forgetting that keeps what the measures need, and nothing more.

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
    """Measure several series of tallies, all at once where measures can; float64 [series, tallies, measures].

    Examples
    --------
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> measure_tallies([accuracy, error], [[tally], [tally]]).shape
    (2, 1, 2)
    """
    shape = (len(tallies), len(tallies[0]), len(measures))
    if not len(tallies[0]):
        return np.empty(shape)
    joined = Tallies.joined(tallies)
    return np.stack([compute_values(one, joined) for one in measures], axis=-1).reshape(shape)
