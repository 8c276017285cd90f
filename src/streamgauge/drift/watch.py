"""Detectors at work: by name, on a column of values, on a column of a stream, on a file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamgauge._format.text import count, join_words, to_text
from streamgauge.drift import means, rates
from streamgauge.errors import EndlessStreamError, StreamgaugeError, unknown_name
from streamgauge.protocols import DetectorSpec, Stream, is_stream
from streamgauge.records import DRIFT, WARNING
from streamgauge.records.serialise import pack, unpack

__all__ = ["DETECTORS", "Detection", "Watch", "alarms_text", "as_detector", "detect", "named_detectors"]

SIZE = 32_768
"""So many values are taken in at a time."""

DETECTORS: dict[str, type] = {name: getattr(module, name) for module in (means, rates) for name in module.__all__}
"""The detectors by name."""


@dataclass(frozen=True)
class Detection:
    """What a detector found in a column of values.

    Parameters
    ----------
    alarms
        The rows, counted from 0, after whose value it signalled a drift; int64.
    warnings
        The rows at which a row of warnings began; int64.
    n_rows
        How many rows there were.

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
        return f"{alarms_text(self.alarms, self.warnings)}; {count(self.n_rows, 'row')}"


MOST_LISTED = 20
"""So many alarms are listed for people."""


def alarms_text(alarms: Sequence[int] | NDArray[np.int64], warnings: Sequence[int] | NDArray[np.int64]) -> str:
    """Say at which rows there were alarms, and how many warnings.

    Examples
    --------
    >>> alarms_text([1200, 3000], []), alarms_text([], [7, 9])
    ('drift at rows 1,200 and 3,000', 'no drift; 2 warnings')
    """
    rows = [f"{row:,}" for row in alarms[:MOST_LISTED]]
    if len(alarms) > MOST_LISTED:
        rows.append(f"{len(alarms) - MOST_LISTED:,} more")
    told = f"drift at {'row' if len(rows) == 1 else 'rows'} {join_words(rows)}" if rows else "no drift"
    return f"{told}; {count(len(warnings), 'warning')}" if len(warnings) else told


@dataclass
class Watch:
    """A detector at work on a column that comes in pieces: it tells rows rather than signals.

    Examples
    --------
    >>> watch = Watch(means.PageHinkley(threshold=10))
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
        """Take in the values of rows; give the rows of drifts and those where warnings begin."""
        if not len(values):
            return [], []
        signals = self._detector.update(values)
        before = np.concatenate((np.array([self._last], dtype=signals.dtype), signals[:-1]))
        self._last = int(signals[-1])
        return rows[signals == DRIFT].tolist(), rows[(signals == WARNING) & (before != WARNING)].tolist()

    def save(self) -> bytes:
        """Give all of its state."""
        return pack("watch", {"last": self._last}, [self._detector.save()])

    def load(self, state: bytes) -> None:
        """Take over a saved state of one built alike."""
        facts, (detector,) = unpack("watch", state)
        self._detector.load(detector)
        self._last = facts["last"]


def as_detector(thing: object) -> DetectorSpec:
    """Make a detector of its name, with its usual options; a detector stays as it is.

    Examples
    --------
    >>> as_detector("FHDDM")
    FHDDM(delta=1e-06, width=100)
    """
    if isinstance(thing, str):
        if thing not in DETECTORS:
            error = unknown_name("detector", thing, DETECTORS)
            raise error
        if DETECTORS[thing] is means.OfMean:
            msg = "OfMean needs a detector of its own, as in OfMean(PageHinkley())"
            raise StreamgaugeError(msg)
        thing = DETECTORS[thing]()
    if isinstance(thing, type) or not isinstance(thing, DetectorSpec):
        msg = f"{thing!r} is not a detector: it has no method build(), as streamgauge.drift.PageHinkley() has"
        raise StreamgaugeError(msg)
    return thing


def name_detectors(detectors: object) -> dict[str, DetectorSpec]:
    """Give every detector a name: the given one, or what it is.

    Examples
    --------
    >>> name_detectors("DDM")
    {'DDM(warning=2.0)': DDM(warning=2.0, drift=3.0, grace_period=30)}
    >>> list(name_detectors({"quick": rates.FHDDM(width=25)}))
    ['quick']
    """
    if isinstance(detectors, Mapping):
        return {str(name): as_detector(detector) for name, detector in detectors.items()}
    several = detectors if isinstance(detectors, list | tuple) else (detectors,)
    specs = [as_detector(detector) for detector in several]
    named = {to_text(spec): spec for spec in specs}
    if len(named) < len(specs):
        msg = "two detectors are the same; give them names, as in {'a': ..., 'b': ...}, or other options"
        raise StreamgaugeError(msg)
    return named


def detect(
    source: object, detector: object, *, column: str | int | None = None, n_rows: int | None = None
) -> Detection:
    """Let a detector watch a column of values, whatever its length, in bounded memory.

    To watch the errors of a learner give `detectors` to `evaluate`.

    Parameters
    ----------
    source
        Values; a stream, of which `column` is watched; or the path of a text file with one number a line.
    detector
        A detector or its name.
    column
        The attribute of a stream, by name or position; missing values are passed over.
    n_rows
        How many rows to look at, at most.

    Examples
    --------
    >>> detect([0.0] * 100 + [1.0] * 100, "Adwin").alarms.tolist()
    [127, 159]
    >>> from streamgauge import SEA
    >>> detect(SEA(n_rows=5000), means.Adwin(), column="a1").alarms.tolist()
    []
    """
    watch = Watch(as_detector(detector))
    if is_stream(source) and source.n_rows is None and n_rows is None:
        msg = "the stream never ends: say with n_rows how many rows to look at"
        raise EndlessStreamError(msg)
    alarms: list[int] = []
    warnings: list[int] = []
    n_seen = 0
    for piece in _limited(_pieces(source, column), n_rows):
        known = np.flatnonzero(~np.isnan(piece)) if is_stream(source) else np.arange(len(piece))
        try:
            found = watch.update(n_seen + known, piece[known])
        except ValueError as error:
            msg = f"in the values from row {n_seen} on: {error}"
            raise StreamgaugeError(msg) from None
        alarms += found[0]
        warnings += found[1]
        n_seen += len(piece)
    return Detection(np.array(alarms, dtype=np.int64), np.array(warnings, dtype=np.int64), n_seen)


def _limited(pieces: Iterator[NDArray[np.float64]], n_rows: int | None) -> Iterator[NDArray[np.float64]]:
    """Give the pieces up to a number of rows."""
    n_left = n_rows
    for piece in pieces:
        if n_left is not None and len(piece) >= n_left:
            yield piece[:n_left]
            return
        n_left = None if n_left is None else n_left - len(piece)
        yield piece


def _pieces(source: object, column: str | int | None) -> Iterator[NDArray[np.float64]]:
    if is_stream(source):
        return _column_of(source, column)
    if column is not None:
        msg = f"column = {column!r}: only a stream has columns, and {type(source).__name__} is none"
        raise StreamgaugeError(msg)
    return _numbers_of(Path(source)) if isinstance(source, str | Path) else _pieces_of_array(source)


def _pieces_of_array(source: object) -> Iterator[NDArray[np.float64]]:
    try:
        values = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"cannot watch {type(source).__name__}: give numbers, a stream or the path of a file of numbers"
        raise StreamgaugeError(msg) from None
    if values.ndim != 1:
        msg = f"a detector watches one column of values, not an array of shape {values.shape}"
        raise StreamgaugeError(msg)
    return (values[start : start + SIZE] for start in range(0, len(values), SIZE))


def _column_of(stream: Stream, column: str | int | None) -> Iterator[NDArray[np.float64]]:
    names = [attribute.name for attribute in stream.schema.attributes]
    if column is None:
        msg = f"which column of the stream? Give column, one of {', '.join(names)}"
        raise StreamgaugeError(msg)
    if isinstance(column, str) and column not in names:
        msg_0 = "column"
        raise unknown_name(msg_0, column, names)
    place = names.index(column) if isinstance(column, str) else column
    if not -len(names) <= place < len(names):
        msg = f"column = {column}: the stream has {len(names)} columns, counted from 0"
        raise StreamgaugeError(msg)
    if stream.schema.attributes[place].is_nominal:
        numeric = [attribute.name for attribute in stream.schema.attributes if not attribute.is_nominal]
        known = f"numeric are {', '.join(numeric)}" if numeric else "no column is numeric"
        msg = f"the column {names[place]} is nominal, and a detector watches numbers: {known}"
        raise StreamgaugeError(msg)
    return (np.ascontiguousarray(batch.x[:, place]) for batch in stream.batches(SIZE))


def _numbers_of(path: Path) -> Iterator[NDArray[np.float64]]:
    """Read a text file of one number a line; empty lines are passed over."""
    try:
        with path.open(encoding="utf-8") as lines:
            numbered = ((number, line.strip()) for number, line in enumerate(lines, 1) if line.strip())
            while some := list(islice(numbered, SIZE)):
                yield _read(path, some)
    except (OSError, UnicodeDecodeError) as error:
        msg = f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        raise StreamgaugeError(msg) from None


def _read(path: Path, lines: list[tuple[int, str]]) -> NDArray[np.float64]:
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
