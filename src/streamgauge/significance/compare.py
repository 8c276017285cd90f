"""Which of two learners is better? The recommended test for what was run, or the one that is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records import PairSums, RunData
from streamgauge.significance.comparison import SEEDS, Comparison
from streamgauge.significance.corrected import FOLDED, corrected_t, held_out_ratio
from streamgauge.significance.flips import sign_flip
from streamgauge.significance.fold_tests import sign_test, wilcoxon
from streamgauge.significance.row_tests import mcnemar, two_way_t

__all__ = ["choose_forgetting", "compare", "compare_all"]

ACCURACY = "accuracy"
"""The measure whose sums over rows are kept, so that tests over rows can be done."""

OVER_FOLDS: dict[str, Callable[..., Comparison]] = {"sign": sign_test, "sign_flip": sign_flip, "wilcoxon": wilcoxon}
OVER_ROWS = ("mcnemar", "two_way_t")
TESTS = ("corrected_t", "mcnemar", "sign", "sign_flip", "two_way_t", "wilcoxon")
LANDMARK = "Landmark()"


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

    Unless `test` names one, the test is the one recommended for what was run: the two-way t where all folds scored
    the same rows, the exact Wilcoxon over folds where they did not or another measure than the accuracy is asked for,
    McNemar where there is one fold. `Comparison.reason` says which and why.

    Tests over folds take the last reading of each fold: one number a fold, never windows that overlap.

    Parameters
    ----------
    results
        What an evaluation found.
    first, second
        Names of the learners; may be left out where there are just two.
    test
        ``two_way_t``, ``wilcoxon``, ``sign``, ``sign_flip``, ``corrected_t`` or ``mcnemar``.
    alpha
        The level.
    measure
        What to compare; tests over rows know only the accuracy. None for the accuracy where that was measured,
        else for the first measure of the run, or again the accuracy where that cannot be tested;
        `Comparison.warnings` then says why.
    forgetting
        Of which forgetting to take the readings, as the readings name it. By default ``Landmark()``, or the only one;
        the accuracy is then that of all rows alike.

    Examples
    --------
    >>> ones = np.array([100, 100])
    >>> pair = PairSums("tree", "bayes", 100, ones, np.array([20, 21]), np.array([2, 1]), 3.9, True)
    >>> outcome = compare(Results.from_readings((), (pair,), n_rows=100))
    >>> outcome.better, outcome.test
    ('tree', 'two_way_t')
    """
    pair = _find(results, first, second)
    measure, doubts = (measure, []) if measure else _main_measure(results, pair, test, forgetting)
    over_rows = measure == ACCURACY and forgetting is None
    chosen, reason = (test, "it was asked for") if test else _recommended(pair, measure, alpha, over_rows=over_rows)
    if chosen not in TESTS:
        raise unknown_name(kind="test", name=chosen, known=TESTS)
    if chosen in OVER_FOLDS or chosen == "corrected_t":
        differences = _differences(pair) if over_rows else _last_differences(results, pair, measure, forgetting)
        over_folds = OVER_FOLDS.get(chosen) or partial(corrected_t, ratio=_held_out_ratio(results, pair))
        outcome = over_folds(differences, alpha=alpha)
    elif over_rows:
        outcome = two_way_t(pair, alpha=alpha) if chosen == "two_way_t" else _mcnemar(pair, alpha)
    else:
        msg = (
            f"{chosen} compares the accuracy over all rows; for {measure} use wilcoxon, sign_flip, corrected_t or sign"
        )
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
        warnings=(*outcome.warnings, *doubts, *_warnings(results, pair, outcome)),
    )


def compare_all(
    results: RunData,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    measure: str | None = None,
    forgetting: str | None = None,
) -> tuple[Comparison, ...]:
    """Test every pair of learners as `compare` does, in the order of the learners.

    The p-values are those of the single tests, not adjusted for their number.

    Examples
    --------
    >>> compare_all(Results.from_readings((), n_rows=0))
    ()
    """
    return tuple(
        compare(results, pair.first, pair.second, test=test, alpha=alpha, measure=measure, forgetting=forgetting)
        for pair in results.pairs
    )


def _find(results: RunData, first: str | None, second: str | None) -> PairSums:
    """Find the sums of two learners, turned round where they were counted the other way."""
    names = list(dict.fromkeys(name for pair in results.pairs for name in (pair.first, pair.second)))
    if first is None and second is None and len(results.pairs) == 1:
        return results.pairs[0]
    if first is None or second is None:
        why = f"there are {', '.join(names)}: name two of them" if names else "evaluate at least 2 learners at once"
        msg = f"a comparison needs two learners; {why}"
        raise StreamgaugeError(msg)
    for name in (first, second):
        if name not in names:
            raise _not_compared(results, name, names)
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


def _not_compared(results: RunData, name: str, names: list[str]) -> StreamgaugeError:
    """Say why a learner is in no pair."""
    failure = next((failure for failure in results.failures if failure.learner == name), None)
    if failure is not None:
        return StreamgaugeError(f"{name} cannot be compared: {failure}")
    return unknown_name(kind="learner", name=name, known=names)


def _main_measure(results: RunData, pair: PairSums, test: str | None, forgetting: str | None) -> tuple[str, list[str]]:
    """Choose what to test where nobody says, and tell why it is not what was measured where it is not."""
    if ACCURACY in results.measures or not results.measures:
        return ACCURACY, []
    first, reason = results.measures[0], ""
    if test in OVER_ROWS:
        reason = f"{test} knows no other"
    elif test is None and pair.n_folds == 1:
        reason = "there is one fold, whose rows are compared"
    else:
        try:
            _last_differences(results, pair, first, forgetting)
        except StreamgaugeError as error:
            reason = str(error)
    return (ACCURACY, [f"the accuracy was tested, not {first}: {reason}"]) if reason else (first, [])


def _recommended(pair: PairSums, measure: str, alpha: float, *, over_rows: bool) -> tuple[str, str]:
    """Choose a test; its name and why."""
    if not over_rows:
        return "wilcoxon", f"{measure} is one number a fold, so folds are compared"
    if pair.n_folds == 1:
        return "mcnemar", "there is one fold, so only its rows can be compared"
    if pair.crossed:
        return "two_way_t", "every fold scored every row, so the luck of the seeds and that of the rows are both seen"
    if 2.0 ** (1 - pair.n_folds) <= alpha:
        return "wilcoxon", "the folds scored different rows, so folds are compared"
    return "two_way_t", "the folds scored different rows and are too few for an exact test"


def _differences(pair: PairSums) -> NDArray[np.float64]:
    if not pair.n_scored.all():
        msg = f"fold {int(pair.n_scored.argmin())} scored no row, so it cannot be compared: evaluate more rows"
        raise StreamgaugeError(msg)
    return pair.fold_differences


def _last_differences(results: RunData, pair: PairSums, measure: str, forgetting: str | None) -> NDArray[np.float64]:
    """Take the differences of the last readings of each fold."""
    if measure not in results.measures:
        raise unknown_name(kind="measure", name=measure, known=results.measures)
    chosen = choose_forgetting(results.forgettings, forgetting)
    first, second = (results.curve(learner, measure, chosen)[-1:] for learner in (pair.first, pair.second))
    if not len(first) or np.isnan(first).any() or np.isnan(second).any():
        msg = f"{measure} of {pair.first} or {pair.second} is undefined in some fold after the last row"
        raise StreamgaugeError(msg)
    differences: NDArray[np.float64] = first[0] - second[0]
    return differences


def choose_forgetting(known: tuple[str, ...], asked: str | None) -> str:
    """Choose the readings to compare: those of all rows alike, unless others are asked for.

    Examples
    --------
    >>> choose_forgetting(("Window(1000)", "Landmark()"), None)
    'Landmark()'
    """
    if asked is not None and asked not in known:
        raise unknown_name(kind="forgetting", name=asked, known=known)
    if asked is None and LANDMARK not in known and len(known) > 1:
        msg = f"there are readings of several forgettings: say which of {', '.join(sorted(known))} to compare"
        raise StreamgaugeError(msg)
    return asked or (LANDMARK if LANDMARK in known else next(iter(known)))


def _held_out_ratio(results: RunData, pair: PairSums) -> float:
    """Look up of what kind the folds are."""
    scheme = results.description.get("scheme")
    name = str(scheme.get("name", "")) if isinstance(scheme, Mapping) else ""
    kind = next((kind for kind in FOLDED if kind in name), None)
    if kind is None:
        msg = f"corrected_t needs folds of {', '.join(FOLDED)}, not {name or 'an unknown scheme'}: use another test"
        raise StreamgaugeError(msg)
    return held_out_ratio(kind, pair.n_folds)


def _mcnemar(pair: PairSums, alpha: float) -> Comparison:
    """Test one fold: in the others the same rows would be counted again."""
    outcome = mcnemar(int(pair.only_first[0]), int(pair.only_second[0]), int(pair.n_scored[0]), alpha=alpha)
    warnings = ["McNemar speaks of these two trained models, and any two differ in the long run, even of one algorithm"]
    if pair.n_folds > 1:
        warnings.append(f"McNemar looked at fold 0 of {pair.n_folds} alone, for the folds share their rows")
    return replace(outcome, warnings=tuple(warnings))


def _warnings(results: RunData, pair: PairSums, outcome: Comparison) -> list[str]:
    warnings = []
    shared = int(pair.n_scored.sum()) > pair.n_rows
    seedless = all(_is_seedless(results, name) for name in (pair.first, pair.second))
    if outcome.null == SEEDS and shared and seedless:
        warnings.append(
            "both learners use no randomness and the folds share their rows, so folds differ by resampling alone and"
            " this p-value is far too small: use two_way_t with folds that test all rows"
        )
    if not results.complete:
        warnings.append(f"the run was cut short after {results.n_rows:,} rows")
    return warnings


def _is_seedless(results: RunData, learner: str) -> bool:
    """Look up whether a learner uses no randomness; False where the description does not tell."""
    learners = results.description.get("learners")
    facts = learners.get(learner) if isinstance(learners, Mapping) else None
    return bool(facts.get("seedless")) if isinstance(facts, Mapping) else False
