"""How good alarms are, where the true drifts are known.

Every drift has a window of rows in which an alarm detects it. The first alarm in it does; those after it are repeated
ones, which are counted apart and are neither right nor wrong. An alarm in no window is false.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

import numpy as np
from numpy.typing import NDArray

from streamgauge._format.text import count
from streamgauge.drift.recovery import Recovery, recoveries
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.randomness import below
from streamgauge.records import Drift, RunData

__all__ = ["AlarmScore", "DriftScore", "score_alarms", "score_results"]

NAN = float("nan")


@dataclass(frozen=True)
class DriftScore:
    """What became of one drift.

    Parameters
    ----------
    drift
        The drift.
    start, stop
        An alarm at one of these rows (the last left out) detects it.
    alarm
        The first such alarm; None where it was missed.
    n_repeated
        How many more there were.
    recovery
        What the drift did to the learner, where its error is known.

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
        """How many rows after the start of the drift it was detected; below 0 where an early alarm was allowed."""
        return None if self.alarm is None else self.alarm - self.drift.position


@dataclass(frozen=True)
class AlarmScore:
    """How good alarms are.

    Parameters
    ----------
    drifts
        What became of each drift.
    false_alarms
        The rows of the alarms in no drift's window.
    n_rows
        How many rows were watched.

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
        found = f"{self.n_detected:,} of {count(self.n_drifts, 'drift')} detected{delay}" if self.drifts else "no drift"
        return f"{found}; {count(self.n_false, 'false alarm')} in {count(self.n_rows, 'row')}"

    @property
    def n_drifts(self) -> int:
        """How many true drifts there are."""
        return len(self.drifts)

    @property
    def n_detected(self) -> int:
        """How many of them were detected."""
        return sum(drift.alarm is not None for drift in self.drifts)

    @property
    def n_missed(self) -> int:
        """How many of them were not."""
        return self.n_drifts - self.n_detected

    @property
    def n_false(self) -> int:
        """How many alarms were false."""
        return len(self.false_alarms)

    @property
    def n_repeated(self) -> int:
        """How many alarms repeated one that had detected its drift."""
        return sum(drift.n_repeated for drift in self.drifts)

    @property
    def n_alarms(self) -> int:
        """How many alarms there were."""
        return self.n_detected + self.n_repeated + self.n_false

    @property
    def delays(self) -> tuple[int | None, ...]:
        """The delay of each drift; None where it was missed."""
        return tuple(drift.delay for drift in self.drifts)

    @property
    def mean_delay(self) -> float:
        """The mean delay of the drifts that were detected; NaN where none was. Read it beside `n_missed`."""
        known = [delay for delay in self.delays if delay is not None]
        return fmean(known) if known else NAN

    @property
    def median_delay(self) -> float:
        """The median delay of the drifts that were detected; NaN where none was."""
        known = [delay for delay in self.delays if delay is not None]
        return float(median(known)) if known else NAN

    @property
    def mean_time_to_detection(self) -> float:
        """The mean delay where a missed drift counts with all its window; NaN where there is no drift."""
        rows = [drift.stop - drift.drift.position if drift.delay is None else drift.delay for drift in self.drifts]
        return fmean(rows) if rows else NAN

    @property
    def n_rows_without_drift(self) -> int:
        """How many rows are in no drift's window, where every alarm is false."""
        return self.n_rows - sum(drift.stop - drift.start for drift in self.drifts)

    @property
    def false_alarm_rate(self) -> float:
        """False alarms per row outside the windows; NaN where there is no such row."""
        return self.n_false / self.n_rows_without_drift if self.n_rows_without_drift else NAN

    @property
    def mean_time_between_false_alarms(self) -> float:
        """Rows outside the windows per false alarm; infinite where there was none."""
        return self.n_rows_without_drift / self.n_false if self.n_false else float("inf")

    @property
    def precision(self) -> float:
        """Detected drifts among detected drifts and false alarms; NaN where there was no alarm."""
        return self.n_detected / (self.n_detected + self.n_false) if self.n_alarms else NAN

    @property
    def recall(self) -> float:
        """Detected drifts among all; NaN where there is none."""
        return self.n_detected / self.n_drifts if self.n_drifts else NAN

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 where no drift was detected, NaN where there is none."""
        return 2 * self.n_detected / (self.n_drifts + self.n_detected + self.n_false) if self.n_drifts else NAN

    @property
    def baselines(self) -> dict[str, "AlarmScore"]:
        """The scores of detectors that look at nothing: one alarm at every row, none, and as many at random rows.

        A detector that is no better has found nothing.
        """
        drawn = np.sort(below(1, "random alarms", 0, 0, self.n_alarms, self.n_rows))
        return {
            "always": self._of(np.arange(self.n_rows)),
            "never": self._of(np.empty(0, dtype=np.int64)),
            "random": self._of(drawn),
        }

    def _of(self, alarms: NDArray[np.int64]) -> "AlarmScore":
        windows = [(drift.drift, drift.start, drift.stop) for drift in self.drifts]
        return _scored(alarms, windows, self.n_rows)

    def as_dict(self) -> dict[str, object]:
        """Give all that it tells as plain values; None where one is undefined or infinite."""
        names = (
            "n_rows n_drifts n_alarms n_detected n_missed n_repeated n_false mean_delay median_delay "
            "mean_time_to_detection false_alarm_rate mean_time_between_false_alarms precision recall f1"
        )
        told = {name: getattr(self, name) for name in names.split()}
        plain = {name: value if np.isfinite(value) else None for name, value in told.items()}
        return {**plain, "drifts": [_drift_as_dict(drift) for drift in self.drifts], "false_alarms": self.false_alarms}


def _drift_as_dict(score: DriftScore) -> dict[str, object]:
    told: dict[str, object] = {"position": score.drift.position, "delay": score.delay, "n_repeated": score.n_repeated}
    if score.recovery is not None:
        told |= {"deterioration": score.recovery.deterioration, "recovery_time": score.recovery.time}
    return told


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
        The true drifts, or their first rows; none for a stream without drift, in which every alarm is false.
    n_rows
        How many rows were watched.
    max_delay
        How many rows after the end of a drift an alarm still detects it, at most until the next drift; None for half
        of the way to the next drift, or to the last row.
    early
        How many rows before a drift an alarm already detects it.
    curve
        The error rate of the learner, as (rows, errors), to tell its deterioration and recovery.

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
        msg = f"there is a drift at row {true[-1].position}, and only {n_rows} rows were watched"
        raise StreamgaugeError(msg)
    if len(rows) and not 0 <= rows[0] <= rows[-1] < n_rows:
        wrong = int(rows[0] if rows[0] < 0 else rows[-1])
        msg = f"there is an alarm at row {wrong}, and the {n_rows} rows watched are counted from 0"
        raise StreamgaugeError(msg)
    told = recoveries(*curve, true) if curve is not None else [None] * len(true)
    return _scored(rows, _windows(true, n_rows, max_delay, early), n_rows, told)


def _windows(drifts: Sequence[Drift], n_rows: int, max_delay: int | None, early: int) -> list[tuple[Drift, int, int]]:
    """Say at which rows an alarm detects each drift; the windows do not overlap."""
    windows: list[tuple[Drift, int, int]] = []
    for i, drift in enumerate(drifts):
        following = drifts[i + 1].position if i + 1 < len(drifts) else n_rows
        reach = (following - drift.position + 1) // 2 if max_delay is None else drift.width + max_delay + 1
        start = max(drift.position - early, windows[-1][2] if windows else 0)
        windows.append((drift, start, min(drift.position + reach, following)))
    return windows


def _scored(
    alarms: NDArray[np.int64],
    windows: Sequence[tuple[Drift, int, int]],
    n_rows: int,
    told: Sequence[Recovery | None] | None = None,
) -> AlarmScore:
    is_false = np.ones(len(alarms), dtype=np.bool_)
    scores = []
    for i, (drift, start, stop) in enumerate(windows):
        first, last = np.searchsorted(alarms, (start, stop))
        is_false[first:last] = False
        found = int(alarms[first]) if last > first else None
        recovery = told[i] if told else None
        scores.append(DriftScore(drift, start, stop, found, max(0, int(last - first) - 1), recovery))
    return AlarmScore(tuple(scores), tuple(alarms[is_false].tolist()), n_rows)


def score_results(
    results: RunData, *, max_delay: int | None = None, early: int = 0, measure: str = "accuracy"
) -> dict[tuple[str, str, int], AlarmScore]:
    """Score the alarms of an evaluation, per learner, detector and fold, against the drifts its stream knows.

    Parameters
    ----------
    results
        What `evaluate` gave, or `load`.
    max_delay, early
        As for `score_alarms`.
    measure
        The accuracy whose complement is the error of deterioration and recovery, under the last of the forgettings;
        they are left out where it was not measured.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, Window, evaluate
    >>> stream = SEA(thresholds=(8.0, 9.5), drift_every=5000, noise=0.0, n_rows=10_000)
    >>> results = evaluate(stream, NaiveBayes(), detectors="DDM", forgetting=Window(500), every=100)
    >>> (score,) = score_results(results).values()
    >>> score.n_drifts, score.n_detected
    (1, 1)
    """
    names = list(dict.fromkeys(_detector_names(results)))
    scores = {}
    for place, learner in enumerate(results.learners):
        for detector in names:
            for fold in range(results.n_folds):
                rows = [
                    alarm.row
                    for alarm in results.alarms
                    if (alarm.learner, alarm.detector, alarm.fold, alarm.kind) == (learner, detector, fold, "drift")
                ]
                curve = None
                if measure in results.measures:
                    values = results.values[:, place, fold, -1, results.measures.index(measure)]
                    curve = (results.rows, 1.0 - values)
                scores[learner, detector, fold] = score_alarms(
                    rows, results.drifts, n_rows=results.n_rows, max_delay=max_delay, early=early, curve=curve
                )
    return scores


def _detector_names(results: RunData) -> list[str]:
    known = results.description.get("detectors", ())
    return [str(name) for name in known] if isinstance(known, list) else []
