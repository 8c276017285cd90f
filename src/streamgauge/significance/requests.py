"""What is asked of tests after a run, checked before its first row."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.measures import OverTallies
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import Measure
from streamgauge.records import Schema
from streamgauge.records.blocks import BlockLayout
from streamgauge.significance.compare import ACCURACY, check_test
from streamgauge.significance.comparison import SignificanceTest
from streamgauge.significance.fold_tests import RESAMPLING_SCHEMES
from streamgauge.significance.two_way import check_testable

__all__ = ["PlannedRun", "check_tests"]


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
    repetitions
        How often the rows are divided into folds.
    """

    n_folds: int
    scheme: str
    schema: Schema
    measures: Sequence[Measure]
    layout: BlockLayout
    repetitions: int = 1


def check_tests(
    run: PlannedRun, tests: Sequence[str], *, measure: str | None = None, alpha: float = 0.05
) -> tuple[str, ...]:
    """Return the names of tests in the registry; raise if one of them is unknown or could not follow a run.

    Parameters
    ----------
    run
        What is known of the run.
    tests
        Names of tests, see `find_test`; none for the recommended one.
    measure, alpha
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
    known = None if measure is None else _find_measure(run, measure)
    found = [check_test(name, run.n_folds, run.repetitions) for name in tests or (None,)]
    for test in found:
        if test.over == "resampled folds" and not any(kind in run.scheme for kind in RESAMPLING_SCHEMES):
            msg = f"{test.name} needs folds of {', '.join(RESAMPLING_SCHEMES)}, not {run.scheme}: use another test"
            raise StreamgaugeError(msg)
        if known is not None:
            _check_measure(run, test, known)
    return tuple(dict.fromkeys(test.name for test in found)) if tests else ()


def _find_measure(run: PlannedRun, name: str) -> Measure:
    """Return a measure of the run, or any other by name."""
    own = next((measure for measure in run.measures if measure.name == name), None)
    if own is not None:
        return own
    known = find_measure(name)
    return known.bind(run.schema) if isinstance(known, OverTallies) else known


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
