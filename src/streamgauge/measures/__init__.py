"""Measures: pure functions of a tally.

They are used by name (`streamgauge list measures`), with options (``Hoeffding(delta=0.01)``, as object or text), or as
plain functions ``f(tally)``, ``f(y_true, y_pred)`` and ``f(y_true, y_score)``.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import find_task_name, find_unit, keeps_all_rows, list_needed_statistics
from streamgauge._format.numbers import RATE
from streamgauge._format.objects import make
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, nearest, unknown_name
from streamgauge.measures.agreement import (
    chance_accuracy,
    determinant,
    informedness,
    kappa,
    kappa_m,
    kappa_m_all,
    kappa_temporal,
    mcc,
    scaled_determinant,
)
from streamgauge.measures.areas import (
    AREAS,
    AreaOfClass,
    pr_auc_margin,
    pr_auc_ovo_macro,
    pr_auc_ovr_macro,
    pr_auc_ovr_weighted,
    roc_auc_margin,
    roc_auc_ovo_macro,
    roc_auc_ovr_macro,
    roc_auc_ovr_weighted,
)
from streamgauge.measures.classes import (
    AVERAGES,
    COUNTS,
    PER_CLASS,
    Averaged,
    ClassMeasure,
    CountOfClass,
    FBeta,
    OfClass,
    find_rate,
)
from streamgauge.measures.costs import Cost, MinMaxAccuracy, Utility
from streamgauge.measures.counts import abstentions, accuracy, accuracy_when_predicting, coverage, error
from streamgauge.measures.errors import (
    AdjustedR2,
    Huber,
    Pinball,
    adjusted_r2,
    bias,
    mae,
    mape,
    mse,
    prediction_share,
    r2,
    rae,
    rae_no_change,
    rmse,
    rrse,
    rrse_no_change,
)
from streamgauge.measures.functions import OverTallies, TallyMeasure, compute_values, over_tallies
from streamgauge.measures.intervals import Chernoff, Hoeffding
from streamgauge.measures.means import balanced_accuracy, g_mean, harmonic_mean
from streamgauge.measures.own import FunctionMeasure, as_measure, from_function
from streamgauge.measures.votes import brier, expected_calibration_error, log_loss
from streamgauge.protocols import Forgetting, ForgettingState, Measure, Stream
from streamgauge.records import Tally, join_tallies
from streamgauge.tasks import Task, find_task

__all__ = [
    "COUNT_MEASURES",
    "MEASURES",
    "NUMBER_MEASURES",
    "WITH_OPTIONS",
    "AdjustedR2",
    "AreaOfClass",
    "Averaged",
    "Chernoff",
    "Cost",
    "CountOfClass",
    "FBeta",
    "Hoeffding",
    "Huber",
    "MinMaxAccuracy",
    "OfClass",
    "OverTallies",
    "Pinball",
    "Utility",
    "abstentions",
    "accuracy",
    "accuracy_when_predicting",
    "adjusted_r2",
    "as_measure",
    "balanced_accuracy",
    "bias",
    "brier",
    "build_state",
    "chance_accuracy",
    "check_forgettings",
    "coverage",
    "default_margin",
    "depends_on_classes",
    "describe_measure",
    "determinant",
    "error",
    "expand_all",
    "expected_calibration_error",
    "find_measures",
    "g_mean",
    "harmonic_mean",
    "informedness",
    "kappa",
    "kappa_m",
    "kappa_m_all",
    "kappa_temporal",
    "list_statistics",
    "log_loss",
    "mae",
    "mape",
    "mcc",
    "measure",
    "measure_tallies",
    "mse",
    "over_tallies",
    "pr_auc_margin",
    "pr_auc_ovo_macro",
    "pr_auc_ovr_macro",
    "pr_auc_ovr_weighted",
    "prediction_share",
    "r2",
    "rae",
    "rae_no_change",
    "reads_baselines",
    "rmse",
    "roc_auc_margin",
    "roc_auc_ovo_macro",
    "roc_auc_ovr_macro",
    "roc_auc_ovr_weighted",
    "rrse",
    "rrse_no_change",
    "scaled_determinant",
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
    scaled_determinant,
    chance_accuracy,
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
    pr_auc_margin,
)

_OF_NUMBERS: tuple[Measure, ...] = (
    mae,
    mse,
    rmse,
    r2,
    adjusted_r2,
    rae,
    rrse,
    rae_no_change,
    rrse_no_change,
    mape,
    bias,
    prediction_share,
)

NUMBER_MEASURES: dict[str, Measure] = {known.name: known for known in _OF_NUMBERS}
"""The measures of numeric targets by name."""

COUNT_MEASURES: dict[str, Measure] = {known.name: known for known in (*_BASIC, *_AVERAGED)}
"""The measures that need only counts, by name."""

MEASURES: dict[str, Measure] = {
    **COUNT_MEASURES,
    **{known.name: known for known in (kappa_m_all, *_FROM_VOTES, Hoeffding(), Chernoff())},
    **NUMBER_MEASURES,
}
"""All measures by name."""

_KINDS = (
    AdjustedR2,
    AreaOfClass,
    Averaged,
    Chernoff,
    Cost,
    CountOfClass,
    FBeta,
    Hoeffding,
    Huber,
    MinMaxAccuracy,
    OfClass,
    Pinball,
    Utility,
)
WITH_OPTIONS: dict[str, type[OverTallies]] = {kind.__name__: kind for kind in _KINDS}
"""The measures with options by name; as text ``Name(option=value, ...)``."""

_NAMES_WITH_OPTIONS: Mapping[str, type[OverTallies]] = {
    "chernoff": Chernoff,
    "cost": Cost,
    "hoeffding": Hoeffding,
    "huber": Huber,
    "min_max_accuracy": MinMaxAccuracy,
    "pinball": Pinball,
    "utility": Utility,
}
"""The names that measures with options have in results; what follows them are the options."""

_BASELINE_MEASURES = {kappa_m.name, kappa_m_all.name, kappa_temporal.name}


def reads_baselines(measures: Iterable[Measure]) -> bool:
    """Return whether measures may read the hits of the majority-class and no-change baselines; users' measures may.

    Examples
    --------
    >>> def mine(tally):
    ...     return tally.majority_hits
    >>> [reads_baselines(measures) for measures in ([accuracy, kappa], [accuracy, kappa_m], [measure(mine)])]
    [False, True, True]
    """
    return any(m.name in _BASELINE_MEASURES or not _is_ours(m) for m in measures)


def _is_ours(measure: Measure) -> bool:
    """Return whether a measure is one of ours, with or without options, and not made from a user's function."""
    if isinstance(measure, TallyMeasure):
        return measure is MEASURES.get(measure.name)
    return isinstance(measure, OverTallies) and type(measure).__module__.startswith("streamgauge.measures.")


def measure(wanted: str | Measure | Callable[..., float]) -> Measure:
    """Return a measure: that of a text, one made from a plain function or a scorer, or a given one.

    Besides the names in `MEASURES` there are names with a class, ``recall[up]`` and ``tp[up]``, with a beta, ``f2[up]``
    and ``f2_macro``, and with options, ``Hoeffding(delta=0.01)``. A name in results is such a text.

    Examples
    --------
    >>> measure("kappa_m") is kappa_m
    True
    >>> measure("f0.5_weighted"), measure("recall[up]").name
    (FBeta(beta=0.5, average='weighted', undefined=nan), 'recall[up]')
    >>> measure("Hoeffding(delta=0.01)").name, measure("hoeffding(0.01)")
    ('hoeffding(0.01)', Hoeffding(delta=0.01, range=1.0, published=False))
    >>> measure("kapa")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no measure 'kapa'; did you mean kappa?
    """
    if isinstance(wanted, str):
        return _find_named(wanted.strip())
    if isinstance(wanted, Measure) and callable(wanted):
        return wanted
    if callable(wanted) and not isinstance(wanted, type):
        return from_function(wanted)
    msg = f"{wanted!r} is not a measure: pass a name, a function of a tally or a function of y_true and y_pred"
    raise StreamgaugeError(msg)


def _find_named(name: str) -> Measure:
    if name in MEASURES:
        return MEASURES[name]
    if name in COUNTS:
        return CountOfClass(name)
    with_class = re.fullmatch(r"([\w.]+)\[(.+)\]", name)
    if with_class:
        return _find_of_class(*with_class.groups())
    averaged = re.fullmatch(r"([\w.]+)_(macro|micro|weighted)(?:_or_(-?\d+(?:\.\d+)?))?", name)
    if averaged and find_rate(averaged[1]):
        rate, average, undefined = averaged[1], averaged[2], float(averaged[3] or "nan")
        return Averaged(rate, average, undefined) if rate in PER_CLASS else FBeta(float(rate[1:]), average, undefined)
    if "(" in name or name in WITH_OPTIONS:
        found: Measure = make("measure", name, {**WITH_OPTIONS, **_NAMES_WITH_OPTIONS})
        return found
    if name in _NAMES_WITH_OPTIONS:
        example = {"min_max_accuracy": "0.5, 0.9", "huber": "1.0", "pinball": "0.9"}.get(name, "[[0, 1], [10, 0]]")
        msg = f"{name} needs options: write {_NAMES_WITH_OPTIONS[name].__name__}({example})"
        raise StreamgaugeError(msg)
    if name in AREAS or find_rate(name):
        averages = [known for known in MEASURES if known.startswith(f"{name}_")] or [f"{name}_macro"]
        msg = f"{name} is a measure of one class: write {name}[CLASS] or, for all classes, {', '.join(averages)}"
        raise StreamgaugeError(msg)
    near = nearest(name, [*MEASURES, *WITH_OPTIONS, *PER_CLASS, *AREAS, *COUNTS])
    hint = f"did you mean {near}?" if near else "'streamgauge list measures' lists all"
    msg = f"there is no measure {name!r}; {hint}"
    raise StreamgaugeError(msg)


def _find_of_class(name: str, of: str) -> Measure:
    if name in AREAS:
        return AreaOfClass(name, of)
    if name in COUNTS:
        return CountOfClass(name, of)
    if find_rate(name) is None:
        raise unknown_name(kind="measure of a class", name=name, known=(*PER_CLASS, *AREAS, *COUNTS))
    return OfClass(name, of)


def expand_all(wanted: object, task: Task | None = None) -> tuple[object, ...]:
    """Return one or several measures as a tuple, in which the text ``all`` stands for every measure of counts.

    Measures of votes are not among them, since learners need longer to compute votes. With a task of numbers, ``all``
    is every measure of errors.

    Examples
    --------
    >>> expand_all(["log_loss", "all"])[:3], expand_all("kappa")
    (('log_loss', 'accuracy', 'error'), ('kappa',))
    """
    several = wanted if isinstance(wanted, list | tuple) else (wanted,)
    if "all" not in [one for one in several if isinstance(one, str)]:
        return tuple(several)
    index = several.index("all")
    before, after = ([one for one in part if one != "all"] for part in (several[:index], several[index:]))
    named = {measure(one).name for one in (*before, *after)}
    known = COUNT_MEASURES if task is None or task.n_classes else NUMBER_MEASURES
    return (*before, *(name for name in known if name not in named), *after)


def find_measures(wanted: object, stream: Stream) -> tuple[Measure, ...]:
    """Return one or several measures, bound to the targets of a stream; ``all`` is every measure of counts.

    None is the default of the task: the accuracy of classes, the mean absolute error of numbers.

    Examples
    --------
    >>> from streamgauge.streams import SEA
    >>> [measure.name for measure in find_measures(["accuracy", "recall[1]"], SEA())]
    ['accuracy', 'recall[1]']
    >>> find_measures("mae", SEA())
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: mae is a measure of regression, and the task of this stream is \
classification: use another measure, such as accuracy
    """
    task = find_task(stream.schema)
    found = [measure(one) for one in expand_all(task.default_measure if wanted is None else wanted, task)]  # type: ignore[arg-type]
    if not found:
        msg = "measures = []: there must be at least one measure"
        raise StreamgaugeError(msg)
    for known in found:
        if find_task_name(known) not in ("", task.name):
            msg = (
                f"{known.name} is a measure of {find_task_name(known)}, and the task of this stream is {task.name}: use"
                f" another measure, such as {task.default_measure}"
            )
            raise StreamgaugeError(msg)
    bound = tuple(m.bind(stream.schema) if isinstance(m, OverTallies | FunctionMeasure) else m for m in found)
    names = [known.name for known in bound]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        msg = f"two measures are called {repeated!r}: rename one of them"
        if repeated in ("cost", "utility"):
            msg += f", such as {repeated.capitalize()}(..., called='{repeated}_2')"
        raise StreamgaugeError(msg)
    return bound


def depends_on_classes(measure: Measure) -> bool:
    """Return whether a measure fits some streams only, by their classes: see `find_measures`.

    Examples
    --------
    >>> depends_on_classes(accuracy), depends_on_classes(measure("recall[up]")), depends_on_classes(Cost())
    (False, True, True)
    """
    return isinstance(measure, ClassMeasure | Cost | Utility | FunctionMeasure)


def list_statistics(measures: Sequence[Measure]) -> tuple[str, ...]:
    """Return the names of the statistics that measures need beyond counts.

    Examples
    --------
    >>> list_statistics([accuracy, log_loss, brier, Hoeffding()])
    ('brier', 'log_loss', 'squared_weight')
    """
    return tuple(sorted({name for measure in measures for name in list_needed_statistics(measure)}))


MARGIN = 0.01
"""The default margin of most measures."""


def describe_measure(measure: Measure) -> dict[str, object]:
    """Return the facts about a measure that results need: which way is better, and the unit.

    Examples
    --------
    >>> describe_measure(log_loss)
    {'greater_is_better': False, 'unit': 'nats'}
    """
    return {"greater_is_better": measure.greater_is_better, "unit": find_unit(measure)}


def default_margin(measure: Measure) -> float:
    """Return the largest difference of a measure that does not matter, unless another margin (`rope`) is set.

    It is 0.01: one percentage point of a rate, 0.01 of an agreement such as kappa, 0.01 nats of log loss. Of a cost or
    utility it is a hundredth of the range of the matrix. Of an error in the unit of a numeric target it is 0: only who
    knows the target can say what does not matter.

    Examples
    --------
    >>> default_margin(accuracy), default_margin(Cost([[0, 1], [50, 0]])), default_margin(mae), default_margin(r2)
    (0.01, 0.5, 0.0, 0.01)
    """
    if find_task_name(measure) == mae.task and find_unit(measure) not in ("", RATE):
        return 0.0
    return MARGIN * (measure.span if isinstance(measure, Cost | Utility) else 1.0)


def build_state(forgetting: Forgetting, task: Task, measures: Sequence[Measure]) -> ForgettingState:
    """Build the state of a forgetting that keeps only what the measures need.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> from streamgauge.tasks import Classification
    >>> task = Classification(("up", "down"))
    >>> build_state(Landmark(), task, [accuracy]).n_bytes < build_state(Landmark(), task, [log_loss]).n_bytes
    True
    """
    statistics = list_statistics(measures)
    try:
        return task.build_state(forgetting, statistics)
    except (ValueError, TypeError) as problem:
        if not statistics:
            raise
        needing = next(m.name for m in measures if list_needed_statistics(m))
        msg = f"{needing} cannot be measured under {to_text(forgetting)}: {problem}"
        raise StreamgaugeError(msg) from None


def check_forgettings(
    forgettings: Sequence[Forgetting], task: Task, measures: Sequence[Measure], *, is_bounded: bool
) -> None:
    """Raise unless every forgetting can keep what the measures need, on a stream that ends or does not.

    Examples
    --------
    >>> from sklearn.metrics import roc_auc_score
    >>> from streamgauge.forgetting import Fading
    >>> from streamgauge.tasks import Classification
    >>> task = Classification(("up", "down"))
    >>> check_forgettings([Fading()], task, [measure(roc_auc_score)], is_bounded=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: roc_auc_score cannot be measured under Fading(factor=0.999): it keeps no...
    """
    if not forgettings:
        msg = "forgetting = []: there must be at least one"
        raise StreamgaugeError(msg)
    statistics = list_statistics(measures)
    for forgetting in forgettings if statistics else ():
        build_state(forgetting, task, measures)
        if "rows" in statistics and not is_bounded and keeps_all_rows(forgetting):
            needing = next(m.name for m in measures if "rows" in list_needed_statistics(m))
            msg = (
                f"{needing} keeps all rows under {to_text(forgetting)}, and the stream does not end: "
                "set n_rows, or use Window, TimeWindow or Tumbling"
            )
            raise StreamgaugeError(msg)


def measure_tallies(
    measures: Sequence[Measure], tallies: Sequence[Sequence[Tally]], reading_rows: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Return the values for several series of tallies, float64 [series, tallies, measures].

    An error names the measure and, of the reading rows, the one at which it failed.

    Examples
    --------
    >>> tally = Tally(np.eye(2), np.zeros(2), 1.0, 1.0, 2)
    >>> measure_tallies([accuracy, error], [[tally], [tally]]).shape
    (2, 1, 2)
    """
    shape = (len(tallies), len(tallies[0]), len(measures))
    if not len(tallies[0]):
        return np.empty(shape)
    joined = join_tallies(tallies)
    return np.stack([compute_values(measure, joined, reading_rows) for measure in measures], axis=-1).reshape(shape)
