"""Detectors by name, and detection in values, in a column of a stream or in a file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._foreign import is_stream
from streamgauge._format.text import count, join_words, to_text
from streamgauge.drift import error_detectors, value_detectors
from streamgauge.drift.base import NativeDetector
from streamgauge.errors import EndlessStreamError, StreamgaugeError, unknown_name
from streamgauge.protocols import DetectorSpec, Stream
from streamgauge.records import DRIFT, WARNING
from streamgauge.records.serialise import pack, unpack
from streamgauge.tasks import Task

__all__ = [
    "DETECTORS",
    "Detection",
    "StatisticTrace",
    "Watch",
    "as_detector",
    "detect",
    "format_alarms",
    "name_detectors",
    "read_values",
    "trace_statistic",
]

VALUES_PER_READ = 32_768
"""The number of values that are read at a time."""

DETECTORS: dict[str, type] = {
    name: getattr(module, name) for module in (value_detectors, error_detectors) for name in module.__all__
}
"""The detectors by name."""


@dataclass(frozen=True)
class Detection:
    """The alarms and warnings of a detector in a column of values.

    Parameters
    ----------
    alarms
        The rows, counted from 0, after whose value it signalled a drift; int64.
    warnings
        The rows at which a sequence of warnings began; int64.
    n_rows
        The number of rows.

    Examples
    --------
    >>> Detection(np.array([1200]), np.array([1100]), 5000).alarms.tolist()
    [1200]
    >>> print(Detection(np.array([1200]), np.array([1100]), 5000))
    drift at row 1,200; 1 warning; 5,000 rows
    """

    alarms: NDArray[np.int64]
    warnings: NDArray[np.int64]
    n_rows: int

    def __str__(self) -> str:
        return f"{format_alarms(self.alarms, self.warnings)}; {count(self.n_rows, 'row')}"


MOST_LISTED = 20
"""The maximum number of alarms in a text."""


def format_alarms(alarms: Sequence[int] | NDArray[np.int64], warnings: Sequence[int] | NDArray[np.int64]) -> str:
    """Return a text with the rows of the alarms and the number of warnings.

    Examples
    --------
    >>> format_alarms([1200, 3000], []), format_alarms([], [7, 9])
    ('drift at rows 1,200 and 3,000', 'no drift; 2 warnings')
    """
    rows = [f"{row:,}" for row in alarms[:MOST_LISTED]]
    if len(alarms) > MOST_LISTED:
        rows.append(f"{len(alarms) - MOST_LISTED:,} more")
    text = f"drift at {'row' if len(rows) == 1 else 'rows'} {join_words(rows)}" if rows else "no drift"
    return f"{text}; {count(len(warnings), 'warning')}" if len(warnings) else text


@dataclass
class Watch:
    """A detector on values that arrive in batches, which returns the rows of drifts and warnings.

    Examples
    --------
    >>> watch = Watch(value_detectors.PageHinkley(threshold=10))
    >>> watch.update(np.arange(500, 600), np.zeros(100))
    ([], [])
    >>> watch.update(np.arange(600, 620), np.ones(20))
    ([610], [])
    """

    spec: DetectorSpec
    _last: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._detector = self.spec.build()

    def update(self, rows: NDArray[np.int64], values: NDArray[np.float64]) -> tuple[list[int], list[int]]:
        """Add the values of rows; return the rows of drifts, and those at which warnings begin."""
        if not len(values):
            return [], []
        signals = self._detector.update(values)
        previous = np.concatenate((np.array([self._last], dtype=signals.dtype), signals[:-1]))
        self._last = int(signals[-1])
        return rows[signals == DRIFT].tolist(), rows[(signals == WARNING) & (previous != WARNING)].tolist()

    def save(self) -> bytes:
        """Return the complete state."""
        return pack("watch", {"last": self._last}, [self._detector.save()])

    def load(self, state: bytes) -> None:
        """Restore a saved state of the same detector."""
        facts, (detector,) = unpack("watch", state)
        self._detector.load(detector)
        self._last = facts["last"]


def as_detector(thing: object) -> DetectorSpec:
    """Return a detector: a given one, or that of a name with default options.

    Examples
    --------
    >>> as_detector("FHDDM")
    FHDDM(delta=1e-06, width=100)
    """
    if isinstance(thing, str):
        if thing not in DETECTORS:
            raise unknown_name(kind="detector", name=thing, known=DETECTORS)
        if DETECTORS[thing] is value_detectors.OfMean:
            msg = "OfMean needs a detector as its option, as in OfMean(PageHinkley())"
            raise StreamgaugeError(msg)
        thing = DETECTORS[thing]()
    if isinstance(thing, type) or not isinstance(thing, DetectorSpec):
        msg = f"{thing!r} is not a detector: it needs a method build(), like streamgauge.drift.PageHinkley()"
        raise StreamgaugeError(msg)
    return thing


def name_detectors(detectors: object, task: Task | None = None) -> dict[str, DetectorSpec]:
    """Return detectors by name: the given name, or the text of the detector; raise if one cannot do with a task.

    Examples
    --------
    >>> name_detectors("DDM")
    {'DDM(warning=2.0)': DDM(warning=2.0, drift=3.0, grace_period=30)}
    >>> list(name_detectors({"quick": error_detectors.FHDDM(width=25)}))
    ['quick']
    >>> from streamgauge.records import NumericTarget
    >>> from streamgauge.tasks import Regression
    >>> name_detectors("RDDM", Regression(NumericTarget()))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: detector 'RDDM(warning=1.773)' takes only 0 and 1, and the losses of \
regression lie between: use another one, such as Adwin
    """
    if isinstance(detectors, Mapping):
        named = {str(name): as_detector(detector) for name, detector in detectors.items()}
        _check_losses(named, task)
        return named
    specs = [as_detector(detector) for detector in (detectors if isinstance(detectors, list | tuple) else (detectors,))]
    named = {to_text(spec): spec for spec in specs}
    if len(named) < len(specs):
        msg = "two detectors are the same; name them, as in {'a': ..., 'b': ...}, or change an option"
        raise StreamgaugeError(msg)
    _check_losses(named, task)
    return named


def _check_losses(detectors: Mapping[str, DetectorSpec], task: Task | None) -> None:
    """Raise if a detector does not take the losses of a task."""
    if task is None or task.has_binary_losses:
        return
    for name, spec in detectors.items():
        try:
            spec.build().update(np.array([0.25, 0.75]))
        except StreamgaugeError:
            msg = (
                f"detector {name!r} takes only 0 and 1, and the losses of {task.name} lie between: use another one,"
                " such as Adwin"
            )
            raise StreamgaugeError(msg) from None


def detect(
    source: object, detector: object, *, column: str | int | None = None, n_rows: int | None = None
) -> Detection:
    """Run a detector over a column of values of any length, in constant memory.

    To monitor the errors of a learner, pass `detectors` to `evaluate`.

    Parameters
    ----------
    source
        Values; a stream, whose `column` is read; or the path of a text file with one number per line.
    detector
        A detector or its name.
    column
        The attribute of a stream, by name or index; missing values are skipped.
    n_rows
        The maximum number of rows to read.

    Examples
    --------
    >>> detect([0.0] * 100 + [1.0] * 100, "Adwin").alarms.tolist()
    [127, 159]
    >>> from streamgauge import SEA
    >>> detect(SEA(n_rows=5000), value_detectors.Adwin(), column="a1").alarms.tolist()
    []
    """
    watch = Watch(as_detector(detector))
    alarms: list[int] = []
    warnings: list[int] = []
    n_read = 0
    for start, values in _read_rows(source, column, n_rows):
        known = _find_known(source, values)
        with _naming_rows(start):
            new_alarms, new_warnings = watch.update(start + known, values[known])
        alarms += new_alarms
        warnings += new_warnings
        n_read = start + len(values)
    return Detection(np.array(alarms, dtype=np.int64), np.array(warnings, dtype=np.int64), n_read)


@dataclass(frozen=True)
class StatisticTrace:
    """The statistic that a detector compares with its threshold, row by row.

    The detector signals a drift exactly where the statistic exceeds the threshold.

    Parameters
    ----------
    row
        The rows whose values were read, counted from 0; int64 [n].
    statistic
        The statistic after the value of each row; float64 [n].
    threshold
        Its threshold; float64 [n]. It is NaN during a grace period, when nothing is compared.

    Examples
    --------
    >>> trace = StatisticTrace(np.arange(3), np.array([9.0, 1.0, 6.0]), np.array([np.nan, 5.0, 5.0]))
    >>> trace.alarms.tolist()
    [2]
    """

    row: NDArray[np.int64]
    statistic: NDArray[np.float64]
    threshold: NDArray[np.float64]

    @property
    def alarms(self) -> NDArray[np.int64]:
        """The rows at which the statistic exceeds its threshold."""
        return self.row[self.statistic > self.threshold]

    def __len__(self) -> int:
        return len(self.row)


def trace_statistic(
    source: object, detector: object, *, column: str | int | None = None, n_rows: int | None = None
) -> StatisticTrace:
    """Return the statistic that a detector compares with its threshold after each value.

    | detector | statistic | threshold |
    |---|---|---|
    | `PageHinkley` | sum above its minimum, or below its maximum; the greater with "both" | `threshold` |
    | `Cusum` | the sum; the greater with "both" | `threshold` |
    | `DDM` | error rate plus its deviation | the least rate plus `drift` deviations |
    | `EWMAChart` | moving mean of the errors | error rate plus the control limit |
    | `OfMean` | that of its detector | that of its detector |

    Parameters
    ----------
    source
        Values, such as errors (0 or 1) or losses; a stream, whose `column` is read; or the path of a text file with one
        number per line.
    detector
        A detector or its name; one of the table.
    column
        The attribute of a stream, by name or index; missing values are skipped.
    n_rows
        The maximum number of rows to read.

    Examples
    --------
    >>> errors = [0.0] * 100 + [1.0] * 20
    >>> trace = trace_statistic(errors, value_detectors.PageHinkley(threshold=10))
    >>> trace.alarms.tolist(), detect(errors, value_detectors.PageHinkley(threshold=10)).alarms.tolist()
    ([110], [110])
    >>> trace.statistic[[99, 104, 110]].round(2).tolist()
    [0.0, 4.83, 10.33]
    """
    spec = as_detector(detector)
    state = spec.build()
    if not (isinstance(state, NativeDetector) and state.has_statistic):
        able = "PageHinkley, Cusum, DDM, EWMAChart, or OfMean of one of these"
        msg = f"{spec} does not compare one statistic with one threshold: choose {able}"
        raise StreamgaugeError(msg)
    traces = [StatisticTrace(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
    for start, values in _read_rows(source, column, n_rows):
        known = _find_known(source, values)
        with _naming_rows(start):
            traces.append(StatisticTrace(start + known, *state.trace(values[known])[1:]))
    columns = ([getattr(trace, column.name) for trace in traces] for column in fields(StatisticTrace))
    return StatisticTrace(*map(np.concatenate, columns))


def read_values(
    source: object, *, column: str | int | None = None, n_rows: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows and values that a detector would read, see `detect`.

    Examples
    --------
    >>> rows, values = read_values([0.5, 0.25, 1.0], n_rows=2)
    >>> rows.tolist(), values.tolist()
    ([0, 1], [0.5, 0.25])
    """
    rows, values = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for start, piece in _read_rows(source, column, n_rows):
        known = _find_known(source, piece)
        rows.append(start + known)
        values.append(piece[known])
    return np.concatenate(rows), np.concatenate(values)


def _read_rows(
    source: object, column: str | int | None, n_rows: int | None
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the values of a source in pieces, each with its first row."""
    if is_stream(source) and source.n_rows is None and n_rows is None:
        msg = "the stream never ends: set n_rows, the number of rows to read"
        raise EndlessStreamError(msg)
    start = 0
    for values in _limit_rows(_read_values(source, column), n_rows):
        yield start, values
        start += len(values)


def _find_known(source: object, values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the values to read; a stream may have missing ones."""
    return np.flatnonzero(~np.isnan(values)) if is_stream(source) else np.arange(len(values))


@contextmanager
def _naming_rows(start: int) -> Iterator[None]:
    """Raise an error of a detector with the first row of the values."""
    try:
        yield
    except ValueError as error:
        msg = f"in the values from row {start} on: {error}"
        raise StreamgaugeError(msg) from None


def _limit_rows(arrays: Iterator[NDArray[np.float64]], n_rows: int | None) -> Iterator[NDArray[np.float64]]:
    """Yield arrays up to a total number of rows."""
    n_left = n_rows
    for values in arrays:
        if n_left is not None and len(values) >= n_left:
            yield values[:n_left]
            return
        n_left = None if n_left is None else n_left - len(values)
        yield values


def _read_values(source: object, column: str | int | None) -> Iterator[NDArray[np.float64]]:
    if is_stream(source):
        return _read_column(source, column)
    if column is not None:
        msg = f"column = {column!r}: only a stream has columns, not {type(source).__name__}"
        raise StreamgaugeError(msg)
    return _read_numbers(Path(source)) if isinstance(source, str | Path) else _split_array(source)


def _split_array(source: object) -> Iterator[NDArray[np.float64]]:
    try:
        values = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"cannot read {type(source).__name__}: pass numbers, a stream or the path of a file of numbers"
        raise StreamgaugeError(msg) from None
    if values.ndim != 1:
        msg = f"a detector reads one column of values, not an array of shape {values.shape}"
        raise StreamgaugeError(msg)
    return (values[start : start + VALUES_PER_READ] for start in range(0, len(values), VALUES_PER_READ))


def _read_column(stream: Stream, column: str | int | None) -> Iterator[NDArray[np.float64]]:
    names = [attribute.name for attribute in stream.schema.attributes]
    if column is None:
        msg = f"a stream needs column, the column to read: one of {', '.join(names)}"
        raise StreamgaugeError(msg)
    if isinstance(column, str) and column not in names:
        raise unknown_name(kind="column", name=column, known=names)
    index = names.index(column) if isinstance(column, str) else column
    if not -len(names) <= index < len(names):
        msg = f"column = {column}: the stream has {len(names)} columns, counted from 0"
        raise StreamgaugeError(msg)
    if stream.schema.attributes[index].is_nominal:
        numeric = [attribute.name for attribute in stream.schema.attributes if not attribute.is_nominal]
        known = f"numeric are {', '.join(numeric)}" if numeric else "no column is numeric"
        msg = f"column {names[index]} is nominal, but a detector needs numbers: {known}"
        raise StreamgaugeError(msg)
    return (np.ascontiguousarray(batch.x[:, index]) for batch in stream.batches(VALUES_PER_READ))


def _read_numbers(path: Path) -> Iterator[NDArray[np.float64]]:
    """Read a text file with one number per line; empty lines are skipped."""
    try:
        with path.open(encoding="utf-8") as file:
            lines = ((number, line.strip()) for number, line in enumerate(file, 1) if line.strip())
            while block := list(islice(lines, VALUES_PER_READ)):
                yield _parse_numbers(path, block)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"cannot read {path}: {reason or error}"
        raise StreamgaugeError(msg) from None


def _parse_numbers(path: Path, lines: list[tuple[int, str]]) -> NDArray[np.float64]:
    values: ArrayLike = [text for _, text in lines]
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        for number, text in lines:
            try:
                float(text)
            except ValueError:
                msg = f"{path}, line {number}: {text[:40]!r} is not a number"
                raise StreamgaugeError(msg) from None
        raise
