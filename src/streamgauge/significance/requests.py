"""What is asked of tests after a run, checked before its first row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.measures import OverTallies
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import Measure
from streamgauge.records import PairSums, RunData, Schema
from streamgauge.records.blocks import FIRST_LENGTH, BlockLayout
from streamgauge.significance.all_pairs import adjust_pairs, check_adjustment
from streamgauge.significance.compare import (
    ACCURACY,
    LANDMARK,
    check_scheme,
    check_test,
    choose_forgetting,
    compare,
)
from streamgauge.significance.comparison import Comparison, SignificanceTest
from streamgauge.significance.mean_readings import WINDOWS_OF_BLOCK, find_width
from streamgauge.significance.two_way import MIN_BLOCKS, check_testable

__all__ = ["PlannedRun", "check_tests", "compare_possible", "find_test_obstacle"]


@dataclass(frozen=True)
class PlannedRun:
    """What is known of a run before its first row.

    Parameters
    ----------
    n_folds, scheme
        The number of folds, and the text of the scheme.
    schema
        The schema of the rows.
    measures
        What is measured.
    layout
        What is kept of the tallies of blocks.
    repetitions, resampling, repeats_tests
        As in `SchemeBase`.
    n_rows
        The number of rows, if it is known.
    forgettings
        The names of the forgettings of the readings.
    """

    n_folds: int
    scheme: str
    schema: Schema
    measures: Sequence[Measure]
    layout: BlockLayout
    repetitions: int = 1
    resampling: str = ""
    repeats_tests: bool = False
    n_rows: int | None = None
    forgettings: Sequence[str] = ()


def check_tests(
    run: PlannedRun,
    tests: Sequence[str],
    *,
    measure: str | None = None,
    alpha: float = 0.05,
    forgetting: str | None = None,
) -> tuple[str, ...]:
    """Return the names of tests in the registry; raise if one of them is unknown or could not follow a run.

    Parameters
    ----------
    run
        What is known of the run.
    tests
        Names of tests, see `find_test`; none for the recommended one.
    measure, alpha, forgetting
        As for `compare`.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> run = PlannedRun(10, "Mine()", SEA().schema, [find_measure("accuracy")], BlockLayout(2, ()))
    >>> check_tests(run, ["sign_test", "two_way"], measure="accuracy")
    ('sign', 'two_way_t')
    >>> check_tests(run, ["corrected_t"])
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: corrected_t needs folds of Bootstrap, CrossValidation, Split, not Mine(): use \
another test
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    known = _find_default(run) if measure is None else _find_measure(run, measure)
    found = [check_test(name, run.n_folds, run.repetitions) for name in tests or (None,)]
    for test in found:
        check_scheme(test, run.scheme, run.resampling, repeats_tests=run.repeats_tests)
        if forgetting not in (None, LANDMARK):
            _check_forgetting(run, test, known, forgetting)
            continue
        _check_rows(run, test)
        _check_measure(run, test, known)
    return tuple(dict.fromkeys(test.name for test in found)) if tests else ()


def compare_possible(
    results: RunData,
    tests: Sequence[str] = (),
    *,
    measure: str | None = None,
    alpha: float = 0.05,
    forgetting: str | None = None,
    adjust: str = "holm",
) -> tuple[list[Comparison], list[str]]:
    """Test every pair of learners as far as possible; return the comparisons, and why others cannot be made.

    A run can be too short for a test, or a learner may never have predicted a class. Other pairs are tested all the
    same. With one pair, or if all fail for the same reason, that is the only reason.

    Parameters
    ----------
    results
        The results of an evaluation.
    tests
        Names of tests; none for the recommended one.
    measure, alpha, forgetting
        As for `compare`.
    adjust
        As for `compare_all`; the pairs of each test are adjusted together.

    Examples
    --------
    >>> from streamgauge import SEA, Bootstrap, MajorityClass, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=500), [MajorityClass(), NoChange()], scheme=Bootstrap(3))
    >>> comparisons, reasons = compare_possible(results, ["two_way_t", "sign"])
    >>> [comparison.test for comparison in comparisons], reasons[0][:36]
    (['sign'], 'two_way_t needs at least 5 folds, or')
    """
    require_between("alpha", alpha, 0.0, 1.0, open_high=True)
    check_adjustment(adjust)
    comparisons: list[Comparison] = []
    reasons: dict[str, list[str]] = {}
    run = partial(compare, results, measure=measure, alpha=alpha, forgetting=forgetting)
    for test in tests or (None,):
        of_test: list[Comparison] = []
        for pair in results.pairs:
            try:
                of_test.append(run(pair.first, pair.second, test=test))
            except StreamgaugeError as error:
                reasons.setdefault(str(error), []).append(f"{pair.first} and {pair.second}")
        comparisons += adjust_pairs(of_test, adjust)
    n_pairs = len(results.pairs)
    texts = [reason if len(pairs) == n_pairs else f"{', '.join(pairs)}: {reason}" for reason, pairs in reasons.items()]
    return comparisons, texts


def find_test_obstacle(results: RunData, pair: PairSums, measure: str | None = None) -> str | None:
    """Return why the recommended test of a pair cannot be run, of a measure or the default; None if it can.

    Examples
    --------
    >>> from streamgauge import SEA, MajorityClass, NoChange, evaluate
    >>> results = evaluate(SEA(n_rows=1000), [MajorityClass(), NoChange()])
    >>> find_test_obstacle(results, results.pairs[0]) is None
    True
    """
    try:
        compare(results, pair.first, pair.second, measure=measure)
    except StreamgaugeError as error:
        return str(error)
    return None


def _find_default(run: PlannedRun) -> Measure:
    """Return the measure that is tested unless another is named: the accuracy if it is measured, else the first."""
    return next((known for known in run.measures if known.name == ACCURACY), run.measures[0])


def _find_measure(run: PlannedRun, name: str) -> Measure:
    """Return a measure of the run, or any other by name."""
    own = next((measure for measure in run.measures if measure.name == name), None)
    if own is not None:
        return own
    known = find_measure(name)
    return known.bind(run.schema) if isinstance(known, OverTallies) else known


def _check_forgetting(run: PlannedRun, test: SignificanceTest, measure: Measure, forgetting: str) -> None:
    """Raise if readings under a forgetting cannot be tested."""
    choose_forgetting(tuple(run.forgettings), forgetting)
    if test.over == "rows of one fold":
        msg = f"{test.name} compares the accuracy over all rows, not readings under {forgetting}: use two_way_t"
        raise StreamgaugeError(msg)
    if measure.name not in (own.name for own in run.measures):
        msg = f"{measure.name} is not measured in this run, so it has no readings under {forgetting}: measure it"
        raise StreamgaugeError(msg)
    if test.over == "folds and rows":
        least = MIN_BLOCKS * WINDOWS_OF_BLOCK * find_width(forgetting)
        if run.n_rows is not None and run.n_rows < least:
            msg = (
                f"the mean of readings under {forgetting} needs at least {least:,.0f} rows, not {run.n_rows:,}:"
                " evaluate more rows, or choose a smaller window"
            )
            raise StreamgaugeError(msg)


def _check_rows(run: PlannedRun, test: SignificanceTest) -> None:
    least = MIN_BLOCKS * FIRST_LENGTH
    if test.over == "folds and rows" and run.n_rows is not None and run.n_rows < least:
        msg = f"{test.name} needs at least {least} rows, not {run.n_rows}"
        raise StreamgaugeError(msg)


def _check_measure(run: PlannedRun, test: SignificanceTest, measure: Measure) -> None:
    if test.over == "folds and rows":
        check_testable(measure, run.layout)
    elif test.over == "rows of one fold" and measure.name != ACCURACY:
        msg = f"{test.name} compares the accuracy over all rows, not {measure.name}: use two_way_t"
        raise StreamgaugeError(msg)
    elif measure.name not in (ACCURACY, *(own.name for own in run.measures)):
        msg = (
            f"{test.name} compares readings, and {measure.name} is not measured in this run: add it to the measures, or"
            " use two_way_t"
        )
        raise StreamgaugeError(msg)
