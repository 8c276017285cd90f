"""Tests between learners after a run: the two-way test of any measure, or one chosen by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_between, require_kind, unknown_name
from streamgauge.measures import OverTallies, describe_measure, list_statistics
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import Measure
from streamgauge.records import PairSums, RunData, Schema
from streamgauge.significance.all_pairs import Comparisons, adjust_pairs, check_adjustment
from streamgauge.significance.comparison import SEEDS, TESTS, Comparison, SignificanceTest, find_test
from streamgauge.significance.fold_tests import RESAMPLING_SCHEMES, held_out_ratio
from streamgauge.significance.mean_readings import find_width, leave_readings_out
from streamgauge.significance.two_way import (
    TRAINING_FACTORS,
    LeftOut,
    check_testable,
    leave_blocks_out,
    measure_without_blocks,
    value_interval,
)

__all__ = [
    "check_scheme",
    "check_test",
    "choose_forgetting",
    "choose_measure",
    "compare",
    "compare_all",
    "compute_over_rows",
    "find_interval",
    "leave_pair_out",
    "list_tests",
]

ACCURACY = "accuracy"
"""The measure that tests over the rows of one fold compare."""

BASES = ("folds and rows", "folds", "resampled folds", "rows of one fold", "5x2 folds")
LANDMARK = "Landmark()"


def list_tests() -> tuple[str, ...]:
    """Return the names of the tests that `compare` can run.

    Examples
    --------
    >>> "two_way_t" in list_tests()
    True
    """
    return tuple(sorted(name for name, test in TESTS.items() if test.over in BASES))


def check_test(name: str | None, n_folds: int, repetitions: int = 1) -> SignificanceTest:
    """Return the test of a name, by default the two-way t; raise if it cannot run with these folds.

    Examples
    --------
    >>> check_test("sign_test", 10).name
    'sign'
    >>> check_test("wilcoxon", 1)
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: wilcoxon compares folds, and there is one: evaluate with several, such as \
Bootstrap(10), or choose two_way_t
    """
    test = find_test(name or "two_way_t", list_tests())
    if test.over == "5x2 folds" and (n_folds, repetitions) != (10, 5):
        msg = f"{test.name} needs 5 repetitions of 2 folds: evaluate with BatchCrossValidation(2, 5)"
        raise StreamgaugeError(msg)
    if n_folds == 1 and test.over in ("folds", "resampled folds"):
        msg = (
            f"{test.name} compares folds, and there is one: evaluate with several, such as Bootstrap(10), or choose"
            " two_way_t"
        )
        raise StreamgaugeError(msg)
    if 1 < n_folds < test.least_folds:
        msg = (
            f"{test.name} needs at least {test.least_folds} folds, or one, not {n_folds}: evaluate with more, such as"
            " Bootstrap(10)"
        )
        raise StreamgaugeError(msg)
    return test


def check_scheme(test: SignificanceTest, scheme: str, resampling: str, *, repeats_tests: bool) -> None:
    """Raise if a test cannot follow a run with a scheme; see `SchemeBase` for what is known of it.

    Examples
    --------
    >>> check_scheme(check_test("wilcoxon", 10), "Bootstrap(k=10)", "Bootstrap", repeats_tests=False)
    """
    if repeats_tests and test.over in ("folds and rows", "rows of one fold"):
        msg = (
            f"{test.name} needs rows that are tested once, and the holdout tests the same rows again and again: use"
            " refreshed=True, or a test over folds"
        )
        raise StreamgaugeError(msg)
    if test.over == "resampled folds" and resampling not in RESAMPLING_SCHEMES:
        schemes = ", ".join(RESAMPLING_SCHEMES)
        msg = f"{test.name} needs folds of {schemes}, not {scheme or 'an unknown scheme'}: use another test"
        raise StreamgaugeError(msg)


def compare(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    measure: str | Measure | Callable[..., float] | None = None,
    forgetting: str | None = None,
) -> Comparison:
    """Test whether one of two learners is better, after a run, in any measure.

    Unless `test` names another, this is the two-way t: with the luck of seeds and folds, and that of rows. It answers
    two questions, with an interval each: whether one is better on this stream, given what was learnt from it, and
    (`Comparison.such_streams`) whether it is for other streams of the same source. With one fold it compares these two
    trained models. Tests over folds or rows alone leave some of this luck out, and say which.

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
        What to compare: any measure of the run, or any that can be computed from counts; McNemar's test supports only
        the accuracy. None for the one that was tested when the run was saved, else for the accuracy if it was measured,
        else for the first measure of the run.
    forgetting
        The name of the forgetting whose readings to use: the two-way t then tests their mean along the run, over blocks
        of at least ten windows; tests over folds use the last reading. None for all rows with equal weight.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = [sg.NaiveBayes(), sg.MajorityClass()]
    >>> results = sg.evaluate(sg.SEA(n_rows=2000), learners, scheme=sg.Bootstrap(5), measures="kappa")
    >>> outcome = compare(results)
    >>> outcome.better, outcome.test, outcome.measure, outcome.question
    ('NaiveBayes', 'two_way_t', 'kappa', 'on this stream')
    >>> compare(results, measure="f1[1]").such_streams.question
    'for such streams'
    """
    require_kind("results", results, RunData, "the results of evaluate, or of load")
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    pair = _find_pair(results, first, second)
    chosen = check_test(test, pair.n_folds, _count_repetitions(results))
    known = _find_measure(results, choose_measure(results) if measure is None else measure)
    scheme = _find_scheme(results)
    kinds = (str(scheme.get(fact, "")) for fact in ("name", "resampling"))
    check_scheme(chosen, *kinds, repeats_tests=bool(scheme.get("repeats_tests")))
    outcome = _run(chosen, results, pair, known, forgetting, alpha)
    facts = describe_measure(known)
    return replace(
        outcome,
        first=pair.first,
        second=pair.second,
        measure=known.name,
        greater_is_better=bool(facts["greater_is_better"]),
        unit=str(facts["unit"]),
        reason="chosen explicitly" if test else "it takes in the luck of folds, seeds and rows",
        forgetting=forgetting or LANDMARK,
        warnings=(*outcome.warnings, *_list_warnings(results, pair, outcome)),
    )


def compare_all(
    results: RunData,
    *,
    test: str | None = None,
    alpha: float = 0.05,
    measure: str | Measure | Callable[..., float] | None = None,
    forgetting: str | None = None,
    adjust: str = "holm",
) -> Comparisons:
    """Test every pair of learners with `compare`, in the order of the learners, and adjust the p-values.

    With three or more learners there are several pairs, and with every test the chance of a false claim grows. So a
    difference is claimed by the adjusted p-value. `best_group` names those that are not significantly worse than the
    best.

    Parameters
    ----------
    results, test, alpha, measure, forgetting
        As for `compare`.
    adjust
        How the p-values are adjusted for the number of pairs: ``holm``, another of `CORRECTIONS`, or ``none``. By Holm
        and most others the probability of even one false claim is at most alpha.

    Examples
    --------
    >>> import streamgauge as sg
    >>> learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass(), "no change": sg.NoChange()}
    >>> comparisons = compare_all(sg.evaluate(sg.SEA(n_rows=2000), learners))
    >>> [(c.first, c.second, c.better, c.adjustment) for c in comparisons][0]
    ('bayes', 'majority', 'bayes', 'Holm over 3 pairs')
    """
    check_adjustment(adjust)
    comparisons = [
        compare(results, pair.first, pair.second, test=test, alpha=alpha, measure=measure, forgetting=forgetting)
        for pair in results.pairs
    ]
    return adjust_pairs(comparisons, adjust)


def leave_pair_out(
    results: RunData,
    first: str | None = None,
    second: str | None = None,
    measure: str | Measure | Callable[..., float] | None = None,
    forgetting: str | None = None,
) -> tuple[PairSums, Measure, LeftOut]:
    """Return what the two-way t of two learners is computed from: their sums, the measure, and its values.

    Parameters
    ----------
    results, first, second, measure, forgetting
        As for `compare`.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=2000), [sg.NaiveBayes(), sg.MajorityClass()], scheme=sg.Bootstrap(5))
    >>> pair, measure, values = leave_pair_out(results)
    >>> pair.n_rows, measure.name, values.n_folds
    (2000, 'accuracy', 5)
    """
    pair = _find_pair(results, first, second)
    known = _find_measure(results, choose_measure(results) if measure is None else measure)
    if forgetting not in (None, LANDMARK):
        return pair, known, _leave_readings_out(results, pair, known.name, forgetting)[0]
    return pair, known, _leave_rows_out(results, (pair.first, pair.second), known)[0]


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
        example = f"compare(results, {', '.join(map(repr, names[:2]))})"
        choice = f"choose two of {', '.join(names)}, as in {example}, or test every pair with results.compare()"
        advice = choice if names else "evaluate at least 2 learners in one run"
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


def choose_measure(results: RunData) -> str:
    """Return the measure that was tested in the run, or the accuracy, or the first measure.

    Examples
    --------
    >>> import streamgauge as sg
    >>> choose_measure(sg.evaluate(sg.SEA(n_rows=100), sg.NoChange(), measures=["kappa", "error"]))
    'kappa'
    """
    tested = results.description.get("tested")
    if isinstance(tested, str):
        return tested
    return ACCURACY if ACCURACY in results.measures or not results.measures else results.measures[0]


def _find_measure(results: RunData, wanted: str | Measure | Callable[..., float]) -> Measure:
    """Return a measure of the run, or any other by name."""
    if isinstance(wanted, str) and wanted in results.own_measures:
        own: Measure = results.own_measures[wanted]
        return own
    try:
        known = find_measure(_find_text(results, wanted) if isinstance(wanted, str) else wanted)
    except StreamgaugeError as error:
        if wanted in results.measures:  # one of a user, in saved results
            return cast("Measure", _ReadMeasure(str(wanted), results))
        raise error from None
    classes = _list_classes(results)
    return known.bind(Schema((), classes)) if isinstance(known, OverTallies) and classes else known


def _find_text(results: RunData, name: str) -> str:
    """Return the text from which a measure of the run can be made again: its name, or its name with options."""
    call = results.description.get("call")
    texts = call.get("measures", ()) if isinstance(call, Mapping) else ()
    return str(dict(zip(results.measures, texts, strict=False)).get(name, name))


class _ReadMeasure:
    """A measure whose function is not known, with the readings that were saved."""

    def __init__(self, name: str, results: RunData) -> None:
        self.name, self.greater_is_better, self.unit = name, results.greater_is_better(name), results.unit(name)

    def __call__(self, _: object) -> float:
        msg = f"the function of {self.name} is not known here: pass it as measure=..., or choose a test over folds"
        raise StreamgaugeError(msg)


def _list_classes(results: RunData) -> tuple[str, ...]:
    if results.classes is not None:
        return results.classes
    return () if results.blocks is None else tuple(map(str, range(results.blocks.layout.n_classes)))


def _run(
    test: SignificanceTest, results: RunData, pair: PairSums, measure: Measure, forgetting: str | None, alpha: float
) -> Comparison:
    over_rows = measure.name == ACCURACY and forgetting is None
    if test.over == "folds and rows":
        return _run_two_way(test, results, pair, measure, forgetting, alpha)
    if test.over == "rows of one fold":
        if over_rows:
            return _run_over_rows(test, pair, alpha)
        msg = f"{test.name} compares the accuracy over all rows; for {measure.name} use two_way_t"
        raise StreamgaugeError(msg)
    differences = _count_differences(pair) if over_rows else _read_differences(results, pair, measure.name, forgetting)
    return _run_over_folds(test, differences, results, alpha)


def _run_two_way(
    test: SignificanceTest, results: RunData, pair: PairSums, measure: Measure, forgetting: str | None, alpha: float
) -> Comparison:
    n_readings = None
    if forgetting not in (None, LANDMARK):
        values, n_readings, notes = _leave_readings_out(results, pair, measure.name, forgetting)
    else:
        values, notes = _leave_rows_out(results, (pair.first, pair.second), measure)
    scheme = str(_find_scheme(results).get("resampling", ""))
    known = scheme if scheme in TRAINING_FACTORS else None
    outcome = test.run(values, scheme=known, repetitions=_count_repetitions(results), alpha=alpha)
    if values.pooled:
        bins = ", with votes in 256 bins" if "ranks" in list_statistics([measure]) else ""
        notes = (
            *notes,
            f"folds scored different rows, so their tallies were added{bins}: the difference is of all rows",
        )
    if outcome.such_streams is not None and outcome.such_streams.note:
        notes = (*notes, f"for such streams: {outcome.such_streams.note}")
    if n_readings is not None:
        outcome = replace(outcome, n_readings=n_readings, basis=outcome.basis.replace("of rows", "of readings"))
    return replace(outcome, warnings=(*outcome.warnings, *notes))


def _leave_rows_out(results: RunData, names: Sequence[str], measure: Measure) -> tuple[LeftOut, tuple[str, ...]]:
    """Return a measure of two learners, or of one, over all rows, and without each block of them."""
    if results.blocks is None:
        msg = (
            "these results hold no tallies of blocks of rows, which the two-way t needs: evaluate the learners in one"
            " run, or choose a test over folds by name"
        )
        raise StreamgaugeError(msg)
    indices = [results.learners.index(name) for name in names]
    return leave_blocks_out(
        results.blocks.select_learners(indices),
        measure,
        names,
        _list_classes(results),
        pooled=_find_scheme(results).get("test") == "held_out" and results.n_folds > 1,
    )


def find_interval(
    results: RunData, learner: str, measure: str | Measure, *, alpha: float = 0.05
) -> tuple[float, float]:
    """Return the interval of a learner's own value over all rows, with the luck of rows, seeds and folds.

    Its variance is that of `two_way_t` on this stream.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=5000), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> low, high = find_interval(results, "NaiveBayes", "accuracy")
    >>> low < results.final("NaiveBayes", "accuracy").mean < high
    True
    """
    values, _ = _leave_rows_out(results, (learner,), _find_measure(results, measure))
    return value_interval(values, alpha=alpha)


def compute_over_rows(results: RunData, measure: str) -> NDArray[np.float64]:
    """Return the mean over folds of any measure of counts over all rows, for each learner, also if it was not read.

    Examples
    --------
    >>> import streamgauge as sg
    >>> results = sg.evaluate(sg.SEA(n_rows=500), [sg.NaiveBayes(), sg.MajorityClass()])
    >>> compute_over_rows(results, "balanced_accuracy").round(3).tolist()
    [0.774, 0.499]
    """
    if results.blocks is None:
        msg = f"these results hold no tallies of rows, so {measure} cannot be computed"
        raise StreamgaugeError(msg)
    found = _find_measure(results, measure)
    check_testable(found, results.blocks.layout)
    values: NDArray[np.float64] = measure_without_blocks(results.blocks, found)[:, :, 0].mean(axis=1)
    return values


def _leave_readings_out(
    results: RunData, pair: PairSums, measure: str, forgetting: str
) -> tuple[LeftOut, int, tuple[str, ...]]:
    """Return the mean of the readings along the run, and without each block of them."""
    if measure not in results.measures:
        raise unknown_name(kind="measure", name=measure, known=results.measures)
    choose_forgetting(results.forgettings, forgetting)
    width = find_width(forgetting)
    # A window covers scored rows, and a fold may score a share of the rows only.
    scored = max(int(pair.n_scored.min()), 1)
    values = np.stack([results.curve(learner, measure, forgetting) for learner in (pair.first, pair.second)])
    return leave_readings_out(values, results.rows, width * max(results.n_rows / scored, 1.0))


def _find_scheme(results: RunData) -> Mapping[str, object]:
    scheme = results.description.get("scheme")
    return scheme if isinstance(scheme, Mapping) else {}


def _count_repetitions(results: RunData) -> int:
    repetitions = _find_scheme(results).get("repetitions", 1)
    return repetitions if isinstance(repetitions, int) else 1


def _run_over_folds(
    test: SignificanceTest, differences: NDArray[np.float64], results: RunData, alpha: float
) -> Comparison:
    if test.over == "resampled folds":
        kind = str(_find_scheme(results)["resampling"])
        ratio = held_out_ratio(kind, len(differences) // _count_repetitions(results))
        return test.run(differences, ratio, alpha=alpha)
    return test.run(differences, alpha=alpha)


def _run_over_rows(test: SignificanceTest, pair: PairSums, alpha: float) -> Comparison:
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


def _list_warnings(results: RunData, pair: PairSums, outcome: Comparison) -> list[str]:
    warnings = []
    shared = int(pair.n_scored.sum()) > pair.n_rows
    seedless = all(_is_seedless(results, name) for name in (pair.first, pair.second))
    if outcome.null == SEEDS and shared and seedless:
        warnings.append(
            "both learners are deterministic and the folds share their rows, so folds differ by resampling alone and"
            " this p-value is far too small: use two_way_t"
        )
    if not results.complete:
        warnings.append(f"the run was cut short after {results.n_rows:,} rows")
    return warnings


def _is_seedless(results: RunData, learner: str) -> bool:
    """Return whether a learner uses no randomness; False if the description does not say."""
    learners = results.description.get("learners")
    facts = learners.get(learner) if isinstance(learners, Mapping) else None
    return bool(facts.get("seedless")) if isinstance(facts, Mapping) else False
