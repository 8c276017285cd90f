"""Tests between learners after a run: the recommended one, or one chosen by name."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import PairSums, RunData
from streamgauge.significance.comparison import SEEDS, TESTS, Comparison, SignificanceTest
from streamgauge.significance.fold_tests import RESAMPLING_SCHEMES, held_out_ratio

__all__ = ["choose_forgetting", "compare", "compare_all", "list_tests"]

ACCURACY = "accuracy"
"""The measure whose sums over rows are recorded, so that it can be tested over rows."""

FOLD_BASES = ("folds", "resampled folds")
ROW_BASES = ("folds and rows", "rows of one fold")
LANDMARK = "Landmark()"


def list_tests() -> tuple[str, ...]:
    """Return the names of the tests that `compare` can run.

    Examples
    --------
    >>> list_tests()
    ('corrected_t', 'mcnemar', 'sign', 'sign_flip', 'two_way_t', 'wilcoxon')
    """
    return tuple(sorted(name for name, test in TESTS.items() if test.over in FOLD_BASES + ROW_BASES))


def compare(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    measure: str | None = None,
    forgetting: str | None = None,
) -> Comparison:
    """Test whether one of two learners is better, after a run.

    Unless `test` names one, the recommended test is used: the two-way t if all folds scored the same rows, the exact
    Wilcoxon over folds if they did not or `measure` is not the accuracy, McNemar if there is one fold.
    `Comparison.reason` says which and why.

    Tests over folds use the last reading of each fold: one number per fold, never overlapping windows.

    Parameters
    ----------
    results
        The results of an evaluation.
    first, second
        Names of the learners; may be omitted if there are just two.
    test
        The name of a test: one of `list_tests`.
    alpha
        The level.
    measure
        What to compare; tests over rows support only the accuracy. None for the accuracy if it was measured, else for
        the first measure of the run, or for the accuracy after all if that cannot be tested; `Comparison.warnings`
        then explains why.
    forgetting
        The name of the forgetting whose readings to use. By default ``Landmark()``, or the only one; the accuracy is
        then that of all rows with equal weight.

    Examples
    --------
    >>> ones = np.array([100, 100])
    >>> pair = PairSums("tree", "bayes", 100, ones, np.array([20, 21]), np.array([2, 1]), 3.9, True)
    >>> outcome = compare(RunData.from_readings((), (pair,), n_rows=100))
    >>> outcome.better, outcome.test
    ('tree', 'two_way_t')
    """
    pair = _find_pair(results, first, second)
    if test is not None and test not in list_tests():
        raise unknown_name(kind="test", name=test, known=list_tests())
    measure, doubts = (measure, []) if measure else _choose_measure(results, pair, test, forgetting)
    over_rows = measure == ACCURACY and forgetting is None
    name, reason = (test, "chosen explicitly") if test else _recommend(pair, measure, alpha, over_rows=over_rows)
    if TESTS[name].over in FOLD_BASES:
        differences = _count_differences(pair) if over_rows else _read_differences(results, pair, measure, forgetting)
        outcome = _run_over_folds(TESTS[name], differences, results, alpha)
    elif over_rows:
        outcome = _run_over_rows(TESTS[name], pair, alpha)
    else:
        known = ", ".join(other for other in list_tests() if TESTS[other].over in FOLD_BASES)
        msg = f"{name} compares the accuracy over all rows; for {measure} use one of {known}"
        raise StreamgaugeError(msg)
    return replace(
        outcome,
        first=pair.first,
        second=pair.second,
        measure=measure,
        greater_is_better=results.greater_is_better(measure),
        unit=results.unit(measure),
        reason=reason,
        forgetting=LANDMARK if over_rows else choose_forgetting(results.forgettings, forgetting),
        warnings=(*outcome.warnings, *doubts, *_list_warnings(results, pair, outcome)),
    )


def compare_all(
    results: RunData,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    measure: str | None = None,
    forgetting: str | None = None,
) -> tuple[Comparison, ...]:
    """Test every pair of learners with `compare`, in the order of the learners.

    The p-values are those of the single tests, not adjusted for their number.

    Examples
    --------
    >>> compare_all(RunData.from_readings((), n_rows=0))
    ()
    """
    return tuple(
        compare(results, pair.first, pair.second, test=test, alpha=alpha, measure=measure, forgetting=forgetting)
        for pair in results.pairs
    )


def choose_forgetting(known: tuple[str, ...], name: str | None) -> str:
    """Return the name of the forgetting to compare: `name`, or ``Landmark()``, or the only one.

    Examples
    --------
    >>> choose_forgetting(("Window(1000)", "Landmark()"), None)
    'Landmark()'
    """
    if name is not None and name not in known:
        raise unknown_name(kind="forgetting", name=name, known=known)
    if name is None and LANDMARK not in known and len(known) > 1:
        msg = f"there are readings of several forgettings: choose one of {', '.join(sorted(known))}"
        raise StreamgaugeError(msg)
    return name or (LANDMARK if LANDMARK in known else next(iter(known)))


def _find_pair(results: RunData, first: str | None, second: str | None) -> PairSums:
    """Return the sums of two learners, swapped if they were counted in the other order."""
    names = list(dict.fromkeys(name for pair in results.pairs for name in (pair.first, pair.second)))
    if first is None and second is None and len(results.pairs) == 1:
        return results.pairs[0]
    if first is None or second is None:
        advice = f"choose two of {', '.join(names)}" if names else "evaluate at least 2 learners in one run"
        msg = f"a comparison needs two learners; {advice}"
        raise StreamgaugeError(msg)
    for name in (first, second):
        if name not in names:
            raise _explain_missing(results, name, names)
    for pair in results.pairs:
        if (pair.first, pair.second) == (first, second):
            return pair
        if (pair.first, pair.second) == (second, first):
            return replace(
                pair,
                first=first,
                second=second,
                only_first=pair.only_second,
                only_second=pair.only_first,
                block_sums=-pair.block_sums,
            )
    msg = f"{first} cannot be compared with itself"
    raise StreamgaugeError(msg)


def _explain_missing(results: RunData, name: str, names: list[str]) -> StreamgaugeError:
    """Return the error for a learner without pairs."""
    failure = next((failure for failure in results.failures if failure.learner == name), None)
    if failure is not None:
        return StreamgaugeError(f"{name} cannot be compared: {failure}")
    return unknown_name(kind="learner", name=name, known=names)


def _choose_measure(
    results: RunData, pair: PairSums, test: str | None, forgetting: str | None
) -> tuple[str, list[str]]:
    """Return the measure to test by default, and a warning if it is not the measured one."""
    if ACCURACY in results.measures or not results.measures:
        return ACCURACY, []
    first, reason = results.measures[0], ""
    if test is not None and TESTS[test].over not in FOLD_BASES:
        reason = f"{test} supports no other measure"
    elif test is None and pair.n_folds == 1:
        reason = "with one fold, rows are compared"
    else:
        try:
            _read_differences(results, pair, first, forgetting)
        except StreamgaugeError as error:
            reason = str(error)
    return (ACCURACY, [f"accuracy was tested instead of {first}: {reason}"]) if reason else (first, [])


def _recommend(pair: PairSums, measure: str, alpha: float, *, over_rows: bool) -> tuple[str, str]:
    """Return the name of the recommended test and the reason."""
    if not over_rows:
        return "wilcoxon", f"{measure} is one number per fold, so folds are compared"
    if pair.n_folds == 1:
        return "mcnemar", "there is one fold, so only its rows can be compared"
    if pair.crossed:
        return "two_way_t", "every fold scored every row, so the variance of both seeds and rows can be estimated"
    if 2.0 ** (1 - pair.n_folds) <= alpha:
        return "wilcoxon", "the folds scored different rows, so folds are compared"
    return "two_way_t", "the folds scored different rows and are too few for an exact test"


def _run_over_folds(
    test: SignificanceTest, differences: NDArray[np.float64], results: RunData, alpha: float
) -> Comparison:
    if test.over == "resampled folds":
        return test.run(differences, _find_held_out_ratio(results, test.name, len(differences)), alpha=alpha)
    return test.run(differences, alpha=alpha)


def _run_over_rows(test: SignificanceTest, pair: PairSums, alpha: float) -> Comparison:
    if test.over == "folds and rows":
        return test.run(pair, alpha=alpha)
    # One fold only: the others would count the same rows again.
    outcome = test.run(int(pair.only_first[0]), int(pair.only_second[0]), int(pair.n_scored[0]), alpha=alpha)
    warnings = [
        f"{test.title} compares two trained models, and over enough rows any two differ, even of the same algorithm"
    ]
    if pair.n_folds > 1:
        warnings.append(f"{test.title} used fold 0 of {pair.n_folds} only, because the folds share their rows")
    return replace(outcome, warnings=tuple(warnings))


def _count_differences(pair: PairSums) -> NDArray[np.float64]:
    if not pair.n_scored.all():
        msg = f"fold {int(pair.n_scored.argmin())} scored no row, so it cannot be compared: evaluate more rows"
        raise StreamgaugeError(msg)
    return pair.fold_differences


def _read_differences(results: RunData, pair: PairSums, measure: str, forgetting: str | None) -> NDArray[np.float64]:
    """Return the differences of the last readings of each fold."""
    if measure not in results.measures:
        raise unknown_name(kind="measure", name=measure, known=results.measures)
    chosen = choose_forgetting(results.forgettings, forgetting)
    first, second = (results.curve(learner, measure, chosen)[-1:] for learner in (pair.first, pair.second))
    if not len(first) or np.isnan(first).any() or np.isnan(second).any():
        msg = f"{measure} of {pair.first} or {pair.second} is undefined in some fold after the last row"
        raise StreamgaugeError(msg)
    differences: NDArray[np.float64] = first[0] - second[0]
    return differences


def _find_held_out_ratio(results: RunData, test: str, n_folds: int) -> float:
    scheme = results.description.get("scheme")
    name = str(scheme.get("name", "")) if isinstance(scheme, Mapping) else ""
    kind = next((kind for kind in RESAMPLING_SCHEMES if kind in name), None)
    if kind is None:
        schemes = ", ".join(RESAMPLING_SCHEMES)
        msg = f"{test} needs folds of {schemes}, not {name or 'an unknown scheme'}: use another test"
        raise StreamgaugeError(msg)
    return held_out_ratio(kind, n_folds)


def _list_warnings(results: RunData, pair: PairSums, outcome: Comparison) -> list[str]:
    warnings = []
    shared = int(pair.n_scored.sum()) > pair.n_rows
    seedless = all(_is_seedless(results, name) for name in (pair.first, pair.second))
    if outcome.null == SEEDS and shared and seedless:
        warnings.append(
            "both learners are deterministic and the folds share their rows, so folds differ by resampling alone and"
            " this p-value is far too small: use two_way_t with folds that test all rows"
        )
    if not results.complete:
        warnings.append(f"the run was cut short after {results.n_rows:,} rows")
    return warnings


def _is_seedless(results: RunData, learner: str) -> bool:
    """Return whether a learner uses no randomness; False if the description does not say."""
    learners = results.description.get("learners")
    facts = learners.get(learner) if isinstance(learners, Mapping) else None
    return bool(facts.get("seedless")) if isinstance(facts, Mapping) else False
