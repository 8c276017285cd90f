"""Scores of alarms against known drifts.

Every drift has a window of rows in which the first alarm detects it. Further alarms in the window are repeated alarms,
which are counted separately and are neither right nor wrong. An alarm outside all windows is false.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.text import count
from streamgauge.drift.recovery import Recovery, recoveries
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.randomness import below
from streamgauge.records import Drift, RunData

__all__ = ["AlarmScore", "DriftScore", "list_detectors", "score_alarms", "score_results"]

NAN = float("nan")


@dataclass(frozen=True)
class DriftScore:
    """The score of one drift.

    Parameters
    ----------
    drift
        The drift.
    start, stop
        The window of rows, from `start` up to but without `stop`, in which an alarm detects the drift.
    alarm
        The first alarm in the window; None if the drift was missed.
    n_repeated
        The number of further alarms in the window.
    recovery
        The effect of the drift on the learner, if its error is known.

    Examples
    --------
    >>> DriftScore(Drift(1000), 1000, 2000, 1250, 3).delay
    250
    """

    drift: Drift
    start: int
    stop: int
    alarm: int | None
    n_repeated: int = 0
    recovery: Recovery | None = None

    @property
    def delay(self) -> int | None:
        """The number of rows from the start of the drift to its alarm; negative for an early alarm."""
        return None if self.alarm is None else self.alarm - self.drift.position


@dataclass(frozen=True)
class AlarmScore:
    """The score of a sequence of alarms.

    Parameters
    ----------
    drifts
        The score of each drift.
    false_alarms
        The rows of the alarms outside all windows.
    n_rows
        The number of monitored rows.

    Examples
    --------
    >>> score = score_alarms([400, 1050, 1090], [Drift(1000)], n_rows=2000, max_delay=200)
    >>> score.n_detected, score.mean_delay, score.n_repeated, score.n_false, score.precision
    (1, 50.0, 1, 1, 0.5)
    >>> print(score)
    1 of 1 drift detected, mean delay 50 rows; 1 false alarm in 2,000 rows
    """

    drifts: tuple[DriftScore, ...]
    false_alarms: tuple[int, ...]
    n_rows: int

    def __str__(self) -> str:
        delay = f", mean delay {count(round(self.mean_delay), 'row')}" if self.n_detected else ""
        text = f"{self.n_detected:,} of {count(self.n_drifts, 'drift')} detected{delay}" if self.drifts else "no drift"
        return f"{text}; {count(self.n_false, 'false alarm')} in {count(self.n_rows, 'row')}"

    @property
    def n_drifts(self) -> int:
        """The number of true drifts."""
        return len(self.drifts)

    @property
    def n_detected(self) -> int:
        """The number of detected drifts."""
        return sum(drift.alarm is not None for drift in self.drifts)

    @property
    def n_missed(self) -> int:
        """The number of missed drifts."""
        return self.n_drifts - self.n_detected

    @property
    def n_false(self) -> int:
        """The number of false alarms."""
        return len(self.false_alarms)

    @property
    def n_repeated(self) -> int:
        """The number of repeated alarms: those in the window of a drift that was already detected."""
        return sum(drift.n_repeated for drift in self.drifts)

    @property
    def n_alarms(self) -> int:
        """The number of all alarms."""
        return self.n_detected + self.n_repeated + self.n_false

    @property
    def delays(self) -> tuple[int | None, ...]:
        """The delay of each drift; None if it was missed."""
        return tuple(drift.delay for drift in self.drifts)

    @property
    def mean_delay(self) -> float:
        """The mean delay of the detected drifts; NaN if none was detected. Read it together with `n_missed`."""
        known = [delay for delay in self.delays if delay is not None]
        return fmean(known) if known else NAN

    @property
    def median_delay(self) -> float:
        """The median delay of the detected drifts; NaN if none was detected."""
        known = [delay for delay in self.delays if delay is not None]
        return float(median(known)) if known else NAN

    @property
    def mean_time_to_detection(self) -> float:
        """The mean delay, in which a missed drift counts with the length of its window; NaN if there is no drift."""
        rows = [drift.stop - drift.drift.position if drift.delay is None else drift.delay for drift in self.drifts]
        return fmean(rows) if rows else NAN

    @property
    def n_rows_without_drift(self) -> int:
        """The number of rows outside all windows, at which every alarm is false."""
        return self.n_rows - sum(drift.stop - drift.start for drift in self.drifts)

    @property
    def false_alarm_rate(self) -> float:
        """False alarms per row outside the windows; NaN if there is no such row."""
        return self.n_false / self.n_rows_without_drift if self.n_rows_without_drift else NAN

    @property
    def mean_time_between_false_alarms(self) -> float:
        """Rows outside the windows per false alarm; infinite if there was none."""
        return self.n_rows_without_drift / self.n_false if self.n_false else float("inf")

    @property
    def precision(self) -> float:
        """Detected drifts divided by detected drifts and false alarms; NaN if there was no alarm."""
        return self.n_detected / (self.n_detected + self.n_false) if self.n_alarms else NAN

    @property
    def recall(self) -> float:
        """Detected drifts divided by all drifts; NaN if there is none."""
        return self.n_detected / self.n_drifts if self.n_drifts else NAN

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if no drift was detected, NaN if there is none."""
        return 2 * self.n_detected / (self.n_drifts + self.n_detected + self.n_false) if self.n_drifts else NAN

    @property
    def baselines(self) -> dict[str, "AlarmScore"]:
        """The scores of trivial detectors: an alarm at every row, none, and as many alarms at random rows.

        A detector that is no better is useless.
        """
        drawn = np.sort(below(1, "random alarms", 0, 0, self.n_alarms, self.n_rows))
        return {
            "always": self._score_others(np.arange(self.n_rows)),
            "never": self._score_others(np.empty(0, dtype=np.int64)),
            "random": self._score_others(drawn),
        }

    def _score_others(self, alarms: NDArray[np.int64]) -> "AlarmScore":
        """Return the score of other alarms on the same drifts."""
        windows = [_Window(drift.drift, drift.start, drift.stop) for drift in self.drifts]
        return _score_windows(alarms, windows, self.n_rows, [None] * len(windows))

    def as_dict(self) -> dict[str, object]:
        """Return all values as plain types; None for undefined or infinite ones."""
        values = {name: getattr(self, name) for name in _SUMMARY}
        plain = {name: value if np.isfinite(value) else None for name, value in values.items()}
        return {**plain, "drifts": [_drift_as_dict(drift) for drift in self.drifts], "false_alarms": self.false_alarms}


_SUMMARY = (
    "n_rows",
    "n_drifts",
    "n_alarms",
    "n_detected",
    "n_missed",
    "n_repeated",
    "n_false",
    "mean_delay",
    "median_delay",
    "mean_time_to_detection",
    "false_alarm_rate",
    "mean_time_between_false_alarms",
    "precision",
    "recall",
    "f1",
)
"""The numbers of `AlarmScore.as_dict`."""


def _drift_as_dict(score: DriftScore) -> dict[str, object]:
    facts: dict[str, object] = {"position": score.drift.position, "delay": score.delay, "n_repeated": score.n_repeated}
    if score.recovery is not None:
        facts |= {"deterioration": score.recovery.deterioration, "recovery_time": score.recovery.time}
    return facts


def score_alarms(
    alarms: Iterable[int],
    drifts: Iterable[Drift | int],
    *,
    n_rows: int,
    max_delay: int | None = None,
    early: int = 0,
    curve: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None,
) -> AlarmScore:
    """Score alarms against the true drifts.

    Parameters
    ----------
    alarms
        The rows, counted from 0, at which a detector signalled a drift.
    drifts
        The true drifts, or their first rows; empty for a stream without drift, in which every alarm is false.
    n_rows
        The number of monitored rows.
    max_delay
        The number of rows after the end of a drift in which an alarm still detects it, at most until the next drift;
        None for half of the distance to the next drift or to the last row.
    early
        The number of rows before a drift in which an alarm already detects it.
    curve
        The error rate of the learner as (rows, errors), to measure deterioration and recovery.

    Examples
    --------
    >>> score = score_alarms([1100, 1150, 2900], [1000, 2000, 3000], n_rows=4000, max_delay=300)
    >>> score.delays, score.n_repeated, score.false_alarms, round(score.f1, 3)
    ((100, None, None), 1, (2900,), 0.4)
    >>> score_alarms([700], [], n_rows=1000).n_false
    1
    """
    require_at_least("n_rows", n_rows, 1)
    require_at_least("early", early, 0)
    if max_delay is not None:
        require_at_least("max_delay", max_delay, 1)
    true = sorted(drift if isinstance(drift, Drift) else Drift(int(drift)) for drift in drifts)
    rows = np.sort(np.asarray(list(alarms), dtype=np.int64))
    if true and true[-1].position >= n_rows:
        msg = f"there is a drift at row {true[-1].position}, but only {n_rows} rows were monitored"
        raise StreamgaugeError(msg)
    if len(rows) and not 0 <= rows[0] <= rows[-1] < n_rows:
        wrong = int(rows[0] if rows[0] < 0 else rows[-1])
        msg = f"there is an alarm at row {wrong}, but the monitored rows are 0 to {n_rows - 1}"
        raise StreamgaugeError(msg)
    effects = recoveries(*curve, true) if curve is not None else [None] * len(true)
    return _score_windows(rows, _find_windows(true, n_rows, max_delay, early), n_rows, effects)


class _Window(NamedTuple):
    """The rows at which an alarm detects a drift."""

    drift: Drift
    start: int
    stop: int


def _find_windows(drifts: Sequence[Drift], n_rows: int, max_delay: int | None, early: int) -> list[_Window]:
    """Return the windows of drifts, which do not overlap."""
    windows: list[_Window] = []
    for i, drift in enumerate(drifts):
        following = drifts[i + 1].position if i + 1 < len(drifts) else n_rows
        reach = (following - drift.position + 1) // 2 if max_delay is None else drift.width + max_delay + 1
        start = max(drift.position - early, windows[-1].stop if windows else 0)
        windows.append(_Window(drift, start, min(drift.position + reach, following)))
    return windows


def _score_windows(
    alarms: NDArray[np.int64], windows: Sequence[_Window], n_rows: int, effects: Sequence[Recovery | None]
) -> AlarmScore:
    is_false = np.ones(len(alarms), dtype=np.bool_)
    scores = []
    for window, recovery in zip(windows, effects, strict=True):
        first, last = np.searchsorted(alarms, (window.start, window.stop))
        is_false[first:last] = False
        score = DriftScore(
            drift=window.drift,
            start=window.start,
            stop=window.stop,
            alarm=int(alarms[first]) if last > first else None,
            n_repeated=max(0, int(last - first) - 1),
            recovery=recovery,
        )
        scores.append(score)
    return AlarmScore(tuple(scores), tuple(alarms[is_false].tolist()), n_rows)


def score_results(
    results: RunData, *, max_delay: int | None = None, early: int = 0, measure: str = "accuracy"
) -> dict[tuple[str, str, int], AlarmScore]:
    """Return the scores of the alarms of an evaluation by learner, detector and fold.

    The true drifts are those that the stream knows.

    Parameters
    ----------
    results
        The results of `evaluate` or `load`.
    max_delay, early
        As in `score_alarms`.
    measure
        The accuracy whose complement is the error of deterioration and recovery, under the last forgetting; they are
        left out if it was not measured.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, Window, evaluate
    >>> stream = SEA(thresholds=(8.0, 9.5), drift_every=5000, noise=0.0, n_rows=10_000)
    >>> results = evaluate(stream, NaiveBayes(), detectors="DDM", forgetting=Window(500), every=100)
    >>> (score,) = score_results(results).values()
    >>> score.n_drifts, score.n_detected
    (1, 1)
    """
    scores = {}
    names = list_detectors(results)
    for (i, learner), detector, fold in product(enumerate(results.learners), names, range(results.n_folds)):
        rows = [
            alarm.row
            for alarm in results.alarms
            if (alarm.learner, alarm.detector, alarm.fold, alarm.kind) == (learner, detector, fold, "drift")
        ]
        curve = None
        if measure in results.measures:
            values = results.values[:, i, fold, -1, results.measures.index(measure)]
            curve = (results.rows, 1.0 - values)
        scores[learner, detector, fold] = score_alarms(
            rows, results.drifts, n_rows=results.n_rows, max_delay=max_delay, early=early, curve=curve
        )
    return scores


def list_detectors(results: RunData) -> list[str]:
    """Return the names of the detectors of a run, each once.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> list_detectors(evaluate(SEA(n_rows=100), NaiveBayes(), detectors={"ddm": "DDM"}))
    ['ddm']
    """
    names = results.description.get("detectors", ())
    return [str(name) for name in names] if isinstance(names, Mapping) else []
